"""What an entropic readout needs to know of a class, as one small object that adds up."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from entrolearn.kernels import check_memory
from entrolearn.machines.devices import (
    add_in_place,
    add_outer_product,
    add_to_diagonal,
    block_numbers,
    cast,
    cholesky,
    copied,
    leading_norms,
    like,
    mirrored,
    namespace,
    packed,
    plus_products,
    rows_of_groups,
    sum_of_squares,
    sums_like,
    symmetric_product,
    take_rows,
    total_of,
    unpacked,
    zero_square,
    zeros,
)
from entrolearn.validation import is_numpy, to_numpy

__all__ = [
    "FEWER_UNITS",
    "LEAST_SHARE",
    "PILOT_ROWS",
    "ROUNDINGS",
    "ClassMoments",
    "PartMoments",
    "add_rows",
    "check_units",
    "max_block_rows",
    "moments_by_group",
    "no_moments",
    "pilot_means",
    "rounded_mean",
    "rounding_of",
    "row_blocks",
    "rows_of_groups",
    "take_out",
]

# A block of hidden rows (8 or 16 MiB) stays in the processor's cache between the layer that writes it and the
# sums that read it, and has rows enough for a symmetric rank-k update at full speed.
BLOCK_NUMBERS = 2**21
PILOT_ROWS = 256
# Matrices of all pairs of units that a solution takes beside those of the groups.
SOLUTION_SQUARES = 3

# The least variance along a direction, as a share of the variances of all units: below it is what rounding
# leaves of sums of squares. It moves the last digits alone of what can be computed without.
LEAST_SHARE = 1e-12
# The same in roundings of the sums, which are coarser where the rows lie far from zero or from their shift.
ROUNDINGS = 16
# What a difference of sums must be of the larger one, at the least, to keep its digits.
LEAST_KEPT = 1 / 16
# Share by which a sum of squares may be wrong once rows are taken out: hidden rows that are computed again,
# among others, differ by so much where a layer is badly conditioned.
WRONG_SHARE = 1e-7

FEWER_UNITS = "take fewer of them"


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
        with the same shift can be combined. Default: zeros. The sums live where it lives: in NumPy's arrays,
        or in those of another library on its device.

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

    A row of weight w is summed as w rows would be.

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

    def __init__(self, n_hidden: int, sizes: Sequence[int] | None = None, *, shift: np.ndarray | None = None):
        self.sizes = tuple(sorted({int(size) for size in sizes})) if sizes else (int(n_hidden),)
        if self.sizes[-1] != n_hidden or self.sizes[0] < 1:
            raise ValueError(
                f"sizes must be positive and the largest must be n_hidden={n_hidden}, got {self.sizes}."
            )
        if shift is None or is_numpy(shift):
            check_units(n_hidden)
            shift = np.zeros(n_hidden) if shift is None else np.asarray(shift, dtype=np.float64)
        self.shift = shift
        self.n = self._n_added = 0
        self._sum = zeros(n_hidden, shift)
        self._outer = zero_square(n_hidden, shift)  # G, its lower triangle
        self._norm2 = zeros(len(self.sizes), shift)  # A
        self._norm4 = zeros(len(self.sizes), shift)  # Q
        self._norm2_row = zeros((len(self.sizes), n_hidden), shift)  # v

    @classmethod
    def from_data(
        cls, H: np.ndarray, sizes: Sequence[int] | None = None, *, shift: np.ndarray | None = None
    ) -> "ClassMoments":
        """Moments of the rows of H, shape (n_samples, n_hidden)."""
        shift = zeros(H.shape[1], sums_like(H)) if shift is None else shift
        return cls(H.shape[1], sizes, shift=shift).update(H)

    def update(self, H: np.ndarray) -> "ClassMoments":
        """Add the rows of H, shape (n_samples, n_hidden), in place.

        Raises
        ------
        ValueError
            If H has another number of columns than the moments have units.
        """
        n_hidden = self._sum.shape[0]
        if H.ndim != 2 or H.shape[1] != n_hidden:
            raise ValueError(f"the moments have {n_hidden} hidden units, got rows of shape {tuple(H.shape)}.")
        if is_numpy(H):
            H = np.asarray(H, dtype=np.float32 if H.dtype == np.float32 else np.float64)
        for block in row_blocks(*H.shape, block_numbers(H, n_hidden)):
            rows = take_rows(H, block) - (self.shift if is_numpy(H) else cast(self.shift, H))
            self._add(rows.astype(H.dtype, order="C", copy=False) if is_numpy(H) else rows)
        return self

    def _add(self, X, weights: np.ndarray | None = None) -> None:
        """Add rows that have been shifted, shape (n_rows, n_hidden), C-contiguous where they are NumPy's."""
        self.n += X.shape[0] if weights is None else float(weights.sum())
        self._n_added += X.shape[0]
        norm2 = leading_norms(X, self.sizes)  # ||x||^2, one row for each size
        rooted, weighted, weighted_norm2 = X, X, norm2
        if weights is not None:
            weights = cast(weights, X)
            rooted, weighted = X * (weights**0.5)[:, None], X * weights[:, None]
            weighted_norm2 = norm2 * weights
        self._outer = plus_products(self._outer, rooted)
        if is_numpy(X):
            sums = weighted.sum(axis=0), weighted_norm2.sum(axis=1)
            sums += (np.einsum("ij,ij->i", weighted_norm2, norm2),)
        else:
            xp, double = namespace(X), {"dtype": self._sum.dtype} if not is_numpy(self._sum) else {}
            sums = (
                xp.sum(weighted, axis=0, **double),
                xp.sum(weighted_norm2, axis=1, **double),
                xp.sum(weighted_norm2 * norm2, axis=1, **double),
            )
        for name, values in zip(("_sum", "_norm2", "_norm4"), sums, strict=True):
            setattr(self, name, add_in_place(getattr(self, name), total_of(values, self._sum)))
        self._norm2_row += total_of(weighted_norm2 @ X, self._sum)

    def empty(self) -> "ClassMoments":
        """Moments of no rows, which can be combined with these."""
        return ClassMoments(self.sizes[-1], self.sizes, shift=self.shift)

    def __add__(self, other: "ClassMoments") -> "ClassMoments":
        return self._copy()._combine(other)

    def __sub__(self, other: "ClassMoments") -> "ClassMoments":
        return self._copy()._combine(other, subtract=True)

    def __iadd__(self, other: "ClassMoments") -> "ClassMoments":
        return self._combine(other)

    def __isub__(self, other: "ClassMoments") -> "ClassMoments":
        return self._combine(other, subtract=True)

    def _combine(self, other: "ClassMoments", subtract: bool = False) -> "ClassMoments":
        if self.sizes != other.sizes or not np.array_equal(to_numpy(self.shift), to_numpy(other.shift)):
            raise ValueError("only moments with the same sizes and the same shift can be combined.")
        for name in ("n", "_n_added", *_SUMS):
            setattr(self, name, add_in_place(getattr(self, name), getattr(other, name), subtract))
        return self

    def _copy(self) -> "ClassMoments":
        return self._with({name: copied(getattr(self, name)) for name in _SUMS}, self.sizes)

    def __getstate__(self) -> dict:
        return {**vars(self), "_outer": packed(self._outer, self.n)}

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state, _outer=unpacked(state["_outer"], len(state["_sum"])))

    def restrict(self, h: int) -> "ClassMoments":
        """Moments of the first h units, a view: h must be one of `sizes`."""
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
        return self._with(sums, self.sizes[:k])

    def _with(self, sums: dict, sizes: tuple[int, ...]) -> "ClassMoments":
        result = object.__new__(ClassMoments)
        result.n, result._n_added = self.n, self._n_added
        result.sizes, result.shift = sizes, self.shift[: sizes[-1]]
        vars(result).update(sums)
        return result

    @property
    def n_rows(self) -> float:
        """Number of rows for shrinkage: `n`, or without weights where that is more (weights below one)."""
        return max(self.n, self._n_added)

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
        """The covariance times n: a lower triangle, to be overwritten."""
        scatter = copied(self._outer, "F")
        add_outer_product(scatter, self._sum, -1 / self.n)
        return scatter

    def total_square(self) -> float:
        """Sum of the squared distances of the rows from the shift."""
        return float(namespace(self._outer).linalg.trace(self._outer))

    def rounding(self) -> float:
        """By how much the sums of squares may be wrong once rows are taken out."""
        return rounding_of(self.total_square(), self.n, self.shift)

    def ledoit_wolf(self) -> tuple[np.ndarray, float]:
        """Covariance shrunk towards a multiple of the identity, and the shrinkage in [0, 1].

        Ledoit and Wolf (2004), "A well-conditioned estimator for large-dimensional covariance matrices".
        Equal to :func:`sklearn.covariance.ledoit_wolf` on the rows themselves.
        """
        return self._shrunk(self.ledoit_wolf_shrinkage())

    def oas(self) -> tuple[np.ndarray, float]:
        """Covariance shrunk by the oracle approximating formula, and the shrinkage.

        Chen, Wiesel, Eldar and Hero (2010), eq. (23) as scikit-learn's :class:`~sklearn.covariance.OAS`
        reads it.
        """
        return self._shrunk(self.oas_shrinkage())

    def _shrunk(self, shrinkage: float) -> tuple[np.ndarray, float]:
        covariance = self.covariance()
        covariance *= 1 - shrinkage
        return add_to_diagonal(covariance, shrinkage * self.mean_variance()), shrinkage

    def ledoit_wolf_shrinkage(self) -> float:
        """The shrinkage of :meth:`ledoit_wolf`, without forming a matrix."""
        n, p = self.n_rows, self._sum.shape[0]
        if n < 3:  # two rows have the same outer product about their mean: they show no error of it
            return 0.0
        along_mean = self._square_along_mean()
        norm = self._covariance_norm2(along_mean)
        spread = norm / p - self.mean_variance() ** 2  # ||S - scale I||^2 / p
        error = (self._centred_norm4(along_mean) / self.n / p - norm / p) / n
        # Rounding can push either a hair below zero when all rows agree.
        return 0.0 if min(error, spread) <= 0 else float(min(error / spread, 1.0))

    def oas_shrinkage(self) -> float:
        """The shrinkage of :meth:`oas`, without forming a matrix."""
        n, p = self.n_rows, self._sum.shape[0]
        scale = self.mean_variance()
        mean_square = self._covariance_norm2(self._square_along_mean()) / p**2
        excess = (n + 1) * (mean_square - scale**2 / p)
        return 1.0 if excess <= 0 else float(min((mean_square + scale**2) / excess, 1.0))

    def mean_variance(self) -> float:
        """Mean of the units' variances: the diagonal of the covariance."""
        if self.n_rows == 1:  # where the row is not the shift, rounding would say another number than zero
            return 0.0
        mean = self._sum / self.n
        return float((self.mean_square() - mean @ mean) / mean.shape[0])

    def mean_square(self) -> float:
        """Mean squared distance of the rows from the shift, of which rounding leaves 16 digits."""
        return self.total_square() / self.n

    def least_variance(self) -> float:
        """The least variance along a direction that the sums can tell from zero."""
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
        """``coef.T @ covariance @ coef`` for coef of shape (n_hidden, n_components), no matrix formed."""
        mean = coef.T @ (self._sum / self.n)
        return coef.T @ symmetric_product(self._outer, coef) / self.n - mean[:, None] * mean[None, :]

    def _square_along_mean(self) -> float:
        """m^T G m, see Notes."""
        mean = self._sum / self.n
        return float(mean @ symmetric_product(self._outer, mean))

    def _covariance_norm2(self, along_mean: float) -> float:
        """Squared Frobenius norm of the covariance, given m^T G m."""
        mean = self._sum / self.n
        diagonal = namespace(self._outer).linalg.diagonal(self._outer)
        outer2 = 2 * sum_of_squares(self._outer) - diagonal @ diagonal
        return float(outer2 / self.n**2 - 2 * along_mean / self.n + (mean @ mean) ** 2)

    def _centred_norm4(self, along_mean: float) -> float:
        """Sum of ||x - mean||^4 over the rows, given m^T G m (see Notes)."""
        mean = self._sum / self.n
        mean2 = mean @ mean
        return float(
            self._norm4[-1]
            + 4 * along_mean
            - 4 * mean @ self._norm2_row[-1, :]
            + 2 * mean2 * self._norm2[-1]
            - 3 * self.n * mean2**2
        )


_SUMS = ("_sum", "_outer", "_norm2", "_norm4", "_norm2_row")


def moments_by_group(
    layer: Callable,
    X,
    group: np.ndarray,
    n_groups: int,
    sizes: Sequence[int] | None = None,
    shifts: np.ndarray | None = None,
) -> list[ClassMoments]:
    """Moments of each group of rows in one pass over X, the layer's output never held whole.

    Parameters
    ----------
    layer : callable
        Maps rows of X to an array of shape (n_rows, n_hidden), its argument `out`.
    X : {ndarray, CSR}, shape (n_samples, n_features)
        Or an array of another library, on whose device all is computed.
    group : ndarray of int, shape (n_samples,)
        The group of each row, from 0 to n_groups - 1: a class, or a class within a fold.
    n_groups : int
    sizes : sequence of int, optional
        Leading sizes to keep sums for.
    shifts : ndarray of shape (n_groups, n_hidden), optional
        See :class:`ClassMoments`; groups whose moments will be combined need the same one. Default: the mean
        of a few rows of each group.

    Returns
    -------
    list of n_groups ClassMoments
    """
    return add_rows(no_moments(layer, X, group, n_groups, sizes, shifts), layer, X, group)


def no_moments(
    layer: Callable,
    X,
    group: np.ndarray,
    n_groups: int,
    sizes: Sequence[int] | None = None,
    shifts: np.ndarray | None = None,
) -> list[ClassMoments]:
    """Moments of no rows, for groups that get rows like these; parameters as in :func:`moments_by_group`."""
    if shifts is None:
        shifts = pilot_means(layer, X, group, n_groups)
    return [ClassMoments(shifts.shape[1], sizes, shift=shifts[g, :]) for g in range(n_groups)]


def add_rows(
    moments: list[ClassMoments], layer: Callable, X, group: np.ndarray, weights: np.ndarray | None = None
) -> list[ClassMoments]:
    """Add the rows of each group to its moments, in place.

    Parameters
    ----------
    moments : list of n_groups ClassMoments
        Their shifts are numbers of the layer's precision, as :func:`pilot_means` gives them.
    layer, X, group
        As in :func:`moments_by_group`.
    weights : ndarray of float64, shape (n_samples,), optional
        Of the rows; of one each without. NumPy's, wherever X lives.

    Returns
    -------
    list of n_groups ClassMoments
        The same.
    """
    n_hidden = moments[0].shift.shape[0]
    step = max_block_rows(X.shape[0], n_hidden)
    buffer = np.empty((step, n_hidden), dtype=X.dtype) if is_numpy(X) else None
    for of_group, rows in zip(moments, rows_of_groups(like(group, X), len(moments)), strict=True):
        for block in row_blocks(rows.shape[0], n_hidden, block_numbers(X, n_hidden)):
            out = None if buffer is None else buffer[: block.stop - block.start]
            H = layer(take_rows(X, rows[block]), out=out)
            H -= cast(of_group.shift, H)
            of_group._add(H, None if weights is None else weights[to_numpy(rows[block])])
    return moments


def rounding_of(squares: float, n: float, shift) -> float:
    """By how much a sum of squares of n rows about a shift may be wrong once rows are taken out."""
    noise = (
        0.0 if shift is None else ROUNDINGS * float(np.finfo(float).eps) * (n * float(shift @ shift)) ** 0.5
    )
    return WRONG_SHARE * squares + noise * (squares**0.5 + noise) + float(np.finfo(float).tiny)


def take_out(sums, rows, rounding: float, name: str):
    """Sums over rows without some of these.

    Parameters
    ----------
    sums, rows : ClassMoments or NormalEquations
        Of one class, with the same shift.
    rounding : float
        The largest ``rounding()`` of these sums so far.
    name : str
        What the rows are called.

    Returns
    -------
    ClassMoments or NormalEquations
        Empty ones where no rows are left.

    Raises
    ------
    ValueError
        If `sums` cannot hold `rows`: less than no rows are left, or no sum of squares.
    """
    if not rows.n:
        return sums
    n, least = sums.n - rows.n, LEAST_SHARE * sums.n
    if n < -least:
        raise ValueError(
            f"{rows.n:g} {name} are to be forgotten, counted by weight, and the machine has {sums.n:g}."
        )
    left = sums - rows
    if n <= least:
        held, left = abs(left.total_square()) <= rounding, sums.empty()
    else:
        held = cholesky(add_to_diagonal(left.scatter(), rounding)) is not None
    if not held:
        raise ValueError(
            f"the machine has not learnt these {name}, or with other weights: without them it would have "
            "negative sums of squares, beyond rounding."
        )
    return left


def check_units(n_units: int, n_matrices: int = 1) -> None:
    """Refuse hidden units, or landmarks, of whose pairs so many matrices would not fit into memory.

    Raises
    ------
    MemoryError
        That says what it takes and what there is.
    """
    size = f"{n_units} x {n_units} hidden units or landmarks"
    what = f"a matrix of {size}" if n_matrices == 1 else f"what {n_matrices} matrices of {size} hold"
    check_memory(8 * n_matrices * n_units**2, what, FEWER_UNITS)


def pilot_means(layer: Callable, X, group: np.ndarray, n_groups: int) -> np.ndarray:
    """The mean of the first rows of each group in the hidden space, shape (n_groups, n_hidden).

    That of the first of all rows for a group without any. The numbers are of the layer's precision, so that
    it can subtract them from its rows as they are.
    """
    n_hidden = layer(take_rows(X, slice(1))).shape[1]
    where = sums_like(X)
    if is_numpy(where):
        check_units(n_hidden, n_groups + SOLUTION_SQUARES)
    means = zeros((n_groups, n_hidden), where)
    for g, rows in enumerate(rows_of_groups(like(group, X), n_groups)):
        n_rows = rows.shape[0]
        some = rows[: min(n_rows, PILOT_ROWS)] if n_rows else slice(min(X.shape[0], PILOT_ROWS))
        means[g, :] = total_of(rounded_mean(layer(take_rows(X, some))), where)
    return means


def rounded_mean(H):
    """The mean of rows, computed in double precision where there is, then of theirs."""
    if is_numpy(H):
        return H.mean(axis=0, dtype=np.float64).astype(H.dtype)
    xp, where = namespace(H), sums_like(H)
    mean = xp.mean(H if is_numpy(where) else xp.astype(H, where.dtype), axis=0)
    return xp.astype(xp.astype(mean, H.dtype), mean.dtype)


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
        n_parts = len(self.parts)
        shifts = np.tile(pilot_means(layer, X, codes, n_classes), (n_parts, 1))
        group = part_codes * n_classes + codes
        flat = moments_by_group(layer, X, group, n_parts * n_classes, sizes, shifts)
        self._by_class = [flat[c::n_classes] for c in range(n_classes)]  # each a list over parts
        self._totals = [_total(moments) for moments in self._by_class]

    def without(self, left_out: Sequence[int]) -> list[ClassMoments]:
        """Moments of each class on all rows outside the parts `left_out`."""
        held = np.flatnonzero(np.isin(self.parts, left_out))
        training = [total._copy() for total in self._totals]
        for c, (mine, parts) in enumerate(zip(training, self._by_class, strict=True)):
            for i in held:
                mine -= parts[i]
            total = self._totals[c]
            if mine.n and mine.n * mine.mean_square() < LEAST_KEPT * total.n * total.mean_square():
                training[c] = _total([part for i, part in enumerate(parts) if i not in held])
        return training


def _total(moments: Sequence[ClassMoments]) -> ClassMoments:
    total = moments[0]._copy()
    for one in moments[1:]:
        total += one
    return total


def row_blocks(n_rows: int, n_columns: int, numbers: int | None = None) -> Iterator[slice]:
    """Slices that cut rows of n_columns numbers into blocks of about `numbers`, or BLOCK_NUMBERS."""
    step = max_block_rows(n_rows, n_columns, numbers)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def max_block_rows(n_rows: int, n_columns: int, numbers: int | None = None) -> int:
    """Rows in the largest of the blocks."""
    return max(1, min(n_rows, (numbers or BLOCK_NUMBERS) // max(1, n_columns)))
