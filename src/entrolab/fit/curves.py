"""The curves of an iterative learner's fit, for the tracking store."""

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

LONGEST = 500  # steps of a curve


def curves_of(fitted: BaseEstimator) -> dict[str, list[float]]:
    """The losses of a fit by step, its objectives, or the levels of the cross-entropy method, by name.

    A learner has ``loss_curve_`` (``loss``), or ``history_``: the objective of each iteration, or iterations
    with ``gamma`` and ``best``. Longer curves are thinned evenly to `LONGEST` steps. A meta-estimator's are
    those of its ``estimator_``, a pipeline's those of its last step.
    """
    last = fitted.steps[-1][1] if isinstance(fitted, Pipeline) else fitted
    if hasattr(last, "loss_curve_"):
        return {"loss": _thinned(last.loss_curve_)}
    history = getattr(last, "history_", None)
    if history is None or not len(history):
        inner = getattr(last, "estimator_", None)
        return curves_of(inner) if isinstance(inner, BaseEstimator) else {}
    if hasattr(history[0], "gamma"):
        names = {"gamma": "gamma", "best": "best"}
        return {name: _thinned([getattr(one, field) for one in history]) for name, field in names.items()}
    return {"objective": _thinned(history)}


def _thinned(values: Sequence[float]) -> list[float]:
    at = np.unique(np.linspace(0, len(values) - 1, min(len(values), LONGEST)).round().astype(int))
    return [float(values[step]) for step in at]
