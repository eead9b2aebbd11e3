"""The page of a study: its figures, errata and ranks."""

import shlex
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from html_pages import Page
from matplotlib.figure import Figure
from reported_study import CONTENT, with_sections

from entrolab.command import parsed, snakemake_arguments
from entrolab.io.files import HOME
from entrolab.report import build_report, read_results
from entrolab.report.errata import listed_errata
from entrolab.study.seeds import CELL
from entrolab.tables.making import ADDRESS, COLUMNS
from entrolearn.plotting import save_figure

FIGURE = {
    "type": "grid_curves",
    "caption": "Sizes & scores",
    "datasets": "real",
    "models": ["eem_rbf"],
    "parameter": "n_hidden",
    "metric": "gmean",
    "notes": ["A note of the figure."],
}


@pytest.fixture
def with_figure(results):
    """The same study with one figure, drawn from iris alone."""
    study = with_sections(results.study, figures={"figure3": FIGURE})
    folder = results.folder / "figures"
    folder.mkdir()
    (folder / "figure3.csv").write_text(
        "dataset,model,parameter,value,mean,std,folds,reason\n"
        "iris,eem_rbf,n_hidden,50,80.0,1.0,2,\n"
        "iris,eem_rbf,n_hidden,100,90.0,1.0,2,\n"
        "wine,eem_rbf,n_hidden,,,,0,no data: 404 <gone>\n"
    )
    save_figure(Figure(), folder / "figure3.svg", description="Mean GMEAN <of> a curve")
    (folder / "figure3.png").touch()
    return read_results("paper", study, results.folder)


def test_figures_stand_on_the_page_with_what_they_show_in_words(with_figure, tmp_path):
    path = build_report([with_figure], tmp_path / "results" / "report").with_name("paper.html")
    page = Page(path)
    assert page.loads == ["figures/paper-agreement.svg", "../paper/figures/figure3.svg"]
    assert {
        path.parent.joinpath(link).is_file() for link in [*page.loads, *page.links] if "figure3." in link
    } == {True}
    for said in (
        "Figure 3.",
        "Sizes & scores",
        "A note of the figure.",
        "wine, eem_rbf: no data: 404 <gone>",
    ):
        assert said in page.text
    assert 'alt="Mean GMEAN &lt;of&gt; a curve"' in path.read_text()
    assert "figure-figure3" in page.ids


def test_paper_page_shows_table_errata_and_failures(report):
    text = " ".join(Page(report / "paper.html").text.split())
    for said in (
        "Machines & <entropy>",
        "1 of 1 results reproduced",
        "A. Author",
        "A note of the study.",
        "wine: 404 <gone>",
        "quadrature",
        "entrolab show paper.yaml table4",
        "diagnostic only",
    ):
        assert said in text


def test_an_erratum_stands_beside_its_table_and_in_the_list(report):
    page = Page(report / "paper.html")
    assert page.links.count("#erratum-1") == 1
    assert "erratum-1" in page.ids
    assert page.said.count("eq. (3) and Table 4") == 2


@pytest.fixture
def ranked(results):
    """The same study with scores of three models on five data sets, one of which failed once."""
    datasets = ["iris", "wine", "extra", "more", "most"]
    models = {**CONTENT["models"], "third": {**CONTENT["models"]["eem_rbf"], "label": "Third"}}
    study = with_sections(results.study, models=models, datasets={"real": datasets}, tables=CONTENT["tables"])
    cells = pd.MultiIndex.from_product([datasets, models, ["gmean"]], names=ADDRESS).to_frame(index=False)
    rows = cells.reindex(columns=COLUMNS).assign(verdict="ours only", reason="")
    rows["ours"] = [90.0, 80.0, 70.0] * 4 + [60.0, 80.0, float("nan")]
    return replace(results, study=study, tables={"table4": rows}, records=[])


def test_models_are_ranked_below_their_table(ranked, tmp_path):
    path = build_report([ranked], tmp_path / "report").with_name("paper.html")
    page = Page(path)
    # Ranks 1, 1, 1, 1, 2; 2, 2, 2, 2, 1; and 3 throughout.
    for said in ("EEM rbf1.20", "SVM <rbf>1.80", "Third rbf3.00", "All 3 pairs", "Friedman’s χ²"):
        assert said in page.said
    assert "figures/paper-table4-ranks-gmean.svg" in page.loads
    assert (path.parent / "figures/paper-table4-ranks-gmean.svg").read_text().startswith("<svg")


def test_a_table_of_too_few_models_or_data_sets_has_no_ranks(report):
    assert "Average ranks" not in Page(report / "paper.html").text


def test_a_page_says_the_whole_command_that_makes_its_study_again(results, monkeypatch):
    assert results.command() == "entrolab paper.yaml"
    settings = {"seed": 3, "extra_datasets": "my data.yaml"}
    elsewhere = results.study.model_copy(
        update={"file": str(results.folder.parents[1] / "my work" / "paper.yaml")}
    )
    given = replace(results, study=elsewhere, settings=settings)
    assert given.command() == "entrolab 'my work/paper.yaml' --config seed=3 'extra_datasets=my data.yaml'"
    assert given.command("table4") == (
        "entrolab show 'my work/paper.yaml' table4 --config seed=3 'extra_datasets=my data.yaml'"
    )
    shipped = results.study.model_copy(update={"file": str(HOME / "config" / "papers" / "eem.yaml")})
    shipped = replace(results, key="eem", study=shipped)
    assert shipped.command() == "entrolab eem"


def test_the_command_leads_back_to_the_study(results, monkeypatch):
    """What the page prints is what the command line reads: the same study, with the same settings."""
    monkeypatch.chdir(results.folder.parents[1])
    Path("my work").mkdir()
    Path("my work", "paper.yaml").touch()
    study = results.study.model_copy(update={"file": "my work/paper.yaml"})
    here = replace(results, study=study, settings={"seed": 3})
    program, *words = shlex.split(here.command())
    given = parsed(words)
    asked = snakemake_arguments(given, given.studies)
    assert (program, asked[0]) == ("entrolab", "paper")
    assert set(asked[asked.index("--config") + 1 :]) == {"extra_studies=my work", "seed=3"}
    given = parsed(shlex.split(here.command("table4"))[1:])
    assert (given.study, given.name, given.config) == ("my work/paper.yaml", "table4", ["seed=3"])


def test_errata_have_the_numbers_of_the_made_tables_and_name_their_tests(results, tmp_path):
    """Stored is 70 with seed 0; the page is that of the table made here."""
    seeds = tmp_path / "seeds.csv"
    address = {"table": "table4", "dataset": "iris", "model": "eem_rbf", "metric": "gmean"}
    cell = [address.get(name, "") for name in CELL]
    seeds.write_text(f"{','.join([*CELL, '0', '1'])}\n{','.join([*cell, '70', '71'])}\n")
    quoted = "{table4/iris/eem_rbf/gmean:.2f}, {table4/iris/eem_rbf/gmean/0-1:.0f}"
    erratum = CONTENT["errata"][0] | {"evidence": quoted, "tested_by": ["tests/a.py::test_b"]}
    study = with_sections(results.study, seeds=str(seeds), errata=[erratum])
    made = read_results("paper", study, results.folder)
    ours = made.tables["table4"].set_index(["dataset", "model"]).loc[("iris", "eem_rbf"), "ours"]
    assert ours != 70
    (shown,) = listed_errata(made.study)
    assert (shown.evidence, shown.tested_by) == (f"{ours:.2f}, 70 to 71", erratum["tested_by"])


def test_a_study_of_ones_own_begins_with_who_won_and_has_checks_and_the_call_of_its_models(own, tmp_path):
    rows = [("EL05", "iris", "", "day (dates)"), ("EL07", "iris", "eem_rbf", "90.0 <and> 60.0")]
    found = pd.DataFrame(rows, columns=["code", "dataset", "model", "found"])
    columns = {"size": None, "colour": ["blue", "red"], "day": "%d.%m.%Y", "lasted": "duration"}
    shop = {"format": {"columns": columns, "read": {"sep": ";"}, "label": "bought"}}
    shop |= {
        "n_missing": {},
        "left_out": {},
        "n_unlabelled": 0,
        "hints": [],
        "determines_label": [],
        "splits": {},
    }
    shop |= {"groups": 0, "test": None, "missing_rows": None, "expect": {}}
    study = own.study.model_copy(update={"own_data": {"shop": shop}})
    page = Page(
        build_report([replace(own, study=study, findings=found)], tmp_path / "report").with_name("paper.html")
    )
    texts = [
        "best on iris",
        "EL05",
        "day (dates)",
        "EL07",
        "eem_rbf on iris",
        "90.0 <and> 60.0",
        "{sep: ;}",
        "colour",
    ]
    texts += [
        "one of blue, red",
        "a date of the form %d.%m.%Y",
        "a duration",
        "entrolab predict paper.yaml new.csv",
    ]
    places = [page.said.index(text) for text in texts[:2]]
    assert places == sorted(places)
    assert [text for text in texts if text not in page.said] == []


def test_the_best_model_that_is_no_better_than_the_baseline_is_said_to_be_none(own, tmp_path):
    page = Page(build_report([own], tmp_path / "report").with_name("paper.html"))
    assert "not significantly better than the baseline" not in page.said
    rows = [("EL09", "iris", model, "") for model in own.study.models]
    found = pd.DataFrame(rows, columns=["code", "dataset", "model", "found"])
    again = Page(build_report([replace(own, findings=found)], tmp_path / "again").with_name("paper.html"))
    assert "not significantly better than the baseline" in again.said[: again.said.index("Checks")]
