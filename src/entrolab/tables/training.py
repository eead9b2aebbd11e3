"""Tables of a score with the iterations and the seconds of training."""

from dataclasses import replace
from typing import ClassVar

from entrolab.fit.learners import learner_at
from entrolab.fit.metrics import METRICS
from entrolab.study.entries import ModelNames, OfData
from entrolab.study.sections import Section, number
from entrolab.tables.base import Found, Head
from entrolab.tables.scores import CRITERIA, Scores, chosen_folds, tolerance_in_words
from entrolab.tables.times import COSTS, Times
from entrolab.tables.trained import OfModels
from entrolab.tables.verdicts import RESULTS

ITERATIONS, SECONDS = "iterations", "fit_seconds"
# The note for iterations that the study's file sets.
SET = "as many iterations as were set"
_TIMES = Times()


class Tolerance(Section):
    """The tolerances around published values: points of the score, percent of the iterations."""

    points: number(gt=0)
    iterations: number(ge=0)


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
        among: ClassVar[dict] = {}  # the whole grid

    compares = (
        "Top: ours; bottom: the published number and, since seconds of different machines are not "
        "comparable, for seconds our ratio to the data set's first row divided by the published ratio."
    )

    def names(self, table, study):
        yield from super().names(table, study)
        yield "metric", ITERATIONS, study.metrics, "metric of this study"

    def metrics(self, table):
        return {
            **super().metrics(table),
            ITERATIONS: Head(METRICS[ITERATIONS].label),
            SECONDS: Head(COSTS[SECONDS][0]),
        }

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
            return Found(found.ours, found.ours_std, reason=SET if found.ours == most else "")
        # The column of iterations shows that a solver stopped at the study's limit.
        parts = [part for part in found.reason.split("; ") if not part.startswith(f"stopped at {most} ")]
        return Found(found.ours, found.ours_std, reason="; ".join(parts))

    def judge(self, cell, spec, found, published_values):
        judge = _TIMES.judge if cell[2] == SECONDS else super().judge
        judged = judge(cell, spec, found, published_values)
        if (cell[2] == SECONDS or found[cell].reason == SET) and judged.verdict in RESULTS:
            return replace(judged, verdict="published only")
        return judged

    def tolerance(self, cell, spec, ours, published):
        if cell[2] == ITERATIONS:
            return spec.entry.tolerance.iterations / 100 * published.value
        return super().tolerance(cell, spec, ours, published)

    def says(self, spec):
        metric = METRICS[spec.entry.metric]
        score = metric.label[0].upper() + metric.label[1:] + (" in percent" if metric.percent else "")
        rows = "the training rows of the first trial" if spec.trials else "all rows"
        return (
            f"{score} on test rows; the iterations, or epochs, of the solver; processor seconds to fit only "
            f"the selected model on {rows}, on one thread. Grid points are selected by "
            f"{CRITERIA[spec.entry.criterion]}."
        )

    def agreement(self, spec):
        return f"within {tolerance_in_words(spec)}, {spec.entry.tolerance.iterations:g} % of the iterations"

    def meanings(self, spec):
        within = f"{tolerance_in_words(spec)}, or {spec.entry.tolerance.iterations:g} % of the iterations"
        return {
            "reproduced": f"ours lies within {within}, of the published number",
            "higher": f"ours lies more than {within}, above the published number",
            "lower": f"ours lies more than {within}, below the published number",
            "published only": "shown with a published number but not judged: seconds of another machine, "
            "iterations set by the study",
            "unit": "the first row, by which the seconds of the data set's others are divided",
            "failed": "no number of ours; the footnote says why",
        }

    def shown_as(self, metric):
        return _TIMES if metric == SECONDS else self
