"""Gradients with respect to the features, in closed form: of hidden units, and of class log densities."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import issparse

from entrolearn.kernels import INNER, RADIAL, inner_products, is_smooth, minus_scaled_distances, own_params
from entrolearn.machines import device_units
from entrolearn.machines.devices import cast, namespace, take_rows
from entrolearn.machines.layers import RandomLayer
from entrolearn.machines.moments import row_blocks
from entrolearn.validation import device_of, is_numpy

__all__ = ["DIFFERENTIABLE", "log_joint_slopes", "units_gradient"]


def _logistic_slope(Z, xp):
    below = xp.exp(-xp.abs(Z))
    return below / (1 + below) ** 2


def _wave_slope(S, xp):
    r = xp.sqrt(-S)
    safe = xp.where(r > 1e-2, r, xp.ones_like(r))
    return xp.where(r > 1e-2, (xp.sin(safe) - safe * xp.cos(safe)) / (2 * safe**3), 1 / 6 + S / 60)


def _exponential_power_slope(S, xp, power=1.0):
    apart = S < 0
    distances = xp.where(apart, -S, xp.ones_like(S))
    powers = distances ** (power / 2)
    slope = (power / 2) * powers / distances * xp.exp(-powers)
    return xp.where(apart, slope, xp.zeros_like(S))


# Activation -> G' as a function of Z = <w, x> - b
_UNITS: dict[str, Callable] = {
    "sigmoid": _logistic_slope,
    "nsigmoid": _logistic_slope,
    "sine": lambda Z, xp: xp.cos(Z),
}
# Kernel -> dk/dS as a function of S = -gamma ||x - z||^2
_RADIAL: dict[str, Callable] = {
    "gaussian": lambda S, xp: xp.exp(S),
    "rbf": lambda S, xp: xp.exp(S),
    "inverse_multiquadric": lambda S, xp: 0.5 * (1 - S) ** -1.5,
    "rational_quadratic": lambda S, xp: (1 - S) ** -2.0,
    "wave": _wave_slope,
    "exponential_power": _exponential_power_slope,
}


def _polynomial_slope(P, xp, gamma, degree, coef0):
    return degree * gamma * (gamma * P + coef0) ** (degree - 1)


# Kernel -> dk/dP as a function of P = <x, z>
_INNER: dict[str, Callable] = {
    "linear": lambda P, xp, gamma, degree, coef0: xp.ones_like(P),
    "polynomial": _polynomial_slope,
    "poly": _polynomial_slope,
    "sigmoid": lambda P, xp, gamma, degree, coef0: gamma * (1 - xp.tanh(gamma * P + coef0) ** 2),
}
#: Parameter -> the names of units that have a gradient in closed form.
DIFFERENTIABLE = {"activation": {*_UNITS, "rbf"}, "kernel": {*RADIAL, *INNER, "laplacian"}}


def units_gradient(layer, X, coef):
    """Gradients of sums of hidden units, ``layer.units(X) @ coef``, with respect to the features.

    Parameters
    ----------
    layer : RandomLayer, NystromLayer or LandmarkLayer
        With an activation or a kernel among :data:`DIFFERENTIABLE`.
    X : {array, CSR}, shape (n_samples, n_features)
    coef : array, shape (n_hidden, n_outputs)

    Returns
    -------
    array, shape (n_samples, n_outputs, n_features)
        Where the rows live. A kernel value with a corner has no gradient there: that of ``exponential_power``
        at its landmark for powers up to one, that of ``laplacian`` where a feature is the landmark's. It is
        taken to be zero there, its mean over both directions.
    """
    xp, n_outputs = namespace(X), coef.shape[1]
    dtype = coef.dtype if not is_numpy(X) else np.result_type(X.dtype, coef.dtype)
    where = {} if is_numpy(X) else {"device": device_of(X)}
    gradient = xp.empty((X.shape[0], n_outputs, X.shape[1]), dtype=dtype, **where)
    for block in row_blocks(X.shape[0], max(X.shape[1], coef.shape[0])):
        rows = take_rows(X, block)
        rows = rows.toarray() if issparse(rows) else rows
        by_output = _of_random_units if isinstance(layer, RandomLayer) else _of_kernel
        for output, values in enumerate(by_output(layer, rows, coef, xp)):
            gradient[block, output, :] = xp.astype(values, dtype, copy=False)
    return gradient


def _of_random_units(layer: RandomLayer, X, coef, xp):
    if layer.activation == "rbf":
        scaled = X if layer.scale is None else (X - layer.origin) * layer.scale
        stretch = 1 if layer.scale is None else layer.scale
        for values in _of_distances(scaled, layer.weights, layer.biases, coef, _RADIAL["rbf"], {}, xp):
            yield values * stretch
        return
    weights = layer.weights / X.shape[1] if layer.activation == "nsigmoid" else layer.weights
    slopes = _UNITS[layer.activation](X @ weights.T - layer.biases, xp)
    for output in range(coef.shape[1]):
        yield (slopes * coef[:, output]) @ weights


def _of_kernel(layer, X, coef, xp):
    params, kernel = layer.kernel_params, layer.kernel
    if kernel in _RADIAL:
        own = own_params(kernel, params)
        yield from _of_distances(X, layer.landmarks, params["gamma"], coef, _RADIAL[kernel], own, xp)
        return
    if kernel == "laplacian":
        yield from _of_laplacian(X, layer, params["gamma"], coef)
        return
    products = inner_products(X, layer.landmarks) if is_numpy(X) else X @ layer.landmarks.T
    slopes = _INNER[kernel](products, xp, **params)
    for output in range(coef.shape[1]):
        yield (slopes * coef[:, output]) @ layer.landmarks


def _of_distances(X, centres, gamma, coef, slope: Callable, own: dict, xp):
    """Of k(S) with S = -gamma ||x - z||^2 the gradient is -2 gamma k'(S) (x - z)."""
    S = _scaled_distances(X, centres, gamma, xp, is_smooth(own))
    slopes = -2 * gamma * slope(S, xp, **own)
    if not issparse(centres):  # digits are lost where both are far from the origin
        middle = xp.mean(centres, axis=0)
        X, centres = X - middle, centres - middle
    for output in range(coef.shape[1]):
        of_units = slopes * coef[:, output]
        yield xp.sum(of_units, axis=1)[:, None] * X - of_units @ centres


def _of_laplacian(X, layer, gamma: float, coef):
    """Of exp(-gamma ||x - z||_1) the gradient is -gamma k sign(x - z)."""
    values = layer.units(X)
    landmarks = layer.landmarks.toarray() if issparse(layer.landmarks) else layer.landmarks
    gradient = np.empty((coef.shape[1], *X.shape))
    for feature in range(X.shape[1]):
        signed = values * np.sign(X[:, feature, None] - landmarks[:, feature])
        gradient[:, :, feature] = -gamma * (signed @ coef).T
    yield from gradient


def _scaled_distances(X, centres, gamma, xp, smooth: bool):
    if is_numpy(X):
        return minus_scaled_distances(X, centres, gamma, smooth=smooth)
    return device_units.minus_scaled_distances(X, centres, gamma, xp, smooth)


def log_joint_slopes(gaussians, projected):
    """Gradients of ln p(class) N(mean, covariance)[z] at the projected rows z.

    Parameters
    ----------
    gaussians : ClassGaussians
    projected : array, shape (n_samples, n_components)

    Returns
    -------
    array, shape (n_samples, n_classes, n_components)
    """
    each = [
        (cast(mean, projected) - projected) @ cast(np.linalg.inv(covariance), projected)
        for mean, covariance in zip(gaussians.means, gaussians.covariances, strict=True)
    ]
    return namespace(projected).stack(each, axis=1)
