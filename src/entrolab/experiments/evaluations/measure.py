"""Measure the cost and the error of evaluating MELM's objective and gradient."""

from collections.abc import Callable

import numpy as np

from entrolab.experiments.evaluations import EXACT, place_of
from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import quickest
from entrolab.fit.learners import seed_from
from entrolearn.manifold.objective import ProjectedDivergence

N_CENTRES = 3  # components of the mixture of a class
SPREAD = 1.5  # of the centres, in standard deviations of the rows around each
WAYS = {
    EXACT: ("exact", np.float64),
    "exact_float32": ("exact", np.float32),
    "binned": ("binned", np.float64),
}


def measure(load: Callable, spec: Measurement, progress: Callable[[int, int], None]) -> list[dict]:
    """Evaluate the objective with every method on generated data of several sizes.

    `spec` has the ``rows`` of both classes together, ``features``, ``components``; the methods (``ways``);
    ``exact_up_to``, the largest number of rows for the exact method; ``repeats``, of which the
    fastest counts. The result has the seconds per number of rows (``reading``) and method (``model``), and
    the relative errors of value and gradient if the exact ones are known.
    """
    rows = []
    for done, n_rows in enumerate(spec.rows, start=1):
        small = n_rows <= spec.exact_up_to
        ways = [way for way in spec.ways if small or not way.startswith(EXACT)]
        rows += [{"reading": place_of(n_rows), **row} for row in _at(n_rows, ways, small, spec)]
        progress(done, len(spec.rows))
    return rows


def two_mixtures(n_rows: int, n_features: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Equally many rows of two classes, each a mixture of normal distributions with centres of its own."""
    classes = []
    for n_own in (n_rows - n_rows // 2, n_rows // 2):
        centres = SPREAD * rng.normal(size=(N_CENTRES, n_features))
        classes.append(centres[rng.integers(N_CENTRES, size=n_own)] + rng.normal(size=(n_own, n_features)))
    return classes[0], classes[1]


def relative_errors(found: tuple, exact: tuple) -> dict[str, float]:
    """The errors of a value and a gradient, relative to the size of the exact ones."""
    (value, gradient), (true_value, true_gradient) = found, exact
    return {
        "value_error": abs(value - true_value) / abs(true_value),
        "gradient_error": float(np.linalg.norm(gradient - true_gradient) / np.linalg.norm(true_gradient)),
    }


def _at(n_rows: int, ways: list[str], small: bool, spec: Measurement) -> list[dict]:
    rng = np.random.default_rng(seed_from(spec.seed, spec.study, spec.table, n_rows))
    classes = two_mixtures(n_rows, spec.features, rng)
    V, _ = np.linalg.qr(rng.normal(size=(spec.features, spec.components)))
    found = {way: _evaluated(way, V, classes, spec.repeats) for way in ways}
    rows = [{"model": way, "metric": "seconds", "value": seconds} for way, (seconds, _) in found.items()]
    if not small:
        return rows
    exact = found[EXACT][1] if EXACT in found else _evaluated(EXACT, V, classes, repeats=1)[1]
    return rows + [
        {"model": way, "metric": metric, "value": error}
        for way, (_, result) in found.items()
        if way != EXACT
        for metric, error in relative_errors(result, exact).items()
    ]


def _evaluated(way: str, V: np.ndarray, classes: tuple, repeats: int) -> tuple[float, tuple]:
    """Processor seconds of the fastest of several evaluations, and the value and the gradient.

    The covariances do not depend on the projection, so they are estimated once, before the clock starts.
    """
    method, dtype = WAYS[way]
    V, *rows = (array.astype(dtype) for array in (V, *classes))
    divergence = ProjectedDivergence.of_classes(
        rows, V.shape[1], bandwidth_scale=1.0, covariance="ledoit_wolf", method=method
    )
    return quickest(divergence, V, repeats=repeats)
