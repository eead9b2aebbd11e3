"""One score against another along the grids of some models."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from entrolab.figure_types.drawing import (
    Drawing,
    as_shown,
    cells_of,
    name_of_model,
    score_in_words,
    score_name,
    trouble_of,
)
from entrolab.fit.metrics import METRICS
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json
from entrolab.tables.types import one_line
from entrolearn.plotting import TradeoffDisplay, plot_panels

COLUMNS = ["dataset", "model", "params", "x_metric", "x", "y_metric", "y", "folds", "reason"]
N_COLUMNS = 3


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set, a line per model through the mean test scores of its grid's points."""
    parts = {
        cell: _rows(*cell, read_frame(source), read_json(record), spec)
        for cell, source, record in zip(cells_of(spec), sources, records, strict=True)
    }
    panels = {dataset: _panel(dataset, parts, spec) for dataset in spec["datasets"]}
    figure = plot_panels(panels, n_columns=N_COLUMNS, width=10.0, common=False)
    return Drawing(figure, pd.concat(parts.values(), ignore_index=True))


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """The ends of each line."""
    x, y = spec["metrics"]
    lines = []
    for (dataset, model), rows in table.dropna(subset=["x", "y"]).groupby(["dataset", "model"], sort=False):
        ends = (rows.iloc[0], rows.iloc[-1])
        first, last = (f"{one['y']:.4g} at {one['x']:.4g}" for one in ends)
        lines.append(f"{dataset}, {name_of_model(spec, model)}: from {first} to {last}")
    return f"Mean {score_in_words(y)} against {score_in_words(x)} along the grids. " + "; ".join(lines)


def _rows(dataset: str, model: str, candidates: pd.DataFrame, record: Mapping, spec: Mapping) -> pd.DataFrame:
    """The points of a grid in its order; one of which some fit failed has a reason in place of its scores."""
    x, y = spec["metrics"]
    where = {"dataset": dataset, "model": model, "x_metric": x, "y_metric": y}
    if not candidates["success"].any():
        return pd.DataFrame([{**where, "folds": 0, "reason": trouble_of(record)}], columns=COLUMNS)
    rows = []
    for _, fits in candidates.groupby("point"):
        scores = {
            axis: fits[f"test_{metric}"].where(fits["success"]) for axis, metric in (("x", x), ("y", y))
        }
        means = {
            axis: as_shown(values.mean(skipna=False), metric)
            for (axis, values), metric in zip(scores.items(), (x, y), strict=True)
        }
        params = json.dumps(json.loads(fits["params"].iloc[0]))
        rows.append({**where, "params": params, **means, "folds": len(fits), "reason": _reason(fits, x)})
    return pd.DataFrame(rows, columns=COLUMNS)


def _reason(fits: pd.DataFrame, x: str) -> str:
    """Why a point has no place; empty if it has one."""
    failed = Counter(fits.loc[~fits["success"], "error"])
    if failed:
        return one_line(failed.most_common(1)[0][0])
    return f"a learner without {METRICS[x].label}" if fits[f"test_{x}"].isna().any() else ""


def _panel(dataset: str, parts: Mapping, spec: Mapping) -> TradeoffDisplay | str:
    mine = {model: rows for (of, model), rows in parts.items() if of == dataset}
    if all(rows["x"].isna().all() for rows in mine.values()):
        return "; ".join(dict.fromkeys(reason for rows in mine.values() for reason in rows["reason"]))
    x, y = spec["metrics"]
    curves = {name_of_model(spec, model): (rows["x"], rows["y"]) for model, rows in mine.items()}
    return TradeoffDisplay(curves, x_name=score_name(x), y_name=score_name(y))
