"""Mutual information of Gaussian variables, and of variables with a Gaussian copula, from samples."""

import math

import numpy as np
from scipy.special import digamma, ndtri
from scipy.stats import rankdata

from entrolearn.measures.information import nats_per_unit
from entrolearn.measures.reliability import columns, read_variables, standardised, warn_few_rows, warn_ties

__all__ = ["copula_mutual_information", "gaussian_mutual_information"]


def gaussian_mutual_information(
    X, Y, *, given=None, bias_corrected: bool = True, base: float = math.e
) -> float:
    r"""Mutual information of Gaussian variables, from the canonical correlations of a sample.

    .. math:: I(X; Y) = -\frac{1}{2} \sum_i \ln(1 - \rho_i^2)

    with the canonical correlations :math:`\rho_i` of X and Y, or, given Z, of the residuals of X and Y after
    linear regression on Z.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features_x)
        Continuous.
    Y : array-like, shape (n_samples,) or (n_samples, n_features_y)
        Continuous, observed together with X.
    given : array-like, shape (n_samples,) or (n_samples, n_features_z), optional
        Z, the conditioning variables, for a conditional mutual information.
    bias_corrected : bool, default=True
        Subtract the bias that the estimate has for Gaussian variables. For these the result is unbiased, and
        it may be below 0.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        inf if a linear combination of X equals one of Y.

    Raises
    ------
    ValueError
        If the variables differ in their number of rows or are not finite, or rows are too few for the
        columns.

    Warns
    -----
    UnreliableEstimateWarning
        If there are few rows for the number of columns.

    See Also
    --------
    copula_mutual_information : For variables that are Gaussian after a monotonic map of each column.
    gaussian_entropy : Entropy of a given covariance.

    Notes
    -----
    For variables that are not Gaussian, only linear dependence is measured. The estimate is invariant under
    invertible linear maps of X, of Y and of Z. Columns that are linear combinations of others are ignored.

    References
    ----------
    .. [1] T. M. Cover and J. A. Thomas (2006). Elements of information theory, section 8.5.
    .. [2] N. Misra, H. Singh and E. Demchuk (2005). Estimation of the entropy of a multivariate normal
       distribution. Journal of Multivariate Analysis 92: the bias.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.measures import gaussian_mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=2000)
    >>> y = 0.6 * x + 0.8 * rng.normal(size=2000)
    >>> bool(abs(gaussian_mutual_information(x, y) + 0.5 * np.log(1 - 0.6**2)) < 0.03)
    True
    """
    unit = nats_per_unit(base)
    variables = read_variables(columns, 3, X=X, Y=Y, given=given)
    return _of_gaussian(list(variables.values()), bias_corrected) / unit


def copula_mutual_information(
    X, Y, *, given=None, bias_corrected: bool = True, base: float = math.e
) -> float:
    """Mutual information of variables that are Gaussian after a monotonic map of each column.

    Each column is replaced by the normal quantiles of its ranks, and the result is passed to
    :func:`gaussian_mutual_information`.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features_x)
        Continuous.
    Y : array-like, shape (n_samples,) or (n_samples, n_features_y)
        Continuous, observed together with X.
    given : array-like, shape (n_samples,) or (n_samples, n_features_z), optional
        Z, the conditioning variables, for a conditional mutual information.
    bias_corrected : bool, default=True
        Subtract the bias for Gaussian variables.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        For one column each and in the limit of many rows, a lower bound of the mutual information.

    Raises
    ------
    ValueError
        If the variables differ in their number of rows or are not finite, or rows are too few for the
        columns.

    Warns
    -----
    UnreliableEstimateWarning
        If there are few rows for the number of columns, or values are repeated.

    Notes
    -----
    The estimate is invariant under increasing maps of any column. Dependence that is not monotonic, such as
    that of x and x², is not detected.

    References
    ----------
    R. A. A. Ince et al. (2017). A statistical framework for neuroimaging data analysis based on mutual
    information estimated via a Gaussian copula. Human Brain Mapping 38.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.measures import copula_mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> y = x + rng.normal(size=500)
    >>> copula_mutual_information(np.exp(x), y**3) == copula_mutual_information(x, y)
    True
    """
    unit = nats_per_unit(base)
    variables = read_variables(columns, 3, X=X, Y=Y, given=given)
    warn_ties(variables, "ranks of ties are arbitrary; use mixed_mutual_information")
    return _of_gaussian([_normal_scores(each) for each in variables.values()], bias_corrected) / unit


def _of_gaussian(variables: list[np.ndarray], bias_corrected: bool) -> float:
    X, Y, *given = map(standardised, variables)
    n_samples = len(X)
    warn_few_rows(n_samples, sum(each.shape[1] for each in variables))
    freedom = n_samples - 1
    for Z in given:
        basis = _basis(Z)
        X, Y = (each - basis @ (basis.T @ each) for each in (X, Y))
        freedom -= basis.shape[1]
    of_x, of_y = _basis(X), _basis(Y)
    d_x, d_y = of_x.shape[1], of_y.shape[1]
    if freedom < d_x + d_y:
        raise ValueError(
            f"X has {n_samples} rows; with these numbers of columns the estimate needs at least "
            f"{n_samples - freedom + d_x + d_y}"
        )
    if not (d_x and d_y):
        return 0.0
    correlations = np.linalg.svd(of_x.T @ of_y, compute_uv=False)
    if correlations[0] ** 2 >= 1 - 4 * np.finfo(float).eps * max(d_x, d_y):
        return math.inf
    information = -0.5 * float(np.log1p(-(correlations**2)).sum())
    bias = _log_determinant_bias(d_x, freedom) + _log_determinant_bias(d_y, freedom)
    return information - bias_corrected * (bias - _log_determinant_bias(d_x + d_y, freedom))


def _log_determinant_bias(d: int, freedom: int) -> float:
    """Expected half log-determinant of the sample covariance of d independent standard Gaussians."""
    return 0.5 * float(np.sum(digamma((freedom - np.arange(d)) / 2) - math.log(freedom / 2)))


def _basis(X: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the column space of X, shape (n_samples, rank)."""
    left, values, _ = np.linalg.svd(X, full_matrices=False)
    return left[:, values > max(X.shape) * np.finfo(float).eps * max(values[0], math.sqrt(len(X)))]


def _normal_scores(X: np.ndarray) -> np.ndarray:
    return ndtri(rankdata(X, axis=0) / (len(X) + 1))
