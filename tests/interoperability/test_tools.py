"""The learners in other people's tools, which `make tools-test` installs: what is missing fails."""

import imblearn.ensemble
import imblearn.over_sampling
import imblearn.pipeline
import mapie.classification
import mapie.regression
import mlflow
import mlflow.sklearn
import numpy as np
import optuna
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import river.compat
import river.datasets
import river.metrics
import shap
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolearn import (
    LSSVC,
    LSSVR,
    MELM,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    KDEClassifier,
    OneNormSVC,
    RKELMRegressor,
)
from entrolearn.networks import SoftmaxRegression

X, THREE = load_iris(return_X_y=True)
TWO = (THREE == 1).astype(int)
NAMES = ["a", "b", "c", "d"]
D, VALUES = load_diabetes(return_X_y=True)
EEM = EEMClassifier(30, random_state=0)


# --- imbalanced-learn; AdaBoost, which hands weights of rows to `fit` as its boosting does
RARE = make_classification(300, 6, n_informative=4, weights=[0.9], class_sep=2, random_state=0)
SMOTE = imblearn.over_sampling.SMOTE(random_state=0)


@pytest.mark.parametrize(
    "model",
    [
        imblearn.pipeline.make_pipeline(SMOTE, ELMClassifier(30, random_state=0)),
        imblearn.pipeline.make_pipeline(imblearn.over_sampling.SVMSMOTE(svm_estimator=OneNormSVC()), EEM),
        imblearn.ensemble.BalancedBaggingClassifier(EEM, n_estimators=5, random_state=0),
        imblearn.ensemble.BalancedBaggingClassifier(OneNormSVC(), n_estimators=5, random_state=0),
        imblearn.ensemble.RUSBoostClassifier(EEM, n_estimators=5, random_state=0),
        imblearn.ensemble.EasyEnsembleClassifier(2, estimator=AdaBoostClassifier(EEM, n_estimators=3)),
        AdaBoostClassifier(EEM, n_estimators=5, random_state=0),
        # weights that add up to one: C is what it is for rows of weight one times their number
        AdaBoostClassifier(OneNormSVC(C=300.0), n_estimators=5, random_state=0),
        AdaBoostClassifier(LSSVC(), n_estimators=5, random_state=0),
        AdaBoostClassifier(SoftmaxRegression(), n_estimators=5, random_state=0),
        AdaBoostClassifier(KDEClassifier(), n_estimators=5, random_state=0),
    ],
    ids=lambda model: " ".join(str(model).split()),
)
def test_rare_classes(model):
    rows, classes = RARE
    assert balanced_accuracy_score(classes, clone(model).fit(rows, classes).predict(rows)) > 0.75


def test_boosted_values():
    boosted = AdaBoostRegressor(ELMRegressor(20, random_state=0), n_estimators=5, random_state=0)
    assert boosted.fit(D, VALUES).score(D, VALUES) > 0.2


# --- shap: contributions of the features add up to the prediction less the mean prediction
@pytest.mark.parametrize("explainer", ["permutation", "exact", "partition"])
def test_shap_of_probabilities(explainer):
    model = clone(EEM).fit(X, THREE)
    found = shap.Explainer(model.predict_proba, X[::10], algorithm=explainer)(X[:10])
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, model.predict_proba(X[:10]), atol=1e-8
    )


def test_shap_of_a_kernel_machine():
    model = LSSVR().fit(D, VALUES)
    found = shap.KernelExplainer(model.predict, D[:20]).shap_values(D[:2], nsamples=50, silent=True)
    assert found.shape == (2, D.shape[1])


def test_shap_of_a_linear_machine():
    model = LSSVC(kernel="linear").fit(X, TWO)
    found = shap.LinearExplainer(model, X)(X)
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.base_values, model.decision_function(X), atol=1e-8
    )


# --- optuna
def test_optuna():
    def score(trial):
        model = clone(EEM).set_params(
            n_hidden=trial.suggest_int("n_hidden", 5, 50),
            activation=trial.suggest_categorical("activation", ["rbf", "sigmoid"]),
        )
        return cross_val_score(model, X, THREE, cv=3).mean()

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(score, n_trials=8)
    assert study.best_value > 0.9


# --- MAPIE: sets and intervals cover about as many rows as they promise
@pytest.mark.parametrize("model", [EEM, SoftmaxRegression(), KDEClassifier(), MELM(n_init=1, random_state=0)])
def test_mapie_sets(model):
    third = np.arange(len(X)) % 3
    split = mapie.classification.SplitConformalClassifier(clone(model), confidence_level=0.9, prefit=False)
    split.fit(X[third == 0], THREE[third == 0]).conformalize(X[third == 1], THREE[third == 1])
    _, sets = split.predict_set(X[third == 2])
    assert sets[np.arange((third == 2).sum()), THREE[third == 2], 0].mean() > 0.8


def test_mapie_cross_conformal_sets():
    crossed = mapie.classification.CrossConformalClassifier(clone(EEM), confidence_level=0.9, cv=3)
    _, sets = crossed.fit_conformalize(X, THREE).predict_set(X)
    assert sets[np.arange(len(X)), THREE, 0].mean() > 0.8


@pytest.mark.parametrize("model", [RKELMRegressor(random_state=0), LSSVR(), ELMRegressor(30, random_state=0)])
def test_mapie_intervals(model):
    third = np.arange(len(D)) % 3
    split = mapie.regression.SplitConformalRegressor(clone(model), confidence_level=0.9, prefit=False)
    split.fit(D[third == 0], VALUES[third == 0]).conformalize(D[third == 1], VALUES[third == 1])
    _, bounds = split.predict_interval(D[third == 2])
    inside = (bounds[:, 0, 0] <= VALUES[third == 2]) & (VALUES[third == 2] <= bounds[:, 1, 0])
    assert 0.8 < inside.mean() < 0.99


@pytest.mark.parametrize("method", ["CrossConformalRegressor", "JackknifeAfterBootstrapRegressor"])
def test_mapie_cross_conformal_intervals(method):
    crossed = getattr(mapie.regression, method)(LSSVR(), confidence_level=0.9)
    _, bounds = crossed.fit_conformalize(D[::2], VALUES[::2]).predict_interval(D[1::2])
    assert 0.8 < ((bounds[:, 0, 0] <= VALUES[1::2]) & (VALUES[1::2] <= bounds[:, 1, 0])).mean() < 0.99


# --- river: rows one at a time and a few at a time
def test_river_classifier():
    model = river.compat.convert_sklearn_to_river(
        EEMClassifier(20, bounds=(0, 1), random_state=0), classes=[False, True]
    )
    right = river.metrics.Accuracy()
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    order = np.random.default_rng(0).permutation(len(X))
    for row in order:
        x, y = dict(zip(NAMES, scaled[row], strict=True)), bool(THREE[row] == 0)
        right.update(y, model.predict_one(x) or False)
        model.learn_one(x, y)
    assert right.get() > 0.85


def test_river_chunks():
    model = river.compat.convert_sklearn_to_river(ELMRegressor(20, bounds=(-0.2, 0.2), random_state=0))
    frame, values = pd.DataFrame(D).add_prefix("f"), pd.Series(VALUES)
    for rows in np.array_split(np.arange(len(D)), 5):
        model.learn_many(frame.iloc[rows], values.iloc[rows])
    assert np.corrcoef(model.predict_many(frame), VALUES)[0, 1] > 0.6


# --- MLflow
@pytest.fixture
def _autolog(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/store.db")
    mlflow.sklearn.autolog(silent=True)
    yield
    mlflow.sklearn.autolog(disable=True, silent=True)
    mlflow.set_tracking_uri(None)


@pytest.mark.usefixtures("_autolog")
@pytest.mark.parametrize(
    "model",
    [make_pipeline(StandardScaler(), EEM), GridSearchCV(LSSVC(), {"alpha": [10.0, 1.0]}, cv=3)],
    ids=["pipeline", "grid search"],
)
def test_mlflow_autolog(model):
    """Of estimators MLflow patches scikit-learn's own alone: ours are logged inside of them."""
    fitted = clone(model).fit(X, TWO)
    run = mlflow.last_active_run()
    assert "training_accuracy_score" in run.data.metrics
    logged = mlflow.search_logged_models(output_format="list")[0]
    np.testing.assert_array_equal(mlflow.sklearn.load_model(logged.model_uri).predict(X), fitted.predict(X))


# --- polars and Arrow
TABLE = pa.table(dict(zip(NAMES, X.T, strict=True)))


@pytest.mark.parametrize(
    ("rows", "classes"),
    [
        (pl.from_arrow(TABLE), pl.Series(THREE)),
        (TABLE, pa.array(THREE)),
        (TABLE, pa.chunked_array([THREE[:70], THREE[70:]])),
        (TABLE.to_batches()[0], THREE),
        (TABLE.to_pandas(types_mapper=pd.ArrowDtype), pd.Series(THREE, dtype="int64[pyarrow]")),
    ],
    ids=["polars", "Arrow", "Arrow in chunks", "Arrow's batch", "pandas of Arrow"],
)
def test_tables(rows, classes):
    """They say what the same numbers say as an array."""
    model, plain = clone(EEM).fit(rows, classes), clone(EEM).fit(X, THREE)
    np.testing.assert_array_equal(model.predict(rows), plain.predict(X))
    assert list(getattr(model, "feature_names_in_", NAMES)) == NAMES  # a batch has none, to scikit-learn


def test_words_and_frames_of_polars():
    frame = pl.from_arrow(TABLE)
    words = pl.Series(np.array(["no", "yes"])[TWO])
    assert set(clone(EEM).fit(frame, words).predict(frame)) == {"no", "yes"}
    shown = MELM(n_init=1, random_state=0).set_output(transform="polars").fit(frame, THREE).transform(frame)
    assert isinstance(shown, pl.DataFrame)
