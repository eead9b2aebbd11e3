"""Style of the figures, and functions that save them.

Classes and curves differ in colour (the palette of Okabe and Ito, suitable for colour-blind readers), in
lightness, and in marker, line style or hatching, so that they can be distinguished in black and white.
"""

import io
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from textwrap import wrap
from typing import Any
from xml.etree.ElementTree import ParseError, iterparse

import numpy as np

try:
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from contourpy import contour_generator
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
except ImportError as error:
    raise ImportError(
        "entrolearn.plotting draws with matplotlib, which is not installed: pip install 'entrolearn[plot]'"
    ) from error

# Styles of classes and clusters. The first two are those of a binary problem: the negative class is filled
# and solid, the positive one open and dashed.
CLASS_STYLES: tuple[dict[str, Any], ...] = tuple(
    {"color": color, "face": color if filled else "none", "marker": marker, "linestyle": linestyle}
    for color, filled, marker, linestyle in (
        ("#0072B2", True, "o", "-"),
        ("#D55E00", False, "^", (0, (4, 1.5))),
        ("#009E73", True, "s", (0, (1.2, 1.2))),
        ("#CC79A7", False, "D", (0, (5, 1.5, 1.2, 1.5))),
        ("#000000", True, "v", (0, (2.5, 1))),
        ("#56B4E9", False, "P", (0, (8, 2))),
        ("#E69F00", True, "<", (0, (1.2, 3))),
        ("#7B3F00", False, "h", (0, (8, 1.5, 1.2, 1.5, 1.2, 1.5))),
        ("#5C2A83", True, "p", (0, (4, 4))),
        ("#7F7F7F", False, ">", (0, (12, 2, 4, 2))),
    )
)
# Styles of rows in no cluster, and of clusters after the tenth.
NOISE_STYLE = {"color": "0.55", "face": "0.55", "marker": "x"}
OTHERS_STYLE = {"color": "0.7", "face": "0.7", "marker": "."}
# Styles of the unordered curves of a panel.
CURVE_STYLES = (
    {"color": "#000000", "linestyle": "-"},
    {"color": "#D55E00", "linestyle": (0, (5, 1.5))},
    {"color": "#0072B2", "linestyle": (0, (1.2, 1.2))},
    {"color": "#009E73", "linestyle": (0, (5, 1.5, 1.2, 1.5))},
    {"color": "#CC79A7", "linestyle": (0, (2.5, 1))},
    {"color": "#56B4E9", "linestyle": (0, (8, 2))},
)
# Styles of ordered curves. The lightest eighth of the colour map is not used, because it is invisible on
# paper.
ORDERED_COLOURS, LIGHTEST = "viridis", 0.88
# Colour maps of images: grey, and one centred on zero from dark blue over grey to yellow, with increasing
# lightness, so that signs can be distinguished in black and white.
INK, SIGNED = "Greys", "cividis"
THRESHOLD_STYLE: dict[str, Any] = {"color": "black", "linewidth": 0.9, "linestyle": (0, (1, 1))}
FADED = "0.35"
MOST_NOTES = 3
# Width of a legend entry in inches for a font size of 8 points, of its line and of each letter.
LINE, LETTER = 0.55, 0.065

JOURNAL: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.1,
    "hatch.linewidth": 0.4,
}

# Text is stored as text, so that it can be searched and copied; ids depend only on the content.
_SVG: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "entrolearn"}
_WITHOUT_DATES: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None},
}


def journal_style() -> AbstractContextManager:
    """Matplotlib style with small fonts, thin lines and no frames, for figures of journal width.

    All other settings are matplotlib's defaults; the user's ``matplotlibrc`` is ignored.

    Examples
    --------
    >>> from entrolearn.plotting import journal_style
    >>> with journal_style():
    ...     pass  # draw
    """
    return mpl.style.context(["default", JOURNAL])


def save_figure(figure: Figure, file: str | os.PathLike, *, dpi: int = 200, description: str = "") -> None:
    """Save a figure in the format of the file's suffix; equal figures give equal SVG, PNG and PDF files.

    Parameters
    ----------
    figure : matplotlib Figure
    file : path
        Path, such as ``figure2.svg`` (which stores text as text) or ``figure2.png``; or another format of
        matplotlib.
    dpi : int
        Dots per inch of a bitmap.
    description : str, default=""
        Alternative text, stored in the metadata of SVG and PNG files.
    """
    suffix = os.path.splitext(file)[1].removeprefix(".").lower()
    metadata = dict(_WITHOUT_DATES.get(suffix, {}))
    if description and suffix in ("svg", "png"):
        metadata["Description"] = description
    with mpl.rc_context(_SVG):
        figure.savefig(file, dpi=dpi, metadata=metadata or None)


def description_of(file: str | os.PathLike) -> str:
    """The alternative text that :func:`save_figure` stored in an SVG file; empty if there is none."""
    with suppress(OSError, ParseError):
        for _, element in iterparse(file):
            if element.tag == "{http://purl.org/dc/elements/1.1/}description":
                return element.text or ""
            if element.tag.endswith("}metadata"):
                break
    return ""


def svg_element(figure: Figure) -> str:
    """A figure as an ``<svg>`` element, for a file of its own or a page without other figures.

    Parameters
    ----------
    figure : matplotlib Figure

    Returns
    -------
    str
        Equal figures give equal text, because it has no date and its ids are deterministic.

    Examples
    --------
    >>> svg_element(Figure(figsize=(2, 1)))[:35]
    '<svg xmlns:xlink="http://www.w3.org'
    """
    file = io.StringIO()
    with mpl.rc_context(_SVG):
        figure.savefig(file, format="svg", metadata=_WITHOUT_DATES["svg"])
    text = file.getvalue()
    return text[text.index("<svg") :]


def distinct_styles(number: int, what: str) -> Sequence[dict]:
    """Styles of unordered curves; `what` is their name in error messages."""
    if number > len(CURVE_STYLES):
        raise ValueError(f"{number} {what} in one panel; accepted: at most {len(CURVE_STYLES)}")
    return CURVE_STYLES[:number]


def class_styles(number: int) -> Sequence[dict]:
    """Styles of the classes; the first two are those of a binary problem."""
    if number > len(CLASS_STYLES):
        raise ValueError(f"{number} classes in one picture; accepted: at most {len(CLASS_STYLES)}")
    return CLASS_STYLES[:number]


def cluster_styles(number: int) -> list[dict]:
    """Styles of the clusters, those of classes; all clusters after the tenth look the same."""
    return [*CLASS_STYLES[:number], *[OTHERS_STYLE] * (number - len(CLASS_STYLES))]


def tint(style: Mapping) -> tuple:
    """A light shade of a style's colour, for areas."""
    return tuple(0.2 * np.array(mpl.colors.to_rgb(style["color"])) + 0.8)


def ordered_styles(number: int) -> list[dict]:
    """Styles of ordered curves, from dark to light."""
    colours = mpl.colormaps[ORDERED_COLOURS](np.linspace(0, LIGHTEST, number))
    return [{"color": mpl.colors.to_hex(colour), "linestyle": "-"} for colour in colours]


def new_axes():
    """The Axes of a new pyplot figure."""
    return plt.subplots(layout="constrained")[1]


def guide_lines(ax, axis: str) -> None:
    """Add faint grid lines for the axis ``x``, ``y`` or ``both``."""
    ax.grid(axis=axis, color="0.9", linewidth=0.5)
    ax.set_axisbelow(True)


def scatter_classes(ax, points: np.ndarray, codes: np.ndarray, *, alpha: float = 0.85) -> None:
    """Scatter plot of the rows of each class; markers are smaller if there are more rows."""
    size = float(np.clip(6000 / len(points), 3, 14))
    for c, style in enumerate(class_styles(int(np.max(codes)) + 1)):
        ax.scatter(
            *points[codes == c].T,
            s=size,
            marker=style["marker"],
            facecolors=style["face"],
            edgecolors=style["color"],
            linewidths=0.5,
            alpha=alpha,
            zorder=2,
        )


def name_classes(ax, labels, *, marker: bool = False, line: bool = False) -> None:
    """Label the classes for a legend, with their marker, their line or both."""
    for style, label in zip(class_styles(len(labels)), labels, strict=True):
        ax.add_line(
            Line2D(
                [],
                [],
                color=style["color"],
                linestyle=style["linestyle"] if line else "none",
                marker=style["marker"] if marker else None,
                markerfacecolor=style["face"],
                markersize=4,
                label=label if f"{label} ".startswith("class ") else f"class {label}",
            )
        )


def legend_above(figure, *axes) -> None:
    """A legend of all labelled artists of the axes, above them; the figure's layout is "constrained"."""
    named: dict[str, Any] = {}
    for ax in axes:
        named |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    if not named:
        return
    scale = FontProperties(size=mpl.rcParams["legend.fontsize"]).get_size_in_points() / JOURNAL["font.size"]
    entries = np.array([scale * (LINE + LETTER * len(label)) for label in named])
    n_columns = next(
        (
            number
            for number in range(len(entries), 1, -1)
            if sum(column.max() for column in np.array_split(entries, number)) <= figure.get_figwidth()
        ),
        1,
    )
    figure.legend(named.values(), named.keys(), loc="outside upper center", ncols=n_columns)


def log_scale(axis, values) -> None:
    """Set a logarithmic scale with plain numbers: at decades for a wide range, at more values otherwise.

    Parameters
    ----------
    axis : matplotlib Axis
    values : array-like
        The plotted values, positive.
    """
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    wide = np.nanmax(values) >= 100 * np.nanmin(values)
    axis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:,.10g}"))


def plot_lines(ax, lines: Mapping, styles: Sequence[dict] | None = None, **look) -> None:
    """Draw a line per name through its points, and note the points without a number.

    Parameters
    ----------
    ax : matplotlib Axes
    lines : mapping of str to (x, y)
    styles : sequence of dict, optional
        Default: those of unordered curves.
    **look
        Keywords of ``ax.plot`` for all lines.
    """
    styles = distinct_styles(len(lines), "curves") if styles is None else styles
    gaps = []
    for (name, (x, y)), style in zip(lines.items(), styles, strict=True):
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        ax.plot(x, y, label=name, **{"marker": "o", "markersize": 2.5} | style | look)
        missing = int((~np.isfinite(x + y)).sum())
        if missing or not len(x):
            gaps.append(f"{name}: no number" + (f" at {missing} of {len(x)}" if len(x) else ""))
    say_below(ax, gaps)


def contour_lines(x, y, heights, level: float) -> list[np.ndarray]:
    """Contours of a function on a grid at a level, each of shape (n_points, 2)."""
    lines: Any = contour_generator(x, y, heights, name="mpl2014").lines(level)  # points, and codes of paths
    return [line for line in lines[0] if len(line)]


def say(ax, text: str) -> None:
    """Show a text instead of a plot."""
    text = "\n".join(wrap(text, letters_within(ax)))
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", size="small", color=FADED)


def letters_within(ax, share: float = 1.0) -> int:
    """About the number of small letters that fit in a share of the width of the axes."""
    size = FontProperties(size="small").get_size_in_points()
    points = 72 * ax.figure.get_figwidth() * ax.get_position().width
    return max(4, int(share * points / (0.6 * size)))


def say_below(ax, notes: Sequence[str]) -> None:
    """Add notes below a plot, the first ones if there are many, because they cover what is drawn there."""
    if len(notes) > MOST_NOTES:
        notes = [*notes[: MOST_NOTES - 1], f"and {len(notes) - MOST_NOTES + 1} more"]
    ground = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1}
    if notes:
        ax.text(
            0.98,
            0.02,
            "\n".join(notes),
            transform=ax.transAxes,
            ha="right",
            va="bottom",
            size="x-small",
            color=FADED,
            bbox=ground,
        )
