"""Solvers that maximise the divergence of a projection from one starting point.

The divergence depends only on the subspace, so the constraint V'V = I only selects a basis. The three solvers
drop the constraint and orthonormalise at the end, penalise its violation, or stay on the manifold.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr
from scipy.optimize import OptimizeResult, minimize

from entrolearn.manifold.objective import ProjectedDivergence

__all__ = ["SOLVERS", "Climb"]


@dataclass(frozen=True)
class Climb:
    """Result of a solver from one start.

    Attributes
    ----------
    V : ndarray, shape (n_features, k)
        The orthonormal basis found.
    objective : float
        The divergence of `V`.
    n_iter, n_evaluations : int
    converged : bool
    history : list of float
        The objective after each iteration.
    """

    V: np.ndarray
    objective: float
    n_iter: int
    n_evaluations: int
    converged: bool
    history: list[float] = field(repr=False)


def whitened(divergence: ProjectedDivergence, V: np.ndarray, *, max_iter: int, tol: float) -> Climb:
    """L-BFGS without a constraint, in coordinates in which the kernels are round; V is a start in these.

    Features of different scales make the problem badly conditioned; the divergence does not depend on the
    coordinates. The gradient is orthogonal to V, so the columns do not become dependent. The coordinates are
    along the features instead of eigenvectors, whose signs depend on rounding errors and would change the
    starts.
    """
    kernel = divergence.kernels.mean(axis=0, dtype=np.float64)
    width = np.sqrt(kernel.diagonal())
    if not width.min() > 0:
        raise np.linalg.LinAlgError("the classes have no variance along a feature")
    values, vectors = eigh(kernel / np.outer(width, width))
    if not values[0] > len(values) * np.finfo(float).eps:
        raise np.linalg.LinAlgError("the classes have no variance in some direction")
    whitening = (vectors / np.sqrt(values)) @ vectors.T / width[:, np.newaxis]
    problem = divergence.transformed(whitening.astype(divergence.kernels.dtype))
    found = _lbfgs(problem, _orthonormal(V), max_iter=max_iter, tol=tol)
    return _climb(divergence, whitening @ found.x.reshape(V.shape), found)


def penalty(divergence: ProjectedDivergence, V: np.ndarray, *, max_iter: int, tol: float) -> Climb:
    """The paper's solver: L-BFGS on D(V) - |V'V - I|², equation (2)."""

    def penalised(V: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = divergence(V)
        excess = V.T @ V - np.eye(V.shape[1])
        return value - float(np.sum(excess**2)), gradient - 4 * V @ excess

    found = _lbfgs(penalised, V, max_iter=max_iter, tol=tol)
    return _climb(divergence, found.x.reshape(V.shape), found)


def stiefel(divergence: ProjectedDivergence, V: np.ndarray, *, max_iter: int, tol: float) -> Climb:
    """Conjugate gradients on the manifold of subspaces, by pymanopt."""
    try:
        import pymanopt
        from pymanopt.manifolds import Grassmann
        from pymanopt.optimizers import ConjugateGradient
    except ImportError as error:
        raise ImportError(
            "solver='stiefel' needs pymanopt, which is not installed: pip install 'entrolearn[stiefel]'"
        ) from error
    manifold = Grassmann(*V.shape)
    evaluated = _LastEvaluation(divergence)

    @pymanopt.function.numpy(manifold)
    def cost(V):
        return -evaluated(V)[0]

    @pymanopt.function.numpy(manifold)
    def euclidean_gradient(V):
        return -evaluated(V)[1]

    problem = pymanopt.Problem(manifold, cost, euclidean_gradient=euclidean_gradient)
    optimizer = ConjugateGradient(
        max_iterations=max_iter,
        min_gradient_norm=np.sqrt(tol),
        min_step_size=1e-10,
        max_time=np.inf,
        verbosity=0,
        log_verbosity=1,
    )
    with np.errstate(invalid="ignore"):  # 0 / 0 for an unchanged gradient, after which pymanopt restarts
        found = optimizer.run(problem, initial_point=_orthonormal(V))
    history = [-float(value) for value in found.log["iterations"]["cost"]]
    value, _ = divergence(found.point)
    return Climb(found.point, value, found.iterations, evaluated.number, found.iterations < max_iter, history)


#: Functions of the divergence, a start of shape (n_features, k), ``max_iter`` and ``tol``.
SOLVERS: dict[str, Callable[..., Climb]] = {"whitened": whitened, "penalty": penalty, "stiefel": stiefel}


class _LastEvaluation:
    """A function that stores its last value, so that separate calls for value and gradient evaluate it once.

    If the function is undefined at a point after it was defined at another, the value is minus infinity, from
    which a line search backtracks.
    """

    def __init__(self, function: Callable):
        self._function = function
        self._at: Any = None
        self._found: Any = None
        self.number = 0

    def __call__(self, V: np.ndarray):
        if self._at is None or not np.array_equal(V, self._at):
            try:
                self._found = self._function(V)
            except np.linalg.LinAlgError:
                if not self.number:
                    raise
                self._found = -np.inf, np.zeros_like(V)
            self._at = V.copy()
            self.number += 1
        return self._found


def _lbfgs(function: Callable, start: np.ndarray, *, max_iter: int, tol: float):
    """Maximise from a start; returns scipy's result with the ``history`` of the objective.

    The search ends before a step to a point at which the function is undefined.
    """
    history, last = [], OptimizeResult(nit=0, nfev=0, status=0)

    def negated(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = function(x.reshape(start.shape))
        if not last.nfev:
            last.update(x=x.copy(), fun=-value)
        last.nfev += 1
        return -value, -np.asarray(gradient, dtype=np.float64).ravel()

    def note(intermediate_result) -> None:
        history.append(-float(intermediate_result.fun))
        last.update(x=intermediate_result.x.copy(), fun=intermediate_result.fun, nit=len(history))

    options = {"maxiter": max_iter, "ftol": tol, "gtol": 1e-5, "maxfun": 20 * max_iter}
    try:
        found = minimize(negated, start.ravel(), jac=True, method="L-BFGS-B", callback=note, options=options)
    except np.linalg.LinAlgError:
        if not last.nfev:
            raise
        found = last
    found.history = history
    return found


def _climb(divergence: ProjectedDivergence, V: np.ndarray, found) -> Climb:
    V = _orthonormal(V)
    try:
        value, _ = divergence(V)
    except np.linalg.LinAlgError:  # rounding errors decide whether it is defined: take the solver's value
        value = -float(found.fun)
    return Climb(V, value, found.nit, found.nfev, found.status == 0, found.history)


def _orthonormal(V: np.ndarray) -> np.ndarray:
    return qr(V, mode="economic")[0]
