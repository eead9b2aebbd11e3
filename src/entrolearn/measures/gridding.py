"""Points on a periodic grid: sharing their weights among grid points, and reading fields where they lie.

Both use the cubic B-spline and are each other's transpose, so that what is spread, convolved and read again
has an exact gradient. Spreading blurs a density and reading blurs a field, each by the spline; on the grid
that can be divided out, see :func:`blur`.
"""

import math
from collections.abc import Sequence

import numpy as np

__all__ = ["ORDER", "SplineShares", "blur"]

#: Grid points that a point is shared among, along each axis: the order of the spline.
ORDER = 4


class SplineShares:
    """How points are shared among the points of a grid.

    Parameters
    ----------
    places : ndarray, shape (n, k)
    origin, step : ndarray, shape (k,)
        Of the grid, in the coordinates of the places.
    shape : tuple of int, length k
        Grid points along each axis; places beyond the last one are those at the first.
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
        """The product of one factor per axis at each of the grid points of each point."""
        found = factors[0]
        for axis, factor in enumerate(factors[1:], start=1):
            found = found[..., np.newaxis] * factor.reshape(len(factor), *(1,) * axis, ORDER)
        return found

    def spread(self, weights: np.ndarray | None = None) -> np.ndarray:
        """How much lies at each grid point, of points that weigh one or as much as given, shape (n,)."""
        shared = self._products(self._shares)
        if weights is not None:
            shared = shared * weights.reshape(-1, *(1,) * len(self.shape))
        return np.bincount(self._index.ravel(), shared.ravel(), math.prod(self.shape)).reshape(self.shape)

    def values(self, field: np.ndarray) -> np.ndarray:
        """An interpolated field at each point, shape (n,)."""
        near = field.ravel()[self._index]
        return (near * self._products(self._shares)).reshape(len(near), -1).sum(axis=1)

    def slopes(self, field: np.ndarray) -> np.ndarray:
        """The gradient of an interpolated field at each point, shape (n, k)."""
        near = field.ravel()[self._index]
        found = np.empty((len(near), len(self.shape)))
        for axis, step in enumerate(self._step):
            factors = [*self._shares]
            factors[axis] = self._slopes[axis] / step
            found[:, axis] = (near * self._products(factors)).reshape(len(near), -1).sum(axis=1)
        return found


def blur(frequencies: np.ndarray, step: float) -> np.ndarray:
    """What spreading, or reading, multiplies a spectrum with, at angular frequencies along one axis."""
    return np.sinc(frequencies * step / (2 * np.pi)) ** ORDER


def _spline(t: np.ndarray) -> np.ndarray:
    """Weights of the cubic B-spline at the four grid points around a place t of its cell, shape (n, 4)."""
    s = 1 - t
    return np.column_stack([s**3, 3 * t**3 - 6 * t**2 + 4, 3 * s**3 - 6 * s**2 + 4, t**3]) / 6


def _spline_slope(t: np.ndarray) -> np.ndarray:
    """Derivatives of these weights."""
    s = 1 - t
    return np.column_stack([-(s**2), 3 * t**2 - 4 * t, 4 * s - 3 * s**2, t**2]) / 2
