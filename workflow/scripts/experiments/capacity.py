"""Seconds and memory of fitting and predicting one large generated data set (RKELM paper)."""

import numpy as np

from entrolab.experiments.generated import costs, targets
from entrolab.experiments.measuring import of_each_model
from entrolab.fit.learners import seed_from


def measure(rows, at, models, *, n_rows: int, features: int):
    """Fit every model on generated rows, and predict them."""
    rng = np.random.default_rng(seed_from(at.seed, at.study, at.table))
    X, y = rng.random((n_rows, features)), targets(n_rows, at.task, rng)

    def of_model(name, model):
        found = costs(model, X, y, at.seed, repeats=1, predicts=True)
        return [{"metric": metric, "value": value} for metric, value in found.items()]

    return of_each_model(of_model, models, at.progress)
