"""Studies and settings: what is read from them, and the one line that says what is wrong."""

import copy
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from entrolearn.lab.cells import (
    cell_spec,
    figure_cells,
    figure_files,
    figure_spec,
    measurement_spec,
    protocol_of,
    scaling_of,
    study_cells,
    table_cells,
    table_files,
)
from entrolearn.lab.config import (
    load_catalog,
    load_configuration,
    load_studies,
    load_study,
    read_yaml,
)
from entrolearn.lab.kinds import KINDS
from entrolearn.lab.measuring import correlations
from entrolearn.lab.metrics import METRICS
from entrolearn.lab.schema import ConfigError
from entrolearn.lab.tables import table_spec
from entrolearn.machines.layers import ACTIVATIONS

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "workflow" / "schemas"
CATALOG = {key: {"task": "binary", "expect": {"rows": 200}} for key in ("heart", "sonar", "two-moons")}

STUDY = {
    "title": "A study",
    "scaling": {"method": "minmax", "range": [0, 1], "fit_on": "all"},
    "protocol": {"folds": 3},
    "metrics": ["gmean", "accuracy"],
    "criteria": ["cv", "dcs_gaussian"],
    "datasets": {"small": ["heart", "sonar"], "moons": ["two-moons"]},
    "models": {
        "svm": {
            "label": "SVM",
            "estimator": "sklearn.svm.SVC",
            "params": {"kernel": "rbf"},
            "grid": {"gamma": {"logspace": [-2, 0, 10]}, "C": [1]},
        },
        "lda": {
            "label": "LDA",
            "estimator": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
            "steps": [{"estimator": "sklearn.preprocessing.StandardScaler"}],
        },
        "eem": {
            "label": "EEM",
            "estimator": "entrolearn.EEMClassifier",
            "params": {"activation": "rbf"},
            "grid": {"n_hidden": {"range": [5, 20, 5]}},
            "criteria": ["dcs_gaussian"],
        },
    },
    "tables": {
        "table1": {
            "kind": "scores",
            "caption": "All",
            "datasets": "small",
            "models": "all",
            "metric": "gmean",
            "criterion": "cv",
        },
        "table2": {
            "kind": "scores",
            "caption": "One",
            "datasets": "moons",
            "models": ["svm"],
            "metric": "accuracy",
            "criterion": "dcs_gaussian",
        },
        "counts": {"kind": "characteristics", "caption": "Counts", "datasets": "small"},
        "seconds": {"kind": "times", "caption": "Seconds", "datasets": "moons", "models": ["lda"]},
        "ranks": {
            "kind": "correlations",
            "caption": "Ranks",
            "datasets": "small",
            "sizes": [1, 10],
            "layers": 3,
            "operators": 4,
            "reading": {"activation": "rbf", "weights": "normal", "formula": "right", "data": "scaled"},
            "readings": {
                "datasets": "moons",
                "activation": ["rbf", "sigmoid"],
                "weights": ["normal"],
                "formula": ["right"],
                "data": ["scaled", "raw"],
            },
        },
        "growth": {
            "kind": "growth",
            "caption": "Growth",
            "datasets": "moons",
            "models": {"svm": {"params": {"C": 2}, "rows": [5, 6, 7]}, "lda": {"size": "n_components"}},
            "rows": [10, 20, 40],
            "sizes": [1, 2, 3],
            "at": {"rows": 40, "size": 1},
            "repeats": 2,
        },
    },
    "figures": {
        "figure1": {
            "kind": "process",
            "caption": "A plane",
            "dataset": "two-moons",
            "model": "eem",
            "params": {"n_hidden": 9},
        },
        "figure2": {
            "kind": "grid_curves",
            "caption": "Sizes",
            "datasets": "moons",
            "models": ["eem"],
            "parameter": "n_hidden",
            "metric": "gmean",
        },
    },
}


def written(folder: Path, study: dict, name: str = "mine") -> Path:
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False))
    return file


def loaded(folder: Path, study: dict) -> dict:
    return load_study(written(folder, study), SCHEMAS / "paper.yaml", CATALOG)


def changed(place: str, value) -> dict:
    """The study with the value at a dotted place set, or removed if it is None."""
    study = copy.deepcopy(STUDY)
    *parents, last = place.split(".")
    node = study
    for parent in parents:
        node = node[parent]
    if value is None:
        del node[last]
    else:
        node[last] = value
    return study


def test_defaults_are_filled_in_and_grids_expanded(tmp_path):
    study = loaded(tmp_path, STUDY)

    assert study["protocol"] == {"folds": 3, "repeats": 1, "inner": "leave-two-folds-out"}
    assert study["models"]["svm"]["grid"] == {"gamma": [0.01, 0.1, 1.0], "C": [1]}
    assert study["models"]["lda"]["grid"] == {}
    assert study["tables"]["table1"]["notes"] == []


def test_all_models_are_those_without_criteria_of_their_own(tmp_path):
    study = loaded(tmp_path, STUDY)
    assert study["tables"]["table1"]["models"] == ["svm", "lda"]
    assert [study["models"][name]["criteria"] for name in ("svm", "eem")] == [
        ["cv", "dcs_gaussian"],
        ["dcs_gaussian"],
    ]
    assert cell_spec("mine", study, "heart", "eem", 0)["criteria"] == ["dcs_gaussian"]


def test_a_range_has_both_its_ends(tmp_path):
    assert loaded(tmp_path, STUDY)["models"]["eem"]["grid"] == {"n_hidden": [5, 10, 15, 20]}


def test_a_figure_resolves_its_names(tmp_path):
    study = loaded(tmp_path, STUDY)

    process = figure_spec("mine", study, "figure1", 0)
    assert process["model"] == {
        "label": "EEM",
        "sublabel": "",
        "estimator": "entrolearn.EEMClassifier",
        "steps": [],
        "params": {"activation": "rbf", "n_hidden": 9},
    }
    assert process["seed"] != figure_spec("mine", study, "figure1", 1)["seed"]
    curves = figure_spec("mine", study, "figure2", 0)
    assert (curves["datasets"], list(curves["models"])) == (["two-moons"], ["eem"])
    assert study["figures"]["figure1"]["notes"] == []


def test_a_study_needs_no_figure(tmp_path):
    study = loaded(tmp_path, changed("figures", None))
    assert study["figures"] == {}


def test_cells_are_those_that_tables_and_figures_show(tmp_path):
    study = loaded(tmp_path, STUDY)
    four = [("heart", "svm"), ("heart", "lda"), ("sonar", "svm"), ("sonar", "lda")]

    assert table_cells(study, "table1") == four
    assert table_cells(study, "table2") == [("two-moons", "svm")]
    assert table_cells(study, "seconds") == [("two-moons", "lda")]
    for measured in ("counts", "ranks", "growth"):
        assert table_cells(study, measured) == []
    assert figure_cells(study, "figure1") == []
    assert figure_cells(study, "figure2") == [("two-moons", "eem")]
    moons = [("two-moons", model) for model in ("svm", "lda", "eem")]
    assert study_cells(study) == [*four, *moons]


def test_the_files_of_a_table_are_those_that_its_kind_reads(tmp_path):
    study = loaded(tmp_path, changed("tables.table2.among", {"gamma": {"max": 1}}))

    assert table_files("mine", study, "counts") == ["results/data/heart.npz", "results/data/sonar.npz"]
    assert table_files("mine", study, "ranks") == [
        "results/mine/measured/ranks/heart.parquet",
        "results/mine/measured/ranks/sonar.parquet",
    ]
    assert table_files("mine", study, "seconds") == [
        "results/mine/models/two-moons",
        "results/mine/records/two-moons/lda.json",
    ]
    assert table_files("mine", study, "table2") == [
        "results/mine/scores/two-moons",
        "results/mine/records/two-moons/svm.json",
        "results/mine/candidates/two-moons/svm.parquet",
    ]


def test_a_measurement_holds_what_decides_it_and_no_words(tmp_path):
    study = loaded(tmp_path, STUDY)
    ranks = measurement_spec("mine", study, "ranks", "heart", seed=3)

    assert ranks == {
        "paper": "mine",
        "table": "ranks",
        "dataset": "heart",
        "measured_by": "entrolearn.lab.measuring.correlations",
        "seed": 3,
        "sizes": [1, 10],
        "layers": 3,
        "operators": 4,
        "reading": study["tables"]["ranks"]["reading"],
        "readings": [],
    }


def test_other_readings_are_every_combination_but_the_tables_own_and_for_their_group_alone(tmp_path):
    study = loaded(
        tmp_path,
        changed("datasets.moons", ["two-moons", "heart"]) | {"tables": {"ranks": STUDY["tables"]["ranks"]}},
    )
    readings = measurement_spec("mine", study, "ranks", "heart", seed=0)["readings"]

    assert [(one["activation"], one["data"]) for one in readings] == [
        ("rbf", "raw"),
        ("sigmoid", "scaled"),
        ("sigmoid", "raw"),
    ]
    assert measurement_spec("mine", study, "ranks", "sonar", seed=0)["readings"] == []


def test_growth_is_measured_with_a_models_own_parameters_and_rows(tmp_path):
    models = measurement_spec("mine", loaded(tmp_path, STUDY), "growth", "two-moons", seed=0)["models"]

    assert models["svm"] == {
        "estimator": "sklearn.svm.SVC",
        "steps": [],
        "params": {"kernel": "rbf", "C": 2},
        "size": "",
        "rows": [5, 6, 7],
    }
    assert (models["lda"]["size"], models["lda"]["rows"]) == ("n_components", [10, 20, 40])


def test_a_cell_changes_with_its_own_model_alone(tmp_path):
    before = loaded(tmp_path, STUDY)
    after = loaded(tmp_path, changed("models.svm.grid.C", [1, 10]))

    assert cell_spec("mine", before, "heart", "svm", 0) != cell_spec("mine", after, "heart", "svm", 0)
    assert cell_spec("mine", before, "heart", "lda", 0) == cell_spec("mine", after, "heart", "lda", 0)


def test_a_caption_is_no_part_of_a_cell(tmp_path):
    before = loaded(tmp_path, STUDY)
    after = loaded(tmp_path, changed("tables.table1.caption", "Another"))

    assert cell_spec("mine", before, "heart", "svm", 0) == cell_spec("mine", after, "heart", "svm", 0)


def test_published_is_found_beside_the_study(tmp_path):
    (tmp_path / "printed.csv").touch()
    study = loaded(tmp_path, changed("published", "printed.csv"))

    assert study["published"] == str(tmp_path / "printed.csv")


@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        ("titel", "x", "unknown key 'titel', did you mean 'title'?"),
        ("title", None, "the key 'title' is missing"),
        ("protocol.fold", 3, "protocol: unknown key 'fold', did you mean 'folds'?"),
        ("protocol.folds", 1, "protocol.folds: 1 is less than the minimum of 2"),
        ("protocol.folds", "ten", "protocol.folds: found 'ten', expected a value of type integer"),
        ("scaling.method", "min-max", "scaling.method: found 'min-max', did you mean 'minmax'?"),
        ("criteria", ["cv", "dcs_gausian"], "criteria.1: found 'dcs_gausian', did you mean 'dcs_gaussian'?"),
        ("metrics", ["gmeen"], "metrics.0: found 'gmeen', did you mean 'gmean'?"),
        ("datasets.small", ["hart"], "datasets.small: unknown data set 'hart', did you mean 'heart'?"),
        ("models.svm.estimator", "sklearn.svm.SVCC", "no 'SVCC' in sklearn.svm, did you mean 'SVC'?"),
        ("models.svm.estimator", "SVC", "found 'SVC', expected a dotted import path"),
        ("models.svm.estimator", "sklern.svm.SVC", "no package 'sklern' is installed"),
        ("models.svm.estimator", "entrolearn.EEMClasifier", "did you mean 'EEMClassifier'?"),
        ("models.svm.params", {"kernl": 1}, "no parameter 'kernl' (models.svm.params), did you mean"),
        ("models.svm.grid", {"gama": [1]}, "no parameter 'gama' (models.svm.grid), did you mean 'gamma'?"),
        ("models.svm.grid", {"C": 1}, "models.svm.grid.C: found 1, expected a list of values"),
        ("models.svm.grid", {"C": {"logspce": [0, 1, 10]}}, "expected a list of values, {logspace: ["),
        ("models.SVM", {"label": "x", "estimator": "a.B"}, "found 'SVM', expected a name of lower-case"),
        ("models.lda.steps", [{"estimator": "sklearn.preprocessing.Standard"}], "no 'Standard' in"),
        ("tables.table1.kind", "skores", "tables.table1.kind: found 'skores', did you mean 'scores'?"),
        ("tables.table1.models", ["svn"], "tables.table1.models: unknown model 'svn', did you mean 'svm'?"),
        ("tables.table1.datasets", "smal", "tables.table1.datasets: unknown group of data sets 'smal'"),
        ("tables.table1.metric", "balanced_accuracy", "unknown metric of this study 'balanced_accuracy'"),
        ("tables.table1.among", {"gama": {"max": 1}}, "unknown parameter in this table's grids 'gama'"),
        ("tables.table1.among", {"gamma": {"most": 1}}, "unknown key 'most'"),
        ("tables.table1.criterion", "dcs_kde", "unknown criterion of this study 'dcs_kde'"),
        ("tables.table1.sizes", [1], "tables.table1: unknown key 'sizes'"),
        ("tables.seconds.metric", "gmean", "tables.seconds: unknown key 'metric'"),
        ("tables.seconds.models", ["ldaa"], "seconds.models: unknown model 'ldaa', did you mean 'lda'?"),
        ("tables.counts.kind", None, "tables.counts: the key 'kind' is missing"),
        ("tables.counts.datasets", "smal", "tables.counts.datasets: unknown group of data sets 'smal'"),
        ("tables.ranks.layers", 1, "tables.ranks.layers: 1 is less than the minimum of 2"),
        ("tables.ranks.reading.weights", "norml", "ranks.reading.weights: found 'norml', did you mean"),
        ("tables.ranks.readings.datasets", "moon", "tables.ranks.readings.datasets: unknown group of data"),
        ("tables.growth.datasets", "small", "'small' has 2 data sets; a table of the kind growth takes one"),
        ("tables.growth.rows", [1, 2], "tables.growth.rows: found [1, 2], expected a list of at least three"),
        ("tables.growth.models.svn", {}, "tables.growth.models: unknown model 'svn', did you mean 'svm'?"),
        ("tables.growth.models.svm.size", "n_hiden", "growth.models.svm: unknown parameter of sklearn"),
        ("tables.growth.models.svm.params", {"gama": 1}, "'gama', did you mean 'gamma'?"),
        ("published", "nowhere.csv", "published: there is no file"),
        ("models.eem.criteria", ["dcs_kde"], "models.eem.criteria: unknown criterion of this study"),
        ("models.eem.grid.n_hidden", {"range": [5, 21, 5]}, "steps of 5 do not lead from 5 to 21; accepted"),
        ("models.eem.grid.n_hidden", {"range": [5, 1, 5]}, "n_hidden: steps of 5 do not lead from 5 to 1"),
        ("models.eem.grid.n_hidden", {"range": [5, 20, 0]}, "found {'range': [5, 20, 0]}, expected a list"),
        ("models.eem.grid", {"n_hidden": [5, "x"]}, "'eem' has n_hidden = 'x'; accepted: numbers"),
        ("tables.table1.models", ["eem"], "unknown criterion of model 'eem' 'cv'; accepted: dcs_gaussian"),
        ("figures.figure1.kind", "proces", "figures.figure1.kind: found 'proces', did you mean 'process'?"),
        ("figures.figure1.dataset", "two-mons", "unknown data set 'two-mons', did you mean 'two-moons'?"),
        ("figures.figure1.model", "eemm", "figures.figure1.model: unknown model 'eemm', did you mean 'eem'?"),
        ("figures.figure1.model", None, "figures.figure1: the key 'model' is missing"),
        ("figures.figure1.metric", "gmean", "figures.figure1: unknown key 'metric'; accepted: kind, caption"),
        ("figures.figure1.params", {"n_hiden": 3}, "no parameter 'n_hiden' (figures.figure1.params)"),
        ("figures.figure2.models", ["eemm"], "figure2.models: unknown model 'eemm', did you mean 'eem'?"),
        ("figures.figure2.models", [], "found [], expected a list of one to six model names"),
        ("figures.figure2.models", ["svm"], "figure2.parameter: the grid of model 'svm' is over gamma, C;"),
        ("figures.figure2.models", ["lda"], "the grid of model 'lda' is over nothing; accepted: models with"),
        ("figures.figure2.parameter", "gamma", "the grid of model 'eem' is over n_hidden; accepted: models"),
        ("figures.figure2.datasets", "mons", "unknown group of data sets 'mons', did you mean 'moons'?"),
        ("figures.figure2.metric", "acuracy", "unknown metric of this study 'acuracy', did you mean"),
        ("figures.figure2.dataset", "heart", "figure2: unknown key 'dataset', did you mean 'datasets'?"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_its_place(tmp_path, place, value, line):
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, changed(place, value))

    message = str(caught.value)
    assert line in message
    assert message.startswith(f"{tmp_path / 'mine.yaml'}: ")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("title: a\ntitle: b\n", "line 2: key 'title' is repeated"),
        ("title: [a\n", "line 2"),
        ("just words\n", "expected a value of type object"),
    ],
)
def test_what_is_not_a_mapping_is_one_line(tmp_path, text, line):
    file = tmp_path / "mine.yaml"
    file.write_text(text)

    with pytest.raises(ConfigError, match=line):
        load_study(file, SCHEMAS / "paper.yaml", CATALOG)


def test_numbers_without_a_dot_are_numbers(tmp_path):
    """PyYAML follows YAML 1.1, in which 1e-3 is a string."""
    file = tmp_path / "numbers.yaml"
    file.write_text("[1e-3, 2E5, 1.5e+2, -1e1, 10, 1.5, 1e, e1]")

    assert read_yaml(file) == [0.001, 2e5, 150.0, -10.0, 10, 1.5, "1e", "e1"]


def test_a_study_needs_a_name_that_can_be_a_target(tmp_path):
    with pytest.raises(ConfigError, match="lower-case"):
        load_study(written(tmp_path, STUDY, "My-Study"), SCHEMAS / "paper.yaml", CATALOG)


def test_two_studies_of_one_name_are_refused(tmp_path):
    folders = [tmp_path / "ours", tmp_path / "yours"]
    for folder in folders:
        folder.mkdir()
        written(folder, STUDY)

    with pytest.raises(ConfigError, match="there is a study 'mine' already"):
        load_studies(folders, SCHEMAS / "paper.yaml", CATALOG)


def test_a_catalog_of_ones_own_adds_data_sets_and_replaces_none(tmp_path):
    ours = ROOT / "config" / "datasets.yaml"
    entry = yaml.safe_load(ours.read_text())["two-moons"]
    own = tmp_path / "own.yaml"

    own.write_text(yaml.safe_dump({"my-moons": entry}))
    assert "my-moons" in load_catalog([ours, own], SCHEMAS / "dataset.yaml")

    own.write_text(yaml.safe_dump({"two-moons": entry}))
    with pytest.raises(ConfigError, match="there is a data set 'two-moons' already"):
        load_catalog([ours, own], SCHEMAS / "dataset.yaml")


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ({"papers": ["eemm"], "seed": 0}, "unknown study 'eemm', did you mean 'eem'?"),
        ({"papers": ["eem"], "sed": 0}, "unknown key 'sed', did you mean 'seed'?"),
        ({"papers": ["eem"], "seed": -1}, "seed: -1 is less than the minimum of 0"),
        (
            {"papers": ["eem"], "seed": 0, "limit_gib": 0},
            "limit_gib: 0 is less than or equal to the minimum of 0",
        ),
        ({"papers": 3, "seed": 0}, "papers: found 3, expected a study's name or a list of them"),
    ],
)
def test_a_mistake_in_the_settings_is_one_line(config, line):
    with pytest.raises(ConfigError, match=line) as caught:
        load_configuration(ROOT, config)
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------------- data sets of several tasks and sizes

TASKS = {"heart": "binary", "sonar": "multiclass", "two-moons": "regression"}
SIZED = {
    "title": "Trials",
    "scaling": {"method": {"of_dataset": "scaling"}, "range": [-1, 1], "fit_on": "all", "targets": [0, 1]},
    "protocol": {
        "trials": 20,
        "train": {"of_dataset": "n_train"},
        "test": 30,
        "inner": {"folds": 4, "used": {"of_dataset": "inner"}},
    },
    "metrics": ["accuracy", "f1", "rmse"],
    "criteria": ["cv"],
    "of_dataset": {
        "scaling": {"default": "minmax", "sonar": "maxabs"},
        "n_train": {"heart": 100, "sonar": 80, "two-moons": 60},
        "inner": {"default": 4, "heart": 1},
        "alpha": {"default": {"logspace": [-1, 1, 2]}, "sonar": [1, 2]},
        "size": {"heart": 7, "default": 9},
    },
    "datasets": {"classes": ["heart", "sonar"], "values": ["two-moons"], "all": list(TASKS)},
    "models": {
        "ridge": {
            "label": "Ridge",
            "estimators": {
                "classification": "sklearn.linear_model.RidgeClassifier",
                "regression": "sklearn.linear_model.Ridge",
            },
            "params": {"max_iter": {"of_dataset": "size"}},
            "grid": {"alpha": {"of_dataset": "alpha"}},
        },
        "svm": {
            "label": "SVM",
            "estimators": {"classification": "sklearn.svm.SVC"},
            "grid": {"C": {"logspace": [0, 1, 10]}},
            "trials": 5,
        },
        "eem": {"label": "EEM", "estimator": "entrolearn.EEMClassifier", "criteria": ["cv"]},
        "other": {"label": "In print", "printed_only": True},
    },
    "tables": {
        "accuracies": {
            "kind": "scores",
            "caption": "Accuracy",
            "datasets": "classes",
            "models": ["ridge", "svm", "other"],
            "metric": "accuracy",
            "criterion": "cv",
        },
        "errors": {
            "kind": "scores",
            "caption": "RMSE",
            "datasets": "values",
            "models": "all",
            "metric": "rmse",
            "criterion": "cv",
        },
        "growth": {**STUDY["tables"]["growth"], "datasets": "values", "models": {"eem": {}}},
    },
    "figures": {
        "curves": {
            "kind": "grid_curves",
            "caption": "Errors",
            "datasets": "classes",
            "models": ["svm"],
            "parameter": "C",
            "metric": "accuracy",
        },
        "plane": {"kind": "process", "caption": "A plane", "dataset": "heart", "model": "eem"},
    },
}


SPARSE = {
    "kind": "density",
    "caption": "Density",
    "models": {"ridge": {"params": {"alpha": 2}}, "eem": {}},
    "dims": [10, 100],
    "densities": [0.1],
    "rows": 20,
}
KINDS_OF_TRIALS = {
    "tables": {
        "chosen": {
            "kind": "parameters",
            "caption": "Parameters",
            "datasets": "all",
            "models": {"ridge": {"lambda": "1/alpha"}, "svm": {"C": "C", "n_support": "n_support"}},
            "criterion": "cv",
        },
        "sparse": SPARSE,
        "sizes": {"kind": "characteristics", "caption": "Sizes", "datasets": "all", "counts": ["n_train"]},
    },
    "figures": {
        "each": {
            "kind": "trials",
            "caption": "Trials",
            "datasets": "all",
            "models": ["ridge"],
            "metric": ["accuracy", "rmse"],
            "criterion": "cv",
        },
        "density": {"kind": "density", "caption": "Density", "table": "sparse"},
    },
}


def with_kinds(place: str = "", value=None) -> dict:
    """The study of trials with further kinds of tables and figures, one key of them changed."""
    study = copy.deepcopy(SIZED)
    for group, entries in copy.deepcopy(KINDS_OF_TRIALS).items():
        study[group] |= entries
    if place:
        *parents, last = place.split(".")
        node = study
        for parent in parents:
            node = node[parent]
        node[last] = value
    return study


def test_figures_and_tables_are_made_of_what_their_kinds_read(tmp_path):
    study = load_sized(tmp_path, with_kinds())
    assert table_files("mine", study, "sparse") == ["results/mine/measured/sparse/generated.parquet"]
    assert figure_files("mine", study, "density") == ["results/mine/measured/sparse/generated.parquet"]
    assert figure_files("mine", study, "plane") == ["results/mine/scaled/heart.npz"]
    assert figure_files("mine", study, "each") == [f"results/mine/scores/{dataset}" for dataset in TASKS]
    assert "results/mine/folds/heart.npz" in table_files("mine", study, "sizes")
    assert ("two-moons", "svm") not in table_cells(study, "chosen")
    assert figure_spec("mine", study, "density", 0)["dims"] == [10, 100]
    assert figure_spec("mine", study, "each", 0)["metrics"] == ["accuracy", "rmse"]


def test_generated_data_are_measured_with_the_learner_of_their_task(tmp_path):
    study = load_sized(tmp_path, with_kinds())
    measured = measurement_spec("mine", study, "sparse", "generated", 0)
    assert measured["models"]["ridge"]["estimator"] == "sklearn.linear_model.RidgeClassifier"
    assert measured["models"]["ridge"]["params"]["alpha"] == 2
    assert (measured["repeats"], measured["gib"], measured["task"]) == (3, 8, "binary")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("tables.chosen.models.ridge.lambda", "1/alfa", "unknown parameter of model 'ridge' 'alfa', did you"),
        ("tables.chosen.models.rigde", {"C": "C"}, "unknown model 'rigde', did you mean 'ridge'?"),
        ("tables.chosen.criterion", "dcs_kde", "unknown criterion of this study 'dcs_kde'"),
        ("tables.sparse.densities", [2], "tables.sparse.densities.0: 2 is greater than the maximum of 1"),
        ("tables.sparse.models.ridge.params", {"alfa": 1}, "unknown parameter of sklearn.linear_model.Ridge"),
        ("tables.sparse.datasets", "all", "tables.sparse: unknown key 'datasets'"),
        ("tables.sizes.counts", ["n_trian"], "found 'n_trian', did you mean 'n_train'?"),
        ("tables.accuracies.tolerance", {"point": 1}, "unknown key 'point', did you mean 'points'?"),
        ("figures.density.table", "sprase", "unknown table of densities 'sprase', did you mean 'sparse'?"),
        ("figures.each.metric", ["f1"], "figures.each.metric: 'f1' does not fit 'sonar', a multiclass data"),
        ("figures.each.criterion", "dcs_kde", "unknown criterion of model 'ridge' 'dcs_kde'"),
        (
            "figures.curves.by",
            "gamma",
            "the grid of model 'svm' is over C; accepted: models with a grid over",
        ),
        ("figures.curves.by", "C", "accepted: models with a grid over 'C' and 'C' alone"),
    ],
)
def test_a_mistake_in_a_kind_of_trials_is_one_line(tmp_path, place, value, message):
    with pytest.raises(ConfigError) as caught:
        load_sized(tmp_path, with_kinds(place, value))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def load_sized(folder: Path, study: dict = SIZED) -> dict:
    catalog = {key: {**CATALOG[key], "task": task} for key, task in TASKS.items()}
    return load_study(written(folder, study), SCHEMAS / "paper.yaml", catalog)


def test_a_cell_holds_the_values_of_its_data_set(tmp_path):
    study = load_sized(tmp_path)
    heart, sonar = (cell_spec("mine", study, dataset, "ridge", 0) for dataset in ("heart", "sonar"))

    assert (heart["params"], heart["grid"]) == ({"max_iter": 7}, {"alpha": [0.5, 1.0, 2.0]})
    assert (sonar["params"], sonar["grid"]) == ({"max_iter": 9}, {"alpha": [1, 2]})
    assert heart["protocol"] == {
        "trials": 20, "train": 100, "test": 30, "inner": {"folds": 4, "used": 1}
    }  # fmt: skip
    assert sonar["protocol"]["inner"] == {"folds": 4, "used": 4}
    assert [scaling_of(study, dataset)["method"] for dataset in TASKS] == ["minmax", "maxabs", "minmax"]


def test_a_cell_has_the_learner_and_the_metrics_of_its_task(tmp_path):
    study = load_sized(tmp_path)
    cells = [cell_spec("mine", study, dataset, "ridge", 0) for dataset in TASKS]
    assert [cell["estimator"].rpartition(".")[2] for cell in cells] == ["RidgeClassifier"] * 2 + ["Ridge"]
    assert [cell["metrics"] for cell in cells] == [["accuracy", "f1"], ["accuracy"], ["rmse"]]


def test_cells_are_those_that_have_a_learner(tmp_path):
    study = load_sized(tmp_path)
    assert study["tables"]["errors"]["models"] == ["ridge", "svm"]
    assert study_cells(study) == [
        ("heart", "ridge"), ("heart", "svm"), ("sonar", "ridge"), ("sonar", "svm"), ("two-moons", "ridge")
    ]  # fmt: skip
    assert "results/mine/records/heart/other.json" not in table_files("mine", study, "accuracies")


def test_a_model_may_have_fewer_trials_and_shares_the_draws(tmp_path):
    study = load_sized(tmp_path)
    assert cell_spec("mine", study, "heart", "svm", 0)["protocol"]["trials"] == 5
    assert protocol_of(study, "heart")["trials"] == 20


def test_inner_folds_have_a_default(tmp_path):
    study = copy.deepcopy(SIZED)
    del study["protocol"]["inner"]
    assert load_sized(tmp_path, study)["protocol"]["inner"] == {"folds": 4, "used": 4}


@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        ("protocol.train", {"of_dataset": "n_trian"}, "train: unknown name of of_dataset 'n_trian', did you"),
        ("protocol.train", {"of": "n_train"}, "train: found {'of': 'n_train'}, expected a whole number"),
        ("protocol.folds", 3, "protocol: unknown key 'folds'; accepted: trials, train, test, inner"),
        ("protocol.inner.used", 5, "inner.used: found 5 for 'heart'; accepted: at most its 4 inner"),
        ("protocol.inner.folds", 90, "inner.folds: found 90 for 'sonar'; accepted: at most its 80 training"),
        ("protocol.test", 101, "found 100 training and 101 test rows for 'heart'; accepted: at most its 200"),
        ("of_dataset.n_train", {"heart": 9}, "of_dataset.n_train: no value for the data set 'sonar', for"),
        ("of_dataset.n_train.hart", 3, "of_dataset.n_train: unknown data set 'hart', did you mean 'heart'?"),
        ("of_dataset.n_train.sonar", 0, "protocol.train: found 0, expected a whole number from 1"),
        ("of_dataset.scaling.sonar", "maxab", "scaling.method: found 'maxab', did you mean 'maxabs'?"),
        ("of_dataset.alpha.heart", 3, "models.ridge.grid.alpha: found 3 for 'heart', expected a list of"),
        ("models.ridge.params.max_iter", {"of_dataset": "sise"}, "ridge.params.max_iter: unknown name of"),
        ("models.ridge.estimator", "sklearn.svm.SVC", "expected no such key beside estimators"),
        ("models.ridge.estimators.regresion", "a.B", "estimators: unknown key 'regresion', did you mean"),
        ("models.ridge.estimators.regression", "sklearn.svm.SVRR", "no 'SVRR' in sklearn.svm, did you mean"),
        ("models.ridge.grid.alpa", [1], "no parameter 'alpa' (models.ridge.grid), did you mean 'alpha'?"),
        ("models.other.grid", {}, "models.other.grid: found {}, expected no such key beside"),
        ("models.svm.trials", 21, "models.svm.trials: found 21; accepted: at most the protocol's 20"),
        ("models.svm.trials", {"of_dataset": "n_train"}, "svm.trials: found 100; accepted: at most the prot"),
        ("tables.errors.metric", "f1", "errors.metric: 'f1' does not fit 'two-moons', a regression data set"),
        ("tables.accuracies.metric", "f1", "'f1' does not fit 'sonar', a multiclass data set; accepted: acc"),
        ("metrics", ["accuracy"], "tables.errors.metric: unknown metric of this study 'rmse'"),
        ("figures.curves.metric", "rmse", "curves.metric: 'rmse' does not fit 'heart', a binary data set"),
        ("figures.curves.models", ["other"], "curves: the model 'other' has no learner that it could run"),
        ("figures.plane.model", "svm", "plane: the model 'svm' has no learner that it could run; acc"),
        ("tables.growth.models", {"svm": {}}, "tables.growth: the model 'svm' has no learner that it could"),
    ],
)  # fmt: skip
def test_a_mistake_in_what_differs_between_data_sets_is_one_line(tmp_path, place, value, line):
    study = copy.deepcopy(SIZED)
    *parents, last = place.split(".")
    node = study
    for parent in parents:
        node = node[parent]
    node[last] = value
    with pytest.raises(ConfigError) as caught:
        load_sized(tmp_path, study)

    message = str(caught.value)
    assert line in message
    assert message.startswith(f"{tmp_path / 'mine.yaml'}: ")
    assert "\n" not in message


def test_data_sets_that_no_metric_fits_are_refused_where_models_are_trained(tmp_path):
    study = copy.deepcopy(SIZED)
    study["metrics"] = ["accuracy"]
    study["tables"]["errors"] = {"kind": "times", "caption": "", "datasets": "values", "models": ["ridge"]}
    with pytest.raises(ConfigError, match="metrics: none of them fits 'two-moons', a regression data set"):
        load_sized(tmp_path, study)


def test_the_projects_own_configuration_is_right():
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    catalog, studies, settings = load_configuration(ROOT, config)

    assert {"eem", "demo"} <= studies.keys()
    assert settings["papers"] == ["demo"]
    assert "australian" in catalog
    # The paper's Tables 4, 9 and 10: nine data sets in rows, nine models in columns.
    assert [len(table_cells(studies["eem"], table)) for table in ("table4", "table9", "table10")] == [81] * 3
    assert [name for name in studies["eem"]["tables"] if "_" not in name] == [
        f"table{k}" for k in range(1, 11)
    ]
    printed = pd.read_csv(ROOT / "config" / "published" / "eem.csv").fillna({"dataset": "", "model": ""})
    printed = set(printed[["table", "dataset", "model", "metric"]].itertuples(index=False, name=None))
    shown = set()
    for name in studies["eem"]["tables"]:
        spec = table_spec("eem", studies["eem"], name)
        kind = KINDS[spec["kind"]]
        shown |= {(spec["printed"], *kind.printed_at(cell)) for cell in kind.cells(spec)}
    # Every number in print has its cell.
    assert printed <= shown
    # Section 7.5: h = 5, 10, ..., 500; the nine UCI sets and one more, in figure 3 alone.
    sweep = studies["eem"]["models"]["eem_sweep"]["grid"]["n_hidden"]
    assert (sweep[0], sweep[1], sweep[-1], len(sweep)) == (5, 10, 500, 100)
    assert len(figure_cells(studies["eem"], "figure3")) == 10
    # Section 7: C = 10^-1 ... 10^10, gamma = 10^-10 ... 10^0.
    grid = studies["eem"]["models"]["svm_rbf"]["grid"]
    assert (grid["C"][0], grid["C"][-1], len(grid["C"])) == (0.1, 1e10, 12)
    assert (grid["gamma"][0], grid["gamma"][-1], len(grid["gamma"])) == (1e-10, 1.0, 11)


def test_the_schema_knows_the_metrics_that_training_computes():
    schema = yaml.safe_load((SCHEMAS / "paper.yaml").read_text())
    assert schema["properties"]["metrics"]["items"]["enum"] == list(METRICS)


def test_the_schema_knows_the_kinds_of_tables_and_their_readings():
    known = yaml.safe_load((SCHEMAS / "paper.yaml").read_text())["$defs"]
    assert known["table"]["properties"]["kind"]["enum"] == list(KINDS)
    assert known["activation"]["enum"] == list(ACTIVATIONS)
    assert known["weights"]["enum"] == list(correlations.WEIGHTS)
    assert known["formula"]["enum"] == list(correlations.FORMULAS)


def test_reading_the_configuration_imports_nothing_heavy():
    program = (
        "import sys, yaml; from entrolearn.lab.config import load_configuration;"
        "load_configuration(sys.argv[1], yaml.safe_load(open(sys.argv[1] + '/config/config.yaml')));"
        "print(*({'numpy', 'sklearn', 'pandas', 'mlflow'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(ROOT)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
