"""The objective of the maximum entropy linear manifold, and its gradient.

The objective is the Cauchy-Schwarz divergence of the kernel density estimates of two projected classes, as a
function of the projection; for more classes, the sum over all pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import entrolearn.manifold.binned as binned
import entrolearn.manifold.exact as exact
from entrolearn.axes import unit_of_length
from entrolearn.manifold.densities import BANDWIDTH_SCALES, class_covariance
from entrolearn.measures.density import METHODS, silverman_factor
from entrolearn.measures.information import check_choice

__all__ = ["ProjectedDivergence", "melm_objective"]

#: Pairs of rows up to which "auto" is exact. Measured: a million pairs take 3 ms, the least time of binning.
AUTO_PAIRS = 1_000_000

#: Number of rows whose sums do not overflow.
MOST_ROWS = 1e9

#: Cost of a grid point relative to that of a pair.
PAIRS_PER_GRID_POINT = 30


def melm_objective(
    V, X_neg, X_pos, *, bandwidth_scale: float = 1.0, covariance: str = "ledoit_wolf", method: str = "auto"
) -> tuple[float, np.ndarray]:
    r"""Cauchy-Schwarz divergence of two projected classes and its gradient.

    .. math:: D_{CS}(V) = \ln\int f_+^2 + \ln\int f_-^2 - 2\ln\int f_+ f_-

    where f is the Gaussian kernel density estimate of the projected rows :math:`V^T x` of a class. The
    covariance of its kernel is :math:`\gamma^2 h^2 V^T \Sigma V`, with the covariance Σ of the class in the
    feature space and Silverman's factor h (:func:`entrolearn.measures.silverman_factor`).

    Parameters
    ----------
    V : array-like, shape (n_features, k)
        Columns that span the subspace. They need not be orthonormal: the value does not depend on the basis.
    X_neg, X_pos : array-like, shapes (n_neg, n_features) and (n_pos, n_features)
        The rows of both classes. Single precision is kept.
    bandwidth_scale : float, default=1.0
        γ, a factor of the kernels' widths.
    covariance : {"ledoit_wolf", "oas", "empirical"}, default="ledoit_wolf"
        Estimate of the covariance of each class.
    method : {"auto", "exact", "binned"}, default="auto"
        "exact" visits all pairs of rows, in blocks: O(n²) time, O(n) memory. "binned" puts the projected rows
        on a grid, for k up to 2: O(n) time; the error of the value is at most 1e-4 (nats, or relative if the
        value exceeds 1), that of the gradient 1 % of its largest entry. If the grid would have more points
        than there are pairs, or the classes are too far apart for it, the sum is exact. "auto" chooses the
        faster one.

    Returns
    -------
    value : float
        In nats, at least 0; 0 for equal densities.
    gradient : ndarray, shape (n_features, k)
        Gradient with respect to V, orthogonal to V: ``V.T @ gradient`` is 0.

    Raises
    ------
    ValueError
        If the shapes do not agree, V has linearly dependent columns, or a class has no variance.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 4. In the gradient of ψ as
    printed :math:`\Sigma_{AB}(V)` stands for its inverse :math:`S_{AB}(V)`.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.manifold import melm_objective
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> value, gradient = melm_objective(np.eye(4)[:, :2], X[y == 1], X[y == 2])
    >>> round(value, 3), gradient.shape
    (0.49, (4, 2))
    """
    V, rows = _checked(V, (X_neg, X_pos))
    check_choice("method", method, METHODS)
    if bandwidth_scale not in BANDWIDTH_SCALES:
        raise ValueError(
            f"bandwidth_scale is {bandwidth_scale!r}; accepted: positive numbers up to "
            f"{BANDWIDTH_SCALES.right:g}"
        )
    divergence = ProjectedDivergence.of_classes(
        rows, V.shape[1], bandwidth_scale=bandwidth_scale, covariance=covariance, method=method
    )
    try:
        return divergence(V)
    except np.linalg.LinAlgError:
        raise ValueError(
            "the projected classes have no density: V has dependent columns, or a class has no variance in "
            "their directions"
        ) from None


@dataclass(frozen=True)
class ProjectedDivergence:
    """The divergence as a function of the projection.

    Attributes
    ----------
    rows : tuple of ndarrays, shapes (n_c, d)
        Rows of each class, relative to a common origin and in a common unit, which reduces rounding errors
        and does not change the divergence.
    kernels : ndarray, shape (n_classes, d, d)
        Covariances of the kernels of the classes.
    method : {"auto", "exact", "binned"}
    origin : ndarray of shape (d,) or float
        Origin of `rows` in the coordinates of the given rows.
    unit : float
        Unit of length of `rows` and `kernels`, in units of the given rows.
    row_weights : tuple of ndarrays, shapes (n_c,), optional
        Positive weights of the rows of each class.
    """

    rows: tuple[np.ndarray, ...]
    kernels: np.ndarray
    method: str = "auto"
    origin: np.ndarray | float = 0.0
    unit: float = 1.0
    row_weights: Sequence[np.ndarray] | None = None

    @classmethod
    def of_classes(
        cls,
        rows: Sequence[np.ndarray],
        n_components: int,
        *,
        bandwidth_scale: float,
        covariance: str,
        method: str = "auto",
        row_weights: Sequence[np.ndarray] | None = None,
    ) -> "ProjectedDivergence":
        """Objective with Silverman's kernels, from covariances estimated in the feature space."""
        together = np.concatenate(rows)
        origin = np.mean([own.mean(axis=0, dtype=np.float64) for own in rows], axis=0).astype(together.dtype)
        ranges = np.ptp(together, axis=0)
        origin = np.where(ranges > 0, origin, together[0])  # the mean of equal numbers may differ from them
        unit = unit_of_length(ranges.max())
        centred = tuple((own - origin) / unit for own in rows)
        of_rows: Sequence = [None] * len(rows) if row_weights is None else row_weights
        kernels = [
            (bandwidth_scale * silverman_factor(len(own) if weights is None else weights.sum(), n_components))
            ** 2
            * class_covariance(own, covariance, weights)
            for own, weights in zip(centred, of_rows, strict=True)
        ]
        return cls(centred, np.array(kernels, dtype=centred[0].dtype), method, origin, unit, row_weights)

    def __call__(self, V: np.ndarray) -> tuple[float, np.ndarray]:
        """The value, and the gradient in the shape of V.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the kernel of a class has no width in a direction of the subspace.
        """
        V = V.astype(self.rows[0].dtype, copy=False)
        points = [own @ V for own in self.rows]
        kernels = V.T @ self.kernels @ V
        value, of_points, of_kernels = self._potentials(points, kernels)
        gradient = sum(own.T @ of_own for own, of_own in zip(self.rows, of_points, strict=True))
        gradient = gradient + 2 * sum(
            kernel @ V @ of_kernel for kernel, of_kernel in zip(self.kernels, of_kernels, strict=True)
        )
        return value, gradient

    def transformed(self, W: np.ndarray) -> "ProjectedDivergence":
        """The same objective for projections V = W U, as a function of U."""
        return replace(self, rows=tuple(own @ W for own in self.rows), kernels=W.T @ self.kernels @ W)

    def _potentials(self, points: Sequence[np.ndarray], kernels: np.ndarray) -> tuple:
        # Each class is in n - 1 pairs, one with each other class.
        n_classes = len(points)
        weights = np.full((n_classes, n_classes), -2.0)
        np.fill_diagonal(weights, n_classes - 1)
        grid = self._grid(points, kernels)
        of_rows = self.row_weights
        found = None
        if grid is not None:
            found = binned.weighted_log_potentials(points, kernels, weights, grid, of_rows)
        return exact.weighted_log_potentials(points, kernels, weights, of_rows) if found is None else found

    def _grid(self, points: Sequence[np.ndarray], kernels: np.ndarray) -> "binned.Grid | None":
        """A grid for binning; None if visiting all pairs was requested or is faster."""
        n_rows = sum(len(own) for own in points)
        n_pairs = n_rows * n_rows / 2
        if self.method == "exact" or len(kernels[0]) > 2:
            return None
        if self.method == "auto" and n_pairs < AUTO_PAIRS:
            return None
        per_point = PAIRS_PER_GRID_POINT if self.method == "auto" else 1
        return binned.Grid.around(points, kernels, n_pairs / per_point)


def _checked(V, rows: Sequence) -> tuple[np.ndarray, list[np.ndarray]]:
    """The projection and the classes as arrays of a common floating dtype."""
    V, *rows = (np.asarray(one) for one in (V, *rows))
    dtype = np.result_type(np.float32, *rows)
    for name, one in zip(("V", "X_neg", "X_pos"), (V, *rows), strict=True):
        if one.ndim != 2 or 0 in one.shape:
            raise ValueError(f"{name} has shape {one.shape}; it must be a matrix with at least one row")
        if not np.isfinite(one).all():
            raise ValueError(f"{name} holds {np.count_nonzero(~np.isfinite(one))} NaN or infinite values")
        largest, most = np.abs(one).max(), np.finfo(dtype).max / MOST_ROWS
        if largest > most:
            raise ValueError(f"{name} holds {largest:g} in size; it must be at most {most:g} in {dtype}")
    if any(own.shape[1] != len(V) for own in rows):
        found = ", ".join(str(own.shape) for own in rows)
        raise ValueError(f"V has shape {V.shape}, the classes {found}; they must be (d, k) and (n, d)")
    if V.shape[1] > len(V):
        raise ValueError(f"V has shape {V.shape}; it must have at most as many columns as rows")
    return V.astype(dtype), [own.astype(dtype) for own in rows]
