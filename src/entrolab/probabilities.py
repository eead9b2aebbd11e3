"""What is asked of the chosen models alone: how they rank rows, and what their probabilities are worth.

A path's fits say classes and projections. For more, what each criterion chose is fitted once more on the
training rows of its fold: one fit, not one for each point of the grid.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from entrolab.protocols import protocol
from entrolab.registry import alternatives, build, seed_from, step_params
from entrolearn.path import FAILURES

BINS = 10

logger = logging.getLogger(__name__)


def score_chosen(dataset, parts: np.ndarray, chosen: pd.DataFrame, cell: Mapping) -> pd.DataFrame:
    """Add to what was chosen the scores of its probabilities on the rows left out.

    Parameters
    ----------
    dataset : Dataset
        Of two classes.
    parts : ndarray of int, shape (n_repeats, n_samples)
        The part of each row, for each repeat; rows of a negative part are not used.
    chosen : DataFrame
        As :func:`entrolab.selecting.choose` gives it.
    cell : mapping
        As :func:`entrolab.cells.choice_spec` gives it; its ``probabilities`` are the scores.

    Returns
    -------
    DataFrame
        A column more for each score: NaN where nothing was chosen, the fit failed, or the learner has
        neither scores nor probabilities to give.
    """
    known: dict[tuple, dict[str, float]] = {}
    rows = []
    for row in chosen.itertuples(index=False):
        key = (row.repeat, row.fold, row.params)
        if row.success and key not in known:
            known[key] = _scores(dataset, parts[row.repeat], row, cell)
        rows.append(known.get(key, {}))
    scores = pd.DataFrame(rows, columns=cell["probabilities"], index=chosen.index, dtype="float64")
    at = chosen.columns.get_loc("success")
    return pd.concat([chosen.iloc[:, :at], scores, chosen.iloc[:, at:]], axis=1)


def probability_scores(
    y: np.ndarray, ranking: np.ndarray | None, probability: np.ndarray | None, metrics: Sequence[str]
) -> dict[str, float]:
    """Some of :data:`SCORES`; what asks for something that there is not is left out.

    Parameters
    ----------
    y : ndarray of {0, 1}, shape (n_samples,)
    ranking : ndarray, shape (n_samples,), or None
        Larger for rows that are more likely of class 1.
    probability : ndarray, shape (n_samples,), or None
        Of class 1.
    metrics : sequence of str

    Examples
    --------
    >>> y, p = np.array([0, 1, 1]), np.array([0.2, 0.9, 0.6])
    >>> probability_scores(y, p, None, ["auc", "log_loss"])
    {'auc': 1.0}
    """
    given = {"ranking": ranking, "probability": probability}
    asked = ((metric, *SCORES[metric]) for metric in metrics)
    return {
        metric: float(score(y, given[what]))
        for metric, what, score in asked
        if given[what] is not None and np.isfinite(given[what]).all()
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
    "auc": ("ranking", roc_auc_score),
    "log_loss": ("probability", lambda y, p: log_loss(y, p, labels=[0, 1])),
    "brier": ("probability", brier_score_loss),
    "calibration_error": ("probability", calibration_error),
}


def _scores(dataset, part: np.ndarray, row, cell: Mapping) -> dict[str, float]:
    """The scores of what one criterion chose in one fold."""
    seed = seed_from(cell["seed"], cell["paper"], cell["dataset"], cell["model"], row.repeat)
    params = step_params(cell, json.loads(row.params), alternatives(cell, seed))
    learnt, tested = protocol(cell["protocol"]).rows_of(part, row.fold)
    try:
        fitted = clone(build(cell, seed)).set_params(**params).fit(dataset.X[learnt], dataset.y[learnt])
        ranking, probability = ranking_and_probability(fitted, dataset.X[tested])
    except FAILURES:
        logger.exception("what was chosen in fold %d could not be fitted once more", row.fold)
        return {}
    return probability_scores(dataset.y[tested], ranking, probability, cell["probabilities"])


def ranking_and_probability(fitted, X) -> tuple[np.ndarray | None, np.ndarray | None]:
    """What a fitted binary classifier says of rows beyond their class; None for what it does not say."""
    probability = fitted.predict_proba(X)[:, 1] if hasattr(fitted, "predict_proba") else None
    if hasattr(fitted, "decision_function"):
        return fitted.decision_function(X), probability
    return probability, probability
