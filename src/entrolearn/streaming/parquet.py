"""Rows of Parquet files, and of whatever else pyarrow.dataset reads."""

import glob
import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from entrolearn.streaming.base import Rows, chunk_rows_for
from entrolearn.streaming.columns import features_of, listed, numbers_only, pick, targets_of
from entrolearn.streaming.extras import stream_extra

__all__ = ["SUFFIXES", "DatasetRows", "ParquetRows", "parquet_files"]

SUFFIXES = (".parquet", ".parq", ".pq")

# Read of each column at a time. Otherwise pyarrow holds whole row groups, by default of a million rows.
BUFFER_BYTES = 2**16


class _BatchedRows(Rows):
    """Rows that come as pyarrow's record batches, of the columns that are asked for."""

    _reads_ahead = True

    def _choose(self, schema, target, features, where: str, chunk_rows: int | None) -> None:
        self._features, self._target_names = pick(schema.names, target, features, where)
        numbers_only(schema, self._features)
        self.n_features, self.feature_names = len(self._features), self._features
        self.has_targets = bool(self._target_names)
        bits = sum(schema.field(name).type.bit_width for name in self._features)
        self.chunk_rows = chunk_rows or chunk_rows_for(bits / 8)

    @abstractmethod
    def _batches(self, columns: list[str]) -> Iterator:
        """All rows in order."""

    def _chunks(self) -> Iterator[tuple]:
        for table in _tables(self._batches(self._columns), self.chunk_rows):
            yield self._pair(table)

    def _targets(self) -> Iterator[np.ndarray]:
        for table in _tables(self._batches(self._target_names), self.chunk_rows):
            yield targets_of(table, self._target_names)

    @property
    def _columns(self) -> list[str]:
        return [*self._features, *self._target_names]

    def _pair(self, table) -> tuple:
        return features_of(table, self._features), targets_of(table, self._target_names)


class ParquetRows(_BatchedRows):
    """Rows of Parquet files, one after the other.

    Parameters
    ----------
    files : sequence of Path
    target, features
        As :func:`~entrolearn.streaming.rows` takes them.
    chunk_rows : int or None

    Raises
    ------
    ImportError
        If pyarrow is absent.
    ValueError
        If one of the files is no Parquet, has other columns than the first one, or all of them have no rows;
        if a column is missing, or a feature holds no numbers.

    Notes
    -----
    Beside some chunks, a page of each column that is read is in memory, in several forms, and its dictionary:
    some 3 MiB for each column of a file that was written with the defaults of pyarrow, however many rows it
    has. A row group is never held whole.
    """

    def __init__(self, files: Sequence[Path], target, features, chunk_rows: int | None):
        schemas, n_rows = zip(*map(_footer, files), strict=True)
        self._files = list(files)
        self._choose(schemas[0], target, features, str(files[0]), chunk_rows)
        checked = self._columns if features is not None else None
        for file, schema in zip(files[1:], schemas[1:], strict=True):
            _check_same(files[0], schemas[0], file, schema, checked)
        self.n_rows = sum(n_rows)
        if not self.n_rows:
            raise ValueError(f"{listed(files)}: no rows; at least one is accepted.")

    def _batches(self, columns: list[str]) -> Iterator:
        for path in self._files:
            with _opened(path) as file:
                yield from file.iter_batches(batch_size=self.chunk_rows, columns=columns)


class DatasetRows(_BatchedRows):
    """Rows of a dataset of pyarrow's: other formats, other places, columns from the names of folders.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
    target, features
        As :func:`~entrolearn.streaming.rows` takes them.
    chunk_rows : int or None

    Notes
    -----
    Here pyarrow decodes a row group of Parquet as a whole: a pass takes the memory of one of them.
    """

    def __init__(self, dataset, target, features, chunk_rows: int | None):
        self._dataset = dataset
        self._choose(dataset.schema, target, features, type(dataset).__name__, chunk_rows)
        kind = getattr(getattr(dataset, "format", None), "default_extname", "")
        self._is_parquet = kind == "parquet"
        # Text would have to be read.
        self.n_rows = dataset.count_rows() if self._is_parquet or not kind else None
        if self.n_rows == 0:
            raise ValueError(f"{type(dataset).__name__} has no rows; at least one is accepted.")

    def _batches(self, columns: list[str]) -> Iterator:
        from pyarrow.dataset import ParquetFragmentScanOptions

        options = {"use_buffered_stream": True, "buffer_size": BUFFER_BYTES, "pre_buffer": False}
        how = {"fragment_scan_options": ParquetFragmentScanOptions(**options)} if self._is_parquet else {}
        scanner = self._dataset.scanner(
            columns=columns, batch_size=self.chunk_rows, batch_readahead=1, fragment_readahead=1, **how
        )
        return scanner.to_batches()


def parquet_files(where) -> list[Path]:
    """The files that a path, a folder, a pattern or a list of them names, in order of their names.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    if not isinstance(where, str | os.PathLike):
        return [file for each in where for file in parquet_files(each)]
    path = Path(where)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if _is_data(file.relative_to(path)))
        if not files:
            raise FileNotFoundError(f"there is no file in {path} whose name ends in {' or '.join(SUFFIXES)}.")
        return files
    if path.is_file():
        return [path]
    if not glob.has_magic(str(where)):
        raise FileNotFoundError(f"there is no file {path}.")
    files = sorted(Path(found) for found in glob.glob(str(where), recursive=True))
    if not files:
        raise FileNotFoundError(f"no file matches {where}.")
    return [file for each in files for file in ([each] if each.is_file() else parquet_files(each))]


def _is_data(file: Path) -> bool:
    # Other programs leave notes beside their data, in files and folders with such names.
    return file.suffix in SUFFIXES and not any(part.startswith(("_", ".")) for part in file.parts)


def _opened(path: Path):
    with stream_extra("reading Parquet", "pyarrow"):
        import pyarrow
        from pyarrow.parquet import ParquetFile
    try:
        return ParquetFile(path, buffer_size=BUFFER_BYTES, pre_buffer=False)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} is no Parquet file: {str(error).splitlines()[0]}") from error


def _footer(path: Path) -> tuple:
    """What a file says of itself: its schema and how many rows it has."""
    with _opened(path) as file:
        return file.schema_arrow, file.metadata.num_rows


def _check_same(first: Path, expected, file: Path, schema, columns: list[str] | None) -> None:
    """Refuse a file whose columns are not those of the first one; of named columns, these alone count."""
    for name in columns or expected.names:
        if name not in schema.names:
            raise ValueError(
                f"{file} has no column {name!r}, which {first} has; files with the same columns are accepted."
            )
        if schema.field(name).type != expected.field(name).type:
            raise ValueError(
                f"{name!r} is {schema.field(name).type} in {file} and {expected.field(name).type} in "
                f"{first}; files with the same columns are accepted."
            )
    if columns is None and (more := [name for name in schema.names if name not in expected.names]):
        raise ValueError(
            f"{file} has columns that {first} has not: {listed(more)}; name the features that are in all "
            "files with features=."
        )


def _tables(batches: Iterable, size: int) -> Iterator:
    """Batches of any sizes as tables of one size; the last one may be smaller."""
    from pyarrow import Table

    held, n_held = [], 0
    for batch in batches:
        while n_held + batch.num_rows >= size:
            part = batch.slice(0, size - n_held)
            batch = batch.slice(size - n_held)
            table = Table.from_batches([*held, part])
            held, n_held = [], 0
            yield table
            del table, part
        if batch.num_rows:
            held.append(batch)
            n_held += batch.num_rows
    if held:
        yield Table.from_batches(held)
