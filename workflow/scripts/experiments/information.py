"""The information of predictions about the true classes, on a study's first test rows.

See Hu, He and Yuan, Information-theoretic measures for objective evaluation of classifications (2011).
"""

import numpy as np
from sklearn.metrics import matthews_corrcoef

from entrolab.experiments.measuring import of_each_model
from entrolab.fit.learners import build, parts_seed, seed_from
from entrolab.fit.protocols import protocol as protocol_of
from entrolearn.metrics import information_scores, reject_least_certain

REJECT = -1  # the label of rejected rows; classes are numbered from 0
NONE = [0]


def measure(rows, at, models, protocol, *, reject: list[float] = NONE):
    """Fit every model on the training rows of a study's first split, and measure its test predictions.

    The split and the seeds are those of training. Of each model, the shares `reject` of the test rows are
    rejected, those of the least certainty: "softmax_reject_0.05". Each has the scores of
    :func:`entrolearn.metrics.information_scores` and ``mcc``; accuracy and ``mcc`` are NaN if all rows are
    rejected. A model that provides no certainty for rejecting rows is a row with the reason.
    """
    data = rows.scaled
    assignment = protocol_of(protocol).draw(data.y, parts_seed(at.seed, at.study, at.dataset))[0]
    learnt, tested = assignment > 0, assignment == 0

    def of_model(name, model):
        seed = seed_from(at.seed, at.study, at.dataset, name, 0)
        fitted = build(model, seed).fit(data.X[learnt], data.y[learnt])
        yield from of_shares(fitted, data.X[tested], data.y[tested], reject)

    # A model that failed has failed for every share.
    return [
        {**row, "model": row["model"] + suffix(share)}
        for row in of_each_model(of_model, models, at.progress)
        for share in ([row.pop("share")] if "share" in row else reject)
    ]


def suffix(share):
    """What is added to the name of a model of which a share of the rows is rejected.

    Examples
    --------
    >>> suffix(0), suffix(0.05)
    ('', '_reject_0.05')
    """
    return f"_reject_{share:g}" if share else ""


def of_shares(fitted, X, y, shares):
    """Yield the rows of a fitted classifier for each share of rejected rows."""
    predicted = fitted.predict(X)
    certain = certainty(fitted, X) if any(shares) else None
    for share in shares:
        if share and certain is None:
            reason = "the classifier has neither predict_proba nor decision_function"
            yield {"share": share, "status": "failed", "error": reason}
            continue
        said = reject_least_certain(predicted, certain, share, reject=REJECT) if share else predicted
        kept = said != REJECT
        found = information_scores(y, said, reject=REJECT, base=2)
        found["mcc"] = matthews_corrcoef(y[kept], said[kept]) if kept.any() else np.nan
        yield from ({"share": share, "metric": name, "value": float(value)} for name, value in found.items())


def certainty(fitted, X):
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
