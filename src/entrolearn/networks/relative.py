"""Bell and Sejnowski's objective, and a climb that multiplies the map instead of adding to it.

A step W ← (I + E) W sees the outputs alone: it is the same whatever the sources were mixed with, and its
gradient, the natural one, needs no inverse. In these coordinates the second derivatives are nearly made of
blocks of two, which turn natural gradient ascent into a quasi-Newton method.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import svd

from entrolearn.networks.sources import Moments, log_density, moments, scores

__all__ = ["Climb", "climb", "fixed_point", "ica_objective"]

N_REMEMBERED = 7  # steps whose change of the gradient corrects the second derivatives
LEAST_CURVATURE = 1e-2  # of a block of second derivatives, which may be indefinite
SUFFICIENT = 1e-4  # share of the gain that the slope promises
N_HALVINGS = 20
N_FIXED = 20  # iterations at most before the climb


def ica_objective(W, X, *, sub_gaussian=None) -> tuple[float, np.ndarray]:
    """Entropy that a network with squashed outputs adds to its input's, and the gradient by its weights.

    Parameters
    ----------
    W : array-like, shape (n_features, n_features)
    X : array-like, shape (n_samples, n_features)
        Rows x, centred.
    sub_gaussian : array-like of bool, shape (n_features,), optional
        Which outputs are squashed as suits sources flatter than a Gaussian. None: none of them.

    Returns
    -------
    entropy : float
        H(g(W x)) - H(x) in nats, as far as the rows say: ``log |det W|`` plus the mean of the sum of log g'.
        It is the mean log-likelihood of the rows if the sources' distribution functions are g.
    gradient : ndarray, shape (n_features, n_features)

    Raises
    ------
    ValueError
        If shapes do not fit.

    Notes
    -----
    g is the logistic function of 1.81 W x, of unit variance as a distribution. Another scale, or tanh for
    the logistic function, has the same maxima but for the scale of the outputs. For flat sources g is the
    distribution function of two Gaussians of variance 1/2 at ±√½, Lee, Girolami and Sejnowski's of unit
    variance.

    References
    ----------
    Bell and Sejnowski, An information-maximization approach to blind separation and blind deconvolution,
    Neural Computation 7, 1995; Lee, Girolami and Sejnowski, Independent component analysis using an extended
    infomax algorithm for mixed subgaussian and supergaussian sources, Neural Computation 11, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.networks import ica_objective
    >>> X = np.random.default_rng(0).laplace(size=(1000, 2))
    >>> apart, _ = ica_objective(np.eye(2), X)
    >>> mixed, _ = ica_objective(np.array([[1, 1], [-1, 1]]) / np.sqrt(2), X)
    >>> apart > mixed
    True
    """
    W, X = np.asarray(W, dtype=float), np.asarray(X, dtype=float)
    if X.ndim != 2 or W.shape != (X.shape[1], X.shape[1]):
        raise ValueError(f"W has shape {W.shape} and X {X.shape}; accepted: (d, d) and (n_samples, d)")
    flat = np.zeros(len(W), dtype=bool) if sub_gaussian is None else np.asarray(sub_gaussian, dtype=bool)
    if flat.shape != (len(W),):
        raise ValueError(
            f"sub_gaussian has shape {flat.shape}; one value is needed for each of {len(W)} outputs"
        )
    Y = W @ X.T
    value = np.linalg.slogdet(W).logabsdet + log_density(Y, flat).sum()
    return float(value), np.linalg.inv(W).T - scores(Y, flat)[0] @ X / len(X)


@dataclass(frozen=True)
class Climb:
    """One climb.

    Attributes
    ----------
    W : ndarray, shape (n_sources, n_sources)
    flat : ndarray of bool, shape (n_sources,)
        Which sources have the flat density.
    objective : float
    converged : bool
    steepness : float
        The largest entry of the relative gradient at the end.
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
    """Maximise the objective from W; no iteration lowers it.

    Parameters
    ----------
    Z : ndarray, shape (n_sources, n_samples)
        Centred.
    W : ndarray, shape (n_sources, n_sources)
        Invertible.
    extended : bool
        Whether each source has the density that is the likelier one for it, chosen again in each iteration.
    max_iter : int
    tol : float
        The climb ends when no entry of the relative gradient is larger.

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
        else:  # the gradients before and after are of different functions
            memory.clear()
        here = likelier
        history.append(here.value)
    return Climb(W, here.flat, here.value, here.steepness <= tol, here.steepness, history)


def fixed_point(Z: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Where Hyvärinen's symmetric iteration comes from W, whether or not it comes to rest.

    It needs neither the densities of the sources nor an objective, and few iterations, to come near.

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
    near = 1 / n  # of rows as many the optimum itself is further from the sources
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
    """Where a climb is: outputs, log |det W|, the kinds of the sources, and the objective around there."""

    Y: np.ndarray
    log_det: float
    flat: np.ndarray
    moments: Moments

    @classmethod
    def of(cls, Y: np.ndarray, log_det: float, flat: np.ndarray) -> "_Place":
        return cls(Y, log_det, flat, moments(Y, flat))

    def likelier(self) -> "_Place":
        """The same place with the likelier density for each source; itself if the sources have these."""
        flat = self.moments.flat > self.moments.peaked
        return self if np.array_equal(flat, self.flat) else self.of(self.Y, self.log_det, flat)

    @property
    def value(self) -> float:
        kinds = np.where(self.flat, self.moments.flat, self.moments.peaked)
        return float(self.log_det + kinds.sum())

    @property
    def gradient(self) -> np.ndarray:
        """By E in (I + E) W."""
        return np.eye(len(self.Y)) - self.moments.first

    @property
    def blocks(self) -> np.ndarray:
        """What is left of the second derivatives: see :func:`_solved`."""
        return self.moments.second

    @property
    def steepness(self) -> float:
        return float(np.abs(self.gradient).max())


def _remember(memory: deque, step: np.ndarray, change: np.ndarray) -> None:
    """Keep a step and how the gradient fell along it, where it did."""
    if np.sum(step * change) > 1e-10 * np.linalg.norm(step) * np.linalg.norm(change):
        memory.append((step, change))


def _direction(gradient: np.ndarray, blocks: np.ndarray, memory: deque) -> np.ndarray:
    """Where limited-memory BFGS goes, from second derivatives in blocks."""
    rest, parts = gradient.copy(), []
    for step, change in reversed(memory):
        parts.append(np.sum(step * rest) / np.sum(step * change))
        rest -= parts[-1] * change
    direction = _solved(blocks, rest)
    for (step, change), part in zip(memory, reversed(parts), strict=True):
        direction += (part - np.sum(change * direction) / np.sum(step * change)) * step
    return direction


def _solved(blocks: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Newton's step with the second derivatives [[b_ij, 1], [1, b_ji]], made positive definite.

    Those of -objective by E_ij and E_kl are E[second_i y_j y_l] where i = k, plus 1 where i = l and j = k.
    For independent outputs nothing is left of them but j = l in the former.
    """
    smallest = 0.5 * (blocks + blocks.T - np.hypot(blocks - blocks.T, 2.0))
    raised = blocks + np.maximum(LEAST_CURVATURE - smallest, 0.0)
    solved = (raised.T * gradient - gradient.T) / (raised * raised.T - 1)
    np.fill_diagonal(solved, gradient.diagonal() / (blocks.diagonal() + 1))
    return solved


def _risen(here: _Place, direction: np.ndarray) -> tuple[np.ndarray, _Place] | None:
    """The longest step tried that raises the objective enough, and where it leads."""
    slope = np.sum(here.gradient * direction)
    for halvings in range(N_HALVINGS if slope > 0 else 0):
        step = 0.5**halvings * direction
        moved = np.eye(len(step)) + step
        there = _Place.of(moved @ here.Y, here.log_det + np.linalg.slogdet(moved).logabsdet, here.flat)
        if there.value - here.value >= SUFFICIENT * 0.5**halvings * slope:  # not 0, as sums would round
            return step, there
    return None
