"""The information of predictions: a naive twin, rejected rows, and rows for what fails."""

import math

import numpy as np
import pytest
from measured_scripts import measured, script, two_classes
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import confusion_matrix, matthews_corrcoef, mutual_info_score

from entrolab.fit.learners import parts_seed
from entrolab.fit.protocols import Folds

CLASSIFIERS = {
    "logistic": {"estimator": "sklearn.linear_model.LogisticRegression", "params": {"C": 2.0}, "steps": []},
    "ridge": {"estimator": "sklearn.linear_model.RidgeClassifier", "params": {}, "steps": []},
    "nearest": {"estimator": "sklearn.neighbors.NearestCentroid", "params": {}, "steps": []},
}
FOLDS = {"folds": 4, "repeats": 1}


def informed(data, reject=(0, 0.2), **changes):
    asked = {"models": CLASSIFIERS, "reject": reject, "protocol": FOLDS, **changes}
    rows = measured("information", data, **asked)
    return {(row["model"], row.get("metric", "")): row for row in rows}


def test_information_is_that_of_the_first_test_rows_with_the_least_certain_ones_rejected():
    """Naive twin: the confusion matrix of a fit on the other folds, by scikit-learn's functions."""
    data = two_classes(120)
    found = informed(data)
    part = Folds(4, 1).draw(data.y, parts_seed(0, "paper", "data"))[0]
    for name, machine in (("logistic", LogisticRegression(C=2.0)), ("ridge", RidgeClassifier())):
        machine.fit(data.X[part > 0], data.y[part > 0])
        X, y = data.X[part == 0], data.y[part == 0]
        said, far = machine.predict(X), np.abs(machine.decision_function(X))
        assert found[name, "mutual_information"]["value"] == pytest.approx(
            mutual_info_score(y, said) / np.log(2)
        )
        assert found[name, "accuracy"]["value"] == pytest.approx(np.trace(confusion_matrix(y, said)) / len(y))
        kept = far > np.sort(far)[5]  # 6 of 30 rows are rejected
        rejected = f"{name}_reject_0.2"
        assert found[rejected, "reject_rate"]["value"] == pytest.approx(0.2)
        assert found[rejected, "mcc"]["value"] == pytest.approx(matthews_corrcoef(y[kept], said[kept]))
        three = np.where(kept, said, 2)
        assert found[rejected, "mutual_information"]["value"] == pytest.approx(
            mutual_info_score(y, three) / np.log(2)
        )
        assert found[rejected, "cross_entropy_pred_true"]["value"] == math.inf


def test_a_share_that_rejects_all_rows_leaves_the_other_shares():
    found = informed(two_classes(120), reject=(0, 0.99))
    assert found["logistic", "mcc"]["value"] > 0
    assert math.isnan(found["logistic_reject_0.99", "mcc"]["value"])
    assert found["logistic_reject_0.99", "reject_rate"]["value"] == 1


def test_what_a_classifier_is_not_certain_of_is_not_rejected_and_a_failure_takes_no_other_with_it():
    bad = {"estimator": "sklearn.linear_model.LogisticRegression", "params": {"C": -1}, "steps": []}
    found = informed(two_classes(), models={"bad": bad, "nearest": CLASSIFIERS["nearest"]})
    assert found["nearest", "accuracy"]["value"] > 0.5
    assert "'C' parameter" in found["bad", ""]["error"]
    assert found["bad_reject_0.2", ""]["status"] == "failed"


@pytest.mark.parametrize("n_classes", [2, 4])
def test_certainty_is_a_probability_or_how_far_the_next_class_is(n_classes):
    X = two_classes(40).X
    y = np.arange(40) % n_classes
    probable, far = LogisticRegression().fit(X, y), RidgeClassifier().fit(X, y)
    np.testing.assert_allclose(
        script("information").certainty(probable, X), probable.predict_proba(X).max(axis=1)
    )
    decision = far.decision_function(X)
    expected = np.abs(decision) if n_classes == 2 else [a - b for *_, b, a in np.sort(decision, axis=1)]
    np.testing.assert_allclose(script("information").certainty(far, X), expected)
    assert script("information").certainty(PCA().fit(X), X) is None
