"""Scores over the values of two parameters of a grid."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.figure_types.drawing import (
    Drawing,
    Grid,
    cells_of,
    grid_of,
    mean_of_all,
    name_of_model,
    score_in_words,
    score_name,
)
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json
from entrolearn.plotting import GridSurfaceDisplay, plot_panels

COLUMNS = ["dataset", "model", "x_parameter", "x", "y_parameter", "y", "mean", "folds", "reason"]
N_COLUMNS = 2


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set and model: mean test scores over two parameters."""
    grids = {
        cell: grid_of(read_frame(source), read_json(record), spec["parameters"], spec["metric"])
        for cell, source, record in zip(cells_of(spec), sources, records, strict=True)
    }
    panels = {
        f"{dataset}, {name_of_model(spec, model)}": _panel(grid, spec)
        for (dataset, model), grid in grids.items()
    }
    table = pd.concat([_rows(*cell, grid, spec) for cell, grid in grids.items()], ignore_index=True)
    return Drawing(plot_panels(panels, n_columns=N_COLUMNS, width=11.0), table[COLUMNS])


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """The best and the worst point of each surface."""
    x, y = spec["parameters"]
    lines = []
    for (dataset, model), rows in table.dropna(subset="mean").groupby(["dataset", "model"], sort=False):
        ends = [rows.loc[rows["mean"].idxmin()], rows.loc[rows["mean"].idxmax()]]
        low, high = (f"{one['mean']:.4g} at {x} = {one['x']:g}, {y} = {one['y']:g}" for one in ends)
        lines.append(f"{dataset}, {name_of_model(spec, model)}: from {low} to {high}")
    return f"Mean {score_in_words(spec['metric'])} over {x} and {y}. " + "; ".join(lines)


def _panel(grid: Grid, spec: Mapping) -> GridSurfaceDisplay | str:
    if not grid.points:
        return grid.reasons[0]
    xs, ys = (sorted({point[k] for point in grid.points}) for k in (0, 1))
    at = dict(zip(grid.points, mean_of_all(grid.scores), strict=True))
    scores = np.array([[at.get((x, y), np.nan) for x in xs] for y in ys])
    x_name, y_name = spec["parameters"]
    return GridSurfaceDisplay(
        xs, ys, scores, x_name=x_name, y_name=y_name, score_name=score_name(spec["metric"])
    )


def _rows(dataset: str, model: str, grid: Grid, spec: Mapping) -> pd.DataFrame:
    x_parameter, y_parameter = spec["parameters"]
    where = {"dataset": dataset, "model": model, "x_parameter": x_parameter, "y_parameter": y_parameter}
    if not grid.points:
        return pd.DataFrame([{**where, "folds": 0, "reason": grid.reasons[0]}], columns=COLUMNS)
    return pd.DataFrame(
        {
            **where,
            "x": [point[0] for point in grid.points],
            "y": [point[1] for point in grid.points],
            "mean": mean_of_all(grid.scores),
            "folds": np.isfinite(grid.scores).sum(axis=0),
            "reason": grid.reasons,
        }
    )
