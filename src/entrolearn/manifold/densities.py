"""Gaussian kernel density estimates of classes, and Bayes' rule on them.

Czarnecki, Jozefowicz and Tabor (2015), "Maximum Entropy Linear Manifold for Learning Discriminative
Low-Dimensional Representation", section 4.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Real

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.covariance import empirical_covariance, ledoit_wolf, oas

from entrolearn.measures.gauss_sums import AUTO_PAIRS, LOG_ERROR, Sources, gauss_sums
from entrolearn.validation import Interval

__all__ = [
    "BANDWIDTH_SCALES",
    "COVARIANCES",
    "ClassDensities",
    "by_class",
    "class_covariance",
]


def _oas(X: np.ndarray) -> np.ndarray:
    covariance, shrinkage = oas(X)
    if shrinkage >= 0:
        return covariance
    # Complete shrinkage: the variances are so equal that rounding changed the sign of the denominator.
    return np.diag(np.full(X.shape[1], X.var(axis=0).mean()))


#: Covariance estimates by name, for two rows or more.
FAR = 1e4  # rows further from zero than this many times their range are shifted by one of them
COVARIANCES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ledoit_wolf": lambda X: ledoit_wolf(X)[0],
    "oas": _oas,
    "empirical": empirical_covariance,
}

#: Largest multiple of Silverman's width; squares of larger ones overflow.
BANDWIDTH_SCALES = Interval(Real, 0, 1e100, closed="right")

#: Pairs in memory at once (2 MiB: a block stays in the processor's cache).
BLOCK_PAIRS = 2**18

#: Least variance of a kernel in any direction, relative to the variance of all points.
LEAST_VARIANCE = 1e-12

#: Largest distance from a class, in kernel widths or units of length, whose square is a number. Rows further
#: away count as this far, and a spread below the reciprocal counts as zero.
FURTHEST = 1e145


def class_covariance(X: np.ndarray, covariance: str, weights: np.ndarray | None = None) -> np.ndarray:
    """Covariance of the rows of one class.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        At least one row; may have more features than rows. A column of equal numbers has variance exactly
        zero.
    covariance : {"ledoit_wolf", "oas", "empirical"}
        Estimate shrunk towards a multiple of the identity (Ledoit and Wolf's or the oracle approximating
        one), or the maximum-likelihood estimate (``ddof=0``).
    weights : ndarray of shape (n_samples,), optional
        Positive weights of the rows: a row of weight two counts as two rows.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        Covariance in double precision; zero for a single row.

    Raises
    ------
    ValueError
        If `covariance` is not accepted.

    Notes
    -----
    The paper writes cov, but its tables require Ledoit and Wolf's estimate, which the authors' code also
    uses.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.manifold.densities import class_covariance
    >>> class_covariance(np.array([[0.0, 0.0], [2.0, 4.0]]), "empirical")
    array([[1., 2.],
           [2., 4.]])
    """
    if covariance not in COVARIANCES:
        known = ", ".join(map(repr, COVARIANCES))
        raise ValueError(f"covariance is {covariance!r}; it must be one of {known}")
    if len(X) == 1:  # scikit-learn's estimates warn or divide by zero here
        return np.zeros((X.shape[1], X.shape[1]))
    X = np.asarray(X, dtype=np.float64)
    # For rows far from zero, the rounding error of the mean exceeds the spread; differences from a row are
    # exact.
    X = X - np.where(np.abs(X).max(axis=0) > FAR * np.ptp(X, axis=0), X[0], 0.0)
    return COVARIANCES[covariance](X) if weights is None else _weighted_covariance(X, covariance, weights)


def _weighted_covariance(X: np.ndarray, covariance: str, weights: np.ndarray) -> np.ndarray:
    n, d = weights.sum(), X.shape[1]
    X = X - np.average(X, axis=0, weights=weights)
    found = (X.T * weights) @ X / n
    if covariance == "empirical":
        return found
    variance, square = found.trace() / d, np.vdot(found, found) / d
    if covariance == "oas":
        gap, noise = (n + 1) * (square - variance**2) / d, square / d + variance**2
    else:
        gap = square - variance**2
        noise = (weights @ np.square(X).sum(axis=1) ** 2 / (d * n) - square) / n
    shrinkage = min(noise / gap, 1.0) if gap > 0 else 1.0
    return (1 - shrinkage) * found + shrinkage * variance * np.eye(d)


@dataclass(frozen=True, eq=False)
class ClassDensities:
    r"""Gaussian kernel density estimates of classes, each with its own kernel.

    .. math:: f_c(z) = \frac{1}{n_c} \sum_{p \in P_c} \mathcal{N}(z - p; 0, \Sigma_c)

    With weights the mean is weighted.

    Parameters
    ----------
    points : tuple of ndarray of shape (n_c, k)
        The points of each class.
    covariances : ndarray of shape (n_classes, k, k)
        Covariances of the kernels, bandwidths included, in squares of `unit`.
    unit : float, default=1.0
        Unit of length of `covariances`, which keeps them from overflow and underflow.
    weights : tuple of ndarray of shape (n_c,), optional
        Positive weights of the points of each class.

    Raises
    ------
    ValueError
        If the shapes do not agree, or a covariance is not finite.

    Notes
    -----
    If a kernel has no variance in some direction, for example because all points of the class lie in a
    hyperplane, its standard deviation there is set to a millionth of that of the points of all classes. All
    densities are then finite: one such class has the largest density only close to its hyperplane, and among
    several such classes the nearest one has.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 4 (definition of the estimate).

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.manifold.densities import ClassDensities
    >>> two = ClassDensities((np.array([[0.0]]), np.array([[1.0], [3.0]])), np.ones((2, 1, 1)))
    >>> two.log_density([[0.0], [100.0]]).round(2)
    array([[-9.20000e-01, -2.09000e+00],
           [-5.00092e+03, -4.70611e+03]])
    """

    points: tuple[np.ndarray, ...]
    covariances: np.ndarray
    unit: float = 1.0
    weights: tuple[np.ndarray, ...] | None = None

    def __post_init__(self):
        shapes = [np.shape(points) for points in self.points]
        k = np.shape(self.covariances)[-1:]
        fits = all(len(shape) == 2 and shape[0] > 0 and shape[1:] == k for shape in shapes)
        if not (fits and shapes and np.shape(self.covariances) == (len(shapes), *k, *k)):
            raise ValueError(
                f"points of shapes {shapes} do not fit covariances of shape {np.shape(self.covariances)}; "
                "they must be (n_c, k) for each class, with n_c > 0, and (n_classes, k, k)"
            )
        if not np.isfinite(self.covariances).all():
            raise ValueError("a kernel covariance holds NaN or infinite values; scale the features")

    def log_density(self, Z, *, method: str = "exact") -> np.ndarray:
        """Logarithm of the density of each class.

        Parameters
        ----------
        Z : array-like of shape (n_samples, k)
        method : {"auto", "exact", "binned"}, default="exact"
            "exact" visits all pairs of rows and points. "binned", for k = 1 or 2, interpolates the kernels
            between the nodes of a grid if that is cheaper, with an error of at most 1e-6. Rows so far from a
            class's points that the error would be larger are computed exactly. "auto" is "binned" if a class
            has more than a million pairs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Finite at any distance from the points, because the sums are log-sum-exps. Pairs are visited in
            blocks, so memory does not grow with their number.
        """
        Z = np.asarray(Z, dtype=np.float64)
        return np.column_stack([kernel.log_density(Z, method) for kernel in self._kernels])

    def log_joint(self, Z, priors: np.ndarray, *, method: str = "exact") -> np.ndarray:
        """Logarithm of the density of each class times its prior.

        Rows whose two most probable classes could be exchanged by the error of "binned" are computed exactly,
        so the most probable class is always that of the exact densities.

        Parameters
        ----------
        Z : array-like of shape (n_samples, k)
        priors : ndarray of shape (n_classes,)
        method : {"auto", "exact", "binned"}, default="exact"
            See :meth:`log_density`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        joint = self.log_density(Z, method=method) + np.log(priors)
        if method == "exact" or len(priors) < 2:
            return joint
        first, second = -np.partition(-joint, 1, axis=1)[:, :2].T
        close = np.flatnonzero(first - second <= 2 * LOG_ERROR)
        joint[close] = self.log_density(np.asarray(Z)[close]) + np.log(priors)
        return joint

    def __getstate__(self):
        return {
            field.name: getattr(self, field.name) for field in fields(self)
        }  # cached kernels are not pickled

    @cached_property
    def _kernels(self) -> list["_WhitenedKernel"]:
        together = np.concatenate(self.points).astype(np.float64, copy=False) / self.unit
        weights: Sequence = self.weights or [None] * len(self.points)
        if self.weights is None:
            spread = together.std(axis=0)
        else:
            of_points = np.concatenate(self.weights)
            centred = together - np.average(together, axis=0, weights=of_points)
            spread = np.sqrt(np.average(centred**2, axis=0, weights=of_points))
        spread = np.where((np.ptp(together, axis=0) > 0) & (spread > 1 / FURTHEST), spread, 1.0)
        return [
            _WhitenedKernel.of(points, covariance, spread, self.unit, own)
            for points, covariance, own in zip(self.points, self.covariances, weights, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class _WhitenedKernel:
    """Density of one class in coordinates in which the covariance of its kernel is the identity."""

    origin: np.ndarray  # (k,), one of the points, to reduce rounding errors
    unit: float  # of the differences from the origin
    whitening: np.ndarray  # (k, k), of differences in that unit
    points: np.ndarray  # (n_c, k), whitened
    weights: np.ndarray | None
    log_constant: float  # added to the logarithm of the sum of exponentials

    @classmethod
    def of(
        cls,
        points: np.ndarray,
        covariance: np.ndarray,
        spread: np.ndarray,
        unit: float,
        weights: np.ndarray | None,
    ) -> "_WhitenedKernel":
        # Eigenvalues instead of a Cholesky factor, so that missing variances can be replaced; of the
        # covariance in units of the spread, so that the result does not depend on the units of the features.
        variances, axes = eigh(covariance / np.outer(spread, spread))
        variances = np.maximum(variances, LEAST_VARIANCE)
        whitening = axes / np.sqrt(variances) / spread[:, np.newaxis]
        origin = np.where(np.ptp(points, axis=0) > 0, points.mean(axis=0, dtype=np.float64), points[0])
        log_determinant = np.log(variances).sum() + 2 * (np.log(spread).sum() + len(spread) * math.log(unit))
        n = len(points) if weights is None else weights.sum()
        log_constant = -math.log(n) - 0.5 * (len(spread) * math.log(2 * math.pi) + log_determinant)
        points = ((points - origin) / unit) @ whitening
        return cls(origin, unit, whitening, points, weights, float(log_constant))

    def log_density(self, Z: np.ndarray, method: str = "exact") -> np.ndarray:
        Z = np.clip((Z - self.origin) / self.unit, -FURTHEST, FURTHEST) @ self.whitening
        Z = np.clip(Z, -FURTHEST, FURTHEST, out=Z)
        many = len(Z) * len(self.points) > AUTO_PAIRS
        binned = Z.shape[1] <= 2 and (method == "binned" or (method == "auto" and many))
        found = gauss_sums(Z, self._sources) if binned else None
        if found is None:
            return self._log_sums(Z) + self.log_constant
        sums, error = found
        log_sums = np.log(np.maximum(sums, error))
        far = np.flatnonzero(error > LOG_ERROR / 2 * sums)  # ln(1 + x) is at most 2 |x| for |x| <= 1/2
        log_sums[far] = self._log_sums(Z[far])
        return log_sums + self.log_constant

    @cached_property
    def _sources(self) -> Sources:
        return Sources(self.points, self.weights)

    def _log_sums(self, Z: np.ndarray) -> np.ndarray:
        """Logarithms of the sums over all points, for whitened rows."""
        log_sums = np.empty(len(Z))
        rows = max(1, BLOCK_PAIRS // len(self.points))
        for start in range(0, len(Z), rows):
            block = slice(start, start + rows)
            exponents = cdist(Z[block], self.points, "sqeuclidean")
            nearest = exponents.min(axis=1)
            np.subtract(nearest[:, np.newaxis], exponents, out=exponents)
            exponents /= 2
            kernels = np.exp(exponents, out=exponents)
            sums = kernels.sum(axis=1) if self.weights is None else kernels @ self.weights
            log_sums[block] = np.log(sums) - nearest / 2
        return log_sums


def by_class(values: np.ndarray | None, codes: np.ndarray) -> list:
    """The values of the rows of each class; a list of None if `values` is None."""
    return [None if values is None else values[codes == c] for c in range(codes.max() + 1)]
