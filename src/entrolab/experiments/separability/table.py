"""Tables of the visual separability of the classes in projections."""

from entrolab.experiments.base import Measured
from entrolab.experiments.separability import LEARNT
from entrolab.fit.learners import OF_A_STEP
from entrolab.study.entries import ModelNames, OfData
from entrolab.study.sections import Section, Whole, number, one_of
from entrolab.tables.base import Found, Head


class Points(Section):
    """The largest difference from the published value that counts as reproduced."""

    points: number(gt=0)


class Separability(Measured):
    """Visual separability of all rows in projections fitted on them: data sets × models."""

    PERCENT = 100.0

    measured_by = "entrolab.experiments.separability.measure"
    parameters = ("subsets", "share")
    measures = "visual separability, %"

    class Entry(OfData):
        models: ModelNames
        subsets: Whole = 5
        share: number(gt=0, le=1) = 0.8
        # Those that classifiers are scored on.
        rows: one_of("left_out", "learnt") = "left_out"
        # The table whose measurement is shown, if not its own.
        measured_for: str = None
        tolerance: Points = Points(points=2)

    def names(self, table, study):
        projecting = [name for name, model in study.models.items() if model.steps]
        for model in table.models:
            yield "models", model, study.models, "model"
            yield "models", model, projecting, "model with steps, which make the projection,"
        if table.measured_for:
            others = [
                name
                for name, other in study.tables.items()
                if other.type == table.type and not other.measured_for
            ]
            yield "measured_for", table.measured_for, others, "table that is measured"

    def metrics(self, table):
        return {"separability": Head("visual separability")}

    def measurement(self, table, study, dataset):
        models = {}
        for name in table.models:
            model = study.models[name]
            grid = {key: values for key, values in model.grid.items() if OF_A_STEP.match(key)}
            models[name] = {"steps": model.steps, "grid": grid}
        return super().measurement(table, study, dataset) | {"models": models}

    def found(self, cell, spec, results):
        """The number in percent; the oracle is the best grid point, scored on as many subsets."""
        found = super().found(cell, spec, results)
        if found.status != "ok":
            return found
        if spec.entry.rows == "learnt":
            return Found(self.PERCENT * found.readings[LEARNT])
        ours, std = self.PERCENT * found.ours, self.PERCENT * found.ours_std
        readings = {name: self.PERCENT * value for name, value in found.readings.items() if name != LEARNT}
        oracle = {"oracle": max(ours, *readings.values())} if readings else {}
        return Found(ours, std, readings=readings, **oracle)

    def tolerance(self, cell, spec, ours, published):
        return spec.entry.tolerance.points

    def note(self, cell, found, published_values, verdict):
        return ", ".join(f"{number:.1f} at {name}" for name, number in found[cell].readings.items())

    def says(self, spec):
        if spec.entry.rows == "learnt":
            return (
                "Mean balanced accuracy in percent of three classifiers (SVM, nearest neighbours, kernel "
                "densities), each tuned by cross-validation on projected rows and scored on its own training "
                "rows: an optimistic score, as the published numbers seem to be."
            )
        return (
            "Mean balanced accuracy in percent of three classifiers (SVM, nearest neighbours, kernel "
            "densities), each tuned and tested by cross-validation on projected rows; the projection is "
            f"fitted on all rows. Mean ± standard deviation over {spec.entry.subsets} random subsets of "
            f"{100 * spec.entry.share:g} % of the rows. A projection with a grid is shown with its own "
            "parameters; footnotes give the scores over the grid, the best of which is the oracle."
        )

    def agreement(self, spec):
        return f"within {spec.entry.tolerance.points:g} points"

    def meanings(self, spec):
        points = spec.entry.tolerance.points
        return {
            "reproduced": f"ours lies within {points:g} points of the published number",
            "higher": f"ours lies more than {points:g} points above",
            "lower": f"ours lies more than {points:g} points below",
        }
