"""Entropy of a sample of errors and its gradient, the loss of learners that minimise the error's entropy.

Shannon's entropy and Rényi's quadratic entropy of the Gaussian kernel density estimate, evaluated at the
errors. Both are computed from sums of kernels at every error and the slopes of these sums, which take O(N) by
binning.
"""

import math

import numpy as np
from scipy import fft

from entrolearn.measures.density import METHODS, as_sample
from entrolearn.measures.gridding import ORDER, SplineShares, blur
from entrolearn.measures.information import check_choice

__all__ = ["ENTROPIES", "error_entropy"]

ENTROPIES = ("shannon", "renyi")

#: Grid steps per bandwidth. Measured errors: 1e-6 of values, 1e-4 of the largest entry of gradients, or 1e-3
#: if most errors are equal up to a hundredth of the bandwidth and the gradient is close to zero.
STEPS_PER_WIDTH = 12

#: Bandwidths beyond which a kernel is negligible beside the kernel of the error itself: exp(-40).
REACH = 9.0

#: Bandwidths beyond which a kernel underflows to zero. Distances are clipped here: inf times zero would be
#: NaN.
FARTHEST = 40.0

#: Pairs up to which "auto" is exact.
AUTO_PAIRS = 10_000

#: Grid points per error above which gaps between errors are shortened.
ROOMY = 16

#: Pairs in memory at once (2 MiB: a block stays in the processor's cache).
BLOCK_PAIRS = 2**18


def error_entropy(
    e, bandwidth: float, *, entropy: str = "shannon", method: str = "auto", sample_weight=None
) -> tuple[float, np.ndarray]:
    r"""Entropy of the Gaussian kernel density estimate of errors, evaluated at the errors, and its gradient.

    .. math:: \hat H = -\frac{1}{N}\sum_n \ln \hat f(e_n), \qquad
              \hat H{}_2 = -\ln \frac{1}{N}\sum_n \hat f(e_n), \qquad
              \hat f(x) = \frac{1}{N h}\sum_l K\left(\frac{x - e_l}{h}\right)

    with the standard Gaussian density K. The sum over l includes the error itself.

    Parameters
    ----------
    e : array-like, shape (n_samples,)
        Errors, the differences of targets and outputs.
    bandwidth : float
        h, in the units of the errors.
    entropy : {"shannon", "renyi"}, default="shannon"
        Shannon's estimator, or Rényi's entropy of order 2.
    method : {"auto", "exact", "binned"}, default="auto"
        "exact" visits all pairs of errors, in blocks: O(n²) time, O(n) memory. "binned" distributes the
        errors over the points of a grid and convolves by Fourier transforms: O(n log n) for any range of the
        errors. "auto" is exact up to 100 errors.
    sample_weight : array-like of shape (n_samples,), default=None
        Positive weights of the errors, in the density and in the means: an error of weight two counts as two.

    Returns
    -------
    value : float
        In nats.
    gradient : ndarray, shape (n_samples,)
        Derivative with respect to each error. The entries add up to zero, because the entropy does not depend
        on the mean of the errors.

    Raises
    ------
    ValueError
        If `e` is empty or not finite, or another argument is not accepted.

    Notes
    -----
    A change of one error changes the density at that error and at all other errors, so Shannon's gradient has
    two terms. Equation (1) of [2]_ has both; the line before it lacks the factor :math:`-1/(N h)`.

    Rényi's entropy is -ln E f with the density f of [2]_. It equals minus the logarithm of the
    information potential of Erdogmus and Principe, and :func:`quadratic_entropy_kde`, with kernels of width
    :math:`\sigma = h / \sqrt 2`.

    The binned gradient is the gradient of the binned value for a fixed grid.

    References
    ----------
    .. [1] Silva, Marques de Sa and Alexandre (2005), Neural network classification using Shannon's entropy,
       ESANN.
    .. [2] Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning,
       section "Classification in MLP by minimizing Error's Entropy".
    .. [3] Erdogmus and Principe (2002), An error-entropy minimization algorithm for supervised training of
       nonlinear adaptive systems, IEEE Transactions on Signal Processing 50, 1780-1786.

    Examples
    --------
    >>> from entrolearn.measures import error_entropy
    >>> value, gradient = error_entropy([-0.5, 0.0, 1.0], 1.0)
    >>> round(value, 4), gradient.round(4).tolist()
    (1.2303, [-0.2833, -0.0602, 0.3435])
    """
    e = as_sample(e, "e")
    if not (np.ndim(bandwidth) == 0 and 0 < bandwidth < math.inf):
        raise ValueError(f"bandwidth is {bandwidth!r}; it must be a positive number")
    check_choice("entropy", entropy, ENTROPIES)
    check_choice("method", method, METHODS)
    exact = method == "exact" or (method == "auto" and e.size**2 <= AUTO_PAIRS)
    kernels = _PairedKernels(e, bandwidth) if exact else _BinnedKernels(e, bandwidth)
    weights = None if sample_weight is None else as_sample(sample_weight, "sample_weight")
    if weights is not None and not (weights.size == e.size and weights.min() > 0):
        found = f"{weights.size} numbers from {weights.min():g} to {weights.max():g}"
        raise ValueError(f"sample_weight holds {found}; accepted: {e.size} positive ones")
    n = e.size if weights is None else float(weights.sum())

    def weighted(values: np.ndarray) -> np.ndarray:
        return values if weights is None else weights * values

    density, slopes = kernels.sums(weights)
    unit = math.log(n * bandwidth) + 0.5 * math.log(2 * math.pi)  # ln(sum of kernels / density)
    if entropy == "renyi":
        total = weighted(density).sum()
        return unit - math.log(total / n), -2 / total * weighted(slopes)
    _, slopes_of_others = kernels.sums(weighted(1 / density))
    gradient = weighted(slopes / density + slopes_of_others) / -n
    return unit - float(weighted(np.log(density)).sum()) / n, gradient


class _PairedKernels:
    """Sums of kernels over all pairs."""

    def __init__(self, e: np.ndarray, bandwidth: float):
        self._e, self._bandwidth = e, bandwidth

    def sums(self, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """The weighted sum of exp(-x²/2) at each error, and its slope there."""
        e = self._e
        weights = np.ones_like(e) if weights is None else weights
        totals, slopes = np.empty_like(e), np.empty_like(e)
        rows = max(1, BLOCK_PAIRS // e.size)
        for start in range(0, e.size, rows):
            block = slice(start, start + rows)
            with np.errstate(over="ignore"):
                apart = np.subtract.outer(e[block], e) / self._bandwidth
            np.clip(apart, -FARTHEST, FARTHEST, out=apart)
            kernel = np.exp(-0.5 * apart * apart)
            totals[block] = kernel @ weights
            kernel *= apart
            slopes[block] = kernel @ weights / -self._bandwidth
        return totals, slopes


class _BinnedKernels:
    """The same sums on a grid, with lengths in units of the bandwidth."""

    def __init__(self, e: np.ndarray, bandwidth: float):
        places = _places(e, bandwidth)
        step = 1 / STEPS_PER_WIDTH
        n = fft.next_fast_len(math.ceil((places.max() + REACH) / step) + ORDER, real=True)
        self._shares = SplineShares(places[:, np.newaxis], np.zeros(1), np.array([step]), (n,))
        frequencies = 2 * np.pi * np.fft.rfftfreq(n, step)
        # Spectrum of the kernel on the grid, divided by the blur of spreading and of interpolating.
        gaussian = math.sqrt(2 * math.pi) / step * np.exp(-0.5 * frequencies**2)
        self._kernel = gaussian / blur(frequencies, step) ** 2
        self._bandwidth = bandwidth

    def sums(self, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """The weighted sum of exp(-x²/2) at each error, and its slope there."""
        spectrum = fft.rfft(self._shares.spread(weights)) * self._kernel
        field = fft.irfft(spectrum, self._shares.shape[0])
        return self._shares.values(field), self._shares.slopes(field)[:, 0] / self._bandwidth


def _places(e: np.ndarray, bandwidth: float) -> np.ndarray:
    """The errors minus the smallest one, in bandwidths, with gaps cut to `REACH` if the grid would be long.

    Cutting a gap wider than the reach of the kernels changes no sum.
    """
    with np.errstate(over="ignore"):
        places = (e - e.min()) / bandwidth
        if places.max() * STEPS_PER_WIDTH <= ROOMY * e.size:
            return places
        order = np.argsort(e)
        gaps = np.minimum(np.diff(e[order]) / bandwidth, REACH)
    places[order] = np.concatenate([[0.0], np.cumsum(gaps)])
    return places
