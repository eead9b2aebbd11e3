"""Extreme learning machines: random hidden units, then ridge regression.

Huang, Zhu and Siew (2006); with the ridge of eq. (4) of Deng, Ong and Zheng (2016).
"""

from functools import partial
from numbers import Integral, Real

from entrolearn.machines.additive import AdditiveClassifier, AdditiveRegressor
from entrolearn.machines.boxes import BOUNDS, STORE_SUMS, RandomUnits
from entrolearn.machines.layered import LayeredRidge
from entrolearn.machines.layers import RandomLayer
from entrolearn.machines.ridge import RIDGE
from entrolearn.validation import Interval, StrOptions

__all__ = ["ELMClassifier", "ELMRegressor"]

ACTIVATIONS = {"sigmoid", "sine", "hardlimit", "rbf"}


class _ELM(LayeredRidge):
    """Parameters and hidden units of the classifier and the regressor."""

    _parameter_constraints: dict = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions(ACTIVATIONS), callable],
        "bounds": BOUNDS,
        "slope": [Interval(Real, 1e-150, 1e150, closed="both")],
        "alpha": RIDGE,
        "fit_intercept": ["boolean"],
        "store_sums": STORE_SUMS,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_hidden=100,
        *,
        activation="sigmoid",
        bounds="data",
        slope=1.0,
        alpha=0.0,
        fit_intercept=True,
        store_sums="auto",
        random_state=None,
    ):
        self.n_hidden = n_hidden
        self.activation = activation
        self.bounds = bounds
        self.slope = slope
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.store_sums = store_sums
        self.random_state = random_state

    def _units(self):
        draw = partial(RandomLayer.draw, n_hidden=self.n_hidden, activation=self.activation, slope=self.slope)
        return RandomUnits(type(self).__name__, self.n_hidden, self.bounds, draw)


class ELMClassifier(_ELM, AdditiveClassifier):
    """Extreme learning machine for classification: random hidden units, then least squares.

    The hidden units are drawn once and not trained. Their output weights are ``(alpha I + H' H)^-1 H' T``
    with targets ±1, eq. (4) of [2]_, where alpha is called C, or the minimum-norm least squares solution if
    alpha = 0.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden units.
    activation : {"sigmoid", "sine", "hardlimit", "rbf"} or callable, default="sigmoid"
        Activation of a unit with weights a from U[-1, 1] and bias b from U[0, 1]. With z = slope * (<a, x> +
        b): ``"sigmoid"`` 1 / (1 + exp(-z)), ``"sine"`` sin(z), ``"hardlimit"`` 1 where z >= 0 and 0
        elsewhere. ``"rbf"``: exp(-slope * b * ||x - a||^2), ELM-RBF. A callable receives z, an array of shape
        (n_samples, n_hidden).
    bounds : {"data"}, pair, array of shape (2, n_features) or None, default="data"
        The box in which the units are drawn, as in :class:`EEMClassifier`; the features are scaled from it to
        [-1, 1], as in [2]_.
    slope : float, default=1.0
        Slope of the units; lambda in the paper's tables.
    alpha : float or sequence of float, default=0.0
        Ridge parameter; larger is smoother. From a sequence, the value with the smallest leave-one-out
        squared error is selected.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which the ridge does not penalise. The paper has no intercept.
    store_sums : bool or "auto", default="auto"
        Whether :meth:`fit` keeps its sums over the rows, n_hidden² numbers, so that :meth:`partial_fit` and
        :meth:`forget` can update the fitted model. ``"auto"``: if `alpha` is a number, they take less than 64
        MB.
    random_state : int, RandomState instance or None, default=None
        Seed of the hidden units. A smaller model uses the first units of a larger one with the same seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    bounds_ : ndarray of shape (2, n_features), or None
        Bounds of the box in use.
    hidden_coef_ : ndarray of shape (n_hidden,), or (n_hidden, n_classes) for more than two classes
    intercept_ : ndarray of shape (1,), or (n_classes,) for more than two classes
    alpha_ : float
        The ridge parameter in use.
    loo_errors_ : ndarray of shape (n_ridges,)
        Mean squared leave-one-out error for each alpha of a sequence, with the same hidden units.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" for a sequence of alpha or singular equations.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    WELMClassifier : With class weights, by default without normal equations.
    RKELMClassifier : Uses training rows as hidden units instead of random units.

    Notes
    -----
    The normal equations resolve singular values of H down to 1e-8 of the largest one. Smaller singular
    values, which occur if units are nearly linearly dependent, are treated as zero.

    References
    ----------
    .. [1] G.-B. Huang, Q.-Y. Zhu and C.-K. Siew (2006). Extreme learning machine: theory and applications.
       Neurocomputing 70, 489-501.
    .. [2] W.-Y. Deng, Y.-S. Ong and Q.-H. Zheng (2016). A fast reduced kernel extreme learning machine.
       Neural Networks 76, 29-38.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import ELMClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> machine = ELMClassifier(n_hidden=60, slope=4.0, random_state=0).fit(X[:200], y[:200])
    >>> machine.score(X[200:], y[200:]) > 0.98
    True
    """


class ELMRegressor(_ELM, AdditiveRegressor):
    """Extreme learning machine for regression.

    Like :class:`ELMClassifier`, but the targets are the values of y.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden units.
    activation : {"sigmoid", "sine", "hardlimit", "rbf"} or callable, default="sigmoid"
        Activation of a unit with weights a from U[-1, 1] and bias b from U[0, 1]. With z = slope * (<a, x> +
        b): ``"sigmoid"`` 1 / (1 + exp(-z)), ``"sine"`` sin(z), ``"hardlimit"`` 1 where z >= 0 and 0
        elsewhere. ``"rbf"``: exp(-slope * b * ||x - a||^2), ELM-RBF. A callable receives z, an array of shape
        (n_samples, n_hidden).
    bounds : {"data"}, pair, array of shape (2, n_features) or None, default="data"
        The box in which the units are drawn, as in :class:`EEMClassifier`; the features are scaled from it to
        [-1, 1], as in [1]_.
    slope : float, default=1.0
        Slope of the units; lambda in the paper's tables.
    alpha : float or sequence of float, default=1.0
        Ridge parameter; larger is smoother. On nine data sets the paper's value 0 has a mean R² of .04, and 1
        has .62. From a sequence, the value with the smallest leave-one-out squared error is selected.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which the ridge does not penalise. The paper has no intercept.
    store_sums : bool or "auto", default="auto"
        Whether :meth:`fit` keeps its sums over the rows, n_hidden² numbers, so that :meth:`partial_fit` and
        :meth:`forget` can update the fitted model. ``"auto"``: if `alpha` is a number, they take less than 64
        MB.
    random_state : int, RandomState instance or None, default=None
        Seed of the hidden units. A smaller model uses the first units of a larger one with the same seed.

    Attributes
    ----------
    bounds_ : ndarray of shape (2, n_features), or None
        Bounds of the box in use.
    hidden_coef_ : ndarray of shape (n_hidden,), or (n_hidden, n_outputs) for several outputs
    intercept_ : ndarray of shape (n_outputs,)
    alpha_ : float
        The ridge parameter in use.
    loo_errors_ : ndarray of shape (n_ridges,)
        Mean squared leave-one-out error for each alpha of a sequence, with the same hidden units.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" for a sequence of alpha or singular equations.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    RKELMRegressor : Uses training rows as hidden units instead of random units.

    References
    ----------
    .. [1] G.-B. Huang, Q.-Y. Zhu and C.-K. Siew (2006). Extreme learning machine: theory and applications.
       Neurocomputing 70, 489-501.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import ELMRegressor
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> y = np.sinc(3 * X[:, 0])
    >>> ELMRegressor(n_hidden=30, slope=10.0, alpha=1e-6, random_state=0).fit(X, y).score(X, y) > 0.999
    True
    """

    def __init__(
        self,
        n_hidden=100,
        *,
        activation="sigmoid",
        bounds="data",
        slope=1.0,
        alpha=1.0,
        fit_intercept=True,
        store_sums="auto",
        random_state=None,
    ):
        super().__init__(
            n_hidden,
            activation=activation,
            bounds=bounds,
            slope=slope,
            alpha=alpha,
            fit_intercept=fit_intercept,
            store_sums=store_sums,
            random_state=random_state,
        )
