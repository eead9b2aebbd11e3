"""Recursive feature machines with known truth: growth with rows and features, and recovery of the truth.

Features are standard normal. Targets depend on four of them, or on two directions in feature space.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.defaults import auc
from benchmarks.feature_learning import ask_xrfm, xrfm
from benchmarks.measure import measured, spend
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn import EEKMClassifier, RecursiveFeatureClassifier, RecursiveFeatureRegressor, RKELMRegressor

LAPLACE = {"kernel": "exponential_power", "random_state": 0}
LEARNERS = {"plain": EEKMClassifier(300, **LAPLACE), "RFM": RecursiveFeatureClassifier(random_state=0)}
VARIED = {"rows": (1000, 10_000, 100_000, 1_000_000), "features": (10, 100, 1000)}
BASE = {"rows": 10_000, "features": 20}
MEASURED = ("s", "MiB", "AUC", "rounds")
RELEVANT = (0, 3, 6, 9)
N_TEST = 2000
MOST_XRFM_ROWS = 10_000


def four_features(X: np.ndarray) -> np.ndarray:
    """Values that depend on four features, on two of them through their product."""
    first, second, third, fourth = (X[:, j] for j in RELEVANT)
    return first * second + np.sin(2 * third) + fourth**2


def growth(limits: Limits, varied=VARIED) -> Section:
    """Seconds, memory and AUC, compared with the plain learner, for varying numbers of rows and features."""
    sizes = [{**BASE, name: size} for name, each in varied.items() for size in each]
    rows = []
    for size in sizes:
        row: dict = dict(size)
        for name in LEARNERS:
            found = measured(limits, MEASURED, _one, name, size["rows"], size["features"])
            row |= {f"{name} {what}": found[what] for what in MEASURED}
        row |= _xrfm(size["rows"], size["features"]) if size["rows"] <= MOST_XRFM_ROWS else {}
        rows.append(row | {"× plain": row["RFM s"] / row["plain s"]})
    table = pd.DataFrame(rows).drop(columns="plain rounds")
    notes = [
        f"Standard normal features, labels by a sum over four of them; AUC on {N_TEST} other rows. Processor",
        "seconds on one thread; memory beyond the rows, each in a process of its own. xRFM solves for all",
        f"pairs of rows: it has {MOST_XRFM_ROWS:,} at most, where `make board-env` has installed it.",
    ]
    return Section("Feature learning, growth", table.set_index(["rows", "features"]), notes)


def _rows(n_rows: int, n_features: int) -> tuple:
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((n_rows, n_features)), rng.standard_normal((N_TEST, n_features))
    return X, four_features(X) > 1, new, four_features(new) > 1


def _one(name: str, n_rows: int, n_features: int) -> dict:
    X, y, new, labels = _rows(n_rows, n_features)
    learner = LEARNERS[name]
    spent = spend(lambda: learner.fit(X, y))
    found = {"s": spent.seconds, "MiB": spent.mib, "AUC": 100 * auc(learner, new, labels)}
    return {**found, "rounds": getattr(learner, "n_rounds_", np.nan)}


def _xrfm(n_rows: int, n_features: int) -> dict:
    X, y, new, labels = _rows(n_rows, n_features)
    with xrfm() as process:
        if process is None:
            return {}
        answers, found = ask_xrfm(process, X, y.astype(int), new, 2)
    return {"xRFM s": found["fit_s"], "xRFM AUC": 100 * roc_auc_score(labels, answers[:, 1])}


def truth(limits: Limits, sizes: Sequence[int] = (500, 1000, 2000, 5000)) -> Section:
    """Recovery of four of twenty features and of two directions, and the R² gained by it."""
    columns = ("plain R²", "RFM R²", "found")
    cases = {"four of twenty features": _features_found, "two directions": _directions_found}
    rows = [
        {"answer depends on": name, "rows": size, **measured(limits, columns, case, size)}
        for name, case in cases.items()
        for size in sizes
    ]
    notes = [
        "Found: how many of the four features are the four of largest importance; of two directions the "
        f"cosine of the largest angle to the metric's two leading eigenvectors. R² on {N_TEST} other rows."
    ]
    table = pd.DataFrame(rows).set_index(["answer depends on", "rows"])
    return Section("Feature learning, known truth", table, notes)


def _compared(values: Callable, n_rows: int, metric: str) -> tuple[dict, RecursiveFeatureRegressor]:
    rng = np.random.default_rng(1)
    X, new = rng.standard_normal((n_rows, 20)), rng.standard_normal((N_TEST, 20))
    plain = RKELMRegressor(300, **LAPLACE).fit(X, values(X))
    machine = RecursiveFeatureRegressor(metric=metric, random_state=0).fit(X, values(X))
    scores = {name: each.score(new, values(new)) for name, each in (("plain", plain), ("RFM", machine))}
    return {f"{name} R²": score for name, score in scores.items()}, machine


def _features_found(n_rows: int) -> dict:
    found, machine = _compared(four_features, n_rows, "diagonal")
    largest = np.argsort(machine.feature_importances_)[-4:]
    return {**found, "found": len(set(RELEVANT) & set(largest.tolist()))}


def _directions_found(n_rows: int) -> dict:
    directions = np.linalg.qr(np.random.default_rng(2).normal(size=(20, 2)))[0]

    def values(X: np.ndarray) -> np.ndarray:
        along = X @ directions
        return along[:, 0] * along[:, 1] + along[:, 0]

    found, machine = _compared(values, n_rows, "full")
    _, vectors = np.linalg.eigh(machine.metric_)
    return {**found, "found": np.linalg.svd(vectors[:, -2:].T @ directions)[1].min()}
