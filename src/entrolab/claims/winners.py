"""The best model of a table: its lead over the second, and whether the difference is significant."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from entrolab.claims.numbers import Numbers
from entrolab.fit.metrics import METRICS
from entrolab.tables.base import Cell
from entrolab.tables.evidence import ALPHA, holm, of_folds
from entrolab.tables.ranking import TESTS, average_ranks, rank_models, scores_of
from entrolab.text import four_digits

TIE = 1e-9  # a smaller lead is a rounding error
OVER_FOLDS = "two-sided t-tests over folds with corrected variance and Holm's correction for all pairs"
# Why nothing is tested.
TOO_FEW = "too few folds or data sets"
DELETED = "the predictions of a run have been deleted"


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
    not_worse: tuple[str, ...]  # the models that are not significantly worse; all others without a test
    n_rivals: int
    test: str  # of the differences, in words; "" if there is none
    untested: str = ""  # the reason, if there is no test

    @property
    def is_significant(self) -> bool:
        """Whether all other models are significantly worse."""
        return self.n_rivals > 0 and not self.not_worse

    @property
    def cells(self) -> frozenset[Cell]:
        """The best model and those not worse, if any other is significantly worse; for one data set."""
        if len(self.not_worse) == self.n_rivals:
            return frozenset()
        return frozenset((self.datasets[0], model, self.metric) for model in (self.model, *self.not_worse))

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
            return f"{said}; not tested: {self.untested}."
        if len(self.not_worse) == self.n_rivals:
            return f"{said}; no difference is significant by {self.test}."
        if self.second not in self.not_worse:
            said += f", {lead} ahead of {second}"
        n_worse = self.n_rivals - len(self.not_worse)
        return f"{said}; significantly better than {n_worse} of {self.n_rivals} other models by {self.test}."


def shown(metric: str) -> Callable[[float], str]:
    """The function that writes a score of a metric as text, in percent if the metric is a percentage."""
    return "{:z.1f}".format if METRICS[metric].percent else four_digits


def best(numbers: Numbers, table: str, rows: pd.DataFrame, metric: str) -> Best | None:
    """The best model by a metric among `rows` of the frame of a table; None if no model has a number.

    On one data set, models are tested over folds or trials. On several data sets, the model with the best
    average rank is compared as in :func:`entrolab.tables.ranking.rank_models`, on the data sets that are
    ranked. The best model is chosen by the scores that are tested; so tests are two-sided and corrected for
    all pairs of models: of tables with equal models, 5 % or fewer have a significant difference. Nothing is
    significant if the predictions of a run have been deleted.
    """
    scores = scores_of(rows, metric).dropna(how="all").dropna(axis=1, how="all")
    if scores.empty:
        return None
    is_greater = METRICS[metric].greater_is_better
    ranking = rank_models(scores, greater_is_better=is_greater)
    if ranking is None:
        ranks = average_ranks(scores, is_greater)
    else:
        scores, ranks = ranking.scores, ranking.average
    first, *rivals = ranks.index
    not_worse, test, untested = rivals, "", TOO_FEW
    if ranking is not None:
        not_worse, test, untested = ranking.not_different_from(first), TESTS[ranking.shown_test], ""
    elif len(scores) == 1:
        try:
            p_values = _p_values(numbers, table, scores.index[0], ranks.index, metric)
        except FileNotFoundError:
            p_values, untested = {}, DELETED
        if p_values:
            not_worse = [one for one in rivals if p_values.get((first, one), 1.0) > ALPHA]
            test, untested = OVER_FOLDS, ""
    # Of several data sets in ranks.
    compared = ranks if len(scores) > 1 else scores.iloc[0]
    return Best(
        metric=metric,
        datasets=tuple(scores.index),
        model=first,
        score=float(scores[first].mean()),
        rank=float(ranks[first]),
        second=rivals[0] if rivals else "",
        lead=abs(float(compared[rivals[0]] - compared[first])) if rivals else 0.0,
        not_worse=tuple(not_worse),
        n_rivals=len(rivals),
        test=test,
        untested=untested,
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


def _p_values(
    numbers: Numbers, table: str, dataset: str, models: Sequence[str], metric: str
) -> dict[tuple[str, str], float]:
    """The two-sided p-values of all pairs of models with two folds or more, with Holm's correction."""
    folds = {model: numbers.folds([table], dataset, model, metric) for model in models}
    scores = pd.DataFrame({model: one for model, one in folds.items() if len(one)})
    ratio, found = numbers.test_to_train(dataset), {}
    for (a, of_a), (b, of_b) in itertools.combinations(zip(scores, scores.to_numpy().T, strict=True), 2):
        apart = (of_a - of_b)[~np.isnan(of_a - of_b)]
        if len(apart) > 1:
            found[a, b] = of_folds(apart, ratio).two_sided(0.0)
    return dict(zip(found, holm(list(found.values())), strict=True))
