"""Scores of one trial after the other."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.figure_types.drawing import (
    Drawing,
    as_shown,
    cells_of,
    files_of_cells,
    name_of_model,
    score_in_words,
    score_name,
    trouble_of,
)
from entrolab.fit.metrics import metrics_of
from entrolab.fit.predictions import read_scores
from entrolab.io.records import read_json
from entrolab.tables.types import one_line
from entrolearn.plotting import TrialsDisplay, plot_panels

COLUMNS = ["dataset", "model", "trial", "score", "reason"]
N_COLUMNS = 2


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set, a line per model: what was chosen scored in each trial.

    The sources are, for each of them, the selection and the predictions.
    """
    parts = {
        cell: _rows(*cell, files, read_json(record), spec)
        for cell, files, record in zip(cells_of(spec), files_of_cells(spec, sources), records, strict=True)
    }
    panels = {dataset: _panel(dataset, parts, spec) for dataset in spec["datasets"]}
    figure = plot_panels(panels, n_columns=N_COLUMNS, width=10.0, common=False)
    return Drawing(figure, pd.concat(parts.values(), ignore_index=True))


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """The mean and the spread of each line."""
    lines = []
    for (dataset, model), rows in table.dropna(subset="score").groupby(["dataset", "model"], sort=False):
        mean, spread = rows["score"].mean(), rows["score"].std(ddof=1)
        lines.append(f"{dataset}, {name_of_model(spec, model)}: {mean:.4g} ± {spread:.2g}")
    metrics = " or ".join(map(score_in_words, spec["metrics"]))
    return f"{metrics} of each trial. " + "; ".join(lines)


def metric_of(dataset: str, spec: Mapping) -> str:
    """The first of a figure's metrics that fits a data set's task."""
    return metrics_of(spec["tasks"][dataset], spec["metrics"])[0]


def _rows(dataset: str, model: str, files: Sequence[str], record: Mapping, spec: Mapping) -> pd.DataFrame:
    where = {"dataset": dataset, "model": model}
    if not record["success"]:
        return pd.DataFrame([{**where, "reason": trouble_of(record)}], columns=COLUMNS)
    metric = metric_of(dataset, spec)
    rows = read_scores(*files, [metric])
    chosen = rows[rows["criterion"] == spec["criterion"]].sort_values(["repeat", "fold"])
    scores = chosen[metric].where(chosen["success"].astype(bool))
    return pd.DataFrame(
        {
            **where,
            "trial": np.arange(1, len(chosen) + 1),
            "score": as_shown(scores, metric).to_numpy(),
            "reason": [one_line(error) for error in chosen["error"]],
        },
        columns=COLUMNS,
    )


def _panel(dataset: str, parts: Mapping, spec: Mapping) -> TrialsDisplay | str:
    mine = {model: rows for (of, model), rows in parts.items() if of == dataset}
    if all(rows["trial"].isna().all() for rows in mine.values()):
        return "; ".join(dict.fromkeys(reason for rows in mine.values() for reason in rows["reason"]))
    return TrialsDisplay(
        {name_of_model(spec, model): rows.dropna(subset="trial")["score"] for model, rows in mine.items()},
        score_name=score_name(metric_of(dataset, spec)),
    )
