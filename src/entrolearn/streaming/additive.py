"""Checks shared by the out-of-core fits."""

from collections.abc import Iterable

import numpy as np

from entrolearn.machines.additive import Additive
from entrolearn.validation import weighted_rows

__all__ = ["NO_ROWS", "check_additive", "check_classes_seen", "weighted_chunk"]

NO_ROWS = "there are no rows to fit to; at least one is accepted."


def check_additive(machine) -> None:
    """Raise if the estimator's fit is not a sum over the rows.

    Raises
    ------
    TypeError
        With the accepted estimators.
    """
    if not isinstance(machine, Additive):
        raise TypeError(
            f"{type(machine).__name__} cannot be fitted chunk by chunk; accepted: EEMClassifier, "
            "EEKMClassifier, WELMClassifier(solver='cholesky'), ELMClassifier, ELMRegressor, "
            "RKELMClassifier, RKELMRegressor, a recursive feature machine of one; of rows that Dask does not "
            "hold a pipeline that ends in one."
        )


def check_classes_seen(announced: Iterable, seen: Iterable) -> None:
    """Raise if a class has no rows.

    Raises
    ------
    ValueError
    """
    seen = set(seen)
    missing = [label for label in announced if label not in seen]
    if missing:
        raise ValueError(f"no row has the label {missing[0]!r}, which classes names; found: {sorted(seen)}.")


def weighted_chunk(X, y, weights) -> tuple:
    """Rows of positive weight of a chunk, with their y and weights; there may be no such rows.

    Raises
    ------
    ValueError
        If the numbers of weights and rows differ, or a weight is negative or not finite.
    """
    if weights is not None and len(weights) == X.shape[0] and not np.any(weights):
        return X[:0], y[:0], np.empty(0)
    return weighted_rows(X, y, weights)
