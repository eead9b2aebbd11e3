"""Thresholds chosen on training rows: against scikit-learn, a closed form and laws of leaks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import skops.io
from numpy.testing import assert_allclose, assert_array_equal
from own_tables import LINE, OWN, TABLE
from refused_studies import refused
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from entrolab.data.prepare import prepare
from entrolab.fit import thresholds
from entrolab.fit.learners import seed_from
from entrolab.fit.refit import of_table, refit
from entrolab.fit.run import Run
from entrolab.fit.selection import select
from entrolab.fit.training import train_run
from entrolab.io.limits import Limits
from entrolab.io.model_reading import load
from entrolab.report.protocol import protocol
from entrolab.schema.sections import ConfigError
from entrolearn import EEMClassifier
from entrolearn.path import Partition, path, project

LIMITS = Limits(seconds=3600, gib=8)
LOGISTIC = "sklearn.linear_model.LogisticRegression"
N = 90
MODELS = {
    "logistic": {"estimator": LOGISTIC, "grid": {"C": [0.1, 10]}, "threshold": "balanced_accuracy"},
    "either": {
        "one_of": {
            "lda": {"estimator": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"},
            "logistic": {"estimator": LOGISTIC},
        },
        "steps": ["sklearn.decomposition.PCA"],
        "grid": {"step1__n_components": [1, 2]},
        "threshold": "gmean",
    },
}


def rare(n: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Two features, and classes of which one is rare, with probabilities of logistic regression."""
    X = rng.normal(size=(n, 2))
    return X, (rng.random(n) < 1 / (1 + np.exp(2 - 2 * X[:, 0]))).astype(int)


@pytest.fixture
def study(load_own):
    """A study with thresholds, its prepared rows, and the parts of three folds."""
    X, y = rare(N, np.random.default_rng(0))
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "bought": np.where(y, "yes", "no")})
    content = table.to_csv(index=False)
    made, entry = load_own(OWN, content, models=MODELS, protocol={"folds": 3})
    return made, prepare("shop", entry), np.arange(N)[None] % 3


def spec_of(study, model: str) -> Run:
    return study[0].run("shop", model, seed=0)


def test_each_fit_has_the_threshold_of_its_training_rows(study):
    _, data, parts = study
    found = train_run(data, parts, spec_of(study, "logistic"), LIMITS).predictions
    seed = seed_from(0, "logistic", 0)
    for (fold, point), rows in [*found.groupby(["fold", "point"])][:2]:
        learnt = np.flatnonzero(parts[0] != fold)
        twin = TunedThresholdClassifierCV(
            make_pipeline(MinMaxScaler(), LogisticRegression(C=[0.1, 10][point])),
            scoring="balanced_accuracy",
            cv=StratifiedKFold(5, shuffle=True, random_state=seed),
        ).fit(data.X[learnt], data.y[learnt])
        assert_array_equal(rows["prediction"], twin.predict(data.X[rows["row"]]))
        assert_allclose(rows["probability"], twin.predict_proba(data.X[rows["row"]])[:, 1])
    assert found["prediction"].sum() > (found["probability"] > 0.5).sum()  # more rows of the rare class


def test_labels_of_test_rows_choose_no_threshold(study):
    _, data, parts = study
    flipped = replace(data, y=np.where(parts[0] == 1, 1 - data.y, data.y))
    both = [train_run(one, parts, spec_of(study, "logistic"), LIMITS) for one in (data, flipped)]
    assert [one.record["error"] for one in both] == ["", ""]
    assert [one.record["n_failed"] for one in both] == [0, 0]
    selections = [select(one.candidates, ["cv"]) for one in both]
    chosen = [one.query("fold == 1 and criterion == 'cv'")["point"].item() for one in selections]
    answers = [
        one.predictions.query(f"fold == 1 and point == {point}")["prediction"]
        for one, point in zip(both, chosen, strict=True)
    ]
    assert_array_equal(*answers)
    candidates = [one.candidates.query("fold == 1") for one in both]
    assert_allclose(*(one["cv_balanced_accuracy"] for one in candidates))
    assert not np.allclose(*(one["test_balanced_accuracy"] for one in candidates))


def test_an_alternative_behind_its_steps_has_a_threshold(study):
    _, data, parts = study
    fitted, facts = refit(data, parts, {"one_of": "lda", "step1__n_components": 1}, spec_of(study, "either"))
    pipeline = fitted.estimator_
    assert [pipeline[1].n_components, type(pipeline[-1]).__name__] == [1, "LinearDiscriminantAnalysis"]
    said = pipeline.predict_proba(data.X)[:, 1] >= facts["threshold"]
    assert_array_equal(fitted.predict(data.X), said.astype(int))


def test_the_threshold_of_balanced_accuracy_is_the_share_of_the_rare_class():
    # p / share > (1 - p) / (1 - share), by which it is greatest, is p > share.
    X, y = rare(4000, np.random.default_rng(1))
    fitted = thresholds.tuned(LogisticRegression(), "balanced_accuracy", 0).fit(X, y)
    assert abs(fitted.best_threshold_ - y.mean()) < 0.05 < 0.5 - y.mean()
    assert thresholds.tuned(LogisticRegression(), "accuracy", 0).fit(X, y).best_threshold_ > 0.4


@pytest.mark.parametrize("metric", thresholds.BY)
def test_every_metric_chooses_a_threshold(metric):
    X, y = rare(200, np.random.default_rng(2))
    fitted = thresholds.tuned(EEMClassifier(5, random_state=0), metric, 0).fit(X, y)
    fixed = thresholds.fixed(fitted)
    assert_array_equal(fixed.predict(X), fitted.predict(X))


def test_the_registered_model_has_the_threshold(study, tmp_path):
    _, data, parts = study
    fitted, facts = refit(data, parts, {"C": 10}, spec_of(study, "logistic"))
    model = of_table(fitted, data.columns)
    skops.io.dump(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops", [LOGISTIC])
    rows = pd.DataFrame(data.X, columns=["a", "b"])
    assert_array_equal(
        again.predict(rows), np.where(again.predict_proba(rows)[:, 1] >= facts["threshold"], "yes", "no")
    )
    assert 0 < facts["threshold"] < 0.5
    types = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    assert not [name for name in types if "_scorer" in name or name.endswith("_score")]
    changed = again.fit(rows, np.array(["no", "yes"])[data.y])  # keeps its threshold
    assert_array_equal(changed.predict(rows), model.predict(rows))


def test_a_path_sees_the_machine_behind_its_threshold():
    X, y = rare(120, np.random.default_rng(3))
    machine = EEMClassifier(10, random_state=0)
    folds = Partition.cross_validation(np.arange(120) % 3)
    for fit in path(thresholds.tuned(machine, "accuracy", 0), X, y, folds, [{}]):
        learnt = folds.training(fit.left_out)
        alone = EEMClassifier(10, random_state=0).fit(X[learnt], y[learnt])
        assert_allclose(fit.projection, project(alone, X))
        assert fit.gaussians is not None


@pytest.mark.fault("Configuration", "a threshold where there is none to choose", LINE)
@pytest.mark.parametrize(
    ("own", "model", "line"),
    [
        ({"label": "colour", "task": "multiclass"}, LOGISTIC, "for 'shop', a multiclass data set; accepted"),
        ({"weight": "sort"}, LOGISTIC, "found 'gmean' for 'shop', whose rows have weights (`weight`), whi"),
    ],
)
def test_a_threshold_is_of_two_classes_and_of_rows_without_weights(load_own, own, model, line):
    content = TABLE.replace("red", "green", 2)
    models = {"svm": {"estimator": model, "threshold": "gmean"}}
    assert line in refused(load_own, {**OWN, **own}, content, models=models, protocol={"folds": 2})


def test_a_misspelt_metric_is_one_line(load_own):
    with pytest.raises(ConfigError, match=r"threshold: found 'gmeen', did you mean 'gmean'\?; accepted: b"):
        load_own(OWN, models={"svm": {"estimator": LOGISTIC, "threshold": "gmeen"}})


def test_the_protocol_says_by_what_thresholds_are_chosen(study):
    said = " ".join(protocol(study[0]))
    assert "The threshold of logistic is chosen by balanced accuracy in 5 folds of the training rows" in said
    assert "The threshold of either is chosen by GMEAN in 5 folds of the training rows of each fit." in said
