"""Kernel functions by name, and the matrices of their values.

Three families: functions of the distance of two rows, of their inner product, and those that scikit-learn has
besides. A width is given as gamma, the factor of the squared distance or of the inner product; where a paper
writes exp(-||x - z||^2 / sigma), gamma is 1 / sigma.
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

#: What takes less than a kernel matrix of all pairs of rows.
ON_LANDMARKS = "a machine on landmarks, such as RKELM, needs less"

# Above these shares of numbers that are not zero, rows are multiplied as dense ones: a product of sparse rows
# finds its places one by one. Times sparse rows it takes time with the square of the share, times dense ones
# with the share itself. Measured with 1e4 and 1e5 features.
SPARSE_BELOW = 0.1
SPARSE_BELOW_TIMES_DENSE = 0.04
# Numbers of a block of rows that are made dense, or copied, at once (128 MiB).
BLOCK = 2**24
# Numbers of a block that stays in the cache between two operations (512 KiB).
CACHED_NUMBERS = 2**16
# Numbers of a matrix of all pairs of rows that are made at once beside it (4 MiB; of sparse ones 6 MiB).
BLOCK_PAIRS = 2**19
# Numbers of rows whose transpose is made once for all products with them, and kept (1 GiB).
KEPT_NUMBERS = 2**27
# Rows of which the medians say where the rows are.
MEDIAN_ROWS = 32
# Kernel values of two rows one way and the other may differ by this share of the largest: single precision's.
PRECOMPUTED = 1e-5
# A mean of equal numbers is off by less than so many times the machine precision.
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
    S **= power / 2  # a root, where it is one
    np.negative(S, out=S)
    return np.exp(S, out=S)


#: Name -> k as a function of S = -gamma ||x - z||^2, in the place of S, and of parameters of its own.
RADIAL: dict[str, Callable[..., np.ndarray]] = {
    "gaussian": _gaussian,  # exp(-gamma d^2)
    "rbf": _gaussian,  # scikit-learn's name for it
    "inverse_multiquadric": _inverse_multiquadric,  # 1 / sqrt(1 + gamma d^2)
    "rational_quadratic": _rational_quadratic,  # 1 - d^2 / (d^2 + 1 / gamma) = 1 / (1 + gamma d^2)
    "wave": _wave,  # sin(r) / r with r = sqrt(gamma) d; positive definite in up to three dimensions
    "exponential_power": _exponential_power,  # exp(-r^power); power = 1 is Laplace's, 2 the Gaussian
}
# Radial kernel -> what it takes beside gamma, with defaults. It is positive definite for 0 < power <= 2.
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

#: The names that :func:`kernel_matrix` knows.
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
        ``gamma``, ``degree`` and ``coef0``; a kernel takes what it needs of them, ``exponential_power`` its
        ``power`` too. For :data:`RADIAL` kernels gamma may be an array with a value for each row of Y. A
        callable is given all.
    out : ndarray, shape (n_samples_X, n_samples_Y), optional
        Where to put the values.
    beside : float, default=0
        Bytes that the caller will take while it holds the matrix.

    Returns
    -------
    ndarray, shape (n_samples_X, n_samples_Y)

    Raises
    ------
    MemoryError
        If there is not the memory for it and what is held beside it.
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
    """Rows with which others are compared by a kernel, and what depends on them alone, computed once.

    Parameters
    ----------
    rows : {ndarray, CSR}, shape (n_centres, n_features)
        Not to be changed afterwards.
    kernel : str or callable
    params : dict
        As in :func:`kernel_matrix`.

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
        """Kernel values of the rows of X with the centres, shape (n_samples, n_centres); in `out` if given.

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
                S.flat[:: len(S) + 1] = 0  # a row is at no distance from itself, whatever rounding says
            for rows in _cached_rows(S):
                RADIAL[kernel](S[rows], **own)
            return S
        with np.errstate(over="ignore", invalid="ignore"):  # told below
            if kernel in INNER:
                values = INNER[kernel](inner_products(X, self._factor, out), **params)
            else:
                filtered = not callable(kernel)
                X, Y = _writeable(X), _writeable(self.rows)
                values = _placed(pairwise_kernels(X, Y, metric=kernel, filter_params=filtered, **params), out)
            _check_finite(values, kernel)
        return values


def own_params(kernel: str, params: dict) -> dict:
    """The parameters that a radial kernel has beside gamma."""
    return {name: params.get(name, default) for name, default in _OWN_PARAMS.get(kernel, {}).items()}


def is_smooth(own: dict) -> bool:
    """Whether a radial kernel with these own parameters is a smooth function of the squared distance."""
    return own.get("power", 2) == 2


def _writeable(X):
    """Rows that may be written to, a copy where X may not: some of scikit-learn's kernels take no others."""
    return X if issparse(X) else np.require(X, requirements="W")


def _check_kernel_memory(X, Y, beside: float) -> None:
    n, m = X.shape[0], Y.shape[0]
    values = np.result_type(X.dtype, Y.dtype).itemsize * n * m
    making = n_bytes(X) + n_bytes(Y)
    what = f"a kernel matrix of {n} x {m} rows" + " and what is solved with it" * (beside > making)
    check_memory(values + max(making, beside), what, ON_LANDMARKS)


def _check_finite(values: np.ndarray, kernel: str | Callable) -> None:
    # Their sum, which takes no memory, may overflow where none of them does.
    if np.isfinite(values.sum()) or np.isfinite(values).all():
        return
    row, column = np.argwhere(~np.isfinite(values))[0]
    raise ValueError(
        f"kernel {kernel!r} gives {values[row, column]} for rows {row} and {column}; its values must be "
        "finite. Are the features scaled?"
    )


def check_precomputed(K) -> None:
    """Refuse what is no kernel matrix of training rows.

    Parameters
    ----------
    K : {ndarray, CSR}
        Values of a kernel with all pairs of rows.

    Raises
    ------
    ValueError
        If it is not square, or not symmetric as far as single precision shows.

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
    """Parameters of a kernel on data like X, with gamma's names resolved as scikit-learn's SVC does.

    Parameters
    ----------
    X : {ndarray, CSR}, shape (n_samples, n_features)
    kernel : str or callable
        One of :data:`KERNELS`, or a function of two rows.
    gamma : float, "scale" or "auto"
        "scale" is 1 / (n_features * X.var()), "auto" 1 / n_features.
    degree : float
        Of the polynomial kernel.
    coef0 : float
        Of the polynomial and sigmoid kernels.
    weights : ndarray, shape (n_samples,), optional
        Of the rows, for "scale".
    power : float, default=1.0
        Of the exponential_power kernel.

    Returns
    -------
    dict
        What :func:`kernel_matrix` takes as `params`; empty for a callable.

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
    """Weights of the features, of outputs ``sum_j dual_oj <x, row_j>``.

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
        If the kernel is another one: its features are not those of the rows.
    """
    if kernel != "linear":
        raise AttributeError(f"coef_ is available with kernel='linear' only, got kernel={kernel!r}")
    return rows.T.dot(dual.T).T


def scale_gamma(X, weights: np.ndarray | None = None) -> float:
    """The gamma that is called "scale", 1 / (n_features * X.var()), for rows dense or CSR, and weighted."""
    if weights is not None:
        n, mean, squares = weighted_spread(X, weights)
        return gamma_of_spread(X.shape[1], mean, squares / n, X.dtype)
    mean, n = X.mean(), X.shape[0] * X.shape[1]
    numbers = X.data[:, None] if issparse(X) else X
    step = max(1, CACHED_NUMBERS // numbers.shape[1])
    deviations = -(n - numbers.size) * float(mean)  # of the zeros that are not stored
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
    """1 / (n_features * variance); 1 where the numbers are equal, as far as rounding lets one see.

    `two_passes` says that the mean was subtracted before anything was squared.
    """
    precision = np.finfo(dtype)
    # What rounding leaves of equal numbers; and below, gamma would not be a number.
    rounding = ROUNDING * precision.eps * mean**2 * (ROUNDING * precision.eps if two_passes else 1)
    return 1 / (n_features * variance) if variance > max(rounding, ROUNDING * precision.tiny) else 1.0


def minus_scaled_distances(X, Y, gamma, out: np.ndarray | None = None, *, smooth: bool = True) -> np.ndarray:
    """Squared distances of all pairs of rows times -gamma, at most zero, by matrix products.

    Parameters
    ----------
    X : {ndarray, CSR}, shape (n_samples_X, n_features)
    Y : {ndarray, CSR}, shape (n_samples_Y, n_features)
    gamma : float or ndarray of shape (n_samples_Y,)
        At least zero; of an array each row of Y has its own.
    out : ndarray, shape (n_samples_X, n_samples_Y), optional
        Where to put the values.
    smooth : bool, default=True
        False for a kernel of a power of the distance below two, which sees small distances.

    Returns
    -------
    ndarray, shape (n_samples_X, n_samples_Y)

    Raises
    ------
    ValueError
        If gamma is so large that it times a square overflows.

    Notes
    -----
    It does not matter where the rows are, nor how far groups of them are apart: where inner products lose
    digits that a kernel would show, rows are moved to the origin, and those close to each other subtracted.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.kernels import minus_scaled_distances
    >>> minus_scaled_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), 2.0)
    array([[-50.]])
    """
    return _Distances(Y, gamma)(X, out, smooth=smooth)


class _Distances:
    """:func:`minus_scaled_distances` from rows Y, and what of it depends on these alone.

    Parameters
    ----------
    Y : {ndarray, CSR}, shape (n_samples_Y, n_features)
    gamma : float or ndarray of shape (n_samples_Y,)
    """

    def __init__(self, Y, gamma):
        self._Y = Y
        with np.errstate(over="ignore"):  # told of when rows come
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
    """Rows Y less a row `centre`, from which distances are computed by inner products."""

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
            return np.minimum(S, 0, out=S)  # rounding where two rows are the same
        S = inner_products(X, self._factor, out)
        for rows in _cached_rows(S):
            S[rows] *= 2 * self._gamma
            S[rows] += left[rows] @ self._below
            np.minimum(S[rows], 0, out=S[rows])
        return S


def rounding_shows(*dtypes) -> float:
    """Gamma (||x||^2 + ||y||^2) from which on kernel values would show the rounding of inner products.

    That is by more than (machine precision)^(2/3), 4e-11 in double precision.
    """
    return max(float(np.finfo(dtype).eps) for dtype in dtypes) ** (-1 / 3)


def _cached_rows(values: np.ndarray) -> Iterator[slice]:
    """Slices of rows that stay in the cache between two operations."""
    n, m = values.shape
    step = max(1, CACHED_NUMBERS // max(1, m))
    return (slice(start, start + step) for start in range(0, n, step))


def _middle(Y) -> np.ndarray:
    """The medians of Y's columns, which are zero for columns that are mostly zero.

    A median is the value of a constant column, and not drawn away by a few rows. Of CSR rows those columns
    alone have one that are not zero in most rows, so that the rows less it stay sparse.
    """
    some = Y[:: -(-Y.shape[0] // MEDIAN_ROWS)]
    if not issparse(Y):
        return np.median(some, axis=0)
    columns = np.flatnonzero(2 * np.bincount(some.indices, minlength=Y.shape[1]) > some.shape[0])
    centre = np.zeros(Y.shape[1], dtype=Y.dtype)
    centre[columns] = np.median(some[:, columns].toarray(), axis=0)
    return centre


def _less(X, row: np.ndarray):
    """Rows less one row; CSR rows stay so."""
    if not issparse(X):
        return X - row
    n, columns = X.shape[0], np.flatnonzero(row)
    ends = np.arange(n + 1) * len(columns)
    return X - type(X)((np.tile(row[columns], n), np.tile(columns, n), ends), shape=X.shape)


def _subtract_close_rows(S, X, Y, gamma, errors, errors_y, above: float) -> None:
    """Compute anew, from differences of rows, the values of S whose rounding would show in kernel values.

    Those are of rows that are close to each other beside their distances from the origin. `errors` are the
    rounding errors of the squared norms as multiples of what is let pass for equal rows. For others it is
    larger by the factor 1 - S: kernels change the less, the larger the distance. With `above` zero it is a
    share of S itself.
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
                difference = np.asarray(difference)  # sparse rows less dense ones are a np.matrix
            S[i, j] = -gamma[j] * row_norms(difference, squared=True)


class Factor:
    """The right factor of inner products: rows, and what many products with them share, made once.

    Parameters
    ----------
    rows : {ndarray, CSR}, shape (n_rows, n_features)
        Not to be changed afterwards.
    """

    def __init__(self, rows):
        self.rows = rows
        self.shape = rows.shape

    @cached_property
    def density(self) -> float:
        """Share of the numbers that are stored."""
        return _density(self.rows) if issparse(self.rows) else 1.0

    @cached_property
    def by_feature(self):
        """The transpose, CSR or dense, as a product with sparse rows reads it."""
        return self.rows.T.tocsr() if issparse(self.rows) else np.ascontiguousarray(self.rows.T)

    @cached_property
    def dense(self) -> np.ndarray:
        """The rows as an array."""
        return self.rows.toarray() if issparse(self.rows) else self.rows

    def features(self, step: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Slices of the rows and their transposes: so many rows at a time where all are too many to keep."""
        if self.rows.size <= KEPT_NUMBERS:
            yield slice(None), self.by_feature
            return
        for start in range(0, self.shape[0], step):
            rows = slice(start, start + step)
            yield rows, self.rows[rows].T


def inner_products(X, Y, out: np.ndarray | None = None) -> np.ndarray:
    """Inner products of all pairs of rows, sparse or dense as is quicker for what they hold.

    Parameters
    ----------
    X : {ndarray, CSR}, shape (n_samples_X, n_features)
    Y : {ndarray, CSR} or Factor, shape (n_samples_Y, n_features)
        A factor keeps what further products need.
    out : ndarray, shape (n_samples_X, n_samples_Y), optional
        Where to put the values.

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
    """Bytes of rows dense or CSR."""
    return sum(part.nbytes for part in (X.data, X.indices, X.indptr)) if issparse(X) else X.nbytes


def check_memory(needed: float, what: str, advice: str, *, reserved: float = 0) -> None:
    """Refuse what there is no memory for, before anything of it is computed.

    Parameters
    ----------
    needed : float
        Bytes.
    what : str
        What the error begins with: what takes them.
    advice : str
        What it ends with: what takes less.
    reserved : float, default=0
        Bytes that are asked for, where they are more than those that are used: a limit of the process counts
        them.

    Raises
    ------
    MemoryError
        That says what it takes and what there is.
    """
    for takes, (there, whose) in ((needed, memory_limit()), (reserved, _limit_of_process())):
        if takes > there:
            raise MemoryError(f"{what} takes {_gib(takes)}, more than the {_gib(there)} {whose}; {advice}.")


def _gib(n_bytes: float) -> str:
    gib = n_bytes / 2**30
    return f"{gib:.3g} GiB" if gib < 100 else f"{gib:,.0f} GiB"


def memory_limit() -> tuple[float, str]:
    """Bytes that this process can have, and what it is that has no more of them."""
    limits = [
        (physical_memory(), "of this machine"),
        (_limit_of_container(), "of this container"),
        _limit_of_process(),
    ]
    return min(limits)


def physical_memory() -> float:
    """Bytes of this machine, infinite where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return np.inf


def _limit_of_process() -> tuple[float, str]:
    """What is left of what ``ulimit -v`` and ``ulimit -d`` allow, and the workflow allows a cell."""
    if resource is None:
        return np.inf, ""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="utf-8").split()
    except OSError:  # on other systems than Linux
        pages = ["0"] * 7
    # By proc(5) the first number is of all pages, the sixth of those of data.
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
    """What Linux's control groups allow, the process's own and those above it, in either version of them."""
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
    """The number in a file; infinite where there is no such file, or the word max in it."""
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
