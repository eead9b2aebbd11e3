"""The best model of a table: its lead over the second, and whether the difference is significant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from entrolab.claims.numbers import Numbers
from entrolab.fit.metrics import METRICS
from entrolab.tables.base import Cell
from entrolab.tables.evidence import ALPHA, holm
from entrolab.tables.ranking import TESTS, average_ranks, rank_models, scores_of

TIE = 1e-9  # a smaller lead is a rounding error
OVER_FOLDS = "a one-sided t-test over folds with corrected variance and Holm's correction"


@dataclass(frozen=True)
class Best:
    """The best model by a metric, on one data set by its score, on several by its average rank."""

    metric: str
    datasets: Sequence[str]
    model: str
    score: float  # its mean over the data sets, in the table's unit
    rank: float  # its average rank
    second: str  # the model next to it, "" without another model
    lead: float  # over the second, in the unit of the score; of several data sets in ranks
    close: tuple[str, ...]  # the models that are not significantly worse
    n_rivals: int
    test: str  # of the differences, in words; "" if too few folds or data sets are there for one

    @property
    def is_significant(self) -> bool:
        """Whether all other models are significantly worse."""
        return self.n_rivals > 0 and not self.close

    @property
    def cells(self) -> frozenset[Cell]:
        """The best model and those close to it, if any other is significantly worse; for one data set."""
        if len(self.close) == self.n_rivals:
            return frozenset()
        return frozenset((self.datasets[0], model, self.metric) for model in (self.model, *self.close))

    def in_words(self, labels: Mapping[str, str]) -> str:
        """A sentence with the best model, its score, its lead, and whether the lead is significant."""
        model, second = labels.get(self.model, self.model), labels.get(self.second, self.second)
        metric, write = METRICS[self.metric], shown(self.metric)
        score = f"{write(self.score)} %" if metric.percent else write(self.score)
        if len(self.datasets) == 1:
            lead = write(self.lead)
            said = f"{model} is best on {self.datasets[0]}: {metric.label} {score}"
        else:
            lead = f"{self.lead:.2f}"
            said = (
                f"{model} has the best average rank by {metric.label} on {len(self.datasets)} data sets: "
                f"{self.rank:.2f} of {self.n_rivals + 1}, mean {score}"
            )
        if not second:
            return f"{said}."
        if self.lead <= TIE:
            said += f", equal to {second}"
        if not self.test:
            return f"{said}; not tested: too few folds or data sets."
        if len(self.close) == self.n_rivals:
            return f"{said}; no difference is significant by {self.test}."
        if self.second not in self.close:
            said += f", {lead} ahead of {second}"
        n_worse = self.n_rivals - len(self.close)
        return f"{said}; significantly better than {n_worse} of {self.n_rivals} other models by {self.test}."


def shown(metric: str) -> Callable[[float], str]:
    """The function that writes a score of a metric as text, in percent if the metric is a percentage."""
    return "{:z.1f}".format if METRICS[metric].percent else "{:z.4g}".format


def best(numbers: Numbers, table: str, rows: pd.DataFrame, metric: str) -> Best | None:
    """The best model by a metric among `rows` of the frame of a table; None if no model has a number.

    On one data set, the model with the best score is tested against each other model over folds or trials.
    On several data sets, the model with the best average rank is compared as in
    :func:`entrolab.tables.ranking.rank_models`. Nothing is significant if the predictions of a run have been
    deleted.
    """
    scores = scores_of(rows, metric).dropna(how="all").dropna(axis=1, how="all")
    if scores.empty:
        return None
    is_greater = METRICS[metric].greater_is_better
    ranking = rank_models(scores, greater_is_better=is_greater)
    ranks = average_ranks(scores, is_greater) if ranking is None else ranking.average
    first, *rivals = ranks.index
    if len(scores) == 1:
        close = _close(numbers, table, scores.index[0], first, rivals, metric)
        test = OVER_FOLDS if close is not None else ""
        lead = abs(scores[first].iloc[0] - scores[rivals[0]].iloc[0]) if rivals else 0.0
    else:
        close = None if ranking is None else ranking.beside(first)
        test = TESTS[ranking.shown_test] if ranking else ""
        lead = ranks[rivals[0]] - ranks[first] if rivals else 0.0
    return Best(
        metric=metric,
        datasets=tuple(scores.index),
        model=first,
        score=float(scores[first].mean()),
        rank=float(ranks[first]),
        second=rivals[0] if rivals else "",
        lead=float(lead),
        close=tuple(rivals if close is None else close),
        n_rivals=len(rivals),
        test=test,
    )


def best_of_rows(numbers: Numbers, table: str, rows: pd.DataFrame) -> list[Best]:
    """The best model of each data set by each metric.

    It is empty for a table without scores of models, and for one with published values, which shows verdicts
    instead.
    """
    if not numbers.study.table_type(table).ranks or rows["published"].notna().any():
        return []
    groups = rows.groupby(["dataset", "metric"], sort=False)
    found = (best(numbers, table, row, metric) for (_, metric), row in groups)
    return [one for one in found if one is not None]


def winners(bests: Sequence[Best]) -> frozenset[Cell]:
    """The cells that tables show in bold, given the best of each row."""
    return frozenset().union(*(one.cells for one in bests))


def best_of_study(numbers: Numbers, tables: Mapping[str, pd.DataFrame]) -> tuple[str, Best] | None:
    """The first table of scores that compares models, and the best of them by its first metric."""
    for name in numbers.study.score_tables():
        rows = tables.get(name)
        if rows is None:
            continue
        found = best(numbers, name, rows, rows["metric"].iloc[0])
        if found is not None and found.n_rivals:
            return name, found
    return None


def _close(
    numbers: Numbers, table: str, dataset: str, first: str, rivals: Sequence[str], metric: str
) -> list[str] | None:
    """The rivals that are not significantly worse on a data set; None if nothing could be tested."""
    try:
        known = [numbers.on_one(([table], [table]), dataset, (first, one), metric, False) for one in rivals]
    except FileNotFoundError:
        return None
    if not any(hasattr(evidence, "freedom") for evidence in known):
        return None
    p_values = holm([1.0 if evidence is None else evidence.above(0.0) for evidence in known])
    return [rival for rival, p in zip(rivals, p_values, strict=True) if p > ALPHA]
