"""Recursive feature machines fitted to chunks, and to Dask's collections, are those of rows in memory."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolearn import (
    EEKMClassifier,
    EEMClassifier,
    RecursiveFeatureClassifier,
    RecursiveFeatureRegressor,
    RKELMRegressor,
    streaming,
)
from entrolearn.streaming import distributed

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(600, 8)), RNG.normal(size=(100, 8))
VALUES = X[:, 1] * X[:, 4] + X[:, 6] ** 2
LABELS = np.where(VALUES > 1, "high", "low")
WEIGHTS = RNG.integers(0, 3, 600).astype(float)
MACHINES = {
    "landmarks": RecursiveFeatureClassifier(EEKMClassifier(30, random_state=0), random_state=0),
    "full": RecursiveFeatureClassifier(EEKMClassifier(30, random_state=0), metric="full", random_state=0),
    "random units": RecursiveFeatureClassifier(EEMClassifier(30, random_state=0), n_rounds=2, random_state=0),
    "regressor": RecursiveFeatureRegressor(
        RKELMRegressor(30, kernel="exponential_power", random_state=0), random_state=0
    ),
}
EACH = pytest.mark.parametrize("name", MACHINES)


@pytest.fixture(autouse=True)
def _on_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def targets(name):
    return VALUES if name == "regressor" else LABELS


def outputs(machine, rows):
    return machine.decision_function(rows) if hasattr(machine, "classes_") else machine.predict(rows)


def assert_same(found, expected, tolerance=1e-6):
    assert found.n_rounds_ == expected.n_rounds_ > 0
    answers = outputs(expected, NEW)
    assert_allclose(outputs(found, NEW), answers, rtol=0, atol=tolerance * abs(answers).max())
    assert_allclose(found.importances_, expected.importances_, atol=tolerance)
    assert_allclose(found.metric_, expected.metric_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("selection_rows", [10_000, 350])
@EACH
def test_chunks_make_the_machine_of_rows_in_memory(name, selection_rows):
    machine = clone(MACHINES[name]).set_params(selection_rows=selection_rows)
    expected = clone(machine).fit(X, targets(name))
    assert_same(streaming.fit(machine, streaming.rows(X, targets(name), chunk_rows=85)), expected)


@pytest.mark.parametrize(("name", "selection_rows"), [("landmarks", 10_000), ("regressor", 350)])
def test_dask_makes_the_machine_of_rows_in_memory(name, selection_rows):
    machine = clone(MACHINES[name]).set_params(selection_rows=selection_rows)
    expected = clone(machine).fit(X, targets(name))
    rows, y = da.from_array(X, chunks=(85, 8)), da.from_array(targets(name), chunks=85)
    assert_same(distributed.fit(machine, rows, y), expected)
    gradients = streaming.predict(machine, rows, method="input_gradient").compute()
    assert_allclose(gradients, machine.input_gradient(X), rtol=1e-6, atol=1e-9)


def test_chunks_of_unknown_length_and_frames():
    machine = MACHINES["landmarks"]
    expected = clone(machine).fit(X, LABELS)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(8)]).assign(y=LABELS)
    of_frame = distributed.fit(
        clone(machine),
        dd.from_pandas(frame, npartitions=5).drop(columns="y"),
        dd.from_pandas(frame, npartitions=5)["y"],
    )
    assert list(of_frame.feature_names_in_) == list(frame.columns[:-1])
    answers = expected.decision_function(NEW)
    found = of_frame.decision_function(pd.DataFrame(NEW, columns=frame.columns[:-1]))
    assert_allclose(found, answers, rtol=0, atol=1e-6 * abs(answers).max())

    def chunks():
        for start in range(0, 600, 125):
            yield X[start : start + 125], LABELS[start : start + 125]

    assert_same(streaming.fit(clone(machine), chunks), expected)


def test_weighted_rows_that_are_sparse():
    machine = clone(MACHINES["landmarks"]).set_params(selection_rows=350)
    thin = X * (abs(X) > 0.5)
    expected = clone(machine).fit(csr_array(thin), LABELS, sample_weight=WEIGHTS)
    found = streaming.fit(
        clone(machine), streaming.rows(csr_array(thin), LABELS, chunk_rows=85), sample_weight=WEIGHTS
    )
    assert_same(found, expected)
    in_dask = distributed.fit(
        clone(machine),
        da.from_array(thin, chunks=(85, 8)).map_blocks(csr_array),
        da.from_array(LABELS, chunks=85),
        sample_weight=da.from_array(WEIGHTS, chunks=85),
    )
    assert_same(in_dask, expected)


def test_the_last_step_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), MACHINES["landmarks"])
    expected = clone(pipeline).fit(3 + 2 * X, LABELS)
    found = streaming.fit(clone(pipeline), streaming.rows(3 + 2 * X, LABELS, chunk_rows=85))
    assert_same(found[-1], expected[-1])


def test_progress_of_each_pass_is_told():
    told = []
    source = streaming.rows(X, VALUES, chunk_rows=200)
    streaming.fit(clone(MACHINES["regressor"]), source, progress=lambda done, rows: told.append(done))
    assert told == [200, 400, 600] * 4  # selection, landmarks, sums, gradients


@pytest.mark.filterwarnings("error")
def test_named_columns_of_files_warn_of_nothing(tmp_path):
    names = [f"x{j}" for j in range(8)]
    pd.DataFrame(X, columns=names).assign(label=LABELS).to_parquet(tmp_path / "rows.parquet")
    rows = streaming.rows(tmp_path / "rows.parquet", target="label")
    found = streaming.fit(clone(MACHINES["random units"]), rows)
    assert found.feature_names_in_.tolist() == found.estimator_.feature_names_in_.tolist() == names


def test_what_cannot_be_done_is_refused_before_rows_are_read():
    machine = MACHINES["landmarks"]
    with pytest.raises(ValueError, match="selection_rows=None learns from all rows in memory"):
        streaming.fit(clone(machine).set_params(selection_rows=None), X, LABELS)
    with pytest.raises(ValueError, match="cv gives splits of rows in memory"):
        streaming.fit(clone(machine).set_params(cv=[(np.arange(9), np.arange(9, 20))] * 2), X, LABELS)
    with pytest.raises(ValueError, match="reads the rows several times, and these can be read only once"):
        streaming.fit(clone(machine), iter([(X, LABELS)]), classes=["high", "low"])
    broken = streaming.rows(np.where(np.arange(600)[:, None] == 100, np.nan, X), LABELS, chunk_rows=85)
    with pytest.raises(ValueError, match=r"rows 85 to 169: .*NaN"):
        streaming.fit(clone(machine), broken)
    with pytest.raises(ValueError, match="needs targets"):
        streaming.fit(clone(machine), X)
