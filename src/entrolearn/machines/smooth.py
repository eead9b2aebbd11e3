"""Smooth support vector machine: twice differentiable losses, minimised by Newton's method.

Lee and Mangasarian (2001) replace max(x, 0) by p(x) = x + ln(1 + exp(-alpha x)) / alpha, which makes the
squared hinge smooth; Lee, Hsieh and Huang (2005) do the same for the squared epsilon-insensitive loss. The
result is an unconstrained, strictly convex problem with one variable per unit.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from entrolearn.machines.moments import row_blocks

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

ALPHA = 5.0  # alpha of p, as in both papers

# Rows with a curvature below this share of the largest are left out of the Hessian. This changes a Newton
# step by the same small share, and the minimum not at all, because gradients use all rows.
NEGLIGIBLE = 1e-6
SUFFICIENT = 1e-4  # Armijo constant: required share of the decrease predicted by the slope
MOST_HALVINGS = 40


class Loss(Protocol):
    """The loss of each row, with its first two derivatives with respect to the output."""

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
    """p(x)^2 / 2 and its first two derivatives, computed without overflow."""
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

    @np.errstate(over="ignore", invalid="ignore")  # the value is then infinite
    def value(self, coef: np.ndarray, outputs: np.ndarray | None = None) -> float:
        """The objective at `coef`; `outputs` is ``features @ coef`` if it is known."""
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
    """Result of Newton's method.

    Attributes
    ----------
    coef : ndarray, shape (n_units,)
    n_iter : int
    converged : bool
    """

    coef: np.ndarray
    n_iter: int
    converged: bool


@np.errstate(over="ignore", invalid="ignore")  # checked below
def minimise(objective: Objective, start: np.ndarray, max_iter: int, tol: float) -> Minimum:
    """Minimise by Newton's method with an Armijo line search.

    Parameters
    ----------
    objective : Objective
    start : ndarray, shape (n_units,)
    max_iter : int
    tol : float
        Stops after the first step whose predicted decrease is at most this share of the objective.

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
    """The longest of the step lengths 1, 1/2, 1/4, … that satisfies the Armijo condition."""
    rounding = 8 * np.finfo(float).eps * abs(value)
    length = 1.0
    for _ in range(MOST_HALVINGS):
        reached = objective.value(coef + length * step, outputs + length * towards)
        if reached <= value + SUFFICIENT * length * slope + rounding:
            break
        length /= 2
    return length


@np.errstate(over="ignore", invalid="ignore")  # minimise checks the start
def ridge_start(gram: np.ndarray, cross: np.ndarray, C: float) -> np.ndarray:
    """Ridge solution (I + C F'F)^-1 C F'T, a starting point of :func:`minimise` for all outputs at once.

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
    """Solve with the lower triangle of a matrix that is at least the identity.

    If C and the kernel values are so large that the identity is lost to rounding, an amount of the size of
    the rounding error is added to the diagonal. This is accurate enough for a step, because the minimum is
    where the gradient vanishes, whatever matrix gave the steps.
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
    """scale * F' diag(weights) F over some rows of F, computed block by block.

    Returns
    -------
    ndarray, shape (n_units, n_units)
        In Fortran order; the lower triangle holds the matrix.
    """
    rows = np.arange(len(features)) if rows is None else rows
    n_units = features.shape[1]
    total = np.zeros((n_units, n_units), order="F")
    blocks = row_blocks(rows, n_units)
    buffer = np.empty((blocks[0].stop if blocks else 0, n_units))
    for block in blocks:
        some = np.take(features, rows[block], axis=0, out=buffer[: block.stop - block.start], mode="clip")
        if root_weights is not None:
            some *= root_weights[block, None]
        total = dsyrk(scale, some.T, beta=1.0, c=total, lower=1, overwrite_c=1)
    return total
