"""Tables: verdicts, completeness, units, and views that hostile texts cannot break."""

import json
import math
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from html_pages import Page
from made_studies import ENTRIES, made_study, spec_of_kind, with_entry

from entrolab.results.frames import read_table
from entrolab.tables.base import Found, Head, phrase
from entrolab.tables.captions import meanings
from entrolab.tables.judge import placed
from entrolab.tables.making import counts, judged_table, make_table, published_values, read_published
from entrolab.tables.quantities import Quantity
from entrolab.tables.ranking import scores_of
from entrolab.tables.rendering import layout, render, write_table
from entrolab.tables.verdicts import VERDICTS

FOLDS = 4
PUBLISHED_COLUMNS = ["table", "dataset", "model", "metric", "value", "std"]


def study(datasets=("iris", "wine"), models=("eem_rbf", "svm_rbf"), task="binary", of_models=(), **table):
    """A study of one table, with more keys of some models in `of_models`."""
    shown = {
        key: {"label": key.partition("_")[0].upper(), "sublabel": key.partition("_")[2]}
        | dict(of_models).get(key, {"estimator": "sklearn.svm.SVC"})
        for key in models
    }
    content = {
        "title": "A study",
        "metrics": ["rmse"] if task == "regression" else ["gmean", "accuracy"],
        "criteria": ["cv", "dcs_gaussian"],
        "datasets": {"all": list(datasets)},
        "models": shown,
        "tables": {
            "table1": {"type": "scores", "caption": "Scores", "models": list(models)}
            | ({} if task == "regression" else {"metric": "gmean"})
            | table
        },
    }
    return made_study(content, task=task)


def spec(*arguments, **table):
    return study(*arguments, **table).spec_of_table("table1")


def score_rows(dataset, model, values, criterion="cv", success=True, error=""):
    return pd.DataFrame(
        {
            "study": "paper",
            "dataset": dataset,
            "model": model,
            "repeat": 0,
            "fold": range(len(values)),
            "criterion": criterion,
            "point": 0,
            "params": json.dumps({}),
            "criterion_value": 1.0,
            "gmean": values,
            "accuracy": 0.5,
            "success": success,
            "error": error,
        }
    )


def published_frame(**cells):
    """Cells by ``dataset__model=(value, std)``."""
    rows = [("table1", *key.split("__"), "gmean", *pair) for key, pair in cells.items()]
    return pd.DataFrame(rows, columns=["table", "dataset", "model", "metric", "value", "std"])


def record(dataset, model, **changes):
    return {
        "dataset": dataset,
        "model": model,
        "success": True,
        "status": "ok",
        "error": "",
        "notes": {},
        "n_candidates": 110,
        "n_failed": 0,
    } | changes


class Results:
    """Score rows and records in the place of files."""

    def __init__(self, scores, records):
        self.rows = scores
        self.records = {(one["dataset"], one["model"]): one for one in records}

    def record(self, dataset, model):
        return self.records.get((dataset, model))

    def scores(self, dataset, model, among):
        rows = self.rows
        if len(rows):
            rows = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
        return dict(iter(rows.groupby("criterion"))) if len(rows) else {}


def score_table(scores, published, records, asked):
    return make_table(Results(scores, records), published, asked)


@pytest.fixture
def mixed():
    """Every verdict of scores once: a table, and its spec."""
    datasets = ["a", "b", "c", "d", "e", "f"]
    asked = spec(datasets, ["eem_rbf"])
    scores = pd.concat(
        score_rows(dataset, "eem_rbf", [0.8] * FOLDS, criterion)
        for dataset in datasets[:4]
        for criterion in ("cv", "oracle")
    )
    published = published_frame(
        a__eem_rbf=(80.5, 1.0),
        b__eem_rbf=(78.0, 1.0),
        c__eem_rbf=(82.0, 1.0),
        e__eem_rbf=(70.0, 1.0),
        f__eem_rbf=(70.0, 1.0),
    )
    records = [record(dataset, "eem_rbf") for dataset in datasets[:4]]
    records.append(record("e", "eem_rbf", success=False, status="failed", error="singular matrix"))
    records.append(record("f", "eem_rbf", success=False, status="no data", error="f: server answered 404"))
    return score_table(scores, published, records, asked), asked


# --- verdicts ------------------------------------------------------------------------------------------


def test_numbers_that_are_undefined_have_no_verdict():
    with pytest.raises(ValueError, match="found nan; accepted: a number"):
        placed(math.nan, 0.0, 2.0)
    asked = spec()
    found = {cell: Found(math.nan, reason="noted") for cell in asked.type.cells(asked)}
    published = pd.DataFrame(columns=["table", "dataset", "model", "metric", "value", "std"])
    table = judged_table(found, published, asked)
    assert set(table["verdict"]) == {"failed"}
    assert set(table["reason"]) == {"undefined; noted"}


def test_every_verdict_is_counted_and_a_cell_without_a_number_says_why(mixed):
    table, _ = mixed
    once = ("reproduced", "higher", "lower", "failed", "no data", "ours only")
    assert counts(table) == dict.fromkeys(VERDICTS, 0) | dict.fromkeys(once, 1)
    assert table["reason"].tolist()[-2:] == ["singular matrix", "f: server answered 404"]
    assert table.loc[table["verdict"].isin(["failed", "no data"]), "ours"].isna().all()


def test_a_fold_without_a_score_fails_the_cell():
    """The mean of the other folds is another quantity than the published one."""
    scores = pd.concat(
        [
            score_rows("iris", "eem_rbf", [0.8] * (FOLDS - 1)),
            score_rows("iris", "eem_rbf", [np.nan], success=False, error="time\nlimit; reached"),
        ]
    )
    published = published_frame(iris__eem_rbf=(80.0, 1.0))
    table = score_table(scores, published, [record("iris", "eem_rbf")], spec(["iris"], ["eem_rbf"]))
    row = table.iloc[0]
    assert (row["verdict"], row["published"]) == ("failed", 80.0)
    assert row["reason"] == "1 of 4 folds have no score: time limit, reached"
    assert np.isnan(row["ours"])


def test_a_time_limit_is_a_failure_that_names_itself():
    of_run = record("iris", "eem_rbf", success=False, status="time limit", error="3600 s used")
    asked = spec(["iris"], ["eem_rbf"])
    (row,) = table_of(asked, pd.DataFrame(), records=[of_run]).to_dict("records")
    assert (row["verdict"], row["reason"]) == ("failed", "time limit: 3600 s used")


# --- numbers -------------------------------------------------------------------------------------------


def test_scores_are_percents_with_the_sample_deviation():
    scores = score_rows("iris", "eem_rbf", [0.7, 0.8, 0.9, 1.0])
    published = published_frame(iris__eem_rbf=(80.0, 5.0))
    table = score_table(scores, published, [record("iris", "eem_rbf")], spec(["iris"], ["eem_rbf"]))
    (row,) = table.to_dict("records")
    assert row["ours"] == pytest.approx(85.0)
    # sample variance of 70, 80, 90, 100: (15² + 5² + 5² + 15²) / 3
    assert row["ours_std"] == pytest.approx(np.sqrt(500 / 3))
    assert row["difference"] == pytest.approx(5.0)
    assert row["verdict"] == "reproduced"


def test_only_the_asked_criterion_counts_and_the_oracle_stands_beside():
    scores = pd.concat(
        [
            score_rows("iris", "eem_rbf", [0.6] * FOLDS, "dcs_gaussian"),
            score_rows("iris", "eem_rbf", [0.7] * FOLDS, "cv"),
            score_rows("iris", "eem_rbf", [0.9] * FOLDS, "oracle"),
        ]
    )
    asked = spec(["iris"], ["eem_rbf"], criterion="dcs_gaussian")
    row = score_table(scores, published_frame(), [record("iris", "eem_rbf")], asked).iloc[0]
    assert (row["ours"], row["oracle"]) == (pytest.approx(60), pytest.approx(90))


@pytest.mark.parametrize(("grid", "verdict"), [({}, "ours only"), ({"C": [1, 2]}, "failed")])
def test_what_has_nothing_to_choose_is_in_tables_of_every_criterion(grid, verdict):
    model = {"estimator": "sklearn.svm.SVC", "grid": grid}
    asked = study(["iris"], ["eem_rbf"], of_models={"eem_rbf": model}, criterion="dcs_gaussian")
    scores = score_rows("iris", "eem_rbf", [0.7] * FOLDS, "cv")
    of_iris = [record("iris", "eem_rbf")]
    table = score_table(scores, published_frame(), of_iris, asked.spec_of_table("table1"))
    assert table["verdict"].tolist() == [verdict]


@pytest.mark.parametrize(("is_published", "said"), [({}, False), ({"iris__eem_rbf": (80.0, 1.0)}, True)])
def test_that_ours_is_alone_is_said_only_where_other_cells_are_not(is_published, said):
    asked = spec(["iris", "wine"], ["eem_rbf"])
    scores = pd.concat(score_rows(dataset, "eem_rbf", [0.8] * FOLDS) for dataset in ("iris", "wine"))
    records = [record(dataset, "eem_rbf") for dataset in ("iris", "wine")]
    table = score_table(scores, published_frame(**is_published), records, asked)
    assert "ours only" in set(table["verdict"])
    assert ("ours only" in [entry["verdict"] for entry in layout(table, asked)["legend"]]) == said
    for format in ("html", "md"):
        body = render(table, asked, format).partition("</style>")[2] or render(table, asked, format)
        assert (VERDICTS["ours only"].mark in body) == said


def test_other_tables_and_metrics_of_the_published_numbers_are_not_taken():
    published = published_frame(iris__eem_rbf=(80.0, 1.0))
    others = pd.concat([published.assign(table="table2"), published.assign(metric="accuracy")])
    scores = score_rows("iris", "eem_rbf", [0.8] * FOLDS)
    table = score_table(scores, others, [record("iris", "eem_rbf")], spec(["iris"], ["eem_rbf"]))
    assert table["verdict"].tolist() == ["ours only"]


def test_another_tables_published_numbers_can_be_taken():
    scores = score_rows("iris", "eem_rbf", [0.9] * FOLDS)
    numbers = pd.DataFrame(
        {"table": ["table1", "table9"], "dataset": "iris", "model": "eem_rbf", "metric": "gmean",
         "value": [50.0, 90.0], "std": 1.0}
    )  # fmt: skip
    asked = spec(("iris",), ("eem_rbf",), published="table9")
    table = score_table(scores, numbers, [record("iris", "eem_rbf")], asked)
    assert table[["published", "verdict"]].to_numpy().tolist() == [[90.0, "reproduced"]]


# --- tolerances, trials, several metrics, columns published only ------------------------------------------


def table_of(asked, scores, *is_published, records=None):
    """A table of published (data set, model, metric, value)."""
    rows = [("table1", *row, np.nan) for row in is_published]
    numbers = pd.DataFrame(rows, columns=["table", "dataset", "model", "metric", "value", "std"])
    known = records or [record(*cell) for cell in {(row[0], row[1]) for row in is_published}]
    return score_table(scores, numbers, known, asked)


def test_errors_are_shown_as_they_are_and_less_is_called_better():
    asked = spec(["iris", "wine"], ["eem_rbf"], metric="rmse", tolerance={"percent": 5})
    scores = pd.concat(
        score_rows(name, "eem_rbf", [0.8] * FOLDS).assign(rmse=[0.07, 0.08, 0.07, 0.08])
        for name in ("iris", "wine")
    )
    published = [("iris", "eem_rbf", "rmse", 0.0737), ("wine", "eem_rbf", "rmse", 0.09)]
    table = table_of(asked, scores, *published)
    assert table["ours"].tolist() == [pytest.approx(0.075)] * 2
    assert table["verdict"].tolist() == ["reproduced", "lower"]
    shown = layout(table, asked)
    cells = [row["cells"][0] for row in shown["rows"]]
    assert [(cell.ours, cell.published) for cell in cells] == [("0.0750", "0.0737"), ("0.0750", "0.0900")]
    assert cells[1].difference == "ours − published -0.0150 (better)"
    assert shown["legend"][1]["meaning"].endswith("which is better")
    assert shown["says"].startswith("RMSE, mean")


def test_several_metrics_are_rows_of_their_data_set():
    asked = spec(["iris", "wine"], ["eem_rbf", "svm_rbf"], metric=["gmean", "accuracy"])
    scores = pd.concat(
        score_rows(name, model, [0.8] * FOLDS)
        for name in ("iris", "wine")
        for model in ("eem_rbf", "svm_rbf")
    )
    table = table_of(
        asked,
        scores,
        *((name, model, "accuracy", 50.0) for name in ("iris", "wine") for model in asked.models),
    )
    assert table["ours"].tolist() == [80, 80, 50, 50] * 2 or table["ours"].tolist() == [80, 50, 80, 50] * 2
    shown = layout(table, asked)
    assert shown["heads"] == ["data set", ""]
    assert [[(head["text"], head["span"]) for head in row["heads"]] for row in shown["rows"]] == [
        [("iris", 2), ("GMEAN", 1)],
        [("", 0), ("accuracy", 1)],
        [("wine", 2), ("GMEAN", 1)],
        [("", 0), ("accuracy", 1)],
    ]
    assert [[cell.ours for cell in row["cells"]] for row in shown["rows"]] == [["80.0"] * 2, ["50.0"] * 2] * 2
    page = Page(render(table, asked, "html"))
    assert page.tags.count("tr") == 1 + 4 + 1
    assert_balanced(render(table, asked, "tex"), heads=2)
    rows = [line for line in render(table, asked, "md").splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {5}


def test_support_vectors_are_shares_of_the_training_rows_and_less_is_better():
    asked = spec(["iris"], ["svm", "lasso"], metric=["error_rate", "support"])
    machines = score_rows("iris", "svm", [0.0] * FOLDS).assign(error_rate=0.25, support=0.5)
    others = score_rows("iris", "lasso", [0.0] * FOLDS).assign(error_rate=0.25, support=np.nan)
    published = [("iris", "svm", "error_rate", 27.0), ("iris", "svm", "support", 40.0)]
    records = [record("iris", "svm"), record("iris", "lasso")]
    table = table_of(asked, pd.concat([machines, others]), *published, records=records)
    assert table["ours"].tolist()[:3] == [25, 50, 25]
    assert table["verdict"].tolist() == ["lower", "higher", "ours only", ""]
    assert table["reason"].tolist() == ["", "", "", "a learner without support vectors"]
    shown = layout(table, asked)
    assert shown["says"].startswith(
        "Error in percent and support vectors in percent of the training rows, mean ± standard deviation over"
    )
    # The cell without a number has its footnote in every view.
    assert 'title="a learner without support vectors">–<sup>a</sup></td>' in render(table, asked, "html")
    assert "–<sup>a</sup> |" in render(table, asked, "md")
    assert "--\\textsuperscript{a}" in render(table, asked, "tex")
    assert_balanced(render(table, asked, "tex"), heads=2)
    assert meanings(asked)["lower"].endswith("which is better")
    assert meanings(asked)["higher"].endswith("which is worse")


def test_fewer_trials_than_the_protocols_are_a_footnote():
    asked = replace(spec(["iris"], ["eem_rbf", "svm_rbf"]), trials=FOLDS)
    scores = pd.concat(
        [score_rows("iris", "eem_rbf", [0.8] * FOLDS), score_rows("iris", "svm_rbf", [0.8] * (FOLDS - 1))]
    )
    table = table_of(asked, scores, *(("iris", model, "gmean", 80.0) for model in asked.models))
    assert table["reason"].tolist() == ["", "3 trials"]


def test_a_model_in_print_alone_is_not_judged_and_blank_where_nothing_is_printed():
    entry = study(["iris", "wine"], ["eem_rbf", "lasvm"], of_models={"lasvm": {"published_only": True}})
    asked = entry.spec_of_table("table1")
    scores = pd.concat(score_rows(name, "eem_rbf", [0.8] * FOLDS) for name in ("iris", "wine"))
    known = [record(name, "eem_rbf") for name in ("iris", "wine")]
    table = table_of(asked, scores, ("iris", "lasvm", "gmean", 70.0), records=known)
    assert table["verdict"].tolist() == ["ours only", "published only", "ours only", ""]
    shown = layout(table, asked)
    assert [row["cells"][1].published for row in shown["rows"]] == ["70.0", ""]
    assert shown["agreed"] == (0, 0, 0, 0, 1)
    for format in ("html", "tex", "md"):
        assert "published only" in render(table, asked, format)


@pytest.mark.parametrize(
    ("scale", "shown"),
    [(1e6, ["1000000 ±100000", "2000000 ±200000"]), (1e-3, ["0.00100 ±0.00010", "0.00200 ±0.00020"])],
)
def test_errors_in_the_labels_unit_have_the_digits_that_their_spread_leaves(scale, shown):
    entry = study(["iris"], ["eem_rbf", "svm_rbf"], task="regression")
    asked = entry.spec_of_table("table1")
    rows = [("iris", "eem_rbf", 1.0, 0.1), ("iris", "svm_rbf", 2.0, 0.2)]
    frame = pd.DataFrame(rows, columns=["dataset", "model", "ours", "ours_std"]).assign(metric="rmse")
    frame[["ours", "ours_std"]] *= scale
    numbers = dict.fromkeys(["published", "published_std", "difference", "oracle"], np.nan)
    frame = frame.assign(**numbers, verdict="ours only", reason="")
    cells = layout(frame, asked)["rows"][0]["cells"]
    assert [f"{cell.ours} ±{cell.ours_std}" for cell in cells] == shown
    # Beside a published value, ours have the decimals of the metric.
    cells = layout(frame.assign(published=1.5), asked)["rows"][0]["cells"]
    assert [cell.ours for cell in cells] == [f"{value:.4f}" for value in frame["ours"]]


def test_a_column_of_known_values_is_shown_under_its_own_name_and_judges_nothing():
    known = {"label": "best possible", "sublabel": "", "known": {"iris": {"gmean": [84.13, 2.58]}}}
    entry = study(["iris", "wine"], ["eem_rbf", "best_possible"], of_models={"best_possible": known})
    asked = entry.spec_of_table("table1")
    scores = pd.concat(score_rows(name, "eem_rbf", [0.8] * FOLDS) for name in ("iris", "wine"))
    records = [record(name, "eem_rbf") for name in ("iris", "wine")]
    table = table_of(asked, scores, records=records)
    assert table["verdict"].tolist() == ["ours only", "known", "ours only", ""]
    assert scores_of(table, "gmean").columns.tolist() == ["eem_rbf"]  # neither ranked nor a winner
    for format, before in {"html": "</style>", "md": "###", "tex": "caption"}.items():
        said = render(table, asked, format).partition(before)[2]
        assert "best possible" in said
        assert "84.1" in said
        assert "2.6" in said
        assert not [word for word in ("publish", "reproduced", "verdict") if word in said.lower()]
    assert "{entroknown}{HTML}" in render(table, asked, "tex")


def test_a_model_without_a_learner_for_the_task_is_blank():
    classifier = {"estimators": {"classification": "entrolearn.EEMClassifier"}}
    entry = study(["iris", "wine"], ["eem_rbf"], of_models={"eem_rbf": classifier})
    entry.tasks["wine"] = "regression"
    asked = entry.spec_of_table("table1")
    table = score_table(pd.DataFrame(), published_frame(), [], asked)
    assert table["verdict"].tolist() == ["failed", ""]


# --- layout --------------------------------------------------------------------------------------------


def test_columns_count_what_agrees_of_what_is_compared(mixed):
    shown = layout(*mixed)
    assert [column["agreed"] for column in shown["columns"]] == [shown["agreed"]] == [(1, 3, 0, 0, 2)]
    assert sum(entry["count"] for entry in shown["legend"]) == len(mixed[0])


def test_rows_that_share_a_head_are_not_sorted_apart(mixed):
    table, spec = mixed
    assert layout(table, spec)["sortable"]
    twice = pd.concat([table, table.assign(metric="accuracy")])
    metrics = {name: Quantity(name) for name in ("gmean", "accuracy")}
    assert not layout(twice, replace(spec, metrics=metrics))["sortable"]


def test_notes_that_differ_by_their_counts_share_a_footnote():
    asked = spec(["iris", "wine"], ["svm_rbf"])
    scores = pd.concat(score_rows(name, "svm_rbf", [0.8] * FOLDS) for name in ("iris", "wine"))
    capped = [
        record("iris", "svm_rbf", notes={"stopped at its cap": 3}, n_failed=2),
        record("wine", "svm_rbf", notes={"stopped at its cap": 40}),
    ]
    table = score_table(scores, published_frame(), capped, asked)
    assert table["reason"][0] == "stopped at its cap in 3 of 110 fits; no result in 2 of 110 fits"
    shown = layout(table, asked)
    assert [(note["letter"], note["text"]) for note in shown["footnotes"]] == [
        ("a", "stopped at its cap in 3 of 110 to 40 of 110 fits of a cell"),
        ("b", "no result in 2 of 110 fits"),
    ]
    assert [row["cells"][0].letters for row in shown["rows"]] == ["a,b", "a"]


def test_footnote_letters_go_on_after_z():
    names = [f"d{i}" for i in range(28)]
    broken = [
        record(name, "eem_rbf", success=False, status="failed", error=f"error {name}") for name in names
    ]
    asked = spec(names, ["eem_rbf"])
    letters = [
        note["letter"]
        for note in layout(score_table(pd.DataFrame(), published_frame(), broken, asked), asked)["footnotes"]
    ]
    assert (letters[0], letters[25], letters[26], letters[27]) == ("a", "z", "aa", "bb")


def test_numbers_have_the_decimals_of_the_printed_ones():
    scores = score_rows("iris", "eem_rbf", [0.84125] * FOLDS)
    asked = spec(["iris"], ["eem_rbf"])
    for published, shown in ((84.13, "84.12"), (84.1, "84.1")):
        table = score_table(
            scores, published_frame(iris__eem_rbf=(published, 1.0)), [record("iris", "eem_rbf")], asked
        )
        assert layout(table, asked)["rows"][0]["cells"][0].ours == shown


# --- files ---------------------------------------------------------------------------------------------


def test_csv_reads_back_as_it_was(mixed, tmp_path):
    table, asked = mixed
    write_table(table, asked, tmp_path / "table1.csv")
    pd.testing.assert_frame_equal(read_table(tmp_path / "table1.csv"), table, atol=1e-4)
    header = (tmp_path / "table1.csv").read_text().splitlines()[0]
    assert (
        header
        == "dataset,model,metric,published,published_std,ours,ours_std,difference,verdict,oracle,reason"
    )


def test_published_values_keep_names_that_look_like_missing_values_or_numbers(tmp_path):
    file = tmp_path / "published.csv"
    file.write_text(
        "table,dataset,model,metric,value,std\n1,007,NA,null,0.150,\n1,,svm,gmean,80,1.5\n2,a,b,c,,\n"
    )
    printed = published_values(read_published(file), "1")
    assert {cell: (one.value, one.decimals) for cell, one in printed.items()} == {
        ("007", "NA", "null"): (0.15, 3),
        ("", "svm", "gmean"): (80.0, 0),
    }
    assert [one.std for one in printed.values()] == pytest.approx([math.nan, 1.5], nan_ok=True)


def test_csv_keeps_names_that_look_like_missing_values(tmp_path):
    asked = spec(["null", "nan"], ["eem_rbf"])
    write_table(score_table(pd.DataFrame(), published_frame(), [], asked), asked, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv")["dataset"].tolist() == ["null", "nan"]


@pytest.mark.parametrize("format", ["html", "tex", "md"])
def test_view_shows_ours_the_printed_number_the_mark_and_the_warning(mixed, format):
    text = render(*mixed, format)
    for shown in ("80.0", "80.5", "no data", "singular matrix", "diagnostic only", "inner cross-validation"):
        assert shown in text
    for name, entry in VERDICTS.items():
        if name in ("unit", "published only", "equal", "differs"):  # of other kinds and models
            continue
        assert (entry.tex if format == "tex" else entry.mark) in text


HOSTILE = r"""<script>alert(1)</script> & "x" 50% of $a_b^c$ #1 {y} ~ \input{z} | [w](v) `u` *t*"""


@pytest.fixture(params=ENTRIES)
def hostile(request):
    """A table of each type whose every text is hostile: numbers, and failures on the second data set."""
    asked = spec_of_kind(request.param, ["iris", "wine"])
    asked = replace(
        with_entry(asked, caption=HOSTILE, notes=[HOSTILE], explanation=HOSTILE),
        datasets=dict.fromkeys(asked.datasets, Head(HOSTILE)),
        models=dict.fromkeys(asked.models, Head(HOSTILE, HOSTILE)),
        metrics={key: replace(one, label=HOSTILE, sublabel=HOSTILE) for key, one in asked.metrics.items()},
    )
    failure = Found(status="failed", reason=phrase(f"{HOSTILE}\n\n{HOSTILE}"))
    found = {cell: failure if cell[0] == "wine" else Found(3.0, 1.0) for cell in asked.type.cells(asked)}
    numbers = pd.DataFrame([("table1", *cell, "2", 1.0) for cell in found], columns=PUBLISHED_COLUMNS)
    return judged_table(found, numbers, asked), asked


def test_a_table_of_any_type_has_a_verdict_or_a_reason_in_every_cell(hostile):
    table, asked = hostile
    cells = list(table[["dataset", "model", "metric"]].itertuples(index=False, name=None))
    assert cells == asked.type.cells(asked)
    of_wine = table["dataset"] == "wine"
    assert set(table.loc[of_wine, "verdict"]) == {"failed"}
    assert table.loc[of_wine, "reason"].str.contains("alert").all()
    assert table.loc[of_wine, "ours"].isna().all()
    assert set(table.loc[~of_wine, "verdict"]) <= {*VERDICTS} - {"", "failed", "ours only"}
    assert sum(counts(table).values()) == len(cells)


@pytest.mark.fault("Trust", "<script> in a name or an error, in tables of html", "shown as text")
def test_html_escapes_hostile_texts_is_balanced_and_loads_nothing(hostile):
    text = render(*hostile, "html")
    page = Page(text)
    assert page.tags.count("script") == 1  # the page's own
    assert HOSTILE in page.text
    assert page.loads == []
    assert "@import" not in text
    assert "url(" not in text


@pytest.mark.fault("Trust", "<script> and | in a name or an error, in tables of md", "shown as text")
def test_md_escapes_hostile_texts_and_keeps_its_rows(hostile):
    text = render(*hostile, "md")
    assert "<script" not in text
    shown = layout(*hostile)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == len(shown["rows"]) + 3  # head, rule, the counts
    for line in table:
        assert len(re.findall(r"(?<!\\)\|", line)) == len(shown["heads"]) + len(shown["columns"]) + 1


DOCUMENT = r"""\documentclass{article}
\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\usepackage{booktabs}\usepackage[table]{xcolor}
\begin{document}
%s
\end{document}
"""


@pytest.mark.fault("Trust", "\\input in a name or an error, in tables of tex", "shown as text")
def test_tex_is_well_formed(hostile, tmp_path):
    text = render(*hostile, "tex")
    assert_balanced(text, heads=len(layout(*hostile)["heads"]))
    if shutil.which("pdflatex"):
        (tmp_path / "main.tex").write_text(DOCUMENT % text, encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:]


def assert_balanced(text, heads=1):
    """Braces, environments, math and the columns of every row fit together, comments and escapes left out."""
    body = re.sub(r"(?<!\\)%.*", "", text).replace("\\\\", "\n<row>\n")
    body = re.sub(r"\\[{}$&#%_]", "", body)
    depth = np.cumsum([{"{": 1, "}": -1}.get(character, 0) for character in body])
    assert depth.min() >= 0
    assert depth[-1] == 0
    assert body.count("$") % 2 == 0
    assert not re.search(r"[#_^]", re.sub(r"\$[^$]*\$", "", body))
    stack = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", body):
        if what == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    columns = int(re.search(r"\\begin\{tabular\}\{l+\*\{(\d+)\}", text)[1])
    tabular = body[body.index("\\toprule") : body.index("\\bottomrule")]
    assert {row.count("&") for row in tabular.split("<row>")[:-1]} == {columns + heads - 1}
