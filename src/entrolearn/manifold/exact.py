"""Exact logarithms of cross information potentials, summed over all pairs of projected points.

The cross information potential of two kernel density estimates is the integral of their product. It equals
the mean over all pairs of points of a Gaussian whose covariance is the sum of the two kernels'.
"""

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np

__all__ = ["log_potential", "weighted_log_potentials"]

#: Number of points per side of a tile; the 2 MiB of a tile's pairs fit into the processor's cache.
TILE = 512


def weighted_log_potentials(
    points: Sequence[np.ndarray],
    kernels: np.ndarray,
    weights: np.ndarray,
    row_weights: Sequence[np.ndarray] | None = None,
) -> tuple[float, list[np.ndarray], np.ndarray]:
    """A weighted sum of the logarithms of all cross information potentials, and its gradient.

    Parameters
    ----------
    points : sequence of ndarrays, shapes (n_c, k)
        The points of each class.
    kernels : ndarray, shape (n_classes, k, k)
        Covariance of each class's kernel.
    weights : ndarray, shape (n_classes, n_classes)
        Weight of each pair of classes; entries below the diagonal are ignored.
    row_weights : sequence of ndarrays, shapes (n_c,), optional
        Positive weights of the points of each class; means over pairs are then weighted means.

    Returns
    -------
    value : float
    of_points : list of ndarrays, shapes (n_c, k)
        The gradient with respect to the points.
    of_kernels : ndarray, shape (n_classes, k, k)
        The gradient with respect to the kernels.
    """
    value = 0.0
    of_points, of_kernels = [np.zeros_like(own) for own in points], np.zeros_like(kernels)
    for a, b in combinations_with_replacement(range(len(points)), 2):
        both = None if row_weights is None else (row_weights[a], row_weights[b])
        log, of_a, of_b, of_kernel = log_potential(
            points[a], points[b], kernels[a] + kernels[b], same=a == b, row_weights=both
        )
        weight = weights[a, b]
        value += weight * log
        of_points[a] += weight * of_a
        of_points[b] += weight * of_b
        of_kernels[a] += weight * of_kernel
        of_kernels[b] += weight * of_kernel
    return float(value), of_points, of_kernels


def log_potential(
    P: np.ndarray,
    Q: np.ndarray,
    kernel: np.ndarray,
    *,
    same: bool,
    row_weights: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Logarithm of the mean over all pairs of N(p - q; 0, kernel), and its gradient.

    Parameters
    ----------
    P, Q : ndarray, shapes (n_p, k) and (n_q, k)
        Points, centred near the origin relative to their spread to avoid cancellation.
    kernel : ndarray, shape (k, k)
    same : bool
        Whether P and Q are the same points; each unordered pair is then computed once.
    row_weights : pair of ndarrays, shapes (n_p,) and (n_q,), optional
        Positive weights of the points of P and of Q.

    Returns
    -------
    value : float
    of_p, of_q : ndarray, shapes (n_p, k) and (n_q, k)
        Derivatives with respect to P and to Q, as separate arguments even if `same`.
    of_kernel : ndarray, shape (k, k)
        Symmetric gradient: the derivative along a symmetric change dK is sum(of_kernel * dK).

    Raises
    ------
    numpy.linalg.LinAlgError
        If the kernel is singular or nearly singular.
    """
    k = len(kernel)
    root = np.linalg.cholesky(kernel)
    whitening = np.linalg.inv(root)
    P_white = P @ whitening.T
    Q_white = P_white if same else Q @ whitening.T
    sums = _PairSums(P_white, Q_white, same, row_weights)
    n_p, n_q = (len(P), len(Q)) if row_weights is None else (own.sum() for own in row_weights)
    value = (
        math.log(sums.total)
        + sums.shift
        - math.log(n_p * n_q)
        - 0.5 * k * math.log(2 * math.pi)
        - float(np.log(root.diagonal()).sum())
    )
    pull_p = (sums.of_p[:, 1:] - sums.of_p[:, :1] * P_white) / sums.total
    pull_q = pull_p if same else (sums.of_q[:, 1:] - sums.of_q[:, :1] * Q_white) / sums.total
    # The mean over pairs of (p - q)(p - q)', computed from the gradients of the points.
    spread = -(P_white.T @ pull_p + Q_white.T @ pull_q)
    spread.flat[:: k + 1] -= 1
    of_kernel = 0.25 * whitening.T @ (spread + spread.T) @ whitening
    return value, pull_p @ whitening, pull_q @ whitening, of_kernel


class _PairSums:
    """Sums over all pairs of E = exp(-|p - q|² / 2 - shift), multiplied by the weights of p and q if given.

    Attributes
    ----------
    total : float
        Sum of E.
    of_p : ndarray, shape (n_p, 1 + k)
        For each p, the sum over q of E times (1, q).
    of_q : ndarray, shape (n_q, 1 + k)
        For each q, the sum over p of E times (1, p).
    shift : float
        Zero, unless all pairs are so far apart that the sum would underflow.
    """

    def __init__(self, P: np.ndarray, Q: np.ndarray, same: bool, row_weights: Sequence[np.ndarray] | None):
        self.same, self.shift = same, 0.0
        half_p, half_q = (0.5 * np.einsum("ij,ij->i", points, points) for points in (P, Q))
        if not max(half_p.max(), half_q.max()) * np.finfo(P.dtype).eps < 1:
            raise np.linalg.LinAlgError("a kernel is so flat that the distances are only rounding errors")
        if row_weights is not None:
            half_p, half_q = half_p - np.log(row_weights[0]), half_q - np.log(row_weights[1])
        one_p, one_q = np.ones((len(P), 1), P.dtype), np.ones((len(Q), 1), Q.dtype)
        # The exponent of a pair, p'q - |p|²/2 - |q|²/2, is the dot product of a left and a right row.
        self._left = np.hstack([P, -half_p[:, np.newaxis], one_p])
        self._right = np.hstack([Q, one_q, -half_q[:, np.newaxis]])
        self._with_p, self._with_q = np.hstack([one_p, P]), np.hstack([one_q, Q])
        self._add_up()
        if not self.total > np.finfo(P.dtype).tiny / np.finfo(P.dtype).eps:
            self.shift = max(float(exponents.max()) for _, _, exponents in self._tiles())
            self._add_up()

    def _tiles(self):
        """Yield row slice, column slice and exponents of each tile; if `same`, of the upper triangle only."""
        for start in range(0, len(self._left), TILE):
            rows = slice(start, start + TILE)
            for other in range(start if self.same else 0, len(self._right), TILE):
                columns = slice(other, other + TILE)
                yield rows, columns, self._left[rows] @ self._right[columns].T

    def _add_up(self) -> None:
        self.of_p = np.zeros_like(self._with_p)
        self.of_q = self.of_p if self.same else np.zeros_like(self._with_q)
        for rows, columns, exponents in self._tiles():
            if self.shift:
                exponents -= self.shift
            pairs = np.exp(exponents, out=exponents)
            self.of_p[rows] += pairs @ self._with_q[columns]
            if not self.same or rows != columns:
                self.of_q[columns] += pairs.T @ self._with_p[rows]
        self.total = float(self.of_p[:, 0].sum(dtype=np.float64))
