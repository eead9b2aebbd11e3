"""Full and write-protected disks, and damaged results: told in one line, and made good by a plain rerun."""

import re
import shutil
from itertools import cycle
from pathlib import Path

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

TABLE = "results/tiny/tables/table1.csv"
TRACKED = "results/tiny/tracked/runs.json"


def rerun(project, undisturbed, finished: dict, record_property, target: str = TABLE, **config) -> str:
    """A plain run completes, nothing that was finished is lost, and the tables are an undisturbed run's."""
    result = project.run(target, **config)
    assert result.returncode == 0, result.stdout[-5000:]
    lost = project.lost_since(finished)
    record_property("lost", len(lost))
    assert lost == []
    assert project.tables() == undisturbed.tables()
    return result.stdout


def said(output: str, pattern: str) -> list[str]:
    """The lines that match; the default profile shows the logs of failed jobs as well."""
    return [line for line in output.splitlines() if re.search(pattern, line)]


# ------------------------------------------------------------------------------------------------- no room


@pytest.mark.fault(
    "Disk", "full while results are written", "one line says where; with room, a rerun completes"
)
@pytest.mark.parametrize("place", ["results", "."], ids=["results", "logs and snakemake's notes too"])
def test_a_disk_that_fills_up_is_named_and_a_plain_rerun_completes(
    quick, new_waiting, new_disk, tmp_path_factory, record_property, place
):
    folder = tmp_path_factory.mktemp("project")
    disk = new_disk(folder / place, "16m")
    project = new_waiting(folder)
    running = project.started(TABLE)
    disk.fill()
    project.go_on()
    assert running.wait() == 1
    assert said(project.said.read_text(), r"the disk is full: no room for results/\S+; free some space")
    assert "Traceback" not in project.said.read_text()
    finished = project.finished_files()
    assert finished
    disk.make_room()
    rerun(project, quick, finished, record_property)


@pytest.mark.fault(
    "Disk", "full while the store is made", "one line names it; with room, a rerun logs the runs"
)
def test_a_store_on_a_full_disk_is_named_and_the_results_stand(quick, copied, new_disk, record_property):
    disk = new_disk(copied.folder / "store", "256k")
    store = f"sqlite:///{disk.folder}/mlflow.db"
    finished = copied.finished_files()
    result = copied.run(TRACKED, store=store)
    assert result.returncode == 1
    (line,) = said(result.stdout, "^track tiny runs: ")
    assert f"tracking store {store}" in line
    assert "disk is full; free some space there" in line
    assert "Traceback" not in result.stdout
    disk.remount("size=16m")
    rerun(copied, quick, finished, record_property, TRACKED, store=store)


# ------------------------------------------------------------------------------------------ write-protected


@pytest.mark.fault("Disk", "results folder read-only", "one line says so; writable again, a rerun completes")
def test_a_results_folder_that_is_read_only_is_named(quick, copied, new_disk, record_property):
    """On a disk of its own: root may write to any folder that is not on a read-only one."""
    results = copied.folder / "results"
    kept = results.rename(copied.folder / "kept")
    disk = new_disk(results, "8m")
    shutil.copytree(kept, results, dirs_exist_ok=True)
    (results / "tiny/tables/table1.md").unlink()
    finished = copied.finished_files()
    disk.remount("ro")
    result = copied.run(TABLE, "results/tiny/tables/table1.md")
    assert result.returncode == 1
    # Told by the workflow before it asks snakemake, or by snakemake.
    assert said(result.stdout, r"results\S*: no permission to write|Write-protected output files")
    assert copied.finished_files() == finished
    disk.remount("rw")
    rerun(copied, quick, finished, record_property, "results/tiny/tables/table1.md")


# -------------------------------------------------------------------------------------------------- damaged


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    """One bit in the middle is another."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.fault(
    "Disk", "a result cut, emptied or with a bit flipped, by hand", "named, set aside and made again"
)
def test_damaged_results_of_every_stage_are_named_and_made_again(quick, copied):
    files = [copied.folder / name for name in sorted(quick.finished_files())]
    assert {file.suffix for file in files} == {
        ".npz", ".parquet", ".json", ".skops", ".csv", ".html", ".tex", ".md"
    }  # fmt: skip
    for file, damage in zip(files, cycle([cut, flipped])):
        file.write_bytes(damage(file.read_bytes()))
    result = copied.run(TABLE)
    assert result.returncode == 0, result.stdout[-5000:]
    for file in files:
        assert f"{file.relative_to(copied.folder)}: changed since it was written" in result.stdout
    assert copied.tables() == quick.tables()
    assert "Nothing to be done" in copied.run("-n", TABLE).stdout


@pytest.mark.fault("Disk", "a finished table edited by hand", "named, set aside and made again")
def test_a_table_that_was_edited_is_set_aside_by_a_run_and_named_by_a_dry_run(quick, copied, record_property):
    finished = copied.finished_files()
    table = copied.folder / TABLE
    table.write_text(table.read_text() + "mine\n")
    named = f"{TABLE}: changed since it was written"
    assert named in copied.run("-n", TABLE).stdout
    assert table.read_text().endswith("mine\n")
    assert named in rerun(copied, quick, finished, record_property)
    assert Path(copied.folder, "results/.changed", TABLE).read_text().endswith("mine\n")
