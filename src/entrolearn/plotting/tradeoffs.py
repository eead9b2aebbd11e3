"""Tradeoff curves: one score against another along a parameter grid."""

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.grids import check_known, grid_errors_and_support, numbers
from entrolearn.plotting.style import distinct_styles, guide_lines, say_below


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
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from entrolearn.plotting import TradeoffDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> machines = {"rbf": SVC(), "linear": SVC(kernel="linear")}
    >>> display = TradeoffDisplay.from_estimators(
    ...     machines, X, y, param_name="C", param_range=[0.1, 1, 10], cv=5
    ... )
    >>> display.plot()
    <...>
    """

    def __init__(self, curves, *, x_name, y_name):
        self.curves = curves
        self.x_name = x_name
        self.y_name = y_name

    @classmethod
    def from_estimators(cls, estimators, X, y, *, param_name, param_range, cv=10) -> "TradeoffDisplay":
        """Cross-validate estimators for each value of a parameter: errors against support vectors.

        Parameters
        ----------
        estimators : mapping of str to classifier
            Estimators with support vectors (see :mod:`entrolearn.path`); they are cloned.
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
        param_name : str
            A parameter of all estimators.
        param_range : sequence of numbers
        cv : int or scikit-learn splitter, default=10
            Each row must be in exactly one test set.

        Raises
        ------
        TypeError
            If an estimator has no support vectors.
        ValueError
            If an estimator does not have the parameter, the values are not numbers, or the folds overlap.
        """
        values = numbers(param_name, param_range)
        curves = {}
        for name, estimator in estimators.items():
            check_known(estimator, param_name)
            points = [{param_name: value} for value in values]
            errors, support = 100 * grid_errors_and_support(estimator, X, y, points, cv).mean(axis=0).T
            curves[name] = support, errors
        return cls(curves, x_name="support vectors, %", y_name="error, %")

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
        styles = distinct_styles(len(self.curves), "curves")
        gaps = []
        for (name, (x, y)), style in zip(self.curves.items(), styles, strict=True):
            x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
            ax.plot(x, y, label=name, marker="o", markersize=2.5, **style)
            if missing := int(np.isnan(x + y).sum()):
                gaps.append(f"{name}: no scores at {missing} of {len(x)}")
            elif not len(x):
                gaps.append(f"{name}: no scores")
        say_below(ax, "\n".join(gaps))
        guide_lines(ax, "both")
        ax.set(xlabel=self.x_name, ylabel=self.y_name)
