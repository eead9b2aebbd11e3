"""Ranking and calibration metrics (AUC, log loss, Brier score, calibration error) of two classes."""

from collections.abc import Callable, Sequence

import numpy as np
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

BINS = 10


def probability_scores(
    y: np.ndarray, decision: np.ndarray, probability: np.ndarray, metrics: Sequence[str]
) -> dict[str, float]:
    """Some of :data:`SCORES`; one that asks for values that are not all finite is left out.

    Parameters
    ----------
    y : ndarray of {0, 1}, shape (n_samples,)
    decision : ndarray, shape (n_samples,)
        Larger for rows that are more likely of class 1.
    probability : ndarray, shape (n_samples,)
        Of class 1.
    metrics : sequence of str

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
    """Expected calibration error: how far shares of class 1 are from the mean probabilities that told them.

    Rows are put into ten bins of as equal a number as can be by their probability; the error is the mean
    over the bins, by their rows, of the absolute difference. With few rows chance alone makes it positive.

    References
    ----------
    Naeini, Cooper and Hauskrecht, Obtaining Well Calibrated Probabilities Using Bayesian Binning, AAAI 2015.

    Examples
    --------
    >>> calibration_error(np.array([0, 1] * 10), np.full(20, 0.5))
    0.0
    """
    bins = np.array_split(np.argsort(probability, kind="stable"), min(BINS, len(y)))
    return float(sum(abs(np.sum(y[rows] - probability[rows])) for rows in bins) / len(y))


# What each score asks for, and how it is taken.
SCORES: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], float]]] = {
    "auc": ("decision", roc_auc_score),
    "log_loss": ("probability", lambda y, p: log_loss(y, p, labels=[0, 1])),
    "brier": ("probability", brier_score_loss),
    "calibration_error": ("probability", calibration_error),
}
