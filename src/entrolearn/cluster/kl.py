"""Clustering of distributions with the Kullback–Leibler divergence as distance."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from scipy.special import entr
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, check_non_negative

from entrolearn.user_warnings import warn_user
from entrolearn.validation import Interval, StrOptions, validate_data, validated

__all__ = ["KLClustering"]

#: Divergences up to this, in nats, may be rounding errors.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class _Distributions:
    """Rows as distributions, each mixed with a share of a common distribution.

    The mixture is not computed explicitly, because it would fill sparse rows; its entropies are computed from
    its parts.

    Attributes
    ----------
    rows : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Rows that add up to 1.
    common : ndarray of shape (n_features,)
        The common distribution, positive in every feature that occurs in the training rows.
    share : float
        Share s of the common distribution: the distributions are ``(1 - s) row + s common``.
    """

    rows: Any
    common: np.ndarray
    share: float

    def __len__(self) -> int:
        return self.rows.shape[0]

    def __getitem__(self, which) -> np.ndarray:
        """Some of the distributions, as an array of shape (n, n_features)."""
        rows = self.rows[which]
        return self.mix(rows.toarray() if issparse(rows) else rows)

    def mix(self, rows: np.ndarray) -> np.ndarray:
        """Rows mixed with the common distribution, shape (n, n_features)."""
        return (1 - self.share) * rows + self.share * self.common

    def entropies(self) -> np.ndarray:
        """Entropies of the distributions in nats, shape (n_samples,)."""
        if not issparse(self.rows):
            return entr(self.mix(self.rows)).sum(axis=1)
        # The entropy as if all entries were zero, plus the changes due to the non-zero ones.
        parts, background = self.rows.copy(), self.share * self.common
        parts.data = entr((1 - self.share) * parts.data + background[parts.indices])
        parts.data -= entr(background)[parts.indices]
        return np.asarray(parts.sum(axis=1)).ravel() + entr(background).sum()

    def means(self, labels: np.ndarray) -> np.ndarray:
        """Mean distribution of each cluster, shape (n_clusters, n_features); no cluster may be empty."""
        members = csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))))
        sums = members @ self.rows
        sums = sums.toarray() if issparse(sums) else sums
        return self.mix(sums / np.bincount(labels)[:, np.newaxis])

    def cross_entropies(self, centers: np.ndarray) -> np.ndarray:
        """Cross entropies of the distributions with each center, in nats, by one matrix product.

        Parameters
        ----------
        centers : ndarray of shape (n_centers, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_centers)
            Infinite where a center is zero and the distribution positive.
        """
        lacking = centers == 0
        logs = np.log(np.where(lacking, 1.0, centers))
        cross = safe_sparse_dot(self.rows, (self.share - 1) * logs.T, dense_output=True)
        cross -= self.share * (logs @ self.common)
        if lacking.any():
            outside = safe_sparse_dot(self.rows, lacking.T.astype(float), dense_output=True)
            cross[outside + self.share * (lacking @ self.common) > 0] = np.inf
        return cross


class KLClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    r"""Clustering of distributions that preserves as much mutual information as possible.

    Each row, divided by its sum, is a distribution over the features: a histogram, the word counts of a
    document, or the intensities of an image. The objective is the mean divergence of the rows from the
    centers of their clusters,

    .. math:: \frac1N \sum_i \mathrm{KL}(x_i \| c_{z_i}) = I(X; Y) - I(C; Y),

    the loss of information about the feature Y when the row X is replaced by its cluster C. As in KMeans, the
    best center of a cluster is the mean of its rows, and the algorithm alternates between assigning rows and
    updating centers.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, if there are at least as many different distributions.
    mixing : float, default=0.01
        Share of the mean of all rows that is mixed into each row first. With 0 a row has infinite divergence
        from a center that is zero in one of its features, however small the entry is.
    init : {"k-means++", "random"} or array-like of shape (n_clusters, n_features), default="k-means++"
        The initial centers. "k-means++" draws rows with a probability proportional to the divergence from the
        nearest center drawn before, "random" uniformly. An array gives the centers, in any units.
    n_init : int, default=10
        Number of starts, of which the best is kept. Given centers are used once.
    max_iter : int, default=300
        Maximum number of iterations of a start.
    tol : float, default=0.0
        A start ends when an iteration lowers the objective by at most this share of it. With 0 it ends when
        no row changes its cluster; :meth:`predict` then repeats the labels.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial centers.
    n_jobs : int or None, default=None
        Number of processes; the result does not depend on it.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (`n_clusters_`, n_features)
        Means of the mixed rows of each cluster, which are distributions.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row.
    n_clusters_ : int
        `n_clusters`, or the number of different distributions if this is smaller.
    objective_ : float
        Mean divergence of the rows from their centers, the information lost, in nats.
    mutual_information_ : float
        I(X; Y) of the mixed rows, in nats. This is the value of `objective_` with a single cluster.
    history_ : ndarray of shape (`n_iter_`,)
        Objective after each iteration of the best start; non-increasing.
    objectives_ : ndarray of shape (n_init,)
        Final objective of each start.
    n_iter_ : int
        Iterations of the best start.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    sklearn.cluster.KMeans : The same with squared distances, which are large between images or documents
        of different total weight.
    sklearn.decomposition.NMF : With ``beta_loss="kullback-leibler"``, rows as mixtures of centers.

    Notes
    -----
    A cluster that loses all its rows is given the row with the largest divergence from its own center, and
    the rows equal to it.

    Dimitriadis and Kofterou rejected this divergence for clustering images of digits, because the
    distributions of the clusters differed too little. A measure of this difference is ``1 - objective_ /
    mutual_information_``, the share of the information that the clusters preserve. With ``mixing=0``
    nearly all images have infinite divergence from each center that is an image, and the search stops close
    to its start, far from any classes.

    References
    ----------
    Banerjee, Merugu, Dhillon and Ghosh (2005), Clustering with Bregman divergences, Journal of Machine
    Learning Research 6, 1705-1749, section 3.

    Dhillon, Mallela and Kumar (2003), A divisive information-theoretic feature clustering algorithm for text
    classification, Journal of Machine Learning Research 3, 1265-1287.

    Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning, chapter on
    clustering.

    Examples
    --------
    >>> from entrolearn import KLClustering
    >>> counts = [[9, 1, 0], [80, 20, 0], [0, 2, 8], [0, 1, 4]]
    >>> KLClustering(2, random_state=0).fit_predict(counts).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """

    _parameter_constraints: dict = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "mixing": [Interval(Real, 0, 1, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        mixing=0.01,
        init="k-means++",
        n_init=10,
        max_iter=300,
        tol=0.0,
        random_state=None,
        n_jobs=None,
    ):
        self.n_clusters = n_clusters
        self.mixing = mixing
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y=None) -> "KLClustering":
        """Find the clusters.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Non-negative. A row of zeros is replaced by the mean of the other rows.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an entry is negative, X is all zero, there is a single feature, there are fewer rows than
            clusters, or the given centers have a wrong shape or negative entries.

        Warns
        -----
        ConvergenceWarning
            If the best start reached `max_iter`.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        if X.shape[1] == 1:
            raise ValueError(
                "X has 1 feature(s); at least 2 are needed, as all distributions over one feature are equal"
            )
        if X.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}")
        check_non_negative(X, "KLClustering")
        rows = _normalised(X)
        mean = np.asarray(rows.mean(axis=0)).ravel()
        self._used = mean > 0  # features that are zero in all rows are ignored
        distributions = _Distributions(rows[:, self._used], mean[self._used], self.mixing)
        search = _Search(distributions, self.n_clusters, self.max_iter, self.tol)
        random = check_random_state(self.random_state)
        run = delayed(search.run)
        runs = Parallel(n_jobs=self.n_jobs)(run(centers) for centers in [*self._starts(search, random)])
        self.objectives_ = np.array([run.history[-1] for run in runs])
        best = runs[self.objectives_.argmin()]
        if not best.converged:
            warn_user(
                f"the best start did not converge in {self.max_iter} iterations: raise max_iter or tol",
                ConvergenceWarning,
            )
        self.cluster_centers_ = np.zeros((len(best.centers), X.shape[1]))
        self.cluster_centers_[:, self._used] = best.centers
        self.labels_, self.n_clusters_ = best.labels.astype(np.int32), len(best.centers)
        self.objective_, self.history_ = best.history[-1], np.array(best.history)
        self.mutual_information_ = float(entr(mean).sum() - search.entropies.mean())
        self._mean = mean
        self.n_iter_ = len(best.history)
        return self

    def _starts(self, search: "_Search", random: np.random.RandomState) -> Iterator[np.ndarray]:
        """Initial centers of each start."""
        distributions = search.distributions
        if not isinstance(self.init, str):
            yield distributions.mix(self._given_centers())
            return
        for _ in range(self.n_init):
            if self.init == "random":
                drawn = random.choice(len(distributions), self.n_clusters, replace=False)
            else:
                drawn = search.spread_out(random)
            yield distributions[drawn]

    def _given_centers(self) -> np.ndarray:
        wanted = (self.n_clusters, len(self._used))
        init = check_array(self.init, dtype=np.float64, input_name="init")
        if init.shape != wanted:
            raise ValueError(f"init has shape {init.shape}; it must name a start or be of shape {wanted}")
        check_non_negative(init, "init of KLClustering")
        centers = init[:, self._used]
        if not centers.any(axis=1).all():
            raise ValueError("init has a center that is zero in all features that occur in X")
        return centers / centers.sum(axis=1, keepdims=True)

    def predict(self, X) -> np.ndarray:
        """Cluster whose center has the smallest divergence from each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Features that were zero in all training rows are ignored. A row without entries in the others is
            replaced by the mean of the training rows.

        Returns
        -------
        ndarray of int, shape (n_samples,)
        """
        known, _ = self._known(X)
        return known.cross_entropies(self.cluster_centers_[:, self._used]).argmin(axis=1).astype(np.int32)

    def transform(self, X) -> np.ndarray:
        """Divergences of the mixed rows from the centers.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, `n_clusters_`)
            In nats; infinite for a row with a positive entry in a feature that was zero in all training rows.
        """
        known, complete = self._known(X)
        cross = known.cross_entropies(self.cluster_centers_[:, self._used])
        # Rounding errors may be negative.
        divergences = np.maximum(cross - known.entropies()[:, np.newaxis], 0)
        divergences[~complete] = np.inf
        return divergences

    def _known(self, X) -> tuple[_Distributions, np.ndarray]:
        """The rows without new features, and a mask of the rows that have none of these."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        check_non_negative(X, "KLClustering")
        new = np.asarray(X[:, ~self._used].sum(axis=1)).ravel()
        # Set new features to 0 before dropping them, so that sums are rounded as in fit.
        if issparse(X):
            X = X.copy()
            X.data *= self._used[X.indices]
        else:
            X = X * self._used
        rows = _normalised(X, self._mean)[:, self._used]
        return _Distributions(rows, self._mean[self._used], self.mixing), new == 0

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _normalised(X, mean: np.ndarray | None = None):
    """Rows divided by their sums; rows of zeros become `mean`, by default the mean of the others.

    Raises
    ------
    ValueError
        If all entries are zero and `mean` is None.
    """
    sums = np.asarray(X.sum(axis=1)).ravel()
    empty = sums == 0
    sums[empty] = 1.0
    if issparse(X):
        rows = X.copy()
        rows.data /= np.repeat(sums, np.diff(X.indptr))
    else:
        rows = X / sums[:, np.newaxis]
    if not empty.any():
        return rows
    if mean is None:
        if empty.all():
            raise ValueError("X is all zero; a row must have a positive entry to be a distribution")
        mean = np.asarray(rows.sum(axis=0)).ravel() / np.count_nonzero(~empty)
    if issparse(rows):
        return rows + csr_matrix(empty[:, np.newaxis].astype(float)) @ csr_matrix(mean[np.newaxis])
    rows[empty] = mean
    return rows


@dataclass(frozen=True, eq=False)
class _Run:
    """Result of one start."""

    centers: np.ndarray
    labels: np.ndarray
    history: list[float]
    converged: bool


@dataclass(frozen=True, eq=False)
class _Search:
    """Alternating search: rows join their nearest centers, centers become the means of their rows."""

    distributions: _Distributions
    n_clusters: int
    max_iter: int
    tol: float

    @cached_property
    def entropies(self) -> np.ndarray:
        return self.distributions.entropies()

    def spread_out(self, random: np.random.RandomState) -> list[int]:
        """Indices of rows that are far from one another, drawn as in k-means++."""
        n_rows = len(self.distributions)
        drawn = [random.randint(n_rows)]
        nearest = np.full(n_rows, np.inf)
        while len(drawn) < self.n_clusters:
            last = self.distributions[drawn[-1:]]
            divergences = self.distributions.cross_entropies(last)[:, 0] - self.entropies
            nearest = np.minimum(nearest, np.maximum(divergences, 0))
            weights = np.isinf(nearest).astype(float) if np.isinf(nearest).any() else nearest
            if not weights.any():  # fewer different rows than clusters
                weights = np.ones(n_rows)
            drawn.append(random.choice(n_rows, p=weights / weights.sum()))
        return drawn

    def run(self, centers: np.ndarray) -> _Run:
        history: list[float] = []
        converged = False
        while not converged and len(history) < self.max_iter:
            labels = self._assigned(centers)
            centers = self.distributions.means(labels)
            history.append(self.objective(labels, centers))
            converged = len(history) > 1 and (
                history[-2] - history[-1] <= max(self.tol * history[-2], ROUNDING)
            )
        return _Run(centers, labels, history, converged)

    def objective(self, labels: np.ndarray, centers: np.ndarray) -> float:
        """Mean divergence of the rows from the means: entropy of the means minus mean entropy of the rows."""
        weights = np.bincount(labels) / len(labels)
        return float(weights @ entr(centers).sum(axis=1) - self.entropies.mean())

    def _assigned(self, centers: np.ndarray) -> np.ndarray:
        """The nearest center of each row; a center without rows gets the farthest one, with its equals."""
        cross = self.distributions.cross_entropies(centers)
        labels = cross.argmin(axis=1)
        counts = np.bincount(labels, minlength=self.n_clusters)
        empty = np.flatnonzero(counts == 0)
        if len(empty):
            distances = cross.min(axis=1) - self.entropies
            for k in empty:
                while distances[farthest := distances.argmax()] > ROUNDING:
                    row = self.distributions[[farthest]]
                    equal = self.distributions.cross_entropies(row)[:, 0] - self.entropies <= ROUNDING
                    equal[farthest] = True  # whatever the rounding
                    distances[equal] = 0
                    if (moved := np.count_nonzero(equal)) < counts[labels[farthest]]:
                        counts[labels[farthest]] -= moved
                        labels[equal], counts[k] = k, moved
                        break
        return np.unique(labels, return_inverse=True)[1]
