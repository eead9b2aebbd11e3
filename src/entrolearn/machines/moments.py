"""What an entropic readout needs to know of a class, as one small object that adds up."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add, sub

import numpy as np

__all__ = ["ClassMoments", "PartMoments", "moments_by_group", "row_blocks"]

BLOCK_BYTES = 2**26
PILOT_ROWS = 256


class ClassMoments:
    """Additive sufficient statistics of the rows of one class in the hidden space.

    Holds the count, the sum and the sum of outer products of the rows and, for each of some leading sizes,
    the fourth-moment sums of Ledoit-Wolf shrinkage. Everything is a plain sum over rows, hence moments of
    disjoint sets of rows add, moments of a subset subtract, and a chunk of a stream is one update: one pass
    over the data serves every fold of a cross-validation. Everything about the first h units is a leading
    block: the same pass serves every size of the hidden layer.

    Parameters
    ----------
    n_hidden : int
        Number of hidden units.
    sizes : sequence of int, optional
        Leading sizes that :meth:`restrict` will be asked for. Default: `n_hidden` alone.
    shift : ndarray of shape (n_hidden,), optional
        Subtracted from every row before anything is summed (a pilot mean). Sums of squares of units that
        sit far from zero, as saturated sigmoids do near one, lose their digits without it. Only moments
        with the same shift can be combined. Default: zeros.
    dtype : dtype
        Of the sums.

    Attributes
    ----------
    n : int
        Number of rows.
    sizes : tuple of int
        The leading sizes, ascending; the last one is the number of units.

    Notes
    -----
    With ``a = ||x||^2`` over the first h units of a shifted row x, the sums are ``s = sum x``,
    ``G = sum x x^T``, ``A = sum a``, ``Q = sum a^2`` and ``v = sum a x``. With ``m = s / n`` and
    ``M = ||m||^2``, the one quantity of Ledoit and Wolf (2004) that is not a function of s and G is::

        sum ||x - m||^4 = Q + 4 m^T G m - 4 m^T v + 2 M A - 3 n M^2

    Examples
    --------
    >>> import numpy as np
    >>> H = np.random.default_rng(0).normal(size=(100, 5))
    >>> whole, fold = ClassMoments.from_data(H), ClassMoments.from_data(H[:10])
    >>> np.allclose((whole - fold).covariance(), np.cov(H[10:].T, ddof=0))
    True
    """

    def __init__(
        self,
        n_hidden: int,
        sizes: Sequence[int] | None = None,
        *,
        shift: np.ndarray | None = None,
        dtype=np.float64,
    ):
        self.sizes = tuple(sorted({int(size) for size in sizes})) if sizes else (int(n_hidden),)
        if self.sizes[-1] != n_hidden or self.sizes[0] < 1:
            raise ValueError(
                f"sizes must be positive and the largest must be n_hidden={n_hidden}, got {self.sizes}."
            )
        self.shift = np.zeros(n_hidden, dtype=dtype) if shift is None else np.asarray(shift, dtype=dtype)
        self.n = 0
        self._sum = np.zeros(n_hidden, dtype=dtype)
        self._outer = np.zeros((n_hidden, n_hidden), dtype=dtype)
        self._norm2 = np.zeros(len(self.sizes), dtype=dtype)  # A
        self._norm4 = np.zeros(len(self.sizes), dtype=dtype)  # Q
        self._norm2_row = [np.zeros(size, dtype=dtype) for size in self.sizes]  # v

    @classmethod
    def from_data(cls, H: np.ndarray, sizes: Sequence[int] | None = None, *, shift=None) -> "ClassMoments":
        """Moments of the rows of H, shape (n_samples, n_hidden)."""
        dtype = np.float32 if H.dtype == np.float32 else np.float64
        return cls(H.shape[1], sizes, shift=shift, dtype=dtype).update(H)

    def update(self, H: np.ndarray) -> "ClassMoments":
        """Add the rows of H, shape (n_samples, n_hidden), in place."""
        if H.shape[1] != len(self._sum):
            raise ValueError(f"rows have {H.shape[1]} hidden units, the moments have {len(self._sum)}.")
        X = H - self.shift
        self.n += len(X)
        self._sum += X.sum(axis=0)
        self._outer += X.T @ X  # numpy sees the transpose and calls BLAS syrk
        starts = (0, *self.sizes[:-1])
        norm2 = np.cumsum(np.add.reduceat(X * X, starts, axis=1), axis=1)  # ||x||^2 per row and size
        self._norm2 += norm2.sum(axis=0)
        self._norm4 += np.einsum("ij,ij->j", norm2, norm2)
        for k, size in enumerate(self.sizes):
            self._norm2_row[k] += norm2[:, k] @ X[:, :size]
        return self

    def __add__(self, other: "ClassMoments") -> "ClassMoments":
        return self._combine(other, 1)

    def __sub__(self, other: "ClassMoments") -> "ClassMoments":
        return self._combine(other, -1)

    def _combine(self, other: "ClassMoments", sign: int) -> "ClassMoments":
        if self.sizes != other.sizes or not np.array_equal(self.shift, other.shift):
            raise ValueError("only moments with the same sizes and the same shift can be combined.")
        result = self._like(len(self._sum), self.sizes)
        result.n = self.n + sign * other.n
        result._sum = self._sum + sign * other._sum
        result._outer = self._outer + sign * other._outer
        result._norm2 = self._norm2 + sign * other._norm2
        result._norm4 = self._norm4 + sign * other._norm4
        result._norm2_row = [
            mine + sign * theirs for mine, theirs in zip(self._norm2_row, other._norm2_row, strict=True)
        ]
        return result

    def _like(self, n_hidden: int, sizes: Sequence[int]) -> "ClassMoments":
        """An object to fill: nothing is allocated that is about to be replaced."""
        result = object.__new__(ClassMoments)
        result.sizes = tuple(sizes)
        result.shift = self.shift[:n_hidden]
        return result

    def restrict(self, h: int) -> "ClassMoments":
        """Moments of the first h units, a view: h must be one of `sizes`."""
        if h not in self.sizes:
            raise ValueError(f"no sums were kept for the first {h} units; sizes kept: {self.sizes}.")
        k = self.sizes.index(h) + 1
        result = self._like(h, self.sizes[:k])
        result.n, result._sum, result._outer = self.n, self._sum[:h], self._outer[:h, :h]
        result._norm2, result._norm4 = self._norm2[:k], self._norm4[:k]
        result._norm2_row = self._norm2_row[:k]
        return result

    @property
    def mean(self) -> np.ndarray:
        """Mean of the rows, shape (n_hidden,)."""
        return self.shift + self._sum / self.n

    @property
    def sum(self) -> np.ndarray:
        """Sum of the rows, shape (n_hidden,)."""
        return self.n * self.shift + self._sum

    def second_moment(self) -> np.ndarray:
        """Sum of the outer products of the rows, shape (n_hidden, n_hidden)."""
        cross = np.outer(self.shift, self._sum)
        return self._outer + cross + cross.T + self.n * np.outer(self.shift, self.shift)

    def covariance(self) -> np.ndarray:
        """Maximum likelihood covariance (divided by n), shape (n_hidden, n_hidden)."""
        mean = self._sum / self.n
        return self._outer / self.n - np.outer(mean, mean)

    def ledoit_wolf(self) -> tuple[np.ndarray, float]:
        """Covariance shrunk towards a multiple of the identity, and the shrinkage in [0, 1].

        Ledoit and Wolf (2004), "A well-conditioned estimator for large-dimensional covariance matrices".
        Equal to :func:`sklearn.covariance.ledoit_wolf` on the rows themselves.
        """
        covariance = self.covariance()
        n, p = self.n, len(covariance)
        scale = np.trace(covariance) / p
        spread = np.vdot(covariance, covariance) / p - scale**2  # ||S - scale I||^2 / p
        error = (self._centred_norm4() / n / p - np.vdot(covariance, covariance) / p) / n
        # Rounding can push either a hair below zero when all rows agree.
        shrinkage = 0.0 if min(error, spread) <= 0 else float(min(error / spread, 1.0))
        return _shrink(covariance, shrinkage, scale), shrinkage

    def _centred_norm4(self) -> float:
        """Sum of ||x - mean||^4 over the rows (see Notes)."""
        mean = self._sum / self.n
        mean2 = mean @ mean
        return float(
            self._norm4[-1]
            + 4 * mean @ self._outer @ mean
            - 4 * mean @ self._norm2_row[-1]
            + 2 * mean2 * self._norm2[-1]
            - 3 * self.n * mean2**2
        )

    def oas(self) -> tuple[np.ndarray, float]:
        """Covariance shrunk by the oracle approximating formula, and the shrinkage.

        Chen, Wiesel, Eldar and Hero (2010), eq. (23) as scikit-learn's :class:`~sklearn.covariance.OAS`
        reads it.
        """
        covariance = self.covariance()
        n, p = self.n, len(covariance)
        scale = np.trace(covariance) / p
        mean_square = np.vdot(covariance, covariance) / p**2
        excess = (n + 1) * (mean_square - scale**2 / p)
        shrinkage = 1.0 if excess <= 0 else float(min((mean_square + scale**2) / excess, 1.0))
        return _shrink(covariance, shrinkage, scale), shrinkage


def _shrink(covariance: np.ndarray, shrinkage: float, scale: float) -> np.ndarray:
    covariance *= 1 - shrinkage
    covariance.flat[:: len(covariance) + 1] += shrinkage * scale
    return covariance


def moments_by_group(
    layer: Callable, X, group: np.ndarray, n_groups: int, sizes: Sequence[int] | None = None
) -> list[ClassMoments]:
    """Moments of each group of rows in one pass over X, the layer's output never held whole.

    Parameters
    ----------
    layer : callable
        Maps rows of X to an array of shape (n_rows, n_hidden).
    X : {ndarray, CSR}, shape (n_samples, n_features)
    group : ndarray of int, shape (n_samples,)
        The group of each row, from 0 to n_groups - 1: a class, or a class within a fold.
    n_groups : int
    sizes : sequence of int, optional
        Leading sizes to keep sums for.

    Returns
    -------
    list of n_groups ClassMoments
        All with one shift, the mean of the first rows, so that they can be combined.
    """
    pilot = layer(X[:PILOT_ROWS])
    shift, n_hidden = pilot.mean(axis=0), pilot.shape[1]
    moments = [ClassMoments(n_hidden, sizes, shift=shift, dtype=pilot.dtype) for _ in range(n_groups)]
    for block in row_blocks(X.shape[0], n_hidden):
        H = layer(X[block])
        for g in np.unique(group[block]):
            moments[g].update(H[group[block] == g])
    return moments


class PartMoments:
    """Moments of every class on every training set of a partition, from one pass over the data.

    A training set is everything without the parts that it leaves out: totals minus a few summands.

    Parameters
    ----------
    layer : callable
    X : {ndarray, CSR}, shape (n_samples, n_features)
    codes : ndarray of int, shape (n_samples,)
        Class of each row, from 0 to n_classes - 1.
    n_classes : int
    part : ndarray of int, shape (n_samples,)
        Part of each row.
    sizes : sequence of int
    """

    def __init__(self, layer, X, codes, n_classes, part, sizes):
        self.parts, part_codes = np.unique(part, return_inverse=True)
        flat = moments_by_group(layer, X, part_codes * n_classes + codes, len(self.parts) * n_classes, sizes)
        self._by_class = [flat[c::n_classes] for c in range(n_classes)]  # each a list over parts
        self._totals = [reduce(add, moments) for moments in self._by_class]

    def without(self, left_out: Sequence[int]) -> list[ClassMoments]:
        """Moments of each class on all rows outside the parts `left_out`."""
        held = np.flatnonzero(np.isin(self.parts, left_out))
        return [
            reduce(sub, [moments[i] for i in held], total)
            for moments, total in zip(self._by_class, self._totals, strict=True)
        ]


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices that cut rows of n_columns doubles into blocks of about BLOCK_BYTES."""
    step = max(1, BLOCK_BYTES // (8 * max(1, n_columns)))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
