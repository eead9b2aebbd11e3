"""Bell and Sejnowski's ICA objective, and its maximisation by multiplicative (relative) steps.

A step W ← (I + E) W depends only on the outputs, and therefore not on the mixing matrix. Its gradient, the
natural gradient, needs no matrix inverse. In these coordinates the Hessian is nearly block diagonal with 2 x
2 blocks, which turns natural gradient ascent into a quasi-Newton method.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import svd

from entrolearn.networks.sources import Moments, moments

__all__ = ["Climb", "climb", "fixed_point"]

N_REMEMBERED = 7  # number of steps in the memory of L-BFGS
LEAST_CURVATURE = 1e-2  # smallest eigenvalue of a Hessian block, which may be indefinite
SUFFICIENT = 1e-4  # Armijo constant: required share of the gain predicted by the slope
N_HALVINGS = 20
N_FIXED = 20  # maximum number of fixed-point iterations before the maximisation


@dataclass(frozen=True)
class Climb:
    """Result of one maximisation.

    Attributes
    ----------
    W : ndarray, shape (n_sources, n_sources)
    flat : ndarray of bool, shape (n_sources,)
        Which sources have the sub-Gaussian density.
    objective : float
    converged : bool
    steepness : float
        Largest absolute entry of the final relative gradient.
    history : list of float
        The objective after each iteration.
    """

    W: np.ndarray
    flat: np.ndarray
    objective: float
    converged: bool
    steepness: float
    history: list[float] = field(repr=False)


def climb(Z: np.ndarray, W: np.ndarray, *, extended: bool, max_iter: int, tol: float) -> Climb:
    """Maximise the objective, starting from W; no iteration decreases it.

    Parameters
    ----------
    Z : ndarray, shape (n_sources, n_samples)
        Centred data.
    W : ndarray, shape (n_sources, n_sources)
        Invertible start.
    extended : bool
        Whether the more likely of the two densities is selected for each source in each iteration.
    max_iter : int
    tol : float
        Stop when no absolute entry of the relative gradient is larger.

    References
    ----------
    Ablin, Cardoso and Gramfort, Faster independent component analysis by preconditioning with Hessian
    approximations, IEEE Transactions on Signal Processing 66, 2018.
    """
    here = _Place.of(W @ Z, np.linalg.slogdet(W).logabsdet, np.zeros(len(W), dtype=bool))
    here = here.likelier() if extended else here
    memory: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=N_REMEMBERED)
    history: list[float] = []
    while here.steepness > tol and len(history) < max_iter:
        found = _risen(here, _direction(here.gradient, here.blocks, memory))
        if found is None and memory:
            memory.clear()
            found = _risen(here, _solved(here.blocks, here.gradient))
        if found is None:
            break
        step, there = found
        W = W + step @ W
        likelier = there.likelier() if extended else there
        if likelier is there:
            _remember(memory, step, here.gradient - there.gradient)
        else:  # the two gradients belong to different functions
            memory.clear()
        here = likelier
        history.append(here.value)
    return Climb(W, here.flat, here.value, here.steepness <= tol, here.steepness, history)


def fixed_point(Z: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Result of Hyvärinen's symmetric fixed-point iteration from W, converged or not.

    The iteration uses neither the densities of the sources nor an objective, and comes near the optimum
    quickly.

    Parameters
    ----------
    Z : ndarray, shape (n_sources, n_samples)
        Whitened.
    W : ndarray, shape (n_sources, n_sources)
        Orthogonal.

    Returns
    -------
    ndarray, shape (n_sources, n_sources)
        Orthogonal.

    References
    ----------
    Hyvärinen, Fast and robust fixed-point algorithms for independent component analysis, IEEE Transactions on
    Neural Networks 10, 1999.
    """
    n = Z.shape[1]
    near = 1 / n  # for n rows, the optimum itself is further from the sources
    for _ in range(N_FIXED):
        t = np.tanh(W @ Z)
        slopes = 1 - np.einsum("ij,ij->i", t, t) / n
        left, _, right = svd(t @ Z.T / n - slopes[:, np.newaxis] * W)
        moved, W = W, left @ right
        if 1 - np.abs(np.einsum("ij,ij->i", W, moved)).min() < near:
            break
    return W


@dataclass(frozen=True)
class _Place:
    """State of the maximisation: outputs, log |det W|, the density of each source, and the moments."""

    Y: np.ndarray
    log_det: float
    flat: np.ndarray
    moments: Moments

    @classmethod
    def of(cls, Y: np.ndarray, log_det: float, flat: np.ndarray) -> "_Place":
        return cls(Y, log_det, flat, moments(Y, flat))

    def likelier(self) -> "_Place":
        """The state with the more likely density for each source; `self` if no density changes."""
        flat = self.moments.flat > self.moments.peaked
        return self if np.array_equal(flat, self.flat) else self.of(self.Y, self.log_det, flat)

    @property
    def value(self) -> float:
        kinds = np.where(self.flat, self.moments.flat, self.moments.peaked)
        return float(self.log_det + kinds.sum())

    @property
    def gradient(self) -> np.ndarray:
        """Gradient with respect to E in (I + E) W."""
        return np.eye(len(self.Y)) - self.moments.first

    @property
    def blocks(self) -> np.ndarray:
        """Elements of the block diagonal Hessian, see :func:`_solved`."""
        return self.moments.second

    @property
    def steepness(self) -> float:
        return float(np.abs(self.gradient).max())


def _remember(memory: deque, step: np.ndarray, change: np.ndarray) -> None:
    """Store a step and the decrease of the gradient, if the curvature along it is positive."""
    if np.sum(step * change) > 1e-10 * np.linalg.norm(step) * np.linalg.norm(change):
        memory.append((step, change))


def _direction(gradient: np.ndarray, blocks: np.ndarray, memory: deque) -> np.ndarray:
    """Direction of limited-memory BFGS, preconditioned by the block diagonal Hessian."""
    rest, parts = gradient.copy(), []
    for step, change in reversed(memory):
        parts.append(np.sum(step * rest) / np.sum(step * change))
        rest -= parts[-1] * change
    direction = _solved(blocks, rest)
    for (step, change), part in zip(memory, reversed(parts), strict=True):
        direction += (part - np.sum(change * direction) / np.sum(step * change)) * step
    return direction


def _solved(blocks: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Newton step with the Hessian blocks [[b_ij, 1], [1, b_ji]], made positive definite.

    The second derivatives of -objective with respect to E_ij and E_kl are E[second_i y_j y_l] for i = k, plus
    1 for i = l and j = k. For independent outputs, the former vanish unless j = l.
    """
    smallest = 0.5 * (blocks + blocks.T - np.hypot(blocks - blocks.T, 2.0))
    raised = blocks + np.maximum(LEAST_CURVATURE - smallest, 0.0)
    solved = (raised.T * gradient - gradient.T) / (raised * raised.T - 1)
    np.fill_diagonal(solved, gradient.diagonal() / (blocks.diagonal() + 1))
    return solved


def _risen(here: _Place, direction: np.ndarray) -> tuple[np.ndarray, _Place] | None:
    """The longest tried step that increases the objective enough, and the new state; None if none does."""
    slope = np.sum(here.gradient * direction)
    for halvings in range(N_HALVINGS if slope > 0 else 0):
        step = 0.5**halvings * direction
        moved = np.eye(len(step)) + step
        there = _Place.of(moved @ here.Y, here.log_det + np.linalg.slogdet(moved).logabsdet, here.flat)
        if there.value - here.value >= SUFFICIENT * 0.5**halvings * slope:  # not 0, because of rounding
            return step, there
    return None
