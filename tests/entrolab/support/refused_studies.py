"""Studies that cannot be run, and the one line that says why."""

from collections.abc import Callable

import pytest
import yaml

from entrolab.schema.sections import ConfigError


def refused(load: Callable[..., object], *arguments, **options) -> str:
    """The one line with which a study is refused."""
    with pytest.raises(ConfigError) as caught:
        load(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


MOONS = {
    "title": "Two small moons",
    "source": "generated",
    "generator": {"name": "two_moons", "n_samples": 90, "noise": 0.2, "seed": 1},
    "task": "binary",
    "positive": [1],
    "expect": {"rows": 90, "features": 2, "negative": 45, "positive": 45},
    "reference": "generated",
}
CATALOG = {
    "moons": MOONS,
    "waves": {**MOONS, "task": "multiclass", "expect": {"rows": 300, "features": 21, "classes": 3}},
    "series": {**MOONS, "task": "regression", "expect": {"rows": 100, "features": 2}},
}

STUDY = yaml.safe_load("""
title: A study
scaling: {method: minmax, range: [0, 1]}
protocol: {folds: 3}
metrics: [gmean, accuracy]
criteria: [cv]
of_dataset: {sizes: {default: [1, 2], waves: [3]}}
named_seeds: true
checks: false
datasets: {both: [moons, waves], values: [series]}
models:
  svm: {label: SVM, sublabel: rbf, estimator: sklearn.svm.SVC, params: {kernel: rbf},
      steps: [{estimator: sklearn.decomposition.PCA, params: {n_components: 2}}],
      grid: {C: [1, 10], step1__whiten: [true, false]}}
  knn:
    label: kNN
    one_of:
      knn: {estimator: sklearn.neighbors.KNeighborsClassifier, grid: {n_neighbors: {of_dataset: sizes}}}
      eem: {estimator: entrolearn.EEMClassifier, params: {n_hidden: 10}}
tables:
  table1: {type: scores, caption: Scores, datasets: both, models: [svm, knn], metric: gmean, criterion: cv}
  growth:
    type: measured
    script: growth
    caption: Growth
    datasets: values
    models: {svm: {params: {C: 2}}}
    params: {n_rows: [20, 40, 80], sizes: [1, 2, 3], rows_at: 80, size_at: 1, size_names: {}}
    rows: [model]
    columns: [metric]
    metrics: {seconds_by_rows: seconds, numbers_by_rows: numbers}
figures: {plane: {type: process, caption: A plane, dataset: moons, model: svm, params: {C: 3}}}
errata: [{where: eq. 3, published: a, taken: b, evidence: c}]
""")


def spoilt(study: dict, place: str, value) -> dict:
    """The study, with a value at a dotted place."""
    *parents, last = place.split(".")
    node = study
    for parent in parents:
        node = node[int(parent) if isinstance(node, list) else parent]
    node[last] = value
    return study
