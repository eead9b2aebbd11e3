"""Figures of scores against the values of one parameter of a grid."""

from pydantic import model_validator

from entrolab.figures.base import OfModels, grid_mistakes
from entrolab.fit.metrics import score_name
from entrolab.schema.sections import shortened, wrong

WIDE = 12.0  # inches, if there are many curves


class GridCurves(OfModels):
    """Test scores against the values of one parameter, a panel per data set, a curve per model."""

    of = "candidates"
    parameter: str
    # Another parameter of the grid, with a curve for each value.
    by: str = None
    metric: str

    @model_validator(mode="after")
    def _one_model(self):
        if self.by is not None and len(self.models) > 1:
            raise wrong(
                f"models: found {shortened(self.models)}, expected a list of one model: the curves are "
                "the values of `by`"
            )
        return self

    def mistakes(self, study, catalog):
        yield from super().mistakes(study, catalog)
        for model in self.models:
            yield from grid_mistakes("parameter", model, [self.parameter, *filter(None, [self.by])], study)

    def draw(self, files):
        from entrolab.figures.drawing import Line, draw_lines, lines_of
        from entrolab.figures.grids import grid_of
        from entrolearn.plotting import GridCurveDisplay

        def curves(run):
            scores, reasons = grid_of(run, [*filter(None, [self.by]), self.parameter], self.metric)
            parts = {run.name: (scores, reasons)}
            if self.by:
                values = scores.columns.unique(0)
                parts = {f"{self.by} = {one:g}": (scores[one], reasons[one]) for one in values}
            return {
                name: Line(
                    (scores.columns.get_level_values(-1).to_numpy(), scores.to_numpy()), reasons.to_list()
                )
                for name, (scores, reasons) in parts.items()
            }

        def display(dataset, lines):
            return GridCurveDisplay(
                lines,
                param_name=self.parameter,
                score_name=score_name(self.metric),
                ordered=bool(self.by),
            )

        layout = {"width": WIDE} if self.by else {}
        return draw_lines(lines_of(files, curves), display, empty=((), ()), **layout)
