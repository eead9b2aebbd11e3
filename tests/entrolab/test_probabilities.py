"""Ranking and calibration metrics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from entrolab.fit.metrics import METRICS
from entrolab.fit.probabilities import SCORES, calibration_error, probability_scores


def test_every_score_of_probabilities_is_a_metric_and_the_other_way_round():
    assert list(SCORES) == [name for name, metric in METRICS.items() if metric.of_probabilities]


# ------------------------------------------------------------------------------------------ calibration error


@given(st.integers(0, 2**32 - 1), st.integers(1, 300))
def test_calibration_error_is_that_of_its_bins_one_by_one(seed, n):
    rng = np.random.default_rng(seed)
    p, y = rng.random(n), rng.integers(0, 2, n)
    order = np.argsort(p)
    bins = [part for part in np.array_split(order, 10) if len(part)]
    naive = sum(len(part) / n * abs(y[part].mean() - p[part].mean()) for part in bins)
    assert calibration_error(y, p) == pytest.approx(naive, abs=1e-12)
    assert 0 <= naive <= 1


def test_calibration_error_weighs_the_bins_of_scikit_learns_curve():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    y = (rng.random(1000) < p**2).astype(int)
    shares, means = calibration_curve(y, p, n_bins=10, strategy="quantile")
    assert calibration_error(y, p) == pytest.approx(np.abs(shares - means).mean(), abs=1e-3)


def test_probabilities_that_are_right_have_little_error_and_wrong_ones_all_of_it():
    rng = np.random.default_rng(0)
    p = rng.random(100_000)
    y = (rng.random(100_000) < p).astype(int)
    # The mean of ten |N(0, p (1 - p) / 10,000)| is below 0.005.
    assert calibration_error(y, p) < 0.01
    assert calibration_error(y, 1.0 - y) > 0.99  # all but the bin that holds both


def test_what_asks_for_something_that_there_is_not_is_left_out():
    y, p = np.array([0, 1, 1, 0]), np.array([0.1, 0.8, 0.7, 0.3])
    assert set(probability_scores(y, p, p, list(SCORES))) == set(SCORES)
    assert set(probability_scores(y, p, np.full(4, np.nan), list(SCORES))) == {"auc"}
    assert probability_scores(y, np.full(4, np.nan), np.full(4, np.nan), list(SCORES)) == {}
