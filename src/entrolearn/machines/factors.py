"""Triangular factors of hidden rows, for least squares on many rows without normal equations."""

from collections.abc import Callable
from typing import Any

import numpy as np

from entrolearn.kernels import check_memory
from entrolearn.machines.moments import FEWER_UNITS, rows_of_groups

__all__ = ["factors_by_group"]

# Rows per QR step, as a multiple of the columns; the factor of earlier rows is then a small part of each
# step.
ROWS_PER_COLUMN = 8
# Measured number of copies of these rows in memory: layer output, stacked rows and LAPACK workspace.
FACTOR_COPIES = 4


def factors_by_group(
    layer: Callable, X, group: np.ndarray, n_groups: int, weights: np.ndarray | None = None
) -> list[np.ndarray]:
    """Triangular factor of each group's hidden rows and a column of ones, in one pass over X.

    An orthogonal transformation of the rows does not change a least squares problem. A group whose rows share
    weight and target can therefore be replaced by the factor R of ``[H, 1] = Q R``, which has at most as many
    rows as columns. Unlike normal equations, R keeps all singular values of H. The factor of the first h
    units is the leading block of R.

    Parameters
    ----------
    layer : callable
        Maps rows of X to an array of shape (n_rows, n_hidden); accepts an argument `out`.
    X : {ndarray, CSR}, shape (n_samples, n_features)
    group : ndarray of int, shape (n_samples,)
        The group of each row, from 0 to n_groups - 1.
    n_groups : int
    weights : ndarray of float64, shape (n_samples,), optional
        Sample weights; rows are multiplied by their square roots. Default: all ones.

    Returns
    -------
    list of n_groups ndarrays, shape (min(n_rows, n_hidden + 1), n_hidden + 1)
        Upper triangular or trapezoidal factors; the last column belongs to the column of ones.
    """
    n_columns = layer(X[:1]).shape[1] + 1
    step = ROWS_PER_COLUMN * n_columns
    check_memory(
        8 * FACTOR_COPIES * n_columns * min(len(group), n_columns + step),
        f"the factorisation of {n_columns - 1} hidden units",
        FEWER_UNITS,
    )
    factors = []
    for rows in rows_of_groups(group, n_groups):
        factor: Any = np.empty((0, n_columns), dtype=X.dtype)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            stacked = np.ones((len(factor) + len(some), n_columns), dtype=X.dtype)
            stacked[: len(factor)] = factor
            stacked[len(factor) :, :-1] = layer(X[some])
            if weights is not None:
                stacked[len(factor) :] *= np.sqrt(weights[some])[:, None]
            factor = np.linalg.qr(stacked, mode="r")
        factors.append(factor)
    return factors
