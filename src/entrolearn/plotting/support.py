"""Support vectors, decision boundary and margins of a support vector machine in the plane."""

from typing import Any

import numpy as np

from entrolearn.plotting.display import Display, points
from entrolearn.plotting.fitted import (
    before_last_step,
    class_codes,
    class_labels,
    last_step,
    name_of,
    unwrapped,
)
from entrolearn.plotting.plane import check_plane, decision_surface, frame, level_lines, names_of_features
from entrolearn.plotting.style import THRESHOLD_STYLE, class_styles, say_below

MARKER_SIZE = 11.0
# Value of the decision function on each kind of line.
LINES: dict[str, tuple[tuple[float, ...], dict[str, Any]]] = {
    "boundary": ((0.0,), {"color": "black", "linestyle": "-", "linewidth": 1.2}),
    "margins": ((-1.0, 1.0), THRESHOLD_STYLE),
}


class SupportVectorDisplay(Display):
    """Training rows in the plane with support vectors (filled), decision boundary and margins.

    Parameters
    ----------
    X : ndarray, shape (n_samples, 2)
        The training rows.
    codes : ndarray of int, shape (n_samples,)
        Class of each row, 0 or 1.
    support : ndarray of int, shape (n_support,)
        Indices of the rows that are support vectors.
    surface : sklearn.inspection.DecisionBoundaryDisplay
        The decision function in the plane.
    feature_names : sequence of two str, default=("feature 1", "feature 2")
    display_labels : sequence of two str, default=("negative", "positive")

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    SupportVectorDisplay.from_estimator : Create the display from a fitted classifier.

    References
    ----------
    Mannor, Peleg and Rubinstein, The cross entropy method for classification, Figures 2 to 4.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from entrolearn.plotting import SupportVectorDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> display = SupportVectorDisplay.from_estimator(SVC(C=10).fit(X, y), X, y)
    >>> display.plot()
    <...>
    """

    def __init__(
        self,
        X,
        codes,
        support,
        surface,
        *,
        feature_names=("feature 1", "feature 2"),
        display_labels=("negative", "positive"),
    ):
        self.X = X
        self.codes = codes
        self.support = support
        self.surface = surface
        self.feature_names = feature_names
        self.display_labels = display_labels

    @classmethod
    def from_estimator(cls, estimator, X, y, *, display_labels=None) -> "SupportVectorDisplay":
        """Display of a fitted support vector machine with its training rows.

        Parameters
        ----------
        estimator : fitted classifier, or a pipeline or search that ends in one
            Classifier with ``support_``, the indices of its support vectors, and ``decision_function``.
        X : array-like or DataFrame, shape (n_samples, 2)
            The training rows, in their order, in the form that a pipeline's first step accepts.
        y : array-like, shape (n_samples,)
        display_labels : sequence of two str, optional
            Names of the classes. Default: the labels.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If it has no ``support_`` or no ``decision_function``.
        ValueError
            If it does not have two classes, X does not have two features, or the rows of X are not the
            training rows.
        """
        fitted = unwrapped(estimator)
        check_plane(X)
        support = getattr(last_step(fitted), "support_", None)
        if support is None or not hasattr(fitted, "decision_function"):
            raise TypeError(
                f"{name_of(fitted)} has no support_ or no decision_function; "
                "accepted: classifiers with both, or a pipeline or search that ends in one"
            )
        codes = class_codes(fitted, y)
        _check_rows(fitted, X, support)
        return cls(
            np.asarray(X, dtype=float),
            codes,
            np.asarray(support),
            decision_surface(fitted, X),
            feature_names=names_of_features(X),
            display_labels=class_labels(fitted, display_labels),
        )

    @property
    def axis_names(self) -> tuple[str, str]:
        return tuple(self.feature_names)

    def lines(self, name: str) -> list[np.ndarray]:
        """Lines of the boundary or the margins, each of shape (n_points, 2)."""
        levels, _ = LINES[name]
        return [line for level in levels for line in level_lines(self.surface, level)]

    subject = "Training rows in the plane, with the decision boundary and the margins"

    def summary(self) -> str:
        return f"{len(self.support)} of {len(self.X)} rows are support vectors"

    def _parts(self):
        kept = np.isin(np.arange(len(self.X)), self.support)
        for c, label in enumerate(self.display_labels):
            for what, chosen in (("rows", ~kept), ("support vectors", kept)):
                yield points(f"{what} of {label}", self.X[(self.codes == c) & chosen])
        for name in LINES:
            yield from (points(f"{name} {k}", line) for k, line in enumerate(self.lines(name), start=1))

    def _plot(self, ax) -> None:
        kept = np.isin(np.arange(len(self.X)), self.support)
        for c, (style, label) in enumerate(zip(class_styles(2), self.display_labels, strict=True)):
            for filled, what in ((False, f"class {label}"), (True, f"support vectors of {label}")):
                ax.scatter(
                    *self.X[(self.codes == c) & (kept == filled)].T,
                    s=MARKER_SIZE,
                    marker=style["marker"],
                    facecolors=style["color"] if filled else "none",
                    edgecolors=style["color"],
                    linewidths=0.5,
                    zorder=3 if filled else 2,  # support vectors are drawn on top
                    label=what,
                )
        for name, (_, style) in LINES.items():
            ax.plot([], [], label=name, **style)
            for line in self.lines(name):
                ax.plot(*line.T, zorder=2.5, **style)
        say_below(ax, [f"support: {len(self.support)} of {len(self.X)}"])
        frame(ax, self.surface, self.feature_names)


def _check_rows(fitted, X, support) -> None:
    """Raise if the rows are not the training rows, as far as this can be detected."""
    found, n_least = len(X), int(np.max(support, initial=-1)) + 1
    own: Any = getattr(last_step(fitted), "support_vectors_", None)
    if found >= n_least and (own is None or np.size(own) == 0):
        return
    if found < n_least or not np.allclose(np.asarray(before_last_step(fitted, X))[support], own):
        raise ValueError(
            f"the {found} rows of X are not the training rows of {name_of(fitted)}, as they do not hold its "
            "support vectors; accepted: the training rows in their order"
        )
