"""Differential entropy of continuous variables: of a Gaussian, and from samples by two estimators.

``h(X) = -∫ f(x) ln f(x) dx``. Unlike the entropy of discrete variables it may be negative, and an
invertible linear map A adds ``ln|det A|`` to it. All three functions have this property: the kernel estimate
with Silverman's bandwidth, the nearest-neighbour estimate if A keeps the ratios of distances.
"""

import math
from numbers import Real

import numpy as np
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from scipy.special import digamma, gammaln
from sklearn.utils import check_array

from entrolearn.measures.density import BLOCK_PAIRS, METHODS, scale_exponent, silverman_factor
from entrolearn.measures.divergence import quadratic_entropy_gaussian
from entrolearn.measures.gauss_sums import AUTO_PAIRS, LOG_ERROR, gauss_sums
from entrolearn.measures.information import check_choice, nats_per_unit
from entrolearn.measures.reliability import check_integer

ROUNDING = 8 * np.finfo(float).eps  # relative deviations up to this may be rounding errors

__all__ = ["gaussian_entropy", "kde_entropy", "knn_entropy", "log_kernel_sums"]


def gaussian_entropy(covariance, *, base: float = math.e) -> float:
    r"""Differential entropy of a Gaussian, :math:`\frac{1}{2} \ln |2 \pi e \Sigma|`.

    Parameters
    ----------
    covariance : float or array-like, shape (d, d)
        Variance on the line, or covariance in d dimensions.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        The largest entropy of all variables with this covariance; -inf if the covariance is
        singular.

    Raises
    ------
    ValueError
        If `covariance` is not a finite, symmetric and positive semi-definite matrix.

    References
    ----------
    T. M. Cover and J. A. Thomas (2006). Elements of information theory, theorems 8.4.1 and 8.6.5.

    Examples
    --------
    >>> from entrolearn.measures import gaussian_entropy
    >>> round(gaussian_entropy(1.0), 4)
    1.4189
    """
    unit = nats_per_unit(base)
    n_features = np.atleast_2d(covariance).shape[0]
    # The Rényi entropies of a Gaussian differ by constants only; the quadratic one is 1/2 ln|4 pi Sigma|.
    return (quadratic_entropy_gaussian(covariance) + 0.5 * n_features * (1 - math.log(2))) / unit


def kde_entropy(
    X, *, bandwidth: str | float = "silverman", method: str = "auto", base: float = math.e
) -> float:
    r"""Differential entropy from a Gaussian kernel density estimate.

    .. math:: -\frac{1}{n} \sum_i \ln \hat f{}_{-i}(x_i)

    The density at each row is estimated from the other rows. If the row itself were included, narrow kernels
    could make the density arbitrarily large and the entropy arbitrarily small.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features)
        At least two rows.
    bandwidth : "silverman" or float, default="silverman"
        A number is the standard deviation of a round kernel, in the units of `X`. "silverman" gives the
        kernel the covariance of the sample times the square of
        :func:`~entrolearn.measures.silverman_factor`.
    method : {"auto", "exact", "binned"}, default="auto"
        "exact" visits all pairs of rows. "binned", in one or two dimensions, interpolates the kernel between
        the nodes of a grid if that is cheaper. The error of the logarithm of each row's density is then at
        most 1e-6; isolated rows, whose error would be larger, are computed exactly. "auto" is "binned" for
        more than a million pairs.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        -inf if the sample, and therefore the kernel, has no variance in some direction.

    Raises
    ------
    ValueError
        If `X` has fewer than two rows or is not finite, `bandwidth` is neither "silverman" nor a positive
        number, or `method` is not accepted.

    See Also
    --------
    quadratic_entropy_kde : Rényi's quadratic entropy of a kernel density estimate, in closed form.

    Notes
    -----
    The exact sum visits O(n²) pairs, in blocks; the binned one takes O(n) operations and those on the grid.
    The kernel widens the density, so a large bandwidth overestimates the entropy.

    References
    ----------
    P. Hall and S. C. Morton (1993). On the estimation of entropy. Annals of the Institute of Statistical
    Mathematics 45.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.measures import gaussian_entropy, kde_entropy
    >>> x = np.random.default_rng(0).normal(size=2000)
    >>> abs(kde_entropy(x) - gaussian_entropy(1.0)) < 0.05
    True
    """
    unit = nats_per_unit(base)
    check_choice("method", method, METHODS)
    X = _rows(X, least=2)
    n_samples, n_features = X.shape
    if isinstance(bandwidth, str) and bandwidth == "silverman":
        if n_samples <= n_features:  # the rows lie in a hyperplane, even if rounding hides it
            return -math.inf
        exponents = np.array([scale_exponent(column) for column in X.T])
        X = np.ldexp(X, -exponents)
        # QR of the rows instead of a Cholesky factor of their covariance, which would square the rounding
        # errors.
        centred = X - X.mean(axis=0)
        orthonormal, root = np.linalg.qr(centred)
        widths = np.abs(root.diagonal()) * (silverman_factor(n_samples, n_features) / math.sqrt(n_samples))
        # Rounding errors of the numbers are relative to their size, those of the factors to the deviations.
        rounding = ROUNDING * np.maximum(np.abs(X).max(axis=0), n_features * np.abs(centred).max(axis=0))
        if (widths <= rounding).any():
            return -math.inf
        whitened = orthonormal * (math.sqrt(n_samples) / silverman_factor(n_samples, n_features))
        log_widths = float(np.log(widths).sum() + exponents.sum() * math.log(2))
    elif isinstance(bandwidth, Real) and 0 < bandwidth < math.inf:
        exponent = scale_exponent(X)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            whitened = np.ldexp(X, -exponent) / np.ldexp(float(bandwidth), -exponent)
        if not (np.abs(whitened) < 1e150).all():
            raise ValueError(f"bandwidth is {bandwidth!r}, less than 1e-150 of the largest entry of X")
        log_widths = n_features * math.log(bandwidth)
    else:
        raise ValueError(f"bandwidth is {bandwidth!r}; it must be 'silverman' or a positive number")
    log_norm = 0.5 * n_features * math.log(2 * math.pi) + math.log(n_samples - 1)
    return (log_norm + log_widths - float(_log_sums(whitened, method).mean())) / unit


def knn_entropy(X, *, n_neighbors: int = 3, base: float = math.e) -> float:
    r"""Differential entropy from the distances to the k-th nearest neighbours (Kozachenko and Leonenko).

    .. math:: \psi(n) - \psi(k) + \ln V_d + \frac{d}{n} \sum_i \ln \epsilon_i

    with :math:`\epsilon_i` the Euclidean distance of row i to its k-th nearest neighbour, :math:`V_d` the
    volume of the unit ball and :math:`\psi` the digamma function.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features)
        More rows than neighbours.
    n_neighbors : int, default=3
        k. A larger k reduces the variance and increases the bias.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        -inf if a row is equal to its k nearest neighbours. Add noise to rounded data.

    Raises
    ------
    ValueError
        If `X` has too few rows or is not finite, or `n_neighbors` is not a positive integer.

    References
    ----------
    .. [1] L. F. Kozachenko and N. N. Leonenko (1987). Sample estimate of the entropy of a random vector.
       Problems of Information Transmission 23.
    .. [2] A. Kraskov, H. Stögbauer and P. Grassberger (2004). Estimating mutual information. Physical Review
       E 69. Equation 20.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.measures import knn_entropy
    >>> x = np.random.default_rng(0).uniform(0, 2, size=2000)
    >>> abs(knn_entropy(x) - float(np.log(2))) < 0.05
    True
    """
    unit = nats_per_unit(base)
    check_integer(n_neighbors, "n_neighbors", 1)
    X = _rows(X, least=n_neighbors + 1)
    n_samples, d = X.shape
    exponent = scale_exponent(X)
    X = np.ldexp(X, -exponent)
    distance = KDTree(X).query(X, k=[n_neighbors + 1])[0][:, 0]  # + 1: the nearest row is the row itself
    if (distance == 0).any():
        return -math.inf
    log_unit_ball = 0.5 * d * math.log(math.pi) - float(gammaln(0.5 * d + 1))
    numbers = float(digamma(n_samples) - digamma(n_neighbors))
    log_distance = float(np.log(distance).mean()) + exponent * math.log(2)
    return (numbers + log_unit_ball + d * log_distance) / unit


def _log_sums(X: np.ndarray, method: str) -> np.ndarray:
    """:func:`log_kernel_sums` of all rows, with an error of at most `LOG_ERROR` if they are binned."""
    binned = X.shape[1] <= 2 and (method == "binned" or (method == "auto" and len(X) ** 2 > AUTO_PAIRS))
    found = gauss_sums(X, X) if binned else None
    if found is None:
        return log_kernel_sums(X)
    others, error = found[0] - 1, found[1]
    logs = np.log(np.maximum(others, error))
    alone = np.flatnonzero(error > LOG_ERROR / 2 * others)  # ln(1 + x) is at most 2 |x| for |x| <= 1/2
    logs[alone] = log_kernel_sums(X, alone)
    return logs


def log_kernel_sums(X: np.ndarray, of: np.ndarray | None = None) -> np.ndarray:
    """Logarithms of the sums of exp(-squared distance / 2) over the other rows, for all or some rows."""
    of = np.arange(len(X)) if of is None else of
    sums = np.empty(len(of))
    rows = max(1, BLOCK_PAIRS // len(X))
    for start in range(0, len(of), rows):
        block = slice(start, start + rows)
        squared = cdist(X[of[block]], X, "sqeuclidean")  # from differences: products would cancel far from 0
        squared[np.arange(len(squared)), of[block]] = math.inf  # the row itself
        least = squared.min(axis=1)
        squared -= least[:, np.newaxis]
        squared *= -0.5
        sums[block] = np.log(np.exp(squared, out=squared).sum(axis=1)) - 0.5 * least
    return sums


def _rows(X, *, least: int) -> np.ndarray:
    X = check_array(X, ensure_2d=False, dtype=np.float64, input_name="X")
    if X.ndim == 1:
        X = X[:, np.newaxis]
    if len(X) < least:
        raise ValueError(f"X has {len(X)} rows; at least {least} are needed")
    return X
