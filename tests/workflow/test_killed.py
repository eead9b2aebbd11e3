"""Whatever is killed, and whenever: the next run completes it, with nothing that was finished done again."""

import json
import os
import signal

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

TABLE = "results/tiny/tables/table1.csv"


def completed(project, target: str = TABLE) -> None:
    """What a person does after a run that was killed: free the folder, and run again."""
    assert project.run("--unlock").returncode == 0
    result = project.run(target)
    assert result.returncode == 0, result.stdout[-5000:]


@pytest.mark.fault(
    "Killed", "snakemake and its jobs, by SIGKILL", "`make unlock` and a plain rerun complete it"
)
def test_a_killed_run_is_completed_and_equals_an_undisturbed_one(
    undisturbed, new_project, small, record_property
):
    project = new_project(small)
    records = project.folder / "results" / "tiny" / "records"
    running = project.start(TABLE)
    project.wait_until(lambda: list(records.glob("*/*.json")), running)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    # A record that was moved into place is whole, whenever the kill came.
    assert all(json.loads(path.read_text()) for path in records.glob("*/*.json"))
    finished = project.finished_files()
    assert finished

    completed(project)

    lost = project.lost_since(finished)
    record_property("lost", len(lost))
    assert lost == []
    for name, content in project.tables().items():
        assert content == undisturbed.tables()[name]
