"""Fit times of several estimators against a property of the data."""

import time

import numpy as np
from sklearn.base import clone

from entrolearn.plotting.display import Display
from entrolearn.plotting.style import distinct_styles, guide_lines, say_below


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
    >>> from scipy.sparse import random_array
    >>> from sklearn.linear_model import Ridge
    >>> from entrolearn.plotting import TimingDisplay
    >>> X = {density: random_array((50, 100), density=density, rng=0) for density in (0.01, 0.1)}
    >>> y = [0, 1] * 25
    >>> TimingDisplay.from_estimators({"ridge": Ridge()}, X, y, param_name="density").plot()
    <...>
    """

    def __init__(self, curves, *, param_name):
        self.curves = curves
        self.param_name = param_name

    @classmethod
    def from_estimators(cls, estimators, X, y, *, param_name, n_repeats: int = 3) -> "TimingDisplay":
        """Fit each learner to each data set several times, and plot the shortest time.

        Parameters
        ----------
        estimators : mapping of str to estimator
            Learners, which are cloned.
        X : mapping of float to {array-like, sparse array}, shape (n_samples, n_features)
            The rows for each value of the property.
        y : array-like, shape (n_samples,)
        param_name : str
            Name of the property.
        n_repeats : int, default=3
        """
        values = sorted(X)
        curves = {
            name: (values, [_seconds(estimator, X[value], y, n_repeats) for value in values])
            for name, estimator in estimators.items()
        }
        return cls(curves, param_name=param_name)

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
        styles = distinct_styles(len(self.curves), "curves")
        gaps = []
        for (name, (values, seconds)), style in zip(self.curves.items(), styles, strict=True):
            ax.plot(values, seconds, label=name, marker="o", markersize=2.5, **style)
            if missing := int(np.isnan(np.asarray(seconds, dtype=float)).sum()):
                gaps.append(f"{name}: no seconds at {missing} of {len(seconds)}")
        say_below(ax, "\n".join(gaps))
        ax.set(xscale="log", yscale="log", xlabel=self.param_name, ylabel="seconds")
        guide_lines(ax, "both")


def _seconds(estimator, X, y, n_repeats: int) -> float:
    seconds = []
    for _ in range(n_repeats):
        fresh = clone(estimator)
        started = time.process_time()
        fresh.fit(X, y)
        seconds.append(time.process_time() - started)
    return min(seconds)
