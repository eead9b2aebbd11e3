"""Build a table as a frame with one row per cell (`COLUMNS`): ours, the published value and a verdict.

All formats are rendered from that frame (see `entrolab.tables.rendering`). The table type fills and judges
the cells (see `entrolab.tables.types`).
"""

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from entrolab.results.frames import ADDRESS, COLUMNS, NUMBERS
from entrolab.results.reader import Results
from entrolab.tables.base import (
    NOTHING,
    PUBLISHED_ONLY,
    Cell,
    Found,
    Head,
    Judged,
    PublishedValue,
    TableSpec,
    phrase,
)
from entrolab.tables.judge import judge_cell
from entrolab.tables.number_format import decimals_needed, decimals_of
from entrolab.tables.verdicts import GIVEN, RESULTS, VERDICTS
from entrolab.text import full_label

CORRECTED = "corrected_"  # the prefix of a column of published values that corrects another


def make_table(results: Results, published: pd.DataFrame, spec: TableSpec) -> pd.DataFrame:
    """Build a table.

    `published` has the columns table, dataset, model, metric, value and std, with scores in percent, see
    `read_published`. The result has the columns `COLUMNS` and one row per cell in the study's order, also for
    cells without a result; a cell without a published value and with nothing to compute has the verdict "".
    """
    found = {cell: spec.type.cell_value(cell, spec, results) for cell in spec.type.cells(spec)}
    kept = {cell: ours for cell, ours in found.items() if ours is not None}
    return judged_table(kept, published, spec)


def judged_table(found: Mapping[Cell, Found], published: pd.DataFrame, spec: TableSpec) -> pd.DataFrame:
    """Judge the cells of a table, see `make_table`."""
    found = {cell: _defined(ours) for cell, ours in found.items()}
    printed = published_values(published, spec.entry.published)
    rows = []
    for cell, ours in found.items():
        number = printed.get(spec.type.published_at(cell), NOTHING)
        if ours.status != "ok":
            blank = ours.status == PUBLISHED_ONLY and math.isnan(number.value)
            judged = Judged("" if blank else ours.status)
        else:
            judged = judge_cell(cell, spec, found, printed)
        reason = "; ".join(filter(None, [ours.reason, judged.note, _correction(cell, number, spec)]))
        compared = (ours.ours, ours.ours_std, judged.difference, judged.verdict, ours.oracle)
        rows.append((*cell, number.value, number.std, *compared, reason))
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(NUMBERS, float))


def _defined(ours: Found) -> Found:
    """The contents of a cell; failed if the number is NaN."""
    if ours.status != "ok" or not math.isnan(ours.ours):
        return ours
    return Found(status="failed", reason="; ".join(filter(None, ["undefined", ours.reason])))


def read_published(path: str | Path) -> pd.DataFrame:
    """Read published values as text, to keep their decimals: 0.150 has three, 0.15 has two."""
    empty = dict.fromkeys(["value", "std", "corrected_metric", "corrected_value"], [""])
    text = dict.fromkeys(["table", *ADDRESS, *empty], str) | {"std": float}
    return pd.read_csv(path, dtype=text, keep_default_na=False, na_values=empty)


def apply_corrections(published: pd.DataFrame) -> pd.DataFrame:
    """Published values with their corrections, if the file has any, in place of what is printed."""
    corrections = {
        column.removeprefix(CORRECTED): published[column]
        for column in published
        if column.startswith(CORRECTED)
    }
    return published.assign(**{name: by.fillna(published[name]) for name, by in corrections.items()})


def counts(*tables: pd.DataFrame, published: bool = False) -> dict[str, int]:
    """The number of cells of some tables by verdict, zeros included, in the order of `VERDICTS`.

    `published` counts only cells with a published value. All other modules get their numbers of verdicts from
    this function.
    """
    found: Counter[str] = Counter()
    for table in tables:
        found.update(table.loc[table["published"].notna() | (not published), "verdict"])
    return {name: found[name] for name in VERDICTS}


class Agreement(NamedTuple):
    """How many published values are reproduced: three disjoint groups that add up to all of them.

    Attributes
    ----------
    reproduced, results : int
        How many of the values that a learner produced (scores, times, sizes) are reproduced, and of how many.
    equal, given : int
        How many values that describe data or are settings taken from the paper are equal, and of how many.
    not_comparable : int
        All others: ours failed or lacks data, the study sets ours or has none, or the value is the unit of
        its row.
    """

    reproduced: int
    results: int
    equal: int
    given: int
    not_comparable: int

    @property
    def agreeing(self) -> int:
        """The number of values that are reproduced or equal."""
        return self.reproduced + self.equal

    @property
    def compared(self) -> int:
        """The number of values that are compared with ours."""
        return self.results + self.given

    def __str__(self):
        counted = {
            f"{self.reproduced:,} of {self.results:,} results reproduced": self.results,
            f"{self.equal:,} of {self.given:,} data and settings equal": self.given,
            f"{self.not_comparable:,} not comparable": self.not_comparable,
        }
        return ", ".join(text for text, n in counted.items() if n) or "no published values"


def agreement_of(found: Mapping[str, int]) -> Agreement:
    """The agreement of published values, given their number by verdict, of `counts`.

    Examples
    --------
    >>> print(agreement_of({"reproduced": 3, "lower": 1, "equal": 2, "no data": 4, "unit": 1}))
    3 of 4 results reproduced, 2 of 2 data and settings equal, 5 not comparable
    >>> print(agreement_of({"reproduced": 3, "ours only": 0}))
    3 of 3 results reproduced
    """
    n_results, n_given = (sum(found.get(name, 0) for name in names) for names in (RESULTS, GIVEN))
    reproduced, equal = (found.get(name, 0) for name in ("reproduced", "equal"))
    return Agreement(reproduced, n_results, equal, n_given, sum(found.values()) - n_results - n_given)


def second_reading_of(study, table: str) -> str:
    """The table with the same published values, of which a table is another reading; otherwise empty."""
    entries = study.tables
    first = entries[table].published
    return first if first != table and entries[first].type == entries[table].type else ""


def first_readings(study, tables: Mapping[str, pd.DataFrame]) -> list[pd.DataFrame]:
    """The tables of a study without second readings, so that each published value is counted once."""
    return [table for name, table in tables.items() if not second_reading_of(study, name)]


def published_values(published: pd.DataFrame, name: str) -> dict[Cell, PublishedValue]:
    """The published values of a table by cell; a corrected one is with the metric that it is corrected to."""
    rows = published[published["table"] == name].dropna(subset="value")
    read = apply_corrections(rows)
    values = (
        PublishedValue(float(row.value), row.std, decimals_of(row.value), (metric, float(printed)))
        for row, metric, printed in zip(read.itertuples(), rows["metric"], rows["value"], strict=True)
    )
    return dict(zip(read[ADDRESS].itertuples(index=False, name=None), values, strict=True))


def _correction(cell: Cell, number: PublishedValue, spec: TableSpec) -> str:
    """The footnote of a corrected value: the metric or the number that is printed; "" for all others."""
    if number.printed is None:
        return ""
    (metric, value), parts = number.printed, []
    if metric != cell[2]:
        parts.append(full_label(spec.metrics.get(metric, Head(metric))))
    if value != number.value:
        parts.append(spec.metrics[cell[2]].published_number(value, decimals_needed(value)))
    return phrase(f"published as {', '.join(parts)}") if parts else ""
