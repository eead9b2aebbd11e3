"""Critical difference diagram: average ranks of models, and groups without significant differences."""

import math

from entrolearn.plotting.display import Display
from entrolearn.plotting.style import CURVE_STYLES, FADED, Figure, mpl, plt

# Inches for a font size of 8 points, from the axis upwards and downwards; they scale with the font size.
TYPE = 8
AXIS_WIDTH = 3.2
ABOVE, BAR, ROW, FOOT = 0.57, 0.09, 0.19, 0.32
UP = 0.32  # position of the scale
LETTER, MARGIN = 0.066, 0.1
# Points between the end of a line and a rank, and a name, and between the axis and its name.
TO_RANK, TO_NAME, TO_SCALE = 3, 34, 10
SCALE_NAME = "average rank"
LEADER_STYLE = {"color": "0.6", "linewidth": 0.6}
BAR_STYLE = {"color": CURVE_STYLES[0]["color"], "linewidth": 1.8, "solid_capstyle": "butt"}
N_TICKS = 12


class CriticalDifferenceDisplay(Display):
    """Average ranks on a line, the best at the left; bars join models that do not differ significantly.

    A bar has a dot at each of its models. A model between two others of a bar that has no dot on it differs
    significantly from at least one of them.

    Parameters
    ----------
    ranks : mapping of str to float
        Name and average rank of each model; 1 is the best possible rank.
    groups : sequence of sequences of str
        Groups of models without significant differences, one bar each.
    critical_difference : float, optional
        Critical difference of two ranks in a rank-based test, shown as a scale.
    difference_name : str, default="critical difference"
    remark : str, default="bars: no significant difference"
        Note below the plot, such as the name of the test.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006) 1–30, Figure 1.

    Examples
    --------
    The ranks of Demšar's Table 6:

    >>> from entrolearn.plotting import CriticalDifferenceDisplay
    >>> ranks = {"C4.5": 3.143, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
    >>> groups = [["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]]
    >>> CriticalDifferenceDisplay(ranks, groups, critical_difference=1.25).plot()
    <...>
    """

    def __init__(
        self,
        ranks,
        groups,
        *,
        critical_difference=None,
        difference_name="critical difference",
        remark="bars: no significant difference",
    ):
        self.ranks = ranks
        self.groups = groups
        self.critical_difference = critical_difference
        self.difference_name = difference_name
        self.remark = remark

    @property
    def _limits(self) -> tuple[int, int]:
        """Integer ranks at the ends of the axis: around all models, with space for the scale."""
        low, high = math.floor(min(self.ranks.values())), math.ceil(max(self.ranks.values()))
        return low, max(high, low + 1, math.ceil(low + (self.critical_difference or 0)))

    def _halves(self) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Names and ranks at the left, the best first, and those at the right, the last first."""
        ordered = sorted(self.ranks.items(), key=lambda item: item[1])
        half = math.ceil(len(ordered) / 2)
        return ordered[:half], ordered[half:][::-1]

    def _heights(self) -> tuple[float, float]:
        """Inches above and below the axis, for a font size of 8 points."""
        return ABOVE, self._first_row() + ROW * len(self._halves()[0]) + FOOT

    def _levels(self) -> list[int]:
        """Vertical position of each group's bar: the first level at which it meets no other bar."""
        ends: list[list[tuple[float, float]]] = []
        levels = []
        for group in self.groups:
            first, last = self._ends(group)
            level = next(
                (
                    number
                    for number, taken in enumerate(ends)
                    if all(last < start or stop < first for start, stop in taken)
                ),
                len(ends),
            )
            if level == len(ends):
                ends.append([])
            ends[level].append((first, last))
            levels.append(level)
        return levels

    subject = "Average ranks, the best first"

    def summary(self) -> str:
        ranks = ", ".join(
            f"{name} {rank:.2f}" for name, rank in sorted(self.ranks.items(), key=lambda of: of[1])
        )
        return "; ".join([ranks, *(f"joined by a bar: {', '.join(group)}" for group in self.groups)])

    def _parts(self):
        bars = [
            " ".join(str(k) for k, group in enumerate(self.groups, start=1) if name in group)
            for name in self.ranks
        ]
        yield {"series": list(self.ranks), "rank": list(self.ranks.values()), "bars": bars}

    def plot(self, ax=None) -> "CriticalDifferenceDisplay":
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes with space for the names on both sides. Default: those of a new figure of suitable size.

        Returns
        -------
        self
        """
        if ax is None:
            ax = critical_difference_axes(self, figure=plt.figure())
        self.ax_, self.figure_ = ax, ax.figure
        low, high = self._limits
        top, bottom = self._heights()
        ax.set(xlim=(low, high), ylim=(-bottom, top))
        # The vertical axis is in inches for a font size of 8 points; only the horizontal axis has ticks.
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        ax.spines["top"].set(visible=True, position=("data", 0))
        ax.xaxis.set_ticks_position("top")
        step = math.ceil((high - low) / N_TICKS)
        ax.set(xticks=range(low, high + 1, step), yticks=[])
        self._say_beside((low, 0), SCALE_NAME, -TO_SCALE, 7, size="small", color=FADED)
        self._plot_scale(low)
        self._plot_bars()
        self._plot_names()
        ax.text(
            0.5,
            -bottom,
            self.remark,
            transform=ax.get_yaxis_transform(),
            ha="center",
            va="bottom",
            size="small",
            color=FADED,
        )
        return self

    def _ends(self, group) -> tuple[float, float]:
        at = [self.ranks[name] for name in group]
        return min(at), max(at)

    def _first_row(self) -> float:
        return BAR * (max(self._levels(), default=-1) + 2) + ROW / 2

    def _plot_scale(self, start: int) -> None:
        if self.critical_difference is None:
            return
        end = start + self.critical_difference
        self.ax_.plot([start, end], [UP, UP], marker="|", markersize=5, **{**BAR_STYLE, "linewidth": 1})
        text = f"{self.difference_name}: {self.critical_difference:.2f}"
        self.ax_.text(start, UP + 0.07, text, va="bottom", size="small", color=FADED)

    def _plot_bars(self) -> None:
        for group, level in zip(self.groups, self._levels(), strict=True):
            y = -BAR * (level + 1.5)
            self.ax_.plot(self._ends(group), [y, y], **BAR_STYLE)
            dots = [self.ranks[name] for name in group]
            self.ax_.plot(dots, [y] * len(dots), "o", markersize=3, color=BAR_STYLE["color"])

    def _plot_names(self) -> None:
        """Draw each name at the end of a line from its rank."""
        for side, models in enumerate(self._halves()):
            edge = self._limits[side]
            for row, (name, rank) in enumerate(models):
                y = -self._first_row() - ROW * row
                self.ax_.plot([rank, rank, edge], [0, y, y], clip_on=False, zorder=1, **LEADER_STYLE)
                self.ax_.plot(rank, 0, "o", markersize=3, clip_on=False, color=BAR_STYLE["color"])
                away = 1 if side else -1
                self._say_beside((edge, y), f"{rank:.2f}", away * TO_RANK, va="center", color=FADED)
                self._say_beside((edge, y), name, away * TO_NAME, va="center")

    def _say_beside(self, at, text: str, across: float, up: float = 0, **style) -> None:
        """Add a text at an offset in points to the right, or to the left, of a position."""
        self.ax_.annotate(
            text,
            at,
            (_scale() * across, _scale() * up),
            textcoords="offset points",
            ha="right" if across < 0 else "left",
            annotation_clip=False,
            **style,
        )


def critical_difference_axes(display: CriticalDifferenceDisplay, *, figure: Figure | None = None):
    """Axes with enough room for a display's names.

    Parameters
    ----------
    display : CriticalDifferenceDisplay
    figure : matplotlib Figure, optional
        Resized as the display requires. Default: a new figure that is not registered with pyplot.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from entrolearn.plotting import CriticalDifferenceDisplay
    >>> display = CriticalDifferenceDisplay({"EEM": 1.2, "SVM": 1.8}, [])
    >>> display.plot(ax=critical_difference_axes(display))
    <...>
    """
    figure = Figure() if figure is None else figure
    left, right = (
        TO_NAME / 72 + LETTER * max((len(name) for name, _ in models), default=0) + MARGIN
        for models in display._halves()
    )
    left = max(left, TO_SCALE / 72 + LETTER * len(SCALE_NAME) + MARGIN)
    width = left + AXIS_WIDTH + right
    figure.set_size_inches(_scale() * width, _scale() * sum(display._heights()))
    return figure.add_axes((left / width, 0, AXIS_WIDTH / width, 1))


def _scale() -> float:
    return mpl.rcParams["font.size"] / TYPE
