"""Validation curves: scores against the values of a parameter."""

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.fitted import name_of
from entrolearn.plotting.grids import (
    check_known,
    grid_scores,
    grows_by_factors,
    name_of_score,
    numbers,
    set_scale,
)
from entrolearn.plotting.style import distinct_styles, guide_lines, ordered_styles, say_below

MANY = 20  # maximum number of grid values with markers


class GridCurveDisplay(Display):
    """A score against the values of a parameter, with its spread over the folds.

    Parameters
    ----------
    curves : mapping of str to (values, scores)
        For each curve its name, the ascending parameter values, shape (n_values,), and the scores, shape
        (n_folds, n_values). Values for which a fold has no score (NaN) are gaps, because the mean over the
        other folds is not comparable. A curve without any value keeps its entry in the legend.
    param_name : str
    score_name : str
    ordered : bool, default=False
        Whether the curves are values of a second parameter. They are then coloured from dark to light,
        without their spreads, and their number is not limited.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    sklearn.model_selection.ValidationCurveDisplay : A single curve, with separate fits for each value.

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
    ...     machine, X, y, param_name="n_hidden", param_range=range(5, 105, 20)
    ... )
    >>> display.plot()
    <...>
    """

    def __init__(self, curves, *, param_name, score_name, ordered=False):
        self.curves = curves
        self.param_name = param_name
        self.score_name = score_name
        self.ordered = ordered

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, param_name, param_range, cv=10, scoring=None, score_name=None
    ) -> "GridCurveDisplay":
        """Cross-validate a classifier for each value of a parameter.

        Estimators whose fits can share work (see :mod:`entrolearn.path`) do so: 100 sizes of an extreme
        entropy machine, in ten folds, take about as long as the largest one.

        Parameters
        ----------
        estimator : classifier
            Cloned, never changed. Fits share work only if its ``random_state`` is an integer.
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
        param_name : str
        param_range : sequence of numbers
        cv : int or scikit-learn splitter, default=10
        scoring : str or callable, optional
            As in scikit-learn's ``cross_val_score``. Default: :func:`~entrolearn.gmean_score`.
        score_name : str, optional
            Name of the score. Default: that of `scoring`.

        Raises
        ------
        ValueError
            If the estimator does not have the parameter, the values are not numbers, or every fit failed.
        """
        values = numbers(param_name, param_range)
        check_known(estimator, param_name)
        scores = grid_scores(estimator, X, y, [{param_name: value} for value in values], cv, scoring)
        return cls(
            {name_of(estimator): (np.array(values), scores)},
            param_name=param_name,
            score_name=score_name or name_of_score(scoring),
        )

    @property
    def axis_names(self) -> tuple[str, str]:
        return self.param_name, self.score_name

    def mean_and_spread(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation (``ddof=1``) over the folds of one curve.

        Both are NaN for values for which a fold has no score.
        """
        scores = np.asarray(self.curves[name][1], dtype=float)
        if not scores.size:
            return np.empty(0), np.empty(0)
        spread = scores.std(axis=0, ddof=1) if len(scores) > 1 else np.zeros(scores.shape[1])
        return scores.mean(axis=0), spread

    @property
    def subject(self) -> str:
        return f"Mean {self.score_name} against {self.param_name}"

    def _parts(self):
        for name, (values, scores) in self.curves.items():
            mean, std = self.mean_and_spread(name)
            n_folds = np.isfinite(scores).sum(axis=0) if len(values) else []
            own = {"series": name, "value": values, "mean": mean, "std": std, "folds": n_folds}
            yield own | {"parameter": self.param_name}

    def _plot(self, ax) -> None:
        number = len(self.curves)
        styles = ordered_styles(number) if self.ordered else distinct_styles(number, "curves")
        for (name, (values, _)), style in zip(self.curves.items(), styles, strict=True):
            values = np.asarray(values, dtype=float)
            mean, spread = self.mean_and_spread(name)
            # Draw markers only for a few points; many markers would hide the line.
            marker = "o" if len(values) <= MANY else None
            if not self.ordered:
                ax.fill_between(
                    values, mean - spread, mean + spread, color=style["color"], alpha=0.15, linewidth=0
                )
            ax.plot(values, mean, label=name, marker=marker, markersize=2.5, **style)
        self._scale(ax)
        guide_lines(ax, "y")
        self._tell_gaps(ax)
        ax.set(xlabel=self.param_name, ylabel=self.score_name)

    def _scale(self, ax) -> None:
        """Set a logarithmic axis if it suits the values."""
        grids = [np.asarray(values, dtype=float) for values, _ in self.curves.values()]
        if any(map(grows_by_factors, grids)):
            set_scale(ax.xaxis, np.unique(np.concatenate(grids)))

    def _tell_gaps(self, ax) -> None:
        lines = []
        for name, (values, _) in self.curves.items():
            gaps = int(np.isnan(self.mean_and_spread(name)[0]).sum())
            if gaps or not len(values):
                lines.append(f"{name}: no score" + (f" at {gaps} of {len(values)}" if gaps else ""))
        say_below(ax, "\n".join(lines))
