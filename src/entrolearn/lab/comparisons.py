"""A cell's scores as tables show them, beside the numbers that the tables print."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from entrolearn.lab.cellfiles import Cell, CellFiles
from entrolearn.lab.kinds import KINDS, Found, Printed
from entrolearn.lab.metrics import METRICS

__all__ = ["Comparison", "comparisons_of", "headline", "shown_scores"]

PERCENT = 100.0  # most score columns are fractions, of which papers print percent


@dataclass(frozen=True)
class Comparison:
    """A criterion's mean of one metric, as tables show it, beside the number that one prints (NaN: none)."""

    criterion: str
    metric: str
    ours: float
    ours_std: float
    table: str
    printed: float
    printed_std: float
    entry: Mapping  # the table's, which says how a number of ours is judged

    @property
    def difference(self) -> float:
        return self.ours - self.printed

    @property
    def gain(self) -> float:
        """Ours, or its negative where less is better."""
        return self.ours if METRICS[self.metric].greater_is_better else -self.ours

    @property
    def digits(self) -> int:
        return 2 if METRICS[self.metric].percent else METRICS[self.metric].digits

    @property
    def verdict(self) -> str:
        if math.isnan(self.ours):
            return "failed"
        at = ("", "", self.metric)
        found, printed = {at: Found(self.ours)}, {at: Printed(self.printed, self.printed_std)}
        return KINDS["scores"].judge(at, {"tolerance": {}, **self.entry}, found, printed).verdict


def comparisons_of(
    study: Mapping, cell: Cell, files: CellFiles, printed: pd.DataFrame | None
) -> list[Comparison]:
    """Every criterion by every metric, beside the first table of the study that prints it."""
    numbers = _printed(cell, printed)
    result = []
    for criterion, rows in files.by_criterion():
        for metric in files.metrics:
            values = shown_scores(rows, metric)
            # The mean of the folds that happened to succeed would compare with nothing: it is NaN instead.
            with np.errstate(invalid="ignore"):
                ours, ours_std = values.mean(skipna=False), values.std(ddof=1, skipna=False)
            there = _first_printed(study, criterion, metric, numbers)
            result.append(Comparison(criterion, metric, float(ours), float(ours_std), *there))
    return result


def shown_scores(rows: pd.DataFrame, metric: str) -> pd.Series:
    """A score in every fold, in percent where it is a fraction; NaN where the fold failed."""
    unit = PERCENT if METRICS[metric].percent else 1.0
    return unit * rows[metric].astype(float).where(rows["success"].astype(bool))


def _printed(cell: Cell, printed: pd.DataFrame | None) -> dict[tuple[str, str], tuple[float, float]]:
    """A cell's printed numbers and their ±, by table and metric."""
    if printed is None:
        return {}
    mine = printed[(printed["dataset"] == cell.dataset) & (printed["model"] == cell.model)]
    return {
        (row.table, row.metric): (float(row.value), float(row.std))
        for row in mine.dropna(subset="value").itertuples()
    }


def _first_printed(
    study: Mapping, criterion: str, metric: str, numbers: Mapping[tuple[str, str], tuple[float, float]]
) -> tuple[str, float, float, Mapping]:
    """Where a score is printed, its value and its ±, and what the study says of that table."""
    for name, table in study["tables"].items():
        compares = table.get("criterion") == criterion and metric in np.atleast_1d(table.get("metric", ""))
        if compares and (name, metric) in numbers:
            return name, *numbers[name, metric], table
    return "", math.nan, math.nan, {}


def headline(comparisons: Sequence[Comparison]) -> Comparison | None:
    """The one that a run is known by: the first whose number is printed, else the first of all."""
    return next((one for one in comparisons if one.table), next(iter(comparisons), None))
