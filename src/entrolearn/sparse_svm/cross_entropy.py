"""Zero-norm support vector machines: the number of support vectors is what a machine costs.

Which rows become support vectors is a combinatorial question. The cross-entropy method answers it by drawing
sets of them, from the support vectors of the one-norm machine, and solving a small linear program for each.
"""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from entrolearn.optimize import Bernoulli, cross_entropy_method
from entrolearn.sparse_svm.base import SparseClassifier, SparseMachine, SparseRegressor
from entrolearn.sparse_svm.lp import Margins, Solution, on_support, on_supports, one_norm
from entrolearn.validation import Interval

__all__ = ["CrossEntropySVC", "CrossEntropySVR"]

# Of a cost: what the solver's tolerance may leave between two programs with the same minimum.
NOTHING_GAINED = 1e-7


@dataclass(frozen=True)
class _SupportCost:
    """The cost of sets of candidates: how many have a coefficient, and C times the loss.

    It can be sent to another process. Each call builds a program of its own, which makes its values the same
    wherever it is made; that is 3 to 9 % of what a batch of 64 sets takes.
    """

    margins: Margins

    def __call__(self, supports: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs, shape (n_sets,), NaN where there is no solution; and the sets without idle candidates."""
        costs, kept = np.full(len(supports), np.nan), supports.copy()
        for i, solution in enumerate(on_supports(self.margins, supports)):
            if solution is not None:
                coef, loss = self.trimmed(solution)
                kept[i] = coef != 0
                costs[i] = np.count_nonzero(coef) + self.margins.C * loss
        return costs, kept

    def trimmed(self, solution: Solution) -> tuple[np.ndarray, float]:
        """Coefficients without negligible ones, and the loss that is left with these."""
        negligible = self.margins.negligible(solution.coef)
        if not solution.coef[negligible].any():
            return solution.coef, solution.loss
        coef = np.where(negligible, 0, solution.coef)
        return coef, float(self.margins.losses(coef, solution.intercept).sum())


class _ZeroNorm(SparseMachine):
    """The one-norm machine's support vectors, and the search among them."""

    _parameter_constraints: dict = {
        **SparseMachine._parameter_constraints,
        "elite_fraction": [Interval(Real, 0, 1, closed="neither")],
        "smoothing": [Interval(Real, 0, 1, closed="right")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "samples_per_candidate": [Interval(Integral, 2, None, closed="left")],
        "local_search": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def _fit_margins(self, X, margins: Margins, rows: np.ndarray) -> np.ndarray:
        coef = super()._fit_margins(X, margins, rows)
        self.candidates_ = rows[self.candidates_]
        return coef

    def _solve(self, margins: Margins) -> tuple[np.ndarray, float]:
        first = one_norm(margins)
        self.candidates_ = np.flatnonzero(~margins.negligible(first.coef)).astype(np.int32)
        cost = _SupportCost(margins.among(self.candidates_))
        best = self._search(cost)
        solution = on_support(cost.margins, best)
        coef = np.zeros(margins.A.shape[1])
        coef[self.candidates_], loss = cost.trimmed(solution)
        self.objective_ = float(np.count_nonzero(coef) + self.C * loss)
        return coef, solution.intercept

    def _search(self, cost: _SupportCost) -> np.ndarray:
        """The best set of candidates: all of them, or what the cross-entropy method finds."""
        n_candidates = len(self.candidates_)
        everything = np.ones((1, n_candidates), dtype=bool)
        self.history_, self.n_iter_ = [], 0
        if not n_candidates:
            return everything[0]
        found = cross_entropy_method(
            cost,
            Bernoulli(np.full(n_candidates, 0.5)),
            n_samples=self.samples_per_candidate * n_candidates,
            elite_fraction=self.elite_fraction,
            smoothing=self.smoothing,
            patience=self.patience,
            max_iterations=self.max_iter,
            vectorized=True,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
        if not found.success:
            warnings.warn(
                f"the search used up its {self.max_iter} iterations: raise max_iter or smoothing",
                ConvergenceWarning,
                stacklevel=8,  # past the wrapper that checks parameters
            )
        self.history_, self.n_iter_ = found.history, found.n_iterations
        costs, kept = cost(everything)
        used, least = (kept[0], costs[0]) if costs[0] < found.fun else (found.x, found.fun)
        return _descended(cost, used, least) if self.local_search else used


def _descended(cost: _SupportCost, used: np.ndarray, least: float) -> np.ndarray:
    """The set that is reached by adding or dropping the candidate that lowers the cost most, again and again.

    Parameters
    ----------
    cost : _SupportCost
    used : ndarray of bool, shape (n_candidates,)
    least : float
        Its cost.
    """
    single = np.eye(len(used), dtype=bool)
    while True:
        costs, kept = cost(used ^ single)
        costs = np.where(np.isnan(costs), np.inf, costs)
        best = costs.argmin()
        if not costs[best] < least - NOTHING_GAINED * max(abs(least), 1):
            return used
        used, least = kept[best], costs[best]


class CrossEntropySVC(_ZeroNorm, SparseClassifier):
    """Zero-norm support vector classifier, by the cross-entropy method.

    Minimises ``||a||_0 + C sum_i max(0, 1 - y_i f(x_i))`` over ``0 <= a <= C`` and b, with ``f(x) = sum_j
    a_j y_j k(x, x_j) + b``: each support vector costs one, however large its coefficient. The support vectors
    of the one-norm machine are candidates; sets of them are drawn from independent Bernoulli variables whose
    probabilities move towards the best sets, and each set is judged by a linear program.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the hinge loss against the number of support vectors, and the largest coefficient.
    kernel : str or callable, default="rbf"
        One of :data:`entrolearn.kernels.KERNELS`, a function of two rows, or "precomputed": X is then the
        kernel matrix. It need not be positive definite.
    gamma : float, {"scale", "auto"}, default="scale"
        Factor of the squared distance or of the inner product, named as in :class:`sklearn.svm.SVC`.
    degree : float, default=3
        Of the polynomial kernel.
    coef0 : float, default=1
        Of the polynomial and the sigmoid kernel.
    elite_fraction : float, default=0.1
        Share of the best sets that the probabilities move towards.
    smoothing : float, default=0.7
        How far they move, from 0 to 1.
    patience : int, default=3
        The search ends when the elite's worst cost has not changed so many times in a row.
    max_iter : int, default=100
        Iterations at most. With a `smoothing` of 0.1 some 20 or 30 are enough, with the default about ten.
    samples_per_candidate : int, default=5
        Sets drawn in an iteration, for each candidate.
    local_search : bool, default=True
        Whether the search ends by adding or dropping single candidates as long as that lowers the cost.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which those of their rows are multiplied with.
    n_jobs : int or None, default=None
        Processes that judge sets; the machine does not depend on it. Worth it from some hundred candidates.
    random_state : int, RandomState instance or None, default=None
        Draws the sets.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    candidates_ : ndarray of int, shape (n_candidates,)
        The one-norm machine's support vectors, as indices of training rows.
    support_ : ndarray of int, shape (n_SV,)
        The support vectors among them.
    support_vectors_ : {ndarray, CSR matrix} of shape (n_SV, n_features)
        All that a prediction needs; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (1, n_SV)
        a_j y_j of the support vectors.
    intercept_ : float
    coef_ : ndarray of shape (1, n_features)
        With ``kernel="linear"``: weights of the features.
    n_support_ : ndarray of int, shape (2,)
        Support vectors of each class.
    objective_ : float
        What the machine costs.
    history_ : list of :class:`entrolearn.optimize.CrossEntropyIteration`
        Threshold, best and mean cost of each sample.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X had string column names.

    See Also
    --------
    OneNormSVC : Where the candidates come from.
    entrolearn.optimize.cross_entropy_method : The search.

    Notes
    -----
    More than two classes: ``sklearn.multiclass.OneVsRestClassifier(CrossEntropySVC())``.

    The problem is not convex, and the search does not prove that it has found the minimum: the machine is the
    best of all sets that were judged, the set of all candidates among them. On 48 problems with 4 to 11
    candidates, of which all sets can be tried, the defaults find the best set in 175 of 192 searches and cost
    0.2 % more than it on average, at worst 11 %; ``samples_per_candidate=30`` finds it in all 192 for twice
    the time. The paper's settings, ``elite_fraction=0.03, local_search=False``, make an elite of one or two
    there and find it in 151, in four fifths of the time (benchmarks/enumerated.py).

    C weighs losses against a count here, against a sum of coefficients in :class:`OneNormSVC`, and against a
    norm in :class:`sklearn.svm.SVC`: a value that suits one need not suit the others. A support vector costs
    one whatever its row weighs.

    References
    ----------
    .. [1] S. Mannor, D. Peleg and R. Rubinstein (2005). The cross entropy method for classification. ICML.
       Equations 1, 6 and 7, and the three modifications of section 3.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from entrolearn import CrossEntropySVC
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> machine = CrossEntropySVC(C=10.0, gamma=2.0, random_state=0).fit(X[:200], y[:200])
    >>> bool(machine.n_support_.sum() < len(machine.candidates_)), machine.score(X[200:], y[200:]) > 0.98
    (True, True)
    """

    _parameter_constraints: dict = {
        **_ZeroNorm._parameter_constraints,
        **SparseClassifier._parameter_constraints,
    }

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=1,
        elite_fraction=0.1,
        smoothing=0.7,
        patience=3,
        max_iter=100,
        samples_per_candidate=5,
        local_search=True,
        class_weight=None,
        n_jobs=None,
        random_state=None,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.elite_fraction = elite_fraction
        self.smoothing = smoothing
        self.patience = patience
        self.max_iter = max_iter
        self.samples_per_candidate = samples_per_candidate
        self.local_search = local_search
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state


class CrossEntropySVR(_ZeroNorm, SparseRegressor):
    """Zero-norm support vector regression, by the cross-entropy method.

    Minimises ``||a||_0 + C sum_i max(0, |y_i - f(x_i)| - epsilon)`` over ``-C <= a <= C`` and b, with ``f(x)
    = sum_j a_j k(x, x_j) + b``, as :class:`CrossEntropySVC` does.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the number of support vectors, and the largest coefficient.
    kernel : str or callable, default="rbf"
        One of :data:`entrolearn.kernels.KERNELS`, a function of two rows, or "precomputed": X is then the
        kernel matrix. It need not be positive definite.
    gamma : float, {"scale", "auto"}, default="scale"
        Factor of the squared distance or of the inner product, named as in :class:`sklearn.svm.SVR`.
    degree : float, default=3
        Of the polynomial kernel.
    coef0 : float, default=1
        Of the polynomial and the sigmoid kernel.
    epsilon : float, default=0.1
        Errors up to this size cost nothing.
    elite_fraction : float, default=0.1
        Share of the best sets that the probabilities move towards.
    smoothing : float, default=0.7
        How far they move, from 0 to 1.
    patience : int, default=3
        The search ends when the elite's worst cost has not changed so many times in a row.
    max_iter : int, default=100
        Iterations at most. With a `smoothing` of 0.1 some 20 or 30 are enough, with the default about ten.
    samples_per_candidate : int, default=5
        Sets drawn in an iteration, for each candidate.
    local_search : bool, default=True
        Whether the search ends by adding or dropping single candidates as long as that lowers the cost.
    n_jobs : int or None, default=None
        Processes that judge sets; the machine does not depend on it. Worth it from some hundred candidates.
    random_state : int, RandomState instance or None, default=None
        Draws the sets.

    Attributes
    ----------
    candidates_ : ndarray of int, shape (n_candidates,)
        The one-norm machine's support vectors, as indices of training rows.
    support_ : ndarray of int, shape (n_SV,)
        The support vectors among them.
    support_vectors_ : {ndarray, CSR matrix} of shape (n_SV, n_features)
        All that a prediction needs; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (1, n_SV)
    intercept_ : float
    coef_ : ndarray of shape (1, n_features)
        With ``kernel="linear"``: weights of the features.
    n_support_ : ndarray of int, shape (1,)
    objective_ : float
        What the machine costs.
    history_ : list of :class:`entrolearn.optimize.CrossEntropyIteration`
        Threshold, best and mean cost of each sample.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Where X had string column names.

    See Also
    --------
    CrossEntropySVC : The classifier.
    OneNormSVR : Where the candidates come from.

    References
    ----------
    .. [1] S. Mannor, D. Peleg and R. Rubinstein (2005). The cross entropy method for classification. ICML.
       Section 5 names regression as the next step.

    Examples
    --------
    >>> import numpy as np
    >>> from entrolearn import CrossEntropySVR
    >>> X = np.linspace(0, 6, 80)[:, None]
    >>> machine = CrossEntropySVR(C=100.0, gamma=0.5, epsilon=0.05, random_state=0)
    >>> machine.fit(X[::2], np.sin(X[::2, 0])).n_support_[0] <= len(machine.candidates_)
    np.True_
    """

    _parameter_constraints: dict = {
        **_ZeroNorm._parameter_constraints,
        **SparseRegressor._parameter_constraints,
    }

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=1,
        epsilon=0.1,
        elite_fraction=0.1,
        smoothing=0.7,
        patience=3,
        max_iter=100,
        samples_per_candidate=5,
        local_search=True,
        n_jobs=None,
        random_state=None,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.epsilon = epsilon
        self.elite_fraction = elite_fraction
        self.smoothing = smoothing
        self.patience = patience
        self.max_iter = max_iter
        self.samples_per_candidate = samples_per_candidate
        self.local_search = local_search
        self.n_jobs = n_jobs
        self.random_state = random_state
