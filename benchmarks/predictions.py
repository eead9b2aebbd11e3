"""Predictions: one row, a hundred and many, dense and sparse, beside their arithmetic and scikit-learn's."""

import time
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy.sparse import random_array
from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

from benchmarks.measure import alone
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn import EEKMClassifier, EEMClassifier, ELMClassifier, RKELMClassifier

ROUNDS = 15  # in which all are timed in turn; their medians count

MACHINES: dict[str, Callable[[int], BaseEstimator]] = {
    "EEM": lambda h: EEMClassifier(h, random_state=0),
    "EEM, sigmoid": lambda h: EEMClassifier(h, activation="sigmoid", random_state=0),
    "ELM": lambda h: ELMClassifier(h, C=1e-3, random_state=0),
    "EEKM": lambda h: EEKMClassifier(h, random_state=0),
    "RKELM": lambda h: RKELMClassifier(h, random_state=0),
    "RBFSampler + RidgeClassifier": lambda h: make_pipeline(
        RBFSampler(n_components=h, random_state=0), RidgeClassifier()
    ),
}
MLP = "MLPClassifier"


def predictions(
    limits: Limits,
    n_hidden=1000,
    dense=(2000, 784),
    sparse=(2000, 100_000),
    density=0.001,
) -> Section:
    """Seconds of predictions of dense and of CSR rows, each machine beside the others in one run."""
    of_dense = alone(limits, timed, n_hidden, dense, None)
    of_sparse = alone(limits, timed, n_hidden, sparse, density)
    table = pd.DataFrame(of_dense).T.join(pd.DataFrame(of_sparse).T.add_suffix(", CSR"))
    notes = [
        f"{n_hidden} units; {dense[0]} rows of {dense[1]} dense features, and {sparse[0]} CSR rows of "
        f"{sparse[1]:,} with a share of {density} of numbers that are not zero. Processor milliseconds on "
        f"one thread, medians of {ROUNDS} rounds in which all take turns.",
        "Arithmetic: the product of the rows with as many weights (a CSR row's with weights by feature) and "
        "the exponential of its numbers.",
    ]
    return Section("Predictions", table.rename_axis("machine"), notes)


def timed(n_hidden: int, shape: tuple[int, int], density: float | None) -> dict[str, dict[str, float]]:
    """Milliseconds for one row, a hundred and all, of each machine and of the arithmetic alone."""
    rng = np.random.default_rng(0)
    X = random_array(shape, density=density or 1.0, format="csr", rng=rng)
    X = X if density else X.toarray()
    y = np.arange(shape[0]) % 2
    machines = {name: make(n_hidden).fit(X, y) for name, make in MACHINES.items()}
    if density is None:
        machines[MLP] = MLPClassifier((n_hidden,), max_iter=1, random_state=0).fit(X, y)
    weights = rng.random((shape[1], n_hidden))
    work = {"arithmetic": lambda rows: np.exp(rows @ weights)}
    work |= {name: machine.predict for name, machine in machines.items()}
    found: dict[str, dict[str, float]] = {name: {} for name in work}
    for n_rows in (1, 100, shape[0]):
        each = milliseconds(work, X[:n_rows])
        for name in work:
            found[name][f"{n_rows} rows: ms" if n_rows > 1 else "1 row: ms"] = each[name]
            if n_rows > 1:
                found[name][f"{n_rows} rows: × arithmetic"] = each[name] / each["arithmetic"]
    return found


def milliseconds(work: Mapping[str, Callable], rows) -> dict[str, float]:
    """The median milliseconds of each piece of work on these rows, in rounds after a first one."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for count in range(ROUNDS + 1):
        for name, function in work.items():
            start = time.process_time()
            function(rows)
            if count:
                seconds[name].append(time.process_time() - start)
    return {name: 1e3 * float(np.median(each)) for name, each in seconds.items()}
