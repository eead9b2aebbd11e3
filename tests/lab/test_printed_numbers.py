"""The EEM paper's own numbers, from the raw bytes to the cell of the table, without snakemake."""

from pathlib import Path

import pandas as pd
import pytest

from entrolearn.lab.cells import cell_spec
from entrolearn.lab.config import load_study
from entrolearn.lab.datasets import prepare, scale
from entrolearn.lab.download import download
from entrolearn.lab.limits import Limits
from entrolearn.lab.protocols import protocol
from entrolearn.lab.registry import seed_from
from entrolearn.lab.selecting import choose
from entrolearn.lab.training import train_cell

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def study(catalog):
    return load_study(ROOT / "config/papers/eem.yaml", ROOT / "workflow/schemas/paper.yaml", catalog)


@pytest.mark.parametrize("model", ["eem_sig", "eem_nsig", "eem_rbf"])
@pytest.mark.parametrize("dataset", ["australian", "heart", "liver-disorders"])
def test_extreme_entropy_machines_land_within_the_printed_range(
    dataset, model, study, catalog, mirror, mirrored, tmp_path
):
    for file in catalog[dataset]["files"]:
        mirrored(file["path"])
    download(dataset, catalog[dataset], tmp_path, mirror=mirror)
    data = scale(prepare(dataset, catalog[dataset], tmp_path), **study["scaling"])
    cell = cell_spec("eem", study, dataset, model, seed=0)
    parts = protocol(cell["protocol"]).draw(data.y, seed_from(0, "eem", dataset, "folds"))

    candidates, record = train_cell(data, parts, cell, Limits(seconds=600))
    scores = choose(candidates, cell)

    assert record["success"]
    printed = pd.read_csv(ROOT / "config/published/eem.csv").set_index(
        ["table", "dataset", "model", "metric"]
    )
    for table in ("table4", "table9", "table10"):
        criterion = study["tables"][table]["criterion"]
        ours = 100 * scores.loc[scores["criterion"] == criterion, "gmean"].mean()
        value, std = printed.loc[(table, dataset, model, "gmean")]
        assert abs(ours - value) <= std, table
