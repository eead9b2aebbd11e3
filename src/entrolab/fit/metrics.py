"""Which scores there are: what they are called, whom they fit, which end is the good one.

`scoring` and `probabilities` compute them. Nothing is imported here that a rule
or a table does not have already.
"""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["METRICS", "Metric", "metrics_of"]

BINARY = frozenset({"binary"})
CLASSES = frozenset({"binary", "multiclass"})
NUMBERS = frozenset({"regression"})


@dataclass(frozen=True)
class Metric:
    """One kind of score.

    Attributes
    ----------
    label : str
        As a reader knows it.
    tasks : frozenset of {"binary", "multiclass", "regression"}
        The tasks of the data sets that it fits.
    greater_is_better : bool
    percent : bool
        Whether it is a fraction, which tables show times 100.
    of_fit : bool
        Whether the fitted machine alone decides it, whatever it predicts. Nothing is chosen by such a metric,
        and a machine may have none.
    of_probabilities : bool
        Whether it asks for more than a class: for decision values or probabilities. Nothing is chosen by it,
        and a machine may have none.
    digits : int
        Decimals that tables show of it where it is no fraction.
    """

    label: str
    tasks: frozenset[str]
    greater_is_better: bool = True
    percent: bool = True
    of_fit: bool = False
    of_probabilities: bool = False
    digits: int = 4

    @property
    def chooses(self) -> bool:
        """Whether it says of every fit how good its predictions are."""
        return not (self.of_fit or self.of_probabilities)


METRICS: dict[str, Metric] = {
    "gmean": Metric("GMEAN", CLASSES),
    "balanced_accuracy": Metric("balanced accuracy", CLASSES),
    "accuracy": Metric("accuracy", CLASSES),
    "precision": Metric("precision", BINARY),  # of class 1, and so are the next two
    "recall": Metric("recall", BINARY),
    "f1": Metric("F1", BINARY),
    "error_rate": Metric("error", CLASSES, greater_is_better=False),  # 1 - accuracy
    "auc": Metric("AUC", BINARY, of_probabilities=True),
    "log_loss": Metric(
        "log loss", BINARY, greater_is_better=False, percent=False, of_probabilities=True, digits=3
    ),
    "brier": Metric(
        "Brier score", BINARY, greater_is_better=False, percent=False, of_probabilities=True, digits=3
    ),
    "calibration_error": Metric("calibration error", BINARY, greater_is_better=False, of_probabilities=True),
    "rmse": Metric("RMSE", NUMBERS, greater_is_better=False, percent=False),
    "error_entropy": Metric("error entropy", NUMBERS, greater_is_better=False, percent=False),  # in nats
    "support": Metric("support vectors", CLASSES | NUMBERS, greater_is_better=False, of_fit=True),
    "iterations": Metric(
        "iterations", CLASSES | NUMBERS, greater_is_better=False, percent=False, of_fit=True, digits=0
    ),
}


def metrics_of(task: str, metrics: Iterable[str]) -> list[str]:
    """Keep those of some metrics that fit a task, in their order.

    Examples
    --------
    >>> metrics_of("regression", ["accuracy", "f1", "rmse"])
    ['rmse']
    """
    return [metric for metric in metrics if task in METRICS[metric].tasks]
