"""Measured numbers and closed forms against the parameter in the name of a reading, a panel per kind."""

from entrolab.figures.drawing import Line, draw_lines
from entrolab.text import one_line
from entrolearn.plotting import GridCurveDisplay

SERIES = {"exact": "closed form", "value": "measured"}


def draw(files, *, panels: dict[str, str], score_name: str):
    """Draw readings such as "die_4.5" of a measured table with the metrics `SERIES`.

    `panels` has the parameter of each kind of reading, such as {"die": "mean"}, and `score_name` is the
    quantity.
    """
    (source,) = files
    measured = source.frame("measured")
    kinds = measured["reading"].map(lambda reading: reading.rpartition("_")[0])
    lines = {}
    for kind in panels:
        mine = measured[kinds.isin([kind, ""])]
        failed, rows = (
            mine[mine["status"] != "ok"],
            mine[(mine["status"] == "ok") & kinds[mine.index].eq(kind)],
        )
        reason = one_line(failed["error"].iloc[0]) if len(failed) else "not measured"
        rows = rows.assign(parameter=rows["reading"].map(lambda reading: float(reading.rpartition("_")[2])))
        for metric, name in SERIES.items():
            mine = rows[rows["metric"] == metric].sort_values("parameter")
            values = mine["parameter"].to_numpy(), mine["value"].to_numpy()[None]
            lines[kind, "", name] = Line(values) if len(mine) else reason

    def display(kind, lines):
        return GridCurveDisplay(lines, param_name=panels[kind], score_name=score_name)

    return draw_lines(lines, display, empty=((), ()), common=False)
