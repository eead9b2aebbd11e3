"""Fits of recursive feature machines to rows that are read chunk by chunk."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from entrolearn.feature_learning import RecursiveFeatures, mean_squares
from entrolearn.machines.additive import check_additive
from entrolearn.streaming.sampling import Chosen
from entrolearn.streaming.sources import WeightedRows
from entrolearn.validation import validate_data

__all__ = ["check_recursive", "fit_recursive", "moved", "summed_squares"]


def check_recursive(machine: RecursiveFeatures) -> None:
    """Raise, before any row is read, if the estimator cannot be fitted chunk by chunk.

    Raises
    ------
    TypeError, ValueError
    """
    check_additive(machine._check_passes())


def fit_recursive(machine: RecursiveFeatures, rows: WeightedRows, fit: Callable) -> None:
    """Fit to rows, by a function of an estimator and weighted rows that fits the inner estimator."""
    if not rows.source.repeatable:
        raise ValueError(
            f"{type(machine).__name__} reads the rows several times, and these can be read only once; "
            "accepted: arrays, files, or a function that returns a new iterator of chunks."
        )
    machine._fit_in_passes(_Passes(machine, rows, fit))


@dataclass
class _Passes:
    """Passes over rows that are read chunk by chunk."""

    machine: RecursiveFeatures
    rows: WeightedRows
    fit_estimator: Callable

    def n_rows(self) -> int:
        """The number of rows, counted in a pass if it is not known."""
        known = self.rows.n_rows
        return sum(map(len, self.rows.source.targets())) if known is None else known

    def sample(self, places: np.ndarray) -> tuple:
        """The rows at these places, with their targets and weights, validated."""
        sample = Chosen(places)
        name = type(self.machine).__name__
        for X, y, _, weights in self.rows.checked(self.machine._checked, name, "selection"):
            sample.offer(X, y, weights)
        return sample.rows()

    def fit(self, estimator, transform: Callable) -> None:
        """Fit an estimator to all rows in the coordinates of a metric."""
        source = self.rows.source.transformed(lambda X: moved(self.machine, transform, X))
        if self.rows.weights is None:
            source = replace(source, n_rows=self.n_rows())
        self.fit_estimator(estimator, replace(self.rows, source=source))

    def squares(self, estimator) -> np.ndarray:
        """Weighted sums over all rows of the squared derivatives of a fitted estimator."""
        machine, squares = self.machine, np.zeros(())

        def check(X, y, first: bool) -> tuple:
            return (moved(machine, None, X),)

        for X, _, weights in self.rows.checked(check, type(machine).__name__, "gradients"):
            squares = squares + summed_squares(estimator, X, weights)
        names = self.rows.source.feature_names
        if names is not None and not hasattr(machine, "feature_names_in_"):
            machine.feature_names_in_ = np.asarray(names, dtype=object)  # last: the chunks have no names
        return squares


def moved(machine: RecursiveFeatures, transform: Callable | None, X):
    """Validated rows, in the coordinates of a metric if its transformation is given."""
    X = validate_data(machine, X, accept_sparse="csr", dtype=np.float64, reset=False)
    return X if transform is None else transform(X)


def summed_squares(estimator, X, weights: np.ndarray | None) -> np.ndarray:
    """Weighted sum over the rows of a chunk of the squared derivatives of an estimator."""
    return (X.shape[0] if weights is None else weights.sum()) * mean_squares(estimator, X, weights)
