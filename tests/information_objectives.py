"""Objectives of ICA, infomax and two views with their gradients, to check the solutions of the learners."""

import numpy as np
from scipy.linalg import block_diag

SCALE = np.sqrt(3) / np.pi  # of the logistic density of unit variance
BUMP = np.sqrt(2)  # mean over variance of a component of the bimodal density


def half_log_det(W, C, plus=0.0):
    """½ log det(W C W' + plus), and its gradient."""
    inner = W @ C @ W.T + plus
    return 0.5 * np.linalg.slogdet(inner).logabsdet, np.linalg.solve(inner, W @ C)


def infomax_objective(W, C, noise_variance, *, noise="output"):
    """Information of outputs about the input, of covariance C, with noise at the output or the input."""
    W = np.atleast_2d(W)
    if noise == "output":
        value, gradient = half_log_det(W / np.sqrt(noise_variance), C, np.eye(len(W)))
        return value, gradient / np.sqrt(noise_variance)
    of_noise = np.diag(np.broadcast_to(noise_variance, len(C)))
    (both, gradient), (alone, of_alone) = half_log_det(W, C + of_noise), half_log_det(W, of_noise)
    return both - alone, gradient - of_alone


def views_objective(W_x, W_y, C):
    """Information of outputs of two views about each other; C is the joint covariance."""
    k, d = W_x.shape
    of_x, gradient_x = half_log_det(W_x, C[:d, :d])
    of_y, gradient_y = half_log_det(W_y, C[d:, d:])
    both, gradient = half_log_det(block_diag(W_x, W_y), C)
    return of_x + of_y - both, (gradient_x - gradient[:k, :d], gradient_y - gradient[k:, d:])


def log_density(Y, flat):
    """Mean logarithm of each source's density, in nats."""
    u = np.abs(Y) / SCALE
    logistic = -np.mean(u + 2 * np.log1p(np.exp(-u)), axis=1) - np.log(SCALE)
    u = BUMP * np.abs(Y)
    log_cosh = u + np.log1p(np.exp(-2 * u)) - np.log(2)
    return np.where(flat, np.mean(log_cosh - Y * Y, axis=1) - 0.5 * (1 + np.log(np.pi)), logistic)


def scores(Y, flat):
    """Minus the first and the second derivative of the log-densities at each output."""
    peaked, bumps, flat = np.tanh(Y / (2 * SCALE)), np.tanh(BUMP * Y), np.asarray(flat)[:, np.newaxis]
    first = np.where(flat, 2 * Y - BUMP * bumps, peaked / SCALE)
    return first, np.where(flat, 2 * bumps**2, (1 - peaked**2) / (2 * SCALE**2))


def ica_objective(W, X, *, sub_gaussian=None):
    """Bell and Sejnowski's entropy of the squashed outputs minus that of the input."""
    W, flat = np.asarray(W), np.zeros(len(W), dtype=bool) if sub_gaussian is None else sub_gaussian
    Y = W @ X.T
    value = np.linalg.slogdet(W).logabsdet + log_density(Y, flat).sum()
    return value, np.linalg.inv(W).T - scores(Y, flat)[0] @ X / len(X)
