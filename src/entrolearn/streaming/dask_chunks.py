"""Rows and targets of Dask collections, as pairs of chunks that are computed when they are asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import dask.array as da
import numpy as np
from dask.delayed import Delayed
from dask.utils import is_dataframe_like, is_series_like

from entrolearn.suggest import did_you_mean

__all__ = ["Chunks", "check_rows", "chunks_of", "is_frame"]

ACCEPTED = "a dask.array of shape (n_samples, n_features), or a dask.dataframe"


@dataclass(frozen=True)
class Chunks:
    """Rows of X and of y in pairs of chunks.

    Attributes
    ----------
    X, y : list of Delayed
        As many of the one as of the other.
    lengths : tuple of int, or None
        The number of rows of each; None where it is not known without computing them.
    """

    X: list[Delayed]
    y: list[Delayed]
    lengths: tuple[int, ...] | None = None

    def __iter__(self) -> Iterator[tuple[Delayed, Delayed, str]]:
        """The pairs, each with what to call its rows in an error."""
        return zip(self.X, self.y, self._names(), strict=True)

    def _names(self) -> list[str]:
        if self.lengths is None:
            return [f"chunk {i} of {len(self.X)}" for i in range(len(self.X))]
        ends = [0, *accumulate(self.lengths)]
        return [f"rows {start} to {stop - 1}" for start, stop in zip(ends, ends[1:], strict=False)]


def chunks_of(X, y, name: str) -> Chunks:
    """Rows and the targets that belong to them.

    Parameters
    ----------
    X : dask.array of shape (n_samples, n_features), or dask.dataframe
    y : dask.array, dask.dataframe or its Series; or names of columns of X
        Cut as X is, or it is cut anew.
    name : str
        Who asks, in errors.

    Returns
    -------
    Chunks

    Raises
    ------
    TypeError, ValueError
        If they are no collections of rows, y is missing, or the two do not fit together.
    """
    check_rows(X, name)
    X, y = _apart(X, y, name)
    if isinstance(X, da.Array) and isinstance(y, da.Array):
        y = _cut_alike(X, y)
    elif is_frame(X) and is_frame(y) and X.known_divisions and y.known_divisions:
        y = y if X.divisions == y.divisions else y.repartition(divisions=X.divisions)
    lengths = _lengths(X) or _lengths(y)
    X_chunks, y_chunks = _chunks(X), _chunks(y)
    if len(X_chunks) != len(y_chunks):
        raise ValueError(
            f"X comes in {len(X_chunks)} chunks and y in {len(y_chunks)}, and not all their lengths are "
            "known; accepted: as many of y as of X, or lengths that compute_chunk_sizes() has found."
        )
    return Chunks(X_chunks, y_chunks, lengths)


def check_rows(X, name: str) -> None:
    """Refuse what is no collection of whole rows.

    Raises
    ------
    TypeError, ValueError
    """
    if is_frame(X) and is_dataframe_like(X):
        return
    if not isinstance(X, da.Array):
        raise TypeError(f"X is {_kind(X)}; {name} accepts {ACCEPTED}.")
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}; {name} accepts {ACCEPTED}.")
    if X.numblocks[1] > 1:
        raise ValueError(
            f"X is cut into {X.numblocks[1]} chunks along its features; accepted: whole rows, as "
            "X.rechunk({1: -1}) gives them."
        )
    if X.shape[0] == 0:
        raise ValueError(f"X has shape {X.shape}: there are no rows.")


def is_frame(X) -> bool:
    """Whether it is a dask.dataframe or a Series of one."""
    return hasattr(X, "__dask_graph__") and (is_dataframe_like(X) or is_series_like(X))


def _apart(X, y, name: str) -> tuple:
    """X and y as collections of their own."""
    if y is None:
        named = ", or the name of a column of X" if is_frame(X) else ""
        raise ValueError(f"{name} needs targets: give y, a Dask collection{named}.")
    if isinstance(y, str) or (isinstance(y, list) and all(isinstance(each, str) for each in y)):
        return _columns_apart(X, y)
    if not (isinstance(y, da.Array) or is_frame(y)):
        raise TypeError(
            f"y is {_kind(y)}; accepted with Dask's X: a Dask array or Series, such as "
            "dask.array.from_array(y, chunks=X.chunks[0]) makes of an array."
        )
    if isinstance(y, da.Array) and y.ndim == 2:
        y = y.rechunk({1: -1})
    return X, y


def _columns_apart(X, names: str | list[str]) -> tuple:
    columns = list(X.columns) if is_frame(X) else []
    for column in [names] if isinstance(names, str) else names:
        if column not in columns:
            raise ValueError(
                f"y names the column {column!r}, which X has not{did_you_mean(column, columns)}; "
                f"its columns: {', '.join(map(str, columns)) or 'none, it is an array'}."
            )
    return X.drop(columns=names), X[names]


def _cut_alike(X: da.Array, y: da.Array) -> da.Array:
    if np.isnan(X.shape[0]) or np.isnan(y.shape[0]):
        return y
    if X.shape[0] != y.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y has {y.shape[0]}.")
    return y.rechunk({0: X.chunks[0]})


def _chunks(collection) -> list[Delayed]:
    # Arrays as they are: optimised, X and y would each make anew what both come from.
    as_it_is = isinstance(collection, da.Array)
    return np.ravel(collection.to_delayed(optimize_graph=not as_it_is)).tolist()


def _lengths(collection) -> tuple[int, ...] | None:
    if not isinstance(collection, da.Array) or np.isnan(collection.shape[0]):
        return None
    return collection.chunks[0]


def _kind(thing) -> str:
    if isinstance(thing, da.Array):
        return f"a dask.array of shape {thing.shape}"
    return f"{type(thing).__module__.partition('.')[0]}'s {type(thing).__name__}"
