"""Readouts: closed-form solutions in the hidden space.

Pure functions of moments, matrices and targets; the learners in this package combine one of them with a
layer.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq, pinvh, solve_triangular
from sklearn.base import clone
from sklearn.utils import check_array

from entrolearn.kernels import check_memory
from entrolearn.machines.devices import (
    TooFewDigits,
    add_to_diagonal,
    cast,
    cholesky,
    is_regular,
    like,
    namespace,
    solve_cholesky,
    solve_lower,
    zeros,
)
from entrolearn.machines.moments import (
    FEWER_UNITS,
    SOLUTION_SQUARES,
    ClassMoments,
    row_blocks,
)
from entrolearn.machines.sums import LEAST_SHARE, ROUNDINGS
from entrolearn.validation import has_double, is_numpy, to_numpy

__all__ = [
    "SHRINKAGES",
    "ClassCovariance",
    "ClassGaussians",
    "CovarianceMatrix",
    "EntropyReadout",
    "bordered_solve",
    "check_classes",
    "class_gaussians",
    "entropy_discriminant",
    "fitted_covariance",
    "least_squares",
    "least_squares_from_moments",
]

# Class means with a smaller difference are treated as equal, because its square underflows.
LEAST_DIFFERENCE = 1e-150
# Ridges to try on the sum of class covariances until it is positive definite, relative to its mean diagonal.
MORE_RIDGES = (0.0, *np.logspace(-14, 0, 8).tolist())
# Largest accepted variance, so that sums of squared variances over units and rows do not overflow.
LARGEST_VARIANCE = 1e150
# Numbers in a block of standardised rows (2 MiB), which stays in the cache, and in one of log densities of
# which only the largest are kept (32 MiB).
STANDARDISED, DENSITIES = 2**18, 2**22
FEWER_ROWS = "take fewer rows at once (entrolearn.streaming.predict_chunks), or only their labels (predict)"
OVERFLOW = "the covariances of the hidden units overflow: scale the features."

# Name -> shrinkage of the covariance towards a multiple of the identity, from the moments of a class.
SHRINKAGES: dict[str, Callable[[ClassMoments], float]] = {
    "ledoit_wolf": ClassMoments.ledoit_wolf_shrinkage,
    "oas": ClassMoments.oas_shrinkage,
    "empirical": lambda moments: 0.0,
}


@dataclass(frozen=True)
class ClassCovariance:
    """The covariance of a class as ``weight`` times the empirical one plus ``ridge`` times the identity.

    All estimates from moments have this form. A fit does not compute the matrix itself.

    Attributes
    ----------
    moments : ClassMoments or CovarianceMatrix
    weight, ridge : float
    """

    moments: "ClassMoments | CovarianceMatrix"
    weight: float = 1.0
    ridge: float = 0.0

    def dense(self) -> np.ndarray:
        """The matrix, shape (n_hidden, n_hidden)."""
        return add_to_diagonal(self.weight * self.moments.covariance(), self.ridge)


@dataclass(frozen=True)
class CovarianceMatrix:
    """Mean and covariance matrix of a class in place of the moments that they could be computed from.

    Attributes
    ----------
    matrix : ndarray, shape (n_hidden, n_hidden)
    n_rows : float
        Number of rows of the estimate; by default infinite.
    mean : ndarray, shape (n_hidden,), optional
    """

    matrix: np.ndarray
    n_rows: float = np.inf
    mean: Any = None

    @property
    def n(self) -> float:
        """The number of rows."""
        return self.n_rows

    def add_covariance_to(self, total: np.ndarray, weight: float) -> None:
        """See :meth:`ClassMoments.add_covariance_to`."""
        total += weight * self.matrix

    def projected_covariance(self, coef: np.ndarray) -> np.ndarray:
        """``coef.T @ matrix @ coef``, shape (n_components, n_components)."""
        return coef.T @ self.matrix @ coef

    def covariance(self) -> np.ndarray:
        """The matrix, shape (n_hidden, n_hidden)."""
        return self.matrix

    def mean_square(self) -> float:
        """Sum of the variances."""
        return float(np.trace(self.matrix))

    def least_variance(self) -> float:
        """See :meth:`ClassMoments.least_variance`."""
        return LEAST_SHARE * self.mean_square()


@dataclass(frozen=True)
class ClassGaussians:
    """One Gaussian per class in the projected space, with classification by Bayes' rule.

    Attributes
    ----------
    means : ndarray, shape (n_classes, n_components)
    covariances : ndarray, shape (n_classes, n_components, n_components)
    log_priors : ndarray, shape (n_classes,)
    """

    means: np.ndarray
    covariances: np.ndarray
    log_priors: np.ndarray

    def log_joint(self, projected: np.ndarray) -> np.ndarray:
        """ln p(class) N(mean, covariance)[projected] up to a common constant, shape (n, n_classes).

        Raises
        ------
        ValueError
            If rows are so far from the means that a density overflows, which unbounded activations allow.
        MemoryError
            If the result does not fit into memory.
        """
        if not is_numpy(projected):
            return self._log_joint_elsewhere(projected)
        (n_rows, n_components), n_classes = projected.shape, len(self.means)
        if n_rows * n_classes > DENSITIES:
            check_memory(
                8 * n_rows * n_classes, f"the values of {n_rows} rows for {n_classes} classes", FEWER_ROWS
            )
        values = np.empty((n_rows, n_classes), order="F")
        for c, (mean, covariance) in enumerate(zip(self.means, self.covariances, strict=True)):
            lower = np.sqrt(covariance) if n_components == 1 else np.linalg.cholesky(covariance)
            for block in row_blocks(projected, n_components, STANDARDISED):
                standard = (projected[block] - mean).T
                if n_components == 1:
                    standard /= lower[0, 0]
                else:
                    standard = solve_triangular(lower, standard, lower=True, check_finite=False)
                np.einsum("ij,ij->j", standard, standard, out=values[block, c])
            values[:, c] *= -0.5
            values[:, c] += self.log_priors[c] - np.log(lower.diagonal()).sum()
        if not np.isfinite(values).all():
            raise ValueError(
                "X has rows so far from those of the fit that the hidden units' squares overflow: scale the "
                "features, or take an activation with a bound."
            )
        return values

    def _log_joint_elsewhere(self, projected):
        """`log_joint` for arrays of other libraries, on their device."""
        xp = namespace(projected)
        if has_double(projected):
            projected = xp.astype(projected, xp.float64, copy=False)
        columns = []
        for mean, covariance, log_prior in zip(self.means, self.covariances, self.log_priors, strict=True):
            lower = np.linalg.cholesky(covariance)
            whiten = cast(np.linalg.inv(lower).T, projected)
            standard = (projected - cast(mean, projected)) @ whiten
            constant = float(log_prior - np.log(np.diag(lower)).sum())
            columns.append(constant - 0.5 * xp.sum(standard * standard, axis=1))
        return xp.stack(columns, axis=1)

    def most_likely(self, projected):
        """Index of the most likely class of each row, shape (n,), of equally likely ones the first."""
        xp = namespace(projected)
        blocks = row_blocks(projected, len(self.means), DENSITIES)  # whose densities fit into memory
        return xp.concat([xp.argmax(self.log_joint(projected[block, :]), axis=1) for block in blocks])

    def thresholds(self) -> np.ndarray:
        """Points on the line where two classes are equally likely: none, one or two, ascending.

        With equal priors these are the t_0 and t_± of section 3 of the EEM paper.
        """
        (m0, m1), (s0, s1) = self.means[:, 0], self.covariances[:, 0, 0]
        # a u^2 + b u + c: log odds at m0 + u, times the smaller variance, whose inverse may overflow.
        gap, least = m1 - m0, min(s0, s1)
        a = 0.5 * (least / s0 - least / s1)
        b = gap * (least / s1)
        c = self.log_priors[1] - self.log_priors[0] + 0.5 * (np.log(s0) - np.log(s1))
        c = c * least - 0.5 * gap * b
        if abs(s1 - s0) <= 8 * np.finfo(float).eps * max(s0, s1):
            return np.array([m0 - c / b]) if b else np.empty(0)
        discriminant = b**2 - 4 * a * c
        if discriminant < 0:
            return np.empty(0)
        q = -0.5 * (b + np.copysign(np.sqrt(discriminant), b))  # avoids cancellation
        roots = [q / a, c / q] if q else [0.0]
        return m0 + np.sort(roots)


@dataclass(frozen=True)
class EntropyReadout:
    """Result of :func:`entropy_discriminant`.

    Attributes
    ----------
    coef : ndarray, shape (n_hidden, n_components)
        The projection, on the device of the moments; for two classes one column, the paper's beta.
    means : ndarray, shape (n_classes, n_components)
        Projected class means.
    covariances : ndarray, shape (n_classes, n_components, n_components)
        Projected class covariances, positive definite.
    solver_info : dict
        ``ridge``: the amount added to the diagonal to make the matrix positive definite, relative to the mean
        of the diagonal (usually 0); ``degenerate``: whether the class means are equal; ``dtype``: that of the
        hidden rows.
    """

    coef: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    solver_info: dict

    def gaussians(self, priors: np.ndarray) -> ClassGaussians:
        """The projected classes as densities, with class weights `priors`."""
        return ClassGaussians(self.means, self.covariances, np.log(priors))


def class_gaussians(
    moments: "Iterable[ClassMoments | CovarianceMatrix]", covariance
) -> tuple[np.ndarray, list[ClassCovariance], np.ndarray]:
    """Mean and covariance of each class, and the shrinkages.

    Parameters
    ----------
    moments : iterable of ClassMoments or CovarianceMatrix
    covariance : {"ledoit_wolf", "oas", "empirical"}, float or estimator
        A number is a ridge, the multiple of the identity that is added to the empirical covariance. With an
        estimator, `moments` are its results.

    Returns
    -------
    means : ndarray, shape (n_classes, n_hidden)
    covariances : list of ClassCovariance
    shrinkages : ndarray, shape (n_classes,)
        Shrinkage of each class; 0 without shrinkage.
    """
    means, covariances, shrinkages = [], [], []
    for each in moments:
        if isinstance(each, CovarianceMatrix):
            shrinkage, ridge = 0.0, 0.0
        elif isinstance(covariance, str):
            variance = each.mean_variance()
            if not variance < LARGEST_VARIANCE:  # the formulas sum squared covariances over pairs of units
                raise ValueError(OVERFLOW)
            shrinkage = SHRINKAGES[covariance](each)
            ridge = shrinkage * variance
        else:
            shrinkage, ridge = 0.0, covariance
        means.append(each.mean)
        has_spread = each.n_rows > 1 or isinstance(each, CovarianceMatrix)
        covariances.append(ClassCovariance(each, 1 - shrinkage if has_spread else 0.0, ridge))
        shrinkages.append(shrinkage)
    return namespace(means[0]).stack(means), covariances, np.array(shrinkages)


def check_classes(n_units: int, n_classes: int, sizes: Sequence[int] | None = None, n_parts: int = 1) -> None:
    """Raise if the moments of the classes, and models of them, do not fit into memory.

    Parameters
    ----------
    n_units, n_classes : int
    sizes : sequence of int, optional
        Number of units of each model. Default: one model of all units.
    n_parts : int
        Number of moments of each class.

    Raises
    ------
    MemoryError
        With the required and the available memory.
    """
    orders = np.minimum(sizes or [n_units], n_classes - 1, dtype=float)  # of the projected covariances
    numbers = (n_parts * n_classes + SOLUTION_SQUARES) * n_units**2 + n_classes * (orders @ orders)
    check_memory(float(8 * numbers), f"what {n_classes} classes of {n_units} hidden units hold", FEWER_UNITS)


def fitted_covariance(estimator, H: np.ndarray) -> CovarianceMatrix:
    """Mean of the rows of H, and their covariance by a clone of a scikit-learn covariance estimator.

    Raises
    ------
    TypeError
        If the estimator has no ``covariance_``.
    """
    fitted = clone(estimator).fit(H)
    if not hasattr(fitted, "covariance_"):
        raise TypeError(
            f"covariance is {estimator!r}, which has no covariance_ once fitted; accepted: the estimators of "
            "sklearn.covariance."
        )
    return CovarianceMatrix(check_array(fitted.covariance_), len(H), H.mean(axis=0))


def entropy_discriminant(
    means: np.ndarray,
    covariances: Sequence[ClassCovariance],
    dtype=np.float64,
    min_class_size: int = 0,
) -> EntropyReadout:
    """Directions that best separate class Gaussians, in closed form.

    For two classes, eq. (4) of Czarnecki and Tabor, "Extreme Entropy Machines"::

        beta = 2 Sigma^-1 (m_1 - m_0) / ||m_1 - m_0||^2_Sigma,  Sigma = Sigma_0 + Sigma_1

    For more classes, a basis of the space spanned by Sigma^-1 times the differences of class means, with
    Sigma the sum of all class covariances. The basis is white under Sigma. For two classes this space is the
    line of beta.

    Parameters
    ----------
    means : ndarray, shape (n_classes, n_hidden)
    covariances : sequence of n_classes ClassCovariance
    dtype : dtype
        Type of the hidden rows.
    min_class_size : int
        Classes with fewer rows have no projected covariance of their own.

    Returns
    -------
    EntropyReadout

    Raises
    ------
    TooFewDigits
        If single precision is not accurate enough.
    ValueError
        If the sum of the covariances overflows, or if that of an estimator's matrices is not positive
        definite.

    Notes
    -----
    Projected covariances are made positive definite as follows. Each class has a smallest variance that its
    sums can distinguish from rounding (usually 1e-12 of the sum of its variances). If the ridge of a class is
    below this variance, it is replaced by the mean of these variances over all classes, both in Sigma and in
    the projected covariance. Directions without variance thus have equal weight for all classes. A class
    without a ridge and with no more rows than components has a singular projected covariance. This class, and
    every class with fewer than `min_class_size` rows, uses the mean projected covariance of the other
    classes. If all classes have so few rows, they share the mean over all classes.
    """
    xp = namespace(means)
    differences = (means[1:, :] - means[0, :]).T
    # Compare with the rounding error of the means: differences of 1e-28 are meaningful if the units are that
    # small, and noise if the units are near one. If their squares underflow, there is no solution.
    single, largest = np.dtype(dtype) == np.float32, float(xp.max(xp.abs(differences)))
    rounding = ROUNDINGS * np.finfo(dtype).eps * float(xp.max(xp.abs(means)))
    if largest <= max(rounding, LEAST_DIFFERENCE):
        if single:
            raise TooFewDigits
        return _degenerate(means, dtype)
    if largest > LARGEST_VARIANCE:
        raise ValueError(OVERFLOW)
    least = np.array([covariance.moments.least_variance() for covariance in covariances])
    # If all classes are single points without variance, classify by the nearest mean.
    common = sum(least) / len(least) or float(np.finfo(float).eps) * largest**2
    ridges = np.array([covariance.ridge for covariance in covariances])
    ridges = np.where(ridges > least, ridges, np.maximum(ridges, common))
    total = zeros((means.shape[1], means.shape[1]), means, "F")
    for covariance in covariances:
        covariance.moments.add_covariance_to(total, covariance.weight)
    found = _positive_factor(add_to_diagonal(total, ridges.sum()), MORE_RIDGES[: 1 if single else None])
    if found is None:
        if single:
            raise TooFewDigits
        raise ValueError(
            "the sum of the class covariances is not positive definite; accepted: covariance='ledoit_wolf', "
            "'oas' or a number that is large enough."
        )
    factor, scale, more = found
    white = solve_lower(factor, differences)
    if means.shape[0] == 2:
        coef = solve_lower(factor, 2 * white / (white.T @ white), transposed=True)
    else:
        coef = solve_lower(factor, _principal_axes(white), transposed=True) / scale**0.5
    projected = _projected(covariances, coef, ridges + more * scale / len(ridges), least, min_class_size)
    if single and not (least.any() and _has_digits(projected, covariances, coef)):
        raise TooFewDigits
    info = {"ridge": more, "degenerate": False, "dtype": np.dtype(dtype).name}
    return EntropyReadout(coef, to_numpy(means @ coef), projected, info)


def _projected(covariances, coef, ridges: np.ndarray, least: np.ndarray, min_class_size: int) -> np.ndarray:
    """Class covariances in the space of the components, shape (n_classes, n_components, n_components)."""
    largest, n_components = float(ridges.max()), coef.shape[1]
    scaled = coef * largest**0.5  # the square of coef can overflow
    gram = to_numpy(scaled.T @ scaled)
    projected = np.empty((len(covariances), n_components, n_components))
    for c, covariance in enumerate(covariances):
        projected[c] = to_numpy(covariance.weight * covariance.moments.projected_covariance(coef))
    try:
        for matrix in projected:
            np.linalg.cholesky(matrix)
    except LinAlgError:  # the nearest positive semidefinite matrices; negative eigenvalues are rounding
        for matrix in projected:
            values, vectors = np.linalg.eigh(matrix)
            matrix[:] = (vectors * np.maximum(values, 0)) @ vectors.T
    n_rows = np.array([c.moments.n_rows for c in covariances])
    few = n_rows < min_class_size
    for c in np.flatnonzero(~few & (n_rows <= n_components)).tolist():
        above = (covariances[c].ridge - least[c]) / largest
        few[c] = np.linalg.eigvalsh(projected[c] + above * gram)[0] <= 0
    for matrix, ridge in zip(projected, ridges / largest, strict=True):
        matrix += ridge * gram
    if few.any():
        kept = np.flatnonzero(few if few.all() else ~few)
        projected[few] = sum(projected[c] for c in kept) / len(kept)  # without a copy of them
    # Rounding error of the projection, relative to the spread of all classes.
    share = np.finfo(float).eps * projected.trace(axis1=1, axis2=2).sum() / n_components
    diagonal = np.arange(n_components)
    projected[:, diagonal, diagonal] += share
    return projected


def _degenerate(means: np.ndarray, dtype) -> EntropyReadout:
    """The paper's readout for equal means: beta = 0, one constant prediction."""
    k = means.shape[0]
    return EntropyReadout(
        like(np.zeros((means.shape[1], 1)), means),
        np.zeros((k, 1)),
        np.ones((k, 1, 1)),
        {"ridge": 0.0, "degenerate": True, "dtype": np.dtype(dtype).name},
    )


def _positive_factor(matrix: np.ndarray, ridges: Sequence[float]) -> tuple | None:
    """Cholesky factor of a matrix divided by its mean diagonal, that mean, and the first ridge that succeeds.

    None if no ridge succeeds. Only the lower triangle of `matrix` is read.
    """
    scale = float(namespace(matrix).linalg.trace(matrix)) / matrix.shape[0]
    if not np.isfinite(scale):
        raise ValueError(OVERFLOW)
    for ridge in ridges if scale > 0 else ():
        factor = cholesky(add_to_diagonal(matrix / scale, ridge))
        if factor is not None:
            return factor, scale, ridge
    return None


def _principal_axes(differences: np.ndarray) -> np.ndarray:
    """Orthonormal principal axes of a few columns, the longest last, without linearly dependent ones.

    The sign of an axis makes the column with the largest projection positive, so that it does not depend on
    rounding.
    """
    axes, lengths, along = np.linalg.svd(to_numpy(differences), full_matrices=False)
    farthest = np.abs(along).argmax(axis=1, keepdims=True)
    axes *= np.sign(np.take_along_axis(along, farthest, axis=1)[:, 0])
    kept = lengths**2 > len(lengths) * np.finfo(lengths.dtype).eps * lengths[0] ** 2
    return like(axes[:, kept][:, ::-1], differences)


def _has_digits(projected: np.ndarray, covariances, coef) -> bool:
    """Whether float32 is accurate enough for the projected covariances and the solution.

    The measured rounding error is at most a hundredth of its bound.
    """
    xp, single = namespace(coef), np.finfo(np.float32)
    rounding = single.tiny + single.eps / ROUNDINGS * np.array([c.moments.mean_square() for c in covariances])
    above = np.linalg.eigvalsh(projected - rounding[:, None, None] * to_numpy(coef.T @ coef))
    return bool(above.min() > 0) and float(xp.max(xp.abs(coef))) < float(single.max)


def least_squares(H: np.ndarray, targets: np.ndarray, weights: np.ndarray, n_samples: int) -> np.ndarray:
    """Minimum-norm weighted least squares, (B H)^+ B T with B the square root of the weights.

    Singular values are cut off at max(n_samples, n_hidden) times the machine precision, the usual convention.
    Any cut-off from 2e-16 to this value gives the same tables of the EEM paper. A pseudoinverse of H'H, which
    the paper also mentions, would regularise. LAPACK's gelsd is used, without computing the pseudoinverse.

    Parameters
    ----------
    H : ndarray, shape (n_rows, n_hidden)
        Hidden rows, or factors of them.
    targets : ndarray, shape (n_rows, n_outputs)
    weights : ndarray, shape (n_rows,)
    n_samples : int
        Number of samples before H was reduced to factors.

    Returns
    -------
    coef : ndarray, shape (n_hidden, n_outputs)
    """
    root = np.sqrt(weights)[:, None]
    cut = max(n_samples, H.shape[1]) * np.finfo(H.dtype).eps
    weighted = root * H
    if np.abs(weighted).max() < LEAST_DIFFERENCE:  # all activations are zero or underflow
        return np.zeros((H.shape[1], targets.shape[1]), dtype=H.dtype)
    return lstsq(weighted, root * targets, cond=cut, lapack_driver="gelsd", check_finite=False)[0]


def least_squares_from_moments(
    moments: Sequence[ClassMoments], targets: np.ndarray, weights: np.ndarray, ridge: float = 0.0
) -> tuple[np.ndarray, str]:
    """Weighted least squares by normal equations, from the moments of the classes.

    Parameters
    ----------
    moments : sequence of n_classes ClassMoments
    targets : ndarray, shape (n_classes, n_outputs)
        Target of all rows of each class.
    weights : ndarray, shape (n_classes,)
        Weight of all rows of each class.
    ridge : float
        Added to the diagonal of the Gram matrix.

    Returns
    -------
    coef : ndarray, shape (n_hidden, n_outputs)
    method : {"cholesky", "pinvh"}
        "pinvh" (pseudoinverse) if the Gram matrix is numerically singular.

    Raises
    ------
    ValueError
        If the Gram matrix has overflowed.
    """
    gram = sum(float(weight) * m.second_moment() for weight, m in zip(weights, moments, strict=True))
    add_to_diagonal(gram, ridge)
    sums = namespace(gram).stack([float(weight) * m.sum for weight, m in zip(weights, moments, strict=True)])
    right = sums.T @ like(targets, gram)
    size = float(namespace(gram).linalg.trace(gram))
    if not np.isfinite(size):
        raise ValueError("the sums of the hidden units' squares overflow: scale the features.")
    if not is_numpy(gram):
        return _solve_elsewhere(gram, right, size)
    try:
        upper, lower = cho_factor(gram, check_finite=False)
    except LinAlgError:
        regular = False
    else:
        regular = is_regular(upper.T, size)
    if regular:
        return cho_solve((upper, lower), right, check_finite=False), "cholesky"
    return pinvh(gram, check_finite=False) @ right, "pinvh"


def _solve_elsewhere(gram, right, size: float) -> tuple:
    """The solution and the method, for arrays of other libraries; `size` is the trace of the Gram matrix."""
    factor = cholesky(namespace(gram).tril(gram))
    if factor is not None and is_regular(factor, size):
        return solve_cholesky(factor, right), "cholesky"
    return like(pinvh(to_numpy(gram), check_finite=False) @ to_numpy(right), gram), "pinvh"


def bordered_solve(
    solve: Callable[[np.ndarray], np.ndarray], targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Solve [[0, 1'], [1, A]] [b; alpha] = [0; T] given a solver of A.

    Parameters
    ----------
    solve : callable
        Maps an array of shape (n_samples, n) to its product with A^-1.
    targets : ndarray, shape (n_samples, n_outputs)

    Returns
    -------
    dual_coef : ndarray, shape (n_samples, n_outputs)
    intercept : ndarray, shape (n_outputs,)
    """
    ones = np.ones((len(targets), 1), dtype=targets.dtype)
    solutions = solve(np.hstack([ones, targets]))
    eta, nu = solutions[:, :1], solutions[:, 1:]
    intercept = nu.sum(axis=0) / eta.sum()
    return nu - eta * intercept, intercept
