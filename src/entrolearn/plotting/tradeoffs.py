"""Tradeoff curves: one score against another along a parameter grid."""

from entrolearn.plotting.display import Display
from entrolearn.plotting.style import guide_lines, plot_lines


class TradeoffDisplay(Display):
    """Tradeoff between two scores: one line per estimator through the points of its grid.

    Parameters
    ----------
    curves : mapping of str to (x, y)
        For each estimator its name and its two scores at the grid points, in the order of the grid, each of
        shape (n_points,). NaN is drawn as a gap.
    x_name, y_name : str
        Names of the scores.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    Mannor, Peleg and Rubinstein, The cross entropy method for classification, Tables 2 to 4, which show one
    point of each line.

    Examples
    --------
    >>> from entrolearn.plotting import TradeoffDisplay
    >>> curves = {"rbf": ([60, 30, 20], [9, 4, 3]), "linear": ([50, 40, 38], [16, 14, 14])}
    >>> TradeoffDisplay(curves, x_name="support vectors, %", y_name="error, %").plot()
    <...>
    """

    def __init__(self, curves, *, x_name, y_name):
        self.curves = curves
        self.x_name = x_name
        self.y_name = y_name

    @property
    def axis_names(self) -> tuple[str, str]:
        return self.x_name, self.y_name

    @property
    def subject(self) -> str:
        return f"Mean {self.y_name} against {self.x_name}"

    def _parts(self):
        for name, (x, y) in self.curves.items():
            yield {"series": name, "x": x, "y": y, "x_name": self.x_name, "y_name": self.y_name}

    def _plot(self, ax) -> None:
        plot_lines(ax, self.curves)
        guide_lines(ax, "both")
        ax.set(xlabel=self.x_name, ylabel=self.y_name)
