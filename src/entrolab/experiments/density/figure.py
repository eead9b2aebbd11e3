"""Seconds of some learners against the density of the data."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.experiments.density.table import place_of
from entrolab.figure_types.drawing import Drawing, name_of_model
from entrolab.io.parquet import read_frame
from entrolab.tables.types import one_line
from entrolearn.plotting import TimingDisplay, plot_panels

COLUMNS = ["dataset", "model", "density", "seconds", "reason"]
N_COLUMNS = 3


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per dimension, a line per model: what was measured for a table."""
    (source,) = sources
    measured = read_frame(source)
    panels, rows = {}, []
    for dim in spec["dims"]:
        mine = [
            {"dataset": f"d = {dim:,}", "model": model, "density": density}
            | _seconds(measured, place_of(dim, density), model)
            for model in spec["models"]
            for density in sorted(spec["densities"])
        ]
        panels[f"d = {dim:,}"] = _panel(pd.DataFrame(mine), spec)
        rows += mine
    return Drawing(plot_panels(panels, n_columns=N_COLUMNS), pd.DataFrame(rows, columns=COLUMNS))


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """The ends of each line."""
    lines = []
    for (where, model), rows in table.dropna(subset="seconds").groupby(["dataset", "model"], sort=False):
        ends = (rows.iloc[0], rows.iloc[-1])
        first, last = (f"{one['seconds']:.2g} at {one['density']:g}" for one in ends)
        lines.append(f"{where}, {name_of_model(spec, model)}: {first}, {last}")
    return "Seconds to fit against the density of the data. " + "; ".join(lines)


def _seconds(measured: pd.DataFrame, place: str, model: str) -> dict:
    """What was measured at a place; what failed for all places or models names none."""
    found = measured[measured["reading"].isin(["", place]) & measured["model"].isin(["", model])]
    if found.empty:
        return {"seconds": np.nan, "reason": "not measured"}
    row = found.iloc[0]
    return {"seconds": row["value"], "reason": one_line(row["error"])}


def _panel(rows: pd.DataFrame, spec: Mapping) -> TimingDisplay | str:
    if rows["seconds"].isna().all():
        return "; ".join(dict.fromkeys(rows["reason"]))
    return TimingDisplay(
        {
            name_of_model(spec, model): (mine["density"].to_numpy(), mine["seconds"].to_numpy())
            for model, mine in rows.groupby("model", sort=False)
        },
        param_name="density",
    )
