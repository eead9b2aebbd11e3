"""Validation of parameters and of data, borrowed from scikit-learn.

scikit-learn keeps the machinery of the former private; the whole package gets both from here, so that a
change of scikit-learn's touches one file.
"""

import numpy as np
from scipy.sparse import issparse
from sklearn.base import _fit_context as validated
from sklearn.utils import assert_all_finite
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import _check_partial_fit_first_call as learn_classes
from sklearn.utils.validation import validate_data as sklearn_validate_data

__all__ = ["HasMethods", "Interval", "StrOptions", "learn_classes", "validate_data", "validated"]

#: The largest numbers that are taken, by their bytes: sums over the rows of their fourth powers, in single
#: precision of their squares, are numbers still.
LARGEST = {4: 1e15, 8: 1e70}


def validate_data(estimator, X, y="no_validation", **checks):
    """What scikit-learn's function of this name gives, without dates and without numbers that overflow.

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
    y : ndarray, shape (n_samples,) or (n_samples, n_outputs)
        Where it is given; values are floating.

    Raises
    ------
    ValueError, TypeError
        scikit-learn's; a TypeError for dates, which NumPy takes for numbers; a ValueError for numbers whose
        powers overflow, and for values that are none.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise TypeError(f"X holds dates, {X.dtype}; {type(estimator).__name__} accepts numbers.")
    checked = sklearn_validate_data(estimator, X, y, **checks)
    if not isinstance(checked, tuple):
        _refuse_huge(estimator, "X", checked)
        return checked
    X, y = checked
    _refuse_huge(estimator, "X", X)
    if checks.get("y_numeric"):
        # scikit-learn leaves words as they are, and numbers that cannot be negative; it looks for NaN before
        # objects become numbers.
        y = y if y.dtype in (np.float64, np.float32) else y.astype(np.float64)
        assert_all_finite(y, input_name="y")
        _refuse_huge(estimator, "y", y)
    return X, y


def _refuse_huge(estimator, name: str, array) -> None:
    numbers = array.data if issparse(array) else array
    limit = LARGEST[numbers.dtype.itemsize]
    smallest, largest = numbers.min(initial=0), numbers.max(initial=0)
    if max(-smallest, largest) > limit:
        found = largest if largest > limit else smallest
        raise ValueError(
            f"{name} holds {found:g}; {type(estimator).__name__} accepts numbers up to {limit:g} in size, as "
            "powers of larger ones overflow: scale them."
        )
