"""The one judge: whether a number of ours reproduces the published value, by the one tolerance rule."""

import math
from collections.abc import Mapping

from entrolab.tables.base import (
    NAN,
    NOTHING,
    PUBLISHED_ONLY,
    Cell,
    Found,
    Judged,
    PublishedValue,
    TableSpec,
)
from entrolab.tables.entries import Tolerance
from entrolab.tables.verdicts import RESULTS, SLACK


def interval(
    tolerance: Tolerance, published: PublishedValue, error: float = NAN, unit: PublishedValue = NOTHING
) -> tuple[float, float]:
    """The least and the largest number that reproduce a published value.

    `error` is the standard error of ours. With a `unit`, the number is a ratio to that value; published
    numbers are rounded, so their ratio is an interval, which the tolerance widens.

    Examples
    --------
    >>> interval(Tolerance(points=2), PublishedValue(85.0, decimals=1))
    (83.0, 87.0)
    >>> interval(Tolerance(points=0.25, standard_error=2), PublishedValue(2.0), error=0.5)
    (1.0, 3.0)
    >>> interval(Tolerance(), PublishedValue(0.5, decimals=1))
    (0.45, 0.55)
    >>> interval(Tolerance(factor=2), PublishedValue(3.0), unit=PublishedValue(1.0))  # 2.5 / 1.5, 3.5 / 0.5
    (0.8333333333333334, 14.0)
    """
    low = high = published.value
    std, rounded = published.std, rounded_to(published)
    if not math.isnan(unit.value):
        unit_low, unit_high = positive(rounded_to(unit))
        low, high = positive(rounded)
        low, high = low / unit_high, high / unit_low if unit_low else math.inf
        std, rounded = NAN, (low, high)
    widths = {
        "std": (tolerance.std, std, std),
        "points": (tolerance.points, 1.0, 1.0),
        "percent": (tolerance.percent, abs(low) / 100, abs(high) / 100),
        "standard_error": (tolerance.standard_error, error, error),
    }
    known = [one for one in widths.values() if one[0] is not None and not math.isnan(one[1])]
    ends = [end for times, below, above in known for end in (low - times * below, high + times * above)]
    if tolerance.factor is not None:
        ends += [low / tolerance.factor, high * tolerance.factor]
    ends = ends or [*rounded]
    return min(ends), max(ends)


def rounded_to(published: PublishedValue) -> tuple[float, float]:
    """The least and the largest number that rounds to a published one."""
    half = 0.5 * 10.0**-published.decimals
    return published.value - half, published.value + half


def positive(ends: tuple[float, float]) -> tuple[float, float]:
    """The part of an interval that is not negative, as seconds are."""
    return max(ends[0], 0.0), ends[1]


def placed(value: float, low: float, high: float) -> str:
    """The verdict on a number by a closed interval: in it, above or below.

    Examples
    --------
    >>> placed(1.0, 0.0, 1.0), placed(2.0, 0.0, 1.0)
    ('reproduced', 'higher')
    """
    if math.isnan(value):
        raise ValueError("value: found nan; accepted: a number, as an undefined one has no verdict")
    slack = SLACK * min(1.0, max(abs(low), abs(high)))
    if value > high + slack:
        return "higher"
    return "lower" if value < low - slack else "reproduced"


def judge_cell(
    cell: Cell, spec: TableSpec, found: Mapping[Cell, Found], published_values: Mapping[Cell, PublishedValue]
) -> Judged:
    """Judge a cell that has a number; `found` and `published_values` contain all cells of the table."""
    ours, published = found[cell], published_values.get(spec.type.published_at(cell), NOTHING)
    if math.isnan(published.value):
        return Judged("ours only")
    judged = _compared(cell, spec, found, published_values)
    if judged.verdict not in RESULTS:
        return judged
    verdict, note = judged.verdict, judged.note
    if not (ours.is_judged and spec.metrics[cell[2]].is_judged):
        verdict = PUBLISHED_ONLY
    elif ours.given:
        verdict = "equal" if verdict == "reproduced" else "differs"
    elif verdict != "reproduced" and ours.readings:
        note = _closest_reading(cell, spec, found, published_values)
    return Judged(verdict, judged.difference, note)


def _compared(cell: Cell, spec: TableSpec, found: Mapping, published_values: Mapping) -> Judged:
    """The comparison of our number with the published one, in the manner of its quantity."""
    dataset, _, metric = cell
    quantity, tolerance = spec.metrics[metric], spec.tolerance(metric)
    ours, published = found[cell], published_values[spec.type.published_at(cell)]
    if not quantity.compared:
        return Judged(PUBLISHED_ONLY)
    if quantity.compared != "ratio":
        difference = ours.ours - published.value
        if quantity.compared == "log2":
            ratio = ours.ours / published.value if published.value > 0 else NAN
            difference = math.log2(ratio) if 0 < ratio < math.inf else NAN
        return Judged(placed(ours.ours, *interval(tolerance, published, ours.ours_std)), difference)
    first = (dataset, next(iter(spec.models)), metric)
    if cell == first:
        return Judged("unit")
    unit = published_values.get(first, NOTHING)
    if math.isnan(unit.value) or found[first].status != "ok" or not found[first].ours:
        whose = "published" if math.isnan(unit.value) else "of ours"
        return Judged(PUBLISHED_ONLY, note=f"no ratio: the row's first column has no seconds {whose}")
    ratio = ours.ours / found[first].ours
    # A published 0.0 is replaced by the largest value that rounds to it.
    most = [one.value or rounded_to(one)[1] for one in (published, unit)]
    return Judged(placed(ratio, *interval(tolerance, published, unit=unit)), ratio / (most[0] / most[1]))


def _closest_reading(cell: Cell, spec: TableSpec, found: Mapping, published_values: Mapping) -> str:
    """The reading closest to the published values of a row, with its numbers."""
    row = {
        at: published_values[at].value
        for at in found
        if at[:2] == cell[:2] and not math.isnan(published_values.get(at, NOTHING).value)
    }
    readings = {"": [found[at].ours for at in row]}
    for name in found[next(iter(row))].readings:
        readings[name] = [found[at].readings.get(name, NAN) for at in row]
    distances = {
        name: sum(abs(value - published) for value, published in zip(values, row.values(), strict=True))
        for name, values in readings.items()
    }
    known = [name for name, distance in distances.items() if math.isfinite(distance)]
    closest = min(known, key=distances.get, default="")
    if closest:
        quantity = spec.metrics[cell[2]]
        numbers = ", ".join(quantity.number(value, quantity.decimals) for value in readings[closest])
        return f"closest to this row is the reading {closest}: {numbers}"
    return "no other reading comes closer to this row" if len(known) > 1 else ""
