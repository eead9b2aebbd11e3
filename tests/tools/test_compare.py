"""The comparison of `make cluster-test`: it sees a bit that differs, and seconds are none of its business."""

import importlib.util
import shutil
from pathlib import Path

import pandas as pd
import pytest

FILE = Path(__file__).parents[2] / "tools" / "cluster" / "compare.py"


@pytest.fixture(scope="module")
def compare():
    spec = importlib.util.spec_from_file_location("compare", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def runs(tmp_path) -> tuple[Path, Path]:
    """Two working folders with the same results."""
    study = tmp_path / "one" / "results" / "demo"
    for name in ("tables/scores.csv", "tables/times.csv", "figures/curve.svg", "seed0/folds/wine.npz"):
        (study / name).parent.mkdir(parents=True, exist_ok=True)
        (study / name).write_bytes(name.encode())
    rows = pd.DataFrame({"test_gmean": [0.5, 1.0], "path_seconds": [1.0, 2.0]})
    (study / "seed0" / "candidates" / "wine").mkdir(parents=True)
    rows.to_parquet(study / "seed0" / "candidates" / "wine" / "svm.parquet")
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    return tmp_path / "one", tmp_path / "other"


def test_the_same_results_do_not_differ(compare, runs):
    assert compare.main(*runs, []) == []


@pytest.mark.parametrize("name", ["tables/scores.csv", "figures/curve.svg", "seed0/folds/wine.npz"])
def test_one_byte_is_a_difference(compare, runs, name):
    file = runs[1] / "results" / "demo" / name
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert compare.main(*runs, []) == [f"results/demo/{name}: not the same"]


def test_a_table_of_seconds_may_differ_but_has_to_be_there(compare, runs):
    file = runs[1] / "results" / "demo" / "tables" / "times.csv"
    file.write_text("other seconds")
    assert compare.main(*runs, ["times"]) == []
    file.unlink()
    assert compare.main(*runs, ["times"]) == ["results/demo/tables/times.csv: only in one of the runs"]


def test_the_last_bit_of_a_score_is_a_difference_and_its_seconds_are_not(compare, runs):
    file = runs[1] / "results" / "demo" / "seed0" / "candidates" / "wine" / "svm.parquet"
    rows = pd.read_parquet(file)
    rows.assign(path_seconds=9.0).to_parquet(file)
    assert compare.main(*runs, []) == []
    rows.assign(test_gmean=[0.5, 1 - 2**-53]).to_parquet(file)
    assert compare.main(*runs, []) == ["results/demo/seed0/candidates/wine/svm.parquet: not the same"]


def test_two_empty_folders_are_no_success(compare, tmp_path):
    assert compare.main(tmp_path, tmp_path, []) == [f"{tmp_path}: no tables"]
