"""Data that are made for a measurement, and what a learner takes to fit them."""

import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
from scipy import sparse

from entrolab.fit.learners import build
from entrolab.fit.limits import GIB, LimitError, Limits, within

SECONDS = 1800.0  # what one learner may take
LONG = 5.0  # seconds; what disturbs a fit that takes as long is a small part of it: it is not repeated
RSS_UNITS_PER_MIB = 2**20 if sys.platform == "darwin" else 2**10


def sparse_rows(n_rows: int, n_features: int, density: float, rng: np.random.Generator) -> sparse.csr_array:
    """Rows with equally many entries at random places, uniform on [0, 1).

    In 12 bytes per entry; :func:`scipy.sparse.random_array` takes 8 for each place that could have one.
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
    """What :func:`sparse_rows` takes: a number of 8 bytes and an index of 4 per entry."""
    return 12 * n_rows * n_features * density / GIB


def targets(n_rows: int, task: str, rng: np.random.Generator) -> np.ndarray:
    """Two classes that alternate, or numbers: what they are costs a fit in closed form nothing."""
    return np.arange(n_rows) % 2 if task == "binary" else rng.random(n_rows)


def costs(model: Mapping, X, y, spec: Mapping, *, predicts: bool) -> dict[str, float] | dict[str, str]:
    """What it takes to fit a model, and to predict all rows, in a process of its own.

    Parameters
    ----------
    model : mapping
        ``estimator``, ``params`` and ``steps``.
    X : {ndarray, CSR array}, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
    spec : mapping
        ``seed``; ``repeats`` of what takes less than ``LONG`` seconds, of which the quickest counts; ``gib``
        that the process may take, the data included.
    predicts : bool
        Whether rows are predicted too, which on sparse data takes about as long as the fit.

    Returns
    -------
    dict
        fit_seconds, predict_seconds (of the processor; if asked for) and peak_mib (beyond what there was
        before); or ``status`` and ``error`` of a failure.
    """
    try:
        (found,) = within(Limits(SECONDS, spec["gib"]), _spent, model, X, y, spec, predicts)
    except (LimitError, RuntimeError) as error:
        return {"status": "failed", "error": str(error)}
    return found


def _spent(model: Mapping, X, y, spec: Mapping, predicts: bool) -> Iterator[dict]:
    build(model, spec["seed"])  # what it imports is no part of what a fit takes
    before, peak = _peak_mib(), 0.0
    seconds: dict[str, list[float]] = defaultdict(list)
    for _ in range(spec["repeats"]):
        estimator = build(model, spec["seed"])
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
