"""Figures of the density of a learner's errors after some epochs."""

import itertools

from entrolab.figure_types.base import FittedAnew, RunsEntry
from entrolab.fit.learners import estimator_of, learners_of
from entrolab.study.entries import Params
from entrolab.study.sections import Whole, list_of


class ErrorDensities(FittedAnew):
    """The density of the errors after some epochs, each from a fit with the same seed."""

    class Entry(RunsEntry):
        epochs: list_of(Whole)
        params: Params = {}

    layout = {"n_columns": 3, "width": 10.0, "common": False}

    def has_learner(self, model):
        return bool(learners_of(model))

    def mistakes(self, figure, study, catalog):
        for dataset, model in itertools.product(self.datasets(figure, study), figure.models):
            task = study.tasks[dataset]
            if task == "multiclass":
                what = "a multiclass data set"
            elif estimator_of(study.models[model], task) is None:
                what = f"a data set without a learner in {model!r}"
            else:
                continue
            yield (
                f"datasets: {dataset!r} is {what}; accepted: binary and regression data sets that each "
                "model has a learner for"
            )

    def fitted(self, data, learner, spec):
        from entrolearn.plotting import ErrorDensityDisplay

        return ErrorDensityDisplay.from_estimator(learner, data.X, data.y, epochs=spec.entry.epochs)
