"""Differential entropy of continuous variables: of a Gaussian, and from samples by two estimators.

``h(X) = -∫ f(x) ln f(x) dx``, in nats. Unlike an entropy of discrete variables it may be negative, and it
grows by ``ln|det A|`` under an invertible linear map A; so do all three here (the kernel estimate with
Silverman's bandwidth, the one by nearest neighbours where A keeps the ratios of distances).
"""

import math
from numbers import Real

import numpy as np
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from scipy.special import digamma, gammaln
from sklearn.utils import check_array

from entrolearn.measures.density import BLOCK_PAIRS, scale_exponent, silverman_factor
from entrolearn.measures.divergence import quadratic_entropy_gaussian
from entrolearn.measures.gauss_sums import AUTO_PAIRS, LOG_ERROR, gauss_sums
from entrolearn.measures.reliability import check_integer

METHODS = ("auto", "exact", "binned")

ROUNDING = 8 * np.finfo(float).eps  # a deviation that is no larger, relative to the numbers, may be none

__all__ = ["gaussian_entropy", "kde_entropy", "knn_entropy", "log_kernel_sums"]


def gaussian_entropy(covariance) -> float:
    r"""Differential entropy of a Gaussian, :math:`\frac{1}{2} \ln |2 \pi e \Sigma|`.

    Parameters
    ----------
    covariance : float or array-like, shape (d, d)
        Variance on the line, or covariance in d dimensions.

    Returns
    -------
    float
        In nats: the greatest entropy that a variable with this covariance can have. -inf where the
        covariance is singular.

    Raises
    ------
    ValueError
        If `covariance` is not that of a Gaussian.

    References
    ----------
    T. M. Cover and J. A. Thomas (2006). Elements of information theory, theorems 8.4.1 and 8.6.5.

    Examples
    --------
    >>> from entrolearn.measures import gaussian_entropy
    >>> round(gaussian_entropy(1.0), 4)
    1.4189
    """
    n_features = np.atleast_2d(covariance).shape[0]
    # All Rényi entropies of a Gaussian differ by constants: this is the quadratic one, 1/2 ln|4 pi Sigma|.
    return quadratic_entropy_gaussian(covariance) + 0.5 * n_features * (1 - math.log(2))


def kde_entropy(X, *, bandwidth: str | float = "silverman", method: str = "auto") -> float:
    r"""Differential entropy from a Gaussian kernel density estimate.

    .. math:: -\frac{1}{n} \sum_i \ln \hat f{}_{-i}(x_i)

    Each row's density is estimated from the other rows. With the row itself among them the density could be
    made as large as one likes by narrow kernels, and the entropy with it as small.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features)
        At least two rows.
    bandwidth : "silverman" or float, default="silverman"
        A number is the standard deviation of a round kernel, in the units of `X`. "silverman" gives the
        kernel the covariance of the sample times the square of
        :func:`~entrolearn.measures.silverman_factor`.
    method : {"auto", "exact", "binned"}, default="auto"
        "exact" visits all pairs of rows. "binned", in one dimension or two, interpolates the kernel between
        the nodes of a grid where that is cheaper; no row's logarithm is then off by more than 1e-6, as rows
        that stand so much alone that it would be are computed exactly. "auto" is "binned" for more than a
        million pairs.

    Returns
    -------
    float
        In nats; -inf where the kernel has no variance in some direction, because the sample has none.

    Raises
    ------
    ValueError
        If `X` has fewer than two rows or is not finite, `bandwidth` is neither "silverman" nor a positive
        number, or there is no such `method`.

    See Also
    --------
    quadratic_entropy_kde : Rényi's quadratic entropy of such an estimate, which is a closed form.

    Notes
    -----
    O(n²) pairs, a block at a time, or O(n) and a grid. Kernels make a density wider, so that wide ones
    estimate too large an entropy.

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
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; it must be 'auto', 'exact' or 'binned'")
    X = _rows(X, least=2)
    n_samples, n_features = X.shape
    if isinstance(bandwidth, str) and bandwidth == "silverman":
        if n_samples <= n_features:  # the rows lie in a plane, whether or not rounding lets one see it
            return -math.inf
        exponents = np.array([scale_exponent(column) for column in X.T])
        X = np.ldexp(X, -exponents)
        # Of the rows and not of their covariance, whose rounding is that of a square.
        centred = X - X.mean(axis=0)
        orthonormal, root = np.linalg.qr(centred)
        widths = np.abs(root.diagonal()) * (silverman_factor(n_samples, n_features) / math.sqrt(n_samples))
        # The numbers are rounded relative to their sizes, the factors relative to the deviations.
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
    return log_norm + log_widths - float(_log_sums(whitened, method).mean())


def knn_entropy(X, *, n_neighbors: int = 3) -> float:
    r"""Differential entropy from the distances to the k-th nearest neighbours, by Kozachenko and Leonenko.

    .. math:: \psi(n) - \psi(k) + \ln V_d + \frac{d}{n} \sum_i \ln \epsilon_i

    with :math:`\epsilon_i` the Euclidean distance of row i to its k-th nearest neighbour, :math:`V_d` the
    volume of the unit ball and :math:`\psi` the digamma function.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features)
        More rows than neighbours.
    n_neighbors : int, default=3
        k: more neighbours, less variance and more bias.

    Returns
    -------
    float
        In nats; -inf where a row is equal to its k nearest others: add noise to data that were rounded.

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
    check_integer(n_neighbors, "n_neighbors", 1)
    X = _rows(X, least=n_neighbors + 1)
    n_samples, d = X.shape
    exponent = scale_exponent(X)
    X = np.ldexp(X, -exponent)
    distance = KDTree(X).query(X, k=[n_neighbors + 1])[0][:, 0]  # the nearest is the row itself
    if (distance == 0).any():
        return -math.inf
    log_unit_ball = 0.5 * d * math.log(math.pi) - float(gammaln(0.5 * d + 1))
    numbers = float(digamma(n_samples) - digamma(n_neighbors))
    return numbers + log_unit_ball + d * (float(np.log(distance).mean()) + exponent * math.log(2))


def _log_sums(X: np.ndarray, method: str) -> np.ndarray:
    """:func:`log_kernel_sums`, each to within `LOG_ERROR` where they are binned."""
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
    """Of each row, or those of these indices, ln of the sum of exp(-squared distance / 2) over the others."""
    of = np.arange(len(X)) if of is None else of
    sums = np.empty(len(of))
    rows = max(1, BLOCK_PAIRS // len(X))
    for start in range(0, len(of), rows):
        block = slice(start, start + rows)
        squared = cdist(X[of[block]], X, "sqeuclidean")  # by differences; products would cancel far from 0
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
