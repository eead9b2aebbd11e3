"""Least squares support vector machines: a kernel on all training rows and one linear system."""

from numbers import Real

import numpy as np

from entrolearn.machines.base import OutputClassifier, OutputRegressor
from entrolearn.machines.dual_ridge import DualRidge
from entrolearn.validation import Interval, StrOptions

__all__ = ["LSSVC", "LSSVR"]


class _LSSVM(DualRidge):
    """Parameters shared by the classifier and the regressor."""

    _parameter_constraints: dict = {
        **DualRidge._parameter_constraints,
        "C": [Interval(Real, 0, 1e150, closed="right")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, C=1.0, *, kernel="rbf", gamma="scale", degree=3, coef0=1, power=1.0):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.power = power

    @property
    def _gamma(self):
        return self.gamma

    def _ridges(self) -> float:
        with np.errstate(over="ignore", divide="ignore"):
            ridge = float(1 / np.float64(self.C))
        if not np.isfinite(ridge):
            raise ValueError(f"1 / C overflows in float64 at C={self.C:g}; use a larger C.")
        return ridge


class LSSVC(_LSSVM, OutputClassifier):
    """Least squares support vector classifier.

    Solves the bordered linear system of Suykens and Vandewalle, ``[[0, 1'], [1, K + Q / C]] [b; alpha] = [0;
    T]`` with targets ±1. Every training row has a coefficient.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the squared errors relative to the norm; larger is less smooth.
    kernel : str or callable, default="rbf"
        A name in :data:`entrolearn.kernels.KERNELS`, a function of two rows, or "precomputed": X is then the
        kernel matrix.
    gamma : float, {"scale", "auto"}, default="scale"
        gamma of the rbf, poly and sigmoid kernels, as for :class:`EEKMClassifier`.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant term of the polynomial and sigmoid kernels.
    power : float, default=1.0
        Exponent of the exponential_power kernel, exp(-r^power) with r² = gamma ||x - z||²; in (0, 2].
    class_weight : dict, "balanced" or None, default=None
        Weights of the squared errors, multiplied by the sample weights; Q holds their reciprocals. The EEM
        paper has Q inversely proportional to the class size, which taken literally would reverse the balance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        Coefficients of the training rows of positive weight.
    intercept_ : float, or ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) for more than two classes
        Feature weights, for ``kernel="linear"``.
    X_fit_ : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The training rows of positive weight, which are needed for predictions; not defined for a precomputed
        kernel.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" if the matrix is indefinite or numerically singular.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    KELMClassifier : The same model with ``fit_intercept=True``; its C is 1 / C, its sigma 1 / gamma.
    sklearn.svm.SVC : Sparse in the training rows.

    Notes
    -----
    For more than two classes, one-vs-rest models are solved together. A fit factorises the kernel matrix, see
    :class:`LSSVR`.

    References
    ----------
    .. [1] J. A. K. Suykens and J. Vandewalle (1999). Least squares support vector machine classifiers.
       Neural Processing Letters 9, 293-300.
    .. [2] J. A. K. Suykens, J. De Brabanter, L. Lukas and J. Vandewalle (2002). Weighted least squares
       support vector machines. Neurocomputing 48, 85-105.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import LSSVC
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> LSSVC(C=10.0, gamma=5.0).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.98
    True
    """

    _parameter_constraints: dict = {
        **_LSSVM._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self, C=1.0, *, kernel="rbf", gamma="scale", degree=3, coef0=1, power=1.0, class_weight=None
    ):
        super().__init__(C, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, power=power)
        self.class_weight = class_weight


class LSSVR(_LSSVM, OutputRegressor):
    """Least squares support vector regression.

    Solves ``[[0, 1'], [1, K + I / C]] [b; alpha] = [0; y]``: kernel ridge regression with an unpenalised
    intercept. Every training row has a coefficient.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the squared errors relative to the norm; larger is less smooth.
    kernel : str or callable, default="rbf"
        A name in :data:`entrolearn.kernels.KERNELS`, a function of two rows, or "precomputed": X is then the
        kernel matrix.
    gamma : float, {"scale", "auto"}, default="scale"
        Factor of the squared distance or of the inner product; names as in :class:`sklearn.svm.SVR`.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant term of the polynomial and sigmoid kernels.
    power : float, default=1.0
        Exponent of the exponential_power kernel, exp(-r^power) with r² = gamma ||x - z||²; in (0, 2].

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,), or (n_samples, n_outputs) for more than one output
        Coefficients of the training rows of positive weight.
    intercept_ : float, or ndarray of shape (n_outputs,)
    coef_ : ndarray of shape (n_outputs, n_features)
        Feature weights, for ``kernel="linear"``.
    X_fit_ : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The training rows of positive weight, which are needed for predictions; not defined for a precomputed
        kernel.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" if the matrix is indefinite or numerically singular.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    LSSVC : The classifier.
    KELMRegressor : The same model; its C is 1 / C, its sigma 1 / gamma.
    sklearn.kernel_ridge.KernelRidge : The same without an intercept.

    Notes
    -----
    A fit factorises the kernel matrix of the training rows: n_samples² numbers, n_samples³ / 3 operations. It
    raises a MemoryError if the matrix does not fit into memory, and a ValueError if 1 / C overflows. A matrix
    that is indefinite, or singular to rounding, is solved by an eigendecomposition, in ten times the time.

    References
    ----------
    .. [1] C. Saunders, A. Gammerman and V. Vovk (1998). Ridge regression learning algorithm in dual
       variables. ICML, 515-521.
    .. [2] J. A. K. Suykens, T. Van Gestel, J. De Brabanter, B. De Moor and J. Vandewalle (2002). Least
       Squares Support Vector Machines. World Scientific.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import LSSVR
    >>> X = np.linspace(0, 6, 80)[:, None]
    >>> machine = LSSVR(C=1000.0, gamma=1.0).fit(X[::2], np.sin(X[::2, 0]))
    >>> bool(abs(machine.predict(X) - np.sin(X[:, 0])).max() < 0.01)
    True
    """
