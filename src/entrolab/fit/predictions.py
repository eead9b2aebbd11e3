"""Scores of a run's selected models, from the stored predictions."""

from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path

import pandas as pd

from entrolab.fit.metrics import METRICS
from entrolab.fit.scoring import scores
from entrolab.fit.selection import PLACE
from entrolab.io.parquet import read_frame
from entrolab.text import Unreadable


def read_scores(selection: Path, predictions: Path, metrics: Sequence[str]) -> pd.DataFrame:
    """The result of :func:`score_selection` for a run's files."""
    return score_selection(read_frame(selection), read_frame(predictions), metrics)


def score_selection(
    selection: pd.DataFrame, predictions: pd.DataFrame, metrics: Sequence[str]
) -> pd.DataFrame:
    """The selection of :func:`entrolab.fit.training.train_run` with a column of test scores for each metric.

    The metrics are those of the task. Scores are NaN if nothing was selected, or if the learner lacks the
    metric.

    Raises
    ------
    Unreadable
        If there are no predictions of a selected candidate: the code of selection has changed since they
        were stored.
    """
    facts = [metric for metric in metrics if METRICS[metric].of_fit]
    computed = [metric for metric in metrics if metric not in facts]
    at = ["repeat", "fold", "point"]
    known = {place: _scores(rows, computed) for place, rows in predictions.groupby(at)}
    places = [*zip(*(selection[name] for name in at), strict=True)]
    if lacking := [place for place in compress(places, selection["success"]) if place not in known]:
        run = "/".join(selection[list(PLACE)].iloc[0])
        raise Unreadable(
            f"{run}: no predictions of {len(lacking)} selected points; delete them and run again"
        )
    found = pd.DataFrame([known.get(place, {}) for place in places], columns=computed, dtype="float64")
    of_fit = [metric for metric in METRICS if METRICS[metric].of_fit]
    columns = pd.concat([found, selection[facts]], axis=1)[list(metrics)]
    rest = selection.drop(columns=of_fit)
    here = rest.columns.get_loc("success")
    return pd.concat([rest.iloc[:, :here], columns, rest.iloc[:, here:]], axis=1)


def _scores(rows: pd.DataFrame, metrics: Sequence[str]) -> Mapping[str, float]:
    """Scores of the predictions of one fit."""
    y, prediction = rows["y"].to_numpy(), rows["prediction"].to_numpy()
    ranked = [metric for metric in metrics if METRICS[metric].of_probabilities]
    found = scores(y, prediction, [metric for metric in metrics if metric not in ranked])
    if ranked:
        # scikit-learn's metrics, imported only if needed
        from entrolab.fit.probabilities import OF_MANY, probability_scores, scores_of_many

        if "decision" in rows and rows["decision"].notna().any():
            found |= probability_scores(
                y, rows["decision"].to_numpy(), rows["probability"].to_numpy(), ranked
            )
        elif OF_MANY[0] in rows:
            found |= scores_of_many(y, {name: rows[name].to_numpy() for name in OF_MANY}, ranked)
    return found
