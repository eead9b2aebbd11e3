"""Linear algebra for arrays of NumPy and of array API libraries, which may be on another device.

A learner computes with the array library and on the device of its rows: NumPy arrays with LAPACK and BLAS,
which use triangles and work in place, or arrays of a library that follows the array API (torch, CuPy,
array_api_strict). This module has one function for each operation that the two implement differently. All
other code uses operators and names that both have.

A symmetric sum is stored as its lower triangle, with zeros above the diagonal.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, eigh
from scipy.linalg.blas import dsyr, dsyrk, dtrsm, ssyrk
from scipy.linalg.lapack import dpocon, dtpttr, dtrttp
from scipy.sparse.linalg import LinearOperator, onenormest

from entrolearn.kernels import namespace
from entrolearn.validation import array_namespace, device_of, has_double, is_numpy, to_numpy

__all__ = [
    "TooFewDigits",
    "with_enough_digits",
    "add_outer_product",
    "add_to_diagonal",
    "as_columns",
    "cast",
    "cholesky",
    "copied",
    "decompose",
    "in_double",
    "is_regular",
    "like",
    "mean_and_variance",
    "mirrored",
    "namespace",
    "packed",
    "plus_products",
    "reciprocal_condition",
    "rows_of_groups",
    "solve_cholesky",
    "solve_lower",
    "sum_of_squares",
    "sums_like",
    "symmetric_product",
    "take_rows",
    "unpacked",
    "zeros",
]

# Columns per panel of a symmetric product. Blocks above the diagonal are skipped, which saves nearly half of
# the product; a panel is wide enough for full speed.
PANEL = 256
# Size of the diagonal blocks in forward substitution, for libraries without a triangular solver.
SUBSTITUTED = 256
# Smallest reciprocal condition number for which a Cholesky factor is meaningful.
SINGULAR_BELOW = 4 * float(np.finfo(float).eps)


def like(numbers, reference, dtype=None):
    """Convert a NumPy array, or one of `reference`'s library, to the library and device of `reference`.

    Parameters
    ----------
    numbers : array
    reference : array
    dtype : NumPy dtype, optional
        Default: the same type, or single precision if the device has no double.
    """
    if is_numpy(reference):
        numbers = to_numpy(numbers)
        return numbers if dtype is None else numbers.astype(dtype, copy=False)
    xp = array_namespace(reference)
    if not is_numpy(numbers) and dtype is None:
        return numbers
    numbers = to_numpy(numbers)
    name = numbers.dtype.name if dtype is None else np.dtype(dtype).name
    if name == "float64" and not has_double(reference):
        name = "float32"
    return xp.asarray(np.ascontiguousarray(numbers, dtype=name), device=device_of(reference))


def cast(numbers, reference):
    """Convert an array to the library, device and dtype of `reference`."""
    if is_numpy(reference):
        return to_numpy(numbers).astype(reference.dtype, copy=False)
    xp = array_namespace(reference)
    if is_numpy(numbers):
        return xp.asarray(numbers, dtype=reference.dtype, device=device_of(reference))
    return xp.astype(numbers, reference.dtype, copy=False)


def as_columns(array):
    """Reshape a vector to one column; return a matrix unchanged."""
    return namespace(array).reshape(array, (array.shape[0], -1))


class TooFewDigits(Exception):
    """Single precision is not accurate enough for a solution."""


def with_enough_digits(attempt: Callable[[list], object], dtypes: Sequence):
    """Result for rows of these dtypes, or in double precision if the first attempt raises TooFewDigits."""
    try:
        return attempt(list(dtypes))
    except TooFewDigits:
        return attempt([np.float64])


def in_double(X):
    """Convert rows to double precision.

    Raises
    ------
    ValueError
        If their device has no double precision.
    """
    if is_numpy(X):
        return X.astype(np.float64)
    if not has_double(X):
        raise ValueError(
            "single precision leaves no digits of the covariances of the hidden units, and the device of X, "
            f"{device_of(X)}, has no double; accepted: NumPy's arrays, or a larger number as covariance."
        )
    return array_namespace(X).astype(X, array_namespace(X).float64)


# --- sums ---------------------------------------------------------------------------------------------------


def sums_like(rows) -> np.ndarray:
    """An empty array of the library and device for sums over the rows: those of the rows, or NumPy's.

    Sums are in double precision. If the device has none, it computes products of rows in single precision
    block by block, and NumPy sums them.
    """
    if is_numpy(rows) or not has_double(rows):
        return np.empty(0)
    return array_namespace(rows).empty(0, dtype=array_namespace(rows).float64, device=device_of(rows))


def zeros(shape, where, order: Literal["C", "F"] = "C"):
    """Zeros in double precision, in the library and on the device of `where` (see :func:`sums_like`).

    `order` is that of NumPy's arrays; BLAS requires "F" of square matrices.
    """
    if is_numpy(where):
        return np.zeros(shape, order=order)
    xp = array_namespace(where)
    return xp.zeros(shape, dtype=xp.float64, device=device_of(where))


def plus_products(lower, X):
    """The lower triangle of `lower` + X'X, in place; a NumPy X of shape (n_rows, n) must be C-contiguous."""
    if not is_numpy(X):
        xp, n = array_namespace(X), X.shape[1]
        for start in range(0, n, PANEL):
            stop = min(start + PANEL, n)
            product = xp.tril(X[:, start:].T @ X[:, start:stop])
            lower[start:, start:stop] += like(product, lower)
        return lower
    if X.dtype == np.float64:
        return dsyrk(1.0, X.T, beta=1.0, c=lower, overwrite_c=1, lower=1)
    lower += ssyrk(1.0, X.T, lower=1)
    return lower


def copied(array, order: str = "K"):
    """A copy; for NumPy with the given memory order, by default the same."""
    return array.copy(order=order) if is_numpy(array) else array_namespace(array).asarray(array, copy=True)


# --- symmetric matrices -------------------------------------------------------------------------------------


def packed(lower, n_rows: float):
    """Compress a symmetric sum for pickling: only its triangle, or None if it has no rows.

    Parameters
    ----------
    lower : array, shape (n, n)
        A NumPy array; arrays of other libraries are returned unchanged.
    n_rows : int

    Returns
    -------
    ndarray, shape (n (n + 1) / 2,), or None if there are no rows
    """
    if not is_numpy(lower):
        return lower
    return dtrttp(lower, uplo="L")[0] if n_rows else None


def unpacked(triangle, order: int):
    """The matrix that :func:`packed` compressed, of shape (order, order)."""
    if triangle is None:
        return np.zeros((order, order), order="F")
    return dtpttr(order, triangle, uplo="L")[0] if triangle.ndim == 1 else triangle


def mirrored(lower):
    """The full symmetric matrix, given its lower triangle with zeros above."""
    if not is_numpy(lower):
        return lower + array_namespace(lower).tril(lower, k=-1).T
    full = lower + lower.T
    full.flat[:: len(full) + 1] -= np.diagonal(lower)
    return full


def symmetric_product(lower, right):
    """Product of the symmetric matrix and `right`, without forming the matrix or copying a view."""
    diagonal = namespace(lower).linalg.diagonal(lower)
    damped = diagonal * right if right.ndim == 1 else diagonal[:, None] * right
    return lower @ right + lower.T @ right - damped


def sum_of_squares(matrix) -> float:
    """Sum of the squares of all entries."""
    if is_numpy(matrix):
        return np.einsum("ij,ij->", matrix, matrix)
    return float(array_namespace(matrix).linalg.vector_norm(matrix)) ** 2


def add_outer_product(lower, vector, factor: float) -> None:
    """Add ``factor * vector vector'`` to the lower triangle, in place; in Fortran order for NumPy."""
    if is_numpy(lower):
        dsyr(factor, vector, lower=1, a=lower, overwrite_a=1)
    else:
        lower += array_namespace(lower).tril(float(factor) * vector[:, None] * vector[None, :])


def add_to_diagonal(matrix, value: float):
    """Add `value` times the identity to a square matrix, in place, and return it."""
    if is_numpy(matrix):
        matrix.flat[:: len(matrix) + 1] += value
    elif value := float(value):  # array_api_strict accepts only Python numbers
        matrix += value * array_namespace(matrix).eye(
            matrix.shape[0], dtype=matrix.dtype, device=device_of(matrix)
        )
    return matrix


def cholesky(matrix):
    """Cholesky factor of a positive definite matrix, given by its lower triangle, which is overwritten.

    Returns
    -------
    factor : array, shape (n, n), or None if the matrix is not positive definite
        Its lower triangle is to be used with :func:`solve_cholesky`.
    """
    if is_numpy(matrix):
        try:
            return cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)[0]
        except LinAlgError:
            return None
    xp = array_namespace(matrix)
    try:
        factor = xp.linalg.cholesky(mirrored(xp.tril(matrix)))
    except (RuntimeError, ValueError) as error:  # each library has its own LinAlgError
        if "LinAlgError" not in type(error).__name__:
            raise
        return None
    # Some libraries raise no error, and leave a nonpositive number or NaN on the diagonal.
    diagonal = xp.linalg.diagonal(factor)
    return factor if bool(xp.all(xp.logical_and(diagonal > 0, xp.isfinite(diagonal)))) else None


def solve_cholesky(factor, right):
    """A^-1 right, given A's factor from :func:`cholesky`."""
    return solve_lower(factor, solve_lower(factor, right), transposed=True)


def solve_lower(factor, right, transposed: bool = False, overwrite: bool = False):
    """L^-1 right, or L^-T right, with L lower triangular; the part above the diagonal is not read.

    `overwrite` permits to overwrite `right`.

    The array API has no triangular solver. The library's own is used if it has one. Otherwise the matrix is
    halved recursively, which needs matrix products and small solves with blocks on the diagonal.
    """
    if is_numpy(factor):
        return dtrsm(1.0, factor, right, lower=1, trans_a=transposed, overwrite_b=overwrite)
    xp = array_namespace(factor)
    matrix = factor.T if transposed else factor
    if hasattr(xp.linalg, "solve_triangular"):
        return xp.linalg.solve_triangular(matrix, right, upper=transposed)
    n = factor.shape[0]
    if n <= SUBSTITUTED:
        return xp.linalg.solve(matrix, right)
    half = n // 2
    first, last = (slice(half, n), slice(half)) if transposed else (slice(half), slice(half, n))
    begun = solve_lower(factor[first, first], right[first, :], transposed)
    rest = solve_lower(factor[last, last], right[last, :] - matrix[last, first] @ begun, transposed)
    return xp.concat([rest, begun] if transposed else [begun, rest], axis=0)


def reciprocal_condition(factor, size: float) -> float:
    """Estimate of the reciprocal condition number 1 / (size ||A^-1||_1), given the Cholesky factor of A.

    The method is that of Hager and Higham, as in LAPACK, which needs only a few solves.
    """
    if is_numpy(factor):
        return dpocon(factor, size, uplo="L")[0]

    def solve(vectors: np.ndarray) -> np.ndarray:
        columns = vectors.reshape(len(vectors), -1)
        return to_numpy(solve_cholesky(factor, like(columns, factor))).reshape(vectors.shape)

    n = factor.shape[0]
    inverse = LinearOperator(
        (n, n), matvec=solve, rmatvec=solve, matmat=solve, rmatmat=solve, dtype=np.float64
    )
    norm = onenormest(inverse, t=1) if n > 1 else float(abs(solve(np.ones(1))[0]))
    return 1 / (size * norm)


def is_regular(factor, size: float) -> bool:
    """Whether a Cholesky factor is more than rounding; `size` is the trace of the factorised matrix."""
    return reciprocal_condition(factor, size) >= SINGULAR_BELOW


def decompose(lower) -> tuple[np.ndarray, Any]:
    """Ascending eigenvalues (a NumPy array) and eigenvectors in columns; `lower` is overwritten."""
    if is_numpy(lower):
        return eigh(lower, lower=True, overwrite_a=True, check_finite=False, driver="evd")
    values, vectors = array_namespace(lower).linalg.eigh(mirrored(lower))
    return to_numpy(values), vectors


# --- rows ---------------------------------------------------------------------------------------------------


def take_rows(X, rows):
    """Rows of X, given by a slice or indices."""
    if is_numpy(X):
        return X[rows]
    return X[rows, ...] if isinstance(rows, slice) else array_namespace(X).take(X, like(rows, X), axis=0)


def rows_of_groups(group, n_groups: int) -> list:
    """Indices of the rows of each group, ascending."""
    if is_numpy(group):
        order = np.argsort(group, kind="stable")
        return np.split(order, np.cumsum(np.bincount(group, minlength=n_groups))[:-1])
    return [array_namespace(group).nonzero(group == g)[0] for g in range(n_groups)]


def mean_and_variance(X) -> tuple[float, float]:
    """Mean and variance of all elements of an array, in double precision if its device has it."""
    xp = namespace(X)
    if has_double(X):
        X = xp.astype(X, xp.float64, copy=False)
    return float(xp.mean(X)), float(xp.var(X))
