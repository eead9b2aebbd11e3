"""Cross-entropy clustering: Gaussian clusters that pay for their own number."""

import math
import warnings
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
from entrolearn.validation import Interval, StrOptions, check_labels, validate_data, validated

__all__ = ["CrossEntropyClustering"]

FAMILIES: dict[str, type[GaussianClusters]] = {
    "full": FullClusters,
    "diagonal": DiagonalClusters,
    "spherical": SphericalClusters,
    "fixed": FixedClusters,
}

#: Directions with a smaller share of the largest variance do not count where first rows are drawn.
FLAT = 1e-10

#: Features of no more variance count as constant: a share `reg_covar` of it would not be a number.
LEAST_VARIANCE = 1e-280

#: The largest scatter that clusters have of reg_covar, fixed covariance, its inverse, and sum of squared
#: distances in its units: what is added up of them are numbers.
MOST = 1e300

#: Rows further from 0 than 2**9 times their range are moved to it; nearer ones lose few digits there.
FAR = 10

#: Rows from which on the search begins by moving many at once.
MANY_ROWS = 8000


class CrossEntropyClustering(ClusterMixin, BaseEstimator):
    r"""Cross-entropy clustering: a hard mixture of Gaussians that finds how many there are.

    Minimises the mean length of a code that says which cluster a row is in, then where it is, by the density
    of a family that suits the cluster best:

    .. math:: E = \sum_k p_k \left(-\ln p_k + H^\times(X_k \| \mathcal{F})\right).

    Rows move, one at a time, to where they lower that. A cluster that is left with too small a share of the
    rows is removed, and two that cost less as one are merged: `n_clusters` is what the search begins with.

    Parameters
    ----------
    n_clusters : int, default=10
        Clusters at most.
    family : {"full", "diagonal", "spherical", "fixed"}, default="full"
        Densities: all normal ones, those of independent features, the round ones, or those of one covariance.
    covariance : float or array-like of shape (n_features, n_features), default=None
        That of the family "fixed", which needs it; a number is a variance in all directions.
    min_weight : float, default=0.05
        ε: a cluster with a smaller share of the rows is removed, and each of its rows goes where it costs
        least. So is one of the family "full" with fewer than n_features + 2 rows, and of the others with
        fewer than three ("fixed": two).
    merge : bool, default=True
        Whether two clusters become one where no row's move pays and that does. False is the paper's search,
        which leaves more clusters: see the notes.
    reg_covar : float, default=1e-6
        Keeps covariances from being singular: ``reg_covar / 2 * sum_k tr(V inv(S_k))`` is added to the
        energy, V the variances of the features over all rows and S_k the covariances of the clusters. 0 for
        rows in general position. Not in the family "fixed".
    init : {"k-means++", "random"} or array-like of int, shape (n_samples,), default="k-means++"
        The first partition: by the nearest of rows drawn as `sklearn.cluster.kmeans_plusplus` does or
        uniformly; or given, as labels. Rows are drawn in units of the family: uncorrelated features of one
        variance for "full", features of one variance for "diagonal", those of the covariance for "fixed".
    n_init : int, default=5
        First partitions, of which the one counts that ends with the least energy; 1 where it is given.
    max_iter : int, default=100
        Passes over the rows at most.
    random_state : int, RandomState instance or None, default=None
        Draws the first partitions, and the order in which rows are moved.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters by falling weight.
    n_clusters_ : int
        Clusters that are left.
    weights_ : ndarray of shape (`n_clusters_`,)
        p_k, the shares of the rows.
    means_ : ndarray of shape (`n_clusters_`, n_features)
    covariances_ : ndarray of shape (`n_clusters_`, n_features, n_features)
        Of the densities: of the family's form.
    objective_ : float
        The energy, in nats for each row.
    objectives_ : ndarray of shape (n_init,)
        Where each start ended.
    history_ : ndarray of shape (`n_iter_`,)
        Energy after each pass of the best start.
    n_clusters_history_ : ndarray of shape (`n_iter_`,)
        Clusters left after each.
    n_iter_ : int
        Passes of the best start.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X has names of features that are all strings.

    See Also
    --------
    sklearn.mixture.GaussianMixture : Soft clusters, of a number that is given.
    CrossEntropyMethodClustering : Shares the name alone: the cross-entropy method looks for centroids.

    Notes
    -----
    The search is Hartigan's: a row moves as soon as that lowers the energy, and with it the two clusters
    change. A pass judges all moves of all rows at once, then makes those that still pay, one at a time. With
    8,000 rows or more the first passes make them all at once, as long as many pay and the energy falls;
    where clusters overlap, the search may then come to rest in another partition of about the same energy. At
    the end no single move pays, which implies that each row is in the cluster of greatest ``p_k N(x; m_k,
    S_k)``: :meth:`predict` repeats the labels. The converse is not true: moving all rows to their densest
    clusters at once, Lloyd's way, comes to rest earlier.

    Single moves do not empty every superfluous cluster either. Of ten that share four separate components,
    six to nine are left where the densities are full, though four have the least energy. Pairs of them lower
    it as one, hence `merge`, which the paper does not have; and not all of these, hence `n_init`.

    The energy falls with every move and every merger, and may rise only where a cluster is removed.

    With ``reg_covar=0`` the family "full" does not depend on the units of the features, nor on any other
    invertible affine map of the rows, "diagonal" not on the units.

    The entropy that a covariance of few rows promises is too small, and the energy does not make up for it:
    "full" wants some ten times n_features² rows in a cluster and more, or finds too many. Of three separate
    components in six dimensions it finds three from 1000 rows of each, five to eight, at less energy than
    that of the three, from 300. Project the rows first, or choose a smaller family.

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
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are fewer rows than clusters, the covariance is missing, superfluous, not positive
            definite or so small or large that distances overflow, labels do not fit, a cluster is flat and
            ``reg_covar`` 0, or ``reg_covar`` is so large that it overflows.

        Warns
        -----
        ConvergenceWarning
            If the best start used up its passes.
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
                cholesky(covariance)  # as `predict` will do
        except LinAlgError as error:
            raise ValueError(
                f"a cluster is flat: the rows do not fill the space, and reg_covar is {self.reg_covar}; "
                "accepted then: a larger reg_covar, or rows projected onto fewer dimensions"
            ) from error
        self.objectives_ = np.array([search.energies[-1] for search in searches])
        best = searches[self.objectives_.argmin()]
        if not best.converged:
            warnings.warn(
                f"the best start used up its {self.max_iter} passes: raise max_iter",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._keep(best)

    def _clusters_of(self, X: np.ndarray) -> Callable[[np.ndarray], GaussianClusters]:
        """What makes clusters of the family from labels of the rows."""
        if self.family == "fixed":
            covariance = self._fixed_covariance(X.shape[1])
            with np.errstate(over="ignore", invalid="ignore"):  # told here
                squares = np.square(self._in_units(X)).sum()
                if not np.max([covariance.max(), np.linalg.inv(covariance).max(), squares]) <= MOST:
                    raise ValueError(
                        "covariance is so small or large that distances in its units overflow; accepted: one "
                        "in the units of the rows"
                    )
            return partial(FixedClusters, X, covariance=covariance)
        if self.covariance is not None:
            raise ValueError(
                f"covariance is given and family is {self.family!r}; only the family 'fixed' has a given one"
            )
        variances = np.where(_varies(X), X.var(axis=0), 1.0)
        with np.errstate(over="ignore"):  # told here
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
            raise ValueError(f"covariance is None and family 'fixed'; it must be {accepted}")
        if isinstance(self.covariance, Real):
            return float(self.covariance) * np.eye(n_features)
        covariance = check_array(self.covariance, dtype=np.float64, input_name="covariance")
        if covariance.shape != (n_features, n_features):
            raise ValueError(f"covariance has shape {covariance.shape}; it must be {accepted}")
        if not np.allclose(covariance, covariance.T) or np.linalg.eigvalsh(covariance)[0] <= 0:
            raise ValueError(f"covariance is not symmetric and positive definite; it must be {accepted}")
        return covariance

    def _least_rows(self, X: np.ndarray) -> int:
        share = math.ceil(round(self.min_weight * len(X), 9))  # rounding may lift a product above an integer
        return max(share, FAMILIES[self.family].least_rows(X.shape[1]))

    def _starts(self, X: np.ndarray, random: np.random.RandomState) -> Iterator[np.ndarray]:
        """First partitions, without clusters that are too small to be any."""
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
                f"init holds {len(labels)} labels of {len(found)} clusters; accepted: one of "
                f"n_samples={n_samples} rows each, of at most n_clusters={self.n_clusters}"
            )
        return codes

    def _in_units(self, X: np.ndarray) -> np.ndarray:
        """The rows in coordinates in which Euclidean distances are those of the family."""
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
        """The cluster of greatest weighted density for each row.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)

        Returns
        -------
        ndarray of int, shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False) - self._origin
        log_joint = [
            math.log(weight) + _log_density(X - mean, covariance)
            for weight, mean, covariance in zip(self.weights_, self._means, self.covariances_, strict=True)
        ]
        return np.argmax(log_joint, axis=0).astype(np.int32)


def _origin_near(X: np.ndarray) -> np.ndarray:
    """A point near the rows, from which differences are exact; 0 unless they are far beside their range.

    Of rows far from 0 a mean is rounded by more than their own digits. A constant column becomes 0.
    """
    low = X.min(axis=0)
    with np.errstate(over="ignore"):
        spread = np.ptp(X, axis=0)
    unit = np.ldexp(1.0, np.minimum(np.frexp(spread)[1] + FAR, 1023))
    near = np.where(np.isfinite(spread), np.rint(low / unit) * unit, 0.0)
    return np.where(spread > 0, near, low)


def _varies(X: np.ndarray) -> np.ndarray:
    """Which features do, by more than underflow and rounding leave of a variance."""
    return (np.ptp(X, axis=0) > 0) & (X.var(axis=0) > LEAST_VARIANCE)


def _log_density(offsets: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Of the normal density, but for the constant that all have."""
    factor = cholesky(covariance, lower=True)
    standard = solve_triangular(factor, offsets.T, lower=True)
    return -0.5 * np.einsum("dn,dn->n", standard, standard) - np.log(np.diag(factor)).sum()


def _without_small(units: np.ndarray, labels: np.ndarray, least_rows: int) -> np.ndarray:
    """Labels in which the rows of clusters too small have gone to the nearest of the other means."""
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
