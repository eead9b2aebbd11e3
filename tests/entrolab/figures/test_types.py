"""Figure types: what is drawn is what was computed."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolab.data.dataset import Dataset
from entrolab.data.prepare import prepare
from entrolab.figures.confusion_matrix import Matrix
from entrolab.figures.making import reasons
from entrolearn import EEMClassifier


@pytest.fixture(scope="module")
def rings(catalog):
    """Every seventh row of rings."""
    whole = prepare("rings", catalog["rings"])
    rows = slice(None, None, 7)
    return replace(whole, X=whole.X[rows], y=whole.y[rows], part=whole.part[rows])


# ------------------------------------------------------------------------------------------------- of a grid


def grid(score, failed=(), **values):
    """Candidates of two trials; accuracy in percent is ``score(trial, *point)``, without one if it failed."""
    return [
        {
            "repeat": trial,
            "fold": 0,
            "point": number,
            "params": json.dumps(dict(zip(values, point, strict=True))),
            "test_accuracy": np.nan if (trial, *point) in failed else score(trial, *point) / 100,
            "success": (trial, *point) not in failed,
            "error": "singular" if (trial, *point) in failed else "",
        }
        for trial in (0, 1)
        for number, point in enumerate(itertools.product(*values.values()))
    ]


@pytest.fixture
def two_parameters(results):
    """A run over C and gamma; the mean accuracy is 10 C + gamma + 10, and one point failed in a trial."""
    values = {"C": [0.25, 0.5, 1.0, 2.0], "gamma": [5, 10, 20]}
    results.study["models"]["good"]["grid"] = values
    rows = grid(lambda trial, C, gamma: 10 * C + gamma + 20 * trial, failed=[(1, 0.25, 5)], **values)
    results.candidates("moons-apart", "good", rows)
    return {"datasets": "moons", "models": ["good"], "metric": "accuracy"}


def test_curves_are_means_and_deviations_over_the_folds(results):
    """Models of one label are two curves; a failed fold is a gap."""
    models = results.study["models"]
    for name, failed in (("good", []), ("bad", [(1, 5)])):
        models[name] |= {"label": "Machine", "grid": {"C": [50, 5, 10]}}
        rows = grid(lambda trial, C: C + 20 * trial, failed=failed, C=[50, 5, 10])
        results.candidates("moons-apart", name, rows)
    entry = {"type": "grid_curves", "datasets": "moons", "models": ["good", "bad"]}
    table = results.draw({**entry, "parameter": "C", "metric": "accuracy"})
    assert table["series"].tolist() == 3 * ["Machine"] + 3 * ["Machine (bad)"]
    assert table["value"].tolist() == [5, 10, 50, 5, 10, 50]
    assert_allclose(table["mean"], [15, 20, 60, np.nan, 20, 60])
    assert_allclose(table["std"].dropna(), 20 / np.sqrt(2), rtol=1e-5)  # of two values 20 apart
    assert table["folds"].tolist() == [2, 2, 2, 1, 2, 2]
    assert reasons(table) == ["moons-apart, bad: singular"]
    assert "Machine (bad): no number at 1 of 3" in results.svg


def test_curves_by_a_second_parameter_are_its_values(results, two_parameters):
    table = results.draw({**two_parameters, "type": "grid_curves", "parameter": "C", "by": "gamma"})
    curve = table[table["series"] == "gamma = 20"]
    assert table["series"].unique().tolist() == ["gamma = 5", "gamma = 10", "gamma = 20"]
    assert_allclose(curve[["value", "mean"]], [[0.25, 32.5], [0.5, 35], [1, 40], [2, 50]])
    assert "gamma = 5: no number at 1 of 4" in results.svg


def test_a_surface_is_the_mean_over_the_trials(results, two_parameters):
    table = results.draw({**two_parameters, "type": "grid_surface", "parameters": ["C", "gamma"]})
    found = table.set_index(["x", "y"])
    assert found.loc[(2.0, 20), "mean"] == pytest.approx(50)
    assert np.isnan(found.loc[(0.25, 5), "mean"])
    assert found.loc[(0.25, 5), "reason"] == "singular"
    assert found.loc[(0.25, 5), "folds"] == 1
    assert found["mean"].count() == 11


# ------------------------------------------------------------------------------------------------- of rows


def test_a_process_is_that_of_the_machine_with_the_parameters_of_the_entry(results, rings):
    results.study["models"]["eem"] = "entrolearn.EEMClassifier"
    results.data("rings", rings)
    entry = {"type": "process", "dataset": "rings", "model": "eem", "params": {"n_hidden": 10}}
    table = results.draw(entry)
    seed = results.load(entry).spec_of_figure("figure").seed
    machine = EEMClassifier(10, random_state=seed).fit(rings.X, rings.y)

    def points(panel, series):
        return table.loc[(table["panel"] == panel) & (table["series"] == series), ["x", "y"]].to_numpy()

    assert_allclose(points("projected", "threshold")[:, 0], machine.thresholds_, rtol=1e-5)
    for code, label in enumerate(rings.classes):
        rows = rings.X[rings.y == code]
        assert_allclose(points("input", f"rows of {label}"), rows, rtol=1e-5, atol=1e-12)
        projected = points("projected", f"rows of {label}")[:, 0]
        assert_allclose(projected, machine.project(rows), rtol=1e-5)


@pytest.fixture
def planes(results):
    results.study["models"]["pca"] = {
        "estimator": "sklearn.svm.SVC",
        "steps": [
            "sklearn.preprocessing.StandardScaler",
            {"estimator": "sklearn.decomposition.PCA", "params": {"n_components": 2, "whiten": True}},
        ],
    }
    results.study["models"]["lda"] = "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"
    return {"type": "projections", "datasets": "both", "models": ["pca", "lda"]}


def test_projections_are_those_of_all_rows(results, planes, rings):
    results.data("rings", replace(rings, X=2 * rings.X))
    results.data("moons-apart", "404")
    table = results.draw(planes)
    mine = table[(table["dataset"] == "rings") & (table["model"] == "pca")]
    rows = mine.dropna(subset="row").astype({"row": int}).set_index("row").sort_index()
    plane = make_pipeline(StandardScaler(), PCA(2, whiten=True)).fit_transform(rings.X)
    assert_allclose(rows[["x", "y"]], plane, rtol=1e-5, atol=1e-8)
    assert (rows["series"] == [f"rows of {rings.classes[code]}" for code in rings.y]).all()
    absent, failed = "no data: 404", "accepted: transformers with two components"
    assert [
        reason.endswith(end) for reason, end in zip(reasons(table), (absent, absent, failed), strict=True)
    ]


def test_classes_of_different_data_sets_share_the_names_of_one_legend(results, planes, rings):
    iris = load_iris()
    names, part = list("abcd"), np.zeros(len(iris.target), dtype=np.int8)
    results.data("rings", rings)
    results.data(
        "moons-apart",
        Dataset(iris.data, iris.target, names, "multiclass", list(iris.target_names), part),
    )
    table = results.draw({**planes, "models": ["pca"]})
    assert [results.svg.count(f">class {k}<") for k in (1, 2, 3)] == [1, 1, 1]
    assert "rows of setosa" in set(table["series"])


# -------------------------------------------------------------------------------------------- of predictions

FOLDS, N = 3, 90


@pytest.fixture
def predicted(results, rings):
    """Write predictions of three folds, of a candidate that was selected and of one that was not."""

    def predicted(dataset, **columns):
        rng = np.random.default_rng(0)
        rows = pd.DataFrame({"repeat": 0, "fold": np.arange(N) % FOLDS, "point": 0})
        rows["y"] = rng.integers(2, size=N)
        rows["decision"] = rows["y"] + rng.normal(size=N)
        rows["prediction"] = (rows["decision"] > 0.5).astype(int)
        rows = rows.assign(**columns)
        other = rows.assign(point=1, decision=rng.normal(size=N), prediction=0)
        selected = pd.DataFrame({"repeat": 0, "fold": range(FOLDS), "point": 0, "success": True})
        results.data(dataset, rings)
        results.predictions(dataset, "good", pd.concat([rows, other]), selected.assign(criterion="cv"))
        return [rows for _, rows in rows.groupby("fold")]

    return predicted


def by_fold(type, datasets="moons"):
    return {"type": type, "datasets": datasets, "models": ["good"], "criterion": "cv"}


def test_curves_are_scikit_learns_for_each_fold(results, predicted):
    folds, table = predicted("moons-apart"), results.draw(by_fold("roc"))
    scores = []
    for (_, shown), rows in zip(table.groupby("series"), folds, strict=True):
        x, y, _ = metrics.roc_curve(rows["y"], rows["decision"])
        assert_allclose(shown["x"], 100 * x, rtol=1e-5, atol=1e-12)
        assert_allclose(shown["y"], 100 * y, rtol=1e-5, atol=1e-12)
        scores.append(100 * metrics.roc_auc_score(rows["y"], rows["decision"]))
    assert f" {np.mean(scores):.4g} ({min(scores):.4g} to {max(scores):.4g} by the fold)" in results.text


def test_residuals_are_true_less_predicted_values(results, predicted):
    rng = np.random.default_rng(1)
    y = rng.normal(10, 3, N)
    folds = predicted("sklearn-diabetes", y=y, prediction=y + rng.normal(size=N))
    table, rows = results.draw(by_fold("residuals", "values")), pd.concat(folds)
    assert_allclose(table["x"], rows["prediction"], rtol=1e-5)
    assert_allclose(table["y"], rows["y"] - rows["prediction"], rtol=1e-4, atol=1e-5)
    errors = [metrics.root_mean_squared_error(one["y"], one["prediction"]) for one in folds]
    assert f"RMSE {np.mean(errors):.4g} (" in results.text


def test_a_confusion_matrix_counts_the_predictions_of_the_selected_models(results, predicted, rings):
    rows = pd.concat(predicted("moons-apart"))
    table = results.draw(by_fold("confusion_matrix"))
    assert table["count"].tolist() == metrics.confusion_matrix(rows["y"], rows["prediction"]).ravel().tolist()
    shares = metrics.confusion_matrix(rows["y"], rows["prediction"], normalize="true")
    assert_allclose(table["percent"], 100 * shares.ravel(), rtol=1e-5)
    assert f"{rings.classes[0]} {100 * shares[0, 0]:.1f}, " in results.text


def test_classes_of_one_name_and_classes_without_rows_are_kept_apart():
    display = Matrix([0, 0, 1], [0, 1, 1], ["a", "a", "b"])
    assert display.to_frame()["percent"].tolist() == [50, 50, 0, 0, 100, 0, 0, 0, 0]
    assert display.summary() == "a 50.0, a 100.0, b no rows"


def test_a_learner_without_decision_values_has_the_reason_in_its_place(results, predicted):
    predicted("moons-apart", decision=np.nan)
    assert reasons(results.draw(by_fold("roc"))) == ["moons-apart, good: the learner has no decision values"]


# -------------------------------------------------------------------------------------------------- of tables

MODELS = ("eem", "welm", "svm", "slow")


@pytest.fixture
def ranked(results):
    """A table of six data sets on which the last model has a number once, and another metric."""
    results.study["models"] = {
        name: {"label": name.upper(), "estimator": "sklearn.svm.SVC"} for name in MODELS
    }
    scores = {"type": "scores", "caption": "", "datasets": "both", "models": list(MODELS), "metric": "gmean"}
    results.study["tables"] = {"table1": {**scores, "criterion": "cv"}}
    scores = [[90, 80, 70, 60], [91, 81, 71, None], [92, 72, 82, None], *[[93, 83, 73, None]] * 3]
    return [
        {"dataset": f"data{k}", "model": model, "metric": metric, "ours": score if metric == "gmean" else 50}
        for k, of_set in enumerate(scores)
        for model, score in zip(MODELS, of_set, strict=True)
        for metric in ("gmean", "accuracy")
    ]


RANKS = {"type": "critical_difference", "table": "table1", "metric": "gmean"}


def test_ranks_are_those_of_the_tables_models_on_its_data_sets(results, ranked):
    results.table("table1", ranked)
    table = results.draw(RANKS)
    models, pairs = table[table["rank"].notna()], table[table["other"] != ""]
    assert models[["model", "rank", "scored", "datasets"]].to_numpy().tolist() == [
        ["eem", 1, 6, 6], ["welm", 2.16667, 6, 6], ["svm", 2.83333, 6, 6]
    ]  # fmt: skip
    assert pairs[["model", "other", "wins", "ties", "losses"]].to_numpy().tolist() == [
        ["eem", "welm", 6, 0, 0], ["eem", "svm", 6, 0, 0], ["welm", "svm", 5, 0, 1]
    ]  # fmt: skip
    assert reasons(table) == ["SLOW: no number on more than half of the data sets"]
    assert "EEM 1.00, WELM 2.17, SVM 2.83" in results.text
    assert ">EEM<" in results.svg
    assert "SLOW" not in results.svg


def test_too_few_data_sets_have_no_ranks(results, ranked):
    results.table("table1", [row for row in ranked if row["dataset"] < "data4"])
    assert reasons(results.draw(RANKS)) == [results.text]
    assert "no ranks" in results.svg
