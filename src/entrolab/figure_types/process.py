"""Figures of the steps of an entropy machine from input to prediction."""

from entrolab.figure_types.base import FigureType, fitted_with
from entrolab.study.entries import Entry, Params


class Process(FigureType):
    """The steps of an entropy machine from input to prediction, in four panels."""

    class Entry(Entry):
        dataset: str
        model: str
        params: Params = {}

    stages = ("scaled",)

    def names(self, figure, study, catalog):
        yield "dataset", figure.dataset, catalog, "data set"
        yield "model", figure.model, study.models, "model"

    def has_learner(self, model):
        return model.estimator is not None

    def drawn_from(self, figure, study):
        return [(figure.dataset, "")]

    def datasets(self, figure, study):
        return [figure.dataset]

    def spec(self, figure, study):
        place, model = (figure.dataset, figure.model), study.models[figure.model]
        learner = {"estimator": model.estimator, "params": model.params, "steps": model.steps}
        return {"learners": {place: fitted_with(figure.params, learner, study, *place)}}

    def draw(self, spec, sources, records):
        from entrolab.figure_types.drawing import attempt, draw_whole
        from entrolearn.plotting import process_axes

        return draw_whole(attempt(self._display, *sources, spec), process_axes())

    def _display(self, source: str, spec):
        """The display of the model fitted to all rows of a plane."""
        import pandas as pd

        from entrolab.data.dataset import load_dataset
        from entrolab.fit.learners import build
        from entrolearn.plotting import ProcessDisplay

        data = load_dataset(source)
        X = pd.DataFrame(data.X, columns=data.feature_names)
        (learner,) = spec.learners.values()
        fitted = build(learner, spec.seed).fit(X, data.y)
        return ProcessDisplay.from_estimator(fitted, X, data.y, display_labels=data.classes)
