"""Arrays in files, of which no more is in memory than is being read.

Pages of a mapped file that have been read count as the process's memory until they are given back. A file
that is named is read, not mapped, which is faster too; of a map that someone else made, the pages are given
back after each chunk.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np

__all__ = ["MappedArray", "NpyFile", "file_map", "give_back"]


def file_map(array) -> mmap.mmap | None:
    """The map of a file in which an array, or the array that it is a view of, has its numbers.

    None where there is none, or where what was written to it is in memory alone.
    """
    while isinstance(array, np.ndarray):
        base = array.base
        if isinstance(base, mmap.mmap) and isinstance(array, np.memmap):
            return None if array.mode == "c" else base
        array = base
    return None


def give_back(pages: mmap.mmap | None) -> None:
    """Let go of the pages of a map that are in memory; the system reads them again when asked for."""
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


class MappedArray:
    """A memory map that someone holds, or a view of one."""

    def __init__(self, array: np.ndarray, pages: mmap.mmap):
        self._array, self._pages = array, pages
        self.shape, self.dtype, self.unit = array.shape, array.dtype, 1
        self._by_columns = array.ndim == 2 and array.strides[1] > array.strides[0]

    def pieces(self, size: int) -> Iterator[np.ndarray]:
        """Consecutive rows, `size` of them at a time."""
        for start in range(0, self.shape[0], size):
            rows = slice(start, min(start + size, self.shape[0]))
            yield self._columns(rows) if self._by_columns else self._copy(self._array[rows])

    def _columns(self, rows: slice | np.ndarray) -> np.ndarray:
        """Rows, one column after the other: each stands in a place of its own and brings pages around it."""
        return np.column_stack([self._copy(self._array[rows, j]) for j in range(self.shape[1])])

    def _copy(self, numbers: np.ndarray) -> np.ndarray:
        copy = np.array(numbers, order="C")
        give_back(self._pages)
        return copy


class NpyFile:
    """A file of ``numpy.save``.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If it is no such file, is shorter than it says, or holds Python objects.
    """

    def __init__(self, path: Path):
        self._path = path
        array = _mapped(path)  # for what its head says
        self.shape, self.dtype, self.unit = array.shape, array.dtype, 1
        self._offset = array.offset
        self._by_columns = not array.flags.c_contiguous

    def pieces(self, size: int) -> Iterator[np.ndarray]:
        """Consecutive rows, `size` of them at a time."""
        with self._path.open("rb", buffering=0) as file:
            for start in range(0, self.shape[0], size):
                yield self._rows(file, start, min(size, self.shape[0] - start))

    def _rows(self, file, start: int, n_rows: int) -> np.ndarray:
        if not self._by_columns:
            width = int(np.prod(self.shape[1:]))
            return self._numbers(file, start * width, n_rows * width).reshape(n_rows, *self.shape[1:])
        rows = np.empty((n_rows, self.shape[1]), self.dtype)
        for j in range(self.shape[1]):
            rows[:, j] = self._numbers(file, j * self.shape[0] + start, n_rows)
        return rows

    def _numbers(self, file, start: int, count: int) -> np.ndarray:
        """So many consecutive numbers from the one with this index."""
        file.seek(self._offset + start * self.dtype.itemsize)
        numbers = np.fromfile(file, self.dtype, count)
        if len(numbers) < count:
            raise ValueError(f"{self._path} has become shorter while it was being read.")
        return numbers


def _mapped(path: Path) -> np.memmap:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} is no array of numbers as numpy.save writes it: {error}.") from error
    if not isinstance(array, np.memmap):
        raise ValueError(f"{path} is no array as numpy.save writes it, but {type(array).__name__}.")
    return array
