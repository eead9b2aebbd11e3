"""Mutual information by nearest neighbours: for continuous variables, classes and mixed variables.

All estimators use the maximum norm on columns scaled to variance 1. In the subspace of each variable they
count the rows within each row's distance to its k-th neighbour, and average the digamma function of these
counts. Estimates are not clipped at 0: for independent variables their mean is 0.

Rounding makes equal distances, such as those of equally spaced values, differ in their last digits. Distances
are therefore compared with a tolerance. Repeated rows are searched once.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import digamma
from sklearn.neighbors import KDTree
from sklearn.utils import assert_all_finite, column_or_1d

from entrolearn.measures.information import check_choice, nats_per_unit
from entrolearn.measures.reliability import (
    LABELS,
    check_integer,
    codes,
    columns,
    read_variables,
    same_rows,
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

#: Relative difference up to which distances are equal: far above rounding errors, and far below the
#: differences of distances of continuous variables.
CLOSE = 1e-12

#: Bound of the rounding error of a difference, relative to its numbers: these may be sums of products.
ROUNDING = 8 * np.finfo(float).eps

#: Least width of a box relative to its largest one: smaller ones may be rounding errors of points on a plane.
THINNEST = 1e-8

#: Rows whose neighbours are in memory at once.
BLOCK_ROWS = 1024

#: A row is corrected if the ratio of its boxes is this improbable for uniform points.
CHANCE_OF_SMALLER_BOX = 0.005


def knn_mutual_information(
    X, Y, *, given=None, n_neighbors: int = 3, variant: str = "ksg1", base: float = math.e
) -> float:
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
        and in Y separately, with less bias and more variance; all rows as close as the k-th neighbour are
        neighbours. "local", of Gao, Ver Steeg and Galstyan [3]_, corrects "ksg1" for a density that is not
        uniform in a row's neighbourhood, except for rows with several k-th neighbours. It is meant for
        dependence so strong that the rows lie close to a surface, and needs more neighbours than columns. The
        last two do not accept `given`.
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        May be below 0. "ksg1" is at most :math:`\psi(n) - \psi(k)` nats.

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
    1, nor on the order of the rows. Distances whose relative difference is below 1e-12, or below the rounding
    errors of the numbers, are equal. Takes O(n log n) time in few dimensions.

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
    unit = nats_per_unit(base)
    check_choice("variant", variant, VARIANTS)
    if given is not None and variant != "ksg1":
        raise ValueError(f"variant is {variant!r}; only 'ksg1' accepts `given`")
    check_integer(n_neighbors, "n_neighbors", 1)
    variables = read_variables(columns, n_neighbors + 1, X=X, Y=Y, given=given)
    n_samples, n_columns = len(variables["X"]), sum(each.shape[1] for each in variables.values())
    if variant == "local" and n_neighbors <= n_columns:
        raise ValueError(
            f"n_neighbors is {n_neighbors}; variant 'local' needs more neighbours than columns ({n_columns})"
        )
    warn_few_rows(n_samples, n_columns)
    warn_many_columns(n_columns)
    warn_ties(variables, "ties bias nearest neighbours; use mixed_mutual_information")
    rows = _distinct_rows(*variables.values())
    distance, k = _nearest(rows, n_neighbors)
    if variant == "ksg2":
        estimate = _by_extents(rows, distance)
    else:
        estimate = _by_counts(rows, distance, k)
        if variant == "local":
            return (estimate + _nonuniformity(rows, distance, n_neighbors)) / unit
    if given is None:
        warn_near_limit(estimate, digamma(n_samples) - digamma(n_neighbors), n_samples)
    return estimate / unit


def mixed_mutual_information(X, Y, *, given=None, n_neighbors: int = 3, base: float = math.e) -> float:
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
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        May be below 0.

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
    Like :func:`knn_mutual_information`, the estimate depends neither on origins and units nor on the order of
    the rows, and takes O(n log n) time in few dimensions.

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
    unit = nats_per_unit(base)
    check_integer(n_neighbors, "n_neighbors", 1)
    variables = read_variables(_numbers_or_labels, n_neighbors + 1, X=X, Y=Y, given=given)
    n_samples, n_columns = len(variables["X"]), sum(each.shape[1] for each in variables.values())
    warn_few_rows(n_samples, n_columns)
    warn_many_columns(n_columns)
    rows = _distinct_rows(*variables.values())
    distance, k = _nearest(rows, n_neighbors)
    if not k.any():
        raise ValueError("no two rows have equal labels (strings, objects or booleans)")
    repeated = (k > 0) & (distance <= rows.rounding)
    if repeated.any():
        k[repeated] = _within(rows.joint, rows.weight, rows.rounding)[repeated]
    estimate = _by_counts(rows, distance, k)
    if given is None:
        warn_near_limit(estimate, digamma(n_samples) - digamma(n_neighbors), n_samples)
    return estimate / unit


def ross_mutual_information(X, y, *, n_neighbors: int = 3, base: float = math.e) -> float:
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
    base : {2, e}, default=e
        Base of the logarithm: 2 for bits.

    Returns
    -------
    float
        May be below 0.

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
    unit = nats_per_unit(base)
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
    warn_few_rows(n_samples, X.shape[1] + 1)
    warn_many_columns(X.shape[1] + 1)
    warn_ties({"X": X[kept]}, "ties bias nearest neighbours; use mixed_mutual_information")
    rows = _distinct_rows(X[kept], y[kept, np.newaxis])
    return _by_counts(rows, *_nearest(rows, n_neighbors)) / unit


class _Rows(NamedTuple):
    """The different rows of variables observed together, in sorted order."""

    variables: list[np.ndarray]
    joint: np.ndarray  #: The columns of all variables.
    weight: np.ndarray  #: How often each row occurs.
    rounding: np.ndarray  #: Rounding error of each row's distances to rows that are close.


def _distinct_rows(*variables: np.ndarray) -> _Rows:
    """The distinct rows of the variables.

    Columns of numbers are scaled to variance 1. Codes of labels are so far apart that rows with different
    labels are further from each other than any rows that differ in numbers only.
    """
    raw = np.hstack(variables)
    raw = raw[np.lexsort(raw.T)]
    first = np.flatnonzero(np.append(True, (raw[1:] != raw[:-1]).any(axis=1)))
    widths = [each.shape[1] for each in variables]
    labels = np.repeat([each.dtype.kind == "i" for each in variables], widths)
    scaled, rounding = _scaled(raw)
    joint = np.where(labels, raw * (2.0 * _label_gap(len(raw))), scaled)[first]
    rounding = np.where(labels, 0.0, rounding)[first].max(axis=1)
    parts = np.split(joint, np.cumsum(widths)[:-1], axis=1)
    return _Rows(parts, joint, np.diff(first, append=len(raw)), rounding)


def _scaled(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns of variance 1, or 0 for constant ones, and the rounding errors of their numbers.

    The origin is the median of each column, which keeps more digits than the mean does: outliers do not move
    it, and differences from a number of the column are hardly rounded.
    """
    X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=0))[1])  # squares stay in range, no digit changes
    half = len(X) // 2
    centred = X - np.partition(X, half, axis=0)[half]
    per_unit = np.divide(1.0, X.std(axis=0), out=np.zeros(X.shape[1]), where=np.ptp(X, axis=0) > 0)
    return centred * per_unit, ROUNDING * per_unit * np.maximum(np.abs(X), np.abs(centred))


def _label_gap(n_samples: int) -> float:
    """Upper bound of the difference of two rows of a column of variance 1."""
    return 2.0 * np.sqrt(n_samples)


def _nearest(rows: _Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Distance to the k-th neighbour with equal labels, and k, or the number of such neighbours if less."""
    n_samples = int(rows.weight.sum())
    if n_samples <= FEW_ROWS:
        distance = np.sort(cdist(rows.joint, _repeated(rows.joint, rows.weight), "chebyshev"), axis=1)
        distance = distance[:, : k + 1]
        weight = np.ones(distance.shape, dtype=np.intp)
    else:
        distance, neighbour = _tree(rows.joint).query(rows.joint, min(k + 1, len(rows.joint)))
        weight = rows.weight[neighbour]
    up_to = np.where(distance < _label_gap(n_samples), weight, 0).cumsum(axis=1)
    n_neighbours = np.minimum(k, up_to[:, -1] - 1)  # the first is the row itself
    kth = (up_to > n_neighbours[:, np.newaxis]).argmax(axis=1)
    return distance[np.arange(len(distance)), kth], n_neighbours


def _by_counts(rows: _Rows, distance: np.ndarray, k: np.ndarray) -> float:
    """Mean of ψ(k) − ψ(n_xz) − ψ(n_yz) + ψ(n_z) over the rows that have a neighbour; without Z, n_z = n.

    The numbers are those of the rows closer than a distance, including the row itself, or if the distance is
    0, of the equal rows.
    """
    X, Y, *Z = rows.variables
    closer = distance * (1 - CLOSE) - rows.rounding
    closer = np.where(distance > rows.rounding, np.maximum(closer, 0.0), rows.rounding)
    in_xz, in_yz = (digamma(_within(np.hstack([each, *Z]), rows.weight, closer)) for each in (X, Y))
    in_z = digamma(_within(Z[0], rows.weight, closer)) if Z else digamma(rows.weight.sum())
    weight = np.where(k > 0, rows.weight, 0)
    return _mean(digamma(np.maximum(k, 1)) + in_z - (in_xz + in_yz), weight)


def _within(X: np.ndarray, weight: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Number of rows, each of which occurs `weight` times, within the radius of each row."""
    if X.shape[1] > 1:
        all_rows = _repeated(X, weight)
        if len(all_rows) <= FEW_ROWS:
            return np.count_nonzero(cdist(X, all_rows, "chebyshev") <= radius[:, np.newaxis], axis=1)
        return _tree(all_rows).query_radius(X, radius, count_only=True)
    x = X[:, 0]
    order = np.argsort(x)
    x, up_to = x[order], np.append(0, np.cumsum(weight[order]))
    below = np.searchsorted(x, X[:, 0] - radius, "left")
    return up_to[np.searchsorted(x, X[:, 0] + radius, "right")] - up_to[below]


def _repeated(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return X if len(X) == weight.sum() else np.repeat(X, weight, axis=0)


def _mean(values: np.ndarray, weight: np.ndarray) -> float:
    """Weighted mean, summed exactly, so that it does not depend on the order of the rows."""
    return math.fsum(values * weight) / float(weight.sum())


def _by_extents(rows: _Rows, distance: np.ndarray) -> float:
    """The estimate by the second estimator of Kraskov, Stögbauer and Grassberger."""
    X, Y = rows.variables
    tree, reach = _tree(rows.joint), _reach(distance, rows.rounding)
    k, extents = np.empty(len(reach), dtype=np.intp), np.empty_like(rows.joint)
    for start in range(0, len(reach), BLOCK_ROWS):  # with many ties, all pairs of rows are neighbours
        block = slice(start, start + BLOCK_ROWS)
        neighbours = tree.query_radius(rows.joint[block], reach[block])
        sizes = np.array([len(each) for each in neighbours])
        flat, first = np.concatenate(neighbours), np.cumsum(sizes) - sizes
        k[block] = np.add.reduceat(rows.weight[flat], first) - 1
        apart = np.abs(rows.joint[flat] - np.repeat(rows.joint[block], sizes, axis=0))
        extents[block] = np.maximum.reduceat(apart, first)
    of_x, of_y = (each.max(axis=1) for each in np.split(extents, [X.shape[1]], axis=1))
    in_x = digamma(_within(X, rows.weight, _reach(of_x, rows.rounding)) - 1)
    in_y = digamma(_within(Y, rows.weight, _reach(of_y, rows.rounding)) - 1)
    return _mean(digamma(k) - 1 / k + digamma(rows.weight.sum()) - (in_x + in_y), rows.weight)


def _nonuniformity(rows: _Rows, distance: np.ndarray, k: int) -> float:
    """The local correction: mean log ratio of the volumes of the neighbours' axis-parallel and PCA boxes.

    Rows with ties at the k-th distance, or with repeated rows among their neighbours, are not corrected.
    """
    n_columns = rows.joint.shape[1]
    n_near = _within(rows.joint, rows.weight, _reach(distance, rows.rounding))
    neighbour = _tree(rows.joint).query(rows.joint, min(k + 1, len(rows.joint)), return_distance=False)
    corrected = np.flatnonzero((n_near == k + 1) & (rows.weight[neighbour].sum(axis=1) == k + 1))
    total = 0.0
    n_block = max(1, 2**18 // (k * n_columns))
    for start in range(0, len(corrected), n_block):
        block = corrected[start : start + n_block]
        saved = _log_ratio_of_boxes(rows.joint[neighbour[block]] - rows.joint[block, np.newaxis])
        total += saved[saved > _usual_log_ratio(k, n_columns)].sum()
    return float(total / rows.weight.sum())


def _reach(distance: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Radius that includes rows at a distance up to rounding errors."""
    return distance * (1 + CLOSE) + rounding


def _log_ratio_of_boxes(apart: np.ndarray) -> np.ndarray:
    """Log ratio of the volumes of a box along the axes and one along the principal axes, shape (n,).

    The boxes are the smallest ones centred at the origin that contain the points, shape (n, k, d), with
    widths of at least `THINNEST`.
    """
    _, axes = np.linalg.eigh(apart.transpose(0, 2, 1) @ apart)
    along, turned = (np.abs(each).max(axis=1) for each in (apart, apart @ axes))
    least = THINNEST * along.max(axis=1, keepdims=True)
    return (np.log(np.maximum(along, least)) - np.log(np.maximum(turned, least))).sum(axis=1)


@lru_cache(maxsize=64)
def _usual_log_ratio(k: int, d: int) -> float:
    """The quantile of the log ratio for k uniform points above which rows are corrected."""
    uniform = np.random.default_rng(0).uniform(-1, 1, size=(4000, k, d))
    return float(np.quantile(_log_ratio_of_boxes(uniform), 1 - CHANCE_OF_SMALLER_BOX))


def _tree(X: np.ndarray) -> KDTree:
    return KDTree(X, leaf_size=LEAF_SIZE, metric="chebyshev")


def _numbers_or_labels(X, name: str) -> np.ndarray:
    """Columns of float64 numbers, or of integer codes if X holds labels."""
    array = np.asarray(X)
    if array.dtype.kind not in LABELS or array.ndim not in (1, 2):
        return columns(X, name)
    array = array[:, np.newaxis] if array.ndim == 1 else array
    return np.column_stack([codes(column, name) for column in array.T])
