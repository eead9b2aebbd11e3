"""Metrics of predictions, used for candidates in training and for stored predictions."""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from scipy.stats import differential_entropy

__all__ = ["SCORES", "scores"]


class _Counts:
    """The numbers of rows and hits of each class, and of rows predicted as class 1.

    A run computes tens of thousands of scores on folds of a few dozen rows, for which scikit-learn's
    validation would take a hundred times as long as the counting.
    """

    def __init__(self, y: np.ndarray, prediction: np.ndarray):
        self.y, self.prediction = y, prediction
        sizes = np.bincount(y, minlength=2)
        hits = np.bincount(y[prediction == y], minlength=len(sizes))
        present = sizes > 0
        self.hits, self.sizes = hits[present], sizes[present]
        self.recalls = self.hits / self.sizes
        self.positives, self.found = sizes[1], np.count_nonzero(prediction == 1)
        self.found_rightly = hits[1]

    @cached_property
    def by_class(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The numbers of hits, rows and predictions of each class that occurs in `y` or the predictions."""
        n_classes = 1 + max(self.y.max(), self.prediction.max())
        true, predicted = (np.bincount(codes, minlength=n_classes) for codes in (self.y, self.prediction))
        hits = np.bincount(self.y[self.prediction == self.y], minlength=n_classes)
        occurs = true + predicted > 0
        return hits[occurs], true[occurs], predicted[occurs]

    @cached_property
    def f1(self) -> np.ndarray:
        """The F1 score of each class that occurs."""
        hits, true, predicted = self.by_class
        return 2 * hits / (true + predicted)

    @property
    def matthews_correlation(self) -> float:
        """The correlation of classes and predictions; 0 if either is constant."""
        hits, true, predicted = (counts.astype(float) for counts in self.by_class)
        n_rows = true.sum()
        covariance = n_rows * hits.sum() - true @ predicted
        variances = (n_rows**2 - true @ true) * (n_rows**2 - predicted @ predicted)
        return covariance / np.sqrt(variances) if variances > 0 else 0.0


class _Errors:
    """The errors of predicted values, and the true values."""

    def __init__(self, y: np.ndarray, prediction: np.ndarray):
        self.errors, self.y = prediction - y, y

    @property
    def r2(self) -> float:
        """1 - squared errors / squared deviations from the mean; NaN if the values are constant."""
        deviations = np.sum((self.y - self.y.mean()) ** 2)
        return 1 - np.sum(self.errors**2) / deviations if deviations > 0 else np.nan


# Undefined scores (no row of class 1, or none predicted so) are 0, as in scikit-learn with zero_division=0.
SCORES: dict[str, Callable] = {
    "gmean": lambda of: np.prod(of.recalls) ** (1 / len(of.recalls)),
    "balanced_accuracy": lambda of: np.mean(of.recalls),
    "accuracy": lambda of: np.sum(of.hits) / np.sum(of.sizes),
    "precision": lambda of: of.found_rightly / max(of.found, 1),
    "recall": lambda of: of.found_rightly / max(of.positives, 1),
    "f1": lambda of: 2 * of.found_rightly / max(of.found + of.positives, 1),
    "error_rate": lambda of: 1 - np.sum(of.hits) / np.sum(of.sizes),
    "f1_macro": lambda of: np.mean(of.f1),
    "f1_weighted": lambda of: np.average(of.f1, weights=of.by_class[1]),
    "mcc": lambda of: of.matthews_correlation,
    "rmse": lambda of: np.sqrt(np.mean(of.errors**2)),
    "mae": lambda of: np.mean(np.abs(of.errors)),
    "median_absolute_error": lambda of: np.median(np.abs(of.errors)),
    "r2": lambda of: of.r2,
    # Estimated from spacings of the errors, which needs no kernel width.
    "error_entropy": lambda of: differential_entropy(of.errors),
}


def scores(y: np.ndarray, prediction: np.ndarray, metrics: Sequence[str]) -> dict[str, float]:
    """Some of :data:`SCORES`, as fractions; classes that do not occur in `y` are ignored.

    `y` and `prediction` are integers from 0 for classes, floats for values; the metrics fit the task.

    Examples
    --------
    >>> scores(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 1, 0]), ["balanced_accuracy"])
    {'balanced_accuracy': 0.625}
    """
    outcome = (_Errors if y.dtype.kind == "f" else _Counts)(y, prediction)
    return {metric: float(SCORES[metric](outcome)) for metric in metrics}
