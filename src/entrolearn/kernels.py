"""Kernels and activations by name, with their derivatives, and kernel matrices.

There are three families of kernels: functions of the distance of two rows, functions of their inner product,
and other kernels of scikit-learn. Widths are given as gamma, the factor of the squared distance or of the
inner product. Where a paper has exp(-||x - z||^2 / sigma), gamma is 1 / sigma. The names are scikit-learn's.

Rows are arrays of NumPy, dense or CSR, or of another library that follows the array API. The latter are
computed on their device, and only with the kernels of :data:`RADIAL` and :data:`INNER`.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Real
from pathlib import Path
from types import SimpleNamespace
from typing import Any

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]  # a module elsewhere

import numpy as np
from scipy.sparse import issparse
from sklearn.externals.array_api_compat import array_namespace
from sklearn.externals.array_api_compat import device as device_of
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils.extmath import row_norms

from entrolearn.suggest import did_you_mean
from entrolearn.validation import Interval, StrOptions

__all__ = [
    "ADDITIVE",
    "INNER",
    "KERNELS",
    "ON_DEVICES",
    "RADIAL",
    "Formula",
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


@dataclass(frozen=True)
class Formula:
    """A function of each number of an array, and its derivative.

    Attributes
    ----------
    value : callable
        Function of the array, which it may overwrite, its namespace and further parameters.
    slope : callable, optional
        The same for the derivative; it does not overwrite the array.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.kernels import RADIAL
    >>> multiquadric, S = RADIAL["inverse_multiquadric"], np.array([-3.0])
    >>> multiquadric.slope(S, np), multiquadric.value(S, np)
    (array([0.0625]), array([0.5]))
    """

    value: Callable
    slope: Any = None


def _logistic(Z, xp):
    if hasattr(xp, "sigmoid"):  # scipy.special.expit needs SCIPY_ARRAY_API to be set before SciPy is imported
        return xp.sigmoid(Z)
    return _reciprocal_of_one_plus_exp(xp.negative(Z), xp)


def _logistic_below_one(Z, xp):
    # G - 1 = -1 / (1 + exp(<w, x> - b)) has full relative precision where G is almost one
    return xp.negative(_reciprocal_of_one_plus_exp(Z, xp))


def _reciprocal_of_one_plus_exp(Z, xp):
    Z = xp.exp(Z)
    Z += 1
    return xp.reciprocal(Z)


def _logistic_slope(Z, xp):
    below = xp.exp(-xp.abs(Z))
    return below / (1 + below) ** 2


#: Name -> G as a function of Z = <w, x> - b; sigmoids as in section 7 of the EEM paper. "nsigmoid" units
#: divide <w, x> by the number of features.
ADDITIVE: dict[str, Formula] = {
    "sigmoid": Formula(_logistic, _logistic_slope),
    "nsigmoid": Formula(_logistic, _logistic_slope),
    "sine": Formula(lambda Z, xp: xp.sin(Z), lambda Z, xp: xp.cos(Z)),
    "hardlimit": Formula(lambda Z, xp: array_namespace(Z).astype(Z >= 0, Z.dtype)),
}
#: The same minus one, computed without rounding to one. A readout that is invariant to constants (the entropy
#: discriminant) can then use the variation of saturated units.
BELOW_ONE = ADDITIVE | dict.fromkeys(("sigmoid", "nsigmoid"), Formula(_logistic_below_one, _logistic_slope))


def _inverse_multiquadric(S, xp):
    S = xp.negative(S)
    S += 1
    return xp.reciprocal(xp.sqrt(S))


def _rational_quadratic(S, xp):
    S = xp.negative(S)
    S += 1
    return xp.reciprocal(S)


def _wave(S, xp):
    r = xp.sqrt(xp.negative(S))
    r /= np.pi  # and back, as np.sinc rounds
    r *= np.pi
    r = xp.clip(r, 1e-20, None)  # sin(r) / r is then one
    return xp.sin(+r) / r  # of a copy: the sine may be computed in place


def _wave_slope(S, xp):
    r = xp.sqrt(-S)
    safe = xp.where(r > 1e-2, r, xp.ones_like(r))
    return xp.where(r > 1e-2, (xp.sin(safe) - safe * xp.cos(safe)) / (2 * safe**3), 1 / 6 + S / 60)


def _exponential_power(S, xp, power=1.0):
    S = xp.negative(S)
    S **= power / 2  # no root for power 2
    return xp.exp(xp.negative(S))


def _exponential_power_slope(S, xp, power=1.0):
    apart = S < 0
    distances = xp.where(apart, -S, xp.ones_like(S))
    powers = distances ** (power / 2)
    slope = (power / 2) * powers / distances * xp.exp(-powers)
    return xp.where(apart, slope, xp.zeros_like(S))


#: Name -> k as a function of S = -gamma ||x - z||^2 and of further parameters.
RADIAL: dict[str, Formula] = {
    "rbf": Formula(lambda S, xp: xp.exp(S), lambda S, xp: xp.exp(S)),
    "inverse_multiquadric": Formula(_inverse_multiquadric, lambda S, xp: 0.5 * (1 - S) ** -1.5),
    "rational_quadratic": Formula(_rational_quadratic, lambda S, xp: (1 - S) ** -2.0),
    "wave": Formula(_wave, _wave_slope),  # positive definite in up to three dimensions
    "exponential_power": Formula(_exponential_power, _exponential_power_slope),  # power = 1 is Laplace's
}


def _affine(P, gamma, coef0):
    P *= gamma
    P += coef0
    return P


def _polynomial(P, xp, gamma=1.0, degree=3, coef0=1):
    return xp.pow(_affine(P, gamma, coef0), degree)


def _polynomial_slope(P, xp, gamma=1.0, degree=3, coef0=1):
    return degree * gamma * (gamma * P + coef0) ** (degree - 1)


def _sigmoid(P, xp, gamma=1.0, coef0=1, **params):
    return xp.tanh(_affine(P, gamma, coef0))


def _sigmoid_slope(P, xp, gamma=1.0, coef0=1, **params):
    return gamma * (1 - xp.tanh(gamma * P + coef0) ** 2)


#: Name -> k as a function of P = <x, z>, gamma and of further parameters.
INNER: dict[str, Formula] = {
    "linear": Formula(lambda P, xp, **params: P, lambda P, xp, **params: xp.ones_like(P)),
    "poly": Formula(_polynomial, _polynomial_slope),
    "sigmoid": Formula(_sigmoid, _sigmoid_slope),  # not positive definite
}

#: Names of the kernels that are computed for arrays of any library.
ON_DEVICES = frozenset(RADIAL) | frozenset(INNER)
#: Kernel names accepted by :func:`kernel_matrix`; "poly" has one name only.
KERNELS = ON_DEVICES | frozenset(PAIRWISE_KERNEL_FUNCTIONS) - {"precomputed", "polynomial"}
#: Name -> the parameters besides gamma, with their defaults; other kernels have none.
FURTHER: dict[str, dict] = {
    "poly": {"degree": 3, "coef0": 1},
    "sigmoid": {"coef0": 1},
    "exponential_power": {"power": 1.0},
}
# Ranges of these parameters.
_RANGES = {
    "degree": Interval(Real, 0, None, closed="left"),
    "coef0": Interval(Real, None, None, closed="neither"),
    "power": Interval(Real, 0, 2, closed="right"),
}
#: Constraints of the parameters ``kernel``, ``gamma`` and ``kernel_params`` of an estimator.
KERNEL_CONSTRAINTS: dict = {
    "kernel": [StrOptions(KERNELS), callable],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
    "kernel_params": [dict, None],
}


class KernelParameters:
    """Base class of estimators with the parameters ``kernel`` and ``kernel_params``, which it validates."""

    kernel: Any
    kernel_params: dict | None

    def _validate_params(self) -> None:
        super()._validate_params()  # type: ignore[misc]  # of the estimator
        further_params(self.kernel, self.kernel_params, type(self).__name__)


def further_params(kernel: str | Callable, given: dict | None, name: str = "the kernel") -> dict:
    """All parameters of a kernel besides gamma: the given ones, and defaults; of a callable the given ones.

    Raises
    ------
    ValueError
        If the kernel has no such parameter, or a value is out of range. `name` is the estimator's.
    """
    known = FURTHER.get(kernel, {}) if isinstance(kernel, str) else None
    if known is None:
        return dict(given or {})
    for key, value in (given or {}).items():
        if key not in known:
            accepted = ", ".join(map(repr, known)) or "none"
            raise ValueError(
                f"kernel_params of {name} has {key!r}{did_you_mean(key, known)}; the kernel {kernel!r} has "
                f"these parameters besides gamma: {accepted}."
            )
        if not _RANGES[key].is_satisfied_by(value):
            raise ValueError(f"kernel_params of {name} has {key}={value!r}; accepted: {_RANGES[key]}.")
    return known | (given or {})


def namespace(array):
    """The array's namespace: NumPy, also for sparse arrays, or an array API library."""
    return np if isinstance(array, np.ndarray) or issparse(array) else array_namespace(array)


def _in_place(function: Callable) -> Callable:
    return lambda Z, *arguments: function(Z, *arguments, out=Z)


# The functions of formulas, computed in place of a NumPy array.
_IN_PLACE = SimpleNamespace(
    **{
        name: _in_place(getattr(np, name))
        for name in ("clip", "exp", "negative", "pow", "reciprocal", "sin", "sqrt", "tanh")
    }
)


def apply(function: Callable, Z, **params):
    """A value of a :class:`Formula`; of a NumPy array in place, in blocks of rows that stay in the cache."""
    with np.errstate(over="ignore"):  # of an exponential whose reciprocal is then zero, as it should be
        if not isinstance(Z, np.ndarray):
            return function(Z, namespace(Z), **params)
        for rows in _cached_rows(Z):
            block = Z[rows]
            values = function(block, _IN_PLACE, **params)
            if values is not block:
                block[...] = values
    return Z


def kernel_matrix(
    X, Y, kernel: str | Callable, params: dict, out: np.ndarray | None = None, *, beside: float = 0
) -> np.ndarray:
    """Kernel values of all pairs of rows.

    Parameters
    ----------
    X : {array, CSR}, shape (n_samples_X, n_features)
    Y : {array, CSR}, shape (n_samples_Y, n_features)
    kernel : str or callable
        One of :data:`KERNELS`, or a function of two rows.
    params : dict
        ``gamma``, ``degree``, ``coef0`` and ``power``; a kernel ignores those it does not use. For
        :data:`RADIAL` kernels gamma may be an array with one value for each row of Y. A callable gets all of
        them.
    out : ndarray, shape (n_samples_X, n_samples_Y), optional
        Array for the result.
    beside : float, default=0
        Bytes that the caller will allocate while it holds the matrix.

    Returns
    -------
    array, shape (n_samples_X, n_samples_Y)

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
    >>> kernel_matrix(np.array([[0.0], [1.0]]), np.array([[0.0]]), "rbf", {"gamma": 0.5}).round(4)
    array([[1.    ],
           [0.6065]])
    """
    if out is None:
        _check_kernel_memory(X, Y, beside)
    return Centres(Y, kernel, params)(X, out)


@dataclass(eq=False)
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
    >>> centres = Centres(np.array([[0.0]]), "rbf", {"gamma": 0.5})
    >>> [float(centres(np.array([[x]]))[0, 0].round(4)) for x in (0.0, 1.0)]
    [1.0, 0.6065]
    """

    rows: Any
    kernel: str | Callable
    params: dict

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
            S = self._distances(X, out, smooth=own.get("power", 2) == 2)
            if X is self.rows:  # without rounding errors: the distance of a row from itself
                if isinstance(S, np.ndarray):
                    S.flat[:: len(S) + 1] = 0
                else:
                    S *= 1 - namespace(S).eye(S.shape[0], dtype=S.dtype, device=device_of(S))
            return apply(RADIAL[kernel].value, S, **own)
        with np.errstate(over="ignore", invalid="ignore"):  # raised as an error below
            if kernel in INNER:
                values = apply(INNER[kernel].value, inner_products(X, self._factor, out), **params)
            else:
                filtered = not callable(kernel)
                X, Y = _writeable(X), _writeable(self.rows)
                values = _placed(pairwise_kernels(X, Y, metric=kernel, filter_params=filtered, **params), out)
            _check_finite(values, kernel)
        return values


def own_params(kernel: str, params: dict) -> dict:
    """The parameters of a radial kernel besides gamma; with a power other than 2 it is not smooth at zero."""
    return {"power": params.get("power", 1.0)} if kernel == "exponential_power" else {}


def _writeable(X):
    """Writeable rows, a copy if X is read-only: some kernels of scikit-learn accept only these."""
    return X if issparse(X) else np.require(X, requirements="W")


def _check_kernel_memory(X, Y, beside: float) -> None:
    if namespace(Y) is not np:
        return
    n, m = X.shape[0], Y.shape[0]
    values = np.result_type(X.dtype, Y.dtype).itemsize * n * m
    making = n_bytes(X) + n_bytes(Y)
    what = f"a kernel matrix of {n} x {m} rows" + " and what is solved with it" * (beside > making)
    check_memory(values + max(making, beside), what, ON_LANDMARKS)


def _check_finite(values, kernel: str | Callable) -> None:
    xp = namespace(values)
    # The sum needs no memory, but it may overflow although all values are finite.
    if xp.isfinite(xp.sum(values)) or xp.all(xp.isfinite(values)):
        return
    row, column = (int(indices[0]) for indices in xp.nonzero(~xp.isfinite(values)))
    raise ValueError(
        f"kernel {kernel!r} gives {float(values[row, column])} for rows {row} and {column}; its "
        "values must be finite; scale the features"
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


def kernel_params(X, kernel: str | Callable, gamma, further: dict | None = None, weights=None) -> dict:
    """All parameters of a kernel for data X, with the names of gamma resolved as in scikit-learn's SVC.

    Parameters
    ----------
    X : {ndarray, CSR}, shape (n_samples, n_features)
    kernel : str or callable
        One of :data:`KERNELS`, or a function of two rows.
    gamma : float, "scale" or "auto"
        "scale" is 1 / (n_features * X.var()), "auto" 1 / n_features.
    further : dict, optional
        The parameter ``kernel_params`` of the estimator.
    weights : ndarray, shape (n_samples,), optional
        Weights of the rows, for "scale".

    Returns
    -------
    dict
        The `params` of :func:`kernel_matrix`; for a callable only `further`.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.kernels import kernel_params
    >>> kernel_params(np.array([[0.0], [2.0]]), "poly", "scale", {"degree": 2})
    {'gamma': 1.0, 'degree': 2, 'coef0': 1}
    """
    params = further_params(kernel, further)
    if callable(kernel):
        return params
    if gamma == "auto":
        gamma = 1 / X.shape[1]
    elif gamma == "scale":
        gamma = scale_gamma(X, weights)
    return {"gamma": float(gamma)} | params


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
    X : {array, CSR}, shape (n_samples_X, n_features)
    Y : {array, CSR}, shape (n_samples_Y, n_features)
    gamma : float or array of shape (n_samples_Y,)
        At least zero; an array has one value for each row of Y.
    out : ndarray, shape (n_samples_X, n_samples_Y), optional
        Array for the result.
    smooth : bool, default=True
        False for kernels that are a power of the distance below two, which are sensitive to small distances.

    Returns
    -------
    array, shape (n_samples_X, n_samples_Y)

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
    Y : {array, CSR}, shape (n_samples_Y, n_features)
    gamma : float or array of shape (n_samples_Y,)
    """

    def __init__(self, Y, gamma):
        self._Y = Y
        xp = namespace(Y)
        device = {} if xp is np else {"device": device_of(Y)}
        with np.errstate(over="ignore"):  # raised as an error when rows are given
            self._gamma = xp.broadcast_to(xp.asarray(gamma, dtype=Y.dtype, **device), (Y.shape[0],))
            self._largest_gamma = _largest(self._gamma)
            self._as_they_are = _Frame(Y, self._gamma)
            self._largest_square = _largest(self._as_they_are.squares)

    def __call__(self, X, out: np.ndarray | None, *, smooth: bool) -> np.ndarray:
        """The values for rows X, shape (n_samples_X, n_samples_Y)."""
        squares = _squares(X)
        largest_square = _largest(squares)
        with np.errstate(over="ignore"):
            largest = 4 * self._largest_gamma * max(1.0, largest_square, self._largest_square)
        if not np.isfinite(largest):
            raise ValueError(
                f"gamma={self._largest_gamma:g} times a squared distance overflows; take a smaller gamma, or "
                "scale the features."
            )
        # Least gamma (||x||^2 + ||y||^2) at which kernel values show the rounding errors of inner products:
        # those of (machine precision)^(2/3), 4e-11 in double precision.
        dtypes = squares.dtype, self._as_they_are.squares.dtype
        much = max(float(namespace(squares).finfo(dtype).eps) for dtype in dtypes) ** (-1 / 3)
        moved, frame = X, self._as_they_are
        if frame.farthest > much:
            frame = self._near_the_origin
            moved = frame.Y if X is self._Y else _less(X, frame.centre)
            squares = _squares(moved)
            largest_square = _largest(squares)
        S = frame.by_inner_products(moved, squares, out)
        if not smooth or self._largest_gamma * largest_square + frame.farthest > much:
            above, errors = 1.0 if smooth else 0.0, (squares / much, frame.squares / much)
            _subtract_close_rows(S, X, self._Y, self._gamma, *errors, above)
        return S

    @cached_property
    def _near_the_origin(self) -> "_Frame":
        centre = _middle(self._Y)
        return _Frame(_less(self._Y, centre), self._gamma, centre)


class _Frame:
    """Rows Y minus a row `centre`; distances from them are computed by inner products."""

    def __init__(self, Y, gamma, centre=None):
        self.Y, self.centre = Y, centre
        self.squares = _squares(Y)
        self.farthest = _largest(gamma * self.squares)
        self._gamma = gamma

    @cached_property
    def _columns(self):
        xp, (n_rows, n_features) = namespace(self.Y), self.Y.shape
        columns = xp.empty((n_features + 2, n_rows), dtype=self.Y.dtype, device=device_of(self.Y))
        columns[:-2, :] = self.Y.T * (2 * self._gamma)
        columns[-2, :], columns[-1, :] = -self._gamma, -self._gamma * self.squares
        return columns

    @cached_property
    def _factor(self) -> "Factor":
        return Factor(self.Y)

    def by_inner_products(self, X, squares, out):
        """-g ||x - y||^2 = <x, 2 g y> - g ||x||^2 - g ||y||^2 of all pairs, at most zero."""
        xp = namespace(X)
        left = xp.stack([squares, xp.ones_like(squares)], axis=1)
        if not issparse(X) and not issparse(self.Y):
            rows = xp.concat([X, left], axis=1)
            S = rows @ self._columns if out is None else np.matmul(rows, self._columns, out=out)
            # Rounding errors of equal rows may be positive. Some libraries' clip takes several passes.
            zero = xp.zeros((), dtype=S.dtype, device=device_of(S))
            return np.minimum(S, 0, out=S) if xp is np else xp.minimum(S, zero)
        S, below = inner_products(X, self._factor, out), np.stack([-self._gamma, -self._gamma * self.squares])
        for rows in _cached_rows(S):
            S[rows] *= 2 * self._gamma
            S[rows] += left[rows] @ below
            np.minimum(S[rows], 0, out=S[rows])
        return S


def _squares(X):
    """Squared norms of rows, shape (n_rows,)."""
    xp = namespace(X)
    return row_norms(X, squared=True) if xp is np else xp.sum(X * X, axis=1)


def _largest(values):
    """The largest of some numbers: a scalar of NumPy, or a number of Python for another library."""
    return values.max() if isinstance(values, np.ndarray) else float(namespace(values).max(values))


def _cached_rows(values) -> Iterator[slice]:
    """Slices of rows that stay in the cache between two operations; larger ones for other libraries."""
    n, m = values.shape
    step = max(1, (CACHED_NUMBERS if isinstance(values, np.ndarray) else BLOCK) // max(1, m))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _middle(Y):
    """Medians of the columns of Y, which are zero for columns that are mostly zero.

    The median of a constant column is exact, and it is robust against single rows. For CSR rows only columns
    with mostly non-zero values have a non-zero median, so that the rows minus the medians stay sparse.
    """
    step = -(-Y.shape[0] // MEDIAN_ROWS)
    if not issparse(Y):
        ordered = namespace(Y).sort(Y[::step, :], axis=0)
        n = ordered.shape[0]
        return (ordered[(n - 1) // 2, :] + ordered[n // 2, :]) / 2
    some = Y[::step]
    columns = np.flatnonzero(2 * np.bincount(some.indices, minlength=Y.shape[1]) > some.shape[0])
    centre = np.zeros(Y.shape[1], dtype=Y.dtype)
    centre[columns] = np.median(some[:, columns].toarray(), axis=0)
    return centre


def _less(X, row):
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
    xp = namespace(S)
    length = max(rows.nnz / rows.shape[0] if issparse(rows) else rows.shape[1] for rows in (X, Y))
    step = max(1, int((CACHED_NUMBERS if isinstance(S, np.ndarray) else BLOCK) / max(1, length)))
    for rows in _cached_rows(S):
        block = S[rows, :]
        close = block > above - gamma * (errors[rows, None] + errors_y)
        left, right = xp.nonzero(close)
        values = []
        for start in range(0, left.shape[0], step):
            pairs = slice(start, min(start + step, left.shape[0]))
            i, j = left[pairs], right[pairs]
            difference = _take(X, i + rows.start) - _take(Y, j)
            if isinstance(difference, np.matrix):  # sparse minus dense rows
                difference = np.asarray(difference)
            values.append(-xp.take(gamma, j) * _squares(difference))
        if values:
            block[close] = xp.concat(values)


def _take(X, indices):
    return X[indices] if issparse(X) else namespace(X).take(X, indices, axis=0)


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
        return X @ rows.T if out is None else np.matmul(X, rows.T, out=out)
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
    # See proc(5): the first number is the total size in pages, the sixth that of the data.
    left = [(np.inf, "")]
    for which, place in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)):
        limit, _ = resource.getrlimit(which)
        if limit == resource.RLIM_INFINITY:
            continue
        try:
            n_pages = float(Path("/proc/self/statm").read_text(encoding="utf-8").split()[place])
        except OSError:  # other systems than Linux
            n_pages = 0.0
        there = max(0.0, limit - n_pages * resource.getpagesize())
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
