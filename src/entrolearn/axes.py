"""Conventions for principal axes: their signs, and a unit of length in which variances are numbers."""

import math

import numpy as np

__all__ = ["signs_of_rows", "unit_of_length"]

#: Entries whose sizes differ by less, relative to the largest, count as equally large: of two standardised
#: features both entries of every principal axis are, and rounding would choose.
EQUAL = 1e-6


def signs_of_rows(rows: np.ndarray) -> np.ndarray:
    """The signs that make the largest entry of each row positive, of several equally large ones the first.

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
    """The largest power of two that is no more than a size, 1 for a size of 0.

    In this unit squares of data of that size are numbers, and so are their squares; to change to it costs no
    digit.
    """
    return math.ldexp(1.0, math.frexp(size)[1] - 1) if size > 0 else 1.0
