"""Full and write-protected disks, and damaged results: told in one line, and completed by a plain rerun."""

import re
import shutil

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

TABLE = "results/tiny/tables/table1.csv"
TRACKED = "results/tiny/seed0/tracked/my-moons/lda.json"


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
    "Disk", "full while the store is made", "one line names it; with room, a rerun logs the runs"
)
def test_a_store_on_a_full_disk_is_named_and_the_results_stand(quick, copied, new_disk, record_property):
    disk = new_disk(copied.folder / "store", "256k")
    store = f"sqlite:///{disk.folder}/mlflow.db"
    finished = copied.finished_files()
    result = copied.run(TRACKED, store=store)
    assert result.returncode == 1
    (line,) = said(result.stdout, "^track tiny: ")
    assert f"tracking store {store}" in line
    assert "disk is full" in line
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


@pytest.mark.fault(
    "Disk", "a result damaged by hand, in a run", "named; deleted, the same command makes it again"
)
def test_a_damaged_result_is_named_and_once_deleted_made_again(quick, copied):
    damaged = copied.folder / "results/tiny/seed0/selection/my-moons/lda.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-9])
    result = copied.run(TABLE)
    assert result.returncode == 1
    (line,) = said(
        result.stdout, r"selection/my-moons/lda\.parquet: not a complete .*; delete it and run again"
    )
    assert "Traceback" not in result.stdout
    damaged.unlink()
    assert copied.run(TABLE).returncode == 0
    assert copied.tables() == quick.tables()
