"""The report: complete pages that load nothing, whose links lead somewhere."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from entrolearn.lab.benchmarks import peak_memory
from entrolearn.lab.config import load_configuration
from entrolearn.lab.rendering import FORMATS, write_table
from entrolearn.lab.report import (
    build_report,
    chosen_parameters,
    failures,
    made,
    protocol,
    read_results,
)
from entrolearn.lab.results import Results
from entrolearn.lab.tables import make_table, table_spec

MODELS = {
    "eem_rbf": {
        "label": "EEM",
        "sublabel": "rbf",
        "estimator": "entrolearn.EEMClassifier",
        "params": {},
        "steps": [],
        "grid": {"n_hidden": [50, 100]},
    },
    "svm_rbf": {
        "label": "SVM",
        "sublabel": "<rbf>",
        "estimator": "sklearn.svm.SVC",
        "params": {},
        "steps": [],
        "grid": {"gamma": {"logspace": [-1, 0, 10]}},
    },
}

STUDY = {
    "title": "Machines & <entropy>",
    "reference": "A. Author. A Journal 1 (2020).",
    "url": "https://example.org/paper",
    "scaling": {"method": "minmax", "range": [0, 1], "fit_on": "all"},
    "protocol": {"folds": 2, "repeats": 1, "inner": "leave-two-folds-out"},
    "metrics": ["gmean", "accuracy"],
    "criteria": ["cv"],
    "datasets": {"real": ["iris", "wine"]},
    "tasks": {"iris": "binary", "wine": "binary", "extra": "binary"},
    "models": MODELS,
    "tables": {
        "table4": {
            "kind": "scores",
            "caption": "GMEAN",
            "datasets": "real",
            "models": ["eem_rbf", "svm_rbf"],
            "metric": "gmean",
            "criterion": "cv",
            "notes": ["A note of the study."],
            "printed": "table4",
            "among": {},
            "tolerance": {},
        }
    },
    "errata": [{"where": "eq. (3)", "printed": "-ln", "taken": "-2 ln", "evidence": "quadrature"}],
}


def record(dataset, model, **changes):
    return {
        "key": f"paper/{dataset}/{model}",
        "dataset": dataset,
        "model": model,
        "success": True,
        "kind": "",
        "error": "",
        "notes": {},
        "n_candidates": 4,
        "n_failed": 0,
        "seconds": 30.0,
        "started": "2026-01-02T03:04:05+00:00",
        "versions": {"python": "3.11.2"},
        "machine": {"system": "Linux", "cores": 2},
    } | changes


def score_rows(dataset, model, params):
    return pd.DataFrame(
        {
            "paper": "paper",
            "dataset": dataset,
            "model": model,
            "repeat": 0,
            "fold": [0, 1],
            "criterion": "cv",
            "point": 0,
            "params": [json.dumps(one) for one in params],
            "criterion_value": 1.0,
            "gmean": 0.8,
            "accuracy": 0.8,
            "success": True,
            "error": "",
        }
    )


@pytest.fixture
def results(tmp_path):
    """A study's folder: iris has results, wine has no data."""
    folder = tmp_path / "results" / "paper"
    records = [record("iris", model) for model in MODELS]
    records += [
        record("wine", model, success=False, kind="no data", error="wine: 404 <gone>") for model in MODELS
    ]
    scores = [
        score_rows("iris", "eem_rbf", [{"n_hidden": 100}, {"n_hidden": 100}]),
        score_rows("iris", "svm_rbf", [{"gamma": 0.1}, {"gamma": 1.0}]),
    ]
    for one in records:
        path = folder / "records" / one["dataset"] / f"{one['model']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(one))
    for rows in scores:
        path = folder / "scores" / "iris" / f"{rows['model'][0]}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows.to_parquet(path)
    published = pd.DataFrame(
        [("table4", "iris", "eem_rbf", "gmean", 80.0, 1.0)],
        columns=["table", "dataset", "model", "metric", "value", "std"],
    )
    spec = table_spec("paper", STUDY, "table4", {"iris": "Iris"})
    table = make_table(Results("paper", STUDY, tmp_path), published, spec)
    for format in FORMATS:
        write_table(table, spec, folder / "tables" / f"table4.{format}")
    return read_results("paper", STUDY, folder, {"iris": "Iris"})


@pytest.fixture
def report(results, tmp_path):
    index = build_report([results], tmp_path / "results" / "report", commit="0123abc")
    assert index == tmp_path / "results" / "report" / "index.html"
    return index.parent


class Page(HTMLParser):
    """A page's text, ids, links and what it loads; unbalanced tags are an error."""

    VOID = {"meta", "br", "link", "img", "input", "hr"}

    def __init__(self, path: Path):
        super().__init__()
        self.text, self.links, self.loads, self.ids, self.tags, self.open = "", [], [], [], [], []
        self.attributes = set()
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        attributes = dict(attributes)
        self.attributes |= attributes.keys()
        self.loads += [attributes["src"]] if "src" in attributes else []
        self.ids += [attributes["id"]] if "id" in attributes else []
        if "href" in attributes:
            (self.links if tag == "a" else self.loads).append(attributes["href"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


PAGES = ["report/index.html", "report/paper.html", "paper/tables/table4.html"]


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_balanced_and_load_nothing(report, name):
    path = report.parent / name
    page = Page(path)
    assert page.loads == []
    assert "script" not in page.tags
    assert not re.search(r"@import|url\(", path.read_text())


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
            assert place in Page(target).ids


def test_index_says_what_when_where_and_how(report):
    text = Page(report / "index.html").text
    for said in (
        "0123abc",
        "python 3.11.2",
        "cores 2",
        "2026-01-02 03:04",
        "make demo",
        "snakemake paper",
        "make ui",
    ):
        assert said in text
    assert "1 of 1 within ± · 2 ∅ · 1 ○" in " ".join(text.split())


def test_paper_page_shows_table_errata_failures_and_choices(report):
    text = " ".join(Page(report / "paper.html").text.split())
    for said in (
        "Machines & <entropy>",
        "A. Author",
        "A note of the study.",
        "wine: 404 <gone>",
        "quadrature",
        "snakemake results/paper/tables/table4.html",
        "diagnostic only",
        "n_hidden",
    ):
        assert said in text


HOSTILE = """</style></script><script>alert(1)</script><img src=x onerror=alert(1)>"'onmouseover='x"""


@pytest.mark.fault(
    "Trust", "<script> in titles, labels, notes and errors, on pages of the report", "shown as text"
)
def test_hostile_texts_are_shown_as_text(results, tmp_path):
    study = {
        **STUDY,
        "title": HOSTILE,
        "reference": HOSTILE,
        "models": {name: {**model, "label": HOSTILE} for name, model in MODELS.items()},
        "tables": {"table4": {**STUDY["tables"]["table4"], "caption": HOSTILE, "notes": [HOSTILE]}},
        "errata": [dict.fromkeys(STUDY["errata"][0], HOSTILE)],
    }
    table = results.tables["table4"].assign(reason=HOSTILE)
    hostile = replace(
        results, study=study, labels=dict.fromkeys(("iris", "wine"), HOSTILE), tables={"table4": table}
    )
    folder = build_report([hostile], tmp_path / "results" / "report", commit=HOSTILE).parent
    for name in ("index.html", "paper.html"):
        page = Page(folder / name)
        assert not {"script", "img"} & set(page.tags)
        assert not any(attribute.startswith("on") for attribute in page.attributes)
        assert page.loads == []
        assert page.text.count(HOSTILE) >= 2


def test_report_of_nothing_is_a_page(tmp_path):
    page = Page(build_report([], tmp_path / "report"))
    assert "No study has results yet." in page.text


def test_results_without_a_table_say_what_to_run(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"table4\.csv is missing: run `snakemake paper` first"):
        read_results("paper", STUDY, tmp_path)


def test_records_and_scores_that_are_absent_are_left_out(results):
    (results.folder / "records" / "wine" / "eem_rbf.json").unlink()
    (results.folder / "scores" / "iris" / "eem_rbf.parquet").unlink()
    again = read_results("paper", STUDY, results.folder)
    assert len(again.records) == len(results.records) - 1
    assert set(again.scores["model"]) == {"svm_rbf"}


def test_cells_that_the_study_no_longer_has_are_not_read(results):
    stale = results.folder / "records" / "old" / "eem_rbf.json"
    stale.parent.mkdir()
    stale.write_text("{}")
    assert read_results("paper", STUDY, results.folder).records == results.records


def test_table_older_than_its_study_shows_the_study_of_today(results, tmp_path):
    """Editing one study must not break the report that another one's run writes."""
    models = {"eem_rbf": MODELS["eem_rbf"], "new": {**MODELS["eem_rbf"], "label": "New"}}
    table = {**STUDY["tables"]["table4"], "models": list(models)}
    edited = {**STUDY, "models": models, "datasets": {"real": ["iris", "extra"]}, "tables": {"table4": table}}
    again = read_results("paper", edited, results.folder)
    rows = again.tables["table4"]
    assert list(zip(rows["dataset"], rows["model"], rows["verdict"], strict=True)) == [
        ("iris", "eem_rbf", "reproduced"),
        ("iris", "new", "failed"),
        ("extra", "eem_rbf", "failed"),
        ("extra", "new", "failed"),
    ]
    page = Page(build_report([again], tmp_path / "report").with_name("paper.html"))
    assert "not in the table yet: run `snakemake paper`" in page.text


FIGURE = {
    "kind": "grid_curves",
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
    study = {**STUDY, "figures": {"figure3": FIGURE}}
    folder = results.folder / "figures"
    folder.mkdir()
    (folder / "figure3.csv").write_text(
        "dataset,model,parameter,value,mean,std,folds,reason\n"
        "iris,eem_rbf,n_hidden,50,80.0,1.0,2,\n"
        "iris,eem_rbf,n_hidden,100,90.0,1.0,2,\n"
        "wine,eem_rbf,n_hidden,,,,0,no data: 404 <gone>\n"
    )
    for suffix in ("svg", "png"):
        (folder / f"figure3.{suffix}").touch()
    return read_results("paper", study, results.folder)


def test_figures_stand_on_the_page_with_what_they_show_in_words(with_figure, tmp_path):
    path = build_report([with_figure], tmp_path / "results" / "report").with_name("paper.html")
    page = Page(path)
    assert page.loads == ["../paper/figures/figure3.svg"]
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
    assert 'alt="Mean GMEAN in percent against n_hidden. iris, EEM rbf: 80.0 at 50, 90.0 at 100"' in (
        path.read_text()
    )
    assert "figure3" in page.ids
    assert "Hover over" not in page.text


def test_rows_to_hover_over_are_linked_from_the_page(with_figure, tmp_path):
    """A page of its own beside the figure's files, which opens from a file:// address as they do."""
    projections = {"kind": "projections", "caption": "A plane", "datasets": "real", "models": ["eem_rbf"]}
    study = {**with_figure.study, "figures": {"plane": {**projections, "notes": []}}}
    (with_figure.folder / "figures" / "plane.csv").write_text(
        "dataset,model,series,row,x,y,reason\niris,eem_rbf,rows of a,0,1,2,\niris,eem_rbf,rows of b,1,3,4,\n"
    )
    again = read_results("paper", study, with_figure.folder)
    page = Page(build_report([again], tmp_path / "results" / "report").with_name("paper.html"))
    assert page.links.count("../paper/figures/plane.html") == 2
    assert "Hover over the rows" in page.text


def test_a_figure_that_is_not_drawn_yet_says_what_to_run(with_figure, tmp_path):
    (with_figure.folder / "figures" / "figure3.csv").unlink()
    again = read_results("paper", with_figure.study, with_figure.folder)
    page = Page(build_report([again], tmp_path / "results" / "report").with_name("paper.html"))
    assert page.loads == []
    assert "Not drawn yet: run snakemake paper" in page.text


def test_failures_of_one_reason_share_a_line(results):
    assert failures(results) == [
        {
            "dataset": "wine",
            "of": ["EEM rbf", "SVM <rbf>"],
            "verdict": "no data",
            "reason": "wine: 404 <gone>",
        }
    ]


def test_failures_name_what_a_table_has_in_the_place_of_a_model(results):
    entry = {"kind": "information", "datasets": "real", "models": {"svm_rbf": {}}, "reject": [0, 0.1]}
    row = {"dataset": "iris", "verdict": "failed", "reason": "uncertain", "model": "svm_rbf_reject_0.1"}
    known = replace(
        results, study={**results.study, "tables": {"known": entry}}, tables={"known": pd.DataFrame([row])}
    )
    (line,) = failures(known)
    assert line["of"] == ["SVM <rbf>, 10 % rejected"]


def test_chosen_parameters_count_every_fold_and_list_the_whole_grid(results):
    chosen = {(row["model"], row["parameter"]): row["values"] for row in chosen_parameters(results)}
    assert chosen == {
        ("EEM rbf", "n_hidden"): [
            {"value": "50", "times": 0, "share": 0},
            {"value": "100", "times": 2, "share": 100},
        ],
        ("SVM <rbf>", "gamma"): [
            {"value": "0.1", "times": 1, "share": 50},
            {"value": "1", "times": 1, "share": 50},
        ],
    }


def test_chosen_learners_are_counted_and_their_parameters_where_they_were_taken(results):
    one_of = {"lda": {"grid": {}}, "svm": {"grid": {"C": [1, 2]}}}
    models = {"m": {"label": "M", "sublabel": "", "grid": {"step1__k": [5]}, "one_of": one_of}}
    taken = [{"one_of": "svm", "C": 2}, {"one_of": "lda"}, {"one_of": "svm", "C": 2}]
    rows = [{"params": json.dumps({**one, "step1__k": 5})} for one in taken]
    scores = pd.DataFrame(rows).assign(model="m", criterion="cv", success=True)
    results = replace(results, study=STUDY | {"models": models}, scores=scores)
    found = [
        (row["parameter"], [(value["value"], value["times"]) for value in row["values"]])
        for row in chosen_parameters(results)
    ]
    assert found == [
        ("one_of", [("lda", 1), ("svm", 2)]),
        ("step1__k", [("5", 3)]),
        ("svm: C", [("1", 0), ("2", 2)]),
    ]


def test_protocol_in_words_follows_the_study():
    said = " ".join(protocol(STUDY))
    assert "Stratified 2-fold cross-validation, once." in said
    assert "scaled linearly to [0, 1], as measured on all rows" in said
    other = {
        **STUDY,
        "protocol": {"folds": 5, "repeats": 3, "inner": "leave-two-folds-out"},
        "scaling": {"method": "standard", "fit_on": "train"},
    }
    said = " ".join(protocol(other))
    assert "Stratified 5-fold cross-validation, 3 times." in said
    assert "zero mean and unit variance, as measured on the training rows alone" in said
    assert "as they are" in " ".join(protocol({**STUDY, "scaling": {"method": "none", "fit_on": "all"}}))


def test_trials_in_words():
    study = {
        **STUDY,
        "protocol": {
            "trials": 20,
            "train": {"of_dataset": "n_train"},
            "test": {"of_dataset": "n_test"},
            "inner": {"folds": 4, "used": 1},
        },
        "scaling": {
            "method": {"of_dataset": "scaling"},
            "range": [-1, 1],
            "fit_on": "all",
            "targets": [0, 1],
        },
        "of_dataset": {"scaling": {"default": "minmax", "iris": "maxabs"}},
        "metrics": ["accuracy", "rmse"],
    }
    said = " ".join(protocol(study))
    assert "20 random trials: in each all rows are shuffled" in said
    assert "cut into 4 parts; one of them is left out for validation" in said
    assert "scaled linearly to [-1, 1] or divided by its largest absolute value (of iris)" in said
    assert "Targets of regression are scaled linearly to [0, 1]." in said
    assert "Score: accuracy; also RMSE." in said
    ordered = {
        **study,
        "protocol": {**study["protocol"], "shuffle": {"of_dataset": "shuffled"}},
        "of_dataset": study["of_dataset"] | {"shuffled": {"default": True, "iris": False}},
    }
    ordered["scaling"] = study["scaling"] | {"dtype": {"of_dataset": "dtype"}, "method": "joint_minmax"}
    ordered["of_dataset"]["dtype"] = {"default": "float64", "iris": "float32"}
    said = " ".join(protocol(ordered))
    assert "left aside; one trial in the order of the files, that learns from the first rows" in said
    assert "tests with the last (of iris)." in said
    assert "Each feature is scaled to [-1, 1] by the ends of all features" in said
    assert "Features are kept in double precision or single precision (of iris)." in said
    same = protocol({**study, "protocol": {**study["protocol"], "train": 8000, "test": 100}})
    assert "8,000 training and 100 test rows" in " ".join(same)


def test_the_protocol_of_each_study_of_the_project_is_said_in_words():
    root = Path(__file__).parents[2]
    _, studies, _ = load_configuration(root, {"papers": "demo", "seed": 0})
    said = {name: " ".join(protocol(study)) for name, study in studies.items()}
    assert all("{" not in text for text in said.values())
    assert "left as it is (of real-sim, rcv1," in said["rkelm"]
    assert "scaled linearly to [0, 1] or [0.1, 0.9] (of triazines)" in said["rkelm"]


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
    again = read_results("paper", STUDY, results.folder)
    index = build_report([again], tmp_path / "report")
    assert "2.0 GiB (train iris eem_rbf)" in Page(index.with_name("paper.html")).text
    assert "2.0 GiB (paper train iris eem_rbf)" in Page(index).text


def test_where_no_job_was_looked_at_nothing_is_said_of_memory(results, tmp_path):
    benchmark(results.folder, "train/iris/svm_rbf", "NA")
    assert read_results("paper", STUDY, results.folder).peak is None
    assert "peak memory" not in Page(build_report([results], tmp_path / "report")).text


def test_what_a_table_measures_counts_among_the_jobs(tmp_path):
    table = {"kind": "capacity", "models": {"svm_rbf": {}}, "rows": 9, "features": 2}
    study = {**STUDY, "tables": {"big": table}}
    benchmark(tmp_path, "measure/big/generated", "12.4")
    assert peak_memory(study, tmp_path) == (12.4, "measure big generated")


def test_made_lists_each_machine_once_and_sums_the_time():
    one, other = (
        record("iris", "eem_rbf"),
        record("wine", "eem_rbf", machine={"system": "Darwin"}, success=False),
    )
    facts = made([one, one, other])
    assert [text for what, text in facts if what == "machine"] == ["system Linux, cores 2", "system Darwin"]
    assert dict(facts)["cells"] == "3, of which 1 without a result"
    assert dict(facts)["training"] == "90 s"
    assert made([]) == [("cells", "none yet")]
