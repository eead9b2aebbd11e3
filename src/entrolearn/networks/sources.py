"""Densities that sources are taken to have: one peaked with long tails, one with two bumps.

The logistic density is what a network with logistic units assumes: the squashing function of a unit is the
distribution function of its source. For sources flatter than a Gaussian it is the wrong one, and two equal
Gaussians side by side stand in. Both are even and have unit variance, so that their likelihoods compare.

All functions take outputs of shape (n_sources, n_samples) and, for each source, whether it is the flat kind.
"""

import numpy as np

__all__ = ["flatter", "log_density", "scores"]

_SCALE = np.sqrt(3) / np.pi  # of the logistic density of unit variance
_BUMP = np.sqrt(2)  # the distance of a bump from 0 over its variance, both for bumps of variance ½ at ±√½


def log_density(Y: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """Mean logarithm of each source's density at its outputs, in nats; shape (n_sources,)."""
    means = np.empty(len(Y))
    means[~flat] = _logistic(Y[~flat])
    means[flat] = _bumps(Y[flat])
    return means


def scores(Y: np.ndarray, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Minus the first and the second derivative of the log-densities at each output."""
    first, second = np.empty_like(Y), np.empty_like(Y)
    t = np.tanh(Y[~flat] / (2 * _SCALE))
    first[~flat], second[~flat] = t / _SCALE, (1 - t**2) / (2 * _SCALE**2)
    t = np.tanh(_BUMP * Y[flat])
    first[flat], second[flat] = 2 * Y[flat] - _BUMP * t, 2 * t**2
    return first, second


def flatter(Y: np.ndarray) -> np.ndarray:
    """For each source, whether the flat density is the likelier one; shape (n_sources,)."""
    return _bumps(Y) > _logistic(Y)


def _logistic(Y: np.ndarray) -> np.ndarray:
    size = np.abs(Y) / _SCALE
    return -np.mean(size + 2 * np.log1p(np.exp(-size)), axis=1) - np.log(_SCALE)


def _bumps(Y: np.ndarray) -> np.ndarray:
    size = _BUMP * np.abs(Y)
    log_cosh = size + np.log1p(np.exp(-2 * size)) - np.log(2)
    return np.mean(log_cosh - Y**2, axis=1) - 0.5 * (1 + np.log(np.pi))
