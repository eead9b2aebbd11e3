"""Figures: drawn from a study's data or candidates, each beside a csv of what is drawn.

Picture and csv come from the same arrays. What could not be drawn is said in both: absent data and failed
fits do not end a run.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from entrolab.figure_types.drawing import Drawing
from entrolab.figure_types.modules import KINDS
from entrolab.io.atomic import replacing
from entrolab.tables.types import one_line
from entrolearn.plotting import journal_style, page_to_hover, save_figure


def make_figure(
    spec: Mapping, sources: Sequence[str], records: Sequence[str], outputs: Sequence[str]
) -> Drawing:
    """Draw the figure that `spec` asks for, by its type, and write it.

    Parameters
    ----------
    spec : mapping
        As :func:`entrolab.study.job_specs.figure_spec` gives it.
    sources : sequence of paths
        What the kind draws from, as :func:`entrolab.study.job_specs.figure_files` lists it.
    records : sequence of paths
        The cells' records, which say why one has no candidates.
    outputs : sequence of paths
        Ending in ``.svg``, ``.png`` or ``.csv``.
    """
    kind = KINDS[spec["kind"]]
    with journal_style():
        drawing = kind.draw(spec, sources, records)
        for output in outputs:
            with replacing(output) as temporary:
                if Path(output).suffix == ".csv":
                    drawing.table.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")
                else:
                    save_figure(drawing.figure, temporary)
    return drawing


def make_page_to_hover(spec: Mapping, drawn: str, sources: Sequence[str], output: str) -> None:
    """Write the rows of a figure that is drawn as a page on which each tells what it is.

    Parameters
    ----------
    spec : mapping
        As :func:`entrolab.study.job_specs.figure_spec` gives it.
    drawn : path
        The figure's csv.
    sources : sequence of paths
        The prepared data sets, which :func:`entrolab.study.job_specs.rows_to_hover`
        lists.
    output : path
    """
    panels = KINDS[spec["kind"]].to_hover(spec, read_figure(drawn), sources)
    page = page_to_hover(panels, title=one_line(spec["caption"]))
    with replacing(output) as temporary:
        Path(temporary).write_text(page, encoding="utf-8")


def alternative_text(spec: Mapping, table: pd.DataFrame) -> str:
    """What a reader who does not see the figure is told of it.

    Parameters
    ----------
    spec : mapping
        As :func:`entrolab.study.job_specs.figure_spec` gives it.
    table : DataFrame
        The figure's csv.
    """
    return KINDS[spec["kind"]].in_words(spec, table)


def reasons(table: pd.DataFrame) -> list[str]:
    """Why parts of a figure are not there, each different reason once, in the table's order."""
    found = table[table["reason"] != ""]
    if "dataset" not in table:
        return list(dict.fromkeys(found["reason"]))
    where = [name for name in ("dataset", "model") if name in table]
    groups = found.groupby([*where, "reason"], sort=False).size()
    return [
        f"{', '.join(at)}: {reason}" + (f" (at {times} values)" if times > 1 else "")
        for (*at, reason), times in groups.items()
    ]


def read_figure(path: str | Path) -> pd.DataFrame:
    """Read a figure's csv file back."""
    table = pd.read_csv(path, dtype={"reason": str, "series": str})
    return table.fillna({"reason": "", "series": ""})
