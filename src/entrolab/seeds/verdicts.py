"""Verdicts over seeds: whether the value of a new seed would lie within the published ±.

References
----------
G. J. Hahn and W. Q. Meeker, Statistical Intervals (1991), section 4.8: intervals for one future observation.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from entrolab.seeds.values import of_table
from entrolab.tables.base import Cell, PublishedValue, TableSpec
from entrolab.tables.judge import interval, placed
from entrolab.tables.making import ADDRESS, published_values, read_published
from entrolab.tables.verdicts import RESULTS, SLACK

COVERAGE = 0.95
VERDICTS = ("reproduced", "not reproduced", "undecided")
COLUMNS = [*ADDRESS, "published", "tolerance", "single", "n", "mean", "sd", "low", "high", "verdict"]
COLUMNS += ["flips", "wide"]
# Relative tolerance within which two values are equal: files have six digits.
RTOL = 1e-5
# A predictive interval needs a standard deviation.
LEAST_SEEDS = 2
# Rows with fewer models are not tested for wide tolerances.
LEAST_MODELS = 3


def predictive_interval(values: Sequence[float]) -> tuple[float, float]:
    """The interval that contains the value of one new seed with probability `COVERAGE`, for normal values.

    Examples
    --------
    >>> low, high = predictive_interval([1.0, 2.0, 3.0])
    >>> round(low, 3), round(high, 3)
    (-2.968, 6.968)
    """
    n = len(values)
    if n < LEAST_SEEDS:
        return math.nan, math.nan
    width = stats.t.isf((1 - COVERAGE) / 2, n - 1) * np.std(values, ddof=1) * math.sqrt(1 + 1 / n)
    return float(np.mean(values) - width), float(np.mean(values) + width)


def verdict_of(low: float, high: float, published: float, tolerance: float) -> str:
    """The verdict of a predictive interval: inside the published ±, outside it, or overlapping its ends.

    Examples
    --------
    >>> verdict_of(84, 86, 85, 2), verdict_of(88, 90, 85, 2), verdict_of(84, 88, 85, 2)
    ('reproduced', 'not reproduced', 'undecided')
    """
    if low >= published - tolerance - SLACK and high <= published + tolerance + SLACK:
        return "reproduced"
    if low > published + tolerance + SLACK or high < published - tolerance - SLACK:
        return "not reproduced"
    return "undecided"


def judge_seeds(table: pd.DataFrame, values: pd.DataFrame, spec: TableSpec) -> tuple[pd.DataFrame, int, int]:
    """Judge the results in a table by their values with several seeds.

    Parameters
    ----------
    table : DataFrame
        The table made with one of the seeds.
    values : DataFrame
        The values of the study, see `entrolab.seeds.values.read_seeds`.
    spec : TableSpec

    Returns
    -------
    judged : DataFrame
        `COLUMNS`, one row per result with a published value and the values of two seeds or more that are not
        all equal: its tolerance, the verdict in `table` (``single``), mean, standard deviation and predictive
        interval over ``n`` seeds, and the verdict over seeds; ``flips`` if the verdicts of the single seeds
        differ, ``wide`` if every number of the row, ours and published, lies within the tolerance.
    unknown, equal : int
        How many results are not judged: those of which no seed has the value in the table, because they were
        made with other code, data or another version of the study; and those equal with every seed, as
        results without randomness are, which have no spread to judge by.
    """
    mine = of_table(values, spec.name).set_index(ADDRESS)
    cells = table[table["published"].notna() & table["verdict"].isin(RESULTS)].set_index(ADDRESS)
    cells = cells[cells.index.isin(mine.index)]
    values = mine.reindex(cells.index)
    is_known = np.isclose(values, cells[["ours"]], rtol=RTOL, atol=0).any(axis=1)
    file = spec.study.published
    printed = published_values(read_published(file), spec.entry.published) if file else {}
    rows = [
        _judged(row, mine.loc[row.Index].dropna().tolist(), printed, spec)
        for row in cells[is_known & (values.notna().sum(axis=1) >= LEAST_SEEDS)].itertuples()
    ]
    judged = pd.DataFrame(rows, columns=[name for name in COLUMNS if name != "wide"])
    judged = judged.assign(wide=_is_wide(judged))[COLUMNS]
    varies = mine.nunique(axis=1).gt(1)[pd.MultiIndex.from_frame(judged[ADDRESS])].to_numpy()
    return judged[varies].reset_index(drop=True), int((~is_known).sum()), int((~varies).sum())


def _judged(row, values: list[float], printed: Mapping[Cell, PublishedValue], spec: TableSpec) -> tuple:
    cell = tuple(row.Index)
    # The table's file lacks the decimals of the printed value.
    in_table = PublishedValue(row.published, row.published_std)
    published = printed.get(spec.type.published_at(cell), in_table)
    low, high = predictive_interval(values)
    ends = interval(spec.tolerance(cell[2]), published, row.ours_std)
    tolerance = max(published.value - ends[0], ends[1] - published.value)
    flips = len({placed(value, *ends) for value in values}) > 1
    spread = float(np.std(values, ddof=1))
    verdict = verdict_of(low, high, published.value, tolerance)
    about = (len(values), float(np.mean(values)), spread, low, high, verdict, flips)
    return (*cell, published.value, tolerance, row.verdict, *about)


def _is_wide(judged: pd.DataFrame) -> pd.Series:
    """Whether the tolerance of a cell contains every number of its row, ours and published."""
    wide = pd.Series(data=False, index=judged.index)
    for _, row in judged.groupby(["dataset", "metric"], sort=False):
        least = row[["published", "mean"]].to_numpy().min()
        most = row[["published", "mean"]].to_numpy().max()
        if len(row) >= LEAST_MODELS:
            wide[row.index] = (row["published"] - row["tolerance"] <= least + SLACK) & (
                row["published"] + row["tolerance"] >= most - SLACK
            )
    return wide


def verdict_counts(judged: pd.DataFrame) -> dict[str, int]:
    """The number of results of `judge_seeds` by verdict, zeros included."""
    return {name: int((judged["verdict"] == name).sum()) for name in VERDICTS}
