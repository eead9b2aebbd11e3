"""Kernel ridge regression in dual form, the base class of KELM and LS-SVM, and its path of candidates.

The outputs are ``K a + b``, where a and the intercept b solve the system of Suykens and Vandewalle,
``[[K + alpha W^-1, 1], [1', 0]] [a; b] = [T; 0]``, with the weights W of the rows and the ridge alpha;
without an intercept, ``(K + alpha W^-1) a = T``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone

from entrolearn.kernels import (
    KERNEL_CONSTRAINTS,
    KERNELS,
    ON_LANDMARKS,
    KernelParameters,
    check_memory,
    check_precomputed,
    kernel_matrix,
    kernel_params,
    linear_coef,
    n_bytes,
)
from entrolearn.machines.base import answer, codes_of, path_targets
from entrolearn.machines.devices import cholesky, is_regular, solve_cholesky
from entrolearn.machines.layers import LandmarkLayer, project_rows
from entrolearn.machines.readouts import bordered_solve
from entrolearn.machines.ridge import CHOLESKY_UP_TO, RIDGE, Spectrum, ridge_candidates
from entrolearn.path import FAILURES, Partition, PathPoint, acceptable, describe, path, same_settings
from entrolearn.validation import StrOptions, times_class_weights, weighted_rows

__all__ = ["DualRidge", "solve_dual"]

# LAPACK's workspace for an eigendecomposition, in bytes per matrix element.
WORKSPACE = 16
EPS, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)


class DualRidge(KernelParameters, BaseEstimator):
    """Fit and outputs of estimators with one coefficient per training row.

    Subclasses may have the parameters `fit_intercept` and `class_weight`.
    """

    _parameter_constraints: dict = {
        "alpha": RIDGE,
        **KERNEL_CONSTRAINTS,
        "kernel": [StrOptions(KERNELS | {"precomputed"}), callable],
    }
    fit_intercept = True

    def __init__(self, alpha: Any = 1.0, *, kernel="rbf", gamma="scale", kernel_params=None):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params

    def _row_weights(self, T: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
        """Weights of the squared errors, given the targets and the sample weights."""
        if getattr(self, "class_weight", None) is None:
            return weights
        return times_class_weights(weights, self.class_weight, self.classes_, codes_of(T))

    def _kernel_params(self, X, weights: np.ndarray | None = None) -> dict:
        return kernel_params(X, self.kernel, self.gamma, self.kernel_params, weights)

    def _weighted_rows(self, X, y, sample_weight) -> tuple:
        """Rows of positive weight (for a precomputed kernel also their columns), targets and weights."""
        self._kept = None
        if self.kernel != "precomputed" or sample_weight is None:
            return weighted_rows(X, y, sample_weight)
        check_precomputed(X)
        self._kept, y, weights = weighted_rows(np.arange(len(y)), y, sample_weight)
        return X[self._kept][:, self._kept], y, weights

    def _gram(self, X, weights: np.ndarray | None, workspace: int) -> np.ndarray:
        """The kernel matrix, which may be overwritten; `workspace` are bytes that are needed beside it."""
        if self.kernel == "precomputed":
            check_precomputed(X)
            self.__dict__.pop("_layer", None)
            n = X.shape[0]
            what = f"a copy of the kernel matrix of {n} x {n} rows"
            check_memory(8 * n**2 + workspace, what, ON_LANDMARKS)
            return X.toarray() if issparse(X) else np.array(X, order="C")
        params = self._kernel_params(X, weights)
        gram = kernel_matrix(X, X, self.kernel, params, beside=n_bytes(X) + workspace)
        self._layer = LandmarkLayer(X.copy(), self.kernel, params)  # a copy, because the caller may modify X
        return gram

    def _fit_outputs(self, X, T: np.ndarray, weights: np.ndarray | None) -> None:
        self.__dict__.pop("loo_errors_", None)
        ridges = ridge_candidates(self.alpha)
        gram = self._gram(X, weights, 0 if ridges is None else WORKSPACE * len(T) ** 2)
        weights = self._row_weights(T, weights)
        if ridges is None:
            self.alpha_ = float(self.alpha)
            dual, intercept, method = solve_dual(gram, T, self.alpha_, weights, self.fit_intercept)
        else:
            system = _Decomposed.of(gram, weights, self.fit_intercept)
            self.loo_errors_ = np.array([system.leave_one_out_error(T, ridge) for ridge in ridges])
            self.alpha_ = float(ridges[self.loo_errors_.argmin()])
            (dual, intercept), method = system.solve(T, self.alpha_), "eigh"
        self.dual_coef_, self.intercept_ = dual.T, intercept
        self.solver_info_ = {"method": method}

    def _system(self, X, T: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        """Kernel matrix of the rows, ridges on its diagonal, and whether the system has an intercept."""
        weights = self._row_weights(T, None)
        diagonal = np.full(len(T), self.alpha_) if weights is None else self.alpha_ / weights
        return self._layer(X), diagonal, self.fit_intercept

    @property
    def X_fit_(self):
        """The training rows, which a prediction needs."""
        return self._layer.landmarks

    @property
    def coef_(self) -> np.ndarray:
        """Feature weights for the linear kernel, shape (n_outputs, n_features)."""
        return linear_coef(self.kernel, self.dual_coef_, getattr(self, "X_fit_", None))

    def _linear_part(self):
        return self._layer, self.dual_coef_.T

    def _outputs(self, X) -> np.ndarray:
        """Outputs for rows, or rows of a precomputed matrix, shape (n_samples, n_outputs)."""
        if self.kernel == "precomputed":
            X = X if self._kept is None else X[:, self._kept]
            return X @ self.dual_coef_.T + self.intercept_
        layer, dual = self._linear_part()
        (outputs,) = project_rows(layer, X, [dual])
        return outputs + self.intercept_

    def __sklearn_is_fitted__(self):
        return hasattr(self, "dual_coef_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


# --- the system -----------------------------------------------------------------------------------------


def solve_dual(
    gram: np.ndarray, T: np.ndarray, ridge: float, weights: np.ndarray | None, fit_intercept: bool
) -> tuple[np.ndarray, np.ndarray, str]:
    """Dual coefficients, intercepts and the method, by a Cholesky factor if there is one.

    Parameters
    ----------
    gram : ndarray, shape (n_samples, n_samples), C order
        The symmetric kernel matrix; it is overwritten.
    T : ndarray, shape (n_samples, n_outputs)
    ridge : float
    weights : ndarray of positive floats, shape (n_samples,), or None
    fit_intercept : bool

    Returns
    -------
    dual_coef : ndarray, shape (n_samples, n_outputs)
    intercept : ndarray, shape (n_outputs,)
    method : {"cholesky", "eigh"}
        "eigh" if the matrix is indefinite or numerically singular; the solution then has minimum norm.
    """
    n, diagonal = len(gram), gram.diagonal().copy()
    with np.errstate(over="ignore"):  # a tiny weight: the eigendecomposition does not divide by it
        ridges = np.full(n, ridge) if weights is None else ridge / weights
        sums = diagonal + ridges
        size = float(sums.sum())
    if TINY < size < np.inf:
        gram.flat[:: n + 1] = sums
        factor = cholesky(gram.T)
        if factor is not None and is_regular(factor, size):
            return *_with_intercept(partial(solve_cholesky, factor), T, fit_intercept), "cholesky"
        gram.flat[:: n + 1] = diagonal  # the other triangle is unchanged
    what = f"the eigendecomposition of a kernel matrix of {n} x {n} rows, which has no Cholesky factor,"
    check_memory((8 + WORKSPACE) * n**2, what, ON_LANDMARKS)
    system = _Decomposed.of(gram, weights, fit_intercept, lower=False)
    return *system.solve(T, ridge), "eigh"


def _with_intercept(solve: Callable, T: np.ndarray, fit_intercept: bool) -> tuple[np.ndarray, np.ndarray]:
    """Dual coefficients and intercepts, given a solver of the system without an intercept."""
    if not fit_intercept:
        return solve(T), np.zeros(T.shape[1])
    mean = T.mean(axis=0)  # large targets would lose digits
    dual, intercept = bordered_solve(solve, T - mean)
    return dual, mean + intercept


@dataclass(frozen=True)
class _Decomposed:
    """Eigendecomposition of ``W^1/2 K W^1/2``, which solves the system for every ridge.

    With an intercept a constant is added to K. This does not change the solution, whose coefficients add up
    to zero; but 1 is then an output of K, so that a pseudoinverse of a singular K leaves the intercept alone.

    Attributes
    ----------
    spectrum : Spectrum
    weights : ndarray, shape (n_samples,), or None
    fit_intercept : bool
    """

    spectrum: Spectrum
    weights: np.ndarray | None
    fit_intercept: bool

    @classmethod
    def of(cls, gram: np.ndarray, weights, fit_intercept: bool, *, lower: bool = True) -> "_Decomposed":
        """Decompose a kernel matrix in C order, and overwrite it; `lower` names a triangle of ``gram.T``."""
        if fit_intercept:
            gram += np.abs(gram.diagonal()).mean() / len(gram) or 1.0  # adds the mean eigenvalue along 1
        if weights is not None:
            roots = np.sqrt(weights)
            gram *= roots[:, None]
            gram *= roots
        return cls(Spectrum.of(gram.T, lower=lower), weights, fit_intercept)

    def solve(self, T: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
        """Dual coefficients and intercepts."""
        roots = 1.0 if self.weights is None else np.sqrt(self.weights)[:, None]
        return _with_intercept(
            lambda right: roots * self.spectrum.solve(roots * right, ridge), T, self.fit_intercept
        )

    def leave_one_out_error(self, T: np.ndarray, ridge: float) -> float:
        """Mean squared leave-one-out error, weighted by the rows' weights; inf if it is undefined.

        The error of a row is its dual coefficient divided by its diagonal element of the inverse of the
        system's matrix. Of a row of weight w > 1, only the weight 1 is left out, as in
        :func:`entrolearn.machines.ridge.leave_one_out_errors`.
        """
        weights = np.ones(len(T)) if self.weights is None else self.weights
        values, vectors = self.spectrum.inverse_values(ridge), self.spectrum.vectors
        diagonal = np.square(vectors) @ values
        if self.fit_intercept:
            along = vectors.T @ np.sqrt(weights)
            diagonal -= np.square(vectors @ (values * along)) / (values @ along**2)
        dual, _ = self.solve(T, ridge)
        left_out = np.minimum(weights, 1.0)
        rest = weights - left_out
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # Without a ridge, the rest interpolates the row.
            diagonal = left_out * diagonal + np.where(rest > 0, rest / ridge, 0.0)
            errors = dual * (np.sqrt(weights) / np.sqrt(weights.mean()) / diagonal)[:, None]
            error = np.mean(errors**2)
        return error if np.isfinite(error) else np.inf  # the diagonal of the inverse vanished


# --- path: one kernel matrix serves every ridge and every training set ----------------------------------


@path.register
def _dual_ridge_path(
    estimator: DualRidge, X, y, partition: Partition, grid: Sequence[dict]
) -> Iterator[PathPoint]:
    """One matrix per kernel; per training set, a factorisation for each ridge or a decomposition for all."""
    machines = [clone(estimator).set_params(**params) for params in grid]
    data = path_targets(estimator, X, y, partition) if all(map(_shares_kernel, machines)) else None
    if data is None:
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return
    X, T, classes = data
    for members in same_settings(machines, *(estimator.get_params(deep=False).keys() - {"alpha"})):
        wanted = [(left_out, grid[i]) for left_out in partition.left_out for i in members]
        try:
            outputs = _outputs_on_training_sets([machines[i] for i in members], X, T, classes, partition)
        except FAILURES as error:
            yield from (PathPoint(left_out, params, error=describe(error)) for left_out, params in wanted)
            continue
        for (left_out, params), output in zip(wanted, outputs, strict=True):
            yield PathPoint(left_out, params, **answer(output, classes))


def _shares_kernel(machine: DualRidge) -> bool:
    """Whether the kernel is the same for all training sets, and there is one valid ridge."""
    if not acceptable(machine) or isinstance(machine.gamma, str) or machine.kernel == "precomputed":
        return False
    return np.isscalar(machine.alpha)


def _outputs_on_training_sets(
    machines: Sequence[DualRidge], X, T: np.ndarray, classes: np.ndarray | None, partition: Partition
) -> list[np.ndarray]:
    """Outputs for all rows of each training set's models with one kernel, shape (n_samples, n_outputs)."""
    sets = [partition.training(left_out) for left_out in partition.left_out]
    seen = np.unique(np.concatenate(sets))
    unseen = np.setdiff1d(np.arange(X.shape[0]), seen)
    first, ridges = machines[0], [float(machine.alpha) for machine in machines]
    first.classes_ = classes
    params = first._kernel_params(X)
    X_seen, n_outputs = X[seen], T.shape[1]
    many = len(ridges) > CHOLESKY_UP_TO
    of_a_set = (8 + (WORKSPACE if many else 8)) * max(map(len, sets)) ** 2  # its submatrix and the workspace
    of_all = 8 * (len(seen) + X.shape[0]) * len(sets) * len(ridges) * n_outputs
    gram = kernel_matrix(X_seen, X_seen, first.kernel, params, beside=of_a_set + of_all)
    duals: np.ndarray = np.zeros((len(seen), len(sets), len(ridges), n_outputs))
    intercepts = np.zeros(duals.shape[1:])
    for s, rows in enumerate(sets):
        places = np.searchsorted(seen, rows)
        of_set, targets = gram[np.ix_(places, places)], T[rows]
        settings = first._row_weights(targets, None), first.fit_intercept
        if many:
            system = _Decomposed.of(of_set, *settings)
            found = [system.solve(targets, ridge) for ridge in ridges]
        else:
            found = [solve_dual(of_set.copy(), targets, ridge, *settings)[:2] for ridge in ridges]
        for r, solution in enumerate(found):
            duals[places, s, r], intercepts[s, r] = solution
    duals = duals.reshape(len(seen), -1)
    outputs = np.empty((X.shape[0], duals.shape[1]))
    outputs[seen] = gram @ duals
    if len(unseen):
        outputs[unseen] = kernel_matrix(X[unseen], X_seen, first.kernel, params) @ duals
    outputs += intercepts.ravel()
    return np.split(outputs, len(sets) * len(ridges), axis=1)
