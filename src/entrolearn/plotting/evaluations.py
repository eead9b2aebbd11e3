"""Run time and relative error of several methods to evaluate a function."""

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.style import Figure, distinct_styles, guide_lines, legend_above, log_scale, plt

FIGURE_SIZE = (4.2, 4.6)  # inches


class EvaluationsDisplay(Display):
    """Seconds per evaluation and relative error against the number of rows, on logarithmic axes.

    Parameters
    ----------
    curves : mapping of str to (rows, seconds, errors)
        For each method its name, the ascending numbers of rows, the seconds of an evaluation and its relative
        error, each of shape (n_sizes,). NaN is drawn as a gap. A method without errors, such as the exact
        one, is drawn only in the upper plot.
    error_name : str, default="relative error"

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    TimingDisplay : Only seconds.

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
            Axes of the seconds and of the errors. Default: two Axes of a new figure, one above the other.

        Returns
        -------
        self
        """
        styles = distinct_styles(len(self.curves), "curves")
        own = ax is None
        if own:
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
            one.set(yscale="log", ylabel=what)
            guide_lines(one, "both")
        for one in axes:
            log_scale(one.xaxis, np.concatenate([rows for rows, _, _ in self.curves.values()]))
        axes[1].set_xlabel("rows")
        if own:
            legend_above(axes[0].figure, axes[0])
        else:
            axes[0].legend()
        self.axes_, self.figure_ = axes, axes[0].figure
        return self


def evaluation_axes() -> np.ndarray:
    """Two Axes, one above the other, on a figure that is not registered with pyplot."""
    return _two_axes(Figure(figsize=FIGURE_SIZE, layout="constrained"))


def _two_axes(figure) -> np.ndarray:
    return figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
