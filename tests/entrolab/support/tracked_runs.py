"""Runs as their jobs leave them, for the tests of tracking, and a look into their store."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import skops.io
from made_studies import made_study
from told_scores import write_scores

from entrolab.data.dataset import Dataset, save_dataset
from entrolab.results.reader import Results
from entrolab.stages import tracking
from entrolab.tables.making import make_table, read_published
from entrolab.tables.rendering import write_table
from entrolab.tracking import ledger

mlflow = ledger.mlflow  # the tests look at the store with the library that wrote it

SCORES = {"type": "scores", "metric": "gmean", "datasets": "uci", "models": ["svm_rbf", "logistic"]}
CONTENT = {
    "title": "A small paper",
    "reference": "Someone, 2020",
    "url": "https://example.org/paper",
    "published": "published.csv",
    "metrics": ["gmean", "accuracy"],
    "criteria": ["cv", "dcs_kde"],
    "log_candidates": "runs",
    "protocol": {"folds": 2, "repeats": 2},
    "scaling": {"method": "minmax", "range": [0, 1]},
    "models": {
        "svm_rbf": {"label": "SVM", "sublabel": "rbf", "estimator": "sklearn.svm.SVC"},
        "logistic": {"label": "LR", "estimator": "sklearn.linear_model.LogisticRegression"},
    },
    "datasets": {"uci": ["moons"]},
    "tables": {
        "table0": {"type": "times", "cost": "fit_seconds", "datasets": "uci"},
        "table4": {**SCORES, "criterion": "cv"},
        "table10": {**SCORES, "criterion": "dcs_kde"},
    },
}
STUDY = made_study(CONTENT, "small")


def change_study(monkeypatch, task: str = "binary", **sections) -> None:
    """Give `STUDY` other sections, and its data set another task, until the test ends."""
    other = made_study(CONTENT | sections, "small", task)
    for name in type(other).model_fields:
        monkeypatch.setattr(STUDY, name, getattr(other, name))


GMEANS = (0.8, 0.9, 0.7, 0.8)  # by repeat and fold: mean 80 %, std 10·sqrt(2/3) %
PUBLISHED = """table,dataset,model,metric,value,std
table4,moons,svm_rbf,gmean,81.5,2.0
table10,moons,svm_rbf,gmean,60.0,
"""


# The means of the criteria by grid point; all folds differ from them by their number / 100.
POINTS = pd.DataFrame(
    {"C": [0.1, 1.0, 10.0], "dcs_gaussian": [1.0, 3.0, 2.0], "dcs_kde": [0.5, 0.25, 1.0]}
    | {"cv_gmean": [0.5, 0.8, 0.7], "test_gmean": [0.4, 0.6, 0.9]}
)


def write_data(file) -> None:
    """The data set that runs are fitted on, with the file that it was made of."""
    origin = {"files": [{"path": "moons.csv", "url": "https://example.org/moons.csv", "sha256": "cd" * 32}]}
    X = np.arange(80.0).reshape(40, 2)
    made = Dataset(
        X, np.repeat([0, 1], 20), ["a", "b"], "binary", ["no", "yes"], np.zeros(40, np.int8), origin
    )
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    save_dataset(file, made)


def candidates() -> pd.DataFrame:
    """Three grid points in four folds."""
    rows = [
        {"repeat": number // 2, "fold": number % 2, "point": point, "success": True, "error": ""}
        | {"params": json.dumps({"C": row["C"]})}
        | {name: row[name] + number / 100 for name in POINTS if name != "C"}
        for number in range(4)
        for point, row in POINTS.iterrows()
    ]
    return pd.DataFrame(rows)


def write_run(
    run, *, gmeans=GMEANS, estimator=None, success=True, status="ok", error="", seconds=1.5, metric="gmean"
):
    """The files of one run, as its jobs leave them."""
    shutil.rmtree(run.models, ignore_errors=True)
    for folder in (run.record.parent, run.candidates.parent, run.models):
        folder.mkdir(parents=True, exist_ok=True)
    record = {
        "key": run.key,
        "study": run.study,
        "dataset": run.dataset,
        "model": run.model,
        "label": "SVM rbf" if run.model == "svm_rbf" else "LR",
        "estimator": STUDY.models[run.model].estimator,
        "params": {"class_weight": "balanced"},
        "grid": {"C": [0.1, 1.0, 10.0]},
        "seed": 7,
        "n_candidates": 12,
        "n_failed": 0,
        "notes": {"stopped at the iteration cap": 2},
        "success": success,
        "status": status,
        "error": error,
        "seconds": seconds,
        "started": "2026-01-02T03:04:05+00:00",
        "data": {"digest": "ab" * 32, "n_samples": 40, "n_features": 2, "n_negative": 20, "n_positive": 20},
        "versions": {"numpy": np.__version__},
        "machine": {"cpus": 2},
    }
    if status == "no data":
        record["data"] = {}
    run.record.write_text(json.dumps(record))
    at = [(repeat, fold) for repeat in range(2) for fold in range(2)]
    rows = [
        {
            "repeat": repeat,
            "fold": fold,
            "criterion": criterion,
            "point": (point := 1 if fold == 0 or repeat == 0 else 2),
            "params": json.dumps({"C": {1: 1.0, 2: 10.0}[point]}),
            "criterion_value": 0.5,
            metric: gmean,
            "accuracy": 0.75,
            "success": True,
            "error": "",
        }
        for criterion in ("cv", "dcs_kde")
        for (repeat, fold), gmean in zip(at, gmeans, strict=True)
    ]
    scores = pd.DataFrame(rows)
    grid = candidates().rename(columns={"cv_gmean": f"cv_{metric}", "test_gmean": f"test_{metric}"})
    write_data(run.rows)
    write_scores(run.selection, run.predictions, scores if success else scores[:0])
    (grid if success else grid[:0]).to_parquet(run.candidates)
    if estimator is None:
        for criterion in ("cv", "dcs_kde"):
            facts_of(run, criterion).write_text(json.dumps({"error": error or "not asked for"}))
        return
    for criterion in ("cv", "dcs_kde"):
        facts = {"params": {"C": 1.0}, "chosen_by": criterion, "fit_seconds": seconds / 10}
        facts |= {"predict_seconds": 0.01, "n_stored_numbers": 123, "estimator": record["estimator"]}
        facts |= {"format": "skops", "types": []}
        facts_of(run, criterion).write_text(json.dumps(facts | {"curves": {"loss": [3.0, 2.0, 1.5]}}))
        skops.io.dump(estimator, model_of(run, criterion))


def facts_of(run, criterion="cv") -> Path:
    """The file of facts about the model of a run that a criterion selected."""
    return run.models / f"{criterion}.json"


def model_of(run, criterion="cv") -> Path:
    """The file of the model itself."""
    return run.models / f"{criterion}.skops"


def write_tables(study_name="small", published="published.csv") -> list[str]:
    """The csv files of the study's score tables, as the workflow makes them of the runs that are there."""
    files = []
    study = STUDY.model_copy(update={"name": study_name})
    for name in study.score_tables():
        spec = study.spec_of_table(name)
        files.append(f"results/{study_name}/tables/{name}.csv")
        write_table(make_table(Results(study), read_published(published), spec), spec, files[-1])
    return files


def track_run(model: str, study=STUDY, seed: int | None = None, store: str | None = None) -> str:
    """Track a run as its job does, and return its id."""
    seed = study.seed if seed is None else seed
    (receipt,) = study.model_copy(update={"seed": seed}).files_at("tracked", "moons", model)
    Path(receipt).parent.mkdir(parents=True, exist_ok=True)
    part = study.part_for_run("moons", model)
    at = SimpleNamespace(seed=str(seed), dataset="moons", model=model)
    params, output = SimpleNamespace(study=[part], store=store), SimpleNamespace(receipt=receipt)
    tracking.track(SimpleNamespace(params=params, wildcards=at, output=output))
    return json.loads(Path(receipt).read_text())["runs"][0]


def track_study(study=STUDY, figures=(), findings=(), store: str | None = None) -> str:
    """Track a study, whose runs have been tracked, as its job does, and return the id of its run."""
    Path(study.file).write_text("title: A small paper\n")
    files = SimpleNamespace(tables=write_tables(study.name), figures=figures, findings=findings)
    receipt = f"results/{study.name}/tracked.json"
    params, output = SimpleNamespace(study=[study], store=store), SimpleNamespace(receipt=receipt)
    tracking.track_study(SimpleNamespace(params=params, input=files, output=output))
    (run_id,) = json.loads(Path(receipt).read_text())["runs"]
    return run_id


def track(study=STUDY) -> dict[str, str]:
    """Track all runs of a study and the study; the ids of the runs by model, and of the study by ""."""
    ids = {model: track_run(model, study) for _, model in study.runs()}
    return ids | {"": track_study(study)}


def client():
    """A client of the store in the working folder."""
    uri = f"sqlite:///{Path('mlflow.db').resolve()}"
    return mlflow.MlflowClient(uri, uri)


def runs_of(experiment="small"):
    """Every live run of the experiment by its key; fails where a key has two."""
    found = client().search_runs([client().get_experiment_by_name(experiment).experiment_id])
    keys = [run.data.tags["entrolearn.key"] for run in found]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, found, strict=True))


def run_of(model: str):
    """The live run of a model."""
    return runs_of()[f"small/seed0/moons/{model}"]
