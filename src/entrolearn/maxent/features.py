"""Features f_i(x, c) of a row and a class, with the weighted sums and means of the maximum entropy model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

__all__ = ["Features", "PerClassFeatures", "SharedFeatures", "evaluated"]


class Features(Protocol):
    """Features of some rows with each possible class."""

    @property
    def n_features(self) -> int:
        """Number of features, and of weights."""

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """The weighted sum of the features for each row and class, shape (n_samples, n_classes)."""

    def means(self, probability: np.ndarray) -> np.ndarray:
        """Mean over the rows of each feature's expected value under the given class probabilities."""

    def least(self) -> float:
        """Minimum of all features."""

    def greatest_sum(self) -> float:
        """Largest sum of all features of a row and a class."""


@dataclass(frozen=True, eq=False)
class PerClassFeatures:
    """Each column of X once per class: ``f_{k, j}(x, c) = x_j`` if c is class k, otherwise 0.

    The matrix with n_classes times as many columns, most of them zero, is not created.

    Attributes
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_columns)
    n_classes : int
    """

    X: np.ndarray | sparse.csr_array
    n_classes: int

    @property
    def n_features(self) -> int:
        return self.n_classes * self.X.shape[1]

    def scores(self, weights: np.ndarray) -> np.ndarray:
        return self.X @ weights.reshape(self.n_classes, -1).T

    def means(self, probability: np.ndarray) -> np.ndarray:
        return (self.X.T @ probability).T.ravel() / self.X.shape[0]

    def least(self) -> float:
        return float(min(0.0, self.X.min()))

    def greatest_sum(self) -> float:
        return float(self.X.sum(axis=1).max())


@dataclass(frozen=True, eq=False)
class SharedFeatures:
    """Features whose weights are shared by all classes.

    Attributes
    ----------
    tables : list of {ndarray, CSR matrix} of shape (n_samples, n_features)
        The features of all rows, for each class.
    """

    tables: list[np.ndarray | sparse.csr_array]

    @property
    def n_features(self) -> int:
        return self.tables[0].shape[1]

    def scores(self, weights: np.ndarray) -> np.ndarray:
        return np.column_stack([table @ weights for table in self.tables])

    def means(self, probability: np.ndarray) -> np.ndarray:
        sums = [table.T @ share for table, share in zip(self.tables, probability.T, strict=True)]
        return np.sum(sums, axis=0) / len(probability)

    def least(self) -> float:
        return float(min(table.min() for table in self.tables))

    def greatest_sum(self) -> float:
        return float(max(table.sum(axis=1).max() for table in self.tables))


def evaluated(functions: Sequence[Callable], X, classes: np.ndarray) -> SharedFeatures:
    """Evaluate feature functions for all rows and classes.

    Raises
    ------
    ValueError
        If there is no function, or if a function returns a wrong number of rows, values that are not finite,
        or different numbers of columns for different classes.
    TypeError
        If an element of `functions` is not callable.
    """
    if not functions:
        raise ValueError("feature_functions is empty; None stands for the columns of X")
    tables = []
    for c in classes:
        blocks = [_block(i, function, X, c) for i, function in enumerate(functions)]
        stacked = sparse.hstack(blocks, "csr") if any(map(sparse.issparse, blocks)) else np.hstack(blocks)
        tables.append(stacked)
    widths = [table.shape[1] for table in tables]
    if len(set(widths)) > 1:
        raise ValueError(
            f"feature_functions give {widths} features with the classes {classes.tolist()}; "
            "it must be the same number with each"
        )
    return SharedFeatures(tables)


def _block(i: int, function: Callable, X, c) -> np.ndarray | sparse.csr_array:
    if not callable(function):
        raise TypeError(f"feature function {i} is {function!r}; it must be a function of rows and a class")
    values = function(X, c)
    values = sparse.csr_array(values) if sparse.issparse(values) else np.asarray(values, dtype=np.float64)
    if values.ndim == 1:
        values = values[:, np.newaxis]
    finite = np.isfinite(values.data if sparse.issparse(values) else values).all()
    if values.ndim != 2 or values.shape[0] != X.shape[0] or not finite:
        raise ValueError(
            f"feature function {i} gives shape {values.shape} for {X.shape[0]} rows and class {c!r}; it must "
            "give a finite number, or several, for each row"
        )
    return values
