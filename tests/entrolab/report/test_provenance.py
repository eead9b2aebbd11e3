"""When, where and how long."""

from reported_study import record

from entrolab.report.provenance import in_short, made


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
