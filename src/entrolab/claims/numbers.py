"""Numbers for tests of claims: cells of a study's tables, and their scores per fold or trial."""

import math
import os
import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
from scipy.stats import linregress

from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.fit.protocols import protocol
from entrolab.fit.run import BASELINE
from entrolab.results.reader import Results
from entrolab.study.claims import ClaimTest, tested_file
from entrolab.study.study import Study
from entrolab.tables.evidence import Evidence, Exact, Student, of_folds
from entrolab.tables.making import ADDRESS

# The tables with the numbers of the first models of pairs, and of the second ones.
Sides = tuple[Sequence[str], Sequence[str]]
# Columns of tables that are not scores and for which less is better.
COSTS = {
    *("fit_seconds", "predict_seconds", "n_stored_numbers", "seconds", "iterations", "evaluations"),
    *("speedup", "value_error", "gradient_error"),
}
# Repeated timings differ by up to this factor: single timings this close to a limit decide nothing.
TIMING = 1.25
OF_EXPONENT = "t-test of the exponent"


class TableMissing(LookupError):
    """Raised if a table or figure that a test reads has not been made; its text is the file."""


class RatioUndefined(ArithmeticError):
    """Raised for a ratio of negative numbers."""


class Numbers:
    """The results of a study, for tests of claims; `home` is the folder that holds ``results``."""

    def __init__(self, study: Study, home: str | os.PathLike = "."):
        self.study, self.results = study, Results(study, home)
        self._table = cache(lambda name: self._frame(name).set_index(ADDRESS)["ours"])

    def cell(self, tables: Sequence[str], dataset: str, model: str, metric: str) -> float:
        """Our number, from the first of some tables that has it; NaN if none has."""
        found = (self._table(name).get((dataset, model, metric), math.nan) for name in tables)
        return next((value for value in found if math.isfinite(value)), math.nan)

    def has(self, tables: Sequence[str], dataset: str, model: str, metric: str) -> bool:
        """Whether one of some tables has a cell, with a number or without."""
        return any((dataset, model, metric) in self._table(name).index for name in tables)

    def difference(
        self, sides: Sides, dataset: str, pair: tuple[str, str], metric: str, ratio: bool
    ) -> float:
        """The lead of one model over another on a data set, as a difference or as the log of a ratio.

        Positive if the first model is better, infinite in a ratio to 0; NaN if a number is missing. A
        negative number in a ratio raises `RatioUndefined`.
        """
        a, b = (self.cell(tables, dataset, model, metric) for tables, model in zip(sides, pair, strict=True))
        if ratio and np.minimum(a, b) < 0:
            raise RatioUndefined(f"{' vs '.join(pair)} on {dataset}")
        return _ahead(a, b, metric, ratio)

    def on_one(
        self, sides: Sides, dataset: str, pair: tuple[str, str], metric: str, ratio: bool
    ) -> Evidence | None:
        """The evidence for :meth:`difference` on a single data set; None where the difference is NaN."""
        apart = self.difference(sides, dataset, pair, metric, ratio)
        if math.isnan(apart):
            return None
        folds = [
            self.folds(tables, dataset, model, metric) for tables, model in zip(sides, pair, strict=True)
        ]
        common = pd.concat(folds, axis=1, join="inner") if all(map(len, folds)) else ()
        if len(common) < 2:
            return Exact(apart, _slack(metric, ratio))
        a, b = common.to_numpy().T
        if not ratio:
            apart = [_ahead(*one, metric, False) for one in zip(a, b, strict=True)]
            return of_folds(apart, self.test_to_train(dataset))
        apart = _ahead(a.mean(), b.mean(), metric, True)
        if math.isinf(apart):
            return Exact(apart, math.inf)
        around = a / (a.mean() or 1) - b / (b.mean() or 1)  # the delta method
        return of_folds(around, self.test_to_train(dataset), apart)

    def level(self, test: ClaimTest, dataset: str, model: str, metric: str) -> Evidence | None:
        """The evidence for the number or the spread of a cell; None if the cell has none."""
        if getattr(test, "spread", None):
            spread = self._spread(test, dataset, model, metric)
            return None if math.isnan(spread) else Exact(spread)
        value = self.cell(test.tables, dataset, model, metric)
        if math.isnan(value):
            return None
        folds = self.folds(test.tables, dataset, model, metric)
        return of_folds(folds.to_numpy(), self.test_to_train(dataset)) if len(folds) > 1 else Exact(value)

    def models(self, table: str) -> list[str]:
        """The models of a table that have runs or measurements, without the baseline."""
        named = dict.fromkeys(self._frame(table)["model"])
        return [model for model in named if model != BASELINE and self._is_computed(model)]

    def exponent(self, test: ClaimTest, model: str, metric: str) -> Student | None:
        """The exponent of a power law, from a cell of a table or fitted to its rows of different sizes."""
        for name in test.tables:
            entry, table = self.study.tables[name], self._frame(name)
            rows = table[(table["model"] == model) & (table["metric"] == metric) & table["ours"].notna()]
            n_points = metric in entry.metrics and entry.metrics[metric].points
            if n_points and len(rows):
                value, error = rows[["ours", "ours_std"]].iloc[0]
                return Student(value, float(np.nan_to_num(error)), n_points - 2, n_points, OF_EXPONENT)
            sizes = [int(re.sub(r"\D", "", row)) for row in rows["dataset"]]
            if len(sizes) > 2:
                line = linregress(np.log(sizes), np.log(rows["ours"]))
                return Student(line.slope, line.stderr, len(sizes) - 2, len(sizes), OF_EXPONENT)
        return None

    def folds(self, tables: Sequence[str], dataset: str, model: str, metric: str) -> pd.Series:
        """The scores of the folds or trials that a cell averages; empty if the tables have none."""
        for name in tables:
            if name not in self.study.tables:
                drawn = self._drawn(name, dataset, model)
                return drawn.set_index("trial")["score"] if "trial" in drawn else pd.Series(dtype=float)
            entry = self.study.tables[name]
            has_folds = self.study.table_type(name).ranks
            has_cell = (dataset, model, metric) in self._table(name).index
            if not (has_folds and has_cell and self._is_computed(model)):
                continue
            chosen = self.results.scores(dataset, model, entry.among)
            rows = chosen.get(entry.criterion, next(iter(chosen.values())))
            scores = rows.set_index(["repeat", "fold"])[metric] * (100 if METRICS[metric].percent else 1)
            return scores.dropna()
        return pd.Series(dtype=float)

    def _is_computed(self, model: str) -> bool:
        entry = self.study.models.get(model)
        return entry is None or not (entry.known or entry.published_only)

    def test_to_train(self, dataset: str) -> float:
        """The mean ratio of test to training rows of a fold or trial, for folds of equal size."""
        return protocol(self.study.protocol_of(dataset)).test_to_train

    def _spread(self, test: ClaimTest, dataset: str, model: str, metric: str) -> float:
        if test.spread == "trials":
            return self.folds(test.tables, dataset, model, metric).std()
        curve = self._drawn(test.tables[0], dataset, model)
        if test.since is not None:
            curve = curve[curve["value"] >= test.since]
        spread = curve["mean"].max() - curve["mean"].min()
        return spread / curve["std"].mean() if test.spread == "curve_by_folds" else spread

    def _drawn(self, figure: str, dataset: str, model: str) -> pd.DataFrame:
        """The points of a figure of trials or curves that have a number."""
        rows = self._read(figure)
        rows = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
        return rows.dropna(subset="score" if "score" in rows else "mean")

    def _frame(self, name: str) -> pd.DataFrame:
        rows = self._read(name)
        if name in self.study.tables:
            return rows
        metric = self.study.figures[name].metric
        metrics = [metric] if isinstance(metric, str) else metric
        fits = {one: metrics_of(self.study.tasks[one], metrics)[0] for one in rows["dataset"].unique()}
        rows = rows.assign(
            metric=rows["dataset"].map(fits), ours=rows["score" if "score" in rows else "mean"]
        )
        return rows.groupby(ADDRESS, sort=False, as_index=False)["ours"].mean()

    def _read(self, name: str) -> pd.DataFrame:
        """A table or the data of a figure; `TableMissing` if it has not been made."""
        read = self.results.table if name in self.study.tables else self.results.figure
        try:
            return read(name)
        except FileNotFoundError:
            raise TableMissing(tested_file(self.study, name)) from None


def less_is_better(metric: str) -> bool:
    """Whether smaller values of a metric are better."""
    return not METRICS[metric].greater_is_better if metric in METRICS else metric in COSTS


def _slack(metric: str, ratio: bool) -> float:
    """The distance from a limit within which a single number decides nothing; infinite for scores."""
    if metric in METRICS and not METRICS[metric].of_fit:
        return math.inf
    return math.log(TIMING) if ratio and "seconds" in metric else 0.0


def _ahead(a: float, b: float, metric: str, ratio: bool) -> float:
    if less_is_better(metric):
        a, b = b, a
    if not ratio:
        return a - b
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return 0.0
    return math.log(a / b) if a and b else math.inf if a else -math.inf
