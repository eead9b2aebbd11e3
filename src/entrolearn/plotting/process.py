"""All steps of EEM for two-dimensional data."""

import numpy as np

from entrolearn.plotting.display import Display, points
from entrolearn.plotting.fitted import class_codes, class_labels, unwrapped
from entrolearn.plotting.hidden import HiddenSpaceDisplay
from entrolearn.plotting.plane import (
    check_plane,
    decision_surface,
    frame,
    level_lines,
    names_of_features,
)
from entrolearn.plotting.projected import ProjectedDensityDisplay
from entrolearn.plotting.style import Figure, class_styles, legend_above, plt, scatter_classes, tint

FIGURE_SIZE = (10.0, 3.4)  # inches
TITLES = ("a. input space", "b. hidden space", "c. projection", "d. decision regions")


class ProcessDisplay(Display):
    """The steps of EEM for two-dimensional data, in four panels.

    They show the rows; the rows in the hidden space with the class covariances; the densities of the
    projected classes with the thresholds; and the decision boundary with the rows.

    Parameters
    ----------
    X : ndarray, shape (n_samples, 2)
    codes : ndarray of int, shape (n_samples,)
        Class of each row: 0 or 1.
    hidden : HiddenSpaceDisplay
    projected : ProjectedDensityDisplay
    boundary : sklearn.inspection.DecisionBoundaryDisplay
        Log odds on a grid.
    feature_names : sequence of two str, default=("feature 1", "feature 2")
    display_labels : sequence of two str, default=("negative", "positive")

    Attributes
    ----------
    axes_ : ndarray of four matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, Figure 2.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import EEMClassifier
    >>> from entrolearn.plotting import ProcessDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> ProcessDisplay.from_estimator(EEMClassifier(20, random_state=0).fit(X, y), X, y).plot()
    <...>
    """

    def __init__(
        self,
        X,
        codes,
        hidden,
        projected,
        boundary,
        *,
        feature_names=("feature 1", "feature 2"),
        display_labels=("negative", "positive"),
    ):
        self.X = X
        self.codes = codes
        self.hidden = hidden
        self.projected = projected
        self.boundary = boundary
        self.feature_names = feature_names
        self.display_labels = display_labels

    @classmethod
    def from_estimator(cls, estimator, X, y, *, display_labels=None) -> "ProcessDisplay":
        """Display of the steps of a fitted model for some rows.

        Parameters
        ----------
        estimator : fitted EEMClassifier or EEKMClassifier, or a pipeline or search that ends in one
        X : array-like or DataFrame, shape (n_samples, 2)
        y : array-like, shape (n_samples,)
        display_labels : sequence of two str, optional

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError, ValueError
            If the estimator is not a fitted entropy machine of two classes, or X does not have two features.
        """
        check_plane(X)
        fitted = unwrapped(estimator)
        display_labels = class_labels(fitted, display_labels)
        return cls(
            np.asarray(X, dtype=float),
            class_codes(fitted, y),
            HiddenSpaceDisplay.from_estimator(fitted, X, y, display_labels=display_labels),
            ProjectedDensityDisplay.from_estimator(fitted, X, y, display_labels=display_labels),
            decision_surface(fitted, X),
            feature_names=names_of_features(X),
            display_labels=display_labels,
        )

    def boundary_lines(self) -> list[np.ndarray]:
        """Lines of the decision boundary in the input plane, each of shape (n_points, 2)."""
        return level_lines(self.boundary, 0.0)

    @property
    def subject(self) -> str:
        return (
            "Four panels: the rows in the plane, the classes and their covariances in the hidden space, the "
            "projected class densities, and the decision regions"
        )

    def summary(self) -> str:
        places = " and ".join(f"{threshold:.3g}" for threshold in self.projected.thresholds)
        return f"thresholds: {places or 'none'}"

    def _parts(self):
        for c, label in enumerate(self.display_labels):
            yield {"panel": "input", **points(f"rows of {label}", self.X[self.codes == c])}
        for panel in ("hidden", "projected"):
            yield from ({"panel": panel, **part} for part in getattr(self, panel)._parts())
        for number, line in enumerate(self.boundary_lines(), start=1):
            yield {"panel": "boundary", **points(f"line {number}", line)}

    def plot(self, ax=None) -> "ProcessDisplay":
        """Draw the display.

        Parameters
        ----------
        ax : sequence of four matplotlib Axes, optional
            Default: those of a new figure, in a row.

        Returns
        -------
        self
        """
        if ax is None:
            ax = plt.figure(figsize=FIGURE_SIZE, layout="constrained").subplots(1, 4)
        axes = np.asarray(ax, dtype=object).ravel()
        if len(axes) != 4:
            raise ValueError(f"ax holds {len(axes)} axes; accepted: four")
        self._plot_input(axes[0])
        self.hidden.plot(axes[1])
        self.projected.plot(axes[2])
        self._plot_boundary(axes[3])
        for ax, title in zip(axes, TITLES, strict=True):
            ax.set_title(title, loc="left")
            ax.set_box_aspect(1)
        self.axes_, self.figure_ = axes, axes[0].figure
        # The legend of the hidden space has the markers of the classes, that of the projection has none.
        legend_above(self.figure_, axes[2], axes[1], axes[3])
        return self

    def _plot_input(self, ax) -> None:
        scatter_classes(ax, self.X, self.codes)
        frame(ax, self.boundary, self.feature_names)

    def _plot_boundary(self, ax) -> None:
        response = self.boundary.response
        levels = [min(response.min(), -1.0), 0.0, max(response.max(), 1.0)]
        tints = [tint(style) for style in class_styles(2)]
        self.boundary.plot("contourf", ax=ax, levels=levels, colors=tints, zorder=0)
        for line in self.boundary_lines():
            ax.plot(*line.T, color="black", linewidth=1.2, zorder=3)
        ax.plot([], [], color="black", linewidth=1.2, label="boundary")
        self._plot_input(ax)


def process_axes() -> np.ndarray:
    """Four Axes in a row, on a figure that is not registered with pyplot."""
    return Figure(figsize=FIGURE_SIZE, layout="constrained").subplots(1, 4)
