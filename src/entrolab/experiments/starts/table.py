"""Tables of the optima that optimizers reach from random starts."""

from entrolab.experiments.base import Measured
from entrolab.fit.learners import projection_of
from entrolab.study.entries import OfData
from entrolab.study.sections import Section, described, mapping_of, whole
from entrolab.tables.base import ALL, Found, Head, phrase
from entrolab.tables.verdicts import SLACK

SOME = 16  # number of starts of which the best is reported
ENOUGH = 95.0  # percent of the best

NStarts = described(whole(ge=SOME), f"a whole number from {SOME}, of which the best is shown")


class WithStarts(Section):
    """A model with its own number of starts."""

    starts: NStarts = None


class Starts(Measured):
    """Optima of random starts, and the best of sixteen: data sets and models × metrics."""

    rows, columns = ("dataset", "model"), ("metric",)
    measured_by = "entrolab.experiments.starts.measure"
    summarised = ("expected",)
    decimals, significant = {"best": 3, "evaluations": 0}, ("seconds",)

    class Entry(OfData):
        models: mapping_of(
            WithStarts, "models by name, each with its number of starts if it has another", at_most=6
        )
        starts: NStarts

    def has_learner(self, table, model):
        return bool(model.steps or model.estimator)

    def places(self, table):
        label = f"data sets where {SOME} starts reach {ENOUGH:g} % of the best, in %"
        return {ALL: Head(label)}

    def metrics(self, table):
        return {
            "best": Head("best", "objective"),
            "expected": Head(f"best of {SOME}", "% of the best"),
            "near": Head(f"starts within {100 - ENOUGH:g} %", "% of them"),
            "seconds": Head(f"{SOME} starts", "s"),
            "evaluations": Head("evaluations", "of a start"),
        }

    def measurement(self, table, study, dataset):
        return {
            "some": SOME,
            "enough": ENOUGH,
            "models": {
                name: projection_of(study.models[name]) | {"starts": own.starts or table.starts}
                for name, own in table.models.items()
            },
        }

    def found(self, cell, spec, results):
        dataset, model, _ = cell
        found = super().found(cell, spec, results)
        if dataset == ALL or found.status != "ok":
            return found
        lost = [
            row.error
            for row in results.measured(spec.name, dataset)
            if row.model == model and row.reading and row.status != "ok"
        ]
        if not lost:
            return found
        starts = spec.entry.models[model].starts or spec.entry.starts
        return Found(found.ours, reason=f"{phrase(lost[0])} in {len(lost)} of {starts} fits")

    def summary(self, metric, numbers):
        """The percentage of data sets where the best of `SOME` starts is close to the best of all."""
        return Found(100 * sum(value > ENOUGH - SLACK for value in numbers) / len(numbers))

    def says(self, spec):
        return (
            "Optima of random starts of an optimizer: the objective at the returned subspace. The best is "
            f"that of all models on a data set. The best of {SOME} is the expected maximum over all subsets "
            f"of {SOME} starts; processor seconds on one thread."
        )

    def agreement(self, spec):
        return "equal"

    def meanings(self, spec):
        return {
            "reproduced": "for as many of the data sets as published",
            "higher": "for more of the data sets than published",
            "lower": "for fewer of the data sets than published",
            "ours only": "measured here",
        }
