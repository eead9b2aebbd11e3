"""Figures of projected rows with the densities of their classes."""

from entrolab.figures.base import FigureType, task_mistakes
from entrolab.fit.learners import projection_of
from entrolab.tables.entries import TwelveModels

ROWS = "rows of "  # prefix of the series of a class's rows


class Projections(FigureType):
    """Projected rows with the densities of their classes, and a page with a tooltip per row."""

    of = "rows"
    formats = ("svg", "png", "csv", "html")
    datasets: str
    models: TwelveModels

    def learner(self, model, task):
        return projection_of(model)

    def mistakes(self, study, catalog):
        yield from super().mistakes(study, catalog)
        yield from task_mistakes(study.datasets[self.datasets], ("binary", "multiclass"), study)

    def draw(self, files):
        from entrolab.figures.drawing import draw_panels
        from entrolearn.plotting import ProjectionDisplay

        def panel(source):
            data = source.data()
            projection = source.learner().fit(data.X, data.y)
            return ProjectionDisplay.from_estimator(projection, data.X, data.y, display_labels=data.classes)

        # Each plane has its own units.
        return draw_panels(files, panel, align=_share_labels, n_columns=3, width=9.0, common=False)

    def to_hover(self, spec, table, sources) -> dict:
        """The displays by title, with the features of rows before scaling.

        `table` is the content of the figure's CSV file, `sources` are the prepared data sets.
        """
        from entrolab.data.dataset import load_dataset
        from entrolearn.plotting import ProjectionDisplay

        files = dict(zip(spec.datasets, sources, strict=True))
        panels = {}
        for (dataset, model), drawn in table.groupby(["dataset", "model"], sort=False):
            title = spec.title_of(dataset, model)
            if drawn["reason"].iloc[0]:
                panels[title] = drawn["reason"].iloc[0]
                continue
            data = load_dataset(files[dataset])
            shown = drawn.dropna(subset="row").astype({"row": int}).sort_values("row")
            codes = shown["series"].map({ROWS + label: code for code, label in enumerate(data.classes)})
            panels[title] = ProjectionDisplay(
                shown[["x", "y"]].to_numpy(),
                codes.to_numpy(),
                display_labels=data.classes,
                row_names=shown["row"].to_numpy(),
                features=data.X[shown["row"].to_numpy()],
                feature_names=data.feature_names,
            )
        return panels


def _share_labels(displays) -> None:
    """Give the classes of different data sets the same names: all panels share one legend."""
    if len({tuple(display.display_labels) for display in displays}) > 1:
        most = max(len(display.display_labels) for display in displays)
        names = ("negative", "positive") if most == 2 else [f"class {c}" for c in range(1, most + 1)]
        for display in displays:
            display.display_labels = names[: len(display.display_labels)]
