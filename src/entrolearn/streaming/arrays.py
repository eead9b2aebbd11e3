"""Rows of arrays: in memory, memory-mapped, in files, or any object with a shape and slicing."""

import os
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from entrolearn.streaming.base import Rows, chunk_rows_for
from entrolearn.streaming.mapped import MappedArray, NpyFile, file_map

__all__ = ["ArrayRows", "check_shapes", "reader"]


class ArrayRows(Rows):
    """Rows of an array, with or without an array of targets.

    Parameters
    ----------
    X, y : array-like, str or path
    chunk_rows : int or None

    Raises
    ------
    ValueError
        If X is not two-dimensional, has no rows or no columns, or the number of rows of y differs.
    """

    def __init__(self, X, y=None, chunk_rows: int | None = None):
        self._X = reader(X)
        self._y: Any = None if y is None else reader(y)
        check_shapes(self._X.shape, None if self._y is None else self._y.shape)
        self.n_rows, self.n_features = map(int, self._X.shape)
        self.has_targets = y is not None
        self._reads_ahead = isinstance(self._X, NpyFile | _Blocked)
        self.chunk_rows: int = chunk_rows or _default_chunk_rows(self._X)

    def _chunks(self) -> Iterator[tuple]:
        ys = self._targets() if self.has_targets else repeat(None)
        return zip(self._X.pieces(self.chunk_rows), ys, strict=False)

    def _targets(self) -> Iterator[np.ndarray]:
        return map(np.asarray, self._y.pieces(self.chunk_rows))


def reader(array):
    """A reader of an array in pieces: for a path, a memory map, a blocked array or an array in memory."""
    if isinstance(array, str | os.PathLike):
        return NpyFile(Path(array))
    if issparse(array):
        return _Sliced(array.tocsr())
    if (pages := file_map(array)) is not None:
        return MappedArray(array, pages)
    if isinstance(blocks := getattr(array, "chunks", None), tuple) and isinstance(blocks[0], int):
        return _Blocked(array, blocks[0])
    if not hasattr(array, "shape"):
        array = np.asarray(array)
    return _Sliced(array)


class _Sliced:
    """An array whose rows can be sliced directly."""

    def __init__(self, array):
        self._array = array.iloc if hasattr(array, "iloc") else array
        self.shape, self.dtype, self.unit = array.shape, array.dtype, 1
        self.share = array.nnz / max(1, np.prod(array.shape)) if issparse(array) else 1.0

    def pieces(self, size: int) -> Iterator:
        for start in range(0, self.shape[0], size):
            yield self._array[start : start + size]


class _Blocked:
    """An array stored in blocks of rows; each block is read once, as a whole."""

    def __init__(self, array, unit: int):
        self._array = array
        self.shape, self.dtype, self.unit = array.shape, array.dtype, unit

    def pieces(self, size: int) -> Iterator[np.ndarray]:
        held: Any = None
        first, end = 0, 0  # rows `first` to `end` are in memory
        for start in range(0, self.shape[0], size):
            stop = min(start + size, self.shape[0])
            if stop > end:
                rest = held[start - first :] if start < end else None
                held = None  # free memory before reading more
                upto = min(-(-stop // self.unit) * self.unit, self.shape[0])
                more = np.asarray(self._array[end:upto])
                held = more if rest is None else np.concatenate([rest, more])
                first, end = start, upto
                del rest, more
            yield held[start - first : stop - first]


def check_shapes(shape: tuple, targets: tuple | None) -> None:
    """Raise if X is not two-dimensional or is empty, or if the targets do not match.

    Raises
    ------
    ValueError
        With the shapes.
    """
    if len(shape) != 2:
        raise ValueError(f"X has shape {tuple(shape)}; two dimensions are accepted, rows and features.")
    if 0 in shape:
        raise ValueError(f"X has shape {tuple(shape)}; at least one row and one feature are accepted.")
    if targets is None:
        return
    if len(targets) not in (1, 2):
        raise ValueError(
            f"y has shape {tuple(targets)}; one target for each row, or one row of them, is accepted."
        )
    if targets[0] != shape[0]:
        raise ValueError(f"X has {shape[0]} rows and y has {targets[0]}; as many are accepted.")


def _default_chunk_rows(X) -> int:
    """Rows of a chunk: a multiple of the block size if blocks are smaller than a chunk."""
    size = getattr(X.dtype, "itemsize", 8)
    # CSR stores an index with each number.
    share = getattr(X, "share", 1.0)
    wanted = chunk_rows_for(X.shape[1] * (share * (size + 4) if share < 1 else size))
    return wanted // X.unit * X.unit if X.unit <= wanted else wanted
