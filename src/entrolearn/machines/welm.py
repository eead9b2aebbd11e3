"""Weighted extreme learning machines: random hidden units, then weighted least squares.

For unbalanced classes: Zong, Huang and Chen (2013), in the form of section 2.1 of Czarnecki and Tabor,
"Extreme Entropy Machines".
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone

from entrolearn.kernels import check_memory
from entrolearn.machines.additive import (
    AdditiveClassifier,
    delete_sums,
    fits_one_by_one,
    path_on_layers,
)
from entrolearn.machines.base import answer, class_targets
from entrolearn.machines.boxes import BOUNDS, STORE_SUMS, RandomUnits
from entrolearn.machines.devices import as_columns
from entrolearn.machines.layers import ACTIVATIONS, RandomLayer, project_rows
from entrolearn.machines.moments import FEWER_UNITS, ClassMoments, moments_of_parts, rows_of_groups
from entrolearn.machines.readouts import least_squares, least_squares_from_moments
from entrolearn.path import FAILURES, Partition, PathPoint, acceptable, describe, path
from entrolearn.validation import (
    ARRAY_API,
    Interval,
    StrOptions,
    check_X_y,
    class_error_weights,
)

__all__ = ["WELMClassifier"]

# Rows per QR step, as a multiple of the columns; the factor of earlier rows is then a small part of each
# step.
ROWS_PER_COLUMN = 8
# Measured number of copies of these rows in memory: layer output, stacked rows and LAPACK workspace.
FACTOR_COPIES = 4


class WELMClassifier(AdditiveClassifier):
    """Weighted extreme learning machine: random hidden units, then weighted least squares on ±1 targets.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden units.
    activation : {"sigmoid", "nsigmoid", "rbf", "sine", "hardlimit"} or callable, default="rbf"
        Activation of a unit with weights w and bias b, both drawn from U[0, 1], as in
        :class:`EEMClassifier`, where b of rbf units is called gamma.
    bounds : {"data"}, pair, array of shape (2, n_features) or None, default="data"
        The box in which the units are drawn; see :class:`EEMClassifier`.
    solver : {"pinv", "cholesky"}, default="pinv"
        ``"pinv"``: minimum-norm least squares on the hidden matrix, with singular values cut off at machine
        precision; needed to reproduce the paper's tables. ``"cholesky"``: normal equations, several times
        faster; if the Gram matrix is singular, its pseudoinverse is used, which regularises.
    alpha : float, default=0.0
        Ridge parameter for ``solver="cholesky"``, added to the diagonal of the weighted Gram matrix; larger
        is smoother. 0 means no ridge, as in the paper.
    class_weight : dict, "balanced" or None, default="balanced"
        Weights of the squared errors of each class; sample weights are multiplied by them. ``"balanced"``
        weights are inversely proportional to the class sizes (the sums of the sample weights).
    store_sums : bool or "auto", default="auto"
        Whether :meth:`fit` keeps its sums over the rows, n_hidden² numbers for each class, so that
        :meth:`partial_fit` and :meth:`forget` can update the fitted model. ``"auto"``: with
        ``solver="cholesky"``, if they take less than 64 MB. With True, all computations are in double
        precision.
    random_state : int, RandomState instance or None, default=None
        Seed of the hidden units. A smaller model uses the first units of a larger one with the same seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    bounds_ : ndarray of shape (2, n_features), or None
        Bounds of the box in use.
    hidden_coef_ : ndarray of shape (n_hidden,), or (n_hidden, n_classes) for more than two classes
    solver_info_ : dict
        ``method``: "gelsd", "cholesky" or, if the Gram matrix is singular, "pinvh".
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    EEMClassifier : The same hidden units (rbf: with ``unit_scale="uniform"``) and an entropy discriminant.
    ELMClassifier : Without class weights, by normal equations.

    References
    ----------
    .. [1] W. Zong, G.-B. Huang and Y. Chen (2013). Weighted extreme learning machine for imbalance
       learning. Neurocomputing 101, 229-242.
    .. [2] W. M. Czarnecki and J. Tabor (2015). Extreme Entropy Machines: Robust information theoretic
       classification. arXiv:1501.05279, section 2.1.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import WELMClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> machine = WELMClassifier(n_hidden=30, random_state=0).fit(X[:200], y[:200])
    >>> machine.score(X[200:], y[200:]) > 0.95
    True
    """

    _parameter_constraints: dict = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions(set(ACTIVATIONS)), callable],
        "bounds": BOUNDS,
        "solver": [StrOptions({"pinv", "cholesky"})],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "store_sums": STORE_SUMS,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_hidden=100,
        *,
        activation="rbf",
        bounds="data",
        solver="pinv",
        alpha=0.0,
        class_weight="balanced",
        store_sums="auto",
        random_state=None,
    ):
        self.n_hidden = n_hidden
        self.activation = activation
        self.bounds = bounds
        self.solver = solver
        self.alpha = alpha
        self.class_weight = class_weight
        self.store_sums = store_sums
        self.random_state = random_state

    # Always in double precision, because singular values are cut off at machine precision.
    def _fit_outputs(self, X, codes, weights):
        if self.solver == "cholesky" or self.store_sums is True:
            super()._fit_outputs(X, codes, weights)
            return
        delete_sums(self)
        self._layer = self._draw_layer(X, weights)
        factors = factors_by_group(self._layer, X, codes, len(self.classes_), weights)
        counts = np.bincount(codes, weights)
        coef = _solve_factors(self, [[factor] for factor in factors], self.classes_, counts)
        vars(self).update(self._attributes(coef, "gelsd"))

    def _units(self):
        draw = partial(RandomLayer.draw, n_hidden=self.n_hidden, activation=self.activation)
        return RandomUnits(type(self).__name__, self.n_hidden, self.bounds, draw)

    def _takes_chunks(self):
        return self.solver == "cholesky"

    def _check_settings(self, in_chunks, weights=None):
        if in_chunks and self.solver != "cholesky":
            raise ValueError(
                f"solver={self.solver!r} needs all rows at once; accepted for rows that come in chunks, "
                "and with store_sums=True: 'cholesky'."
            )

    def _solve(self, sums, dtype=np.float64):
        return self._attributes(*_solve_moments(self, sums, self.classes_))

    def _attributes(self, coef: np.ndarray, method: str) -> dict:
        one = len(self.classes_) == 2
        return {"hidden_coef_": coef[:, 0] if one else coef, "solver_info_": {"method": method}}

    def _outputs(self, X) -> np.ndarray:
        (output,) = project_rows(self._layer, X, [as_columns(self.hidden_coef_)])
        return output

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = ARRAY_API and self.solver == "cholesky"
        return tags


def factors_by_group(
    layer: Callable, X, group: np.ndarray, n_groups: int, weights: np.ndarray | None = None
) -> list[np.ndarray]:
    """Triangular factor of each group's hidden rows and a column of ones, in one pass over X.

    An orthogonal transformation of the rows does not change a least squares problem. A group whose rows share
    weight and target can therefore be replaced by the factor R of ``[H, 1] = Q R``, which has at most as many
    rows as columns. Unlike normal equations, R keeps all singular values of H. The factor of the first h
    units is the leading block of R.

    Parameters
    ----------
    layer : callable
        Maps rows of X to an array of shape (n_rows, n_hidden); accepts an argument `out`.
    X : {ndarray, CSR}, shape (n_samples, n_features)
    group : ndarray of int, shape (n_samples,)
        The group of each row, from 0 to n_groups - 1.
    n_groups : int
    weights : ndarray of float64, shape (n_samples,), optional
        Sample weights; rows are multiplied by their square roots. Default: all ones.

    Returns
    -------
    list of n_groups ndarrays, shape (min(n_rows, n_hidden + 1), n_hidden + 1)
        Upper triangular or trapezoidal factors; the last column belongs to the column of ones.
    """
    n_columns = layer(X[:1]).shape[1] + 1
    step = ROWS_PER_COLUMN * n_columns
    check_memory(
        8 * FACTOR_COPIES * n_columns * min(len(group), n_columns + step),
        f"the factorisation of {n_columns - 1} hidden units",
        FEWER_UNITS,
    )
    factors = []
    for rows in rows_of_groups(group, n_groups):
        factor: Any = np.empty((0, n_columns), dtype=X.dtype)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            stacked = np.ones((len(factor) + len(some), n_columns), dtype=X.dtype)
            stacked[: len(factor)] = factor
            stacked[len(factor) :, :-1] = layer(X[some])
            if weights is not None:
                stacked[len(factor) :] *= np.sqrt(weights[some])[:, None]
            factor = np.linalg.qr(stacked, mode="r")
        factors.append(factor)
    return factors


def _solve_factors(
    machine: WELMClassifier, factors: Sequence[Sequence[np.ndarray]], classes: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Coefficients from triangular factors of each class's hidden rows, shape (n_hidden, n_outputs)."""
    if machine.alpha > 0:
        raise ValueError(f"alpha={machine.alpha!r} needs solver='cholesky'; solver='pinv' has no ridge.")
    class_weights = class_error_weights(machine.class_weight, classes, counts)
    h = machine.n_hidden
    H, targets, weights = [], [], []
    for of_class, target, weight in zip(factors, class_targets(len(classes)), class_weights, strict=True):
        for factor in of_class:
            H.append(factor[:h, :h])
            targets.append(factor[:h, -1:] * target)
            weights.append(np.full(len(H[-1]), weight))
    return least_squares(np.vstack(H), np.vstack(targets), np.concatenate(weights), counts.sum())


def _solve_moments(
    machine: WELMClassifier, moments: Sequence[ClassMoments], classes: np.ndarray
) -> tuple[np.ndarray, str]:
    """Coefficients from the moments of the classes, and the method."""
    weights = class_error_weights(machine.class_weight, classes, np.array([m.n for m in moments]))
    return least_squares_from_moments(moments, class_targets(len(moments)), weights, machine.alpha)


@path.register
def _welm_path(
    estimator: WELMClassifier, X, y, partition: Partition, grid: Sequence[dict]
) -> Iterator[PathPoint]:
    """Evaluate the largest layer once per box; normal equations come from one pass of moments.

    Training sets without a row of some class, and candidates whose hidden layer cannot be computed, are
    fitted one by one.
    """
    machines = [clone(estimator).set_params(**params) for params in grid]
    one_by_one = fits_one_by_one(estimator, X, y, grid)
    shared = all(acceptable(each) and isinstance(each.random_state, Integral) for each in machines)
    if len(np.unique(y)) < 2 or not shared:
        yield from one_by_one(partition)
        return
    X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64)
    classes, codes = np.unique(y, return_inverse=True)
    partition, incomplete = partition.by_classes(codes)
    yield from one_by_one(incomplete)

    def solve_on(largest, members, rows, left_outs):
        layer = largest._draw_layer(X[rows])
        wanted = [(machines[i], grid[i]) for i in members]
        solved, failed = _solutions(wanted, layer, X, codes, classes, partition.only(left_outs))
        return chain(failed, _answers(layer, X, classes, solved))

    if partition.left_out:
        yield from path_on_layers(machines, partition, solve_on, one_by_one)


def _solutions(
    members, layer, X, codes: np.ndarray, classes: np.ndarray, partition: Partition
) -> tuple[list[tuple], list[PathPoint]]:
    """The left_out, parameters and coefficients of candidates with the same layer; and the failed ones."""
    solvers = {machine.solver for machine, _ in members}
    if "cholesky" in solvers:
        sizes = {machine.n_hidden for machine, _ in members} | {len(layer.weights)}
        moments = moments_of_parts(layer, X, codes, len(classes), partition.part, sizes)
    if "pinv" in solvers:
        parts, part_codes = np.unique(partition.part, return_inverse=True)
        group = codes * len(parts) + part_codes
        flat = factors_by_group(layer, X, group, len(parts) * len(classes))
        factors = [flat[c * len(parts) : (c + 1) * len(parts)] for c in range(len(classes))]
    solved, failed = [], []
    for left_out in partition.left_out:
        kept = np.flatnonzero(~np.isin(np.unique(partition.part), left_out))
        counts = np.bincount(codes[partition.training(left_out)])
        of_classes: Any = moments.without(left_out) if "cholesky" in solvers else []
        for machine, params in members:
            try:
                if machine.solver == "pinv":
                    of_parts = [[of_class[i] for i in kept] for of_class in factors]
                    coef = _solve_factors(machine, of_parts, classes, counts)
                else:
                    leading = [m.restrict(machine.n_hidden) for m in of_classes]
                    coef, _ = _solve_moments(machine, leading, classes)
                solved.append((left_out, params, coef))
            except FAILURES as error:
                failed.append(PathPoint(left_out, params, error=describe(error)))
    return solved, failed


def _answers(layer, X, classes: np.ndarray, solved: Sequence[tuple]) -> Iterator[PathPoint]:
    """Yield the predictions of each model for all rows."""
    outputs = project_rows(layer, X, [coef for *_, coef in solved])
    for (left_out, params, _), output in zip(solved, outputs, strict=True):
        yield PathPoint(left_out, params, **answer(output, classes))
