"""Metrics of predictions, for the candidates of training and for stored predictions."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import differential_entropy

__all__ = ["ERRORS", "SCORES", "scores"]


class _Counts:
    """The rows and the hits of each class, and the rows predicted as class 1.

    A run computes tens of thousands of scores on folds of a few dozen rows, where scikit-learn's checks would
    take a hundred times as long as the counting.
    """

    def __init__(self, y: np.ndarray, prediction: np.ndarray):
        sizes = np.bincount(y, minlength=2)
        hits = np.bincount(y[prediction == y], minlength=len(sizes))
        present = sizes > 0
        self.hits, self.sizes = hits[present], sizes[present]
        self.recalls = self.hits / self.sizes
        self.positives, self.found = sizes[1], np.count_nonzero(prediction == 1)
        self.found_rightly = hits[1]


# Undefined scores (no row of class 1, or none predicted so) are 0, as in scikit-learn with zero_division=0.
SCORES: dict[str, Callable] = {
    "gmean": lambda of: np.prod(of.recalls) ** (1 / len(of.recalls)),
    "balanced_accuracy": lambda of: np.mean(of.recalls),
    "accuracy": lambda of: np.sum(of.hits) / np.sum(of.sizes),
    "precision": lambda of: of.found_rightly / max(of.found, 1),
    "recall": lambda of: of.found_rightly / max(of.positives, 1),
    "f1": lambda of: 2 * of.found_rightly / max(of.found + of.positives, 1),
    "error_rate": lambda of: 1 - np.sum(of.hits) / np.sum(of.sizes),
    "rmse": lambda of: np.sqrt(np.mean(of**2)),
    # From the spacings of the errors, so that no width of a kernel has to be chosen.
    "error_entropy": lambda of: differential_entropy(of),
}
# Metrics of which less is better.
ERRORS = frozenset({"error_rate", "rmse", "error_entropy"})


def scores(y: np.ndarray, prediction: np.ndarray, metrics: Sequence[str]) -> dict[str, float]:
    """Some of :data:`SCORES`, as fractions; classes that do not occur in `y` do not count.

    Parameters
    ----------
    y, prediction : ndarray, shape (n_samples,)
        Whole numbers from 0 for classes, floats for values.
    metrics : sequence of str
        Such as fit the task.

    Examples
    --------
    >>> scores(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 1, 0]), ["balanced_accuracy"])
    {'balanced_accuracy': 0.625}
    """
    outcome = prediction - y if y.dtype.kind == "f" else _Counts(y, prediction)
    return {metric: float(SCORES[metric](outcome)) for metric in metrics}
