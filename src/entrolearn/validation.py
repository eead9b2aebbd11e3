"""Validation of parameters and of data, borrowed from scikit-learn.

scikit-learn keeps the machinery of the former private; the whole package gets both from here, so that a
change of scikit-learn's touches one file. Its checks of arrays leave the layout as it comes, and how a sum is
rounded depends on the layout: here the same numbers become the same array, and give the same results to the
last bit.
"""

import numpy as np
from scipy.sparse import issparse
from sklearn.base import _fit_context as validated
from sklearn.utils import check_array
from sklearn.utils import check_X_y as sklearn_check_X_y
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import _check_partial_fit_first_call as learn_classes
from sklearn.utils.validation import validate_data as sklearn_validate_data

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "canonical",
    "check_X_y",
    "learn_classes",
    "validate_data",
    "validated",
]

#: The largest numbers that are taken, by their bytes: sums over the rows of their fourth powers, in single
#: precision of their squares, are numbers still.
LARGEST = {4: 1e15, 8: 1e70}


def validate_data(estimator, X, y="no_validation", **checks):
    """What scikit-learn's function of this name gives, in one layout, without dates and what overflows.

    Parameters
    ----------
    estimator : estimator
        Who says what is wrong.
    X, y
        What a user gave; rows alone where y is not named.
    **checks
        scikit-learn's. With ``y_numeric=True`` y holds values, otherwise labels, of any size.

    Returns
    -------
    X : {ndarray, CSR}, shape (n_samples, n_features)
        In C order; CSR in canonical form, without explicit zeros. A copy where it comes otherwise.
    y : ndarray, shape (n_samples,) or (n_samples, n_outputs)
        Where it is given. Values are in double precision: those of short types overflow in sums.

    Raises
    ------
    ValueError, TypeError
        scikit-learn's; a TypeError for dates, which NumPy takes for numbers, and a ValueError for numbers
        whose powers overflow, and for values that are none.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise TypeError(f"X holds dates, {X.dtype}; {type(estimator).__name__} accepts numbers.")
    checked = sklearn_validate_data(estimator, X, y, order="C", **checks)
    if not isinstance(checked, tuple):
        _refuse_huge(estimator, "X", checked)
        return canonical(checked)
    X, y = checked
    _refuse_huge(estimator, "X", X)
    if checks.get("y_numeric"):
        y = _in_double_precision(y)
        _refuse_huge(estimator, "y", y)
    return canonical(X), y


def check_X_y(X, y, **checks):
    """What scikit-learn's function of this name gives, in the layout of :func:`validate_data`."""
    X, y = sklearn_check_X_y(X, y, order="C", **checks)
    return canonical(X), _in_double_precision(y) if checks.get("y_numeric") else y


def canonical(X):
    """CSR rows with one stored number for each entry that is not zero, in order; others as they are."""
    if not issparse(X) or X.format != "csr":
        return X
    index = np.int32 if max(X.nnz, *X.shape) <= np.iinfo(np.int32).max else np.int64
    if X.has_canonical_format and X.data.all() and X.indices.dtype == X.indptr.dtype == index:
        return X
    X = X.copy()  # in place they would be changed for the caller
    X.sum_duplicates()
    X.eliminate_zeros()
    X.indices, X.indptr = X.indices.astype(index, copy=False), X.indptr.astype(index, copy=False)
    return X


def _refuse_huge(estimator, name: str, array) -> None:
    numbers = array.data if issparse(array) else array
    limit = LARGEST.get(numbers.dtype.itemsize, np.inf) if numbers.dtype.kind == "f" else np.inf
    smallest, largest = numbers.min(initial=0), numbers.max(initial=0)
    if max(-smallest, largest) > limit:
        found = largest if largest > limit else smallest
        raise ValueError(
            f"{name} holds {found:g}; {type(estimator).__name__} accepts numbers up to {limit:g} in size, as "
            "powers of larger ones overflow: scale them."
        )


def _in_double_precision(y) -> np.ndarray:
    # scikit-learn leaves words and short types as they are, and looks for NaN before objects become numbers.
    return check_array(y, dtype=np.float64, order="C", ensure_2d=False, input_name="y")
