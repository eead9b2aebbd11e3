"""Settings, catalogs and studies: what is read from them, with every default in its place."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from entrolab.cells import cell_spec, figure_cells, table_cells
from entrolab.config import load_catalog, load_configuration, load_studies, load_study, read_yaml
from entrolab.kinds import KINDS
from entrolab.schema import ConfigError
from entrolab.tables import table_spec

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "workflow" / "schemas"


def test_defaults_are_filled_in_and_grids_expanded(load, study):
    study = load(study)

    assert study["protocol"] == {"folds": 3, "repeats": 1, "inner": "leave-two-folds-out"}
    assert study["models"]["svm"]["grid"] == {"gamma": [0.01, 0.1, 1.0], "C": [1]}
    assert study["models"]["lda"]["grid"] == {}
    assert study["tables"]["table1"]["notes"] == []


def test_all_models_are_those_without_criteria_of_their_own(load, study):
    study = load(study)
    assert study["tables"]["table1"]["models"] == ["svm", "lda"]
    assert [study["models"][name]["criteria"] for name in ("svm", "eem")] == [
        ["cv", "dcs_gaussian"],
        ["dcs_gaussian"],
    ]
    assert cell_spec("mine", study, "heart", "eem", 0)["criteria"] == ["dcs_gaussian"]


def test_a_range_has_both_its_ends(load, study):
    assert load(study)["models"]["eem"]["grid"] == {"n_hidden": [5, 10, 15, 20]}


def test_a_study_needs_no_figure(load, study):
    del study["figures"]
    assert load(study)["figures"] == {}


def test_inner_folds_have_a_default(load_trials, study_of_trials):
    del study_of_trials["protocol"]["inner"]
    assert load_trials(study_of_trials)["protocol"]["inner"] == {"folds": 4, "used": 4}


def test_published_is_found_beside_the_study(tmp_path, load, study):
    (tmp_path / "printed.csv").write_text("table,dataset,model,metric,value,std\n")
    assert load(study | {"published": "printed.csv"})["published"] == str(tmp_path / "printed.csv")


@pytest.mark.fault(
    "Configuration",
    "a file that is not YAML, or not what it should be",
    "one line with its place and what is accepted, before any job",
)
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("title: a\ntitle: b\n", "line 2: key 'title' is repeated"),
        ("title: [a\n", "line 2"),
        ("just words\n", "expected a mapping"),
    ],
)
def test_what_is_not_a_mapping_is_one_line(tmp_path, text, line):
    file = tmp_path / "mine.yaml"
    file.write_text(text)

    with pytest.raises(ConfigError, match=line):
        load_study(file, SCHEMAS / "paper.yaml", {})


def test_numbers_without_a_dot_are_numbers(tmp_path):
    """PyYAML follows YAML 1.1, in which 1e-3 is a string."""
    file = tmp_path / "numbers.yaml"
    file.write_text("[1e-3, 2E5, 1.5e+2, -1e1, 10, 1.5, 1e, e1]")

    assert read_yaml(file) == [0.001, 2e5, 150.0, -10.0, 10, 1.5, "1e", "e1"]


def test_a_study_needs_a_name_that_can_be_a_target(tmp_path):
    with pytest.raises(ConfigError, match="lower-case"):
        load_study(tmp_path / "My-Study.yaml", SCHEMAS / "paper.yaml", {})


def test_two_studies_of_one_name_are_refused(tmp_path, entries, study):
    folders = [tmp_path / "ours", tmp_path / "yours"]
    for folder in folders:
        folder.mkdir()
        (folder / "mine.yaml").write_text(yaml.safe_dump(study))

    with pytest.raises(ConfigError, match="there is a study 'mine' already"):
        load_studies(folders, SCHEMAS / "paper.yaml", entries)


def test_a_catalog_of_ones_own_adds_data_sets_and_replaces_none(tmp_path):
    ours = ROOT / "config" / "datasets.yaml"
    entry = yaml.safe_load(ours.read_text())["two-moons"]
    own = tmp_path / "own.yaml"

    own.write_text(yaml.safe_dump({"my-moons": entry}))
    assert "my-moons" in load_catalog([ours, own], SCHEMAS / "dataset.yaml")

    own.write_text(yaml.safe_dump({"two-moons": entry}))
    with pytest.raises(ConfigError, match="there is a data set 'two-moons' already"):
        load_catalog([ours, own], SCHEMAS / "dataset.yaml")


@pytest.mark.fault(
    "Configuration",
    "a mistake in the settings",
    "one line with its place and what is accepted, before any job",
)
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


def test_reading_the_configuration_imports_nothing_heavy():
    program = (
        "import sys, yaml; from entrolab.config import load_configuration;"
        "load_configuration(sys.argv[1], yaml.safe_load(open(sys.argv[1] + '/config/config.yaml')));"
        "print(*({'numpy', 'sklearn', 'pandas', 'mlflow'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(ROOT)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
