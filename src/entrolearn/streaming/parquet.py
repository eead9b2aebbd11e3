"""Rows of Parquet files and of pyarrow datasets."""

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

# Bytes of each column that are read at a time. By default pyarrow holds whole row groups, of a million rows.
BUFFER_BYTES = 2**16


class _BatchedRows(Rows):
    """Base class of rows that are read as record batches of pyarrow, for the requested columns."""

    _reads_ahead = True

    def _choose(self, schema, target, features, where: str, chunk_rows: int | None) -> None:
        self._features, self._target_names = pick(schema.names, target, features, where)
        numbers_only(schema, self._features)
        self.n_features, self.feature_names = len(self._features), self._features
        self.has_targets = bool(self._target_names)
        bits = sum(schema.field(name).type.bit_width for name in self._features)
        self.chunk_rows: int = chunk_rows or chunk_rows_for(bits / 8)

    @abstractmethod
    def _batches(self, columns: list[str]) -> Iterator:
        """All batches of rows in order."""

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
        See :func:`~entrolearn.streaming.rows`.
    chunk_rows : int or None

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    ValueError
        If a file is not a Parquet file or has other columns than the first one, there are no rows, a column
        is missing, or a feature is not numeric.

    Notes
    -----
    Besides a few chunks, memory is needed for one page of each column in several forms, and for its
    dictionary: about 3 MiB per column of a file written with pyarrow's defaults, for any number of rows. Row
    groups are not held as a whole.
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
    """Rows of a pyarrow dataset: other formats, other file systems, and columns from folder names.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
    target, features
        See :func:`~entrolearn.streaming.rows`.
    chunk_rows : int or None

    Notes
    -----
    pyarrow decodes whole row groups of a Parquet dataset, so that a pass needs the memory of one of them.
    """

    def __init__(self, dataset, target, features, chunk_rows: int | None):
        self._dataset = dataset
        self._choose(dataset.schema, target, features, type(dataset).__name__, chunk_rows)
        kind = getattr(getattr(dataset, "format", None), "default_extname", "")
        self._is_parquet = kind == "parquet"
        # Rows of text formats are counted only by reading them.
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
    """Files given by a path, a folder, a pattern or a list of these, sorted by name.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
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
    # Other programs write metadata into files and folders with such names.
    return file.suffix in SUFFIXES and not any(part.startswith(("_", ".")) for part in file.parts)


def _opened(path: Path):
    with stream_extra("reading Parquet", "pyarrow"):
        import pyarrow
        from pyarrow.parquet import ParquetFile
    try:
        return ParquetFile(path, buffer_size=BUFFER_BYTES, pre_buffer=False)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} is not a Parquet file: {str(error).splitlines()[0]}") from error


def _footer(path: Path) -> tuple:
    """Schema and number of rows of a file."""
    with _opened(path) as file:
        return file.schema_arrow, file.metadata.num_rows


def _check_same(first: Path, expected, file: Path, schema, columns: list[str] | None) -> None:
    """Raise if the columns of a file, or those that are named, differ from those of the first file."""
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
            f"{file} has columns that are not in {first}: {listed(more)}; name the features that are in all "
            "files with features=."
        )


def _tables(batches: Iterable, size: int) -> Iterator:
    """Batches of any size as tables of `size` rows; the last one may be smaller."""
    from pyarrow import Table

    held: list = []
    n_held = 0
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
