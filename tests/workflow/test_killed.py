"""Whatever ends a run, and whenever: the same command completes it, and does nothing again."""

import os
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from itertools import product
from pathlib import Path

import psutil
import pytest
import yaml
from scripted_server import answer

from entrolab.data.dataset import load_dataset

pytestmark = pytest.mark.workflow

TABLE = "results/tiny/tables/table1.csv"


def completed(project, *targets: str) -> None:
    """What a person does after a run that was killed: free the folder, and run again."""
    assert project.run("--unlock").returncode == 0
    result = project.run(*targets)
    assert result.returncode == 0, result.stdout[-5000:]


def check(project, undisturbed, finished: dict, record_property) -> None:
    """Nothing that was finished is lost, and the tables are those of an undisturbed run."""
    lost = project.lost_since(finished)
    record_property("lost", len(lost))
    assert lost == []
    assert project.tables() == undisturbed.tables()


def wait_for_end_of(leader: int) -> None:
    """Wait until no process is left of the group that a run has started; zombies do not count."""

    def runs(process) -> bool:
        try:
            return os.getpgid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE
        except (ProcessLookupError, psutil.NoSuchProcess):
            return False

    until = time.monotonic() + 60
    while stays := list(filter(runs, psutil.process_iter())):
        assert time.monotonic() < until, stays
        time.sleep(0.02)


MOMENTS = {"early": "data/my-moons.npz", "in the middle of fits": "fits", "late": "tables/table1.html"}
FAULTS = {
    "Ctrl-C": lambda run, chain, disk: os.killpg(run.pid, signal.SIGINT),
    "SIGKILL of snakemake": lambda run, chain, disk: run.kill(),
    "SIGKILL of the server": lambda run, chain, disk: chain[0].kill(),
    "SIGKILL of the job": lambda run, chain, disk: chain[1].kill(),
    "full disk": lambda run, chain, disk: disk.fill(),
}


@pytest.mark.fault(
    "Killed", "Ctrl-C, SIGKILL of any process, a full disk: early, in fits, late", "a rerun completes"
)
@pytest.mark.parametrize(
    "moments",
    [["in the middle of fits"], pytest.param(["early", "late"], marks=pytest.mark.slow)],
    ids=["middle", "early and late"],
)
def test_whatever_ends_a_run_and_whenever_the_same_command_completes_it(
    quick, new_held, new_disk, tmp_path, moments
):
    """Each run goes on where the one before was ended; no process stays, and nothing is done again."""
    disk = new_disk(tmp_path / "held", "16m")
    project, finished = new_held(), {}
    for moment, fault in product(moments, FAULTS):
        run, chain = project.held(MOMENTS[moment], TABLE)
        FAULTS[fault](run, chain, disk)
        if run.poll() is None and fault == "SIGKILL of snakemake":
            run.wait()  # the held job has not gone on
            wait_for_end_of(run.pid)
        project.release()
        assert run.wait() == (-signal.SIGKILL if fault == "SIGKILL of snakemake" else 1), (moment, fault)
        wait_for_end_of(run.pid)
        assert "Traceback" not in project.said.read_text(), (moment, fault)
        assert not (project.folder / TABLE).with_suffix(".md").exists()
        if fault == "full disk":
            disk.make_room()
        if fault == "SIGKILL of snakemake":
            shutil.rmtree(project.folder / ".snakemake" / "locks")  # as `make unlock` does
        assert project.lost_since(finished) == [], (moment, fault)
        finished = project.finished_files()
    result = project.run(TABLE)
    assert result.returncode == 0, result.stdout[-5000:]
    assert project.lost_since(finished) == []
    assert project.tables() == quick.tables()


@pytest.mark.slow
@pytest.mark.fault("Killed", "snakemake alone, by SIGTERM", "its jobs are finished; a rerun does the rest")
def test_after_sigterm_what_runs_is_finished_and_a_plain_rerun_does_the_rest(
    quick, new_held, record_property
):
    project = new_held()
    running, _ = project.held("fits", TABLE)
    running.send_signal(signal.SIGTERM)
    project.release()
    assert running.wait() == 1
    wait_for_end_of(running.pid)
    finished = project.finished_files()
    assert "results/tiny/seed0/records/my-moons/lda.json" in finished
    assert not (project.folder / TABLE).exists()
    result = project.run(TABLE)
    assert result.returncode == 0, result.stdout[-5000:]
    check(project, quick, finished, record_property)


def runs_in(store: Path) -> list[tuple[str, str]]:
    """Key and status of each live run of a run; nothing as long as there is no store."""
    if not store.exists():
        return []
    query = """
        SELECT tags.value, runs.status FROM runs JOIN tags USING (run_uuid)
        JOIN experiments USING (experiment_id) WHERE experiments.name = 'tiny'
        AND tags.key = 'entrolearn.key' AND tags.value LIKE 'tiny/%' AND runs.lifecycle_stage = 'active'
    """
    with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as connection:
        return sorted(connection.execute(query))


@pytest.mark.slow
@pytest.mark.fault("Killed", "the tracker, as it writes a run", "each run is there once, finished when rerun")
def test_a_tracker_that_is_killed_leaves_one_run_for_each_run_to_the_next(quick, copied, record_property):
    store = copied.folder / "mlflow.db"
    receipts = [f"results/tiny/seed0/tracked/my-moons/{model}.json" for model in ("lda", "eem")]
    finished = copied.finished_files()
    running = copied.start(*receipts)
    copied.wait_until(lambda: "RUNNING" in dict(runs_in(store)).values(), running)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert "RUNNING" in dict(runs_in(store)).values()
    completed(copied, *receipts)
    assert runs_in(store) == [
        ("tiny/seed0/my-moons/eem", "FINISHED"),
        ("tiny/seed0/my-moons/lda", "FINISHED"),
    ]
    check(copied, quick, finished, record_property)


@pytest.mark.slow
@pytest.mark.fault("Killed", "a download, half-way", "half a file is never taken; the next run has all of it")
def test_a_download_that_is_killed_half_way_is_taken_whole_by_the_next_run(
    new_project, quick, server, entry_of_table, record_property
):
    content = "".join(f"{row % 7},{row % 11},{row % 2}\n" for row in range(20_000)).encode()

    def half(handler):
        answer(content[: len(content) // 2], announced=len(content))(handler)
        server.closing.wait()

    server.steps = [half]
    catalog = yaml.safe_load((quick.folder / "data.yaml").read_text())
    project = new_project(quick.study, {**catalog, "my-table": entry_of_table(content, server.url)})
    target, raw = "results/data/my-table.npz", project.folder / "resources" / "raw" / "my-table"
    running = project.start(target)
    project.wait_until(lambda: sum(part.stat().st_size for part in raw.glob(".table-*.csv")), running)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert not (raw / "table.csv").exists()
    server.steps = [answer(content)]
    completed(project, target)
    assert (raw / "table.csv").read_bytes() == content
    assert load_dataset(project.folder / target).n_samples == 20_000
    record_property("lost", 0)


# -------------------------------------------------------------------------------------------------- the clock


def shifted(project, seconds: float, pattern: str = "**/*") -> None:
    """Move the times of finished results, as a clock that jumps between two runs does."""
    for path in (project.folder / "results").glob(pattern):
        then = path.stat().st_mtime + seconds
        os.utime(path, (then, then))


@pytest.mark.slow
@pytest.mark.fault("Killed", "clock set forward: tables of the past", "made again once, equal")
def test_tables_that_seem_too_old_are_made_again_once(quick, copied, record_property):
    finished = copied.finished_files()
    shifted(copied, -20 * 365 * 86400, "tiny/tables/*")
    result = copied.run(TABLE)
    assert result.returncode == 0, result.stdout[-5000:]
    assert "Nothing to be done" in copied.run("-n", TABLE).stdout
    check(copied, quick, finished, record_property)
