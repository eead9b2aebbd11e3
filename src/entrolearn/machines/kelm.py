"""Kernel extreme learning machines: ridge regression in a kernel's feature space.

Huang, Zhou, Ding and Zhang (2012), as eq. (6) of Deng, Ong and Zheng (2016) states it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from sklearn.base import clone

from entrolearn.kernels import (
    KERNELS,
    ON_LANDMARKS,
    check_memory,
    kernel_matrix,
    kernel_params,
    linear_coef,
    n_bytes,
)
from entrolearn.machines.base import OutputClassifier, OutputRegressor, answer, path_targets
from entrolearn.machines.devices import as_columns
from entrolearn.machines.layers import POWER, LandmarkLayer, project_rows
from entrolearn.machines.ridge import (
    CHOLESKY_UP_TO,
    RIDGE,
    Spectrum,
    cholesky_solve,
    ridge_candidates,
)
from entrolearn.path import Partition, PathPoint, acceptable, describe, path, same_settings
from entrolearn.validation import Interval, StrOptions

__all__ = ["KELMClassifier", "KELMRegressor"]

# LAPACK's workspace for an eigendecomposition, in bytes per matrix element.
WORKSPACE = 16


class _KELM:
    """Parameters and solver shared by the classifier and the regressor."""

    _parameter_constraints: dict = {
        "C": RIDGE,
        "fit_intercept": ["boolean"],
        "kernel": [StrOptions(KERNELS), callable],
        "sigma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "power": POWER,
    }

    def __init__(
        self,
        *,
        C=2**-10,
        fit_intercept=False,
        kernel="gaussian",
        sigma="scale",
        degree=3,
        coef0=1,
        power=1.0,
    ):
        self.C = C
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.power = power

    def _kernel_params(self, X, weights: np.ndarray | None = None) -> dict:
        gamma = self.sigma if isinstance(self.sigma, str) else 1 / self.sigma
        return kernel_params(X, self.kernel, gamma, self.degree, self.coef0, weights, self.power)

    def _fit_outputs(self, X, T: np.ndarray, weights: np.ndarray | None) -> None:
        vars(self).pop("loo_errors_", None)
        candidates = ridge_candidates(self.C)
        params = self._kernel_params(X, weights)
        workspace = 0 if candidates is None else WORKSPACE * len(T) ** 2
        gram = kernel_matrix(X, X, self.kernel, params, beside=n_bytes(X) + workspace)
        self._layer = LandmarkLayer(X.copy(), self.kernel, params)  # a copy, because the caller may modify X
        centring = _Centring.of(gram, T, self.fit_intercept, weights)
        T = T - centring.targets
        if weights is not None:  # (K + C W^-1) alpha = T as (W^1/2 K W^1/2 + C I) W^-1/2 alpha = W^1/2 T
            roots = np.sqrt(weights)[:, None]
            gram *= roots
            gram *= roots.T
            T = roots * T
        if candidates is None:
            self.C_ = float(self.C)
            dual, method = _solve(gram, T, self.C)
        else:
            spectrum = Spectrum.of(gram.T)
            self.loo_errors_ = _leave_one_out_errors(spectrum, T, candidates, centring, weights)
            self.C_ = float(candidates[self.loo_errors_.argmin()])
            dual, method = spectrum.solve(T, self.C_), "eigh"
        dual = dual if weights is None else roots * dual
        one, intercept = dual.shape[1] == 1, centring.intercept(dual)
        self.dual_coef_ = dual[:, 0] if one else dual
        self.intercept_ = float(intercept[0]) if one else intercept
        self.solver_info_ = {"method": method}

    def _system(self, X, y) -> tuple[np.ndarray, np.ndarray, bool]:
        """Kernel matrix of the rows, penalties on its diagonal, and whether the system has an intercept."""
        return self._layer(X), np.full(len(y), self.C_), self.fit_intercept

    @property
    def X_fit_(self):
        """The training rows, which a prediction needs."""
        return self._layer.landmarks

    @property
    def coef_(self) -> np.ndarray:
        """Feature weights for the linear kernel, shape (n_outputs, n_features)."""
        return linear_coef(self.kernel, self.dual_coef_.reshape(len(self.dual_coef_), -1).T, self.X_fit_)

    def _linear_part(self):
        return self._layer, as_columns(self.dual_coef_)

    def _outputs(self, X) -> np.ndarray:
        layer, coef = self._linear_part()
        (outputs,) = project_rows(layer, X, [coef])
        return outputs + self.intercept_

    def __sklearn_is_fitted__(self):
        return hasattr(self, "dual_coef_")


class KELMClassifier(_KELM, OutputClassifier):
    """Kernel extreme learning machine for classification: every training row is a hidden unit.

    Solves ``(C I + K) alpha = T`` with targets ±1, eq. (6): kernel ridge regression without an intercept.
    Time grows with the cube of the number of rows and memory with its square.

    Parameters
    ----------
    C : float or sequence of float, default=2**-10
        Ridge parameter; larger is smoother. From a sequence, the value with the smallest leave-one-out
        squared error is selected.
    fit_intercept : bool, default=False
        Whether to fit an intercept, which the ridge does not penalise. The paper has no intercept.
    kernel : str or callable, default="gaussian"
        A name in :data:`entrolearn.kernels.KERNELS` or a function of two rows.
    sigma : float or "scale", default="scale"
        Kernel width: exp(-||x - z||^2 / sigma). For kernels of the inner product, gamma is 1 / sigma.
        ``"scale"``: n_features * X.var().
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant term of the polynomial and sigmoid kernels.
    power : float, default=1.0
        Exponent of the exponential_power kernel, exp(-r^power) with r² = ||x - z||² / sigma; in (0, 2].

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_samples,), or (n_samples, n_classes) for more than two classes
    intercept_ : float, or ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features), or (n_classes, n_features) for more than two classes
        Feature weights, for ``kernel="linear"``.
    X_fit_ : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The training rows, which are needed for predictions.
    C_ : float
        The ridge parameter in use.
    loo_errors_ : ndarray of shape (n_ridges,)
        Mean squared leave-one-out error for each C of a sequence.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" for a sequence of C or if C I + K is not positive definite.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    RKELMClassifier : Uses a random subset of the rows as hidden units, and is much faster.
    LSSVC : The same model with ``fit_intercept=True`` and class weights; its C is 1 / C.

    References
    ----------
    .. [1] G.-B. Huang, H. Zhou, X. Ding and R. Zhang (2012). Extreme learning machine for regression and
       multiclass classification. IEEE Transactions on Systems, Man, and Cybernetics B 42, 513-529.
    .. [2] W.-Y. Deng, Y.-S. Ong and Q.-H. Zheng (2016). A fast reduced kernel extreme learning machine.
       Neural Networks 76, 29-38.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import KELMClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> KELMClassifier(sigma=0.5).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.98
    True
    """


class KELMRegressor(_KELM, OutputRegressor):
    """Kernel extreme learning machine for regression.

    Like :class:`KELMClassifier`, but the targets are the values of y, and there is an intercept.

    Parameters
    ----------
    C : float or sequence of float, default=0.3
        Ridge parameter; larger is smoother. From a sequence, the value with the smallest leave-one-out
        squared error is selected.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which the ridge does not penalise. The paper has no intercept.
    kernel : str or callable, default="gaussian"
        A name in :data:`entrolearn.kernels.KERNELS` or a function of two rows.
    sigma : float or "scale", default="scale"
        Kernel width: exp(-||x - z||^2 / sigma). For kernels of the inner product, gamma is 1 / sigma.
        ``"scale"``: n_features * X.var().
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant term of the polynomial and sigmoid kernels.
    power : float, default=1.0
        Exponent of the exponential_power kernel, exp(-r^power) with r² = ||x - z||² / sigma; in (0, 2].

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,), or (n_samples, n_outputs) for several outputs
    intercept_ : float, or ndarray of shape (n_outputs,)
    coef_ : ndarray of shape (n_outputs, n_features)
        Feature weights, for ``kernel="linear"``.
    X_fit_ : {ndarray, CSR matrix} of shape (n_samples, n_features)
        The training rows, which are needed for predictions.
    C_ : float
        The ridge parameter in use.
    loo_errors_ : ndarray of shape (n_ridges,)
        Mean squared leave-one-out error for each C of a sequence.
    solver_info_ : dict
        ``method``: "cholesky", or "eigh" for a sequence of C or if C I + K is not positive definite.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined if X has string column names.

    See Also
    --------
    RKELMRegressor : Uses a random subset of the rows as hidden units, and is much faster.
    LSSVR : The same model; its C is 1 / C, its gamma 1 / sigma.

    Notes
    -----
    The default C is the best of seven values on half of the catalog's regression data sets (features
    standardised, at most 1,000 training rows). Its mean R² is .60 on this half and .61 on the other. The
    previous default, 2**-10 without an intercept, has .13 and .41 (measured once, at commit 8fd01639).

    References
    ----------
    .. [1] G.-B. Huang, H. Zhou, X. Ding and R. Zhang (2012). Extreme learning machine for regression and
       multiclass classification. IEEE Transactions on Systems, Man, and Cybernetics B 42, 513-529.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import KELMRegressor
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sinc(X[:, 0])
    >>> KELMRegressor(C=1e-3, sigma=1.0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.999
    True
    """

    def __init__(
        self,
        *,
        C=0.3,
        fit_intercept=True,
        kernel="gaussian",
        sigma="scale",
        degree=3,
        coef0=1,
        power=1.0,
    ):
        super().__init__(
            C=C,
            fit_intercept=fit_intercept,
            kernel=kernel,
            sigma=sigma,
            degree=degree,
            coef0=coef0,
            power=power,
        )


@dataclass(frozen=True)
class _Centring:
    """Centring of kernel matrix and targets, from which the intercept is computed.

    With an intercept the dual coefficients add up to zero, and solve the system of the centred kernel matrix
    J K J with J = I - 11'/n. Its eigenvalue along 1 is zero. It is replaced by a positive one, which makes
    the matrix positive definite and does not change the solution, because centred targets are orthogonal to
    1. For weighted rows the means are weighted, and the square roots of the weights replace 1.

    Attributes
    ----------
    columns : ndarray, shape (n_samples,)
        Means of the columns of K; zeros without an intercept.
    targets : ndarray, shape (n_outputs,)
        Means of the targets; zeros without an intercept.
    along_ones : float or None
        The eigenvalue along 1; None without an intercept.
    """

    columns: np.ndarray
    targets: np.ndarray
    along_ones: float | None = None

    @classmethod
    def of(cls, gram: np.ndarray, T: np.ndarray, intercept: bool, weights=None) -> "_Centring":
        """Centre the kernel matrix in place if there is an intercept."""
        n = len(gram)
        if not intercept:
            return cls(np.zeros(n), np.zeros(T.shape[1]))
        along_ones = float(np.abs(np.diagonal(gram)).mean()) or 1.0  # the mean eigenvalue
        if weights is None:
            columns, targets = gram.mean(axis=0), T.mean(axis=0)
            mean = columns.mean()
        else:
            n = weights.sum()
            columns, targets = weights @ gram / n, weights @ T / n
            mean = weights @ columns / n
        gram -= columns[:, None]
        gram -= columns - (mean + along_ones / n)
        return cls(columns, targets, along_ones)

    def intercept(self, dual: np.ndarray) -> np.ndarray:
        """The mean target minus the mean output, shape (n_outputs,)."""
        return self.targets - self.columns @ dual


def _solve(gram: np.ndarray, T: np.ndarray, ridge: float) -> tuple[np.ndarray, str]:
    """Dual coefficients and the method. The symmetric matrix, in C order, is overwritten."""
    diagonal = np.diagonal(gram).copy()
    dual = cholesky_solve(gram.T, T, ridge)
    if dual is not None:
        return dual, "cholesky"
    gram.flat[:: len(gram) + 1] = diagonal  # the other triangle is unchanged
    n = len(gram)
    what = f"the eigendecomposition of a kernel matrix of {n} x {n} rows, which has no Cholesky factor,"
    check_memory((8 + WORKSPACE) * n**2, what, ON_LANDMARKS)
    return Spectrum.of(gram.T, lower=False).solve(T, ridge), "eigh"


def _leave_one_out_errors(
    spectrum: Spectrum,
    T: np.ndarray,
    ridges: Sequence[float],
    centring: _Centring,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Mean squared leave-one-out error for each ridge parameter.

    The leave-one-out error of a row is its dual coefficient divided by its diagonal element of (K + C I)^-1.
    With an intercept, the diagonal is that of the bordered system's inverse, which equals the inverse of
    J K J + C I on the complement of 1. Weighted rows are left out as in
    :func:`entrolearn.machines.ridge.leave_one_out_errors`; `spectrum` and `T` are then those of the weighted
    system.
    """
    inverse = np.array([spectrum.inverse_values(ridge) for ridge in ridges]).T
    diagonals = np.square(spectrum.vectors) @ inverse  # (n_samples, n_ridges)
    if centring.along_ones is not None:
        shares = 1 / len(T) if weights is None else (weights / weights.sum())[:, None]
        diagonals -= shares / (centring.along_ones + np.asarray(ridges))
    duals = (spectrum.solve(T, ridge) for ridge in ridges)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if weights is not None:
            left_out = np.minimum(weights, 1.0)[:, None]
            rest = weights[:, None] - left_out  # without a ridge it interpolates the row
            diagonals = left_out * diagonals + np.where(rest > 0, rest / np.asarray(ridges), 0.0)
            diagonals *= np.sqrt(weights.mean()) / weights[:, None]  # weight of the row in the mean
        pairs = zip(duals, diagonals.T, strict=True)
        errors = np.array([np.mean((dual / own[:, None]) ** 2) for dual, own in pairs])
    return np.where(np.isfinite(errors), errors, np.inf)  # the diagonal of the inverse vanished


# --- path: one kernel matrix serves every C and every training set ------------------------------------


@path.register
def _kelm_path(estimator: _KELM, X, y, partition: Partition, grid: Sequence[dict]) -> Iterator[PathPoint]:
    """One kernel matrix per kernel, and one factorisation of a submatrix per training set and C."""
    machines = [clone(estimator).set_params(**params) for params in grid]
    data = path_targets(estimator, X, y, partition)
    if data is None or not all(map(_shares_kernel, machines)):
        yield from path.dispatch(object)(estimator, X, y, partition, grid)
        return
    X, T, classes = data
    for members in same_settings(machines, "kernel", "sigma", "degree", "coef0", "power", "fit_intercept"):
        wanted = [(left_out, grid[i]) for left_out in partition.left_out for i in members]
        try:
            outputs = _outputs_on_training_sets([machines[i] for i in members], X, T, partition)
        except (ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            yield from (PathPoint(left_out, params, error=describe(error)) for left_out, params in wanted)
            continue
        for (left_out, params), output in zip(wanted, outputs, strict=True):
            yield PathPoint(left_out, params, **answer(output, classes))


def _shares_kernel(machine: _KELM) -> bool:
    """Whether the kernel is the same for all training sets, and C a single number."""
    return acceptable(machine) and not isinstance(machine.sigma, str) and np.isscalar(machine.C)


def _outputs_on_training_sets(
    machines: Sequence[_KELM], X, T: np.ndarray, partition: Partition
) -> list[np.ndarray]:
    """Outputs for all rows of each training set's models with one kernel, shape (n_samples, n_outputs)."""
    sets = [partition.training(left_out) for left_out in partition.left_out]
    seen = np.unique(np.concatenate(sets))
    unseen = np.setdiff1d(np.arange(X.shape[0]), seen)
    kernel, params = machines[0].kernel, machines[0]._kernel_params(X)
    X_seen, n_outputs = X[seen], T.shape[1]
    many = len(machines) > CHOLESKY_UP_TO
    of_a_set = (8 + (WORKSPACE if many else 8)) * max(map(len, sets)) ** 2  # its submatrix and the workspace
    of_all = 8 * (len(seen) + X.shape[0]) * len(sets) * len(machines) * n_outputs
    gram = kernel_matrix(X_seen, X_seen, kernel, params, beside=of_a_set + of_all)
    duals = np.zeros((len(seen), len(sets) * len(machines) * n_outputs))
    intercepts = np.zeros(duals.shape[1])
    for s, rows in enumerate(sets):
        places = np.searchsorted(seen, rows)
        columns = slice(s * len(machines) * n_outputs, (s + 1) * len(machines) * n_outputs)
        of_set = gram[np.ix_(places, places)]
        centring = _Centring.of(of_set, T[rows], machines[0].fit_intercept)
        solutions = _solve_each(of_set, T[rows] - centring.targets, [machine.C for machine in machines])
        duals[places, columns] = np.hstack(solutions)
        intercepts[columns] = np.hstack([centring.intercept(dual) for dual in solutions])
    outputs = np.empty((X.shape[0], duals.shape[1]))
    outputs[seen] = gram @ duals
    if len(unseen):
        outputs[unseen] = kernel_matrix(X[unseen], X_seen, kernel, params) @ duals
    outputs += intercepts
    return np.split(outputs, len(sets) * len(machines), axis=1)


def _solve_each(gram: np.ndarray, T: np.ndarray, ridges: Sequence[float]) -> list[np.ndarray]:
    """Dual coefficients for each ridge."""
    if len(ridges) <= CHOLESKY_UP_TO:
        return [_solve(gram.copy(), T, ridge)[0] for ridge in ridges]
    spectrum = Spectrum.of(gram.T)
    return [spectrum.solve(T, ridge) for ridge in ridges]
