"""A study's results as tables look them up: what the features of a data set hold."""

import numpy as np
import pandas as pd
import pytest
from made_studies import made_study
from scipy.sparse import csr_array

from entrolab.claims.numbers import Numbers
from entrolab.data.dataset import Dataset, save_dataset
from entrolab.io.parquet import write_frame
from entrolab.io.records import write_json
from entrolab.results.frames import COLUMNS
from entrolab.results.reader import Results

MODELS = {
    "svm": {"estimator": "sklearn.svm.SVC", "criteria": ["cv", "dcs_kde"]},
    "sweep": {"estimator": "sklearn.svm.SVC", "criteria": []},
}
STUDY = made_study({"datasets": {"all": ["iris"]}, "models": MODELS}, "mine")


def scaled(home, X, y, task="binary", classes=("0", "1")):
    names = [f"x{k}" for k in range(X.shape[1])]
    data = Dataset(X, y, names, task, list(classes), np.zeros(len(y), dtype=np.int8))
    file = home / "results/mine/scaled/points.npz"
    file.parent.mkdir(parents=True)
    save_dataset(file, data)
    return Results(STUDY, home).features("points")


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_dimensions_are_those_of_the_flats_that_rows_lie_on(tmp_path, form):
    """A line, and a plane that crosses it: one dimension, two, and three of them together."""
    rng = np.random.default_rng(0)
    line = np.outer(rng.normal(size=50), [0, 0, 0, 1.0])
    plane = np.column_stack([rng.normal(size=(50, 2)), np.zeros((50, 2))])
    found = scaled(tmp_path, form(np.vstack([line, plane])), np.repeat([0, 1], 50))
    assert found == {"density": 150 / 400, "n_dims": 3, "n_dims_negative": 1, "n_dims_positive": 2}


def test_dimensions_are_the_least_number_of_eigenvalues_with_95_percent_of_their_sum(tmp_path):
    X = np.random.default_rng(1).normal(size=(200, 9)) * 2.0 ** -np.arange(9)
    spectrum = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    expected = next(k for k in range(1, 10) if spectrum[:k].sum() > 0.95 * spectrum.sum())
    assert 1 < expected < 9
    assert scaled(tmp_path, X, np.arange(200.0), "regression", ())["n_dims"] == expected


def test_records_and_facts_are_read_from_their_files_and_empty_without_them(tmp_path):
    results = Results(STUDY.model_copy(update={"seed": 7}), tmp_path)
    assert results.record("iris", "svm") == results.facts("iris", "svm") == {}
    folder = tmp_path / "results/mine/seed7"
    write_json(folder / "records/iris/svm.json", {"status": "ok"})
    for number, criterion in enumerate(STUDY.models["svm"].criteria):
        write_json(folder / f"models/iris/svm/{criterion}.json", {"n_support": number})
    assert results.record("iris", "svm") == {"status": "ok"}
    # By the first criterion where none is asked for, and where a model without a grid has no other.
    found = [
        results.facts("iris", "svm", asked)["n_support"] for asked in (None, "cv", "dcs_kde", "dcs_gaussian")
    ]
    assert found == [0, 0, 1, 0]
    assert results.facts("iris", "sweep").keys() == {"error"}


def test_tables_figures_and_claims_are_read_from_the_study_s_folder_each_once(tmp_path):
    folder = tmp_path / "results/mine"
    (folder / "tables").mkdir(parents=True)
    (folder / "figures").mkdir()
    row = {"dataset": "null", "model": "nan", "metric": "", "verdict": "", "reason": "NA"}
    table = pd.DataFrame([dict.fromkeys(COLUMNS, np.nan) | row | {"ours": 1.5}])
    table.to_csv(folder / "tables/scores.csv", index=False)
    (folder / "figures/curve.csv").write_text(
        "dataset,model,series,reason,mean,note\n007,NA,null,None,,NA\n8,1,,,2.5,\n"
    )
    results = Results(STUDY, tmp_path)
    pd.testing.assert_frame_equal(results.table("scores"), table, check_dtype=False)
    drawn = results.figure("curve")
    names = [["007", "NA", "null", "None"], ["8", "1", "", ""]]
    assert drawn[["dataset", "model", "series", "reason"]].to_numpy().tolist() == names
    assert drawn["mean"].tolist() == pytest.approx([np.nan, 2.5], nan_ok=True)
    assert drawn["note"][0] == "NA"
    assert results.claims() is None
    header = "id,claim,effect,low,high,p,sets\n"
    (folder / "claims.csv").write_text(header + "a,NA,0.5,,inf,0.01,9\n")
    [claim] = results.claims().to_dict("records")
    assert (claim["claim"], claim["effect"], claim["high"], claim["sets"]) == ("NA", 0.5, np.inf, 9)
    assert np.isnan(claim["low"])
    (folder / "tables/scores.csv").unlink()
    assert len(results.table("scores")) == 1


def test_claims_and_winners_read_the_folds_of_a_table_of_part_of_the_grid(tmp_path):
    """Of C = 1, 10 and 100 with cv 0.1, 0.2 and 0.3, C = 10 is selected up to 10: its test scores count."""
    svm = {"estimator": "sklearn.svm.SVC", "grid": {"C": [1, 10, 100]}}
    table = {"type": "scores", "datasets": "all", "models": ["svm"], "among": {"C": {"max": 10}}}
    content = {"datasets": {"all": ["iris"]}, "models": {"svm": svm}, "tables": {"small_c": table}}
    study = made_study(content | {"metrics": ["gmean"], "criteria": ["cv"]}, "mine")
    places = [(fold, point) for fold in range(2) for point in range(3)]
    rows = pd.DataFrame(places, columns=["fold", "point"]).assign(
        study="mine", dataset="iris", model="svm", repeat=0, success=True, note="", error="", dcs_gaussian=0.0
    )
    rows["params"] = [f'{{"C": {10**point}}}' for point in rows["point"]]
    rows["cv_gmean"] = (rows["point"] + 1) / 10
    rows["test_gmean"] = rows["point"] / 4 + rows["fold"] / 8
    results = tmp_path / "results/mine"
    write_frame(results / "seed0/candidates/iris/svm.parquet", rows)
    cell = {"dataset": "iris", "model": "svm", "metric": "gmean", "ours": 31.25}
    (results / "tables").mkdir()
    pd.DataFrame([cell], columns=COLUMNS).to_csv(results / "tables/small_c.csv", index=False)
    assert Numbers(study, tmp_path).folds(["small_c"], "iris", "svm", "gmean").tolist() == [25.0, 37.5]
