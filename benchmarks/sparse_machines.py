"""Sparse support vector machines compared with linprog, rebuilt programs, two processes and peers."""

import logging
import math
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
from sklearn.svm import SVC

from benchmarks.data import Split, Trial, draw, nonlinear, standardised
from benchmarks.measure import Spent, measured, spend, wall_seconds
from benchmarks.races import Race
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn import CrossEntropySVC, OneNormSVC
from entrolearn.kernels import kernel_matrix
from entrolearn.sparse_svm.lp import Margins, on_supports

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
    """The costs of sets of candidates, and the sets without unused candidates, as a search expects them."""

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

    The coefficients of the candidates (0 if not in `used`) are nonnegative; the loss is NaN if linprog finds
    no optimum.
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


# --- programs that are kept ---------------------------------------------------------------------------

MOST_BATCHES = 16  # maximum number of batches of a search, spread from its beginning to its end


class RecordedSVC(CrossEntropySVC):
    """The same machine, which records in ``recorder_`` the batches that it has judged."""

    def _search(self, cost):
        self.recorder_ = Recorder(cost)
        return super()._search(self.recorder_)


@dataclass(frozen=True, eq=False)
class Recorder:
    """A cost function of sets that records its batches."""

    cost: Callable
    batches: list[np.ndarray] = field(default_factory=list)

    def __call__(self, supports: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.batches.append(supports)
        return self.cost(supports)


# How programs are made for batches of sets: one from which the simplex method continues, or one for each.
BATCH, SET = "for a batch", "for a set"
KEPT = {
    BATCH: lambda margins, batches: [each for sets in batches for each in on_supports(margins, sets)],
    SET: lambda margins, batches: [
        each for used in np.concatenate(batches) for each in on_supports(margins, [used])
    ],
}
KEPT_COLUMNS = ("candidates", "sets", *KEPT, "building")


def programs(limits: Limits, trials: Sequence[Trial] = TRIALS, mirror=None) -> Section:
    """The seconds of a search's programs: kept for a batch of sets, or built for each."""
    rows = []
    for names, params, split in problems(trials, mirror):
        found = measured(limits, KEPT_COLUMNS, kept, RecordedSVC(**params, random_state=0), split)
        row = {name: found[name] for name in ("candidates", "sets")}
        row["ms per set"] = 1e3 * found[BATCH] / found["sets"]
        row |= {f"{name} ×": found[name] / found[BATCH] for name in (SET, "building")}
        rows.append(names | row)
    notes = [
        _described(limits, trials),
        "Milliseconds are those of a set where a program is kept for a batch of 64, as the machine does, in "
        f"at most {MOST_BATCHES} batches from its search. × are the seconds of the same sets where each has "
        "a program of its own that starts cold. Building is the part of that which makes the program and "
        "solves nothing.",
    ]
    return Section("Programs that are kept", pd.DataFrame(rows).set_index(NAMES), notes)


def kept(machine: RecordedSVC, split: Split) -> dict:
    """Seconds of the programs of a search, made by each of :data:`KEPT`, and of building them."""
    machine.fit(split.X_train, split.y_train)
    recorder = machine.recorder_
    if not recorder.batches:
        raise ValueError("the one-norm machine has no support vectors: there are no sets to judge")
    margins = recorder.cost.margins
    batches = recorder.batches[:: -(-len(recorder.batches) // MOST_BATCHES)]
    found = {"candidates": len(machine.candidates_), "sets": sum(map(len, batches))}
    for name, solved in KEPT.items():
        found[name] = spend(lambda solved=solved: solved(margins, batches)).seconds
    found["building"] = found["sets"] * spend(lambda: list(on_supports(margins, []))).seconds
    return found


# --- processes ----------------------------------------------------------------------------------------

ATTRIBUTES = ("support_", "dual_coef_", "intercept_", "objective_", "history_")


def processes(limits: Limits, n_samples=600, n_features=10, repetitions=2) -> Section:
    """A fit with one process and with two: wall-clock seconds, and whether the machines are equal."""
    X, y = nonlinear(n_samples, n_features, 2)
    runs = {n: [] for n in (1, 2)}
    for n in (*runs,) * repetitions:
        machine = CrossEntropySVC(C=10.0, gamma=0.1, random_state=0, n_jobs=n)
        runs[n].append((clocked(machine, X, y), machine))
    first = runs[1][0][1]
    rows = [
        {
            "n_jobs": n,
            "fit s": min(seconds for seconds, _ in fits),
            "same machine": "yes" if all(same(machine, first) for _, machine in fits) else "no",
        }
        for n, fits in runs.items()
    ]
    table = pd.DataFrame(rows).set_index("n_jobs")
    table.insert(1, "speed-up", table["fit s"].iloc[0] / table["fit s"])
    notes = [
        f"{n_samples:,} rows of {n_features} features, made; Gaussian kernel, gamma = 0.1, C = 10: "
        f"{len(first.candidates_)} candidates, {first.history_[-1].n_evaluations:,} sets in {first.n_iter_} "
        f"iterations. Seconds of the clock, the least of {repetitions} fits in turn, on processes that have "
        "started before; what else the machine does is in them.",
    ]
    return Section("Processes", table, notes)


def clocked(machine: CrossEntropySVC, X, y) -> float:
    """Wall-clock seconds of a fit in this process, because a process with a limit may not start others."""
    logger.info("n_jobs = %d", machine.n_jobs)
    with parallel_config("loky", inner_max_num_threads=1):
        machine.fit(X[:FEW], y[:FEW])
        return wall_seconds(lambda: machine.fit(X, y))


def same(machine: CrossEntropySVC, other: CrossEntropySVC) -> bool:
    """Whether two machines and their searches are equal in every bit."""
    return all(np.array_equal(getattr(machine, name), getattr(other, name)) for name in ATTRIBUTES)


# --- peers --------------------------------------------------------------------------------------------

ONE_NORM, ZERO_NORM = "OneNormSVC", "CrossEntropySVC"


def best_subset(n_support: float) -> BaseEstimator:
    """abess's logistic regression on `n_support` columns of the kernel matrix."""
    if not n_support > 0:
        raise ValueError(f"{ZERO_NORM} has no support vectors to go by")
    from abess.linear import LogisticRegression

    return make_pipeline(StandardScaler(), LogisticRegression(support_size=n_support))


# Learners on the same kernel values; each is built for the number of support vectors of CrossEntropySVC.
RIVALS: dict[str, Callable[[float], BaseEstimator]] = {
    ONE_NORM: lambda n: OneNormSVC(kernel="precomputed"),
    ZERO_NORM: lambda n: CrossEntropySVC(kernel="precomputed", random_state=0),
    "SVC": lambda n: SVC(kernel="precomputed"),
    "abess, logistic, best subset": best_subset,
}
SUPPORT_COLUMNS = ("s", "support", "error")


def support(limits: Limits, trials: Sequence[Trial] = TRIALS, mirror=None) -> Section:
    """Seconds, support vectors and test errors of sparse machines and peers on the same kernel values."""
    rows = []
    for names, params, split in problems(trials, mirror):
        n_support = math.nan
        for name in RIVALS:
            found = measured(limits, SUPPORT_COLUMNS, raced, name, params, split, n_support)
            n_support = found["support"] if name == ZERO_NORM else n_support
            row = {"machine": name, "fit s": found["s"]}
            row["support %"] = 100 * found["support"] / len(split.y_train)
            rows.append(names | row | {"error %": found["error"], "note": found["note"]})
    table = pd.DataFrame(rows).set_index([*NAMES, "machine"])
    one_norm = table["fit s"].groupby(NAMES, sort=False).transform("first")
    table.insert(1, f"× {ONE_NORM}", table["fit s"] / one_norm)
    notes = [
        _described(limits, trials),
        "All are given the same kernel values, ready made. abess takes the columns of the matrix, "
        "standardised, as features: a support vector is a column with a coefficient, and it has as many as "
        f"{ZERO_NORM}. One draw of rows: an error of 10 % on 200 rows has a standard error of 2 points.",
    ]
    return Section("Support vectors beside peers", table, notes)


def raced(name: str, params: dict, split: Split, n_support: float) -> dict:
    """Seconds of a fit, the number of support vectors, the test error in percent, and a warning if any."""
    X, y, kernel = split.X_train, split.y_train, params["kernel"]
    kernel_params = {"gamma": 1.0, "degree": 3, "coef0": 1.0} | params
    del kernel_params["kernel"]
    K, K_test = (kernel_matrix(rows, X, kernel, kernel_params) for rows in (X, split.X_test))
    machine = RIVALS[name](n_support)
    machine.fit(K, y)  # brings in the code
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
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
