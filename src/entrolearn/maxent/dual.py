"""The convex dual of entropy maximisation under moment constraints.

Of all densities on weighted points with ``E[G] = 0`` the one of greatest entropy is ``exp(θ'G) / Z(θ)``, and
its θ minimises ``ln Z``: the gradient is ``E[G]``, the Hessian the covariance of G. The points are a discrete
support, with weights of one, or the nodes of a quadrature.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd
from scipy.special import logsumexp

__all__ = ["Dual", "InfeasibleMomentsError", "minimize_dual"]

#: Newton steps at most.
MAX_STEPS = 200

#: The moments are met to this many standard deviations of their functions, or where roundings end the search
#: before, to the second number.
TOLERANCE, LEAST_TOLERANCE = 1e-11, 1e-4

#: Standardised directions in which the functions vary less than this repeat what others say.
RANK_TOLERANCE = 1e-10

#: How far from the moments a plane that has all points behind it must be, in units of the functions' greatest
#: distances to them: nearer ones are roundings.
PARTED = 1e-9


class InfeasibleMomentsError(ValueError):
    """No distribution on the support has the moments."""


@dataclass(frozen=True, eq=False)
class Dual:
    """The dual function of one problem.

    Attributes
    ----------
    centred : ndarray, shape (n_points, n_functions)
        The functions less their moments, at each point, scaled to a greatest size of about one.
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

    def parts(self, direction: np.ndarray) -> bool:
        """Whether all points lie on one side: then every mean of G does, and none is zero."""
        return bool((self.centred @ direction).max() < -PARTED * np.linalg.norm(direction))

    def distance(self, theta: np.ndarray) -> float:
        """How far the moments are from being met, in standard deviations of the functions at θ."""
        _, probability = self(theta)
        return _distance(self, probability, self.newton_step(probability)[0])

    def newton_step(self, probability: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The step, and the part of the gradient along which the functions do not vary.

        By the singular values of the standardised functions, not of their covariance, whose condition would
        be the square of theirs.
        """
        gradient = self.gradient(probability)
        deviation = np.sqrt(probability)[:, np.newaxis] * (self.centred - gradient)
        deviations = np.linalg.norm(deviation, axis=0)
        scale = np.where(deviations > 0, deviations, 1.0)
        _, values, directions = svd(deviation / scale, full_matrices=False)
        varies = values > RANK_TOLERANCE
        along = directions @ (gradient / scale)
        step = directions[varies].T @ (along[varies] / values[varies] ** 2)
        constant = directions[~varies].T @ along[~varies]
        return -step / scale, constant / scale


def minimize_dual(dual: Dual, theta: np.ndarray) -> np.ndarray:
    """Minimise by damped Newton steps.

    Parameters
    ----------
    dual : Dual
    theta : ndarray, shape (n_functions,)
        Where to start.

    Returns
    -------
    ndarray, shape (n_functions,)
        The multipliers.

    Raises
    ------
    InfeasibleMomentsError
        If a plane parts all points from the moments, or no minimum was found.

    Notes
    -----
    Where only distributions that leave points out have the moments, the multipliers grow until the points'
    probability is too small to matter.
    """
    value, probability = dual(theta)
    for _ in range(MAX_STEPS):
        step, constant = dual.newton_step(probability)
        if dual.parts(theta) or dual.parts(-constant):
            raise InfeasibleMomentsError("no distribution on the support has these moments")
        distance = _distance(dual, probability, step)
        moved = _damped(dual, theta, value, step, distance**2) if distance > TOLERANCE else None
        if moved is None:
            break
        theta, value, probability = moved
    met = np.abs(dual.gradient(probability)).max(initial=0.0) <= LEAST_TOLERANCE
    if distance > LEAST_TOLERANCE or not met:
        raise InfeasibleMomentsError("no distribution with these moments was found")
    return theta


def _distance(dual: Dual, probability: np.ndarray, step: np.ndarray) -> float:
    return math.sqrt(max(0.0, float(-dual.gradient(probability) @ step)))


def _damped(
    dual: Dual, theta: np.ndarray, value: float, step: np.ndarray, slope: float
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """The first of the halved steps that goes down as Armijo asks; None where roundings leave none."""
    rounding = 1e-14 * max(1.0, abs(value))
    for halvings in range(30):
        fraction = 0.5**halvings
        there = theta + fraction * step
        lower, probability = dual(there)
        if lower <= value - 1e-4 * fraction * slope + rounding:
            return there, lower, probability
    return None
