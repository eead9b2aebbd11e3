"""Least squares support vector machines: a kernel on all training rows and one linear system."""

from entrolearn.machines.base import OutputClassifier, OutputRegressor
from entrolearn.machines.dual_ridge import DualRidge
from entrolearn.validation import StrOptions

__all__ = ["LSSVC", "LSSVR"]


class LSSVC(DualRidge, OutputClassifier):
    """Least squares support vector classifier.

    Solves the bordered linear system of Suykens and Vandewalle, ``[[0, 1'], [1, K + alpha Q]] [b; a] = [0;
    T]``, with targets ±1; their C is 1 / alpha. Every training row has a coefficient.

    Parameters
    ----------
    alpha : float or sequence of float, default=1.0
        Ridge parameter; larger is smoother. From a sequence, the value with the smallest leave-one-out
        squared error is selected.
    kernel : str or callable, default="rbf"
        A name in :data:`entrolearn.kernels.KERNELS`, a function of two rows, or "precomputed": X is then the
        kernel matrix.
    gamma : float, {"scale", "auto"}, default="scale"
        gamma of the rbf, poly and sigmoid kernels, as for :class:`EEKMClassifier`.
    kernel_params : dict, default=None
        Further parameters of the kernel: ``degree`` (3) and ``coef0`` (1) of poly, ``coef0`` (1) of sigmoid,
        ``power`` (1) of exponential_power, exp(-r^power) with r² = gamma ||x - z||²; of a callable, its
        keyword arguments.
    class_weight : dict, "balanced" or None, default=None
        Weights of the squared errors, multiplied by the sample weights; Q holds their reciprocals. The EEM
        paper has Q inversely proportional to the class size, which taken literally would reverse the balance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (1, n_samples), or (n_classes, n_samples) for more than two classes
        Coefficients of the training rows of positive weight.
    intercept_ : ndarray of shape (1,), or (n_classes,) for more than two classes
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) for more than two classes
        Feature weights, for ``kernel="linear"``.
    X_fit_ : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The training rows of positive weight, which are needed for predictions; not defined for a precomputed
        kernel.
    alpha_ : float
        The ridge parameter in use.
    loo_errors_ : ndarray of shape (n_ridges,)
        Mean squared leave-one-out error for each alpha of a sequence.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" for a sequence of alpha, or if the matrix is indefinite or
        numerically singular.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    KELMClassifier : The same model, by default with a smaller ridge.
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
    >>> LSSVC(alpha=0.1, gamma=5.0).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.98
    True
    """

    _parameter_constraints: dict = {
        **DualRidge._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(self, alpha=1.0, *, kernel="rbf", gamma="scale", kernel_params=None, class_weight=None):
        super().__init__(alpha, kernel=kernel, gamma=gamma, kernel_params=kernel_params)
        self.class_weight = class_weight


class LSSVR(DualRidge, OutputRegressor):
    """Least squares support vector regression.

    Solves ``[[0, 1'], [1, K + alpha I]] [b; a] = [0; y]``: kernel ridge regression with an unpenalised
    intercept. Every training row has a coefficient.

    Parameters
    ----------
    alpha : float or sequence of float, default=1.0
        Ridge parameter; larger is smoother. From a sequence, the value with the smallest leave-one-out
        squared error is selected.
    kernel : str or callable, default="rbf"
        A name in :data:`entrolearn.kernels.KERNELS`, a function of two rows, or "precomputed": X is then the
        kernel matrix.
    gamma : float, {"scale", "auto"}, default="scale"
        Factor of the squared distance or of the inner product; names as in :class:`sklearn.svm.SVR`.
    kernel_params : dict, default=None
        Further parameters of the kernel: ``degree`` (3) and ``coef0`` (1) of poly, ``coef0`` (1) of sigmoid,
        ``power`` (1) of exponential_power, exp(-r^power) with r² = gamma ||x - z||²; of a callable, its
        keyword arguments.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_outputs, n_samples)
        Coefficients of the training rows of positive weight.
    intercept_ : ndarray of shape (n_outputs,)
    coef_ : ndarray of shape (n_outputs, n_features)
        Feature weights, for ``kernel="linear"``.
    X_fit_ : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The training rows of positive weight, which are needed for predictions; not defined for a precomputed
        kernel.
    alpha_ : float
        The ridge parameter in use.
    loo_errors_ : ndarray of shape (n_ridges,)
        Mean squared leave-one-out error for each alpha of a sequence.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" for a sequence of alpha, or if the matrix is indefinite or
        numerically singular.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    LSSVC : The classifier.
    KELMRegressor : The same model, by default with a smaller ridge.
    sklearn.kernel_ridge.KernelRidge : The same without an intercept.

    Notes
    -----
    A fit factorises the kernel matrix of the training rows: n_samples² numbers, n_samples³ / 3 operations. It
    raises a MemoryError if the matrix does not fit into memory. A matrix that is indefinite, or singular to
    rounding, is solved by an eigendecomposition, in ten times the time.

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
    >>> machine = LSSVR(alpha=1e-3, gamma=1.0).fit(X[::2], np.sin(X[::2, 0]))
    >>> bool(abs(machine.predict(X) - np.sin(X[:, 0])).max() < 0.01)
    True
    """
