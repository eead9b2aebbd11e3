"""Validation curves: scores against the values of a parameter."""

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.grids import grows_by_factors, set_scale
from entrolearn.plotting.style import distinct_styles, guide_lines, ordered_styles, plot_lines

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
    >>> from entrolearn import EEMClassifier, PathSearchCV
    >>> from entrolearn.plotting import GridCurveDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> sizes = list(range(5, 105, 20))
    >>> search = PathSearchCV(EEMClassifier(random_state=0), {"n_hidden": sizes}, cv=5).fit(X, y)
    >>> scores = [search.cv_results_[f"split{fold}_test_score"] for fold in range(5)]
    >>> GridCurveDisplay({"EEM": (sizes, scores)}, param_name="n_hidden", score_name="accuracy").plot()
    <...>
    """

    def __init__(self, curves, *, param_name, score_name, ordered=False):
        self.curves = curves
        self.param_name = param_name
        self.score_name = score_name
        self.ordered = ordered

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
        lines = {name: (values, self.mean_and_spread(name)[0]) for name, (values, _) in self.curves.items()}
        # Draw markers only for a few points; many markers would hide the line.
        many = any(len(values) > MANY for values, _ in lines.values())
        plot_lines(ax, lines, styles, **{"marker": None} if many else {})
        n_folds = {len(scores) for _, scores in self.curves.values() if len(scores) > 1}
        if n_folds and not self.ordered:
            band = {"alpha": 0.15, "linewidth": 0}
            for name, style in zip(lines, styles, strict=True):
                values, mean = (np.asarray(one, dtype=float) for one in lines[name])
                spread = self.mean_and_spread(name)[1]
                ax.fill_between(values, mean - spread, mean + spread, color=style["color"], **band)
            folds = " or ".join(map(str, sorted(n_folds)))
            ax.fill_between([], [], color="black", label=f"± 1 standard deviation over {folds} folds", **band)
        self._scale(ax)
        guide_lines(ax, "y")
        ax.set(xlabel=self.param_name, ylabel=self.score_name)

    def _scale(self, ax) -> None:
        """Set a logarithmic axis if it suits the values."""
        grids = [np.asarray(values, dtype=float) for values, _ in self.curves.values()]
        if any(map(grows_by_factors, grids)):
            set_scale(ax.xaxis, np.unique(np.concatenate(grids)))
