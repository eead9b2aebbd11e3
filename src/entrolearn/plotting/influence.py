"""The most influential training rows: changes of the model without each of them."""

from collections.abc import Iterator, Mapping

import numpy as np

from entrolearn.machines.leave_out import influence
from entrolearn.plotting.display import Display
from entrolearn.plotting.fitted import before_last_step, last_step, unwrapped
from entrolearn.plotting.style import class_handles, class_styles, guide_lines, say_below

THRESHOLD = "change of the threshold without it (class means: −1, 1)"
ANSWER = "change of its own answer without it"


class InfluenceDisplay(Display):
    """Bar chart of the rows, or groups of rows, with the largest influence on a model.

    Parameters
    ----------
    names : sequence, shape (n_models,)
        Names of the rows or groups.
    change : array-like, shape (n_models,)
        Change of the model without each of them; NaN if there is no such model.
    codes : array-like of int, shape (n_models,), optional
        Class of each row, for the colours of the bars.
    display_labels : sequence of str, default=()
        Names of the classes.
    n_shown : int, default=15
        Number of bars.
    x_name : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    entrolearn.influence : The changes of all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from entrolearn import EEMClassifier
    >>> from entrolearn.plotting import InfluenceDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = EEMClassifier(30, keep_sums=True, random_state=0).fit(X, y)
    >>> InfluenceDisplay.from_estimator(machine, X, y).plot()
    <...>
    """

    def __init__(self, names, change, *, codes=None, display_labels=(), n_shown=15, x_name=ANSWER):
        self.names = names
        self.change = change
        self.codes = codes
        self.display_labels = display_labels
        self.n_shown = n_shown
        self.x_name = x_name

    @classmethod
    def from_estimator(cls, estimator, X, y, *, groups=None, n_shown: int = 15) -> "InfluenceDisplay":
        """Compute and plot the influence of each training row or group of a fitted model.

        For an entropy machine of two classes the bars show the change of the threshold; for other estimators
        the change of the prediction for the row itself, or its mean over the rows of the group. For several
        outputs it is the largest change.

        Parameters
        ----------
        estimator : fitted learner, or a pipeline or search that ends in one
            As for :func:`entrolearn.influence`.
        X : {array-like, CSR matrix, DataFrame} of shape (n_samples, n_features)
            Training rows, in the form that a pipeline's first step accepts. The index of a DataFrame names
            them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        groups : array-like of shape (n_samples,), default=None
            Rows with the same value are left out together.
        n_shown : int, default=15

        Raises
        ------
        TypeError, ValueError
            As for :func:`entrolearn.influence`.
        """
        fitted = unwrapped(estimator)
        machine = last_step(fitted)
        found = influence(machine, before_last_step(fitted, X), y, groups=groups)
        change, x_name = found.threshold_change, THRESHOLD
        if change is None:
            rows = found.change.reshape(len(found.change), -1)
            rows = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)[:, 0]
            groups_of_rows = np.arange(len(rows)) if groups is None else np.asarray(groups)
            change = np.array([rows[groups_of_rows == name].mean() for name in found.left_out])
            x_name = ANSWER
        names, codes, labels = found.left_out, None, ()
        if groups is None:
            names = X.index if hasattr(X, "iloc") else names
            if hasattr(machine, "classes_"):
                codes, labels = np.searchsorted(machine.classes_, y), machine.classes_.tolist()
        return cls(names, change, codes=codes, display_labels=labels, n_shown=n_shown, x_name=x_name)

    @property
    def axis_names(self) -> tuple[str, str]:
        """Names of the quantities on the x axis and the y axis."""
        return self.x_name, "row or group left out"

    @property
    def subject(self) -> str:
        """Subject of the plot, in a few words."""
        return f"{len(self._shown())} of {len(self.change)} rows or groups, by the {self.x_name}"

    def summary(self) -> str:
        """The plotted changes, the largest first."""
        change = np.asarray(self.change, dtype=float)
        return "; ".join(f"{self.names[i]} {change[i]:.3g}" for i in self._shown())

    def _shown(self) -> np.ndarray:
        """Indices of the plotted changes, the largest first."""
        change = np.asarray(self.change, dtype=float)
        order = np.argsort(-np.abs(change), kind="stable")[: self.n_shown]  # NaN last
        return order[np.isfinite(change[order])]

    def _parts(self) -> Iterator[Mapping]:
        order = self._shown()
        names = [str(self.names[i]) for i in order]
        yield {"left_out": names, "change": np.asarray(self.change, dtype=float)[order]}

    def _plot(self, ax) -> None:
        change = np.asarray(self.change, dtype=float)
        order = self._shown()
        codes = np.zeros(len(change), dtype=int) if self.codes is None else np.asarray(self.codes)
        styles = class_styles(int(codes.max(initial=0)) + 1)
        places = np.arange(len(order))[::-1]
        colours = [styles[c]["color"] for c in codes[order]]
        hatches = ["" if styles[c]["face"] != "none" else styles[c]["hatch"] for c in codes[order]]
        faces = [styles[c].get("tint", styles[c]["face"]) for c in codes[order]]
        ax.barh(places, change[order], color=faces, edgecolor=colours, hatch=hatches, linewidth=0.8)
        ax.set_yticks(places, [str(self.names[i]) for i in order])
        ax.axvline(0, color="black", linewidth=0.7)
        ax.set(xlabel=self.x_name, ylabel="left out")
        if self.codes is not None:
            ax.legend(handles=class_handles(self.display_labels, marker=True), loc="best")
        say_below(ax, f"{len(order)} of {len(change)}")
        ax.locator_params(axis="x", nbins=6)
        guide_lines(ax, "x")
