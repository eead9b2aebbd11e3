"""Cross-entropy clustering: Gaussian clusters whose number is found by a penalty in the energy."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral, Real

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg import cholesky, solve_triangular
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted

from entrolearn.cluster.gaussians import (
    DiagonalClusters,
    FixedClusters,
    FullClusters,
    GaussianClusters,
    SphericalClusters,
)
from entrolearn.cluster.hartigan import HartiganSearch
from entrolearn.user_warnings import warn_user
from entrolearn.validation import Interval, StrOptions, check_labels, validate_data, validated

__all__ = ["CrossEntropyClustering"]

FAMILIES: dict[str, type[GaussianClusters]] = {
    "full": FullClusters,
    "diagonal": DiagonalClusters,
    "spherical": SphericalClusters,
    "fixed": FixedClusters,
}

#: Directions with a smaller share of the largest variance are ignored when initial rows are drawn.
FLAT = 1e-10

#: Features with at most this variance count as constant: the share `reg_covar` of it would underflow.
LEAST_VARIANCE = 1e-280

#: Upper bound of the scatter due to reg_covar, of a fixed covariance and its inverse, and of the sum of
#: squared distances in its units, so that sums of these do not overflow.
MOST = 1e300

#: Rows further from 0 than 2**9 times their range are shifted towards 0; for nearer rows few digits are lost.
FAR = 10

#: Number of rows from which on the search begins with passes that move many rows at once.
MANY_ROWS = 8000


class CrossEntropyClustering(ClusterMixin, BaseEstimator):
    r"""Cross-entropy clustering: a hard mixture of Gaussians that finds the number of its components.

    Minimises the mean length of a code for the cluster of a row and its position in the cluster. The code of
    the position uses the density of the family that fits the cluster best:

    .. math:: E = \sum_k p_k \left(-\ln p_k + H^\times(X_k \| \mathcal{F})\right).

    Rows are moved to other clusters, one at a time, if this lowers the energy E. A cluster with too small a
    share of the rows is removed, and two clusters are merged if this lowers E. `n_clusters` is the initial
    number.

    Parameters
    ----------
    n_clusters : int, default=10
        Largest number of clusters.
    family : {"full", "diagonal", "spherical", "fixed"}, default="full"
        Normal densities with any covariance, with a diagonal covariance, with a multiple of the identity, or
        with the given `covariance`.
    covariance : float or array-like of shape (n_features, n_features), default=None
        Covariance of the family "fixed", which requires it. A number is the variance in all directions.
    min_weight : float, default=0.05
        ε. A cluster with a smaller share of the rows is removed, and each of its rows joins the cluster where
        it increases the energy least. A cluster is also removed if it has fewer than n_features + 2 rows
        (family "full"), two rows ("fixed") or three rows (the others).
    merge : bool, default=True
        Whether two clusters are merged if no move of a single row lowers the energy but the merger does.
        False is the search of the paper, which leaves more clusters: see the notes.
    reg_covar : float, default=1e-6
        Regularisation against singular covariances: ``reg_covar / 2 * sum_k tr(V inv(S_k))`` is added to the
        energy, with the variances V of the features over all rows and the covariances S_k of the clusters.
        Use 0 for rows in general position. The family "fixed" ignores it.
    init : {"k-means++", "random"} or array-like of int, shape (n_samples,), default="k-means++"
        The initial partition. Each row is assigned to the nearest of `n_clusters` rows, which are drawn as by
        :func:`sklearn.cluster.kmeans_plusplus` or uniformly; an array gives the labels. Distances are
        measured after a scaling that depends on the family: whitened features for "full", features of
        variance one for "diagonal", the units of `covariance` for "fixed".
    n_init : int, default=5
        Number of initial partitions; the result with the lowest energy is kept. An array `init` is used once.
    max_iter : int, default=100
        Maximum number of passes over the rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial partitions and of the order in which rows are moved.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; clusters are numbered by decreasing weight.
    n_clusters_ : int
        Number of clusters found.
    weights_ : ndarray of shape (`n_clusters_`,)
        p_k, the shares of the rows.
    means_ : ndarray of shape (`n_clusters_`, n_features)
        Means of the clusters.
    covariances_ : ndarray of shape (`n_clusters_`, n_features, n_features)
        Covariances of the densities, in the form of the family.
    objective_ : float
        The energy, in nats per row.
    objectives_ : ndarray of shape (n_init,)
        Final energy of each start.
    history_ : ndarray of shape (`n_iter_`,)
        Energy after each pass of the best start.
    n_clusters_history_ : ndarray of shape (`n_iter_`,)
        Number of clusters after each pass of the best start.
    n_iter_ : int
        Passes of the best start.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    sklearn.mixture.GaussianMixture : Soft clusters for a given number of components.
    entrolearn.cluster.CrossEntropyMethodClustering : Unrelated: centroids by the cross-entropy method.

    Notes
    -----
    The search is Hartigan's: a row is moved as soon as this lowers the energy, and both clusters are updated
    at once. A pass first evaluates all moves of all rows, then makes those that still lower the energy, one
    at a time. With 8,000 rows or more, the first passes make all moves at once, as long as there are many and
    the energy falls; if clusters overlap, the search may then end in a different partition of about the same
    energy. At the end no single move lowers the energy. This implies that each row is in the cluster with the
    largest ``p_k N(x; m_k, S_k)``, so :meth:`predict` repeats the labels, and equal rows have one label. The
    converse does not hold: moving all rows to the cluster of their largest density at once (Lloyd's method)
    stops earlier.

    Single moves do not remove every superfluous cluster. Of ten initial clusters on four separate components,
    six to nine remain with full covariances, although the partition into four has the lowest energy. Merging
    pairs lowers the energy, hence `merge`, which the paper does not have. Merging does not find all of them,
    hence `n_init`.

    The energy falls with every move and every merger; it may rise only when a cluster is removed.

    With ``reg_covar=0`` the result of the family "full" is invariant under invertible affine maps of the
    rows, and that of "diagonal" under changes of the units of the features.

    The covariance of few rows underestimates the entropy, and the energy does not correct for this: "full"
    needs about ten times n_features² rows per cluster or more, otherwise it finds too many clusters. With
    three separate components in six dimensions it finds three clusters from 1000 rows per component, but from
    300 rows five to eight, whose energy is lower than that of the three. Project the rows first, or choose a
    smaller family.

    References
    ----------
    Tabor and Spurek (2014), Cross-entropy clustering, Pattern Recognition 47, 3046-3059.

    Telgarsky and Vattani (2010), Hartigan's method: k-means clustering without Voronoi, AISTATS; that what
    cannot be improved by single moves cannot be improved by Lloyd's steps.

    Examples
    --------
    >>> from entrolearn import CrossEntropyClustering
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(600, centers=4, cluster_std=0.6, random_state=0)
    >>> CrossEntropyClustering(10, random_state=0).fit(X).n_clusters_
    4
    """

    _parameter_constraints: dict = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "family": [StrOptions({*FAMILIES})],
        "covariance": [None, Interval(Real, 0, None, closed="neither"), "array-like"],
        "min_weight": [Interval(Real, 0, 1, closed="left")],
        "merge": ["boolean"],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters=10,
        *,
        family="full",
        covariance=None,
        min_weight=0.05,
        merge=True,
        reg_covar=1e-6,
        init="k-means++",
        n_init=5,
        max_iter=100,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.family = family
        self.covariance = covariance
        self.min_weight = min_weight
        self.merge = merge
        self.reg_covar = reg_covar
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y=None) -> "CrossEntropyClustering":
        """Find the clusters.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Training rows.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are fewer rows than clusters; `covariance` is missing, given for a family other than
            "fixed", not positive definite, or so small or large that distances overflow; the labels `init`
            have a wrong length or too many clusters; a cluster has a singular covariance and ``reg_covar`` is
            too small; or ``reg_covar`` is so large that it overflows.

        Warns
        -----
        ConvergenceWarning
            If the best start reached `max_iter`.
        """
        X = validate_data(self, X, dtype=np.float64)
        if len(X) < self.n_clusters:
            raise ValueError(f"n_samples={len(X)} should be >= n_clusters={self.n_clusters}")
        self._origin = _origin_near(X)
        X = X - self._origin
        clusters_of = self._clusters_of(X)
        random = check_random_state(self.random_state)
        searches = []
        try:
            for labels in self._starts(X, random):
                search = HartiganSearch(
                    X, labels, clusters_of(labels), self._least_rows(X), self.merge, len(X) >= MANY_ROWS
                )
                searches.append(search.run(self.max_iter, random))
            for covariance in min(searches, key=lambda search: search.energies[-1]).clusters.covariances:
                cholesky(covariance)  # raises here rather than in `predict`
        except LinAlgError as error:
            raise ValueError(
                f"a cluster has a singular covariance with reg_covar={self.reg_covar}; "
                "accepted: a larger reg_covar, or rows projected onto fewer dimensions"
            ) from error
        self.objectives_ = np.array([search.energies[-1] for search in searches])
        best = searches[self.objectives_.argmin()]
        if not best.converged:
            warn_user(
                f"the best start did not converge in {self.max_iter} passes: raise max_iter",
                ConvergenceWarning,
            )
        return self._keep(best)

    def _clusters_of(self, X: np.ndarray) -> Callable[[np.ndarray], GaussianClusters]:
        """Function that builds the clusters of the family from labels of the rows."""
        if self.family == "fixed":
            covariance = self._fixed_covariance(X.shape[1])
            with np.errstate(over="ignore", invalid="ignore"):  # an overflow raises the error below
                squares = np.square(self._in_units(X)).sum()
                if not np.max([covariance.max(), np.linalg.inv(covariance).max(), squares]) <= MOST:
                    raise ValueError(
                        "covariance is so small or large that distances in its units overflow; accepted: one "
                        "in the units of the rows"
                    )
            return partial(FixedClusters, X, covariance=covariance)
        if self.covariance is not None:
            raise ValueError(
                f"covariance is given and family is {self.family!r}; only family='fixed' accepts a covariance"
            )
        variances = np.where(_varies(X), X.var(axis=0), 1.0)
        with np.errstate(over="ignore"):  # an overflow raises the error below
            prior = self.reg_covar * len(X) * variances
            if prior.sum() > MOST:
                raise ValueError(
                    f"reg_covar={self.reg_covar:g} times the variances of {len(X)} rows overflows; accepted: "
                    "a smaller one"
                )
        return partial(FAMILIES[self.family], X, prior=prior)

    def _fixed_covariance(self, n_features: int) -> np.ndarray:
        accepted = f"a positive number or a positive definite matrix of shape {(n_features, n_features)}"
        if self.covariance is None:
            raise ValueError(f"covariance is None with family='fixed'; it must be {accepted}")
        if isinstance(self.covariance, Real):
            return float(self.covariance) * np.eye(n_features)
        covariance = check_array(self.covariance, dtype=np.float64, input_name="covariance")
        if covariance.shape != (n_features, n_features):
            raise ValueError(f"covariance has shape {covariance.shape}; it must be {accepted}")
        if not np.allclose(covariance, covariance.T) or np.linalg.eigvalsh(covariance)[0] <= 0:
            raise ValueError(f"covariance is not symmetric and positive definite; it must be {accepted}")
        return covariance

    def _least_rows(self, X: np.ndarray) -> int:
        # Rounded, because a rounding error above an integer would raise the ceiling.
        share = math.ceil(round(self.min_weight * len(X), 9))
        return max(share, FAMILIES[self.family].least_rows(X.shape[1]))

    def _starts(self, X: np.ndarray, random: np.random.RandomState) -> Iterator[np.ndarray]:
        """Initial partitions, without clusters that are too small."""
        units = self._in_units(X)
        least_rows = self._least_rows(X)
        if not isinstance(self.init, str):
            yield _without_small(units, self._given_labels(len(X)), least_rows)
            return
        for _ in range(self.n_init):
            if self.init == "k-means++":
                seeds, _ = kmeans_plusplus(units, self.n_clusters, random_state=random)
            else:
                seeds = units[random.choice(len(X), self.n_clusters, replace=False)]
            yield _without_small(units, pairwise_distances_argmin(units, seeds), least_rows)

    def _given_labels(self, n_samples: int) -> np.ndarray:
        labels = check_labels(column_or_1d(self.init), "init")
        found, codes = np.unique(labels, return_inverse=True)
        if len(labels) != n_samples or len(found) > self.n_clusters:
            raise ValueError(
                f"init holds {len(labels)} labels of {len(found)} clusters; accepted: one label for each of "
                f"n_samples={n_samples} rows, and at most n_clusters={self.n_clusters} clusters"
            )
        return codes

    def _in_units(self, X: np.ndarray) -> np.ndarray:
        """The rows in coordinates whose Euclidean distances suit the family, see `init`."""
        centred = X - X.mean(axis=0)
        match self.family:
            case "full":
                variances, axes = np.linalg.eigh(centred.T @ centred / len(X))
                flat = variances <= FLAT * variances[-1]
                return centred @ axes / np.sqrt(np.where(flat, np.inf, variances))
            case "diagonal":
                return centred / np.where(_varies(X), X.std(axis=0), np.inf)
            case "fixed":
                factor = cholesky(self._fixed_covariance(X.shape[1]), lower=True)
                return solve_triangular(factor, centred.T, lower=True).T
            case _:
                return centred

    def _keep(self, search: HartiganSearch) -> "CrossEntropyClustering":
        clusters = search.clusters
        order = np.argsort(-clusters.counts, kind="stable")
        self.labels_ = np.argsort(order)[search.labels].astype(np.int32)
        self.n_clusters_ = clusters.n_clusters
        self.weights_ = clusters.counts[order] / clusters.n_samples
        self._means, self.covariances_ = clusters.means[order], clusters.covariances[order]
        self.means_ = self._origin + self._means
        self.objective_, self.history_ = search.energies[-1], np.array(search.energies)
        self.n_clusters_history_ = np.array(search.numbers)
        self.n_iter_ = len(search.energies)
        return self

    def predict(self, X) -> np.ndarray:
        """Cluster with the largest weighted density at each row.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of int, shape (n_samples,)
            Numbers of the clusters.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False) - self._origin
        log_joint = [
            math.log(weight) + _log_density(X - mean, covariance)
            for weight, mean, covariance in zip(self.weights_, self._means, self.covariances_, strict=True)
        ]
        return np.argmax(log_joint, axis=0).astype(np.int32)


def _origin_near(X: np.ndarray) -> np.ndarray:
    """A point near the rows whose differences from them are exact; 0 unless the rows are far from 0.

    The rounding error of the mean of rows far from 0 would exceed their spread. A constant column becomes 0.
    """
    low = X.min(axis=0)
    with np.errstate(over="ignore"):
        spread = np.ptp(X, axis=0)
    unit = np.ldexp(1.0, np.minimum(np.frexp(spread)[1] + FAR, 1023))
    near = np.where(np.isfinite(spread), np.rint(low / unit) * unit, 0.0)
    return np.where(spread > 0, near, low)


def _varies(X: np.ndarray) -> np.ndarray:
    """Which features vary by more than underflow and rounding errors."""
    return (np.ptp(X, axis=0) > 0) & (X.var(axis=0) > LEAST_VARIANCE)


def _log_density(offsets: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Logarithm of the normal density, without the constant that is common to all clusters."""
    factor = cholesky(covariance, lower=True)
    standard = solve_triangular(factor, offsets.T, lower=True)
    return -0.5 * np.einsum("dn,dn->n", standard, standard) - np.log(np.diag(factor)).sum()


def _without_small(units: np.ndarray, labels: np.ndarray, least_rows: int) -> np.ndarray:
    """Labels after the rows of too small clusters have been moved to the nearest other mean."""
    _, labels = np.unique(labels, return_inverse=True)
    counts = np.bincount(labels)
    while len(counts) > 1 and counts.min() < least_rows:
        smallest = counts.argmin()
        others = [k for k in range(len(counts)) if k != smallest]
        means = [units[labels == k].mean(axis=0) for k in others]
        homeless = labels == smallest
        labels[homeless] = np.array(others)[pairwise_distances_argmin(units[homeless], means)]
        labels -= labels > smallest
        counts = np.bincount(labels)
    return labels
