"""The benchmark of recursive feature machines, on rows that come with scikit-learn."""

import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from benchmarks.feature_learning import FIXED_ON, LEARNERS, OTHERS, SETS, measured, summary
from entrolearn import EEMClassifier, RKELMRegressor


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


def test_means_are_over_sets_with_all_learners_and_losses_beside_the_plain_one():
    scores = {"RFM, diagonal": [0.8, 0.5], "EEKM 300, Laplace": [0.7, 0.52]}
    rows = [
        (name, label, score, 1.0)
        for label, of_sets in scores.items()
        for name, score in zip(("splice", "heart"), of_sets, strict=True)
    ]
    rows.append(("sonar", "RFM, diagonal", 0.1, 1.0))
    table = summary(pd.DataFrame(rows, columns=["set", "learner", "score", "fit_s"]))
    assert "| RFM, diagonal | 65.0 | 2.0 (heart) | 1.00 |" in table
    assert "binary, 2 sets, fixed on" in table
    assert all(label in LEARNERS for label in scores)
    assert pytest.approx(61.0) == float(table.split("EEKM 300, Laplace | ")[1].split(" |")[0])
