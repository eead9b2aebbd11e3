"""Sparse support vector machines compared with linprog, rebuilt programs, two processes and peers."""

import logging
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pandas as pd
from joblib import parallel_config
from scipy.optimize import linprog
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from benchmarks.data import Split, Trial, draw, nonlinear, standardised
from benchmarks.measure import Spent, alone, measured, spend
from benchmarks.peers import why_absent
from benchmarks.races import Race
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn import CrossEntropySVC, OneNormSVC
from entrolearn.kernels import kernel_matrix
from entrolearn.sparse_svm.lp import Margins, Solution, on_supports

logger = logging.getLogger(__name__)

# Section 4.2 of Mannor, Peleg and Rubinstein (2005): 150 training rows. The first set is in scikit-learn.
TRIALS = (
    Trial("sklearn-wdbc", 150, 419, n_features=30, n_classes=2),
    Trial("ionosphere", 150, 201, n_features=34, n_classes=2),
    Trial("sonar", 150, 58, n_features=60, n_classes=2),
)
KERNELS = {
    "linear": {"kernel": "linear"},
    "Gaussian, σ = 3": {"kernel": "rbf", "gamma": 1 / 18},
    "polynomial, degree 5": {"kernel": "poly", "degree": 5, "gamma": 1.0, "coef0": 1.0},
}
NAMES = ["data set", "kernel"]
FEW = 40  # rows of a first fit that loads the code


def problems(trials: Sequence[Trial], mirror) -> Iterator[tuple[dict, dict, Split]]:
    """Yield each kernel on each data set: both names, the kernel's parameters, standardised rows."""
    for trial in trials:
        split, made = draw(trial, mirror=mirror)
        for kernel, params in KERNELS.items():
            name = trial.name + (" (made)" if made else "")
            logger.info("%s: %s", name, kernel)
            yield {"data set": name, "kernel": kernel}, params, standardised(split)


def _described(limits: Limits, trials: Sequence[Trial]) -> str:
    rows = ", ".join(f"{n:,}" for n in sorted({trial.n_train for trial in trials}))
    return (
        f"{rows} rows to fit, features of mean 0 and variance 1, C = 1. Processor seconds on one thread; "
        f"each measurement has a process of its own and at most {limits.seconds:g} s."
    )


# --- beside linprog -----------------------------------------------------------------------------------


class LinprogSVC(CrossEntropySVC):
    """The same machine and the same search, but scipy's linprog solves a program built for each set."""

    def _search(self, cost):
        return super()._search(ByLinprog(cost.margins))


@dataclass(frozen=True, eq=False)
class ByLinprog:
    """The costs of sets of candidates, and the sets without unused candidates, as a search expects them.

    Attributes
    ----------
    margins : Margins
    """

    margins: Margins

    def __call__(self, supports: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        costs, kept = np.empty(len(supports)), supports.copy()
        for i, used in enumerate(supports):
            coef, loss = primal(self.margins, used)
            kept[i] = ~self.margins.negligible(coef)
            costs[i] = np.count_nonzero(kept[i]) + self.margins.C * loss
        return costs, kept


def primal(margins: Margins, used: np.ndarray) -> tuple[np.ndarray, float]:
    """Equation 7 of Mannor, Peleg and Rubinstein (2005), its columns centred and scaled.

    Parameters
    ----------
    margins : Margins
        Margins of a classifier, with nonnegative coefficients.
    used : ndarray of bool, shape (n_candidates,)

    Returns
    -------
    coef : ndarray, shape (n_candidates,)
    loss : float
        NaN if linprog finds no optimum.
    """
    n, k = len(margins.t), np.count_nonzero(used)
    found = linprog(
        np.concatenate([np.zeros(k + 1), np.ones(n)]),
        A_ub=-np.hstack([margins.columns[:, used], margins.h[:, None], np.eye(n)]),
        b_ub=-margins.t,
        bounds=np.column_stack(
            [
                np.concatenate([np.zeros(k), [-np.inf], np.zeros(n)]),
                np.concatenate([margins.C * margins.scale[used], np.full(n + 1, np.inf)]),
            ]
        ),
        method="highs",
    )
    coef = np.zeros(len(used))
    if not found.success:
        return coef, np.nan
    coef[used] = found.x[:k] / margins.scale[used]
    return coef, float(found.fun)


def losses(solutions: Iterator[Solution | None]) -> np.ndarray:
    """The losses of sets, NaN if there is no solution."""
    return np.array([np.nan if solution is None else solution.loss for solution in solutions])


# --- programs that are kept ---------------------------------------------------------------------------

MOST_BATCHES = 16  # maximum number of batches of a search, spread from its beginning to its end


class RecordedSVC(CrossEntropySVC):
    """The same machine, which records the batches that it has judged.

    Attributes
    ----------
    recorder_ : Recorder
    """

    def _search(self, cost):
        self.recorder_ = Recorder(cost)
        return super()._search(self.recorder_)


@dataclass(frozen=True, eq=False)
class Recorder:
    """A cost function of sets that records its batches and their processor seconds."""

    cost: Callable
    batches: list[np.ndarray] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __call__(self, supports: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        start = time.process_time()
        judged = self.cost(supports)
        self.seconds.append(time.process_time() - start)
        self.batches.append(supports)
        return judged


# How programs are made for batches of sets: one from which the simplex method continues, or many.
KEPT = {
    "for a batch": lambda margins, batches: [each for sets in batches for each in on_supports(margins, sets)],
    "for the search": lambda margins, batches: list(on_supports(margins, np.concatenate(batches))),
    "for a set": lambda margins, batches: [
        each for used in np.concatenate(batches) for each in on_supports(margins, [used])
    ],
    "for a set, of its own candidates": lambda margins, batches: [
        each
        for used in np.concatenate(batches)
        for each in on_supports(margins.among(np.flatnonzero(used)), [np.ones(used.sum(), dtype=bool)])
    ],
}
REFERENCE = "for a batch"  # what the machine does
KEPT_COLUMNS = ("candidates", "sets", "judging %", *KEPT, "building", "difference", "unsolved")


def programs(limits: Limits, trials: Sequence[Trial] = TRIALS, mirror=None) -> Section:
    """The seconds of a search's programs: kept for a batch of sets, kept for all sets, or built for each."""
    rows = []
    for names, params, split in problems(trials, mirror):
        found = measured(limits, KEPT_COLUMNS, kept, RecordedSVC(**params, random_state=0), split)
        row = {name: found[name] for name in ("candidates", "sets", "judging %")}
        row["ms per set"] = 1e3 * found[REFERENCE] / found["sets"]
        row |= {f"{name} ×": found[name] / found[REFERENCE] for name in KEPT if name != REFERENCE}
        row["building ×"] = found["building"] / found[REFERENCE]
        row |= {"difference of losses": found["difference"], "unsolved": found["unsolved"]}
        rows.append(names | row)
    notes = [
        _described(limits, trials),
        "Judging sets is so many percent of a fit; the rest is the kernel, the one-norm machine, the draws. "
        "Milliseconds are those of a set where a program is kept for a batch of 64, as the machine does, in "
        f"at most {MOST_BATCHES} batches from its search. × are the seconds of the same sets where a program "
        "is kept for all of them, and where each set has one of its own that starts cold: with a row for "
        "every candidate, or for those of the set alone. Building is the part of the former that makes the "
        "program and solves nothing. Unsolved are the sets for which HiGHS finds no optimum, in the way in "
        "which they are most.",
    ]
    return Section("Programs that are kept", pd.DataFrame(rows).set_index(NAMES), notes)


def kept(machine: RecordedSVC, split: Split) -> dict:
    """Seconds of the programs of a search, made by each of :data:`KEPT`."""
    machine.fit(split.X_train[:FEW], split.y_train[:FEW])
    fit = spend(lambda: machine.fit(split.X_train, split.y_train))
    recorder = machine.recorder_
    if not recorder.batches:
        raise ValueError("the one-norm machine has no support vectors: there are no sets to judge")
    margins = recorder.cost.margins
    batches = recorder.batches[:: -(-len(recorder.batches) // MOST_BATCHES)]
    found = {
        "candidates": len(machine.candidates_),
        "sets": sum(map(len, batches)),
        "judging %": 100 * sum(recorder.seconds) / fit.seconds,
    }
    reference = None
    for name, solved in KEPT.items():
        spent = spend(lambda solved=solved: losses(solved(margins, batches)))
        reference = spent.value if reference is None else reference
        found[name] = spent.seconds
        found["difference"] = max(
            found.get("difference", 0.0), float(np.nanmax(np.abs(spent.value - reference)))
        )
        found["unsolved"] = max(found.get("unsolved", 0), int(np.isnan(spent.value).sum()))
    found["building"] = found["sets"] * spend(lambda: list(on_supports(margins, []))).seconds
    return found


# --- processes ----------------------------------------------------------------------------------------

ATTRIBUTES = ("support_", "dual_coef_", "intercept_", "objective_", "history_")


def processes(limits: Limits, n_samples=600, n_features=10, gamma=0.1, n_jobs=2, repetitions=2) -> Section:
    """A fit with one process and with several: wall-clock seconds, and whether the machines are equal."""
    X, y = nonlinear(n_samples, n_features, 2)
    params = {"C": 10.0, "gamma": gamma, "random_state": 0}
    share = alone(limits, judging_share, RecordedSVC(**params), X, y)
    runs = [(n, *clocked(CrossEntropySVC(**params, n_jobs=n), X, y)) for n in (1, n_jobs) * repetitions]
    first = runs[0][2]
    rows = []
    for n in (1, n_jobs):
        machines = [machine for jobs, _, machine in runs if jobs == n]
        rows.append(
            {
                "n_jobs": n,
                "fit s": min(seconds for jobs, seconds, _ in runs if jobs == n),
                "same machine": "yes" if all(same(machine, first) for machine in machines) else "no",
            }
        )
    table = pd.DataFrame(rows).set_index("n_jobs")
    table.insert(1, "speed-up", table["fit s"].iloc[0] / table["fit s"])
    table.insert(2, "at most", [1 / (1 - share + share / n) for n in table.index])
    notes = [
        f"{n_samples:,} rows of {n_features} features, made; Gaussian kernel, gamma = {gamma:g}, C = 10: "
        f"{len(first.candidates_)} candidates, {first.history_[-1].n_evaluations:,} sets in {first.n_iter_} "
        f"iterations. Seconds of the clock, the least of {repetitions} fits in turn, on processes that have "
        "started before; what else the machine does is in them. At most: were the "
        f"{100 * share:.3g} % of the fit that judge sets shared out without loss.",
    ]
    return Section("Processes", table, notes)


def judging_share(machine: RecordedSVC, X, y) -> float:
    """The share of a fit's processor seconds spent on judging sets."""
    seconds = spend(lambda: machine.fit(X, y)).seconds
    return sum(machine.recorder_.seconds) / seconds


def clocked(machine: CrossEntropySVC, X, y) -> tuple[float, CrossEntropySVC]:
    """Wall-clock seconds of a fit, and the machine.

    It runs in this process, because a process with a limit may not start others.
    """
    logger.info("n_jobs = %d", machine.n_jobs)
    with parallel_config("loky", inner_max_num_threads=1):
        machine.fit(X[:FEW], y[:FEW])
        start = time.perf_counter()
        machine.fit(X, y)
        return time.perf_counter() - start, machine


def same(machine: CrossEntropySVC, other: CrossEntropySVC) -> bool:
    """Whether two machines and their searches are equal in every bit."""
    return all(np.array_equal(getattr(machine, name), getattr(other, name)) for name in ATTRIBUTES)


# --- peers --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rival:
    """Another learner on the same kernel values.

    Attributes
    ----------
    build : callable
        Function of the kernel matrix, the labels and a number of support vectors, which returns the unfitted
        learner.
    like : str, optional
        The machine whose number of support vectors it gets.
    package : str
        The package that must be installed.
    """

    build: Callable[[np.ndarray, np.ndarray, int | None], BaseEstimator]
    like: str | None = None
    package: str = "sklearn"


def sparse_as(
    build: Callable[[float], BaseEstimator], K: np.ndarray, y: np.ndarray, n_support: int
) -> BaseEstimator:
    """A learner with the weakest L1 penalty that gives at most the required number of coefficients.

    Parameters
    ----------
    build : callable
        Function of the weight of the penalty, which returns the unfitted learner.
    """
    weak, strong = np.log(1e-6), np.log(1e3)
    for _ in range(20):
        middle = (weak + strong) / 2
        if count_support(build(np.exp(middle)).fit(K, y)) > n_support:
            weak = middle
        else:
            strong = middle
    return build(np.exp(strong))


def l1_svc(weight: float) -> BaseEstimator:
    """scikit-learn's linear SVM with a squared hinge loss on the columns of the kernel matrix."""
    machine = LinearSVC(C=1 / weight, penalty="l1", dual=False, max_iter=10_000, random_state=0)
    return make_pipeline(StandardScaler(), machine)


def l1_logistic(weight: float) -> BaseEstimator:
    """skglm's logistic regression on the columns of the kernel matrix."""
    from skglm import SparseLogisticRegression

    return make_pipeline(StandardScaler(), SparseLogisticRegression(alpha=weight))


def best_subset(n_support: int) -> BaseEstimator:
    """abess's logistic regression on `n_support` columns of the kernel matrix."""
    from abess.linear import LogisticRegression

    return make_pipeline(StandardScaler(), LogisticRegression(support_size=n_support))


ONE_NORM, ZERO_NORM = "OneNormSVC", "CrossEntropySVC"
RIVALS = {
    ONE_NORM: Rival(lambda K, y, n: OneNormSVC(kernel="precomputed")),
    ZERO_NORM: Rival(lambda K, y, n: CrossEntropySVC(kernel="precomputed", random_state=0)),
    "SVC": Rival(lambda K, y, n: SVC(kernel="precomputed")),
    "NuSVC": Rival(lambda K, y, n: NuSVC(kernel="precomputed")),
    "LinearSVC, L1": Rival(lambda K, y, n: sparse_as(l1_svc, K, y, n), like=ONE_NORM),
    "skglm, logistic, L1": Rival(
        lambda K, y, n: sparse_as(l1_logistic, K, y, n), like=ONE_NORM, package="skglm"
    ),
    "abess, logistic, best subset": Rival(lambda K, y, n: best_subset(n), like=ZERO_NORM, package="abess"),
}
SUPPORT_COLUMNS = ("s", "support", "error")


def support(limits: Limits, trials: Sequence[Trial] = TRIALS, mirror=None) -> Section:
    """Seconds, support vectors and test errors of sparse machines and peers on the same kernel values."""
    rows = []
    for names, params, split in problems(trials, mirror):
        sizes: dict[str, int] = {}
        for name in RIVALS:
            found = _raced(limits, name, params, split, sizes)
            if np.isfinite(found["support"]):
                sizes[name] = found["support"]
            row = {"machine": name, "fit s": found["s"]}
            row["support %"] = 100 * found["support"] / len(split.y_train)
            rows.append(names | row | {"error %": found["error"], "note": found["note"]})
    table = pd.DataFrame(rows).set_index([*NAMES, "machine"])
    one_norm = table["fit s"].groupby(NAMES, sort=False).transform("first")
    table.insert(1, f"× {ONE_NORM}", table["fit s"] / one_norm)
    notes = [
        _described(limits, trials),
        "All are given the same kernel values, ready made. LinearSVC, skglm and abess take the columns of "
        "the matrix, standardised, as features: a support vector is a column with a coefficient. Their L1 "
        f"penalties are the weakest that keep no more of them than {ONE_NORM} does, found before the clock "
        f"starts; the best subset has as many as {ZERO_NORM}. One draw of rows: an error of 10 % on 200 rows "
        "has a standard error of 2 points.",
    ]
    return Section("Support vectors beside peers", table, notes)


def _raced(limits: Limits, name: str, params: dict, split: Split, sizes: dict[str, int]) -> dict:
    rival = RIVALS[name]
    reason = why_absent(rival.package)
    if not reason and rival.like is not None and not sizes.get(rival.like):
        reason = f"{rival.like} has no support vectors to go by"
    if reason:
        return dict.fromkeys(SUPPORT_COLUMNS, np.nan) | {"note": reason}
    return measured(limits, SUPPORT_COLUMNS, raced, name, params, split, sizes.get(rival.like))


def raced(name: str, params: dict, split: Split, n_support: int | None) -> dict:
    """Seconds of a fit, the number of support vectors, the test error in percent, and a warning if any."""
    X, y, kernel = split.X_train, split.y_train, params["kernel"]
    kernel_params = {"gamma": 1.0, "degree": 3, "coef0": 1.0} | params
    del kernel_params["kernel"]
    K, K_test = (kernel_matrix(rows, X, kernel, kernel_params) for rows in (X, split.X_test))
    with warnings.catch_warnings(record=True) as caught:
        machine = RIVALS[name].build(K, y, n_support)
        machine.fit(K, y)  # brings in the code, and compiles skglm's
        warnings.simplefilter("always", ConvergenceWarning)
        caught.clear()
        spent = spend(lambda: machine.fit(K, y))
    return {
        "s": spent.seconds,
        "support": count_support(machine),
        "error": float(100 * np.mean(machine.predict(K_test) != split.y_test)),
        "note": next((str(each.message) for each in caught), ""),
    }


def count_support(machine: BaseEstimator) -> int:
    """The rows that a fitted machine needs to predict."""
    machine = machine[-1] if isinstance(machine, Pipeline) else machine
    if hasattr(machine, "n_support_"):
        return int(np.sum(machine.n_support_))
    return int(np.count_nonzero(machine.coef_))


# --- races --------------------------------------------------------------------------------------------


def races(trials: Sequence[Trial] = TRIALS, mirror=None) -> Iterator[Race]:
    """The search compared with one that solves each of its programs by linprog."""
    for names, params, split in problems(trials, mirror):
        ways = {
            name: partial(objective, machine, params, split)
            for name, machine in ((ZERO_NORM, CrossEntropySVC), ("linprog for each set", LinprogSVC))
        }
        yield Race(", ".join(names.values()), ways, "objective")


def objective(machine: Callable, params: dict, split: Split, seed: int) -> Spent:
    """Cost of a fit, and its final objective."""
    learner = machine(**params, random_state=seed)
    learner.fit(split.X_train[:FEW], split.y_train[:FEW])
    spent = spend(lambda: learner.fit(split.X_train, split.y_train))
    return replace(spent, value=learner.objective_)
