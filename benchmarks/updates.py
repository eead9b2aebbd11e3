"""The cost of forgetting rows compared with new fits, and the precision lost by many updates."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge

from benchmarks.data import uniform
from benchmarks.measure import measured, spend
from benchmarks.report import Section
from entrolab.io.limits import Limits
from entrolearn import EEMClassifier, ELMClassifier, influence

SIZES = (10**4, 10**5, 10**6)
FORGOTTEN = (1, 100)
MOST_INFLUENCES = 10**5
UPDATES = (10**3, 10**4, 10**5, 10**6)
WINDOW = 1000
CHUNK = 10_000
SETTINGS = {"bounds": (0, 1), "store_sums": True, "random_state": 0}
LEARNERS = (EEMClassifier(250, **SETTINGS), ELMClassifier(250, activation="rbf", alpha=1e-3, **SETTINGS))
PEERS = (LogisticRegression(), Ridge())


def deletions(limits: Limits, sizes: Sequence[int] = SIZES, n_features: int = 20) -> Section:
    """Milliseconds of a fit and of forgetting rows, by the number of rows."""
    columns = ("fit", *(f"forget {n}" for n in FORGOTTEN), "influence")
    found = {
        (n, type(learner).__name__): measured(limits, columns, milliseconds, learner, n, n_features)
        for n in sizes
        for learner in (*LEARNERS, *PEERS)
    }
    notes = [
        f"Milliseconds on one thread; {n_features} features, two classes, {LEARNERS[0].n_hidden} units. To "
        "forget rows scikit-learn's learners are fitted again. Influence: of every row, up to "
        f"{MOST_INFLUENCES:,}."
    ]
    table = pd.DataFrame.from_dict(found, orient="index", columns=columns)
    return Section("Rows that are forgotten", table.rename_axis(["N", "learner"]), notes)


def milliseconds(learner, n_samples: int, n_features: int) -> dict[str, float]:
    """Times of a fit, of forgetting rows (half of forgetting and learning again), and of all influences."""
    X, y = uniform(n_samples, n_features)
    learner = clone(learner)
    found = {"fit": 1e3 * spend(lambda: learner.fit(X, y)).seconds}
    if hasattr(learner, "forget"):
        for n in FORGOTTEN:
            both = spend(lambda n=n: learner.forget(X[:n], y[:n]).partial_fit(X[:n], y[:n]))
            found[f"forget {n}"] = 1e3 * both.seconds / 2
        if n_samples <= MOST_INFLUENCES:
            found["influence"] = 1e3 * spend(lambda: influence(learner, X, y)).seconds
    return found


def digits(
    limits: Limits, updates: Sequence[int] = UPDATES, n_features: int = 8, n_hidden: int = 50
) -> Section:
    """Distance from a fit to the remaining rows, by the number and type of updates."""
    columns = ("sums", "coefficients", "decisions")
    found = {}
    for learner in LEARNERS:
        for way in WAYS:
            for n in updates:
                arguments = (learner, n, n_features, n_hidden)
                row = measured(limits, columns, distances, way, *arguments)
                found[way, type(learner).__name__, n] = row
    notes = [
        f"{n_hidden} hidden units. Largest difference from a fit to the {WINDOW} rows left, relative "
        "to the largest number, of the sums of products, the coefficients and the decision values. A window: "
        f"every row is added alone, and the one {WINDOW} rows before it is taken out alone. Grown: the rows "
        f"are added, then all but the last {WINDOW} are forgotten, {CHUNK} at a time."
    ]
    table = pd.DataFrame.from_dict(found, orient="index", columns=columns)
    return Section("Digits after many updates", table.rename_axis(["rows", "learner", "N"]), notes)


def distances(way: str, learner, n_updates: int, n_features: int, n_hidden: int) -> dict[str, float]:
    """Relative distances from a fit to the remaining rows."""
    X, y = uniform(n_updates + WINDOW, n_features, seed=1)
    machine = clone(learner).set_params(n_hidden=n_hidden).fit(X[:WINDOW], y[:WINDOW])
    WAYS[way](machine, X, y)
    left = clone(machine).fit(X[-WINDOW:], y[-WINDOW:])
    pairs = {
        "sums": [_scatter(each) for each in (machine, left)],
        "coefficients": [each.hidden_coef_ for each in (machine, left)],
        "decisions": [each.decision_function(X[:CHUNK]) for each in (machine, left)],
    }
    return {
        name: float(np.abs(found - expected).max() / np.abs(expected).max())
        for name, (found, expected) in pairs.items()
    }


def _scatter(machine) -> np.ndarray:
    return np.tril(machine._stream[-1].scatter())


def _window(machine, X, y) -> None:
    """Replace one row by another in the sums, without solving: solutions are not needed for later updates."""
    in_classes = len(machine._stream) > 1
    for start in range(WINDOW, len(X), CHUNK):
        rows = slice(start - WINDOW, start + CHUNK)
        H, T = (
            machine._layer(X[rows]),
            machine._checked(X[rows], y[rows], first=False, dtypes=[np.float64])[1],
        )
        for new in range(WINDOW, len(H)):
            for row, add in ((new, True), (new - WINDOW, False)):
                sums = machine._stream[T[row] if in_classes else 0]
                target = () if in_classes else (T[row : row + 1],)
                if add:
                    sums.update(H[row : row + 1], *target)
                else:
                    sums -= sums.empty().update(H[row : row + 1], *target)
    machine._finish(machine._stream, np.float64)


def _grown(machine, X, y) -> None:
    for start in range(WINDOW, len(X), CHUNK):
        machine.partial_fit(X[start : start + CHUNK], y[start : start + CHUNK])
    for start in range(0, len(X) - WINDOW, CHUNK):
        stop = min(start + CHUNK, len(X) - WINDOW)
        machine.forget(X[start:stop], y[start:stop])


WAYS = {"a window": _window, "grown": _grown}
