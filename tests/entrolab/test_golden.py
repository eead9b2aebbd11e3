"""Score tables of the demonstration, made by the functions of the workflow, are the golden ones."""

from pathlib import Path

import yaml
from golden_tables import GOLDEN, check_golden
from made_tables import make_tables

from entrolab.study.config import load_study

STUDY = Path(__file__).parents[2] / "config" / "papers" / "demo.yaml"
# `make faults` compares the tables of all five data sets.
SMALL = ["sklearn-wine-0", "gaussians", "gaussians-unequal"]


def test_the_score_tables_of_the_demonstration_are_the_golden_ones(catalog, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = yaml.safe_load(STUDY.read_text(encoding="utf-8"))
    content["datasets"]["embedded"] = SMALL
    file = tmp_path / STUDY.name  # folds and random states depend on the name
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    golden = [table.stem for table in (GOLDEN / "demo").glob("*.csv")]
    make_tables(load_study(file, catalog), catalog, golden)
    check_golden("demo", tmp_path / "results" / "demo" / "tables", SMALL)
