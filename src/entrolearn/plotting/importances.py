"""Feature importances in each round of a recursive feature machine."""

from collections.abc import Iterator, Mapping

import numpy as np

from entrolearn.plotting.display import Display
from entrolearn.plotting.fitted import last_step, unwrapped
from entrolearn.plotting.style import guide_lines, plot_lines, say_below


class FeatureImportancesDisplay(Display):
    """Importances over the rounds, for the features with the largest final importance.

    Parameters
    ----------
    importances : array-like, shape (n_rounds + 1, n_features)
        Importances of each round, as shares.
    feature_names : sequence of str, optional
        Names of the features. Default: x0, x1, ...
    n_features : int, default=6
        Number of lines, at most six; the sum of the other features is noted below the plot.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import RecursiveFeatureRegressor
    >>> from entrolearn.plotting import FeatureImportancesDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 8))
    >>> machine = RecursiveFeatureRegressor(random_state=0).fit(X, X[:, 0] * X[:, 1])
    >>> FeatureImportancesDisplay.from_estimator(machine).plot()
    <...>
    """

    def __init__(self, importances, *, feature_names=None, n_features=6):
        self.importances = np.asarray(importances, dtype=float)
        names = (
            [f"x{j}" for j in range(self.importances.shape[1])] if feature_names is None else feature_names
        )
        self.feature_names = list(names)
        self.n_features = n_features

    @classmethod
    def from_estimator(cls, estimator, *, n_features=6) -> "FeatureImportancesDisplay":
        """Display of the importances of a fitted recursive feature machine.

        Parameters
        ----------
        estimator : recursive feature machine, or a pipeline or search that ends in one
            RecursiveFeatureClassifier or RecursiveFeatureRegressor, fitted.
        n_features : int, default=6

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not a fitted recursive feature machine.
        """
        machine = last_step(unwrapped(estimator))
        if not hasattr(machine, "importances_"):
            raise TypeError(
                f"{type(machine).__name__} has no importances_; accepted: RecursiveFeatureClassifier, "
                "RecursiveFeatureRegressor, or a pipeline or search that ends in one"
            )
        names = getattr(machine, "feature_names_in_", None)
        return cls(machine.importances_, feature_names=names, n_features=n_features)

    axis_names = ("round", "importance")

    subject = "Importances of features against rounds"

    def _shown(self) -> np.ndarray:
        """The plotted features, in order of decreasing importance."""
        return np.argsort(-self.importances[-1], kind="stable")[: self.n_features]

    def _parts(self) -> Iterator[Mapping]:
        rounds = np.arange(len(self.importances))
        for j in self._shown():
            yield {"series": self.feature_names[j], "round": rounds, "importance": self.importances[:, j]}

    def _plot(self, ax) -> None:
        last, shown, rounds = self.importances[-1], self._shown(), np.arange(len(self.importances))
        plot_lines(ax, {self.feature_names[j]: (rounds, self.importances[:, j]) for j in shown})
        if others := len(last) - len(shown):
            say_below(ax, [f"{others} others: {last.sum() - last[shown].sum():.2f} in all"])
        guide_lines(ax, "y")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="round", ylabel="importance")
        ax.set_ylim(bottom=0)
