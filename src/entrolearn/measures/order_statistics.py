"""Expected maximum of several draws from observed values."""

import numpy as np
from sklearn.utils import check_array

__all__ = ["expected_maximum"]


def expected_maximum(values) -> np.ndarray:
    r"""Expected maximum of s values drawn without replacement from the observed ones, for every s.

    .. math:: E_s = \binom{n}{s}^{-1} \sum_{i=s}^{n} \binom{i-1}{s-1} x_{(i)}

    with the sorted values :math:`x_{(1)} \le \ldots \le x_{(n)}`: in :math:`\binom{i-1}{s-1}` of the subsets
    of size s, :math:`x_{(i)}` is the largest value. Applied to the results of independent starts of an
    optimizer, it is the unbiased estimate of the best result of s starts, computed from all subsets instead
    of a random sample of them.

    Parameters
    ----------
    values : array-like, shape (n,)
        Observed values, finite.

    Returns
    -------
    ndarray, shape (n,)
        The expected maximum for s = 1, …, n: the first is the mean of the values, the last their maximum.

    Raises
    ------
    ValueError
        If there is no value, or one is not finite.

    References
    ----------
    Czarnecki, Jozefowicz and Tabor, Maximum Entropy Linear Manifold, section 5 and Figure 4.

    Examples
    --------
    >>> from entrolearn.measures import expected_maximum
    >>> expected_maximum([1.0, 3.0, 2.0]).round(4).tolist()
    [2.0, 2.6667, 3.0]
    """
    largest_first = np.sort(check_array(values, ensure_2d=False, dtype=np.float64, input_name="values"))[::-1]
    n = len(largest_first)
    place = np.arange(n, 1, -1)  # i of each value except the smallest
    expected = np.empty(n)
    for s in range(1, n + 1):
        # The weight of x_(n) is s / n; the weight of x_(i-1) is (i - s) / (i - 1) times that of x_(i). This
        # avoids binomial coefficients, which would overflow, and differences of large numbers.
        steps = np.maximum(place - s, 0) / (place - 1)
        weights = s / n * np.concatenate([[1.0], np.cumprod(steps)])
        expected[s - 1] = weights @ largest_first
    return expected
