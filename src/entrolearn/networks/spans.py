"""The dimensions that rows span, and the rows along these: what is divided by a deviation starts here."""

import numpy as np
from scipy.linalg import svd

from entrolearn.axes import signs_of_rows

__all__ = ["spanned"]

#: Rows that spread less than this count as equal: in its units the largest that are taken are numbers still.
LEAST_SPREAD = 1e-200


def spanned(X: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular values of centred rows, with their vectors, but for those that are rounding or nothing.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)
    mean : ndarray, shape (n_features,)
        Of the rows.

    Returns
    -------
    scores : ndarray, shape (n_samples, rank)
        Orthonormal columns.
    sizes : ndarray, shape (rank,)
        Falling.
    axes : ndarray, shape (rank, n_features)
        Orthonormal rows, the entry of largest size in each positive.
    """
    centred = X - mean
    centred[:, np.ptp(X, axis=0) == 0] = 0  # a mean of equal numbers may be none of them
    scores, sizes, axes = svd(centred, full_matrices=False)
    kept = sizes > max(sizes[0] * max(centred.shape) * np.finfo(float).eps, LEAST_SPREAD)
    # The signs that LAPACK leaves open change with the order of the rows.
    signs = signs_of_rows(axes[kept])
    return scores[:, kept] * signs.T, sizes[kept], axes[kept] * signs
