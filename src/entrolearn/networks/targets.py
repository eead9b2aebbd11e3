"""Class labels and values as the numbers that a network is to give."""

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from entrolearn.validation import LARGEST

__all__ = ["check_values", "encode", "one_hot"]


def encode(y, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes of `y`, and the place among them of each row's.

    Raises
    ------
    ValueError
        If y does not hold class labels, or those of one class only; `name` is who says so.
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs samples of at least two classes, "
            f"but the data contains only one class: {classes.tolist()[0]!r}."
        )
    return classes, codes


def one_hot(codes: np.ndarray, n_classes: int, dtype) -> np.ndarray:
    """One column per class, one where a row is of it and zero elsewhere."""
    return np.eye(n_classes, dtype=dtype)[codes]


def check_values(y: np.ndarray, dtype: np.dtype, name: str) -> None:
    """Refuse values whose squares overflow in the precision of the rows, which that of the outputs is.

    Raises
    ------
    ValueError
        `name` is who says so.
    """
    largest, most = np.abs(y).max(), LARGEST[dtype.itemsize]
    if largest > most:
        raise ValueError(
            f"y holds {largest:g} in size; {name} accepts values up to {most:g} for rows in {dtype}: scale "
            "y, or give X in float64"
        )
