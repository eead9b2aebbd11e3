"""What the learners are timed on: data sets of the catalog, and made ones of any size."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from entrolearn.lab.config import load_catalog
from entrolearn.lab.datasets import DataUnavailable, prepare
from entrolearn.lab.download import Patience, download
from entrolearn.suggest import did_you_mean

ROOT = Path(__file__).parents[1]
GENERATED = "generated"  # beside the keys of the catalog: 200,000 rows of 54 features
SETS = ("german-numer", "mammography", "forest-cover", GENERATED)


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows, scaled so that the training rows fill [0, 1]."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def load(name: str, *, mirror=None, folder="resources/benchmarks", max_rows: int = 75_000) -> Split:
    """One half of a data set to train on, the other to test on, stratified.

    Parameters
    ----------
    name : str
        A key of the catalog, or "generated".
    mirror : path, optional
        Folder with the raw files; what it lacks is downloaded.
    folder : path
        Where raw files go.
    max_rows : int
        Each half has at most so many rows, drawn at random.

    Raises
    ------
    DataUnavailable
        If its bytes cannot be had.
    ValueError
        If there is no such data set.
    """
    X, y = _generated() if name == GENERATED else _from_catalog(name, mirror, Path(folder))
    rows = min(max_rows, len(y) // 2)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=rows, test_size=rows, stratify=y, random_state=0
    )
    scaler = MinMaxScaler().fit(X_train)
    return Split(scaler.transform(X_train), y_train, scaler.transform(X_test), y_test)


def uniform(n_samples: int, n_features: int, dtype=np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Rows uniform in the unit cube, and two classes on either side of a blurred plane."""
    rng = np.random.default_rng(0)
    X = rng.random((n_samples, n_features), dtype=dtype)
    leading = X[:, : min(5, n_features)]
    y = leading.mean(axis=1) + 0.1 * rng.standard_normal(n_samples) > 0.5
    return X, y.astype(int)


def _generated() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        200_000, 54, n_informative=20, n_redundant=10, weights=[0.9], flip_y=0.02, random_state=0
    )


def _from_catalog(name: str, mirror, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    catalog = load_catalog([ROOT / "config/datasets.yaml"], ROOT / "workflow/schemas/dataset.yaml")
    if name not in catalog:
        raise ValueError(
            f"unknown data set {name!r}{did_you_mean(name, [*catalog, GENERATED])}; accepted: {GENERATED} "
            "and the keys of config/datasets.yaml"
        )
    receipt = download(name, catalog[name], folder / name, mirror=mirror, patience=Patience(tries=2))
    if not receipt["available"]:
        raise DataUnavailable(receipt["reason"])
    dataset = prepare(name, catalog[name], folder / name)
    return dataset.X, dataset.y
