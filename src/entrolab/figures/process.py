"""Figures of the steps of an entropy machine from input to prediction."""

from entrolab.figures.base import FigureType
from entrolab.schema.sections import unknown
from entrolab.tables.entries import Params


class Process(FigureType):
    """The steps of an entropy machine from input to prediction, in four panels."""

    of = "rows"
    dataset: str
    model: str
    params: Params = {}

    def mistakes(self, study, catalog):
        yield from unknown(self.dataset, catalog, "dataset", "data set")
        yield from unknown(self.model, study.models, "model", "model")

    def places(self, study):
        return [(self.dataset, self.model)]

    def params_of(self, model):
        return self.params

    def draw(self, files):
        import pandas as pd

        from entrolab.figures.drawing import attempt, draw_whole
        from entrolearn.plotting import ProcessDisplay, process_axes

        (plane,) = files

        def display():
            data = plane.data()
            X = pd.DataFrame(data.X, columns=data.feature_names)
            fitted = plane.learner().fit(X, data.y)
            return ProcessDisplay.from_estimator(fitted, X, data.y, display_labels=data.classes)

        return draw_whole(attempt(display), process_axes())
