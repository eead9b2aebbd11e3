"""Mutual information from Gaussian kernel density estimates: Shannon's, Cauchy–Schwarz and Euclidean.

All use one estimate of the joint density and its marginals. The covariance of the kernel is that of the
sample times the square of Silverman's factor. The sums are over all pairs of rows, in blocks.
"""

import math
from numbers import Real

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.spatial.distance import cdist

from entrolearn.measures.density import BLOCK_PAIRS, silverman_factor
from entrolearn.measures.differential import log_kernel_sums
from entrolearn.measures.information import check_choice, nats_per_unit
from entrolearn.measures.reliability import columns, read_variables, standardised, warn_few_rows, warn_ties

__all__ = ["kde_mutual_information", "quadratic_mutual_information"]

DIVERGENCES = ("cauchy_schwarz", "euclidean")


def kde_mutual_information(X, Y, *, given=None, bandwidth_scale: float = 1.0, base: float = math.e) -> float:
    r"""Mutual information from a Gaussian kernel density estimate.

    .. math:: \frac{1}{n} \sum_i \ln \frac{\hat f_{-i}(x_i, y_i)}{\hat f_{-i}(x_i) \hat f_{-i}(y_i)}

    The densities at each row are estimated from the other rows, all with the bandwidth of the joint density.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features_x)
        Continuous.
    Y : array-like, shape (n_samples,) or (n_samples, n_features_y)
        Continuous, observed together with X.
    given : array-like, shape (n_samples,) or (n_samples, n_features_z), optional
        Z, the conditioning variables, for a conditional mutual information.
    bandwidth_scale : float, default=1.0
        Bandwidth in multiples of that of Silverman's rule, from 1e-100 to 1e100.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        May be below 0.

    Raises
    ------
    ValueError
        If the variables differ in their number of rows or are not finite, they have no variance in some
        direction, each or together, or `bandwidth_scale` is not accepted.

    Warns
    -----
    UnreliableEstimateWarning
        If rows are repeated or are few for so many columns.

    See Also
    --------
    kde_entropy : Entropy of one variable.

    Notes
    -----
    Takes O(n²) time. Kernels smooth out structure narrower than their width, so strong dependence is
    underestimated. The estimate is invariant under invertible linear maps of X, of Y and of Z.

    References
    ----------
    Y.-I. Moon, B. Rajagopalan and U. Lall (1995). Estimation of mutual information using kernel density
    estimators. Physical Review E 52.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.measures import kde_mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=1000)
    >>> y = 0.6 * x + 0.8 * rng.normal(size=1000)
    >>> bool(abs(kde_mutual_information(x, y) + 0.5 * np.log(1 - 0.6**2)) < 0.05)
    True
    """
    unit = nats_per_unit(base)
    variables = _variables(X, Y, given)
    n_samples, n_columns = len(variables["X"]), sum(each.shape[1] for each in variables.values())
    width = _positive(bandwidth_scale) * silverman_factor(n_samples, n_columns)
    others = ["given"] if "given" in variables else []
    parts = [(["X", "Y", *others], 1), (["X", *others], -1), (["Y", *others], -1)]
    parts += [(others, 1)] if others else []
    log_ratio = np.zeros(n_samples)
    for names, sign in parts:
        whitened, log_widths = _whitened({name: variables[name] for name in names}, width)
        # These constants cancel if a variable is given, but not otherwise.
        log_norm = log_widths + 0.5 * whitened.shape[1] * math.log(2 * math.pi) + math.log(n_samples - 1)
        log_ratio += sign * (log_kernel_sums(whitened) - log_norm)
    return float(log_ratio.mean()) / unit


def quadratic_mutual_information(
    X, Y, *, divergence: str = "cauchy_schwarz", bandwidth_scale: float = 1.0
) -> float:
    r"""Quadratic mutual information: a divergence of the joint density from the product of the marginals.

    With :math:`V_J = \int \hat f_{xy}^2`, :math:`V_M = \int \hat f_x^2 \int \hat f_y^2` and
    :math:`V_C = \int \hat f_{xy} \hat f_x \hat f_y`

    .. math:: I_{CS} = \ln \frac{V_J V_M}{V_C^2}, \qquad I_{ED} = V_J - 2 V_C + V_M

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features_x)
        Continuous.
    Y : array-like, shape (n_samples,) or (n_samples, n_features_y)
        Continuous, observed together with X.
    divergence : {"cauchy_schwarz", "euclidean"}, default="cauchy_schwarz"
        The Cauchy–Schwarz divergence of the two densities, or the integral of their squared difference, both
        with columns in units of their standard deviations.
    bandwidth_scale : float, default=1.0
        Bandwidth in multiples of that of Silverman's rule, from 1e-100 to 1e100.

    Returns
    -------
    float
        At least 0, and 0 if and only if the estimated densities are equal. It is not an estimate of Shannon's
        mutual information, but serves to compare dependences or as a criterion to maximise.

    Raises
    ------
    ValueError
        If the variables differ in their number of rows or are not finite, one has no variance in some
        direction, or an argument is not accepted.

    Warns
    -----
    UnreliableEstimateWarning
        If rows are repeated or are few for so many columns.

    See Also
    --------
    cauchy_schwarz_kde : Cauchy–Schwarz divergence of two samples.

    Notes
    -----
    Takes O(n²) time. The sums over pairs are the exact integrals of the density estimates.

    References
    ----------
    J. C. Principe, D. Xu and J. W. Fisher (2000). Information theoretic learning. In Unsupervised adaptive
    filtering.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.measures import quadratic_mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 500))
    >>> quadratic_mutual_information(x, x + noise) > quadratic_mutual_information(x, noise)
    True
    """
    check_choice("divergence", divergence, DIVERGENCES)
    X, Y = _variables(X, Y, None).values()
    n_samples, n_columns = len(X), X.shape[1] + Y.shape[1]
    width = _positive(bandwidth_scale) * silverman_factor(n_samples, n_columns)
    (X, log_widths_x), (Y, log_widths_y) = _whitened({"X": X}, width), _whitened({"Y": Y}, width)
    joint, of_x, of_y = 0.0, np.empty(n_samples), np.empty(n_samples)
    rows = max(1, BLOCK_PAIRS // n_samples)
    for start in range(0, n_samples, rows):
        block = slice(start, start + rows)
        # The integral of the product of two kernels is a kernel of twice the variance.
        kernel_x, kernel_y = (np.exp(-0.25 * cdist(each[block], each, "sqeuclidean")) for each in (X, Y))
        of_x[block], of_y[block] = kernel_x.mean(axis=1), kernel_y.mean(axis=1)
        joint += float(np.vdot(kernel_x, kernel_y))
    joint /= n_samples**2
    crossed, marginal = float(np.mean(of_x * of_y)), float(of_x.mean() * of_y.mean())
    if divergence == "cauchy_schwarz":
        return max(0.0, math.log(joint) + math.log(marginal) - 2 * math.log(crossed))
    log_peak = -0.5 * n_columns * math.log(4 * math.pi) - log_widths_x - log_widths_y
    with np.errstate(over="ignore"):  # inf where it exceeds the largest double
        return float(max(0.0, joint - 2 * crossed + marginal) * np.exp(log_peak))


def _whitened(variables: dict[str, np.ndarray], width: float) -> tuple[np.ndarray, float]:
    """Rows whitened by the kernel's covariance, and half the log-determinant of this covariance."""
    X = np.hstack([*variables.values()])
    covariance = np.atleast_2d(np.cov(X.T, bias=True))
    if np.linalg.eigvalsh(covariance)[0] <= len(covariance) * np.finfo(float).eps:
        if len(variables) == 1:
            reason = "no density: one of its columns is constant or depends linearly on the others"
            raise ValueError(f"{next(iter(variables))} has {reason}")
        for name, variable in variables.items():
            _whitened({name: variable}, width)  # raises if it has no density of its own
        *names, last = variables
        raise ValueError(
            f"{', '.join(names)} and {last} have no joint density: some depend linearly on others"
        )
    root = width * cholesky(covariance, lower=True)
    return solve_triangular(root, X.T, lower=True).T, float(np.log(root.diagonal()).sum())


def _positive(bandwidth_scale: float) -> float:
    # Squared distances in bandwidths would overflow, or the bandwidth itself.
    if not isinstance(bandwidth_scale, Real) or not 1e-100 <= bandwidth_scale <= 1e100:
        raise ValueError(f"bandwidth_scale is {bandwidth_scale!r}; it must be a number from 1e-100 to 1e100")
    return float(bandwidth_scale)


def _variables(X, Y, given) -> dict[str, np.ndarray]:
    variables = read_variables(columns, 3, X=X, Y=Y, given=given)
    warn_few_rows(len(variables["X"]), sum(each.shape[1] for each in variables.values()))
    warn_ties(variables, "samples of a density have no ties; use mixed_mutual_information")
    return {name: standardised(each) for name, each in variables.items()}
