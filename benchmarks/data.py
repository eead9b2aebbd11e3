"""Data for the benchmarks: data sets of the catalog, and generated ones of any size."""

import logging
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from scipy.sparse import issparse
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler, minmax_scale

from entrolab.data.dataset import DataUnavailable
from entrolab.data.download import Patience, download
from entrolab.data.prepare import prepare
from entrolab.study.config import load_catalog

logger = logging.getLogger(__name__)

ROOT = Path(__file__).parents[1]
GENERATED = "generated"  # in addition to the keys of the catalog: 200,000 rows of 54 features
MAX_ROWS = 75_000  # of each half of a data set
FOLDER = Path("resources/benchmarks")  # for downloads


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows; the function that makes them defines their scaling."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def load(name: str, mirror=None) -> Split:
    """A stratified split of a data set into halves for training and test, scaled to [0, 1] on training rows.

    `mirror` is a folder with the raw files; missing files are downloaded, or `DataUnavailable` is raised.
    """
    X, y = _generated() if name == GENERATED else from_catalog(name, mirror)
    rows = min(MAX_ROWS, len(y) // 2)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=rows, test_size=rows, stratify=y, random_state=0
    )
    scaler = MinMaxScaler().fit(X_train)
    return Split(scaler.transform(X_train), y_train, scaler.transform(X_test), y_test)


def uniform(
    n_samples: int, n_features: int, dtype=np.float64, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Rows uniform in the unit cube, and two classes on either side of a blurred plane."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_features), dtype=dtype)
    leading = X[:, : min(5, n_features)]
    y = leading.mean(axis=1) + 0.1 * rng.standard_normal(n_samples) > 0.5
    return X, y.astype(int)


@dataclass(frozen=True)
class Trial:
    """A data set, the numbers of rows to fit and to predict, and its shape if it has to be generated."""

    name: str  # a key of the catalog, or another name for a generated data set
    n_train: int
    n_test: int  # there are fewer if the data set has fewer
    n_features: int
    n_classes: int = 0  # 2: class 0 against the rest; 0: values


def draw(trial: Trial, *, mirror=None) -> tuple[Split, bool]:
    """The rows of a data set in random order, split in two, and whether they had to be generated.

    For regression, features and targets are scaled to [0, 1] over all rows; for classification, features are
    scaled to [-1, 1].
    """
    made = trial.name not in catalog()
    if not made:
        try:
            X, y = from_catalog(trial.name, mirror)
        except DataUnavailable as absence:
            logger.info("%s is made: %s", trial.name, absence)
            made = True
    if made:
        X, y = nonlinear(trial.n_train + trial.n_test, trial.n_features, trial.n_classes)
    rows = np.random.default_rng(0).permutation(len(y))
    X = minmax_scale(X.toarray() if issparse(X) else X, (-1, 1) if trial.n_classes else (0, 1))[rows]
    y = _targets(y, trial.n_classes)[rows]
    test = slice(trial.n_train, trial.n_train + trial.n_test)
    return Split(X[: trial.n_train], y[: trial.n_train], X[test], y[test]), made


def standardised(split: Split) -> Split:
    """The same rows, standardised by the training rows."""
    scaler = StandardScaler().fit(split.X_train)
    return replace(split, X_train=scaler.transform(split.X_train), X_test=scaler.transform(split.X_test))


def _targets(y: np.ndarray, n_classes: int) -> np.ndarray:
    if n_classes == 0:
        return minmax_scale(y)
    return (y == 0).astype(int) if n_classes == 2 and len(np.unique(y)) > 2 else y


def nonlinear(n_samples: int, n_features: int, n_classes: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows uniform in [-1, 1]^d, with values or classes that are nonlinear in a few directions, and noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n_samples, n_features))
    directions = rng.standard_normal((n_features, 3))
    along = X @ (directions / np.linalg.norm(directions, axis=0))
    y = np.sin(3 * along[:, 0]) + along[:, 1] ** 2 + 0.5 * along[:, 2]
    y += 0.1 * rng.standard_normal(n_samples)
    if n_classes == 0:
        return X, minmax_scale(y)
    return X, np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)


def _generated() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        200_000, 54, n_informative=20, n_redundant=10, weights=[0.9], flip_y=0.02, random_state=0
    )


def from_catalog(name: str, mirror, folder: Path = FOLDER) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a data set of the catalog; raises `DataUnavailable` if they cannot be had."""
    entry = catalog()[name]
    receipt = download(name, entry, folder / name, mirror=mirror, patience=Patience(tries=2))
    if not receipt["available"]:
        raise DataUnavailable(receipt["reason"])
    dataset = prepare(name, entry, folder / name)
    return dataset.X, dataset.y


@cache
def catalog() -> dict[str, dict]:
    """Entries of config/datasets.yaml, checked."""
    return load_catalog([ROOT / "config/datasets.yaml"])
