"""Values of each seed are made once and resumed, and count as long as those of seed 0 are the same."""

import hashlib
import json
import math
from pathlib import Path

import pandas as pd
import pytest

from entrolab.jobs.command import home
from entrolab.seeds import __main__ as command
from entrolab.seeds.computing import SeedsError, make_seeds, seeded_tables
from entrolab.seeds.values import read_seeds
from entrolab.study.config import load_configuration, read_yaml
from entrolab.tables.making import COLUMNS
from entrolab.tables.types import TABLE_TYPES

TABLE = "demo_cv"


@pytest.fixture
def project(tmp_path):
    """The demonstration in an empty folder, with a stand-in for the workflow that counts its calls."""
    return Project(tmp_path)


class Project:
    def __init__(self, folder: Path):
        config = read_yaml(home() / "config/config.yaml")
        _, studies, _ = load_configuration(home(), config, ["demo"])
        self.study = studies["demo"].model_copy(update={"seeds": str(folder / "seeds.csv")}, deep=True)
        self.folder, self.calls = folder, []

    def make(self, n_seeds: int, anew: bool = False) -> list[int]:
        """Make the seeds; return those for which the workflow was called."""
        self.calls = []
        make_seeds("demo", self.study, [TABLE], n_seeds, make=self.workflow, home=self.folder, anew=anew)
        return self.calls

    def workflow(self, folder: Path, file: str, seed: int) -> None:
        """Write a table whose numbers follow from the models' grids and the seed."""
        self.calls.append(seed)
        rows = []
        for cell in TABLE_TYPES["scores"].cells(self.study.spec_of_table(TABLE)):
            text = json.dumps([cell, self.study["models"][cell[1]].get("grid"), seed])
            ours = int(hashlib.sha256(text.encode()).hexdigest()[:4], 16) / 1000
            rows.append((*cell, ours, 1.0, ours, 1.0, 0.0, "reproduced", math.nan, ""))
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows, columns=COLUMNS).to_csv(folder / file, index=False)

    def values(self) -> pd.DataFrame:
        return read_seeds(self.study["seeds"])


def test_tables_with_published_scores_have_seeds(tmp_path):
    (tmp_path / "published.csv").write_text("table,dataset,model,metric,value,std\ntable1,a,b,c,1,\n")
    types = {"table1": "scores", "seconds": "times", "again": "separability", "ours": "scores"}
    shared = {"seconds": {"published": "table1"}, "again": {"published": "table1"}}
    tables = {name: {"type": kind, **shared.get(name, {})} for name, kind in types.items()}
    study = {"published": tmp_path / "published.csv", "tables": tables}
    assert seeded_tables(study) == ["table1", "again"]


def test_only_missing_seeds_are_made_each_in_its_folder(project, monkeypatch, capsys):
    monkeypatch.setattr("time.monotonic", iter([0.0, 90.0, *[90.0] * 6]).__next__)
    assert project.make(1) == [0]
    assert capsys.readouterr().out.endswith("values, 1.5 min\n")
    first = project.values()
    assert project.make(3) == [0, 1, 2]
    assert project.make(3) == []
    whole = project.values()
    assert (whole["0"] != whole["1"]).all()
    pd.testing.assert_frame_equal(whole.drop(columns=["1", "2"]), first)
    assert (project.folder / f"results/seeds/demo/2/results/demo/tables/{TABLE}.csv").exists()
    assert (project.folder / f"results/demo/tables/{TABLE}.csv").exists()


def test_the_values_of_seeds_count_as_long_as_those_of_seed_0_are_the_same(project):
    project.make(2)
    before = project.values()
    assert project.make(2, anew=True) == [0]
    pd.testing.assert_frame_equal(project.values(), before)
    model = next(name for name, one in project.study.models.items() if one.grid)
    project.study.models[model].grid = {"C": [3]}
    assert project.make(2) == []
    with pytest.raises(SeedsError, match=r"\d+ of \d+ values of seed 0 differ"):
        project.make(3)
    pd.testing.assert_frame_equal(project.values(), before)
    assert project.make(3, anew=True) == [0, 1, 2]
    anew = project.values().set_index("model")
    assert (anew.loc[model, ["0", "1"]] != before.set_index("model").loc[model, ["0", "1"]]).any(axis=None)


def test_a_table_without_values_is_made_with_seed_0_only(project, monkeypatch):
    monkeypatch.setattr("entrolab.seeds.values.JUDGED", ())
    assert project.make(3) == [0]
    assert project.values().empty


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ("limit_seconds=1200", ""),
        ("limit_seconds=soon", "limit_seconds: found 'soon', expected a number"),
        ("limit_seconds", "--config: Invalid config definition"),
        ("seed=7", "--config: found seed=7; accepted: --seeds"),
    ],
)
def test_settings_of_the_workflow_are_read_as_snakemake_reads_them(setting, error, monkeypatch, capsys):
    made = []
    monkeypatch.setattr(command, "make_seeds", lambda name, *_, **options: made.append(name))
    assert command.main(["make", "melm", "--config", setting]) == (2 if error else 0)
    assert made == ([] if error else ["melm"])
    assert error in capsys.readouterr().err
