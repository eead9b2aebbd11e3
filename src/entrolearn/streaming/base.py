"""What every source of rows is: chunks of X and y, one after the other."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

__all__ = ["CHUNK_BYTES", "Rows", "TransformedRows", "chunk_rows_for", "read_ahead"]

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

    #: Whether a chunk takes work to read, which can be done while the one before is worked on.
    _reads_ahead: bool = False

    def __iter__(self) -> Iterator[tuple]:
        return read_ahead(self._chunks()) if self._reads_ahead else self._chunks()

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

    @abstractmethod
    def _chunks(self) -> Iterator[tuple]:
        """The pairs of X and y."""

    def _targets(self) -> Iterator[np.ndarray]:
        for i, (_, y) in enumerate(self._chunks()):
            if y is None:
                raise ValueError(f"chunk {i} has no y; where targets are asked for, (X, y) is accepted.")
            yield y

    def __repr__(self) -> str:
        once = "" if self.repeatable else ", repeatable=False"
        return f"Rows(n_rows={self.n_rows}, n_features={self.n_features}, chunk_rows={self.chunk_rows}{once})"


class TransformedRows(Rows):
    """Rows as a fitted transformer gives them, chunk by chunk."""

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


def chunk_rows_for(bytes_per_row: float) -> int:
    """How many rows make a chunk of the default size."""
    return max(1, int(CHUNK_BYTES / max(1, bytes_per_row)))


def read_ahead(chunks: Iterator) -> Iterator:
    """The same chunks, each of them read while the one before it is worked on."""
    with ThreadPoolExecutor(1, thread_name_prefix="read_ahead") as reader:
        coming = reader.submit(next, chunks, None)
        while (chunk := coming.result()) is not None:
            coming = reader.submit(next, chunks, None)
            yield chunk
