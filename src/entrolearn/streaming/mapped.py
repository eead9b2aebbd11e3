"""Arrays in files, of which only the current chunk is in memory.

Pages of a memory-mapped file that were read count as memory of the process until they are released. Files
given by path are therefore read and not mapped, which is also faster. For a user's memory map, pages are
released after each chunk.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path

import numpy as np

__all__ = ["MappedArray", "NpyFile", "file_map", "give_back"]


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
    """Release the pages of a map from memory; they are read again when accessed."""
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


class MappedArray:
    """A user's memory map, or a view of it."""

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
        """Read rows column by column, because in Fortran order each column is in other pages."""
        return np.column_stack([self._copy(self._array[rows, j]) for j in range(self.shape[1])])

    def _copy(self, numbers: np.ndarray) -> np.ndarray:
        copy = np.array(numbers, order="C")
        give_back(self._pages)
        return copy


class NpyFile:
    """A file written by ``numpy.save``.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file is not in this format, is truncated, or contains Python objects.
    """

    def __init__(self, path: Path):
        self._path = path
        array = _mapped(path)  # to read the header
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
        """`count` consecutive numbers from index `start`."""
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
        raise ValueError(f"{path} is not an array of numbers written by numpy.save: {error}.") from error
    if not isinstance(array, np.memmap):
        raise ValueError(f"{path} is not an array written by numpy.save, but {type(array).__name__}.")
    return array
