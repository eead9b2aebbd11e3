"""Two densities of ICA sources: a super-Gaussian (logistic) and a sub-Gaussian (bimodal) one.

A network with logistic units assumes the logistic density, because the squashing function of a unit is the
distribution function of its source. Sub-Gaussian sources have the density of a mixture of two equal
Gaussians. Both densities are even and have unit variance, so that their likelihoods can be compared.

Outputs have the shape (n_sources, n_samples); a mask `flat` names the sub-Gaussian sources.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import gen_batches

__all__ = ["Moments", "moments"]

TILE = 2**15  # outputs per block, so that intermediate results stay in the processor's cache
FACTORS = 32  # number of factors of a product whose logarithm is taken

_SCALE = np.sqrt(3) / np.pi  # scale of the logistic density of unit variance
_BUMP = np.sqrt(2)  # mean over variance of a mixture component: variance ½ at ±√½


@dataclass(frozen=True)
class Moments:
    """Means over the samples.

    Attributes
    ----------
    peaked, flat : ndarray, shape (n_sources,)
        Mean log-density under the logistic and the bimodal density, for all sources.
    first, second : ndarray, shape (n_sources, n_sources)
        Means of first_i y_j and second_i y_j² for the current densities of the sources. For i ≠ j the latter
        is the product of both means, as for independent sources.
    """

    peaked: np.ndarray
    flat: np.ndarray
    first: np.ndarray
    second: np.ndarray


def moments(Y: np.ndarray, flat: np.ndarray) -> Moments:
    """Moments of the outputs for one step of the maximisation, in one pass."""
    k, n = Y.shape
    logistic, bumps, slopes, squares, together = np.zeros((5, k))
    products, plain = np.zeros((k, k)), np.zeros((k, k))
    bumpy = np.flatnonzero(flat)
    for tile in gen_batches(n, max(TILE // k, 1)):
        y = Y[:, tile]
        size = np.abs(y)
        t = _tanh_of(size, 1 / (2 * _SCALE), logistic)
        of_bumps = _tanh_of(size, _BUMP, bumps)
        t[bumpy] = of_bumps[bumpy]
        slopes += np.einsum("ij,ij->i", t, t)
        products += np.copysign(t, y) @ y.T
        squares += np.einsum("ij,ij->i", y, y)
        size *= t
        together += np.einsum("ij,ij->i", size, size)
        if len(bumpy):
            plain[bumpy] += y[bumpy] @ y.T
    products, plain, slopes, squares, together = (
        each / n for each in (products, plain, slopes, squares, together)
    )
    second = np.outer(np.where(flat, 2 * slopes, (1 - slopes) / (2 * _SCALE**2)), squares)
    np.fill_diagonal(second, np.where(flat, 2 * together, (squares - together) / (2 * _SCALE**2)))
    return Moments(
        peaked=-2 * logistic / n - np.log(4 * _SCALE),
        flat=bumps / n - squares - 0.5 * (1 + np.log(np.pi)),
        first=np.where(flat[:, np.newaxis], 2 * plain - _BUMP * products, products / _SCALE),
        second=second,
    )


def _tanh_of(size: np.ndarray, factor: float, log_cosh: np.ndarray) -> np.ndarray:
    """tanh(factor * size) of non-negative numbers; the sums of ln cosh are added to `log_cosh`."""
    k, n = size.shape
    e = size * (-2 * factor)
    log_cosh -= e.sum(axis=1) / 2 + n * np.log(2)
    np.exp(e, out=e)
    e += 1
    whole = n - n % FACTORS  # products of numbers from 1 to 2 do not overflow, which saves logarithms
    log_cosh += np.log(np.multiply.reduce(e[:, :whole].reshape(k, FACTORS, -1), axis=1)).sum(axis=1)
    log_cosh += np.log(e[:, whole:]).sum(axis=1)
    np.divide(2, e, out=e)
    e -= 1
    return e
