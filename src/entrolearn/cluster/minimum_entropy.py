"""Minimum entropy clustering: partitions of small conditional entropy of the cluster given the neighbours."""

import math
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real

import numpy as np
from scipy.special import entr
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from entrolearn.cluster.equal_rows import distinct_rows
from entrolearn.cluster.posteriors import (
    VolumePosteriors,
    WindowPosteriors,
    neighbour_distance,
    neighbour_index,
    volume_posteriors,
    window_counts,
)
from entrolearn.user_warnings import warn_user
from entrolearn.validation import HasMethods, Interval, StrOptions, check_labels, validate_data, validated

__all__ = ["MinimumEntropyClustering"]

#: Changes up to this count as rounding errors: sums of some thousand entropies are more accurate.
ROUNDING = 1e-10


class MinimumEntropyClustering(ClusterMixin, BaseEstimator):
    r"""Minimum entropy clustering: minimises the conditional entropy of an initial partition by moving rows.

    The objective is the mean over the rows of

    .. math:: H(C \mid x) = -\sum_j p(c_j \mid x) \ln p(c_j \mid x),

    the uncertainty about the cluster of a row given its position, with posteriors estimated from its
    neighbours. Each row in turn is moved to the cluster with the largest posterior if this lowers the sum of
    the entropies of all rows, until a sweep moves no row. The result is a local minimum near the initial
    partition.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters of the initial partition; some may disappear.
    posterior : {"parzen", "knn"}, default="parzen"
        Estimator of the posteriors. "parzen": the shares of the clusters among the rows in a ball around the
        row, including itself. "knn": proportional to the reciprocal of the volume that contains the
        `n_neighbors` nearest members of a cluster, excluding the row itself.
    entropy : {"shannon", "havrda_charvat"}, default="shannon"
        The entropy of the posteriors; "havrda_charvat" is the structural entropy,
        :math:`(\sum_j p_j^\alpha - 1) / (e^{1 - \alpha} - 1)`.
    order : float, default=2.0
        α of the structural entropy. With 2 it is proportional to the probability that two draws from the
        posterior differ, which is the error of the nearest-neighbour rule; with 1 it is Shannon's entropy.
    radius : float or None, default=None
        Radius of the balls. None uses the median over the rows of the distance to the `n_neighbors`-th
        nearest other row, so that half of the balls contain at least that many.
    n_neighbors : int, default=10
        Number of members of a cluster for "knn", or number of neighbours that sets the default `radius`.
    init : {"k-means", "random"}, clusterer or array-like of shape (n_samples,), default="k-means"
        The initial partition: scikit-learn's KMeans, random labels, any other clusterer with `fit_predict`,
        or an array of labels.
    max_iter : int, default=100
        Maximum number of sweeps over the rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial partition if `init` is "k-means" or "random".

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters 0, …, ``n_clusters_ - 1``.
    n_clusters_ : int
        Number of clusters that remain.
    objective_ : float
        The mean conditional entropy of the clusters, in nats for Shannon's entropy.
    history_ : ndarray of shape (`n_iter_` + 1,)
        The objective of the initial partition and after each sweep; non-increasing.
    n_iter_ : int
        Number of sweeps. Unless `max_iter` was reached, the last one moved no row.
    radius_ : float
        Radius of the balls, if `posterior` is "parzen".
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    entrolearn.RenyiEntropyClustering : Grows clusters from seeds by their quadratic entropy.
    sklearn.semi_supervised.LabelPropagation : Estimator for partly known labels.

    Notes
    -----
    A single cluster has entropy 0, so the global minimum is trivial and the result depends on the initial
    partition. The method corrects rows inside the wrong group, and borders that are within a radius of a gap;
    a border through the middle of a group stays there.

    The mean over the rows estimates the integral over their density, equation (5). With "parzen" a row is in
    the balls of its neighbours and of itself only. The sum over these, step 1 of the paper's method, is
    therefore the whole change, and its time is proportional to their number. With "knn" a move can change the
    volumes of its two clusters at any row: the sum is over all rows where it does, and needs the distances to
    all rows. The dimension of these volumes is the number of features of X; if it is large, posteriors are
    nearly 0 or 1. The row itself does not count as a neighbour: its distance of zero would keep the last row
    of a cluster in it.

    Equal rows are moved together; they start in the cluster of the first of them. Rows are not moved on a
    tie. For some training rows another cluster than their own may have the largest
    posterior, because moving them would increase the entropy of their neighbours more. `predict` returns that
    cluster, `labels_` the own one.

    References
    ----------
    Li, Zhang and Jiang, Minimum Entropy Clustering and Applications to Gene Expression Analysis, CSB 2004.

    Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning, chapter on
    clustering: equation (5) for the criterion, (9) and (10) for the posteriors, of which the latter are
    normalised here.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import MinimumEntropyClustering
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]])
    >>> start = [0, 1, 0, 0, 1, 1, 1, 0]
    >>> repaired = MinimumEntropyClustering(2, radius=1.0, init=start).fit(X)
    >>> repaired.labels_, repaired.history_.round(3)
    (array([0, 0, 0, 0, 1, 1, 1, 1]), array([0.562, 0.   , 0.   ]))
    """

    _parameter_constraints: dict = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "posterior": [StrOptions({"parzen", "knn"})],
        "entropy": [StrOptions({"shannon", "havrda_charvat"})],
        "order": [Interval(Real, 0, None, closed="neither")],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means", "random"}), HasMethods("fit_predict"), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        posterior="parzen",
        entropy="shannon",
        order=2.0,
        radius=None,
        n_neighbors=10,
        init="k-means",
        max_iter=100,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.posterior = posterior
        self.entropy = entropy
        self.order = order
        self.radius = radius
        self.n_neighbors = n_neighbors
        self.init = init
        self.max_iter = max_iter
        self.random_state = random_state

    # prefer_skip_nested_validation=False: the initial clusterer validates its own parameters.
    @validated(prefer_skip_nested_validation=False)
    def fit(self, X, y=None) -> "MinimumEntropyClustering":
        """Move rows between the clusters of the initial partition until none moves.

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
            If there are fewer rows than clusters, or the initial partition does not have one label for each
            row or has more than `n_clusters` different labels.

        Warns
        -----
        ConvergenceWarning
            If the last sweep still moved a row.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if len(X) < self.n_clusters:
            raise ValueError(f"n_samples={len(X)} must be at least n_clusters={self.n_clusters}")
        initial, n_initial = self._initial_partition(X)
        first, of_row, counts = distinct_rows(X)
        posteriors = self._posteriors(X, first, counts, initial[first], n_initial)
        history, converged = _descend(posteriors, self._row_entropy(), self.max_iter)
        if not converged:
            warn_user(
                f"rows still moved in the last of {self.max_iter} sweeps: raise max_iter",
                ConvergenceWarning,
            )
        remaining, self.labels_ = np.unique(posteriors.labels[of_row], return_inverse=True)
        self.n_clusters_ = len(remaining)
        self.history_ = np.array(history)
        self.objective_, self.n_iter_ = history[-1], len(history) - 1
        self._X = X.copy()
        return self

    def predict(self, X) -> np.ndarray:
        """Cluster with the largest posterior at each row, for the fitted partition.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)

        Returns
        -------
        ndarray of int, shape (n_samples,)
            If a ball contains no training row, the cluster of the nearest one.
        """
        check_is_fitted(self)
        Z = validate_data(self, X, dtype=np.float64, reset=False)
        if self.posterior == "knn":
            posteriors = volume_posteriors(self._X, self.labels_, self.n_clusters_, self.n_neighbors, Z)
            return posteriors.argmax(axis=1)
        index = neighbour_index(self._X, self.radius_)
        counts = window_counts(index, self.labels_, self.n_clusters_, Z)
        labels = counts.argmax(axis=1)
        alone = ~counts.any(axis=1)
        if alone.any():
            labels[alone] = self.labels_[index.kneighbors(Z[alone], return_distance=False)[:, 0]]
        return labels

    def _initial_partition(self, X: np.ndarray) -> tuple[np.ndarray, int]:
        """Labels 0, 1, … of the initial clusters, and the number of clusters."""
        random_state = check_random_state(self.random_state)
        if isinstance(self.init, str) and self.init == "k-means":
            found = KMeans(self.n_clusters, n_init=10, random_state=random_state).fit_predict(X)
            # Renumber by first occurrence: rounding decides which of equally good starts KMeans returns.
            _, first, codes = np.unique(found, return_index=True, return_inverse=True)
            labels = first.argsort().argsort()[codes]
        elif isinstance(self.init, str):
            labels = random_state.randint(self.n_clusters, size=len(X))
        elif hasattr(self.init, "fit_predict"):
            labels = clone(self.init).fit_predict(X)
        else:
            labels = check_labels(
                check_array(self.init, ensure_2d=False, dtype=None, input_name="init"), "init"
            )
            if labels.shape != (len(X),):
                raise ValueError(
                    f"init has shape {labels.shape}; it must have one label for each row of X, ({len(X)},)"
                )
        different, codes = np.unique(labels, return_inverse=True)
        if len(different) > self.n_clusters:
            raise ValueError(
                f"init has {len(different)} different labels; it must have at most "
                f"n_clusters={self.n_clusters}"
            )
        return codes, len(different)

    def _posteriors(
        self, X: np.ndarray, first: np.ndarray, counts: np.ndarray, labels: np.ndarray, n_clusters: int
    ) -> WindowPosteriors | VolumePosteriors:
        if self.posterior == "knn":
            self.__dict__.pop("radius_", None)  # of an earlier fit
            return VolumePosteriors(X[first], counts, labels, n_clusters, self.n_neighbors)
        self.radius_ = neighbour_distance(X, self.n_neighbors) if self.radius is None else float(self.radius)
        return WindowPosteriors(X[first], counts, labels, n_clusters, self.radius_)

    def _row_entropy(self) -> Callable[[np.ndarray], np.ndarray]:
        if self.entropy == "havrda_charvat" and self.order != 1:
            return partial(_structural_entropy, order=self.order)
        return _shannon_entropy


def _descend(
    posteriors: WindowPosteriors | VolumePosteriors,
    entropy: Callable[[np.ndarray], np.ndarray],
    max_iter: int,
) -> tuple[list[float], bool]:
    """Sweep until no row moves. Returns the mean entropies and whether the last sweep moved no row."""
    entropies = entropy(posteriors.values)
    history = [float(np.repeat(entropies, posteriors.counts).mean())]
    for _ in range(max_iter):
        moved = _sweep(posteriors, entropies, entropy)
        history.append(float(np.repeat(entropies, posteriors.counts).mean()))
        if not moved:
            return history, True
    return history, False


def _sweep(
    posteriors: WindowPosteriors | VolumePosteriors,
    entropies: np.ndarray,
    entropy: Callable[[np.ndarray], np.ndarray],
) -> bool:
    """Visit every row once and move it if this lowers the sum of the entropies; updates `entropies`."""
    moved = False
    favourites = _favourites(posteriors.values, posteriors.labels)
    for row in range(len(entropies)):
        cluster = favourites[row]
        if cluster == posteriors.labels[row]:
            continue
        rows, values = posteriors.propose(row, cluster)
        proposed = entropy(values)
        if np.sum(posteriors.counts[rows] * (proposed - entropies[rows])) < -ROUNDING:
            posteriors.accept(row, cluster, rows, values)
            entropies[rows] = proposed
            favourites[rows] = _favourites(values, posteriors.labels[rows])
            moved = True
    return moved


def _favourites(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Cluster with the largest posterior at each row; the row's own cluster on a tie."""
    best = values.argmax(axis=1)
    rows = np.arange(len(values))
    return np.where(values[rows, best] > values[rows, labels], best, labels)


# These skip the validation of `entrolearn.measures`, which would be repeated for every proposal.
def _shannon_entropy(values: np.ndarray) -> np.ndarray:
    return entr(values).sum(axis=1)


def _structural_entropy(values: np.ndarray, order: float) -> np.ndarray:
    """Havrda and Charvát's entropy of each row, of an order other than 1."""
    logs = np.log(values, out=np.zeros_like(values), where=values > 0)
    with np.errstate(over="ignore"):  # a large order gives -inf, whose expm1 is -1
        # Sums of differences from one are accurate near order 1, where sums of the powers are not.
        differences = np.expm1((order - 1) * logs)
    return (values * differences).sum(axis=1) / math.expm1(1 - order)
