"""What holds of each figure type and script: a failure is a gap with its reason, texts are escaped."""

import runpy
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from refused_studies import refused

from entrolab.data.prepare import prepare
from entrolab.figures.base import STAGES
from entrolab.figures.making import reasons
from entrolab.figures.registry import FIGURE_TYPES
from entrolab.io.files import FILES, SCRIPTS

BOTH = {"datasets": "moons", "models": ["good", "bad"]}
SELECTED = {**BOTH, "criterion": "cv"}
# Each figure of a failed run: its reason, or of data that are not there.
OF_RUNS = {
    "grid_curves": {**BOTH, "parameter": "C", "metric": "accuracy"},
    "grid_surface": {**BOTH, "parameters": ["C", "gamma"], "metric": "accuracy"},
    "roc": SELECTED,
    "residuals": {**SELECTED, "datasets": "values"},
    "confusion_matrix": SELECTED,
    "trials": {**SELECTED, "of": "predictions", "metric": "accuracy"},
    "tradeoff": {**BOTH, "of": "candidates", "metric": ["gmean", "accuracy"]},
    "support": {**BOTH, "of": "models"},
    "weights": {**BOTH, "of": "models"},
    "loss_curves": {**BOTH, "of": "models"},
}
OF_ROWS = {
    "process": {"dataset": "moons-apart", "model": "bad"},
    "projections": BOTH,
    "samples": {"of": "rows", "datasets": "moons", "params": {"rows": 3}},
    "clusterings": {**BOTH, "of": "rows"},
    "error_densities": {**BOTH, "of": "rows", "params": {"epochs": [1]}},
}
REASON = 'no data: <img src=x> & "404"'


def entry_of(name, keys):
    return {"type": name, **keys} if name in FIGURE_TYPES else {"type": "script", "script": name, **keys}


def is_escaped(results):
    """Whether the picture is well-formed XML with nothing in it but shapes and texts."""
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(results.svg).iter()}
    return {"svg", "text", "description"} <= tags and not tags & {"b", "img", "script"}


@pytest.mark.parametrize("name", OF_RUNS)
def test_a_run_without_a_result_is_a_gap_with_its_reason(results, name, catalog):
    grid = {"C": [1, 2], **({"gamma": [1, 2]} if name == "grid_surface" else {})}
    models, keys = results.study["models"], OF_RUNS[name]
    for model in models.values():
        model["grid"] = grid
    [dataset] = results.study["datasets"][keys["datasets"]]
    models["good"]["label"] = "<img src=x>"
    results.data(dataset, prepare(dataset, catalog[dataset]), np.ones((1, 1), dtype=np.int16))
    rows = [{"repeat": 0, "fold": 0, "point": 0, "success": False, "criterion": "cv", "error": REASON}]
    for model in models:
        results.candidates(dataset, model, rows, REASON)
        results.predictions(dataset, model, rows, rows, REASON)
        # Of a model, nothing may be selected in a run that did not fail.
        selected = model == "good" and keys.get("of") == "models"
        results.fitted(dataset, model, REASON, reason="" if selected else REASON)
    table = results.draw(entry_of(name, keys))
    assert reasons(table) == [f"{dataset}, {model}: {REASON}" for model in models]
    assert is_escaped(results)
    assert "404" in results.text


@pytest.mark.parametrize("name", OF_ROWS)
def test_data_that_are_not_available_are_a_gap_with_the_reason(results, name):
    results.data("moons-apart", REASON.removeprefix("no data: "))
    table = results.draw(entry_of(name, OF_ROWS[name]))
    assert set(table["reason"]) == {REASON}
    assert is_escaped(results)
    assert "404" in results.text


@pytest.mark.parametrize("model", ["good", "bad"])
def test_a_fit_that_fails_is_a_gap_with_the_reason(results, model, catalog):
    """An SVM has no hidden space, and a kernel matrix is no data set of two features."""
    results.data("moons-apart", prepare("moons-apart", catalog["moons-apart"]))
    [reason] = results.draw({"type": "process", "dataset": "moons-apart", "model": model})["reason"]
    assert reason.startswith("failed: TypeError" if model == "good" else "failed: ValueError")
    assert is_escaped(results)


def test_every_script_is_drawn_by_a_test_and_says_what_it_draws():
    measured = {
        "by_data",
        "closed_forms",
        "density",
        "evaluations",
        "starts",
    }  # which test_scripts draws, with a failure each
    scripts = {file.stem: file for file in (SCRIPTS / "figures").glob("*.py")}
    assert scripts.keys() == (OF_RUNS.keys() | OF_ROWS.keys() | measured) - FIGURE_TYPES.keys()
    for file in scripts.values():
        names = runpy.run_path(str(file))
        assert names["__doc__"]
        assert names["draw"].__doc__
        assert len(file.read_text().splitlines()) <= 80


def test_every_type_has_the_keys_of_an_entry_and_files_that_have_a_path():
    of_tables = {"critical_difference", "script"}  # whose failures have tests of their own
    assert FIGURE_TYPES.keys() - OF_RUNS.keys() - OF_ROWS.keys() == of_tables
    for name, one in FIGURE_TYPES.items():
        assert {"type", "caption", "notes"} <= {*one.model_fields}, name
    assert {stage for stages in STAGES.values() for stage in stages} <= FILES.keys()


@pytest.mark.parametrize("name", ["roc", "residuals", "confusion_matrix"])
def test_figures_of_predictions_need_nothing_but_their_type(results, name):
    """All data sets, and the models of the study's first criterion."""
    results.study["datasets"] = {"one": ["sklearn-diabetes" if name == "residuals" else "moons-apart"]}
    results.study["models"]["bad"]["criteria"] = []
    results.study["models"]["printed"] = {"published_only": True}
    del results.study["tables"]
    entry = results.load({"type": name, "caption": "Given"}).figures["figure"]
    assert (entry.datasets, entry.models, entry.criterion) == ("all", ["good"], "cv")
    assert FIGURE_TYPES[name].model_fields["caption"].default


# --- a script of a user's --------------------------------------------------------------------------------

MINE = '''
"""A panel with nothing but a text."""

from entrolab.figures.drawing import draw_panels


def draw(files, *, words: list[str], size: int = 3):
    def panel(source):
        return " ".join(words * size), {"rows": len(source.data().y)}

    return draw_panels(files, panel)
'''


@pytest.fixture
def mine(results):
    (results.folder / "mine.py").write_text(MINE)
    params = {"words": ["no"]}
    return {"type": "script", "script": "mine.py", "of": "rows", "datasets": "moons", "params": params}


def test_a_script_is_a_path_from_the_study_or_a_name_in_the_workflow(results, mine, catalog):
    results.data("moons-apart", prepare("moons-apart", catalog["moons-apart"]))
    assert results.draw(mine)["reason"].tolist() == ["no no no"]
    spec = results.load({**mine, "script": "samples", "params": {"rows": 1}}).spec_of_figure("figure")
    assert Path(spec.script).resolve() == SCRIPTS / "figures" / "samples.py"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        # What else a script and its params may lack is tested of measured tables.
        ({"script": "mine"}, "figure.script: found 'mine'"),
        ({"params": {}}, "figure.params: the key 'words' is missing"),
        ({"datasets": None}, "figure: the key 'datasets' is missing"),
        ({"of": "models"}, "figure: the key 'models' is missing"),
        ({"of": "measured"}, "figure: the key 'table' is missing"),
        (
            {"of": "measured", "table": "counts"},
            "figure: found 'datasets' beside 'of: measured'; accepted: tab",
        ),
        ({"table": "counts"}, "figure: found 'table' beside 'of: rows'; accepted: datasets"),
        ({"of": "measured", "table": "counts", "datasets": None}, "unknown measured table 'counts'"),
        ({"of": "table", "table": "counts", "datasets": "mons"}, "unknown group of data sets 'mons'"),
        ({"of": "candidates", "models": ["goood"]}, "figure.models: unknown model 'goood', did you mean"),
        ({"of": "candidates", "models": ["good"], "metric": "auc"}, "unknown metric of this study 'auc'"),
        ({"of": "predictions", "models": ["good"], "metric": "rmse"}, "'rmse' does not fit 'moons-apart'"),
        ({"of": "predictions", "models": ["good"], "criterion": "kv"}, "unknown criterion of model 'good'"),
    ],
)
def test_a_mistake_in_a_script_is_one_line_before_any_work(results, mine, change, line):
    entry = {key: value for key, value in {**mine, **change}.items() if value is not None}
    assert line in refused(results.load, entry)


@pytest.mark.parametrize(
    ("name", "change", "line"),
    [
        ("roc", {"datasets": "digits"}, "'sklearn-digits' is a multiclass data set; accepted: binary data"),
        ("residuals", {"datasets": "moons"}, "'moons-apart' is a binary data set; accepted: regression data"),
        ("confusion_matrix", {"datasets": "values"}, "accepted: binary and multiclass data sets"),
        (
            "roc",
            {"models": "all", "criterion": "dcs_gaussian"},
            "figure.models: found no model with the crit",
        ),
        ("support", {"models": ["bad"]}, "figure.models: 'bad' has no criteria"),
        ("roc", {"models": ["bad"]}, "unknown criterion of model 'bad' 'cv'"),
    ],
)
def test_a_mistake_in_a_figure_of_selected_models_is_one_line(results, name, change, line):
    results.study["models"]["bad"]["criteria"] = []
    assert line in refused(results.load, {**entry_of(name, OF_RUNS[name]), "models": ["good"], **change})
