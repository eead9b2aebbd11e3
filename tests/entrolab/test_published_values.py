"""The papers' own numbers, from the raw bytes to the cell of the table, without snakemake."""

from pathlib import Path

import pandas as pd
import pytest

from entrolab import load_published
from entrolab.data.dataset import save_dataset
from entrolab.data.download import download
from entrolab.data.prepare import prepare
from entrolab.data.scale import scale
from entrolab.fit.learners import seed_from
from entrolab.fit.protocols import protocol
from entrolab.fit.selection import select
from entrolab.fit.training import train_run
from entrolab.io.limits import Limits
from entrolab.results.reader import Results
from entrolab.study.config import load_study

ROOT = Path(__file__).parents[2]


def read_study(paper, catalog):
    return load_study(ROOT / f"config/papers/{paper}.yaml", catalog)


def published_of(paper):
    file = ROOT / f"config/published/{paper}.csv"
    return pd.read_csv(file).set_index(["table", "dataset", "model", "metric"])


@pytest.fixture(scope="module")
def study(catalog):
    return read_study("eem", catalog)


@pytest.fixture(scope="module")
def melm(catalog):
    return read_study("melm", catalog)


@pytest.fixture
def prepared(catalog, mirror, mirrored, tmp_path):
    """A function that prepares a data set of the mirror."""

    def prepared(dataset):
        for file in catalog[dataset]["files"]:
            mirrored(file["path"])
        download(dataset, catalog[dataset], tmp_path, mirror=mirror)
        return prepare(dataset, catalog[dataset], tmp_path)

    return prepared


# Runs of minutes or of learners that a faster test has: with `make test ARGS="-m slow"`.
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("dataset", "model"),
    [
        pytest.param("australian", "eem_sig", marks=SLOW),
        pytest.param("heart", "eem_nsig", marks=SLOW),
        ("liver-disorders", "eem_rbf"),
    ],
)
def test_extreme_entropy_machines_land_within_the_printed_range(dataset, model, study, prepared):
    data = scale(prepared(dataset), **study.scaling_of(dataset))
    cell = study.run(dataset, model, seed=0)
    parts = protocol(cell.protocol).draw(data.y, seed_from(0, "eem", dataset, "folds"))

    candidates, record, *_ = train_run(data, parts, cell, Limits(seconds=3600))
    scores = select(candidates, cell.candidates, cell.metrics)

    assert record["success"]
    published = published_of("eem")
    for table in ("table4", "table9", "table10"):
        criterion = study.tables[table].criterion
        ours = 100 * scores.loc[scores["criterion"] == criterion, "gmean"].mean()
        value, std = published.loc[(table, dataset, model, "gmean")]
        assert abs(ours - value) <= std, table


@pytest.mark.parametrize(
    "model", ["pca", *(pytest.param(one, marks=SLOW) for one in ("ica", "class_pca", "per_class_pca"))]
)
def test_classifiers_of_projected_rows_land_near_the_printed_number(model, melm, prepared):
    data = scale(prepared("heart"), **melm.scaling_of("heart"))
    cell = melm.run("heart", model, seed=0)
    parts = protocol(cell.protocol).draw(data.y, seed_from(0, "melm", "heart", "folds"))

    candidates, record, *_ = train_run(data, parts, cell, Limits(seconds=3600))
    scores = select(candidates, cell.candidates, cell.metrics)

    assert record["success"]
    ours = 100 * scores.loc[scores["criterion"] == "cv", "balanced_accuracy"].mean()
    value = published_of("melm").loc[("table2", "heart", model, "balanced_accuracy"), "value"]
    assert abs(ours - value) <= melm.tables["table2"].tolerance.points


def test_printed_dimensions_are_those_of_all_rows_and_of_the_negative_ones(melm, prepared, tmp_path):
    """Of the files as LIBSVM has them, but for breast-cancer's tenth feature, the number of the sample."""
    datasets = [dataset for dataset in melm.datasets["real"] if dataset != "breast-cancer"]
    results = Results(melm, tmp_path)
    published = load_published("melm", "table1").set_index(["dataset", "metric"])["value"]
    (tmp_path / "results/melm/scaled").mkdir(parents=True)
    for dataset in datasets:
        data = scale(prepared(dataset), **melm.scaling_of(dataset))
        save_dataset(tmp_path / f"results/melm/scaled/{dataset}.npz", data)
        for count, ours in results.features(dataset).items():
            if count != "n_dims_positive":
                rounded = round(ours, 2 if count == "density" else 0)
                assert rounded == published[dataset, count], (dataset, count)


@SLOW
def test_softmax_regression_has_the_essays_accuracy_on_its_official_test_rows(catalog, prepared):
    essay = read_study("information_theory", catalog)
    data = scale(prepared("mnist"), **essay.scaling_of("mnist"))
    cell = essay.run("mnist", "softmax_01", seed=0)
    parts = protocol(cell.protocol).draw(data.y, seed=0)
    assert ((parts == 0) == (data.part == 1)).all()

    candidates, record, *_ = train_run(data, parts, cell, Limits(seconds=3600))

    assert record["success"]
    scores = select(candidates, cell.candidates, cell.metrics)
    ours = 100 * scores.loc[scores["criterion"] == "cv", "accuracy"].mean()
    value = published_of("information_theory").loc[("softmax", "mnist", "softmax_01", "accuracy"), "value"]
    assert abs(ours - value) <= essay.tables["softmax"].tolerance.points
