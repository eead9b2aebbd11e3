"""Measure the seconds of fits on sparse data of several dimensions and densities."""

import itertools
from collections.abc import Callable, Mapping

import numpy as np

from entrolab.experiments.density import place_of
from entrolab.experiments.generated import costs, sparse_gib, sparse_rows, targets
from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import of_each_model
from entrolab.fit.learners import seed_from


def measure(load: Callable, spec: Measurement, progress: Callable[[int, int], None]) -> list[dict]:
    """Fit every model on generated rows of every dimension and density.

    `spec` has the ``dims``, ``densities``, ``rows`` and ``task`` of the data; ``models``; and the keys of
    :func:`entrolab.experiments.generated.costs`. Dimension and density are the reading. Data larger than
    ``gib`` and fits that fail are rows with the reason.
    """
    points = list(itertools.product(spec.dims, spec.densities))
    rows = []
    for done, (dim, density) in enumerate(points, start=1):
        rows += [{"reading": place_of(dim, density), **row} for row in _at(dim, density, spec)]
        progress(done, len(points))
    return rows


def _at(dim: int, density: float, spec: Measurement) -> list[dict]:
    needed = sparse_gib(spec.rows, dim, density)
    if needed > spec.gib:
        error = f"the data alone take {needed:.2g} GiB, more than the {spec.gib:g} GiB allowed"
        return [{"status": "failed", "error": error}]
    rng = np.random.default_rng(seed_from(spec.seed, spec.study, spec.table, dim, density))
    X, y = sparse_rows(spec.rows, dim, density, rng), targets(spec.rows, spec.task, rng)

    def of_model(name: str, model: Mapping) -> list[dict]:
        seconds = costs(model, X, y, spec, predicts=False)["fit_seconds"]
        return [{"metric": "fit_seconds", "value": seconds}]

    return of_each_model(of_model, spec)
