"""Exponents of powers, and what is timed of a family."""

import numpy as np
import pytest
from scipy.optimize import curve_fit

from benchmarks.growth import FAMILIES, Family, exponent, exponents, labelled, mixed, timed
from entrolab.fit.limits import Limits
from entrolearn import EEMClassifier, InfomaxICA

GRID = ({"n_hidden": 5}, {"n_hidden": 10})


def build(size: int) -> EEMClassifier:
    return EEMClassifier(10, random_state=0)


@pytest.mark.parametrize("power", [1, 2])
def test_exponent_of_a_power_is_its_power(power):
    sizes = np.array([10, 20, 40, 80])
    assert exponent(sizes, 0.3 * sizes**power) == pytest.approx((power,) * 3)


def test_interval_of_an_exponent_is_that_of_the_fitted_line():
    sizes = np.repeat([10.0, 20.0, 40.0], 3)
    seconds = sizes**1.5 * np.exp(np.random.default_rng(0).normal(0, 0.2, 9))
    line, covariance = curve_fit(lambda x, a, b: a + b * x, np.log(sizes), np.log(seconds))
    slope, low, high = exponent(sizes, seconds)
    assert slope == pytest.approx(line[1], rel=1e-6)
    half = 2.3646 * np.sqrt(covariance[1, 1])  # Student's quantile of 7 degrees of freedom
    assert (high - low) / 2 == pytest.approx(half, rel=1e-3)


def test_one_size_has_no_exponent():
    assert np.isnan(exponent([10, 10], [1.0, 2.0])).all()


def test_a_family_with_a_grid_has_a_path_and_one_without_predictions_a_fit_alone():
    family = Family("EEM", build, labelled, (100, 200), GRID)
    assert set(timed(family, 100)) == {"fit", "predict", "path"}
    rows = list(exponents(family, Limits(seconds=60), rounds=2))
    works = [row["what"] for row in rows]
    assert works == [f"{work}, 100 to 200 rows" for work in ("fit", "predict", "path")]
    assert all(row["low"] <= row["our_spent"] <= row["high"] for row in rows)
    sources = Family("ICA", lambda n: InfomaxICA(), mixed)
    assert set(timed(sources, 99)) == {"fit"}


def test_a_size_over_the_limit_is_told():
    def rows(n):
        if n > 100:
            raise MemoryError("too many rows")
        return labelled(n)

    row, *_ = exponents(Family("EEM", build, rows, (50, 100, 200)), Limits(seconds=60), rounds=1)
    assert row["note"].startswith("200 rows: memory limit")
    assert np.isfinite(row["our_spent"])


def test_the_names_of_families_differ():
    names = [family.name for family in FAMILIES]
    assert len(set(names)) == len(names)
