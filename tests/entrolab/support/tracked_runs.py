"""Cells as training leaves them, for the tests of tracking, and a look into their store."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import skops.io
from made_studies import made_study
from told_scores import write_scores

from entrolab.tables.making import make_table, read_published
from entrolab.tables.rendering import write_table
from entrolab.tables.results import Results
from entrolab.tracking import artifacts, ledger, track_dataset

mlflow = ledger.mlflow  # the tests look at the store with the library that wrote it
open_ledger = ledger.open_ledger

SCORES = {"type": "scores", "metric": "gmean", "datasets": "uci", "models": ["svm_rbf", "logistic"]}
CONTENT = {
    "title": "A small paper",
    "reference": "Someone, 2020",
    "url": "https://example.org/paper",
    "published": "published.csv",
    "metrics": ["gmean", "accuracy"],
    "criteria": ["cv", "dcs_kde"],
    "protocol": {"folds": 2, "repeats": 2},
    "scaling": {"method": "minmax", "range": [0, 1], "fit_on": "all"},
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
    candidates = pd.DataFrame({"point": [0, 1, 2], "test_gmean": [0.1, 0.8, 0.2], "path_seconds": seconds})
    write_scores(run.selection, run.predictions, scores if success else scores[:0])
    (candidates if success else candidates[:0]).to_parquet(run.candidates)
    if estimator is None:
        facts_of(run).write_text(json.dumps({"error": error or "not asked for"}))
        return
    facts = {"params": {"C": 1.0}, "chosen_by": "cv", "fit_seconds": seconds / 10, "predict_seconds": 0.01}
    facts_of(run).write_text(json.dumps(facts | {"n_stored_numbers": 123, "estimator": record["estimator"]}))
    skops.io.dump(estimator, model_of(run))


def facts_of(run) -> Path:
    """The file of facts about the model of a run that its first criterion selected."""
    return run.models / "cv.json"


def model_of(run) -> Path:
    """The file of the model itself."""
    return run.models / "cv.skops"


def write_tables(study_name="small", published="published.csv") -> list[str]:
    """The csv files of the study's score tables, as the workflow makes them of the runs that are there."""
    files = []
    study = STUDY.model_copy(update={"name": study_name})
    for name in study.score_tables("moons"):
        spec = study.spec_of_table(name)
        files.append(f"results/{study_name}/tables/{name}.csv")
        write_table(make_table(Results(study), read_published(published), spec), spec, files[-1])
    return files


def track(runs, study=STUDY, **changes):
    arguments = {"tables": write_tables(), "patience": 5}
    return track_dataset(study, "moons", runs, **arguments | changes)


def client():
    """A client of the store in the working folder."""
    return mlflow.MlflowClient(f"sqlite:///{Path('mlflow.db').resolve()}")


def runs_of(experiment="small"):
    """Every live run of the experiment by its key; fails where a key has two."""
    found = client().search_runs([client().get_experiment_by_name(experiment).experiment_id])
    keys = [run.data.tags["entrolearn.key"] for run in found]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, found, strict=True))


def artifacts_at(store="mlflow.db"):
    """Every folder of artifacts that a store names."""
    with closing(sqlite3.connect(store)) as connection:
        return {
            where
            for table, column in artifacts.COLUMNS
            for (where,) in connection.execute(f"SELECT {column} FROM {table}")
        }
