"""The search of `CrossEntropySVC` compared with the same search whose programs scipy's linprog solves."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import linprog

from benchmarks.data import Split, Trial, draw, standardised
from benchmarks.measure import Spent, spend
from benchmarks.races import Race
from entrolearn import CrossEntropySVC
from entrolearn.sparse_svm.lp import Margins

# Section 4.2 of Mannor, Peleg and Rubinstein (2005): 150 training rows. The first set is in scikit-learn.
TRIALS = (
    Trial("sklearn-wdbc", 150, 419, n_features=30, n_classes=2),
    Trial("ionosphere", 150, 201, n_features=34, n_classes=2),
    Trial("sonar", 150, 58, n_features=60, n_classes=2),
)
KERNELS = {
    "linear": {"kernel": "linear"},
    "Gaussian, σ = 3": {"kernel": "rbf", "gamma": 1 / 18},
    "polynomial, degree 5": {"kernel": "poly", "gamma": 1.0, "kernel_params": {"degree": 5, "coef0": 1.0}},
}
FEW = 40  # rows of a first fit that loads the code


def races(trials: Sequence[Trial] = TRIALS, mirror=None) -> Iterator[Race]:
    """The search compared with one that solves each of its programs by linprog, on standardised rows."""
    for trial in trials:
        split, made = draw(trial, mirror=mirror)
        split = standardised(split)
        for kernel, params in KERNELS.items():
            ways = {
                name: partial(objective, machine, params, split)
                for name, machine in (
                    ("CrossEntropySVC", CrossEntropySVC),
                    ("linprog for each set", LinprogSVC),
                )
            }
            yield Race(f"{trial.name}{' (made)' if made else ''}, {kernel}", ways, "objective")


def objective(machine: Callable, params: dict, split: Split, seed: int) -> Spent:
    """Cost of a fit, and its final objective."""
    learner = machine(**params, random_state=seed)
    learner.fit(split.X_train[:FEW], split.y_train[:FEW])
    spent = spend(lambda: learner.fit(split.X_train, split.y_train))
    return replace(spent, value=learner.objective_)


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
