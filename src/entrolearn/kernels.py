"""Kernel functions by name, and kernel matrices.

There are three families: functions of the distance of two rows, functions of their inner product, and other
kernels of scikit-learn. Widths are given as gamma, the factor of the squared distance or of the inner
product. Where a paper has exp(-||x - z||^2 / sigma), gamma is 1 / sigma.
"""

import os
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path

try:
    import resource
except ImportError:  # on Windows
    resource = None

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.extmath import row_norms

__all__ = [
    "INNER",
    "KERNELS",
    "RADIAL",
    "check_memory",
    "check_precomputed",
    "inner_products",
    "kernel_matrix",
    "kernel_params",
    "memory_limit",
    "minus_scaled_distances",
    "physical_memory",
]

#: Advice of the error if a kernel matrix of all pairs of rows does not fit into memory.
ON_LANDMARKS = "an estimator with landmarks, such as RKELM, needs less"

# Share of non-zero numbers above which sparse rows are converted to dense ones for a product. The time of a
# product of two sparse matrices is proportional to the square of this share, that of sparse times dense to
# the share itself, but the former has to search its positions. Measured with 1e4 and 1e5 features.
SPARSE_BELOW = 0.1
SPARSE_BELOW_TIMES_DENSE = 0.04
# Numbers in a block of rows that is made dense or copied (128 MiB).
BLOCK = 2**24
# Numbers in a block that stays in the cache between two operations (512 KiB).
CACHED_NUMBERS = 2**16
# Numbers of a matrix of all pairs of rows that are computed at once (4 MiB; for sparse rows 6 MiB).
BLOCK_PAIRS = 2**19
# Numbers of rows up to which their transpose is computed once and kept for all products (1 GiB).
KEPT_NUMBERS = 2**27
# Number of rows whose medians are used as the centre of the rows.
MEDIAN_ROWS = 32
# Tolerance of the symmetry of a kernel matrix, relative to its largest value: that of single precision.
PRECOMPUTED = 1e-5
# Bound of the rounding error of the mean of equal numbers, in units of the machine precision.
ROUNDING = 8


def _gaussian(S):
    return np.exp(S, out=S)


def _inverse_multiquadric(S):
    np.subtract(1, S, out=S)
    np.sqrt(S, out=S)
    return np.divide(1, S, out=S)


def _rational_quadratic(S):
    np.subtract(1, S, out=S)
    return np.divide(1, S, out=S)


def _wave(S):
    np.negative(S, out=S)
    np.sqrt(S, out=S)
    S[...] = np.sinc(S / np.pi)
    return S


def _exponential_power(S, power=1.0):
    np.negative(S, out=S)
    S **= power / 2  # in place of S; no root for power 2
    np.negative(S, out=S)
    return np.exp(S, out=S)


#: Name -> k as a function of S = -gamma ||x - z||^2, computed in place of S, and of further parameters.
RADIAL: dict[str, Callable[..., np.ndarray]] = {
    "gaussian": _gaussian,  # exp(-gamma d^2)
    "rbf": _gaussian,  # scikit-learn's name for it
    "inverse_multiquadric": _inverse_multiquadric,  # 1 / sqrt(1 + gamma d^2)
    "rational_quadratic": _rational_quadratic,  # 1 - d^2 / (d^2 + 1 / gamma) = 1 / (1 + gamma d^2)
    "wave": _wave,  # sin(r) / r with r = sqrt(gamma) d; positive definite in up to three dimensions
    "exponential_power": _exponential_power,  # exp(-r^power); power = 1 is Laplace's, 2 the Gaussian
}
# Radial kernel -> its parameters besides gamma, with defaults. It is positive definite for 0 < power <= 2.
_OWN_PARAMS = {"exponential_power": {"power": 1.0}}


def _linear(P, gamma=1.0, degree=3, coef0=1):
    return P


def _polynomial(P, gamma=1.0, degree=3, coef0=1):
    P *= gamma
    P += coef0
    return np.power(P, degree, out=P)


def _sigmoid(P, gamma=1.0, degree=3, coef0=1):
    P *= gamma
    P += coef0
    return np.tanh(P, out=P)


#: Name -> k as a function of P = <x, z>, which it may overwrite, gamma, degree and coef0.
INNER: dict[str, Callable[..., np.ndarray]] = {
    "linear": _linear,  # <x, z>
    "polynomial": _polynomial,  # (gamma <x, z> + coef0)^degree
    "poly": _polynomial,
    "sigmoid": _sigmoid,  # tanh(gamma <x, z> + coef0), not positive definite
}

#: Kernel names accepted by :func:`kernel_matrix`.
KERNELS = frozenset(RADIAL) | frozenset(INNER) | frozenset(PAIRWISE_KERNEL_FUNCTIONS) - {"precomputed"}


def kernel_matrix(
    X, Y, kernel: str | Callable, params: dict, out: np.ndarray | None = None, *, beside: float = 0
) -> np.ndarray:
    """Kernel values of all pairs of rows.

    Parameters
    ----------
    X : {ndarray, CSR}, shape (n_samples_X, n_features)
    Y : {ndarray, CSR}, shape (n_samples_Y, n_features)
    kernel : str or callable
        One of :data:`KERNELS`, or a function of two rows.
    params : dict
        ``gamma``, ``degree``, ``coef0`` and, for ``exponential_power``, ``power``; a kernel ignores those it
        does not use. For :data:`RADIAL` kernels gamma may be an array with one value for each row of Y. A
        callable gets all of them.
    out : ndarray, shape (n_samples_X, n_samples_Y), optional
        Array for the result.
    beside : float, default=0
        Bytes that the caller will allocate while it holds the matrix.

    Returns
    -------
    ndarray, shape (n_samples_X, n_samples_Y)

    Raises
    ------
    MemoryError
        If the matrix and `beside` do not fit into memory.
    ValueError
        If a value is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.kernels import kernel_matrix
    >>> kernel_matrix(np.array([[0.0], [1.0]]), np.array([[0.0]]), "gaussian", {"gamma": 0.5}).round(4)
    array([[1.    ],
           [0.6065]])
    """
    if out is None:
        _check_kernel_memory(X, Y, beside)
    return Centres(Y, kernel, params)(X, out)


class Centres:
    """Rows with which other rows are compared by a kernel. What depends only on them is computed once.

    Parameters
    ----------
    rows : {ndarray, CSR}, shape (n_centres, n_features)
        The centres; must not be changed afterwards.
    kernel : str or callable
    params : dict
        See :func:`kernel_matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.kernels import Centres
    >>> centres = Centres(np.array([[0.0]]), "gaussian", {"gamma": 0.5})
    >>> [float(centres(np.array([[x]]))[0, 0].round(4)) for x in (0.0, 1.0)]
    [1.0, 0.6065]
    """

    def __init__(self, rows, kernel: str | Callable, params: dict):
        self.rows = rows
        self.kernel = kernel
        self.params = params

    @cached_property
    def _factor(self) -> "Factor":
        return Factor(self.rows)

    @cached_property
    def _distances(self) -> "_Distances":
        return _Distances(self.rows, self.params["gamma"])

    def __call__(self, X, out: np.ndarray | None = None) -> np.ndarray:
        """Kernel values of the rows of X with the centres, shape (n_samples, n_centres); `out` if given.

        Raises
        ------
        ValueError
            If a value is not finite.
        """
        kernel, params = self.kernel, self.params
        if kernel in RADIAL:
            own = own_params(kernel, params)
            S = self._distances(X, out, smooth=is_smooth(own))
            if X is self.rows:
                S.flat[:: len(S) + 1] = 0  # without rounding errors: the distance of a row from itself
            for rows in _cached_rows(S):
                RADIAL[kernel](S[rows], **own)
            return S
        with np.errstate(over="ignore", invalid="ignore"):  # raised as an error below
            if kernel in INNER:
                values = INNER[kernel](inner_products(X, self._factor, out), **params)
            else:
                filtered = not callable(kernel)
                X, Y = _writeable(X), _writeable(self.rows)
                values = _placed(pairwise_kernels(X, Y, metric=kernel, filter_params=filtered, **params), out)
            _check_finite(values, kernel)
        return values


def own_params(kernel: str, params: dict) -> dict:
    """The parameters of a radial kernel besides gamma."""
    return {name: params.get(name, default) for name, default in _OWN_PARAMS.get(kernel, {}).items()}


def is_smooth(own: dict) -> bool:
    """Whether a radial kernel with these further parameters is a smooth function of the squared distance."""
    return own.get("power", 2) == 2


def _writeable(X):
    """Writeable rows, a copy if X is read-only: some kernels of scikit-learn accept only these."""
    return X if issparse(X) else np.require(X, requirements="W")


def _check_kernel_memory(X, Y, beside: float) -> None:
    n, m = X.shape[0], Y.shape[0]
    values = np.result_type(X.dtype, Y.dtype).itemsize * n * m
    making = n_bytes(X) + n_bytes(Y)
    what = f"a kernel matrix of {n} x {m} rows" + " and what is solved with it" * (beside > making)
    check_memory(values + max(making, beside), what, ON_LANDMARKS)


def _check_finite(values: np.ndarray, kernel: str | Callable) -> None:
    # The sum needs no memory, but it may overflow although all values are finite.
    if np.isfinite(values.sum()) or np.isfinite(values).all():
        return
    row, column = np.argwhere(~np.isfinite(values))[0]
    raise ValueError(
        f"kernel {kernel!r} gives {values[row, column]} for rows {row} and {column}; its values must be "
        "finite; scale the features"
    )


def check_precomputed(K) -> None:
    """Raise ValueError unless K is a kernel matrix of the training rows.

    Parameters
    ----------
    K : {ndarray, CSR}
        Kernel values of all pairs of training rows.

    Raises
    ------
    ValueError
        If K is not square, or not symmetric within single precision.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.kernels import check_precomputed
    >>> check_precomputed(np.array([[1.0, 0.5], [0.5, 1.0]]))
    """
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"a precomputed kernel matrix must be square, got shape {K.shape}.")
    n = K.shape[0]
    tolerance = PRECOMPUTED * max(K.max(), -K.min())
    step = n if issparse(K) else max(1, BLOCK_PAIRS // n)
    for start in range(0, n, step):
        gaps = abs(K[start : start + step] - K[:, start : start + step].T)
        if gaps.max() > tolerance:
            i, j = np.unravel_index(gaps.argmax(), gaps.shape)
            i += start
            raise ValueError(
                f"a precomputed kernel matrix must be symmetric; it has {K[i, j]:g} in row {i}, column {j}, "
                f"and {K[j, i]:g} in row {j}, column {i}."
            )


def kernel_params(X, kernel: str | Callable, gamma, degree, coef0, weights=None, power=1.0) -> dict:
    """Kernel parameters for data X, with the names of gamma resolved as in scikit-learn's SVC.

    Parameters
    ----------
    X : {ndarray, CSR}, shape (n_samples, n_features)
    kernel : str or callable
        One of :data:`KERNELS`, or a function of two rows.
    gamma : float, "scale" or "auto"
        "scale" is 1 / (n_features * X.var()), "auto" 1 / n_features.
    degree : float
        Degree of the polynomial kernel.
    coef0 : float
        Constant of the polynomial and sigmoid kernels.
    weights : ndarray, shape (n_samples,), optional
        Weights of the rows, for "scale".
    power : float, default=1.0
        Power of the exponential_power kernel.

    Returns
    -------
    dict
        The `params` of :func:`kernel_matrix`; empty for a callable.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.kernels import kernel_params
    >>> kernel_params(np.array([[0.0], [2.0]]), "rbf", "scale", 3, 1)
    {'gamma': 1.0, 'degree': 3, 'coef0': 1}
    """
    if callable(kernel):
        return {}
    if gamma == "auto":
        gamma = 1 / X.shape[1]
    elif gamma == "scale":
        gamma = scale_gamma(X, weights)
    params = {"gamma": float(gamma), "degree": degree, "coef0": coef0}
    return params | ({"power": float(power)} if kernel in _OWN_PARAMS else {})


def linear_coef(kernel: str | Callable, dual: np.ndarray, rows) -> np.ndarray:
    """Weights of the features for outputs ``sum_j dual_oj <x, row_j>`` of a linear kernel.

    Parameters
    ----------
    kernel : str or callable
    dual : ndarray, shape (n_outputs, n_rows)
    rows : {ndarray, CSR}, shape (n_rows, n_features)

    Returns
    -------
    ndarray, shape (n_outputs, n_features)

    Raises
    ------
    AttributeError
        If the kernel is not linear.
    """
    if kernel != "linear":
        raise AttributeError(f"coef_ is available with kernel='linear' only, got kernel={kernel!r}")
    return rows.T.dot(dual.T).T


def scale_gamma(X, weights: np.ndarray | None = None) -> float:
    """The gamma called "scale", 1 / (n_features * X.var()), for dense or CSR rows, optionally weighted."""
    if weights is not None:
        n, mean, squares = weighted_spread(X, weights)
        return gamma_of_spread(X.shape[1], mean, squares / n, X.dtype)
    mean, n = X.mean(), X.shape[0] * X.shape[1]
    numbers = X.data[:, None] if issparse(X) else X
    step = max(1, CACHED_NUMBERS // numbers.shape[1])
    deviations = -(n - numbers.size) * float(mean)  # of the zeros, which are not stored
    squares = -deviations * float(mean)
    for start in range(0, len(numbers), step):
        block = numbers[start : start + step] - mean
        deviations += float(block.sum())
        squares += float(np.square(block, out=block).sum())
    # The mean is rounded, and far from the origin by much: of the deviations from it the mean is not zero.
    rest = deviations / n
    return gamma_of_spread(X.shape[1], rest, squares / n - rest**2, X.dtype, two_passes=False)


def weighted_spread(X, weights: np.ndarray) -> tuple[float, float, float]:
    """Total weight, mean and sum of squared deviations of all numbers of weighted rows, dense or CSR."""
    numbers = X.data[:, None] if issparse(X) else X
    each = np.repeat(weights, np.diff(X.indptr)) if issparse(X) else weights
    n = float(weights.sum() * X.shape[1])
    mean = float(each @ numbers.sum(axis=1, dtype=np.float64)) / n
    squares = float(each @ np.square(numbers - mean, dtype=np.float64).sum(axis=1))
    return n, mean, squares + (n - float(each.sum() * numbers.shape[1])) * mean**2


def gamma_of_spread(
    n_features: int, mean: float, variance: float, dtype, *, two_passes: bool = True
) -> float:
    """1 / (n_features * variance); 1 if all numbers are equal up to rounding errors.

    `two_passes` says whether the mean was subtracted before squaring.
    """
    precision = np.finfo(dtype)
    # A smaller variance is a rounding error of equal numbers, or its reciprocal would overflow.
    rounding = ROUNDING * precision.eps * mean**2 * (ROUNDING * precision.eps if two_passes else 1)
    return 1 / (n_features * variance) if variance > max(rounding, ROUNDING * precision.tiny) else 1.0


def minus_scaled_distances(X, Y, gamma, out: np.ndarray | None = None, *, smooth: bool = True) -> np.ndarray:
    """Squared distances of all pairs of rows times -gamma, at most zero, by matrix products.

    Parameters
    ----------
    X : {ndarray, CSR}, shape (n_samples_X, n_features)
    Y : {ndarray, CSR}, shape (n_samples_Y, n_features)
    gamma : float or ndarray of shape (n_samples_Y,)
        At least zero; an array has one value for each row of Y.
    out : ndarray, shape (n_samples_X, n_samples_Y), optional
        Array for the result.
    smooth : bool, default=True
        False for kernels that are a power of the distance below two, which are sensitive to small distances.

    Returns
    -------
    ndarray, shape (n_samples_X, n_samples_Y)

    Raises
    ------
    ValueError
        If gamma times a squared distance overflows.

    Notes
    -----
    The accuracy does not depend on the origin of the rows, nor on the distance of groups of rows. Where
    rounding errors of inner products would be visible in kernel values, rows are shifted to the origin, and
    pairs of close rows are subtracted.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.kernels import minus_scaled_distances
    >>> minus_scaled_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), 2.0)
    array([[-50.]])
    """
    return _Distances(Y, gamma)(X, out, smooth=smooth)


class _Distances:
    """Computes :func:`minus_scaled_distances` from rows Y, and stores what depends only on these.

    Parameters
    ----------
    Y : {ndarray, CSR}, shape (n_samples_Y, n_features)
    gamma : float or ndarray of shape (n_samples_Y,)
    """

    def __init__(self, Y, gamma):
        self._Y = Y
        with np.errstate(over="ignore"):  # raised as an error when rows are given
            self._gamma = np.broadcast_to(np.asarray(gamma, dtype=Y.dtype), (Y.shape[0],))
            self._largest_gamma = self._gamma.max()
            self._squares = row_norms(Y, squared=True)
            self._farthest = (self._gamma * self._squares).max()

    def __call__(self, X, out: np.ndarray | None, *, smooth: bool) -> np.ndarray:
        """The values for rows X, shape (n_samples_X, n_samples_Y)."""
        squares = row_norms(X, squared=True)
        with np.errstate(over="ignore"):
            most = max(1.0, squares.max(initial=0), self._squares.max(initial=0))
            largest = 4 * self._largest_gamma * most
        if not np.isfinite(largest):
            raise ValueError(
                f"gamma={self._largest_gamma:g} times a squared distance overflows; take a smaller gamma, or "
                "scale the features."
            )
        much = rounding_shows(X.dtype, self._Y.dtype)
        moved, frame = X, self._as_they_are
        if self._farthest > much:
            frame = self._near_the_origin
            moved = frame.Y if X is self._Y else _less(X, frame.centre)
            squares = row_norms(moved, squared=True)
        S = frame.by_inner_products(moved, squares, out)
        if not smooth or self._largest_gamma * squares.max() + frame.farthest > much:
            above, errors = 1.0 if smooth else 0.0, (squares / much, frame.squares / much)
            _subtract_close_rows(S, X, self._Y, self._gamma, *errors, above)
        return S

    @cached_property
    def _as_they_are(self) -> "_Frame":
        return _Frame(self._Y, self._gamma, self._squares)

    @cached_property
    def _near_the_origin(self) -> "_Frame":
        centre = _middle(self._Y)
        Y = _less(self._Y, centre)
        return _Frame(Y, self._gamma, row_norms(Y, squared=True), centre)


class _Frame:
    """Rows Y minus a row `centre`; distances from them are computed by inner products."""

    def __init__(self, Y, gamma: np.ndarray, squares: np.ndarray, centre: np.ndarray | None = None):
        self.Y, self.squares, self.centre = Y, squares, centre
        self.farthest = (gamma * squares).max()
        self._gamma = gamma

    @cached_property
    def _below(self) -> np.ndarray:
        return np.vstack([-self._gamma, -self._gamma * self.squares])

    @cached_property
    def _columns(self) -> np.ndarray:
        columns = np.empty((self.Y.shape[1] + 2, self.Y.shape[0]), dtype=self.Y.dtype)
        np.multiply(self.Y.T, 2 * self._gamma, out=columns[:-2])
        columns[-2:] = self._below
        return columns

    @cached_property
    def _factor(self) -> "Factor":
        return Factor(self.Y)

    def by_inner_products(self, X, squares, out) -> np.ndarray:
        """-g ||x - y||^2 = <x, 2 g y> - g ||x||^2 - g ||y||^2 of all pairs, at most zero."""
        left = np.column_stack([squares, np.ones(X.shape[0], dtype=X.dtype)])
        if not issparse(X) and not issparse(self.Y):
            S = np.matmul(np.hstack([X, left]), self._columns, out=out)
            return np.minimum(S, 0, out=S)  # rounding errors of equal rows may be positive
        S = inner_products(X, self._factor, out)
        for rows in _cached_rows(S):
            S[rows] *= 2 * self._gamma
            S[rows] += left[rows] @ self._below
            np.minimum(S[rows], 0, out=S[rows])
        return S


def rounding_shows(*dtypes) -> float:
    """Least gamma (||x||^2 + ||y||^2) at which kernel values show the rounding errors of inner products.

    The threshold is an error of (machine precision)^(2/3), 4e-11 in double precision.
    """
    return max(float(np.finfo(dtype).eps) for dtype in dtypes) ** (-1 / 3)


def _cached_rows(values: np.ndarray) -> Iterator[slice]:
    """Slices of rows that stay in the cache between two operations."""
    n, m = values.shape
    step = max(1, CACHED_NUMBERS // max(1, m))
    return (slice(start, start + step) for start in range(0, n, step))


def _middle(Y) -> np.ndarray:
    """Medians of the columns of Y, which are zero for columns that are mostly zero.

    The median of a constant column is exact, and it is robust against single rows. For CSR rows only columns
    with mostly non-zero values have a non-zero median, so that the rows minus the medians stay sparse.
    """
    some = Y[:: -(-Y.shape[0] // MEDIAN_ROWS)]
    if not issparse(Y):
        return np.median(some, axis=0)
    columns = np.flatnonzero(2 * np.bincount(some.indices, minlength=Y.shape[1]) > some.shape[0])
    centre = np.zeros(Y.shape[1], dtype=Y.dtype)
    centre[columns] = np.median(some[:, columns].toarray(), axis=0)
    return centre


def _less(X, row: np.ndarray):
    """Rows minus one row; CSR rows stay CSR."""
    if not issparse(X):
        return X - row
    n, columns = X.shape[0], np.flatnonzero(row)
    ends = np.arange(n + 1) * len(columns)
    return X - type(X)((np.tile(row[columns], n), np.tile(columns, n), ends), shape=X.shape)


def _subtract_close_rows(S, X, Y, gamma, errors, errors_y, above: float) -> None:
    """Recompute, from differences of rows, the values of S whose rounding errors kernels would show.

    These are values of rows that are close to each other relative to their distance from the origin. `errors`
    are the rounding errors of the squared norms in units of the error tolerated for equal rows. The tolerance
    grows with the distance by the factor 1 - S, because kernels are then less sensitive. With `above` zero
    the tolerance is relative to S.
    """
    length = max(rows.nnz / rows.shape[0] if issparse(rows) else rows.shape[1] for rows in (X, Y))
    step = max(1, int(CACHED_NUMBERS / max(1, length)))
    for rows in _cached_rows(S):
        left, right = np.nonzero(S[rows] > above - gamma * (errors[rows, None] + errors_y))
        left += rows.start
        for start in range(0, len(left), step):
            i, j = left[start : start + step], right[start : start + step]
            difference = X[i] - Y[j]
            if not issparse(difference):
                difference = np.asarray(difference)  # sparse minus dense rows are an np.matrix
            S[i, j] = -gamma[j] * row_norms(difference, squared=True)


class Factor:
    """Right factor of inner products: rows, and quantities computed once for many products.

    Parameters
    ----------
    rows : {ndarray, CSR}, shape (n_rows, n_features)
        The rows; must not be changed afterwards.
    """

    def __init__(self, rows):
        self.rows = rows
        self.shape = rows.shape

    @cached_property
    def density(self) -> float:
        """Share of the entries that are stored."""
        return _density(self.rows) if issparse(self.rows) else 1.0

    @cached_property
    def by_feature(self):
        """The transpose, CSR or dense, as needed for a product with sparse rows."""
        return self.rows.T.tocsr() if issparse(self.rows) else np.ascontiguousarray(self.rows.T)

    @cached_property
    def dense(self) -> np.ndarray:
        """The rows as an array."""
        return self.rows.toarray() if issparse(self.rows) else self.rows

    def features(self, step: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Slices of the rows with their transposes: `step` rows at a time if all are too many to keep."""
        if self.rows.size <= KEPT_NUMBERS:
            yield slice(None), self.by_feature
            return
        for start in range(0, self.shape[0], step):
            rows = slice(start, start + step)
            yield rows, self.rows[rows].T


def inner_products(X, Y, out: np.ndarray | None = None) -> np.ndarray:
    """Inner products of all pairs of rows, computed sparse or dense, whichever is faster.

    Parameters
    ----------
    X : {ndarray, CSR}, shape (n_samples_X, n_features)
    Y : {ndarray, CSR} or Factor, shape (n_samples_Y, n_features)
        A Factor reuses quantities from earlier products.
    out : ndarray, shape (n_samples_X, n_samples_Y), optional
        Array for the result.

    Returns
    -------
    ndarray, shape (n_samples_X, n_samples_Y)

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from entrolearn.kernels import inner_products
    >>> inner_products(csr_array([[1.0, 0.0, 2.0]]), np.array([[3.0, 4.0, 5.0]]))
    array([[13.]])
    """
    factor = Y if isinstance(Y, Factor) else Factor(Y)
    rows = factor.rows
    if not issparse(X) and not issparse(rows):
        return np.matmul(X, rows.T, out=out)
    out = np.empty((X.shape[0], rows.shape[0]), np.result_type(X.dtype, rows.dtype)) if out is None else out
    if issparse(X) and issparse(rows) and _density(X) < SPARSE_BELOW and factor.density < SPARSE_BELOW:
        step = max(1, BLOCK_PAIRS // rows.shape[0])
        for start in range(0, X.shape[0], step):
            out[start : start + step] = (X[start : start + step] @ factor.by_feature).toarray()
        return out
    step = max(1, BLOCK // X.shape[1])
    if issparse(X) and not issparse(rows) and _density(X) < SPARSE_BELOW_TIMES_DENSE:
        for some, columns in factor.features(step):
            out[:, some] = X @ columns
        return out
    for start in range(0, X.shape[0], step):
        block = X[start : start + step]
        block = block.toarray() if issparse(block) else block
        np.matmul(block, factor.dense.T, out=out[start : start + step])
    return out


def n_bytes(X) -> int:
    """Bytes of dense or CSR rows."""
    return sum(part.nbytes for part in (X.data, X.indices, X.indptr)) if issparse(X) else X.nbytes


def check_memory(needed: float, what: str, advice: str, *, reserved: float = 0) -> None:
    """Raise MemoryError if a computation needs more memory than there is.

    Parameters
    ----------
    needed : float
        Bytes that it needs.
    what : str
        What needs them: the beginning of the message.
    advice : str
        How to need less: the end of the message.
    reserved : float, default=0
        Bytes that are requested, if more than those that are used: limits of the process count these.

    Raises
    ------
    MemoryError
        The message states the memory needed and the memory available.
    """
    for takes, (there, whose) in ((needed, memory_limit()), (reserved, _limit_of_process())):
        if takes > there:
            raise MemoryError(f"{what} takes {_gib(takes)}, more than the {_gib(there)} {whose}; {advice}.")


def _gib(n_bytes: float) -> str:
    gib = n_bytes / 2**30
    return f"{gib:.3g} GiB" if gib < 100 else f"{gib:,.0f} GiB"


def memory_limit() -> tuple[float, str]:
    """Bytes that this process can allocate, and a description of the tightest limit."""
    limits = [
        (physical_memory(), "of this machine"),
        (_limit_of_container(), "of this container"),
        _limit_of_process(),
    ]
    return min(limits)


def physical_memory() -> float:
    """Bytes of memory of this machine; infinite if unknown."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return np.inf


def _limit_of_process() -> tuple[float, str]:
    """What the limits ``ulimit -v`` and ``ulimit -d``, and that of the workflow for a run, leave."""
    if resource is None:
        return np.inf, ""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="utf-8").split()
    except OSError:  # other systems than Linux
        pages = ["0"] * 7
    # See proc(5): the first number is the total size in pages, the sixth that of the data.
    left = [(np.inf, "")]
    for which, n_pages in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
        limit, _ = resource.getrlimit(which)
        if limit != resource.RLIM_INFINITY:
            there = max(0.0, limit - float(n_pages) * resource.getpagesize())
            left.append((there, f"left of the {_gib(limit)} that this process may take"))
    return min(left)


@cache
def _limit_of_container(
    own: Path = Path("/proc/self/cgroup"), groups: Path = Path("/sys/fs/cgroup")
) -> float:
    """Limits of Linux's control groups (both versions), that of the process and those above it."""
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
    except OSError:
        return np.inf
    files = []
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            folder, name = groups, "memory.max"
        elif "memory" in controllers.split(","):
            folder, name = groups / "memory", "memory.limit_in_bytes"
        else:
            continue
        within = Path(group.lstrip("/"))
        files += [folder / above / name for above in (within, *within.parents)]
    return min(map(_bytes_in, files), default=np.inf)


def _bytes_in(file: Path) -> float:
    """The number in a file; infinite if the file does not exist or contains "max"."""
    try:
        return float(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return np.inf


def _density(X) -> float:
    return X.nnz / max(1, X.shape[0] * X.shape[1])


def _placed(values, out: np.ndarray | None) -> np.ndarray:
    values = np.asarray(values.toarray() if issparse(values) else values)
    if out is None or values is out:
        return values
    out[:] = values
    return out
