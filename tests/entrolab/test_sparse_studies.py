"""Studies of what machines keep: what is refused before a job starts, and what figures are drawn from."""

import copy

import pytest
import yaml
from refused_studies import refused

from entrolab.study.config import load_study

CATALOG = {
    "plane": {"task": "binary", "expect": {"rows": 200, "features": 2}},
    "sonar": {"task": "binary", "expect": {"rows": 200, "features": 60}},
    "values": {"task": "regression", "expect": {"rows": 200, "features": 2}},
}
STUDY = yaml.safe_load("""
title: A study
scaling: {method: none, fit_on: all}
protocol: {trials: 2, train: 100, test: 50}
metrics: [error_rate, support]
criteria: [cv]
datasets: {plane: [plane], all: [plane, sonar]}
models:
  svm: {label: SVM, estimator: sklearn.svm.SVC, steps: [{estimator: sklearn.preprocessing.StandardScaler}],
      grid: {C: [1, 2], gamma: [1]}}
  swept: {label: all, estimator: sklearn.svm.SVC, grid: {C: [1]}, criteria: []}
tables:
  table1: {type: scores, caption: Both, datasets: all, models: [svm], metric: [error_rate, support],
      criterion: cv}
figures:
  kept: {type: support, caption: '', datasets: plane, models: [svm]}
  tradeoff: {type: tradeoff, caption: '', datasets: all, models: [svm, swept],
      metric: [support, error_rate]}
""")


def load(tmp_path, study):
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False))
    return load_study(file, CATALOG)


def test_a_figure_of_support_vectors_is_drawn_from_the_fitted_models(tmp_path):
    study = load(tmp_path, STUDY)
    assert study.files_of_figure("kept") == [
        "results/mine/scaled/plane.npz",
        "results/mine/seed0/folds/plane.npz",
        "results/mine/seed0/models/plane/svm",
    ]
    spec = study.spec_of_figure("kept")
    assert spec["learners"] == {"svm": ["sklearn.svm.SVC", "sklearn.preprocessing.StandardScaler"]}
    assert spec["protocols"]["plane"]["train"] == 100


def test_a_tradeoff_is_drawn_from_the_candidates(tmp_path):
    study = load(tmp_path, STUDY)
    assert study.files_of_figure("tradeoff") == [
        f"results/mine/seed0/candidates/{dataset}/{model}.parquet"
        for dataset in ("plane", "sonar")
        for model in ("svm", "swept")
    ]
    assert study.spec_of_figure("tradeoff")["metrics"] == ["support", "error_rate"]


@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        (
            "metrics",
            ["support", "error_rate"],
            "metrics: 'support' is the first metric that fits 'plane', but it cannot select a candidate; "
            "accepted: error_rate before it",
        ),
        (
            "figures.kept.datasets",
            "all",
            "figures.kept.datasets: 'sonar' is a binary data set of 60 features; "
            "accepted: binary data sets of 2",
        ),
        (
            "figures.kept.models",
            ["swept"],
            "figures.kept.models: 'swept' has no criteria, so no candidate is selected",
        ),
        ("figures.kept.models", ["svn"], "figures.kept.models: unknown model 'svn', did you mean 'svm'"),
        ("figures.tradeoff.metric", ["support", "rmse"], "figures.tradeoff.metric: unknown metric of this s"),
        ("figures.tradeoff.metric", ["support"], "figures.tradeoff.metric: found ['support'], expected a li"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, place, value, line):
    study = copy.deepcopy(STUDY)
    *parents, last = place.split(".")
    node = study
    for parent in parents:
        node = node[parent]
    node[last] = value
    assert line in refused(load, tmp_path, study)


def test_support_vectors_of_values_are_a_metric_too(tmp_path):
    study = copy.deepcopy(STUDY)
    study["metrics"] = ["rmse", "support"]
    study["datasets"] = {"values": ["values"]}
    study["models"] = {"svr": {"label": "SVR", "estimator": "sklearn.svm.SVR", "grid": {"C": [1]}}}
    study["tables"]["table1"] |= {"datasets": "values", "models": ["svr"], "metric": ["rmse", "support"]}
    del study["figures"]
    assert load(tmp_path, study).metrics == ["rmse", "support"]
