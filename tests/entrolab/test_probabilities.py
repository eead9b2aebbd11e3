"""What is asked of chosen models alone: scores of rankings and probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

from entrolab.dataset import Dataset
from entrolab.limits import Limits
from entrolab.metrics import METRICS
from entrolab.probabilities import SCORES, calibration_error, probability_scores, score_chosen
from entrolab.protocols import Folds, Trials, protocol
from entrolab.selecting import choose
from entrolab.training import train_cell

CELL = {
    "paper": "mine",
    "dataset": "points",
    "model": "logistic",
    "label": "L",
    "estimator": "sklearn.linear_model.LogisticRegression",
    "params": {},
    "steps": [],
    "grid": {"C": [0.001, 1.0]},
    "seed": 0,
    "metrics": ["gmean", "accuracy"],
    "criteria": ["cv", "dcs_gaussian"],
    "protocol": {"folds": 3, "repeats": 2},
    "probabilities": ["auc", "log_loss", "brier", "calibration_error"],
}


@pytest.fixture(scope="module")
def dataset():
    X, y = make_classification(n_samples=120, n_features=4, flip_y=0.2, random_state=0)
    return Dataset(X, y.astype(np.int64), list("abcd"), "binary", ["no", "yes"], np.zeros(120, np.int8))


def scored(dataset, cell):
    parts = protocol(cell["protocol"]).draw(dataset.y, seed=0)
    candidates, _ = train_cell(dataset, parts, cell, Limits(seconds=60))
    return parts, score_chosen(dataset, parts, choose(candidates, cell), cell)


def test_every_score_of_probabilities_is_a_metric_and_the_other_way_round():
    assert list(SCORES) == [name for name, metric in METRICS.items() if metric.of_probabilities]


def test_what_each_criterion_chose_is_fitted_once_more_on_the_rows_of_its_fold(dataset):
    parts, table = scored(dataset, CELL)
    assert len(table) == 2 * 3 * 3  # repeats, folds, criteria and the oracle
    for row in table.itertuples():
        tested = parts[row.repeat] == row.fold
        C = float(row.params.partition(":")[2].strip(" }"))
        twin = LogisticRegression(C=C).fit(dataset.X[~tested], dataset.y[~tested])
        p = twin.predict_proba(dataset.X[tested])[:, 1]
        assert row.auc == pytest.approx(roc_auc_score(dataset.y[tested], p), abs=1e-12)
        assert row.log_loss == pytest.approx(log_loss(dataset.y[tested], p), rel=1e-9)
        assert row.brier == pytest.approx(np.mean((p - dataset.y[tested]) ** 2), rel=1e-9)


def test_of_trials_the_training_rows_are_learnt_and_others_left_aside(dataset):
    trials = {"trials": 2, "train": 60, "test": 30, "inner": {"folds": 4, "used": 1}}
    parts, table = scored(dataset, CELL | {"protocol": trials, "grid": {}})
    row = table.iloc[0]
    twin = LogisticRegression().fit(dataset.X[parts[0] > 0], dataset.y[parts[0] > 0])
    p = twin.predict_proba(dataset.X[parts[0] == 0])[:, 1]
    assert row["auc"] == roc_auc_score(dataset.y[parts[0] == 0], p)
    assert (parts[0] == -1).sum() == 30


def test_a_learner_without_probabilities_is_ranked_and_one_without_scores_has_none(dataset):
    machine = {"estimator": "sklearn.svm.LinearSVC", "grid": {}, "criteria": ["cv"]}
    _, table = scored(dataset, CELL | machine)
    assert table["auc"].between(0.5, 1).all()
    assert table[["log_loss", "brier", "calibration_error"]].isna().all(axis=None)


def test_a_fold_in_which_nothing_was_chosen_has_no_scores(dataset):
    parts = Folds(3, 2).draw(dataset.y, seed=0)
    candidates, _ = train_cell(dataset, parts, CELL, Limits(seconds=60))
    candidates.loc[(candidates["repeat"] == 0) & (candidates["fold"] == 1), "success"] = False
    table = score_chosen(dataset, parts, choose(candidates, CELL), CELL)
    by_cv = table[table["criterion"] == "cv"].set_index(["repeat", "fold"])["auc"]
    assert by_cv.isna().tolist() == [False, True, False, False, False, False]


# ------------------------------------------------------------------------------------------ calibration error


@given(st.integers(0, 2**32 - 1), st.integers(1, 300))
def test_calibration_error_is_that_of_its_bins_one_by_one(seed, n):
    rng = np.random.default_rng(seed)
    p, y = rng.random(n), rng.integers(0, 2, n)
    order = np.argsort(p)
    bins = [part for part in np.array_split(order, 10) if len(part)]
    naive = sum(len(part) / n * abs(y[part].mean() - p[part].mean()) for part in bins)
    assert calibration_error(y, p) == pytest.approx(naive, abs=1e-12)
    assert 0 <= naive <= 1


def test_calibration_error_weighs_the_bins_of_scikit_learns_curve():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    y = (rng.random(1000) < p**2).astype(int)
    shares, means = calibration_curve(y, p, n_bins=10, strategy="quantile")
    assert calibration_error(y, p) == pytest.approx(np.abs(shares - means).mean(), abs=1e-3)


def test_probabilities_that_are_right_have_little_error_and_wrong_ones_all_of_it():
    rng = np.random.default_rng(0)
    p = rng.random(100_000)
    y = (rng.random(100_000) < p).astype(int)
    # The mean of ten |N(0, p (1 - p) / 10,000)| is below 0.005.
    assert calibration_error(y, p) < 0.01
    assert calibration_error(y, 1.0 - y) > 0.99  # all but the bin that holds both


def test_what_asks_for_something_that_there_is_not_is_left_out():
    y, p = np.array([0, 1, 1, 0]), np.array([0.1, 0.8, 0.7, 0.3])
    assert set(probability_scores(y, p, p, list(SCORES))) == set(SCORES)
    assert set(probability_scores(y, p, None, list(SCORES))) == {"auc"}
    assert probability_scores(y, None, None, list(SCORES)) == {}
    assert probability_scores(y, np.full(4, np.nan), None, ["auc"]) == {}


def test_rows_of_a_fit_and_of_its_test_are_those_of_the_protocol():
    part = np.array([0, 0, 1, 1, 2, -1])
    learnt, tested = Folds(3, 1).rows_of(part, 1)
    assert learnt.tolist() == [0, 1, 4]
    assert tested.tolist() == [2, 3]
    learnt, tested = Trials(1, 3, 2, folds=2, used=1).rows_of(part, 0)
    assert learnt.tolist() == [2, 3, 4]
    assert tested.tolist() == [0, 1]
