"""Properties of fitted estimators that displays use, with validation."""

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


def unwrapped(estimator):
    """The fitted estimator itself, or the best estimator of a search."""
    check_is_fitted(estimator)
    return getattr(estimator, "best_estimator_", estimator)


def last_step(estimator):
    """The last step of a pipeline; other estimators are returned unchanged."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def before_last_step(estimator, X):
    """The rows as transformed for the last step of a pipeline."""
    return estimator[:-1].transform(X) if isinstance(estimator, Pipeline) and len(estimator) > 1 else X


def name_of(estimator) -> str:
    """The estimator's name in error messages."""
    return type(last_step(estimator)).__name__


def class_codes(estimator, y) -> np.ndarray:
    """Class of each row, 0 or 1 in the order of the estimator's ``classes_``.

    Raises
    ------
    ValueError
        If the estimator is not a binary classifier, or the labels differ from its classes.
    """
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) != 2:
        found = "is not a classifier" if classes is None else f"was fitted to {len(classes)} classes"
        raise ValueError(f"{name_of(estimator)} {found}; accepted: a classifier of two classes")
    labels, codes = np.unique(y, return_inverse=True)
    if labels.tolist() != classes.tolist():
        raise ValueError(
            f"y holds the labels {labels.tolist()}; {name_of(estimator)} was fitted to {classes.tolist()}"
        )
    return codes


def class_labels(estimator, display_labels) -> list[str]:
    """Names of the classes in the plot; by default the labels of the estimator."""
    if display_labels is None:
        return [str(label) for label in estimator.classes_]
    labels = [str(label) for label in display_labels]
    if len(labels) != 2:
        raise ValueError(f"display_labels are {labels}; accepted: two, the negative class first")
    return labels
