"""The smooth support vector machine: losses that are twice differentiable, and Newton's method on them.

Lee and Mangasarian (2001) replace max(x, 0) by p(x) = x + ln(1 + exp(-alpha x)) / alpha, which makes the
squared hinge smooth; Lee, Hsieh and Huang (2005) do so with the squared epsilon-insensitive loss. What is
left is an unconstrained, strictly convex problem in as many numbers as there are units.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from entrolearn.machines.moments import max_block_rows, row_blocks

__all__ = [
    "Minimum",
    "Objective",
    "SmoothHinge",
    "SmoothTube",
    "Weighted",
    "gram_matrix",
    "minimise",
    "ridge_start",
]

ALPHA = 5.0  # of p, as in both papers

# A row whose curvature is below this share of the largest has no part in Newton's matrix. That changes a
# step by as little, and the minimum not at all: gradients are of all rows.
NEGLIGIBLE = 1e-6
SUFFICIENT = 1e-4  # Armijo: the share of the decrease that the slope promises
MOST_HALVINGS = 40


class Loss(Protocol):
    """The loss of each row, with its first two derivatives in the output."""

    def __call__(
        self, outputs: np.ndarray, targets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...


@dataclass(frozen=True)
class SmoothHinge:
    """p(1 - t f)^2 / 2 for outputs f and targets t of ±1."""

    alpha: float = ALPHA

    def __call__(self, outputs, targets):
        """Loss, slope and curvature, arrays of shape (n_samples,)."""
        loss, slope, curvature = half_squared_plus(1 - targets * outputs, self.alpha)
        return loss, -targets * slope, curvature


@dataclass(frozen=True)
class SmoothTube:
    """(p(f - t - epsilon)^2 + p(t - f - epsilon)^2) / 2 for outputs f and targets t."""

    epsilon: float
    alpha: float = ALPHA

    def __call__(self, outputs, targets):
        """Loss, slope and curvature, arrays of shape (n_samples,)."""
        error = outputs - targets
        above = half_squared_plus(error - self.epsilon, self.alpha)
        below = half_squared_plus(-error - self.epsilon, self.alpha)
        return above[0] + below[0], above[1] - below[1], above[2] + below[2]


@dataclass(frozen=True)
class Weighted:
    """A loss times the weight of each row, shape (n_samples,)."""

    loss: Loss
    weights: np.ndarray

    def __call__(self, outputs, targets):
        """Loss, slope and curvature, arrays of shape (n_samples,)."""
        return tuple(self.weights * each for each in self.loss(outputs, targets))


def half_squared_plus(x: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p(x)^2 / 2 and its first two derivatives, by an exponential that cannot overflow."""
    small = np.exp(-alpha * np.abs(x))
    p = np.maximum(x, 0) + np.log1p(small) / alpha
    slope = np.where(x >= 0, 1, small) / (1 + small)  # p', the sigmoid of alpha x
    curvature = alpha * small / (1 + small) ** 2  # p''
    return p**2 / 2, p * slope, slope**2 + p * curvature


@dataclass(frozen=True)
class Objective:
    """C times the losses of all rows, plus half the squared norm of the coefficients.

    Attributes
    ----------
    features : ndarray, shape (n_samples, n_units)
    targets : ndarray, shape (n_samples,)
    loss : Loss
    C : float
    """

    features: np.ndarray
    targets: np.ndarray
    loss: Loss
    C: float

    @np.errstate(over="ignore", invalid="ignore")  # infinite then
    def value(self, coef: np.ndarray, outputs: np.ndarray | None = None) -> float:
        """The objective at some coefficients; quicker where ``features @ coef`` is known."""
        outputs = self.features @ coef if outputs is None else outputs
        losses, _, _ = self.loss(outputs, self.targets)
        return self.C * losses.sum() + coef @ coef / 2

    def derivatives(self, coef: np.ndarray, outputs: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Value, gradient and the curvature of each row's loss."""
        losses, slope, curvature = self.loss(outputs, self.targets)
        value = self.C * losses.sum() + coef @ coef / 2
        return value, coef + self.C * (slope @ self.features), curvature

    def hessian(self, curvature: np.ndarray) -> np.ndarray:
        """I + C F' diag(curvature) F in the lower triangle of an array in Fortran order."""
        rows = np.flatnonzero(curvature > NEGLIGIBLE * curvature.max(initial=0.0))
        matrix = gram_matrix(self.features, rows, np.sqrt(curvature[rows]), scale=self.C)
        matrix.flat[:: len(matrix) + 1] += 1
        return matrix


@dataclass(frozen=True)
class Minimum:
    """Where Newton's method ended.

    Attributes
    ----------
    coef : ndarray, shape (n_units,)
    n_iter : int
    converged : bool
    """

    coef: np.ndarray
    n_iter: int
    converged: bool


@np.errstate(over="ignore", invalid="ignore")  # told below
def minimise(objective: Objective, start: np.ndarray, max_iter: int, tol: float) -> Minimum:
    """Newton's method with Armijo's step.

    Parameters
    ----------
    objective : Objective
    start : ndarray, shape (n_units,)
    max_iter : int
    tol : float
        Ends where the step that is left would decrease the objective by no more than this share of it; that
        step is taken.

    Returns
    -------
    Minimum

    Raises
    ------
    ValueError
        If the objective, or its Hessian, overflows.
    """
    coef, outputs = start, objective.features @ start
    for n_iter in range(1, max_iter + 1):
        value, gradient, curvature = objective.derivatives(coef, outputs)
        step = -_solve_positive(objective.hessian(curvature), gradient)
        slope = gradient @ step
        if not np.isfinite(value + slope):
            raise ValueError("the objective overflows: scale the rows and the values, or take a smaller C.")
        if -slope <= 2 * tol * value:
            return Minimum(coef + step, n_iter, converged=True)
        towards = objective.features @ step
        length = _armijo(objective, coef, outputs, step, towards, value, slope)
        coef, outputs = coef + length * step, outputs + length * towards
    return Minimum(coef, max_iter, converged=False)


def _armijo(objective, coef, outputs, step, towards, value, slope) -> float:
    """The longest of the steps 1, 1/2, 1/4, … that decreases the objective as its slope promises."""
    rounding = 8 * np.finfo(float).eps * abs(value)
    length = 1.0
    for _ in range(MOST_HALVINGS):
        reached = objective.value(coef + length * step, outputs + length * towards)
        if reached <= value + SUFFICIENT * length * slope + rounding:
            break
        length /= 2
    return length


@np.errstate(over="ignore", invalid="ignore")  # such a start is no minimum's, and told there
def ridge_start(gram: np.ndarray, cross: np.ndarray, C: float) -> np.ndarray:
    """Least squares in the place of the loss: (I + C F'F)^-1 C F'T, a start for all outputs at once.

    Parameters
    ----------
    gram : ndarray, shape (n_units, n_units)
        F'F in its lower triangle.
    cross : ndarray, shape (n_units, n_outputs)
        F'T.
    C : float

    Returns
    -------
    ndarray, shape (n_units, n_outputs)
    """
    system = C * gram
    system.flat[:: len(system) + 1] += 1
    return _solve_positive(system, C * cross)


def _solve_positive(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve with a matrix that is at least the identity, given as its lower triangle.

    Where C and the kernel values are so large that rounding hides the identity, what is added to the
    diagonal instead is as small as the rounding. That is near enough for a step: minima are where gradients
    vanish, whatever matrix has led there.
    """
    rounding = len(matrix) * np.finfo(float).eps * np.abs(matrix.diagonal()).max()
    if not np.isfinite(rounding):
        raise ValueError("the Hessian overflows: scale the rows, or take a smaller C.")
    for floor in (0.0, rounding, 100 * rounding):
        floored = matrix.copy(order="F")
        floored.flat[:: len(matrix) + 1] += floor
        try:
            factor = cho_factor(floored, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        return cho_solve(factor, right, check_finite=False)
    raise ValueError("the Hessian has no Cholesky factor: scale the rows, or take a smaller C.")


def gram_matrix(
    features: np.ndarray,
    rows: np.ndarray | None = None,
    root_weights: np.ndarray | None = None,
    scale: float = 1.0,
) -> np.ndarray:
    """scale * F' diag(weights) F over some rows of F, gathered block by block.

    Returns
    -------
    ndarray, shape (n_units, n_units)
        In Fortran order; the lower triangle holds the matrix.
    """
    rows = np.arange(len(features)) if rows is None else rows
    n_units = features.shape[1]
    total = np.zeros((n_units, n_units), order="F")
    buffer = np.empty((max_block_rows(len(rows), n_units), n_units))
    for block in row_blocks(len(rows), n_units):
        some = np.take(features, rows[block], axis=0, out=buffer[: block.stop - block.start], mode="clip")
        if root_weights is not None:
            some *= root_weights[block, None]
        total = dsyrk(scale, some.T, beta=1.0, c=total, lower=1, overwrite_c=1)
    return total
