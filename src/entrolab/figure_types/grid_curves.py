"""Figures of scores against the values of one parameter of a grid."""

from pydantic import model_validator

from entrolab.figure_types.base import LinePerModel, RunsEntry, grid_mistakes, score_name
from entrolab.study.sections import shortened, wrong

WIDE = 12.0  # inches, if there are many curves


class GridCurves(LinePerModel):
    """Test scores against the values of one parameter, a panel per data set."""

    class Entry(RunsEntry):
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

    stages = ("candidates",)
    trains = True
    empty = ((), ())

    def mistakes(self, figure, study, catalog):
        axes = [figure.parameter, *filter(None, [figure.by])]
        for model in figure.models:
            yield from grid_mistakes("parameter", model, axes, study)

    def lines(self, dataset, model, files, record, spec):
        from entrolab.figure_types.drawing import Line, grid_of

        entry = spec.entry
        names = [*filter(None, [entry.by]), entry.parameter]
        grid = grid_of(files[0], record, names, entry.metric)
        curves = {spec.name_of(model): grid}
        if entry.by:
            curves = {
                f"{entry.by} = {value:g}": (grid.scores[value], grid.reasons[value])
                for value in grid.scores.columns.unique(0)
            }
        return {
            name: Line((scores.columns.get_level_values(-1).to_numpy(), scores.to_numpy()), reasons.to_list())
            for name, (scores, reasons) in curves.items()
        }

    def display(self, dataset, lines, spec):
        from entrolearn.plotting import GridCurveDisplay

        return GridCurveDisplay(
            lines,
            param_name=spec.entry.parameter,
            score_name=score_name(spec.entry.metric),
            ordered=bool(spec.entry.by),
        )

    def layout_of(self, spec):
        return {"width": WIDE} if spec.entry.by else {}
