"""Ranking and calibration metrics (AUC, log loss, Brier score, calibration error …) of classes."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

BINS = 10


def probability_scores(
    y: np.ndarray, decision: np.ndarray, probability: np.ndarray, metrics: Sequence[str]
) -> dict[str, float]:
    """Some of :data:`SCORES`, without those that need values that are not all finite.

    `y` contains the classes 0 and 1; decision values are larger for rows that are more likely in class 1,
    whose probabilities are `probability`.

    Examples
    --------
    >>> y, p = np.array([0, 1, 1]), np.array([0.2, 0.9, 0.6])
    >>> probability_scores(y, p, np.full(3, np.nan), ["auc", "log_loss"])
    {'auc': 1.0}
    """
    given = {"decision": decision, "probability": probability}
    asked = ((metric, *SCORES[metric]) for metric in metrics)
    return {
        metric: float(score(y, given[what]))
        for metric, what, score in asked
        if np.isfinite(given[what]).all()
    }


def calibration_error(y: np.ndarray, probability: np.ndarray) -> float:
    """Expected calibration error: differences between shares of class 1 and mean predicted probabilities.

    Rows are sorted by probability into ten bins of almost equal size. The error is the mean over bins,
    weighted by their rows, of the absolute difference. With few rows, it is positive by chance alone. See
    Naeini, Cooper and Hauskrecht, Obtaining Well Calibrated Probabilities Using Bayesian Binning, AAAI 2015.

    Examples
    --------
    >>> calibration_error(np.array([0, 1] * 10), np.full(20, 0.5))
    0.0
    """
    bins = np.array_split(np.argsort(probability, kind="stable"), min(BINS, len(y)))
    return float(sum(abs(np.sum(y[rows] - probability[rows])) for rows in bins) / len(y))


def of_many(probabilities: np.ndarray, classes: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """The values of each row that scores of several classes need, by their names in :data:`OF_MANY`.

    `probabilities` has a column for each of `classes`; a class in `y` that is not among these has probability
    0 and the last rank.

    Examples
    --------
    >>> p = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]])
    >>> found = of_many(p, np.arange(3), np.array([0, 2]))
    >>> found["true_probability"].tolist(), found["true_rank"].tolist()
    ([0.7, 0.3], [0.0, 1.0])
    """
    known = classes == y[:, None]
    true = np.where(known, probabilities, 0.0).sum(axis=1)
    larger = (probabilities > true[:, None]).sum(axis=1)
    earlier = ((probabilities == true[:, None]) & (classes < y[:, None])).sum(axis=1)
    rank = np.where(known.any(axis=1), larger + earlier, len(classes))
    return {
        "true_probability": true,
        "top_probability": probabilities.max(axis=1),
        "squared_probabilities": np.sum(probabilities**2, axis=1),
        "true_rank": rank.astype(float),
    }


def scores_of_many(y: np.ndarray, told: Mapping[str, np.ndarray], metrics: Sequence[str]) -> dict[str, float]:
    """Some of :data:`MANY`, from the values of :func:`of_many`; empty if these are not all finite."""
    if not all(np.isfinite(told[name]).all() for name in OF_MANY):
        return {}
    return {metric: float(MANY[metric](y, told)) for metric in metrics}


def explained_deviance(y: np.ndarray, loss: float) -> float:
    """The relative reduction of log loss from that of the class shares in `y`; NaN if `y` is constant.

    Examples
    --------
    >>> explained_deviance(np.array([0, 1, 0, 1]), np.log(2) / 4)
    0.75
    """
    shares = np.unique(y, return_counts=True)[1] / len(y)
    null = -np.sum(shares * np.log(shares))
    return float(1 - loss / null) if null > 0 else np.nan


def _log_loss_of_many(told: Mapping[str, np.ndarray]) -> float:
    return -np.mean(np.log(np.clip(told["true_probability"], np.finfo(float).eps, 1)))


# The values stored of each row's probabilities of several classes.
OF_MANY = ("true_probability", "top_probability", "squared_probabilities", "true_rank")
# The scores of several classes; the calibration error is that of the largest probability.
MANY: dict[str, Callable[[np.ndarray, Mapping[str, np.ndarray]], float]] = {
    "top3": lambda y, told: np.mean(told["true_rank"] < 3),
    "log_loss": lambda y, told: _log_loss_of_many(told),
    "explained_deviance": lambda y, told: explained_deviance(y, _log_loss_of_many(told)),
    "brier": lambda y, told: np.mean(1 - 2 * told["true_probability"] + told["squared_probabilities"]),
    "calibration_error": lambda y, told: calibration_error(told["true_rank"] == 0, told["top_probability"]),
}
# Score -> the values that it needs, and the function that computes it.
SCORES: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], float]]] = {
    "auc": ("decision", roc_auc_score),
    "average_precision": ("decision", average_precision_score),
    "log_loss": ("probability", lambda y, p: log_loss(y, p, labels=[0, 1])),
    "explained_deviance": ("probability", lambda y, p: explained_deviance(y, log_loss(y, p, labels=[0, 1]))),
    "brier": ("probability", brier_score_loss),
    "calibration_error": ("probability", calibration_error),
}
