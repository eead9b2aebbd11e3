"""The values outside their tolerances, with what was tried of them."""

from dataclasses import replace

import pytest
from html_pages import Page
from reported_study import with_sections

from entrolab.report import build_report
from entrolab.report.differences import differences
from entrolab.report.errata import listed_errata
from entrolab.report.shown_tables import laid_out

TRIED = [
    {"tables": ["table4"], "datasets": ["iris"], "models": ["eem_rbf"], "tried": "a <seed>", "gave": "0"},
    {"tables": ["table4"], "models": ["svm_rbf"], "tried": "another grid", "gave": "nothing"},
    {"tables": ["table4"], "tried": "other data", "gave": "more"},
]


@pytest.fixture
def differing(results):
    """One value that lies above the published one, another that agrees with it."""
    table = results.tables["table4"].copy()
    table[["published", "published_std", "difference"]] = [80.0, 1.0, 10.0]
    table["verdict"] = ["higher", "reproduced", "no data", "no data"]
    return replace(results, study=with_sections(results.study, differences=TRIED), tables={"table4": table})


def test_each_value_outside_is_listed_with_what_is_about_it(differing):
    found = differences(differing, laid_out(differing), listed_errata(differing.study))
    (value,) = found["listed"]
    assert (value["table"], value["reasons"], value["errata"]) == ("table4", [1, 3], [1])
    assert value["of"].startswith("iris, EEM")
    assert [one["n_values"] for one in found["tried"]] == [1, 0, 1]
    assert found["unexplained"] == 0
    without = differences(differing, laid_out(differing), [])
    assert (without["listed"][0]["errata"], without["unexplained"]) == ([], 0)  # it has reasons
    alone = replace(differing, study=with_sections(differing.study, differences=[]))
    assert differences(alone, laid_out(alone), [])["unexplained"] == 1


def test_ratios_and_powers_are_told_as_such(differing):
    """The column `difference` of a table of times has ratios, that of parameters powers of two."""
    entry = {"type": "times", "datasets": "real", "cost": "fit_seconds"}
    table = differing.tables["table4"].assign(metric="fit_seconds", difference=35.8, ours=0.0123)
    study = with_sections(differing.study, tables={"table4": entry})
    timed = replace(differing, study=study, tables={"table4": table})
    laid = [{"name": "table4", "heading": "Table 4", "seeds": None}]
    (value,) = differences(timed, laid, [])["listed"]
    assert value["difference"] == "×36 the published ratio"
    assert value["ours"].startswith("0.012")  # published are whole seconds
    (value,) = differences(differing, laid, [])["listed"]
    assert value["difference"] == "+10.0"


def test_nothing_is_listed_where_nothing_differs(differing):
    table = differing.tables["table4"].replace({"verdict": {"higher": "reproduced"}})
    same = replace(differing, tables={"table4": table})
    assert differences(same, laid_out(same), []) is None


def test_the_page_leads_from_a_value_to_what_was_tried(differing, tmp_path):
    page = Page(build_report([differing], tmp_path / "results" / "report").with_name("paper.html"))
    assert {"differences", "tried-1", "tried-3"} <= set(page.ids)
    assert "a <seed>" in page.text
    assert "Values outside their tolerances: 1." in page.text
    assert {"#tried-1", "#tried-3", "#erratum-1"} <= set(page.links)
