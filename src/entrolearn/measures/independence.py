"""Confidence intervals of mutual information by subsampling, and permutation tests of independence."""

import warnings
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.stats import t as student
from sklearn.utils import check_random_state

from entrolearn.measures.counts import codes_of_rows
from entrolearn.measures.estimators import mutual_information_estimator
from entrolearn.measures.reliability import (
    LABELS,
    UnreliableEstimateWarning,
    check_integer,
    columns,
    read_variables,
    share_of_ties,
    standardised,
    warn_unreliable,
)

__all__ = [
    "IndependenceTest",
    "MutualInformationInterval",
    "independence_test",
    "local_blocks",
    "mutual_information_interval",
    "permuted_within",
]

#: Numbers of parts into which the rows are divided for an interval.
PARTS = range(2, 11)

#: Degrees of freedom of Student's t. All divisions together have 45, but they overlap: the measured variance
#: of B is that for 30. With 16, intervals of 95 % contain the estimator's mean for 88 to 98 % of the samples.
FREEDOM = 16

#: Fewest rows in a part.
LEAST_ROWS = 10


@dataclass(frozen=True)
class MutualInformationInterval:
    """An estimate of mutual information with its confidence interval.

    Attributes
    ----------
    estimate : float
        Estimate from all rows.
    standard_error : float
        Standard deviation of the estimate over samples of this size.
    low : float
        Lower end of the interval around the estimate.
    high : float
        Upper end of the interval.
    drift : float
        The estimate minus the mean estimate from two halves of the rows. A large drift indicates bias, which
        the interval does not include.
    """

    estimate: float
    standard_error: float
    low: float
    high: float
    drift: float


def mutual_information_interval(
    X, Y, *, given=None, method: str = "auto", confidence: float = 0.95, random_state=None, **options
) -> MutualInformationInterval:
    r"""Confidence interval of a mutual information by subsampling.

    The rows are divided at random into 2, 3, …, 10 parts. The variance of the estimates from the parts is
    extrapolated to that of the estimate from all n rows by :math:`\sigma^2 = B / n` [1]_.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features_x)
        Numbers or labels.
    Y : array-like, shape (n_samples,) or (n_samples, n_features_y)
        Numbers or labels, observed together with X.
    given : array-like, shape (n_samples,) or (n_samples, n_features_z), optional
        The conditioning variables, for a conditional mutual information.
    method : str, default="auto"
        Name of the estimator, see :func:`mutual_information_from_samples`.
    confidence : float, default=0.95
        Probability that the interval contains the estimator's mean.
    random_state : int, RandomState instance or None, default=None
        Seed of the divisions.
    **options : keyword arguments
        Parameters of the estimator, such as `n_neighbors` and `base`.

    Returns
    -------
    MutualInformationInterval
        Estimate, standard error, ends of the interval and drift.

    Raises
    ------
    ValueError
        If there are fewer than 100 rows, `confidence` is not between 0 and 1, or the estimator does not
        accept its input.

    Warns
    -----
    UnreliableEstimateWarning
        If the drift exceeds half the width of the interval, or the estimator warns about the whole sample.

    Notes
    -----
    The interval is for the estimator's mean and does not include its bias. A bootstrap would repeat rows,
    which biases nearest-neighbour estimates; subsampling does not. The cost is that of nine further estimates
    from samples of the same size.

    References
    ----------
    .. [1] C. M. Holmes and I. Nemenman (2019). Estimation of mutual information for real-valued data with
       error bars and controlled bias. Physical Review E 100.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.measures import mutual_information_interval
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=1000)
    >>> y = 0.6 * x + 0.8 * rng.normal(size=1000)
    >>> found = mutual_information_interval(x, y, random_state=0)
    >>> bool(found.low < -0.5 * np.log(1 - 0.6**2) < found.high)
    True
    """
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence!r}; it must be a number between 0 and 1")
    X, Y, given = _variables(X, Y, given, least=LEAST_ROWS * max(PARTS))
    estimator = mutual_information_estimator(X, Y, given=given, method=method)
    estimate = estimator(X, Y, given=given, **options)
    rng = check_random_state(random_state)
    scaled, halves = 0.0, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableEstimateWarning)  # expected, as the parts have few rows
        for n_parts in PARTS:
            found = [
                estimator(X[rows], Y[rows], given=None if given is None else given[rows], **options)
                for rows in np.array_split(rng.permutation(len(X)), n_parts)
            ]
            scaled += (n_parts - 1) * np.var(found, ddof=1) / n_parts
            halves = float(np.mean(found)) if n_parts == 2 else halves
    error = float(np.sqrt(scaled / sum(n_parts - 1 for n_parts in PARTS)))
    reach = float(student.ppf(0.5 + confidence / 2, FREEDOM)) * error
    drift = estimate - halves
    if abs(drift) > reach:
        warn_unreliable(
            f"the estimate is {estimate:.3g} from all rows and on average {halves:.3g} from halves of "
            "them: its bias exceeds its standard error"
        )
    return MutualInformationInterval(estimate, error, estimate - reach, estimate + reach, drift)


@dataclass(frozen=True)
class IndependenceTest:
    """The result of a permutation test of independence.

    Attributes
    ----------
    estimate : float
        The estimated mutual information.
    p_value : float
        Share of the permutations, including the observed order, whose estimate is at least as large as the
        observed one; at least 1 / (n_permutations + 1).
    null_distribution : ndarray, shape (n_permutations,)
        The estimates from permuted rows.
    """

    estimate: float
    p_value: float
    null_distribution: np.ndarray


def independence_test(
    X,
    Y,
    *,
    given=None,
    method: str = "auto",
    n_permutations: int = 199,
    n_local: int = 5,
    random_state=None,
    **options,
) -> IndependenceTest:
    r"""Permutation test of independence, or of conditional independence, based on mutual information.

    The p-value is :math:`(1 + \#\{I_b \ge I\}) / (1 + B)`, with the estimates :math:`I_b` from B random
    permutations. Given Z, rows are permuted only within blocks of rows that are close in Z.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features_x)
        Numbers or labels.
    Y : array-like, shape (n_samples,) or (n_samples, n_features_y)
        Numbers or labels, observed together with X.
    given : array-like, shape (n_samples,) or (n_samples, n_features_z), optional
        Z, the conditioning variables, for a test of conditional independence.
    method : str, default="auto"
        Name of the estimator, see :func:`mutual_information_from_samples`.
    n_permutations : int, default=199
        B, the number of permutations.
    n_local : int, default=5
        Number of rows in each block if `given` is continuous. If `given` holds labels, or most of its rows
        are repeated, a block consists of all rows with equal values.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations.
    **options : keyword arguments
        Parameters of the estimator, such as `n_neighbors` and `base`.

    Returns
    -------
    IndependenceTest
        Estimate, p-value and the estimates from permuted rows.

    Raises
    ------
    ValueError
        If an argument is not accepted, or the estimator does not accept its input.

    Notes
    -----
    Under the null hypothesis, without Z or with a discrete Z, all permutations within a block are equally
    likely and :math:`P(p \le \alpha) \le \alpha` for every α, for any estimator and any number of rows. With
    a continuous Z this holds approximately if the distribution of Y changes little within a block: if Y
    depends strongly on Z, use a small `n_local` or more rows.

    References
    ----------
    .. [1] I. Kim, M. Neykov, S. Balakrishnan and L. Wasserman (2022). Local permutation tests for conditional
       independence. Annals of Statistics 50.
    .. [2] J. Runge (2018). Conditional independence testing based on a nearest-neighbor estimator of
       conditional mutual information. AISTATS.

    Examples
    --------
    Two variables that depend on each other because both depend on a third one:

    >>> import numpy as np
    >>> from entrolearn.measures import independence_test
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=200)
    >>> x, y = z + rng.normal(size=(2, 200))
    >>> independence_test(x, y, random_state=0).p_value
    0.005
    >>> independence_test(x, y, given=z, random_state=0).p_value > 0.1
    True
    """
    check_integer(n_permutations, "n_permutations", 1)
    check_integer(n_local, "n_local", 2)
    X, Y, given = _variables(X, Y, given, least=2)
    estimator = mutual_information_estimator(X, Y, given=given, method=method)
    estimate = estimator(X, Y, given=given, **options)
    block = np.zeros(len(X), dtype=np.intp) if given is None else local_blocks(given, n_local)
    rng = check_random_state(random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableEstimateWarning)  # already issued for the observed order
        permuted = np.array(
            [
                estimator(X, Y[permuted_within(block, rng)], given=given, **options)
                for _ in range(n_permutations)
            ]
        )
    p_value = (1 + np.count_nonzero(permuted >= estimate)) / (1 + n_permutations)
    return IndependenceTest(estimate, float(p_value), permuted)


def local_blocks(Z: np.ndarray, n_local: int) -> np.ndarray:
    """Block number of each row. A block holds equal rows, or about `n_local` rows that are close."""
    if Z.dtype.kind in LABELS:
        return codes_of_rows(Z, "given")
    Z = columns(Z, "given")
    if share_of_ties(Z) > 0.5:
        return codes_of_rows(Z, "given")
    Z = standardised(Z)
    n_samples = len(Z)
    block = np.zeros(n_samples, dtype=np.intp)
    # Halve all blocks at the median of their widest column until they are small enough.
    for _ in range(int(np.log2(max(1.0, n_samples / n_local)))):
        order = np.argsort(block, kind="stable")
        first = np.flatnonzero(np.diff(block[order], prepend=-1))
        extent = np.maximum.reduceat(Z[order], first) - np.minimum.reduceat(Z[order], first)
        along = Z[np.arange(n_samples), extent.argmax(axis=1)[block]]
        order = np.lexsort((along, block))
        size = np.diff(first, append=n_samples)
        place = np.arange(n_samples) - np.repeat(first, size)
        upper = place >= np.repeat(size, size) // 2
        block[order] = 2 * block[order] + upper
        block = np.unique(block, return_inverse=True)[1]
    return block


def permuted_within(block: np.ndarray, rng) -> np.ndarray:
    """A random permutation of the rows within their blocks."""
    permutation = np.empty(len(block), dtype=np.intp)
    permutation[np.argsort(block, kind="stable")] = np.lexsort((rng.uniform(size=len(block)), block))
    return permutation


def _variables(X, Y, given, least: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    variables = read_variables(_array, least, X=X, Y=Y, given=given)
    return variables["X"], variables["Y"], variables.get("given")


def _array(variable, name: str) -> np.ndarray:
    variable = np.asarray(variable)
    if variable.ndim not in (1, 2):
        raise ValueError(f"{name} has shape {variable.shape}; it must be (n,) or (n, d)")
    return variable
