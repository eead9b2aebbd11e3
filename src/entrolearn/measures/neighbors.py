"""Mutual information by nearest neighbours: for continuous variables, classes and mixed variables.

All estimators use the maximum norm on columns scaled to variance 1. In the subspace of each variable they
count the rows within each row's distance to its k-th neighbour, and average the digamma function of these
counts. Estimates are in nats and not clipped at 0: for independent variables their mean is 0.
"""

from functools import lru_cache

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import digamma
from sklearn.neighbors import KDTree
from sklearn.utils import assert_all_finite, column_or_1d

from entrolearn.measures.reliability import (
    LABELS,
    check_integer,
    codes,
    columns,
    read_variables,
    same_rows,
    standardised,
    warn_few_rows,
    warn_many_columns,
    warn_near_limit,
    warn_ties,
    warn_unreliable,
)

__all__ = ["knn_mutual_information", "mixed_mutual_information", "ross_mutual_information"]

VARIANTS = ("ksg1", "ksg2", "local")

#: Rows in a leaf of a tree. Measured: 10 to 40 take the same time.
LEAF_SIZE = 20

#: Rows up to which computing all distances is faster than a tree. Measured: a tenth of the time with 30 rows,
#: half of it with 150.
FEW_ROWS = 128

#: A row is corrected if the ratio of its boxes is this improbable for uniform points.
CHANCE_OF_SMALLER_BOX = 0.005


def knn_mutual_information(X, Y, *, given=None, n_neighbors: int = 3, variant: str = "ksg1") -> float:
    r"""Mutual information of continuous variables by nearest neighbours.

    The estimator of Kraskov, Stögbauer and Grassberger [1]_ is

    .. math:: I(X; Y) = \psi(k) + \psi(n) - \langle \psi(n_x + 1) + \psi(n_y + 1) \rangle,

    where :math:`n_x` and :math:`n_y` are the numbers of rows closer in X and in Y than the k-th neighbour in
    the joint space. Given Z, the estimator of Frenzel and Pompe [2]_ is

    .. math:: I(X; Y \mid Z) = \psi(k) - \langle \psi(n_{xz} + 1) + \psi(n_{yz} + 1) - \psi(n_z + 1) \rangle.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features_x)
        Continuous.
    Y : array-like, shape (n_samples,) or (n_samples, n_features_y)
        Continuous, observed together with X.
    given : array-like, shape (n_samples,) or (n_samples, n_features_z), optional
        Z, the conditioning variables, for a conditional mutual information.
    n_neighbors : int, default=3
        k. A larger k reduces the variance and increases the bias.
    variant : {"ksg1", "ksg2", "local"}, default="ksg1"
        "ksg1" is the formula above. "ksg2", the second estimator of [1]_, uses the neighbours' extents in X
        and in Y separately, with less bias and more variance. "local", of Gao, Ver Steeg and Galstyan [3]_,
        corrects "ksg1" for a density that is not uniform in a row's neighbourhood. It is meant for dependence
        so strong that the rows lie close to a surface, and needs more neighbours than columns. The last two
        do not accept `given`.

    Returns
    -------
    float
        In nats; may be below 0. "ksg1" is at most :math:`\psi(n) - \psi(k)`.

    Raises
    ------
    ValueError
        If the variables differ in their number of rows or are not finite, or an argument is not accepted.

    Warns
    -----
    UnreliableEstimateWarning
        If rows are repeated, there are few rows or many columns, or the estimate is close to its upper limit.

    See Also
    --------
    mixed_mutual_information : Estimator for variables with repeated values.
    ross_mutual_information : Estimator for continuous variables and a class.
    sklearn.feature_selection.mutual_info_regression : "ksg1" of one feature and one target, clipped at 0.

    Notes
    -----
    The estimate depends neither on the origins and units of the columns, as each column is scaled to variance
    1, nor on the order of the rows. Takes O(n log n) time in few dimensions.

    References
    ----------
    .. [1] A. Kraskov, H. Stögbauer and P. Grassberger (2004). Estimating mutual information. Physical Review
       E 69.
    .. [2] S. Frenzel and B. Pompe (2007). Partial mutual information for coupling analysis of multivariate
       time series. Physical Review Letters 99.
    .. [3] S. Gao, G. Ver Steeg and A. Galstyan (2015). Efficient estimation of mutual information for
       strongly dependent variables. AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn.measures import knn_mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=2000)
    >>> y = 0.6 * x + 0.8 * rng.normal(size=2000)
    >>> bool(abs(knn_mutual_information(x, y) + 0.5 * np.log(1 - 0.6**2)) < 0.05)
    True
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant is {variant!r}; it must be one of {', '.join(map(repr, VARIANTS))}")
    if given is not None and variant != "ksg1":
        raise ValueError(f"variant is {variant!r}; only 'ksg1' accepts `given`")
    check_integer(n_neighbors, "n_neighbors", 1)
    variables = read_variables(columns, n_neighbors + 1, X=X, Y=Y, given=given)
    X, Y, *Z = map(standardised, variables.values())
    joint = np.hstack([X, Y, *Z])
    n_samples, n_columns = joint.shape
    if variant == "local" and n_neighbors <= n_columns:
        raise ValueError(
            f"n_neighbors is {n_neighbors}; variant 'local' needs more neighbours than columns ({n_columns})"
        )
    warn_few_rows(n_samples, n_columns)
    warn_many_columns(n_columns)
    warn_ties(variables, "ties bias nearest neighbours; use mixed_mutual_information")
    distance, neighbour = KDTree(joint, leaf_size=LEAF_SIZE, metric="chebyshev").query(joint, n_neighbors + 1)
    if variant == "ksg2":
        estimate = _by_extents(X, Y, neighbour, n_neighbors)
    else:
        estimate = digamma(n_neighbors) - np.mean(_of_closer(X, Y, Z, distance[:, -1]))
        if variant == "local":
            return float(estimate + _nonuniformity(joint, neighbour))
    if not Z:
        warn_near_limit(estimate, digamma(n_samples) - digamma(n_neighbors), n_samples)
    return float(estimate)


def mixed_mutual_information(X, Y, *, given=None, n_neighbors: int = 3) -> float:
    r"""Mutual information of variables that are continuous, discrete, or a mixture of both.

    The estimator of Gao, Kannan, Oh and Viswanath [1]_; given Z that of Mesner and Shalizi [2]_. If a row
    equals its k-th neighbour, all rows equal to it are its neighbours. Other rows contribute as in
    :func:`knn_mutual_information`, which gives the same value if no row is repeated.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features_x)
        Numbers or labels. Rows with different labels are never neighbours; a row whose labels no other row
        has is left out.
    Y : array-like, shape (n_samples,) or (n_samples, n_features_y)
        Numbers or labels, observed together with X.
    given : array-like, shape (n_samples,) or (n_samples, n_features_z), optional
        Z, the conditioning variables, for a conditional mutual information.
    n_neighbors : int, default=3
        k.

    Returns
    -------
    float
        In nats; may be below 0.

    Raises
    ------
    ValueError
        If the variables differ in their number of rows, are not finite or cannot be sorted, no two rows have
        equal labels, or `n_neighbors` is not accepted.

    Warns
    -----
    UnreliableEstimateWarning
        If there are few rows or many columns, or the estimate is close to its upper limit.

    Notes
    -----
    The term log(n) of [1]_ is replaced by digamma(n), which agrees with :func:`knn_mutual_information` for
    data without repeated values. Labels are arrays of strings, objects or booleans. A table with strings in
    one column is an array of objects, so all its columns are labels.

    References
    ----------
    .. [1] W. Gao, S. Kannan, S. Oh and P. Viswanath (2017). Estimating mutual information for
       discrete-continuous mixtures. NeurIPS.
    .. [2] O. C. Mesner and C. R. Shalizi (2020). Conditional mutual information estimation for mixed,
       discrete and continuous data. IEEE Transactions on Information Theory 67.

    Examples
    --------
    A measurement that is missing with probability 1/2 and then recorded as 0:

    >>> import numpy as np
    >>> from entrolearn.measures import mixed_mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 2, size=2000)
    >>> y = np.where(x == 0, 0.0, rng.normal(size=2000))
    >>> bool(abs(mixed_mutual_information(x, y) - np.log(2)) < 0.02)
    True
    """
    check_integer(n_neighbors, "n_neighbors", 1)
    variables = read_variables(_numbers_or_labels, n_neighbors + 1, X=X, Y=Y, given=given)
    X, Y, *Z = (_apart(each) if each.dtype.kind == "i" else standardised(each) for each in variables.values())
    joint = np.hstack([X, Y, *Z])
    n_samples, n_columns = joint.shape
    warn_few_rows(n_samples, n_columns)
    warn_many_columns(n_columns)
    tree = _tree(joint)
    nearest = tree.query(joint, n_neighbors + 1)[0]
    alike = nearest < _label_gap(n_samples)  # equal in all labels; the first is the row itself
    k = alike.sum(axis=1) - 1
    distance = nearest[np.arange(n_samples), k]
    kept = k > 0
    equal = kept & (distance == 0)
    if equal.any():
        k[equal] = tree.query_radius(joint[equal], 0.0, count_only=True)
    if not kept.any():
        raise ValueError("no two rows have equal labels (strings, objects or booleans)")
    estimate = np.mean(digamma(k[kept]) - _of_closer(X, Y, Z, distance)[kept])
    if not Z:
        warn_near_limit(estimate, digamma(n_samples) - digamma(n_neighbors), n_samples)
    return float(estimate)


def ross_mutual_information(X, y, *, n_neighbors: int = 3) -> float:
    r"""Mutual information of continuous variables and a class, by Ross's nearest-neighbour estimator.

    .. math:: I(X; y) = \psi(n) + \langle \psi(k) - \psi(n_c) - \psi(m) \rangle

    where :math:`n_c` is the number of rows of a row's class and m the number of rows, including itself, that
    are closer to it than its k-th neighbour in that class.

    Parameters
    ----------
    X : array-like, shape (n_samples,) or (n_samples, n_features)
        Continuous.
    y : array-like, shape (n_samples,)
        Classes. A row that is the only one of its class is left out.
    n_neighbors : int, default=3
        k. In a class of at most k rows, the number of its other rows.

    Returns
    -------
    float
        In nats; may be below 0.

    Raises
    ------
    ValueError
        If the variables differ in their number of rows or are not finite, no class has two rows, or
        `n_neighbors` is not accepted.

    Warns
    -----
    UnreliableEstimateWarning
        If rows are repeated, there are few rows or many columns, or a class has at most `n_neighbors` rows.

    See Also
    --------
    sklearn.feature_selection.mutual_info_classif : Estimate for one feature at a time, clipped at 0.

    References
    ----------
    B. C. Ross (2014). Mutual information between discrete and continuous data sets. PLoS ONE 9.

    Examples
    --------
    For two equally likely classes that do not overlap, the mutual information is ln 2:

    >>> import numpy as np
    >>> from entrolearn.measures import ross_mutual_information
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, size=1000)
    >>> bool(abs(ross_mutual_information(rng.normal(size=1000) + 10 * y, y) - np.log(2)) < 0.01)
    True
    """
    check_integer(n_neighbors, "n_neighbors", 1)
    X, y = columns(X, "X"), column_or_1d(y)
    n_samples = same_rows({"X": X, "y": y}, least=2)
    assert_all_finite(y, input_name="y")
    y = codes(y, "y")
    sizes = np.bincount(y)
    if sizes.max() < 2:
        raise ValueError(f"y has {len(sizes)} classes of one row each; at least one class must have two rows")
    if sizes.min() <= n_neighbors:
        small = int(np.sum(sizes <= n_neighbors))
        warn_unreliable(f"{small} classes of y have at most n_neighbors={n_neighbors} rows")
    kept = sizes[y] > 1
    X, y = standardised(X[kept]), y[kept]
    warn_few_rows(n_samples, X.shape[1] + 1)
    warn_many_columns(X.shape[1] + 1)
    warn_ties({"X": X}, "ties bias nearest neighbours; use mixed_mutual_information")
    size = sizes[y]
    k = np.minimum(n_neighbors, size - 1)
    distance = np.empty(len(X))
    for code in np.flatnonzero(sizes > 1):
        rows = np.flatnonzero(y == code)
        distance[rows] = _tree(X[rows]).query(X[rows], k[rows[0]] + 1)[0][:, -1]
    return float(digamma(len(X)) + np.mean(digamma(k) - digamma(size) - digamma(_closer(X, distance))))


def _by_extents(X: np.ndarray, Y: np.ndarray, neighbour: np.ndarray, k: int) -> float:
    """The estimate by the second estimator of Kraskov, Stögbauer and Grassberger."""
    within = 0.0
    for variable in (X, Y):
        extent = np.abs(variable[neighbour] - variable[:, np.newaxis]).max(axis=(1, 2))
        tree = KDTree(variable, leaf_size=LEAF_SIZE, metric="chebyshev")
        within += digamma(tree.query_radius(variable, extent, count_only=True) - 1)
    return digamma(k) - 1 / k + digamma(len(X)) - np.mean(within)


def _nonuniformity(joint: np.ndarray, neighbour: np.ndarray) -> float:
    """The local correction: mean log ratio of the volumes of the neighbours' axis-parallel and PCA boxes."""
    n_samples, n_columns = joint.shape
    k = neighbour.shape[1] - 1
    total = 0.0
    rows = max(1, 2**18 // (k * n_columns))
    for start in range(0, n_samples, rows):
        block = slice(start, start + rows)
        apart = joint[neighbour[block, 1:]] - joint[block, np.newaxis]
        saved = _log_ratio_of_boxes(apart)
        total += saved[saved > _usual_log_ratio(k, n_columns)].sum()
    return total / n_samples


def _log_ratio_of_boxes(apart: np.ndarray) -> np.ndarray:
    """Log ratio of the volumes of a box along the axes and one along the principal axes, shape (n,).

    The boxes are the smallest ones centred at the origin that contain the points, shape (n, k, d).
    """
    _, axes = np.linalg.eigh(apart.transpose(0, 2, 1) @ apart)
    with np.errstate(divide="ignore", invalid="ignore"):
        along, turned = (np.log(np.abs(each).max(axis=1)).sum(axis=1) for each in (apart, apart @ axes))
        return np.where(np.isfinite(along) & np.isfinite(turned), along - turned, 0.0)


@lru_cache(maxsize=64)
def _usual_log_ratio(k: int, d: int) -> float:
    """The quantile of the log ratio for k uniform points above which rows are corrected."""
    uniform = np.random.default_rng(0).uniform(-1, 1, size=(4000, k, d))
    return float(np.quantile(_log_ratio_of_boxes(uniform), 1 - CHANCE_OF_SMALLER_BOX))


def _of_closer(X: np.ndarray, Y: np.ndarray, Z: list[np.ndarray], distance: np.ndarray) -> np.ndarray:
    """ψ(n_xz + 1) + ψ(n_yz + 1) − ψ(n_z + 1) of each row; without Z, n_z + 1 is the number of rows."""
    in_xz, in_yz = (digamma(_closer(np.hstack([each, *Z]), distance)) for each in (X, Y))
    return in_xz + in_yz - digamma(_closer(*Z, distance) if Z else len(X))


def _closer(X: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Number of rows, including itself, closer to each row than its distance (for distance 0: equal rows)."""
    return _tree(X).query_radius(X, np.nextafter(distance, 0), count_only=True)


class _Pairs:
    """Replacement of a KDTree for few rows, which computes all distances. Results are bitwise equal."""

    def __init__(self, X: np.ndarray):
        self._X = X

    def query(self, Z: np.ndarray, k: int) -> tuple[np.ndarray]:
        """Distances to the k nearest rows, in ascending order."""
        return (np.sort(cdist(Z, self._X, "chebyshev"), axis=1)[:, :k],)

    def query_radius(self, Z: np.ndarray, radius: np.ndarray | float, *, count_only: bool) -> np.ndarray:
        """Number of rows within the radius of each row of Z."""
        return np.count_nonzero(cdist(Z, self._X, "chebyshev") <= np.reshape(radius, (-1, 1)), axis=1)


def _tree(X: np.ndarray) -> KDTree | _Pairs:
    return KDTree(X, leaf_size=LEAF_SIZE, metric="chebyshev") if len(X) > FEW_ROWS else _Pairs(X)


def _numbers_or_labels(X, name: str) -> np.ndarray:
    """Columns of float64 numbers, or of integer codes if X holds labels."""
    array = np.asarray(X)
    if array.dtype.kind not in LABELS or array.ndim not in (1, 2):
        return columns(X, name)
    array = array[:, np.newaxis] if array.ndim == 1 else array
    return np.column_stack([codes(column, name) for column in array.T])


def _apart(labels: np.ndarray) -> np.ndarray:
    """Codes as numbers so far apart that rows with different codes are further apart than any equal ones."""
    return labels * (2.0 * _label_gap(len(labels)))


def _label_gap(n_samples: int) -> float:
    """Upper bound of the difference of two rows of a column of variance 1."""
    return 2.0 * np.sqrt(n_samples)
