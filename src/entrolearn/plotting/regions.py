"""Highest density regions of points in the plane, from a kernel density estimate on a grid."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.utils import gen_batches

from entrolearn.measures import silverman_factor
from entrolearn.plotting.style import contour_lines

STEPS_PER_WIDTH = 4  # grid steps per kernel width: smooth contours, and masses accurate to three decimals
REACH = 4.0  # margin of the grid around the rows, in kernel widths
MOST_STEPS = 400  # maximum of grid steps per side, for data with outliers
BATCH = 10_000  # rows per batch, to limit memory


@dataclass(frozen=True, eq=False)
class PlaneDensity:
    """A Gaussian kernel density estimate in the plane, on a grid.

    Attributes
    ----------
    x, y : ndarray, shape (n_steps, n_steps)
        Coordinates of the grid points; the grid is oblique if the coordinates are correlated.
    heights : ndarray, shape (n_steps, n_steps)
        Density at the grid points.
    area : float
        Area of one grid cell.
    """

    x: np.ndarray
    y: np.ndarray
    heights: np.ndarray
    area: float

    def height_around(self, mass: float) -> float:
        """The density level whose highest density region contains a share `mass` of the density."""
        highest_first = np.sort(self.heights, axis=None)[::-1]
        held = np.cumsum(highest_first)
        return float(highest_first[np.searchsorted(held, mass * held[-1])])

    def lines_around(self, mass: float) -> list[np.ndarray]:
        """Contours of the highest density region with share `mass`, each of shape (n_points, 2)."""
        return contour_lines(self.x, self.y, self.heights, self.height_around(mass))


def plane_density(points: np.ndarray) -> PlaneDensity | None:
    r"""Estimate the density of points in the plane by Gaussian kernels.

    The kernel's covariance is that of the points times the square of Silverman's factor. In whitened
    coordinates the kernel is a product of one function per coordinate, and the estimate on an
    :math:`m \times m` grid is the product of an :math:`m \times N` and an :math:`N \times m` matrix. N rows
    then cost 2mN exponentials instead of :math:`m^2 N`.

    Parameters
    ----------
    points : ndarray, shape (n_points, 2)

    Returns
    -------
    PlaneDensity or None
        None if the points lie on a line, because they then have no density in the plane.

    References
    ----------
    Silverman, Density Estimation for Statistics and Data Analysis (1986), section 4.2.1.
    Hyndman, Computing and Graphing Highest Density Regions, The American Statistician 50 (1996).
    """
    centre = points.mean(axis=0)
    if np.linalg.matrix_rank(points - centre) < 2:
        return None
    factor = np.linalg.cholesky(np.cov(points.T))
    white = np.linalg.solve(factor, (points - centre).T).T
    width = silverman_factor(len(points), 2)
    sides = [_places(coordinate, width) for coordinate in white.T]
    heights = _mean_of_kernels(white, sides, width) / np.linalg.det(factor)
    x, y = np.tensordot(factor, np.meshgrid(*sides, indexing="ij"), axes=1) + centre[:, None, None]
    area = np.prod([side[1] - side[0] for side in sides]) * np.linalg.det(factor)
    return PlaneDensity(x, y, heights, float(area))


def _places(coordinate: np.ndarray, width: float) -> np.ndarray:
    """Equally spaced grid points along one side."""
    low, high = coordinate.min() - REACH * width, coordinate.max() + REACH * width
    return np.linspace(low, high, min(int(STEPS_PER_WIDTH * (high - low) / width) + 2, MOST_STEPS))


def _mean_of_kernels(white: np.ndarray, sides: Sequence[np.ndarray], width: float) -> np.ndarray:
    heights = np.zeros([len(side) for side in sides])
    for rows in gen_batches(len(white), BATCH):
        first, second = (
            np.exp(-(((side[:, None] - coordinate) / width) ** 2) / 2)
            for side, coordinate in zip(sides, white[rows].T, strict=True)
        )
        heights += first @ second.T
    return heights / (len(white) * 2 * np.pi * width**2)
