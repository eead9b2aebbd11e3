"""Conversion of class labels and values to the targets of a network."""

import numpy as np

from entrolearn.validation import LARGEST

__all__ = ["check_values", "one_hot"]


def one_hot(codes: np.ndarray, n_classes: int, dtype) -> np.ndarray:
    """One-hot encoding, shape (n_samples, n_classes)."""
    return np.eye(n_classes, dtype=dtype)[codes]


def check_values(y: np.ndarray, dtype: np.dtype, name: str) -> None:
    """Raise if squares of the values overflow in the dtype of the rows, which is that of the outputs.

    Raises
    ------
    ValueError
        The message contains `name`.
    """
    largest, most = np.abs(y).max(), LARGEST[dtype.itemsize]
    if largest > most:
        raise ValueError(
            f"y holds {largest:g} in size; {name} accepts values up to {most:g} for rows in {dtype}: scale "
            "y, or give X in float64"
        )
