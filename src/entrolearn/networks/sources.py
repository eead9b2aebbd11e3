"""Two densities of ICA sources: a super-Gaussian (logistic) and a sub-Gaussian (bimodal) one.

A network with logistic units assumes the logistic density, because the squashing function of a unit is the
distribution function of its source. Sub-Gaussian sources have the density of a mixture of two equal
Gaussians. Both densities are even and have unit variance, so that their likelihoods can be compared.

All functions take outputs of shape (n_sources, n_samples) and a mask `flat` of the sub-Gaussian sources.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import gen_batches

__all__ = ["Moments", "log_density", "moments", "scores"]

TILE = 2**14  # outputs per tile, which fits into the processor's cache

_SCALE = np.sqrt(3) / np.pi  # scale of the logistic density of unit variance
_BUMP = np.sqrt(2)  # mean over variance of a mixture component: variance ½ at ±√½


def log_density(Y: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """Mean logarithm of each source's density at its outputs, in nats; shape (n_sources,)."""
    return np.where(flat, _bumps(Y), _logistic(Y))


def scores(Y: np.ndarray, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Minus the first and the second derivative of the log-densities at each output."""
    first, second = np.empty_like(Y), np.empty_like(Y)
    t = np.tanh(Y[~flat] / (2 * _SCALE))
    first[~flat], second[~flat] = t / _SCALE, (1 - t**2) / (2 * _SCALE**2)
    t = np.tanh(_BUMP * Y[flat])
    first[flat], second[flat] = 2 * Y[flat] - _BUMP * t, 2 * t**2
    return first, second


@dataclass(frozen=True)
class Moments:
    """Means over the samples.

    Attributes
    ----------
    peaked, flat : ndarray, shape (n_sources,)
        Mean log-density under the logistic and the bimodal density, for all sources.
    first, second : ndarray, shape (n_sources, n_sources)
        Means of first_i y_j and second_i y_j², for the density that each source has.
    """

    peaked: np.ndarray
    flat: np.ndarray
    first: np.ndarray
    second: np.ndarray


def moments(Y: np.ndarray, flat: np.ndarray) -> Moments:
    """Moments of the outputs for one step of the maximisation, in one pass."""
    k, n = Y.shape
    peaked, flats, first, second = np.zeros(k), np.zeros(k), np.zeros((k, k)), np.zeros((k, k))
    for tile in gen_batches(n, max(TILE // k, 1)):
        y = Y[:, tile]
        share = y.shape[1] / n
        peaked += share * _logistic(y)
        flats += share * _bumps(y)
        of_first, of_second = scores(y, flat)
        first += of_first @ y.T
        second += of_second @ (y * y).T
    return Moments(peaked, flats, first / n, second / n)


def _logistic(Y: np.ndarray) -> np.ndarray:
    size = np.abs(Y) / _SCALE
    return -np.mean(size + 2 * np.log1p(np.exp(-size)), axis=1) - np.log(_SCALE)


def _bumps(Y: np.ndarray) -> np.ndarray:
    size = _BUMP * np.abs(Y)
    log_cosh = size + np.log1p(np.exp(-2 * size)) - np.log(2)
    return np.mean(log_cosh - Y * Y, axis=1) - 0.5 * (1 + np.log(np.pi))
