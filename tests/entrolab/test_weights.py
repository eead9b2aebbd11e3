"""Weights of the rows of a user's table: what learners get of them, and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from logistic_run import changed
from numpy.testing import assert_allclose, assert_array_equal
from own_tables import LINE, OWN, TABLE
from refused_studies import refused
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from entrolab.data.dataset import load_dataset, save_dataset
from entrolab.data.prepare import prepare
from entrolab.fit.refit import of_table, refit
from entrolab.fit.training import train_run
from entrolab.io.limits import Limits
from entrolab.report.protocol import protocol
from entrolab.study.learners import learners_asked, mistakes
from entrolearn import EEMClassifier

LIMITS = Limits(seconds=3600, gib=8)
WEIGHTED = {**OWN, "weight": "sort", "drop": ["colour"]}
LOGISTIC = "sklearn.linear_model.LogisticRegression"
N = 80
MODELS = {
    "logistic": {"estimator": LOGISTIC, "grid": {"C": [0.1, 10]}},
    "eem": {"estimator": "entrolearn.EEMClassifier", "params": {"n_hidden": 10}},
}


@pytest.fixture
def study(load_own):
    """A study of a table whose rows have weights 0 to 3, its prepared rows, and the parts of two folds."""
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, N)
    X = rng.normal(size=(N, 2)).round(3)
    label = np.where(X[:, 0] + 2 * (weights == 3) * X[:, 1] + rng.normal(0, 0.4, N) > 0, "yes", "no")
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "times": weights, "bought": label})
    own = {"file": "table.csv", "label": "bought", "weight": "times"}
    made, entry = load_own(own, table.to_csv(index=False), models=MODELS, protocol={"folds": 3})
    return made, prepare("shop", entry), np.arange(N)[None] % 3


def test_a_weight_is_no_feature_and_stays_with_its_row(load_own, tmp_path):
    rows = TABLE.replace("yes", "", 1)  # a row without a label
    _, entry = load_own(WEIGHTED, rows)
    data = prepare("shop", entry)
    assert data.feature_names == ["size"]
    assert_array_equal(data.weights, np.delete(np.arange(12) % 5, 1))
    head, *lines = rows.splitlines()
    _, entry = load_own({**WEIGHTED, "time": "size"}, "\n".join([head, *lines[::-1]]))
    assert_array_equal(prepare("shop", entry).weights, data.weights)  # sorted with its rows
    save_dataset(tmp_path / "data.npz", data)
    assert_array_equal(load_dataset(tmp_path / "data.npz").weights, data.weights)
    assert replace(data, weights=data.weights + 1).digest() != data.digest()


@pytest.mark.fault("Configuration", "weights of rows that no learner could use", LINE)
@pytest.mark.parametrize(
    ("sort", "line"),
    [
        ("-1", "weight: found weights such as -1 in 1 rows of 'sort'; accepted: numbers from 0"),
        ("", "weight: found weights such as nan in 1 rows of 'sort'; accepted: numbers from 0"),
        ("inf", "weight: found weights such as inf in 1 rows of 'sort'; accepted: numbers from 0"),
        ("much", "weight: column 'sort': found 'much'; accepted: numbers"),
        (None, "weight: found 0 in all rows of 'sort'; accepted: numbers from 0, not all of them 0"),
    ],
)
def test_weights_that_are_none_are_one_line(load_own, sort, line):
    table = pd.read_csv(pd.io.common.StringIO(TABLE), dtype=str)
    table.loc[4 if sort is not None else slice(None), "sort"] = "0" if sort is None else sort
    assert line in refused(load_own, WEIGHTED, table.to_csv(index=False), model=LOGISTIC)


@pytest.mark.fault("Configuration", "weights of rows, and a learner that takes none", LINE)
def test_a_learner_without_weights_is_refused(load_own):
    for learner in ("neighbors.KNeighborsClassifier", "discriminant_analysis.LinearDiscriminantAnalysis"):
        [line] = mistakes(learners_asked(load_own(WEIGHTED, model=f"sklearn.{learner}")[0]))
        assert line.startswith("models.svm: ")
        assert "sample_weight" in line
        assert mistakes(learners_asked(load_own(OWN, model=f"sklearn.{learner}")[0])) == []
    for learner in ("sklearn.ensemble.RandomForestClassifier", "entrolearn.EEMClassifier", LOGISTIC):
        assert mistakes(learners_asked(load_own(WEIGHTED, model=learner)[0])) == []


def test_the_protocol_says_what_weights_are_for(study):
    said = " ".join(protocol(study[0]))
    assert "Of shop: rows have the weights times in fits; scores weight all rows equally." in said


def test_a_refit_with_whole_weights_is_one_of_repeated_rows(study):
    made, data, parts = study
    spec = made.run("shop", "logistic", seed=0)
    weighted, _ = refit(data, parts, {"C": 10}, spec)
    rows = np.repeat(np.arange(N), data.weights.astype(int))
    scaled = MinMaxScaler().fit(data.X).transform(data.X)  # scales count all rows alike
    repeated = LogisticRegression(C=10).fit(scaled[rows], data.y[rows])
    assert_allclose(weighted[-1].coef_, repeated.coef_, rtol=1e-3)
    plain, _ = refit(replace(data, weights=None), parts, {"C": 10}, spec)
    assert not np.allclose(plain[-1].coef_, repeated.coef_, rtol=1e-2)


def test_equal_weights_change_nothing(study):
    made, data, parts = study
    spec = made.run("shop", "eem", seed=0)
    ones = train_run(replace(data, weights=np.ones(N)), parts, spec, LIMITS).predictions
    none = train_run(replace(data, weights=None), parts, spec, LIMITS).predictions
    assert_array_equal(ones["prediction"], none["prediction"])
    assert_allclose(ones["decision"], none["decision"], rtol=1e-6, atol=1e-8)


def test_fits_have_the_weights_of_their_rows(study):
    made, data, parts = study
    trained = train_run(data, parts, made.run("shop", "logistic", seed=0), LIMITS)
    for (fold, point), rows in trained.predictions.groupby(["fold", "point"]):
        learnt = np.flatnonzero(parts[0] != fold)
        twin = make_pipeline(MinMaxScaler(), LogisticRegression(C=[0.1, 10][point], max_iter=100))
        twin.fit(data.X[learnt], data.y[learnt], logisticregression__sample_weight=data.weights[learnt])
        assert_allclose(rows["decision"], twin.decision_function(data.X[rows["row"]]), rtol=1e-6)
    # Of rows whose weight is zero nothing is learnt: their labels do not matter to what is chosen.
    unlearnt = data.weights == 0
    other = replace(data, X=np.where(unlearnt[:, None], data.X.mean(axis=0), data.X))
    flipped = replace(other, y=np.where(unlearnt, 1 - data.y, data.y))
    spec = made.run("shop", "eem", seed=0)
    same = [train_run(one, parts, spec, LIMITS).predictions["decision"] for one in (other, flipped)]
    assert_allclose(*same)


def test_the_model_of_the_table_can_be_fitted_again_with_weights(study):
    made, data, parts = study
    spec = made.run("shop", "logistic", seed=0)
    model = of_table(refit(data, parts, {"C": 10}, spec)[0], data.columns)
    table = pd.DataFrame(data.X, columns=["a", "b"])
    labels = np.array(data.columns["labels"])[data.y]
    before = model.predict_proba(table)
    model.fit(table, labels, model__sample_weight=data.weights)
    assert_allclose(model.predict_proba(table), before, rtol=1e-6)
    regression = replace(
        data, y=data.X[:, 0], task="regression", classes=[], columns={**data.columns, "labels": []}
    )
    fitted, _ = refit(
        regression, parts, {}, changed(spec, {"estimator": "sklearn.linear_model.Ridge", "grid": {}})
    )
    twin = Ridge().fit(MinMaxScaler().fit_transform(data.X), data.X[:, 0], sample_weight=data.weights)
    assert_allclose(fitted[-1].coef_, twin.coef_)


def test_entropy_machines_of_weighted_rows_are_those_of_repeated_ones(study):
    made, data, parts = study
    spec = made.run("shop", "eem", seed=0)
    fitted, _ = refit(data, parts, {}, spec)
    rows = np.repeat(np.arange(N), data.weights.astype(int))
    scaled = MinMaxScaler().fit(data.X).transform(data.X)
    seed = fitted[-1].random_state
    twin = EEMClassifier(n_hidden=10, random_state=seed).fit(scaled[rows], data.y[rows])
    assert_allclose(fitted.decision_function(data.X), twin.decision_function(scaled), rtol=1e-5, atol=1e-8)
