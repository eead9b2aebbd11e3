"""Rényi's quadratic entropy and cross entropy, and the Cauchy–Schwarz divergence.

For densities f and g (Czarnecki and Tabor, Extreme Entropy Machines, section 3)::

    H2(f)     = -ln ∫ f²
    H2x(f, g) = -ln ∫ f g
    DCS(f, g) = 2 H2x(f, g) - H2(f) - H2(g)

The functions compute each of them for Gaussians, in closed form, and for Gaussian kernel density estimates on
the line.
"""

import math

import numpy as np
from scipy.linalg import eigh, eigvalsh

from entrolearn.measures.density import (
    as_sample,
    log_product_integral,
    silverman_bandwidth,
    sorted_sample,
)
from entrolearn.measures.information import nats_per_unit

__all__ = [
    "cauchy_schwarz_gaussian",
    "cauchy_schwarz_kde",
    "quadratic_cross_entropy_gaussian",
    "quadratic_cross_entropy_kde",
    "quadratic_entropy_gaussian",
    "quadratic_entropy_kde",
]


def quadratic_entropy_gaussian(covariance, *, base: float = math.e) -> float:
    r"""Rényi's quadratic entropy of a Gaussian, :math:`\frac{1}{2}\ln|4\pi\Sigma|`.

    Parameters
    ----------
    covariance : float or array-like, shape (d, d)
        Variance on the line, or covariance in d dimensions.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        -inf if the covariance is singular.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, section 3 (definition of H2).

    Examples
    --------
    >>> from entrolearn.measures import quadratic_entropy_gaussian
    >>> round(quadratic_entropy_gaussian(1.0), 4)
    1.2655
    """
    unit = nats_per_unit(base)
    covariance = _covariance(covariance, "covariance")
    _, log_determinant = _whitening(covariance)
    return 0.5 * (len(covariance) * math.log(4 * math.pi) + log_determinant) / unit


def quadratic_cross_entropy_gaussian(
    mean_p, covariance_p, mean_q, covariance_q, *, base: float = math.e
) -> float:
    r"""Rényi's quadratic cross entropy of two Gaussians.

    .. math:: -\ln \mathcal{N}(m_p - m_q; 0, \Sigma_p + \Sigma_q)

    Parameters
    ----------
    mean_p : float or array-like, shape (d,)
        Mean of p.
    covariance_p : float or array-like, shape (d, d)
        Variance (not standard deviation) or covariance of p.
    mean_q : float or array-like, shape (d,)
        Mean of q.
    covariance_q : float or array-like, shape (d, d)
        Variance or covariance of q.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        If the sum of the covariances is singular: +inf if the means differ in a direction without
        variance, else -inf.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, section 3 (definition of the cross entropy).

    Examples
    --------
    >>> from entrolearn.measures import quadratic_cross_entropy_gaussian, quadratic_entropy_gaussian
    >>> quadratic_cross_entropy_gaussian(0.0, 1.0, 0.0, 1.0) == quadratic_entropy_gaussian(1.0)
    True
    """
    unit = nats_per_unit(base)
    difference, covariance_p, covariance_q = _gaussians(mean_p, covariance_p, mean_q, covariance_q)
    total = covariance_p + covariance_q
    whitening, log_determinant = _whitening(total)
    if not _in_range(total, whitening, difference):
        return math.inf
    squared_distance = float(np.sum((whitening.T @ difference) ** 2))
    return 0.5 * (difference.size * math.log(2 * math.pi) + log_determinant + squared_distance) / unit


def cauchy_schwarz_gaussian(mean_p, covariance_p, mean_q, covariance_q, *, base: float = math.e) -> float:
    r"""Cauchy–Schwarz divergence of two Gaussians.

    On the line it is

    .. math:: \ln\frac{\frac{1}{2}(S_+ + S_-)}{\sqrt{S_+ S_-}} + \frac{(m_+ - m_-)^2}{S_+ + S_-},

    the logarithm of the ratio of the arithmetic to the geometric mean of the variances, plus a squared
    distance. In d dimensions the variances in the logarithm are replaced by determinants.

    Parameters
    ----------
    mean_p : float or array-like, shape (d,)
        Mean of p.
    covariance_p : float or array-like, shape (d, d)
        Variance (not standard deviation) or covariance of p.
    mean_q : float or array-like, shape (d,)
        Mean of q.
    covariance_q : float or array-like, shape (d, d)
        Variance or covariance of q.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        At least 0, and 0 if and only if the Gaussians are equal.

    Notes
    -----
    For singular covariances the value is the limit in which the same variance, going to 0, is added to both:
    equal point masses have divergence 0, different ones +inf, a point mass and a Gaussian +inf. In d
    dimensions the divergence is +inf if the covariances have different ranges or the means differ outside the
    common range, and otherwise the divergence inside that range. The rank is the numerical one; on the line
    every variance above 0 counts as positive.

    The published equation (3) has an additional constant, the opposite sign of the logarithm and another
    factor; the formula here is the value of the integral.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, eq. (3), corrected.

    Examples
    --------
    >>> from entrolearn.measures import cauchy_schwarz_gaussian
    >>> round(cauchy_schwarz_gaussian(0.0, 1.0, 2.0, 3.0), 4)
    1.1438
    """
    unit = nats_per_unit(base)
    difference, covariance_p, covariance_q = _gaussians(mean_p, covariance_p, mean_q, covariance_q)
    if difference.size == 1:
        on_line = _cauchy_schwarz_on_the_line(float(difference[0]), covariance_p.item(), covariance_q.item())
        return on_line / unit
    mean_covariance = covariance_p / 2 + covariance_q / 2
    whitening, _ = _whitening(mean_covariance)
    if not _in_range(mean_covariance, whitening, difference):
        return math.inf
    if whitening.shape[1] == 0:
        return 0.0
    # After whitening, the mean of the covariances is the identity and its log-determinant is 0.
    spectra = [eigvalsh(whitening.T @ covariance @ whitening) for covariance in (covariance_p, covariance_q)]
    if np.min(spectra) <= difference.size * np.finfo(float).eps:
        return math.inf
    squared_distance = 0.5 * float(np.sum((whitening.T @ difference) ** 2))
    return (squared_distance + max(0.0, -0.5 * float(np.log(spectra).sum()))) / unit


def quadratic_entropy_kde(x, *, bandwidth="silverman", method="auto", base: float = math.e) -> float:
    """Rényi's quadratic entropy of a Gaussian kernel density estimate on the line.

    Parameters
    ----------
    x : array-like, shape (n_samples,)
        The sample.
    bandwidth : "silverman" or float
        Standard deviation of the kernel, in the units of `x`. "silverman" uses :func:`silverman_bandwidth`.
    method : {"auto", "exact", "binned"}
        Sum over all pairs of points, or over pairs of grid points, see :func:`cauchy_schwarz_kde`.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        -inf if Silverman's bandwidth is zero, that is, if all points are equal.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, section 3 and eq. (5).

    Examples
    --------
    The estimate from one point is a Gaussian:

    >>> from entrolearn.measures import quadratic_entropy_gaussian, quadratic_entropy_kde
    >>> round(quadratic_entropy_kde([3.0], bandwidth=1.0) - quadratic_entropy_gaussian(1.0), 12)
    0.0
    """
    unit = nats_per_unit(base)
    width = _bandwidth(x, bandwidth)
    return -log_product_integral(x, width, x, width, method=method) / unit


def quadratic_cross_entropy_kde(x, y, *, bandwidth="silverman", method="auto", base: float = math.e) -> float:
    """Rényi's quadratic cross entropy of two Gaussian kernel density estimates on the line.

    Parameters
    ----------
    x, y : array-like, shapes (n_samples_x,) and (n_samples_y,)
        The two samples.
    bandwidth : "silverman", float, or pair of these
        Standard deviation of the kernels, in the units of the samples; a pair gives each sample its own.
    method : {"auto", "exact", "binned"}
        Sum over all pairs of points, or over pairs of grid points, see :func:`cauchy_schwarz_kde`.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        Finite for any distance between the samples. If both samples are point masses: -inf if they
        are the same point, else +inf.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, section 3 and eq. (5).

    Examples
    --------
    The divergence is what two samples' cross entropy has more than their entropies:

    >>> from entrolearn.measures import cauchy_schwarz_kde, quadratic_cross_entropy_kde, quadratic_entropy_kde
    >>> x, y = [0.0, 1.0, 2.0], [1.5, 2.5]
    >>> apart = 2 * quadratic_cross_entropy_kde(x, y) - quadratic_entropy_kde(x) - quadratic_entropy_kde(y)
    >>> round(apart - cauchy_schwarz_kde(x, y), 12)
    0.0
    """
    unit = nats_per_unit(base)
    width_x, width_y = _bandwidths(x, y, bandwidth)
    return -log_product_integral(x, width_x, y, width_y, method=method) / unit


def cauchy_schwarz_kde(x, y, *, bandwidth="silverman", method="auto", base: float = math.e) -> float:
    """Cauchy–Schwarz divergence of two Gaussian kernel density estimates on the line.

    Parameters
    ----------
    x, y : array-like, shapes (n_samples_x,) and (n_samples_y,)
        The two samples, for instance the projections of two classes.
    bandwidth : "silverman", float, or pair of these
        Standard deviation of the kernels, in the units of the samples; a pair gives each sample its own.
        "silverman" uses the :func:`silverman_bandwidth` of each sample.
    method : {"auto", "exact", "binned"}
        "exact" sums over pairs of points, in blocks. "binned" sums over pairs of occupied grid points, which
        are fewer than O(n) with Silverman's bandwidth, and agrees with "exact" to about 1e-5. "auto" bins
        each of the three sums that has more than a million pairs.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        At least 0 (negative rounding errors are set to 0). Finite for any distance between the samples,
        because the sums are computed as log-sum-exps.

    Notes
    -----
    If all points of a sample are equal, Silverman's bandwidth is zero and the estimate is a point mass. Two
    equal point masses have divergence 0, different ones +inf, a point mass and any other density +inf.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines, eq. (5).

    Examples
    --------
    >>> from entrolearn.measures import cauchy_schwarz_kde
    >>> round(cauchy_schwarz_kde([0.0], [2.0], bandwidth=1.0), 4)
    2.0
    >>> cauchy_schwarz_kde([0.0, 1.0], [5.0, 5.0])
    inf
    """
    unit = nats_per_unit(base)
    width_x, width_y = _bandwidths(x, y, bandwidth)
    if width_x == 0 or width_y == 0:
        same_point = width_x == width_y and np.asarray(x)[0] == np.asarray(y)[0]
        return 0.0 if same_point else math.inf
    x, y = sorted_sample(as_sample(x, "x")), sorted_sample(as_sample(y, "y"))  # once for all three
    divergence = (
        log_product_integral(x, width_x, x, width_x, method=method)
        + log_product_integral(y, width_y, y, width_y, method=method)
        - 2 * log_product_integral(x, width_x, y, width_y, method=method)
    )
    return max(0.0, divergence / unit)


def _cauchy_schwarz_on_the_line(difference: float, variance_p: float, variance_q: float) -> float:
    if variance_p == 0 or variance_q == 0:
        return 0.0 if variance_p == variance_q and difference == 0 else math.inf
    # ln(arithmetic mean / geometric mean) = ln cosh(half the log ratio), which neither overflows nor cancels.
    half_ratio = 0.5 * (math.log(variance_p) - math.log(variance_q))
    log_of_means = float(np.logaddexp(half_ratio, -half_ratio)) - math.log(2)
    return max(0.0, log_of_means) + difference / (variance_p + variance_q) * difference


def _gaussians(mean_p, covariance_p, mean_q, covariance_q) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The difference of the means, shape (d,), and both covariances, shape (d, d)."""
    covariance_p = _covariance(covariance_p, "covariance_p")
    covariance_q = _covariance(covariance_q, "covariance_q")
    mean_p, mean_q = (np.atleast_1d(np.asarray(mean, dtype=np.float64)) for mean in (mean_p, mean_q))
    if not mean_p.shape == mean_q.shape == covariance_p.shape[:1] == covariance_q.shape[:1]:
        raise ValueError(
            f"the Gaussians differ in dimension: means of shapes {mean_p.shape} and {mean_q.shape}, "
            f"covariances of shapes {covariance_p.shape} and {covariance_q.shape}; "
            "they must be (d,) and (d, d), or scalars"
        )
    if not (np.isfinite(mean_p).all() and np.isfinite(mean_q).all()):
        raise ValueError("mean_p or mean_q holds NaN or infinite values")
    return mean_p - mean_q, covariance_p, covariance_q


def _covariance(covariance, name: str) -> np.ndarray:
    covariance = np.atleast_2d(np.asarray(covariance, dtype=np.float64))
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1] or not covariance.size:
        raise ValueError(
            f"{name} has shape {covariance.shape}; it must be a scalar or a square matrix of at least one row"
        )
    if not np.isfinite(covariance).all():
        raise ValueError(f"{name} holds NaN or infinite values")
    if not np.allclose(covariance, covariance.T, rtol=1e-8, atol=1e-12 * np.abs(covariance).max()):
        raise ValueError(f"{name} is not symmetric")
    if (covariance.diagonal() < 0).any():
        raise ValueError(f"{name} holds a negative variance, {covariance.diagonal().min():g}")
    return covariance


def _whitening(covariance: np.ndarray) -> tuple[np.ndarray, float]:
    """A matrix W, shape (d, rank), with W' covariance W = I, and the logarithm of the determinant.

    The rank is that of the correlation matrix, so that it does not depend on the features' units.
    """
    scale = np.sqrt(covariance.diagonal())
    scale[scale == 0] = 1.0
    values, vectors = eigh(covariance / scale[:, np.newaxis] / scale)
    rounding = len(covariance) * np.finfo(float).eps
    if values[0] < -1e-8:
        raise ValueError("a covariance is not positive semi-definite")
    kept = values > rounding
    whitening = vectors[:, kept] / np.sqrt(values[kept]) / scale[:, np.newaxis]
    if not kept.all():
        return whitening, -math.inf
    return whitening, float(np.log(values).sum() + 2 * np.log(scale).sum())


def _in_range(covariance: np.ndarray, whitening: np.ndarray, vector: np.ndarray) -> bool:
    """Whether a vector lies in the range of a covariance: no component where the variance is zero."""
    if whitening.shape[1] == vector.size:
        return True
    outside = vector - covariance @ (whitening @ (whitening.T @ vector))
    return float(np.linalg.norm(outside)) <= 1e-8 * float(np.linalg.norm(vector))


def _bandwidth(x, bandwidth) -> float:
    if isinstance(bandwidth, str) and bandwidth == "silverman":
        return silverman_bandwidth(x)
    if isinstance(bandwidth, str) or not (np.ndim(bandwidth) == 0 and 0 < bandwidth < math.inf):
        raise ValueError(f"bandwidth is {bandwidth!r}; it must be 'silverman' or a positive number")
    return float(bandwidth)


def _bandwidths(x, y, bandwidth) -> tuple[float, float]:
    if isinstance(bandwidth, str) or np.ndim(bandwidth) == 0:
        bandwidth = (bandwidth, bandwidth)
    bandwidth_x, bandwidth_y = bandwidth
    return _bandwidth(x, bandwidth_x), _bandwidth(y, bandwidth_y)
