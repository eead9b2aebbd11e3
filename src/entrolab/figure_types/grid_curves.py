"""Figures of scores against the values of one parameter of a grid."""

from pydantic import model_validator

from entrolab.figure_types.base import LinePerModel, RunsEntry, grid_mistakes, name_of_model, score_name
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
        axes = [figure["parameter"], *filter(None, [figure.get("by")])]
        for model in figure["models"]:
            yield from grid_mistakes("parameter", model, axes, study)

    def lines(self, dataset, model, files, record, spec):
        from entrolab.figure_types.drawing import Line, grid_of

        by = list(filter(None, [spec.get("by")]))
        grid = grid_of(files[0], record, [*by, spec["parameter"]], spec["metric"])
        curves = {name_of_model(spec, model): grid}
        if by:
            values = grid.scores.columns.unique(0)
            curves = {f"{by[0]} = {value:g}": (grid.scores[value], grid.reasons[value]) for value in values}
        return {
            name: Line((scores.columns.get_level_values(-1).to_numpy(), scores.to_numpy()), reasons.to_list())
            for name, (scores, reasons) in curves.items()
        }

    def display(self, dataset, lines, spec):
        from entrolearn.plotting import GridCurveDisplay

        return GridCurveDisplay(
            lines,
            param_name=spec["parameter"],
            score_name=score_name(spec["metric"]),
            ordered=bool(spec.get("by")),
        )

    def layout_of(self, spec):
        return {"width": WIDE} if spec.get("by") else {}
