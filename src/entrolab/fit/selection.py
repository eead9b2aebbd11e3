"""Selection of a grid point by each criterion in each fold."""

import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd

from entrolab.fit.scoring import ERRORS
from entrolab.io.parquet import read_frame
from entrolearn.selection import best_point

ORACLE = "oracle"


def choose(candidates: pd.DataFrame, spec: Mapping, shown: Sequence[str] | None = None) -> pd.DataFrame:
    """The candidate that each criterion selects in each fold, with its scores on the test rows.

    A criterion selects the candidate with its largest value. ``cv`` is the mean of the run's first metric
    over the inner folds; for an error, the smallest value is selected. NaN is never selected; ties go to the
    larger Gaussian divergence, then to the earlier grid point. A grid of one point has no inner folds, and
    ``cv`` selects that point. ``oracle`` selects, for all folds of a repeat, the grid point with the best
    mean test score: a diagnostic that uses test data.

    The candidates are those of :func:`entrolab.fit.training.train_run`; `shown` are the metrics of the
    result, by default those of the run. It has one row per repeat, fold and criterion; ``success`` is False
    if nothing could be selected.
    """
    shown = spec["metrics"] if shown is None else shown
    rows = []
    for repeat, of_repeat in candidates.groupby("repeat"):
        oracle = _oracle_point(of_repeat, spec)
        for fold, of_fold in of_repeat.groupby("fold"):
            usable = of_fold[of_fold["success"]]
            place = {name: spec[name] for name in ("study", "dataset", "model")} | {
                "repeat": repeat,
                "fold": fold,
            }
            for criterion in spec["criteria"]:
                row, value = _best(of_fold, criterion, spec)
                rows.append({**place, "criterion": criterion, **_chosen(row, value, of_fold, shown)})
            point, value = oracle
            row = None if point is None else usable[usable["point"] == point].iloc[0]
            rows.append({**place, "criterion": ORACLE, **_chosen(row, value, of_fold, shown)})
    return _frame(rows, shown)


def among(candidates: pd.DataFrame, limits: Mapping[str, Mapping]) -> pd.DataFrame:
    """The candidates whose parameters lie within limits, for selecting from a part of the grid.

    `limits` maps parameters to ``{"min": …, "max": …}`` with one or both keys, inclusive up to rounding.
    Candidates without the parameter are kept; values that are not numbers are outside.
    """

    def within(params: str) -> bool:
        return all(_between(json.loads(params).get(name), **limit) for name, limit in limits.items())

    return candidates[candidates["params"].map(within).astype(bool)]


def choose_within(file: str | os.PathLike, limits: Mapping[str, Mapping], study: Mapping) -> pd.DataFrame:
    """The selection from a part of a run's grid, see :func:`among`.

    `file` is ``<study>/candidates/<dataset>/<model>.parquet``; `study` has ``criteria`` and ``metrics``, of
    which candidates have those that fit their task.
    """
    study_name, _, dataset, model = Path(file).with_suffix("").parts[-4:]
    candidates = read_frame(file)
    metrics = [metric for metric in study["metrics"] if f"test_{metric}" in candidates]
    spec = {**study, "metrics": metrics, "study": study_name, "dataset": dataset, "model": model}
    return choose(among(candidates, limits), spec)


def _between(value, min: float = -np.inf, max: float = np.inf) -> bool:
    slack = 1e-9  # equal decimals may differ as floats
    if value is None:
        return True
    return isinstance(value, Real) and min - slack * abs(min) <= value <= max + slack * abs(max)


def headline_params(scores: pd.DataFrame, spec: Mapping) -> dict | None:
    """The parameters that the first criterion selected most often; ties go to the earlier grid point."""
    if not spec["criteria"]:
        return None
    chosen = scores[(scores["criterion"] == spec["criteria"][0]) & scores["success"]]
    if chosen.empty:
        return None
    times = Counter(chosen["point"])
    point = min(times, key=lambda point: (-times[point], point))
    return json.loads(chosen.loc[chosen["point"] == point, "params"].iloc[0])


def first_score(candidates: pd.DataFrame, selection: pd.DataFrame, spec: Mapping) -> dict:
    """The run's first metric on the test rows (``metric``, ``mean``) for the first criterion's selection.

    Empty unless the mean is finite and every fold has a score.
    """
    metric = spec["metrics"][0]
    chosen = selection[selection["criterion"].isin(spec["criteria"][:1])]
    tested = chosen.merge(candidates, "left", on=["repeat", "fold", "point"])[f"test_{metric}"]
    mean = float(tested.mean(skipna=False))
    return {"metric": metric, "mean": mean} if math.isfinite(mean) else {}


def _best(of_fold: pd.DataFrame, criterion: str, spec: Mapping) -> tuple[pd.Series | None, float | None]:
    usable = of_fold[of_fold["success"]]
    if criterion == "cv" and len(of_fold) == len(usable) == 1:
        return usable.iloc[0], np.nan  # the only grid point is not validated
    metric = spec["metrics"][0]
    column, sign = (f"cv_{metric}", _sign(metric)) if criterion == "cv" else (criterion, 1)
    values = usable[column].to_numpy()
    if np.isnan(values).all():
        return None, None
    best = best_point(sign * values, usable["dcs_gaussian"].to_numpy())
    return usable.iloc[best], values[best]


def _sign(metric: str) -> int:
    """The factor, 1 or -1, that makes the best value of a metric the largest."""
    return -1 if metric in ERRORS else 1


def _oracle_point(of_repeat: pd.DataFrame, spec: Mapping) -> tuple[int | None, float | None]:
    """The grid point with the best mean test score, among those with a score in every fold."""
    metric = spec["metrics"][0]
    column = f"test_{metric}"
    scores = of_repeat[of_repeat["success"]].pivot(index="point", columns="fold", values=column)
    scores = scores.reindex(columns=of_repeat["fold"].unique()).dropna()
    if scores.empty:
        return None, None
    means = scores.mean(axis=1)
    best = (_sign(metric) * means).idxmax()
    return int(best), float(means[best])


def _chosen(row: pd.Series | None, value: float | None, of_fold: pd.DataFrame, shown: Sequence[str]) -> dict:
    if row is not None:
        scores = {metric: row[f"test_{metric}"] for metric in shown}
        return {
            "point": row["point"],
            "params": row["params"],
            "criterion_value": value,
            **scores,
            "success": True,
            "error": "",
        }
    errors = Counter(error for error in of_fold["error"] if error)
    reason = errors.most_common(1)[0][0] if errors else "the criterion is undefined for every grid point"
    nothing = dict.fromkeys(["criterion_value", *shown], np.nan)
    return {"point": -1, "params": "", **nothing, "success": False, "error": reason}


def _frame(rows: list[dict], shown: Sequence[str]) -> pd.DataFrame:
    """The selection with all columns in order and with their types, even without rows."""
    types = (
        dict.fromkeys(["study", "dataset", "model"], "str")
        | dict.fromkeys(["repeat", "fold"], "int64")
        | {"criterion": "str", "point": "int64", "params": "str", "criterion_value": "float64"}
        | dict.fromkeys(shown, "float64")
        | {"success": "bool", "error": "str"}
    )
    return pd.DataFrame(rows, columns=list(types)).astype(types)
