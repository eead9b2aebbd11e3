"""Logarithms of cross information potentials in one or two dimensions, by binning and Fourier transforms.

Points are distributed over the nearest points of a grid by cubic B-splines. On the grid the sum over all
pairs is a convolution with a Gaussian, that is, a product of spectra. The blur of the splines is divided out
of the spectra, so only frequencies beyond the resolution of the grid cause errors.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from scipy import fft
from scipy.linalg import cholesky, eigh, solve_triangular

from entrolearn.measures.gridding import ORDER, SplineShares, blur

__all__ = ["Grid", "weighted_log_potentials"]

#: Grid steps per standard deviation of the narrowest kernel of a pair.
STEPS_PER_WIDTH = 3.0

#: Standard deviations of the widest kernel of a pair between the points and their periodic images.
REACH = 6.0

#: Ratio of the potential of two classes to their own potentials below which rounding errors dominate.
SMALLEST = 1e-9


@dataclass(frozen=True)
class Grid:
    """A periodic grid around the projected classes, in coordinates in which their kernels are nearly round.

    Attributes
    ----------
    axes : ndarray, shape (k, k)
        A point p has the coordinates axes @ p.
    origin, step : ndarray, shape (k,)
    shape : tuple of int
    """

    axes: np.ndarray
    origin: np.ndarray
    step: np.ndarray
    shape: tuple[int, ...]

    @classmethod
    def around(cls, points: Sequence[np.ndarray], kernels: np.ndarray, most: float) -> "Grid | None":
        """The coarsest grid that resolves the narrowest kernel of all pairs of classes.

        None if it would have at least `most` points.
        """
        root = cholesky(kernels.mean(axis=0), lower=True)
        whitening = solve_triangular(root, np.eye(len(root)), lower=True)
        # In these coordinates both kernels are diagonal, so only the widths along the axes must be resolved.
        _, rotation = eigh(whitening @ kernels[0] @ whitening.T)
        axes = rotation.T @ whitening
        pairs = _of_pairs(axes @ kernels @ axes.T)
        places = [own @ axes.T for own in points]
        low = np.min([own.min(axis=0) for own in places], axis=0)
        high = np.max([own.max(axis=0) for own in places], axis=0)
        with np.errstate(all="ignore"):  # kernels of almost zero width, which no grid resolves
            narrowest = np.sqrt(1 / np.linalg.inv(pairs).diagonal(axis1=1, axis2=2)).min(axis=0)
            widest = np.sqrt(pairs.diagonal(axis1=1, axis2=2)).max(axis=0)
            step = narrowest / STEPS_PER_WIDTH
            sizes = (high - low + REACH * widest) / step + ORDER
        if not sizes.prod() < most:
            return None
        shape = tuple(fft.next_fast_len(math.ceil(size), real=True) for size in sizes)
        return cls(axes, low - (ORDER // 2) * step, step, shape) if math.prod(shape) < most else None

    @property
    def n_points(self) -> int:
        return math.prod(self.shape)

    def frequencies(self) -> list[np.ndarray]:
        """Angular frequencies of a real transform, one broadcastable array per axis."""
        lengths = [np.fft.fftfreq] * (len(self.shape) - 1) + [np.fft.rfftfreq]
        found = [2 * np.pi * of(n, step) for of, n, step in zip(lengths, self.shape, self.step, strict=True)]
        return list(np.ix_(*found))


def weighted_log_potentials(
    points: Sequence[np.ndarray],
    kernels: np.ndarray,
    weights: np.ndarray,
    grid: Grid,
    row_weights: Sequence[np.ndarray] | None = None,
) -> tuple[float, list[np.ndarray], np.ndarray] | None:
    """Binned version of :func:`entrolearn.manifold.exact.weighted_log_potentials`, in time O(n).

    The gradient is that of the binned value, not of the exact one.

    Returns
    -------
    tuple or None
        None if some classes are so far apart that rounding errors dominate.
    """
    shares = [SplineShares(own @ grid.axes.T, grid.origin, grid.step, grid.shape) for own in points]
    of_rows = [None] * len(points) if row_weights is None else row_weights
    spectra = _Spectra.of(shares, of_rows, grid.axes @ kernels @ grid.axes.T, grid)
    pairs = list(combinations_with_replacement(range(len(points)), 2))
    potentials = {pair: spectra.potential(*pair) for pair in pairs}
    if any(
        not potential > SMALLEST * math.sqrt(potentials[a, a] * potentials[b, b])
        for (a, b), potential in potentials.items()
    ):
        return None
    fields = [np.zeros_like(density) for density in spectra.densities]
    of_kernels = np.zeros_like(kernels, dtype=float)
    for (a, b), potential in potentials.items():
        scale = weights[a, b] / potential
        kernel = scale * spectra.kernel(a, b)
        fields[a] += kernel * spectra.densities[b]
        fields[b] += kernel * spectra.densities[a]
        of_kernel = scale * spectra.slope_of_kernel(a, b)
        of_kernels[a] += of_kernel
        of_kernels[b] += of_kernel
    # Potentials in grid coordinates are those in the original ones times the area of a unit square.
    log_area = math.log(abs(np.linalg.det(grid.axes)))
    value = sum(weights[pair] * (math.log(potentials[pair]) + log_area) for pair in pairs)
    of_points = [
        own.slopes(fft.irfftn(field, grid.shape)) @ grid.axes / (_total(own, each) * math.prod(grid.step))
        for own, each, field in zip(shares, of_rows, fields, strict=True)
    ]
    if row_weights is not None:
        of_points = [each[:, np.newaxis] * of for each, of in zip(row_weights, of_points, strict=True)]
    return float(value), of_points, grid.axes.T @ of_kernels @ grid.axes


@dataclass(frozen=True, eq=False)
class _Spectra:
    """Spectra of the classes on a grid and of their kernels.

    Attributes
    ----------
    densities : list of complex ndarrays
        Spectrum of the points of each class, whose weights add up to one.
    gaussians : list of ndarrays
        Spectrum of the kernel of each class.
    unblurred : ndarray
        Factor that removes the blur of distributing points over the grid, twice.
    counted : ndarray
        Multiplicity of a frequency in the whole spectrum, per area of the grid.
    frequencies : list of ndarrays
    """

    densities: list[np.ndarray]
    gaussians: list[np.ndarray]
    unblurred: np.ndarray
    counted: np.ndarray
    frequencies: list[np.ndarray]

    @classmethod
    def of(
        cls, shares: Sequence[SplineShares], of_rows: Sequence, kernels: np.ndarray, grid: Grid
    ) -> "_Spectra":
        frequencies = grid.frequencies()
        blurs: Any = (blur(omega, step) ** 2 for omega, step in zip(frequencies, grid.step, strict=True))
        return cls(
            [
                fft.rfftn(own.spread(each)) / _total(own, each)
                for own, each in zip(shares, of_rows, strict=True)
            ],
            [_gaussian(frequencies, kernel) for kernel in kernels],
            1 / math.prod(blurs),
            _multiplicity(grid.shape) / (grid.n_points * math.prod(grid.step)),
            frequencies,
        )

    def kernel(self, a: int, b: int) -> np.ndarray:
        """Kernel of a pair of classes without the blur: the Gaussian of the sum of their covariances."""
        return self.gaussians[a] * self.gaussians[b] * self.unblurred

    def potential(self, a: int, b: int) -> float:
        """The cross information potential: the sum of the product of the spectra."""
        return float(self._product(a, b).sum())

    def slope_of_kernel(self, a: int, b: int) -> np.ndarray:
        """Derivative of a potential with respect to the covariance of the pair, shape (k, k)."""
        product, k = self._product(a, b), len(self.frequencies)
        moments = [
            np.sum(product * self.frequencies[i] * self.frequencies[j]) for i in range(k) for j in range(k)
        ]
        return -0.5 * np.reshape(moments, (k, k))

    def _product(self, a: int, b: int) -> np.ndarray:
        together = (self.densities[a].conj() * self.densities[b]).real
        return together * self.kernel(a, b) * self.counted


def _total(shares: SplineShares, row_weights: np.ndarray | None) -> float:
    """Sum of the weights of the rows of a class; their number without weights."""
    return len(shares) if row_weights is None else float(row_weights.sum())


def _of_pairs(kernels: np.ndarray) -> np.ndarray:
    a, b = np.triu_indices(len(kernels))
    return kernels[a] + kernels[b]


def _gaussian(frequencies: Sequence[np.ndarray], covariance: np.ndarray) -> np.ndarray:
    """The spectrum of a Gaussian density."""
    k = len(frequencies)
    exponent = sum(covariance[i, j] * frequencies[i] * frequencies[j] for i in range(k) for j in range(k))
    return np.exp(-0.5 * exponent)


def _multiplicity(shape: tuple[int, ...]) -> np.ndarray:
    """Multiplicity of a real transform's frequencies in the whole spectrum, along the last axis."""
    n = shape[-1]
    times = np.full(n // 2 + 1, 2.0)
    times[0] = 1.0
    if n % 2 == 0:
        times[-1] = 1.0
    return times
