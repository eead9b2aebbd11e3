"""Ranking and calibration metrics."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from entrolab.fit.metrics import METRICS
from entrolab.fit.probabilities import (
    MANY,
    SCORES,
    calibration_error,
    of_many,
    probability_scores,
    scores_of_many,
)
from entrolab.fit.scoring import scores
from entrolearn.metrics import gmean_score


def test_every_score_of_probabilities_is_a_metric_and_the_other_way_round():
    for known, task in ((SCORES, "binary"), (MANY, "multiclass")):
        fitting = [name for name, one in METRICS.items() if one.of_probabilities and task in one.tasks]
        assert list(known) == fitting


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
    assert set(probability_scores(y, p, np.full(4, np.nan), list(SCORES))) == {"auc", "average_precision"}
    assert probability_scores(y, np.full(4, np.nan), np.full(4, np.nan), list(SCORES)) == {}


# ------------------------------------------------------------------------------------- beside scikit-learn's


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(3, 6))
def test_scores_of_many_classes_are_scikit_learns(seed, n, k):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    y = np.concatenate([np.arange(k), rng.integers(0, k, n)])[:n]
    labels = np.arange(k)
    found = scores_of_many(y, of_many(p, labels, y), list(MANY))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, p, labels=labels))
    if k > 3:
        assert found["top3"] == pytest.approx(metrics.top_k_accuracy_score(y, p, k=3, labels=labels))
    assert found["brier"] == pytest.approx(np.mean(np.sum((p - np.eye(k)[y]) ** 2, axis=1)))
    assert found["calibration_error"] == calibration_error(p.argmax(axis=1) == y, p.max(axis=1))
    assert found["explained_deviance"] == pytest.approx(metrics.d2_log_loss_score(y, p, labels=labels))


def test_a_class_that_was_not_learnt_is_the_last():
    told = of_many(np.array([[0.5, 0.5]]), np.array([0, 1]), np.array([2]))
    assert (told["true_probability"][0], told["true_rank"][0]) == (0, 2)
    assert scores_of_many(np.array([2]), told | {"true_rank": np.array([np.nan])}, list(MANY)) == {}


OF_CLASSES = {
    "gmean": gmean_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "accuracy": metrics.accuracy_score,
    "error_rate": metrics.zero_one_loss,
    "f1_macro": partial(metrics.f1_score, average="macro"),
    "f1_weighted": partial(metrics.f1_score, average="weighted"),
    "mcc": metrics.matthews_corrcoef,
}
OF_CLASS_1 = {
    "precision": partial(metrics.precision_score, zero_division=0),
    "recall": partial(metrics.recall_score, zero_division=0),
    "f1": partial(metrics.f1_score, zero_division=0),
}
OF_VALUES = {
    "rmse": metrics.root_mean_squared_error,
    "mae": metrics.mean_absolute_error,
    "median_absolute_error": metrics.median_absolute_error,
    "r2": metrics.r2_score,
}


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 5))
def test_scores_of_predictions_are_scikit_learns(seed, n, k):
    """Also where a class is not there, or is not predicted."""
    rng = np.random.default_rng(seed)
    y, values = rng.integers(0, k, (2, n)), rng.normal(size=(2, n))
    for known, pair in ((OF_CLASSES | (OF_CLASS_1 if k < 3 else {}), y), (OF_VALUES, values)):
        with warnings.catch_warnings(action="ignore"):
            expected = {name: function(*pair) for name, function in known.items()}
        assert scores(*pair, [*known]) == pytest.approx(expected)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(4, 60))
def test_scores_of_two_classes_are_scikit_learns(seed, n):
    rng = np.random.default_rng(seed)
    y, p = np.arange(n) % 2, rng.uniform(0.01, 0.99, n)
    found = probability_scores(y, p, p, list(SCORES))
    assert found["average_precision"] == pytest.approx(metrics.average_precision_score(y, p))
    assert found["explained_deviance"] == pytest.approx(metrics.d2_log_loss_score(y, p))
