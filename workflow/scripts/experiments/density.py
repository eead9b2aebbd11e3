"""Seconds of fits on sparse data of several dimensions and densities (RKELM paper, section 6.4)."""

import itertools

import numpy as np

from entrolab.experiments.generated import MOST_GIB, costs, sparse_gib, sparse_rows, targets
from entrolab.experiments.measuring import of_each_model
from entrolab.fit.learners import seed_from


def measure(
    rows,
    at,
    models,
    *,
    n_rows: int,
    dims: list[int],
    densities: list[float],
    repeats: int = 3,
):
    """Fit every model on generated rows of every dimension and density.

    A dimension and a density are a row, "d100_density0.5". Each model has its seconds and their ratio to
    those of the first model. Data that are too large and fits that fail are rows with the reason.
    """
    points = list(itertools.product(dims, densities))
    found = []
    for done, (dim, density) in enumerate(points, start=1):
        seed = seed_from(at.seed, at.study, at.table, dim, density)
        here = of_point(dim, density, n_rows, at, models, seed, repeats)
        found += [{"reading": f"d{dim}_density{density:g}", **row} for row in here]
        at.progress(done, len(points))
    return found


def of_point(dim, density, n_rows, at, models, seed, repeats):
    """The rows of all models on data of one dimension and density."""
    needed = sparse_gib(n_rows, dim, density)
    if needed > MOST_GIB:
        error = f"the data alone take {needed:.2g} GiB, more than the {MOST_GIB:g} GiB allowed"
        return [{"status": "failed", "error": error}]
    rng = np.random.default_rng(seed)
    X, y = sparse_rows(n_rows, dim, density, rng), targets(n_rows, at.task, rng)

    def of_model(name, model):
        seconds = costs(model, X, y, at.seed, repeats=repeats, predicts=False)["fit_seconds"]
        return [{"metric": "fit_seconds", "value": seconds}]

    found = of_each_model(of_model, models)
    return [*found, *ratios(found)]


def ratios(rows):
    """The ratios of seconds to those of the first model; where either failed, with its reason."""
    first, *others = rows
    for row in others:
        failed = next((one for one in (row, first) if "value" not in one), None)
        if failed:
            yield {**failed, "model": row["model"], "metric": "ratio"}
        else:
            yield {"model": row["model"], "metric": "ratio", "value": row["value"] / first["value"]}
