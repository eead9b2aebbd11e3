"""Sampling without replacement in one pass over the rows."""

from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse import vstack as stack_sparse

__all__ = ["MOST_PERMUTED", "Chosen", "Reservoir", "sample_of", "stacked"]

#: Maximum number of rows for which their permutation is kept in memory (1 GiB), as in an in-memory fit.
MOST_PERMUTED = 2**27


def sample_of(n_rows: int | None, size: int, rng: np.random.RandomState) -> "Chosen | Reservoir":
    """A sampler for streamed rows; if possible it draws the same rows as an in-memory fit.

    Parameters
    ----------
    n_rows : int or None
        Total number of rows; None if it is not known.
    size : int
        Size of the sample; all rows if there are fewer.
    rng : RandomState
    """
    if n_rows is None or n_rows > MOST_PERMUTED:
        return Reservoir(size, rng)
    return Chosen(rng.permutation(n_rows)[:size].copy())  # a view would keep them all


class Chosen:
    """A sample with known row numbers, collected from consecutive chunks.

    Parameters
    ----------
    places : ndarray of int, shape (n_places,)
        Row numbers without duplicates.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.streaming.sampling import Chosen
    >>> chosen = Chosen(np.array([4, 0]))
    >>> for chunk in np.split(np.arange(12).reshape(6, 2), 3):
    ...     chosen.offer(chunk)
    >>> chosen.rows()[0]
    array([[8, 9],
           [0, 1]])
    """

    def __init__(self, places: np.ndarray):
        self._order = np.argsort(places)
        self._sorted = places[self._order]
        self.picked: list[tuple] = []
        self.n_seen = 0

    def offer(self, *arrays) -> None:
        """The next rows of X, dense or CSR, and of other arrays to keep with them, such as y; or None."""
        start, self.n_seen = self.n_seen, self.n_seen + arrays[0].shape[0]
        first, last = np.searchsorted(self._sorted, [start, self.n_seen])
        if last > first:
            self.picked.append(_taken(arrays, self._sorted[first:last] - start))

    def part(self, number: int, start: int) -> "Chosen":
        """An empty sampler for the rows from `start` on."""
        part = copy(self)
        part.picked, part.n_seen = [], start
        return part

    def merge(self, other: "Chosen") -> "Chosen":
        """Merge with the sampler of later rows."""
        merged = copy(self)
        merged.picked = self.picked + other.picked
        return merged

    def rows(self) -> tuple:
        """The chosen rows of each array in the order of `places`."""
        return _taken(stacked(self.picked), np.argsort(self._order))


class Reservoir:
    """A random sample without replacement from rows of unknown number and any order.

    Each row gets a random key, and the rows with the smallest keys are kept. This is the reservoir of Vitter
    (1985) in the form of Efraimidis and Spirakis (2006) with equal weights. Reservoirs of disjoint sets of
    rows can be merged. The rows of a smaller reservoir are the first rows of a larger one.

    Parameters
    ----------
    size : int
        Number of rows to keep.
    rng : RandomState
        Random state of the keys.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.streaming.sampling import Reservoir
    >>> X = np.arange(20).reshape(10, 2)
    >>> reservoir = Reservoir(3, np.random.RandomState(0))
    >>> for chunk in (X[:6], X[6:]):
    ...     reservoir.offer(chunk)
    >>> reservoir.rows()[0].shape
    (3, 2)
    """

    def __init__(self, size: int, rng: np.random.RandomState):
        self.size = size
        self._rng = rng
        self.keys = np.empty(0)
        self.kept: tuple = ()

    def offer(self, *arrays) -> None:
        """The next rows of X, dense or CSR, and of other arrays to keep with them; or None."""
        keys = self._rng.random_sample(arrays[0].shape[0])
        if len(self.keys) == self.size:
            few = np.flatnonzero(keys < self.keys[-1])  # of a long stream hardly any
        else:
            few = np.argsort(keys)[: self.size]
        self.keep(keys[few], _taken(arrays, few))

    def part(self, number: int, start: int) -> "Reservoir":
        """An empty reservoir for the chunk with this number."""
        seeds = deepcopy(self._rng).randint(2**31, size=number + 1)
        return Reservoir(self.size, np.random.RandomState(seeds[-1]))

    def merge(self, other: "Reservoir") -> "Reservoir":
        """Merge with a reservoir of the same size from other rows."""
        if other.size != self.size:
            raise ValueError(f"reservoirs of {self.size} and of {other.size} rows cannot be merged.")
        merged = copy(self)
        if other.kept:
            merged.keep(other.keys, other.kept)
        return merged

    def keep(self, keys: np.ndarray, rows: tuple) -> None:
        """Keep those of these rows, and of those that are kept, that have the smallest keys."""
        if self.kept:
            keys, rows = np.concatenate([self.keys, keys]), stacked([self.kept, rows])
        least = np.argsort(keys, kind="stable")[: self.size]
        self.keys, self.kept = keys[least], _taken(rows, least)

    def rows(self) -> tuple:
        """The sampled rows of each array in the order of their keys; all if fewer were offered."""
        if not self.kept:
            raise ValueError("the reservoir was offered no rows.")
        return self.kept


def _taken(arrays: Sequence, places: np.ndarray) -> tuple:
    return tuple(None if array is None else array[places] for array in arrays)


def stacked(parts: Sequence[tuple]) -> tuple:
    """The concatenated rows of several chunks, for each of their arrays; CSR if any chunk is."""
    return tuple(map(_stacked, zip(*parts, strict=True)))


def _stacked(parts: Sequence) -> Any:
    if parts[0] is None:
        return None
    if not any(map(issparse, parts)):
        return np.concatenate(parts)
    return stack_sparse([part if issparse(part) else csr_array(part) for part in parts], "csr")
