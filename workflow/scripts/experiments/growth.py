"""How training time and model size grow with the rows and with the hidden units (EEM paper, Table 2)."""

import numpy as np
from scipy.stats import linregress

from entrolab.experiments.measuring import of_each_model, quickest
from entrolab.fit.learners import build, seed_from, step_params
from entrolab.fit.refit import n_stored_numbers

NO_ROWS: dict = {}


def measure(
    rows,
    at,
    models,
    *,
    n_rows: list[int],
    sizes: list[int],
    rows_at: int,
    size_at: int,
    size_names: dict[str, str],
    n_rows_of: dict[str, list[int]] = NO_ROWS,
    repeats: int = 1,
):
    """Fit every model on parts of a data set and with hidden layers of several sizes; fit power laws.

    `size_names` has the parameter that is the size of a model, if it has one; `n_rows_of` other numbers of
    rows for some models. While rows vary, the size is `size_at`; while sizes vary, the rows are `rows_at`.
    The fastest of `repeats` fits counts.

    Each model has the exponents with standard errors.
    """
    data = rows.scaled
    order = np.random.RandomState(seed_from(at.seed, at.study, at.table, "rows")).permutation(data.n_samples)

    def of_model(name, model):
        size = size_names.get(name, "")
        by_rows = [(n, size_at) for n in n_rows_of.get(name, n_rows)]
        by_size = [(rows_at, h) for h in sizes] if size else []
        asked = max(n for n, _ in by_rows + by_size)
        if asked > data.n_samples:
            raise ValueError(f"the table asks for {asked} rows, the data set has {data.n_samples}")
        points = {}
        for n, h in dict.fromkeys(by_rows + by_size):
            estimator = build(model, at.seed)
            if size:
                estimator.set_params(**step_params(model, {size: h}))
            X, y = data.X[order[:n]], data.y[order[:n]]
            seconds, _ = quickest(estimator.fit, X, y, repeats=repeats)
            points[n, h] = seconds, n_stored_numbers(estimator)
        return exponents(points, by_rows, by_size)

    return of_each_model(of_model, models, at.progress)


def exponents(points, by_rows, by_size):
    """The rows of the exponents of seconds and numbers stored, along the rows and along the sizes."""
    for axis, (name, along) in enumerate((("rows", by_rows), ("size", by_size))):
        for k, what in enumerate(("seconds", "numbers")):
            if along:
                values = [points[point][k] for point in along]
                slope, error = exponent([point[axis] for point in along], values)
                yield {"metric": f"{what}_by_{name}", "value": slope, "std": error}


def exponent(sizes, values):
    """The exponent of a power law by least squares on logarithms, and its standard error.

    Examples
    --------
    >>> tuple(round(number, 6) for number in exponent([1, 2, 4], [3, 12, 48]))
    (2.0, 0.0)
    """
    line = linregress(np.log(sizes), np.log(values))
    return float(line.slope), float(line.stderr)
