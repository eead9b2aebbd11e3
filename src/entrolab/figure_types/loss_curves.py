"""Figures of the objectives of the refitted models by iteration."""

from entrolab.figure_types.base import LinePerModel
from entrolab.figure_types.stored_models import OfStoredModels, stored_model


class LossCurves(LinePerModel, OfStoredModels):
    """The objective after each iteration, a line per model."""

    layout = {"n_columns": 2, "width": 10.0, "common": False}

    def line(self, dataset, model, files, record, spec):
        from entrolab.figure_types.drawing import Line
        from entrolearn.plotting import LossCurvesDisplay

        fitted = stored_model(model, *files, record, spec)
        return Line(LossCurvesDisplay.from_estimators({model: fitted}).losses[model])

    def display(self, dataset, lines, spec):
        from entrolearn.plotting import LossCurvesDisplay

        return LossCurvesDisplay(lines)
