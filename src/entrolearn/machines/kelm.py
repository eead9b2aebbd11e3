"""Kernel extreme learning machines: ridge regression in a kernel's feature space.

Huang, Zhou, Ding and Zhang (2012), as eq. (6) of Deng, Ong and Zheng (2016) states it.
"""

from entrolearn.machines.base import OutputClassifier, OutputRegressor
from entrolearn.machines.dual_ridge import DualRidge

__all__ = ["KELMClassifier", "KELMRegressor"]

CONSTRAINTS: dict = {**DualRidge._parameter_constraints, "fit_intercept": ["boolean"]}


class KELMClassifier(DualRidge, OutputClassifier):
    """Kernel extreme learning machine for classification: every training row is a hidden unit.

    Solves ``(alpha I + K) a = T`` with targets ±1, eq. (6), where the ridge alpha is called C: kernel ridge
    regression, by default with an intercept. Time grows with the cube of the number of rows and memory
    with its square.

    Parameters
    ----------
    alpha : float or sequence of float, default=2**-10
        Ridge parameter; larger is smoother. From a sequence, the value with the smallest leave-one-out
        squared error is selected.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which the ridge does not penalise. The paper has no intercept.
    kernel : str or callable, default="rbf"
        A name in :data:`entrolearn.kernels.KERNELS`, a function of two rows, or "precomputed": X is then the
        kernel matrix.
    gamma : float, {"scale", "auto"}, default="scale"
        gamma of the rbf kernel exp(-gamma ||x - z||^2), poly and sigmoid: ``"scale"`` is 1 / (n_features *
        X.var()), ``"auto"`` 1 / n_features. The paper's σ is 1 / gamma.
    kernel_params : dict, default=None
        Further parameters of the kernel: ``degree`` (3) and ``coef0`` (1) of poly, ``coef0`` (1) of sigmoid,
        ``power`` (1) of exponential_power, exp(-r^power) with r² = gamma ||x - z||²; of a callable, its
        keyword arguments.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (1, n_samples), or (n_classes, n_samples) for more than two classes
    intercept_ : ndarray of shape (1,), or (n_classes,) for more than two classes
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) for more than two classes
        Feature weights, for ``kernel="linear"``.
    X_fit_ : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The training rows, which are needed for predictions; not defined for a precomputed kernel.
    alpha_ : float
        The ridge parameter in use.
    loo_errors_ : ndarray of shape (n_ridges,)
        Mean squared leave-one-out error for each alpha of a sequence.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" for a sequence of alpha or if alpha I + K is not positive definite.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    RKELMClassifier : Uses a random subset of the rows as hidden units, and is much faster.
    LSSVC : The same model with class weights.

    References
    ----------
    .. [1] G.-B. Huang, H. Zhou, X. Ding and R. Zhang (2012). Extreme learning machine for regression and
       multiclass classification. IEEE Transactions on Systems, Man, and Cybernetics B 42, 513-529.
    .. [2] W.-Y. Deng, Y.-S. Ong and Q.-H. Zheng (2016). A fast reduced kernel extreme learning machine.
       Neural Networks 76, 29-38.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import KELMClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> KELMClassifier(gamma=2.0).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.98
    True
    """

    _parameter_constraints = CONSTRAINTS

    def __init__(self, alpha=2**-10, *, fit_intercept=True, kernel="rbf", gamma="scale", kernel_params=None):
        super().__init__(alpha, kernel=kernel, gamma=gamma, kernel_params=kernel_params)
        self.fit_intercept = fit_intercept


class KELMRegressor(DualRidge, OutputRegressor):
    """Kernel extreme learning machine for regression.

    Like :class:`KELMClassifier`, but the targets are the values of y.

    Parameters
    ----------
    alpha : float or sequence of float, default=0.3
        Ridge parameter; larger is smoother. From a sequence, the value with the smallest leave-one-out
        squared error is selected.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which the ridge does not penalise. The paper has no intercept.
    kernel : str or callable, default="rbf"
        A name in :data:`entrolearn.kernels.KERNELS`, a function of two rows, or "precomputed": X is then the
        kernel matrix.
    gamma : float, {"scale", "auto"}, default="scale"
        gamma of the rbf kernel exp(-gamma ||x - z||^2), poly and sigmoid: ``"scale"`` is 1 / (n_features *
        X.var()), ``"auto"`` 1 / n_features. The paper's σ is 1 / gamma.
    kernel_params : dict, default=None
        Further parameters of the kernel: ``degree`` (3) and ``coef0`` (1) of poly, ``coef0`` (1) of sigmoid,
        ``power`` (1) of exponential_power, exp(-r^power) with r² = gamma ||x - z||²; of a callable, its
        keyword arguments.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_outputs, n_samples)
    intercept_ : ndarray of shape (n_outputs,)
    coef_ : ndarray of shape (n_outputs, n_features)
        Feature weights, for ``kernel="linear"``.
    X_fit_ : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The training rows, which are needed for predictions; not defined for a precomputed kernel.
    alpha_ : float
        The ridge parameter in use.
    loo_errors_ : ndarray of shape (n_ridges,)
        Mean squared leave-one-out error for each alpha of a sequence.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" for a sequence of alpha or if alpha I + K is not positive definite.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    RKELMRegressor : Uses a random subset of the rows as hidden units, and is much faster.
    LSSVR : The same model.

    Notes
    -----
    The default alpha is the best of seven values on half of the catalog's regression data sets (features
    standardised, at most 1,000 training rows). Its mean R² is .60 on this half and .61 on the other. The
    previous default, 2**-10 without an intercept, has .13 and .41 (measured once, at commit 8fd01639).

    References
    ----------
    .. [1] G.-B. Huang, H. Zhou, X. Ding and R. Zhang (2012). Extreme learning machine for regression and
       multiclass classification. IEEE Transactions on Systems, Man, and Cybernetics B 42, 513-529.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import KELMRegressor
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sinc(X[:, 0])
    >>> KELMRegressor(alpha=1e-3, gamma=1.0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.999
    True
    """

    _parameter_constraints = CONSTRAINTS

    def __init__(self, alpha=0.3, *, fit_intercept=True, kernel="rbf", gamma="scale", kernel_params=None):
        super().__init__(alpha, kernel=kernel, gamma=gamma, kernel_params=kernel_params)
        self.fit_intercept = fit_intercept
