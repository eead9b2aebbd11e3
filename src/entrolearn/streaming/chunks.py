"""Rows from a function, an iterator or another iterable that yields chunks."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from entrolearn.streaming.base import Rows

__all__ = ["ChunkRows"]


class ChunkRows(Rows):
    """Rows of given chunks, each of which is checked for consistency with the first one.

    Parameters
    ----------
    make : callable
        Returns a new iterator of chunks, X or (X, y).
    repeatable : bool
        Whether `make` can be called more than once.
    """

    def __init__(self, make: Callable[[], Iterable], *, repeatable: bool):
        self._make, self.repeatable = make, repeatable
        self._begun = False

    def __iter__(self) -> Iterator[tuple]:
        self._begin()
        return super().__iter__()

    def targets(self) -> Iterator[np.ndarray]:
        """As in :class:`Rows`; the features are read and ignored."""
        self._begin()
        return super().targets()

    def _begin(self) -> None:
        if self._begun and not self.repeatable:
            raise ValueError(
                "these rows come from an iterator, which has been read; a function that returns a new "
                "iterator each time can be read as often as needed."
            )
        self._begun = True

    def _chunks(self) -> Iterator[tuple]:
        first, number = None, 0
        for number, chunk in enumerate(_iterator(self._make), 1):
            X, y = _parted(chunk, f"chunk {number - 1}")
            if first is None:
                first = (X.shape[1], y is not None)
            _check_alike(first, X, y, number - 1)
            if X.shape[0]:
                yield X, y
            del chunk, X, y
        if not number:
            raise ValueError("there was no chunk; at least one is accepted.")


def _iterator(make: Callable[[], Iterable]) -> Iterator:
    made = make()
    if not isinstance(made, Iterable):
        raise TypeError(
            f"the function returned {type(made).__name__}; an iterator of chunks, X or (X, y), is accepted."
        )
    return iter(made)


def _parted(chunk, which: str) -> tuple:
    """X and y of a chunk, which is X or a pair (X, y)."""
    X: Any = chunk
    y: Any = None
    if isinstance(chunk, tuple | list):
        if len(chunk) != 2:
            raise ValueError(f"{which} has {len(chunk)} parts; X or a pair (X, y) is accepted.")
        X, y = chunk
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X of {which} has shape {tuple(X.shape)}; two dimensions are accepted.")
    y = None if y is None else np.asarray(y)
    if y is not None and (y.ndim not in (1, 2) or len(y) != X.shape[0]):
        raise ValueError(
            f"{which} has {X.shape[0]} rows of X and y of shape {y.shape}; as many are accepted."
        )
    return X.tocsr() if issparse(X) else X, y


def _check_alike(first: tuple, X, y, number: int) -> None:
    width, labelled = first
    if X.shape[1] != width:
        raise ValueError(
            f"chunk {number} has {X.shape[1]} features and chunk 0 has {width}; as many are accepted."
        )
    if (y is not None) != labelled:
        has, had = ("has no y", "has") if y is None else ("has y", "has none")
        raise ValueError(f"chunk {number} {has}, and chunk 0 {had}; all chunks are accepted alike.")
