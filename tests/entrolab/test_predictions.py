"""The predictions that training keeps, and the scores that are computed from them."""

import numpy as np
import pandas as pd
import pytest
from logistic_run import changed, logistic_run
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge

from entrolab.data.dataset import Dataset
from entrolab.fit.learners import build, seed_from
from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.fit.predictions import score_selection
from entrolab.fit.probabilities import OF_MANY
from entrolab.fit.protocols import protocol
from entrolab.fit.selection import select
from entrolab.fit.training import FACTS, train_run, without_data
from entrolab.io.limits import Limits
from entrolab.io.parquet import read_frame, write_frame

RUN = logistic_run(candidates=["cv", "dcs_gaussian"])


def data_of(n_classes=2, rows=120) -> Dataset:
    X, y = make_classification(
        n_samples=rows, n_features=4, n_informative=4, n_redundant=0, n_classes=n_classes, flip_y=0.2,
        random_state=0,
    )  # fmt: skip
    task = "binary" if n_classes == 2 else "multiclass"
    return Dataset(
        X, y.astype(np.int64), list("abcd"), task, list("mno")[:n_classes], np.zeros(rows, np.int8)
    )


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return data_of()


def trained(dataset, run):
    """The parts of a run, what training leaves of it, and its selection."""
    parts = protocol(run.protocol).draw(dataset.y, seed=0)
    found = train_run(dataset, parts, run, Limits(seconds=3600))
    return parts, found, select(found.candidates, run.candidates, [*FACTS])


@pytest.fixture(scope="module")
def kept(dataset):
    """The parts, what training leaves, and the selection of the plain run."""
    return trained(dataset, RUN)


def test_kept_predictions_are_those_of_what_each_criterion_chose(dataset, kept):
    parts, run, selection = kept
    chosen = selection[["repeat", "fold", "point", "params"]].drop_duplicates()
    known = run.predictions.groupby(["repeat", "fold", "point"])
    assert set(known.groups) == set(zip(chosen["repeat"], chosen["fold"], chosen["point"], strict=True))
    for row in chosen.itertuples():
        tested = np.flatnonzero(parts[row.repeat] == row.fold)
        left = parts[row.repeat] != row.fold
        C = float(row.params.partition(":")[2].strip(" }"))
        twin = LogisticRegression(C=C).fit(dataset.X[left], dataset.y[left])
        found = known.get_group((row.repeat, row.fold, row.point))
        assert found["row"].tolist() == tested.tolist()
        assert found["y"].tolist() == dataset.y[tested].tolist()
        assert found["prediction"].tolist() == twin.predict(dataset.X[tested]).tolist()
        np.testing.assert_allclose(found["decision"], twin.decision_function(dataset.X[tested]), rtol=1e-9)
        np.testing.assert_allclose(found["probability"], twin.predict_proba(dataset.X[tested])[:, 1])


def test_scores_of_kept_predictions_are_those_that_candidates_have(kept):
    _, run, selection = kept
    found = score_selection(selection, run.predictions, RUN.metrics)
    expected = select(run.candidates, RUN.candidates, RUN.metrics)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


LEARNERS = {
    "entrolearn.EEMClassifier": {"n_hidden": [20]},  # moments that fits share; log odds of their own
    "entrolearn.EEKMClassifier": {"n_landmarks": [15]},
    "entrolearn.WELMClassifier": {"n_hidden": [20]},  # shared too; the projection decides
    "entrolearn.LSSVC": {"alpha": [1.0]},
    "sklearn.svm.SVC": {"gamma": [0.5]},  # one kernel matrix for all
    "sklearn.svm.LinearSVC": {},
    "sklearn.tree.DecisionTreeClassifier": {"max_depth": [3]},
}


SCALER = [{"estimator": "sklearn.preprocessing.StandardScaler"}]


@pytest.mark.parametrize(
    ("learner", "steps"),
    [*((one, []) for one in LEARNERS), ("entrolearn.EEMClassifier", SCALER), ("sklearn.svm.SVC", SCALER)],
)
def test_decisions_and_probabilities_are_those_of_a_machine_that_is_fitted_alone(dataset, learner, steps):
    one = {"folds": 3, "repeats": 1}
    spec = changed(RUN, {"estimator": learner, "grid": LEARNERS[learner], "steps": steps, "protocol": one})
    parts, run, _ = trained(dataset, changed(spec, {"candidates": ["cv"]}))
    seed = seed_from(0, "mine", "points", "logistic", 0)
    params = {name: values[0] for name, values in spec.grid.items()}
    for fold, found in run.predictions.groupby("fold"):
        left = parts[0] != fold
        machine = build(changed(spec, {"params": params}), seed).fit(dataset.X[left], dataset.y[left])
        rows = dataset.X[found["row"]]
        probability = machine.predict_proba(rows)[:, 1] if hasattr(machine, "predict_proba") else np.nan
        has_decision = hasattr(machine, "decision_function")
        decision = machine.decision_function(rows) if has_decision else probability
        np.testing.assert_array_equal(found["prediction"], machine.predict(rows))
        np.testing.assert_allclose(found["decision"], decision, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found["probability"], probability + np.zeros(len(rows)), rtol=1e-6)


def test_of_more_classes_labels_are_kept_and_of_regressions_values():
    _, run, selection = trained(data_of(3), changed(RUN, {"candidates": ["cv"]}))
    kept = run.predictions
    assert [*kept] == ["repeat", "fold", "point", "row", "y", "prediction", *OF_MANY]
    assert kept["prediction"].dtype == np.int16
    # Where the learner has probabilities, its label is the class with the largest.
    hits = kept["prediction"] == kept["y"]
    np.testing.assert_array_equal(hits, kept["true_rank"] == 0)
    scored = score_selection(selection, kept, ["log_loss", "top3", "calibration_error"])
    assert scored[["log_loss", "top3", "calibration_error"]].notna().all(axis=None)
    X = np.random.default_rng(0).normal(size=(60, 4))
    values = Dataset(X, X @ [1.0, 2, 3, 4], list("abcd"), "regression", [], np.zeros(60, np.int8))
    ridge = {"estimator": "sklearn.linear_model.Ridge", "grid": {"alpha": [1.0]}, "metrics": ["rmse"]}
    parts, run, selection = trained(values, changed(RUN, ridge | {"candidates": ["cv"]}))
    first = run.predictions.query("repeat == 0 and fold == 0")
    left = parts[0] != 0
    twin = Ridge(alpha=1.0).fit(X[left], values.y[left])
    np.testing.assert_allclose(first["prediction"], twin.predict(X[~left]))
    scored = score_selection(selection, run.predictions, ["rmse", "error_entropy", "support"])
    assert scored[["rmse", "error_entropy"]].notna().all(axis=None)
    assert scored["support"].isna().all()


def test_of_trials_the_test_rows_are_kept_by_their_index_in_the_data_set(dataset):
    trials = {"trials": 2, "train": 60, "test": 30, "inner": {"folds": 4, "used": 1}}
    parts, run, _ = trained(dataset, changed(RUN, {"protocol": trials, "grid": {}}))
    for trial, found in run.predictions.groupby("repeat"):
        assert found["row"].tolist() == np.flatnonzero(parts[trial] == 0).tolist()
        assert found["y"].tolist() == dataset.y[found["row"]].tolist()


def test_a_fold_in_which_nothing_was_chosen_has_no_scores(kept):
    _, run, _ = kept
    lost = run.candidates.copy()
    lost.loc[(lost["repeat"] == 0) & (lost["fold"] == 1), "success"] = False
    selection = select(lost, RUN.candidates, [*FACTS])
    table = score_selection(selection, run.predictions, ["gmean", "auc"])
    by_cv = table[table["criterion"] == "cv"].set_index(["repeat", "fold"])
    assert by_cv["auc"].isna().tolist() == [False, True, False, False, False, False]
    assert by_cv["gmean"].isna().tolist() == [False, True, False, False, False, False]


def test_a_learner_that_cannot_rank_keeps_its_labels(dataset, monkeypatch):
    def fail(self, X):
        raise RuntimeError("no ranks today")

    monkeypatch.setattr(LogisticRegression, "predict_proba", fail)
    _, run, selection = trained(dataset, changed(RUN, {"candidates": ["cv"], "grid": {}}))
    found = score_selection(selection, run.predictions, ["accuracy", "auc"])
    assert found["accuracy"].notna().all()
    assert found["auc"].isna().all()


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_runs_without_data_have_typed_files_without_rows(tmp_path, task):
    run = changed(RUN, {"metrics": metrics_of(task, METRICS)[:1]})
    candidates, _, kept = without_data(run, "gone")
    write_frame(tmp_path / "selection", select(candidates, run.candidates, [*FACTS]))
    write_frame(tmp_path / "predictions", kept)
    metrics = metrics_of(task, METRICS)
    found = score_selection(read_frame(tmp_path / "selection"), read_frame(tmp_path / "predictions"), metrics)
    assert found.empty
    assert {*metrics} <= {*found}


def test_predictions_are_small(tmp_path):
    """A row takes the four bytes of its index and twice eight of what says how sure the model is of it."""
    run = trained(data_of(rows=6000), changed(RUN, {"candidates": ["cv"], "grid": {}}))[1]
    write_frame(tmp_path / "kept.parquet", run.predictions)
    assert len(run.predictions) == 2 * 6000
    assert (tmp_path / "kept.parquet").stat().st_size < 25 * len(run.predictions)
