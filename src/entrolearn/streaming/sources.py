"""Create :class:`Rows` from any source."""

import os
from collections.abc import Iterable, Iterator
from numbers import Integral

from entrolearn.streaming.arrays import ArrayRows
from entrolearn.streaming.base import Rows
from entrolearn.streaming.chunks import ChunkRows
from entrolearn.streaming.frames import FrameRows
from entrolearn.streaming.parquet import SUFFIXES, DatasetRows, ParquetRows, parquet_files
from entrolearn.streaming.stores import group_rows, is_zarr, opened

__all__ = ["rows"]


def rows(X, y=None, *, target=None, features=None, chunk_rows: int | None = None) -> Rows:
    """Create rows from any source, to be iterated chunk by chunk.

    Parameters
    ----------
    X : array-like, str, path, list of paths, Zarr group, function or iterator
        - An array with a shape whose rows can be sliced: in memory, mapped (``numpy.memmap``) or of zarr; a
          sparse matrix, as CSR; the name of a file of ``numpy.save``, ``"X.npy"``. Targets are `y`, another
          one of these, or nothing.
        - A Parquet file, a folder of them, a pattern such as ``"data/*.parquet"``, a list of these; a
          ``pyarrow.dataset.Dataset``; a frame of pandas, polars or pyarrow in memory. Targets are the
          column `target`.
        - A Zarr group, by the name of its folder or open. Targets are the array `target`.
        - A function that returns a new iterator of chunks, X or ``(X, y)``, in each call; an iterable of
          chunks, which can be iterated repeatedly; an iterator, which can be read once.
    y : array-like, str or path, default=None
        Targets, if X is an array or a data frame.
    target : str or list of str, default=None
        The column, columns or array with the targets.
    features : str or list of str, default=None
        Columns to read, in this order. Default: all columns except the target. For a group, the name of the
        array; default: the only two-dimensional array.
    chunk_rows : int, default=None
        Rows per chunk. Default: 16 MiB of numbers, rounded to whole blocks for arrays stored in blocks.

    Returns
    -------
    Rows

    Raises
    ------
    ValueError
        If X and y have different lengths, X is not two-dimensional or has no rows, a column does not exist, a
        Parquet column is not numeric, Parquet files have different columns, or a parameter does not apply to
        the source.
    FileNotFoundError
        If no file exists or matches.
    TypeError
        If X has another type.
    ImportError
        If pyarrow or zarr is needed and not installed.

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
    _check_chunk_rows(chunk_rows)
    for name, given in (("X", X), ("y", y)):
        if hasattr(given, "__dask_graph__"):
            raise TypeError(
                f"{name} is a Dask collection, whose rows may come in another order each time; accepted: "
                f"X and y of Dask in streaming.fit, X in streaming.predict, or {name}.compute()."
            )
    if isinstance(X, str | os.PathLike):
        return _of_path(X, y, target, features, chunk_rows)
    if isinstance(X, list | tuple) and X and all(isinstance(each, str | os.PathLike) for each in X):
        _refuse("a list of Parquet files", y=y)
        return ParquetRows(parquet_files(X), target, features, chunk_rows)
    if type(X).__module__ == "pyarrow._dataset":
        _refuse("a dataset", y=y)
        return DatasetRows(X, target, features, chunk_rows)
    if hasattr(X, "shape"):
        return _of_shape(X, y, target, features, chunk_rows)
    if type(X).__module__.startswith("zarr."):
        _refuse("a Zarr group", y=y)
        return group_rows(X, target, features, chunk_rows, type(X).__name__)
    return _of_chunks(X, y, target, features, chunk_rows)


def _of_path(path, y, target, features, chunk_rows) -> Rows:
    name = os.fspath(path)
    if name.endswith(".npy"):
        _refuse(f"{name}, which holds one array", target=target, features=features)
        return ArrayRows(name, _array(y), chunk_rows)
    if is_zarr(name):
        store = opened(name)
        if hasattr(store, "shape"):
            _refuse(f"{name}, which holds one array", target=target, features=features)
            return ArrayRows(store, _array(y), chunk_rows)
        _refuse(f"{name}, which holds arrays by name", y=y)
        return group_rows(store, target, features, chunk_rows, name)
    if os.path.isfile(name) and not name.endswith(SUFFIXES):
        raise ValueError(
            f"{name} has no accepted format; accepted: .npy, .zarr, {', '.join(SUFFIXES)}, a "
            "folder of these and a pattern."
        )
    _refuse("Parquet files", y=y)
    return ParquetRows(parquet_files(name), target, features, chunk_rows)


def _of_shape(X, y, target, features, chunk_rows) -> Rows:
    if type(X).__name__ == "RecordBatch" and hasattr(X, "column_names"):
        from pyarrow import Table

        X = Table.from_batches([X])
    if hasattr(X, "columns"):
        return FrameRows(X, _array(y), target, features, chunk_rows)
    _refuse("an array", target=target, features=features)
    return ArrayRows(X, _array(y), chunk_rows)


def _array(y):
    """Targets as an array, read from a file if they are its name."""
    return opened(y) if isinstance(y, str | os.PathLike) and is_zarr(y) else y


def _of_chunks(X, y, target, features, chunk_rows) -> Rows:
    _refuse("chunks", y=y, target=target, features=features, chunk_rows=chunk_rows)
    if callable(X):
        return ChunkRows(X, repeatable=True)
    if isinstance(X, Iterator):
        return ChunkRows(lambda: X, repeatable=False)
    if isinstance(X, Iterable) and not hasattr(X, "keys"):
        return ChunkRows(lambda: iter(X), repeatable=True)
    raise TypeError(
        f"rows cannot come from {type(X).__name__}; accepted are an array, a path, a list of paths, a "
        "dataset, a Zarr group, a function that returns an iterator of chunks, and an iterator."
    )


def _refuse(what: str, **given) -> None:
    """Raise if parameters were given that do not apply to the source."""
    ways = {
        "an array": "y alone is accepted beside it",
        "chunks": "each chunk is X or a pair (X, y), cut as it comes",
    }
    for name, value in given.items():
        if value is not None:
            accepted = ways.get(what, "y is accepted" if name != "y" else "name the targets with target=")
            raise ValueError(f"{name}= was given with {what}; {accepted}.")


def _check_chunk_rows(chunk_rows) -> None:
    if chunk_rows is None:
        return
    if not isinstance(chunk_rows, Integral) or isinstance(chunk_rows, bool) or chunk_rows < 1:
        raise ValueError(f"chunk_rows={chunk_rows!r}; a number of rows, 1 or more, is accepted.")
