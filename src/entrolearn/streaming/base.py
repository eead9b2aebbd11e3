"""What every source of rows is: chunks of X and y, one after the other."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

import numpy as np
from scipy.sparse import issparse, vstack

from entrolearn.streaming.columns import rows_of

__all__ = ["CHUNK_BYTES", "Rows", "chunk_rows_for", "stacked", "taken"]

# Of numbers in a chunk, as they stand in the source: what a learner makes of them takes a few times as much.
# Files of NumPy, Parquet and Zarr are read as fast as in larger chunks.
CHUNK_BYTES = 2**24


class Rows(ABC):
    """Rows and their targets, gone through chunk by chunk: what :func:`rows` makes of any source.

    Iterating gives pairs ``(X, y)``, as often as one asks where `repeatable` is true. X is what
    scikit-learn's checks of data take: an array, CSR rows, or a frame where the source is one of pandas' or
    polars', or gives such chunks. Numbers keep the type that they have in the source. y is an array, or None
    where there is no target.

    Attributes
    ----------
    n_rows : int or None
        How many rows there are; None where only reading them would tell.
    n_features : int or None
        How many numbers a row of X has; None where only reading would tell.
    chunk_rows : int or None
        Rows of a chunk, of which the last may have fewer; None where the source decides.
    feature_names : list of str or None
        Names of the columns; None where they have none.
    has_targets : bool or None
        Whether y comes with X; None where only reading would tell.
    repeatable : bool
        Whether the rows can be read more than once.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import streaming
    >>> X, y = np.arange(10.0).reshape(5, 2), np.array([0, 1, 0, 1, 1])
    >>> source = streaming.rows(X, y, chunk_rows=2)
    >>> source
    Rows(n_rows=5, n_features=2, chunk_rows=2)
    >>> [len(chunk) for chunk, _ in source]
    [2, 2, 1]
    """

    n_rows: int | None = None
    n_features: int | None = None
    chunk_rows: int | None = None
    feature_names: list[str] | None = None
    has_targets: bool | None = None
    repeatable: bool = True

    def __iter__(self) -> Iterator[tuple]:
        return self._chunks()

    def targets(self) -> Iterator[np.ndarray]:
        """The targets alone, chunk by chunk; the features are not read where the source has them apart.

        Returns
        -------
        iterator of ndarray
            Each of shape (n_rows_of_chunk,) or (n_rows_of_chunk, n_outputs).

        Raises
        ------
        ValueError
            If the rows have no target, or can be read once and have been.
        """
        if self.has_targets is False:
            raise ValueError("these rows have no target; give y, or name the column or array with target=.")
        return self._targets()

    def take(self, indices) -> tuple[np.ndarray, np.ndarray | None]:
        """Rows by their numbers, gathered in one pass that reads what it must.

        Parameters
        ----------
        indices : array-like of int, shape (n_taken,)
            From 0 to n_rows - 1, in any order, any of them as often as wanted.

        Returns
        -------
        X : {ndarray, CSR}, shape (n_taken, n_features)
            In the order of `indices`.
        y : ndarray, shape (n_taken,) or (n_taken, n_outputs), or None
            None where there is no target.

        Raises
        ------
        IndexError
            If there is no such row.
        """
        indices = np.asarray(indices)
        if indices.ndim != 1 or indices.dtype.kind not in "iu" or not len(indices):
            raise IndexError(
                f"indices have shape {indices.shape} and type {indices.dtype}; accepted are some row "
                "numbers, a sequence of integers."
            )
        wanted, places = np.unique(indices, return_inverse=True)
        if wanted[0] < 0 or (self.n_rows is not None and wanted[-1] >= self.n_rows):
            found = wanted[0] if wanted[0] < 0 else wanted[-1]
            raise IndexError(
                f"there is no row {found}; rows have the numbers from 0 to {_last(self.n_rows)}."
            )
        X, y = self._gather(wanted)
        return X[places], None if y is None else y[places]

    @abstractmethod
    def _chunks(self) -> Iterator[tuple]:
        """The pairs of X and y."""

    def _targets(self) -> Iterator[np.ndarray]:
        for i, (_, y) in enumerate(self._chunks()):
            if y is None:
                raise ValueError(f"chunk {i} has no y; where targets are asked for, (X, y) is accepted.")
            yield y

    def _gather(self, wanted: np.ndarray) -> tuple:
        """X and y of the rows with these numbers, which ascend."""
        parts, start, done = [], 0, 0
        for X, y in self._chunks():
            stop = start + X.shape[0]
            upto = int(np.searchsorted(wanted, stop))
            if upto > done:
                here = wanted[done:upto] - start
                parts.append((taken(X, here), None if y is None else y[here]))
            start, done = stop, upto
            if done == len(wanted):
                break
        else:
            raise IndexError(f"there is no row {wanted[-1]}; rows have the numbers from 0 to {_last(start)}.")
        Xs, ys = zip(*parts, strict=True)
        return stacked(Xs), None if ys[0] is None else np.concatenate(ys)

    def __repr__(self) -> str:
        once = "" if self.repeatable else ", repeatable=False"
        return f"Rows(n_rows={self.n_rows}, n_features={self.n_features}, chunk_rows={self.chunk_rows}{once})"


def chunk_rows_for(bytes_per_row: float) -> int:
    """How many rows make a chunk of the default size."""
    return max(1, int(CHUNK_BYTES / max(1, bytes_per_row)))


def taken(X, indices: np.ndarray):
    """Some rows of one chunk, an ndarray or CSR."""
    if issparse(X):
        return X.tocsr()[indices]
    return np.asarray(rows_of(X, indices))


def stacked(parts: Iterable):
    """Rows of several arrays, or of several sparse ones, below one another."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    return vstack(parts, format="csr") if issparse(parts[0]) else np.concatenate(parts)


def _last(n_rows: int | None) -> str:
    return "n_rows - 1" if n_rows is None else str(n_rows - 1)
