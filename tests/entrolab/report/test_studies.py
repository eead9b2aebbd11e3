"""What is read of a study's results."""

from entrolab.report import read_results


def test_cells_that_the_study_no_longer_has_are_not_read(results):
    stale = results.folder / "seed0" / "records" / "old" / "eem_rbf.json"
    stale.parent.mkdir()
    stale.write_text("{}")
    assert read_results("paper", results.study, results.folder).records == results.records
