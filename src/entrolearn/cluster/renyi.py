"""Clusters that grow from seeds by their quadratic Rényi entropy, and give way one by one."""

import math
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from entrolearn.cluster.potentials import ClusterPotentials, between_entropy, entropy_increase, separation
from entrolearn.kernels import check_memory, kernel_matrix, minus_scaled_distances
from entrolearn.measures import silverman_factor
from entrolearn.validation import Interval, validate_data, validated

__all__ = ["RenyiEntropyClustering"]

#: Where the rows suffice: clusters that are seeded, and rows that each begins with.
DEFAULT_SEEDS, DEFAULT_SEED_SIZE = 10, 10

#: The squares of a smaller σ, of the reciprocal of a larger one, and of rows in units of a smaller one than
#: this share of theirs, are no numbers, or have lost their digits.
LEAST_WIDTH = 1e-150

#: Kernel values in memory at once where new rows are labelled (32 MiB).
BLOCK_VALUES = 2**22

#: Values for each row that are gathered at once while the clusters grow.
GATHERED = 4


class RenyiEntropyClustering(ClusterMixin, BaseEstimator):
    r"""Rényi entropy clustering: clusters grow from seeds, then the worst gives way until two remain.

    A cluster's density is a sum of Gaussians of width σ at its members; its entropy is

    .. math:: H(C) = -\ln \frac{1}{N^2} \sum_{i, j \in C} G(x_i - x_j, 2\sigma^2 I).

    Some small clusters are seeded. Every other row then joins the cluster whose entropy it raises least. Of
    the clusters the worst is found, the one without which the others are furthest apart by their
    between-cluster entropy,

    .. math:: H(C_1, \ldots, C_K) = -\ln \frac{1}{2 \prod_k N_k}
        \sum_{k \ne l} \sum_{i \in C_k} \sum_{j \in C_l} G(x_i - x_j, 2\sigma^2 I),

    and its members join the others in the same way. This goes on until two clusters are left; the partitions
    on the way make a hierarchy, from which one is chosen. Densities take any shape, so clusters need not be
    round.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Which level of the hierarchy is chosen. None: the one that is reached with the largest jump of
        `separations_`. With 1 the hierarchy goes on to a single cluster, beside which there is nothing: its
        between-cluster entropy is infinite.
    sigma : float or None, default=None
        σ. None: Silverman's rule for all rows,
        :math:`(4 / ((d + 2) n))^{1 / (d + 4)}` times the root of the features' mean variance. Curved clusters
        need less; see Notes for what too little does.
    n_seeds : int or None, default=None
        Clusters that are seeded, more than are expected to be found. None: 10 or twice `n_clusters`,
        whichever is more, but on few rows at most half as many as rows.
    seed_size : int or None, default=None
        Rows that each of them begins with. None: 10, or fewer so that at most half of the rows are seeded.
    n_init : int, default=10
        Random seedings. The one counts whose chosen level has the largest between-cluster entropy; where
        `n_clusters` is None, of those with the most common number of clusters, the fewest on a tie.
    random_state : int, RandomState instance or None, default=None
        Draws the rows that clusters are seeded with.
    n_jobs : int or None, default=None
        Processes that search; the result does not depend on it. More than one share a second copy of the
        kernel matrix.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters 0, …, ``n_clusters_ - 1``.
    n_clusters_ : int
    objective_ : float
        Minus the between-cluster entropy of `labels_`, in nats.
    objectives_ : ndarray of shape (n_init,)
        The same for the level that each seeding would have chosen.
    hierarchy_ : ndarray of shape (n_levels, n_samples)
        Labels at each level, from as many clusters as were seeded down to two (or one, see `n_clusters`).
    between_cluster_entropies_ : ndarray of shape (n_levels,)
        Of each level, in nats.
    separations_ : ndarray of shape (n_levels,)
        Minus the logarithm of the mean of G over the pairs of rows in different clusters, in nats: the
        between-cluster entropy of two clusters, which is comparable between levels for more.
    within_cluster_entropies_ : ndarray of shape (`n_clusters_`,)
        H(C) of the clusters of `labels_`, in nats.
    seeds_ : ndarray of shape (n_samples,)
        Labels of the rows that clusters began with, -1 for the others.
    sigma_ : float
        The width that was used.
    n_iter_ : int
        Clusters that gave way.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X has names of features that are all strings.

    See Also
    --------
    entrolearn.MinimumEntropyClustering : Improves a partition by the entropy of the clusters' posteriors.
    sklearn.cluster.SpectralClustering : Partitions by the same kernel.

    Notes
    -----
    Three things that the paper leaves open. Seeds grow in turn by a row each, always the free one nearest to
    a member, so that none takes what is next to another's. The row that is labelled next is the one nearest
    to any labelled row, which makes the result independent of the order of the rows and lets clusters grow
    along their shape. The level: superfluous clusters share a group with others, whose rows are near theirs;
    the separation leaps when the last such pair is gone. The between-cluster entropy leaps there, too, but
    falls by about the logarithm of a size with each cluster that goes, which can hide it. Where some groups
    are much further apart than others, the largest leap can be that to the coarser structure; `separations_`
    shows all. The first level has nothing to leap from, and is chosen only if it is the only one.

    Where a cluster is left out, the product of the sizes is that of the others, so that for a pair of
    clusters the entropy is their quadratic cross entropy; equation (8) has one 2 too many as printed.

    What a row adds to a cluster's entropy is less than 2 ln(1 + 1/N): a row that lies outside of all clusters
    joins a large one, however far, rather than a small one near by. That is in equation (1). It spoils
    seedings whose clusters grow unevenly, which is what restarts are for, and where σ is so small that most
    rows lie outside of most clusters, it spoils them all.

    In more than a few dimensions Silverman's σ is so small: on iris and wine, scaled to [0, 1], three to six
    times as much finds the classes about as well as KMeans does (an adjusted Rand index of 0.7 to 0.9), and
    the default does not on wine (0.1). In the plane that would be too much for curved clusters.

    An N x N matrix is kept, and refused where this machine has no memory for it. Time goes with N times the
    number of labellings, which are a few per row and seeding.

    References
    ----------
    Jenssen, Hild, Erdogmus, Principe and Eltoft, Clustering using Rényi's Entropy, IJCNN 2003. In the
    essay's chapter on clustering: equation (1) for the labelling, (5) and (6) for the entropy, (7) and (8)
    between clusters, of which (6) and (8) are corrected.

    Examples
    --------
    >>> from entrolearn import RenyiEntropyClustering
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> renyi = RenyiEntropyClustering(random_state=0).fit(X)
    >>> renyi.n_clusters_, renyi.predict([[8.0, 1.0]]) == renyi.labels_[y == 1][0]
    (3, array([ True]))
    """

    _parameter_constraints: dict = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "sigma": [Interval(Real, 0, None, closed="neither"), None],
        "n_seeds": [Interval(Integral, 2, None, closed="left"), None],
        "seed_size": [Interval(Integral, 1, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        sigma=None,
        n_seeds=None,
        seed_size=None,
        n_init=10,
        random_state=None,
        n_jobs=None,
    ):
        self.n_clusters = n_clusters
        self.sigma = sigma
        self.n_seeds = n_seeds
        self.seed_size = seed_size
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y=None) -> "RenyiEntropyClustering":
        """Grow the clusters, take the worst away until two are left, and choose a level.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
        y : ignored
            For scikit-learn's conventions.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the seeds take more rows than there are, fewer clusters are seeded than asked for, `sigma` is
            None and all rows are equal, or σ is so small or large that its square is no number.
        MemoryError
            If there is not the memory for the kernel values of all pairs.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        n_seeds, seed_size = self._seeding(len(X))
        copies = 1 if min(self.n_init, effective_n_jobs(self.n_jobs)) == 1 else 2
        # Beside the matrix four copies of the rows, sums for each seed, the labels of all levels, and tasks.
        check_memory(
            8 * len(X) * (copies * len(X) + 4 * X.shape[1] + (4 + self.n_init) * n_seeds + 24),
            f"a kernel matrix of {len(X)} x {len(X)} rows",
            "fit on a sample of the rows, and predict the others",
        )
        # Differences from the least values are the same numbers wherever the rows are.
        self._least = X.min(axis=0)
        X = X - self._least
        self._mean = X.mean(axis=0)
        X -= self._mean  # distances by inner products lose digits far from the origin
        self._X = X
        self.sigma_ = self._width(X)
        exponents = minus_scaled_distances(X, X, _gamma(self.sigma_))
        np.fill_diagonal(exponents, 0.0)
        random_state = check_random_state(self.random_state)
        seedings = [random_state.choice(len(X), n_seeds, replace=False) for _ in range(self.n_init)]
        grown = delayed(_grown)
        growths = Parallel(n_jobs=self.n_jobs)(
            grown(exponents, seeds, seed_size, self.n_clusters) for seeds in seedings
        )
        best = _best(growths)
        log_volume = X.shape[1] / 2 * math.log(4 * math.pi * self.sigma_**2)
        self.seeds_, self.n_iter_ = best.seeds, len(best.levels) - 1
        self.hierarchy_ = np.array([level.labels for level in best.levels])
        self.between_cluster_entropies_ = log_volume + np.array([level.between for level in best.levels])
        self.separations_ = log_volume + np.array([level.separation for level in best.levels])
        self.objectives_ = np.array([-(log_volume + growth.level.between) for growth in growths])
        self.objective_ = -(log_volume + best.level.between)
        self.labels_, self.n_clusters_ = best.level.labels.copy(), len(best.level.sizes)
        self.within_cluster_entropies_ = log_volume - np.log(best.level.within / best.level.sizes**2)
        self._sizes, self._within = best.level.sizes, best.level.within
        return self

    def predict(self, X) -> np.ndarray:
        """The clusters whose entropy new rows would raise least, each row on its own.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)

        Returns
        -------
        ndarray of int, shape (n_samples,)
            Rows of the training data may be labelled otherwise than in `labels_`: they joined clusters that
            were still to grow.
        """
        check_is_fitted(self)
        Z = validate_data(self, X, dtype=np.float64, reset=False) - self._least
        Z -= self._mean
        of_cluster = (self.labels_[:, np.newaxis] == np.arange(self.n_clusters_)).astype(np.float64)
        labels = np.empty(len(Z), dtype=self.labels_.dtype)
        for rows in gen_batches(len(Z), max(1, BLOCK_VALUES // len(self._X))):
            kernel = kernel_matrix(Z[rows], self._X, "rbf", {"gamma": _gamma(self.sigma_)})
            increases = entropy_increase(kernel @ of_cluster, self._sizes, self._within)
            labels[rows] = increases.argmin(axis=1)
        return labels

    def _width(self, X: np.ndarray) -> float:
        """σ, once it is known that its square is a number, and those of rows in its units are."""
        sigma = _silverman_width(X) if self.sigma is None else float(self.sigma)
        least = LEAST_WIDTH * max(1.0, np.linalg.norm(X, axis=1).max())
        if not least <= sigma <= 1 / LEAST_WIDTH:
            raise ValueError(
                f"sigma is {sigma:g}, by sigma={self.sigma}; of these rows it must be from {least:g} to "
                f"{1 / LEAST_WIDTH:g}, or its square is no number: scale the features"
            )
        return sigma

    def _seeding(self, n_samples: int) -> tuple[int, int]:
        """Clusters that are seeded, and rows of each, once it is known that the rows suffice."""
        least = max(2, self.n_clusters or 2)
        if n_samples < least:
            raise ValueError(f"n_samples={n_samples} must be at least n_clusters={least}")
        n_seeds = self.n_seeds or max(least, min(max(DEFAULT_SEEDS, 2 * least), n_samples // 2))
        if n_seeds < least:
            raise ValueError(f"n_seeds={n_seeds} must be at least n_clusters={least}")
        seed_size = self.seed_size or max(1, min(DEFAULT_SEED_SIZE, n_samples // (2 * n_seeds)))
        if n_seeds * seed_size > n_samples:
            raise ValueError(
                f"{n_seeds} seeds of {seed_size} rows take {n_seeds * seed_size} rows; "
                f"X has n_samples={n_samples}: lower n_seeds or seed_size"
            )
        return n_seeds, seed_size


@dataclass(frozen=True)
class _Level:
    """A partition of the hierarchy."""

    labels: np.ndarray
    between: float
    separation: float
    sizes: np.ndarray
    within: np.ndarray


@dataclass(frozen=True)
class _Growth:
    """What came of one seeding: the hierarchy and its chosen level."""

    seeds: np.ndarray
    levels: list[_Level]
    level: _Level


def _grown(exponents: np.ndarray, seeds: np.ndarray, seed_size: int, n_clusters: int | None) -> _Growth:
    """The hierarchy that grows from some rows as seeds."""
    potentials = _grown_seeds(exponents, seeds, seed_size)
    seeded = potentials.labels.copy()
    _assign(potentials, np.flatnonzero(seeded < 0))
    levels = _hierarchy(potentials, fewest=1 if n_clusters == 1 else 2)
    return _Growth(seeded, levels, _chosen(levels, n_clusters))


def _chosen(levels: list[_Level], n_clusters: int | None) -> _Level:
    """The level that becomes the result: of so many clusters, or reached with the largest jump."""
    if n_clusters is not None:
        return levels[len(levels[0].sizes) - n_clusters]
    jumps = np.diff([level.separation for level in levels])
    return levels[jumps.argmax() + 1] if jumps.size else levels[0]


def _best(growths: list[_Growth]) -> _Growth:
    """The growth whose clusters are furthest apart, of those with the most common number of clusters."""
    votes = np.bincount([len(growth.level.sizes) for growth in growths])
    elected = [growth for growth in growths if len(growth.level.sizes) == votes.argmax()]
    return max(elected, key=lambda growth: growth.level.between)


def _hierarchy(potentials: ClusterPotentials, fewest: int) -> list[_Level]:
    """The partition there is and those after it: the worst cluster's rows join others, until few are left."""
    levels = []
    while True:
        sizes, log_pair_sums = potentials.sizes.copy(), potentials.log_pair_sums()
        levels.append(
            _Level(
                labels=potentials.labels.copy(),
                between=between_entropy(log_pair_sums, sizes),
                separation=separation(log_pair_sums, sizes),
                sizes=sizes,
                within=potentials.within.copy(),
            )
        )
        if len(sizes) == fewest:
            return levels
        _assign(potentials, potentials.release(_worst(log_pair_sums, sizes)))


def _worst(log_pair_sums: np.ndarray, sizes: np.ndarray) -> int:
    """The cluster without which the others have the largest between-cluster entropy."""
    others = [np.delete(np.arange(len(sizes)), cluster) for cluster in range(len(sizes))]
    entropies = [between_entropy(log_pair_sums[np.ix_(kept, kept)], sizes[kept]) for kept in others]
    return int(np.argmax(entropies))


def _grown_seeds(exponents: np.ndarray, seeds: np.ndarray, seed_size: int) -> ClusterPotentials:
    """A cluster from each seed, grown in turn by the free row nearest to any of its members."""
    potentials = ClusterPotentials(exponents, len(seeds))
    for cluster, seed in enumerate(seeds):
        potentials.add(seed, cluster)
    nearness = exponents[seeds]  # of each row to the nearest member
    for _ in range(seed_size - 1):
        for cluster in range(len(seeds)):
            free = np.flatnonzero(potentials.labels < 0)
            row = free[nearness[cluster, free].argmax()]
            potentials.add(row, cluster)
            np.maximum(nearness[cluster], exponents[row], out=nearness[cluster])
    return potentials


def _assign(potentials: ClusterPotentials, rows: np.ndarray) -> None:
    """Let rows join the clusters whose entropy they raise least, the row nearest to a labelled one next."""
    exponents, free = potentials.exponents, np.zeros(len(potentials.labels), dtype=bool)
    free[rows] = True
    labelled = np.flatnonzero(potentials.labels >= 0)
    nearness = np.full(len(free), -np.inf)
    for some in gen_batches(len(rows), 1 + GATHERED * len(free) // (1 + len(labelled))):
        nearness[rows[some]] = exponents[np.ix_(rows[some], labelled)].max(axis=1)
    for _ in rows:
        row = int(nearness.argmax())
        potentials.add(row, int(potentials.increases(row).argmin()))
        free[row], nearness[row] = False, -np.inf
        np.maximum(nearness, exponents[row], out=nearness, where=free)


def _gamma(sigma: float) -> float:
    """The factor of squared distances: the product of two densities of width σ has the variance 2σ²."""
    return 1 / (4 * sigma**2)


def _silverman_width(X: np.ndarray) -> float:
    if not np.ptp(X, axis=0).any():
        raise ValueError("all rows of X are equal, from which sigma=None takes no width: give sigma a number")
    return silverman_factor(*X.shape) * math.sqrt(X.var(axis=0).mean())
