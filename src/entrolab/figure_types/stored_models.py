"""Base class of the figures that are drawn from refitted models."""

from entrolab.figure_types.base import OfSelectedModels, Stored
from entrolab.fit.learners import FIRST_STEP, made_of


class OfStoredModels(OfSelectedModels):
    """Figures of the refitted models."""

    stages = ("models",)

    def spec(self, figure, study):
        models = {name: study.models[name] for name in figure.models}
        stored = {
            name: Stored(model.criteria[0], made_of(model), study.model_format)
            for name, model in models.items()
        }
        return super().spec(figure, study) | {"stored": stored}


def stored_model(model: str, folder: str, record, spec):
    """The model of a run that its first criterion selected, else `NothingToDraw` with the reason."""
    from entrolab.figure_types.drawing import NothingToDraw, check_success
    from entrolab.io.model_reading import NoModel, load_fitted

    check_success(record)
    try:
        fitted, *_ = load_fitted(folder, *spec.stored[model])
    except NoModel as error:
        raise NothingToDraw(str(error)) from None
    return of_scaled_rows(fitted)


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
