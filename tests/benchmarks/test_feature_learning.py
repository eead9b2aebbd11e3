"""The benchmark of recursive feature machines, on rows that come with scikit-learn."""

import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from benchmarks import feature_learning
from benchmarks.feature_learning import FIXED_ON, LEARNERS, OTHERS, SETS, measured, summary
from entrolearn import EEMClassifier, RecursiveFeatureClassifier, RKELMRegressor


def test_the_halves_are_those_that_were_fixed_before_any_number_was_seen():
    assert sorted(FIXED_ON + OTHERS) == sorted(SETS)
    assert (len(FIXED_ON), len(OTHERS)) == (29, 17)
    assert {"splice", "sick-euthyroid", "auto-mpg"} <= set(FIXED_ON)
    assert {"spectrometer", "abalone7", "bank8fm"} <= set(OTHERS)


def test_scores_of_classes_and_of_values():
    found = measured(EEMClassifier(50, random_state=0), *load_iris(return_X_y=True), False)
    assert found["score"] > 0.97
    assert found["accuracy"] > 0.9
    found = measured(RKELMRegressor(50, random_state=0), *load_diabetes(return_X_y=True), True)
    assert 0.2 < found["score"] < 0.6


def test_a_recursive_learner_is_timed_beside_the_plain_one_in_one_run(monkeypatch):
    plain = EEMClassifier(50, random_state=0)
    learner = RecursiveFeatureClassifier(plain, n_rounds=0, random_state=0)
    seconds = iter([1.0, 6.0, 3.0])  # fits of the plain one, of the recursive one and of the plain one
    monkeypatch.setattr(
        feature_learning, "_fit_seconds", lambda learner, X, y: (learner.fit(X, y), next(seconds))
    )
    monkeypatch.setattr(
        feature_learning, "_predict_seconds", lambda learner, X: 4.0 if learner is not plain else 0.5
    )
    found = measured(learner, *load_iris(return_X_y=True), False, plain)
    assert (found["fit_s"], found["times_fit"]) == (6, 3)  # 6 over the mean of 1 and 3
    assert (found["predict_s"], found["times_predict"]) == (4, 8)


def test_means_are_over_sets_with_all_learners_and_losses_beside_the_plain_one():
    scores = {"RFM, diagonal": [0.8, 0.5], "EEKM 300, Laplace": [0.7, 0.52]}
    rows = [
        (name, label, score, 1.0, *((10 * score - 4.0, 1.1) if label.startswith("RFM") else (None, None)))
        for label, of_sets in scores.items()
        for name, score in zip(("splice", "heart"), of_sets, strict=True)
    ]
    rows.append(("sonar", "RFM, diagonal", 0.1, 1.0, 9.0, 9.0))
    columns = ["set", "learner", "score", "fit_s", "times_fit", "times_predict"]
    table = summary(pd.DataFrame(rows, columns=columns))
    assert "| RFM, diagonal | 65.0 | 2.0 (heart) | 1.00 | 2.5, 4.0 | 1.10 |" in table
    assert "| EEKM 300, Laplace | 61.0 | – | 1.00 | – | – |" in table
    assert "binary, 2 sets, fixed on" in table
    assert all(label in LEARNERS for label in scores)
    assert pytest.approx(61.0) == float(table.split("EEKM 300, Laplace | ")[1].split(" |")[0])
