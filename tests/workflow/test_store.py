"""A run whose tracking store fails it has its tables all the same; the next one logs what is missing."""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from held_store import held_by_another_program, tracker_has_its_turn

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

TARGETS = ("results/tiny/tables/table1.csv", "results/tiny/tracked/runs.json")
MAKES_A_STORE = """
import sys
from mlflow import MlflowClient

MlflowClient(sys.argv[1], sys.argv[1]).search_experiments()
"""


def check_whole(project, undisturbed) -> None:
    """The table is an undisturbed run's, and each run of the two data sets is in the store once, finished."""
    tables = project.tables()
    assert "table1.csv" in tables
    for name, content in tables.items():
        assert content == undisturbed.tables()[name]
    receipt = json.loads((project.folder / TARGETS[1]).read_text())
    with closing(sqlite3.connect(project.folder / "mlflow.db")) as store:
        runs = store.execute(
            "SELECT value, status FROM runs JOIN tags USING (run_uuid) WHERE key = 'model'"
        ).fetchall()
    assert sorted(runs) == [("eem", "FINISHED")] * 2 + [("lda", "FINISHED")] * 2
    assert [sorted(of_dataset["runs"]) for of_dataset in receipt.values()] == [["eem", "lda"]] * 2


@pytest.mark.fault(
    "Store", "locked by another program while a run comes to it", "the job waits; the run completes"
)
def test_run_waits_for_a_locked_store(undisturbed, new_project, small):
    project = new_project(small)
    store = project.folder / "mlflow.db"
    subprocess.run([sys.executable, "-c", MAKES_A_STORE, f"sqlite:///{store}"], check=True)
    with held_by_another_program(store) as holder:
        running = project.start(*TARGETS)
        project.wait_until(lambda: tracker_has_its_turn(store), running)
        assert not (project.folder / TARGETS[1]).exists()
        holder.stdin.close()
        assert running.wait() == 0
    check_whole(project, undisturbed)


@pytest.mark.fault(
    "Store",
    "a tracking server that is gone during a run",
    "one line without its password, all else finished; a plain rerun logs it",
)
def test_run_without_its_tracking_server_finishes_all_else(undisturbed, new_project, small, record_property):
    project = new_project(small)
    server = {"MLFLOW_TRACKING_URI": "http://me:secret@127.0.0.1:9", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}
    failed = project.run(*TARGETS, environment=server)
    assert failed.returncode == 1
    [line] = [one for one in failed.stdout.splitlines() if one.startswith("track tiny: ")]
    assert line.startswith("track tiny: tracking store http://127.0.0.1:9: no answer (")
    assert "the results are kept" in line
    logs = "".join(file.read_text() for file in (project.folder / "logs").rglob("*.log"))
    assert "secret" not in failed.stdout + logs
    assert "Traceback" not in failed.stdout + logs
    assert project.tables().keys() == {f"table1.{format}" for format in ("csv", "html", "md", "tex")}
    finished = project.finished_files()

    result = project.run(*TARGETS)

    assert result.returncode == 0, result.stdout[-5000:]
    lost = project.lost_since(finished)
    record_property("lost", len(lost))
    assert lost == []
    check_whole(project, undisturbed)


@pytest.mark.fault(
    "Store", "a whole project copied elsewhere", "a plain rerun mends the store's paths and does nothing else"
)
def test_copied_project_has_its_own_artifacts(undisturbed, new_project, small, record_property):
    project = new_project(small)
    shutil.copytree(undisturbed.folder, project.folder, dirs_exist_ok=True)
    finished = project.finished_files()

    result = project.run("tiny")

    assert result.returncode == 0, result.stdout[-5000:]
    receipt = "results/tiny/tracked.json"
    lost = [name for name in project.lost_since(finished) if name != receipt]
    record_property("lost", len(lost))
    assert lost == []
    assert json.loads((project.folder / receipt).read_text())["written"] is False
    with closing(sqlite3.connect(project.folder / "mlflow.db")) as store:
        folders = [where for (where,) in store.execute("SELECT artifact_uri FROM runs")]
    artifacts = (project.folder / "mlruns" / "tiny").as_uri()
    assert folders
    assert all(where.startswith(f"{artifacts}/") for where in folders)
    assert project.tables() == undisturbed.tables()
