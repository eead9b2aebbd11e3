"""Receipts whose runs are not in the store are found without MLflow."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from mlflow_addresses import restore_addresses

from entrolab.tracking.receipts import lost_receipts

WHOLE = "results/tiny/tracked.json"
RECEIPTS = {
    "results/tiny/seed0/tracked/moons/svm.json": ["a"],
    "results/tiny/seed1/tracked/measured/table5/moons.json": ["b", "c"],
    WHOLE: ["d"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with receipts, and a store with their runs."""
    monkeypatch.chdir(tmp_path)
    restore_addresses(monkeypatch)
    for file, runs in RECEIPTS.items():
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(json.dumps({"runs": runs}))
    with closing(sqlite3.connect("mlflow.db")) as store, store:
        store.execute("CREATE TABLE runs (run_uuid text, lifecycle_stage text)")
        store.executemany("INSERT INTO runs VALUES (?, 'active')", [[run] for run in "abcde"])
    return tmp_path


def lost(store: str | None = None) -> set[str]:
    return {path.as_posix() for path in lost_receipts("tiny", store)}


def test_nothing_is_lost_while_the_store_has_all_runs(folder):
    assert lost() == set()


@pytest.mark.parametrize(("run", "number"), [("a", 0), ("c", 1), ("d", 2)])
def test_a_deleted_run_loses_its_receipt(folder, run, number):
    with closing(sqlite3.connect("mlflow.db")) as store, store:
        store.execute("UPDATE runs SET lifecycle_stage = 'deleted' WHERE run_uuid = ?", [run])
    assert lost() == {[*RECEIPTS][number]}


def test_a_deleted_store_or_another_one_loses_all(folder):
    assert lost("sqlite:///another.db") == set(RECEIPTS)
    Path("mlflow.db").unlink()
    assert lost() == set(RECEIPTS)


def test_a_receipt_that_is_damaged_or_of_an_earlier_version_is_lost(folder):
    first, second, _ = RECEIPTS
    Path(first).write_text("{")
    Path(second).write_text('{"written": true}')
    assert lost() == {first, second}


def test_a_server_is_asked_by_the_job_of_the_study(folder):
    assert lost("http://127.0.0.1:9") == {WHOLE}


def test_receipts_are_read_without_mlflow():
    program = (
        "import sys; from entrolab.tracking.receipts import lost_receipts; print('mlflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "False\n"
