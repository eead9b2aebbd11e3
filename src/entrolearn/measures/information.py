"""Entropies and divergences of discrete distributions.

For distributions p and q of a variable, and P of a pair (T, Y), T along the rows and Y along the columns::

    H(p)      = -sum p log p                 H(T, Y)  = H(P)
    H(p; q)   = -sum p log q                 H(T | Y) = H(T, Y) - H(Y)
    KL(p, q)  =  sum p log (p / q)           I(T, Y)  = KL(P, product of the marginals)

All are in nats, or in bits with ``base=2``. Conditional entropy and mutual information are computed as
sums over the table, because differences of entropies would leave rounding errors where the value is exactly
zero.
"""

import math
from collections.abc import Collection
from numbers import Real

import numpy as np
from scipy.special import entr, logsumexp, rel_entr, xlogy

__all__ = [
    "check_choice",
    "conditional_entropy",
    "cross_entropy",
    "entropy",
    "havrda_charvat_entropy",
    "joint_entropy",
    "kl_divergence",
    "mutual_information",
    "not_negative",
    "renyi_entropy",
    "nats_per_unit",
]

#: Distance of the order from 1 below which Rényi's entropy is computed from the power sum minus 1.
NEAR_ONE = 0.25


def entropy(p, *, base: float = math.e) -> float | np.ndarray:
    r"""Shannon's entropy, :math:`H(p) = -\sum_i p_i \log p_i`.

    Parameters
    ----------
    p : array-like of shape (..., n_values)
        Probabilities, which add up to one along the last axis up to rounding errors.
    base : {2, e}, default=e
        Base of the logarithm: :data:`math.e` for nats, 2 for bits.

    Returns
    -------
    float or ndarray of shape (...)
        Between 0, if one value is certain, and the logarithm of the number of values, if all are equally
        likely.

    Raises
    ------
    ValueError
        If `p` is not a distribution, or `base` is neither 2 nor e.

    See Also
    --------
    entropy_from_counts : Estimate from counts of the values, with optional bias correction.
    gaussian_entropy, kde_entropy, knn_entropy : Entropy of continuous variables.

    References
    ----------
    .. [1] C. E. Shannon (1948). A mathematical theory of communication. Bell System Technical Journal 27.
    .. [2] Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning,
       section "Entropy Functions". It calls the upper bound "maximum certainty"; uncertainty is meant.

    Examples
    --------
    >>> from entrolearn.measures import entropy
    >>> entropy([0.5, 0.25, 0.25], base=2)
    1.5
    >>> entropy([[0.5, 0.5], [0.0, 1.0]], base=2)
    array([1., 0.])
    """
    unit = nats_per_unit(base)
    return _plain(entr(_distribution(p, "p")).sum(axis=-1) / unit)


def joint_entropy(P, *, base: float = math.e) -> float:
    r"""Entropy of a pair, :math:`H(T, Y) = -\sum_{t, y} p(t, y) \log p(t, y)`.

    Parameters
    ----------
    P : array-like of shape (n_rows, n_columns)
        Joint probabilities of T along the rows and Y along the columns, which add up to one.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        At least the entropy of each variable, at most the sum of both.

    Raises
    ------
    ValueError
        If `P` is not a joint distribution of two variables, or `base` is neither 2 nor e.

    References
    ----------
    Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning, table of
    entropy functions.

    Examples
    --------
    >>> from entrolearn.measures import joint_entropy
    >>> joint_entropy([[0.25, 0.25], [0.25, 0.25]], base=2)
    2.0
    """
    unit = nats_per_unit(base)
    return float(entr(_joint(P)).sum() / unit)


def mutual_information(P, *, base: float = math.e) -> float:
    r"""Mutual information, :math:`I(T, Y) = \sum_{t, y} p(t, y) \log \frac{p(t, y)}{p(t) p(y)}`.

    Parameters
    ----------
    P : array-like of shape (n_rows, n_columns)
        Joint probabilities, which add up to one.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        Between 0, if the variables are independent, and the smaller of their entropies, if one of them
        determines the other.

    Raises
    ------
    ValueError
        If `P` is not a joint distribution of two variables, or `base` is neither 2 nor e.

    See Also
    --------
    mutual_information_from_counts : Estimate from a contingency table.
    sklearn.feature_selection.mutual_info_regression, sklearn.feature_selection.mutual_info_classif : By
        nearest neighbours, between continuous features and a continuous target or a class.

    Notes
    -----
    The table of [1]_ has a minus sign before the sum, which would make the mutual information negative.

    References
    ----------
    .. [1] Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning,
       table of entropy functions, corrected.

    Examples
    --------
    >>> from entrolearn.measures import mutual_information
    >>> mutual_information([[0.5, 0.0], [0.0, 0.5]], base=2)
    1.0
    """
    unit = nats_per_unit(base)
    P = _joint(P)
    rows = P.sum(axis=1, keepdims=True)
    # From conditional probabilities, because the product of two small marginals would underflow.
    of_rows = np.divide(P, rows, out=np.zeros_like(P), where=rows > 0)
    return max(0.0, float((rows * rel_entr(of_rows, P.sum(axis=0))).sum() / unit))


def conditional_entropy(P, *, given: str, base: float = math.e) -> float:
    r"""Conditional entropy: the uncertainty of one variable if the other is known.

    .. math:: H(T \mid Y) = -\sum_{t, y} p(t, y) \log p(t \mid y)

    Parameters
    ----------
    P : array-like of shape (n_rows, n_columns)
        Joint probabilities of T along the rows and Y along the columns, which add up to one.
    given : {"rows", "columns"}
        The variable that is known: "columns" is H(T | Y), "rows" is H(Y | T).
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        Between 0, if the known variable determines the other, and the entropy of the other, if the two are
        independent.

    Raises
    ------
    ValueError
        If `P` is not a joint distribution of two variables, or `given` or `base` is not accepted.

    References
    ----------
    Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning, table of
    entropy functions.

    Examples
    --------
    The row determines the column, but the column says nothing about the row:

    >>> from entrolearn.measures import conditional_entropy
    >>> P = [[0.5, 0.0], [0.5, 0.0]]
    >>> conditional_entropy(P, given="columns", base=2), conditional_entropy(P, given="rows", base=2)
    (1.0, 0.0)
    """
    unit = nats_per_unit(base)
    check_choice("given", given, ("rows", "columns"))
    P = _joint(P)
    known = P.sum(axis=0 if given == "columns" else 1, keepdims=True)
    return float(abs(rel_entr(P, np.broadcast_to(known, P.shape))).sum() / unit)


def cross_entropy(p, q, *, base: float = math.e) -> float | np.ndarray:
    r"""Cross entropy, :math:`H(p; q) = -\sum_i p_i \log q_i`: mean code length of p in an optimal code for q.

    Parameters
    ----------
    p, q : array-like of shape (..., n_values)
        Probabilities of the same values, which add up to one along the last axis.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float or ndarray of shape (...)
        At least the entropy of p, with equality if and only if q = p; inf if q is zero where p is positive.

    Raises
    ------
    ValueError
        If `p` or `q` is not a distribution, they differ in shape, or `base` is neither 2 nor e.

    References
    ----------
    Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning, table of
    entropy functions.

    Examples
    --------
    >>> from entrolearn.measures import cross_entropy
    >>> cross_entropy([0.5, 0.5], [0.25, 0.75]) > cross_entropy([0.5, 0.5], [0.5, 0.5])
    True
    >>> cross_entropy([0.5, 0.5], [1.0, 0.0]), cross_entropy([1.0, 0.0], [0.5, 0.5], base=2)
    (inf, 1.0)
    """
    unit = nats_per_unit(base)
    p, q = _pair(p, q)
    return _plain(abs(xlogy(p, q)).sum(axis=-1) / unit)


def kl_divergence(p, q, *, base: float = math.e) -> float | np.ndarray:
    r"""Kullback–Leibler divergence, :math:`\mathrm{KL}(p, q) = \sum_i p_i \log \frac{p_i}{q_i}`.

    Parameters
    ----------
    p, q : array-like of shape (..., n_values)
        Probabilities of the same values, which add up to one along the last axis.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float or ndarray of shape (...)
        At least 0, and 0 if and only if the distributions are equal; inf if q is zero where p is positive.
        Not symmetric in p and q.

    Raises
    ------
    ValueError
        If `p` or `q` is not a distribution, they differ in shape, or `base` is neither 2 nor e.

    References
    ----------
    Dimitriadis and Kofterou, Information Theory's Relation and Application to Machine Learning, table of
    entropy functions.

    Examples
    --------
    >>> from entrolearn.measures import kl_divergence
    >>> kl_divergence([0.5, 0.5, 0.0], [0.25, 0.25, 0.5], base=2)
    1.0
    >>> kl_divergence([0.25, 0.25, 0.5], [0.5, 0.5, 0.0])
    inf
    """
    unit = nats_per_unit(base)
    p, q = _pair(p, q)
    return _plain(np.maximum(rel_entr(p, q).sum(axis=-1) / unit, 0.0))


def renyi_entropy(p, order: float, *, base: float = math.e) -> float | np.ndarray:
    r"""Rényi's entropy, :math:`H_\alpha(p) = \frac{1}{1 - \alpha} \log \sum_i p_i^\alpha`.

    Parameters
    ----------
    p : array-like of shape (..., n_values)
        Probabilities, which add up to one along the last axis.
    order : float
        α, from 0 to inf. Order 0 is the logarithm of the number of values that occur, order 1
        Shannon's entropy, order 2 the quadratic entropy, order inf minus the logarithm of the largest
        probability.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float or ndarray of shape (...)
        At most the logarithm of the number of values; non-increasing in `order`.

    Raises
    ------
    ValueError
        If `p` is not a distribution, or another argument is out of its range.

    See Also
    --------
    quadratic_entropy_kde : Entropy of order 2 of a density on the line.

    References
    ----------
    A. Rényi (1961). On measures of entropy and information. Fourth Berkeley Symposium.

    Examples
    --------
    >>> from entrolearn.measures import renyi_entropy
    >>> renyi_entropy([0.5, 0.25, 0.25], 1, base=2), renyi_entropy([0.5, 0.25, 0.25], math.inf, base=2)
    (1.5, 1.0)
    """
    unit = nats_per_unit(base)
    _check_order(order, infinite=True)
    p = _distribution(p, "p")
    if order == 1:
        return entropy(p, base=base)
    if order == math.inf:
        return _plain(abs(np.log(p.max(axis=-1))) / unit)
    if abs(order - 1) < NEAR_ONE:
        log_sum = np.log1p(_power_sum_less_one(p, order))
    else:
        log_sum = logsumexp(order * _log(p), b=p > 0, axis=-1)
    return _plain(np.maximum(log_sum / ((1 - order) * unit), 0.0))


def havrda_charvat_entropy(p, order: float, *, base: float = math.e) -> float | np.ndarray:
    r"""Structural entropy of order α of Havrda and Charvát.

    .. math:: H^\alpha(p) = \frac{\sum_i p_i^\alpha - 1}{b^{1 - \alpha} - 1}

    Parameters
    ----------
    p : array-like of shape (..., n_values)
        Probabilities, which add up to one along the last axis.
    order : float
        α, at least 0. Order 1 is Shannon's entropy, order 2 with base 2 twice the Gini impurity.
    base : {2, e}, default=e
        b. With b = 2 a fair coin has entropy 1 for every order.

    Returns
    -------
    float or ndarray of shape (...)
        At least 0.

    Raises
    ------
    ValueError
        If `p` is not a distribution, or another argument is out of its range.

    Notes
    -----
    Tsallis' entropy divides the same numerator by ``1 - order``. Unlike Rényi's entropy, neither is additive
    over independent variables.

    References
    ----------
    .. [1] J. Havrda and F. Charvát (1967). Quantification method of classification processes. Kybernetika 3.
    .. [2] H. Li, K. Zhang and T. Jiang (2004). Minimum entropy clustering and applications to gene expression
       analysis. CSB.

    Examples
    --------
    >>> from entrolearn.measures import havrda_charvat_entropy
    >>> havrda_charvat_entropy([0.5, 0.5], 3.0, base=2)
    1.0
    """
    unit = nats_per_unit(base)
    _check_order(order, infinite=False)
    p = _distribution(p, "p")
    if order == 1:
        return entropy(p, base=base)
    return _plain(np.maximum(_power_sum_less_one(p, order) / math.expm1((1 - order) * unit), 0.0))


def _power_sum_less_one(p: np.ndarray, order: float) -> np.ndarray:
    """Sum of p^order over the values that occur, minus one, in full precision near order 1."""
    return (p * np.expm1((order - 1) * _log(p))).sum(axis=-1)


def _log(p: np.ndarray) -> np.ndarray:
    """Natural logarithm; 0 where p is 0."""
    return np.log(p, out=np.zeros_like(p), where=p > 0)


def _plain(value: np.ndarray) -> float | np.ndarray:
    """A float for a single distribution, else the array."""
    return float(value) if np.ndim(value) == 0 else value


def check_choice(name: str, value, accepted: Collection) -> None:
    """ValueError unless the value is one of those accepted."""
    if value not in accepted:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, accepted))}")


def nats_per_unit(base: float) -> float:
    """Nats per unit of information: ln 2 for bits, 1 for nats."""
    if base not in (2, math.e):
        raise ValueError(f"base is {base!r}; it must be 2 or math.e")
    return math.log(base)


def _check_order(order: float, *, infinite: bool) -> None:
    if not (isinstance(order, Real) and order >= 0 and (infinite or order < math.inf)):
        raise ValueError(
            f"order is {order!r}; it must be a {'' if infinite else 'finite '}number of at least 0"
        )


def _joint(P) -> np.ndarray:
    P = np.asarray(P)
    if P.ndim != 2:
        raise ValueError(f"P has shape {P.shape}; it must be a table of two variables' joint probabilities")
    return _distribution(P.reshape(1, -1), "P").reshape(P.shape)


def _pair(p, q) -> tuple[np.ndarray, np.ndarray]:
    p, q = _distribution(p, "p"), _distribution(q, "q")
    if p.shape != q.shape:
        raise ValueError(f"p has shape {p.shape} and q {q.shape}; they must be of the same values")
    return p, q


def _distribution(p, name: str) -> np.ndarray:
    """Validated probabilities as float64, normalised to add up to one along the last axis."""
    p = np.asarray(p)
    # In the precision of the input. The square root allows for the accumulated rounding errors of long sums.
    tolerance = math.sqrt(np.finfo(p.dtype if p.dtype.kind == "f" else np.float64).eps)
    p = not_negative(p, name, "probabilities")
    if p.ndim == 0 or p.shape[-1] == 0:
        raise ValueError(f"{name} has shape {p.shape}; it must hold at least one probability")
    total = p.sum(axis=-1, keepdims=True)
    if not (abs(total - 1) <= tolerance).all():
        furthest = total.flat[abs(total - 1).argmax()]
        raise ValueError(f"{name} adds up to {furthest:.10g}; probabilities must add up to 1")
    return p / total


def not_negative(values: np.ndarray, name: str, what: str) -> np.ndarray:
    """Values as float64; ValueError if one is negative, NaN or infinite."""
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds NaN or infinite values; {what} must be finite")
    if (values < 0).any():
        raise ValueError(f"{name} holds {values.min():g}; {what} must not be negative")
    return values
