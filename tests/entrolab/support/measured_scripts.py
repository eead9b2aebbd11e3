"""Calls of the scripts that measure, as the workflow calls them, on small data."""

from functools import cache
from types import ModuleType, SimpleNamespace

import numpy as np

from entrolab.data.dataset import Dataset
from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import load_script
from entrolab.io.files import script_file


@cache
def script(name: str) -> ModuleType:
    """A script of this project."""
    return load_script(script_file("experiments", name))


def at(**changes) -> Measurement:
    """The place of a measurement."""
    where = {"study": "paper", "table": "table1", "dataset": "data", "task": "binary", "seed": 0}
    return Measurement(**where | changes)


def measured(name: str, data=None, /, *, place=None, raw=None, **keys) -> list[dict]:
    """The rows that a script measures on scaled data, by default without any."""
    rows = SimpleNamespace() if data is None else SimpleNamespace(scaled=data, raw=raw)
    return list(script(name).measure(rows, place or at(), **keys))


def two_classes(n: int = 60, n_features: int = 3, seed: int = 0) -> Dataset:
    """Equally many rows of two classes, the second of larger variance and mean."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.uniform(size=(n, n_features)) * (1 + 0.5 * y[:, None]) + 0.2 * y[:, None]
    names = [f"x{i}" for i in range(n_features)]
    return Dataset(X, y, names, "binary", ["0", "1"], np.zeros(n, dtype=np.int8))
