"""Fit times of several estimators against a property of the data."""

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.style import guide_lines, log_scale, plot_lines


class TimingDisplay(Display):
    """Fit times of several learners against a property of the data, on logarithmic axes.

    Parameters
    ----------
    curves : mapping of str to (values, seconds)
        For each learner its name, the ascending values of the property, shape (n_values,), and the seconds,
        shape (n_values,), NaN if missing.
    param_name : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    Deng, Ong and Zheng, A Fast Reduced Kernel Extreme Learning Machine, Figure 4.

    Examples
    --------
    >>> from entrolearn.plotting import TimingDisplay
    >>> curves = {"ridge": ([0.01, 0.1, 1], [2e-3, 2e-2, 0.3]), "SVM": ([0.01, 0.1, 1], [0.1, 0.2, 0.9])}
    >>> TimingDisplay(curves, param_name="density").plot()
    <...>
    """

    def __init__(self, curves, *, param_name):
        self.curves = curves
        self.param_name = param_name

    @property
    def axis_names(self) -> tuple[str, str]:
        return self.param_name, "seconds"

    @property
    def subject(self) -> str:
        return f"Seconds against {self.param_name}"

    def _parts(self):
        for name, (values, seconds) in self.curves.items():
            yield {"series": name, self.param_name: values, "seconds": seconds}

    def _plot(self, ax) -> None:
        plot_lines(ax, self.curves)
        log_scale(ax.xaxis, np.concatenate([values for values, _ in self.curves.values()]))
        ax.set(yscale="log", xlabel=self.param_name, ylabel="seconds")
        guide_lines(ax, "both")
