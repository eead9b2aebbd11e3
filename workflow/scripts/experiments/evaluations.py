"""Seconds and errors of evaluating MELM's objective and its gradient."""

import numpy as np

from entrolab.experiments.measuring import quickest
from entrolab.fit.learners import seed_from
from entrolearn.manifold.objective import ProjectedDivergence

N_FEATURES, N_COMPONENTS, REPEATS = 20, 2, 3
N_CENTRES = 3  # components of the mixture of a class
SPREAD = 1.5  # of the centres, in standard deviations of the rows around each
EXACT = "exact"  # errors of the other methods are relative to this one
METHODS = {
    EXACT: ("exact", np.float64),
    "exact_float32": ("exact", np.float32),
    "binned": ("binned", np.float64),
}


def measure(rows, at, *, n_rows: list[int], exact_up_to: int):
    """Evaluate the objective with every method on generated data of several numbers of rows.

    A number of rows of both classes together is a row, "n100"; exact methods have up to `exact_up_to` rows.
    The fastest of `REPEATS` evaluations counts; errors of value and gradient are relative to the exact ones.
    """
    found = []
    for done, n in enumerate(n_rows, start=1):
        rng = np.random.default_rng(seed_from(at.seed, at.study, at.table, n))
        classes = two_mixtures(n, N_FEATURES, rng)
        V, _ = np.linalg.qr(rng.normal(size=(N_FEATURES, N_COMPONENTS)))
        methods = [one for one in METHODS if n <= exact_up_to or not one.startswith(EXACT)]
        results = {one: evaluated(one, V, classes) for one in methods}
        for one, (seconds, result) in results.items():
            errors = relative_errors(result, results[EXACT][1]) if EXACT in results and one != EXACT else {}
            for metric, value in {"seconds": seconds, **errors}.items():
                found.append({"reading": f"n{n}", "model": one, "metric": metric, "value": value})
        at.progress(done, len(n_rows))
    return found


def two_mixtures(n_rows, n_features, rng):
    """Equally many rows of two classes, each a mixture of normal distributions with centres of its own."""
    classes = []
    for n_own in (n_rows - n_rows // 2, n_rows // 2):
        centres = SPREAD * rng.normal(size=(N_CENTRES, n_features))
        classes.append(centres[rng.integers(N_CENTRES, size=n_own)] + rng.normal(size=(n_own, n_features)))
    return classes[0], classes[1]


def relative_errors(found, exact):
    """The errors of a value and a gradient, relative to the size of the exact ones."""
    (value, gradient), (true_value, true_gradient) = found, exact
    return {
        "value_error": abs(value - true_value) / abs(true_value),
        "gradient_error": float(np.linalg.norm(gradient - true_gradient) / np.linalg.norm(true_gradient)),
    }


def evaluated(name, V, classes):
    """Processor seconds of the fastest of several evaluations, and the value and the gradient.

    The covariances do not depend on the projection, so they are estimated once, before the clock starts.
    """
    method, dtype = METHODS[name]
    V, *rows = (array.astype(dtype) for array in (V, *classes))
    divergence = ProjectedDivergence.of_classes(
        rows, V.shape[1], bandwidth_scale=1.0, covariance="ledoit_wolf", method=method
    )
    return quickest(divergence, V, repeats=REPEATS)
