"""Figures of scores over the values of two parameters of a grid."""

from entrolab.figures.base import OfModels, grid_mistakes
from entrolab.fit.metrics import score_name
from entrolab.schema.sections import list_of


class GridSurface(OfModels):
    """Mean test scores over two parameters, a panel per data set and model."""

    of = "candidates"
    # The parameter of the horizontal axis first.
    parameters: list_of(str, at_least=2, at_most=2)
    metric: str

    def mistakes(self, study, catalog):
        yield from super().mistakes(study, catalog)
        for model in self.models:
            yield from grid_mistakes("parameters", model, self.parameters, study)

    def draw(self, files):
        import pandas as pd

        from entrolab.figures.drawing import draw_panels
        from entrolab.figures.grids import grid_of
        from entrolearn.plotting import GridSurfaceDisplay

        x_name, y_name = self.parameters

        def panel(run):
            scores, reasons = grid_of(run, self.parameters, self.metric)
            # Grid points with a failed fit have no mean.
            mean = scores.mean(skipna=False).unstack()
            display = GridSurfaceDisplay(
                mean.index.to_numpy(),
                mean.columns.to_numpy(),
                mean.to_numpy().T,
                x_name=x_name,
                y_name=y_name,
                score_name=score_name(self.metric),
            )
            points = pd.MultiIndex.from_product([mean.index, mean.columns])
            folds = scores.count().reindex(points, fill_value=0).to_list()
            return display, {"folds": folds, "reason": reasons.reindex(points, fill_value="").to_list()}

        return draw_panels(files, panel, n_columns=2, width=11.0)
