"""Exponents of growth: known powers, and rows for what fails."""

import math

import numpy as np
import pytest
from measured_scripts import measured, script, two_classes

MODELS = {
    "logistic": {"estimator": "sklearn.linear_model.LogisticRegression", "steps": [], "params": {}},
    "elm": {"estimator": "entrolearn.WELMClassifier", "steps": [], "params": {"bounds": None}},
    "lssvm": {"estimator": "entrolearn.LSSVC", "steps": [], "params": {"gamma": 1}},
}


def growth(n, **changes):
    asked = {"n_rows": [50, 100, 200], "sizes": [10, 20, 40], "rows_at": 200, "size_at": 20}
    asked["size_names"] = {"elm": "n_hidden"}
    return measured("growth", two_classes(n), models=MODELS, **asked | changes)


def test_exponent_of_a_power_law_is_found_and_its_error_too():
    exponent = script("growth").exponent
    sizes = np.array([1, 2, 4, 8, 16])
    assert exponent(sizes, 3 * sizes**2.34) == (pytest.approx(2.34), pytest.approx(0, abs=1e-6))
    noisy = sizes**1.5 * np.exp([0.1, -0.1, 0.1, -0.1, 0.1])
    slope, error = exponent(sizes, noisy)
    x = np.log(sizes) - np.log(sizes).mean()
    residuals = np.log(noisy) - np.log(noisy).mean() - slope * x
    assert error == pytest.approx(math.sqrt(residuals @ residuals / 3 / (x @ x)))


def test_stored_numbers_grow_as_the_models_do():
    """hd for an ELM, (N + 1)d for an LS-SVM that keeps its rows, d for a linear machine."""
    rows = growth(200)
    found = {(row["model"], row["metric"]): row.get("value") for row in rows}
    assert found["elm", "numbers_by_size"] == pytest.approx(1, abs=0.05)
    assert found["elm", "numbers_by_rows"] == pytest.approx(0, abs=1e-12)
    assert found["lssvm", "numbers_by_rows"] == pytest.approx(1, abs=0.05)
    assert found["logistic", "numbers_by_rows"] == pytest.approx(0, abs=1e-12)
    assert ("lssvm", "numbers_by_size") not in found


def test_more_rows_than_there_are_fail_the_model_that_asks_for_them():
    rows = growth(150)
    assert [(row["model"], row["status"]) for row in rows] == [
        ("logistic", "failed"),
        ("elm", "failed"),
        ("lssvm", "failed"),
    ]
    assert "asks for 200 rows, the data set has 150" in rows[0]["error"]


def test_a_model_may_have_fewer_rows_than_the_others():
    rows = growth(150, n_rows_of={"lssvm": [10, 20, 30]})
    failed = {row["model"]: row.get("status") == "failed" for row in rows}
    assert failed == {"logistic": True, "elm": True, "lssvm": False}
