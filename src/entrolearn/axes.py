"""Conventions for principal axes: their signs, and a unit of length that avoids overflow."""

import math
import sys

import numpy as np

__all__ = ["signs_of_rows", "unit_of_length"]

#: Relative difference up to which the largest entries of an axis count as equal. Otherwise rounding errors
#: would decide, for example with two standardised features, where both entries of every principal axis have
#: the same size.
EQUAL = 1e-6


def signs_of_rows(rows: np.ndarray) -> np.ndarray:
    """Signs that make the largest entry of each row positive; of equally large entries, the first one.

    Parameters
    ----------
    rows : ndarray, shape (n, d)

    Returns
    -------
    ndarray, shape (n, 1)
        -1, 1, or 0 for a row of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.axes import signs_of_rows
    >>> signs_of_rows(np.array([[1.0, -2.0], [-1.0, 1.0 + 1e-15]]))
    array([[-1.],
           [-1.]])
    """
    sizes = np.abs(rows)
    first = (sizes >= (1 - EQUAL) * sizes.max(axis=1, keepdims=True)).argmax(axis=1)
    return np.sign(np.take_along_axis(rows, first[:, np.newaxis], axis=1))


def unit_of_length(size: float) -> float:
    """The largest power of two that does not exceed `size`; 1 for a size of 0, and 2^1023 for inf.

    In this unit the squares of the data, and the squares of these, do not overflow. The conversion is exact.
    """
    return math.ldexp(1.0, math.frexp(min(size, sys.float_info.max))[1] - 1) if size > 0 else 1.0
