"""Kernel machines on landmarks beside others of their size: on data sets, sparse rows, many rows."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, is_regressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline

from benchmarks.data import Split, Trial, draw, nonlinear
from benchmarks.measure import measured, spend
from benchmarks.report import Section
from entrolab.fit.limits import Limits
from entrolearn import (
    RSVC,
    RSVR,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    RKELMClassifier,
    RKELMRegressor,
)

logger = logging.getLogger(__name__)

REFERENCE = "RKELM"  # whose seconds are the unit of the ratios


@dataclass(frozen=True)
class Size:
    """The size of the machines of a race: landmarks or hidden units, ridge, kernel width, seed."""

    n_units: int
    C: float = 2**-20
    sigma: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Racer:
    """A learner for values and one for classes, each built from the size of a race."""

    name: str
    regressor: Callable[[Size], BaseEstimator]
    classifier: Callable[[Size], BaseEstimator]


RACERS = (
    Racer(
        REFERENCE,
        lambda s: RKELMRegressor(s.n_units, C=s.C, sigma=s.sigma, random_state=s.seed),
        lambda s: RKELMClassifier(s.n_units, C=s.C, sigma=s.sigma, random_state=s.seed),
    ),
    Racer(
        "Nystroem + Ridge",
        lambda s: make_pipeline(_nystroem(s), Ridge(alpha=s.C)),
        lambda s: make_pipeline(_nystroem(s), RidgeClassifier(alpha=s.C)),
    ),
    Racer(
        "ELM",
        lambda s: ELMRegressor(s.n_units, C=0.0, random_state=s.seed),
        lambda s: ELMClassifier(s.n_units, random_state=s.seed),
    ),
    Racer(
        "KELM",
        lambda s: KELMRegressor(C=2**-10, sigma=s.sigma),
        lambda s: KELMClassifier(C=2**-10, sigma=s.sigma),
    ),
    Racer(
        "RSVM",
        lambda s: RSVR(s.n_units, C=2**10, gamma=1 / s.sigma, random_state=s.seed),
        lambda s: RSVC(s.n_units, C=2**10, gamma=1 / s.sigma, random_state=s.seed),
    ),
)


def _nystroem(size: Size) -> Nystroem:
    return Nystroem(gamma=1 / size.sigma, n_components=size.n_units, random_state=size.seed)


# Tables 1, 2 and 4 of Deng, Ong and Zheng (2016): rows to fit and to predict, L and sigma; C is 2^-20. Sets
# that cannot be had are made, of the same size.
TRIALS = (
    (Trial("auto-mpg", 320, 72, n_features=7), Size(25, sigma=2**2)),
    (Trial("abalone", 3000, 1177, n_features=8), Size(25, sigma=2**2)),
    (Trial("california-housing", 8000, 12_640, n_features=8), Size(50, sigma=2**0)),
    (Trial("wpbc", 100, 94, n_features=32), Size(20, sigma=2**2)),
    (Trial("computer-activity", 4000, 4192, n_features=21), Size(250, sigma=2**0)),
    (Trial("triazines", 100, 86, n_features=60), Size(10, sigma=2**5)),
    (Trial("bank8fm", 4500, 3692, n_features=8), Size(200, sigma=2**1)),
    (Trial("segment", 1500, 810, n_features=19, n_classes=7), Size(400, sigma=2**0)),
    (Trial("satimage", 4435, 2000, n_features=36, n_classes=6), Size(400, sigma=2**1)),
    (Trial("shuttle", 43_500, 14_500, n_features=9, n_classes=7), Size(300, sigma=2**-3)),
    (Trial("waveform", 4000, 1000, n_features=21, n_classes=2), Size(250, sigma=2**1)),
    (Trial("usps", 7329, 1969, n_features=256, n_classes=2), Size(500, sigma=2**8)),
    (Trial("adult", 32_562, 16_280, n_features=123, n_classes=2), Size(600, sigma=2**8)),
    (Trial("skin", 145_057, 100_000, n_features=3, n_classes=2), Size(300, sigma=2**-3)),
)


def races(
    limits: Limits,
    trials: Sequence[tuple[Trial, Size]] = TRIALS,
    racers: Sequence[Racer] = RACERS,
    mirror=None,
) -> Section:
    """Seconds to fit, as ratios to RKELM's, and the scores on test rows, a row for each data set."""
    rows = []
    for trial, size in trials:
        split, made = draw(trial, mirror=mirror)
        row = {"data set": trial.name + (" (made)" if made else ""), "L": size.n_units}
        for racer in racers:
            logger.info("%s: %s", trial.name, racer.name)
            found = _measured(limits, race, _machine(racer, trial, size), split)
            row |= {(racer.name, "s"): found["fit s"], (racer.name, "score"): found["score"]}
        rows.append(row)
    table = _with_ratios(pd.DataFrame(rows).set_index(["data set", "L"]), [racer.name for racer in racers])
    notes = [
        "Processor seconds of a fit on one thread, and those of the others over RKELM's: above one, RKELM is "
        "quicker. Test scores: the accuracy in percent, or the RMSE of targets scaled to [0, 1]. Features "
        "are scaled to [-1, 1] for classes as the paper says, to [0, 1] for values, where its widths do "
        "better. All have L landmarks or hidden units; all kernels are exp(-d²/sigma) of the "
        "same width; C is 2^-20 for RKELM and Ridge, 2^-10 for KELM, 2^10 for RSVM (a reciprocal ridge); "
        f"each fit may take {limits.seconds:g} s and {_gib(limits)}.",
    ]
    return Section("Reduced kernels", table, notes)


def _machine(racer: Racer, trial: Trial, size: Size) -> BaseEstimator:
    return (racer.classifier if trial.n_classes else racer.regressor)(size)


def race(machine: BaseEstimator, split: Split) -> dict:
    """Seconds to fit and to predict, MiB of the fit, and the score; after a fit on few rows."""
    few = np.arange(min(50, len(split.y_train)))
    machine.fit(split.X_train[few], split.y_train[few]).predict(split.X_test[:10])
    fitted = spend(lambda: machine.fit(split.X_train, split.y_train))
    predicted = spend(lambda: machine.predict(split.X_test))
    return {
        "fit s": fitted.seconds,
        "predict s": predicted.seconds,
        "fit MiB": fitted.mib,
        "score": score(machine, split.y_test, predicted.value),
    }


def score(machine: BaseEstimator, y: np.ndarray, predicted: np.ndarray) -> float:
    """The accuracy in percent; of a regressor the root mean square error."""
    if is_regressor(machine):
        return float(np.sqrt(np.mean((y - predicted) ** 2)))
    return float(100 * np.mean(y == predicted))


def _measured(limits: Limits, work: Callable, *arguments) -> dict:
    """What was measured; nothing but a note where a limit was reached or the work failed."""
    return measured(limits, ("fit s", "predict s", "fit MiB", "score"), work, *arguments)


def _with_ratios(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Seconds of the reference, ratios of the others to them, then the scores."""
    seconds = {name: table[name, "s"] for name in names}
    columns = {f"{REFERENCE} s": seconds[REFERENCE]}
    columns |= {f"{name} ×": seconds[name] / seconds[REFERENCE] for name in names if name != REFERENCE}
    return pd.DataFrame(columns | {f"{name} score": table[name, "score"] for name in names})


# --- density ------------------------------------------------------------------------------------------

DENSITIES = (0.6, 0.2, 0.1, 0.05, 0.01, 0.001)  # some of those in section 6.4 of the paper
MOST_NUMBERS = 6 * 10**7  # numbers of a matrix that are not zero; more take minutes to make and to multiply


def sparse(
    limits: Limits,
    dimensions: Sequence[int] = (10**4, 10**5, 10**6),
    densities=DENSITIES,
    n_samples=1000,
    n_units=500,
) -> Section:
    """Seconds of RKELM's fit beside ELM's as the share of numbers that are not zero falls."""
    rows = []
    for d in dimensions:
        for density in densities:
            if n_samples * d * density > MOST_NUMBERS:
                continue
            X, y = sparse_rows(n_samples, d, density)
            logger.info("%d features, density %g", d, density)
            size = Size(n_units, sigma=d * density)  # squared distances are some multiple of it
            row = {"d": d, "density": density}
            for racer in RACERS:
                if racer.name in (REFERENCE, "ELM"):
                    split = Split(X, y, X[:10], y[:10])
                    row[f"{racer.name} s"] = _measured(limits, race, racer.classifier(size), split)["fit s"]
            rows.append(row | {"ELM ×": row["ELM s"] / row[f"{REFERENCE} s"]})
    notes = [
        f"{n_samples:,} rows in CSR, their places and values random, two classes; L = {n_units} landmarks or "
        f"hidden units. At most {MOST_NUMBERS:.0e} numbers that are not zero."
    ]
    return Section("Sparse rows", pd.DataFrame(rows).set_index(["d", "density"]), notes)


def sparse_rows(n_samples: int, n_features: int, density: float) -> tuple[csr_array, np.ndarray]:
    """Random CSR rows, values from U[0, 1], and two classes that a plane through the rows' mean parts."""
    rng = np.random.default_rng(0)
    expected = n_samples * n_features * density
    gaps = rng.geometric(density, size=int(expected + 10 * np.sqrt(expected) + 10))  # between numbers
    places = np.cumsum(gaps) - 1
    rows, columns = np.divmod(places[places < n_samples * n_features], n_features)
    starts = np.searchsorted(rows, np.arange(n_samples + 1))
    X = csr_array((rng.random(len(rows)), columns.astype(np.int32), starts), (n_samples, n_features))
    heights = X @ rng.standard_normal(n_features)
    return X, (heights > np.median(heights)).astype(int)


# --- many rows ----------------------------------------------------------------------------------------


def large(
    limits: Limits, n_train=463_715, n_test=51_630, n_features=90, sizes: Sequence[int] = (30, 500)
) -> Section:
    """Seconds and memory of a regression of the size of YearPredictionMSD."""
    X, y = nonlinear(n_train + n_test, n_features)
    split = Split(X[:n_train], y[:n_train], X[n_train:], y[n_train:])
    rows = []
    for n_units in sizes:
        for racer in RACERS:
            if racer.name != "KELM":  # a matrix of all rows: 1.6 TiB
                logger.info("%d rows: %s, L = %d", n_train, racer.name, n_units)
                found = _measured(limits, race, racer.regressor(Size(n_units, sigma=2.0**7)), split)
                found["RMSE"] = found.pop("score")
                rows.append({"L": n_units, "learner": racer.name, **found})
    table = pd.DataFrame(rows).set_index(["L", "learner"])
    notes = [
        f"{n_train:,} rows of {n_features} features, made, to fit ({X[:n_train].nbytes / 2**20:,.0f} MiB), "
        f"{n_test:,} to predict: the size of YearPredictionMSD. Memory beyond that of the data."
    ]
    return Section("Very many rows", table[["fit s", "predict s", "fit MiB", "RMSE", "note"]], notes)


def _gib(limits: Limits) -> str:
    return "all memory" if limits.gib is None else f"{limits.gib:g} GiB"
