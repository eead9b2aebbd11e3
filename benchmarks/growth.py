"""Exponents of the time of fit, predict and path as a function of data size, for each family of learners."""

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import linregress
from scipy.stats import t as student
from sklearn.base import BaseEstimator, is_classifier
from sklearn.datasets import make_blobs

from benchmarks.data import uniform
from benchmarks.measure import spend
from benchmarks.races import CONFIDENCE, on_processor
from entrolab.fit.limits import LimitError, Limits
from entrolearn import (
    LSSVC,
    MELM,
    RSVC,
    ClassPCA,
    CrossEntropyClustering,
    CrossEntropyMethodClustering,
    CrossEntropySVC,
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ErrorEntropyMLPClassifier,
    InfomaxICA,
    KDEClassifier,
    KELMClassifier,
    KLClustering,
    MaxEntClassifier,
    MinimumEntropyClustering,
    MSEMLPClassifier,
    OneNormSVC,
    RecursiveFeatureClassifier,
    RenyiEntropyClustering,
    RKELMClassifier,
    SoftmaxRegression,
    WELMClassifier,
)
from entrolearn.path import Partition, path

logger = logging.getLogger(__name__)

FOLDS = 5
MANY, SOME, FEW = (4000, 8000, 16_000, 32_000), (500, 1000, 2000, 4000), (200, 400, 800, 1600)
RIDGES = tuple({"C": 2.0**k} for k in (-8, -4, 0))


def labelled(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes on either side of a blurred plane, with ten features."""
    return uniform(n, 10)


def blobs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Five round clusters in five dimensions."""
    return make_blobs(n, 5, centers=5, cluster_std=1.0, random_state=0)


def mixed(n: int) -> tuple[np.ndarray, None]:
    """Mixtures of ten peaked sources."""
    rng = np.random.default_rng(0)
    return rng.laplace(size=(n, 10)) @ rng.standard_normal((10, 10)), None


def distributions(n: int) -> tuple[np.ndarray, None]:
    """Rows with counts of twenty words."""
    return np.random.default_rng(0).poisson(3.0, size=(n, 20)).astype(float), None


@dataclass(frozen=True)
class Family:
    """A learner, and the sizes at which it is timed."""

    name: str
    build: Callable[[int], BaseEstimator]  # the unfitted estimator, by size
    rows: Callable[[int], tuple] = labelled  # X and y, by size
    sizes: Sequence[int] = MANY
    grid: Sequence[dict] = ()  # for entrolearn.path.path; empty if there is no path
    varied: str = "rows"  # what the size is


def _fixed(estimator: BaseEstimator) -> Callable[[int], BaseEstimator]:
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    return lambda size: estimator


def _units(name: str) -> tuple[dict, ...]:
    return tuple({name: size} for size in (50, 100, 200))


FAMILIES = (
    Family("EEM, 200 units", _fixed(EEMClassifier(200)), grid=_units("n_hidden")),
    Family(
        "EEM, 20,000 rows",
        lambda h: EEMClassifier(h, random_state=0),
        lambda h: labelled(20_000),
        (250, 500, 1000, 2000),
        varied="units",
    ),
    Family(
        "EEM, 20,000 rows, 200 units",
        _fixed(EEMClassifier(200)),
        lambda d: uniform(20_000, d),
        (50, 200, 800),
        varied="features",
    ),
    Family("EEKM, 200 landmarks", _fixed(EEKMClassifier(200)), grid=_units("n_landmarks")),
    Family("ELM, 200 units", _fixed(ELMClassifier(200, C=1e-3)), grid=_units("n_hidden")),
    Family("WELM, 200 units", _fixed(WELMClassifier(200)), grid=_units("n_hidden")),
    Family("RKELM, 200 landmarks", _fixed(RKELMClassifier(200)), grid=_units("n_landmarks")),
    Family("KELM", _fixed(KELMClassifier()), sizes=FEW, grid=RIDGES),
    Family("LSSVC", _fixed(LSSVC()), sizes=FEW, grid=RIDGES),
    Family("RSVC, 100 landmarks", _fixed(RSVC()), sizes=SOME, grid=RIDGES),
    Family("OneNormSVC", _fixed(OneNormSVC()), sizes=(50, 100, 200), grid=RIDGES),
    Family("CrossEntropySVC", _fixed(CrossEntropySVC()), sizes=(30, 60, 120), grid=RIDGES[-1:]),
    Family("KDEClassifier, one feature", _fixed(KDEClassifier()), lambda n: uniform(n, 1)),
    Family("KDEClassifier, ten features", _fixed(KDEClassifier()), sizes=FEW),
    Family("MELM, one start", _fixed(MELM(n_init=1)), sizes=SOME),
    Family("ClassPCA", _fixed(ClassPCA())),
    Family("RecursiveFeatureClassifier", _fixed(RecursiveFeatureClassifier()), sizes=SOME),
    Family("CrossEntropyClustering", _fixed(CrossEntropyClustering()), blobs, SOME),
    Family("CrossEntropyMethodClustering", _fixed(CrossEntropyMethodClustering(5)), blobs, FEW),
    Family("MinimumEntropyClustering", _fixed(MinimumEntropyClustering(5)), blobs, FEW),
    Family("RenyiEntropyClustering", _fixed(RenyiEntropyClustering(5)), blobs, (100, 200, 400)),
    Family("KLClustering", _fixed(KLClustering(5)), distributions),
    Family("SoftmaxRegression", _fixed(SoftmaxRegression())),
    Family("MSEMLPClassifier, 5 epochs", _fixed(MSEMLPClassifier(max_iter=5))),
    Family("ErrorEntropyMLPClassifier", _fixed(ErrorEntropyMLPClassifier(max_iter=20))),
    Family("MaxEntClassifier", _fixed(MaxEntClassifier())),
    Family("InfomaxICA", _fixed(InfomaxICA()), mixed),
)


def growth(limits: Limits, rounds: int, families: Sequence[Family] = FAMILIES) -> pd.DataFrame:
    """Exponents of all families, in the columns of :func:`benchmarks.races.compared`."""
    return pd.DataFrame([row for family in families for row in exponents(family, limits, rounds)])


def exponents(family: Family, limits: Limits, rounds: int) -> Iterator[dict]:
    """Rows for fit, predict and path of one family."""
    found, note = [], ""
    for number in range(rounds):
        for size in family.sizes:
            logger.info("%s, %d %s, round %d of %d", family.name, size, family.varied, number + 1, rounds)
            try:
                found.append({"size": size, **on_processor(limits, timed, family, size)})
            except (LimitError, RuntimeError) as error:
                note = f"{size:,} {family.varied}: {str(error).splitlines()[0]}"
    table = pd.DataFrame(found)
    for work in table.columns.drop("size", errors="ignore"):
        slope, low, high = exponent(table["size"], table[work])
        yield {
            "what": f"{work}, {min(family.sizes):,} to {max(family.sizes):,} {family.varied}",
            "unit": f"exponent of {family.varied}",
            "ours": family.name,
            "our_spent": slope,
            "low": low,
            "high": high,
            "rounds": rounds,
            "note": note,
        }


def timed(family: Family, size: int) -> dict[str, float]:
    """Seconds of a fit, of predictions for the same rows and of a path, if the learner has them."""
    X, y = family.rows(size)
    estimator = family.build(size)
    found = {"fit": spend(lambda: estimator.fit(X, y)).seconds}
    if hasattr(estimator, "predict"):
        found["predict"] = spend(lambda: estimator.predict(X)).seconds
    if family.grid and is_classifier(estimator):
        folds = Partition.cross_validation(np.arange(len(y)) % FOLDS)
        found["path"] = spend(lambda: _walked(estimator, X, y, folds, family.grid)).seconds
    return found


def _walked(estimator, X, y, folds: Partition, grid: Sequence[dict]) -> None:
    for point in path(estimator, X, y, folds, grid):
        if point.error:
            raise RuntimeError(point.error)


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float, float]:
    """The least-squares slope of log seconds against log size, and the ends of its interval."""
    if len(set(sizes)) < 2:
        return (math.nan,) * 3
    line = linregress(np.log(sizes), np.log(seconds))
    df = len(sizes) - 2
    half = student.ppf((1 + CONFIDENCE) / 2, df) * line.stderr if df else math.nan
    return line.slope, line.slope - half, line.slope + half
