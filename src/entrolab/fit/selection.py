"""Selection of a grid point by each criterion in each fold."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np
import pandas as pd

from entrolab.fit.metrics import METRICS
from entrolearn.selection import best_point

ORACLE = "oracle"
PLACE = ("study", "dataset", "model")  # the columns that name a run


def select(candidates: pd.DataFrame, criteria: Sequence[str], shown: Sequence[str] = ()) -> pd.DataFrame:
    """The candidate that each criterion selects in each fold, with its values of the metrics `shown`.

    A criterion selects the candidate with its largest value. ``cv`` is the mean of the first metric over the
    inner folds; for an error, the smallest value is selected. NaN is never selected; ties go to the larger
    Gaussian divergence, if the candidates have it, then to the earlier grid point. ``cv`` selects the only
    candidate of a fold even without a value, as a grid of one point has no inner folds. ``oracle`` selects,
    for all folds of a repeat, the grid point with the best mean test score: a diagnostic that uses test data.

    The candidates are those of :func:`entrolab.fit.training.train_run`. The result has one row per repeat,
    fold and criterion; ``success`` is False if nothing could be selected.
    """
    metric = first_metric(candidates)
    columns = {criterion: f"cv_{metric}" if criterion == "cv" else criterion for criterion in criteria}
    if absent := [criterion for criterion, column in columns.items() if column not in candidates]:
        raise ValueError(f"found no values of the criterion {absent[0]!r}; accepted: one of the candidates'")
    signs = {f"cv_{metric}": _sign(metric)}
    rows = []
    for repeat, of_repeat in candidates.groupby("repeat"):
        oracle = _oracle_point(of_repeat, metric)
        for fold, of_fold in of_repeat.groupby("fold"):
            usable = of_fold[of_fold["success"]]
            place = {name: of_fold[name].iloc[0] for name in PLACE} | {"repeat": repeat, "fold": fold}
            for criterion, column in columns.items():
                row = _best(of_fold, column, signs.get(column, 1))
                value = None if row is None else row[column]
                rows.append({**place, "criterion": criterion, **_selected(row, value, of_fold, shown)})
            point, value = oracle
            row = None if point is None else usable[usable["point"] == point].iloc[0]
            rows.append({**place, "criterion": ORACLE, **_selected(row, value, of_fold, shown)})
    return _frame(rows, shown)


def first_metric(candidates: pd.DataFrame) -> str:
    """The metric that selects, of which candidates have the mean over the inner folds."""
    return next(name for name in candidates if name.startswith("cv_")).removeprefix("cv_")


def most_chosen(selection: pd.DataFrame) -> dict[str, dict]:
    """The parameters that each criterion selected in most folds; ties go to the earlier grid point.

    Criteria that selected nothing are left out, and so is the diagnostic ``oracle``.
    """
    groups = selection[selection["criterion"] != ORACLE].groupby("criterion", sort=False)
    found = {criterion: most_often(rows) for criterion, rows in groups}
    return {criterion: chosen[0] for criterion, chosen in found.items() if chosen}


def most_often(rows: pd.DataFrame) -> tuple[dict, int] | None:
    """The parameters that one criterion selected in most folds, and in how many; None if it selected nothing.

    `rows` are those of a selection; ties go to the earlier grid point.
    """
    chosen = rows[rows["success"].astype(bool)]
    if chosen.empty:
        return None
    params = chosen.loc[chosen["point"] == chosen["point"].mode().min(), "params"]
    return json.loads(params.iloc[0]), len(params)


def restrict_grid(candidates: pd.DataFrame, limits: Mapping[str, Mapping]) -> pd.DataFrame:
    """The candidates whose parameters lie within limits, for selecting from a part of the grid.

    `limits` maps parameters to ``{"min": …, "max": …}`` with one or both keys, inclusive up to rounding.
    Candidates without the parameter are kept; values that are not numbers, such as null, are outside.
    """

    def within(text: str) -> bool:
        params = json.loads(text)
        return all(_between(params[name], **limit) for name, limit in limits.items() if name in params)

    return candidates[candidates["params"].map(within).astype(bool)]


def _between(value, min: float = -np.inf, max: float = np.inf) -> bool:
    slack = 1e-9  # equal decimals may differ as floats
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return min - slack * abs(min) <= value <= max + slack * abs(max)


def _best(of_fold: pd.DataFrame, column: str, sign: int) -> pd.Series | None:
    """The candidate with the largest value of sign × column."""
    usable = of_fold[of_fold["success"]]
    if column.startswith("cv_") and len(of_fold) == len(usable) == 1:
        return usable.iloc[0]  # the only candidate may not have been validated
    if usable[column].isna().all():
        return None
    return usable.iloc[best_point(sign * usable[column], usable.get("dcs_gaussian"))]


def _sign(metric: str) -> int:
    """The factor, 1 or -1, that makes the best value of a metric the largest."""
    return 1 if METRICS[metric].greater_is_better else -1


def _oracle_point(of_repeat: pd.DataFrame, metric: str) -> tuple[int | None, float | None]:
    """The grid point with the best mean test score, among those with a score in every fold."""
    column = f"test_{metric}"
    scores = of_repeat[of_repeat["success"]].pivot(index="point", columns="fold", values=column)
    scores = scores.reindex(columns=of_repeat["fold"].unique()).dropna()
    if scores.empty:
        return None, None
    means = scores.mean(axis=1)
    best = (_sign(metric) * means).idxmax()
    return int(best), float(means[best])


def _selected(
    row: pd.Series | None, value: float | None, of_fold: pd.DataFrame, shown: Sequence[str]
) -> dict:
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
        dict.fromkeys(PLACE, "str")
        | dict.fromkeys(["repeat", "fold"], "int64")
        | {"criterion": "str", "point": "int64", "params": "str", "criterion_value": "float64"}
        | dict.fromkeys(shown, "float64")
        | {"success": "bool", "error": "str"}
    )
    return pd.DataFrame(rows, columns=list(types)).astype(types)
