"""The catalog, studies to read and to spoil, runs to track, and a file server that fails as it is told."""

import copy
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import own_tables
import pytest
import told_scores
import yaml
from mlflow_addresses import restore_addresses
from run_files import files_of
from scripted_server import Script, serving
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from entrolab.data.user_entries import entry_of_openml, entry_of_table
from entrolab.data.user_files import errors_of_reading
from entrolab.fit import predictions
from entrolab.study.config import load_catalog, load_study

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def catalog():
    return load_catalog([ROOT / "config/datasets.yaml"])


def entries_of(tasks: Mapping[str, str]) -> dict[str, dict]:
    """What reading a study asks of the catalog's entries."""
    return {key: {"task": task, "expect": {"rows": 200}} for key, task in tasks.items()}


def written_and_read(folder: Path, study: dict, entries: Mapping[str, Mapping]) -> dict:
    """The study as the project reads it, by way of a file."""
    file = folder / "mine.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False))
    return load_study(file, entries)


@pytest.fixture
def entries() -> dict[str, dict]:
    """The catalog that `study` is written for."""
    return entries_of(dict.fromkeys(("heart", "sonar", "two-moons"), "binary"))


@pytest.fixture
def load(tmp_path, entries) -> Callable[[dict], dict]:
    """A function that reads a study such as `study` from the file ``mine.yaml``."""
    return lambda study: written_and_read(tmp_path, study, entries)


@pytest.fixture
def load_trials(tmp_path) -> Callable[[dict], dict]:
    """A function that reads a study such as `study_of_trials` from the file ``mine.yaml``."""
    entries = entries_of({"heart": "binary", "sonar": "multiclass", "two-moons": "regression"})
    return lambda study: written_and_read(tmp_path, study, entries)


STUDY = yaml.safe_load("""
title: A study
scaling: {method: minmax, range: [0, 1]}
protocol: {folds: 3}
metrics: [gmean, accuracy]
criteria: [cv, dcs_gaussian]
named_seeds: true
checks: false
datasets: {small: [heart, sonar], moons: [two-moons]}
models:
  svm: {label: SVM, estimator: sklearn.svm.SVC, params: {kernel: rbf},
      grid: {gamma: {logspace: [-2, 0, 10]}, C: [1]}}
  lda: {label: LDA, estimator: sklearn.discriminant_analysis.LinearDiscriminantAnalysis,
      steps: [{estimator: sklearn.preprocessing.StandardScaler}]}
  eem: {label: EEM, estimator: entrolearn.EEMClassifier, params: {activation: rbf},
      grid: {n_hidden: {range: [5, 20, 5]}}, criteria: [dcs_gaussian]}
tables:
  table1: {type: scores, caption: All, datasets: small, models: all, metric: gmean, criterion: cv}
  table2: {type: scores, caption: One, datasets: moons, models: [svm], metric: accuracy,
      criterion: dcs_gaussian}
  counts: {type: characteristics, caption: Counts, datasets: small}
  seconds: {type: times, caption: Seconds, datasets: moons, models: [lda]}
  ranks:
    type: measured
    script: correlations
    caption: Ranks
    datasets: small
    columns: [metric]
    metrics: {"spearman_h{sizes}": "h = {sizes}"}
    params: {sizes: [1, 10], layers: 3, operators: 4, activation: rbf, weights: normal, formula: right,
        data: scaled}
  growth:
    type: measured
    script: growth
    caption: Growth
    datasets: moons
    models: {svm: {params: {C: 2}}, lda: {}}
    params: {n_rows: [10, 20, 40], n_rows_of: {svm: [5, 6, 7]}, sizes: [1, 2, 3], rows_at: 40,
        size_at: 1, size_names: {lda: n_components}}
    rows: [model]
    columns: [metric]
    metrics: {seconds_by_rows: seconds, seconds_by_size: seconds of units}
figures:
  figure1: {type: process, caption: A plane, dataset: two-moons, model: eem, params: {n_hidden: 9}}
  figure2: {type: grid_curves, caption: Sizes, datasets: moons, models: [eem], parameter: n_hidden,
      metric: gmean}
""")


@pytest.fixture
def study() -> dict:
    """A study of classes in folds as a person writes it, with short forms and without defaults."""
    return copy.deepcopy(STUDY)


def extended(study: dict, sections: Mapping[str, dict | list]) -> dict:
    """The study itself, with the entries of some sections added to its own."""
    for name, entries in copy.deepcopy(sections).items():
        study[name] = {**study.get(name, {}), **entries} if isinstance(entries, dict) else entries
    return study


ALTERNATIVES = yaml.safe_load("""
models:
  chooses:
    label: PCA
    steps: [{estimator: sklearn.decomposition.PCA}]
    grid: {step1__n_components: {range: [1, 2, 1]}}
    one_of:
      svm: {estimator: sklearn.svm.SVC, params: {class_weight: balanced}, grid: {C: {of_dataset: svm_c}}}
      knn: {estimator: sklearn.neighbors.KNeighborsClassifier, grid: {n_neighbors: {range: [1, 5, 2]}}}
tables:
  chosen: {type: parameters, caption: Chosen, datasets: small, models: {chooses: {C: C, k: n_neighbors}},
      criterion: cv}
  apart: {type: measured, script: separability, caption: Apart, datasets: small, models: [lda, chooses],
      metrics: {separability: visual separability}}
of_dataset: {svm_c: {default: {logspace: [0, 1, 10]}, sonar: [3]}}
""")


@pytest.fixture
def study_of_alternatives(study) -> dict:
    """The study of classes with a model that chooses its learner."""
    return extended(study, ALTERNATIVES)


TRIALS = yaml.safe_load("""
title: Trials
scaling: {method: {of_dataset: scaling}, range: [-1, 1], targets: [0, 1]}
protocol: {trials: 20, train: {of_dataset: n_train}, test: 30, inner: {folds: 4, used: {of_dataset: inner}}}
metrics: [accuracy, f1, rmse]
criteria: [cv]
of_dataset:
  scaling: {default: minmax, sonar: maxabs}
  n_train: {heart: 100, sonar: 80, two-moons: 60}
  inner: {default: 4, heart: 1}
  alpha: {default: {logspace: [-1, 1, 2]}, sonar: [1, 2]}
  size: {heart: 7, default: 9}
named_seeds: true
checks: false
datasets: {classes: [heart, sonar], values: [two-moons], all: [heart, sonar, two-moons]}
models:
  ridge:
    label: Ridge
    estimators: {classification: sklearn.linear_model.RidgeClassifier,
        regression: sklearn.linear_model.Ridge}
    params: {max_iter: {of_dataset: size}}
    grid: {alpha: {of_dataset: alpha}}
  svm: {label: SVM, estimators: {classification: sklearn.svm.SVC}, grid: {C: {logspace: [0, 1, 10]}},
      trials: 5}
  eem: {label: EEM, estimator: entrolearn.EEMClassifier, criteria: [cv]}
  other: {label: In print, published_only: true}
tables:
  accuracies: {type: scores, caption: Accuracy, datasets: classes, models: [ridge, svm, other],
      metric: accuracy, criterion: cv}
  errors: {type: scores, caption: RMSE, datasets: values, models: all, metric: rmse, criterion: cv}
figures:
  curves: {type: grid_curves, caption: Errors, datasets: classes, models: [svm], parameter: C,
      metric: accuracy}
  plane: {type: process, caption: A plane, dataset: heart, model: eem}
""")


@pytest.fixture
def study_of_trials(study) -> dict:
    """A study of trials, on data sets of several tasks and sizes."""
    growth = {**study["tables"]["growth"], "datasets": "values", "models": ["eem"]}
    return extended(copy.deepcopy(TRIALS), {"tables": {"growth": growth}})


ALL_TRIALS = yaml.safe_load("""
tables:
  chosen: {type: parameters, caption: Parameters, datasets: all,
      models: {ridge: {lambda: 1/alpha}, svm: {C: C, n_support: n_support}}, criterion: cv}
  sparse:
    type: measured
    script: density
    caption: Density
    models: {ridge: {params: {alpha: 2}}, eem: {}}
    params: {dims: [10, 100], densities: [0.1], n_rows: 20}
    places: {"d{dims}_density{densities:g}": "d = {dims:,}, density {densities:g}"}
    columns: [model, metric]
    metrics: {fit_seconds: seconds}
  sizes: {type: characteristics, caption: Sizes, datasets: all, counts: [n_train]}
figures:
  each: {type: script, script: trials, of: predictions, caption: Trials, datasets: all, models: [ridge],
      metric: [accuracy, rmse], criterion: cv}
  density: {type: script, script: density, of: measured, caption: Density, table: sparse}
""")


@pytest.fixture
def study_of_all_trials(study_of_trials) -> dict:
    """The study of trials with the kinds of tables and figures that it lacks."""
    return extended(study_of_trials, ALL_TRIALS)


TRAINING = yaml.safe_load("""
metrics: [accuracy, f1, rmse, iterations]
models: {chooses: {label: Chooses, one_of: {svm: {estimator: sklearn.svm.SVC}}, criteria: [cv]}}
tables:
  taken: {type: scores, caption: Training, datasets: classes, models: [ridge, svm], criterion: cv,
      metric: [accuracy, iterations, fit_seconds], tolerances: {iterations: {percent: 20}}}
  known: {type: measured, script: information, caption: Information, datasets: classes,
      models: {ridge: {}, svm: {params: {C: 2}}}, params: {reject: [0, 0.1]},
      variants: {"": "", _reject_0.1: 10 % rejected}, metrics: {accuracy: A}}
""")


@pytest.fixture
def study_of_training(study_of_trials) -> dict:
    """The study of trials with what training takes, and with the information in what models say."""
    return extended(study_of_trials, TRAINING)


PROJECTIONS = yaml.safe_load("""
models:
  pca: {label: PCA, estimator: sklearn.svm.SVC,
      steps: [{estimator: sklearn.decomposition.PCA, params: {n_components: {of_dataset: size}}}],
      criteria: [cv]}
  mixture: {label: Mixture, estimator: sklearn.mixture.GaussianMixture, criteria: [cv]}
  centres:
    label: Centres
    steps:
      - {estimator: sklearn.preprocessing.StandardScaler}
      - {estimator: sklearn.cluster.KMeans, params: {n_clusters: 2}}
    estimator: sklearn.svm.SVC
    criteria: [cv]
tables:
  starts: {type: measured, script: starts, caption: Starts, datasets: small, models: [mixture, centres],
      params: {starts: 100, starts_of: {mixture: 16}}, rows: [dataset, model], columns: [metric],
      metrics: {expected: best of 16}}
  speed: {type: measured, script: evaluations, caption: Speed,
      params: {n_rows: [100, 1000], exact_up_to: 100}, methods: {exact: exact, binned: binned},
      places: {"n{n_rows}": "N = {n_rows}"},
      columns: [model, metric], metrics: {seconds: seconds}}
figures:
  planes: {type: projections, caption: '', datasets: small, models: [pca, mixture]}
  maxima: {type: script, script: starts, of: measured, caption: '', table: starts, params: {against: seconds}}
  speed: {type: script, script: evaluations, of: measured, caption: '', table: speed}
of_dataset: {size: {default: 2, sonar: 1}}
""")


@pytest.fixture
def study_of_projections(study) -> dict:
    """The study of folds with models that project, and what is measured and drawn of them."""
    return extended(study, PROJECTIONS)


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory) -> Path:
    """A migrated store without runs: making one takes seconds, copying it does not."""
    from entrolab.tracking.stores import open_store  # which imports MLflow, for seconds

    file = tmp_path_factory.mktemp("store") / "mlflow.db"
    with pytest.MonkeyPatch.context() as patch:
        restore_addresses(patch)
        with open_store(f"sqlite:///{file}"):
            pass
    return file


@pytest.fixture
def no_store(tmp_path, monkeypatch) -> Path:
    """A working folder with the published numbers, and no store yet."""
    from tracked_runs import PUBLISHED

    monkeypatch.chdir(tmp_path)
    restore_addresses(monkeypatch)
    Path("published.csv").write_text(PUBLISHED)
    return tmp_path


@pytest.fixture
def place(no_store, empty_store) -> Path:
    """A working folder with a store and the published numbers."""
    with sqlite3.connect(empty_store) as source, sqlite3.connect("mlflow.db") as copy:
        source.backup(copy)
    return no_store


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray]:
    """Two classes in the plane."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + np.repeat([[0.0], [2.0]], 20, axis=0)
    return X, np.repeat([0, 1], 20)


@pytest.fixture(autouse=True, scope="session")
def _told_scores():
    """Files of `told_scores` have the scores that a test wrote into them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predictions, "score_selection", told_scores.as_told)
        yield


@pytest.fixture
def untracked(no_store, data) -> list[SimpleNamespace]:
    """Two runs of one data set, each with a fitted model, and no store yet."""
    from tracked_runs import STUDY, write_run

    made = [files_of(STUDY, "moons", model) for model in ("svm_rbf", "logistic")]
    write_run(made[0], estimator=SVC(C=1.0).fit(*data))
    write_run(made[1], estimator=LogisticRegression().fit(*data))
    return made


@pytest.fixture
def runs(place, untracked) -> list[SimpleNamespace]:
    """Two runs of one data set, each with a fitted model, beside a store without runs."""
    return untracked


@pytest.fixture
def server() -> Iterator[Script]:
    """A scripted server: set `server.steps`, read `server.requests`, fetch from `server.url`."""
    with serving("set/data.csv") as script:
        yield script


@pytest.fixture
def in_one_process(monkeypatch) -> None:
    """Entries of tables are made in this process, without limits, which takes half the time."""

    def entry(source, own, fetched: bool) -> dict:
        with errors_of_reading(source):
            return json.loads(json.dumps((entry_of_openml if fetched else entry_of_table)(source, own)))

    monkeypatch.setattr("entrolab.data.user_tables._read_apart", entry)


@pytest.fixture
def load_own(tmp_path, in_one_process) -> Callable[..., tuple[dict, dict]]:
    """Read a study of one data set of its own, and what becomes of it."""

    def read(
        own: dict, content: str | bytes = own_tables.TABLE, model: str = "sklearn.svm.SVC", **keys
    ) -> tuple[dict, dict]:
        content = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "table.csv").write_bytes(content)
        file = tmp_path / "mine.yaml"
        file.write_text(yaml.safe_dump({"datasets": {"shop": own}, "models": {"svm": model}, **keys}))
        study = load_study(file, {})
        return study, study.own_data["shop"]

    return read


FIGURES = yaml.safe_load("""
scaling: {method: minmax, range: [0, 1]}
protocol: {trials: 2, train: 60, test: 40, inner: {folds: 2}}
metrics: [accuracy, gmean, auc, rmse, support]
datasets: {moons: [moons-apart], both: [moons-apart, rings], digits: [sklearn-digits],
    values: [sklearn-diabetes]}
models:
  good: {label: Good, estimator: sklearn.svm.SVC}
  bad: {label: <b>Bad</b> & co, estimator: sklearn.svm.SVC, params: {kernel: precomputed}}
tables: {counts: {type: characteristics, caption: Counts, datasets: moons}}
""")


@pytest.fixture
def results(tmp_path, catalog):
    """The results of a study whose second model comes to nothing, and the figures drawn of them."""
    from drawn_figures import Results  # which imports Matplotlib, for a second

    return Results(tmp_path, copy.deepcopy(FIGURES), catalog)
