"""Write a figure: its pictures, and the CSV file of its contents."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from entrolab.figures.drawing import Drawing
from entrolab.figures.files import Files
from entrolab.figures.spec import FigureSpec
from entrolab.io.atomic import replacing
from entrolearn.plotting import journal_style, save_figure


def make_figure(spec: FigureSpec, sources: Sequence[str], outputs: Sequence[str]) -> Drawing:
    """Draw the figure of a spec and write its files (svg, png, csv); pictures contain their alternative text.

    `sources` are the files of ``spec.sources``.
    """
    with journal_style():
        drawing = spec.entry.draw(Files(spec, sources))
        for output in outputs:
            with replacing(output) as temporary:
                if Path(output).suffix == ".csv":
                    drawing.table.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")
                else:
                    save_figure(drawing.figure, temporary, description=drawing.text)
    return drawing


def reasons(table: pd.DataFrame) -> list[str]:
    """The distinct reasons for missing values of a figure, in the table's order."""
    found = table[table["reason"] != ""]
    if "dataset" not in table:
        return list(dict.fromkeys(found["reason"]))
    where = [name for name in ("dataset", "model") if name in table]
    groups = found.groupby([*where, "reason"], sort=False).size()
    return [
        f"{', '.join(at)}: {reason}" + (f" (at {times} values)" if times > 1 else "")
        for (*at, reason), times in groups.items()
    ]
