"""Tables of what optimizers find from random starts."""

from collections.abc import Mapping

from entrolab.fit.learners import projection_of
from entrolab.jobs.source_analysis import locate
from entrolab.study.entries import OfData
from entrolab.study.lookup import labels
from entrolab.study.sections import Section, described, mapping_of, whole
from entrolab.tables.base import ALL, NOTHING, Found, Judged, phrase
from entrolab.tables.measured import Measured
from entrolab.tables.verdicts import SLACK, beside

SOME = 16  # starts, of which the best counts
ENOUGH = 95.0  # percent of the best
# What a learner has to have for its starts to be told apart.
ASKED = ("n_init", "random_state")


NStarts = described(whole(ge=SOME), f"a whole number from {SOME}, of which the best is shown")


class WithStarts(Section):
    """A model with a number of starts of its own."""

    starts: NStarts = None


class Starts(Measured):
    """Where random starts end, and the best of sixteen: data sets and models × what is known of them."""

    rows, columns = ("dataset", "model"), ("metric",)
    measured_by = "entrolab.experiments.starts.measure"

    class Entry(OfData):
        models: mapping_of(
            WithStarts, "models by name, each with its number of starts if it has another", at_most=6
        )
        starts: NStarts

    def has_learner(self, table, model):
        return bool(model["steps"]) or "estimator" in model

    def names(self, table, study):
        starting = [name for name, model in study["models"].items() if optimizer_of(model)]
        what = f"model with a step, or without steps an estimator, that has {' and '.join(ASKED)},"
        yield from (("models", name, starting, what) for name in table["models"])

    def places(self, table):
        label = f"data sets where {SOME} starts reach {ENOUGH:g} % of the best, in %"
        return {ALL: {"label": label, "sublabel": ""}}

    def models(self, table, study):
        return {
            name: named | {"starts": table["models"][name].get("starts", table["starts"])}
            for name, named in labels(study, table["models"]).items()
        }

    def metrics(self, table):
        return {
            "best": {"label": "best", "sublabel": "objective"},
            "expected": {"label": f"best of {SOME}", "sublabel": "% of the best"},
            "near": {"label": f"starts within {100 - ENOUGH:g} %", "sublabel": "% of them"},
            "seconds": {"label": f"{SOME} starts", "sublabel": "s"},
            "evaluations": {"label": "evaluations", "sublabel": "of a start"},
        }

    def measurement(self, table, study, dataset):
        return {
            "some": SOME,
            "enough": ENOUGH,
            "models": {
                name: optimizer_of(study["models"][name]) | {"starts": named["starts"]}
                for name, named in self.models(table, study).items()
            },
        }

    def cells(self, spec):
        """Of all data sets together one thing is said."""
        return [cell for cell in super().cells(spec) if cell[0] != ALL or cell[2] == "expected"]

    def found(self, cell, spec, results):
        dataset, model, metric = cell
        if dataset == ALL:
            return self._of_all(model, metric, spec, results)
        found = super().found(cell, spec, results)
        lost = [
            row["error"]
            for row in results.measured(spec["table"], dataset)
            if row["model"] == model and row["reading"] and row["kind"]
        ]
        if not lost or found.trouble:
            return found
        starts = spec["models"][model]["starts"]
        return Found(found.ours, reason=f"{phrase(lost[0])} in {len(lost)} of {starts} fits")

    def _of_all(self, model, metric, spec, results) -> Found:
        each = [
            super(Starts, self).found((dataset, model, metric), spec, results)
            for dataset in spec["datasets"]
            if dataset != ALL
        ]
        known = [one.ours for one in each if not one.trouble]
        if not known:
            return Found(trouble="failed", reason="no data set has a number")
        share = 100 * sum(value > ENOUGH - SLACK for value in known) / len(known)
        lacking = len(each) - len(known)
        return Found(share, reason=f"{lacking} of {len(each)} data sets have no number" if lacking else "")

    def printed_at(self, cell):
        """What is printed of all data sets is said of one solver, and stands beside each of ours."""
        dataset, _, metric = cell
        return (dataset, "", metric) if dataset == ALL else cell

    def judge(self, cell, spec, found, printed):
        ours, value = found[cell].ours, printed.get(self.printed_at(cell), NOTHING).value
        return Judged(beside(ours, value, tolerance=0), ours - value)

    def says(self, spec):
        return (
            "Where random starts of an optimizer end, by the objective at the subspace that is returned. The "
            f"best is that of all models of a data set. The best of {SOME} is its expectation over all "
            f"subsets of {SOME} starts; seconds are of the processor, on one thread."
        )

    def agreement(self, spec):
        return "equal"

    def meanings(self, spec):
        return {
            "reproduced": "for as many of the data sets as in print",
            "higher": "for more of the data sets than in print",
            "lower": "for fewer of the data sets than in print",
            "ours alone": "measured here",
        }

    def digits(self, metric, printed):
        return {"best": 3, "evaluations": 0}.get(metric, 1)

    def number(self, metric, value, digits):
        """Short seconds with two significant digits."""
        if metric == "seconds" and 0 < value < 0.95:
            return f"{value:#.2g}"
        return super().number(metric, value, digits)


def optimizer_of(model: Mapping) -> dict | None:
    """A model entry up to the last step, or itself where it has none, that has random starts, as an entry."""
    parts = [part for part in model["steps"] or [model] if "estimator" in part]
    for number in range(len(parts), 0, -1):
        accepted = locate(parts[number - 1]["estimator"]).parameters
        if accepted is None or set(ASKED) <= set(accepted):
            return projection_of({"steps": parts[:number]})
    return None
