"""Entropies estimated from how often values were seen, with or without a correction of their bias."""

from collections.abc import Callable

import numpy as np
from scipy.special import entr

from entrolearn.measures.information import mutual_information, nats_per_unit, not_negative

__all__ = [
    "counts_from_samples",
    "entropy_from_counts",
    "mutual_information_from_counts",
    "probabilities_from_counts",
]


def counts_from_samples(*samples) -> np.ndarray:
    """How often each combination of values occurs.

    Parameters
    ----------
    *samples : array-likes of shape (n_samples,)
        Discrete variables, of any type that can be sorted, observed together.

    Returns
    -------
    ndarray of int, one axis for each sample
        Along each axis the variable's values in sorted order.

    Raises
    ------
    ValueError
        If there is no sample, or the samples differ in length or are empty.

    Examples
    --------
    >>> from entrolearn.measures import counts_from_samples, mutual_information, probabilities_from_counts
    >>> counts = counts_from_samples(["a", "a", "b", "b"], [1, 1, 2, 2])
    >>> counts
    array([[2, 0],
           [0, 2]])
    >>> mutual_information(probabilities_from_counts(counts))
    1.0
    """
    arrays = [np.asarray(sample) for sample in samples]
    shapes = [array.shape for array in arrays]
    if not arrays or any(len(shape) != 1 or shape != shapes[0] or shape[0] == 0 for shape in shapes):
        raise ValueError(
            f"the samples have shapes {shapes}; they must be one or more of the same (n,), n > 0"
        )
    values, codes = zip(*(np.unique(array, return_inverse=True) for array in arrays), strict=True)
    counts = np.zeros([len(each) for each in values], dtype=np.int64)
    np.add.at(counts, codes, 1)
    return counts


def probabilities_from_counts(counts) -> np.ndarray:
    """Relative frequencies: the plug-in estimate of a distribution, joint ones included.

    Parameters
    ----------
    counts : array-like of any shape
        How often each value, or combination of values, was seen. Weights that are no integers will do.

    Returns
    -------
    ndarray of the same shape
        Adding up to one.

    Raises
    ------
    ValueError
        If a count is negative or not finite, or all are zero.

    Examples
    --------
    >>> from entrolearn.measures import probabilities_from_counts
    >>> probabilities_from_counts([[3, 1], [0, 4]])
    array([[0.375, 0.125],
           [0.   , 0.5  ]])
    """
    counts = _counts(counts)
    return counts / counts.sum()


def entropy_from_counts(counts, *, correction: str | None = None, base: float = 2) -> float:
    r"""Entropy of the distribution that some counts were drawn from.

    Parameters
    ----------
    counts : array-like of any shape
        How often each value, or combination of values, was seen.
    correction : {None, "miller_madow"}, default=None
        None is the plug-in estimate, the entropy of the relative frequencies, which is too small in the mean.
        "miller_madow" adds the first term of that bias, :math:`(m - 1) / 2N` nats for N observations of
        m different values.
    base : {2, e}, default=2
        Of the logarithm.

    Returns
    -------
    float
        At least 0. Corrected, it may exceed the logarithm of the number of values.

    Raises
    ------
    ValueError
        If `counts` hold no observation, or an argument is not one of its values.

    References
    ----------
    G. A. Miller (1955). Note on the bias of information estimates. Information Theory in Psychology.

    Examples
    --------
    >>> from entrolearn.measures import entropy_from_counts
    >>> entropy_from_counts([2, 2])
    1.0
    >>> round(entropy_from_counts([2, 2], correction="miller_madow"), 4)
    1.1803
    """
    unit = nats_per_unit(base)
    biased = _bias_estimate(correction)
    counts = _counts(counts)
    return float((entr(counts / counts.sum()).sum() - biased(counts)) / unit)


def mutual_information_from_counts(counts, *, correction: str | None = None, base: float = 2) -> float:
    """Mutual information of the two variables of a contingency table.

    Parameters
    ----------
    counts : array-like of shape (n_rows, n_columns)
        How often each combination of values was seen.
    correction : {None, "miller_madow"}, default=None
        None is the plug-in estimate, which is too large in the mean. "miller_madow" corrects the three
        entropies it is made of, see :func:`entropy_from_counts`.
    base : {2, e}, default=2
        Of the logarithm.

    Returns
    -------
    float
        Corrected, it may be below 0: independent variables have about 0 in the mean.

    Raises
    ------
    ValueError
        If `counts` are no contingency table, or an argument is not one of its values.

    Examples
    --------
    >>> from entrolearn.measures import mutual_information_from_counts
    >>> mutual_information_from_counts([[5, 5], [5, 5]])
    0.0
    >>> round(mutual_information_from_counts([[5, 5], [5, 5]], correction="miller_madow"), 4)
    -0.0361
    """
    unit = nats_per_unit(base)
    biased = _bias_estimate(correction)
    counts = _counts(counts)
    if counts.ndim != 2:
        raise ValueError(f"counts have shape {counts.shape}; they must be a table of two variables")
    bias = biased(counts.sum(axis=1)) + biased(counts.sum(axis=0)) - biased(counts)
    return mutual_information(counts / counts.sum(), base=base) - float(bias / unit)


def _no_bias(counts: np.ndarray) -> float:
    return 0.0


def _miller_madow(counts: np.ndarray) -> float:
    """By how much the plug-in entropy differs from the true one in the mean, to the first order, in nats."""
    return -(np.count_nonzero(counts) - 1) / (2 * float(counts.sum()))


BIAS_ESTIMATES: dict[str | None, Callable[[np.ndarray], float]] = {
    None: _no_bias,
    "miller_madow": _miller_madow,
}


def _bias_estimate(correction: str | None) -> Callable[[np.ndarray], float]:
    if correction not in BIAS_ESTIMATES:
        known = ", ".join(map(repr, BIAS_ESTIMATES))
        raise ValueError(f"correction is {correction!r}; it must be one of {known}")
    return BIAS_ESTIMATES[correction]


def _counts(counts) -> np.ndarray:
    counts = not_negative(np.asarray(counts), "counts", "counts")
    if not counts.sum() > 0:
        raise ValueError(f"counts of shape {counts.shape} hold no observation")
    return counts
