"""Scores against the values of a grid's parameter."""

import math
from collections.abc import Mapping
from numbers import Real

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import indexable

from entrolearn.metrics import gmean_score
from entrolearn.path import Partition, path
from entrolearn.plotting.fitted import name_of
from entrolearn.plotting.style import CURVE_STYLES, Figure, new_axes, say, say_below
from entrolearn.suggest import did_you_mean

FEW, MANY = 6, 20  # values of a grid: up to the first each has its tick, up to the second its mark


class GridCurveDisplay:
    """A score against a grid's values, with its spread over the folds.

    Parameters
    ----------
    curves : mapping of str to (values, scores)
        What each curve is called, the parameter's values, shape (n_values,), ascending, and the scores, shape
        (n_folds, n_values). A value of which some fold has no score (NaN) is a gap: the mean of the other
        folds would not compare with its neighbours. A curve without any value keeps its place in the legend.
    param_name : str
    score_name : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    sklearn.model_selection.ValidationCurveDisplay : One curve; fits every point by itself.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, Figure 3.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import EEMClassifier
    >>> from entrolearn.plotting import GridCurveDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> machine = EEMClassifier(random_state=0)
    >>> display = GridCurveDisplay.from_estimator(
    ...     machine, X, y, param_name="n_hidden", param_range=range(5, 105, 5)
    ... )
    >>> display.plot()
    <...>
    """

    def __init__(self, curves, *, param_name, score_name):
        self.curves = curves
        self.param_name = param_name
        self.score_name = score_name

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, param_name, param_range, cv=10, metric=gmean_score, score_name=None
    ) -> "GridCurveDisplay":
        """Cross-validate a classifier at every value of one parameter, by its path.

        Learners whose fits share work (see :mod:`entrolearn.path`) do them together: 100 sizes of an extreme
        entropy machine, in ten folds, cost about as much as the largest one.

        Parameters
        ----------
        estimator : classifier
            Cloned, never changed. It shares work if its ``random_state`` is a number.
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
        param_name : str
        param_range : sequence of numbers
        cv : int or scikit-learn splitter, default=10
            Of which every row is left out exactly once.
        metric : callable, default=gmean_score
            ``metric(y_true, y_pred)``.
        score_name : str, optional
            The metric's name unless given.

        Raises
        ------
        ValueError
            If the estimator has no such parameter, the values are not numbers, or the folds overlap.
        """
        X, y = indexable(X, np.asarray(y))
        values = _numbers(param_name, param_range)
        known = estimator.get_params()
        if param_name not in known:
            raise ValueError(
                f"{name_of(estimator)} has no parameter {param_name!r}{did_you_mean(param_name, known)}; "
                f"it has: {', '.join(sorted(known))}"
            )
        part = _parts(check_cv(cv, y, classifier=True), X, y)
        partition = Partition.cross_validation(part)
        place = {value: k for k, value in enumerate(values)}
        scores = np.full((len(partition.left_out), len(values)), np.nan)
        reason = ""
        for point in path(estimator, X, y, partition, [{param_name: value} for value in values]):
            if point.error:
                reason = reason or point.error
                continue
            (fold,), rows = point.left_out, partition.held_out(point.left_out)
            scores[fold, place[point.params[param_name]]] = metric(y[rows], point.prediction[rows])
        if np.isnan(scores).all():
            raise ValueError(f"every fit failed, first by {reason}")
        return cls(
            {name_of(estimator): (np.array(values), scores)},
            param_name=param_name,
            score_name=score_name or getattr(metric, "__name__", str(metric)),
        )

    def mean_and_spread(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation (``ddof=1``) over the folds of one curve.

        Both are NaN at a value of which some fold has no score.
        """
        scores = np.asarray(self.curves[name][1], dtype=float)
        if not scores.size:
            return np.empty(0), np.empty(0)
        spread = scores.std(axis=0, ddof=1) if len(scores) > 1 else np.zeros(scores.shape[1])
        return scores.mean(axis=0), spread

    def plot(self, ax=None) -> "GridCurveDisplay":
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
        for (name, (values, _)), style in zip(self.curves.items(), CURVE_STYLES, strict=False):
            values = np.asarray(values, dtype=float)
            mean, spread = self.mean_and_spread(name)
            # A grid of a few points is marked; a hundred marks would hide the line.
            marker = "o" if len(values) <= MANY else None
            ax.fill_between(
                values, mean - spread, mean + spread, color=style["color"], alpha=0.15, linewidth=0
            )
            ax.plot(values, mean, label=name, marker=marker, markersize=2.5, **style)
        self._scale(ax)
        ax.grid(axis="y", color="0.9", linewidth=0.5)
        ax.set_axisbelow(True)
        self._tell_gaps(ax)
        ax.set(xlabel=self.param_name, ylabel=self.score_name)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _scale(self, ax) -> None:
        """A logarithmic axis where the values ask for one; few values are its ticks."""
        grids = [np.asarray(values, dtype=float) for values, _ in self.curves.values()]
        if not any(map(_grows_by_factors, grids)):
            return
        ax.set_xscale("log")
        every = np.unique(np.concatenate(grids))
        if len(every) <= FEW:
            ax.set_xticks(every, labels=[f"{value:g}" for value in every])
            ax.minorticks_off()

    def _tell_gaps(self, ax) -> None:
        lines = []
        for name, (values, _) in self.curves.items():
            gaps = int(np.isnan(self.mean_and_spread(name)[0]).sum())
            if gaps or not len(values):
                lines.append(f"{name}: no score" + (f" at {gaps} of {len(values)}" if gaps else ""))
        say_below(ax, "\n".join(lines))


def plot_panels(panels: Mapping[str, object], *, n_columns: int = 5, width: float = 7.2) -> Figure:
    """A figure of small multiples on common axes: one display per panel, under its title.

    Parameters
    ----------
    panels : mapping of str to display, or str
        A text stands in the place of a display that there is none of, and should say why.
    n_columns : int, default=5
    width : float, default=7.2
        In inches.

    Returns
    -------
    matplotlib Figure
    """
    if not panels:
        raise ValueError("there is no panel to draw; accepted: one or more")
    n_columns = min(n_columns, len(panels))
    n_rows = math.ceil(len(panels) / n_columns)
    side = width / max(n_columns, 3)
    around = 0.6  # inches for the names of the axes and the legend
    figure = Figure(figsize=(side * n_columns, 0.9 * side * n_rows + around), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
    for ax, (title, panel) in zip(axes, panels.items(), strict=False):
        ax.set_title(title)
        if isinstance(panel, str):
            say(ax, panel)
        else:
            panel.plot(ax)
            ax.set(xlabel="", ylabel="")
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    # What is under the last row's gaps would otherwise have no scale to be read from.
    for ax in axes[max(0, len(panels) - n_columns) : len(panels)]:
        ax.tick_params(labelbottom=True)
    drawn = [panel for panel in panels.values() if not isinstance(panel, str)]
    if not drawn:
        for ax in axes:
            ax.set_axis_off()  # there is nothing to read from a scale
    else:
        size = axes[0].xaxis.label.get_size()
        figure.supxlabel(drawn[0].param_name, fontsize=size)
        figure.supylabel(drawn[0].score_name, fontsize=size)
        handles, labels = drawn[0].ax_.get_legend_handles_labels()
        if len(labels) > 1:
            figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _grows_by_factors(values: np.ndarray) -> bool:
    """Whether the values are spaced more evenly on a logarithmic axis than on a linear one."""
    if len(values) < 3 or values.min() <= 0:
        return False
    steps, factors = np.diff(values), np.diff(np.log(values))
    return np.std(factors) / np.mean(factors) < np.std(steps) / np.mean(steps)


def _numbers(param_name: str, param_range) -> list:
    values = list(param_range)
    if not values or not all(isinstance(value, Real) and math.isfinite(value) for value in values):
        raise ValueError(f"values of {param_name} are {values!r}; accepted: one or more finite numbers")
    return sorted(dict.fromkeys(values))


def _parts(splitter, X, y: np.ndarray) -> np.ndarray:
    """The fold of each row."""
    part = np.full(len(y), -1)
    for fold, (_, left_out) in enumerate(splitter.split(X, y)):
        if (part[left_out] >= 0).any():
            raise ValueError(
                f"cv is {splitter}: it leaves rows out twice; accepted: folds that do not overlap"
            )
        part[left_out] = fold
    if (part < 0).any():
        raise ValueError(f"cv is {splitter}: it never leaves some rows out; accepted: folds of all rows")
    return part
