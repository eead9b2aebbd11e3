"""The curves of an iterative learner's fit, for the tracking store."""

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

LONGEST = 500  # steps of a curve


def curves_of(fitted: BaseEstimator) -> dict[str, list[float]]:
    """The losses of a fit by step, its objectives, or the thresholds of the cross-entropy method, by name.

    A learner has ``loss_curve_`` (``loss``), or ``history_``: the objective of each iteration, or iterations
    with ``threshold`` and ``best``. A pipeline's are those of its last step that has some, a meta-estimator's
    those of its ``estimator_``. Longer curves are thinned evenly to `LONGEST` steps.
    """
    if isinstance(fitted, Pipeline):
        return next(filter(None, (curves_of(step) for _, step in reversed(fitted.steps))), {})
    if hasattr(fitted, "loss_curve_"):
        return {"loss": _thinned(fitted.loss_curve_)}
    if not len(history := getattr(fitted, "history_", ())):
        inner = getattr(fitted, "estimator_", None)
        return curves_of(inner) if isinstance(inner, BaseEstimator) else {}
    if hasattr(history[0], "threshold"):
        return {name: _thinned([getattr(one, name) for one in history]) for name in ("threshold", "best")}
    return {"objective": _thinned(history)}


def _thinned(values: Sequence[float]) -> list[float]:
    at = np.unique(np.linspace(0, len(values) - 1, min(len(values), LONGEST)).round().astype(int))
    return [float(values[step]) for step in at]
