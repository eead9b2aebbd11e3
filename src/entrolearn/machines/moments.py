"""Class moments in the hidden space: additive sufficient statistics of the readouts."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from operator import iadd
from typing import Any

import numpy as np

from entrolearn.kernels import check_memory
from entrolearn.machines.devices import (
    add_outer_product,
    add_to_diagonal,
    cast,
    copied,
    like,
    mirrored,
    namespace,
    plus_products,
    rows_of_groups,
    sum_of_squares,
    sums_like,
    symmetric_product,
    take_rows,
    zeros,
)
from entrolearn.machines.sums import LEAST_SHARE, ROUNDINGS, WRONG_SHARE, GroupSums, PartSums, Sums
from entrolearn.validation import array_namespace, has_double, is_numpy, to_numpy

__all__ = [
    "FEWER_UNITS",
    "PILOT_ROWS",
    "ClassMoments",
    "check_units",
    "hidden_blocks",
    "moments_by_group",
    "moments_of_parts",
    "no_moments",
    "pilot_means",
    "rounded_mean",
    "row_blocks",
    "rows_of_groups",
]

# Numbers in a block of hidden rows (8 or 16 MiB). A block fits into the processor's cache, and has enough
# rows for a symmetric rank-k update at full speed.
BLOCK_NUMBERS = 2**21
# Numbers in a block on an accelerator (256 MiB in single precision). In blocks of this size, the matrix
# product takes much longer than launching kernels and adding to the sums in memory.
DEVICE_NUMBERS = 2**26
# Maximum number of rows of a block on an accelerator. On one without double precision, products within a
# block are summed in single precision.
DEVICE_ROWS = 2**16
CPU = 1  # DLPack device type
PILOT_ROWS = 256
# Number of n_hidden x n_hidden matrices that the solver needs, besides those of the groups.
SOLUTION_SQUARES = 3

FEWER_UNITS = "take fewer of them"


class ClassMoments(Sums):
    """Additive sufficient statistics of the rows of one class in the hidden space.

    They are the count, the sum and the sum of outer products of the rows and, for each of some leading sizes,
    the fourth-moment sums of Ledoit-Wolf shrinkage. All are plain sums over rows. Moments of disjoint sets of
    rows can therefore be added, moments of a subset subtracted, and a chunk of a stream added as an update.
    One pass over the data is enough for all folds of a cross-validation, and also for all sizes of the hidden
    layer, because the moments of the first h units are a leading block.

    Parameters
    ----------
    n_hidden : int
        Number of hidden units.
    sizes : sequence of int, optional
        Leading sizes to be used with :meth:`restrict`. Default: only `n_hidden`.
    shift : ndarray of shape (n_hidden,), optional
        Pilot mean, subtracted from every row before summation. Without it, sums of squares of units far from
        zero, such as saturated sigmoids, lose digits. Only moments with the same shift can be combined. The
        sums are arrays of the same library and on the same device as the shift. Default: zeros.

    Attributes
    ----------
    n : int or float
        Number of rows, or the sum of their weights.
    sizes : tuple of int
        The leading sizes, ascending; the last one is the number of units.

    Notes
    -----
    With ``a = ||x||^2`` over the first h units of a shifted row x, the sums are ``s = sum x``,
    ``G = sum x x^T``, ``A = sum a``, ``Q = sum a^2`` and ``v = sum a x``. With ``m = s / n`` and
    ``M = ||m||^2``, the one quantity of Ledoit and Wolf (2004) that is not a function of s and G is::

        sum ||x - m||^4 = Q + 4 m^T G m - 4 m^T v + 2 M A - 3 n M^2

    A row of weight w counts as w rows.

    Rows in single precision are multiplied in single precision, at twice the speed, and summed over blocks
    of rows in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.machines import ClassMoments
    >>> H = np.random.default_rng(0).normal(size=(100, 5))
    >>> whole, fold = ClassMoments.from_data(H), ClassMoments.from_data(H[:10])
    >>> np.allclose((whole - fold).covariance(), np.cov(H[10:].T, ddof=0))
    True
    """

    names = ("outer", "sum", "norm2", "norm4", "norm2_row")
    shift_names = ("shift",)

    def __init__(
        self, n_hidden: int, sizes: Collection[int] | None = None, *, shift: np.ndarray | None = None
    ):
        self.sizes = tuple(sorted({int(size) for size in sizes})) if sizes else (int(n_hidden),)
        if self.sizes[-1] != n_hidden or self.sizes[0] < 1:
            raise ValueError(
                f"sizes must be positive and the largest must be n_hidden={n_hidden}, got {self.sizes}."
            )
        shift = np.zeros(n_hidden) if shift is None else shift
        check_units(n_hidden, 1, shift)
        self.n = self.n_added = self.squares_of_weights = 0
        self._sum = zeros(n_hidden, shift)
        self.shifts = (cast(shift, self._sum),)
        self._outer = zeros((n_hidden, n_hidden), shift, "F")  # G, its lower triangle
        self._norm2 = zeros(len(self.sizes), shift)  # A
        self._norm4 = zeros(len(self.sizes), shift)  # Q
        self._norm2_row = zeros((len(self.sizes), n_hidden), shift)  # v

    @property
    def shift(self) -> np.ndarray:
        """The pilot mean."""
        return self.shifts[0]

    @classmethod
    def from_data(
        cls, H: np.ndarray, sizes: Collection[int] | None = None, *, shift: np.ndarray | None = None
    ) -> "ClassMoments":
        """Moments of the rows of H, shape (n_samples, n_hidden)."""
        shift = zeros(H.shape[1], sums_like(H)) if shift is None else shift
        return cls(H.shape[1], sizes, shift=shift).update(H)

    def update(self, H: np.ndarray) -> "ClassMoments":
        """Add the rows of H, shape (n_samples, n_hidden), in place.

        Raises
        ------
        ValueError
            If the number of columns of H is not the number of units.
        """
        n_hidden = self._sum.shape[0]
        if H.ndim != 2 or H.shape[1] != n_hidden:
            raise ValueError(f"the moments have {n_hidden} hidden units, got rows of shape {tuple(H.shape)}.")
        if is_numpy(H):
            H = np.asarray(H, dtype=np.float32 if H.dtype == np.float32 else np.float64)
        for block in row_blocks(H, n_hidden):
            rows = take_rows(H, block) - (self.shift if has_double(H) else cast(self.shift, H))
            self._add(rows.astype(H.dtype, order="C", copy=False) if is_numpy(H) else rows)
        return self

    def _add(self, X, weights: np.ndarray | None = None) -> None:
        """Add shifted rows, shape (n_rows, n_hidden); NumPy arrays must be C-contiguous."""
        self._count(X.shape[0], weights)
        xp, edges = namespace(X), pairwise((0, *self.sizes))
        if is_numpy(X):  # ||x||^2, one row for each size
            parts = [np.einsum("ij,ij->i", X[:, start:stop], X[:, start:stop]) for start, stop in edges]
            norm2 = np.cumsum(parts, axis=0)
        else:
            norms = xp.stack([xp.linalg.vector_norm(X[:, start:stop], axis=1) for start, stop in edges])
            norm2 = xp.cumulative_sum(norms * norms, axis=0)
        rooted, weighted, weighted_norm2 = X, X, norm2
        if weights is not None:
            weights = cast(weights, X)
            rooted, weighted = X * (weights**0.5)[:, None], X * weights[:, None]
            weighted_norm2 = norm2 * weights
        self._outer = plus_products(self._outer, rooted)
        double = {} if is_numpy(self._sum) else {"dtype": self._sum.dtype}
        if is_numpy(X):
            fourths = np.einsum("ij,ij->i", weighted_norm2, norm2), weighted_norm2 @ X
        else:  # a product with a vector reads X at full speed, one with a matrix of one row may not
            rows = [weighted_norm2[k, :] @ X for k in range(len(self.sizes))]
            fourths = xp.sum(weighted_norm2 * norm2, axis=1, **double), xp.stack(rows)
        sums: Any = xp.sum(weighted, axis=0, **double), xp.sum(weighted_norm2, axis=1, **double), *fourths
        if xp is not np:
            sums = [like(values, self._sum) for values in sums]
        for name, values in zip(("_sum", "_norm2", "_norm4", "_norm2_row"), sums, strict=True):
            setattr(self, name, iadd(getattr(self, name), values))

    @staticmethod
    def _add_rows_to(groups, layer, X, targets, weights=None):
        n_hidden, of_groups = groups[0].shift.shape[0], rows_of_groups(like(targets, X), len(groups))
        for H, rows, group in hidden_blocks(layer, X, n_hidden, X.dtype, of_groups):
            if is_numpy(shift := groups[group].shift):
                H -= cast(shift, H)
            else:  # single precision minus double is double after one pass over the rows
                H = H - shift
            groups[group]._add(H, None if weights is None else weights[to_numpy(rows)])

    def about(self, shifts: tuple) -> "ClassMoments":
        """A copy with another shift, of shape (n_hidden,), in a tuple; only for NumPy arrays."""
        moments, step = self.copy(), self.shift - shifts[0]
        moments.shifts = shifts
        cross = np.outer(self._sum + self.n / 2 * step, step)
        moments._outer += np.tril(cross + cross.T)
        moments._sum += self.n * step
        for k, h in enumerate(self.sizes):
            leading = np.where(np.arange(len(step)) < h, step, 0.0)
            norm2, along = leading @ leading, leading @ self._sum
            row = symmetric_product(self._outer, leading)
            moments._norm2[k] += 2 * along + self.n * norm2
            moments._norm4[k] += 4 * (leading @ row + leading @ self._norm2_row[k] + norm2 * along)
            moments._norm4[k] += norm2 * (2 * self._norm2[k] + self.n * norm2)
            moments._norm2_row[k] += 2 * row + norm2 * self._sum + moments._norm2[k] * step
        return moments

    def _check_alike(self, other):
        if self.sizes != other.sizes:
            raise ValueError(f"moments of {self.sizes} units and of {other.sizes} cannot be combined.")
        super()._check_alike(other)

    def are_possible(self):
        if not super().are_possible():
            return False
        # With a = |x|², sum a is the trace of sum xx'. By the inequality of Cauchy and Schwarz, (sum a)² is
        # at most n sum a², and |sum a x|² at most (sum a²) (sum a).
        (norm2,), (norm4,), row = self._norm2, self._norm4, self._norm2_row[0]
        square, most = self.total_square(), (1 + WRONG_SHARE) * norm4
        trace = abs(norm2 - square) <= self.rounding()
        return trace and norm2**2 <= self.n * most and row @ row <= most * square

    def restrict(self, h: int) -> "ClassMoments":
        """Moments of the first h units, as a view; h must be one of `sizes`."""
        if h not in self.sizes:
            raise ValueError(f"no sums were kept for the first {h} units; sizes kept: {self.sizes}.")
        k = self.sizes.index(h) + 1
        sums = {
            "_sum": self._sum[:h],
            "_outer": self._outer[:h, :h],
            "_norm2": self._norm2[:k],
            "_norm4": self._norm4[:k],
            "_norm2_row": self._norm2_row[:k, :h],
        }
        leading = self._with(lambda array: array)
        vars(leading).update(sums, sizes=self.sizes[:k], shifts=(self.shift[:h],))
        return leading

    @property
    def n_rows(self) -> float:
        """Number of rows for shrinkage: the sum of weights or the number of rows, whichever is larger."""
        return max(self.n, self.n_added)

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
        cross = self.shift[:, None] * self._sum[None, :]
        shift2 = self.shift[:, None] * self.shift[None, :]
        return mirrored(self._outer) + cross + cross.T + self.n * shift2

    def covariance(self) -> np.ndarray:
        """Maximum likelihood covariance (divided by n), shape (n_hidden, n_hidden)."""
        mean = self._sum / self.n
        return mirrored(self._outer) / self.n - mean[:, None] * mean[None, :]

    def scatter(self) -> np.ndarray:
        """The covariance times n, as a new lower triangle that may be overwritten."""
        scatter = copied(self._outer, "F")
        add_outer_product(scatter, self._sum, -1 / self.n)
        return scatter

    def ledoit_wolf(self) -> tuple[np.ndarray, float]:
        """Covariance shrunk towards a multiple of the identity, and the shrinkage in [0, 1].

        Ledoit and Wolf (2004), "A well-conditioned estimator for large-dimensional covariance matrices".
        Equal to :func:`sklearn.covariance.ledoit_wolf` on the rows themselves.
        """
        shrinkage, covariance = self.ledoit_wolf_shrinkage(), self.covariance()
        covariance *= 1 - shrinkage
        return add_to_diagonal(covariance, shrinkage * self.mean_variance()), shrinkage

    def ledoit_wolf_shrinkage(self) -> float:
        """The shrinkage of :meth:`ledoit_wolf`, without forming a matrix."""
        n, p = self.n_rows, self._sum.shape[0]
        if n < 3:  # two rows have equal outer products about their mean, so no error can be estimated
            return 0.0
        norm, norm4 = self._centred_norms()
        spread = norm / p - self.mean_variance() ** 2  # ||S - scale I||^2 / p
        error = (norm4 / self.n / p - norm / p) / n
        # Rounding can make either slightly negative when all rows are equal.
        return 0.0 if min(error, spread) <= 0 else float(min(error / spread, 1.0))

    def oas_shrinkage(self) -> float:
        """Shrinkage by the oracle approximating formula, without forming a matrix.

        Chen, Wiesel, Eldar and Hero (2010), eq. (23), as implemented in scikit-learn's
        :class:`~sklearn.covariance.OAS`.
        """
        n, p = self.n_rows, self._sum.shape[0]
        scale = self.mean_variance()
        mean_square = self._centred_norms()[0] / p**2
        excess = (n + 1) * (mean_square - scale**2 / p)
        return 1.0 if excess <= 0 else float(min((mean_square + scale**2) / excess, 1.0))

    def mean_variance(self) -> float:
        """Mean of the units' variances: the diagonal of the covariance."""
        if self.n_rows == 1:  # avoids a nonzero rounding error
            return 0.0
        mean = self._sum / self.n
        return float((self.mean_square() - mean @ mean) / mean.shape[0])

    def mean_square(self) -> float:
        """Mean squared distance of the rows from the shift."""
        return self.total_square() / self.n

    def least_variance(self) -> float:
        """Smallest variance along a direction that is larger than the rounding error of the sums."""
        if self.n_rows == 1:
            return 0.0
        offset, about_shift = self._sum / self.n, self.mean_square()
        mean, total = self.shift + offset, max(about_shift - float(offset @ offset), 0.0)
        about_zero = total + float(mean @ mean)
        rounding = float(np.finfo(float).eps) * max(about_shift, (total * about_zero) ** 0.5)
        return max(LEAST_SHARE * total, ROUNDINGS * rounding)

    def add_covariance_to(self, total: np.ndarray, weight: float = 1.0) -> None:
        """Add a multiple of the covariance to the lower triangle of `total` (Fortran order), in place."""
        total += (weight / self.n) * self._outer
        add_outer_product(total, self._sum / self.n, -weight)

    def projected_covariance(self, coef: np.ndarray) -> np.ndarray:
        """``coef.T @ covariance @ coef``, with coef of shape (n_hidden, n_components)."""
        mean = coef.T @ (self._sum / self.n)
        return coef.T @ symmetric_product(self._outer, coef) / self.n - mean[:, None] * mean[None, :]

    def _centred_norms(self) -> tuple[float, float]:
        """Squared Frobenius norm of the covariance, and the sum of ||x - mean||^4, see Notes."""
        mean = self._sum / self.n
        mean2, along_mean = mean @ mean, float(mean @ symmetric_product(self._outer, mean))  # m^T G m
        diagonal = namespace(self._outer).linalg.diagonal(self._outer)
        outer2 = 2 * sum_of_squares(self._outer) - diagonal @ diagonal
        norm2 = outer2 / self.n**2 - 2 * along_mean / self.n + mean2**2
        norm4 = (
            self._norm4[-1]
            + 4 * along_mean
            - 4 * mean @ self._norm2_row[-1, :]
            + 2 * mean2 * self._norm2[-1]
            - 3 * self.n * mean2**2
        )
        return float(norm2), float(norm4)

    def norm4_without(self, S, d, square, along) -> np.ndarray:
        """Sum of the fourth powers of the other rows' distances from their mean, for each left-out row.

        Parameters
        ----------
        S : ndarray of shape (n_hidden, n_hidden)
            The covariance.
        d : ndarray of shape (n_rows, n_hidden)
            Offsets of the left-out rows from the mean.
        square, along : ndarray of shape (n_rows,)
            ``d'd`` and ``d'S d`` of each row.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        n, mean = self.n, self._sum / self.n
        rest, mean2 = n - 1, mean @ mean
        outer = n * (S @ mean + mean2 * mean)  # G mean
        third = self._norm2_row[-1] - 2 * outer + (2 * n * mean2 - self._norm2[-1]) * mean
        _, fourth = self._centred_norms()
        about = 4 * along * n / rest**2 + 4 * (d @ third) / rest + 2 * n * np.trace(S) * square / rest**2
        return fourth + about + n * (square / rest**2) ** 2 - (n / rest) ** 4 * square**2


def moments_by_group(
    layer: Callable,
    X,
    group: np.ndarray,
    n_groups: int,
    sizes: Collection[int] | None = None,
    shifts: np.ndarray | None = None,
) -> list[ClassMoments]:
    """Moments of each group of rows in one pass over X, block by block.

    Parameters
    ----------
    layer : callable
        Maps rows of X to an array of shape (n_rows, n_hidden); accepts an argument `out`.
    X : {ndarray, CSR}, shape (n_samples, n_features)
        Arrays of other libraries are also accepted; computations then run on their device.
    group : ndarray of int, shape (n_samples,)
        The group of each row, from 0 to n_groups - 1: a class, or a class within a fold.
    n_groups : int
    sizes : sequence of int, optional
        Leading sizes to keep sums for.
    shifts : ndarray of shape (n_groups, n_hidden), optional
        See :class:`ClassMoments`; groups whose moments will be combined need the same shift. Default: the
        mean of the first rows of each group.

    Returns
    -------
    list of n_groups ClassMoments
    """
    return no_moments(layer, X, group, n_groups, sizes, shifts).add_rows(layer, X, group).groups


def no_moments(
    layer: Callable,
    X,
    group: np.ndarray,
    n_groups: int,
    sizes: Collection[int] | None = None,
    shifts: np.ndarray | None = None,
) -> GroupSums:
    """Moments of zero rows for each group, with shifts from X; parameters as in :func:`moments_by_group`."""
    if shifts is None:
        shifts = pilot_means(layer, X, group, n_groups)
    return GroupSums(ClassMoments(shifts.shape[1], sizes, shift=shifts[g, :]) for g in range(n_groups))


def check_units(n_units: int, n_matrices: int, where) -> None:
    """Raise if matrices of n_units x n_units do not fit into memory beside the array `where`, if NumPy's.

    Raises
    ------
    MemoryError
        With the required and the available memory.
    """
    if not is_numpy(where):
        return
    size = f"{n_units} x {n_units} hidden units or landmarks"
    what = f"a matrix of {size}" if n_matrices == 1 else f"what {n_matrices} matrices of {size} hold"
    check_memory(8 * n_matrices * n_units**2, what, FEWER_UNITS)


def pilot_means(layer: Callable, X, group: np.ndarray, n_groups: int) -> np.ndarray:
    """The mean of the first rows of each group in the hidden space, shape (n_groups, n_hidden).

    For an empty group it is the mean of the first rows of X. The means have the layer's precision, so that
    they can be subtracted from its rows exactly.
    """
    n_hidden = layer(take_rows(X, slice(1))).shape[1]
    where = sums_like(X)
    check_units(n_hidden, n_groups + SOLUTION_SQUARES, where)
    means = zeros((n_groups, n_hidden), where)
    for g, rows in enumerate(rows_of_groups(like(group, X), n_groups)):
        n_rows = rows.shape[0]
        some = rows[: min(n_rows, PILOT_ROWS)] if n_rows else slice(min(X.shape[0], PILOT_ROWS))
        means[g, :] = like(rounded_mean(layer(take_rows(X, some))), where)
    return means


def rounded_mean(H):
    """The mean of rows, computed in double precision if available, rounded to their precision."""
    xp = array_namespace(H)
    mean = xp.mean(xp.astype(H, xp.float64 if has_double(H) else H.dtype, copy=False), axis=0)
    return xp.astype(xp.astype(mean, H.dtype), mean.dtype)


def moments_of_parts(
    layer: Callable, X, codes: np.ndarray, n_classes: int, part: np.ndarray, sizes: Collection[int]
) -> PartSums:
    """Moments of every class in every part of the rows, from one pass over them.

    Parameters
    ----------
    layer : callable
    X : {ndarray, CSR}, shape (n_samples, n_features)
    codes : ndarray of int, shape (n_samples,)
        Class of each row, from 0 to n_classes - 1.
    n_classes : int
    part : ndarray of int, shape (n_samples,)
        Part of each row, such as its fold.
    sizes : sequence of int
    """
    names, part_codes = np.unique(part, return_inverse=True)
    shifts = np.tile(pilot_means(layer, X, codes, n_classes), (len(names), 1))
    group = part_codes * n_classes + codes
    moments = moments_by_group(layer, X, group, len(names) * n_classes, sizes, shifts)
    starts = range(0, len(moments), n_classes)
    return PartSums(names, [GroupSums(moments[start : start + n_classes]) for start in starts])


def hidden_blocks(
    units: Callable, X, n_units: int, dtype, of_groups: Sequence | None = None, numbers: int | None = None
) -> Iterator[tuple]:
    """Yield hidden rows block by block, group by group: the block, the rows of X in it, and the group.

    Blocks of NumPy arrays share memory, so each is valid only until the next.

    Parameters
    ----------
    units : callable
        Maps rows of X to an array of shape (n_rows, n_units); accepts an argument `out`.
    X : array, shape (n_samples, n_features)
    n_units : int
    dtype : dtype
        That of the blocks.
    of_groups : sequence of arrays of int, optional
        Indices of the rows of each group. Default: one group of all rows.
    numbers : int, optional
        See :func:`row_blocks`.
    """
    blocks: list[tuple[Any, slice, int]] = []
    for group, rows in enumerate([None] if of_groups is None else of_groups):
        slices = row_blocks(X if rows is None else rows, n_units, numbers)
        blocks += [(each if rows is None else rows[each], each, group) for each in slices]
    buffer = None
    if is_numpy(X):
        buffer = np.empty((max((each.stop - each.start for _, each, _ in blocks), default=0), n_units), dtype)
    for rows, each, group in blocks:
        out = None if buffer is None else buffer[: each.stop - each.start]
        yield units(take_rows(X, rows), out=out), rows, group


def row_blocks(rows, n_columns: int, numbers: int | None = None) -> list[slice]:
    """Slices that divide rows into blocks for results of n_columns numbers each.

    A block has at most `numbers` of them on a CPU (default: BLOCK_NUMBERS); on an accelerator it is larger.
    """
    n_rows, n_columns, numbers = rows.shape[0], max(1, n_columns), numbers or BLOCK_NUMBERS
    if not is_numpy(rows) and rows.__dlpack_device__()[0] != CPU:
        numbers = min(DEVICE_NUMBERS, DEVICE_ROWS * n_columns)
    step = max(1, numbers // n_columns)
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
