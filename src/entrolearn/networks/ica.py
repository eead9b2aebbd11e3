"""Independent component analysis by Bell and Sejnowski's infomax principle."""

from numbers import Integral, Real

import numpy as np
from scipy.linalg import eigh, qr
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from entrolearn.axes import signs_of_rows
from entrolearn.networks.relative import climb, fixed_point
from entrolearn.networks.spans import spanned
from entrolearn.user_warnings import warn_user
from entrolearn.validation import Interval, validate_data, validated

__all__ = ["InfomaxICA"]

#: Number of rows for a first optimisation on some rows (per source, and at least), and the least ratio of all
#: rows to these for which it saves time.
ROWS_PER_SOURCE, LEAST_ROWS, WORTHWHILE = 50, 1000, 3
#: Factor of numbers of unit size whose fractional part is then nearly random.
DIGITS = 1e5


class InfomaxICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Independent component analysis that maximises the entropy of squashed outputs.

    The joint entropy of units g(W x) is largest if the outputs W x are as independent as possible, provided
    that g resembles the distribution functions of the sources: the objective is the likelihood of sources
    with the densities g'. Rows are whitened first. W is then optimised by relative (natural) gradients with a
    block diagonal Hessian; no iteration decreases the objective. The start is the result of Hyvärinen's
    fixed-point iteration or, with only logistic densities and very many rows, of an optimisation on some of
    the rows.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of sources; None for the rank of the data. With fewer, only that many principal axes are used.
    extended : bool, default=True
        Whether sources may be sub-Gaussian. If True, each source has the more likely of two densities,
        logistic or bimodal. If False, all densities are logistic, as in Bell and Sejnowski's method, which
        does not separate sub-Gaussian sources.
    max_iter : int, default=500
        Maximum number of iterations.
    tol : float, default=1e-6
        Stop when no absolute entry of the relative gradient, I - E[ψ(y) y'], is larger.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial rotation of the whitened rows.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        W, from centred rows to sources, in order of decreasing explained variance. The rows have the length
        that maximises the entropy.
    mixing_ : ndarray of shape (n_features, n_components)
        The pseudo-inverse of W; the largest entry of a column is positive.
    mean_ : ndarray of shape (n_features,)
    sub_gaussian_ : ndarray of bool, shape (n_components,)
        Which sources have the sub-Gaussian density.
    objective_ : float
        Entropy of the squashed outputs minus that of the whitened rows, in nats, which is the mean
        log-likelihood of the whitened rows.
    history_ : ndarray of shape (`n_iter_`,)
        The same after each iteration over all rows.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    entrolearn.networks.amari_index : Error of the separation of known sources.
    sklearn.decomposition.FastICA : Maximises the negentropy of each source.

    Notes
    -----
    Sources are determined up to order, sign and scale if at most one of them is Gaussian. Of several Gaussian
    sources only the span is determined: any rotation of them, after whitening, is also independent.

    The published extended rule switches densities by a stability criterion, and does not maximise a single
    objective. Here the more likely of two densities of unit variance is used, and the objective is the
    maximum over both.

    References
    ----------
    Bell and Sejnowski, An information-maximization approach to blind separation and blind deconvolution,
    Neural Computation 7, 1995; Amari, Cichocki and Yang, A New Learning Algorithm for Blind Signal
    Separation, NIPS 8, 1996; Lee, Girolami and Sejnowski, Independent component analysis using an extended
    infomax algorithm, Neural Computation 11, 1999; Ablin, Cardoso and Gramfort, Faster independent component
    analysis by preconditioning with Hessian approximations, IEEE Transactions on Signal Processing 66, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import InfomaxICA
    >>> from entrolearn.networks import amari_index
    >>> sources = np.random.default_rng(0).laplace(size=(5000, 2))
    >>> mixing = np.array([[2.0, 1.0], [1.0, 1.0]])
    >>> ica = InfomaxICA(random_state=0).fit(sources @ mixing.T)
    >>> amari_index(ica.components_ @ mixing) < 0.05
    True
    """

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "extended": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_components=None, *, extended=True, max_iter=500, tol=1e-6, random_state=None):
        self.n_components = n_components
        self.extended = extended
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y=None) -> "InfomaxICA":
        """Estimate the unmixing matrix.

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
            If there are more components than the rank of the data, or all rows are equal.

        Warns
        -----
        ConvergenceWarning
            If the gradient is not small at the end.
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self.mean_ = X.mean(axis=0)
        scores, axes, deviations = self._whiten(X)
        drawn = check_random_state(self.random_state).normal(size=(len(axes), len(axes)))
        start = qr(drawn)[0] @ _frame(scores, axes, deviations)
        settings = {"extended": self.extended, "max_iter": self.max_iter}
        some = scores[:, _some_rows(start @ scores)]
        if self.extended:
            start = fixed_point(scores, fixed_point(some, start))
        elif some.shape[1] < scores.shape[1]:
            start = climb(some, start, tol=max(self.tol, 1 / np.sqrt(some.shape[1])), **settings).W
        found = climb(scores, start, tol=self.tol, **settings)
        if not found.converged:
            warn_user(
                f"the climb ended after {len(found.history)} iterations with a relative gradient of "
                f"{found.steepness:.1g}: raise max_iter={self.max_iter} or tol={self.tol:g}",
                ConvergenceWarning,
            )
        mixing = axes.T * deviations @ np.linalg.inv(found.W)
        explained = np.sum(mixing**2, axis=0) * np.mean((found.W @ scores) ** 2, axis=1)
        order = np.argsort(-explained)
        signs = signs_of_rows(mixing.T)
        self.mixing_ = (signs.T * mixing)[:, order]
        self.components_ = (signs * (found.W / deviations @ axes))[order]
        self.sub_gaussian_ = found.flat[order]
        self.objective_, self.history_ = found.objective, np.array(found.history)
        self.n_iter_ = len(found.history)
        return self

    def _whiten(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Principal component scores of unit variance, the principal axes and the standard deviations."""
        left, sizes, axes = spanned(X, self.mean_)
        rank = len(sizes)
        k = rank if self.n_components is None else self.n_components
        if not 1 <= k <= rank:
            raise ValueError(
                f"n_components={self.n_components} is not possible where the rows of X span {rank} "
                "dimensions; accepted: 1 or more, at most that number"
            )
        scores = np.ascontiguousarray(left[:, :k].T) * np.sqrt(len(X))
        return scores, axes[:k], sizes[:k] / np.sqrt(len(X))

    def transform(self, X) -> np.ndarray:
        """Compute the sources of rows.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples, n_components)
            ``(X - mean_) @ components_.T``.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (X - self.mean_) @ self.components_.T

    def inverse_transform(self, X) -> np.ndarray:
        """Mix sources.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_components)

        Returns
        -------
        ndarray, shape (n_samples, n_features)
            ``X @ mixing_.T + mean_``.
        """
        check_is_fitted(self)
        return check_array(X, dtype=np.float64) @ self.mixing_.T + self.mean_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def _some_rows(outputs: np.ndarray) -> np.ndarray | slice:
    """Subset of the rows for a first optimisation, independent of their order; all rows if they are few.

    The optimum for the subset differs from that for all rows only by sampling error, so that few iterations
    remain. Rows are selected nearly at random, by the digits of an output.
    """
    k, n = outputs.shape
    wanted = ROWS_PER_SOURCE * k + LEAST_ROWS
    if n < WORTHWHILE * wanted:
        return slice(None)
    return np.flatnonzero(np.modf(np.abs(outputs[0]) * DIGITS)[0] < wanted / n)


def _frame(scores: np.ndarray, axes: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """An orthonormal basis, in coordinates along the principal axes, that is determined by the data.

    Principal axes of equal variance are determined only by rounding. Adding fourth moments makes the axes
    unique.
    """
    second = np.diag((deviations / deviations[0]) ** 2)
    fourth = (scores * np.sum(scores**2, axis=0)) @ scores.T / scores.shape[1]
    _, vectors = eigh(second + fourth / (len(scores) + 2))
    return signs_of_rows(vectors.T @ axes) * vectors.T
