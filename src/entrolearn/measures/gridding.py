"""Spreading weights of points to a periodic grid, and interpolating fields on the grid at the points.

Both operations use the cubic B-spline and are transposes of each other, so the gradient of a function of
spread and convolved weights is exact. Each of them blurs by the spline; the blur can be divided out in the
spectrum, see :func:`blur`.
"""

import math
from collections.abc import Sequence

import numpy as np

__all__ = ["ORDER", "SplineShares", "blur"]

#: Number of grid points, along each axis, to which a point is spread: the order of the spline.
ORDER = 4


class SplineShares:
    """Weights of the grid points around each of some points, for spreading and interpolation.

    Parameters
    ----------
    places : ndarray, shape (n, k)
        The points.
    origin, step : ndarray, shape (k,)
        First grid point and grid step, in the coordinates of the points.
    shape : tuple of int, length k
        Number of grid points along each axis. The grid is periodic: the point after the last one is the
        first.
    """

    def __init__(self, places: np.ndarray, origin: np.ndarray, step: np.ndarray, shape: tuple[int, ...]):
        self.shape, self._step = shape, step
        at = (places - origin) / step
        cell = np.floor(at).astype(np.intp)
        within = at - cell
        self._shares = [_spline(within[:, axis]) for axis in range(len(shape))]
        self._slopes = [_spline_slope(within[:, axis]) for axis in range(len(shape))]
        offsets = np.arange(-1, ORDER - 1)
        each = [(cell[:, axis, np.newaxis] + offsets) % n for axis, n in enumerate(shape)]
        self._index = each[0]
        for axis, n in enumerate(shape[1:], start=1):
            self._index = self._index[..., np.newaxis] * n + each[axis].reshape(
                len(places), *(1,) * axis, ORDER
            )

    def __len__(self) -> int:
        return len(self._index)

    def _products(self, factors: Sequence[np.ndarray]) -> np.ndarray:
        """Product of one factor per axis, at each of the grid points around each point."""
        found = factors[0]
        for axis, factor in enumerate(factors[1:], start=1):
            found = found[..., np.newaxis] * factor.reshape(len(factor), *(1,) * axis, ORDER)
        return found

    def spread(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Total weight at each grid point; `weights` of the points, shape (n,), are one by default."""
        shared = self._products(self._shares)
        if weights is not None:
            shared = shared * weights.reshape(-1, *(1,) * len(self.shape))
        return np.bincount(self._index.ravel(), shared.ravel(), math.prod(self.shape)).reshape(self.shape)

    def values(self, field: np.ndarray) -> np.ndarray:
        """Values of a field on the grid, interpolated at each point, shape (n,)."""
        near = field.ravel()[self._index]
        return (near * self._products(self._shares)).reshape(len(near), -1).sum(axis=1)

    def slopes(self, field: np.ndarray) -> np.ndarray:
        """Gradients of the interpolated field at each point, shape (n, k)."""
        near = field.ravel()[self._index]
        found = np.empty((len(near), len(self.shape)))
        for axis, step in enumerate(self._step):
            factors = [*self._shares]
            factors[axis] = self._slopes[axis] / step
            found[:, axis] = (near * self._products(factors)).reshape(len(near), -1).sum(axis=1)
        return found


def blur(frequencies: np.ndarray, step: float) -> np.ndarray:
    """Factor by which spreading, or interpolating, multiplies the spectrum along one axis."""
    return np.sinc(frequencies * step / (2 * np.pi)) ** ORDER


def _spline(t: np.ndarray) -> np.ndarray:
    """Weights of the cubic B-spline at the four grid points around offsets t in a cell, shape (n, 4)."""
    s = 1 - t
    return np.column_stack([s**3, 3 * t**3 - 6 * t**2 + 4, 3 * s**3 - 6 * s**2 + 4, t**3]) / 6


def _spline_slope(t: np.ndarray) -> np.ndarray:
    """Derivatives of :func:`_spline` with respect to t, shape (n, 4)."""
    s = 1 - t
    return np.column_stack([-(s**2), 3 * t**2 - 4 * t, 4 * s - 3 * s**2, t**2]) / 2
