"""Fast sums of Gaussian kernels at many points in one or two dimensions, by interpolation on a grid of cells.

The kernel, of width one, is interpolated in both arguments by polynomials on the Chebyshev nodes of cells of
width one. The weights of the sources are moved to the nodes of their cells, the kernel is applied axis by
axis, and the sums at the nodes are interpolated at the places. The error has a proven bound.
"""

import math
from collections.abc import Iterator
from functools import cache, cached_property

import numpy as np

from entrolearn.measures.density import BLOCK_PAIRS

__all__ = ["AUTO_PAIRS", "LOG_ERROR", "Sources", "gauss_sums"]

#: Pairs above which ``method="auto"`` uses these sums. Measured: a million exact pairs take 8 ms.
AUTO_PAIRS = 1_000_000

#: Error of the logarithm of a sum above which the sum is computed from all pairs.
LOG_ERROR = 1e-6

#: Largest interpolation error in all arguments, relative to the total weight; it decides the number of nodes.
INTERPOLATION = 2e-12

#: Distance in kernel widths beyond which pairs of cells are left out.
REACH = 8.5

#: Number of neighbouring cells that are computed together, in one matrix product.
TOGETHER = 4

#: Time of a multiplication on the grid relative to that of a pair (a difference, a square and an
#: exponential).
PRICE = 0.03

#: Bound of the rounding error of a sum, in units of the machine epsilon.
ROUNDINGS = 16


def gauss_sums(
    places: np.ndarray, sources: "np.ndarray | Sources", weights: np.ndarray | None = None
) -> tuple[np.ndarray, float] | None:
    r"""Sums of :math:`\exp(-\|z - p\|^2 / 2)` over all sources p, at each place z, and a bound of the error.

    Parameters
    ----------
    places : ndarray, shape (n_places, n_features)
        Points at which the sums are computed; one or two features.
    sources : ndarray, shape (n_sources, n_features), or Sources
        Centres of the kernels.
    weights : ndarray, shape (n_sources,), optional
        Positive weights of the sources, if these are an array.

    Returns
    -------
    sums : ndarray, shape (n_places,)
        The sums.
    error : float
        Bound of the absolute error of every sum.

    The result is None if summing over all pairs is cheaper: if there are few pairs, or the points are spread
    over too many cells.

    Notes
    -----
    With K nodes in a cell of half width a = 1/2, the error of interpolation in one argument is at most
    :math:`a^K \max|k^{(K)}| / (2^{K-1} K!)`, where :math:`|k^{(K)}| \leq 1.0865 \sqrt{K!}` for the Gaussian
    k (Cramér's inequality for Hermite polynomials). Each of the other interpolations multiplies the error by
    the Lebesgue constant, at most :math:`1 + 2 / \pi \ln K`.

    References
    ----------
    W. Fong and E. Darve (2009). The black-box fast multipole method. Journal of Computational Physics 228.
    F. W. J. Olver et al. NIST Digital Library of Mathematical Functions, 18.14.9.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.measures.gauss_sums import gauss_sums
    >>> x = np.random.default_rng(0).normal(scale=5, size=(2000, 1))
    >>> sums, error = gauss_sums(x, x)
    >>> naive = np.exp(-((x - x.T) ** 2) / 2).sum(axis=1)
    >>> bool(abs(sums - naive).max() <= error < 1e-8)
    True
    """
    sources = sources if isinstance(sources, Sources) else Sources(sources, weights)
    order, share = _order(places.shape[1])
    axes = [_Axis(x, cells) for x, cells in zip(places.T, sources.cells, strict=True)]
    cost = float(sum(axis.n_links for axis in axes) * order**2)
    if len(axes) == 2:
        columns, rows = len(sources.cells[1]), len(axes[0].cells)
        cost += PRICE * order**3 * (axes[0].n_links * columns + axes[1].n_links * rows)
    cost += PRICE * (len(places) + len(sources)) * order ** len(axes)
    if not cost < len(places) * len(sources):
        return None
    field = sources.field
    for axis in axes:  # transposing makes the next axis the first
        field = axis.applied(order, field).T
    return _interpolated(axes, order, field), share * sources.total


class Sources:
    """Centres of the kernels, with their weights at the nodes of their cells (computed once).

    Parameters
    ----------
    points : ndarray, shape (n_sources, n_features)
    weights : ndarray, shape (n_sources,), optional
        Positive; all one by default.
    """

    def __init__(self, points: np.ndarray, weights: np.ndarray | None = None):
        self._points, self._weights = points, weights
        self.total = len(points) if weights is None else float(weights.sum())

    def __len__(self) -> int:
        return len(self._points)

    @cached_property
    def _axes(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        return [_cells(x) for x in self._points.T]

    @property
    def cells(self) -> list[np.ndarray]:
        """The occupied cells along each axis, in ascending order."""
        return [cells for cells, _, _ in self._axes]

    @cached_property
    def field(self) -> np.ndarray:
        """Weights at the nodes, one axis of the array for each feature."""
        order, _ = _order(len(self._axes))
        sizes = [len(cells) * order for cells in self.cells]
        field = np.zeros(math.prod(sizes))
        for rows in _blocks(len(self), order ** len(sizes)):
            shares = [_shares(within[rows], order) for _, _, within in self._axes]
            if self._weights is not None:
                shares[0] *= self._weights[rows, np.newaxis]
            index = [cell[rows, np.newaxis] * order + np.arange(order) for _, cell, _ in self._axes]
            found, place = shares[0], index[0]
            if len(sizes) == 2:
                found = found[:, :, np.newaxis] * shares[1][:, np.newaxis]
                place = place[:, :, np.newaxis] * sizes[1] + index[1][:, np.newaxis]
            field += np.bincount(place.ravel(), found.ravel(), len(field))
        return field.reshape(sizes)


class _Axis:
    """The cells along one axis that hold places, and the range of source cells within their reach."""

    def __init__(self, places: np.ndarray, source_cells: np.ndarray):
        self.cells, self.cell, self.within = _cells(places)
        self._source_cells = source_cells
        groups = np.arange(0, len(self.cells), TOGETHER)
        last = np.minimum(groups + TOGETHER, len(self.cells)) - 1
        reach = REACH + 1  # from any point of a cell to any point of another
        self._start = np.searchsorted(source_cells, self.cells[groups] - reach)
        self._stop = np.searchsorted(source_cells, self.cells[last] + reach, side="right")

    @property
    def n_links(self) -> int:
        """Number of pairs of cells that are computed."""
        return TOGETHER * int((self._stop - self._start).sum())

    def applied(self, order: int, field: np.ndarray) -> np.ndarray:
        """Product of the kernel matrix, nodes of places' by nodes of sources' cells, and a field."""
        found = np.zeros((len(self.cells) * order, *field.shape[1:]))
        nodes = _nodes(order)
        between = np.subtract.outer(nodes, nodes)[np.newaxis, :, np.newaxis, :]
        for group, (start, stop) in enumerate(zip(self._start, self._stop, strict=True)):
            first = group * TOGETHER
            cells = self.cells[first : first + TOGETHER]
            gaps = (
                np.subtract.outer(cells, self._source_cells[start:stop])[:, np.newaxis, :, np.newaxis]
                + between
            )
            np.square(gaps, out=gaps)
            gaps *= -0.5
            kernel = np.exp(gaps, out=gaps).reshape(len(cells) * order, -1)
            rows = slice(first * order, (first + len(cells)) * order)
            np.matmul(kernel, field[start * order : stop * order], out=found[rows])
        return found


def _cells(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres of the occupied cells; for each number the index of its cell and its offset from the centre."""
    nearest = np.rint(x)
    within, low = x - nearest, nearest.min()
    if nearest.max() - low < len(x):  # counting is quicker than sorting
        index = (nearest - low).astype(np.intp)
        occupied = np.bincount(index) > 0
        return low + np.flatnonzero(occupied), (np.cumsum(occupied) - 1)[index], within
    cells, index = np.unique(nearest, return_inverse=True)
    return cells, index, within


@cache
def _order(n_features: int) -> tuple[int, float]:
    """Number of nodes of a cell along an axis, and the error bound relative to the sources' total weight."""
    order = 2
    while True:
        lebesgue = 1 + 2 / math.pi * math.log(order)
        others = lebesgue ** (2 * n_features - 1)
        one = 1.0865 / (2.0 ** (2 * order - 1) * math.sqrt(math.factorial(order)))
        found = 2 * n_features * one * others
        if found < INTERPOLATION * others:
            rounding = ROUNDINGS * float(np.finfo(float).eps) * lebesgue ** (2 * n_features)
            return order, found + rounding + others * lebesgue * math.exp(-(REACH**2) / 2)
        order += 1


def _nodes(order: int) -> np.ndarray:
    """Chebyshev nodes of a cell of width one around zero."""
    return 0.5 * np.cos((np.arange(order) + 0.5) * (math.pi / order))


def _shares(within: np.ndarray, order: int) -> np.ndarray:
    """Values of the nodes' Lagrange polynomials at offsets within a cell, shape (n, order)."""
    chebyshev = np.empty((order, len(within)))
    chebyshev[0], chebyshev[1] = 1.0, 2 * within
    for degree in range(2, order):
        chebyshev[degree] = 4 * within * chebyshev[degree - 1] - chebyshev[degree - 2]
    of_nodes = (np.arange(order) + 0.5) * (math.pi / order)
    series = np.cos(np.multiply.outer(np.arange(order), of_nodes)) * (2 / order)
    series[0] /= 2
    return chebyshev.T @ series


def _interpolated(axes: list[_Axis], order: int, field: np.ndarray) -> np.ndarray:
    """A field that is given at the nodes of the places' cells, at the places."""
    sums = np.empty(len(axes[0].cell))
    by_cell = field.reshape([size for axis in axes for size in (len(axis.cells), order)])
    for rows in _blocks(len(sums), order ** len(axes)):
        shares = [_shares(axis.within[rows], order) for axis in axes]
        if len(axes) == 1:
            sums[rows] = np.einsum("nj,nj->n", by_cell[axes[0].cell[rows]], shares[0])
            continue
        near = by_cell[axes[0].cell[rows], :, axes[1].cell[rows], :]
        sums[rows] = np.einsum("nj,nj->n", np.matmul(near, shares[1][:, :, np.newaxis])[:, :, 0], shares[0])
    return sums


def _blocks(n: int, numbers: int) -> Iterator[slice]:
    step = max(1, BLOCK_PAIRS // numbers)
    return (slice(start, start + step) for start in range(0, n, step))
