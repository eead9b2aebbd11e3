"""Measure the information of predictions about the true classes, on a study's first test rows."""

from collections.abc import Callable, Mapping

import numpy as np
from sklearn.metrics import matthews_corrcoef

from entrolab.experiments.information import place_of
from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import of_each_model
from entrolab.fit.learners import build, parts_seed, seed_from
from entrolab.fit.protocols import protocol
from entrolearn.metrics import information_scores, reject_least_certain

REJECT = -1  # the label of rejected rows; classes are numbered from 0


def measure(load: Callable, spec: Measurement, progress: Callable[[int, int], None]) -> list[dict]:
    """Fit every model on the training rows of a study's first split, and measure its test predictions.

    `spec` has the ``protocol``, whose first split is drawn as for training; ``models``: estimator, params and
    steps of each, with the same seeds as in training; ``reject``: shares of the test rows.

    Each model and share has the scores of :func:`~entrolearn.metrics.information_scores` and ``mcc``;
    accuracy and ``mcc`` are NaN if all rows are rejected. A model that fails, or provides no certainty for
    rejecting rows, is a row with the reason. See Hu, He and Yuan, Information-theoretic measures for
    objective evaluation of classifications (2011).
    """
    data = load("scaled")
    seed = parts_seed(spec.seed, spec.study, spec.dataset)
    assignment = protocol(spec.protocol).draw(data.y, seed)[0]
    rows = of_each_model(lambda name, model: _of_model(data, assignment, name, model, spec), spec, progress)
    # A failed model has failed for every share.
    return [
        {**row, "model": place_of(row["model"], share)}
        for row in rows
        for share in ([row.pop("share")] if "share" in row else spec.reject)
    ]


def certainty(fitted, X) -> np.ndarray | None:
    """The certainty of a fitted classifier per row; None if it has neither probabilities nor decisions.

    It is the probability of the predicted class, or the difference of its decision value to the next one.
    """
    if hasattr(fitted, "predict_proba"):
        return fitted.predict_proba(X).max(axis=1)
    if not hasattr(fitted, "decision_function"):
        return None
    decision = fitted.decision_function(X)
    if decision.ndim == 1:
        return np.abs(decision)
    second, first = np.partition(decision, -2, axis=1)[:, -2:].T
    return first - second


def _of_model(data, assignment: np.ndarray, name: str, model: Mapping, spec: Measurement) -> list[dict]:
    seed = seed_from(spec.seed, spec.study, spec.dataset, name, 0)
    learnt, tested = assignment > 0, assignment == 0
    fitted = build(model, seed).fit(data.X[learnt], data.y[learnt])
    X, y = data.X[tested], data.y[tested]
    predicted = fitted.predict(X)
    certain = certainty(fitted, X) if any(spec.reject) else None
    rows: list[dict] = []
    for share in spec.reject:
        if share and certain is None:
            reason = "the classifier has neither predict_proba nor decision_function"
            rows.append({"share": share, "status": "failed", "error": reason})
            continue
        said = reject_least_certain(predicted, certain, share, reject=REJECT) if share else predicted
        kept = said != REJECT
        found = information_scores(y, said, reject=REJECT)
        found["mcc"] = matthews_corrcoef(y[kept], said[kept]) if kept.any() else np.nan
        rows += ({"share": share, "metric": name, "value": float(value)} for name, value in found.items())
    return rows
