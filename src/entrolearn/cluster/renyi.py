"""Rényi entropy clustering: clusters grow from seeds, and the worst are removed one by one."""

import math
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from entrolearn.cluster.equal_rows import distinct_rows
from entrolearn.cluster.potentials import ClusterPotentials, between_entropy, entropy_increase, separation
from entrolearn.kernels import check_memory, kernel_matrix, minus_scaled_distances
from entrolearn.measures import silverman_factor
from entrolearn.validation import Interval, validate_data, validated

__all__ = ["RenyiEntropyClustering"]

#: Default numbers of seeds, and of rows per seed, if there are enough rows.
DEFAULT_SEEDS, DEFAULT_SEED_SIZE = 10, 10

#: Bounds of σ: for a smaller σ, or one smaller than this share of the rows' norms, or larger than the
#: reciprocal, squares overflow, underflow or lose their digits.
LEAST_WIDTH = 1e-150

#: Kernel values in memory at once when new rows are labelled (32 MiB).
BLOCK_VALUES = 2**22

#: Values per row that are held at once while the clusters grow.
GATHERED = 4


class RenyiEntropyClustering(ClusterMixin, BaseEstimator):
    r"""Rényi entropy clustering: clusters grow from seeds, then the worst is removed until two remain.

    A cluster's density is a sum of Gaussians of width σ at its members; its entropy is

    .. math:: H(C) = -\ln \frac{1}{N^2} \sum_{i, j \in C} G(x_i - x_j, 2\sigma^2 I).

    Small initial clusters are grown from seeds. Every other row then joins the cluster whose entropy it
    increases least. The worst cluster is the one without which the others have the largest between-cluster
    entropy,

    .. math:: H(C_1, \ldots, C_K) = -\ln \frac{1}{2 \prod_k N_k}
        \sum_{k \ne l} \sum_{i \in C_k} \sum_{j \in C_l} G(x_i - x_j, 2\sigma^2 I),

    It is removed, and its members join the other clusters in the same way. This is repeated until two
    clusters are left. The partitions form a hierarchy, from which one level is chosen. Clusters can have any
    shape, because their densities can.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters of the chosen level of the hierarchy. None chooses the level that is reached with
        the largest jump of `separations_`. With 1 the hierarchy ends with a single cluster, whose
        between-cluster entropy is infinite.
    bandwidth : float or None, default=None
        σ. None uses Silverman's rule for all rows, :math:`(4 / ((d + 2) n))^{1 / (d + 4)}` times the root of
        the mean variance of the features. Curved clusters need a smaller σ; see the notes for the effect of
        too small a value.
    n_seeds : int or None, default=None
        Number of initial clusters, which should exceed the number of clusters expected. None: the larger of
        10 and twice `n_clusters`, but at most half the number of distinct rows.
    seed_size : int or None, default=None
        Number of distinct rows of each initial cluster. None: 10, or fewer so that at most half of them are
        seeded.
    n_init : int, default=10
        Number of random seedings. The one whose chosen level has the largest between-cluster entropy is kept.
        If `n_clusters` is None, only seedings with the most frequent number of clusters are compared (the
        smallest on a tie).
    random_state : int, RandomState instance or None, default=None
        Seed of the rows from which clusters are grown.
    n_jobs : int or None, default=None
        Number of processes; the result does not depend on it. More than one process needs a second copy of
        the kernel matrix.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters 0, …, ``n_clusters_ - 1``.
    n_clusters_ : int
        Number of clusters of `labels_`.
    objective_ : float
        Minus the between-cluster entropy of `labels_`, in nats.
    objectives_ : ndarray of shape (n_init,)
        Minus the between-cluster entropy of the level chosen from each seeding.
    hierarchy_ : ndarray of shape (n_levels, n_samples)
        Labels at each level, from the initial number of clusters down to two (or one, see `n_clusters`).
    between_cluster_entropies_ : ndarray of shape (n_levels,)
        Between-cluster entropy of each level, in nats.
    separations_ : ndarray of shape (n_levels,)
        Minus the logarithm of the mean of G over the pairs of rows in different clusters, in nats. For two
        clusters this is the between-cluster entropy; for more it is comparable between levels.
    within_cluster_entropies_ : ndarray of shape (`n_clusters_`,)
        H(C) of the clusters of `labels_`, in nats.
    seeds_ : ndarray of shape (n_samples,)
        Labels of the rows of the initial clusters, -1 for the others.
    bandwidth_ : float
        The bandwidth σ that was used.
    n_iter_ : int
        Number of clusters that were removed.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    entrolearn.MinimumEntropyClustering : Improves a partition by the entropy of the clusters' posteriors.
    sklearn.cluster.SpectralClustering : Partitions by the same kernel.

    Notes
    -----
    The paper leaves three things open. First, how seeds grow: in turn by one row each, always the free row
    nearest to a member, so that no seed takes rows next to another seed. Second, the order of the remaining
    rows: the next row is the one nearest to any labelled row, which makes the result independent of the order
    of the rows and lets clusters grow along their shape. Equal rows join a cluster together. Third, the
    level: superfluous clusters share a group with others, whose rows are close to theirs, and the separation
    jumps when the last such pair is gone. The between-cluster entropy jumps there, too, but falls by about
    the logarithm of a size with each cluster removed, which can hide the jump. If some groups are much
    further apart than others, the largest jump can be that to the coarser structure; `separations_` shows all
    levels. The first level has no jump before it and is chosen only if it is the only one.

    If a cluster is left out, the product of the sizes is over the other clusters, so that the entropy of a
    pair of clusters is their quadratic cross entropy. The published equation (8) has one factor 2 too many.

    By equation (1), a row increases the entropy of a cluster by less than 2 ln(1 + 1/N). A row outside of all
    clusters therefore joins a large one at any distance rather than a small one close to it. This spoils
    seedings whose clusters grow unevenly, which is the reason for restarts. If σ is so small that most rows
    are outside of most clusters, it spoils all seedings.

    In more than a few dimensions Silverman's σ is too small in this sense. On iris and wine, scaled to [0,
    1], three to six times this width finds the classes about as well as KMeans (an adjusted Rand index of 0.7
    to 0.9); the default does not on wine (0.1). In two dimensions such a width would be too large for curved
    clusters.

    An N x N matrix is held in memory; a MemoryError is raised if it does not fit. The time is proportional to
    N times the number of assignments, which is a few per row and seeding.

    References
    ----------
    Jenssen, Hild, Erdogmus, Principe and Eltoft, Clustering using Rényi's Entropy, IJCNN 2003.

    Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning, chapter on
    clustering: equation (1) for the labelling, (5) and (6) for the entropy, (7) and (8) between clusters, of
    which (6) and (8) are corrected.

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
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
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
        bandwidth=None,
        n_seeds=None,
        seed_size=None,
        n_init=10,
        random_state=None,
        n_jobs=None,
    ):
        self.n_clusters = n_clusters
        self.bandwidth = bandwidth
        self.n_seeds = n_seeds
        self.seed_size = seed_size
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y=None) -> "RenyiEntropyClustering":
        """Grow the clusters, remove the worst until two are left, and choose a level.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the seeds need more distinct rows than there are, `n_seeds` is smaller than `n_clusters`, or
            the square of σ overflows or underflows.
        MemoryError
            If the kernel values of all pairs do not fit into memory.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        first, of_row, counts = distinct_rows(X)
        n_seeds, seed_size = self._seeding(len(first))
        copies = 1 if min(self.n_init, effective_n_jobs(self.n_jobs)) == 1 else 2
        # The matrix, six copies of the rows, sums for each seed, the labels of all levels, and overhead of
        # the tasks.
        check_memory(
            8 * len(first) * (copies * len(first) + (4 + self.n_init) * n_seeds + 24) + 48 * X.size,
            f"a kernel matrix of {len(first)} x {len(first)} rows",
            "fit on a sample of the rows, and predict the others",
        )
        # Differences from the minimum do not depend on the origin of the rows.
        self._least = X.min(axis=0)
        X = X - self._least
        self._mean = X.mean(axis=0)
        X -= self._mean  # distances by inner products lose digits far from the origin
        self.bandwidth_ = self._width(X)
        self._X, self._counts = X[first], counts
        exponents = minus_scaled_distances(self._X, self._X, _gamma(self.bandwidth_))
        np.fill_diagonal(exponents, 0.0)
        random_state = check_random_state(self.random_state)
        orders = [of_row[random_state.permutation(len(X))] for _ in range(self.n_init)]
        seedings = [order[np.sort(np.unique(order, return_index=True)[1])[:n_seeds]] for order in orders]
        grown = delayed(_grown)
        growths = Parallel(n_jobs=self.n_jobs)(
            grown(exponents, counts, seeds, seed_size, self.n_clusters) for seeds in seedings
        )
        best = _best(growths)
        log_volume = X.shape[1] / 2 * math.log(4 * math.pi * self.bandwidth_**2)
        self.seeds_, self.n_iter_ = best.seeds[of_row], len(best.levels) - 1
        self.hierarchy_ = np.array([level.labels[of_row] for level in best.levels])
        self.between_cluster_entropies_ = log_volume + np.array([level.between for level in best.levels])
        self.separations_ = log_volume + np.array([level.separation for level in best.levels])
        self.objectives_ = np.array([-(log_volume + growth.level.between) for growth in growths])
        self.objective_ = -(log_volume + best.level.between)
        self.labels_, self.n_clusters_ = best.level.labels[of_row], len(best.level.sizes)
        self.within_cluster_entropies_ = log_volume - np.log(best.level.within / best.level.sizes**2)
        self._labels, self._sizes, self._within = best.level.labels, best.level.sizes, best.level.within
        return self

    def predict(self, X) -> np.ndarray:
        """Cluster whose entropy each new row would increase least, for each row separately.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)

        Returns
        -------
        ndarray of int, shape (n_samples,)
            Training rows may get other labels than in `labels_`, because clusters grew after these rows had
            joined.
        """
        check_is_fitted(self)
        Z = validate_data(self, X, dtype=np.float64, reset=False) - self._least
        Z -= self._mean
        of_cluster = self._counts[:, np.newaxis] * (
            self._labels[:, np.newaxis] == np.arange(self.n_clusters_)
        ).astype(np.float64)
        labels = np.empty(len(Z), dtype=self.labels_.dtype)
        for rows in gen_batches(len(Z), max(1, BLOCK_VALUES // len(self._X))):
            kernel = kernel_matrix(Z[rows], self._X, "rbf", {"gamma": _gamma(self.bandwidth_)})
            increases = entropy_increase(kernel @ of_cluster, self._sizes, self._within)
            labels[rows] = increases.argmin(axis=1)
        return labels

    def _width(self, X: np.ndarray) -> float:
        """σ; ValueError if its square, or those of the rows in its units, overflow or underflow."""
        if self.bandwidth is None:
            bandwidth = silverman_factor(*X.shape) * math.sqrt(X.var(axis=0).mean())
        else:
            bandwidth = float(self.bandwidth)
        least = LEAST_WIDTH * max(1.0, np.linalg.norm(X, axis=1).max())
        if not least <= bandwidth <= 1 / LEAST_WIDTH:
            raise ValueError(
                f"bandwidth is {bandwidth:g} with bandwidth={self.bandwidth}; for these rows it must be from "
                f"{least:g} to {1 / LEAST_WIDTH:g}, because its square is used: scale the features"
            )
        return bandwidth

    def _seeding(self, n_samples: int) -> tuple[int, int]:
        """Number of seeds and of rows per seed; ValueError if there are too few distinct rows."""
        least = max(2, self.n_clusters or 2)
        if n_samples < least:
            raise ValueError(f"X has {n_samples} distinct rows; there must be at least n_clusters={least}")
        n_seeds = self.n_seeds or max(least, min(max(DEFAULT_SEEDS, 2 * least), n_samples // 2))
        if n_seeds < least:
            raise ValueError(f"n_seeds={n_seeds} must be at least n_clusters={least}")
        seed_size = self.seed_size or max(1, min(DEFAULT_SEED_SIZE, n_samples // (2 * n_seeds)))
        if n_seeds * seed_size > n_samples:
            raise ValueError(
                f"{n_seeds} seeds of {seed_size} rows take {n_seeds * seed_size} rows; "
                f"X has {n_samples} distinct ones: lower n_seeds or seed_size"
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
    """Result of one seeding: the hierarchy and its chosen level."""

    seeds: np.ndarray
    levels: list[_Level]
    level: _Level


def _grown(
    exponents: np.ndarray, counts: np.ndarray, seeds: np.ndarray, seed_size: int, n_clusters: int | None
) -> _Growth:
    """The hierarchy grown from the given rows as seeds."""
    potentials = _grown_seeds(exponents, counts, seeds, seed_size)
    seeded = potentials.labels.copy()
    _assign(potentials, np.flatnonzero(seeded < 0))
    levels = _hierarchy(potentials, fewest=1 if n_clusters == 1 else 2)
    return _Growth(seeded, levels, _chosen(levels, n_clusters))


def _chosen(levels: list[_Level], n_clusters: int | None) -> _Level:
    """The chosen level: that with `n_clusters` clusters, or that reached with the largest jump."""
    if n_clusters is not None:
        return levels[len(levels[0].sizes) - n_clusters]
    jumps = np.diff([level.separation for level in levels])
    return levels[jumps.argmax() + 1] if jumps.size else levels[0]


def _best(growths: list[_Growth]) -> _Growth:
    """The growth of largest between-cluster entropy among those with the most frequent number of clusters."""
    votes = np.bincount([len(growth.level.sizes) for growth in growths])
    elected = [growth for growth in growths if len(growth.level.sizes) == votes.argmax()]
    return max(elected, key=lambda growth: growth.level.between)


def _hierarchy(potentials: ClusterPotentials, fewest: int) -> list[_Level]:
    """The current partition and those after removing the worst cluster, until `fewest` clusters are left."""
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


def _grown_seeds(
    exponents: np.ndarray, counts: np.ndarray, seeds: np.ndarray, seed_size: int
) -> ClusterPotentials:
    """Clusters grown from the seeds, in turn by the free row nearest to any of their members."""
    potentials = ClusterPotentials(exponents, len(seeds), counts)
    for cluster, seed in enumerate(seeds):
        potentials.add(seed, cluster)
    nearness = exponents[seeds]  # of each row to the nearest member of each cluster
    for _ in range(seed_size - 1):
        for cluster in range(len(seeds)):
            free = np.flatnonzero(potentials.labels < 0)
            row = free[nearness[cluster, free].argmax()]
            potentials.add(row, cluster)
            np.maximum(nearness[cluster], exponents[row], out=nearness[cluster])
    return potentials


def _assign(potentials: ClusterPotentials, rows: np.ndarray) -> None:
    """Add rows to the clusters whose entropy they increase least, next the row nearest to a labelled one."""
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


def _gamma(bandwidth: float) -> float:
    """Factor of the squared distances: the product of two densities of width σ has variance 2σ²."""
    return 1 / (4 * bandwidth**2)
