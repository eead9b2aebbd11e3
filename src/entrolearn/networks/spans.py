"""Singular value decomposition of centred rows, without numerically zero singular values."""

import numpy as np
from scipy.linalg import svd

from entrolearn.axes import signs_of_rows

__all__ = ["spanned"]

#: Rows with a smaller spread are treated as equal, so that dividing by the spread cannot overflow.
LEAST_SPREAD = 1e-200


def spanned(X: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular values and vectors of centred rows, without those that are zero or rounding errors.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
    mean : ndarray, shape (n_features,)
        Mean of the rows.

    Returns
    -------
    scores : ndarray, shape (n_samples, rank)
        Orthonormal columns.
    sizes : ndarray, shape (rank,)
        Singular values, descending.
    axes : ndarray, shape (rank, n_features)
        Orthonormal rows; the largest entry in absolute value of each row is positive.
    """
    centred = X - mean
    centred[:, np.ptp(X, axis=0) == 0] = 0  # the rounded mean of equal numbers may differ from them
    scores, sizes, axes = svd(centred, full_matrices=False)
    kept = sizes > max(sizes[0] * max(centred.shape) * np.finfo(float).eps, LEAST_SPREAD)
    # LAPACK does not determine the signs; they can change with the order of the rows.
    signs = signs_of_rows(axes[kept])
    return scores[:, kept] * signs.T, sizes[kept], axes[kept] * signs
