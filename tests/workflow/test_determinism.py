"""The same study gives the same bits: on one core and on two, with another hash seed, in another folder."""

import joblib
import pandas as pd
import pytest
import yaml

from entrolab.io.model_reading import load

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

TABLE = "results/tiny/tables/table1.csv"
MODELS = [f"results/tiny/seed0/models/my-moons/{model}" for model in ("lda", "eem")]
ALL = [TABLE, *MODELS, "results/tiny/figures/figure1.svg", "results/tiny/figures/figure3.html"]
STAGES = {"scaled", "folds", "candidates", "selection", "predictions", "models", "tables", "figures"}


@pytest.fixture(scope="module")
def study(new_project) -> dict:
    """Two learners, one of which draws at random, and figures that show no seconds."""
    whole = yaml.safe_load((new_project().folder / "studies" / "tiny.yaml").read_text(encoding="utf-8"))
    table = whole["tables"]["table1"] | {"models": ["lda", "eem"], "criterion": "dcs_gaussian"}
    figures = {name: whole["figures"][name] for name in ("figure1", "figure3")}
    models = {name: whole["models"][name] for name in ("lda", "eem", "melm")}
    return {**whole, "models": models, "tables": {"table1": table}, "figures": figures}


def contents(project) -> dict[str, object]:
    """What each result holds; models without the memory addresses of their files, and nothing of seconds."""
    found = {}
    for path in sorted((project.folder / "results").rglob("*.*")):
        name = path.relative_to(project.folder / "results").as_posix()
        if path.suffix == ".skops":
            found[name] = joblib.hash(load(path, []))
        elif path.suffix == ".parquet":
            found[name] = joblib.hash(pd.read_parquet(path).drop(columns="path_seconds", errors="ignore"))
        elif path.suffix != ".json":
            found[name] = path.read_bytes()
    return found


@pytest.mark.fault(
    "Determinism",
    "one core instead of two, another PYTHONHASHSEED, a matplotlibrc, another folder",
    "data, fits, models, tables and figures equal to the bit",
)
def test_results_depend_neither_on_cores_nor_hashes_nor_the_folder(new_project, study):
    one, other = new_project(study), new_project(study)
    (other.folder / "matplotlibrc").write_text("lines.linewidth: 7\naxes.grid: True\nsavefig.bbox: tight\n")
    for result in (
        one.run(*ALL),
        other.run("--cores=1", "--scheduler=greedy", *ALL, environment={"PYTHONHASHSEED": "1"}),
    ):
        assert result.returncode == 0, result.stdout[-5000:]
    ours, theirs = contents(one), contents(other)
    assert ours.keys() == theirs.keys()
    assert {part for name in ours for part in name.split("/")} >= STAGES
    assert [name for name in ours if ours[name] != theirs[name]] == []
