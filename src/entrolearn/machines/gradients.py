"""Gradients of hidden units and of class log densities with respect to the features, in closed form."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.sparse import csr_array, hstack, issparse
from scipy.sparse.linalg import norm

from entrolearn.kernels import (
    ADDITIVE,
    INNER,
    RADIAL,
    inner_products,
    minus_scaled_distances,
    namespace,
    own_params,
)
from entrolearn.machines.devices import cast, take_rows
from entrolearn.machines.layers import RandomLayer, in_metric
from entrolearn.machines.moments import BLOCK_NUMBERS, row_blocks

__all__ = ["DIFFERENTIABLE", "log_joint_slopes", "units_gradient", "without_empty_features"]

# Units per block, for several arrays of values; arrays that stay in the cache halve the time.
GRADIENT_NUMBERS = 2**17


#: Parameter -> names of activations or kernels that have a gradient in closed form.
DIFFERENTIABLE = {
    "activation": {*(name for name, formula in ADDITIVE.items() if formula.slope), "rbf"},
    "kernel": {*RADIAL, *INNER, "laplacian"},
}


def units_gradient(layer, X, coef, slopes: Callable | None = None):
    """Gradients of sums of hidden units, ``layer.units(X) @ coef``, with respect to the features.

    Parameters
    ----------
    layer : RandomLayer, NystromLayer or LandmarkLayer
        With an activation or a kernel in :data:`DIFFERENTIABLE`.
    X : {array, CSR}, shape (n_samples, n_features)
    coef : array, shape (n_hidden, n_sums)
    slopes : callable, optional
        For outputs that are functions of the sums: given the sums of some rows, their derivatives with
        respect to the sums, shape (n_rows, n_outputs, n_sums). By default the outputs are the sums.

    Returns
    -------
    array, shape (n_samples, n_outputs, n_features)
        On the device of the rows. Some kernels have a corner without a gradient: ``exponential_power`` at its
        landmark for powers up to one, ``laplacian`` where a feature equals the landmark's. The gradient is
        set to zero there, the mean over both directions.
    """
    xp, blocks = namespace(X), []
    dtype = xp.result_type(X.dtype, coef.dtype)
    n_columns = max(X.shape[1], coef.shape[0])
    numbers = max(1, min(BLOCK_NUMBERS, GRADIENT_NUMBERS * n_columns // coef.shape[0]))
    for block in row_blocks(X, n_columns, numbers):
        rows = take_rows(X, block)
        rows = in_metric(rows.toarray() if issparse(rows) else rows, layer.root)
        seen, of_sum = (_random_units if isinstance(layer, RandomLayer) else _kernel)(layer, rows, xp)
        if slopes is None:
            of_units = [coef[:, output] for output in range(coef.shape[1])]
        else:
            of_sums = slopes(seen() @ coef)
            of_units = [of_sums[:, output, :] @ coef.T for output in range(of_sums.shape[1])]
        gradients = [in_metric(of_sum(each), layer.root) for each in of_units]
        blocks.append(xp.astype(xp.stack(gradients, axis=1), dtype, copy=False))
    return blocks[0] if len(blocks) == 1 else xp.concat(blocks, axis=0)


def without_empty_features(layer, X):
    """A layer of landmarks, and rows, without the features in which every landmark is zero.

    A kernel sees such features only by their norm in the row, which becomes the last feature.

    Parameters
    ----------
    layer : NystromLayer or LandmarkLayer
        With CSR landmarks and a kernel in :data:`DIFFERENTIABLE`, and no metric or a diagonal one.
    X : CSR, shape (n_samples, n_features)

    Returns
    -------
    layer : NystromLayer or LandmarkLayer
        For rows in the coordinates of the metric.
    rows : CSR, shape (n_samples, n_kept + 1)
        In the coordinates of the metric.
    kept : ndarray of bool, shape (n_features,)
    slopes : CSR, shape (n_samples, n_features - n_kept)
        Derivatives of the last feature with respect to those that are left out.
    """
    X, landmarks = csr_array(in_metric(X, layer.root)), csr_array(layer.landmarks)
    kept = np.bincount(landmarks.indices, minlength=X.shape[1]) > 0
    slopes = X[:, ~kept]
    if layer.kernel == "laplacian":
        norms = abs(slopes).sum(axis=1)
        slopes.data = np.sign(slopes.data)
    else:
        norms = norm(slopes, axis=1)
        slopes.data /= np.repeat(np.where(norms > 0, norms, 1), np.diff(slopes.indptr))
    rows = hstack([X[:, kept], csr_array(norms[:, None])], format="csr")
    landmarks = hstack([landmarks[:, kept], csr_array((landmarks.shape[0], 1), dtype=X.dtype)], format="csr")
    return replace(layer, landmarks=landmarks, root=None), rows, kept, slopes


# Each returns two functions: the units of the rows, and the gradient of their sum with weights of shape
# (n_hidden,), or (n_rows, n_hidden) for separate weights of each row.


def _random_units(layer, X, xp):
    plain = replace(layer, root=None)
    if layer.activation == "rbf":
        scaled = X if layer.scale is None else (X - layer.origin) * layer.scale
        stretch = 1 if layer.scale is None else layer.scale
        S, of_sum = _of_distances(scaled, layer.weights, layer.biases, "rbf", {}, xp)
        return lambda: xp.exp(S), lambda weights: of_sum(weights) * stretch
    slopes = ADDITIVE[layer.activation].slope(X @ layer.slopes.T - layer.biases, xp)
    return lambda: plain(X), lambda of_units: (slopes * of_units) @ layer.slopes


def _kernel(layer, X, xp):
    plain, params, kernel = replace(layer, root=None), layer.kernel_params, layer.kernel
    if kernel in RADIAL:
        own = own_params(kernel, params)
        S, of_sum = _of_distances(X, layer.landmarks, params["gamma"], kernel, own, xp)
        return lambda: RADIAL[kernel].value(S, xp, **own), of_sum
    if kernel == "laplacian":
        return lambda: plain.units(X), partial(_of_laplacian, plain.units(X), X, layer, params["gamma"])
    slopes = INNER[kernel].slope(inner_products(X, layer.landmarks), xp, **params)
    return lambda: plain.units(X), lambda weights: (slopes * weights) @ layer.landmarks


def _of_distances(X, centres, gamma, kernel: str, own: dict, xp):
    """Gradient -2 gamma k'(S) (x - z) of k(S) with S = -gamma ||x - z||^2."""
    S = minus_scaled_distances(X, centres, gamma, smooth=own.get("power", 2) == 2)
    slopes = -2 * gamma * RADIAL[kernel].slope(S, xp, **own)
    if not issparse(centres):  # avoids a loss of digits for rows and centres far from the origin
        middle = xp.mean(centres, axis=0)
        X, centres = X - middle, centres - middle

    def of_sum(weights):
        of_units = slopes * weights
        return xp.sum(of_units, axis=1)[:, None] * X - of_units @ centres

    return S, of_sum


def _of_laplacian(values, X, layer, gamma: float, weights):
    """Gradient -gamma k sign(x - z) of exp(-gamma ||x - z||_1)."""
    landmarks = layer.landmarks.toarray() if issparse(layer.landmarks) else layer.landmarks
    weighted = -gamma * values * weights
    columns = [(weighted * np.sign(X[:, j, None] - landmarks[:, j])).sum(axis=1) for j in range(X.shape[1])]
    return np.stack(columns, axis=1)


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
