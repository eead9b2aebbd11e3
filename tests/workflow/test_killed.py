"""Whatever is killed, and whenever: the next run completes it, with nothing that was finished done again."""

import os
import re
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import pytest
import yaml
from scripted_server import answer

from entrolab.data.dataset import load_dataset, load_folds
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

TABLE = "results/tiny/tables/table1.csv"
RECORD = "results/tiny/seed0/records/my-moons/lda.json"


def completed(project, target: str = TABLE) -> None:
    """What a person does after a run that was killed: free the folder, and run again."""
    assert project.run("--unlock").returncode == 0
    result = project.run(target)
    assert result.returncode == 0, result.stdout[-5000:]


def check(project, undisturbed, finished: dict, record_property) -> None:
    """Nothing that was finished is lost, and the tables are those of an undisturbed run."""
    lost = project.lost_since(finished)
    record_property("lost", len(lost))
    assert lost == []
    assert project.tables() == undisturbed.tables()


def rerun(project, undisturbed, record_property) -> None:
    """A plain run, without unlocking anything, does what is left."""
    finished = project.finished_files()
    assert finished
    project.go_on()
    result = project.run(TABLE)
    assert result.returncode == 0, result.stdout[-5000:]
    check(project, undisturbed, finished, record_property)


def in_group(leader: int) -> list[psutil.Process]:
    """What still runs of the group of processes that a run has started."""

    def belongs(process) -> bool:
        try:
            return os.getpgid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE
        except (ProcessLookupError, psutil.NoSuchProcess):
            return False

    return [process for process in psutil.process_iter() if belongs(process)]


def has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"it has not come to that in {seconds:.0f} s"
        time.sleep(0.02)


# ---------------------------------------------------------------------------------------------- the workflow


@pytest.mark.fault(
    "Killed", "snakemake and its jobs, by SIGKILL", "`make unlock` and a plain rerun complete it"
)
def test_a_killed_run_is_completed_and_equals_an_undisturbed_one(quick, new_waiting, record_property):
    project = new_waiting()
    running = project.started(TABLE)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    finished = project.finished_files()
    assert finished
    project.go_on()
    refused = project.run(TABLE)
    assert refused.returncode == 1
    (line,) = refused.stdout.splitlines()[1:]  # behind the name of the profile
    assert line.startswith(
        f"{project.folder}: locked by another run; wait for its end or, if it was killed, "
    )
    completed(project)
    check(project, quick, finished, record_property)


INTERRUPTED = {"by Ctrl-C": signal.SIGINT, "by the end of their terminal": signal.SIGHUP}


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(
            how,
            marks=pytest.mark.fault(
                "Killed", f"snakemake and its jobs, {how}", "no job stays; a plain rerun completes it"
            ),
        )
        for how in INTERRUPTED
    ],
)
def test_after_an_interruption_a_plain_rerun_completes(quick, new_waiting, record_property, how):
    project = new_waiting()
    running = project.started(TABLE)
    os.killpg(running.pid, INTERRUPTED[how])
    assert running.wait() == 1
    wait_until(lambda: not in_group(running.pid))
    assert [line.partition(":")[0] for line in project.said.read_text().splitlines()[1:]] == ["interrupted"]
    rerun(project, quick, record_property)


@pytest.mark.fault("Killed", "snakemake alone, by SIGTERM", "its jobs are finished; a rerun does the rest")
def test_after_sigterm_what_runs_is_finished_and_a_plain_rerun_does_the_rest(
    quick, new_waiting, record_property
):
    project = new_waiting()
    running = project.started(TABLE)
    running.send_signal(signal.SIGTERM)
    project.go_on()
    assert running.wait() == 1
    assert in_group(running.pid) == []
    assert RECORD in project.finished_files()
    assert not (project.folder / TABLE).exists()
    rerun(project, quick, record_property)


def whole(file: Path) -> bool:
    """Whether a result can be read by whoever reads it."""
    readers = {
        ".json": read_json,
        ".parquet": read_frame,
        ".npz": load_folds if file.parent.name == "folds" else load_dataset,
    }
    return readers.get(file.suffix, Path.read_bytes)(file) is not None


@pytest.mark.fault(
    "Killed", "three times, as a result appears, with --keep-incomplete", "what is there is whole"
)
def test_however_often_a_run_is_killed_as_a_result_appears_nothing_half_is_taken(
    quick, new_project, record_property
):
    """The kill comes between the move of a file into its place and snakemake's note that it is complete."""
    project = new_project(quick.study)

    def there() -> set[Path]:
        files = (project.folder / "results").rglob("*.*")
        return {file for file in files if not file.name.startswith(".") and file.is_file()}

    lost, finished = 0, {}
    for appearing in (1, 3, 2):
        before = there()
        running = project.start("--keep-incomplete", TABLE)
        project.wait_until(lambda: len(there() - before) >= appearing, running)  # noqa: B023
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        assert all(map(whole, there()))
        lost += len(project.lost_since(finished))
        finished = project.finished_files()
        assert project.run("--unlock").returncode == 0
    result = project.run("--keep-incomplete", TABLE)
    assert result.returncode == 0, result.stdout[-5000:]
    check(project, quick, finished, record_property)
    record_property("lost", lost)
    assert lost == 0


# --------------------------------------------------------------------------------------------------- one job


@pytest.mark.fault("Killed", "a training job, by SIGKILL", "named; a plain rerun does it")
def test_a_training_job_that_is_killed_is_named_and_done_by_the_next_run(quick, new_waiting, record_property):
    project = new_waiting()
    running = project.started(TABLE)
    (fits,) = project.fits_of(running)
    fits.parent().kill()
    assert running.wait() == 1
    wait_until(lambda: has_ended(fits))  # nobody would read what it finds
    said = project.said.read_text()
    assert re.search("failed: train .*/lda: see logs/", said)
    rerun(project, quick, record_property)


@pytest.mark.fault("Killed", "the process with a job's fits", "no result: named; a plain rerun does the job")
def test_fits_that_are_killed_are_no_result_and_done_by_the_next_run(quick, new_waiting, record_property):
    project = new_waiting()
    running = project.started(TABLE)
    (fits,) = project.fits_of(running)
    fits.kill()
    assert running.wait() == 1
    (line,) = [line for line in project.said.read_text().splitlines() if line.startswith("train tiny")]
    assert "was killed (SIGKILL), perhaps because the system ran out of memory: run again" in line
    assert RECORD not in project.finished_files()
    rerun(project, quick, record_property)


def runs_in(store: Path) -> list[tuple[str, str]]:
    """Key and status of each live run of a run; nothing as long as there is no store."""
    if not store.exists():
        return []
    query = """
        SELECT tags.value, runs.status FROM runs JOIN tags USING (run_uuid)
        WHERE tags.key = 'entrolearn.key' AND tags.value LIKE 'tiny/%' AND runs.lifecycle_stage = 'active'
    """
    with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as connection:
        return sorted(connection.execute(query))


@pytest.mark.fault("Killed", "the tracker, as it writes a run", "each run is there once, finished when rerun")
def test_a_tracker_that_is_killed_leaves_one_run_for_each_run_to_the_next(quick, copied, record_property):
    store, target = copied.folder / "mlflow.db", "results/tiny/tracked/runs.json"
    finished = copied.finished_files()
    running = copied.start(target)
    copied.wait_until(lambda: "RUNNING" in dict(runs_in(store)).values(), running)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert "RUNNING" in dict(runs_in(store)).values()
    completed(copied, target)
    assert runs_in(store) == [("tiny/my-moons/eem", "FINISHED"), ("tiny/my-moons/lda", "FINISHED")]
    check(copied, quick, finished, record_property)


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


@pytest.mark.fault("Killed", "clock set forward: tables of the past", "made again once, equal")
def test_tables_that_seem_too_old_are_made_again_once(quick, copied, record_property):
    finished = copied.finished_files()
    shifted(copied, -20 * 365 * 86400, "tiny/tables/*")
    result = copied.run(TABLE)
    assert result.returncode == 0, result.stdout[-5000:]
    assert "Nothing to be done" in copied.run("-n", TABLE).stdout
    check(copied, quick, finished, record_property)
