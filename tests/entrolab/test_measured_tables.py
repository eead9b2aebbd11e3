"""Measured tables: what the study says of them, the numbers of a script, verdicts and how both are shown."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_studies import made_study
from refused_studies import refused

from entrolab.experiments.measurement import FIRST, GIVEN
from entrolab.experiments.measuring import frame
from entrolab.io.files import SCRIPTS
from entrolab.schema.scripts import read_script
from entrolab.schema.sections import ConfigError
from entrolab.tables.making import COLUMNS, make_table
from entrolab.tables.measured import AtLeast, summarised
from entrolab.tables.rendering import layout, render

MODELS = {
    name: {"label": name.upper(), "estimator": "sklearn.svm.SVC", "steps": ["sklearn.decomposition.PCA"]}
    for name in ("elm", "eem")
}
ENTRY = {"type": "measured", "script": "separability", "caption": "x", "metrics": {"score": "score"}}
GENERATED = {
    **{"type": "measured", "script": "evaluations", "caption": "x", "columns": ["model", "metric"]},
    "params": {"n_rows": [100, 2000], "exact_up_to": 100},
    "places": {"n{n_rows}": "N = {n_rows:,}"},
    "metrics": {"seconds": {"label": "seconds", "significant": True}, "error": "error"},
}


class Results:
    """Rows that a script measured, by data set."""

    def __init__(self, **rows):
        self.rows = rows

    def measured(self, table, dataset):
        return [*frame(self.rows.get(dataset, [])).itertuples(index=False)]


def spec(datasets=("iris",), **changes):
    entry = ENTRY | {"datasets": "all", "models": list(MODELS)} | changes
    if entry["script"] == "evaluations":
        entry = {name: one for name, one in entry.items() if name not in ("datasets", "models")}
    content = {"metrics": ["gmean"], "datasets": {"all": [*datasets]}, "models": MODELS}
    return made_study(content | {"tables": {"table1": entry}}).spec_of_table("table1")


def table_of(asked, *numbers, **rows):
    """The table of measured rows by data set beside published (data set, model, metric, value)."""
    published = pd.DataFrame(numbers, columns=["dataset", "model", "metric", "value"])
    published = published.assign(table="table1", std=np.nan)
    return make_table(Results(**rows), published, asked).set_index(["dataset", "model", "metric"])


def shown(asked, table):
    return layout(table.reset_index()[COLUMNS], asked)


def row(model, value=None, metric="score", **more):
    found = {"model": model, "metric": metric, **more}
    return found if value is None else found | {"value": value}


# --- the numbers of a script -----------------------------------------------------------------------------


def test_a_cell_has_the_number_its_deviation_its_note_and_the_oracle():
    rows = [
        row("elm", 90.0, std=2.0, error="93.0 at k = 2; 88.0 at k = 3"),
        row("elm", 93.0, reading="oracle"),
        row("elm", 99.0, reading="the rows learnt from"),
        row("eem", 50.0),
    ]
    table = table_of(spec(), iris=rows)
    assert table.loc[("iris", "elm", "score"), ["ours", "ours_std", "oracle"]].tolist() == [90, 2, 93]
    assert table["reason"].tolist() == ["93.0 at k = 2; 88.0 at k = 3", ""]
    assert np.isnan(table.loc[("iris", "eem", "score"), ["ours_std", "oracle"]].tolist()).all()
    other = table_of(spec(reading="the rows learnt from"), iris=rows)
    assert other["ours"].tolist() == [99]  # eem has no such reading, so no such cell
    assert np.isnan(other["oracle"]).all()


@pytest.mark.parametrize(
    ("failed", "verdicts"),
    [
        ({"status": "no data", "error": "404; gone"}, ["no data", "no data"]),
        (row("eem", status="failed", error="404; gone"), ["ours only", "failed"]),
        ({"model": "eem", "status": "failed", "error": "404; gone"}, ["ours only", "failed"]),
        ({"metric": "score", "status": "failed", "error": "404; gone"}, ["failed", "failed"]),
    ],
)
def test_a_failure_applies_to_all_that_it_does_not_name(failed, verdicts):
    rows = [failed] if "failed" in verdicts[:1] or "no data" in verdicts else [row("elm", 1.0), failed]
    table = table_of(spec(), iris=rows)
    assert table["verdict"].tolist() == verdicts
    assert table["reason"].iloc[-1] == "404, gone"  # semicolons part reasons


def test_cells_that_a_script_leaves_out_are_none_and_a_data_set_without_rows_was_not_measured():
    table = table_of(spec(["iris", "wine"]), iris=[row("elm", 1.0)])
    assert table.index.tolist() == [("iris", "elm", "score"), *(("wine", one, "score") for one in MODELS)]
    assert table["reason"].tolist() == ["", "not measured", "not measured"]


def test_rows_on_generated_data_are_expanded_from_params_and_found_by_their_readings():
    asked = spec(**GENERATED, methods={"exact": "exact", "binned": {"label": "fast", "sublabel": "binned"}})
    rows = [
        row("exact", 0.5, "seconds", reading="n100"),
        row("binned", 0.25, "seconds", reading="n100"),
        row("binned", 12.34, "error", reading="n100"),
        {"reading": "n2000", "status": "failed", "error": "too large"},
    ]
    table = table_of(asked, generated=rows)
    assert table.index.tolist()[:3] == [
        ("n100", "exact", "seconds"), ("n100", "binned", "seconds"), ("n100", "binned", "error")
    ]  # fmt: skip
    found = shown(asked, table)
    assert [one["heads"][0]["text"] for one in found["rows"]] == ["N = 100", "N = 2,000"]
    assert [cell.ours for cell in found["rows"][0]["cells"]] == ["0.50", "", "0.25", "12.3"]
    assert [note["text"] for note in found["footnotes"]] == ["too large"]
    assert [group["label"] for group in found["groups"]] == ["exact", "fast binned"]


def test_variants_of_models_have_rows_of_their_own():
    asked = spec(variants={"": "", "_reject_0.05": "5 % rejected"}, rows=["model"], columns=["metric"])
    table = table_of(asked, iris=[row("elm", 1.0), row("elm_reject_0.05", math.inf), row("eem", 3.0)])
    found = shown(asked, table)
    assert [one["heads"][0]["text"] for one in found["rows"]] == ["ELM", "ELM 5 % rejected", "EEM"]
    assert [one["cells"][0].ours for one in found["rows"]] == ["1.0", "inf", "3.0"]


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ({}, 12.345, "12.3"),
        ({"decimals": 3}, -0.0001, "0.000"),
        ({"decimals": 2, "percent": True}, 0.93751, "93.75"),
        ({"significant": True}, 0.01234, "0.012"),
        ({"significant": True}, 0.96, "1.0"),
        ({"significant": True}, 1234.56, "1,234.6"),
    ],
)
def test_numbers_are_shown_as_the_metric_says(metric, value, text):
    asked = spec(metrics={"score": {"label": "score", **metric}})
    found = shown(asked, table_of(asked, iris=[row("elm", value)]))
    assert found["rows"][0]["cells"][0].ours == text
    assert text in render(table_of(asked, iris=[row("elm", value)]).reset_index()[COLUMNS], asked, "md")


# --- verdicts --------------------------------------------------------------------------------------------


def test_values_are_published_without_a_data_set_where_the_table_shows_none():
    asked = spec(rows=["model"], columns=["metric"])
    table = table_of(asked, ("", "elm", "score", "1.0"), iris=[row("elm", 1.0)])
    assert table["verdict"].tolist() == ["reproduced"]


def readings(ours, *others):
    """Cells of two metrics that are published as -0.3 and 0.9, with the values of other readings."""
    asked = spec(
        models=[], script="evaluations", metrics={"a": "a", "b": "b"}, rows=["dataset"], columns=["metric"],
        closest_reading=True, params={"n_rows": [1], "exact_up_to": 1}, tolerance={"points": 0.05},
    )  # fmt: skip
    rows = [
        {"metric": metric, "reading": name, "value": value}
        for name, values in {"": ours, **dict(others)}.items()
        for metric, value in zip("ab", values, strict=True)
    ]
    numbers = [("generated", "", metric, value) for metric, value in zip("ab", ("-0.3", "0.9"), strict=True)]
    return table_of(asked, *numbers, generated=rows)["reason"].tolist()


def test_a_row_that_is_not_reproduced_names_the_reading_that_comes_closest_to_all_of_it():
    others = ("one", (-0.3, -0.9)), ("two", (-0.2, 0.8)), ("broken", (math.nan, 0.9))
    assert readings((0.5, 0.9), *others) == ["closest to this row is the reading two: -0.2, 0.8", ""]
    assert readings((-0.2, 0.9), others[0])[0] == "no other reading comes closer to this row"
    assert readings((-0.2, 0.9)) == ["", ""]


# --- the row of all data sets ----------------------------------------------------------------------------


def test_the_row_of_all_data_sets_is_of_those_with_a_number():
    asked = spec(
        ["iris", "wine", "zoo"],
        summary="where it is enough",
        metrics={"score": {"label": "score", "summary": {"at_least": 95}}, "other": "other"},
    )
    table = table_of(
        asked,
        ("all", "eem", "score", "100"),
        iris=[row("elm", 95.0), row("eem", 94.9)],
        wine=[row("elm", 99.0), row("eem", 100.0)],
        zoo=[{"status": "no data", "error": "404"}],
    )
    said = table.loc["all"]
    assert said["ours"].to_dict() == {("elm", "score"): 100.0, ("eem", "score"): 50.0}
    # What is published of one model is compared with that one alone.
    assert said["verdict"].tolist() == ["ours only", "lower"]
    assert set(said["reason"]) == {"1 of 3 data sets have no number"}
    assert shown(asked, table)["rows"][-1]["heads"][0]["text"] == "where it is enough"
    assert set(table_of(asked).xs("all")["reason"]) == {"no data set has a number"}


def test_numbers_of_data_sets_are_summarised():
    assert summarised("geometric_mean", [2.0, 8.0]) == (
        pytest.approx(4),
        pytest.approx(math.nan, nan_ok=True),
        "2 to 8 on single data sets",
    )
    mean, std, note = summarised("difference", [1.0, -2.5])
    assert (mean, std) == (-0.75, pytest.approx(np.std([1.0, -2.5], ddof=1)))
    assert note == "above 0 on 1 of 2 data sets and below on 1"
    # Six of one sign have a two-sided p of 2 / 2^6; the seventh is no difference.
    note = summarised("difference", [float(k) for k in range(7)])[2]
    assert note == "above 0 on 6 of 7 data sets and below on 0 (Wilcoxon signed-rank p = 0.031)"
    assert summarised("mean", [1.0, -2.5]) == (mean, std, "")
    assert summarised(AtLeast(at_least=95), [95.0, 94.9])[0] == 50


# --- the study -------------------------------------------------------------------------------------------


def test_a_measurement_holds_what_decides_it_and_no_words(load, study):
    ranks = vars(load(study).measurement("ranks", "heart", seed=3))
    assert ranks == {
        "study": "mine",
        "table": "ranks",
        "dataset": "heart",
        "task": "binary",
        "script": "correlations",
        "seed": 3,
        "params": study["tables"]["ranks"]["params"],
    }


def test_models_are_those_of_the_table_with_its_parameters_and_values_of_the_data_set(load, study):
    study["of_dataset"] = {"c": {"heart": [1, 2], "default": [3]}}
    study["protocol"]["repeats"] = 4
    study["models"]["svm"]["grid"]["C"] = {"of_dataset": "c"}
    models = {"svm": {"params": {"tol": 2, "kernel": "linear"}}}
    study["tables"]["costs"] = {**ENTRY, "script": "searches", "datasets": "small", "models": models}
    found = load(study).measurement("costs", "heart", 0)
    assert found.models["svm"]["params"] == {"kernel": "linear", "tol": 2}
    assert found.grids["svm"]["grid"] == {"gamma": [0.01, 0.1, 1.0], "C": [1, 2]}
    assert found.protocol["repeats"] == 1  # the first is what it is, however many there are
    files = load(study).files_of_table("costs")
    assert files == [f"results/mine/seed0/measured/costs/{one}.parquet" for one in ("heart", "sonar")]


def test_a_table_that_shows_the_measurement_of_another_one_is_made_of_its_files(load, study_of_alternatives):
    tables = study_of_alternatives["tables"]
    tables["learnt"] = tables["apart"] | {"reading": "the rows learnt from", "measured_for": "apart"}
    study = load(study_of_alternatives)
    assert study.files_of_table("learnt") == study.files_of_table("apart")


def test_only_a_script_that_asks_for_the_protocol_needs_its_values(load_trials, study_of_trials):
    """The rows of sonar are measured by a script that splits nothing, or by one that splits."""
    study_of_trials["models"]["kmeans"] = {"estimator": "sklearn.cluster.KMeans", "criteria": []}
    table = {**ENTRY, "script": "clusterings", "datasets": "moons", "models": ["kmeans"]}
    study_of_trials["datasets"] |= {"classes": ["heart"], "all": ["heart"], "values": ["two-moons"]}
    study_of_trials["datasets"]["moons"] = ["sonar"]
    study_of_trials["tables"]["clusters"] = table
    del study_of_trials["of_dataset"]["n_train"]["sonar"]
    assert "clusters" in load_trials(study_of_trials).tables
    study_of_trials["tables"]["clusters"] = {**table, "script": "information"}
    with pytest.raises(ConfigError, match="n_train: no value for the data set 'sonar'"):
        load_trials(study_of_trials)


SCRIPT = """
def measure(rows, at, models, *, sizes: list[int], ways: Literal["a", "b"] = "a", share: float = 1, of=None):
    return []
"""


@pytest.fixture
def own(study, tmp_path):
    """A study with a script beside it."""
    (tmp_path / "mine.py").write_text(SCRIPT)
    mine = {"script": "mine.py", "params": {"sizes": [1]}, "datasets": "small", "models": ["svm"]}
    study["tables"]["own"] = ENTRY | mine
    return study


def test_a_script_of_a_users_own_lies_beside_the_study(load, own, tmp_path):
    found = load(own).measurement("own", "heart", 0)
    assert found.script == str(tmp_path / "mine.py")
    assert (found.params, [*found.models]) == ({"sizes": [1]}, ["svm"])
    assert not hasattr(found, "protocol")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"script": "mine"}, "tables.own.script: found 'mine'"),
        ({"script": "growht"}, "did you mean 'growth'?"),
        ({"script": "other.py"}, "tables.own.script: found 'other.py'"),
        ({"script": "empty.py"}, "tables.own.script: found 'empty.py' without a function measure"),
        ({"script": "other_way.py"}, "found 'other_way.py' without a function measure(rows, at, ...)"),
        ({"script": "broken.py"}, "tables.own.script: found 'broken.py', which is no Python"),
        ({"params": {}}, "tables.own.params: the key 'sizes' is missing"),
        ({"params": {"sizes": 1}}, "tables.own.params.sizes: found 1, expected a list"),
        ({"params": {"sizes": [1.5]}}, "tables.own.params.sizes.0: found 1.5, expected a whole number"),
        ({"params": {"sizes": [1], "shares": 1}}, "unknown key 'shares', did you mean 'share'?"),
        ({"params": {"sizes": [1], "ways": "c"}}, "tables.own.params.ways: found 'c'; accepted: a, b"),
        ({"models": ["svn"]}, "tables.own.models: unknown model 'svn', did you mean 'svm'?"),
        ({"rows": ["model"], "columns": ["metric"]}, "own.datasets: unknown group of one data set 'small'"),
        (
            {"datasets": None, "places": {"n{size}": "{size}"}},
            "tables.own: KeyError('size') in a key or a head",
        ),
        ({"measured_for": "ranks"}, "measured_for: unknown table of the script mine.py 'ranks'"),
        ({"tolerance": {"point": 1}}, "tables.own.tolerance: unknown key 'point', did you mean 'points'?"),
        ({"metrics": {"score": {"label": "x", "summary": "median"}}}, "summary: found 'median'"),
    ],
)
def test_a_mistake_in_a_measured_table_is_one_line(load, own, tmp_path, keys, message):
    (tmp_path / "empty.py").write_text("def measured(rows, at): ...")
    (tmp_path / "other_way.py").write_text("def measure(at, rows): ...")
    (tmp_path / "broken.py").write_text("def measure(rows, at")
    own["tables"]["own"] |= keys
    own["tables"]["own"] = {name: one for name, one in own["tables"]["own"].items() if one is not None}
    assert message in refused(load, own)


@pytest.mark.parametrize(
    "parameter",
    [
        *("x: Literal[A]", "x: tuple[int, int]", "x: list", "x: dict[int, str]", "x: int & None", 'x: "int"'),
        *(
            "x: list[Any]",
            "x: int | set[str] = 1",
            "_x: int = 0",
            "_x",
            "model_config",
            "copy",
            "json",
            "schema",
        ),
    ],
)
def test_a_parameter_that_no_key_can_set_is_refused_and_named(tmp_path, parameter):
    (tmp_path / "mine.py").write_text(f"def measure(rows, at, *, {parameter}): ...")
    with pytest.raises(ConfigError) as caught:
        read_script("experiments", "mine.py", str(tmp_path / "mine.yaml"), "measure", FIRST)
    assert f"found 'mine.py', whose parameter {parameter.split(':')[0]!r}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", sorted((SCRIPTS / "experiments").glob("*.py")), ids=lambda path: path.stem)
def test_the_params_of_every_script_have_types(path):
    script = read_script("experiments", path.stem, "", "measure", FIRST, tuple(GIVEN))
    assert {*script.given} <= {*GIVEN}
    assert not [name for name, one in script.Params.model_fields.items() if one.annotation is Any]
