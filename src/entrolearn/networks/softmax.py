"""Softmax regression: the multinomial logistic model, fitted by minimising the cross-entropy."""

from functools import partial
from numbers import Integral, Real
from typing import Self

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from entrolearn.log_joint import LogJointClassifier
from entrolearn.user_warnings import warn_user
from entrolearn.validation import (
    Interval,
    StrOptions,
    encode,
    times_class_weights,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = ["PenalisedCrossEntropy", "SoftmaxRegression"]


class SoftmaxRegression(LogJointClassifier):
    r"""Softmax regression, equal to ``LogisticRegression(C=1 / (n_samples * alpha))``.

    Both converged, their probabilities differ by less than 1e-5; for two classes, C is twice as large. This
    class has gradient descent and loss curves in addition.

    The loss is the mean cross-entropy of the labels and the softmax of linear outputs, plus a penalty on the
    weights but not on the intercepts:

    .. math:: J(W, b) = -\frac{1}{N}\sum_n \ln\frac{\exp(w_{c_n}^T x_n + b_{c_n})}
              {\sum_c \exp(w_c^T x_n + b_c)} + \frac{\alpha}{2} \|W\|^2

    Parameters
    ----------
    alpha : float, default=1e-4
        Weight decay α, the ridge of the mean loss. The paper's tables call it the learning rate.
    fit_intercept : bool, default=True
        Whether to fit intercepts b. The paper's code has none.
    solver : {"lbfgs", "gradient"}, default="lbfgs"
        L-BFGS, or plain gradient descent.
    learning_rate : float or "auto", default="auto"
        Step size of ``solver="gradient"``. "auto" is the reciprocal of a bound of the curvature, so that J
        decreases in every iteration.
    max_iter : int, default=400
        Maximum number of iterations.
    tol : float, default=1e-5
        Stop when no absolute entry of the gradient is larger.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; sample weights are multiplied by them.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_classes, n_features)
        One row per class, also for two classes.
    intercept_ : ndarray of shape (n_classes,)
        Zero without `fit_intercept`.
    loss_curve_ : ndarray of shape (`n_iter_`,)
        J after each iteration, in nats.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    entrolearn.networks.MSEMLPClassifier : Has a hidden layer, and minimises the squared error.
    sklearn.linear_model.LogisticRegression : Has more solvers, and other penalties.

    Notes
    -----
    An evaluation of J and its gradient takes two matrix products with X. Rows in single precision are
    multiplied in single precision.

    References
    ----------
    Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning, section
    "Classification in MLP by Cross-Entropy Multinomial Logistic Regression" and softmaxCost in the appendix.
    The formula of the cross-entropy exchanges labels and outputs; the code does not.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from entrolearn.networks import SoftmaxRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftmaxRegression(alpha=1e-3).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.predict_proba(X[:1]).round(2).tolist()
    [[1.0, 0.0, 0.0]]
    """

    _parameter_constraints: dict = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({"lbfgs", "gradient"})],
        "learning_rate": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        alpha=1e-4,
        *,
        fit_intercept=True,
        solver="lbfgs",
        learning_rate="auto",
        max_iter=400,
        tol=1e-5,
        class_weight=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the weights, starting from zero.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored.

        Returns
        -------
        self : object
            The fitted model.

        Raises
        ------
        ValueError
            If y has only one class, or a fixed learning rate is so large that the loss diverges.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` is reached.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32))
        X, y, weights = weighted_rows(X, y, sample_weight)
        self.classes_, codes = encode(y, type(self).__name__)
        weights = times_class_weights(weights, self.class_weight, self.classes_, codes)
        objective = PenalisedCrossEntropy(
            X, codes, len(self.classes_), self.alpha, self.fit_intercept, weights
        )
        descend = partial(_gradient_descent, learning_rate=self.learning_rate)
        solve = _lbfgs if self.solver == "lbfgs" else descend
        theta, losses, converged = solve(objective, self.max_iter, self.tol)
        self.loss_curve_, self.n_iter_ = np.array(losses), len(losses)
        if not converged:
            warn_user(
                f"the {self.max_iter} iterations are used up: raise max_iter or tol, or scale the features",
                ConvergenceWarning,
            )
        coef, self.intercept_ = _parts(theta, len(self.classes_), X.shape[1])
        self.coef_ = coef.astype(X.dtype)
        return self

    def _log_joint(self, X) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=self.coef_.dtype, reset=False)
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class PenalisedCrossEntropy:
    """The objective and its gradient, as a function of all parameters in one array.

    Buffers are reused between evaluations. They have one row per class, so that sums over the classes are
    fast.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,)
        Index of each row's class.
    n_classes : int
    alpha : float
    fit_intercept : bool
    weights : ndarray of shape (n_samples,), optional
        Positive sample weights.
    """

    def __init__(self, X, codes: np.ndarray, n_classes: int, alpha: float, fit_intercept: bool, weights=None):
        self._X, self._codes = X, codes
        # Weights with mean 1, so that means over the rows are weighted means.
        self._weights = None if weights is None else (weights / weights.mean()).astype(X.dtype)
        self._alpha, self._fit_intercept = alpha, fit_intercept
        self._rows = np.arange(len(codes))
        self._outputs = np.empty((n_classes, len(codes)), X.dtype)
        self._of_coef = np.empty((n_classes, X.shape[1]), X.dtype)
        self._dense = isinstance(X, np.ndarray)

    def start(self) -> np.ndarray:
        """Zero for all parameters: all classes are equally probable."""
        n_classes, n_features = self._of_coef.shape
        return np.zeros(n_classes * (n_features + self._fit_intercept))

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """The value in nats, and the gradient."""
        n_classes, n_features = self._of_coef.shape
        coef, intercept = _parts(theta, n_classes, n_features)
        P = self._linear(coef.astype(self._X.dtype, copy=False), intercept)
        own = P[self._codes, self._rows]
        P -= (largest := P.max(axis=0))
        np.exp(P, out=P)
        total = P.sum(axis=0)
        losses = np.log(total) + largest - own
        P /= total
        P[self._codes, self._rows] -= 1
        if self._weights is not None:
            losses *= self._weights
            P *= self._weights
        loss = np.mean(losses, dtype=np.float64)
        gradient = np.empty_like(theta)
        of_coef, of_intercept = _parts(gradient, n_classes, n_features)
        np.multiply(self._transposed(P), 1 / len(self._rows), out=of_coef)
        of_coef += self._alpha * coef
        if self._fit_intercept:
            np.mean(P, axis=1, dtype=np.float64, out=of_intercept)
        return float(loss + 0.5 * self._alpha * np.vdot(coef, coef)), gradient

    def _linear(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Outputs, shape (n_classes, n_samples)."""
        if self._dense:
            np.dot(coef, self._X.T, out=self._outputs)
        else:
            self._outputs[...] = (self._X @ coef.T).T
        self._outputs += intercept[:, np.newaxis].astype(self._X.dtype)
        return self._outputs

    def _transposed(self, P: np.ndarray) -> np.ndarray:
        """P times the rows, shape (n_classes, n_features)."""
        if self._dense:
            return np.dot(P, self._X, out=self._of_coef)
        return (self._X.T @ P.T).T

    def curvature_bound(self) -> float:
        """Upper bound of the second derivative along any direction.

        The Hessian of a row's cross-entropy with respect to its outputs has no eigenvalue above 1/2. The
        largest singular value of X is at most the square root of its largest column sum times its largest row
        sum (of absolute values).
        """
        magnitudes = abs(self._X)
        of_columns = magnitudes.sum(axis=0) if self._weights is None else magnitudes.T @ self._weights
        columns, rows = float(np.max(of_columns)), float(np.max(magnitudes.sum(axis=1)))
        if self._fit_intercept:
            columns, rows = max(columns, len(self._rows)), rows + 1
        return 0.5 * columns * rows / len(self._rows) + self._alpha


def _lbfgs(
    objective: PenalisedCrossEntropy, max_iter: int, tol: float
) -> tuple[np.ndarray, list[float], bool]:
    """Minimise by L-BFGS; return the parameters, the objective after each iteration, and convergence."""
    losses = []

    def after(intermediate_result):
        losses.append(float(intermediate_result.fun))

    # L-BFGS also stops if rounding prevents further progress, whatever the size of the gradient.
    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": 0.0, "maxcor": 20}
    found = minimize(
        objective, objective.start(), jac=True, method="L-BFGS-B", callback=after, options=options
    )
    return found.x, losses, found.nit < max_iter or found.success


def _gradient_descent(
    objective: PenalisedCrossEntropy, max_iter: int, tol: float, learning_rate: float | str
) -> tuple[np.ndarray, list[float], bool]:
    """Minimise by gradient descent; return the same as :func:`_lbfgs`.

    Raises
    ------
    ValueError
        If the loss diverges.
    """
    rate = 1 / objective.curvature_bound() if learning_rate == "auto" else learning_rate
    theta, losses = objective.start(), []
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        _, gradient = objective(theta)
        for _ in range(max_iter):
            theta -= rate * gradient
            loss, gradient = objective(theta)
            losses.append(loss)
            if not np.isfinite(loss):
                raise ValueError(
                    f"the loss is not finite after {len(losses)} iterations: learning_rate="
                    f"{learning_rate!r} is too large; take a smaller one, or 'auto'"
                )
            if np.abs(gradient).max() <= tol:
                return theta, losses, True
    return theta, losses, False


def _parts(theta: np.ndarray, n_classes: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Views of the weights, one row per class, and of the intercepts (zeros without intercepts)."""
    n_weights = n_classes * n_features
    intercept = theta[n_weights:] if len(theta) > n_weights else np.zeros(n_classes)
    return theta[:n_weights].reshape(n_classes, n_features), intercept
