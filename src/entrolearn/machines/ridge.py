"""Ridge regression in the hidden space: additive normal equations and closed-form leave-one-out errors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from operator import iadd

import numpy as np
from scipy.linalg import eigh

from entrolearn.machines.devices import (
    add_outer_product,
    add_to_diagonal,
    cast,
    cholesky,
    copied,
    decompose,
    is_regular,
    like,
    namespace,
    plus_products,
    solve_cholesky,
    sums_like,
    take_rows,
    zeros,
)
from entrolearn.machines.moments import (
    PILOT_ROWS,
    check_units,
    hidden_blocks,
    rounded_mean,
)
from entrolearn.machines.sums import GroupSums, PartSums, Sums
from entrolearn.path import Partition
from entrolearn.validation import Interval, blas_has_one_thread, is_numpy

__all__ = [
    "CHOLESKY_UP_TO",
    "RIDGE",
    "NormalEquations",
    "Spectrum",
    "cholesky_solve",
    "equations_of_parts",
    "leave_one_out_errors",
    "no_equations",
    "normal_equations",
    "ridge_candidates",
]

# Constraint of the parameter alpha: one ridge parameter, or several to select from.
RIDGE = [Interval(Real, 0, None, closed="left"), "array-like"]
EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
# Numbers in a block of hidden rows (2 MiB), which stays in the cache until it is summed.
BLOCK_NUMBERS = 2**18
# Minimum number of rows of a block if BLAS has several threads, which mostly wait for each other in smaller
# products. RKELM with 2,000 landmarks took 16 cores 9.6 s in blocks of 131 rows, 2.1 s in blocks of 2,097.
THREADED_ROWS = 2048
# Number of factorisations that take as long as one eigendecomposition (11 to 16 were measured).
CHOLESKY_UP_TO = 13


class NormalEquations(Sums):
    """The normal equations of least squares, H'H and H'T, as sums over rows.

    Equations of disjoint sets of rows can be added, those of a subset subtracted, and a chunk of a stream
    added as an update. The equations of the first h units are a leading block.

    Parameters
    ----------
    n_units : int
        Number of columns of H.
    n_outputs : int
        Number of columns of T.
    where : array, optional
        The sums are arrays of the same library and on the same device as this one. Default: NumPy arrays.
    shifts : pair of arrays, shapes (n_units,) and (n_outputs,), optional
        Pilot means of H and T, which are subtracted from every row before summation. With shifts the solution
        has an intercept, which the ridge does not penalise: it is the solution for H and T minus their means,
        for any shifts. Only equations with the same shifts can be combined.

    Attributes
    ----------
    n : int or float
        Number of rows, or the sum of their weights.
    shifts : pair of arrays, or None

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.machines.ridge import NormalEquations
    >>> rng = np.random.default_rng(0)
    >>> H, T = rng.normal(size=(100, 5)), rng.normal(size=(100, 1))
    >>> both = NormalEquations(5, 1).update(H[:30], T[:30]) + NormalEquations(5, 1).update(H[30:], T[30:])
    >>> coef, method = both.solve(2.0)
    >>> np.allclose(coef, np.linalg.solve(H.T @ H + 2 * np.eye(5), H.T @ T))
    True
    """

    names = ("gram", "right", "units", "targets")
    shift_names = ("unit_shift", "target_shift")

    def __init__(self, n_units: int, n_outputs: int, where=None, *, shifts: tuple | None = None):
        where = np.empty(0) if where is None else where
        check_units(n_units, 2, where)  # the sum, and a copy to factorise
        self.n = self.n_added = self.squares_of_weights = 0
        self._gram = zeros((n_units, n_units), where, "F")  # its lower triangle
        self._right = zeros((n_outputs, n_units), where).T  # NumPy's in Fortran order
        self.shifts = shifts
        self._units, self._targets = zeros(n_units, where), zeros(n_outputs, where)  # sums of shifted rows

    def update(self, H: np.ndarray, T: np.ndarray, weights: np.ndarray | None = None) -> "NormalEquations":
        """Add rows in place: H of shape (n_rows, n_units), T of shape (n_rows, n_outputs).

        `weights`, a NumPy array of shape (n_rows,), are sample weights: a row of weight w counts as w rows.
        """
        self._count(H.shape[0], weights)
        roots = None if weights is None else cast(weights**0.5, H)
        if is_numpy(H):
            H = np.ascontiguousarray(H, dtype=np.float64)
        if self.shifts is not None:
            H, T = (rows - cast(shift, rows) for rows, shift in zip((H, T), self.shifts, strict=True))
        for name, rows in (("_units", H), ("_targets", T)):
            total = getattr(self, name)
            sums = _column_sums(rows, total) if roots is None else (roots * roots) @ rows
            setattr(self, name, iadd(total, like(sums, total)))
        if roots is not None:
            H, T = H * roots[:, None], T * roots[:, None]
        self._gram = plus_products(self._gram, H)
        self._right += like((T.T @ H).T, self._right)  # twice as fast as H.T @ T for few outputs
        return self

    @staticmethod
    def _add_rows_to(groups, layer, X, targets, weights=None):
        (equations,) = groups
        for H, block, _ in _blocks(layer, X, equations.n_units):
            of_block = None if weights is None else weights[block]
            equations.update(H, take_rows(targets, block), of_block)

    def about(self, shifts) -> "NormalEquations":
        """A copy with other shifts (without shifts if there are none); only for NumPy arrays."""
        equations = self.copy()
        if self.shifts is None:
            return equations
        units, targets = (mine - new for mine, new in zip(self.shifts, shifts, strict=True))
        cross = np.outer(self._units + self.n / 2 * units, units)
        equations.shifts = shifts
        equations._gram += np.tril(cross + cross.T)
        equations._right += np.outer(self._units + self.n * units, targets) + np.outer(units, self._targets)
        equations._units += self.n * units
        equations._targets += self.n * targets
        return equations

    def of_targets(self, matrix: np.ndarray, offset: np.ndarray) -> "NormalEquations":
        """A copy with the targets ``T @ matrix + offset``; only for NumPy arrays."""
        right, targets = self._right @ matrix, self._targets @ matrix
        if self.shifts is None:
            right, targets = right + np.outer(self._units, offset), targets + self.n * offset
        shifts = None if self.shifts is None else (self.shifts[0], self.shifts[1] @ matrix + offset)
        equations = self._with(copied)
        equations._right, equations._targets, equations.shifts = right, targets, shifts
        return equations

    def _check_alike(self, other):
        if self._right.shape != other._right.shape:
            raise ValueError(
                f"equations of {tuple(self._right.shape)} units and outputs, and of "
                f"{tuple(other._right.shape)}, cannot be combined."
            )
        super()._check_alike(other)

    @property
    def n_units(self) -> int:
        """Number of columns of H."""
        return self._gram.shape[0]

    def restrict(self, h: int) -> "NormalEquations":
        """Equations of the first h units, as a view."""
        shifts = None if self.shifts is None else (self.shifts[0][:h], self.shifts[1])
        leading = self._with(lambda array: array)
        leading._gram, leading._right = self._gram[:h, :h], self._right[:h, :]
        leading._units, leading.shifts = self._units[:h], shifts
        return leading

    def solve(self, ridge: float) -> tuple[np.ndarray, str]:
        """Coefficients (H'H + ridge I)^-1 H'T; with shifts, of H and T minus their means.

        Returns
        -------
        coef : ndarray, shape (n_units, n_outputs)
        method : {"cholesky", "eigh"}
            "eigh" if the matrix is numerically singular; the solution then has minimum norm.
        """
        coef = cholesky_solve(self.scatter(), self.right, ridge)
        if coef is None:
            return self.spectrum().solve(self.right, ridge), "eigh"
        return coef, "cholesky"

    def solve_each(self, ridges: Sequence[float]) -> list[np.ndarray]:
        """Coefficients for each ridge, by factorisations if there are few, else by one eigendecomposition."""
        if len(ridges) <= CHOLESKY_UP_TO:
            return [self.solve(ridge)[0] for ridge in ridges]
        spectrum = self.spectrum()
        return [spectrum.solve(self.right, ridge) for ridge in ridges]

    def intercept(self, coef):
        """The intercept: mean target minus mean output; zeros without shifts.

        Returns
        -------
        array, shape (n_outputs,)
        """
        if self.shifts is None:
            return 0 * self._targets
        units, targets = self.means()
        return targets - units @ coef

    def means(self) -> tuple:
        """The means of H and T, shapes (n_units,) and (n_outputs,); requires shifts."""
        return self.shifts[0] + self._units / self.n, self.shifts[1] + self._targets / self.n

    def scatter(self):
        """H'H, or with shifts that of H minus its mean, as a new lower triangle that may be overwritten."""
        gram = copied(self._gram, "F")
        if self.shifts is not None:
            add_outer_product(gram, self._units, -1 / self.n)
        return gram

    def spectrum(self) -> "Spectrum":
        """Eigendecomposition of H'H; negative eigenvalues, which are rounding errors, are set to zero."""
        check_units(self.n_units, 4, self._gram)  # the sum, a copy, and twice that for LAPACK's workspace
        values, vectors = decompose(self.scatter())
        return Spectrum(np.maximum(values, 0), vectors)

    @property
    def right(self) -> np.ndarray:
        """H'T, shape (n_units, n_outputs); with shifts, of H and T minus their means."""
        if self.shifts is None:
            return self._right
        return self._right - self._units[:, None] * (self._targets / self.n)[None, :]


def _column_sums(rows, total):
    """Sums over rows, in double precision if the device has it."""
    double = {} if is_numpy(total) else {"dtype": total.dtype}
    return namespace(rows).sum(rows, axis=0, **double)


@dataclass(frozen=True)
class Spectrum:
    """Eigendecomposition of a symmetric matrix, which solves the matrix plus any multiple of the identity.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Eigenvalues, ascending; a NumPy array.
    vectors : ndarray, shape (n, n)
        Eigenvectors in columns; on the matrix's device.
    """

    values: np.ndarray
    vectors: np.ndarray

    @classmethod
    def of(cls, matrix: np.ndarray, *, lower: bool = True) -> "Spectrum":
        """Decompose a matrix given by one triangle, in Fortran order; it is overwritten."""
        return cls(*eigh(matrix, lower=lower, overwrite_a=True, check_finite=False, driver="evd"))

    @cached_property
    def _rounding(self) -> float:
        return EPS * np.abs(self.values).max()

    def inverse_values(self, ridge: float) -> np.ndarray:
        """1 / (value + ridge), shape (n,); zero if the sum is a rounding error, as in a pseudoinverse."""
        damped = self.values + ridge
        known = np.abs(self.values) > len(damped) * self._rounding
        kept = (known | (ridge > self._rounding)) & (np.abs(damped) > max(self._rounding, TINY))
        return np.divide(1.0, damped, out=np.zeros_like(damped), where=kept)

    def solve(self, right: np.ndarray, ridge: float) -> np.ndarray:
        """(matrix + ridge I)^-1 right."""
        inverse = like(self.inverse_values(ridge), self.vectors)
        return self.vectors @ (inverse[:, None] * (self.vectors.T @ right))


def cholesky_solve(matrix: np.ndarray, right: np.ndarray, ridge: float) -> np.ndarray | None:
    """Solve (matrix + ridge I) coef = right by Cholesky factorisation, if possible.

    Parameters
    ----------
    matrix : ndarray, shape (n, n), Fortran order
        The lower triangle is read, and overwritten.
    right : ndarray, shape (n, n_columns)
    ridge : float

    Returns
    -------
    ndarray, shape (n, n_columns), or None if the sum is indefinite or numerically singular

    Raises
    ------
    ValueError
        If the matrix has overflowed.
    """
    # A cheap upper bound of the largest eigenvalue of the sum.
    size = float(namespace(matrix).linalg.trace(matrix)) + ridge
    if not np.isfinite(size):
        raise ValueError("the sums of the hidden units' squares overflow: scale the features.")
    add_to_diagonal(matrix, ridge)
    factor = cholesky(matrix)
    if factor is None or not is_regular(factor, size):
        return None
    return solve_cholesky(factor, right)


def normal_equations(layer: Callable, X, T: np.ndarray, weights=None, *, intercept=False) -> NormalEquations:
    """Normal equations of rows in one pass, block by block.

    Parameters
    ----------
    layer : callable
        Maps rows of X to an array of shape (n_rows, n_units); accepts an argument `out`.
    X : {ndarray, CSR}, shape (n_samples, n_features)
    T : ndarray, shape (n_samples, n_outputs)
    weights : ndarray of float64, shape (n_samples,), optional
        Sample weights, always a NumPy array. Default: all ones.
    intercept : bool, default=False
        Whether the solution has an intercept.

    Returns
    -------
    NormalEquations
    """
    return no_equations(layer, X, T, intercept=intercept).add_rows(layer, X, T, weights)[0]


def no_equations(layer: Callable, X, T: np.ndarray, *, intercept: bool = False) -> GroupSums:
    """Normal equations of zero rows, with shifts from these; parameters as in :func:`normal_equations`."""
    where, shifts = sums_like(X), None
    n_units = layer(take_rows(X, slice(1))).shape[1]
    if intercept:
        check_units(n_units, 2, where)
        some = slice(min(X.shape[0], PILOT_ROWS))
        pilot = layer(take_rows(X, some)), take_rows(T, some)
        shifts = tuple(like(rounded_mean(values), where) for values in pilot)
    return GroupSums([NormalEquations(n_units, T.shape[1], where, shifts=shifts)])


def _blocks(layer: Callable, X, n_units: int) -> Iterator[tuple]:
    """Blocks of hidden rows in double precision, with their slice of the rows."""
    numbers = BLOCK_NUMBERS if blas_has_one_thread() else max(BLOCK_NUMBERS, THREADED_ROWS * n_units)
    return hidden_blocks(layer, X, n_units, np.float64, numbers=numbers)


def equations_of_parts(
    layer: Callable,
    X,
    T: np.ndarray,
    partition: Partition,
    left_outs: Sequence[tuple[int, ...]],
    *,
    intercept: bool = False,
) -> PartSums:
    """Normal equations of the parts of a partition, from one pass over the rows of some training sets.

    Parts that are left out by the same training sets are merged, under the name of the first of them.

    Parameters
    ----------
    layer : callable
    X : {ndarray, CSR}, shape (n_samples, n_features)
    T : ndarray, shape (n_samples, n_outputs)
    partition : Partition
    left_outs : sequence of tuples of int
        The elements of ``partition.left_out`` to be used with :meth:`PartSums.without`.
    intercept : bool, default=False
    """
    merged: dict[tuple[bool, ...], list[int]] = {}  # by the training sets that leave them out
    for part in np.unique(partition.part).tolist():
        absent = tuple(part in left_out for left_out in left_outs)
        if not all(absent):
            merged.setdefault(absent, []).append(part)
    rows_of_parts = [partition.held_out(together) for together in merged.values()]
    first = np.concatenate(rows_of_parts)[:PILOT_ROWS]
    none = no_equations(layer, X[first], T[first], intercept=intercept)  # common shifts
    parts = [none.copy().add_rows(layer, X[rows], T[rows]) for rows in rows_of_parts]
    return PartSums([together[0] for together in merged.values()], parts)


def leave_one_out_errors(
    layer: Callable, X, T: np.ndarray, equations: NormalEquations, ridges: np.ndarray, weights=None
) -> tuple[np.ndarray, Spectrum]:
    """Mean squared leave-one-out error for each ridge parameter.

    The leave-one-out error of a row is its residual divided by one minus its leverage (Allen's PRESS). One
    eigendecomposition and a second pass over the rows are therefore enough for all ridge parameters. The
    units do not change, even if the row is a landmark. A row of weight w counts as w rows, of which one is
    left out (or the whole row if w < 1); its error has the weight w in the mean.

    Parameters
    ----------
    layer, X, T, weights
        As in :func:`normal_equations`.
    equations : NormalEquations
        Normal equations of these rows.
    ridges : sequence of float

    Returns
    -------
    errors : ndarray, shape (n_ridges,)
        Means over rows and outputs.
    spectrum : Spectrum
        Spectrum of the equations.
    """
    spectrum = equations.spectrum()
    xp = namespace(spectrum.vectors)
    inverse = np.array([spectrum.inverse_values(ridge) for ridge in ridges]).T  # (n_units, n_ridges)
    inverse = like(inverse, spectrum.vectors)
    rotated = spectrum.vectors.T @ equations.right
    coefs = [inverse[:, r, None] * rotated for r in range(len(ridges))]
    squares = np.zeros(len(ridges))
    mean_row, mean_target, of_intercept = 0.0, 0.0, 0.0
    if equations.shifts is not None:
        mean_unit, mean_target = equations.means()
        mean_row, of_intercept = mean_unit @ spectrum.vectors, 1 / equations.n
    for H, some, _ in _blocks(layer, X, rotated.shape[0]):
        Z = H @ spectrum.vectors - mean_row
        targets = take_rows(T, some) - mean_target
        residuals = [targets - Z @ coef for coef in coefs]
        Z *= Z
        if weights is None:
            left, each_counts = 1 - of_intercept - Z @ inverse, 1.0
        else:
            each_counts = cast(weights[some], Z)[:, None]
            left = 1 - xp.clip(each_counts, None, 1.0) * (of_intercept + Z @ inverse)
        left = xp.clip(left, EPS, None)  # an interpolated row leaves only rounding
        squares += [
            float(xp.sum(each_counts * (each / left[:, r, None]) ** 2)) for r, each in enumerate(residuals)
        ]
    n_rows = T.shape[0] if weights is None else weights.sum()
    return squares / (n_rows * T.shape[1]), spectrum


def ridge_candidates(alpha) -> np.ndarray | None:
    """The ridge parameters to select from; None if alpha is a single number.

    Raises
    ------
    ValueError
        If alpha is not a sequence of finite, non-negative numbers.
    """
    if isinstance(alpha, Real):
        return None
    candidates = np.asarray(alpha)
    numbers = candidates.ndim == 1 and candidates.size and np.issubdtype(candidates.dtype, np.number)
    if not numbers or not (np.isfinite(candidates) & (candidates >= 0)).all():
        raise ValueError(f"alpha must be a number or a sequence of numbers, none negative, got {alpha!r}.")
    return candidates.astype(np.float64)
