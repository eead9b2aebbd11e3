"""The figure of the evaluations table: seconds and errors against the number of rows."""

from dataclasses import replace

from entrolab.experiments.evaluations import place_of
from entrolab.experiments.evaluations.table import Evaluations as EvaluationsTable
from entrolab.figure_types.base import OfTable


class Evaluations(OfTable):
    """Two panels, seconds per evaluation and relative error of the gradient, with a line per method."""

    of, table_type, shown = "evaluations", EvaluationsTable(), ("n_rows",)

    def draw(self, spec, sources, records):
        from entrolab.figure_types.drawing import draw_whole
        from entrolab.io.parquet import read_frame
        from entrolearn.plotting import EvaluationsDisplay, evaluation_axes

        (source,) = sources
        measured = read_frame(source)
        if (failed := measured[measured["status"] != "ok"]).size:
            return draw_whole(failed["error"].iloc[0], None)
        rows = sorted(spec.table.n_rows)
        known = measured.pivot(index=["model", "reading"], columns="metric", values="value")
        known = known.reindex(columns=["seconds", "gradient_error"])
        curves = {
            spec.name_of(way): (rows, *known.reindex([(way, place_of(n)) for n in rows]).to_numpy().T)
            for way in spec.models
        }
        display = EvaluationsDisplay(curves, error_name="relative error\nof the gradient")
        drawing = draw_whole(display, evaluation_axes())
        # The exact method is only run up to some number of rows.
        return replace(drawing, table=drawing.table.dropna(subset="seconds"))
