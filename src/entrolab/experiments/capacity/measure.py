"""Measure the seconds and the memory of fitting and predicting one large data set."""

from collections.abc import Callable, Mapping

import numpy as np

from entrolab.experiments.generated import costs, targets
from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import of_each_model
from entrolab.fit.learners import seed_from


def measure(load: Callable, spec: Measurement, progress: Callable[[int, int], None]) -> list[dict]:
    """Fit every model on generated rows, and predict them; one that fails is a row with the reason.

    `spec` has the ``rows``, ``features`` and ``task`` of the data; ``models``; and the keys of
    :func:`entrolab.experiments.generated.costs`.
    """
    rng = np.random.default_rng(seed_from(spec.seed, spec.study, spec.table))
    X, y = rng.random((spec.rows, spec.features)), targets(spec.rows, spec.task, rng)

    def of_model(name: str, model: Mapping) -> list[dict]:
        found = costs(model, X, y, spec, predicts=True)
        return [{"metric": metric, "value": value} for metric, value in found.items()]

    return of_each_model(of_model, spec, progress)
