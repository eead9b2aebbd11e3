"""When, where and how long."""

import pytest
from reported_study import record

from entrolab.report.provenance import in_short, made


@pytest.mark.fault(
    "Memory", "a study that takes much memory", "its page and the index name the most, and the run"
)
def test_the_run_that_took_most_memory_is_named():
    small, large = record("iris", "eem_rbf", peak_mib=417.0), record("wine", "eem_rbf", peak_mib=2048.0)
    assert dict(made([small, large]))["peak memory"] == f"2.0 GiB ({large['key']})"
    assert f"peak memory 2.0 GiB ({large['key']})" in in_short([small, large])
    assert "peak memory" not in dict(made([record("iris", "eem_rbf")]))  # of an earlier version


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


def test_a_line_says_how_long_and_from_which_seed():
    slow = record("iris", "eem_rbf", seconds=9000.0)
    said = in_short([slow, slow])
    assert said == "runs 2, of which 0 without a result · training 5.0 h · started 2026-01-02 03:04 · seed 0"
    assert in_short([]) == "runs none yet"
