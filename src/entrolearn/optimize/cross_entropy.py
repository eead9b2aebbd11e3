"""The cross-entropy method for optimisation, Algorithm 2.1, and its fully adaptive variant."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel

from entrolearn.optimize.evaluation import Evaluation
from entrolearn.optimize.families import Family

__all__ = ["CrossEntropyIteration", "CrossEntropyResult", "cross_entropy_method"]

# Reasons for a search to end that count as success.
CONVERGED = frozenset({"threshold", "degenerate"})
# Largest size of a sample of the fully adaptive variant, in units of its initial size.
MOST_GROWTH = 10
# Default relative tolerance for equal thresholds of continuous families.
CONTINUOUS_TOL = 1e-8


@dataclass(frozen=True)
class CrossEntropyIteration:
    """Record of one iteration, in the units of the objective.

    Attributes
    ----------
    threshold : float
        The worst value in the elite.
    best : float
        The best value of the sample.
    mean : float
        The mean over the sample without points of NaN or infinite value.
    n_samples : int
        Number of points drawn.
    n_elite : int
        Number of points at the threshold or better, including ties.
    improved : bool
        Whether the best value or the threshold is better than in the previous iteration. True in the first
        one.
    n_evaluations : int
        Number of evaluations since the start of the search.
    """

    threshold: float
    best: float
    mean: float
    n_samples: int
    n_elite: int
    improved: bool
    n_evaluations: int


@dataclass(frozen=True, eq=False)
class CrossEntropyResult:
    """Result of a search.

    Attributes
    ----------
    x : ndarray, shape (n_variables,)
        The best point of all samples; the first one on a tie.
    fun : float
        Value of `x`.
    distribution : Family
        The last distribution.
    history : list of CrossEntropyIteration
    reason : str
        Why the search ended:

        - "threshold": the elite's threshold was the same in the last ``n_iter_no_change`` updates,
        - "degenerate": all samples have become the same point,
        - "unreliable": in ``n_iter_no_change`` consecutive iterations adaptive samples of the largest size
          brought no improvement, although the threshold still changed,
        - "iterations": ``max_iter`` is reached.
    n_evaluations : int
        Number of points at which the objective was evaluated.
    """

    x: np.ndarray
    fun: float
    distribution: Family
    history: list[CrossEntropyIteration] = field(repr=False)
    reason: str
    n_evaluations: int

    @property
    def success(self) -> bool:
        """Whether the search converged: "threshold" or "degenerate"."""
        return self.reason in CONVERGED

    @property
    def n_iter(self) -> int:
        """Number of updates of the distribution."""
        return len(self.history)

    @property
    def n_samples(self) -> int:
        """Number of points drawn; it exceeds `n_evaluations` by the number of cached values."""
        return sum(iteration.n_samples for iteration in self.history)


def cross_entropy_method(
    objective: Callable,
    distribution: Family,
    *,
    n_samples: int,
    elite_fraction: float = 0.1,
    smoothing: float = 0.7,
    n_iter_no_change: int = 5,
    tol: float | None = None,
    max_iter: int = 1000,
    adaptive: bool = False,
    vectorized: bool = False,
    n_jobs: int | None = None,
    batch_size: int = 64,
    random_state=None,
) -> CrossEntropyResult:
    r"""Minimise a function by sampling from a distribution that is fitted to its best samples.

    Each iteration draws N points, takes the value of rank :math:`\lceil \rho N \rceil` as threshold
    :math:`\gamma_t`, fits the family by maximum likelihood to the elite, that is, all points with a value of
    :math:`\gamma_t` or better, and moves the distribution towards that fit. Only values of the function are
    used.

    Parameters
    ----------
    objective : callable
        Function of a point, an array of shape (n_variables,), that returns its value. Points whose value is
        NaN or infinity, such as infeasible ones, are never in the elite. Points are read-only. Each distinct
        point of a discrete family is evaluated once.
    distribution : Family
        The initial distribution: :class:`~entrolearn.optimize.Bernoulli` (points are masks),
        :class:`~entrolearn.optimize.Gaussian` or :class:`~entrolearn.optimize.MultivariateGaussian` (real
        numbers).
    n_samples : int
        N, the number of points in a sample. Usual values are 3 or more per parameter of the distribution.
    elite_fraction : float, default=0.1
        :math:`\rho`, between 0 and 1. Usual values are 0.01 to 0.1.
    smoothing : float, default=0.7
        :math:`\beta` of eq. (5), above 0 and at most 1 (no smoothing). Usual values are 0.5 to 0.9.
    n_iter_no_change : int, default=5
        d: the search ends if :math:`\gamma_t = \gamma_{t-1} = \ldots = \gamma_{t-d}`.
    tol : float, optional
        Relative difference up to which thresholds count as equal. Default: 0 for discrete families, 1e-8 for
        continuous ones, whose samples never repeat.
    max_iter : int, default=1000
        Maximum number of updates.
    adaptive : bool, default=False
        The fully adaptive variant (FACE): the elite's size is fixed at :math:`\lceil \rho N \rceil`, and the
        sample grows by N points at a time, to 10 N at most, until its best value or its threshold is better
        than in the iteration before.
    vectorized : bool, default=False
        Whether the objective takes points of shape (k, n_variables), k at most `batch_size`, and returns
        values of shape (k,). It may return a pair (values, points) instead, with repaired copies of the
        points, which are then used in the update and the result.
    n_jobs : int, optional
        Number of processes that evaluate batches; None means 1 unless in a :obj:`joblib.parallel_config`
        context, -1 all processors. The result does not depend on it.
    batch_size : int, default=64
        Number of points in a batch. The batches do not depend on `n_jobs` and each is one call of a
        vectorized objective, so an objective that starts each solution from the last one returns the same
        values.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the samples, which are drawn in the main process.

    Returns
    -------
    CrossEntropyResult
        The best point, its value, the last distribution, the history and the reason of the end.

    Raises
    ------
    ValueError
        If an argument is out of range, the objective does not return one value per point, or no point of a
        sample has a value.

    Notes
    -----
    With the defaults this is Algorithm 2.1 of Mannor, Peleg and Rubinstein, whose settings are
    ``elite_fraction=0.03, smoothing=0.7, n_iter_no_change=3`` and five points per variable. If the value of
    rank :math:`\lceil \rho N \rceil` is not finite, the worst finite value is used.

    The adaptive variant compares a sample with that of the previous iteration, not with the best so far. It
    ends as "unreliable" if samples of the largest size did not improve in `n_iter_no_change` consecutive
    iterations.

    References
    ----------
    Mannor, Peleg and Rubinstein, The cross entropy method for classification, Algorithm 2.1.

    de Boer, Kroese, Mannor and Rubinstein (2005), A tutorial on the cross-entropy method, Annals of
    Operations Research 134, 19-67; section 5.2 is the fully adaptive variant.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.optimize import Bernoulli, cross_entropy_method
    >>> worth, weight = np.array([11, 13, 7, 8, 4]), np.array([5, 6, 4, 4, 3])
    >>> def packed(chosen):
    ...     return -worth @ chosen if weight @ chosen <= 13 else np.inf
    >>> found = cross_entropy_method(packed, Bernoulli(np.full(5, 0.5)), n_samples=100, random_state=0)
    >>> found.x.astype(int), found.fun, found.reason
    (array([1, 0, 1, 1, 0]), -26.0, 'threshold')
    """
    _check_distribution(distribution)
    _check_sample(n_samples, elite_fraction, distribution.min_elite)
    _check_search(objective, smoothing, n_iter_no_change, tol, max_iter, batch_size)
    if tol is None:
        tol = 0.0 if distribution.discrete else CONTINUOUS_TOL
    largest = MOST_GROWTH * n_samples if adaptive else n_samples
    rng = random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)
    with Parallel(n_jobs=n_jobs) as parallel:
        evaluation = Evaluation(
            objective, distribution, parallel, vectorized=vectorized, batch_size=batch_size
        )
        n_elite = elite_size(n_samples, elite_fraction)
        sampler = _Sampler(evaluation, rng, n_samples, largest, n_elite)
        stopping = _Stopping(n_iter_no_change, tol, largest if adaptive else math.inf, max_iter)
        return _search(distribution, sampler, smoothing, stopping)


def _search(
    distribution: Family, sampler: "_Sampler", smoothing: float, stopping: "_Stopping"
) -> CrossEntropyResult:
    """Algorithm 2.1."""
    best: Any = None
    history: list[CrossEntropyIteration] = []
    reason = None
    while reason is None:
        step = sampler.step(distribution, history[-1] if history else None)
        distribution = distribution.smooth(step.fit, smoothing)
        history.append(step.iteration)
        best = step if best is None or step.iteration.best < best.iteration.best else best
        reason = stopping.reason(history, distribution)
    return CrossEntropyResult(
        x=best.best,
        fun=best.iteration.best,
        distribution=distribution,
        history=history,
        reason=reason,
        n_evaluations=history[-1].n_evaluations,
    )


def elite_size(n_samples: int, elite_fraction: float) -> int:
    """Rank of the threshold: ceil(rho N), without the effect of rounding errors of the product."""
    return math.ceil(round(elite_fraction * n_samples, 9))


@dataclass(frozen=True, eq=False)
class _Sample:
    """Costs of all points of a sample, infinite if undefined, and the points that may be in the elite."""

    costs: np.ndarray
    points: np.ndarray
    costs_of_points: np.ndarray
    n_elite: int

    @cached_property
    def best(self) -> float:
        return float(self.costs.min())

    @cached_property
    def threshold(self) -> float:
        """The cost of rank n_elite; the largest finite cost if that is infinite."""
        of_rank = _cost_of_rank(self.costs, self.n_elite)
        finite = self.costs[self.costs < math.inf]
        return float(of_rank if of_rank < math.inf or not finite.size else finite.max())

    @cached_property
    def elite(self) -> np.ndarray:
        return _cheap(self.points, self.costs_of_points, self.threshold)[0]

    def __add__(self, other: "_Sample") -> "_Sample":
        names = ("costs", "points", "costs_of_points")
        joined = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return _Sample(**joined, n_elite=self.n_elite)


@dataclass(eq=False)
class _Blocks:
    """A sample drawn in blocks, of which only points that may be in the elite are kept."""

    n_elite: int
    costs: list[np.ndarray] = field(default_factory=list)
    kept: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    threshold: float = math.inf

    def add(self, points: np.ndarray, costs: np.ndarray) -> None:
        self.costs.append(costs)
        self.kept.append(_cheap(points, costs, self.threshold))
        if len(self.kept) > 1 and sum(len(known) for _, known in self.kept) > 2 * self.n_elite:
            self._drop()

    def _drop(self) -> None:
        """Drop points that cost more than the point at the rank of the threshold among those so far."""
        known = np.concatenate([costs for _, costs in self.kept])
        if len(known) < self.n_elite:
            return
        self.threshold = _cost_of_rank(known, self.n_elite)
        for i, (points, costs) in enumerate(self.kept):
            self.kept[i] = _cheap(points, costs, self.threshold)

    def joined(self) -> "_Sample":
        if len(self.kept) == 1:
            return _Sample(self.costs[0], *self.kept[0], self.n_elite)
        self._drop()
        points, costs = zip(*self.kept, strict=True)
        return _Sample(
            np.concatenate(self.costs), np.concatenate(points), np.concatenate(costs), self.n_elite
        )


@dataclass(frozen=True, eq=False)
class _Step:
    """Summary of a sample: the fit to its elite, its best point and the record of the iteration."""

    fit: Family
    best: np.ndarray
    iteration: CrossEntropyIteration


@dataclass(frozen=True)
class _Sampler:
    """Draws samples of a fixed size or, if they may grow, until they improve."""

    evaluation: Evaluation
    rng: np.random.Generator | np.random.RandomState
    size: int
    largest: int
    n_elite: int

    def step(self, distribution: Family, previous: CrossEntropyIteration | None) -> _Step:
        """A sample, grown until it improves if that is possible."""
        sample = self._part(distribution)
        while not _improved(sample, previous) and len(sample.costs) < self.largest:
            sample += self._part(distribution)
        if sample.best == math.inf:
            first = np.array2string(sample.points[0], threshold=8, max_line_width=10_000)
            raise ValueError(
                "no point of a sample has a value: the objective is NaN or inf at all "
                f"{len(sample.costs)} of them, the first being {first}"
            )
        best = sample.points[sample.costs_of_points.argmin()].copy()  # a view would keep all points in memory
        return _Step(distribution.fit(sample.elite), best, self._told(sample, previous))

    def _part(self, distribution: Family) -> _Sample:
        """A sample of `size` points, drawn and evaluated block by block."""
        blocks = _Blocks(self.n_elite)
        for n in self.evaluation.blocks(self.size, distribution.n_variables):
            values, points = self.evaluation(distribution.sample(n, self.rng))
            blocks.add(points, np.where(np.isnan(values), math.inf, values))
        return blocks.joined()

    def _told(self, sample: _Sample, previous: CrossEntropyIteration | None) -> CrossEntropyIteration:
        return CrossEntropyIteration(
            threshold=sample.threshold,
            best=sample.best,
            mean=float(sample.costs[sample.costs < math.inf].mean()),
            n_samples=len(sample.costs),
            n_elite=len(sample.elite),
            improved=_improved(sample, previous),
            n_evaluations=self.evaluation.n_evaluations,
        )


def _improved(sample: _Sample, previous: CrossEntropyIteration | None) -> bool:
    return previous is None or sample.best < previous.best or sample.threshold < previous.threshold


def _cost_of_rank(costs: np.ndarray, rank: int) -> float:
    return np.partition(costs, rank - 1)[rank - 1]


def _cheap(points: np.ndarray, costs: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Points that cost at most `threshold`, and their costs."""
    cheap = costs <= threshold
    return (points, costs) if cheap.all() else (points[cheap], costs[cheap])


@dataclass(frozen=True)
class _Stopping:
    """Stopping criteria of a search."""

    n_iter_no_change: int
    tol: float
    largest: float  # largest size of an adaptive sample; infinite if samples do not grow
    max_iter: int

    def reason(self, history: list[CrossEntropyIteration], distribution: Family) -> str | None:
        """A reason of :class:`CrossEntropyResult`, convergence first; None to continue."""
        if self._unchanged([each.threshold for each in history[-self.n_iter_no_change - 1 :]]):
            return "threshold"
        if distribution.degenerate:
            return "degenerate"
        if self._exhausted(history[-self.n_iter_no_change :]):
            return "unreliable"
        return "iterations" if len(history) >= self.max_iter else None

    def _unchanged(self, thresholds: list[float]) -> bool:
        """Whether these are n_iter_no_change + 1 equal thresholds (step 5 of the algorithm)."""
        low, high = min(thresholds), max(thresholds)
        near = low == high or high - low <= self.tol * max(-low, high)
        return near and len(thresholds) > self.n_iter_no_change

    def _exhausted(self, last: list[CrossEntropyIteration]) -> bool:
        """Whether the samples of these iterations had the largest size and none improved."""
        in_vain = [not each.improved and each.n_samples >= self.largest for each in last]
        return len(in_vain) == self.n_iter_no_change and all(in_vain)


def _check_distribution(distribution) -> None:
    if isinstance(distribution, type) or not isinstance(distribution, Family):
        raise ValueError(
            f"distribution is {distribution!r}; it must be one of Bernoulli, Gaussian, MultivariateGaussian, "
            "or have the members of entrolearn.optimize.Family"
        )


def _check_sample(n_samples, elite_fraction, min_elite: int) -> None:
    _require(_is_count(n_samples, 2), "n_samples", n_samples, "an integer of at least 2")
    _require(
        _is_real(elite_fraction) and 0 < elite_fraction < 1,
        "elite_fraction",
        elite_fraction,
        "a number above 0 and below 1",
    )
    n_elite = elite_size(n_samples, elite_fraction)
    if not min_elite <= n_elite < n_samples:
        raise ValueError(
            f"n_samples={n_samples} with elite_fraction={elite_fraction} makes an elite of {n_elite}; "
            f"it must have at least {min_elite} point(s) and fewer than the sample"
        )


def _check_search(objective, smoothing, n_iter_no_change, tol, max_iter, batch_size) -> None:
    _require(callable(objective), "objective", objective, "a function")
    _require(
        _is_real(smoothing) and 0 < smoothing <= 1, "smoothing", smoothing, "a number above 0 and at most 1"
    )
    _require(_is_count(n_iter_no_change, 1), "n_iter_no_change", n_iter_no_change, "an integer of at least 1")
    _require(tol is None or (_is_real(tol) and tol >= 0), "tol", tol, "None or a number that is not negative")
    _require(_is_count(max_iter, 1), "max_iter", max_iter, "an integer of at least 1")
    _require(_is_count(batch_size, 1), "batch_size", batch_size, "an integer of at least 1")


def _require(holds: bool, name: str, value, accepted: str) -> None:
    if not holds:
        raise ValueError(f"{name} is {value!r}; it must be {accepted}")


def _is_count(value, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _is_real(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
