"""Metrics: labels, tasks and directions; the modules `scoring` and `probabilities` compute them."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["METRICS", "Metric", "as_shown", "metrics_of", "score_name"]

PERCENT = 100

BINARY = frozenset({"binary"})
MANY = frozenset({"multiclass"})
CLASSES = frozenset({"binary", "multiclass"})
NUMBERS = frozenset({"regression"})


@dataclass(frozen=True)
class Metric:
    """Properties of a metric."""

    label: str
    tasks: frozenset[str]  # of {"binary", "multiclass", "regression"}
    greater_is_better: bool = True
    percent: bool = True  # a fraction, shown in percent in tables
    of_fit: bool = False  # a property of the fitted model, not of predictions; some models have none
    of_probabilities: bool = False  # needs decision values or probabilities, which some models lack
    digits: int = 4  # decimals shown in tables, if it is not a percentage

    @property
    def chooses(self) -> bool:
        """Whether it needs only predictions, which every fit has, so that it can select candidates."""
        return not (self.of_fit or self.of_probabilities)


METRICS: dict[str, Metric] = {
    "gmean": Metric("GMEAN", CLASSES),
    "balanced_accuracy": Metric("balanced accuracy", CLASSES),
    "accuracy": Metric("accuracy", CLASSES),
    "precision": Metric("precision", BINARY),  # of class 1, like the next two
    "recall": Metric("recall", BINARY),
    "f1": Metric("F1", BINARY),
    "error_rate": Metric("error", CLASSES, greater_is_better=False),  # 1 - accuracy
    "f1_macro": Metric("F1, mean of classes", CLASSES),
    "f1_weighted": Metric("F1, weighted by classes", CLASSES),
    "mcc": Metric("Matthews correlation", CLASSES, percent=False, digits=3),
    "auc": Metric("AUC", BINARY, of_probabilities=True),
    "average_precision": Metric("average precision", BINARY, of_probabilities=True),
    "top3": Metric("accuracy of the first three", MANY, of_probabilities=True),
    "log_loss": Metric(
        "log loss", CLASSES, greater_is_better=False, percent=False, of_probabilities=True, digits=3
    ),
    "explained_deviance": Metric("explained deviance", CLASSES, of_probabilities=True),
    "brier": Metric(
        "Brier score", CLASSES, greater_is_better=False, percent=False, of_probabilities=True, digits=3
    ),
    "calibration_error": Metric("calibration error", CLASSES, greater_is_better=False, of_probabilities=True),
    "rmse": Metric("RMSE", NUMBERS, greater_is_better=False, percent=False),
    "mae": Metric("mean absolute error", NUMBERS, greater_is_better=False, percent=False),
    "median_absolute_error": Metric("median absolute error", NUMBERS, greater_is_better=False, percent=False),
    "r2": Metric("R²", NUMBERS, percent=False, digits=3),
    "error_entropy": Metric("error entropy", NUMBERS, greater_is_better=False, percent=False),  # in nats
    "support": Metric("support vectors", CLASSES | NUMBERS, greater_is_better=False, of_fit=True),
    "iterations": Metric(
        "iterations", CLASSES | NUMBERS, greater_is_better=False, percent=False, of_fit=True, digits=0
    ),
}


def metrics_of(task: str, metrics: Iterable[str]) -> list[str]:
    """The metrics in a list that fit a task, in order.

    Examples
    --------
    >>> metrics_of("regression", ["accuracy", "f1", "rmse"])
    ['rmse']
    """
    return [metric for metric in metrics if task in METRICS[metric].tasks]


def score_name(metric: str) -> str:
    """The label of a metric's axis, with its unit."""
    return METRICS[metric].label + (", %" if METRICS[metric].percent else "")


def as_shown(scores, metric: str):
    """Scores as shown, that is, in percent if the metric is a percentage."""
    return PERCENT * scores if METRICS[metric].percent else scores
