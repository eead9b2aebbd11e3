"""The figure of the optima that random starts reach."""

from entrolab.experiments.starts import OF_A_START, starts_of
from entrolab.experiments.starts.table import Starts as StartsTable
from entrolab.figure_types.base import OfTable

OBJECTIVE = "divergence"


class Starts(OfTable):
    """Optima of random starts: a panel per data set, a histogram per model."""

    of, table_type = "starts", StartsTable()
    layout = {"n_columns": 5, "width": 11.0, "common": False}

    def draw(self, spec, sources, records):
        from entrolab.figure_types.drawing import Line, draw_lines
        from entrolearn.plotting import StartsDisplay

        lines = {}
        for dataset, model, starts in measured_starts(spec, sources):
            line = starts["reason"].iloc[0]
            if starts["objective"].notna().any():
                rest = {name: starts[name].to_numpy() for name in OF_A_START[1:]}
                line = Line(starts["objective"].to_numpy(), starts["reason"].to_list(), rest)
            lines[dataset, model, spec.name_of(model)] = line
        return draw_lines(
            lines,
            lambda dataset, found: StartsDisplay(found, objective_name=OBJECTIVE),
            empty=None,
            **self.layout,
        )


def measured_starts(spec, sources):
    """Yield data set, model and its measured starts; a single row with the reason if there are none."""
    import pandas as pd

    from entrolab.io.parquet import read_frame
    from entrolab.text import one_line

    for dataset, source in zip(spec.datasets, sources, strict=True):
        measured = read_frame(source)
        for model in spec.models:
            starts = starts_of(measured, model).rename(columns={"error": "reason"})
            if starts.empty:
                lost = measured[measured["model"].isin(["", model]) & (measured["status"] != "ok")]
                reason = lost["error"].iloc[0] if len(lost) else "not measured"
                starts = pd.DataFrame([{"reason": reason}], columns=starts.columns)
            yield dataset, model, starts.assign(reason=starts["reason"].map(one_line))
