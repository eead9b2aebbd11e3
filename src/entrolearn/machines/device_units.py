"""Hidden units and kernel values for arrays of other libraries than NumPy (array API).

The formulas are those of :mod:`entrolearn.machines.layers` and :mod:`entrolearn.kernels`. They are written
without in-place operations, because functions of the array API have no argument `out`.
"""

from collections.abc import Callable

import numpy as np

from entrolearn.kernels import is_smooth, own_params, rounding_shows
from entrolearn.machines.devices import namespace
from entrolearn.validation import device_of, has_double, numpy_dtype

__all__ = [
    "UNITS",
    "UNITS_BELOW_ONE",
    "VALUES",
    "kernel_values",
    "mean_and_variance",
    "minus_scaled_distances",
    "random_units",
]


def _reciprocal_of_one_plus_exp(Z, xp):
    with np.errstate(over="ignore"):  # array_api_strict uses NumPy; the quotient is then zero
        return 1 / (1 + xp.exp(Z))


# Name -> activation as a function of Z = <w, x> - b and the array namespace.
UNITS: dict[str, Callable] = {
    "sigmoid": lambda Z, xp: _reciprocal_of_one_plus_exp(-Z, xp),
    "nsigmoid": lambda Z, xp: _reciprocal_of_one_plus_exp(-Z, xp),
    "sine": lambda Z, xp: xp.sin(Z),
    "hardlimit": lambda Z, xp: xp.astype(Z >= 0, Z.dtype),
}
# The same activations minus one, as in entrolearn.machines.layers.
UNITS_BELOW_ONE: dict[str, Callable] = {
    "sigmoid": lambda Z, xp: -_reciprocal_of_one_plus_exp(Z, xp),
    "nsigmoid": lambda Z, xp: -_reciprocal_of_one_plus_exp(Z, xp),
}


def random_units(X, weights, biases, activation: str | Callable, below_one: bool):
    """Activations of rows, equal to those of :class:`entrolearn.machines.layers.RandomLayer`.

    Parameters
    ----------
    X : array, shape (n_samples, n_features)
    weights : array, shape (n_hidden, n_features)
    biases : array, shape (n_hidden,)
    activation : str or callable
        A callable receives <w, x> - b as an array of the same library as X.
    below_one : bool

    Returns
    -------
    array, shape (n_samples, n_hidden)
    """
    xp = namespace(X)
    if activation == "rbf":
        return xp.exp(minus_scaled_distances(X, weights, biases, xp))
    scale = 1 / X.shape[1] if activation == "nsigmoid" else 1
    ones = xp.ones((X.shape[0], 1), dtype=X.dtype, device=device_of(X))
    Z = xp.concat([X, ones], axis=1) @ xp.concat([scale * weights.T, -biases[None, :]], axis=0)
    if callable(activation):
        return activation(Z)
    table = {**UNITS, **UNITS_BELOW_ONE} if below_one else UNITS
    return table[activation](Z, xp)


def _wave(S, xp):
    r = xp.sqrt(-S)
    return xp.where(r > 0, xp.sin(r) / xp.where(r > 0, r, xp.ones_like(r)), xp.ones_like(r))


# Name -> kernel as a function of S = -gamma ||x - z||^2 and the array namespace.
_RADIAL: dict[str, Callable] = {
    "gaussian": lambda S, xp: xp.exp(S),
    "rbf": lambda S, xp: xp.exp(S),
    "inverse_multiquadric": lambda S, xp: 1 / xp.sqrt(1 - S),
    "rational_quadratic": lambda S, xp: 1 / (1 - S),
    "wave": _wave,
    "exponential_power": lambda S, xp, power=1.0: xp.exp(-((-S) ** (power / 2))),
}
# Name -> kernel as a function of P = <x, z>, the array namespace, gamma, degree and coef0.
_INNER: dict[str, Callable] = {
    "linear": lambda P, xp, gamma, degree, coef0: P,
    "polynomial": lambda P, xp, gamma, degree, coef0: xp.pow(gamma * P + coef0, degree),
    "poly": lambda P, xp, gamma, degree, coef0: xp.pow(gamma * P + coef0, degree),
    "sigmoid": lambda P, xp, gamma, degree, coef0: xp.tanh(gamma * P + coef0),
}
#: The kernels implemented for other array libraries; scikit-learn computes the others on NumPy arrays.
VALUES = frozenset(_RADIAL) | frozenset(_INNER)


def kernel_values(X, Y, kernel: str, params: dict):
    """Kernel values of all pairs of rows, equal to :func:`entrolearn.kernels.kernel_matrix`.

    Parameters
    ----------
    X : array, shape (n_samples_X, n_features)
    Y : array, shape (n_samples_Y, n_features)
    kernel : str
        One of :data:`VALUES`.
    params : dict
        As in :func:`entrolearn.kernels.kernel_matrix`; gamma a number or an array.

    Returns
    -------
    array, shape (n_samples_X, n_samples_Y)

    Raises
    ------
    ValueError
        If a value is not finite.
    """
    xp = namespace(X)
    if kernel in _RADIAL:
        own = own_params(kernel, params)
        S = minus_scaled_distances(X, Y, params["gamma"], xp, smooth=is_smooth(own))
        if X is Y:
            S = xp.where(xp.eye(S.shape[0], dtype=xp.bool, device=device_of(S)), xp.zeros_like(S), S)
        return _RADIAL[kernel](S, xp, **own)
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        values = _INNER[kernel](X @ Y.T, xp, **params)
    if not bool(xp.isfinite(xp.sum(values))) and not bool(xp.all(xp.isfinite(values))):
        raise ValueError(f"kernel {kernel!r} gives values that are not finite. Are the features scaled?")
    return values


def minus_scaled_distances(X, Y, gamma, xp, smooth=True):
    """Squared distances of all pairs of rows times -gamma, at most zero.

    They are computed by a matrix product, or by differences if the product would lose too many digits; see
    :mod:`entrolearn.kernels`.
    """
    # Centring on Y keeps the digits of rows far from zero, at little cost compared with the product.
    centre = xp.mean(Y, axis=0)
    far, far_y = X - centre, Y - centre
    gamma = gamma * xp.ones(Y.shape[0], dtype=Y.dtype, device=device_of(Y))
    # -g ||x - y||^2 = <x, 2 g y> - g ||x||^2 - g ||y||^2
    squares, squares_y = xp.sum(far * far, axis=1), xp.sum(far_y * far_y, axis=1)
    left = xp.concat([far, squares[:, None], xp.ones_like(squares)[:, None]], axis=1)
    right = xp.concat(
        [(2 * gamma[:, None] * far_y).T, -gamma[None, :], -(gamma * squares_y)[None, :]], axis=0
    )
    S = xp.clip(left @ right, max=0.0)  # equal rows may give positive rounding errors
    much = rounding_shows(numpy_dtype(X), numpy_dtype(Y))
    far_out = float(xp.max(gamma)) * float(xp.max(squares)) + float(xp.max(gamma * squares_y)) > much
    if smooth and not far_out:
        return S
    rounded = float(smooth) - gamma * (squares[:, None] + squares_y) / much < S
    if not bool(xp.any(rounded)):
        return S
    differences = xp.zeros_like(S)
    for feature in range(X.shape[1]):
        differences += (X[:, feature, None] - Y[:, feature]) ** 2
    return xp.where(rounded, -gamma * differences, S)


def mean_and_variance(X) -> tuple[float, float]:
    """Mean and variance of all elements of an array, in double precision if its device has it."""
    xp = namespace(X)
    if has_double(X):
        X = xp.astype(X, xp.float64, copy=False)
    return float(xp.mean(X)), float(xp.var(X))
