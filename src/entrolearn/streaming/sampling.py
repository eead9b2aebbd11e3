"""Sampling without replacement in one pass over the rows."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse import vstack as stack_sparse

__all__ = ["MOST_PERMUTED", "Chosen", "Reservoir", "sample_of", "stack_rows"]

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
    >>> chosen.rows
    array([[8, 9],
           [0, 1]])
    """

    def __init__(self, places: np.ndarray):
        self._order = np.argsort(places)
        self._sorted = places[self._order]
        self._picked: list = []
        self._weights: list = []
        self._n_seen = 0

    def offer(self, X, weights: np.ndarray | None = None) -> None:
        """The next rows, shape (n_rows, n_features), dense or CSR, and their weights to keep with them."""
        stop = self._n_seen + X.shape[0]
        first, last = np.searchsorted(self._sorted, [self._n_seen, stop])
        if last > first:
            few = self._sorted[first:last] - self._n_seen
            self._picked.append(X[few])
            if weights is not None:
                self._weights.append(weights[few])
        self._n_seen = stop

    @property
    def rows(self):
        """The chosen rows in the order of `places`, shape (n_places, n_features)."""
        return stack_rows(self._picked)[np.argsort(self._order)]

    @property
    def weights(self) -> np.ndarray | None:
        """The weights of the rows; None if none were offered."""
        return np.concatenate(self._weights)[np.argsort(self._order)] if self._weights else None


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

    Attributes
    ----------
    n_seen : int
        Number of rows offered so far.
    weights : ndarray, shape (min(n_seen, size),), or None
        Weights of the rows; None if none were offered.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.streaming.sampling import Reservoir
    >>> X = np.arange(20).reshape(10, 2)
    >>> reservoir = Reservoir(3, np.random.RandomState(0))
    >>> for chunk in (X[:6], X[6:]):
    ...     reservoir.offer(chunk)
    >>> reservoir.rows.shape, reservoir.n_seen
    ((3, 2), 10)
    """

    def __init__(self, size: int, rng: np.random.RandomState):
        self.size = size
        self._rng = rng
        self.n_seen = 0
        self._keys = np.empty(0)
        self._rows = None
        self.weights: np.ndarray | None = None

    def offer(self, X, weights: np.ndarray | None = None) -> None:
        """The next rows, shape (n_rows, n_features), dense or CSR, and their weights to keep with them."""
        keys = self._rng.random_sample(X.shape[0])
        self.n_seen += X.shape[0]
        if len(self._keys) == self.size:
            few = np.flatnonzero(keys < self._keys[-1])  # of a long stream hardly any
        else:
            few = np.argsort(keys)[: self.size]
        self._take(keys[few], X[few], None if weights is None else weights[few])

    def merge(self, other: "Reservoir") -> "Reservoir":
        """Merge with a reservoir of the same size from other rows."""
        if other.size != self.size:
            raise ValueError(f"reservoirs of {self.size} and of {other.size} rows cannot be merged.")
        self.n_seen += other.n_seen
        if other._rows is not None:
            self._take(other._keys, other._rows, other.weights)
        return self

    def _take(self, keys: np.ndarray, rows, weights: np.ndarray | None) -> None:
        if self._rows is not None:
            keys = np.concatenate([self._keys, keys])
            rows = stack_rows([self._rows, rows])
            weights = None if weights is None else np.concatenate([self.weights, weights])
        kept = np.argsort(keys, kind="stable")[: self.size]
        self._keys, self._rows = keys[kept], rows[kept]
        self.weights = None if weights is None else weights[kept]

    @property
    def rows(self):
        """The sampled rows in the order of their keys, shape (min(n_seen, size), n_features)."""
        if self._rows is None:
            raise ValueError("the reservoir was offered no rows.")
        return self._rows


def stack_rows(parts: Sequence):
    """Concatenated rows of several chunks, dense or CSR; CSR if any chunk is."""
    if not any(map(issparse, parts)):
        return np.concatenate(parts)
    return stack_sparse([part if issparse(part) else csr_array(part) for part in parts], "csr")
