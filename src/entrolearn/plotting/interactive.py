"""Interactive HTML pages: rows in the plane, drawn by plotly, in one file that needs no network."""

import html
import math
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

import numpy as np

LINE_WIDTH = 1.3  # pixels
MARKERS = {
    "o": "circle",
    "^": "triangle-up",
    "s": "square",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
    "<": "triangle-left",
    "h": "hexagon",
    "p": "pentagon",
    ">": "triangle-right",
}
# In pixels: height of a row of panels, gap between panels, space for title and legend, total space above and
# below.
ROW_HEIGHT, BETWEEN, ABOVE, AROUND = 420, 80, 100, 160
# No button that uploads the data.
CONFIG = {"displaylogo": False, "showSendToCloud": False}
GAP = (np.nan, np.nan)  # separates lines within one trace
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
</head>
<body>
{body}
</body>
</html>
"""


def page_to_hover(panels: Mapping[str, Any], *, title: str = "", n_columns: int = 3) -> str:
    """A page of small multiples with tooltips of the rows.

    A click on a class in the legend hides it in all panels; dragging zooms into a panel.

    Parameters
    ----------
    panels : mapping of str to ProjectionDisplay, or str
        A text is shown instead of a missing display and should state the reason.
    title : str, default=""
    n_columns : int, default=3

    Returns
    -------
    str
        The whole page, including plotly's program.

    Raises
    ------
    ImportError
        If plotly is not installed.
    """
    try:
        from plotly.subplots import make_subplots
    except ImportError as error:
        raise ImportError(
            "entrolearn.plotting draws pages to hover over with plotly, which is not installed: "
            "pip install 'entrolearn[plot]'"
        ) from error
    n_columns = min(n_columns, len(panels))
    n_rows = math.ceil(len(panels) / n_columns)
    height = ROW_HEIGHT * n_rows + AROUND
    figure = make_subplots(
        n_rows,
        n_columns,
        subplot_titles=[html.escape(name) for name in panels],
        vertical_spacing=BETWEEN / height,
    )
    shown: set[str] = set()  # classes that are already in the legend
    for number, panel in enumerate(panels.values()):
        place = {"row": number // n_columns + 1, "col": number % n_columns + 1}
        if isinstance(panel, str):
            figure.add_annotation(
                text="<br>".join(map(html.escape, wrap(panel, 40))),
                showarrow=False,
                x=0.5,
                y=0.5,
                xref="x domain",
                yref="y domain",
                **place,
            )
            continue
        for trace in _traces(panel):
            first = trace["mode"] == "markers" and trace["name"] not in shown
            shown |= {trace["name"]} if first else set()
            figure.add_scatter(**trace, showlegend=first, **place)
        figure.update_xaxes(title_text=html.escape(panel.axis_names[0]), **place)
        figure.update_yaxes(title_text=html.escape(panel.axis_names[1]), **place)
    figure.update_layout(
        template="plotly_white",
        title_text=html.escape(title),
        height=height,
        hovermode="closest",
        margin={"t": ABOVE, "b": AROUND - ABOVE},
        legend={
            "title_text": "class",
            "orientation": "h",
            "x": 1,
            "xanchor": "right",
            "y": 1 + ABOVE / (2 * ROW_HEIGHT * n_rows),
            "yanchor": "middle",
        },
    )
    body = figure.to_html(full_html=False, include_plotlyjs=True, div_id="rows", config=CONFIG)
    return PAGE.format(title=html.escape(title), body=body)


def _traces(display) -> Iterator[dict]:
    """Traces of the contours and the rows of each class."""
    display._check()
    coordinates, codes = np.asarray(display.coordinates, dtype=float), np.asarray(display.codes)
    described = display._row_texts()
    for c, (style, label) in enumerate(zip(display._styles(), display.display_labels, strict=True)):
        of_class = {"name": html.escape(str(label)), "legendgroup": str(label)}
        lines = [part for line in display.contours(c) for part in (line, [GAP])]
        x, y = np.vstack(lines).T if lines else ([], [])
        look = {"color": style["color"], "dash": _dashes(style["linestyle"]), "width": LINE_WIDTH}
        yield {**of_class, "x": x, "y": y, "mode": "lines", "line": look, "hoverinfo": "skip"}
        rows = np.flatnonzero(codes == c)
        yield {
            **of_class,
            "x": coordinates[rows, 0],
            "y": coordinates[rows, 1],
            "mode": "markers",
            "marker": {"color": style["color"], "symbol": _symbol(style), "size": 6, "opacity": 0.75},
            "text": ["<br>".join(map(html.escape, described[row])) for row in rows],
            "hovertemplate": "%{text}<extra></extra>",
        }


def _symbol(style: Mapping) -> str:
    """plotly's name of the marker of a class."""
    return MARKERS[style["marker"]] + ("-open" if style["face"] == "none" else "")


def _dashes(linestyle) -> str:
    """plotly's dash pattern of a line style; matplotlib's is in units of the line width."""
    if linestyle == "-":
        return "solid"
    _, lengths = linestyle
    return ",".join(f"{LINE_WIDTH * length:g}px" for length in lengths)
