"""Figures of projected rows with the densities of their classes."""

from entrolab.figure_types.base import FittedAnew, class_mistakes
from entrolab.fit.learners import projection_of
from entrolab.study.entries import Entry, TwelveModels

ROWS = "rows of "  # prefix of the series of a class's rows


class Projections(FittedAnew):
    """Projected rows with the densities of their classes, and a page with a tooltip per row."""

    class Entry(Entry):
        datasets: str
        models: TwelveModels

    formats = ("svg", "png", "csv", "html")
    layout = {"n_columns": 3, "width": 9.0, "common": False}  # each plane has its own units

    def part(self, model, task):
        return projection_of(model)

    def has_learner(self, model):
        return bool(model.steps or model.estimator)

    def mistakes(self, figure, study, catalog):
        yield from class_mistakes(self.datasets(figure, study), study)

    def fitted(self, data, learner, spec):
        from entrolearn.plotting import ProjectionDisplay

        projection = learner.fit(data.X, data.y)
        return ProjectionDisplay.from_estimator(projection, data.X, data.y, display_labels=data.classes)

    def align(self, displays):
        """Give the classes of different data sets the same names: all panels share one legend."""
        if len({tuple(display.display_labels) for display in displays}) > 1:
            most = max(len(display.display_labels) for display in displays)
            names = ("negative", "positive") if most == 2 else [f"class {c}" for c in range(1, most + 1)]
            for display in displays:
                display.display_labels = names[: len(display.display_labels)]

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
