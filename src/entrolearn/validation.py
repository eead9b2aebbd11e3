"""Validation of parameters and data, based on scikit-learn.

The parameter validation of scikit-learn is private. The whole package imports it from here, so that changes
in scikit-learn affect one file. The array checks of scikit-learn keep the memory layout, but rounding errors
of sums depend on it. Here arrays of equal numbers get the same layout and therefore bitwise equal results.
Arrays of other libraries stay on their devices, by the array API dispatch of scikit-learn.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from numbers import Real
from typing import Any, TypeVar, cast

import numpy as np
from scipy.sparse import issparse
from sklearn import __version__ as sklearn_version
from sklearn.base import _fit_context
from sklearn.externals.array_api_compat import array_namespace, is_array_api_obj
from sklearn.externals.array_api_compat import device as device_of
from sklearn.utils import _safe_indexing, check_array, get_tags
from sklearn.utils import check_X_y as sklearn_check_X_y
from sklearn.utils._array_api import _convert_to_numpy, get_namespace
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.fixes import parse_version
from sklearn.utils.multiclass import (
    _check_partial_fit_first_call,
    check_classification_targets,
    type_of_target,
)
from sklearn.utils.parallel import _get_threadpool_controller
from sklearn.utils.validation import _check_sample_weight
from sklearn.utils.validation import validate_data as sklearn_validate_data

__all__ = [
    "ARRAY_API",
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "array_namespace",
    "blas_has_one_thread",
    "canonical",
    "check_X_y",
    "check_labels",
    "check_params",
    "check_same_namespace",
    "checked_weights",
    "class_error_weights",
    "class_priors",
    "device_of",
    "dispatched_namespace",
    "encode",
    "encode_two",
    "has_double",
    "is_numpy",
    "learn_classes",
    "numpy_dtype",
    "one_thread_where_small",
    "times_class_weights",
    "to_numpy",
    "validate_data",
    "validated",
    "weighted_rows",
]

#: Whether arrays of other libraries are accepted: the dispatch of scikit-learn 1.7 differs.
ARRAY_API = parse_version(sklearn_version) >= parse_version("1.8")

#: Largest accepted numbers, by item size: sums over rows of their fourth powers (in single precision, of
#: their squares) do not overflow. For numbers far below one, whose squares underflow (1e-130, in single
#: precision 1e-15), results are finite but may be those of equal rows.
LARGEST = {4: 1e15, 8: 1e70}

#: Largest order of matrices for which BLAS is restricted to one thread; with more threads it would mostly
#: wait for them. On two busy cores, a fit of 100 units to 200 rows takes 14 ms on one thread and a second on
#: two.
SMALL = 1000
# Parameters that are the order of a matrix.
SIZES = ("n_hidden", "n_landmarks")

Fit = TypeVar("Fit", bound=Callable)


def one_thread_where_small(X, *settings: Mapping) -> AbstractContextManager:
    """A context in which BLAS uses one thread if the matrices are small.

    If several threads fit at the same time, only one of them can set the number (a limitation of
    threadpoolctl).

    Parameters
    ----------
    X : array-like
        Data before validation.
    *settings : mappings of str to object
        Parameters of the estimators, including those of pipeline steps.

    Returns
    -------
    context manager
    """
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple):
        shape = (len(X),) if hasattr(X, "__len__") else ()
    sizes = (value for each in settings for name, value in each.items() if name.split("__")[-1] in SIZES)
    small = all(order <= SMALL for order in (*shape, *sizes) if isinstance(order, Real))
    return _get_threadpool_controller().limit(limits=1, user_api="blas") if small else nullcontext()


def blas_has_one_thread() -> bool:
    """Whether all BLAS libraries that threadpoolctl knows now use one thread; True if it knows none."""
    libraries = _get_threadpool_controller().lib_controllers
    return all(library.num_threads == 1 for library in libraries if library.user_api == "blas")


def validated(*, prefer_skip_nested_validation: bool) -> Callable[[Fit], Fit]:
    """Decorator of ``fit`` that validates the parameters and computes small matrices on one thread.

    Parameters
    ----------
    prefer_skip_nested_validation : bool
        As in scikit-learn: whether the parameters of inner estimators are validated only by these.
    """

    def decorator(fit: Fit) -> Fit:
        checked = _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)(fit)

        @wraps(fit)
        def on_few_threads(estimator, *args, **kwargs):
            X = args[0] if args else kwargs.get("X")
            with one_thread_where_small(X, vars(estimator)):
                return checked(estimator, *args, **kwargs)

        return cast(Fit, on_few_threads)

    return decorator


def check_params(estimator) -> None:
    """Raise scikit-learn's error for a parameter that is out of range.

    Raises
    ------
    ValueError
    """
    estimator._validate_params()


def validate_data(estimator, X, y="no_validation", **checks):
    """scikit-learn's ``validate_data`` with a fixed memory layout; dates and too large numbers are errors.

    Parameters
    ----------
    estimator : estimator
        The estimator named in error messages.
    X, y
        Data before validation; only X if y is not passed.
    **checks
        As in scikit-learn. With ``y_numeric=True`` y holds numbers, otherwise labels of any size.

    Returns
    -------
    X : {ndarray, CSR}, shape (n_samples, n_features)
        In C order; CSR in canonical form, without explicit zeros. A copy if the input has another form. With
        array API dispatch, an array of another library stays on its device.
    y : ndarray, shape (n_samples,) or (n_samples, n_outputs)
        If it is passed. Numbers are converted to double precision, because sums in short types overflow. They
        are moved to the device of X; labels on another device are converted to a NumPy array.

    Raises
    ------
    ValueError, TypeError
        As scikit-learn. In addition, a TypeError for dates, which NumPy treats as numbers, and for an array
        of another library if the estimator supports only NumPy or a precision that the device lacks; a
        ValueError for numbers whose powers overflow, and for targets that are not numbers.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise TypeError(f"X holds dates, {X.dtype}; {type(estimator).__name__} accepts numbers.")
    xp = dispatched_namespace(X)
    if xp is not np:
        return _validate_on_device(estimator, xp, X, y, checks)
    checked = sklearn_validate_data(estimator, X, y, order="C", **checks)
    name = type(estimator).__name__
    if not isinstance(checked, tuple):
        _check_size(name, "X", checked)
        return canonical(checked)
    X, y = checked
    _check_size(name, "X", X)
    if checks.get("y_numeric"):
        y = _in_double_precision(to_numpy(y))
        _check_size(name, "y", y)
        return canonical(X), y
    return canonical(X), check_labels(to_numpy(y))


def check_X_y(X, y, **checks):
    """scikit-learn's ``check_X_y``, with the memory layout of :func:`validate_data`."""
    X, y = sklearn_check_X_y(X, y, order="C", **checks)
    return canonical(X), _in_double_precision(y) if checks.get("y_numeric") else check_labels(y)


def check_labels(y: np.ndarray, name: str = "y") -> np.ndarray:
    """The labels; ValueError if they cannot be sorted.

    Raises
    ------
    ValueError
        If labels have types that do not compare, such as strings and None.
    """
    if y.dtype == object:
        kinds = {"number" if isinstance(label, Real) else type(label).__name__ for label in y.flat}
        if len(kinds) > 1 or "NoneType" in kinds:
            raise ValueError(
                f"{name} holds labels of the types {', '.join(sorted(kinds))}; they must be all words or all "
                "numbers, without None"
            )
    return y


def checked_weights(sample_weight, X) -> np.ndarray | None:
    """Validated sample weights.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        A number is the weight of every row.
    X : array of shape (n_samples, n_features)
        The rows, of any library.

    Returns
    -------
    ndarray of float64, shape (n_samples,), or None
        A NumPy array for X of any library; None if no weights are given.

    Raises
    ------
    ValueError
        If their number differs from that of the rows, one is negative, not finite or above 1e15, or all are
        zero.
    """
    if sample_weight is None:
        return None
    if is_array_api_obj(sample_weight):
        sample_weight = to_numpy(sample_weight)
    rows = np.empty((X.shape[0], 0))
    weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    if not 0 < weights.max() <= LARGEST[4]:
        raise ValueError(
            f"the largest number of sample_weight is {weights.max():g}; accepted: numbers from 0 to "
            f"{LARGEST[4]:g}, at least one of them above 0."
        )
    return weights


def weighted_rows(X, y, sample_weight) -> tuple:
    """Rows of positive weight, their targets and their weights; rows of weight zero are left out.

    Parameters
    ----------
    X, y
        As returned by :func:`validate_data`.
    sample_weight
        As for :func:`checked_weights`.

    Returns
    -------
    X, y
        The same objects if no row is left out.
    weights : ndarray of float64, shape (n_samples,), or None
    """
    weights = checked_weights(sample_weight, X)
    if weights is None or weights.all():
        return X, y, weights
    kept = np.flatnonzero(weights)
    return _safe_indexing(X, kept), _safe_indexing(y, kept), weights[kept]


def encode(y, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes of `y`, a NumPy array, and the index of each row's class, on the device of y.

    Raises
    ------
    ValueError
        If y does not hold class labels, or only one class. `name` is the estimator in the message.
    """
    check_classification_targets(y)
    if is_numpy(y):
        classes, codes = np.unique(y, return_inverse=True)
    else:
        found, codes = array_namespace(y).unique_inverse(y)
        classes = to_numpy(found)
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs samples of at least two classes, "
            f"but the data contains only one class: {classes.tolist()[0]!r}."
        )
    return classes, codes


def encode_two(y, name: str) -> tuple[np.ndarray, np.ndarray]:
    """:func:`encode` for learners of two classes.

    Raises
    ------
    ValueError
        If y does not have two classes.
    """
    classes, codes = encode(y, name)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}: it has "
            f"{len(classes)} classes. sklearn.multiclass.OneVsRestClassifier({name}()) tells them apart."
        )
    return classes, codes


def class_priors(priors, classes: np.ndarray, counts=None) -> np.ndarray:
    """Weights of the classes that add up to one; for "uniform" equal, by label for a mapping.

    `counts` are the numbers of rows of the classes, for "empirical".

    Raises
    ------
    ValueError
        If there is not one positive number per class, the ratios overflow, or a mapping names other labels.
    """
    if isinstance(priors, str) and priors == "uniform":
        return np.full(len(classes), 1 / len(classes))
    if isinstance(priors, str):
        priors = counts
    if isinstance(priors, Mapping):
        labels = classes.tolist()
        if set(priors) != set(labels):
            raise ValueError(
                f"priors names the labels {list(priors)}; accepted: a weight for each of {labels}."
            )
        priors = [priors[label] for label in labels]
    weights = np.asarray(priors, dtype=float)
    usable = weights.shape == classes.shape and np.isfinite(weights).all() and weights.min() > 0
    if usable:  # divided by the largest first, because the sum may overflow
        weights = weights / weights.max()
    if not usable or weights.min() == 0:
        raise ValueError(
            f"priors must be 'uniform', 'empirical' or {len(classes)} positive numbers, one for each class "
            f"of {classes.tolist()}, with finite ratios; got {np.asarray(priors).tolist()}."
        )
    return weights / weights.sum()


def class_error_weights(class_weight, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Weights of the errors of each class for `class_weight`, as in scikit-learn, given the number of rows.

    Raises
    ------
    ValueError
        If it names other classes, or a weight is not a positive number.
    """
    if class_weight is None:
        weights = np.ones(len(classes))
    elif isinstance(class_weight, str):  # "balanced": scikit-learn's checks would take longer than many fits
        counts = np.asarray(counts, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = counts.sum() / (len(classes) * counts)
    else:
        weights = compute_class_weight(class_weight, classes=classes, y=classes)
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(
            f"class_weight must give each class of {classes.tolist()} a positive number, got "
            f"{weights.tolist()}."
        )
    return weights


def times_class_weights(
    weights: np.ndarray | None, class_weight, classes: np.ndarray, codes: np.ndarray
) -> np.ndarray | None:
    """Products of the weights of the rows and of their classes; None if all are one.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,), or None
        Weights of the rows, with which "balanced" counts them.
    class_weight : dict, "balanced" or None
    classes : ndarray of shape (n_classes,)
    codes : ndarray of int, shape (n_samples,)
        Index of each row's class.
    """
    if class_weight is None:
        return weights
    counts = np.bincount(codes, weights, len(classes))
    of_rows = class_error_weights(class_weight, classes, counts)[codes]
    return of_rows if weights is None else weights * of_rows


def learn_classes(estimator, classes) -> bool:
    """scikit-learn's check of the classes in a first call of ``partial_fit``, for sortable labels."""
    if classes is not None:
        check_labels(np.asarray(classes), "classes")
    return _check_partial_fit_first_call(estimator, classes)


def canonical(X):
    """CSR rows with one stored, non-zero number per entry, in order; other rows unchanged."""
    if not issparse(X) or X.format != "csr":
        return X
    index = np.int32 if max(X.nnz, *X.shape) <= np.iinfo(np.int32).max else np.int64
    if X.has_canonical_format and X.data.all() and X.indices.dtype == X.indptr.dtype == index:
        return X
    X = X.copy()  # does not change the caller's matrix
    X.sum_duplicates()
    X.eliminate_zeros()
    X.indices, X.indptr = X.indices.astype(index, copy=False), X.indptr.astype(index, copy=False)
    return X


def is_numpy(array) -> bool:
    """Whether an array is one of NumPy or SciPy, dense or sparse."""
    return isinstance(array, np.ndarray) or issparse(array)


def dispatched_namespace(X):
    """The array namespace for X: that of its library if scikit-learn dispatches it, otherwise NumPy.

    Raises
    ------
    RuntimeError
        From scikit-learn, if dispatch is on and the variable SCIPY_ARRAY_API is not 1.
    """
    if is_numpy(X):
        return np
    xp, _ = get_namespace(X)
    return np if _is_numpys(xp) else xp


def _is_numpys(xp) -> bool:
    return xp.__name__.endswith("numpy")


def numpy_dtype(array) -> np.dtype:
    """NumPy's dtype for the precision of an array."""
    if is_numpy(array):
        return array.dtype
    return np.dtype("float32" if array.dtype == array_namespace(array).float32 else "float64")


def has_double(array) -> bool:
    """Whether the device of the array supports double precision; MPS does not."""
    if is_numpy(array):
        return True
    xp = array_namespace(array)
    return "float64" in xp.__array_namespace_info__().dtypes(device=device_of(array), kind="real floating")


def to_numpy(array) -> Any:
    """The array converted to NumPy; the array itself if it is one of NumPy or SciPy."""
    return array if is_numpy(array) else _convert_to_numpy(array, array_namespace(array))


def check_same_namespace(estimator, X, fitted, method: str) -> None:
    """Raise ValueError unless X is on the device, and of the library, of a fitted array.

    Raises
    ------
    ValueError
        The message names both places, and the function that moves the estimator.
    """
    xp = dispatched_namespace(X)
    if xp is np and is_numpy(fitted):
        return
    found = "NumPy" if xp is np else _place(X)
    if found == _place(fitted):
        return
    if xp is np and not is_numpy(X) and hasattr(X, "__dlpack__"):
        found = "NumPy, because array_api_dispatch is off"
    raise ValueError(
        f"Inputs passed to {type(estimator).__name__}.{method}() must use the same namespace and the same "
        f"device as those passed to fit(): fitted on {_place(fitted)}, X is on {found}. Move X, or the "
        "machine with sklearn.utils._array_api.move_estimator_to(machine, xp, device)."
    )


def _place(array) -> str:
    if is_numpy(array):
        return "NumPy"
    name = array_namespace(array).__name__.rpartition(".")[2]
    return f"{name}, device {device_of(array)}"


def _validate_on_device(estimator, xp, X, y, checks: dict):
    """:func:`validate_data` for an array of another library."""
    name = type(estimator).__name__
    if not get_tags(estimator).array_api_support:
        why = "these parameters" if ARRAY_API else "a scikit-learn older than 1.8"
        raise TypeError(
            f"X is an array of {xp.__name__.rpartition('.')[2]}; {name} with {why} accepts "
            "only NumPy arrays and objects that can be converted to one."
        )
    accepted = checks["dtype"] if isinstance(checks["dtype"], list) else [checks["dtype"]]
    known = [np.dtype(dtype).name for dtype in accepted if has_double(X) or np.dtype(dtype) != np.float64]
    if not known:
        raise TypeError(
            f"X is on a device without double precision, {device_of(X)}, in which {name} computes; "
            "accepted: NumPy arrays, and other devices."
        )
    dtypes = [getattr(xp, dtype) for dtype in known]  # the first is used for other dtypes
    checked = sklearn_validate_data(estimator, X, y, **{**checks, "dtype": dtypes})
    if not isinstance(checked, tuple):
        _check_size(name, "X", checked)
        return checked
    X, y = checked
    _check_size(name, "X", X)
    if checks.get("y_numeric"):
        y = xp.asarray(_in_double_precision(to_numpy(y)), device=device_of(X))
        _check_size(name, "y", y)
    elif _place(y) != _place(X):
        y = check_labels(to_numpy(y))
    return X, y


def _check_size(name: str, what: str, array) -> None:
    """Raise ValueError for numbers whose powers overflow."""
    numbers = array.data if issparse(array) else array
    dtype = numpy_dtype(numbers)
    if dtype.kind != "f" or dtype.itemsize not in LARGEST or 0 in numbers.shape:
        return
    xp = array_namespace(numbers)
    low, high = float(xp.min(numbers)), float(xp.max(numbers))
    found = low if -low > high else high
    most = LARGEST[dtype.itemsize]
    if abs(found) > most:
        raise ValueError(
            f"{what} holds {found:g}; {name} accepts numbers up to {most:g} in size, as powers of larger "
            "ones overflow: scale them."
        )


def _in_double_precision(y) -> np.ndarray:
    # scikit-learn keeps strings and short types, and checks for NaN before objects are converted to numbers.
    return check_array(y, dtype=np.float64, order="C", ensure_2d=False, input_name="y")
