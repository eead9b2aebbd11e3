"""The hidden space of a model, with its class Gaussians."""

import numpy as np
from sklearn.decomposition import PCA

from entrolearn.plotting.display import Display, points
from entrolearn.plotting.fitted import (
    before_last_step,
    class_codes,
    class_labels,
    last_step,
    name_of,
    unwrapped,
)
from entrolearn.plotting.style import class_styles, name_classes, scatter_classes

N_SD = (1, 2)  # distances of the ellipses from the class means, in standard deviations


class HiddenSpaceDisplay(Display):
    """Rows in the hidden space of a model, with ellipses of the class covariances.

    The plane is that of the two leading principal directions of the rows in the hidden space.

    Parameters
    ----------
    coordinates : ndarray, shape (n_samples, 2)
    codes : ndarray of int, shape (n_samples,)
        Class of each row: 0 or 1.
    means : ndarray, shape (2, 2)
        Class means in the plane.
    covariances : ndarray, shape (2, 2, 2)
        Class covariances in the plane.
    explained : array-like, shape (2,)
        Share of the rows' variance along each direction.
    display_labels : sequence of two str, default=("negative", "positive")

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, Figure 2 (second panel).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from entrolearn import EEMClassifier
    >>> from entrolearn.plotting import HiddenSpaceDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = make_pipeline(MinMaxScaler(), EEMClassifier(50, random_state=0)).fit(X, y)
    >>> HiddenSpaceDisplay.from_estimator(machine, X, y).plot()
    <...>
    """

    def __init__(
        self, coordinates, codes, means, covariances, explained, *, display_labels=("negative", "positive")
    ):
        self.coordinates = coordinates
        self.codes = codes
        self.means = means
        self.covariances = covariances
        self.explained = explained
        self.display_labels = display_labels

    @classmethod
    def from_estimator(cls, estimator, X, y, *, display_labels=None) -> "HiddenSpaceDisplay":
        """Display of rows in the hidden space of a fitted EEM or EEKM.

        Parameters
        ----------
        estimator : fitted EEMClassifier or EEKMClassifier, or a pipeline or search that ends in one
        X : array-like, shape (n_samples, n_features)
            The hidden rows are held in memory, n_samples times n_hidden numbers.
        y : array-like, shape (n_samples,)
        display_labels : sequence of two str, optional

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError, ValueError
            If the estimator is not a fitted entropy machine of two classes and at least two hidden units.
        """
        estimator = unwrapped(estimator)
        machine = last_step(estimator)
        if not hasattr(machine, "hidden_gaussians"):
            raise TypeError(
                f"{name_of(estimator)} has no Gaussians in a hidden space; "
                "accepted: EEMClassifier, EEKMClassifier, or a pipeline or search that ends in one"
            )
        codes = class_codes(estimator, y)
        seen = before_last_step(estimator, X)
        H = machine.hidden(seen)
        if H.shape[1] < 2:
            raise ValueError(f"{name_of(estimator)} has {H.shape[1]} hidden unit; accepted: two or more")
        means, covariances = machine.hidden_gaussians(seen, y)
        pca = PCA(2, svd_solver="full").fit(H)
        plane = pca.components_
        return cls(
            pca.transform(H),
            codes,
            pca.transform(means),
            plane @ covariances @ plane.T,
            pca.explained_variance_ratio_,
            display_labels=class_labels(estimator, display_labels),
        )

    def ellipse(self, c: int, n_sd: float) -> np.ndarray:
        """Closed line `n_sd` standard deviations around the mean of class `c`, shape (121, 2)."""
        turn = np.linspace(0, 2 * np.pi, 121)
        values, vectors = np.linalg.eigh(self.covariances[c])
        axes = vectors * np.sqrt(np.maximum(values, 0))
        return self.means[c] + n_sd * np.column_stack([np.cos(turn), np.sin(turn)]) @ axes.T

    @property
    def axis_names(self) -> tuple[str, str]:
        first, second = (f"component {k} ({100 * share:.0f} %)" for k, share in enumerate(self.explained, 1))
        return first, second

    subject = "Rows in the hidden space, class by class, with ellipses at one and two standard deviations"

    def summary(self) -> str:
        return f"the plane has {100 * np.sum(self.explained):.0f} % of the variance"

    def _parts(self):
        for c, label in enumerate(self.display_labels):
            yield points(f"rows of {label}", self.coordinates[self.codes == c])
            yield points(f"mean of {label}", self.means[[c]])
            yield from (points(f"{sd} sd of {label}", self.ellipse(c, sd)) for sd in N_SD)

    def _plot(self, ax) -> None:
        scatter_classes(ax, self.coordinates, self.codes, alpha=0.35)
        for c, style in enumerate(class_styles(2)):
            for n_sd in N_SD:
                ax.plot(
                    *self.ellipse(c, n_sd).T, color=style["color"], linestyle=style["linestyle"], zorder=3
                )
            ax.plot(
                *self.means[c],
                marker=style["marker"],
                markerfacecolor=style["face"],
                markeredgecolor="black",
                markersize=6,
                zorder=4,
            )
        # Equal units on both axes preserve the shapes of ellipses and right angles.
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        name_classes(ax, self.display_labels, marker=True, line=True)
        ax.plot([], [], color="black", label="± 1 and 2 standard deviations")
