"""Tables of what training takes and gives."""

from collections.abc import Mapping
from dataclasses import replace

from entrolab.fit.learners import learner_at
from entrolab.fit.metrics import METRICS
from entrolab.study.entries import ModelNames, OfData
from entrolab.study.sections import Section, number
from entrolab.tables.base import Found
from entrolab.tables.parameters import most_often
from entrolab.tables.scores import CRITERIA, Scores
from entrolab.tables.times import Times
from entrolab.tables.trained import OfModels
from entrolab.tables.verdicts import JUDGED

ITERATIONS, SECONDS = "iterations", "fit_seconds"
# What is said of a number of iterations that the study's file decides.
SET = "as many iterations as were set"
_TIMES = Times()


class Tolerance(Section):
    """How far from the published value ours may be: points of the score, percent of the iterations."""

    points: number(gt=0)
    iterations: number(ge=0)


class Training(Scores):
    """A score on the test rows, and what it took: data sets and models × score, iterations and seconds.

    Iterations that a study sets are no finding, and seconds of another machine say little: neither is judged.
    """

    rows, columns = ("dataset", "model"), ("metric",)
    stages = (*Scores.stages, "facts")
    ranks = False
    filled = OfModels.filled

    class Entry(OfData):
        models: ModelNames
        metric: str
        criterion: str
        tolerance: Tolerance

    compares = (
        "Ours above, the published number below; of seconds also how many times the published ratio to the "
        "data set's first row ours is, since seconds of two machines do not compare."
    )

    def names(self, table, study):
        yield from super().names(table, study)
        yield "metric", ITERATIONS, study["metrics"], "metric of this study"

    def metrics(self, table):
        return {
            **super().metrics(table),
            ITERATIONS: {"label": METRICS[ITERATIONS].label, "sublabel": ""},
            **_TIMES.metrics({"cost": SECONDS}),
        }

    def of_trained(self, cell, spec, results, record):
        if cell[2] == SECONDS:
            return _TIMES.of_trained(cell, spec, results, record)
        found = super().of_trained(cell, spec, results, record)
        if found.status != "ok":
            return found
        most = most_iterations(cell, spec, results, record)
        if cell[2] == ITERATIONS:
            return Found(found.ours, found.ours_std, reason=SET if found.ours == most else "")
        # That a solver stopped where the study ends it is what the iterations tell.
        parts = [part for part in found.reason.split("; ") if not part.startswith(f"stopped at {most} ")]
        return Found(found.ours, found.ours_std, reason="; ".join(parts))

    def judge(self, cell, spec, found, published_values):
        judge = _TIMES.judge if cell[2] == SECONDS else super().judge
        judged = judge(cell, spec, found, published_values)
        if (cell[2] == SECONDS or found[cell].reason == SET) and judged.verdict in JUDGED:
            return replace(judged, verdict="published only")
        return judged

    def tolerance(self, cell, spec, ours, published):
        if cell[2] == ITERATIONS:
            return spec["tolerance"]["iterations"] / 100 * published.value
        return super().tolerance(cell, spec, ours, published)

    def says(self, spec):
        metric = METRICS[spec["metric"]]
        score = metric.label[0].upper() + metric.label[1:] + (" in percent" if metric.percent else "")
        rows = "the training rows of the first trial" if spec["trials"] else "all rows"
        criterion = CRITERIA.get(spec["criterion"], spec["criterion"])
        return (
            f"{score} on rows left out; the iterations, or epochs, of the solver; processor seconds to "
            f"fit the chosen model alone on {rows}, on one thread. Of several grid points one is chosen by "
            f"{criterion}."
        )

    def agreement(self, spec):
        return f"within {_points(spec)}, {spec['tolerance']['iterations']:g} % of the iterations"

    def meanings(self, spec):
        iterations = f"{spec['tolerance']['iterations']:g} % of the iterations"
        return {
            "reproduced": f"ours lies within {_points(spec)}, or {iterations}, of the published number",
            "higher": f"ours lies more than {_points(spec)}, or {iterations}, above the published number",
            "lower": f"ours lies more than {_points(spec)}, or {iterations}, below the published number",
            "published only": "shown beside a published number that it is not judged by: seconds of another "
            "machine, iterations that were set",
            "unit": "the first row, which the seconds of the data set's others are divided by",
            "failed": "no number of ours; the footnote says why",
        }

    def shown_as(self, metric):
        return _TIMES if metric == SECONDS else self


def most_iterations(cell, spec: Mapping, results, record: Mapping) -> int | None:
    """The iterations or epochs that a study allows the chosen model; None if it does not say."""
    dataset, model, _ = cell
    params = most_often(results.scores(dataset, model, {})[spec["criterion"]])
    return {**learner_at(record, params)["params"], **params}.get("max_iter")


def _points(spec: Mapping) -> str:
    points = spec["tolerance"]["points"]
    return f"{points:g} point{'' if points == 1 else 's'}"
