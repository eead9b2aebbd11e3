"""The refit: the model that is kept, its facts, and the limits that it stands under."""

import io
import time
import uuid

import numpy as np
import pytest
import skops.io
from logistic_run import logistic_run
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from entrolab.data.dataset import Dataset
from entrolab.fit import refit as refitting
from entrolab.fit.limits import Limits
from entrolab.fit.refit import n_stored_numbers, refit, refit_within

SPEC = logistic_run()


@pytest.fixture(scope="module")
def dataset():
    X, y = make_classification(80, 4, random_state=0)
    return Dataset(X, y.astype(np.int64), list("abcd"), "binary", ["no", "yes"], np.zeros(80, np.int8))


def test_the_refitted_model_is_the_chosen_one_on_all_rows(dataset):
    fitted, facts = refit(dataset, np.zeros((1, 80), int), {"C": 0.5}, SPEC)
    expected = LogisticRegression(C=0.5).fit(dataset.X, dataset.y)

    np.testing.assert_allclose(fitted.coef_, expected.coef_)
    assert (facts["params"], facts["chosen_by"]) == ({"C": 0.5}, "cv")
    assert facts["fit_seconds"] > 0
    assert facts["predict_seconds"] > 0


def test_with_trials_the_model_is_refitted_to_the_training_rows_of_the_first_trial(dataset):
    parts = np.repeat([[-1, 0, 1, 2], [0, 1, 2, 3]], 20, axis=1)
    inner = {"folds": 2, "used": 2}
    spec = {**SPEC, "protocol": {"trials": 2, "train": 40, "test": 20, "inner": inner}}
    fitted, _ = refit(dataset, parts, {"C": 0.5}, spec)
    expected = LogisticRegression(C=0.5).fit(dataset.X[40:], dataset.y[40:])

    np.testing.assert_allclose(fitted.coef_, expected.coef_)


def test_support_vectors_of_a_pipeline_are_counted(dataset):
    steps = [{"estimator": "sklearn.preprocessing.StandardScaler"}]
    spec = {**SPEC, "estimator": "sklearn.svm.SVC", "steps": steps}
    fitted, facts = refit(dataset, np.zeros((1, 80), int), {"C": 0.5}, spec)
    assert facts["n_support"] == len(fitted[-1].support_)
    assert (fitted[-1].C, facts["params"]) == (0.5, {"C": 0.5})  # by the grid's names, without the step's
    assert "n_support" not in refit(dataset, np.zeros((1, 80), int), {"C": 0.5}, SPEC)[1]


def test_iterations_of_the_chosen_model_are_a_fact_where_it_tells_them(dataset):
    _, facts = refit(dataset, np.zeros((1, 80), int), {"C": 0.5}, SPEC)
    assert facts["n_iter"] == LogisticRegression(C=0.5).fit(dataset.X, dataset.y).n_iter_.item()
    spec = {**SPEC, "estimator": "sklearn.linear_model.RidgeClassifier", "grid": {"alpha": [1.0]}}
    assert "n_iter" not in refit(dataset, np.zeros((1, 80), int), {"alpha": 1.0}, spec)[1]


@pytest.mark.parametrize(
    ("params", "learner"),
    [({"one_of": "svm", "C": 3.0}, SVC), ({"one_of": "logistic", "C": 2.0}, LogisticRegression)],
)
def test_the_alternative_that_was_chosen_is_refitted_and_named(dataset, params, learner):
    one_of = {
        "logistic": {"estimator": SPEC["estimator"], "params": {}, "grid": {"C": [2.0]}},
        "svm": {"estimator": "sklearn.svm.SVC", "params": {"gamma": 1.0}, "grid": {"C": [3.0]}},
    }
    spec = {**SPEC, "estimator": None, "grid": {}, "one_of": one_of}
    fitted, facts = refit(dataset, np.zeros((1, len(dataset.y)), int), params, spec)
    assert (type(fitted[-1]), fitted[-1].C) == (learner, params["C"])
    assert (facts["estimator"], facts["params"]) == (one_of[params["one_of"]]["estimator"], params)


def test_stored_numbers_are_counted_inside_and_once():
    class Layer:
        def __init__(self):
            self.weights = np.zeros((3, 4))
            self.machine = None

    class Machine:
        def __init__(self):
            self.layer = Layer()
            self.layer.machine = self  # a cycle
            self.same = self.layer.weights
            self.names = np.array(["a", "b"])
            self.by_name = {"bias": np.zeros(2)}
            self.kind = Layer

    assert n_stored_numbers(Machine()) == 12 + 2


def test_the_nodes_of_trees_are_counted(dataset):
    forest = RandomForestClassifier(5, random_state=0).fit(dataset.X, dataset.y)
    # A node has eight fields and two class values; the forest and each tree also store their classes.
    nodes = sum(tree.tree_.node_count for tree in forest.estimators_)
    found = n_stored_numbers(forest)
    assert (8 + 2) * nodes <= found <= (8 + 2) * nodes + 100
    boosting = HistGradientBoostingClassifier(max_iter=5).fit(dataset.X, dataset.y)
    nodes = sum(len(tree.nodes) for (tree,) in boosting._predictors)
    assert n_stored_numbers(boosting) >= 10 * nodes


def test_the_state_of_a_generator_is_no_number_of_the_model():
    machine = type("Machine", (), {})()
    machine.rng, machine.weights = np.random.RandomState(0), np.zeros(3)
    machine.names = np.array([np.zeros(2), None], dtype=object)
    assert n_stored_numbers(machine) == 3 + 2


class Slow(LogisticRegression):
    def fit(self, X, y):
        time.sleep(1000)


class Huge(LogisticRegression):
    def fit(self, X, y):
        np.ones(2**33)


class Wrong(LogisticRegression):
    def fit(self, X, y):
        raise TypeError("no such thing\nat all")


class Bytes(LogisticRegression):
    def fit(self, X, y):
        self.raw_ = bytes(range(256))  # as XGBoost and CatBoost keep their trees
        return super().fit(X, y)


class Circular(LogisticRegression):
    def fit(self, X, y):
        self.itself_ = self
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("learner", "reason"),
    [
        (Slow, "time limit reached by the refit"),
        (Huge, "memory limit reached by the refit"),
        (Wrong, "TypeError: no such thing"),
    ],
)
def test_a_refit_that_fails_or_reaches_a_limit_gives_the_reason(dataset, monkeypatch, learner, reason):
    monkeypatch.setattr(refitting, learner.__name__, learner, raising=False)
    spec = {**SPEC, "estimator": f"entrolab.fit.refit.{learner.__name__}"}
    begun = time.monotonic()
    found = refit_within(Limits(seconds=1, gib=8), dataset, np.zeros((1, 80), int), {"C": 0.5}, spec)
    assert found == (b"", {"error": reason})
    assert time.monotonic() - begun < 20


def test_a_refit_within_its_limits_gives_the_stored_model(dataset):
    model, facts = refit_within(Limits(seconds=3600), dataset, np.zeros((1, 80), int), {"C": 0.5}, SPEC)
    loaded = skops.io.load(io.BytesIO(model), trusted=[])
    expected, plain = refit(dataset, np.zeros((1, 80), int), {"C": 0.5}, SPEC)
    np.testing.assert_array_equal(loaded.coef_, expected.coef_)
    assert facts.keys() == plain.keys() | {"types"}
    assert {name for name in plain if facts[name] != plain[name]} <= {"fit_seconds", "predict_seconds"}


@pytest.mark.parametrize(("criteria", "reason"), [([], "no criterion selects"), (["cv"], "cv is undefined")])
def test_where_nothing_was_chosen_the_facts_say_why(dataset, criteria, reason):
    model, facts = refit_within(
        Limits(seconds=3600), dataset, np.zeros((1, 80), int), None, {**SPEC, "criteria": criteria}
    )
    assert model == b""
    assert facts["error"].startswith(reason)


def test_bytes_in_a_model_are_stored(dataset, monkeypatch):
    monkeypatch.setattr(refitting, "Bytes", Bytes, raising=False)
    # skops names the file of bytes by such a number, here one that begins with a digit, as 10 of 16 do.
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=1))
    spec = {**SPEC, "estimator": "entrolab.fit.refit.Bytes"}
    model, facts = refit_within(Limits(seconds=60), dataset, np.zeros((1, 80), int), {"C": 0.5}, spec)
    assert skops.io.loads(model, trusted=facts["types"]).raw_ == bytes(range(256))


def test_the_facts_of_a_model_that_cannot_be_stored_are_kept(dataset, monkeypatch):
    monkeypatch.setattr(refitting, "Circular", Circular, raising=False)
    spec = {**SPEC, "estimator": "entrolab.fit.refit.Circular"}
    model, facts = refit_within(Limits(seconds=60), dataset, np.zeros((1, 80), int), {"C": 0.5}, spec)
    _, plain = refit(dataset, np.zeros((1, 80), int), {"C": 0.5}, SPEC)
    assert model == b""
    assert facts.keys() == plain.keys() | {"error"}
    assert "recursion" in facts["error"]
