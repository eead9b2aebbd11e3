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

    def pieces(self, size: int) -> Iterator[np.ndarray]:
        """Consecutive rows, `size` of them at a time."""
        for start in range(0, self.shape[0], size):
            piece = np.array(self._array[start : start + size], order="C")
            give_back(self._pages)
            yield piece

    def take(self, wanted: np.ndarray) -> np.ndarray:
        """Rows by their numbers."""
        rows = np.array(self._array[wanted], order="C")
        give_back(self._pages)
        return rows


class NpyFile:
    """A file of :func:`numpy.save`.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If it is no such file, is shorter than it says, or holds Python objects.
    """

    def __init__(self, path: Path):
        self._path = path
        array = self._map()
        self.shape, self.dtype, self.unit = array.shape, array.dtype, 1
        self._offset = array.offset
        self._by_columns = not array.flags.c_contiguous

    def _map(self) -> np.memmap:
        if not self._path.is_file():
            raise FileNotFoundError(f"there is no file {self._path}.")
        try:
            array = np.load(self._path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ValueError(
                f"{self._path} is no array of numbers as numpy.save writes it: {error}."
            ) from error
        if not isinstance(array, np.memmap):
            raise ValueError(f"{self._path} is no array as numpy.save writes it, but {type(array).__name__}.")
        return array

    def pieces(self, size: int) -> Iterator[np.ndarray]:
        """Consecutive rows, `size` of them at a time."""
        if self._by_columns:  # no row stands in one place
            array = self._map()
            yield from MappedArray(array, file_map(array)).pieces(size)
            return
        with self._path.open("rb", buffering=0) as file:
            file.seek(self._offset)
            for start in range(0, self.shape[0], size):
                yield self._read(file, min(size, self.shape[0] - start))

    def _read(self, file, n_rows: int) -> np.ndarray:
        shape = (n_rows, *self.shape[1:])
        count = int(np.prod(shape))
        numbers = np.fromfile(file, self.dtype, count)
        if len(numbers) < count:
            raise ValueError(f"{self._path} has become shorter while it was being read.")
        return numbers.reshape(shape)

    def take(self, wanted: np.ndarray) -> np.ndarray:
        """Rows by their numbers."""
        return np.array(self._map()[wanted], order="C")
