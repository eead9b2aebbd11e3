"""Distinct rows of X and how often each occurs, so that equal rows get one label."""

import numpy as np

__all__ = ["distinct_rows"]


def distinct_rows(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct rows in the order of their first occurrence.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features)

    Returns
    -------
    first : ndarray of int, shape (n_distinct,)
        Index of the first of each set of equal rows; ascending.
    of_row : ndarray of int, shape (n_samples,)
        Index in `first` of each row of X.
    counts : ndarray of int, shape (n_distinct,)
        Number of equal rows.
    """
    _, first, of_row, counts = np.unique(
        X, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    order = first.argsort()
    return first[order], order.argsort()[of_row.ravel()], counts[order]
