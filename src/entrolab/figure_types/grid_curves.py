"""Scores against the values of one parameter of a grid."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.figure_types.drawing import (
    Drawing,
    Grid,
    cells_of,
    grid_of,
    name_of_model,
    score_in_words,
    score_name,
)
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json
from entrolearn.plotting import GridCurveDisplay, plot_panels

COLUMNS = ["dataset", "model", "parameter", "value", "mean", "std", "folds", "reason"]

WIDE = 12.0  # inches, where curves are many

# One line: what it is called, and its scores over the values of the parameter.
Curve = tuple[str, Grid]


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set: test scores against one parameter, a curve per model or per value of another."""
    curves = {
        cell: _curves(cell[1], read_frame(source), read_json(record), spec)
        for cell, source, record in zip(cells_of(spec), sources, records, strict=True)
    }
    panels = {
        dataset: _panel([curve for cell in curves if cell[0] == dataset for curve in curves[cell]], spec)
        for dataset in spec["datasets"]
    }
    parts = [_rows(*cell, curve, spec) for cell in curves for curve in curves[cell]]
    columns = [*COLUMNS[:3], *(["by"] if spec.get("by") else []), *COLUMNS[3:]]
    figure = plot_panels(panels, width=WIDE) if spec.get("by") else plot_panels(panels)
    return Drawing(figure, pd.concat(parts, ignore_index=True)[columns])


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """Where each curve begins and ends."""
    by = spec.get("by")
    drawn = table.dropna(subset="mean")
    lines = []
    for key, rows in drawn.groupby(["dataset", "model", *(["by"] if by else [])], sort=False):
        what = f"{key[0]}, {name_of_model(spec, key[1])}" + (f", {by} = {key[2]:g}" if by else "")
        first, last = rows.iloc[0], rows.iloc[-1]
        lines.append(
            f"{what}: {first['mean']:.{_digits(spec)}f} at {first['value']:g}, "
            f"{last['mean']:.{_digits(spec)}f} at {last['value']:g}"
        )
    return f"Mean {score_in_words(spec['metric'])} against {spec['parameter']}. " + "; ".join(lines)


def _digits(spec: Mapping) -> int:
    return 1 if "percent" in score_in_words(spec["metric"]) else 4


def _curves(model: str, candidates: pd.DataFrame, record: Mapping, spec: Mapping) -> list[Curve]:
    by = spec.get("by")
    if not by:
        grid = grid_of(candidates, record, [spec["parameter"]], spec["metric"])
        return [(name_of_model(spec, model), _along(grid, range(len(grid.points))))]
    grid = grid_of(candidates, record, [by, spec["parameter"]], spec["metric"])
    if not grid.points:
        return [(by, grid)]
    values = dict.fromkeys(point[0] for point in grid.points)
    return [
        (f"{by} = {value:g}", _along(grid, [k for k, point in enumerate(grid.points) if point[0] == value]))
        for value in values
    ]


def _along(grid: Grid, places: Sequence[int]) -> Grid:
    """The part of a grid at some places."""
    if not grid.points:
        return grid
    places = list(places)
    return Grid([grid.points[k] for k in places], grid.scores[:, places], [grid.reasons[k] for k in places])


def _panel(curves: Sequence[Curve], spec: Mapping) -> GridCurveDisplay | str:
    if not any(grid.points for _, grid in curves):
        return "; ".join(dict.fromkeys(grid.reasons[0] for _, grid in curves))
    return GridCurveDisplay(
        {name: ([point[-1] for point in grid.points], grid.scores) for name, grid in curves},
        param_name=spec["parameter"],
        score_name=score_name(spec["metric"]),
        ordered=bool(spec.get("by")),
    )


def _rows(dataset: str, model: str, curve: Curve, spec: Mapping) -> pd.DataFrame:
    """What is drawn of one curve; the mean of some folds alone is not drawn, and no number."""
    name, grid = curve
    where = {"dataset": dataset, "model": model, "parameter": spec["parameter"], "by": np.nan}
    if not grid.points:
        return pd.DataFrame([{**where, "folds": 0, "reason": grid.reasons[0]}], columns=[*COLUMNS, "by"])
    mean, spread = GridCurveDisplay(
        {name: (grid.points, grid.scores)}, param_name="", score_name=""
    ).mean_and_spread(name)
    return pd.DataFrame(
        {
            **where,
            "by": grid.points[0][0] if spec.get("by") else np.nan,
            "value": [point[-1] for point in grid.points],
            "mean": mean,
            "std": spread,
            "folds": np.isfinite(grid.scores).sum(axis=0),
            "reason": grid.reasons,
        }
    )
