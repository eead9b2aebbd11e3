"""Rows that are read chunk by chunk: from arrays, memory maps, datasets of pyarrow, and functions."""

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import glob
from itertools import repeat
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse

from entrolearn.suggest import did_you_mean
from entrolearn.validation import weighted_rows

__all__ = [
    "NO_ROWS",
    "Rows",
    "WeightedRows",
    "file_map",
    "give_back",
    "listed",
    "name_rows",
    "optional",
    "positive_rows",
    "read_ahead",
    "rows",
    "shown",
]

NO_ROWS = "there are no rows to fit to; at least one is accepted."
# Default size of a chunk, in the dtype of the source; a learner needs a few times as much memory. Larger
# chunks are not faster to read.
CHUNK_BYTES = 2**24
#: Maximum number of names in an error message.
LISTED = 10


@dataclass(repr=False, eq=False)
class Rows:
    """Rows and their targets, iterated chunk by chunk; :func:`rows` creates them from any source.

    Iteration yields pairs ``(X, y)``. It can be repeated if `repeatable` is true. X is an array, a CSR matrix
    or, if the source is a data frame or yields them, a data frame. The dtype is that of the source. y is an
    array, or None if there is no target.

    Parameters
    ----------
    chunks : callable
        Returns a new iterator of pairs (X, y).
    read_targets : callable, default=None
        Returns a new iterator of y only. Default: that of the pairs.
    n_rows : int or None
        Number of rows; None if it is not known before reading.
    n_features : int or None
        Number of columns of X; None if it is not known before reading.
    chunk_rows : int or None
        Rows per chunk, at most; None if the source determines the chunks.
    feature_names : list of str or None
        Names of the columns; None if the chunks have them, or there are none.
    has_targets : bool or None
        Whether the source has targets; None if it is not known before reading.
    repeatable : bool
        Whether the rows can be read more than once.
    reads_ahead : bool
        Whether the next chunk is read in a thread while the current one is processed.

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

    chunks: Callable[[], Iterator[tuple]]
    read_targets: Callable[[], Iterator[np.ndarray]] | None = None
    n_rows: int | None = None
    n_features: int | None = None
    chunk_rows: int | None = None
    feature_names: list[str] | None = None
    has_targets: bool | None = None
    repeatable: bool = True
    reads_ahead: bool = False
    _begun: bool = field(default=False, init=False)

    def __iter__(self) -> Iterator[tuple]:
        if self._begun and not self.repeatable:
            raise ValueError(
                "these rows come from an iterator, which has been read; a function that returns a new "
                "iterator each time can be read as often as needed."
            )
        self._begun = True
        return read_ahead(self.chunks()) if self.reads_ahead else self.chunks()

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
            raise ValueError("these rows have no target; give y, or name the column with target=.")
        return self.read_targets() if self.read_targets else map(_target, iter(self))

    def transformed(self, transform: Callable) -> "Rows":
        """The same rows with ``transform(X)`` in place of X."""
        return replace(
            self,
            chunks=lambda: ((transform(X), y) for X, y in self),
            read_targets=self.targets,
            n_features=None,
            feature_names=None,
            reads_ahead=False,
        )

    def __repr__(self) -> str:
        once = "" if self.repeatable else ", repeatable=False"
        return f"Rows(n_rows={self.n_rows}, n_features={self.n_features}, chunk_rows={self.chunk_rows}{once})"


def _target(pair: tuple) -> np.ndarray:
    if pair[1] is None:
        raise ValueError("a chunk has no y; where targets are asked for, (X, y) is accepted.")
    return pair[1]


def rows(X, y=None, *, target=None, features=None, chunk_rows: int | None = None) -> Rows:
    """Create rows from any source, to be iterated chunk by chunk.

    Parameters
    ----------
    X : array-like, str, path, list of paths, dataset, function or iterator
        - An array with a shape whose rows can be sliced, in memory, mapped (``numpy.memmap``) or of a library
          such as zarr; a sparse matrix, as CSR; a data frame of pandas; the name of a file of ``numpy.save``,
          ``"X.npy"``, which is mapped. Targets are `y`, another one of these, or nothing.
        - A ``pyarrow.dataset.Dataset``, or a table of pyarrow; the name of a Parquet file, of a folder of
          them, a pattern such as ``"data/*.parquet"`` or a list of these. Targets are the column `target`.
        - A function that returns a new iterator of chunks, X or ``(X, y)``, in each call; an iterable of
          chunks, which can be iterated repeatedly; an iterator, which can be read once.
    y : array-like, str or path, default=None
        Targets, if X is an array.
    target : str or list of str, default=None
        The column or columns of a dataset with the targets.
    features : str or list of str, default=None
        Columns of a dataset to read, in this order. Default: all columns except the target.
    chunk_rows : int, default=None
        Rows per chunk. Default: 16 MiB of numbers. The last chunk may have fewer, and the last one of a row
        group or a file of a dataset.

    Returns
    -------
    Rows

    Raises
    ------
    ValueError
        If X and y have different lengths, X is not two-dimensional or has no rows, a column does not exist or
        is not numeric, a Parquet file lacks a column, or a parameter does not apply to the source.
    FileNotFoundError
        If a file does not exist.
    TypeError
        If X has another type.
    ImportError
        If pyarrow is needed and not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from entrolearn import streaming
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "X.npy", np.zeros((1000, 3), dtype=np.float32))
    >>> np.save(folder / "y.npy", np.arange(1000) % 2)
    >>> source = streaming.rows(folder / "X.npy", folder / "y.npy", chunk_rows=400)
    >>> [(X.shape, X.dtype.name, y.sum().item()) for X, y in source]
    [((400, 3), 'float32', 200), ((400, 3), 'float32', 200), ((200, 3), 'float32', 100)]
    """
    if chunk_rows is not None and (
        not isinstance(chunk_rows, Integral) or isinstance(chunk_rows, bool) or chunk_rows < 1
    ):
        raise ValueError(f"chunk_rows={chunk_rows!r}; a number of rows, 1 or more, is accepted.")
    for name, given in (("X", X), ("y", y)):
        if hasattr(given, "__dask_graph__"):
            raise TypeError(
                f"{name} is a Dask collection, whose rows may come in another order each time; accepted: "
                f"X and y of Dask in streaming.fit, X in streaming.predict, or {name}.compute()."
            )
    of_pyarrow = type(X).__module__.startswith("pyarrow")
    if _is_npy(X) or (hasattr(X, "shape") and not of_pyarrow):
        _refuse("an array; y alone is accepted beside it", target=target, features=features)
        return _of_arrays(X, y, chunk_rows)
    if of_pyarrow or _are_paths(X):
        _refuse("a dataset; name the targets with target=", y=y)
        return _of_dataset(X, target, features, chunk_rows)
    given = {"y": y, "target": target, "features": features, "chunk_rows": chunk_rows}
    _refuse("chunks; each chunk is X or a pair (X, y), cut as it comes", **given)
    if callable(X):
        return Rows(lambda: _checked_chunks(X()))
    if isinstance(X, Iterable) and not hasattr(X, "keys"):
        return Rows(lambda: _checked_chunks(X), repeatable=not isinstance(X, Iterator))
    raise TypeError(
        f"rows cannot come from {type(X).__name__}; accepted are an array, a path, a list of paths, a "
        "dataset, a function that returns an iterator of chunks, and an iterator."
    )


def _is_npy(X) -> bool:
    return isinstance(X, str | os.PathLike) and os.fspath(X).endswith(".npy")


def _are_paths(X) -> bool:
    if isinstance(X, list | tuple) and X:
        return all(isinstance(each, str | os.PathLike) for each in X)
    return isinstance(X, str | os.PathLike)


def _refuse(what: str, **given) -> None:
    """Raise if parameters were given that do not apply to the source."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name}= was given with {what}.")


def _rows_in_chunk(bytes_per_row: float) -> int:
    return max(1, int(CHUNK_BYTES / max(1, bytes_per_row)))


# --- arrays -------------------------------------------------------------------------------------------------


def _of_arrays(X, y, chunk_rows: int | None) -> Rows:
    X, y = _array(X), None if y is None else _array(y)
    for name, array, accepted in (("X", X, (2,)), ("y", y, (1, 2))):
        if array is not None and (len(array.shape) not in accepted or 0 in array.shape):
            raise ValueError(
                f"{name} has shape {tuple(array.shape)}; accepted: {' or '.join(map(str, accepted))} "
                "dimensions, with at least one row and one column."
            )
    if y is not None and y.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y has {y.shape[0]}; as many are accepted.")
    size = getattr(getattr(X, "dtype", None), "itemsize", 8)
    # CSR stores an index with each number.
    in_row = (size + 4) * X.nnz / X.shape[0] if issparse(X) else size * X.shape[1]
    size = chunk_rows or _rows_in_chunk(in_row)

    def targets() -> Iterator:
        return repeat(None) if y is None else map(np.asarray, _slices(y, size))

    return Rows(
        lambda: zip(_slices(X, size), targets(), strict=False),
        targets,
        n_rows=int(X.shape[0]),
        n_features=int(X.shape[1]),
        chunk_rows=size,
        has_targets=y is not None,
        reads_ahead=file_map(X) is not None,
    )


def _array(array):
    """An array whose rows can be sliced; the memory map of a file for its name."""
    if isinstance(array, str | os.PathLike):
        try:
            return np.lib.format.open_memmap(array, mode="r")
        except (ValueError, EOFError) as error:
            raise ValueError(f"{array} is not an array of numbers written by numpy.save: {error}.") from error
    if issparse(array):
        return array.tocsr()
    return array if hasattr(array, "shape") else np.asarray(array)


def _slices(array, size: int) -> Iterator:
    """Consecutive rows; those of a file as copies, after which the pages of its map are released."""
    pages, n_rows = file_map(array), array.shape[0]
    by_columns = array.ndim == 2 and array.strides[1] > array.strides[0] if pages else False
    array = getattr(array, "iloc", array)
    for start in range(0, n_rows, size):
        some = slice(start, start + size)
        if by_columns:  # each column is in other pages
            yield np.column_stack([_copy(array[some, j], pages) for j in range(array.shape[1])])
        else:
            yield array[some] if pages is None else _copy(array[some], pages)


def _copy(numbers: np.ndarray, pages: mmap.mmap | None) -> np.ndarray:
    copy = np.array(numbers, order="C")
    give_back(pages)
    return copy


def file_map(array) -> mmap.mmap | None:
    """The memory map of an array, or of the array that it is a view of.

    None if there is no map, or if it is copy-on-write, so that changes exist only in memory.
    """
    while isinstance(array, np.ndarray):
        base = array.base
        if isinstance(base, mmap.mmap) and isinstance(array, np.memmap):
            return None if array.mode == "c" else base
        array = base
    return None


def give_back(pages: mmap.mmap | None) -> None:
    """Release the pages of a map, which count as memory of the process; they are read again when accessed."""
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


# --- datasets of pyarrow ------------------------------------------------------------------------------------


def _of_dataset(X, target, features, chunk_rows: int | None) -> Rows:
    with optional("reading Parquet", "pyarrow", "stream"):
        import pyarrow.dataset as arrow
    dataset = X if isinstance(X, arrow.Dataset) else arrow.dataset(X) if not _are_paths(X) else _parquet(X)
    schema = dataset.schema
    features, targets = _chosen_columns(schema, target, features)
    if _are_paths(X):
        for file in dataset.get_fragments():
            if missing := [name for name in features + targets if name not in file.physical_schema.names]:
                raise ValueError(f"{file.path} has no column {missing[0]!r}, which the first file has.")
    kind = getattr(getattr(dataset, "format", None), "default_extname", None)
    # Rows of text formats are counted only by reading them.
    n_rows = dataset.count_rows() if kind in ("parquet", None) else None
    if n_rows == 0:
        raise ValueError("the dataset has no rows; at least one is accepted.")
    bits = sum(schema.field(name).type.bit_width for name in features)
    size: int = chunk_rows or _rows_in_chunk(bits / 8)

    options: dict = {"batch_size": size, "batch_readahead": 1, "fragment_readahead": 1}
    if kind == "parquet":  # otherwise pyarrow reads whole files ahead
        options["fragment_scan_options"] = arrow.ParquetFragmentScanOptions(pre_buffer=False)

    def batches(columns: list[str]) -> Iterator:
        found = dataset.to_batches(columns=columns, **options)
        return (batch for batch in found if batch.num_rows)

    def targets_of(batch) -> Any:
        columns = [np.asarray(batch[name]) for name in targets]
        return None if not columns else columns[0] if len(columns) == 1 else np.column_stack(columns)

    def chunks() -> Iterator[tuple]:
        return ((np.asarray(each.select(features)), targets_of(each)) for each in batches(features + targets))

    return Rows(
        chunks,
        lambda: map(targets_of, batches(targets)),
        n_rows,
        len(features),
        chunk_rows=size,
        feature_names=features,
        has_targets=bool(targets),
        reads_ahead=True,
    )


def _parquet(where):
    """The dataset of Parquet files given by a path, a folder, a pattern or a list of these."""
    import pyarrow.dataset as arrow

    paths = map(os.fspath, [where] if isinstance(where, str | os.PathLike) else where)
    files = [file for path in paths for file in sorted(glob(path, recursive=True)) or [path]]
    return arrow.dataset(files if len(files) > 1 else files[0], format="parquet")


def _chosen_columns(schema, target, features) -> tuple[list[str], list[str]]:
    """Names of the feature columns, which must be numeric, and of the target columns."""
    from pyarrow import types

    targets = [] if target is None else [target] if isinstance(target, str) else list(target)
    if features is None:
        features = [name for name in schema.names if name not in targets]
    features = [features] if isinstance(features, str) else list(features)
    for what, asked in (("target", targets), ("features", features)):
        for name in asked:
            if name not in schema.names:
                guess = did_you_mean(name, schema.names)
                raise ValueError(f"{what}={name!r} is not a column{guess}; there are {listed(schema.names)}.")
    if both := [name for name in targets if name in features]:
        raise ValueError(f"{both[0]!r} is the target and among the features; it can be one of them.")
    if not features:
        raise ValueError(f"there is no column for features, only {listed(schema.names)}.")
    accepted = (types.is_integer, types.is_floating, types.is_boolean)
    found = {name: schema.field(name).type for name in features}
    others = [f"{name} ({kind})" for name, kind in found.items() if not any(is_(kind) for is_ in accepted)]
    if others:
        raise ValueError(
            f"features are not numeric: {listed(others)}; accepted: integers, floats and booleans. Leave the "
            "others out with features=, or convert them to numbers."
        )
    return features, targets


def listed(names: Iterable) -> str:
    """The first names, and the number of the others."""
    names = [str(name) for name in names]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"


# --- chunks -------------------------------------------------------------------------------------------------


def _checked_chunks(chunks: Iterable) -> Iterator[tuple]:
    """The chunks that have rows as pairs of X and y, each of which must be like the first one."""
    first: Any = None
    for number, chunk in enumerate(chunks):
        X, y = _pair(chunk, f"chunk {number}")
        like = X.shape[1], y is not None
        first = first or like
        if like != first:
            raise ValueError(
                f"chunk {number} has {like[0]} features and {'a' if like[1] else 'no'} y, and chunk 0 has "
                f"{first[0]} and {'a' if first[1] else 'no'} y; all chunks are accepted alike."
            )
        if X.shape[0]:
            yield X, y
        del chunk, X, y
    if first is None:
        raise ValueError("there was no chunk; at least one is accepted.")


def _pair(chunk, which: str) -> tuple:
    """X and y of a chunk, which is X or a pair (X, y)."""
    if isinstance(chunk, tuple | list) and len(chunk) != 2:
        raise ValueError(f"{which} has {len(chunk)} parts; X or a pair (X, y) is accepted.")
    X: Any = chunk
    y: Any = None
    if isinstance(chunk, tuple | list):
        X, y = chunk
    X, y = X if hasattr(X, "shape") else np.asarray(X), None if y is None else np.asarray(y)
    if len(X.shape) != 2:
        raise ValueError(f"X of {which} has shape {tuple(X.shape)}; two dimensions are accepted.")
    if y is not None and (y.ndim not in (1, 2) or len(y) != X.shape[0]):
        raise ValueError(
            f"{which} has {X.shape[0]} rows of X and y of shape {y.shape}; as many are accepted."
        )
    return X.tocsr() if issparse(X) else X, y


# --- passes over the rows -----------------------------------------------------------------------------------


@dataclass
class WeightedRows:
    """Rows with their weights in memory, or None, and where to report how far a pass is.

    Raises
    ------
    ValueError
        If there are not as many weights as rows.
    """

    source: Rows
    weights: Any = None
    progress: bool | Callable = False

    def __post_init__(self):
        self._check_number(self.source.n_rows)

    def _check_number(self, n_rows: int | None) -> None:
        if self.weights is not None and n_rows not in (None, len(self.weights)):
            raise ValueError(f"sample_weight holds {len(self.weights)} numbers, but there are {n_rows} rows.")

    @property
    def n_rows(self) -> int | None:
        """Number of rows of positive weight; None if it is not known before reading."""
        return self.source.n_rows if self.weights is None else int(np.count_nonzero(self.weights))

    def labels(self) -> np.ndarray:
        """All labels, from one pass over the targets."""
        found: Any = None
        start = 0
        for y in self.source.targets():
            stop = start + len(y)
            _, y, _ = positive_rows(y, y, None if self.weights is None else self.weights[start:stop])
            if len(y):
                found = np.unique(y) if found is None else np.union1d(found, y)
            start = stop
        if found is None:
            raise ValueError(NO_ROWS)
        return found

    def checked(self, check: Callable, learner: str, purpose: str) -> Iterator[tuple]:
        """Yield of the rows of positive weight of each chunk ``(*check(X, y, first=...), y, weights)``.

        Errors name the rows, and the `learner`.
        """
        start, first = 0, True
        for X, y in shown(self.source, self.progress, self.source.n_rows, f"{learner}: {purpose}"):
            stop = start + X.shape[0]
            if y is None:
                raise ValueError(f"{learner} needs targets, but these rows have none; name them or give y.")
            with name_rows(f"rows {start} to {stop - 1}"):
                weights = None if self.weights is None else self.weights[start:stop]
                X, y, weights = positive_rows(X, y, weights)
                checked = check(X, y, first=first) if X.shape[0] else None
            if checked:
                first = False
                yield *checked, y, weights
            start = stop
        self._check_number(start)
        if first:
            raise ValueError(NO_ROWS)


def positive_rows(X, y, weights) -> tuple:
    """Rows of positive weight of a chunk, with their y and weights; there may be no such rows.

    Raises
    ------
    ValueError
        If the numbers of weights and rows differ, or a weight is negative or not finite.
    """
    if weights is not None and len(weights) == X.shape[0] and not np.any(weights):
        return X[:0], y[:0], np.empty(0)
    return weighted_rows(X, y, weights)


@contextmanager
def name_rows(where: str) -> Iterator[None]:
    """Put the name of the rows before the messages of errors."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from error


def read_ahead(chunks: Iterator) -> Iterator:
    """Yield the chunks, reading the next one while the current one is processed."""
    with ThreadPoolExecutor(1, thread_name_prefix="read_ahead") as reader:
        coming = reader.submit(next, chunks, None)
        while (chunk := coming.result()) is not None:
            coming = reader.submit(next, chunks, None)
            yield chunk


def shown(chunks: Iterable[tuple], progress: bool | Callable, n_rows: int | None, what: str) -> Iterator:
    """Yield the chunks, and report the number of processed rows.

    A chunk counts as processed when the next one is requested.

    Parameters
    ----------
    chunks : iterable of tuple
        Tuples whose first element is an array.
    progress : bool or callable
        True shows a tqdm progress bar. A callable receives the number of rows done and the total, None if it
        is not known.
    n_rows : int or None
        Total number of rows.
    what : str
        Description of the progress bar.

    Raises
    ------
    TypeError
        If `progress` has another type.
    ImportError
        If `progress` is True and tqdm is not installed.
    """
    if callable(progress):
        return _reported(chunks, progress, n_rows)
    if progress not in (True, False):
        raise TypeError(
            f"progress={progress!r}; True, False and a function of (rows done, rows in all) are accepted."
        )
    if not progress:
        return iter(chunks)
    with optional("progress=True", "tqdm", "stream"):
        from tqdm.auto import tqdm
    return _with_bar(chunks, tqdm(total=n_rows, desc=what, unit=" rows", unit_scale=True))


def _reported(chunks: Iterable[tuple], progress: Callable, n_rows: int | None) -> Iterator:
    done = 0
    for chunk in chunks:
        yield chunk
        done += chunk[0].shape[0]
        progress(done, n_rows)


def _with_bar(chunks: Iterable[tuple], bar) -> Iterator:
    with bar:
        for chunk in chunks:
            yield chunk
            bar.update(chunk[0].shape[0])


@contextmanager
def optional(what: str, library: str, extra: str) -> Iterator[None]:
    """Context in which a package of an extra is imported.

    Raises
    ------
    ImportError
        With the feature that needs the package, and the command to install it.
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{what} needs {library}, which is not installed: pip install 'entrolearn[{extra}]'"
        ) from error
