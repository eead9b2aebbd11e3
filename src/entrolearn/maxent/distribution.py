"""The distribution of greatest entropy that has given moments."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from entrolearn.maxent.dual import Dual, InfeasibleMomentsError, minimize_dual
from entrolearn.maxent.quadrature import IntervalDual, first_panels, halves

__all__ = ["MaximumEntropyDistribution"]

#: Relative difference of a constant function and its moment that is one of roundings.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class MaximumEntropyDistribution:
    r"""The distribution of greatest entropy among those with given moments.

    Of all distributions with :math:`E[g_i(Y)] = a_i` the one of greatest entropy, that is of greatest
    uncertainty, is

    .. math:: p(y) = \exp\left(\sum_i \lambda_i g_i(y) - \ln Z(\lambda)\right)

    whose multipliers minimise the convex dual :math:`\ln Z(\lambda) - \sum_i \lambda_i a_i`. It is made by
    :meth:`on_points` or :meth:`on_interval`.

    Attributes
    ----------
    functions : tuple of callable
        The g.
    moments : ndarray of shape (n_functions,)
        The a.
    multipliers : ndarray of shape (n_functions,)
        The λ. Where functions are linearly dependent they are not unique, and the distribution is.
    log_partition : float
        ln Z. (The essay's :math:`\lambda_0` is 1 - ln Z.)
    entropy : float
        In nats; differential on an interval.
    points : ndarray of shape (n_points,) or (n_points, d)
        The support, or the nodes of the quadrature.
    probabilities : ndarray of shape (n_points,)
        Of the points; on an interval the density times the weights of the quadrature.
    interval : tuple of float, or None
        Lower and upper end of a continuous support.

    References
    ----------
    .. [1] E. T. Jaynes (1957). Information theory and statistical mechanics. Physical Review 106, 620-630.
    .. [2] Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning,
       section "Maximum Entropy Distribution".

    Examples
    --------
    A die whose mean is 4.5:

    >>> from entrolearn import MaximumEntropyDistribution
    >>> die = MaximumEntropyDistribution.on_points([1, 2, 3, 4, 5, 6], [lambda y: y], [4.5])
    >>> die.probabilities.round(4).tolist()
    [0.0544, 0.0788, 0.1142, 0.1654, 0.2398, 0.3475]

    Known mean and variance on a wide interval make a Gaussian:

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
        """On a discrete support.

        Parameters
        ----------
        points : array-like of shape (n_points,) or (n_points, d)
            The values that can occur.
        functions : sequence of callable
            Each takes the points and returns its value at each, of shape (n_points,).
        moments : array-like of shape (n_functions,)
            The expected value of each function.

        Returns
        -------
        MaximumEntropyDistribution

        Raises
        ------
        InfeasibleMomentsError
            A ValueError: if no distribution on the points has the moments.
        ValueError
            If an argument has the wrong shape or is not finite.

        Notes
        -----
        Moments that only a part of the support can have, as a die's mean of almost 6, make the multipliers
        large, and the rest of the support very unlikely.
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
        """On an interval, by quadrature.

        Parameters
        ----------
        lower, upper : float
            Its ends, finite.
        functions : sequence of callable
            Each takes an array of points of shape (n,) and returns its value at each.
        moments : array-like of shape (n_functions,)
            The expected value of each function.
        breaks : array-like of shape (n_breaks,), optional
            Points inside the interval where a function jumps or has a kink, or next to what is narrow in it.

        Returns
        -------
        MaximumEntropyDistribution

        Raises
        ------
        InfeasibleMomentsError
            A ValueError: if no density on the interval has the moments, or none that the quadrature resolves.
        ValueError
            If an argument has the wrong shape or is not finite.

        Notes
        -----
        Gauss–Legendre rules on panels that are halved where the density needs it, for each density that the
        search comes to: however narrow a peak is, and up to a singular end. A density may grow without bound
        towards an end at zero, beside which doubles are as near as one likes; beside another number they are
        not, and a density that has much of its mass there is refused.
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
            On an interval it is 0 outside; on points it is not checked that they belong to the support.

        Returns
        -------
        ndarray of shape (n,), or a number
        """
        y = np.asarray(y, dtype=np.float64)
        rows = np.atleast_1d(y)
        density = np.exp(_evaluated(self.functions, rows) @ self.multipliers - self.log_partition)
        if self.interval is not None:
            lower, upper = self.interval
            density = np.where((rows >= lower) & (rows <= upper), density, 0.0)
        return density if y.ndim else density[0]

    def expectation(self, function: Callable) -> float:
        """Mean of a function of the variable.

        Parameters
        ----------
        function : callable
            As those of the constraints.

        Returns
        -------
        float
        """
        return float(self.probabilities @ _evaluated((function,), self.points)[:, 0])


class _Problem:
    """Functions and their moments, checked, in units of the functions' largest values at some points.

    Attributes
    ----------
    functions : tuple of callable
    moments : ndarray, shape (n_functions,)
    scale : ndarray, shape (n_functions,)
        The units.
    met : ndarray of bool, shape (n_functions,)
        Which constraints any distribution meets: those of constants.
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
        """The size of the moments in these units."""
        return np.abs(self.moments) / self.scale

    def centred(self, points: np.ndarray) -> np.ndarray:
        """The functions less their moments, shape (n_points, n_functions)."""
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
            # With the moments as they are met: multipliers may be large.
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
    """Shape (n_points, n_functions)."""
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
    """Ends and breaks in ascending order."""
    breaks = np.asarray(breaks, dtype=np.float64)
    if not -math.inf < lower < upper < math.inf:
        raise ValueError(f"the interval is from {lower!r} to {upper!r}; it must be finite, lower < upper")
    if breaks.ndim != 1 or not ((breaks > lower) & (breaks < upper)).all():
        raise ValueError(f"breaks are {breaks.tolist()}; they must lie between {lower!r} and {upper!r}")
    return np.array([lower, *np.unique(breaks), upper], dtype=np.float64)
