"""Evaluations of an objective: generated mixtures, and errors relative to exact values."""

import numpy as np
import pytest
from measured_scripts import measured, script
from sklearn.mixture import GaussianMixture


def test_two_mixtures_have_the_rows_that_are_asked_for_around_centres_of_their_own():
    negative, positive = script("evaluations").two_mixtures(601, 4, np.random.default_rng(0))
    assert (negative.shape, positive.shape) == ((301, 4), (300, 4))
    for rows in (negative, positive):
        # The variance around three centres is one; around a single mean it is more.
        within = GaussianMixture(3, covariance_type="spherical", random_state=0, n_init=2).fit(rows)
        np.testing.assert_allclose(within.covariances_, 1, atol=0.2)
        assert rows.var(axis=0).mean() > 1.5


def test_evaluations_measure_seconds_of_every_method_and_errors_where_something_is_exact():
    rows = measured("evaluations", n_rows=[60, 400], exact_up_to=100)
    found = {(row["reading"], row["model"], row["metric"]): row["value"] for row in rows}
    errors = [(m, e) for m in ("exact_float32", "binned") for e in ("value_error", "gradient_error")]
    assert found.keys() == {
        *(("n60", method, "seconds") for method in ("exact", "exact_float32", "binned")),
        *(("n60", *one) for one in errors),
        ("n400", "binned", "seconds"),
    }
    assert 0 < found["n60", "exact_float32", "value_error"] < 1e-4
    assert found["n60", "binned", "gradient_error"] < 0.05
    assert all(value >= 0 for value in found.values())


def test_errors_are_relative_to_what_is_exact():
    exact = (2.0, np.array([[3.0, 4.0]]))
    errors = script("evaluations").relative_errors((2.5, np.array([[3.0, 4.5]])), exact)
    assert errors == pytest.approx({"value_error": 0.25, "gradient_error": 0.1})
    assert script("evaluations").relative_errors(exact, exact) == {"value_error": 0, "gradient_error": 0}
