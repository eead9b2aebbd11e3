"""Measurements of tables: a script's rows in a file, and rows for what fails."""

import numpy as np
import pandas as pd
import pytest
from measured_scripts import at, two_classes

from entrolab.data.dataset import DataUnavailable, recording_unavailability, save_dataset
from entrolab.experiments import generated
from entrolab.experiments.measuring import COLUMNS, Rows, frame, measure, of_each_model, quickest
from entrolab.io.limits import KilledError

SCRIPT = """
def measure(rows, at, models, *, power):
    for name in models:
        yield {"model": name, "metric": "mean", "value": (rows.scaled.X ** power).mean() + at.seed}
"""


@pytest.fixture
def files(tmp_path):
    for name in ("raw", "scaled"):
        save_dataset(tmp_path / f"{name}.npz", two_classes())
    (tmp_path / f"{tmp_path.name}.py").write_text(SCRIPT)  # of a name that no other test imports
    return tmp_path


def measured(files, **params):
    rows = Rows(files / "raw.npz", files / "scaled.npz")
    place = at(seed=3, models={"svm": {}, "lda": {}}, params=params)
    measure(files / f"{files.name}.py", rows, place, files / "measured" / "data.parquet")
    return pd.read_parquet(files / "measured" / "data.parquet")


def test_a_measurement_is_a_file_of_a_scripts_rows(files):
    rows = measured(files, power=2)
    assert list(rows.columns) == list(COLUMNS)
    assert rows["model"].tolist() == ["svm", "lda"]
    assert rows["value"].to_numpy() == pytest.approx((two_classes().X ** 2).mean() + 3)
    assert (rows["status"] == "ok").all()


def test_absent_data_and_failures_are_rows(files):
    rows = measured(files, power="two")
    assert rows["status"].tolist() == ["failed"]
    assert "TypeError" in rows["error"][0]

    with recording_unavailability(files / "scaled.npz"):
        raise DataUnavailable("data: 404")
    assert measured(files, power=2)[["status", "error"]].to_numpy().tolist() == [["no data", "data: 404"]]


@pytest.mark.parametrize("row", [{"modle": "svm"}, {"status": "bad"}, {"value": "many"}])
def test_a_row_that_is_none_is_told(row):
    with pytest.raises(ValueError, match="modle|bad|many"):
        frame([{"model": "svm"}, row])


def test_a_killed_process_fails_the_job_and_no_model():
    def killed(name, model):
        raise KilledError("SIGKILL")

    with pytest.raises(KilledError):
        of_each_model(killed, {"svm": {}})


def test_the_quickest_of_several_calls_counts(monkeypatch):
    clock = iter([0.0, 5.0, 10.0, 12.0, 20.0, 29.0])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    assert quickest(max, 3, 4, repeats=3) == (2.0, 4)


def test_sparse_rows_have_the_density_that_is_asked_for_and_no_place_twice():
    X = generated.sparse_rows(30, 200, 0.1, np.random.default_rng(0))
    assert X.shape == (30, 200)
    assert np.diff(X.indptr).tolist() == [20] * 30
    assert X.has_canonical_format
    assert {X.indices.min(), X.indices.max()} <= set(range(200))
    # 600 places among 200 columns: each column expects 3
    assert np.bincount(X.indices, minlength=200).std() < 3
    assert generated.sparse_gib(30, 200, 0.1) * 2**30 == pytest.approx(X.data.nbytes + X.indices.nbytes)
