"""Figures of projected rows with the densities of their classes."""

from entrolab.figures.base import FigureType, task_mistakes
from entrolab.fit.learners import projection_of
from entrolab.tables.entries import TwelveModels


class Projections(FigureType):
    """Projected rows with the densities of their classes."""

    of = "rows"
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


def _share_labels(displays) -> None:
    """Give the classes of different data sets the same names: all panels share one legend."""
    if len({tuple(display.display_labels) for display in displays}) > 1:
        most = max(len(display.display_labels) for display in displays)
        names = ("negative", "positive") if most == 2 else [f"class {c}" for c in range(1, most + 1)]
        for display in displays:
            display.display_labels = names[: len(display.display_labels)]
