"""The halves that everyone is given."""

import numpy as np
import pytest

from benchmarks.data import load, uniform
from entrolearn.lab.datasets import DataUnavailable


def test_halves_are_stratified_and_the_training_rows_fill_the_unit_cube(tmp_path):
    split = load("sklearn-wdbc", folder=tmp_path)
    assert len(split.y_train) == len(split.y_test) == 569 // 2
    assert abs(split.y_train.mean() - split.y_test.mean()) < 1 / 200
    np.testing.assert_allclose(split.X_train.min(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.X_train.max(axis=0), 1, atol=1e-12)
    assert split.X_test.max() > 1  # no test row has set the scale


def test_large_sets_are_cut(tmp_path):
    split = load("sklearn-wdbc", folder=tmp_path, max_rows=100)
    assert len(split.y_train) == len(split.y_test) == 100


def test_unknown_set_is_named_with_what_was_meant(tmp_path):
    with pytest.raises(ValueError, match="'sklearn-wdbd', did you mean 'sklearn-wdbc'"):
        load("sklearn-wdbd", folder=tmp_path)


def test_set_that_cannot_be_had_says_why(tmp_path, monkeypatch):
    refused = {"available": False, "reason": "heart: no network"}
    monkeypatch.setattr("benchmarks.data.download", lambda *arguments, **options: refused)
    with pytest.raises(DataUnavailable, match="heart: no network"):
        load("heart", folder=tmp_path)


def test_made_rows_have_the_asked_size_precision_and_two_like_classes():
    X, y = uniform(1000, 3, np.float32)
    assert (X.shape, X.dtype) == ((1000, 3), np.float32)
    assert 0.4 < y.mean() < 0.6
