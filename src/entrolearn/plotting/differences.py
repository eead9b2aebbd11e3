"""Differences of two scores over many data sets, against a property of the data."""

import math

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.style import CLASS_STYLES, FADED, guide_lines, log_scale

# Styles for a first score that is better, worse or equal.
STYLES = (*CLASS_STYLES[:2], {"marker": "s", "face": FADED, "color": FADED})
# Number of the largest and of the smallest differences whose data sets are named, at most two.
NAMED = 2


class DifferencesDisplay(Display):
    """Differences of two scores, with one point per data set, against a property of the data.

    Parameters
    ----------
    names : sequence of str
        The data sets. The two with the largest and the two with the smallest differences are named in the
        plot.
    values : array-like, shape (n_datasets,)
        The property, which must be positive; on a logarithmic axis.
    differences : array-like, shape (n_datasets,)
        First score minus second score.
    line : tuple of two floats, optional
        Intercept and slope of a trend line, against the decimal logarithm of the property.
    sides : tuple of two str, default=("", "")
        Names of the scores that are better above and below zero.
    x_name, y_name : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from entrolearn.plotting import DifferencesDisplay
    >>> display = DifferencesDisplay(
    ...     ["iris", "wine", "digits"], [150, 178, 1797], [1.5, -0.2, 0.4], x_name="rows", y_name="gain"
    ... )
    >>> display.plot()
    <...>
    """

    def __init__(self, names, values, differences, *, line=None, sides=("", ""), x_name, y_name):
        self.names = names
        self.values = values
        self.differences = differences
        self.line = line
        self.sides = sides
        self.x_name = x_name
        self.y_name = y_name

    @property
    def axis_names(self) -> tuple[str, str]:
        return self.x_name, self.y_name

    @property
    def subject(self) -> str:
        return f"{self.y_name} against {self.x_name}"

    def summary(self) -> str:
        y = np.asarray(self.differences, dtype=float)
        return (
            f"above zero {np.sum(y > 0)} of {len(y)} times, below {np.sum(y < 0)}, median {np.median(y):.2g}"
        )

    def _parts(self):
        yield {"series": self.names, "value": self.values, "difference": self.differences}

    def _plot(self, ax) -> None:
        x, y = np.asarray(self.values, dtype=float), np.asarray(self.differences, dtype=float)
        for some, style in zip((y > 0, y < 0, y == 0), STYLES, strict=True):
            ax.scatter(
                x[some],
                y[some],
                s=14,
                marker=style["marker"],
                facecolors=style["face"],
                edgecolors=style["color"],
                linewidths=0.8,
                zorder=3,
            )
        ax.axhline(0, color="black", linewidth=0.7, zorder=2, label="no difference")
        log_scale(ax.xaxis, x)
        ax.set(xlabel=self.x_name, ylabel=self.y_name)
        ax.margins(x=0.12, y=0.16)
        self._plot_trend(ax, x)
        self._name_extremes(ax, x, y)
        for side, height, va in zip(self.sides, (0.99, 0.01), ("top", "bottom"), strict=True):
            ax.text(
                0.02, height, side, transform=ax.transAxes, va=va, size="x-small", style="italic", color=FADED
            )
        guide_lines(ax, "both")

    def _plot_trend(self, ax, x: np.ndarray) -> None:
        if self.line is not None:
            intercept, slope = self.line
            ends = np.array([x.min(), x.max()])
            look = {"color": FADED, "linestyle": (0, (4, 2)), "zorder": 2, "label": "trend"}
            ax.plot(ends, intercept + slope * np.log10(ends), **look)

    def _name_extremes(self, ax, x: np.ndarray, y: np.ndarray) -> None:
        """Name the extreme points towards the middle of the plot, one name above and one below each other."""
        order = np.argsort(y, kind="stable").tolist()
        where = dict(zip(order[:NAMED], ("top", "bottom"), strict=False))
        where |= dict(zip(order[: -NAMED - 1 : -1], ("bottom", "top"), strict=False))
        middle = math.sqrt(x.min() * x.max())
        for k, va in where.items():
            right = x[k] > middle
            ax.annotate(
                self.names[k],
                (x[k], y[k]),
                xytext=(-4 if right else 4, 1 if va == "bottom" else -1),
                textcoords="offset points",
                ha="right" if right else "left",
                va=va,
                size="x-small",
            )
