"""When, where and how long."""

from pathlib import Path

import pytest
from html_pages import Page
from reported_study import CATALOG, STUDY, record

from entrolab.jobs.peak_memory import peak_memory
from entrolab.report import build_report, read_results
from entrolab.report.provenance import in_short, made


def benchmark(folder: Path, job: str, *peaks: str) -> None:
    """What snakemake writes of a job, which it may have done more than once."""
    file = folder / "benchmarks" / f"{job}.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = (f"4.58\t0:00:04\t{peak}\t781.29" for peak in peaks)
    file.write_text("\n".join(["s\th:m:s\tmax_rss\tmax_vms", *rows]) + "\n")


@pytest.mark.fault(
    "Memory", "a study that takes much memory", "its page and the index name the most, and the job"
)
def test_the_job_that_took_most_memory_is_named_on_the_page_and_on_the_index(results, tmp_path):
    benchmark(results.folder, "train/iris/eem_rbf", "417.02", "2048.00")
    benchmark(results.folder, "train/iris/svm_rbf", "NA")
    benchmark(results.folder, "train/wine/svm_rbf", "-")
    benchmark(results.folder, "select/iris", "1500.5")
    benchmark(results.folder, "train/iris/of_another_time", "9000.0")
    (results.folder / "benchmarks" / "select" / "wine.tsv").write_text("s\th:m")
    again = read_results("paper", results.study, results.folder)
    index = build_report([again], tmp_path / "report", catalog=CATALOG)
    assert "2.0 GiB (train iris eem_rbf)" in Page(index.with_name("paper.html")).text
    assert "2.0 GiB (paper train iris eem_rbf)" in Page(index).text


def test_where_no_job_was_looked_at_nothing_is_said_of_memory(results, tmp_path):
    benchmark(results.folder, "train/iris/svm_rbf", "NA")
    assert read_results("paper", results.study, results.folder).peak is None
    assert "peak memory" not in Page(build_report([results], tmp_path / "report", catalog=CATALOG)).text


def test_what_a_table_measures_counts_among_the_jobs(tmp_path):
    table = {"type": "capacity", "models": {"svm_rbf": {}}, "rows": 9, "features": 2}
    study = {**STUDY, "tables": {"big": table}}
    benchmark(tmp_path, "measure/big/generated", "12.4")
    assert peak_memory(study, tmp_path) == (12.4, "measure big generated")


def test_made_lists_each_machine_once_and_sums_the_time():
    one, other = (
        record("iris", "eem_rbf"),
        record("wine", "eem_rbf", machine={"system": "Darwin", "processor": "M", "cores": 8}, success=False),
    )
    facts = made([one, one, other])
    machines = [text for what, text in facts if what == "machine"]
    assert machines == ["system Linux, processor , cores 2", "system Darwin, processor M, cores 8"]
    assert dict(facts)["runs"] == "3, of which 1 without a result"
    assert dict(facts)["training"] == "90 s"
    assert made([]) == [("runs", "none yet")]


def test_a_line_says_how_long_on_what_and_from_which_seed():
    slow = record("iris", "eem_rbf", seconds=9000.0, machine={"processor": "A chip", "cores": 8})
    assert (
        in_short([slow, slow])
        == "5.0 core-hours of training on A chip, 8 cores · started 2026-01-02 · seed 0"
    )
    assert in_short([record("iris", "eem_rbf")]).startswith("30 core-seconds of training on Linux, 2 cores")
    assert in_short([]) == "no runs yet"
