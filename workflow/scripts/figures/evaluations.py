"""Two panels against the number of rows: seconds per evaluation and relative errors, a line per method."""

from dataclasses import replace

from entrolab.figures.drawing import draw_whole
from entrolearn.plotting import EvaluationsDisplay, evaluation_axes


def draw(files):
    """Draw a figure of a measured table of evaluations."""
    (source,) = files
    measured = source.frame("measured")
    if (failed := measured[measured["status"] != "ok"]).size:
        return draw_whole(failed["error"].iloc[0], None)
    rows = sorted(int(reading.removeprefix("n")) for reading in measured["reading"].unique())
    known = measured.pivot(index=["model", "reading"], columns="metric", values="value")
    known = known.reindex(columns=["seconds", "gradient_error"])
    curves = {
        files.spec.name_of(way): (rows, *known.reindex([(way, f"n{n}") for n in rows]).to_numpy().T)
        for way in files.spec.models
    }
    display = EvaluationsDisplay(curves, error_name="relative error\nof the gradient")
    drawing = draw_whole(display, evaluation_axes())
    # The exact method is only run up to some number of rows.
    return replace(drawing, table=drawing.table.dropna(subset="seconds"))
