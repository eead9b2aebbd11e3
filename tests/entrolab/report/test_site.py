"""The site: complete pages that load nothing from elsewhere, for every reader."""

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from html_pages import Page
from reported_study import with_sections

from entrolab.claims.evaluation import COLUMNS
from entrolab.report import build_report, read_results
from entrolab.report.terms import terms
from entrolab.tables.rendering import FORMATS, explain_zeros, render

OF_COMPARISONS = ("publish", "reproduced", "verdict", "oracle")

PAGES = [
    "report/index.html",
    "report/paper.html",
    "paper/tables/table4.html",
]


def test_there_is_an_index_and_a_page_for_each_study(report):
    found = {f"report/{path.relative_to(report).as_posix()}" for path in report.rglob("*.html")}
    assert found == {name for name in PAGES if name.startswith("report/")}


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_balanced_and_load_nothing_from_elsewhere(report, name):
    path = report.parent / name
    page = Page(path)
    for file in page.loads:
        assert path.parent.joinpath(file).is_file()
    assert page.tags.count("script") == 1
    assert not any("src" in script for script in page.all("script"))
    assert not re.search(r"@import|url\(|fetch\(|import\(", path.read_text())


@pytest.mark.parametrize("name", PAGES)
def test_every_relative_link_leads_to_a_file_and_a_place_in_it(report, name):
    path = report.parent / name
    relative = [link for link in Page(path).links if not link.startswith("http")]
    assert relative
    for link in relative:
        file, _, place = link.partition("#")
        target = path.parent / file if file else path
        assert target.is_file(), link
        if place:
            assert place in Page(target).ids, link


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_read_by_ear_and_walked_by_keyboard(report, name):
    page = Page(report.parent / name)
    assert page.all("html") == [{"lang": "en"}]
    assert [page.tags.count(tag) for tag in ("main", "header", "footer", "title")] == [1, 1, 1, 1]
    assert page.links[0] == "#main"
    assert len(page.ids) == len(set(page.ids))
    # Headings go down one step at a time, from the one that names the page; a table of its own has a third.
    if name.startswith("report/"):
        assert page.headings[0] == 1
        assert page.headings.count(1) == 1
        assert all(below - above <= 1 for above, below in zip(page.headings, page.headings[1:], strict=False))
    assert all(image.get("alt") for image in page.all("img"))
    assert all(cell.get("scope") in ("row", "col", "colgroup") for cell in page.all("th"))
    # What scrolls by itself can be reached and has a name; a picture is a link or fits.
    for box in page.all("div"):
        if "tabindex" in box:
            assert box["role"] == "region"
            assert box["aria-label"]


def test_index_says_what_when_where_and_how(report):
    page = Page(report / "index.html")
    for said in (
        "1 of 1 published results reproduced",
        "1 of 1 results reproduced",
        "commit 0123abc",
        f"sha256 {'9f' * 6}…",
        "2026-01-02",
        "seed 0",
        "training 2 min",
        "entrolab paper.yaml",
        "entrolab ui",
    ):
        assert said in page.said


def test_a_study_of_no_paper_is_listed_apart(results, tmp_path):
    own = replace(
        results,
        study=results.study.model_copy(update={"reference": "", "about": "Something of our own."}),
    )
    page = Page(build_report([own], tmp_path / "results" / "report"))
    assert "published results reproduced" not in page.said
    assert page.headings == [1, 2, 3]
    assert "Something of our own." in page.said
    assert "1 of 1 results reproduced" in page.said
    assert "papers" in page.ids


def test_without_published_values_no_page_speaks_of_them(own, tmp_path):
    own.tables["table4"]["oracle"] = 81.0
    report = build_report([own], tmp_path / "results" / "report").parent
    for name in ("index.html", "paper.html"):
        said = Page(report / name).said.lower()
        assert not [word for word in OF_COMPARISONS if word in said]


def test_the_index_says_who_won_with_a_number_and_what_the_acronyms_mean(results, tmp_path):
    """Of iris, the only data set with results: the numbers of its table."""
    page = Page(build_report([results], tmp_path / "results" / "report"))
    table = results.tables["table4"].set_index(["dataset", "model"])["ours"]["iris"]
    assert table.max() == table.min()
    assert f"EEM rbf is best on iris: GMEAN {table.max():.1f} %, equal to SVM <rbf>" in page.said
    assert "geometric mean of the recalls" in page.said
    assert "extreme entropy machine (entrolearn.EEMClassifier)" in page.said
    assert "paper.html#table4" in page.links


def test_a_card_of_another_version_waits_for_its_page(results, tmp_path):
    report = build_report([results], tmp_path / "results" / "report").parent
    (report / "cards" / "old.json").write_text('{"key": "old", "title": "as it was"}')
    assert "as it was" not in Page(build_report([], report)).said


def test_terms_stand_before_tables_and_name_every_learner_of_ours(results, studies, tmp_path):
    page = Page(build_report([results], tmp_path / "results" / "report").with_name("paper.html"))
    assert page.said.index("GMEAN geometric mean") < page.said.index("Tables")
    assert "SVM support vector machine (sklearn.svm.SVC)" in page.said
    named = {label: meaning for study in studies.values() for label, meaning in terms(study)}
    assert len(named) > 20
    of_path_alone = [label for label, meaning in named.items() if " " not in meaning]
    assert not [label for label in of_path_alone if label.isupper()]


@pytest.mark.parametrize(("metric", "why"), [("gmean", "one of the classes"), ("recall", "every test fold")])
def test_a_score_of_zero_in_all_folds_has_a_footnote_on_pages_alone(own, metric, why):
    table = own.tables["table4"].assign(metric=metric)
    table.loc[0, ["ours", "ours_std"]] = 0.0
    table.loc[1, ["ours", "ours_std"]] = (0.0, 0.1)
    reasons = explain_zeros(table)["reason"]
    assert why in reasons[0]
    assert reasons[1:].tolist() == table["reason"][1:].tolist()
    spec = own.study.spec_of_table("table4")
    table = own.tables["table4"].copy()
    table.loc[0, ["ours", "ours_std"]] = 0.0
    noted = {format: "zero in every test fold" in render(table, spec, format) for format in FORMATS}
    assert noted == {"csv": False, "html": True, "tex": False, "md": False}


def test_an_answer_comes_first_with_its_figure(results, tmp_path):
    figure = {"type": "grid_curves", "caption": "Sizes", "datasets": "real", "models": ["eem_rbf"]}
    study = with_sections(
        results.study,
        answer=["Yes, & often.", "Not always."],
        figures={"best": {**figure, "parameter": "n_hidden", "metric": "gmean"}},
        answer_figure="best",
    )
    folder = results.folder / "figures"
    folder.mkdir()
    (folder / "best.csv").write_text(
        "dataset,model,parameter,value,mean,std,folds,reason\niris,eem_rbf,n_hidden,50,80.0,1.0,2,\n"
    )
    (folder / "best.svg").touch()
    again = read_results("paper", study, results.folder)
    page = Page(build_report([again], tmp_path / "results" / "report"))
    assert page.said.index("Yes, & often. Not always.") < page.said.index("Papers ≈ reproduced")
    assert page.loads == ["../paper/figures/best.svg"]
    assert "paper.html#figure-best" in page.links


def test_the_index_lists_every_study_with_a_page_and_other_pages_stay_as_they_are(results, tmp_path):
    report = build_report([results], tmp_path / "results" / "report").parent
    (report / "paper.html").write_text("as it was")
    other = results.study.model_copy(update={"title": "Another", "datasets": {}, "models": {}, "tables": {}})
    build_report([replace(results, key="other", study=other, tables={}, records=[])], report)
    assert (report / "paper.html").read_text() == "as it was"
    index = Page(report / "index.html")
    assert {"paper.html", "other.html"} <= set(index.links)
    assert "1 of 1 published results reproduced" in index.said  # the verdicts of both count


def test_the_file_of_a_study_is_beside_its_page(report):
    assert (report / "paper.yaml").read_text() == "title: as it was written\n"
    assert "paper.yaml" in Page(report / "paper.html").links


HOSTILE = """</style></script><script>alert(1)</script><img src=x onerror=alert(1)>"'onmouseover='x"""


@pytest.mark.fault(
    "Trust", "<script> in titles, labels, notes and errors, on pages of the report", "shown as text"
)
def test_hostile_texts_are_shown_as_text(results, tmp_path):
    (table4,), (erratum,) = results.study.tables.values(), results.study.errata
    hostile = {
        "title": HOSTILE,
        "reference": HOSTILE,
        "answer": [HOSTILE],
        "models": {
            name: model.model_copy(update={"label": HOSTILE}) for name, model in results.study.models.items()
        },
        "tables": {"table4": table4.model_copy(update={"caption": HOSTILE, "notes": [HOSTILE]})},
        "errata": [erratum.model_copy(update=dict.fromkeys(("where", "published", "taken"), HOSTILE))],
    }
    study = results.study.model_copy(update=hostile)
    table = results.tables["table4"].assign(reason=HOSTILE)
    hostile = replace(results, study=study, tables={"table4": table})
    folder = tmp_path / "results" / "report"
    build_report([hostile], folder, commit=HOSTILE, lock="<script>")
    for name in ("index.html", "paper.html"):
        page = Page(folder / name)
        assert page.tags.count("script") == 1  # the page's own
        assert all(file.endswith(".svg") for file in page.loads)
        assert not any(attribute.startswith("on") for attribute in page.attributes)
        assert page.text.count(HOSTILE) >= 2


def test_report_of_nothing_is_a_page(tmp_path):
    page = Page(build_report([], tmp_path / "report"))
    assert "No study has results yet." in page.text


def test_claims_come_first_on_a_study_s_page_and_are_counted_on_the_front_page(results, tmp_path):
    better = {"outcome": "holds", "test": "better", "part": "eem_rbf beside svm_rbf", "part_outcome": "holds"}
    better |= {
        "effect": 2.5,
        "low": 1.0,
        "high": 4.0,
        "unit": "points",
        "p": 0.01,
        "sets": 9,
        "method": "Wilcoxon",
    }
    named = {"claim": "EEM is <better>.", "found_by": "1 2", "note": "Of <which> machine?"}
    node = {"outcome": "fails", "test": "test", "part": "tests/test_it.py::test_it", "part_outcome": "fails"}
    rows = [
        {"id": "a", **named, **better},
        {"id": "b", "outcome": "undecided", "decides": "about 20 data sets", "found_by": "2"},
        {"id": "c", "outcome": "not tested", "decides": "generated rows", "found_by": "1 2"},
        {"id": "d", "claim": "All matrices are regular.", **node, "method": "a counterexample"},
        {"id": "e", **named, **better},
    ]
    blank = dict.fromkeys(COLUMNS, "") | dict.fromkeys(("effect", "low", "high", "p"), float("nan"))
    rows = [blank | {"sets": 0} | row for row in rows]
    tested = replace(results, claims=pd.DataFrame(rows, columns=COLUMNS))
    front = build_report([tested], tmp_path / "site")
    assert 'href="paper.html#claims"' in front.read_text()
    assert front.read_text().count("2 hold, 1 fails, 1 undecided, 1 not tested, of 5 claims") == 2
    file = tmp_path / "site" / "paper.html"
    page, text = Page(file), file.read_text()
    assert {"claims", "claim-a", "claim-b", "claim-c"} <= set(page.ids)
    assert text.index('id="claims"') < text.index('id="protocol"') < text.index('id="tables"')
    assert "EEM is &lt;better&gt;." in text
    assert "2.5 points (1 to 4); p = 0.01; n = 9" in text
    assert "Would be decided by: about 20 data sets" in text
    assert "Needed: generated rows" in text
    assert "3 of which two readers found, each alone" in text
    assert "found by both readers" in text
    assert "found by reader 2" in text
    assert "Of &lt;which&gt; machine?" in text
    assert "1 automatic test</summary>" in text
    assert "tests/test_it.py::test_it: fails; a counterexample" in text
    assert "claims" not in Page(build_report([results], tmp_path / "none")).ids


@pytest.mark.parametrize(("criterion", "is_shown"), [("cv", True), ("dcs_kde", False)])
def test_learning_times_stand_beside_scores_by_the_same_criterion(own, tmp_path, criterion, is_shown):
    facts = {"eem_rbf": 0.0123, "svm_rbf": 4.5}
    for model, seconds in facts.items():
        file = own.folder / "seed0" / "models" / "iris" / model / f"{criterion}.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"fit_seconds": seconds}))
    page = build_report([own], tmp_path / "results" / "report").with_name("paper.html")
    said = Page(page).said
    assert (", fitted in 0.012 s" in said) == is_shown
    assert (", fitted in 4.500 s" in said) == is_shown  # of one precision with its neighbour
    assert ("Small: processor seconds to fit only the selected model" in said) == is_shown


def test_learning_times_are_not_mixed_with_published_values(results, tmp_path):
    file = results.folder / "seed0" / "models" / "iris" / "eem_rbf" / "cv.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"fit_seconds": 1.0}))
    page = build_report([results], tmp_path / "results" / "report").with_name("paper.html")
    assert "fitted in" not in Page(page).said
