"""The linear programs of sparse support vector machines, solved by HiGHS in their dual form.

The output is ``f(x) = sum_j a_j k(x, x_j) + b``. With one margin condition per row (or two),
``A a + b h >= t - xi`` and slacks ``xi >= 0``, the coefficients are the solution of::

    minimise   weight ||a||_1 + loss_weight w'xi    with   0 <= a <= u,  or  -u <= a <= u where signed

where w are the weights of the conditions' rows, and u is C times the weights of the candidates' rows.

The one-norm SVM penalises all coefficients. On a given set of support vectors only the loss is minimised. The
dual is solved, which has a row for each candidate instead of each condition. A set of support vectors is then
a subset of rows, which are switched on and off by their bounds, so that the simplex method can start from the
solution for the previous set.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import highspy
import numpy as np

from entrolearn.kernels import check_memory

__all__ = [
    "Margins",
    "Solution",
    "check_size",
    "class_margins",
    "on_support",
    "on_supports",
    "one_norm",
    "value_margins",
]

# Coefficients that change no output by more than this are set to zero. The paper's bound is 1e-6 for a
# itself, which would ignore the size of the kernel values.
NEGLIGIBLE = 1e-6
# Largest accepted duality gap, as a share of loss_weight w'|t|. In classification this is the loss with all
# coefficients zero.
GAP = 1e-5
SOLVED = {highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kUnknown}
# The bound of a coefficient is omitted from the program at first if it allows outputs to change by this much;
# it would be a cost of 1e11 beside costs of 1. If the bound is active, the duality gap shows it.
LOOSE = 1e6
# Most iterations of a solve per row and column of the program. Measured: fewer than one, unless numbers of
# too different sizes make HiGHS go round in circles.
ITERATIONS = 1000
# Smaller columns are treated as zero, because no finite coefficient would give them an effect.
LEAST_SCALE = 1e-150
# Columns that are constant up to this share of their largest value are also treated as zero.
ROUNDING = 8 * np.finfo(float).eps
# Measured bytes per element of A, for 300 to 3000 rows: A, its scaled copy, and HiGHS's copies by columns and
# by rows with indices. HiGHS reserves more memory than it uses.
BYTES, RESERVED = 105, 296


@dataclass(frozen=True)
class Margins:
    """Conditions ``A a + b h >= t - xi`` on the coefficients of some candidates.

    Attributes
    ----------
    A : ndarray, shape (n_conditions, n_candidates)
    h : ndarray, shape (n_conditions,)
        +1 and -1.
    t : ndarray, shape (n_conditions,)
    C : float
    signed : bool
        Whether coefficients may be negative.
    weights : ndarray, shape (n_conditions,)
        Weight of the slack of each condition.
    largest : ndarray, shape (n_candidates,)
        Upper bounds of the coefficients: C times the weight of the candidate's row.
    """

    A: np.ndarray
    h: np.ndarray
    t: np.ndarray
    C: float
    signed: bool
    weights: np.ndarray
    largest: np.ndarray

    @cached_property
    def centre(self) -> np.ndarray:
        """The centre of each column, as a multiple of h, which the intercept compensates for.

        The polynomial or linear kernel of rows far from the origin is a large constant plus small
        differences, which are the relevant part.
        """
        values = self.h[:, None] * self.A
        return (values.max(axis=0) + values.min(axis=0)) / 2

    @cached_property
    def scale(self) -> np.ndarray:
        """The largest absolute value of each centred column: the effect of a coefficient of 1 on an output.

        It is used to scale the columns. Columns of a polynomial kernel of degree five are of size 1e5 to
        1e11; without scaling, a simplex method that starts from another basis finds wrong optima.
        """
        largest = np.abs(self.A - self.h[:, None] * self.centre).max(axis=0)
        least = np.maximum(LEAST_SCALE, ROUNDING * np.abs(self.A).max(axis=0))
        return np.where(largest > least, largest, 1.0)

    @cached_property
    def columns(self) -> np.ndarray:
        """A with its columns centred and scaled, shape (n_conditions, n_candidates)."""
        return (self.A - self.h[:, None] * self.centre) / self.scale

    def among(self, candidates: np.ndarray) -> "Margins":
        """The conditions on a subset of the candidates, given by their indices."""
        return replace(self, A=self.A[:, candidates], largest=self.largest[candidates])

    def negligible(self, coef: np.ndarray) -> np.ndarray:
        """Mask of coefficients without a relevant effect on outputs, shape (n_candidates,)."""
        return np.abs(coef) * self.scale < NEGLIGIBLE

    def losses(self, coef: np.ndarray, intercept: float) -> np.ndarray:
        """Slack of each condition times its weight, shape (n_conditions,)."""
        shift = intercept + self.centre @ coef
        return self.weights * np.maximum(self.t - self.columns @ (self.scale * coef) - shift * self.h, 0)


@dataclass(frozen=True)
class Solution:
    """Solution of a linear program.

    Attributes
    ----------
    coef : ndarray, shape (n_candidates,)
    intercept : float
    loss : float
        w'xi, computed from the coefficients.
    objective : float
        weight ||a||_1 + loss_weight w'xi
    bound : float
        Lower bound of the objective: that of the dual.
    """

    coef: np.ndarray
    intercept: float
    loss: float
    objective: float
    bound: float


def class_margins(kernel: np.ndarray, signs: np.ndarray, C: float, weights=None) -> Margins:
    """``y_i f(x_i) >= 1 - xi_i`` with ``f = sum_j a_j y_j k(., x_j) + b``: equations 7 and 8 of [1]_.

    Parameters
    ----------
    kernel : ndarray, shape (n_samples, n_samples)
    signs : ndarray, shape (n_samples,)
        +1 and -1.
    C : float
    weights : ndarray, shape (n_samples,), optional
        Sample weights. Default: all ones.

    References
    ----------
    .. [1] S. Mannor, D. Peleg and R. Rubinstein (2005). The cross entropy method for classification. ICML.
    """
    ones = np.ones(len(signs))
    weights = ones if weights is None else weights
    A = signs[:, None] * kernel * signs
    return Margins(A, signs, ones, C, signed=False, weights=weights, largest=_bounds(C, weights))


def _bounds(C: float, weights: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # infinite: none
        return C * weights


def value_margins(kernel: np.ndarray, y: np.ndarray, epsilon: float, C: float, weights=None) -> Margins:
    """``|f(x_i) - y_i| <= epsilon + xi_i`` with ``f = sum_j a_j k(., x_j) + b``, with two conditions per row.

    At most one of the two has a positive slack, so their sum is the epsilon-insensitive loss.
    """
    ones = np.ones(len(y))
    weights = ones if weights is None else weights
    return Margins(
        np.vstack([kernel, -kernel]),
        np.concatenate([ones, -ones]),
        np.concatenate([y - epsilon, -y - epsilon]),
        C,
        signed=True,
        weights=np.concatenate([weights, weights]),
        largest=_bounds(C, weights),
    )


def one_norm(margins: Margins) -> Solution:
    """The one-norm SVM: minimise the one-norm of the coefficients plus C times the loss, equation 8.

    With scaled columns the costs of the coefficients can be smaller than the solver's tolerance. The
    objective is therefore multiplied by a factor that makes these costs about 1. If this problem is too
    ill-conditioned, for example if coefficients of 1e9 cancel because rows are far from the origin, it is
    solved again without the factor; costs below the tolerance then count as zero.

    Raises
    ------
    ArithmeticError
        If HiGHS finds no optimum in both attempts.
    """
    typical = float(np.exp(np.log(margins.scale).mean()))
    try:
        return _Program(margins, weight=1.0, loss_weight=margins.C, unit=typical).solve()
    except ArithmeticError:
        return _Program(margins, weight=1.0, loss_weight=margins.C).solve()


def on_support(margins: Margins, used: np.ndarray) -> Solution:
    """The solution with the smallest loss for one set of candidates, equation 7.

    Parameters
    ----------
    margins : Margins
    used : ndarray of bool, shape (n_candidates,)

    Raises
    ------
    ArithmeticError
        If HiGHS finds no optimum.
    """
    program = _Program(margins, weight=0.0, loss_weight=1.0)
    program.restrict(used)
    return program.solve()


def on_supports(margins: Margins, supports: Iterable[np.ndarray]) -> Iterator[Solution | None]:
    """Yield the solutions of :func:`on_support` for several sets of candidates.

    Each solution starts from the previous one in the same HiGHS model, so that similar consecutive sets are
    faster.

    Parameters
    ----------
    margins : Margins
    supports : iterable of ndarray of bool, shape (n_candidates,)

    Yields
    ------
    Solution or None
        None if HiGHS finds no optimum for a set; the other sets are not affected.
    """
    program = _Program(margins, weight=0.0, loss_weight=1.0)
    for used in supports:
        program.restrict(used)
        try:
            yield program.solve()
        except ArithmeticError:
            yield None


def check_size(n_conditions: int, n_candidates: int) -> None:
    """Raise if there is not enough memory for the program, before the kernel is computed.

    Raises
    ------
    MemoryError
        With the required and the available memory.
    """
    check_memory(
        BYTES * n_conditions * n_candidates,
        f"a linear program of {n_conditions} conditions on {n_candidates} candidate support vectors",
        "train on fewer rows, or take an estimator with landmarks, such as RSVC and RSVR",
        reserved=RESERVED * n_conditions * n_candidates,
    )


class _Program:
    """The HiGHS model of the dual program, with one row per candidate.

    In terms of coefficients for scaled columns, maximise ``t'z - sum_j C_j (p_j + q_j)`` where
    ``0 <= z <= loss_weight w``, ``h'z = 0``, ``-weight_j <= a_j'z - p_j + q_j <= weight_j``; ``q`` and the
    lower bound exist only for signed coefficients. The coefficients are the dual values of the rows.
    """

    def __init__(self, margins: Margins, *, weight: float, loss_weight: float, unit: float = 1.0):
        self._margins, self._weight, self._loss_weight, self._unit = margins, weight, loss_weight, unit
        self._n_conditions, self._n_candidates = margins.A.shape
        self._n_slacks = (2 if margins.signed else 1) * self._n_candidates
        with np.errstate(over="ignore"):  # infinity bounds nothing
            self._bounds = margins.largest * margins.scale
        self._costs = unit * weight / margins.scale
        self._largest_gap = GAP * loss_weight * float((margins.weights * np.abs(margins.t)).sum())
        self._highs: Any = _silent_solver()
        iterations = ITERATIONS * (self._n_conditions + self._n_slacks + self._n_candidates)
        self._highs.setOptionValue("simplex_iteration_limit", min(iterations, highspy.kHighsIInf))
        self._highs.passModel(self._model())
        self._bind(self._bounds < LOOSE)
        self.restrict(np.ones(self._n_candidates, dtype=bool))

    def restrict(self, used: np.ndarray) -> None:
        """Allow nonzero coefficients only for some candidates, by removing the bounds of the other rows."""
        n = self._n_candidates
        upper = np.where(used, self._costs, highspy.kHighsInf)
        lower = -upper if self._margins.signed else np.full(n, -highspy.kHighsInf)
        self._highs.changeRowsBounds(n, np.arange(n, dtype=np.int32), lower, upper)

    def solve(self) -> Solution:
        """Solve; if no optimum is found, solve again from scratch with all bounds.

        Raises
        ------
        ArithmeticError
            If HiGHS finds no optimum in both attempts.
        """
        try:
            return self._solved()
        except ArithmeticError:
            self._highs.clearSolver()
            self._bind(np.ones(self._n_candidates, dtype=bool))
            try:
                return self._solved()
            finally:
                self._bind(self._bounds < LOOSE)

    def _bind(self, bound: np.ndarray) -> None:
        """Enforce the bounds of some candidates' coefficients, by slacks with a cost."""
        slacks = np.arange(self._n_conditions, self._n_conditions + self._n_slacks, dtype=np.int32)
        costs = np.resize(np.where(bound, self._bounds, 0), self._n_slacks)
        upper = np.resize(np.where(bound, highspy.kHighsInf, 0), self._n_slacks)
        self._highs.changeColsCost(self._n_slacks, slacks, costs)
        self._highs.changeColsBounds(self._n_slacks, slacks, np.zeros(self._n_slacks), upper)

    def _solved(self) -> Solution:
        """The solution, if the gap is small.

        A solution with the status "unknown" exceeds the solver's tolerance somewhere; it is accepted if the
        duality gap is small.
        """
        self._highs.run()
        status = self._highs.getModelStatus()
        trouble = f"the status {self._highs.modelStatusToString(status)!r}"
        if status in SOLVED:
            solution = self._solution()
            gap = solution.objective - solution.bound
            if abs(gap) <= self._largest_gap:
                return solution
            trouble = f"a duality gap of {gap:.3g}"
        raise ArithmeticError(
            f"HiGHS ended with {trouble} on a program of {self._n_conditions} conditions and "
            f"{self._n_candidates} candidates; are the features and the values scaled?"
        )

    def _solution(self) -> Solution:
        margins = self._margins
        duals = -np.asarray(self._highs.getSolution().row_dual)
        least = -margins.largest if margins.signed else 0
        coef = np.clip(duals[:-1] / margins.scale, least, margins.largest)
        intercept = float(duals[-1] - margins.centre @ coef)
        loss = float(margins.losses(coef, intercept).sum())
        objective = self._weight * float(np.abs(coef).sum()) + self._loss_weight * loss
        bound = -self._highs.getInfo().objective_function_value / self._unit
        return Solution(coef, intercept, loss, objective, bound)

    def _model(self) -> highspy.HighsLp:
        margins, n = self._margins, self._n_candidates
        n_conditions, n_slacks = self._n_conditions, self._n_slacks
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = n_conditions + n_slacks, n + 1
        model.col_cost_ = np.concatenate([-margins.t, np.zeros(n_slacks)])
        model.col_lower_ = np.zeros(n_conditions + n_slacks)
        with np.errstate(over="ignore"):  # infinity bounds nothing
            of_conditions = self._unit * self._loss_weight * margins.weights
        model.col_upper_ = np.concatenate([of_conditions, np.zeros(n_slacks)])
        model.row_lower_, model.row_upper_ = np.zeros(n + 1), np.zeros(n + 1)
        signs = np.repeat([-1.0, 1.0], n)[:n_slacks]  # p, then q
        dense = np.column_stack([margins.columns, margins.h])
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = np.concatenate(
            [np.arange(n_conditions) * (n + 1), dense.size + np.arange(n_slacks + 1)]
        ).astype(np.int32)
        model.a_matrix_.index_ = np.concatenate(
            [np.tile(np.arange(n + 1), n_conditions), np.resize(np.arange(n), n_slacks)]
        ).astype(np.int32)
        model.a_matrix_.value_ = np.concatenate([dense.ravel(), signs])
        return model


def _silent_solver() -> highspy.Highs:
    """HiGHS on one thread, for small dense programs that are solved repeatedly."""
    highs: Any = highspy.Highs()
    for name, value in {
        "output_flag": False,
        "threads": 1,
        "parallel": "off",
        "presolve": "off",  # it would discard the basis
        "simplex_scale_strategy": 0,  # the columns are scaled
    }.items():
        highs.setOptionValue(name, value)
    return highs
