"""The halves that everyone is given."""

import numpy as np
import pytest

from benchmarks import data
from benchmarks.data import Split, Trial, draw, load, nonlinear, standardised, uniform
from entrolab.data.dataset import DataUnavailable


def test_halves_are_stratified_and_the_training_rows_fill_the_unit_cube():
    split = load("sklearn-wdbc")
    assert len(split.y_train) == len(split.y_test) == 569 // 2
    assert abs(split.y_train.mean() - split.y_test.mean()) < 1 / 200
    np.testing.assert_allclose(split.X_train.min(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.X_train.max(axis=0), 1, atol=1e-12)
    assert split.X_test.max() > 1  # no test row has set the scale


def test_large_sets_are_cut(monkeypatch):
    monkeypatch.setattr(data, "MAX_ROWS", 100)
    split = load("sklearn-wdbc")
    assert len(split.y_train) == len(split.y_test) == 100


def test_set_that_cannot_be_had_says_why(monkeypatch):
    refused = {"available": False, "reason": "heart: no network"}
    monkeypatch.setattr("benchmarks.data.download", lambda *arguments, **options: refused)
    with pytest.raises(DataUnavailable, match="heart: no network"):
        load("heart")


def test_made_rows_have_the_asked_size_precision_and_two_like_classes():
    X, y = uniform(1000, 3, np.float32)
    assert (X.shape, X.dtype) == ((1000, 3), np.float32)
    assert 0.4 < y.mean() < 0.6


@pytest.mark.parametrize(("n_classes", "least"), [(0, 0), (3, -1)])
def test_trials_have_the_asked_rows_scaled_features_and_values(n_classes, least):
    trial = Trial("waveform-that-no-catalog-has", 60, 30, n_features=5, n_classes=n_classes)
    split, made = draw(trial)
    assert made
    assert (split.X_train.shape, split.X_test.shape) == ((60, 5), (30, 5))
    X, y = np.vstack([split.X_train, split.X_test]), np.concatenate([split.y_train, split.y_test])
    np.testing.assert_allclose([X.min(axis=0), X.max(axis=0)], [[least] * 5, [1] * 5], atol=1e-12)
    assert (y.min(), y.max()) == (0, max(1, n_classes - 1))


def test_trials_on_the_catalog_take_what_rows_there_are():
    split, made = draw(Trial("sklearn-wdbc", 400, 1000, n_features=30, n_classes=2))
    assert not made
    assert (len(split.y_train), len(split.y_test)) == (400, 169)


def test_many_classes_become_the_first_against_the_rest_where_two_are_asked_for():
    y = np.array([0, 1, 2, 0])
    assert data._targets(y, 2).tolist() == [1, 0, 0, 1]
    assert data._targets(y, 3).tolist() == [0, 1, 2, 0]


def test_made_classes_are_of_one_size():
    assert np.bincount(nonlinear(300, 4, 3)[1]).tolist() == [100, 100, 100]


def test_standardised_rows_have_the_units_of_the_training_rows_alone():
    split = Split(np.array([[1.0, 5], [3, 5]]), np.array([0, 1]), np.array([[5.0, 6]]), np.array([1]))
    found = standardised(split)
    assert found.X_train.tolist() == [[-1, 0], [1, 0]]
    assert found.X_test.tolist() == [[3, 1]]  # a feature that does not vary keeps its unit
    assert found.y_test is split.y_test
