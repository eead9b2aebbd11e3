"""Seconds of fits against the density of the data, a panel per dimension, a line per model."""

import itertools
import math

from entrolab.figures.drawing import Line, draw_lines, draw_whole
from entrolab.tables.base import phrase
from entrolearn.plotting import TimingDisplay


def draw(files):
    """Draw a figure of a measured table of densities."""
    (source,) = files
    measured = source.frame("measured")
    points = [one.removeprefix("d").split("_density") for one in measured["reading"].unique() if one]
    if not points:
        return draw_whole(phrase(measured["error"].iloc[0]) if len(measured) else "not measured", None)
    dims = dict.fromkeys(int(dim) for dim, _ in points)
    densities, lines = sorted({float(density) for _, density in points}), {}
    for dim, model in itertools.product(dims, files.spec.models):
        cells = [cell_of(measured, model, f"d{dim}_density{density:g}") for density in densities]
        seconds, reasons = zip(*cells, strict=True)
        name = files.spec.name_of(model)
        lines[f"d = {dim:,}", model, name] = Line((densities, list(seconds)), list(reasons))

    def display(dim, lines):
        return TimingDisplay(lines, param_name="density")

    return draw_lines(lines, display, empty=None, n_columns=3)


def cell_of(measured, model, reading):
    """The seconds of a model's fit, and the reason for having none; a row without a model is of all."""
    rows = measured[measured["model"].isin(["", model]) & measured["metric"].isin(["", "fit_seconds"])]
    for row in rows[rows["reading"].isin(["", reading])].head(1).itertuples():
        return (row.value, "") if row.status == "ok" else (math.nan, phrase(row.error))
    return math.nan, "not measured"
