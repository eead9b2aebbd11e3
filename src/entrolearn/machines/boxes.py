"""The box of the training rows, from which random hidden units are drawn."""

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

# Maximum number of rows to detect outliers; more rows are sampled, with the same random state for all seeds.
BOX_ROWS = 1024
# A value is an outlier, and not in the box, if its distance from the feature's median is more than FENCE
# times the median distance of the values on the same side. With 10, EEM has 86.1 % mean balanced accuracy on
# 34 data sets of the catalog, and 85.6 % with one added training row of 1e9. With minima and maxima it has
# 86.2 % and 53.9 %, with the 1 % and 99 % quantiles 86.0 % and 83.5 %.
FENCE = 10.0
# Minimum number of rows in a stream's first chunk to compute a box from. On the same data sets, the box of 2
# random rows gives 70.8 %, of 5 rows 84.6 %, of 10 rows 85.4 % and of 50 rows 85.8 %.
FEWEST_ROWS = 5
# Sums of weights are equal up to rounding if their relative difference is smaller.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Extent:
    """Minimum and maximum of each feature, shape (n_features,); extents of two sets of rows can be merged."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, X) -> "Extent":
        """Extent of the rows of X (at least one), as ndarray, CSR or an array of another library."""
        if is_numpy(X):
            low, high = X.min(axis=0), X.max(axis=0)
            if issparse(X):
                low, high = low.toarray().ravel(), high.toarray().ravel()
        else:
            xp = namespace(X)
            low, high = to_numpy(xp.min(X, axis=0)), to_numpy(xp.max(X, axis=0))
        return cls(low.astype(np.float64), high.astype(np.float64))

    def merge(self, other: "Extent") -> "Extent":
        """Extent of the union of both sets of rows."""
        return Extent(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


def box_sampler() -> np.random.RandomState:
    """Random state to sample the rows that detect outliers; independent of the seed of the units."""
    return np.random.RandomState(0)


def box_of_rows(extent: Extent, sample, dtype, weights: np.ndarray | None = None) -> np.ndarray:
    """Bounds of each feature: its smallest and largest value that is not an outlier.

    A value is an outlier if its distance from the median is more than `FENCE` times the median distance of
    the values on the same side. If the minimum or maximum of all rows is an outlier, the outermost value of
    the sample that is not an outlier is used. The bounds of a feature that varies only by rounding are equal.

    Parameters
    ----------
    extent : Extent
        Extent of all rows.
    sample : {ndarray, CSR}, shape (n_sampled, n_features)
    dtype : dtype
        Floating-point type of the hidden layer's input.
    weights : ndarray, shape (n_sampled,), optional
        Positive weights of the sample, for weighted medians. Default: all ones.

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
    low = -_upper_bounds(-extent.low, _SortedColumns(-sample, weights))
    high = _upper_bounds(extent.high, _SortedColumns(sample, weights))
    precision = np.finfo(dtype)
    noise = 16 * precision.eps * np.maximum(np.abs(low), np.abs(high)) + 1e4 * precision.tiny
    return np.stack([low, np.where(high - low > noise, high, low)])


def _upper_bounds(largest: np.ndarray, columns: "_SortedColumns") -> np.ndarray:
    n = columns.total
    median = columns.middle_at(n / 2)
    above = columns.weight_above(median)
    spread = columns.middle_at(n - above / 2) - median
    # If no values are above the median, there is no scale to detect outliers.
    fence = np.where(above > 0, median + FENCE * spread, np.inf)
    inside = (n - columns.weight_above(fence)) * (1 - ROUNDING)
    return np.where(largest <= fence, largest, columns.at(inside))


class _SortedColumns:
    """Order statistics of the columns of weighted rows, dense or CSR, without converting CSR to dense."""

    def __init__(self, rows, weights: np.ndarray | None):
        n_rows, n_columns = rows.shape
        self._each = None  # the weight of each value
        if issparse(rows):
            columns = rows.tocsc()
            self._column = np.repeat(np.arange(n_columns), np.diff(columns.indptr))
            order = np.lexsort((columns.data, self._column))
            self._values = columns.data.astype(np.float64)[order]
            self._start = columns.indptr[:-1].astype(np.int64)
            if weights is not None:
                self._each = weights[columns.indices][order]
        else:
            self._column = np.repeat(np.arange(n_columns), n_rows)
            self._start = np.arange(n_columns) * n_rows
            if weights is None:
                self._values = np.sort(rows.astype(np.float64), axis=0).T.ravel()
            else:
                order = np.argsort(rows, axis=0)
                self._values = np.take_along_axis(rows.astype(np.float64), order, axis=0).T.ravel()
                self._each = weights[order].T.ravel()
        self.total = n_rows if weights is None else weights.sum()
        self._last = np.append(self._start[1:], len(self._values)) - 1
        self._negative = self._weight(self._values < 0)
        full = self._last - self._start + 1 == n_rows
        self._zero = np.where(full, 0, self.total - self._weight(slice(None)))

    def _weight(self, which) -> np.ndarray:
        each = None if self._each is None else self._each[which]
        return np.bincount(self._column[which], each, minlength=len(self._start))

    def weight_above(self, bounds: np.ndarray) -> np.ndarray:
        """Total weight of the values of each column that are larger than its bound."""
        zeros = np.where(bounds < 0, self._zero, 0)
        return zeros + self._weight(self._values > bounds[self._column])

    def middle_at(self, weight) -> np.ndarray:
        """The value at this cumulative weight, or the mean of two values if it is between them."""
        return (self.at(weight * (1 - ROUNDING)) + self.at(weight * (1 + ROUNDING))) / 2

    def at(self, weight) -> np.ndarray:
        """The smallest value of each column with a larger cumulative weight; the maximum if there is none."""
        weight = np.minimum(np.broadcast_to(weight, self._start.shape), self.total * (1 - ROUNDING))
        before, after = weight < self._negative, weight >= self._negative + self._zero
        weight = weight - np.where(after, self._zero, 0)
        if self._each is None:
            place = self._start + weight.astype(np.int64)
        else:
            cumulative = np.concatenate([[0.0], np.cumsum(self._each)])
            place = np.searchsorted(cumulative[1:], cumulative[self._start] + weight, side="right")
            place = np.clip(place, self._start, self._last)
        values = np.zeros(len(place))
        stored = before | after
        values[stored] = self._values[place[stored]]
        return values


def given_box(feature_range, n_features: int, name: str) -> np.ndarray:
    """A user's ``feature_range``, a pair or an array, as an array of shape (2, n_features).

    Raises
    ------
    ValueError
        If it has another shape or is not finite, or a lower bound is above its upper bound.
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
        "needs to compute the bounds of the features; the features are not scaled. Give feature_range, or "
        "a longer first chunk.",
        stacklevel=5,
    )
