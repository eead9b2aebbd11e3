"""The one tolerance rule: how far a number of ours may lie from the published value to be reproduced."""

import math

from entrolab.study.sections import Section, number
from entrolab.tables.verdicts import placed


class Tolerance(Section):
    """The difference that counts as reproduced; of several keys, the one that allows most.

    `std` counts published standard deviations, `standard_error` standard errors of ours, `points` units of
    the number, `percent` hundredths of the published value; `factor` multiplies and divides it. Where no key
    applies, as with `std` and a value published without one, ours has to round to the published value.
    """

    std: number(gt=0) = None
    points: number(ge=0) = None
    percent: number(gt=0) = None
    factor: number(gt=1) = None
    standard_error: number(gt=0) = None


def interval(tolerance: Tolerance, published, error: float = math.nan) -> tuple[float, float]:
    """The least and the largest number that reproduce a published value.

    `published` has the attributes ``value``, ``std`` and ``decimals``; `error` is the standard error of ours.

    Examples
    --------
    >>> from entrolab.tables.base import PublishedValue
    >>> interval(Tolerance(points=2), PublishedValue(85.0, decimals=1))
    (83.0, 87.0)
    >>> interval(Tolerance(points=0.25, standard_error=2), PublishedValue(2.0), error=0.5)
    (1.0, 3.0)
    >>> interval(Tolerance(), PublishedValue(0.5, decimals=1))
    (0.45, 0.55)
    """
    value = published.value
    widths = {
        "std": (tolerance.std, published.std),
        "points": (tolerance.points, 1.0),
        "percent": (tolerance.percent, abs(value) / 100),
        "standard_error": (tolerance.standard_error, error),
    }
    known = [times * unit for times, unit in widths.values() if times is not None and not math.isnan(unit)]
    ends = [end for width in known for end in (value - width, value + width)]
    if tolerance.factor is not None:
        ends += [value / tolerance.factor, value * tolerance.factor]
    if not ends:
        half = 0.5 * 10.0**-published.decimals
        ends = [value - half, value + half]
    return min(ends), max(ends)


def judge(ours: float, published, tolerance: Tolerance, error: float = math.nan) -> str:
    """The verdict on a number: reproduced, higher or lower; "ours only" without a published value.

    Examples
    --------
    >>> from entrolab.tables.base import PublishedValue
    >>> [judge(ours, PublishedValue(85.0), Tolerance(points=2)) for ours in (82.9, 87.0, 87.1)]
    ['lower', 'reproduced', 'higher']
    """
    if math.isnan(published.value):
        return "ours only"
    return placed(ours, *interval(tolerance, published, error))
