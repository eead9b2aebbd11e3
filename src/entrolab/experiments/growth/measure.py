"""Measure how training time and model size grow with the rows and with the hidden units."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import linregress

from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import of_each_model, quickest
from entrolab.fit.learners import build, seed_from, step_params
from entrolab.fit.refit import n_stored_numbers


def measure(load: Callable, spec: Measurement, progress: Callable[[int, int], None]) -> list[dict]:
    """Fit every model on parts of a data set and with hidden layers of several sizes; fit power laws.

    `spec` has the ``models``: estimator, params and steps of each, the name of its ``size`` parameter ("" if
    it has none) and the numbers of ``rows`` to fit it on; the ``sizes`` to set; ``at``: the size used while
    rows vary, and the rows used while sizes vary; ``repeats`` of each fit, the fastest is reported.

    Each model has the exponents with standard errors, and the points that they are fitted to: metric
    fit_seconds or n_stored_numbers, reading "N = …, h = …". A model that fails is a row with the reason.
    """
    data = load("scaled")
    order = np.random.RandomState(seed_from(spec.seed, spec.study, spec.table, "rows"))
    order = order.permutation(data.n_samples)
    return of_each_model(lambda name, model: _of_model(data, order, model, spec), spec, progress)


def exponent(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """The exponent of a power law by least squares on logarithms, and its standard error.

    Examples
    --------
    >>> tuple(round(number, 6) for number in exponent([1, 2, 4], [3, 12, 48]))
    (2.0, 0.0)
    """
    line = linregress(np.log(sizes), np.log(values))
    return float(line.slope), float(line.stderr)


def _of_model(data, order: np.ndarray, model: Mapping, spec: Measurement) -> list[dict]:
    at = spec.at
    by_rows = [(n, at.size) for n in model["rows"]]
    by_size = [(at.rows, size) for size in spec.sizes] if model["size"] else []
    asked = max(n for n, _ in by_rows + by_size)
    if asked > data.n_samples:
        raise ValueError(f"the table asks for {asked} rows, the data set has {data.n_samples}")
    points = {point: _fitted(data, order, model, *point, spec) for point in dict.fromkeys(by_rows + by_size)}
    rows = []
    for name, asked in (("rows", by_rows), ("size", by_size)):
        for number, what in enumerate(("seconds", "numbers")):
            if asked:
                along = [point[name == "size"] for point in asked]
                value, std = exponent(along, [points[point][number] for point in asked])
                rows.append({"metric": f"{what}_by_{name}", "value": value, "std": std})
    for (n, size), values in points.items():
        reading = f"N = {n}" + (f", h = {size}" if model["size"] else "")
        for metric, value in zip(("fit_seconds", "n_stored_numbers"), values, strict=True):
            rows.append({"metric": metric, "reading": reading, "value": value})
    return rows


def _fitted(
    data, order: np.ndarray, model: Mapping, n: int, size: int, spec: Measurement
) -> tuple[float, int]:
    """Processor seconds of the fastest of several fits on n rows, and how many numbers the model stores."""
    estimator = build(model, spec.seed)
    if model["size"]:
        estimator.set_params(**step_params(model, {model["size"]: size}))
    X, y = data.X[order[:n]], data.y[order[:n]]
    seconds, _ = quickest(estimator.fit, X, y, repeats=spec.repeats)
    return seconds, n_stored_numbers(estimator)
