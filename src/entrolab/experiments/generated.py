"""Generated data, and the seconds and memory that learners take to fit and predict them."""

import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
from scipy import sparse

from entrolab.experiments.measuring import limited
from entrolab.fit.learners import build
from entrolab.io.limits import GIB, Limits

SECONDS = 1800.0  # time limit of one learner
MOST_GIB = 8.0  # memory limit of its process, with the data
LONG = 5.0  # seconds; longer fits are not repeated, because disturbances are a small part of their time
RSS_UNITS_PER_MIB = 2**20 if sys.platform == "darwin" else 2**10


def sparse_rows(n_rows: int, n_features: int, density: float, rng: np.random.Generator) -> sparse.csr_array:
    """Rows with equally many nonzeros in random columns, uniform on [0, 1).

    This takes 12 bytes per nonzero; :func:`scipy.sparse.random_array` takes 8 per value of the dense array.
    """
    per_row = max(1, round(n_features * density))
    indices = np.empty((n_rows, per_row), dtype=np.int32)
    for row in indices:
        row[:] = np.sort(rng.choice(n_features, per_row, replace=False, shuffle=False))
    pointers = np.arange(
        0, indices.size + 1, per_row, dtype=np.int64 if indices.size > 2**31 - 1 else np.int32
    )
    return sparse.csr_array((rng.random(indices.size), indices.ravel(), pointers), (n_rows, n_features))


def sparse_gib(n_rows: int, n_features: int, density: float) -> float:
    """The memory of :func:`sparse_rows`: a value of 8 bytes and an index of 4 per nonzero."""
    return 12 * n_rows * n_features * density / GIB


def targets(n_rows: int, task: str, rng: np.random.Generator) -> np.ndarray:
    """Two classes that alternate, or random numbers."""
    return np.arange(n_rows) % 2 if task == "binary" else rng.random(n_rows)


def costs(model: Mapping, X, y, seed: int, *, repeats: int, predicts: bool) -> dict[str, float]:
    """The cost of fitting a model and of predicting all rows, measured in a separate process.

    Of `repeats` fits shorter than ``LONG`` seconds, the fastest is reported. `predicts` asks for predictions
    too, which on sparse data take about as long as the fit.

    The result has the processor seconds ``fit_seconds`` and, with `predicts`, ``predict_seconds``; and
    ``peak_mib`` in addition to the data. A model that fails or reaches a limit raises `ModelFailed`.
    """
    (found,) = limited(Limits(SECONDS, MOST_GIB), _spent, model, X, y, seed, repeats, predicts)
    return found


def _spent(model: Mapping, X, y, seed: int, repeats: int, predicts: bool) -> Iterator[dict]:
    build(model, seed)  # imports before the clock starts
    before, peak = _peak_mib(), 0.0
    seconds: dict[str, list[float]] = defaultdict(list)
    for _ in range(repeats):
        estimator = build(model, seed)
        started = time.process_time()
        estimator.fit(X, y)
        fitted = time.process_time()
        seconds["fit_seconds"].append(fitted - started)
        if predicts:
            estimator.predict(X)
            seconds["predict_seconds"].append(time.process_time() - fitted)
        peak = peak or _peak_mib() - before
        if fitted - started > LONG:
            break
    yield {**{name: min(values) for name, values in seconds.items()}, "peak_mib": peak}


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / RSS_UNITS_PER_MIB
