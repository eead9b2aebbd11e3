"""Seconds on sparse data: every dimension and density, ratios, and rows for what fails."""

import pytest
from measured_scripts import measured

from entrolab.experiments import generated

RIDGE = {"estimator": "sklearn.linear_model.RidgeClassifier", "steps": [], "params": {}}
BROKEN = {"estimator": "sklearn.linear_model.RidgeClassifier", "steps": [], "params": {"alpha": -1}}
DATA = {"n_rows": 20, "repeats": 2}


def density(models, **keys):
    return measured("density", models=models, **DATA | keys)


def test_densities_are_measured_point_by_point_and_what_fails_says_why():
    rows = density({"ridge": RIDGE, "broken": BROKEN}, dims=[10, 50], densities=[0.2, 1.0])
    seconds = [row for row in rows if row["model"] == "ridge"]
    points = ["d10_density0.2", "d10_density1", "d50_density0.2", "d50_density1"]
    assert [row["reading"] for row in seconds] == points
    assert all(row["value"] > 0 for row in seconds)
    broken = [(row.get("metric"), row["status"]) for row in rows if row["model"] == "broken"]
    assert broken == [(None, "failed"), ("ratio", "failed")] * 4


def test_ratios_are_to_the_first_model():
    rows = density({"one": RIDGE, "other": RIDGE}, dims=[10], densities=[1.0])
    found = {(row["model"], row["metric"]): row["value"] for row in rows}
    assert found.keys() == {("one", "fit_seconds"), ("other", "fit_seconds"), ("other", "ratio")}
    assert found["other", "ratio"] == pytest.approx(
        found["other", "fit_seconds"] / found["one", "fit_seconds"]
    )


def test_data_that_would_not_fit_are_not_made():
    (row,) = density({"ridge": RIDGE}, dims=[10**9], densities=[0.5], n_rows=1000)
    assert row["reading"] == "d1000000000_density0.5"
    # 12 bytes for each of 5e11 nonzeros
    assert "the data alone take 5.6e+03 GiB, more than the 8 GiB allowed" in row["error"]


def test_what_takes_long_is_not_repeated(monkeypatch):
    monkeypatch.setattr(generated, "LONG", 0)
    monkeypatch.setattr(generated, "SECONDS", 20)
    rows = density({"ridge": RIDGE}, dims=[10], densities=[1.0], repeats=10**9)
    assert [row.get("metric") for row in rows] == ["fit_seconds"]
