"""Reduced kernel extreme learning machines: kernel values with random landmarks, then ridge regression.

Deng, Ong and Zheng (2016), "A Fast Reduced Kernel Extreme Learning Machine".
"""

from functools import partial
from numbers import Real

from entrolearn.kernels import KERNELS, ON_DEVICES, RADIAL, kernel_params
from entrolearn.machines.additive import AdditiveClassifier, AdditiveRegressor
from entrolearn.machines.boxes import LANDMARKS, Landmarks
from entrolearn.machines.layered import LayeredRidge
from entrolearn.machines.layers import POWER, LandmarkLayer
from entrolearn.machines.ridge import RIDGE
from entrolearn.validation import Interval, StrOptions

__all__ = ["RKELMClassifier", "RKELMRegressor"]

# Range of the landmarks' widths, in multiples of sigma. The paper calls them random and gives no range.
SPREAD = 0.5, 1.5


PARAMETERS: dict = {
    **LANDMARKS,
    "C": RIDGE,
    "fit_intercept": ["boolean"],
    "kernel": [StrOptions(KERNELS), callable],
    "sigma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="neither")],
    "per_landmark_sigma": ["boolean"],
    "degree": [Interval(Real, 0, None, closed="left")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "power": POWER,
    "keep_sums": ["boolean"],
    "random_state": ["random_state"],
}


def _landmarks(machine) -> Landmarks:
    """The hidden units of the classifier and the regressor."""
    settings = machine.n_landmarks, machine.landmarks, machine.kernel, machine.sigma, "sigma"
    return Landmarks(*settings, partial(_layer, machine))


def _layer(machine, landmarks, scale: float | None, rng) -> LandmarkLayer:
    if machine.per_landmark_sigma and machine.kernel not in RADIAL:
        raise ValueError(
            f"per_landmark_sigma=True needs a kernel of the distance: {', '.join(sorted(RADIAL))}; "
            f"got {machine.kernel!r}."
        )
    gamma = scale if isinstance(machine.sigma, str) else 1 / machine.sigma
    settings = machine.kernel, gamma, machine.degree, machine.coef0
    params = kernel_params(landmarks, *settings, power=machine.power)
    if machine.per_landmark_sigma:
        return LandmarkLayer.with_widths(landmarks, machine.kernel, params, SPREAD, rng)
    return LandmarkLayer(landmarks, machine.kernel, params)


class RKELMClassifier(LayeredRidge, AdditiveClassifier):
    """Reduced kernel extreme learning machine for classification.

    The hidden units are kernel values with a random subset X_L of the training rows. Their output weights are
    the ridge solution ``(C I + K' K)^-1 K' T`` with K = K(X, X_L) and targets ±1, eq. (10). A fit takes one
    pass over the rows and one factorisation of n_landmarks equations, without iterations and without the
    kernel matrix of all rows.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of training rows to draw as landmarks, without replacement; all rows if there are fewer.
    landmarks : {array-like, CSR matrix} of shape (n_given, n_features), default=None
        Landmarks to use instead of ``n_landmarks`` drawn ones. If they are not training rows, models of
        different training sets share the hidden layer, and every training row can be forgotten. ``"scale"``
        is then computed from the landmarks.
    C : float or sequence of float, default=2**-20
        Ridge parameter; larger is smoother. From a sequence, the value with the smallest leave-one-out
        squared error is selected.
    fit_intercept : bool, default=False
        Whether to fit an intercept, which the ridge does not penalise. The paper has no intercept.
    kernel : str or callable, default="gaussian"
        A name in :data:`entrolearn.kernels.KERNELS` or a function of two rows. It need not be positive
        definite.
    sigma : float or "scale", default="scale"
        Kernel width: exp(-||x - z||^2 / sigma). For kernels of the inner product, gamma is 1 / sigma.
        ``"scale"``: n_features * X.var().
    per_landmark_sigma : bool, default=False
        Whether each landmark has its own width, sigma times a draw from U[0.5, 1.5]. Requires a kernel of
        the distance.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant term of the polynomial and sigmoid kernels.
    power : float, default=1.0
        Exponent of the exponential_power kernel, exp(-r^power) with r² = ||x - z||² / sigma; in (0, 2].
    keep_sums : bool, default=False
        Whether ``fit`` keeps its sums over the rows, n_landmarks² numbers, so that ``partial_fit`` and
        ``forget`` can update the fitted model. Requires a single number C.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks. A smaller model uses the first landmarks of a larger one with the same seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    landmarks_ : {ndarray, CSR matrix} of shape (n_landmarks, n_features)
    hidden_coef_ : ndarray of shape (n_landmarks,), or (n_landmarks, n_classes) for more than two classes
    intercept_ : float, or ndarray of shape (n_classes,)
    C_ : float
        The ridge parameter in use.
    loo_errors_ : ndarray of shape (n_ridges,)
        Mean squared leave-one-out error for each C of a sequence, with the same landmarks.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" for a sequence of C or singular equations.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    KELMClassifier : With all training rows as landmarks, and another penalty.
    ELMClassifier : Uses random hidden units.

    Notes
    -----
    With a kernel k and landmarks x_i the model equals KELM with the kernel ``sum_i k(x, x_i) k(z, x_i)``.
    Theorem 1 (zero training error with all rows as landmarks and C near 0) holds for strictly positive
    definite kernels. Theorem 2 (with a separate width for each landmark the kernel matrix keeps full rank) is
    false as published. However, a rank deficiency occurs only by chance, and ridge regression does not need
    full rank.

    References
    ----------
    .. [1] W.-Y. Deng, Y.-S. Ong and Q.-H. Zheng (2016). A fast reduced kernel extreme learning machine.
       Neural Networks 76, 29-38.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import RKELMClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> machine = RKELMClassifier(n_landmarks=40, sigma=0.5, random_state=0).fit(X[:200], y[:200])
    >>> machine.score(X[200:], y[200:]) > 0.98
    True
    """

    _parameter_constraints = PARAMETERS

    def __init__(
        self,
        n_landmarks=100,
        *,
        landmarks=None,
        C=2**-20,
        fit_intercept=False,
        kernel="gaussian",
        sigma="scale",
        per_landmark_sigma=False,
        degree=3,
        coef0=1,
        power=1.0,
        keep_sums=False,
        random_state=None,
    ):
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.C = C
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        self.sigma = sigma
        self.per_landmark_sigma = per_landmark_sigma
        self.degree = degree
        self.coef0 = coef0
        self.power = power
        self.keep_sums = keep_sums
        self.random_state = random_state

    @property
    def landmarks_(self):
        """The landmarks."""
        return self._layer.landmarks

    def _units(self):
        return _landmarks(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support &= self.kernel in ON_DEVICES
        return tags


class RKELMRegressor(LayeredRidge, AdditiveRegressor):
    """Reduced kernel extreme learning machine for regression.

    Like :class:`RKELMClassifier`, but the targets are the values of y, and there is an intercept. The paper
    has no intercept, and scales the values to [0, 1].

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of training rows to draw as landmarks, without replacement; all rows if there are fewer.
    landmarks : {array-like, CSR matrix} of shape (n_given, n_features), default=None
        Landmarks to use instead of ``n_landmarks`` drawn ones. If they are not training rows, models of
        different training sets share the hidden layer, and every training row can be forgotten. ``"scale"``
        is then computed from the landmarks.
    C : float or sequence of float, default=0.1
        Ridge parameter; larger is smoother. From a sequence, the value with the smallest leave-one-out
        squared error is selected.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which the ridge does not penalise. The paper has no intercept.
    kernel : str or callable, default="gaussian"
        A name in :data:`entrolearn.kernels.KERNELS` or a function of two rows. It need not be positive
        definite.
    sigma : float or "scale", default="scale"
        Kernel width: exp(-||x - z||^2 / sigma). For kernels of the inner product, gamma is 1 / sigma.
        ``"scale"``: n_features * X.var().
    per_landmark_sigma : bool, default=False
        Whether each landmark has its own width, sigma times a draw from U[0.5, 1.5]. Requires a kernel of
        the distance.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant term of the polynomial and sigmoid kernels.
    power : float, default=1.0
        Exponent of the exponential_power kernel, exp(-r^power) with r² = ||x - z||² / sigma; in (0, 2].
    keep_sums : bool, default=False
        Whether ``fit`` keeps its sums over the rows, n_landmarks² numbers, so that ``partial_fit`` and
        ``forget`` can update the fitted model. Requires a single number C.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks. A smaller model uses the first landmarks of a larger one with the same seed.

    Attributes
    ----------
    landmarks_ : {ndarray, CSR matrix} of shape (n_landmarks, n_features)
    hidden_coef_ : ndarray of shape (n_landmarks,), or (n_landmarks, n_outputs) for several outputs
    intercept_ : float, or ndarray of shape (n_outputs,)
    C_ : float
        The ridge parameter in use.
    loo_errors_ : ndarray of shape (n_ridges,)
        Mean squared leave-one-out error for each C of a sequence, with the same landmarks.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" for a sequence of C or singular equations.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    KELMRegressor : With all training rows as landmarks, and another penalty.

    Notes
    -----
    The default C is the smallest value whose mean R² is within .01 of the best, on half of the catalog's
    regression data sets (features standardised, at most 1,000 training rows). Its mean R² is .55 on this half
    and .59 on the other. The previous default, 2**-20 without an intercept, has .22 and .42
    (measured once, at commit 8fd01639).

    References
    ----------
    .. [1] W.-Y. Deng, Y.-S. Ong and Q.-H. Zheng (2016). A fast reduced kernel extreme learning machine.
       Neural Networks 76, 29-38.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import RKELMRegressor
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sinc(X[:, 0])
    >>> machine = RKELMRegressor(n_landmarks=20, C=[1e-8, 1e-4, 1.0], sigma=1.0, random_state=0).fit(X, y)
    >>> machine.score(X, y) > 0.999, machine.C_
    (True, 1e-08)
    """

    _parameter_constraints = PARAMETERS

    def __init__(
        self,
        n_landmarks=100,
        *,
        landmarks=None,
        C=0.1,
        fit_intercept=True,
        kernel="gaussian",
        sigma="scale",
        per_landmark_sigma=False,
        degree=3,
        coef0=1,
        power=1.0,
        keep_sums=False,
        random_state=None,
    ):
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.C = C
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        self.sigma = sigma
        self.per_landmark_sigma = per_landmark_sigma
        self.degree = degree
        self.coef0 = coef0
        self.power = power
        self.keep_sums = keep_sums
        self.random_state = random_state

    @property
    def landmarks_(self):
        """The landmarks."""
        return self._layer.landmarks

    def _units(self):
        return _landmarks(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support &= self.kernel in ON_DEVICES
        return tags
