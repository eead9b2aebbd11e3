"""A run whose tracking store fails it has its tables all the same; the next one logs what is missing."""

import sqlite3
from contextlib import closing

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.slow]


def runs_of(project) -> list[tuple[str, str, str]]:
    """The key, status and folder of artifacts of each live run of the study, by key."""
    with closing(sqlite3.connect(project.folder / "mlflow.db")) as store:
        return store.execute(
            "SELECT value, status, artifact_uri FROM runs JOIN tags USING (run_uuid) JOIN experiments "
            "USING (experiment_id) WHERE key = 'entrolearn.key' AND runs.lifecycle_stage = 'active' "
            "AND experiments.name = 'tiny' ORDER BY value"
        ).fetchall()


@pytest.mark.fault(
    "Store",
    "a tracking server that is gone during a run",
    "one line without its password, all else finished; a plain rerun logs it",
)
def test_run_without_its_tracking_server_finishes_all_else(undisturbed, new_project, small, record_property):
    project = new_project(small)
    server = {"MLFLOW_TRACKING_URI": "http://me:secret@127.0.0.1:9", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}
    failed = project.run("tiny", "-k", environment=server)
    assert failed.returncode == 1
    lines = [line for line in failed.stdout.splitlines() if "tracking store http://127.0.0.1:9: " in line]
    assert lines
    assert all("Connection refused" in line and "the results are kept" in line for line in lines)
    logs = "".join(file.read_text() for file in (project.folder / "logs").rglob("*.log"))
    assert "secret" not in failed.stdout + logs
    assert "Traceback" not in failed.stdout + logs
    assert project.tables() == undisturbed.tables()
    finished = project.finished_files()

    result = project.run("tiny")

    assert result.returncode == 0, result.stdout[-5000:]
    lost = project.lost_since(finished)
    record_property("lost", len(lost))
    assert lost == []
    expected = [(key, status) for key, status, _ in runs_of(undisturbed)]
    assert [(key, status) for key, status, _ in runs_of(project)] == expected
