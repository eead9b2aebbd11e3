"""The convex dual of entropy maximisation under moment constraints.

Of all densities on weighted points with ``E[G] = 0``, the one with maximum entropy is ``exp(θ'G) / Z(θ)``.
Its θ minimises ``ln Z``, whose gradient is ``E[G]`` and whose Hessian is the covariance of G. The points are
a discrete support, with unit weights, or the nodes of a quadrature.
"""

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.linalg import norm, svd
from scipy.special import logsumexp

__all__ = ["Dual", "InfeasibleMomentsError", "minimize_dual"]

#: Maximum number of Newton steps.
MAX_STEPS = 200

#: Range of the damping, which is added to the variances of the functions (at most 1) if a step is too long.
LEAST_DAMPING, MOST_DAMPING = 1e-40, 1e4

#: Maximum number of halvings of an interval's panels in a step; a step that needs more is too long.
MOST_HALVINGS = 50

#: Tolerance of the moments, in standard deviations of their functions; and the largest accepted error if
#: rounding ends the search earlier.
TOLERANCE, LEAST_TOLERANCE = 1e-11, 1e-4

#: Standardised directions in which the functions vary less than this are linearly dependent.
RANK_TOLERANCE = 1e-10

#: Smallest distance between the moments and a plane that separates them from all points, in units of the
#: largest distances of the functions from the moments; smaller distances may be rounding errors.
MARGIN = 1e-9


class InfeasibleMomentsError(ValueError):
    """No distribution on the support has the moments."""


@dataclass(frozen=True, eq=False)
class Dual:
    """The dual function of a problem on weighted points.

    Attributes
    ----------
    centred : ndarray, shape (n_points, n_functions)
        The functions minus their moments at each point, scaled to a maximum of about one.
    log_weights : ndarray, shape (n_points,)
    """

    centred: np.ndarray
    log_weights: np.ndarray

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """ln Z, and the probability of each point."""
        log_density = self.log_weights + self.centred @ theta
        log_partition = float(logsumexp(log_density))
        return log_partition, np.exp(log_density - log_partition)

    def gradient(self, probability: np.ndarray) -> np.ndarray:
        return probability @ self.centred

    def separates(self, direction: np.ndarray) -> bool:
        """Whether all points lie strictly on one side of a plane through 0, so that no mean of G is 0."""
        return bool((self.centred @ direction).max() < -MARGIN * norm(direction))

    def resolved(self, theta: np.ndarray, most_halvings: float = math.inf) -> Any:
        """The dual at points that resolve the density for theta; here always the same points."""
        return self

    def newton_step(self, probability: np.ndarray, damping: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """The Newton step, and the part of the gradient in directions where the functions are constant.

        It uses the singular values of the standardised functions instead of their covariance, whose condition
        number is the square. `damping` is added to all variances.
        """
        gradient = self.gradient(probability)
        deviation = np.sqrt(probability)[:, np.newaxis] * (self.centred - gradient)
        if damping:
            deviation = np.vstack([deviation, np.sqrt(damping) * np.eye(len(gradient))])
        deviations = np.linalg.norm(deviation, axis=0)
        scale = np.where(deviations > 0, deviations, 1.0)
        _, values, directions = svd(deviation / scale, full_matrices=False)
        varies = values > RANK_TOLERANCE
        along = directions @ (gradient / scale)
        step = directions[varies].T @ (along[varies] / values[varies] ** 2)
        constant = directions[~varies].T @ along[~varies]
        return -step / scale, constant / scale


SomeDual = TypeVar("SomeDual", bound=Dual)


def minimize_dual(dual: SomeDual) -> tuple[SomeDual, np.ndarray]:
    """Minimise by damped Newton steps, starting from the uniform distribution.

    Parameters
    ----------
    dual : Dual

    Returns
    -------
    Dual
        The dual function at points that resolve the solution.
    ndarray, shape (n_functions,)
        The multipliers.

    Raises
    ------
    InfeasibleMomentsError
        If a plane separates all points from the moments, or no minimum was found.

    Notes
    -----
    If only distributions without some points have the moments, the multipliers grow until the probability of
    these points is negligible.
    """
    theta = np.zeros(dual.centred.shape[1])
    dual = dual.resolved(theta)
    value, probability = dual(theta)
    for _ in range(MAX_STEPS):
        step, constant = dual.newton_step(probability)
        if dual.separates(theta) or dual.separates(-constant):
            raise InfeasibleMomentsError("no distribution on the support has these moments")
        distance = _distance(dual, probability, step)
        moved = _moved(dual, theta, value, probability) if distance > TOLERANCE else None
        if moved is None:
            break
        dual, theta, value, probability = moved
    met = np.abs(dual.gradient(probability)).max(initial=0.0) <= LEAST_TOLERANCE
    if distance > LEAST_TOLERANCE or not met:
        raise InfeasibleMomentsError("no distribution with these moments was found")
    return dual, theta


def _distance(dual: Dual, probability: np.ndarray, step: np.ndarray) -> float:
    return math.sqrt(max(0.0, float(-dual.gradient(probability) @ step)))


def _moved(
    dual: SomeDual, theta: np.ndarray, value: float, probability: np.ndarray
) -> tuple[SomeDual, np.ndarray, float, np.ndarray] | None:
    """The result of the least damped step that satisfies the Armijo condition; None if there is none."""
    gradient, damping = dual.gradient(probability), 0.0
    while damping <= MOST_DAMPING:
        step, _ = dual.newton_step(probability, damping)
        there, slope = theta + step, float(-gradient @ step)
        if _descends(dual, there, value, slope):
            finer = dual.resolved(there, MOST_HALVINGS)
            if finer is not None and (finer is dual or _descends(finer, there, finer(theta)[0], slope)):
                return finer, there, *finer(there)
        # A damping below the curvature along the step has no effect.
        largest = float(np.abs(step).max())
        damping = 10 * max(damping, slope / largest / largest, LEAST_DAMPING)
    return None


def _descends(dual: Dual, there: np.ndarray, value: float, slope: float) -> bool:
    """Whether the dual function satisfies the Armijo condition at `there`, up to rounding."""
    lower, probability = dual(there)
    terms = float(probability @ (np.abs(dual.centred) @ np.abs(there)))
    return lower <= value - 1e-4 * slope + 1e-14 * max(1.0, abs(value), terms)
