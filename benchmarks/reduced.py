"""Kernel machines on landmarks compared with others of equal size: data sets, sparse rows, many rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, is_regressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline

from benchmarks.data import Split, Trial, draw, nonlinear
from benchmarks.measure import Spent, spend
from benchmarks.races import Race
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

REFERENCE = "RKELM"


@dataclass(frozen=True)
class Size:
    """The size of the machines of a race: landmarks or hidden units, ridge, kernel width, seed."""

    n_units: int
    C: float = 2**-20
    sigma: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Racer:
    """A regressor and a classifier, each built from the size of a race."""

    name: str
    regressor: Callable[[Size], BaseEstimator]
    classifier: Callable[[Size], BaseEstimator]


RACERS = (
    Racer(
        REFERENCE,
        lambda s: RKELMRegressor(s.n_units, alpha=s.C, gamma=1 / s.sigma, random_state=s.seed),
        lambda s: RKELMClassifier(s.n_units, alpha=s.C, gamma=1 / s.sigma, random_state=s.seed),
    ),
    Racer(
        "Nystroem + Ridge",
        lambda s: make_pipeline(_nystroem(s), Ridge(alpha=s.C)),
        lambda s: make_pipeline(_nystroem(s), RidgeClassifier(alpha=s.C)),
    ),
    Racer(
        "ELM",
        lambda s: ELMRegressor(s.n_units, alpha=0.0, random_state=s.seed),
        lambda s: ELMClassifier(s.n_units, random_state=s.seed),
    ),
    Racer(
        "KELM",
        lambda s: KELMRegressor(alpha=2**-10, gamma=1 / s.sigma),
        lambda s: KELMClassifier(alpha=2**-10, gamma=1 / s.sigma),
    ),
    Racer(
        "RSVM",
        lambda s: RSVR(s.n_units, C=2**10, gamma=1 / s.sigma, random_state=s.seed),
        lambda s: RSVC(s.n_units, C=2**10, gamma=1 / s.sigma, random_state=s.seed),
    ),
)


def _nystroem(size: Size) -> Nystroem:
    return Nystroem(gamma=1 / size.sigma, n_components=size.n_units, random_state=size.seed)


# Tables 1, 2 and 4 of Deng, Ong and Zheng (2016): rows to fit and to predict, L and sigma; C is 2^-20. Data
# sets that are not available are generated with the same size.
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


def races(trials: Sequence[tuple[Trial, Size]] = TRIALS, mirror=None) -> Iterator[Race]:
    """Fits on data sets; all have equally many landmarks or hidden units, and all kernels the same width."""
    for trial, size in trials:
        split, made = draw(trial, mirror=mirror)
        ways = {racer.name: partial(fitted, racer, size, split, trial.n_classes > 0) for racer in RACERS}
        name = f"{trial.name}{' (made)' if made else ''}, {len(split.y_train):,} rows, {size.n_units} units"
        yield Race(name, ways, "accuracy %" if trial.n_classes else "RMSE")


def fitted(racer: Racer, size: Size, split: Split, classes: bool, seed: int) -> Spent:
    """Cost of a fit, after a fit to few rows, and its score on test rows."""
    size = replace(size, seed=seed)
    machine = racer.classifier(size) if classes else racer.regressor(size)
    few = np.arange(min(50, len(split.y_train)))
    machine.fit(split.X_train[few], split.y_train[few]).predict(split.X_test[:10])
    spent = spend(lambda: machine.fit(split.X_train, split.y_train))
    return replace(spent, value=score(machine, split.y_test, machine.predict(split.X_test)))


def score(machine: BaseEstimator, y: np.ndarray, predicted: np.ndarray) -> float:
    """The accuracy in percent, or the root mean square error of a regressor."""
    if is_regressor(machine):
        return float(np.sqrt(np.mean((y - predicted) ** 2)))
    return float(100 * np.mean(y == predicted))


# --- density ------------------------------------------------------------------------------------------

DENSITIES = (0.6, 0.2, 0.1, 0.05, 0.01, 0.001)  # some of those in section 6.4 of the paper
MOST_NUMBERS = 6 * 10**7  # maximum number of nonzeros; more take minutes to generate and multiply


def sparse(
    dimensions: Sequence[int] = (10**4, 10**5, 10**6),
    densities=DENSITIES,
    n_samples=1000,
    n_units=500,
) -> Iterator[Race]:
    """RKELM compared with ELM for decreasing density."""
    for d in dimensions:
        for density in densities:
            if n_samples * d * density > MOST_NUMBERS:
                continue
            X, y = sparse_rows(n_samples, d, density)
            split = Split(X, y, X[:10], y[:10])
            size = Size(n_units, sigma=d * density)  # squared distances are proportional to it
            ways = {
                racer.name: partial(fitted, racer, size, split, True)
                for racer in RACERS
                if racer.name in (REFERENCE, "ELM")
            }
            yield Race(f"{n_samples:,} × {d:,}, density {density:g}, {n_units} units", ways)


def sparse_rows(n_samples: int, n_features: int, density: float) -> tuple[csr_array, np.ndarray]:
    """Random CSR rows with values from U[0, 1], and two classes separated by a plane through their mean."""
    rng = np.random.default_rng(0)
    expected = n_samples * n_features * density
    gaps = rng.geometric(density, size=int(expected + 10 * np.sqrt(expected) + 10))  # gaps between nonzeros
    places = np.cumsum(gaps) - 1
    rows, columns = np.divmod(places[places < n_samples * n_features], n_features)
    starts = np.searchsorted(rows, np.arange(n_samples + 1))
    X = csr_array((rng.random(len(rows)), columns.astype(np.int32), starts), (n_samples, n_features))
    heights = X @ rng.standard_normal(n_features)
    return X, (heights > np.median(heights)).astype(int)


# --- many rows ----------------------------------------------------------------------------------------


def large(n_train=463_715, n_test=51_630, n_features=90, sizes: Sequence[int] = (30, 500)) -> Iterator[Race]:
    """A generated regression of the size of YearPredictionMSD."""
    X, y = nonlinear(n_train + n_test, n_features)
    split = Split(X[:n_train], y[:n_train], X[n_train:], y[n_train:])
    for n_units in sizes:
        size = Size(n_units, sigma=2.0**7)
        ways = {
            racer.name: partial(fitted, racer, size, split, False)
            for racer in RACERS
            if racer.name != "KELM"  # a matrix of all rows: 1.6 TiB
        }
        yield Race(f"{n_train:,} × {n_features}, {n_units} units", ways, "RMSE")
