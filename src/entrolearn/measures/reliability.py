"""Validation of the variables of mutual-information estimators, and warnings about unreliable estimates."""

from collections.abc import Callable
from numbers import Integral

import numpy as np
from sklearn.utils import check_array

from entrolearn.measures.density import scale_exponent
from entrolearn.user_warnings import warn_user

__all__ = ["LABELS", "UnreliableEstimateWarning", "read_variables", "standardised", "warn_unreliable"]

#: NumPy's kind codes of label dtypes: objects, strings and booleans.
LABELS = "OUSb"

#: Share of repeated rows above which a warning is issued. A tenth of this share changes no digit of an
#: estimate.
MANY_TIES = 0.05

#: Rows per column below which the error exceeds a third of the estimate (measured for a correlation of 0.8).
ROWS_PER_COLUMN = 10

#: Total number of columns above which nearest neighbours miss half of that information (1000 and 5000 rows).
MANY_COLUMNS = 6

#: Share of an estimator's upper limit above which it underestimates.
NEAR_LIMIT = 0.6


class UnreliableEstimateWarning(UserWarning):
    """Warning that an estimate of mutual information may be far off; the message states the reason.

    Examples
    --------
    >>> import warnings
    >>> from entrolearn.measures import UnreliableEstimateWarning, knn_mutual_information
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", UnreliableEstimateWarning)
    ...     try:
    ...         knn_mutual_information([1, 1, 2, 2, 3, 3] * 9, range(54))
    ...     except UnreliableEstimateWarning as warning:
    ...         print(warning)
    X repeats 96 % of its rows: ties bias nearest neighbours; use mixed_mutual_information
    """


def check_integer(value, name: str, least: int) -> None:
    """Raise ValueError if a parameter is not an integer of at least `least`."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} is {value!r}; it must be an integer of at least {least}")


def read_variables(read: Callable, least: int, **variables) -> dict[str, np.ndarray]:
    """The variables that are not None, each as ``read(variable, name)``, with `least` rows or more."""
    found = {name: read(variable, name) for name, variable in variables.items() if variable is not None}
    same_rows(found, least)
    return found


def columns(X, name: str) -> np.ndarray:
    """Numbers as finite float64 columns, shape (n_samples, n_features)."""
    ready = isinstance(X, np.ndarray) and X.dtype == np.float64 and X.ndim in (1, 2)
    if not (ready and X.size and np.isfinite(X).all()):  # check_array of 100 rows is as slow as an estimate
        X = check_array(X, ensure_2d=False, dtype=np.float64, input_name=name)
    return X[:, np.newaxis] if X.ndim == 1 else X


def codes(column, name: str) -> np.ndarray:
    """The rank of each value among the different values of a column."""
    try:
        return np.unique(column, return_inverse=True)[1]
    except TypeError as error:
        raise ValueError(f"{name} holds values that cannot be sorted or are missing: {error}") from None


def same_rows(variables: dict[str, np.ndarray], least: int) -> int:
    """The common number of rows of the variables; ValueError if it differs or is below `least`."""
    rows = {name: len(variable) for name, variable in variables.items()}
    if len(set(rows.values())) > 1:
        told = ", ".join(f"{name} has {n}" for name, n in rows.items())
        raise ValueError(f"{told} rows; all variables must have the same number of rows")
    n_samples = next(iter(rows.values()))
    if n_samples < least:
        raise ValueError(f"{next(iter(rows))} has {n_samples} rows; at least {least} are needed")
    return n_samples


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns scaled to mean 0 and variance 1; a constant column becomes 0."""
    X = np.ldexp(X, [-scale_exponent(column) for column in X.T])
    centred = X - X.mean(axis=0)
    centred[:, np.ptp(X, axis=0) == 0] = 0  # the rounded mean of equal numbers may differ from them
    spread = centred.std(axis=0)
    return centred / np.where(spread > 0, spread, 1.0)


def share_of_ties(X: np.ndarray) -> float:
    """Share of the rows that equal an earlier one."""
    ordered = X[np.lexsort(X.T)]
    return float(np.mean((ordered[1:] == ordered[:-1]).all(axis=1))) if len(X) > 1 else 0.0


def warn_ties(variables: dict[str, np.ndarray], consequence: str) -> None:
    """Warn about variables with repeated rows."""
    for name, variable in variables.items():
        ties = share_of_ties(variable)
        if ties > MANY_TIES:
            warn_unreliable(f"{name} repeats {100 * ties:.0f} % of its rows: {consequence}")


def warn_few_rows(n_samples: int, n_columns: int) -> None:
    """Warn about too few rows for the number of columns."""
    if n_samples < ROWS_PER_COLUMN * n_columns:
        warn_unreliable(
            f"{n_samples} rows are few for {n_columns} columns: with fewer than {ROWS_PER_COLUMN} rows per "
            "column the error may be as large as the information",
        )


def warn_many_columns(n_columns: int) -> None:
    """Warn about too many columns for estimates based on distances."""
    if n_columns > MANY_COLUMNS:
        warn_unreliable(
            f"{n_columns} columns are many for estimates based on distances: much of the information is "
            "missed for any number of rows"
        )


def warn_near_limit(estimate: float, limit: float, n_samples: int) -> None:
    """Warn about an estimate close to the largest value that the number of rows allows."""
    if estimate > NEAR_LIMIT * limit:
        warn_unreliable(
            f"the estimate, {estimate:.3g} nats, is close to the largest value that {n_samples} rows allow, "
            f"{limit:.3g}: the information may be much larger",
        )


def warn_unreliable(text: str) -> None:
    """Issue an UnreliableEstimateWarning."""
    warn_user(text, UnreliableEstimateWarning)
