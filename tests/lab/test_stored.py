"""Fitted models in files: what is written is read back, and nothing that nobody vouched for."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from entrolearn.lab.stored import dump, load, trusted_types

X, y = np.array([[0.0, 1], [1, 0], [1, 1], [0, 0]]), np.array([0, 1, 1, 0])


def doubled(rows):
    return 2 * rows


def test_a_stored_model_predicts_the_same(tmp_path):
    fitted = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    (tmp_path / "model.skops").write_bytes(dump(fitted))
    again = load(tmp_path / "model.skops", ["sklearn.svm.SVC"])
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


def test_types_of_other_packages_are_read_only_where_the_study_names_them(tmp_path):
    fitted = make_pipeline(FunctionTransformer(doubled), SVC()).fit(X, y)
    (tmp_path / "model.skops").write_bytes(dump(fitted))
    package = doubled.__module__.partition(".")[0]
    with pytest.raises(
        ValueError, match=rf"the model holds {doubled.__module__}.*; accepted are classes of ent"
    ):
        load(tmp_path / "model.skops", ["sklearn.svm.SVC"])
    assert trusted_types(tmp_path / "model.skops", [f"{package}.Learner"])


def test_a_file_that_is_cut_is_named(tmp_path):
    (tmp_path / "model.skops").write_bytes(dump(SVC().fit(X, y))[:100])
    with pytest.raises(ValueError, match=r"model\.skops: not a whole model file .*; delete it and run again"):
        load(tmp_path / "model.skops", [])
