"""Figures of scores over the values of two parameters of a grid."""

from entrolab.figure_types.base import FigureType, RunsEntry, grid_mistakes, score_name
from entrolab.study.sections import list_of


class GridSurface(FigureType):
    """Mean test scores over two parameters, a panel per data set and model."""

    class Entry(RunsEntry):
        # The parameter of the horizontal axis first.
        parameters: list_of(str, at_least=2, at_most=2)
        metric: str

    stages = ("candidates",)
    trains = True

    def mistakes(self, figure, study, catalog):
        for model in figure.models:
            yield from grid_mistakes("parameters", model, figure.parameters, study)

    def draw(self, spec, sources, records):
        import pandas as pd

        from entrolab.figure_types.drawing import attempt, drawing_of, grid_of, runs_of, table_of
        from entrolearn.plotting import GridSurfaceDisplay

        x_name, y_name = spec.entry.parameters
        panels, tables = {}, []
        for (dataset, model), (source,), record in runs_of(spec, sources, records):
            panel = attempt(grid_of, source, record, spec.entry.parameters, spec.entry.metric)
            columns = {"dataset": dataset, "model": model}
            if not isinstance(panel, str):
                # Grid points with a failed fit have no mean.
                mean = panel.scores.mean(skipna=False).unstack()
                points = pd.MultiIndex.from_product([mean.index, mean.columns])
                columns["folds"] = panel.scores.count().reindex(points, fill_value=0).to_list()
                columns["reason"] = panel.reasons.reindex(points, fill_value="").to_list()
                panel = GridSurfaceDisplay(
                    mean.index.to_numpy(),
                    mean.columns.to_numpy(),
                    mean.to_numpy().T,
                    x_name=x_name,
                    y_name=y_name,
                    score_name=score_name(spec.entry.metric),
                )
            panels[spec.title_of(dataset, model)] = panel
            tables.append(table_of(panel, **columns))
        return drawing_of(panels, tables, n_columns=2, width=11.0)
