"""Effects with confidence intervals and p-values against a limit.

Over several data sets, Wilcoxon's signed-rank test is used, as Demšar recommends; on one data set, a t-test
over its folds or trials, with the variance corrected for the training rows that they share. Limits other than
zero define a region of practical equivalence.

References
----------
J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006) 1–30.
C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52 (2003) 239–281.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

# Level of each one-sided test; intervals cover 1 - 2 ALPHA. With ties, a test may reject an end of them.
ALPHA = 0.05
# The signed-rank test cannot be significant with fewer data sets.
LEAST_DATASETS = 5
# Differences are rounded to so many decimals, because equal decimals may differ as floats.
DIGITS = 9


@dataclass(frozen=True)
class SignedRank:
    """Differences on data sets, tested by Wilcoxon's signed-rank test; the effect is their pseudo-median.

    Differences may be infinite; the mean of two infinite ones of opposite sign counts as 0.
    """

    differences: Sequence[float]

    test = "Wilcoxon's signed-rank test"

    @property
    def n(self) -> int:
        return len(self.differences)

    @cached_property
    def _walsh(self) -> np.ndarray:
        values = np.asarray(self.differences)
        first, second = np.triu_indices(self.n)
        with np.errstate(invalid="ignore"):
            means = (values[first] + values[second]) / 2
        return np.sort(np.nan_to_num(means, nan=0.0, posinf=math.inf, neginf=-math.inf))

    @property
    def effect(self) -> float:
        return float(np.median(self._walsh))

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the limits that the one-sided tests do not reject."""
        rejected = int((_chances(range(1, self.n + 1)) <= ALPHA).sum())  # of the rank sums 0, 1, 2, ...
        if not rejected:
            return -math.inf, math.inf
        return float(self._walsh[rejected - 1]), float(self._walsh[-rejected])

    def above(self, limit: float) -> float:
        """The p-value of the null hypothesis that the effect is at most `limit`."""
        return _signed_rank_p(np.asarray(self.differences) - limit)

    def below(self, limit: float) -> float:
        """The p-value of the null hypothesis that the effect is at least `limit`."""
        return _signed_rank_p(limit - np.asarray(self.differences))


@dataclass(frozen=True)
class Student:
    """An estimate with its standard error and degrees of freedom, tested by Student's t-test.

    `n` is the number of data sets, or of the sizes that a power law is fitted to.
    """

    effect: float
    error: float
    freedom: int
    n: int = 1
    test: str = "t-test"

    @property
    def interval(self) -> tuple[float, float]:
        width = self.error * stats.t.isf(ALPHA, self.freedom) if self.error else 0.0
        return self.effect - width, self.effect + width

    def above(self, limit: float) -> float:
        return self._p(self.effect - limit)

    def below(self, limit: float) -> float:
        return self._p(limit - self.effect)

    def two_sided(self, limit: float) -> float:
        """The p-value of the null hypothesis that the effect is `limit`."""
        return min(1.0, 2 * self._p(abs(self.effect - limit)))

    def _p(self, beyond: float) -> float:
        beyond = round(beyond, DIGITS)
        if not self.error:
            return 0.0 if beyond > 0 else 1.0
        return float(stats.t.sf(beyond / self.error, self.freedom))


@dataclass(frozen=True)
class Exact:
    """A number without an error estimate; within `slack` of a limit it decides nothing.

    It has no p-value: 0 stands for a number beyond the limit by more than `slack`, 1 for any other. The
    effect may be infinite.
    """

    effect: float
    slack: float = 0.0

    n = 1
    test = "single numbers, compared without a test"

    @property
    def interval(self) -> tuple[float, float]:
        if math.isinf(self.slack):
            return -math.inf, math.inf
        return self.effect - self.slack, self.effect + self.slack

    def above(self, limit: float) -> float:
        return 0.0 if round(self.effect - self.slack - limit, DIGITS) > 0 else 1.0

    def below(self, limit: float) -> float:
        return 0.0 if round(limit - self.effect - self.slack, DIGITS) > 0 else 1.0


Evidence = SignedRank | Student | Exact


def of_folds(values: Sequence[float], ratio: float, effect: float | None = None) -> Student:
    """The mean over folds or trials, with the corrected variance of Nadeau and Bengio.

    `ratio` is that of test rows to training rows; `effect` is the estimate, by default the mean of the
    values.
    """
    k = len(values)
    error = math.sqrt((1 / k + ratio) * np.var(values, ddof=1)) if k > 1 else math.nan
    mean = float(np.mean(values)) if effect is None else effect
    return Student(mean, 0.0 if error < 10.0**-DIGITS else error, k - 1, 1, "t-test over folds, corrected")


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values with Holm's correction for multiple testing.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)).clip(max=1)
    return corrected.tolist()


def _signed_rank_p(beyond: np.ndarray) -> float:
    """The exact one-sided p-value of positive differences, given their ties and zeros."""
    beyond = np.round(beyond, DIGITS)
    if not beyond.any():
        return 1.0
    ranks = (2 * stats.rankdata(np.abs(beyond))).astype(int)  # doubled, because ties have half ranks
    return float(_chances(ranks[beyond != 0])[ranks[beyond < 0].sum()])


def _chances(ranks: Sequence[int]) -> np.ndarray:
    """The probabilities of rank sums of at most 0, 1, 2, ... if all signs are equally likely."""
    ways = np.ones(1)
    for rank in ranks:
        ways = np.convolve(ways, np.concatenate([[1.0], np.zeros(rank - 1), [1.0]]))
    return np.cumsum(ways) / 2.0 ** len(ranks)
