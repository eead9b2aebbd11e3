"""Models of users' tables: from a csv file's columns to its labels, as logged and in a fresh process."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import mlflow
import numpy as np
import pandas as pd
import pytest
import skops.io
import yaml
from made_studies import made_study
from mlflow_addresses import restore_addresses
from run_files import files_of
from tracked_runs import client

from entrolab.command import parsed
from entrolab.data.dataset import load_dataset, save_dataset, save_folds
from entrolab.data.prepare import prepare
from entrolab.data.preprocessing import preprocessed
from entrolab.figures.files import Source
from entrolab.figures.spec import FigureSpec, Refit
from entrolab.fit.metrics import metrics_of
from entrolab.fit.protocols import protocol
from entrolab.fit.refit import refit_run
from entrolab.fit.selection import select
from entrolab.fit.training import FACTS, fit_grid
from entrolab.io.limits import Limits
from entrolab.io.parquet import read_frame, write_frame
from entrolab.predicting import predict
from entrolab.results.frames import COLUMNS
from entrolab.schema.sections import ConfigError
from entrolab.study.config import load_study
from entrolab.tracking.contents import content_of_run
from entrolab.tracking.ledger import open_ledger

N_ROWS = 60


def shop(rng) -> pd.DataFrame:
    """Rows with numbers, truth, dates, text and missing values, and labels that follow from them."""
    size, colour = rng.normal(50, 20, N_ROWS), rng.choice(["red", "green", "blue"], N_ROWS)
    table = pd.DataFrame(
        {
            "size": size.round(2),
            "count": rng.integers(0, 9, N_ROWS),
            "colour": colour,
            "new": rng.random(N_ROWS) < 0.5,
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 300, N_ROWS), "D"),
            "bought": np.where(size + 30 * (colour == "red") + rng.normal(0, 5, N_ROWS) > 60, "yes", "no"),
            "wine": np.select([size < 40, size < 60], ["barolo", "grignolino"], "barbera"),
            "price": (3 * size + 100 * (colour == "red")).round(1),
        }
    )
    table.loc[[3, 17], "size"] = np.nan
    table.loc[[5, 11], "colour"] = None
    return table


LABELS = {"bought": ["wine", "price"], "wine": ["bought", "price"], "price": ["bought", "wine"]}
STUDY = {
    "datasets": {label: {"file": "shop.csv", "label": label, "drop": drop} for label, drop in LABELS.items()},
    "protocol": {"folds": 2},
    "models": {
        "forest": {
            "estimators": {
                "classification": "sklearn.ensemble.ExtraTreesClassifier",
                "regression": "sklearn.ensemble.ExtraTreesRegressor",
            },
            "params": {"n_estimators": 20},
        },
        "linear": {
            "estimators": {
                "classification": "sklearn.linear_model.LogisticRegression",
                "regression": "sklearn.linear_model.Ridge",
            },
            "steps": ["sklearn.decomposition.PCA"],
        },
    },
}
# All that the paths of a run ask of a study: its name, its seed, and whether it scales its data.
UNSCALED = made_study({"datasets": {"all": ["iris"]}, "models": {"svm": "sklearn.svm.SVC"}}, "mine")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, empty_store) -> Path:
    """A folder with a table, a study of it, some of its runs, and a store that holds most of these."""
    folder = tmp_path_factory.mktemp("shop")
    shutil.copy(empty_store, folder / "mlflow.db")
    table = shop(np.random.default_rng(0))
    table.to_csv(folder / "shop.csv", index=False)
    (folder / "mine.yaml").write_text(yaml.safe_dump(STUDY))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        restore_addresses(patch)
        study = load_study(folder / "mine.yaml", {})
        for label, model in [*((label, "forest") for label in LABELS), ("price", "linear")]:
            trained(study, label, model, study.own_data[label])
            with open_ledger(None, study) as ledger:
                ledger.write(content_of_run(study, label, model))
                ledger.compare({})
        for label, model in (("bought", "linear"), ("wine", "baseline")):
            trained(study, label, model, study.own_data[label])
    return folder


def trained(study, dataset: str, model: str, entry) -> SimpleNamespace:
    """A run with the files that its jobs write."""
    run = files_of(study, dataset, model)
    for path in (run.rows, run.record, run.candidates, run.selection, run.predictions):
        path.parent.mkdir(parents=True, exist_ok=True)
    data = prepare(dataset, entry)
    save_dataset(run.rows, data)
    save_folds("folds.npz", protocol(study.protocol_of(dataset)).draw(data.y, 0))
    outputs = {name: getattr(run, name) for name in ("candidates", "predictions", "record")}
    spec, limits = study.run(dataset, model, seed=0), Limits(600, 8)
    fit_grid(run.rows, "folds.npz", outputs, spec, limits, print)
    write_frame(run.selection, select(read_frame(run.candidates), ["cv"], [*FACTS]))
    files = {"rows": run.rows, "folds": "folds.npz", "selection": run.selection, "record": run.record}
    refit_run(files, run.models, spec, ["cv"], limits)
    return run


def test_prepared_data_hold_codes_and_gaps_and_each_run_fills_them(folder):
    run = files_of(UNSCALED, "bought", "linear", folder)
    data = load_dataset(run.rows)
    assert np.isnan(data.X).any()
    assert data.columns["labels"] == ["no", "yes"]
    record = json.loads(run.record.read_text())
    assert (record["success"], record["n_failed"]) == (True, 0)


PREDICTS = """
import json, sys
import mlflow, pandas
from mlflow.pyfunc.scoring_server import invocations

mlflow.set_tracking_uri("sqlite:///mlflow.db")
table, found = pandas.read_csv("shop.csv"), {}
for label in ("bought", "wine", "price"):
    name = f"models:/mine.{label}@best"
    model, served = mlflow.sklearn.load_model(name), mlflow.pyfunc.load_model(name)
    rows = table[::-1]  # of other order, with further columns
    text, schema = rows.to_csv(index=False).encode(), served.metadata.get_input_schema()
    found[label] = {
        "model": model.predict(rows).tolist(),
        "served": served.predict(rows).tolist(),
        "csv": json.loads(invocations(text, "text/csv", served, schema).response)["predictions"],
        "steps": [step for step, _ in model.steps],
        "example": served.input_example is None,
    }
found["modules"] = [name for name in sys.modules if name.startswith("entrolab")]
print(json.dumps(found))
"""


def test_models_predict_the_labels_of_the_csv_in_a_fresh_process(folder):
    said = subprocess.run(
        [sys.executable, "-c", PREDICTS], cwd=folder, stdout=subprocess.PIPE, text=True, check=True
    )
    found = json.loads(said.stdout)
    table = pd.read_csv(folder / "shop.csv")[::-1]
    for label in LABELS:
        of = found[label]
        assert of["model"] == of["served"] == of["csv"]
        assert of["steps"][:2] == ["columns", "preprocessing"]
        assert of["example"]
        if label == "price":
            assert np.corrcoef(of["model"], table[label])[0, 1] > 0.9
        else:
            assert set(of["model"]) <= set(table[label])
            assert np.mean(np.array(of["model"]) == table[label]) > 0.8
    assert found["modules"] == []  # a model is of entrolearn and scikit-learn


def scored(folder, **scores) -> None:
    """Write the tables of scores, of which only the order of the models matters here."""
    study = load_study(folder / "mine.yaml", {})
    for name in study.score_tables():
        metric = metrics_of(study.tasks[study.runs_of_table(name)[0][0]], study.metrics)[0]
        cells = [(dataset, model, metric) for dataset, model in study.runs_of_table(name)]
        rows = pd.DataFrame(cells, columns=["dataset", "model", "metric"])
        rows["ours"] = rows["model"].map(scores)
        path = folder / f"results/mine/tables/{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows.reindex(columns=COLUMNS).to_csv(path, index=False)


def test_predictions_of_a_file_are_those_of_the_logged_model(folder, monkeypatch):
    """Forests have the first scores; of errors, the least are the best ones. The baseline is not ranked."""
    monkeypatch.chdir(folder)
    study = load_study(folder / "mine.yaml", {})
    shop(np.random.default_rng(1))[::-1].to_csv("new.csv", index=False)
    rows = pd.read_csv("new.csv")
    scored(folder, forest=90.0, linear=80.0, baseline=99.0)
    found = {label: predict(study, Path("new.csv"), dataset=label) for label in LABELS}
    versions = client().search_model_versions("tags.model != 'baseline'")
    for label, best in {"bought": "forest", "wine": "forest", "price": "linear"}.items():
        of_run = next(one for one in versions if (one.name, one.tags["model"]) == (f"mine.{label}", best))
        logged = mlflow.sklearn.load_model(f"models:/{of_run.name}/{of_run.version}")
        np.testing.assert_array_equal(found[label]["prediction"], logged.predict(rows))
        if label != "price":
            assert [*found[label]][1:] == [f"probability_{name}" for name in logged.classes_]
            np.testing.assert_array_equal(found[label].iloc[:, 1:], logged.predict_proba(rows))
    assert predict(study, Path("new.csv"), "baseline", "wine")["prediction"].nunique() == 1
    assert [*found["price"]] == ["prediction"]
    rows.drop(columns=[*LABELS]).rename(columns={"size": " size "}).to_parquet("new.parquet")
    asked = ["mine.yaml", "new.parquet", "--dataset", "bought", "--output", "answers.csv"]
    given = parsed(["predict", *asked])
    assert given.function(given) == 0
    pd.testing.assert_frame_equal(pd.read_csv("answers.csv"), found["bought"])


def test_a_file_that_does_not_fit_is_one_line(folder, monkeypatch):
    monkeypatch.chdir(folder)
    scored(folder, forest=90.0, linear=80.0, baseline=99.0)
    study, rows = load_study(folder / "mine.yaml", {}), shop(np.random.default_rng(1))
    rows[["size", "count"]].to_csv("thin.csv", index=False)
    Path("short.csv").write_text("size,count\n1,2\n3\n")
    rows.assign(count="many").to_csv("word.csv", index=False)
    for arguments, line in (
        (["shop.csv"], "mine.yaml: found 3 tables of its own; accepted: `--dataset`"),
        (["shop.csv", "", "boughd"], "did you mean 'bought'"),
        (["shop.csv", "forrest", "bought"], "did you mean 'forest'"),
        (["thin.csv", "", "bought"], "thin.csv: found no column 'colour', 'new', 'day'"),
        (["short.csv", "", "bought"], "short.csv: line 3: found 1 values; accepted: 2"),
        (["word.csv", "", "bought"], "word.csv: column 'count': found 'many'; accepted: numbers"),
        (["none.csv", "", "bought"], "none.csv: found no such file"),
    ):
        with pytest.raises(ConfigError) as wrong:
            predict(study, Path(arguments[0]), *arguments[1:])
        assert line in str(wrong.value)
        assert "\n" not in str(wrong.value)


def test_a_study_that_was_not_made_here_is_one_line(folder, monkeypatch, tmp_path):
    study = load_study(folder / "mine.yaml", {})
    monkeypatch.chdir(tmp_path)
    for model in ("", "forest"):  # the table of scores and the model are not there
        with pytest.raises(ConfigError, match=r"^[^\n]*mine.yaml: not made in this folder.*[^\n]*$"):
            predict(study, folder / "shop.csv", model, "wine")


def test_the_registered_models_say_what_they_take(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for label in LABELS:
        versions = client().search_model_versions(f"name = 'mine.{label}'")
        models = {"forest", "linear"} if label == "price" else {"forest"}
        assert {version.tags["model"] for version in versions} == models
        about = client().get_registered_model(f"mine.{label}").description
        assert "the columns of the table" in about


def test_types_of_a_stored_model_are_trusted_one_by_one(folder):
    run = files_of(UNSCALED, "wine", "forest", folder)
    found = skops.io.get_untrusted_types(file=run.models / "cv.skops")
    assert {"entrolearn.columns.ColumnEncoder", "entrolearn.columns.LabelEncodedClassifier"} <= set(found)
    assert not [name for name in found if not name.startswith(("entrolearn.", "sklearn.", "numpy."))]


def test_a_figure_has_the_model_of_scaled_rows(folder):
    run = files_of(UNSCALED, "bought", "linear", folder)
    parts = ["sklearn.linear_model.LogisticRegression", "sklearn.decomposition.PCA"]
    spec = FigureSpec(None, 0, [], refits={("bought", "linear"): Refit("cv", parts, "skops", {})})
    files = {"record": str(run.record), "models": str(run.models)}
    model = Source("bought", "linear", files, spec).fitted_model()
    assert [type(step).__name__ for _, step in model.steps] == ["PCA", "LogisticRegression"]
    data = load_dataset(run.rows)
    scaled = preprocessed(data, {"scale": "minmax", "categories": "one-hot"})
    file = run.models / "cv.skops"
    whole = skops.io.load(file, trusted=skops.io.get_untrusted_types(file=file))
    answers = whole.predict(pd.read_csv(folder / "shop.csv"))
    np.testing.assert_array_equal(np.array(data.columns["labels"])[model.predict(scaled.X)], answers)
