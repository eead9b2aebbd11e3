"""Amari's index of the error of source separation."""

import numpy as np

__all__ = ["amari_index"]


def amari_index(P) -> float:
    """Amari's index: distance of a square matrix from scaled permutation matrices.

    Parameters
    ----------
    P : array-like, shape (n, n)
        The map from sources to outputs: the unmixing matrix times the mixing matrix.

    Returns
    -------
    float
        0 if each row and each column has a single nonzero entry, 1 if all entries have the same absolute
        value.

    Raises
    ------
    ValueError
        If P is not square, or a row or a column of it is zero.

    References
    ----------
    Amari, Cichocki and Yang, A New Learning Algorithm for Blind Signal Separation, NIPS 8, 1996,
    divided by its largest value 2 n (n - 1).

    Examples
    --------
    >>> from entrolearn.networks import amari_index
    >>> amari_index([[0, -2], [3, 0]]), amari_index([[1, 1], [1, -1]])
    (0.0, 1.0)
    """
    P = np.abs(np.asarray(P, dtype=float))
    if P.ndim != 2 or P.shape[0] != P.shape[1]:
        raise ValueError(f"P has shape {P.shape}; it must be square")
    if not (P.any(axis=0).all() and P.any(axis=1).all()):
        raise ValueError("P has a row or a column of zeros; it must be invertible")
    n = len(P)
    if n == 1:
        return 0.0
    excess = sum((P.sum(axis=axis) / P.max(axis=axis) - 1).sum() for axis in (0, 1))
    return float(excess / (2 * n * (n - 1)))
