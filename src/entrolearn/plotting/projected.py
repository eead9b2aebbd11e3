"""Histograms, densities and thresholds of two projected classes."""

import numpy as np
from scipy.stats import norm

from entrolearn.path import project, projected_gaussians
from entrolearn.plotting.display import Display, points
from entrolearn.plotting.fitted import class_codes, class_labels, last_step, name_of, unwrapped
from entrolearn.plotting.style import FADED, THRESHOLD_STYLE, class_styles, name_classes, tint

DENSITY_POINTS = 400  # number of points of a density curve
N_BINS = 40
HATCHES = ("", "////")
SEEN_SD = 4  # limits of the plot, in standard deviations of the projected classes


class ProjectedDensityDisplay(Display):
    """The two projected classes: histograms of their rows, Gaussians and thresholds.

    Parameters
    ----------
    projected : sequence of two ndarrays
        Projections of the rows of the negative and of the positive class.
    means, variances : array-like, shape (2,)
        Means and variances of the plotted Gaussians.
    thresholds : array-like, shape (n_thresholds,)
        Points at which the predicted class changes.
    priors : array-like, shape (2,), default=(0.5, 0.5)
        Weights of the class densities in the model; the plotted densities are multiplied by them, relative to
        equal weights.
    display_labels : sequence of two str, default=("negative", "positive")

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    ProjectedDensityDisplay.from_estimator : Create the display from a fitted classifier.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, Figure 2 (third panel) and section 3.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import EEMClassifier
    >>> from entrolearn.plotting import ProjectedDensityDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> display = ProjectedDensityDisplay.from_estimator(EEMClassifier(20, random_state=0).fit(X, y), X, y)
    >>> display.plot()
    <...>
    """

    def __init__(
        self,
        projected,
        means,
        variances,
        thresholds,
        *,
        priors=(0.5, 0.5),
        display_labels=("negative", "positive"),
    ):
        self.projected = projected
        self.means = means
        self.variances = variances
        self.thresholds = thresholds
        self.priors = priors
        self.display_labels = display_labels

    @classmethod
    def from_estimator(cls, estimator, X, y, *, display_labels=None) -> "ProjectedDensityDisplay":
        """Project rows by a fitted binary classifier.

        The Gaussians and thresholds of an entropy machine are its own. For other classifiers with a
        ``decision_function``, the Gaussians have the mean and variance of each class's decision values (as in
        :class:`~entrolearn.EntropySearch`), and the threshold is zero.

        Parameters
        ----------
        estimator : fitted classifier, or a pipeline or search that ends in one
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            Labels of the rows.
        display_labels : sequence of two str, optional
            Names of the classes. Default: the labels.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator has no projection.
        ValueError
            If it does not have two classes, or the labels are not those of the fit.
        """
        estimator = unwrapped(estimator)
        codes = class_codes(estimator, y)
        projection = project(estimator, X)
        if projection is None:
            raise TypeError(
                f"{name_of(estimator)} has neither project nor decision_function; "
                "accepted: classifiers with one of them, or a pipeline or search that ends in one"
            )
        projected = [projection[codes == c] for c in (0, 1)]
        last = last_step(estimator)
        own = projected_gaussians(estimator)
        if own is None:
            means, variances = [p.mean() for p in projected], [p.var() for p in projected]
            thresholds, priors = [0.0], (0.5, 0.5)
        else:
            means, variances = list(own[::2]), list(own[1::2])
            thresholds, priors = last.thresholds_, last.priors_
        return cls(
            projected,
            np.asarray(means),
            np.asarray(variances),
            np.asarray(thresholds),
            priors=np.asarray(priors),
            display_labels=class_labels(estimator, display_labels),
        )

    def density(self, c: int, t) -> np.ndarray:
        """The weighted Gaussian density of a class on the line.

        Parameters
        ----------
        c : int
            Class: index into `display_labels`.
        t : array-like, shape (n_places,)
            Points on the line.

        Returns
        -------
        ndarray, shape (n_places,)
        """
        return self._weight(c) * norm.pdf(t, self.means[c], np.sqrt(self.variances[c]))

    def span(self) -> tuple[float, float]:
        """Limits of the plot: all rows except those far outside both Gaussians.

        A threshold slightly outside is included, unless this would compress the rest of the plot.
        """
        sd = np.sqrt(self.variances)
        seen = np.min(self.means - SEEN_SD * sd), np.max(self.means + SEEN_SD * sd)
        rows = np.concatenate([*self.projected, self.means - sd, self.means + sd])
        low, high = np.clip([rows.min(), rows.max()], *seen)
        width = high - low
        near = [t for t in self.thresholds if low - width / 4 < t < high + width / 4]
        low, high = min([low, *near]), max([high, *near])
        margin = 0.04 * width
        return float(low - margin), float(high + margin)

    subject = "Densities of the projected classes"

    def summary(self) -> str:
        return f"thresholds: {' and '.join(f'{one:.3g}' for one in self.thresholds) or 'none'}"

    def _parts(self):
        line = np.linspace(*self.span(), DENSITY_POINTS)
        for c, label in enumerate(self.display_labels):
            yield points(f"rows of {label}", self.projected[c])
            yield points(f"density of {label}", np.column_stack([line, self.density(c, line)]))
        yield points("threshold", self.thresholds)

    def _plot(self, ax) -> None:
        low, high = self.span()
        t, bins = np.linspace(low, high, DENSITY_POINTS), np.linspace(low, high, N_BINS + 1)
        for c, style in enumerate(class_styles(2)):
            share = np.histogram(self.projected[c], bins)[0] / len(self.projected[c])
            heights = self._weight(c) * share / (bins[1] - bins[0])
            ax.stairs(heights, bins, fill=True, color=tint(style), alpha=0.8)
            outline = {"edgecolor": style["color"], "linewidth": 0.5, "hatch": HATCHES[c], "alpha": 0.8}
            ax.stairs(heights, bins, **outline)
            ax.plot(t, self.density(c, t), color=style["color"], linestyle=style["linestyle"], zorder=3)
        self._mark_thresholds(ax, low, high)
        ax.set(xlim=(low, high), xlabel="projection", ylabel="density")
        ax.set_ylim(0, 1.1 * ax.get_ylim()[1])
        name_classes(ax, self.display_labels, line=True)
        ax.fill_between([], [], facecolor="0.9", edgecolor="0.5", linewidth=0.5, label="histogram of rows")
        ax.plot([], [], label="threshold", **THRESHOLD_STYLE)

    def _weight(self, c: int) -> float:
        return 2 * self.priors[c] / np.sum(self.priors)

    def _mark_thresholds(self, ax, low: float, high: float) -> None:
        """Draw a line at each threshold; those outside the plot are noted at its edge."""
        for threshold in self.thresholds:
            if low <= threshold <= high:
                ax.axvline(threshold, **THRESHOLD_STYLE)
                continue
            left = threshold < low
            text = f"← threshold {threshold:.3g}" if left else f"threshold {threshold:.3g} →"
            x, side = (0.02, "left") if left else (0.98, "right")
            ax.text(x, 0.98, text, transform=ax.transAxes, ha=side, va="top", size="small", color=FADED)
