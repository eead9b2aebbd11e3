"""One score against another along a grid."""

import numpy as np

from entrolearn.plotting.style import CURVE_STYLES, new_axes, say_below


class TradeoffDisplay:
    """What machines pay of one score for another: a line through the points of each one's grid.

    Parameters
    ----------
    curves : mapping of str to (x, y)
        What each machine is called, and its two scores at the points of its grid, in the grid's order, each
        of shape (n_points,); NaN at a point that lacks one, which is a gap.
    x_name, y_name : str
        The scores.

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
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from entrolearn.plotting import TradeoffDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> machines = [SVC(C=C).fit(X[:100], y[:100]) for C in (0.1, 1, 10)]
    >>> errors = [100 * (machine.predict(X[100:]) != y[100:]).mean() for machine in machines]
    >>> support = [len(machine.support_) for machine in machines]
    >>> TradeoffDisplay({"SVM": (support, errors)}, x_name="support vectors", y_name="error, %").plot()
    <...>
    """

    def __init__(self, curves, *, x_name, y_name):
        self.curves = curves
        self.x_name = x_name
        self.y_name = y_name

    @property
    def axis_names(self) -> tuple[str, str]:
        """What the axes show."""
        return self.x_name, self.y_name

    def plot(self, ax=None) -> "TradeoffDisplay":
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        self
        """
        if len(self.curves) > len(CURVE_STYLES):
            raise ValueError(f"{len(self.curves)} curves in one panel; accepted: at most {len(CURVE_STYLES)}")
        if ax is None:
            ax = new_axes()
        gaps = []
        for (name, (x, y)), style in zip(self.curves.items(), CURVE_STYLES, strict=False):
            x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
            ax.plot(x, y, label=name, marker="o", markersize=2.5, **style)
            if missing := int(np.isnan(x + y).sum()):
                gaps.append(f"{name}: no scores at {missing} of {len(x)}")
            elif not len(x):
                gaps.append(f"{name}: no scores")
        say_below(ax, "\n".join(gaps))
        ax.grid(color="0.9", linewidth=0.5)
        ax.set_axisbelow(True)
        ax.set(xlabel=self.x_name, ylabel=self.y_name)
        self.ax_, self.figure_ = ax, ax.figure
        return self
