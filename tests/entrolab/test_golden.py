"""The score tables of the demonstration, made by the functions of the workflow, are the golden ones."""

from pathlib import Path

from golden_tables import GOLDEN, check_golden
from made_tables import make_tables

from entrolab.study.config import load_study

STUDY = Path(__file__).parents[2] / "config" / "papers" / "demo.yaml"


def test_the_score_tables_of_the_demonstration_are_the_golden_ones(catalog, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    golden = [file.stem for file in (GOLDEN / "demo").glob("*.csv")]
    make_tables(load_study(STUDY, catalog), catalog, golden)
    check_golden("demo", tmp_path / "results" / "demo" / "tables")
