"""Scatter plot of a two-dimensional projection, with class densities."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist

from entrolearn.plotting.display import Display, points
from entrolearn.plotting.fitted import name_of, unwrapped
from entrolearn.plotting.regions import PlaneDensity, plane_density
from entrolearn.plotting.style import class_styles, name_classes, say_below, scatter_classes, tint

MASSES = (0.25, 0.5, 0.75)  # shares of a class's density inside its contours
MARGIN = 0.04  # margin around rows and contours, as a share of the sides of the plot


class ProjectionDisplay(Display):
    """Scatter plot of a two-dimensional projection, with density contours of each class.

    The contours of a class enclose the smallest regions that contain a quarter, a half and three quarters of
    its kernel density estimate. Classes differ in colour, marker and line style, so that they can be
    distinguished in black and white.

    Parameters
    ----------
    coordinates : ndarray, shape (n_samples, 2)
    codes : ndarray of int, shape (n_samples,)
        Class of each row, an index into `display_labels`.
    display_labels : sequence of str, default=("negative", "positive")
        Names of the classes, at most ten.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, Figures 1 and 5.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from entrolearn.plotting import ProjectionDisplay
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> plane = make_pipeline(StandardScaler(), PCA(2)).fit(X)
    >>> display = ProjectionDisplay.from_estimator(plane, X, y)
    >>> display.plot()
    <...>
    """

    axis_names = ("component 1", "component 2")

    def __init__(self, coordinates, codes, *, display_labels=("negative", "positive")):
        self.coordinates = coordinates
        self.codes = codes
        self.display_labels = display_labels

    @classmethod
    def from_estimator(cls, estimator, X, y, *, display_labels=None) -> "ProjectionDisplay":
        """Project rows by a fitted transformer.

        Parameters
        ----------
        estimator : fitted transformer with two components, or a pipeline or search that ends in one
        X : array-like, sparse array or DataFrame, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
        display_labels : sequence of str, optional
            Names of the classes, in the order of their labels. Default: the labels.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If it has no ``transform``.
        ValueError
            If it does not have two components, or labels are too few or too many.
        """
        estimator = unwrapped(estimator)
        if not hasattr(estimator, "transform"):
            raise TypeError(
                f"{name_of(estimator)} has no transform; "
                "accepted: transformers with two components, or a pipeline or search that ends in one"
            )
        coordinates = estimator.transform(X)
        coordinates = np.asarray(
            coordinates.toarray() if sparse.issparse(coordinates) else coordinates, dtype=float
        )
        if coordinates.ndim != 2 or coordinates.shape[1] != 2:
            raise ValueError(
                f"{name_of(estimator)} maps to rows of shape {coordinates.shape[1:]}; "
                "accepted: transformers with two components"
            )
        labels, codes = np.unique(np.asarray(y), return_inverse=True)
        return cls(
            coordinates,
            codes,
            display_labels=[str(one) for one in (labels if display_labels is None else display_labels)],
        )

    def density(self, c: int) -> PlaneDensity | None:
        """Kernel density estimate of class `c`; None if its rows lie on a line."""
        return plane_density(np.asarray(self.coordinates, dtype=float)[np.asarray(self.codes) == c])

    def contours(self, c: int) -> list[np.ndarray]:
        """Contour lines of class `c`, each of shape (n_points, 2), the outermost first."""
        density = self.density(c)
        if density is None:
            return []
        return [line for mass in sorted(MASSES, reverse=True) for line in density.lines_around(mass)]

    subject = (
        "Rows in the plane, class by class, with density contours; how many standard deviations the nearest "
        "classes' means are apart"
    )

    def summary(self) -> str:
        return f"{self.separation():.1f}"

    def separation(self) -> float:
        """Distance of the two closest class means, in within-class standard deviations."""
        codes, rows = np.asarray(self.codes), np.asarray(self.coordinates, dtype=float)
        means = np.array([rows[codes == c].mean(axis=0) for c in np.unique(codes)])
        around = rows - means[np.unique(codes, return_inverse=True)[1]]
        # Whitened coordinates within classes; for rows on a line, only along the line.
        _, lengths, axes = np.linalg.svd(around / np.sqrt(len(around)), full_matrices=False)
        wide = lengths > 1e-12 * lengths[0]
        white = means @ axes[wide].T / lengths[wide]
        return float(min(pdist(white), default=np.nan))

    def _parts(self):
        for c, label in enumerate(self.display_labels):
            rows = np.flatnonzero(np.asarray(self.codes) == c)
            yield {**points(f"rows of {label}", np.asarray(self.coordinates)[rows]), "row": rows}
            for number, line in enumerate(self.contours(c), start=1):
                yield points(f"contour {number} of {label}", line)

    def _plot(self, ax) -> None:
        self._check()
        scatter_classes(ax, np.asarray(self.coordinates), np.asarray(self.codes), alpha=0.6)
        gaps = []
        shown = [np.asarray(self.coordinates, dtype=float)]
        for c, (style, label) in enumerate(zip(self._styles(), self.display_labels, strict=True)):
            density = self.density(c)
            if density is None:
                gaps.append(f"{label}: rows on a line, no density")
                continue
            # A larger mass has a lower contour level; the levels of a flat density coincide.
            heights = np.unique([density.height_around(mass) for mass in MASSES])
            at = density.x, density.y, density.heights
            ax.contourf(*at, levels=[heights[0], np.inf], colors=[tint(style)], alpha=0.35, zorder=0)
            line = {"colors": [style["color"]], "linestyles": [style["linestyle"]]}
            ax.contour(*at, levels=heights, linewidths=0.9, zorder=3, **line)
            shown += density.lines_around(max(MASSES))
        say_below(ax, gaps)
        name_classes(ax, self.display_labels, marker=True, line=True)
        shares = ", ".join(f"{100 * mass:.0f}" for mass in MASSES)
        ax.plot([], [], color="black", linewidth=0.9, label=f"contours of {shares} % of a class")
        # All rows and contours, with a margin.
        low, high = np.min(np.vstack(shown), axis=0), np.max(np.vstack(shown), axis=0)
        margin = MARGIN * np.where(high > low, high - low, 1)
        xlim, ylim = np.column_stack([low - margin, high + margin])
        ax.set(xlim=xlim, ylim=ylim, xlabel=self.axis_names[0], ylabel=self.axis_names[1])

    def _styles(self) -> Sequence[dict]:
        """Style of each class."""
        return class_styles(len(self.display_labels))

    def _check(self) -> None:
        """Raise if arguments are inconsistent.

        Raises
        ------
        ValueError
        """
        n_rows, n_classes = len(self.coordinates), int(np.max(self.codes)) + 1
        if (found := len(self.codes)) != n_rows:
            raise ValueError(
                f"codes are of {found} rows; accepted: as many as there are coordinates, {n_rows}"
            )
        if len(self.display_labels) != n_classes:
            raise ValueError(
                f"display_labels are {list(self.display_labels)}; "
                f"accepted: one for each of the {n_classes} classes"
            )
