"""Entropy and mutual information of discrete variables, from counts or samples, with bias corrections."""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import digamma, entr

from entrolearn.measures.information import check_choice, mutual_information, nats_per_unit, not_negative
from entrolearn.measures.reliability import codes, read_variables, warn_unreliable

__all__ = [
    "codes_of_rows",
    "discrete_mutual_information",
    "entropy_from_counts",
    "mutual_information_from_counts",
]

#: Ratio of combinations to rows above which the bias may be as large as the information.
MANY_CELLS = 0.5


def entropy_from_counts(counts, *, correction: str | None = None, base: float = math.e) -> float:
    r"""Entropy of a distribution, estimated from counts.

    Parameters
    ----------
    counts : array-like of any shape
        Number of observations of each value, or combination of values.
    correction : {None, "miller_madow", "grassberger"}, default=None
        None is the plug-in estimate, the entropy of the relative frequencies, which has a negative bias.
        "miller_madow" subtracts the first-order bias, :math:`-(m - 1) / 2N` nats for N observations of
        m different values. "grassberger" replaces the logarithm of each count by a function with little bias
        for many rare values; a result below 0 becomes 0.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        At least 0. With a correction it may exceed the logarithm of the number of values.

    Raises
    ------
    ValueError
        If `counts` hold no observation, or `correction` or `base` is not accepted.

    References
    ----------
    .. [1] G. A. Miller (1955). Note on the bias of information estimates. Information Theory in Psychology.
    .. [2] P. Grassberger (2003). Entropy estimates from insufficient samplings. arXiv:physics/0307138,
       equation 28 with 35.

    Examples
    --------
    >>> from entrolearn.measures import entropy_from_counts
    >>> entropy_from_counts([2, 2], base=2)
    1.0
    >>> round(entropy_from_counts([2, 2], correction="miller_madow"), 4)
    0.8181
    """
    unit = nats_per_unit(base)
    biased = _bias_estimate(correction)
    counts = _counts(counts)
    return max(0.0, float((entr(_frequencies(counts)).sum() - biased(counts)) / unit))


def mutual_information_from_counts(counts, *, correction: str | None = None, base: float = math.e) -> float:
    """Mutual information of two variables, estimated from their contingency table.

    Parameters
    ----------
    counts : array-like of shape (n_rows, n_columns)
        Number of observations of each combination of values.
    correction : {None, "miller_madow", "grassberger"}, default=None
        None is the plug-in estimate, which has a positive bias. The others correct each of the three
        entropies that it consists of, see :func:`entropy_from_counts`.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        With a correction the estimate may be below 0: for independent variables its mean is about 0.

    Raises
    ------
    ValueError
        If `counts` are not a contingency table, or `correction` or `base` is not accepted.

    Examples
    --------
    >>> from entrolearn.measures import mutual_information_from_counts
    >>> mutual_information_from_counts([[5, 5], [5, 5]])
    0.0
    >>> round(mutual_information_from_counts([[5, 5], [5, 5]], correction="miller_madow"), 4)
    -0.025
    """
    unit = nats_per_unit(base)
    biased = _bias_estimate(correction)
    counts = _counts(counts)
    if counts.ndim != 2:
        raise ValueError(f"counts have shape {counts.shape}; they must be a table of two variables")
    bias = biased(_total(counts, axis=1)) + biased(_total(counts, axis=0)) - biased(counts)
    return mutual_information(_frequencies(counts), base=base) - float(bias / unit)


def discrete_mutual_information(
    x, y, *, given=None, correction: str | None = None, base: float = math.e
) -> float:
    r"""Mutual information of discrete variables, from samples.

    .. math:: I(x; y) = \frac{1}{n} \sum_i \ln \frac{n \, n_{xy}(i)}{n_x(i) \, n_y(i)}, \qquad
              I(x; y \mid z) = \frac{1}{n} \sum_i \ln \frac{n_z(i) \, n_{xyz}(i)}{n_{xz}(i) \, n_{yz}(i)}

    where :math:`n_{xy}(i)` is the number of rows with the same values of x and y as row i, and so on.

    Parameters
    ----------
    x : array-like, shape (n_samples,) or (n_samples, n_features_x)
        Values of any type that can be sorted; NaN counts as one more value. Several columns form one
        variable.
    y : array-like, shape (n_samples,) or (n_samples, n_features_y)
        Observed together with x.
    given : array-like, shape (n_samples,) or (n_samples, n_features_z), optional
        z, the conditioning variables, for a conditional mutual information.
    correction : {None, "miller_madow", "grassberger"}, default=None
        Bias correction of each entropy that the information consists of, see :func:`entropy_from_counts`.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        At least 0 without a correction.

    Raises
    ------
    ValueError
        If the variables differ in their number of rows, are empty or cannot be sorted, or `correction` is not
        accepted.

    Warns
    -----
    UnreliableEstimateWarning
        If combinations of values have fewer than two rows on average, unless `correction` is "grassberger".

    See Also
    --------
    mutual_information_from_counts : From a contingency table.
    sklearn.metrics.mutual_info_score : The plug-in estimate of two columns.

    Notes
    -----
    Takes O(n log n) time and does not build the table of all combinations.

    Examples
    --------
    >>> from entrolearn.measures import discrete_mutual_information
    >>> round(discrete_mutual_information(list("aabb"), [1, 1, 2, 2]), 4)
    0.6931
    """
    unit = nats_per_unit(base)
    biased = _bias_estimate(correction)
    x, y, *others = read_variables(codes_of_rows, 1, x=x, y=y, given=given).values()
    n_samples = len(x)
    z = others[0] if others else np.zeros(n_samples, dtype=np.intp)
    xz, yz = (each * (z.max() + 1) + z for each in (x, y))
    xz, yz = (np.unique(each, return_inverse=True)[1] for each in (xz, yz))
    cells, first, of_cell = np.unique(xz * (yz.max() + 1) + yz, return_index=True, return_counts=True)
    if len(cells) > MANY_CELLS * n_samples and correction != "grassberger":
        warn_unreliable(
            f"{n_samples} rows have {len(cells)} different combinations of values: the estimate may be far "
            "too large for weak, or too small for strong dependence; correction='grassberger' has less bias"
        )
    n_xz, n_yz, n_z = (np.bincount(each) for each in (xz, yz, z))
    ratio = np.log(of_cell) + np.log(n_z[z[first]]) - np.log(n_xz[xz[first]]) - np.log(n_yz[yz[first]])
    information = max(0.0, float(of_cell @ ratio) / n_samples)
    of_xz, of_yz, of_xyz, of_z = (biased(each.astype(np.float64)) for each in (n_xz, n_yz, of_cell, n_z))
    return (information - (of_xz + of_yz - of_xyz - (0.0 if given is None else of_z))) / unit


def codes_of_rows(x, name: str) -> np.ndarray:
    """Integer codes of the rows: equal rows have the same code."""
    x = np.asarray(x)
    if x.ndim not in (1, 2) or x.size == 0:
        raise ValueError(f"{name} has shape {x.shape}; it must be (n,) or (n, k) with n, k > 0")
    combined = np.zeros(len(x), dtype=np.intp)
    for column in x.reshape(len(x), -1).T:
        found = codes(column, name)
        combined = codes(combined * (found.max() + 1) + found, name)
    return combined


def _no_bias(counts: np.ndarray) -> float:
    return 0.0


def _miller_madow(counts: np.ndarray) -> float:
    """First-order bias of the plug-in entropy, in nats."""
    return -(np.count_nonzero(counts) - 1) / (2 * float(_total(counts)))


def _grassberger(counts: np.ndarray) -> float:
    """Bias according to Grassberger's estimator: the mean of G(n) - ln n over the observations, in nats."""
    n = counts[counts > 0]
    if (n != np.rint(n)).any():
        raise ValueError("counts are not integers; correction='grassberger' needs integers")
    sign = 1 - 2 * (n % 2)
    expected = digamma(n) + 0.5 * sign * (digamma((n + 1) / 2) - digamma(n / 2))
    return float(n @ (expected - np.log(n)) / n.sum())


BIAS_ESTIMATES: dict[str | None, Callable[[np.ndarray], float]] = {
    None: _no_bias,
    "miller_madow": _miller_madow,
    "grassberger": _grassberger,
}


def _bias_estimate(correction: str | None) -> Callable[[np.ndarray], float]:
    check_choice("correction", correction, BIAS_ESTIMATES)
    return BIAS_ESTIMATES[correction]


def _counts(counts) -> np.ndarray:
    counts = not_negative(np.asarray(counts), "counts", "counts")
    if not counts.any():
        raise ValueError(f"counts of shape {counts.shape} hold no observation")
    return counts


def _total(counts: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Sum of the counts; inf where it exceeds the largest double."""
    with np.errstate(over="ignore"):
        return counts.sum(axis=axis)


def _frequencies(counts: np.ndarray) -> np.ndarray:
    if not np.isfinite(_total(counts)):
        counts = counts / counts.max() / counts.size
    return counts / counts.sum()
