"""What a study has left behind."""

import shutil

from html_pages import Page
from reported_study import CATALOG, MODELS, STUDY

from entrolab.report import build_report, read_results


def test_results_that_are_gone_leave_the_study_its_row(results, tmp_path):
    shutil.rmtree(results.folder)
    gone = read_results("paper", results.study, results.folder)
    assert (gone.tables, gone.records) == ({}, [])
    front = build_report([gone], tmp_path / "results" / "report", catalog=CATALOG, only=[])
    said = Page(front).said
    assert "Machines & <entropy>" in said
    assert "results deleted; the page remains" in said
    assert "paper.html" in Page(front).links


def test_records_and_selections_that_are_absent_are_left_out(results):
    (results.folder / "records" / "wine" / "eem_rbf.json").unlink()
    (results.folder / "selection" / "iris" / "eem_rbf.parquet").unlink()
    again = read_results("paper", results.study, results.folder)
    assert len(again.records) == len(results.records) - 1
    assert set(again.selection["model"]) == {"svm_rbf"}


def test_cells_that_the_study_no_longer_has_are_not_read(results):
    stale = results.folder / "records" / "old" / "eem_rbf.json"
    stale.parent.mkdir()
    stale.write_text("{}")
    assert read_results("paper", results.study, results.folder).records == results.records


def test_table_older_than_its_study_shows_the_study_of_today(results, tmp_path):
    """Editing one study must not break the report that another one's run writes."""
    models = {"eem_rbf": MODELS["eem_rbf"], "new": {**MODELS["eem_rbf"], "label": "New"}}
    table = {**STUDY["tables"]["table4"], "models": list(models)}
    edited = {
        **results.study,
        "models": models,
        "datasets": {"real": ["iris", "extra"]},
        "tables": {"table4": table},
    }
    again = read_results("paper", edited, results.folder)
    rows = again.tables["table4"]
    assert list(zip(rows["dataset"], rows["model"], rows["verdict"], strict=True)) == [
        ("iris", "eem_rbf", "reproduced"),
        ("iris", "new", "failed"),
        ("extra", "eem_rbf", "failed"),
        ("extra", "new", "failed"),
    ]
    page = Page(build_report([again], tmp_path / "report", catalog=CATALOG).with_name("paper.html"))
    assert "not in the table yet: run `snakemake paper`" in page.text


def test_selections_are_not_read_where_they_are_not_asked_for(results):
    again = read_results("paper", results.study, results.folder, with_selection=False)
    assert again.selection.empty
    assert again.records == results.records
