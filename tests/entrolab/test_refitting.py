"""The refit: the models of a run, their facts and their limits."""

import json
import time
import uuid
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from logistic_run import changed, logistic_run
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from entrolab.data.dataset import Dataset, save_dataset, save_folds
from entrolab.fit import refit as refitting
from entrolab.fit.refit import n_stored_numbers, refit, refit_run
from entrolab.io.limits import Limits
from entrolab.io.model_reading import load_fitted
from entrolab.io.parquet import write_frame
from entrolab.io.records import write_json

SPEC = logistic_run()
FOLDS = np.zeros((1, 80), int)


@pytest.fixture(scope="module")
def dataset():
    X, y = make_classification(80, 4, random_state=0)
    return Dataset(X, y.astype(np.int64), list("abcd"), "binary", ["no", "yes"], np.zeros(80, np.int8))


def test_the_refitted_model_is_the_chosen_one_on_all_rows(dataset):
    fitted, facts = refit(dataset, FOLDS, {"C": 0.5}, SPEC)
    expected = LogisticRegression(C=0.5).fit(dataset.X, dataset.y)

    np.testing.assert_allclose(fitted.coef_, expected.coef_)
    assert facts["params"] == {"C": 0.5}
    assert facts["fit_seconds"] > 0
    assert facts["predict_seconds"] > 0


def test_with_trials_the_model_is_refitted_to_the_training_rows_of_the_first_trial(dataset):
    parts = np.repeat([[-1, 0, 1, 2], [0, 1, 2, 3]], 20, axis=1)
    inner = {"folds": 2, "used": 2}
    spec = changed(SPEC, {"protocol": {"trials": 2, "train": 40, "test": 20, "inner": inner}})
    fitted, _ = refit(dataset, parts, {"C": 0.5}, spec)
    expected = LogisticRegression(C=0.5).fit(dataset.X[40:], dataset.y[40:])

    np.testing.assert_allclose(fitted.coef_, expected.coef_)


def test_support_vectors_of_a_pipeline_are_counted(dataset):
    steps = [{"estimator": "sklearn.preprocessing.StandardScaler"}]
    spec = changed(SPEC, {"estimator": "sklearn.svm.SVC", "steps": steps})
    fitted, facts = refit(dataset, FOLDS, {"C": 0.5}, spec)
    assert facts["n_support"] == len(fitted[-1].support_)
    assert (fitted[-1].C, facts["params"]) == (0.5, {"C": 0.5})  # by the grid's names, without the step's
    assert "n_support" not in refit(dataset, FOLDS, {"C": 0.5}, SPEC)[1]


def test_iterations_of_the_chosen_model_are_a_fact_where_it_tells_them(dataset):
    _, facts = refit(dataset, FOLDS, {"C": 0.5}, SPEC)
    assert facts["n_iter"] == LogisticRegression(C=0.5).fit(dataset.X, dataset.y).n_iter_.item()
    spec = changed(SPEC, {"estimator": "sklearn.linear_model.RidgeClassifier", "grid": {"alpha": [1.0]}})
    assert "n_iter" not in refit(dataset, FOLDS, {"alpha": 1.0}, spec)[1]


@pytest.mark.parametrize(
    ("params", "learner"),
    [({"one_of": "svm", "C": 3.0}, SVC), ({"one_of": "logistic", "C": 2.0}, LogisticRegression)],
)
def test_the_alternative_that_was_chosen_is_refitted_and_named(dataset, params, learner):
    one_of = {
        "logistic": {"estimator": SPEC.estimator, "params": {}, "grid": {"C": [2.0]}},
        "svm": {"estimator": "sklearn.svm.SVC", "params": {"gamma": 1.0}, "grid": {"C": [3.0]}},
    }
    spec = changed(SPEC, {"estimator": None, "grid": {}, "one_of": one_of})
    fitted, facts = refit(dataset, FOLDS, params, spec)
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
        time.sleep(20)


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


class Logarithmic(LogisticRegression):
    def fit(self, X, y):
        self.log_ = FunctionTransformer(lambda rows: np.log1p(np.abs(rows)))  # skops stores its name alone
        return super().fit(self.log_.fit_transform(X), y)

    def decision_function(self, X):
        return super().decision_function(self.log_.transform(X))


def models_of(
    folder: Path,
    dataset: Dataset,
    chosen: Mapping[str, dict] = {"cv": {"C": 0.5}},
    limits: Limits = Limits(seconds=60),  # noqa: B008  it is frozen
    reason: str = "",
    model_format: str = "skops",
    **changes,
) -> tuple[dict[str, bytes], dict[str, dict]]:
    """The models that a run stores and the facts about them, by criterion.

    `chosen` are the points that criteria selected; a run that failed has a `reason`.
    """
    files = {name: str(folder / f"{name}.npz") for name in ("rows", "folds", "selection", "record")}
    save_dataset(files["rows"], dataset)
    save_folds(files["folds"], FOLDS)
    rows = [
        {"criterion": criterion, "point": point, "params": json.dumps(params), "success": True}
        for point, (criterion, params) in enumerate(chosen.items())
    ]
    write_frame(files["selection"], pd.DataFrame(rows))
    write_json(files["record"], {"success": not reason, "error": reason})
    spec = changed(SPEC, changes)
    refit_run(files, str(folder / "models"), spec, ["cv", "dcs_kde"], limits, model_format)
    stored, facts = ((folder / "models").glob(f"*.{kind}") for kind in ("skops", "json"))

    def refused(constant):
        raise AssertionError(f"{constant} is not strict JSON")

    return (
        {file.stem: file.read_bytes() for file in stored},
        {file.stem: json.loads(file.read_text(), parse_constant=refused) for file in facts},
    )


@pytest.fixture
def fitted_points(monkeypatch) -> list[dict]:
    """The points that are fitted, in their order; each in this process."""
    points = []

    def counted(dataset, assignments, params, spec):
        points.append(dict(params))
        return refit(dataset, assignments, params, spec)

    monkeypatch.setattr(refitting, "refit", counted)
    monkeypatch.setattr(refitting, "within", lambda limits, work, *arguments: list(work(*arguments)))
    return points


def test_one_point_of_two_criteria_is_fitted_once_and_stored_for_both(tmp_path, dataset, fitted_points):
    models, facts = models_of(tmp_path, dataset, {"dcs_kde": {"C": 0.5}, "cv": {"C": 0.5}})
    assert fitted_points == [{"C": 0.5}]
    assert models["cv"] == models["dcs_kde"]
    assert facts["cv"] == facts["dcs_kde"] | {"chosen_by": "cv"}


def test_two_points_give_a_model_for_each_criterion(tmp_path, dataset, fitted_points):
    models, facts = models_of(tmp_path, dataset, {"dcs_kde": {"C": 2.0}, "cv": {"C": 0.5}})
    assert fitted_points == [{"C": 0.5}, {"C": 2.0}]
    for criterion, C in {"cv": 0.5, "dcs_kde": 2.0}.items():
        assert (facts[criterion]["chosen_by"], facts[criterion]["params"]) == (criterion, {"C": C})
        expected = LogisticRegression(C=C).fit(dataset.X, dataset.y)
        np.testing.assert_allclose(skops.io.loads(models[criterion]).coef_, expected.coef_)


def test_a_failed_run_has_facts_with_its_reason_for_each_criterion_and_no_model(tmp_path, dataset):
    models, facts = models_of(tmp_path, dataset, {}, reason="singular")
    assert models == {}
    assert facts == {name: {"chosen_by": name, "error": "singular"} for name in ("cv", "dcs_kde")}


def test_a_criterion_that_selects_nothing_has_no_model_and_a_reason(tmp_path, dataset, fitted_points):
    models, facts = models_of(tmp_path, dataset)
    assert (models.keys(), fitted_points) == ({"cv"}, [{"C": 0.5}])
    assert facts["dcs_kde"]["error"].startswith("dcs_kde is undefined")


@pytest.mark.parametrize(
    ("learner", "seconds", "reason"),
    [
        (Slow, 0.3, "time limit reached by the refit"),
        (Huge, 60, "memory limit reached by the refit"),
        (Wrong, 60, "TypeError: no such thing"),
    ],
)
def test_a_refit_that_fails_or_reaches_a_limit_gives_the_reason(
    tmp_path, dataset, monkeypatch, learner, seconds, reason
):
    monkeypatch.setattr(refitting, learner.__name__, learner, raising=False)
    estimator = f"entrolab.fit.refit.{learner.__name__}"
    models, facts = models_of(tmp_path, dataset, limits=Limits(seconds, gib=8), estimator=estimator)
    assert models == {}
    assert facts["cv"] == {"chosen_by": "cv", "error": reason}


def test_the_limit_of_time_is_that_of_all_refits_of_a_run_together(tmp_path, dataset, monkeypatch):
    left = []
    monkeypatch.setattr(refitting.time, "monotonic", iter([100.0, 100.0, 130.0]).__next__)
    monkeypatch.setattr(
        refitting, "within", lambda limits, *arguments: left.append(limits.seconds) or [(b"", {})]
    )
    models_of(tmp_path, dataset, {"cv": {"C": 1.0}, "dcs_kde": {"C": 2.0}})
    assert left == [60, 30]


def test_a_stored_model_is_the_refitted_one(tmp_path, dataset):
    models, facts = models_of(tmp_path, dataset)
    expected, plain = refit(dataset, FOLDS, {"C": 0.5}, SPEC)
    np.testing.assert_array_equal(skops.io.loads(models["cv"]).coef_, expected.coef_)
    assert facts["cv"].keys() == plain.keys() | {"format", "types", "chosen_by"}
    assert {name for name in plain if facts["cv"][name] != plain[name]} <= {"fit_seconds", "predict_seconds"}


def test_bytes_in_a_model_are_stored(tmp_path, dataset, monkeypatch, fitted_points):
    # skops names the file of bytes by such a number, here one that begins with a digit, as 10 of 16 do.
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=1))
    models, facts = models_of(tmp_path, dataset, estimator=f"{__name__}.Bytes")
    assert skops.io.loads(models["cv"], trusted=facts["cv"]["types"]).raw_ == bytes(range(256))


class Foreign(LogisticRegression):
    def fit(self, X, y):
        self.fraction_ = Fraction(1, 3)  # of a package that the study does not name
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("learner", "reason"),
    [(Circular, "recursion"), (Logarithmic, "<lambda>"), (Foreign, "fractions.Fraction")],
)
def test_facts_of_a_model_that_cannot_be_read_back_are_kept(
    tmp_path, dataset, fitted_points, learner, reason
):
    models, facts = models_of(tmp_path, dataset, estimator=f"{__name__}.{learner.__name__}")
    _, plain = refit(dataset, FOLDS, {"C": 0.5}, SPEC)
    assert models == {}
    assert facts["cv"].keys() == plain.keys() | {"error", "chosen_by"}
    assert reason in facts["cv"]["error"]
    assert "BytesIO" not in facts["cv"]["error"]


@pytest.mark.parametrize("learner", [Circular, Logarithmic, Foreign])
def test_a_study_may_ask_for_pickles_of_the_models_that_skops_refuses(
    tmp_path, dataset, fitted_points, learner
):
    name = f"{__name__}.{learner.__name__}"
    models, facts = models_of(tmp_path, dataset, model_format="cloudpickle", estimator=name)
    assert (models, facts["cv"]["format"]) == ({}, "cloudpickle")
    fitted, model_format, _ = load_fitted(tmp_path / "models", "cv", [name], "cloudpickle")
    assert model_format == "cloudpickle"
    expected = learner(C=0.5).fit(dataset.X, dataset.y)
    np.testing.assert_array_equal(fitted.decision_function(dataset.X), expected.decision_function(dataset.X))


@pytest.mark.parametrize("model_format", ["skops", "cloudpickle"])
def test_the_format_of_other_models_is_skops(tmp_path, dataset, fitted_points, model_format):
    models, facts = models_of(tmp_path, dataset, model_format=model_format)
    assert (facts["cv"]["format"], models.keys()) == ("skops", {"cv"})
    fitted, *of_file = load_fitted(tmp_path / "models", "cv", [SPEC.estimator], model_format)
    assert of_file == ["skops", []]
    np.testing.assert_array_equal(fitted.coef_, skops.io.loads(models["cv"]).coef_)
