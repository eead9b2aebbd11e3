"""Base class of the sources of rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.sparse import issparse

__all__ = ["CHUNK_BYTES", "Rows", "TransformedRows", "chunk_rows_for", "moved", "read_ahead"]

# Default size of a chunk, in the dtype of the source; a learner needs a few times as much memory. Larger
# chunks are not faster to read from NumPy, Parquet and Zarr files.
CHUNK_BYTES = 2**24


class Rows(ABC):
    """Rows and their targets, iterated chunk by chunk; :func:`rows` creates them from any source.

    Iteration yields pairs ``(X, y)``. It can be repeated if `repeatable` is true. X is an array, a CSR matrix
    or, if the source is a pandas or polars data frame or yields them, a data frame. The dtype is that of the
    source. y is an array, or None if there is no target.

    Attributes
    ----------
    n_rows : int or None
        Number of rows; None if it is not known before reading.
    n_features : int or None
        Number of columns of X; None if it is not known before reading.
    chunk_rows : int or None
        Rows per chunk (the last one may have fewer); None if the source determines the chunks.
    feature_names : list of str or None
        Names of the columns; None if they have no names.
    has_targets : bool or None
        Whether the source has targets; None if it is not known before reading.
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

    #: Whether to read the next chunk in a thread while the current one is processed.
    _reads_ahead: bool = False

    def __iter__(self) -> Iterator[tuple]:
        return read_ahead(self._chunks()) if self._reads_ahead else self._chunks()

    def targets(self) -> Iterator[np.ndarray]:
        """Iterate over the targets only; features are not read if the source stores them separately.

        Returns
        -------
        iterator of ndarray
            Arrays of shape (n_rows_of_chunk,) or (n_rows_of_chunk, n_outputs).

        Raises
        ------
        ValueError
            If the rows have no targets, or can be read only once and have already been read.
        """
        if self.has_targets is False:
            raise ValueError("these rows have no target; give y, or name the column or array with target=.")
        return self._targets()

    @abstractmethod
    def _chunks(self) -> Iterator[tuple]:
        """Yield the pairs of X and y."""

    def _targets(self) -> Iterator[np.ndarray]:
        for i, (_, y) in enumerate(self._chunks()):
            if y is None:
                raise ValueError(f"chunk {i} has no y; where targets are asked for, (X, y) is accepted.")
            yield y

    def __repr__(self) -> str:
        once = "" if self.repeatable else ", repeatable=False"
        return f"Rows(n_rows={self.n_rows}, n_features={self.n_features}, chunk_rows={self.chunk_rows}{once})"


class TransformedRows(Rows):
    """Rows transformed by a fitted transformer, chunk by chunk."""

    def __init__(self, source: Rows, transformer):
        self._source = source
        self._transform = transformer.transform
        self.n_rows = source.n_rows
        self.chunk_rows = source.chunk_rows
        self.has_targets = source.has_targets
        self.repeatable = source.repeatable

    def _chunks(self) -> Iterator[tuple]:
        for X, y in self._source:
            yield self._transform(X), y

    def _targets(self) -> Iterator[np.ndarray]:
        return self._source.targets()


def moved(X, where, dtypes: Sequence = (np.float64, np.float32)):
    """The rows of a chunk in the library and on the device of `where`.

    Parameters
    ----------
    X : ndarray, data frame or array of any library, shape (n_rows, n_features)
    where : array
        An array of the target library and device.
    dtypes : sequence of NumPy dtypes
        Dtypes that are kept; others are converted to the first.

    Raises
    ------
    TypeError
        If the rows are sparse.
    """
    from entrolearn.machines.devices import like

    if issparse(X):
        raise TypeError("sparse rows cannot be moved to another array library; accepted: dense rows.")
    X = np.asarray(X)
    return like(X if X.dtype in dtypes else X.astype(dtypes[0]), where)


def chunk_rows_for(bytes_per_row: float) -> int:
    """Number of rows in a chunk of the default size."""
    return max(1, int(CHUNK_BYTES / max(1, bytes_per_row)))


def read_ahead(chunks: Iterator) -> Iterator:
    """Yield the chunks, reading the next one while the current one is processed."""
    with ThreadPoolExecutor(1, thread_name_prefix="read_ahead") as reader:
        coming = reader.submit(next, chunks, None)
        while (chunk := coming.result()) is not None:
            coming = reader.submit(next, chunks, None)
            yield chunk
