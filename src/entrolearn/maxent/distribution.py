"""The maximum entropy distribution with given moments."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from entrolearn.maxent.dual import Dual, InfeasibleMomentsError, minimize_dual
from entrolearn.maxent.quadrature import IntervalDual, first_panels, halves

__all__ = ["MaximumEntropyDistribution"]

#: Relative difference of a constant function and its moment that may be rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class MaximumEntropyDistribution:
    r"""The maximum entropy distribution with given moments.

    Of all distributions with :math:`E[g_i(Y)] = a_i`, the one with maximum entropy is

    .. math:: p(y) = \exp\left(\sum_i \lambda_i g_i(y) - \ln Z(\lambda)\right)

    Its multipliers minimise the convex dual :math:`\ln Z(\lambda) - \sum_i \lambda_i a_i`. Use
    :meth:`on_points` or :meth:`on_interval` to compute it.

    Attributes
    ----------
    functions : tuple of callable
        The functions g.
    moments : ndarray of shape (n_functions,)
        The moments a.
    multipliers : ndarray of shape (n_functions,)
        The multipliers λ. If functions are linearly dependent, λ is not unique, but the distribution is.
    log_partition : float
        ln Z. (:math:`\lambda_0` in [2]_ is 1 - ln Z.)
    entropy : float
        Entropy in nats; on an interval the differential entropy.
    points : ndarray of shape (n_points,) or (n_points, d)
        The support, or the nodes of the quadrature.
    probabilities : ndarray of shape (n_points,)
        Probabilities of the points; on an interval the density times the quadrature weights.
    interval : tuple of float, or None
        Lower and upper bound of a continuous support.

    References
    ----------
    .. [1] E. T. Jaynes (1957). Information theory and statistical mechanics. Physical Review 106, 620-630.
    .. [2] Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning,
       section "Maximum Entropy Distribution".

    Examples
    --------
    A die whose mean is 4.5:

    >>> from entrolearn.maxent import MaximumEntropyDistribution
    >>> die = MaximumEntropyDistribution.on_points([1, 2, 3, 4, 5, 6], [lambda y: y], [4.5])
    >>> die.probabilities.round(4).tolist()
    [0.0544, 0.0788, 0.1142, 0.1654, 0.2398, 0.3475]

    With given mean and variance on a wide interval, it is a Gaussian:

    >>> bell = MaximumEntropyDistribution.on_interval(-20, 20, [lambda y: y, lambda y: y**2], [0.0, 1.0])
    >>> round(float(bell.density(0.0)), 6), round(bell.expectation(lambda y: y**4), 6)
    (0.398942, 3.0)
    """

    functions: tuple[Callable, ...] = field(repr=False)
    moments: np.ndarray
    multipliers: np.ndarray
    log_partition: float
    entropy: float
    points: np.ndarray = field(repr=False)
    probabilities: np.ndarray = field(repr=False)
    interval: tuple[float, float] | None = None

    @classmethod
    def on_points(cls, points, functions: Sequence[Callable], moments) -> "MaximumEntropyDistribution":
        """Compute the distribution on a discrete support.

        Parameters
        ----------
        points : array-like of shape (n_points,) or (n_points, d)
            The support.
        functions : sequence of callable
            Each takes the points and returns its values, of shape (n_points,).
        moments : array-like of shape (n_functions,)
            The expected value of each function.

        Returns
        -------
        MaximumEntropyDistribution

        Raises
        ------
        InfeasibleMomentsError
            If no distribution on the points has the moments. It is a ValueError.
        ValueError
            If an argument has the wrong shape or is not finite.

        Notes
        -----
        If only a part of the support is compatible with the moments, such as a mean of almost 6 for a die,
        the multipliers are large and the rest of the support has very small probabilities.
        """
        points = np.array(points, dtype=np.float64)
        if points.ndim not in (1, 2) or len(points) == 0 or not np.isfinite(points).all():
            raise ValueError(
                f"points have shape {points.shape}; they must be finite, (n,) or (n, d) with n > 0"
            )
        problem = _Problem(functions, moments, points)
        try:
            dual, theta = minimize_dual(Dual(problem.centred(points), np.zeros(len(points))))
        except InfeasibleMomentsError as error:
            raise problem.refused(points, error) from None
        return cls(**problem.solution(dual, theta), points=points)

    @classmethod
    def on_interval(
        cls, lower: float, upper: float, functions: Sequence[Callable], moments, *, breaks=()
    ) -> "MaximumEntropyDistribution":
        """Compute the distribution on an interval, by quadrature.

        Parameters
        ----------
        lower, upper : float
            Finite bounds of the interval.
        functions : sequence of callable
            Each takes an array of points of shape (n,) and returns its values.
        moments : array-like of shape (n_functions,)
            The expected value of each function.
        breaks : array-like of shape (n_breaks,), optional
            Points inside the interval where a function has a jump, a kink or a narrow feature.

        Returns
        -------
        MaximumEntropyDistribution

        Raises
        ------
        InfeasibleMomentsError
            If no density on the interval, or none that the quadrature resolves, has the moments. It is a
            ValueError.
        ValueError
            If an argument has the wrong shape or is not finite.

        Notes
        -----
        The quadrature uses Gauss–Legendre rules on panels, which are halved adaptively for the density of
        each iterate. It resolves narrow peaks and a singularity at a bound. The density may diverge at a
        bound of 0, because floating-point numbers are arbitrarily dense there. They are not near other
        numbers; a density with much of its mass close to such a bound raises an error.
        """
        panels = first_panels(_borders(lower, upper, breaks))
        problem = _Problem(functions, moments, halves(panels))
        try:
            dual, theta = minimize_dual(IntervalDual.on_panels(problem.centred, problem.terms, panels))
            dual.check_resolved(theta)
        except InfeasibleMomentsError as error:
            raise problem.refused(halves(panels), error) from None
        return cls(**problem.solution(dual, theta), points=dual.points, interval=(float(lower), float(upper)))

    def density(self, y) -> np.ndarray:
        """The density on an interval, or the probability of points of a discrete support.

        Parameters
        ----------
        y : array-like of shape (n,) or (n, d), or a number
            The density is 0 outside an interval. Membership in a discrete support is not checked.

        Returns
        -------
        ndarray of shape (n,), or a number
        """
        y = np.asarray(y, dtype=np.float64)
        rows = np.atleast_1d(y)
        inside = np.ones(len(rows), dtype=bool)
        if self.interval is not None:
            lower, upper = self.interval
            inside = ~((rows < lower) | (rows > upper))  # functions of NaN raise
        density = np.zeros(len(rows))
        if inside.any():
            values = _evaluated(self.functions, rows[inside])
            density[inside] = np.exp(values @ self.multipliers - self.log_partition)
        return density if y.ndim else density[0]

    def expectation(self, function: Callable) -> float:
        """Mean of a function of the variable.

        Parameters
        ----------
        function : callable
            A function like those of the constraints.

        Returns
        -------
        float
        """
        return float(self.probabilities @ _evaluated((function,), self.points)[:, 0])


class _Problem:
    """Validated functions and moments, scaled by the largest values of the functions at some points.

    Attributes
    ----------
    functions : tuple of callable
    moments : ndarray, shape (n_functions,)
    scale : ndarray, shape (n_functions,)
        Scale of each function.
    met : ndarray of bool, shape (n_functions,)
        Mask of constraints that all distributions satisfy, because the function is constant.
    """

    def __init__(self, functions: Sequence[Callable], moments, points: np.ndarray):
        self.functions = tuple(functions)
        self.moments = np.array(moments, dtype=np.float64)
        if self.moments.shape != (len(self.functions),) or not np.isfinite(self.moments).all():
            raise ValueError(
                f"moments are {self.moments.tolist()}; there must be a finite one for each of the "
                f"{len(self.functions)} functions"
            )
        values = _evaluated(self.functions, points)
        largest = np.abs(values - self.moments).max(axis=0)
        self.met = largest <= ROUNDING * np.abs(values).max(axis=0)
        self.scale = np.where(self.met, 1.0, largest)

    @property
    def terms(self) -> np.ndarray:
        """Absolute values of the scaled moments."""
        return np.abs(self.moments) / self.scale

    def centred(self, points: np.ndarray) -> np.ndarray:
        """The scaled functions minus their moments, shape (n_points, n_functions)."""
        centred = (_evaluated(self.functions, points) - self.moments) / self.scale
        centred[:, self.met] = 0.0
        return centred

    def solution(self, dual: Dual, theta: np.ndarray) -> dict:
        log_partition, probabilities = dual(theta)
        multipliers = theta / self.scale
        return {
            "functions": self.functions,
            "moments": self.moments,
            "multipliers": multipliers,
            "log_partition": log_partition + float(multipliers @ self.moments),
            # Use the moments as they are attained, because multipliers may be large.
            "entropy": log_partition - float(theta @ dual.gradient(probabilities)),
            "probabilities": probabilities,
        }

    def refused(self, points: np.ndarray, reason) -> InfeasibleMomentsError:
        values = _evaluated(self.functions, points)
        found = "; ".join(
            f"{moment:g} of a function from {lowest:g} to {highest:g}"
            for moment, lowest, highest in zip(
                self.moments, values.min(axis=0), values.max(axis=0), strict=True
            )
        )
        return InfeasibleMomentsError(f"{reason}: {found}")


def _evaluated(functions: tuple[Callable, ...], points: np.ndarray) -> np.ndarray:
    """Evaluate the functions, shape (n_points, n_functions)."""
    values = np.empty((len(points), len(functions)))
    for i, function in enumerate(functions):
        of_points = np.asarray(function(points), dtype=np.float64)
        if of_points.shape != (len(points),) or not np.isfinite(of_points).all():
            raise ValueError(
                f"function {i} gives shape {of_points.shape} for {len(points)} points; "
                f"it must give a finite number for each"
            )
        values[:, i] = of_points
    return values


def _borders(lower: float, upper: float, breaks) -> np.ndarray:
    """Bounds and breaks in ascending order."""
    breaks = np.asarray(breaks, dtype=np.float64)
    if not -math.inf < lower < upper < math.inf:
        raise ValueError(f"the interval is from {lower!r} to {upper!r}; it must be finite, lower < upper")
    if breaks.ndim != 1 or not ((breaks > lower) & (breaks < upper)).all():
        raise ValueError(f"breaks are {breaks.tolist()}; they must lie between {lower!r} and {upper!r}")
    return np.array([lower, *np.unique(breaks), upper], dtype=np.float64)
