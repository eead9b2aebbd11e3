"""Least squares support vector machines: a kernel on all training rows and one linear system."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from numbers import Real
from typing import Self

import numpy as np
from scipy.linalg import LinAlgWarning, cho_factor, cho_solve, cholesky
from scipy.linalg.blas import get_blas_funcs
from scipy.linalg.lapack import dpotri
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from entrolearn.kernels import (
    KERNELS,
    ON_LANDMARKS,
    check_memory,
    check_precomputed,
    kernel_matrix,
    kernel_params,
    linear_coef,
    n_bytes,
)
from entrolearn.machines.base import (
    Machine,
    OutputRegressor,
    answer,
    class_targets,
    encode,
    path_targets,
)
from entrolearn.machines.devices import as_columns
from entrolearn.machines.layers import POWER, LandmarkLayer, project_rows
from entrolearn.machines.readouts import bordered_solve
from entrolearn.machines.tridiagonal import Tridiagonal
from entrolearn.path import FAILURES, Partition, PathPoint, acceptable, describe, path, same_settings
from entrolearn.validation import (
    Interval,
    StrOptions,
    times_class_weights,
    validate_data,
    validated,
    weighted_rows,
)

__all__ = ["LSSVC", "LSSVR"]


class _LeastSquaresMachine:
    """Base class of the classifier and the regressor: kernel on all training rows, system and outputs."""

    _parameter_constraints: dict = {
        "C": [Interval(Real, 0, 1e150, closed="right")],
        "kernel": [StrOptions(KERNELS | {"precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "power": POWER,
    }

    def _weighted_rows(self, X, y, sample_weight) -> tuple:
        """Rows of positive weight (for a precomputed kernel also their columns), targets and weights."""
        self._kept = None
        if self.kernel != "precomputed" or sample_weight is None:
            return weighted_rows(X, y, sample_weight)
        check_precomputed(X)
        self._kept, y, weights = weighted_rows(np.arange(len(y)), y, sample_weight)
        return X[self._kept][:, self._kept], y, weights

    def _fit_system(self, X, y, targets: np.ndarray, weights: np.ndarray | None) -> None:
        """Solve for targets of shape (n_samples, n_outputs), with sample weights."""
        gram = self._gram(X, weights)
        penalties = self._penalties(y, weights, gram.dtype)
        gram.flat[:: len(gram) + 1] += penalties
        diagonal = gram.diagonal().copy()
        factor = _factorised(gram, self)
        dual, intercept = bordered_solve(lambda right: cho_solve(factor, right, check_finite=False), targets)
        if np.spacing(diagonal.max()) * len(gram) > 1e-6 * np.min(penalties):
            residual = _residual(gram, diagonal, dual, targets - intercept)
            if residual > 1e-3:
                warnings.warn(
                    f"the {self.kernel!r} kernel's values, up to {diagonal.max():.1e}, are so large beside "
                    f"1 / C that rounding leaves residuals of {residual:.1e} of the largest target; use "
                    "scaled features or a smaller C",
                    LinAlgWarning,
                    stacklevel=3,
                )
        one = targets.shape[1] == 1
        self.dual_coef_ = dual[:, 0] if one else dual
        self.intercept_ = float(intercept[0]) if one else intercept

    def _penalties(self, y, weights: np.ndarray | None = None, dtype="float64") -> np.ndarray:
        """The diagonal of Q / C, for a kernel matrix of this dtype, shape (n_samples,)."""
        with np.errstate(over="ignore", divide="ignore"):
            penalties = 1 / (self.C * self._error_weights(y, weights))
            numbers = np.isfinite(penalties.astype(dtype)).all()
        if not numbers:
            raise ValueError(f"1 / C overflows in {dtype} at C={self.C:g}; use a larger C.")
        return penalties

    def _params_of_kernel(self, X, weights: np.ndarray | None = None) -> dict:
        return kernel_params(X, self.kernel, self.gamma, self.degree, self.coef0, weights, self.power)

    def _gram(self, X, weights: np.ndarray | None) -> np.ndarray:
        if self.kernel == "precomputed":
            check_precomputed(X)
            vars(self).pop("_layer", None)
            n = X.shape[0]
            check_memory(8 * n**2, f"a copy of the kernel matrix of {n} x {n} rows", ON_LANDMARKS)
            return X.toarray().astype(np.float64) if issparse(X) else np.array(X, dtype=np.float64)
        params = self._params_of_kernel(X, weights)
        solving = 8 * X.shape[0] ** 2 if X.dtype == np.float32 else 0  # the factor is in double precision
        gram = kernel_matrix(X, X, self.kernel, params, beside=n_bytes(X) + solving)
        self._layer = LandmarkLayer(X.copy(), self.kernel, params)  # a copy, because the caller may modify X
        return gram

    def _system(self, X, y) -> tuple[np.ndarray, np.ndarray, bool]:
        """Kernel matrix of the rows, penalties on its diagonal, and whether the system has an intercept."""
        return self._layer(X), self._penalties(y), True

    @property
    def X_fit_(self):
        """The training rows, which are needed for predictions."""
        return self._layer.landmarks

    @property
    def coef_(self) -> np.ndarray:
        """Feature weights for the linear kernel, shape (n_outputs, n_features)."""
        dual, rows = self.dual_coef_, getattr(self, "X_fit_", None)
        return linear_coef(self.kernel, dual.reshape(len(dual), -1).T, rows)

    def _linear_part(self):
        return self._layer, as_columns(self.dual_coef_)

    def _outputs(self, X) -> np.ndarray:
        """Outputs for rows, or rows of a precomputed matrix, shape (n_samples, n_outputs)."""
        if self.kernel == "precomputed":
            X = X if self._kept is None else X[:, self._kept]
            return X @ as_columns(self.dual_coef_) + self.intercept_
        layer, dual = self._linear_part()
        (output,) = project_rows(layer, X, [dual])
        return output + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _factorised(system: np.ndarray, machine: _LeastSquaresMachine) -> tuple[np.ndarray, bool]:
    """Cholesky factor of a symmetric matrix, which is overwritten, for cho_solve."""
    try:  # LAPACK accepts the transpose of a C-ordered matrix without a copy
        return cho_factor(system.T, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"the {machine.kernel!r} kernel matrix plus Q / C is not positive definite at C={machine.C:g}; "
            "use a smaller C or scaled features, or another kernel if this one is not a Mercer kernel."
        ) from None


def _residual(factored: np.ndarray, diagonal: np.ndarray, dual: np.ndarray, targets: np.ndarray) -> float:
    """Largest residual of A dual = targets, relative to the largest target.

    Parameters
    ----------
    factored : ndarray of shape (n, n), in C order
        As `_factorised` leaves A: its strict lower triangle is that of A.
    diagonal : ndarray of shape (n,)
        The diagonal of A.
    """
    (symm,) = get_blas_funcs(("symm",), (factored,))
    product = symm(1.0, factored.T, dual, lower=0)  # with the factor's diagonal
    product += (diagonal - factored.diagonal())[:, np.newaxis] * dual
    return float(abs(product - targets).max() / (abs(targets).max() or 1))


class LSSVC(_LeastSquaresMachine, Machine):
    """Least squares support vector classifier.

    Solves the bordered linear system of Suykens and Vandewalle, ``[[0, 1'], [1, K + Q / C]] [b; alpha] = [0;
    T]`` with targets ±1. Every training row has a coefficient.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the squared errors relative to the norm; larger is less smooth.
    kernel : str or callable, default="rbf"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, or "precomputed": X is then the kernel
        matrix.
    gamma : float, {"scale", "auto"}, default="scale"
        gamma of the rbf, poly and sigmoid kernels, as for :class:`EEKMClassifier`.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant term of the polynomial and sigmoid kernels.
    power : float, default=1.0
        Exponent of the exponential_power kernel, exp(-r^power) with r² = gamma ||x - z||²; in (0, 2].
    class_weight : dict, "balanced" or None, default=None
        Weights of the squared errors, multiplied by the sample weights; Q holds their reciprocals. The EEM
        paper has Q inversely proportional to the class size, which taken literally would reverse the balance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        Coefficients of the training rows of positive weight.
    intercept_ : float, or ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) for more than two classes
        Feature weights, for ``kernel="linear"``.
    X_fit_ : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The training rows of positive weight, which are needed for predictions; not defined for a precomputed
        kernel.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    sklearn.svm.SVC : Sparse in the training rows.

    Notes
    -----
    For more than two classes, one-vs-rest models are solved together.

    References
    ----------
    .. [1] J. A. K. Suykens and J. Vandewalle (1999). Least squares support vector machine classifiers.
       Neural Processing Letters 9, 293-300.
    .. [2] J. A. K. Suykens, J. De Brabanter, L. Lukas and J. Vandewalle (2002). Weighted least squares
       support vector machines. Neurocomputing 48, 85-105.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import LSSVC
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> LSSVC(C=10.0, gamma=5.0).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.98
    True
    """

    _parameter_constraints: dict = {
        **_LeastSquaresMachine._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self, C=1.0, *, kernel="rbf", gamma="scale", degree=3, coef0=1, power=1.0, class_weight=None
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.power = power
        self.class_weight = class_weight

    @validated(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None) -> Self:
        """Fit the model by one Cholesky factorisation.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows; for a precomputed kernel the kernel matrix, shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Class labels of any type, at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A row of weight 2 counts as two rows; a row of weight 0 is ignored.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If y has only one class, a precomputed matrix is not square and symmetric, 1 / C overflows, or the
            kernel matrix is so far from positive semi-definite that the system cannot be solved.

        Warns
        -----
        LinAlgWarning
            If kernel values are so large beside 1 / C that rounding leaves residuals above .001 of the
            largest target.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        X, y, weights = self._weighted_rows(X, y, sample_weight)
        self.classes_, codes = encode(y, "LSSVC")
        self._fit_system(X, y, class_targets(len(self.classes_))[codes], weights)
        return self

    def _error_weights(self, y, weights=None) -> np.ndarray:
        classes, codes = np.unique(y, return_inverse=True)
        weights = times_class_weights(weights, self.class_weight, classes, codes)
        return np.ones(len(y)) if weights is None else weights

    def decision_function(self, X) -> np.ndarray:
        """Decision value of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Rows; for a precomputed kernel the kernel values with the training rows.

        Returns
        -------
        score : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        output = self._outputs(X)
        return output[:, 0] if len(self.classes_) == 2 else output


class LSSVR(_LeastSquaresMachine, OutputRegressor):
    """Least squares support vector regression.

    Solves ``[[0, 1'], [1, K + I / C]] [b; alpha] = [0; y]``: kernel ridge regression with an unpenalised
    intercept. Every training row has a coefficient.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the squared errors relative to the norm; larger is less smooth.
    kernel : str or callable, default="rbf"
        A name in :data:`entrolearn.kernels.KERNELS`, or "precomputed": X is then the kernel matrix.
    gamma : float, {"scale", "auto"}, default="scale"
        Factor of the squared distance or of the inner product; names as in :class:`sklearn.svm.SVR`.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant term of the polynomial and sigmoid kernels.
    power : float, default=1.0
        Exponent of the exponential_power kernel, exp(-r^power) with r² = gamma ||x - z||²; in (0, 2].

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,), or (n_samples, n_outputs) for more than one output
        Coefficients of the training rows of positive weight.
    intercept_ : float, or ndarray of shape (n_outputs,)
    coef_ : ndarray of shape (n_outputs, n_features)
        Feature weights, for ``kernel="linear"``.
    X_fit_ : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The training rows of positive weight, which are needed for predictions; not defined for a precomputed
        kernel.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if all feature names of X are strings.

    See Also
    --------
    LSSVC : The classifier.
    sklearn.kernel_ridge.KernelRidge : The same without an intercept.

    Notes
    -----
    A fit factorises the kernel matrix of the training rows: n_samples² numbers, n_samples³ / 3 operations. It
    raises a MemoryError if the matrix does not fit into memory, and a ValueError if the matrix is so far from
    positive semi-definite that the system cannot be solved. It warns (LinAlgWarning) if kernel values are so
    large beside 1 / C that rounding leaves residuals above .001 of the largest target.

    References
    ----------
    .. [1] C. Saunders, A. Gammerman and V. Vovk (1998). Ridge regression learning algorithm in dual
       variables. ICML, 515-521.
    .. [2] J. A. K. Suykens, T. Van Gestel, J. De Brabanter, B. De Moor and J. Vandewalle (2002). Least
       Squares Support Vector Machines. World Scientific.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import LSSVR
    >>> X = np.linspace(0, 6, 80)[:, None]
    >>> machine = LSSVR(C=1000.0, gamma=1.0).fit(X[::2], np.sin(X[::2, 0]))
    >>> bool(abs(machine.predict(X) - np.sin(X[:, 0])).max() < 0.01)
    True
    """

    def __init__(self, C=1.0, *, kernel="rbf", gamma="scale", degree=3, coef0=1, power=1.0):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.power = power

    def _fit_outputs(self, X, T, weights=None):
        self._fit_system(X, T, T, weights)

    def _error_weights(self, y, weights=None) -> np.ndarray:
        return np.ones(len(y)) if weights is None else weights


# --- path: all C and all training sets share one kernel matrix --------------------------------------------


def _shares_kernel(machine: _LeastSquaresMachine) -> bool:
    """Whether the kernel of two rows does not depend on the training set."""
    shared = not isinstance(machine.gamma, str) and machine.kernel != "precomputed"
    return acceptable(machine) and shared


@path.register
def _least_squares_path(
    estimator: _LeastSquaresMachine, X, y, partition: Partition, grid: Sequence[dict]
) -> Iterator[PathPoint]:
    """Path with one matrix per kernel, and one inverse for all training sets or one reduction for all C.

    Rows that are in no training set are left out of the matrix.
    """
    machines = [clone(estimator).set_params(**params) for params in grid]
    given = path_targets(estimator, X, y, partition) if all(map(_shares_kernel, machines)) else None
    if given is None:
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return
    X, targets, classes = given
    y = np.asarray(y)
    trained = np.any([~np.isin(partition.part, left_out) for left_out in partition.left_out], axis=0)
    order = np.lexsort([partition.part, ~trained])  # training rows first; each part is a slice
    back, n_trained = np.argsort(order), np.count_nonzero(trained)
    seen = order[:n_trained]
    seen_partition = Partition(partition.part[seen], partition.left_out)
    for members in same_settings(machines, "kernel", "gamma", "degree", "coef0", "power"):
        penalties = {}
        for i in members:
            try:
                penalties[i] = _penalties(machines[i], y[seen], seen_partition)
            except FAILURES as error:
                yield from _failed([grid[i]], partition, error)
        if not penalties:
            continue
        alike = [machines[i] for i in penalties]
        try:
            params = alike[0]._params_of_kernel(X)
            kernel = kernel_matrix(X[order], X[seen], alike[0].kernel, params)
            all_penalties = list(penalties.values())
            solutions = list(
                _solve_training_sets(alike, all_penalties, kernel[:n_trained], targets[seen], seen_partition)
            )
        except FAILURES as error:
            yield from _failed([grid[i] for i in penalties], partition, error)
            continue
        for i, (dual, intercept, errors) in zip(penalties, solutions, strict=True):
            scores = np.tensordot(kernel, dual, axes=(1, 1)).transpose(1, 0, 2) + intercept[:, None, :]
            for left_out, score, error in zip(partition.left_out, scores[:, back], errors, strict=True):
                if error:
                    yield PathPoint(left_out, grid[i], error=error)
                else:
                    yield PathPoint(left_out, grid[i], **answer(score, classes))


def _failed(candidates: Sequence[dict], partition: Partition, error: Exception) -> Iterator[PathPoint]:
    """The results of candidates that fail on all training sets for the same reason."""
    for left_out in partition.left_out:
        for params in candidates:
            yield PathPoint(left_out, params, error=describe(error))


def _penalties(machine: _LeastSquaresMachine, y, partition: Partition) -> np.ndarray:
    """Diagonals of Q / C for each training set, zero for rows left out, shape (n_sets, n_samples)."""
    penalties = np.zeros((len(partition.left_out), len(y)))
    for penalty, left_out in zip(penalties, partition.left_out, strict=True):
        rows = partition.training(left_out)
        penalty[rows] = machine._penalties(y[rows])
    return penalties


def _solve_training_sets(
    machines: Sequence[_LeastSquaresMachine],
    all_penalties: Sequence[np.ndarray],
    kernel: np.ndarray,
    targets: np.ndarray,
    partition: Partition,
) -> Iterator[tuple[np.ndarray, np.ndarray, list[str]]]:
    """Solve the systems of candidates with the same kernel on every training set.

    There are three methods, of which the one with the fewest operations is used. (1) The inverse for all
    rows, with the mean penalty of each row, gives the solution on a training set by a small system for the
    rows left out (An, Liu and Venkatesh, 2007, "Fast cross-validation algorithms for least squares support
    vector machine and kernel ridge regression"). Balanced penalties differ a little between training sets, so
    the solution is refined with the true penalties, in one matrix product for all training sets. (2) The
    tridiagonal form of a training set's kernel matrix serves every C with equal penalties for all rows. (3)
    Otherwise, and where refinement does not make (1) or (2) accurate, there is one factorisation for each
    training set.

    Yields
    ------
    dual_coef : ndarray, shape (n_sets, n_samples, n_outputs)
        Zero for rows left out.
    intercept : ndarray, shape (n_sets, n_outputs)
    errors : list of str
        Why the system of a training set could not be solved; empty if it could.
    """
    trained = all_penalties[0] > 0
    right = trained[:, :, None] * np.hstack([np.ones((len(targets), 1)), targets])
    even = [_is_even(penalties) for penalties in all_penalties]
    method = _shortest(trained, right.shape[2], sum(even))
    n = len(targets)
    what = f"a kernel matrix of {n} x {n} rows and what is solved with it"
    check_memory(8 * (1 + SQUARES[method]) * n**2 + len(machines) * right.nbytes, what, ON_LANDMARKS)
    if method == "tridiagonal":
        shifts = [penalties.max() for penalties, alike in zip(all_penalties, even, strict=True) if alike]
        ready = _by_tridiagonals(kernel, shifts, trained, right)
    for machine, penalties, alike in zip(machines, all_penalties, even, strict=True):
        if method == "tridiagonal" and alike:
            solution, sound = next(ready)
        elif method == "inverse":
            solution, sound = _by_inverse(kernel, penalties, trained, right, partition)
        else:
            solution, sound = np.zeros_like(right), np.zeros(len(right), dtype=bool)
        errors = _solve_the_rest(machine, kernel, penalties, right, solution, sound)
        yield *_with_intercepts(solution, right, errors), errors


def _is_even(penalties: np.ndarray) -> bool:
    """Whether all rows of all training sets have the same penalty."""
    return bool(np.ptp(penalties[penalties > 0]) == 0)


def _shortest(trained: np.ndarray, n_columns: int, n_even: int) -> str:
    """The method with the fewest operations: "inverse", "tridiagonal" or "alone".

    The tridiagonal method is counted for `n_even` candidates with equal penalties; it is not available for 0.
    An inverse costs three factorisations of all rows for each candidate; each training set then costs a small
    factorisation of the rows that it leaves out, a solution, its residual and a refinement, of two products
    each. A reduction costs several factorisations; each candidate then costs six products: a solution, its
    residual, and a refinement or two.
    """
    n_sets, n_samples = trained.shape
    in_each = trained.sum(axis=1, dtype=float)
    factorisations = (in_each**3 / 3).sum()
    products = 2 * n_columns * (in_each**2).sum()
    inverse = n_samples**3 + ((n_samples - in_each) ** 3 / 3).sum() + 8 * n_samples**2 * n_sets * n_columns
    each = {"alone": factorisations + products, "inverse": inverse}
    operations = {name: max(1, n_even) * one for name, one in each.items()}
    if n_even:
        # A reduction takes as long as this many factorisations, because half of it is limited by memory
        # bandwidth.
        reductions = np.maximum(3, in_each / 600)  # measured from 500 rows (2) to 6000 (10)
        reduced = (reductions * in_each**3 / 3).sum()
        operations["tridiagonal"] = reduced + 6 * n_even * products
    return min(operations, key=operations.get)


def _by_tridiagonals(
    kernel: np.ndarray, shifts: Sequence[float], trained: np.ndarray, right: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each shift, the solutions on all training sets, in the shape of `right`, and which are accurate."""
    solutions = np.zeros((len(shifts), *right.shape))
    sound = np.zeros((len(shifts), len(right)), dtype=bool)
    for s, in_set in enumerate(trained):
        rows = np.flatnonzero(in_set)
        found = _by_tridiagonal(kernel[np.ix_(rows, rows)], shifts, right[s, rows])
        for i, (solution, accurate) in enumerate(found):
            solutions[i, s, rows], sound[i, s] = solution[0], accurate[0]
    return zip(solutions, sound, strict=True)


def _by_tridiagonal(system: np.ndarray, shifts: Sequence[float], right: np.ndarray) -> Iterator[tuple]:
    """Yield the result of `_refined` for a matrix with each shift, as for one training set."""
    norm = np.abs(system).sum(axis=1).max()
    reduced = Tridiagonal(system.copy(order="F"))
    for shift in shifts:
        yield _refined(
            lambda right, shift=shift: reduced.solve(right[0], [shift]),
            lambda solution, shift=shift: system @ solution + shift * solution,
            right[np.newaxis],
            norm + shift,
        )


def _solve_the_rest(machine, kernel, penalties, right, solution, sound) -> list[str]:
    """Solve the training sets without an accurate solution separately; return the error messages."""
    errors = [""] * len(right)
    for s in np.flatnonzero(~sound):
        rows = np.flatnonzero(penalties[s])
        system = kernel[np.ix_(rows, rows)]
        system.flat[:: len(rows) + 1] += penalties[s, rows]
        solution[s] = 0
        try:
            factor = _factorised(system, machine)
        except ValueError as failure:
            errors[s] = describe(failure)
        else:
            solution[s, rows] = cho_solve(factor, right[s, rows], check_finite=False)
    return errors


def _with_intercepts(solution, right, errors: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Dual coefficients and intercepts from the solutions for ones and targets; zero if there is none."""
    dual = np.zeros_like(right[:, :, 1:])
    intercept = np.zeros((len(right), dual.shape[2]))
    for s in range(len(right)):
        if not errors[s]:
            dual[s], intercept[s] = bordered_solve(lambda _, s=s: solution[s], right[s, :, 1:])
    return dual, intercept


def _by_inverse(
    kernel: np.ndarray, penalties: np.ndarray, trained: np.ndarray, right: np.ndarray, partition: Partition
) -> tuple[np.ndarray, np.ndarray]:
    """The solutions on all training sets by a shared inverse, and which are accurate."""
    reference = penalties.sum(axis=0) / trained.sum(axis=0)
    try:
        inverse = _SharedInverse(kernel, reference, partition)
    except np.linalg.LinAlgError:
        return np.zeros_like(right), np.zeros(len(right), dtype=bool)
    in_set, own = trained[:, :, None], penalties[:, :, None]
    norm = np.abs(kernel).sum(axis=1).max() + penalties.max()
    return _refined(
        inverse.solve, lambda solution: in_set * _product(kernel, solution) + own * solution, right, norm
    )


def _refined(
    solve: Callable, multiply: Callable, right: np.ndarray, norm: float
) -> tuple[np.ndarray, np.ndarray]:
    """Solutions of systems that `solve` solves approximately, and which of them are accurate.

    A solution is refined as long as this halves its residual. It is accurate if the remaining residual of
    each column is not larger than rounding explains.

    Parameters
    ----------
    solve, multiply : callable
        The approximate inverse and the matrix, applied to an array in the shape of `right`.
    right : ndarray, shape (n_sets, n_samples, n_columns)
    norm : float
        A bound of the maximum norms of the systems' matrices.
    """
    solution, before = solve(right), np.full(len(right), np.inf)
    for refinement in range(MOST_REFINEMENTS + 1):
        residual = right - multiply(solution)
        largest = np.abs(residual).max(axis=1)
        error = largest.max(axis=1)
        better = error < before / 2
        if refinement == MOST_REFINEMENTS or not better.any():
            break
        solution = np.where(better[:, None, None], solution + solve(residual), solution)
        before = np.where(better, error, -np.inf)
    rounding = np.finfo(float).eps * right.shape[1] ** 0.5 * norm  # of sums of n_samples products
    return solution, (largest <= rounding * np.abs(solution).max(axis=1)).all(axis=1)


# Number of matrices of all pairs of rows that each method needs besides the kernel matrix.
SQUARES = {"alone": 1, "inverse": 3, "tridiagonal": 3}
MOST_REFINEMENTS = 25


def _product(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Product of a matrix and several right-hand sides, shape (n_sets, n_samples, n_columns)."""
    n_sets, n_samples, n_columns = right.shape
    flat = right.transpose(1, 0, 2).reshape(n_samples, -1)
    return (matrix @ flat).reshape(n_samples, n_sets, n_columns).transpose(1, 0, 2)


class _SharedInverse:
    """Inverse of a kernel matrix plus a diagonal, on all rows and on all rows without some parts.

    If B is the inverse on all rows and S the rows left out, the inverse on the other rows, T, is
    ``B_TT - B_TS B_SS^-1 B_ST``. Rows must be ordered by part.
    """

    def __init__(self, kernel: np.ndarray, diagonal: np.ndarray, partition: Partition):
        system = kernel.T.copy(order="F")
        system.flat[:: len(system) + 1] += diagonal
        factor = cholesky(system, lower=True, overwrite_a=True, check_finite=False)
        lower, _ = dpotri(factor, lower=1, overwrite_c=1)
        self.inverse = np.tril(lower, -1)
        self.inverse += np.tril(lower).T
        self.held = [
            [slice(rows[0], rows[-1] + 1) for rows in map(partition.held_out, zip(left_out)) if len(rows)]
            for left_out in partition.left_out
        ]
        self.factors = [cho_factor(self._between(held)) if held else None for held in self.held]

    def _between(self, held: Sequence[slice]) -> np.ndarray:
        return np.block([[self.inverse[rows, columns] for columns in held] for rows in held])

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solutions for each training set's right-hand sides, shape (n_sets, n_samples, n_columns).

        They are zero for rows left out, where `right` must be zero.
        """
        solution = np.ascontiguousarray(_product(self.inverse, right))
        for mine, held, factor in zip(solution, self.held, self.factors, strict=True):
            if not held:
                continue
            small = cho_solve(factor, np.concatenate([mine[rows] for rows in held]))
            edges = np.cumsum([rows.stop - rows.start for rows in held])[:-1]
            for rows, some in zip(held, np.split(small, edges), strict=True):
                mine -= self.inverse[:, rows] @ some
            for rows in held:
                mine[rows] = 0
        return solution
