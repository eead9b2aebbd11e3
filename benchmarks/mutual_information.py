"""Estimators of mutual information compared with peers: errors, seconds, tests of independence."""

import json
import logging
import math
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score

from benchmarks.known_information import Task, gaussian, pairs, tasks
from benchmarks.measure import measured, spend
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn.measures import (
    UnreliableEstimateWarning,
    copula_mutual_information,
    discrete_mutual_information,
    gaussian_mutual_information,
    independence_test,
    kde_mutual_information,
    knn_mutual_information,
    mixed_mutual_information,
    ross_mutual_information,
)

logger = logging.getLogger(__name__)

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".peers/information/bin/python"
PEERS_SCRIPT = ROOT / "benchmarks" / "information_peers.py"

#: Rows above which estimators of quadratic cost are left out.
MOST_ROWS = 12_000

Estimators = dict[str, Callable[[], float]]


def ours(X: np.ndarray, Y: np.ndarray, Z: np.ndarray | None = None) -> Estimators:
    """Name -> function without arguments, for estimators of entrolearn and scikit-learn."""
    if X.dtype.kind == "i":
        discrete = partial(discrete_mutual_information, X, Y)
        return {
            "discrete": discrete,
            "discrete, miller_madow": partial(discrete, correction="miller_madow"),
            "discrete, grassberger": partial(discrete, correction="grassberger"),
            "scikit-learn": partial(mutual_info_score, X, Y),
        }
    if Y.dtype.kind == "i":
        mixed = partial(mixed_mutual_information, X, Y.astype(str))
        found = {"ross": partial(ross_mutual_information, X, Y), "mixed": mixed}
        if X.shape[1] == 1:
            found["scikit-learn"] = lambda: mutual_info_classif(X, Y, random_state=0)[0]
        return found
    found = {
        "knn": partial(knn_mutual_information, X, Y, given=Z),
        "gaussian": partial(gaussian_mutual_information, X, Y, given=Z),
        "copula": partial(copula_mutual_information, X, Y, given=Z),
    }
    if min(len(np.unique(X)), len(np.unique(Y))) < X.size:  # without repeated values it equals knn
        found["mixed"] = partial(mixed_mutual_information, X, Y, given=Z)
    if len(X) <= MOST_ROWS:
        found["kde"] = partial(kde_mutual_information, X, Y, given=Z)
    if Z is None:
        n_columns = X.shape[1] + Y.shape[1]
        found["knn, ksg2"] = partial(knn_mutual_information, X, Y, variant="ksg2")
        if n_columns <= 10:
            k = max(10, n_columns + 5)
            found["knn, local"] = partial(knn_mutual_information, X, Y, variant="local", n_neighbors=k)
        if n_columns == 2:
            found["scikit-learn"] = lambda: mutual_info_regression(X, Y[:, 0], random_state=0)[0]
    return found


# --- errors -------------------------------------------------------------------------------------------

SIZES = (200, 1000, 5000)


def errors(limits: Limits, sizes: Sequence[int] = SIZES, known: Sequence[Task] | None = None) -> Section:
    """Mean absolute error of each estimator by kind of task and number of rows."""
    rows = [
        {"kind": task.kind, "columns": columns, "N": n_samples, "task": task.name, "truth": truth, **found}
        for n_samples in sizes
        for task, columns, truth, found in _estimates(known or tasks(), n_samples, _n_draws(n_samples))
    ]
    found = pd.DataFrame(rows)
    found["error"] = (found["nats"] - found["truth"]).abs()
    table = found.pivot_table(index=["kind", "columns", "N"], columns="estimator", values="error", sort=False)
    drawn = ", ".join(f"{_n_draws(n)} draws of {n:,} rows" for n in sizes)
    notes = [
        f"Mean absolute error in nats over {found['task'].nunique()} tasks, {drawn} (one of bmi's tasks). "
        "Dashes: not for such variables. scikit-learn clips estimates at 0, which helps where that is the "
        "true value.",
        *_absent(),
    ]
    return Section("Mutual information where it is known", table, notes)


def _n_draws(n_samples: int) -> int:
    """Number of draws of a task: fewer for more rows."""
    return min(4, max(1, 2000 // n_samples))


def _estimates(known: Sequence[Task], n_samples: int, n_draws: int):
    """Yield task, columns, truth and estimate for all draws; bmi's tasks and peers only if installed."""
    with tempfile.TemporaryDirectory() as place:
        folder, held = Path(place), {}
        for number, task in enumerate(known):
            for seed in range(n_draws):
                file = folder / f"{number}-{seed}.npz"
                np.savez(file, **dict(zip("XYZ", task.rows(n_samples, seed), strict=False)))
                held[file] = task
        if PEERS.exists():
            of_bmi = folder / "bmi"
            of_bmi.mkdir()
            _ask_peers("draw", of_bmi, n_samples, 1)
            for file in sorted(of_bmi.glob("*.npz")):
                with np.load(file) as each:
                    name, information = str(each["name"]), float(each["information"])
                held[file] = Task("bmi's 40 tasks", name, information, lambda rng, n: ())
            for each in (folder, of_bmi):
                _ask_peers("estimate", each)
        for number, (file, task) in enumerate(held.items()):
            if number % 50 == 0:
                logger.info("%d rows: draw %d of %d", n_samples, number, len(held))
            with np.load(file) as each:
                rows = [each[name] for name in "XYZ" if name in each]
            columns = _columns(rows)
            for name, nats in _quietly(ours(*rows)):
                yield task, columns, task.information, {"estimator": name, "nats": nats}
            theirs = file.with_suffix(".json")
            for name, each in json.loads(theirs.read_text()).items() if theirs.exists() else ():
                yield task, columns, task.information, {"estimator": name, "nats": each["nats"]}


def _columns(rows: Sequence[np.ndarray]) -> str:
    """The group of the number of columns, one of three."""
    most = max(1 if each.ndim == 1 else each.shape[1] for each in rows[:2])
    return "1+1" if most == 1 else "2+2 to 5+5" if most <= 5 else "more"


def _quietly(found: Estimators):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableEstimateWarning)
        for name, work in found.items():
            try:
                yield name, float(work())
            except ValueError as error:
                logger.info("%s: %s", name, error)
                yield name, math.nan


def _ask_peers(what: str, folder: Path, *arguments, seconds: float | None = None) -> None:
    subprocess.run(
        [PEERS, PEERS_SCRIPT, what, folder, *map(str, arguments)],
        check=True,
        timeout=seconds,
        env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"},
        stderr=subprocess.DEVNULL,
    )


def _absent() -> list[str]:
    missing = "Without npeet-plus and bmi: `make peers PEERS=information` installs them."
    return [] if PEERS.exists() else [missing]


# --- seconds ------------------------------------------------------------------------------------------

PEER_SECONDS = 300  # limit of all peers together


def seconds(
    limits: Limits, sizes: Sequence[int] = (1000, 10_000, 100_000), dimensions: Sequence[int] = (1, 5)
) -> Section:
    """Processor seconds of one estimate with 1 + 1 and 5 + 5 columns."""
    rows = []
    for d in dimensions:
        for n_samples in sizes:
            row = {"columns": f"{d}+{d}", "N": n_samples}
            X, Y = Task("", "seconds", 0.0, gaussian(pairs(d, 0.8), d)).rows(n_samples, 0)
            for name in ours(X, Y):
                logger.info("%s: %s", row, name)
                row[name] = measured(limits, ["s"], _spent, name, X, Y)["s"]
            rows.append(row | _peers_seconds(X, Y))
    notes = [
        "Processor seconds of one estimate on one thread, for Gaussian rows with one pair of columns of "
        f"correlation 0.8. Time limit of all peers together: {PEER_SECONDS} s.",
        *_absent(),
    ]
    return Section("Seconds of an estimate", pd.DataFrame(rows).set_index(["columns", "N"]), notes)


def _spent(name: str, X: np.ndarray, Y: np.ndarray) -> dict:
    return {"s": spend(ours(X, Y)[name]).seconds}


def _peers_seconds(X: np.ndarray, Y: np.ndarray) -> dict[str, float]:
    if not PEERS.exists():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "draw.npz", X=X, Y=Y)
        try:
            _ask_peers("estimate", Path(folder), seconds=PEER_SECONDS)
        except subprocess.TimeoutExpired:
            return {}
        found = json.loads((Path(folder) / "draw.json").read_text())
    return {name: each["seconds"] for name, each in found.items()}


# --- tests of independence ----------------------------------------------------------------------------

ALPHA = 0.05
PERMUTATIONS = 39  # so that 5 % is a possible p-value


def independence(
    limits: Limits,
    n_draws: int = 1000,
    sizes: Sequence[int] = (100,),
    methods: Sequence[str] = ("knn", "gaussian"),
) -> Section:
    """Share of draws rejected by a test at 5 %, for independent and for dependent variables."""
    rows, n_of_power = [], max(1, n_draws // 5)
    for setting, draw in SETTINGS.items():
        for n_samples in sizes:
            for method in methods:
                logger.info("%s, %d rows, %s", setting, n_samples, method)
                start = time.process_time()
                row = {"variables": setting, "N": n_samples, "estimator": method}
                for name, strength, n in (
                    ("false %", 0.0, n_draws),
                    ("power, weak %", 0.25, n_of_power),
                    ("power, strong %", 0.5, n_of_power),
                ):
                    found = []
                    for seed in range(n):
                        rng = np.random.default_rng([seed, n_samples, int(100 * strength)])
                        found.append(_rejected(draw(rng, n_samples, strength), method, seed))
                    row[name] = 100 * np.mean(found)
                rows.append(row | {"s": time.process_time() - start})
    error = 100 * math.sqrt(ALPHA * (1 - ALPHA) / n_draws)
    notes = [
        f"Percent of draws with p ≤ {ALPHA:g}, from {PERMUTATIONS} permutations. False: {n_draws:,} draws of "
        f"independent variables, 5 expected with a standard error of {error:.1f}; power: {n_of_power} draws "
        "in which Y depends on X with a coefficient of 0.25 (weak) or 0.5 (strong) times the noise.",
    ]
    return Section(
        "Tests of independence", pd.DataFrame(rows).set_index(["variables", "N", "estimator"]), notes
    )


def _two(rng: np.random.Generator, n_samples: int, strength: float):
    x, noise = rng.standard_normal((2, n_samples))
    return x, strength * x + noise, None


def _even(rng: np.random.Generator, n_samples: int, strength: float):
    x, noise = rng.standard_normal((2, n_samples))
    return x, strength * (x**2 - 1) + noise, None


def _given(rng: np.random.Generator, n_samples: int, strength: float):
    z, of_x, noise = rng.standard_normal((3, n_samples))
    return z + of_x, z + strength * of_x + noise, z


def _given_close(rng: np.random.Generator, n_samples: int, strength: float):
    z, of_x, noise = rng.standard_normal((3, n_samples))
    return z + 0.3 * of_x, z + 0.3 * (strength * of_x + noise), z


def _given_class(rng: np.random.Generator, n_samples: int, strength: float):
    z = rng.integers(5, size=n_samples)
    of_x, noise = rng.standard_normal((2, n_samples))
    return 2 * z + of_x, 2 * z + strength * of_x + noise, z


SETTINGS = {
    "X, Y": _two,
    "X, Y depends on X²": _even,
    "given Z": _given,
    "given Z, on which X and Y depend strongly": _given_close,
    "given one of five classes": _given_class,
}


def _rejected(rows: tuple, method: str, seed: int) -> bool:
    X, Y, given = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableEstimateWarning)
        found = independence_test(
            X, Y, given=given, method=method, n_permutations=PERMUTATIONS, random_state=seed
        )
    return found.p_value <= ALPHA
