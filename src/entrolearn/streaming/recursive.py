"""Fits of recursive feature machines to rows that are read chunk by chunk.

The number of rounds and the metric are learnt from the same sample of rows as in memory. The estimator is
then fitted to all rows in the metric, and its gradients take one more pass.
"""

from collections.abc import Callable, Iterator
from numbers import Integral

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.multiclass import check_classification_targets

from entrolearn.feature_learning import RecursiveFeatures, SelectedMetric, mean_squares
from entrolearn.streaming.additive import NO_ROWS, check_additive, weighted_chunk
from entrolearn.streaming.base import Rows, TransformedRows
from entrolearn.streaming.progress import shown
from entrolearn.streaming.sampling import stack_rows
from entrolearn.validation import check_params, validate_data

__all__ = ["Moved", "check_recursive", "checked_chunk", "fit_recursive", "keep", "stacked", "summed_squares"]


def check_recursive(machine: RecursiveFeatures) -> None:
    """Raise, before any row is read, if the estimator cannot be fitted chunk by chunk.

    Raises
    ------
    TypeError, ValueError
    """
    check_params(machine)
    estimator = machine._base()
    machine._check_estimator(estimator, sparse=False)
    check_additive(estimator)
    if machine.selection_rows is None:
        raise ValueError("selection_rows=None learns from all rows in memory; accepted for chunks: a number.")
    if not isinstance(machine.cv, Integral):
        raise ValueError("cv gives splits of rows in memory; accepted for chunks: a number of folds.")


def fit_recursive(
    machine: RecursiveFeatures, source: Rows, weights: np.ndarray | None, fit: Callable, progress
) -> None:
    """Fit to a source of rows with their weights, by a function that fits the inner estimator."""
    if not source.repeatable:
        raise ValueError(
            f"{type(machine).__name__} reads the rows several times, and these can be read only once; "
            "accepted: arrays, files, or a function that returns a new iterator of chunks."
        )
    n_rows = int(np.count_nonzero(weights)) if weights is not None else source.n_rows
    if n_rows is None:
        n_rows = sum(len(y) for y in source.targets())
    sample = _Sample(machine._selection_places(n_rows))
    chunks = shown(source, progress, source.n_rows, f"{type(machine).__name__}: selection")
    for X, y, of_rows in _checked_chunks(machine, chunks, weights):
        sample.offer(X, y, of_rows)
    selected = machine._learn(*sample.rows())
    moved = TransformedRows(source, Moved(machine, selected))
    moved.n_rows = n_rows if weights is None else source.n_rows
    fit(selected.estimator, moved)
    estimator = selected.to_original_coordinates(selected.estimator)
    checked = TransformedRows(source, Moved(machine))
    chunks = shown(checked, progress, source.n_rows, f"{type(machine).__name__}: gradients")
    squares, start = np.zeros(()), 0
    for X, _ in chunks:
        some = None if weights is None else weights[start : start + X.shape[0]]
        squares, start = squares + summed_squares(estimator, X, some), start + X.shape[0]
    names = source.feature_names
    if names is not None and not hasattr(machine, "feature_names_in_"):
        machine.feature_names_in_ = np.asarray(names, dtype=object)  # last: the chunks have no names
    keep(machine, selected, squares)


def summed_squares(estimator, X, weights: np.ndarray | None) -> np.ndarray:
    """Weighted sum over the rows of a chunk of the squared derivatives of an estimator."""
    weight = X.shape[0] if weights is None else weights.sum()
    return weight * mean_squares(estimator, X, weights) if weight else np.zeros(())


def keep(machine: RecursiveFeatures, selected: SelectedMetric, squares: np.ndarray) -> None:
    """Store the metric, and the fitted estimator with its squared derivatives summed over all rows."""
    machine._keep(selected, selected.estimator, squares / (squares.sum() or 1.0))


class _Sample:
    """Sample of the offered rows with given ascending row numbers; all rows if they are None."""

    def __init__(self, places: np.ndarray | None):
        self._places = places
        self._parts: list[tuple] = []
        self._n_seen = 0

    def offer(self, X, y: np.ndarray, weights: np.ndarray | None) -> None:
        """Offer the next rows, with y and weights."""
        start, self._n_seen = self._n_seen, self._n_seen + X.shape[0]
        if self._places is not None:
            first, last = np.searchsorted(self._places, [start, self._n_seen])
            few = self._places[first:last] - start
            X, y, weights = X[few], y[few], None if weights is None else weights[few]
        if X.shape[0]:
            self._parts.append((X, y, weights))

    def rows(self) -> tuple:
        """The sampled rows, their y and their weights, in the order in which they were offered."""
        return stacked(self._parts)


def stacked(parts: list[tuple]) -> tuple:
    """Concatenated rows, y and weights of several chunks.

    Raises
    ------
    ValueError
        If there are no chunks.
    """
    if not parts:
        raise ValueError(NO_ROWS)
    X, y, weights = zip(*parts, strict=True)
    return stack_rows(X), np.concatenate(y), None if weights[0] is None else np.concatenate(weights)


def checked_chunk(machine: RecursiveFeatures, X, y, *, first: bool) -> tuple:
    """Validated rows and y, as in ``fit``."""
    X, y = validate_data(machine, X, y, accept_sparse="csr", dtype=np.float64, reset=first, **machine._checks)
    if is_classifier(machine):
        check_classification_targets(y)
    return X, y


def _checked_chunks(machine: RecursiveFeatures, chunks: Iterator, weights: np.ndarray | None) -> Iterator:
    start, first = 0, True
    for X, y in chunks:
        stop = start + X.shape[0]
        if y is None:
            raise ValueError(f"{type(machine).__name__} needs targets, but these rows have none; give y.")
        some = None if weights is None else weights[start:stop]
        X, y, some = weighted_chunk(X, y, some)
        if X.shape[0]:
            try:
                X, y = checked_chunk(machine, X, y, first=first)
            except (TypeError, ValueError) as error:
                raise type(error)(f"rows {start} to {stop - 1}: {error}") from error
            first = False
            yield X, y, some
        start = stop
    if weights is not None and start != len(weights):
        raise ValueError(f"sample_weight holds {len(weights)} numbers, but there are {start} rows.")


class Moved:
    """Validates rows, and transforms them to the coordinates of a metric if one is given."""

    def __init__(self, machine: RecursiveFeatures, selected: SelectedMetric | None = None):
        self._machine, self._selected = machine, selected

    def transform(self, X):
        """Transform one chunk."""
        X = validate_data(self._machine, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return X if self._selected is None else self._selected.transform(X)
