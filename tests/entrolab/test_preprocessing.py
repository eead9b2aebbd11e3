"""Preprocessing that is learnt from training rows, against pandas' own and laws of leaks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from logistic_run import changed, logistic_run
from scipy import sparse

from entrolab.data.dataset import Dataset
from entrolab.data.preprocessing import SCALES, preprocessed, preprocessor
from entrolab.fit.protocols import protocol
from entrolab.fit.training import train_run
from entrolab.io.limits import Limits

N = 60
TOWNS = ["A", "B", "C"]


@pytest.fixture
def data() -> Dataset:
    """Two columns of numbers and one of categories, with missing values, and two classes."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=N), rng.integers(0, 3, N), rng.normal(5, 2, N)])
    y = (X[:, 0] + (X[:, 1] == 2) + rng.normal(0, 0.2, N) > 0.3).astype(np.int64)
    X[3, 0] = X[4, 1] = X[50, 2] = np.nan
    columns = {
        "encoded": {"a": None, "town": TOWNS, "b": None},
        "missing": [],
        "label": "y",
        "labels": [0, 1],
    }
    part = np.zeros(N, np.int8)
    return Dataset(X, y, ["a", "town", "b"], "binary", ["0", "1"], part, {"key": "shop"}, columns)


def test_numbers_have_the_median_and_the_scale_of_the_training_rows(data):
    rows = slice(0, 40)
    fitted = preprocessor(data, {"scale": "minmax", "categories": "one-hot"}, 0).fit(
        data.X[rows], data.y[rows]
    )
    found = fitted.transform(data.X[40:])
    seen = data.X[rows, 2]
    filled = np.where(np.isnan(data.X[40:, 2]), np.median(seen), data.X[40:, 2])
    np.testing.assert_allclose(found[:, 1], (filled - seen.min()) / (seen.max() - seen.min()))
    np.testing.assert_array_equal(found[:, 2:], data.X[40:, 1][:, None] == np.arange(3))


def test_a_missing_and_an_unknown_category_are_zeros(data):
    fitted = preprocessor(data, {"scale": "none", "categories": "one-hot"}, 0).fit(data.X, data.y)
    for category in (np.nan, 7.0):
        assert fitted.transform([[0.0, category, 0.0]])[0, 2:].tolist() == [0, 0, 0]


def test_beyond_a_hundred_the_rarest_categories_share_a_column(data):
    codes = np.repeat(np.arange(150.0), np.arange(150) + 1)
    columns = {"encoded": {"town": [str(k) for k in range(150)]}, "missing": [], "label": "y", "labels": []}
    many = Dataset(codes[:, None], codes, ["town"], "regression", [], np.zeros(len(codes)), {}, columns)
    X = preprocessor(many, {"scale": "none", "categories": "one-hot"}, 0).fit_transform(many.X, many.y)
    assert X.shape[1] == 100
    shared = X[codes < 51].argmax(axis=1)
    assert len(np.unique(shared)) == 1
    assert X[codes >= 51, shared[0]].sum() == 0


@pytest.mark.parametrize("categories", ["one-hot", "ordinal", "target"])
@pytest.mark.parametrize("scale", SCALES)
def test_every_way_gives_finite_numbers_and_forgets_the_rows_left_out(data, scale, categories):
    entry = {"scale": scale, "categories": categories}
    learnt, left_out = slice(0, 40), slice(40, N)
    fitted = preprocessor(data, entry, 0).fit(data.X[learnt], data.y[learnt])
    found = fitted.transform(data.X[left_out])
    assert np.isfinite(found).all()
    assert np.isfinite(preprocessed(data, entry).X).all()
    # What is in the rows left out changes nothing of what is said of the others.
    other = data.X.copy()
    other[left_out, 2] *= 1000
    again = preprocessor(data, entry, 0).fit(other[learnt], data.y[learnt])
    np.testing.assert_array_equal(again.transform(data.X[left_out]), found)


def test_sparse_rows_stay_sparse(data):
    rows = sparse.csr_array(np.nan_to_num(data.X))
    thin = Dataset(rows, data.y, list("abc"), "binary", ["0", "1"], data.part)
    for scale in ("minmax", "none"):
        X = preprocessor(thin, {"scale": scale, "categories": "one-hot"}, 0).fit_transform(rows)
        assert sparse.issparse(X)
        assert abs(X).max() == (1 if scale == "minmax" else abs(rows).max())


SPEC = logistic_run(
    estimator="sklearn.neighbors.KNeighborsClassifier",
    grid={"n_neighbors": [1, 3]},
    metrics=["accuracy"],
    candidates=["cv"],
    preprocessing={"scale": "minmax", "categories": "one-hot"},
)


def test_a_run_in_time_predicts_each_block_by_the_rows_before_it(data):
    entry = {"method": "time", "folds": 3, "repeats": 1, "inner": "leave-two-folds-out"}
    parts = protocol(entry).draw(data.y, 0)
    found = train_run(data, parts, changed(SPEC, {"protocol": entry}), Limits(seconds=3600))
    assert found.record["success"]
    kept = found.predictions
    blocks = [sorted({*kept.loc[kept["repeat"] == trial, "row"]}) for trial in range(3)]
    assert blocks == [list(range(15, 30)), list(range(30, 45)), list(range(45, 60))]
    # What comes after a block changes nothing of what is said of it.
    later = data.y.copy()
    later[45:] = 1 - later[45:]
    again = train_run(replace(data, y=later), parts, changed(SPEC, {"protocol": entry}), Limits(seconds=3600))
    first = ["repeat", "fold", "point", "row", "prediction"]
    pd.testing.assert_frame_equal(
        kept.loc[kept["row"] < 45, first], again.predictions[first].query("row < 45")
    )


def test_a_run_does_not_learn_from_the_rows_left_out(data):
    """Scores of a fold do not depend on the scale of its own rows, which scaling over all rows would see."""
    folds = (np.arange(N) % 3)[None]
    spec = changed(SPEC, {"protocol": {"folds": 3, "repeats": 1}})
    found = train_run(data, folds, spec, Limits(seconds=3600))
    assert found.record["n_failed"] == 0
    far = data.X.copy()
    far[5, 2] = 1e6  # in fold 2: fits that leave it out are as they were
    moved = Dataset(far, data.y, data.feature_names, "binary", data.classes, data.part, {}, data.columns)
    again = train_run(moved, folds, spec, Limits(seconds=3600))
    same = [frame.candidates.set_index("fold") for frame in (found, again)]
    np.testing.assert_array_equal(same[0].loc[2, "cv_accuracy"], same[1].loc[2, "cv_accuracy"])
    assert (same[0].loc[[0, 1], "cv_accuracy"] != same[1].loc[[0, 1], "cv_accuracy"]).any()
