"""Base class of the figures that are drawn from refitted models."""

from pathlib import Path

from entrolab.figure_types.base import OfSelectedModels
from entrolab.fit.learners import FIRST_STEP, made_of


class OfStoredModels(OfSelectedModels):
    """Figures of the refitted models."""

    stages = ("model",)

    def spec(self, name, figure, study, seed):
        learners = {model: made_of(study["models"][model]) for model in figure["models"]}
        return super().spec(name, figure, study, seed) | {"learners": learners}


def stored_model(model: str, file: str, record, spec):
    """The refitted model of a run, else `NothingToDraw` with the reason for having none."""
    from entrolab.figure_types.drawing import NothingToDraw, check_success
    from entrolab.io.model_reading import load
    from entrolab.io.records import read_json

    check_success(record)
    if not Path(file).stat().st_size:
        raise NothingToDraw(read_json(Path(file).with_suffix(".json"))["error"])
    return of_scaled_rows(load(file, spec["learners"][model]))


def of_scaled_rows(fitted):
    """A model without its preprocessing and label encoding, for scaled rows and encoded classes."""
    from sklearn.model_selection import FixedThresholdClassifier
    from sklearn.pipeline import Pipeline

    from entrolearn.columns import ColumnEncoder, LabelEncodedClassifier

    if isinstance(fitted, (LabelEncodedClassifier, FixedThresholdClassifier)):
        return of_scaled_rows(fitted.estimator_)
    if not isinstance(fitted, Pipeline):
        return fitted
    *before, (name, learner) = fitted.steps
    kept = [step for step in before if step[0] != FIRST_STEP and not isinstance(step[1], ColumnEncoder)]
    learner = of_scaled_rows(learner)
    return Pipeline([*kept, (name, learner)]) if kept else learner
