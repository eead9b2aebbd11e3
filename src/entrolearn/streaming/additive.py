"""What fits to chunks share: which machines take them, that every class was seen, rows that have a weight."""

from collections.abc import Iterable

import numpy as np

from entrolearn.machines.additive import Additive
from entrolearn.validation import weighted_rows

__all__ = ["check_additive", "check_classes_seen", "weighted_chunk"]


def check_additive(machine) -> None:
    """Refuse a machine whose fit is no sum over the rows.

    Raises
    ------
    TypeError
        That names those that are accepted.
    """
    if not isinstance(machine, Additive):
        raise TypeError(
            f"{type(machine).__name__} cannot be fitted chunk by chunk; accepted: EEMClassifier, "
            "EEKMClassifier, WELMClassifier(solver='cholesky'), ELMClassifier, ELMRegressor, "
            "RKELMClassifier, RKELMRegressor, a recursive feature machine of one; of rows that Dask does not "
            "hold a pipeline that ends in one."
        )


def check_classes_seen(announced: Iterable, seen: Iterable) -> None:
    """Refuse classes without rows.

    Raises
    ------
    ValueError
    """
    seen = set(seen)
    missing = [label for label in announced if label not in seen]
    if missing:
        raise ValueError(f"no row has the label {missing[0]!r}, which classes names; found: {sorted(seen)}.")


def weighted_chunk(X, y, weights) -> tuple:
    """Rows of positive weight, their y and weights, of a chunk in which there may be none.

    Raises
    ------
    ValueError
        If there are not as many weights as rows, one is negative or not finite.
    """
    if weights is not None and len(weights) == X.shape[0] and not np.any(weights):
        return X[:0], y[:0], np.empty(0)
    return weighted_rows(X, y, weights)
