"""What an evaluation of an objective costs against the number of rows, and how far off it is."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.experiments.evaluations.table import place_of
from entrolab.figure_types.drawing import Drawing, name_of_model
from entrolab.io.parquet import read_frame
from entrolab.tables.types import one_line
from entrolearn.plotting import EvaluationsDisplay, evaluation_axes, plot_panels

MEASURED = ("seconds", "value_error", "gradient_error")
COLUMNS = ["model", "rows", *MEASURED, "reason"]


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """Seconds above, the gradient's relative error below, a line for each way to evaluate."""
    (source,) = sources
    measured = read_frame(source)
    sizes = sorted(spec["rows"])
    if (failed := measured[measured["kind"] != ""]).size:
        reason = one_line(failed["error"].iloc[0])
        table = pd.DataFrame([{"model": "", "reason": reason}], columns=COLUMNS)
        return Drawing(plot_panels({"": reason}), table)
    known = measured.set_index(["model", "reading", "metric"])["value"].to_dict()
    values = {
        (way, metric): np.array([known.get((way, place_of(rows), metric), np.nan) for rows in sizes])
        for way in spec["models"]
        for metric in MEASURED
    }
    display = EvaluationsDisplay(
        {
            name_of_model(spec, way): (sizes, values[way, "seconds"], values[way, "gradient_error"])
            for way in spec["models"]
        },
        error_name="relative error\nof the gradient",
    )
    display.plot(evaluation_axes())
    parts = [
        pd.DataFrame(
            {"model": way, "rows": sizes, "reason": "", **{each: values[way, each] for each in MEASURED}}
        )
        for way in spec["models"]
    ]
    table = pd.concat(parts, ignore_index=True)[COLUMNS]
    return Drawing(display.figure_, table[table["seconds"].notna()])


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """The ends of each line."""
    lines = [reason for reason in table["reason"] if reason]
    for way, rows in table.dropna(subset="seconds").groupby("model", sort=False):
        ends = ", ".join(
            f"{one.seconds:.2g} s at {one.rows:,.0f} rows" for one in rows.iloc[[0, -1]].itertuples()
        )
        error = rows["gradient_error"].max()
        off = "" if np.isnan(error) else f", gradient off by {100 * error:.2g} % at most"
        lines.append(f"{name_of_model(spec, way)}: {ends}{off}")
    return "Seconds per evaluation of objective and gradient against the number of rows. " + "; ".join(lines)
