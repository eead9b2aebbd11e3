"""Rows of data frames in memory, with column names."""

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np

from entrolearn.streaming.arrays import check_shapes, reader
from entrolearn.streaming.base import Rows, chunk_rows_for
from entrolearn.streaming.columns import cut, features_of, names_of, numbers_only, pick, targets_of

__all__ = ["FrameRows"]


class FrameRows(Rows):
    """Rows of a data frame, with targets from its columns or from a separate array.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
    y : array-like, str, path or None
        Targets, if they are not columns of the frame.
    target, features
        As in :func:`~entrolearn.streaming.rows`.
    chunk_rows : int or None
    """

    def __init__(self, frame, y, target, features, chunk_rows: int | None):
        where = type(frame).__name__
        self._features, self._target_names = pick(names_of(frame), target, features, where)
        if hasattr(frame, "column_names"):  # a pyarrow table, whose types are known
            numbers_only(frame.schema, self._features)
        if self._target_names and y is not None:
            raise ValueError("y= and target= were both given; one of them is accepted.")
        self._frame = frame
        self._y: Any = None if y is None else reader(y)
        check_shapes((frame.shape[0], len(self._features)), None if self._y is None else self._y.shape)
        self.n_rows: int = frame.shape[0]
        self.n_features = len(self._features)
        self.feature_names = self._features
        self.has_targets = y is not None or bool(self._target_names)
        self.chunk_rows: int = chunk_rows or chunk_rows_for(8 * self.n_features)

    def _cuts(self) -> Iterator:
        return (cut(self._frame, start, self.chunk_rows) for start in range(0, self.n_rows, self.chunk_rows))

    def _chunks(self) -> Iterator[tuple]:
        Xs = (features_of(some, self._features) for some in self._cuts())
        ys = self._targets() if self.has_targets else repeat(None)
        return zip(Xs, ys, strict=False)

    def _targets(self) -> Iterator[np.ndarray]:
        if self._y is not None:
            return map(np.asarray, self._y.pieces(self.chunk_rows))
        return (targets_of(some, self._target_names) for some in self._cuts())
