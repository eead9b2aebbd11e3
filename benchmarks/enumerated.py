"""How often the zero-norm machine's search finds the best set, on problems where all sets can be enumerated.

``python -m benchmarks.enumerated`` prints it for the defaults, the paper's settings, and more samples.
"""

import itertools
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_circles,
    make_classification,
    make_moons,
)
from sklearn.preprocessing import scale

from entrolearn import CrossEntropySVC, OneNormSVC
from entrolearn.sparse_svm.lp import class_margins, on_supports

SETTINGS = {
    "paper": {"elite_fraction": 0.03, "local_search": False},
    "paper, flips": {"elite_fraction": 0.03},
    "default": {},
    "10 samples": {"samples_per_candidate": 10},
    "30 samples": {"samples_per_candidate": 30},
}
KERNELS = [("rbf", 0.03), ("rbf", 0.2), ("rbf", 1.0), ("linear", 1.0), ("poly", 0.3)]
CANDIDATES = 4, 11


def _data() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    X, y = load_iris(return_X_y=True)
    yield scale(X[50:]), y[50:] - 1
    X, y = load_wine(return_X_y=True)
    yield scale(X), (y == 1).astype(int)
    X, y = load_breast_cancer(return_X_y=True)
    yield scale(X)[:120], y[:120]
    X, y = load_diabetes(return_X_y=True)
    yield scale(X)[:100], (y[:100] > 140).astype(int)
    yield make_moons(80, noise=0.25, random_state=3)
    yield make_circles(80, noise=0.15, factor=0.5, random_state=1)
    yield make_classification(80, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)


def problems() -> Iterator[tuple[np.ndarray, np.ndarray, dict, float]]:
    """Rows, labels, parameters of the machine, and the least cost of all sets of its candidates."""
    for X, y in _data():
        for (kernel, gamma), C in itertools.product(KERNELS, [0.3, 1.0, 3.0, 10.0]):
            params = {"C": C, "kernel": kernel, "gamma": gamma}
            machine = OneNormSVC(**params).fit(X, y)
            n_candidates = len(machine.support_)
            if CANDIDATES[0] <= n_candidates <= CANDIDATES[1]:
                margins = class_margins(machine._gram(X, len(y)), 2.0 * y - 1, C).among(machine.support_)
                sets = np.array(list(itertools.product([False, True], repeat=n_candidates)))
                solutions = on_supports(margins, sets)
                pairs = zip(sets, solutions, strict=True)
                yield X, y, params, min(used.sum() + C * solution.loss for used, solution in pairs)


def searches(n_seeds: int = 4) -> pd.DataFrame:
    """One row per search: setting, relative excess over the least cost, and seconds."""
    rows = []
    for X, y, params, least in problems():
        for name, settings in SETTINGS.items():
            for seed in range(n_seeds):
                start = time.perf_counter()
                machine = CrossEntropySVC(**params, **settings, random_state=seed).fit(X, y)
                rows.append((name, machine.objective_ / least - 1, time.perf_counter() - start))
    return pd.DataFrame(rows, columns=["setting", "excess", "seconds"])


if __name__ == "__main__":
    found = searches()
    found["best"] = found["excess"] < 1e-5
    by = found.groupby("setting", sort=False)
    print(
        by.agg(
            searches=("best", "size"),
            best=("best", "sum"),
            mean_excess=("excess", "mean"),
            worst=("excess", "max"),
            seconds=("seconds", "sum"),
        ).round(4)
    )
