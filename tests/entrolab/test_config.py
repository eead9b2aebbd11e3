"""Settings, catalogs and studies: what is read from them, with every default in its place."""

import copy
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from entrolab import LEARNERS_IN, load_published
from entrolab.schema.sections import ConfigError
from entrolab.study.config import (
    Studies,
    load_catalog,
    load_configuration,
    load_study,
    read_yaml,
    study_files,
)
from entrolab.tables.making import second_reading_of

ROOT = Path(__file__).parents[2]


def test_defaults_are_filled_in_and_grids_expanded(load, study):
    study = load(study)

    assert (study.protocol.folds, study.protocol.repeats) == (3, 1)
    assert study.models["svm"].grid == {"gamma": [0.01, 0.1, 1.0], "C": [1]}
    assert study.models["lda"].grid == {}
    assert study.models["eem"].grid == {"n_hidden": [5, 10, 15, 20]}  # a range has both its ends
    assert study.tables["table1"].notes == []


def test_all_models_are_those_without_criteria_of_their_own(load, study):
    study = load(study)
    assert study.tables["table1"].models == ["svm", "lda"]
    assert [study.models[name].criteria for name in ("svm", "eem")] == [
        ["cv", "dcs_gaussian"],
        ["dcs_gaussian"],
    ]
    assert study.run("heart", "eem", 0).candidates == ["dcs_gaussian"]


def test_a_study_needs_no_figure(load, study):
    del study["figures"]
    assert load(study).figures == {}


def test_inner_folds_have_a_default(load_trials, study_of_trials):
    del study_of_trials["protocol"]["inner"]
    inner = load_trials(study_of_trials).protocol.inner
    assert (inner.folds, inner.used) == (4, 4)


def test_numbers_without_a_dot_are_numbers(tmp_path):
    """PyYAML follows YAML 1.1, in which 1e-3 is a string."""
    file = tmp_path / "numbers.yaml"
    file.write_text("[1e-3, 2E5, 1.5e+2, -1e1, 10, 1.5, 1e, e1]")

    assert read_yaml(file) == [0.001, 2e5, 150.0, -10.0, 10, 1.5, "1e", "e1"]


@pytest.mark.fault("Configuration", "numbers of thousands of digits, !!int of no number", "one line")
@pytest.mark.parametrize(
    "value",
    ["9" * 5000, "!!int x", "!!int ''", "!!bool maybe", "!!timestamp x", "!!binary é"],
)
def test_a_value_that_yaml_cannot_make_is_one_line(tmp_path, value):
    (tmp_path / "mine.yaml").write_text(f"title: a\nseed: {value}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"mine\.yaml: line 2: .*") as caught:
        read_yaml(tmp_path / "mine.yaml")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("part", "text"), [("title", "About {input}"), ("tables.table1.caption", "All of {paper}")]
)
@pytest.mark.fault("Configuration", "a title or a caption with {input}", "one line before any job")
def test_braces_in_what_snakemakes_report_shows_are_refused(load, study, part, text):
    (study if part == "title" else study["tables"]["table1"])[part.rpartition(".")[2]] = text
    with pytest.raises(ConfigError, match=rf"{part}: found .*, expected a text without braces"):
        load(study)


@pytest.mark.fault("Configuration", "a name that ends in a line break, or has 300 letters", "one line")
@pytest.mark.parametrize("name", ["mine\n", "m" * 300], ids=["line break", "long"])
def test_a_name_that_no_file_can_have_is_refused(load, study, name):
    study["models"][name] = {"estimator": "sklearn.svm.SVC"}
    with pytest.raises(ConfigError, match="expected a name of lower-case letters.*, at most 100 in all"):
        load(study)


@pytest.mark.fault("Configuration", "a path of 300 letters", "one line")
@pytest.mark.parametrize("setting", ["extra_studies", "extra_datasets"])
def test_a_setting_that_no_path_can_be_is_one_line(monkeypatch, setting):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv(LEARNERS_IN, "")
    with pytest.raises(ConfigError, match="^a{299,}.*: (File name too long|this folder does not exist)"):
        load_configuration(ROOT, {"papers": ["demo"], "seed": 0, setting: "a" * 300})


def test_a_study_needs_a_name_that_can_be_a_target(tmp_path):
    with pytest.raises(ConfigError, match="lower-case"):
        load_study(tmp_path / "My-Study.yaml", {})


def test_two_studies_of_one_name_are_refused(tmp_path, entries, study):
    folders = [tmp_path / "ours", tmp_path / "yours"]
    for folder in folders:
        folder.mkdir()
        (folder / "mine.yaml").write_text(yaml.safe_dump(study))

    with pytest.raises(ConfigError, match="the name 'mine' is taken by another study"):
        study_files(folders)


def test_a_catalog_of_ones_own_adds_data_sets_and_replaces_none(tmp_path):
    ours = ROOT / "config" / "datasets.yaml"
    entry = yaml.safe_load(ours.read_text())["two-moons"]
    own = tmp_path / "own.yaml"

    own.write_text(yaml.safe_dump({"my-moons": entry}))
    assert "my-moons" in load_catalog([ours, own])

    own.write_text(yaml.safe_dump({"two-moons": entry}))
    with pytest.raises(ConfigError, match="the key 'two-moons' is taken by another data set"):
        load_catalog([ours, own])


def test_the_projects_own_configuration_is_right():
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    studies, settings = load_configuration(ROOT, config)

    assert {"eem", "demo"} <= studies.keys()
    assert settings.papers == ["demo"]
    assert "australian" in studies.catalog
    # The paper's Tables 4, 9 and 10: nine data sets in rows, nine models in columns.
    assert [len(studies["eem"].runs_of_table(table)) for table in ("table4", "table9", "table10")] == [81] * 3
    assert [name for name in studies["eem"].tables if "_" not in name] == [f"table{k}" for k in range(1, 11)]
    for key, study in studies.items():
        if study.published:
            shown = Counter(
                (study.tables[name].published, *cell)
                for name in study.tables
                if not second_reading_of(study, name)
                for cell in study.published_cells(name)
            )
            places = load_published(key)[["table", "dataset", "model", "metric"]]
            # Every number in print has one cell, beside those of second readings.
            assert {shown[place] for place in places.itertuples(index=False, name=None)} == {1}, key
    # Section 7.5: h = 5, 10, ..., 500; the nine UCI sets and one more, in figure 3 alone.
    sweep = studies["eem"].models["eem_sweep"].grid["n_hidden"]
    assert (sweep[0], sweep[1], sweep[-1], len(sweep)) == (5, 10, 500, 100)
    assert len(studies["eem"].runs_of_figure("figure3")) == 10
    # Section 7: C = 10^-1 ... 10^10, gamma = 10^-10 ... 10^0.
    grid = studies["eem"].models["svm_rbf"].grid
    assert (grid["C"][0], grid["C"][-1], len(grid["C"])) == (0.1, 1e10, 12)
    assert (grid["gamma"][0], grid["gamma"][-1], len(grid["gamma"])) == (1e-10, 1.0, 11)


def test_reading_and_planning_the_studies_imports_no_learner(tmp_path):
    program = (
        "import sys, yaml; from entrolab.study.config import load_configuration;"
        "from entrolab.jobs.code_digests import code_digest;"
        "from entrolab.study.learners import learners_asked;"
        "studies, _ = load_configuration(sys.argv[1], {});"
        "asked = learners_asked(studies['demo']);"
        "code_digest('fit', *(one.learner for one in asked));"
        "heavy = {'numpy', 'sklearn', 'pandas', 'mlflow', 'entrolearn.machines'};"
        "print(len(asked), *(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(ROOT)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "6"  # five models, and one in a figure


def test_a_study_is_read_when_it_is_asked_for(tmp_path):
    """A wrong one does not prevent others from being made."""
    (tmp_path / "wrong.yaml").write_text("titel: x\n")
    config = {"papers": ["demo"], "seed": 3, "extra_studies": str(tmp_path)}
    studies, _ = load_configuration(ROOT, config)
    assert "wrong" in studies
    assert studies["demo"].seed == 3
    assert list(studies.read) == ["demo"]
    with pytest.raises(ConfigError, match="unknown key 'titel'"):
        studies["wrong"]


def test_a_study_is_the_same_in_another_process_and_whenever_it_is_read(load, study):
    """Jobs get studies by pickle, and Snakemake compares parameters of jobs by their repr."""
    first, again = load(copy.deepcopy(study)), load(copy.deepcopy(study))
    assert pickle.loads(pickle.dumps(first)) == first
    assert repr(first) == repr(again)
    study["models"]["svm"]["grid"]["C"] = [2]
    assert repr(load(study)) != repr(first)


def test_a_data_set_is_looked_up_in_what_was_read_then_in_the_catalog_then_in_all_studies(tmp_path):
    (tmp_path / "points.csv").write_text("x,y\n" + "1,a\n2,b\n" * 10)
    for study, name in {"mine": "points", "yours": "heart"}.items():
        own = {"datasets": {name: {"file": "points.csv", "label": "y"}}, "models": {"svm": "sklearn.svm.SVC"}}
        (tmp_path / f"{study}.yaml").write_text(yaml.safe_dump(own))
    files = {name: tmp_path / f"{name}.yaml" for name in ("mine", "yours")}
    studies = Studies(files, load_catalog([ROOT / "config" / "datasets.yaml"]), seed=0)
    assert (studies.dataset("heart")["source"], studies.read) == ("files", {})
    assert studies.dataset("points")["source"] == "own"
    assert studies.read.keys() == files.keys()
    assert studies.dataset("heart")["source"] == "own"
    with pytest.raises(ConfigError, match="unknown data set 'point', did you mean 'points'"):
        studies.dataset("point")
