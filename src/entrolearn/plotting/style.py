"""Style of the figures, and functions that save them.

Classes and curves differ in colour (the palette of Okabe and Ito, suitable for colour-blind readers), in
lightness, and in marker, line style or hatching, so that they can be distinguished in black and white.
"""

import io
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from textwrap import wrap
from typing import Any
from xml.etree.ElementTree import ParseError, iterparse

import numpy as np

try:
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
except ImportError as error:
    raise ImportError(
        "entrolearn.plotting draws with matplotlib, which is not installed: pip install 'entrolearn[plot]'"
    ) from error

# Style of each class: the negative one is filled and solid, the positive one open and dashed.
CLASS_STYLES: tuple[dict[str, Any], ...] = (
    {
        "color": "#0072B2",
        "face": "#0072B2",
        "tint": "#cfe2f0",
        "marker": "o",
        "linestyle": "-",
        "hatch": "",
    },
    {
        "color": "#D55E00",
        "face": "none",
        "tint": "#fbe6c8",
        "marker": "^",
        "linestyle": (0, (4, 1.5)),
        "hatch": "////",
    },
)
# Styles of further classes, for displays of more than two.
MORE_CLASS_STYLES: tuple[dict[str, Any], ...] = (
    {
        "color": "#009E73",
        "face": "#009E73",
        "tint": "#cdebe2",
        "marker": "s",
        "linestyle": (0, (1.2, 1.2)),
        "hatch": "....",
    },
    {
        "color": "#CC79A7",
        "face": "none",
        "tint": "#f5e3ed",
        "marker": "D",
        "linestyle": (0, (5, 1.5, 1.2, 1.5)),
        "hatch": "\\\\",
    },
    {
        "color": "#000000",
        "face": "#000000",
        "tint": "#dddddd",
        "marker": "v",
        "linestyle": (0, (2.5, 1)),
        "hatch": "----",
    },
    {
        "color": "#56B4E9",
        "face": "none",
        "tint": "#ddf0fb",
        "marker": "P",
        "linestyle": (0, (8, 2)),
        "hatch": "xxxx",
    },
)
# Styles of further clusters, for up to ten.
MORE_CLUSTER_STYLES = (
    {"color": "#E69F00", "face": "#E69F00", "marker": "<"},
    {"color": "#7B3F00", "face": "none", "marker": "h"},
    {"color": "#5C2A83", "face": "#5C2A83", "marker": "p"},
    {"color": "#7F7F7F", "face": "none", "marker": ">"},
)
# Styles of rows in no cluster, and of clusters after the tenth.
NOISE_STYLE = {"color": "0.55", "face": "0.55", "marker": "x"}
OTHERS_STYLE = {"color": "0.7", "face": "0.7", "marker": "."}
# Styles of the curves of a panel, the darkest first.
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

JOURNAL = {
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
    """Save a figure in the format of the file's suffix; equal figures give equal bytes.

    Parameters
    ----------
    figure : matplotlib Figure
    file : path
        Path, such as ``figure2.svg`` (which stores text as text) or ``figure2.png``.
    dpi : int
        Dots per inch of a bitmap.
    description : str, default=""
        Alternative text, stored in the metadata of SVG and PNG files.
    """
    suffix = os.path.splitext(file)[1].removeprefix(".")
    metadata = dict(_WITHOUT_DATES.get(suffix, {}))
    if description and suffix in ("svg", "png"):
        metadata["Description"] = description
    with mpl.rc_context(_SVG):
        figure.savefig(file, dpi=dpi, metadata=metadata)


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
    known = CLASS_STYLES + MORE_CLASS_STYLES
    if number > len(known):
        raise ValueError(f"{number} classes in one picture; accepted: at most {len(known)}")
    return known[:number]


def cluster_styles(number: int) -> list[dict]:
    """Styles of the clusters, starting with those of classes; all clusters after the tenth look the same."""
    known = [*CLASS_STYLES, *MORE_CLASS_STYLES, *MORE_CLUSTER_STYLES]
    return [*known[:number], *[OTHERS_STYLE] * (number - len(known))]


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


def class_handles(labels, *, marker: bool = False, line: bool = False) -> list[Line2D]:
    """Legend entries of the classes, with their marker, their line or both."""
    return [
        Line2D(
            [],
            [],
            color=style["color"],
            linestyle=style["linestyle"] if line else "none",
            marker=style["marker"] if marker else None,
            markerfacecolor=style["face"],
            markersize=4,
            label=label,
        )
        for style, label in zip(class_styles(len(labels)), labels, strict=True)
    ]


def say(ax, text: str) -> None:
    """Show a text instead of a plot."""
    text = "\n".join(wrap(text, 26))
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", size="small", color=FADED)


def say_below(ax, text: str) -> None:
    """Add a note below a plot."""
    ground = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1}
    ax.text(
        0.98,
        0.02,
        text,
        transform=ax.transAxes,
        ha="right",
        va="bottom",
        size="x-small",
        color=FADED,
        bbox=ground if text else None,
    )
