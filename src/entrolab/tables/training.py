"""Tables of a score with the iterations and the seconds of training."""

from dataclasses import replace
from typing import ClassVar

from entrolab.fit.learners import learner_at
from entrolab.tables.base import Found
from entrolab.tables.entries import ModelNames, OfData, Tolerance
from entrolab.tables.scores import Scores, chosen_folds, quantity_of
from entrolab.tables.times import COSTS, SECONDS, Times
from entrolab.tables.trained import OfModels

ITERATIONS = "iterations"
# The note for iterations that the study's file sets.
SET = "as many iterations as were set"
_TIMES = Times()


class Training(Scores):
    """A score with the cost of its training: data sets and models × score, iterations and seconds.

    Iterations set by the study and seconds of another machine are not judged.
    """

    rows, columns = ("dataset", "model"), ("metric",)
    stages = (*Scores.stages, "models")
    ranks = False
    filled = OfModels.filled

    class Entry(OfData):
        models: ModelNames
        metric: str
        criterion: str
        tolerance: Tolerance
        # That of the iterations.
        iterations: Tolerance
        among: ClassVar[dict] = {}  # the whole grid

    def names(self, table, study):
        yield from super().names(table, study)
        yield "metric", ITERATIONS, study.metrics, "metric of this study"

    def metrics(self, table):
        iterations = replace(
            quantity_of(ITERATIONS),
            tolerance=table.iterations,
            explanation="Iterations, or epochs, are those of the solver.",
        )
        seconds = replace(COSTS[SECONDS], is_judged=False)
        return super().metrics(table) | {ITERATIONS: iterations, SECONDS: seconds}

    def of_trained(self, cell, spec, results, record):
        from entrolab.fit.selection import most_often  # imported late: it imports pandas

        dataset, model, metric = cell
        if metric == SECONDS:
            return _TIMES.of_trained(cell, spec, results, record)
        found = super().of_trained(cell, spec, results, record)
        if found.status != "ok":
            return found
        params, _ = most_often(chosen_folds(results.scores(dataset, model, {}), model, spec))
        most = {**learner_at(record, params).params, **params}.get("max_iter")  # None without a limit
        if metric == ITERATIONS:
            is_set = found.ours == most
            return Found(found.ours, found.ours_std, reason=SET if is_set else "", is_judged=not is_set)
        # The column of iterations shows that a solver stopped at the study's limit.
        parts = [part for part in found.reason.split("; ") if not part.startswith(f"stopped at {most} ")]
        return Found(found.ours, found.ours_std, reason="; ".join(parts))
