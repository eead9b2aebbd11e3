"""MLFLOW_TRACKING_URI alone sends a study to a team's server, and nothing is lost on the way."""

import json
import os
import signal
import time

import pytest
from stored_runs import client_of, study_in
from team_server import as_postgres, script, team_server

pytestmark = [pytest.mark.workflow, pytest.mark.slow]


@pytest.fixture(scope="module")
def server():
    with team_server() as started:
        yield started


@pytest.fixture
def project(undisturbed, new_project, small):
    """A project whose study is in its embedded store."""
    made = new_project(small)
    assert made.run("tiny").returncode == 0
    return made


def written(project) -> dict[str, list]:
    """What each receipt says that its job has written."""
    results = project.folder / "results" / "tiny"
    of_datasets = json.loads((results / "tracked" / "runs.json").read_text())
    study = json.loads((results / "tracked.json").read_text())
    return {key: one["written"] for key, one in {**of_datasets, "study": study}.items()}


def test_address_alone_sends_a_finished_study_to_the_server(project, server, tmp_path):
    uri, _ = server
    there = {"MLFLOW_TRACKING_URI": uri}
    tables, finished = project.tables(), project.finished_files()

    result = project.run("tiny", environment=there)

    assert result.returncode == 0, result.stdout[-5000:]
    assert all(written(project).values())
    embedded = client_of(f"sqlite:///{project.folder}/mlflow.db")
    assert study_in(client_of(uri), "tiny", tmp_path) == study_in(embedded, "tiny", tmp_path)
    # Nothing was computed for it.
    assert project.tables() == tables
    assert all(name.startswith("results/tiny/tracked") for name in project.lost_since(finished))
    # Done again, there is nothing to do; forced to look, it finds every run.
    assert "Nothing to be done" in project.run("tiny", environment=there).stdout
    assert project.run("--forcerun=track", "tiny", environment=there).returncode == 0
    assert written(project)["my-moons"] == []


@pytest.mark.fault("Store", "a team's server and its database killed", "started again: every run is there")
def test_server_that_was_killed_with_its_database_comes_back_with_every_run(project, tmp_path):
    with team_server() as (uri, folder):
        assert project.run("tiny", environment={"MLFLOW_TRACKING_URI": uri}).returncode == 0
        before = study_in(client_of(uri), "tiny", tmp_path)
        process, port, database_port = (folder / "running").read_text().split()
        postmaster = as_postgres(folder, "head", "-n", "1", str(folder / "postgresql/postmaster.pid")).stdout
        os.killpg(int(process), signal.SIGKILL)
        os.kill(int(postmaster), signal.SIGKILL)
        time.sleep(2)  # its children notice
        assert script("status", SERVER=str(folder)).returncode == 3
        again = script("start", SERVER=str(folder), PORT=port, DATABASE_PORT=database_port, WORKERS="2")
        assert again.returncode == 0, again.stderr
        assert study_in(client_of(uri), "tiny", tmp_path) == before
