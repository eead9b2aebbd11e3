"""The box of the training rows, in which random hidden units are drawn."""

from dataclasses import dataclass
from warnings import warn

import numpy as np
from scipy.sparse import issparse

from entrolearn.machines.devices import namespace
from entrolearn.validation import StrOptions, is_numpy, to_numpy

__all__ = [
    "BOX_ROWS",
    "FEATURE_RANGE",
    "FEWEST_ROWS",
    "Extent",
    "box_of_rows",
    "box_sampler",
    "given_box",
    "warn_few_rows",
]

#: Constraints of the parameter ``feature_range``.
FEATURE_RANGE = [StrOptions({"data"}), "array-like", None]

# Rows that tell which values are far out; those of more rows are drawn at random, the same for every seed.
BOX_ROWS = 1024
# Values further from the median of a feature than so many times the median distance of the values on their
# side are no part of the box. With 10 the extreme entropy machine reaches 86.1 % mean balanced accuracy over
# 34 sets of the catalog, and 85.6 % with one training row of 1e9; with minima and maxima 86.2 % and 53.9 %,
# with the 1 % and 99 % quantiles 86.0 % and 83.5 %.
FENCE = 10.0
# Of a stream's first chunk, below which its box says too little. On the same sets the box of 2 random rows
# gives 70.8 %, of 5 84.6 %, of 10 85.4 %, of 50 85.8 %.
FEWEST_ROWS = 5


@dataclass(frozen=True)
class Extent:
    """Least and largest value of each feature of some rows, shape (n_features,); of two sets they merge."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, X) -> "Extent":
        """Of the rows of X, at least one: dense, CSR or an array of another library."""
        if is_numpy(X):
            low, high = X.min(axis=0), X.max(axis=0)
            if issparse(X):
                low, high = low.toarray().ravel(), high.toarray().ravel()
        else:
            xp = namespace(X)
            low, high = to_numpy(xp.min(X, axis=0)), to_numpy(xp.max(X, axis=0))
        return cls(low.astype(np.float64), high.astype(np.float64))

    def merge(self, other: "Extent") -> "Extent":
        """Of the rows of both."""
        return Extent(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


def box_sampler() -> np.random.RandomState:
    """What draws the rows that tell which values are far out: the same ones whatever seed the units have."""
    return np.random.RandomState(0)


def box_of_rows(extent: Extent, sample, dtype) -> np.ndarray:
    """Bounds of each feature: its least and largest value that is not far out.

    A value is far out if it is more than `FENCE` times further from the median than the median of the values
    on its side. A bound of all rows that is not far out stands; otherwise the outermost value of the sample
    that is not takes its place. Bounds of a feature that does not vary by more than rounding are equal.

    Parameters
    ----------
    extent : Extent
        Of all rows.
    sample : {ndarray, CSR}, shape (n_sampled, n_features)
    dtype : dtype
        The precision in which the rows are computed.

    Returns
    -------
    ndarray, shape (2, n_features)
        Lower and upper bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.machines.boxes import Extent, box_of_rows
    >>> X = np.array([[0.0, 7.0], [1.0, 7.0], [2.0, 7.0], [3.0, 7.0], [4.0, 7.0], [5.0, 7.0], [1e9, 7.0]])
    >>> box_of_rows(Extent.of(X), X, np.float64)
    array([[0., 7.],
           [5., 7.]])
    """
    low = -_upper_bounds(-extent.low, _SortedColumns(-sample))
    high = _upper_bounds(extent.high, _SortedColumns(sample))
    precision = np.finfo(dtype)
    noise = 16 * precision.eps * np.maximum(np.abs(low), np.abs(high)) + 1e4 * precision.tiny
    return np.stack([low, np.where(high - low > noise, high, low)])


def _upper_bounds(largest: np.ndarray, columns: "_SortedColumns") -> np.ndarray:
    n = columns.n_rows
    median = (columns.at((n - 1) // 2) + columns.at(n // 2)) / 2
    above = columns.count_above(median)
    some = above > 0  # elsewhere nothing tells how far the values above reach
    spread = (columns.at(n - 1 - (above - some) // 2) + columns.at(n - 1 - above // 2)) / 2 - median
    fence = np.where(some, median + FENCE * spread, np.inf)
    inside = n - columns.count_above(fence) - 1
    return np.where(largest <= fence, largest, columns.at(inside))


class _SortedColumns:
    """Order statistics of the columns of some rows, dense or CSR, which are not made dense."""

    def __init__(self, rows):
        self.n_rows, n_columns = rows.shape
        if issparse(rows):
            columns = rows.tocsc()
            self._column = np.repeat(np.arange(n_columns), np.diff(columns.indptr))
            self._values = columns.data.astype(np.float64)[np.lexsort((columns.data, self._column))]
            self._start = columns.indptr[:-1].astype(np.int64)
            self._n_stored = np.diff(columns.indptr)
        else:
            self._column = np.repeat(np.arange(n_columns), self.n_rows)
            self._values = np.sort(rows.astype(np.float64), axis=0).T.ravel()
            self._start = np.arange(n_columns) * self.n_rows
            self._n_stored = np.full(n_columns, self.n_rows)
        self._n_negative = self._count(self._values < 0)

    def _count(self, which: np.ndarray) -> np.ndarray:
        return np.bincount(self._column[which], minlength=len(self._start))

    def count_above(self, bounds: np.ndarray) -> np.ndarray:
        """How many values of each column are larger than its bound."""
        zeros = np.where(bounds < 0, self.n_rows - self._n_stored, 0)
        return zeros + self._count(self._values > bounds[self._column])

    def at(self, rank) -> np.ndarray:
        """The value of this rank, from 0, in each column; `rank` is one number or one for each."""
        n_zeros = self.n_rows - self._n_stored
        rank = np.broadcast_to(rank, self._start.shape)
        before, after = rank < self._n_negative, rank >= self._n_negative + n_zeros
        place = self._start + np.where(after, rank - n_zeros, rank)
        values = np.zeros(len(place))
        stored = before | after
        values[stored] = self._values[place[stored]]
        return values


def given_box(feature_range, n_features: int, name: str) -> np.ndarray:
    """Bounds that a user gave, a pair or an array of shape (2, n_features), as the latter.

    Raises
    ------
    ValueError
        If they are of another shape, are not finite, or a lower one is above its upper one.
    """
    accepted = f"{name} accepts 'data', None, a pair (low, high) or an array of shape (2, {n_features})"
    try:
        bounds = to_numpy(feature_range) if hasattr(feature_range, "__dlpack__") else feature_range
        bounds = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"feature_range={feature_range!r} holds no numbers; {accepted}.") from None
    if bounds.shape not in {(2,), (2, n_features)}:
        raise ValueError(f"feature_range has shape {bounds.shape}; {accepted}.")
    if not np.isfinite(bounds).all() or (bounds[0] > bounds[1]).any():
        raise ValueError(f"feature_range={feature_range!r} holds no finite bounds, low <= high; {accepted}.")
    return np.broadcast_to(bounds.reshape(2, -1), (2, n_features)).copy()


def warn_few_rows(n_rows: int, name: str) -> None:
    """Warn that a stream's first chunk is too short for a box."""
    warn(
        f"{name}: the first chunk has {n_rows} rows, fewer than the {FEWEST_ROWS} that feature_range='data' "
        "takes the bounds of the features from; the features are taken as they are. Give feature_range, or "
        "a longer first chunk.",
        stacklevel=5,
    )
