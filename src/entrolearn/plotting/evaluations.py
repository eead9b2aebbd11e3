"""Ways to evaluate a function of some data: what each takes, and how far off it is."""

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.style import Figure, distinct_styles, guide_lines, plt

FIGURE_SIZE = (4.2, 4.6)  # inches


class EvaluationsDisplay(Display):
    """Seconds per evaluation against the rows, and below them the relative error, on logarithmic axes.

    Parameters
    ----------
    curves : mapping of str to (rows, seconds, errors)
        What each way is called, the numbers of rows, ascending, the seconds that an evaluation takes and its
        relative error, each of shape (n_sizes,); NaN where there is none, which is a gap. A way without any
        error, such as the exact one, is drawn above alone.
    error_name : str, default="relative error"

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    TimingDisplay : Seconds alone, and learners that it times itself.

    Examples
    --------
    >>> from entrolearn.plotting import EvaluationsDisplay
    >>> rows = [100, 1000, 10000]
    >>> nan = float("nan")
    >>> curves = {"exact": (rows, [1e-4, 1e-2, 1], [nan] * 3)}
    >>> curves["binned"] = (rows, [1e-3, 2e-3, 1e-2], [1e-3] * 3)
    >>> EvaluationsDisplay(curves).plot()
    <...>
    """

    def __init__(self, curves, *, error_name="relative error"):
        self.curves = curves
        self.error_name = error_name

    subject = "Seconds per evaluation against the number of rows"

    def summary(self) -> str:
        largest = {name: np.nanmax([*errors, -1]) for name, (_, _, errors) in self.curves.items()}
        off = [
            f"{self.error_name} of {name} at most {error:.2g}"
            for name, error in largest.items()
            if error >= 0
        ]
        return "; ".join([super().summary(), *off]).replace("\n", " ")

    def _parts(self):
        for name, (rows, seconds, errors) in self.curves.items():
            yield {"series": name, "rows": rows, "seconds": seconds, "error": errors}

    def plot(self, ax=None) -> "EvaluationsDisplay":
        """Draw the display.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, optional
            For the seconds and for the errors; by default those of a new figure, one above the other.

        Returns
        -------
        self
        """
        styles = distinct_styles(len(self.curves), "curves")
        if ax is None:
            ax = _two_axes(plt.figure(figsize=FIGURE_SIZE, layout="constrained"))
        axes = np.asarray(ax, dtype=object).ravel()
        if len(axes) != 2:
            raise ValueError(f"ax holds {len(axes)} axes; accepted: two")
        for (name, (rows, seconds, errors)), style in zip(self.curves.items(), styles, strict=True):
            look = {"marker": "o", "markersize": 2.5, **style}
            axes[0].plot(rows, seconds, label=name, **look)
            if not np.isnan(np.asarray(errors, dtype=float)).all():
                axes[1].plot(rows, errors, **look)
        for one, what in zip(axes, ("seconds per evaluation", self.error_name), strict=True):
            one.set(xscale="log", yscale="log", ylabel=what)
            guide_lines(one, "both")
        axes[1].set_xlabel("rows")
        axes[0].legend()
        self.axes_, self.figure_ = axes, axes[0].figure
        return self


def evaluation_axes() -> np.ndarray:
    """Two axes, one above the other, on a figure that pyplot does not keep: for programs that write files."""
    return _two_axes(Figure(figsize=FIGURE_SIZE, layout="constrained"))


def _two_axes(figure) -> np.ndarray:
    return figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
