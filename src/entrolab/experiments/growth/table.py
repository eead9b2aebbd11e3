"""Tables of the growth of training time and model size."""

from entrolab.experiments.base import Measured, with_params
from entrolab.study.entries import OfData, Points, WithParams
from entrolab.study.sections import Section, Whole, mapping_of
from entrolab.tables.base import Head


class Sized(WithParams):
    """A model with its fixed parameters and the parameter that is its size."""

    size: str = None
    rows: Points = None


class At(Section):
    """The number of rows while sizes vary, and the size while rows vary."""

    rows: Whole
    size: Whole


class Growth(Measured):
    """Exponents with which training time and model size grow: models × exponents."""

    # A power law fits a range of sizes only approximately, because of log factors and overheads.
    TOLERANCE = 0.3

    rows, columns = ("model",), ("metric",)
    measured_by = "entrolab.experiments.growth.measure"
    parameters = ("sizes", "at", "repeats")
    usual_decimals = 2
    one_dataset = True

    class Entry(OfData):
        models: mapping_of(
            Sized, "models by name, each with its fixed parameters and the parameter that is its size"
        )
        rows: Points
        sizes: Points
        at: At
        repeats: Whole

    compares = "Top: ours; bottom: the published exponent, which is that of an upper bound for large sizes."

    def has_learner(self, table, model):
        return model.estimator is not None

    def metrics(self, table):
        return {
            "seconds_by_rows": Head("training time", "in N"),
            "seconds_by_size": Head("training time", "in h"),
            "numbers_by_rows": Head("model size", "in N"),
            "numbers_by_size": Head("model size", "in h"),
        }

    def measurement(self, table, study, dataset):
        models = with_params(table.models, study, study.tasks[dataset])
        for name, entry in table.models.items():
            models[name] |= {"size": entry.size or "", "rows": entry.rows or table.rows}
        return super().measurement(table, study, dataset) | {"models": models}

    def cells(self, spec):
        """All cells, except the exponent in the size for models without a size parameter."""
        return [
            (dataset, model, metric)
            for dataset, model, metric in super().cells(spec)
            if spec.entry.models[model].size or not metric.endswith("_size")
        ]

    def published_at(self, cell):
        """Exponents are published without a data set."""
        return "", *cell[1:]

    def tolerance(self, cell, spec, ours, published):
        return max(self.TOLERANCE, self.ERRORS * ours.ours_std)

    def says(self, spec):
        at = spec.entry.at
        return (
            "Exponents of power laws, ± their standard errors, fitted by least squares to logarithms: "
            f"against the rows N at h = {at.size}, against the hidden units h at N = {at.rows}. "
            "Model size counts the numbers that a fitted model stores."
        )

    def agreement(self, spec):
        return f"within {self.TOLERANCE:g}"

    def meanings(self, spec):
        return {
            "reproduced": f"ours is within {self.TOLERANCE:g}, or two standard errors, of the published "
            "exponent",
            "higher": "grows faster, on these sizes, than the published bound for large sizes",
            "lower": "grows slower, on these sizes, than the published bound, which is no contradiction",
            "ours only": "no exponent is published",
        }
