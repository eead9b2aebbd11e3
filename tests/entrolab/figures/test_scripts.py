"""Scripts of the papers' figures: what is drawn is what was computed."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import adjusted_rand_score
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from told_scores import write_scores

from entrolab.data.dataset import Dataset
from entrolab.data.prepare import prepare
from entrolab.figures.making import reasons
from entrolab.fit.protocols import protocol
from entrolab.text import Unreadable
from entrolearn.measures import expected_maximum
from entrolearn.plotting import ErrorDensityDisplay


def script(name, of, **keys):
    return {"type": "script", "script": name, "of": of, **keys}


@pytest.fixture(scope="module")
def moons(catalog):
    """Every seventh row of moons-apart."""
    whole, rows = prepare("moons-apart", catalog["moons-apart"]), slice(None, None, 7)
    return replace(whole, X=whole.X[rows], y=whole.y[rows], part=whole.part[rows])


@pytest.fixture(scope="module")
def digits(catalog):
    return prepare("sklearn-digits", catalog["sklearn-digits"])


# ----------------------------------------------------------------------------------- of trained runs


def test_trials_are_the_scores_of_the_selected_models_each_in_the_first_metric_that_fits(results, catalog):
    results.study["datasets"]["all"] = ["sklearn-iris", "sklearn-diabetes"]
    for dataset, metric in (("sklearn-iris", "accuracy"), ("sklearn-diabetes", "rmse")):
        results.data(dataset, prepare(dataset, catalog[dataset]))
        rows = pd.DataFrame({"repeat": [1, 0, 0], "fold": 0, "criterion": ["cv", "cv", "dcs_gaussian"]})
        rows = rows.assign(success=True, error="", **{metric: [0.5, 0.25, 1.0]})
        results.record(dataset, "good")
        write_scores(*(results.path(stage, dataset, "good") for stage in ("selection", "predictions")), rows)
    entry = script("trials", "predictions", datasets="all", models=["good"], criterion="cv")
    table = results.draw({**entry, "metric": ["accuracy", "rmse"]})
    assert table["score"].tolist() == [25, 50, 0.25, 0.5]
    assert "accuracy, %" in results.svg
    assert "RMSE" in results.svg


def test_a_tradeoff_is_a_line_through_the_mean_scores_of_a_grid(results):
    def candidates(lacks=False, failed=()):
        """Of two trials: support is (point + 1) / 10, the error a tenth of (5 - point + trial)."""
        return [
            {
                **{"repeat": trial, "fold": 0, "point": point, "params": json.dumps({"C": C})},
                "test_support": np.nan if lacks else (point + 1) / 10,
                "test_error_rate": (5 - point + trial) / 10,
                "success": (trial, point) not in failed,
                "error": "singular" if (trial, point) in failed else "",
            }
            for trial in (0, 1)
            for point, C in enumerate((1, 4, 9))
        ]

    results.study["metrics"] = ["error_rate", "support"]
    results.candidates("moons-apart", "good", candidates(failed=[(1, 1)]))
    results.candidates("moons-apart", "bad", candidates(lacks=True))
    entry = script("tradeoff", "candidates", datasets="moons", models=["good", "bad"])
    table = results.draw({**entry, "metric": ["support", "error_rate"]})
    good = table[table["model"] == "good"]
    assert_allclose(good[["x", "y"]], [[10, 55], [np.nan, np.nan], [30, 35]])
    assert good["params"].tolist() == ['{"C": 1}', '{"C": 4}', '{"C": 9}']
    assert reasons(table) == [
        "moons-apart, good: singular",
        "moons-apart, bad: a learner without support vectors (at 3 values)",
    ]
    assert "Good: no number at 1 of 3" in results.svg


def test_support_vectors_are_those_of_the_refitted_model_among_its_training_rows(results, moons):
    results.study["models"]["good"]["steps"] = ["sklearn.preprocessing.StandardScaler"]
    folds = protocol({"trials": 2, "train": 60, "test": 20, "inner": {"folds": 2, "used": 2}}).draw(
        moons.y, 0
    )
    results.data("moons-apart", moons, folds)
    rows = folds[0] > 0
    svm = make_pipeline(StandardScaler(with_std=False), SVC(kernel="linear"))
    results.fitted("moons-apart", "good", svm.fit(moons.X[rows], moons.y[rows]))
    table = results.draw(script("support", "models", datasets="moons", models=["good"]))
    kept = table.loc[table["series"].str.startswith("support vectors"), ["x", "y"]].to_numpy()
    others = table.loc[table["series"].str.startswith("rows"), ["x", "y"]].to_numpy()
    supported = moons.X[rows][svm[-1].support_]
    assert_allclose(np.sort(kept, axis=0), np.sort(supported, axis=0), rtol=1e-5)
    assert len(kept) + len(others) == 60
    margins = table.loc[table["series"].str.startswith("margins"), ["x", "y"]].to_numpy()
    assert_allclose(np.abs(svm.decision_function(margins)), 1, atol=1e-4)


def test_weights_are_those_of_the_refitted_model(results, digits):
    results.study["models"]["good"]["estimator"] = "sklearn.linear_model.RidgeClassifier"
    fitted = RidgeClassifier().fit(digits.X[:200], digits.y[:200])
    results.data("sklearn-digits", digits, np.ones((1, len(digits.y)), dtype=np.int16))
    results.fitted("sklearn-digits", "good", fitted)
    table = results.draw(script("weights", "models", datasets="digits", models=["good"]))
    ordered = table.sort_values(["image", "line", "column"])
    assert_allclose(ordered["value"].to_numpy().reshape(10, 64), fitted.coef_, rtol=1e-4, atol=1e-6)
    assert ordered.drop_duplicates("image")["series"].tolist() == list("0123456789")


NET = {"hidden_layer_sizes": [3], "learning_rate_init": 0.05}


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_loss_curves_are_those_of_the_refitted_models(results, moons):
    results.study["models"]["good"] |= {"estimator": "sklearn.neural_network.MLPClassifier"}
    fitted = MLPClassifier(**NET, max_iter=6, random_state=0).fit(moons.X, moons.y)
    results.data("moons-apart", moons, np.ones((1, len(moons.y)), dtype=np.int16))
    results.fitted("moons-apart", "good", fitted)
    results.study["models"]["bad"] |= {"estimator": "sklearn.neural_network.MLPRegressor"}
    other = MLPRegressor(**NET, max_iter=6, random_state=0).fit(moons.X, moons.y)
    results.fitted("moons-apart", "bad", other)
    entry = script("loss_curves", "models", datasets="moons", models=["good", "bad"])
    drawn = results.draw(entry)
    table = drawn[drawn["model"] == "good"]
    assert_allclose(table["loss"], fitted.loss_curve_, rtol=1e-5)
    (reason,) = drawn.loc[drawn["model"] == "bad", "reason"]  # a squared error beside a log loss
    assert "MLPClassifier and MLPRegressor" in reason
    assert table["iteration"].tolist() == [1, 2, 3, 4, 5, 6]
    model = results.path("models", "moons-apart", "good") / "cv.skops"
    model.write_bytes(model.read_bytes()[:20])
    with pytest.raises(Unreadable, match="cv.skops"):  # a damaged file is no result
        results.draw(entry)


# -------------------------------------------------------------------------------------- of rows


def test_samples_are_the_first_rows_each_with_its_class(results, digits):
    results.data("sklearn-digits", digits)
    table = results.draw(script("samples", "rows", datasets="digits", params={"rows": 12}))
    ordered = table.sort_values(["image", "line", "column"])
    assert_allclose(ordered["value"].to_numpy().reshape(12, 64), digits.X[:12], rtol=1e-5, atol=1e-12)
    first = ordered.drop_duplicates("image")
    assert first["series"].tolist() == [str(label) for label in digits.y[:12]]


def test_clusters_are_those_of_all_rows_with_their_agreement(results, moons):
    results.study["models"] = {
        "kmeans": {"estimator": "sklearn.cluster.KMeans", "criteria": []},
        "broken": {"estimator": "sklearn.cluster.KMeans", "params": {"n_clusters": -1}, "criteria": []},
    }
    results.data("moons-apart", moons)
    results.data("rings", "404")
    models = {"kmeans": {"params": {"n_clusters": 2}}, "broken": {}}
    entry = script("clusterings", "rows", datasets="both", models=models)
    table, seed = results.draw(entry), results.load(entry).spec_of_figure("figure").seed
    clusters = KMeans(2, random_state=seed).fit_predict(moons.X)
    mine = table[(table["dataset"] == "moons-apart") & (table["model"] == "kmeans")]
    assert_array_equal(mine["cluster"], clusters)
    assert_array_equal(mine["class"], moons.y)
    assert_allclose(mine[["x", "y"]], moons.X, rtol=1e-5)
    assert mine["ari"].iloc[0] == pytest.approx(adjusted_rand_score(moons.y, clusters), rel=1e-5)
    failed, *absent = reasons(table)
    assert failed.startswith("moons-apart, broken: failed: InvalidParameterError")
    assert absent == ["rings, kmeans: no data: 404", "rings, broken: no data: 404"]


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_error_densities_are_of_a_learner_fitted_to_all_rows(results, moons):
    results.study["models"]["good"] |= {"estimator": "sklearn.neural_network.MLPClassifier"}
    results.data("moons-apart", moons)
    entry = script("error_densities", "rows", datasets="moons", models={"good": {"params": NET}})
    entry["params"] = {"epochs": [1, 20]}
    table, seed = results.draw(entry), results.load(entry).spec_of_figure("figure").seed
    net = MLPClassifier(**NET, random_state=seed)
    twin = ErrorDensityDisplay.from_estimator(net, moons.X, moons.y, epochs=[1, 20])
    for epochs in (1, 20):
        mine = table[table["time"] == epochs]
        assert_allclose(mine["density"], twin.density(epochs, mine["error"]), rtol=1e-3, atol=1e-6)
        assert mine["std"].iloc[0] == pytest.approx(np.std(twin.errors[epochs]), rel=1e-5)


# --------------------------------------------------------------------------------------- of measurements


def test_densities_show_what_was_measured_for_their_table(results):
    models = {"good": {}, "bad": {}}
    params = {"dims": [10, 1000], "densities": [0.5, 0.1], "n_rows": 30}
    sparse = {"type": "measured", "script": "density", "models": models, "params": params}
    results.study["tables"]["sparse"] = sparse | {"caption": "", "metrics": {"fit_seconds": "seconds"}}
    rows = [
        {"reading": f"d10_density{density}", "model": model, "metric": "fit_seconds", "value": seconds}
        for model, seconds in (("good", 1.0), ("bad", 2.0))
        for density in (0.1, 0.5)
    ]
    rows += [
        {"reading": f"d1000_density{one}", "status": "failed", "error": "too large"} for one in (0.1, 0.5)
    ]
    results.measured("sparse", "generated", rows)
    table = results.draw(script("density", "measured", table="sparse"))
    assert table["density"].tolist() == [0.1, 0.5] * 4
    assert table["seconds"].dropna().tolist() == [1, 1, 2, 2]
    assert reasons(table) == [f"d = 1,000, {model}: too large (at 2 values)" for model in models]
    results.measured("sparse", "generated", [{"status": "failed", "error": "MemoryError"}])
    assert reasons(results.draw(script("density", "measured", table="sparse"))) == ["MemoryError"]


@pytest.fixture
def started(results):
    """Twenty starts of two models, of which one failed; no data for rings."""
    models = {"fast": {}, "good": {}}
    results.study["models"]["fast"] = "sklearn.svm.SVC"
    starts = {"type": "measured", "script": "starts", "datasets": "both", "models": models}
    starts |= {"caption": "", "params": {"starts": 20}, "metrics": {"best": "best"}}
    results.study["tables"]["starts"] = starts
    rng = np.random.default_rng(0)
    found = {"fast": rng.uniform(0, 2, 20), "good": rng.uniform(1, 2, 20)}
    rows = [
        {"model": model, "metric": metric, "reading": f"start {k}", "value": value}
        for model, values in found.items()
        for k, one in enumerate(values, start=1)
        for metric, value in (("objective", one), ("seconds", 0.5 * len(model)), ("evaluations", 10))
    ]
    rows[3] |= {"value": np.nan, "status": "failed", "error": "singular"}
    found["fast"][1] = np.nan
    rows.append({"model": "fast", "metric": "best", "value": 2.0})
    results.measured("starts", "moons-apart", rows)
    results.measured("starts", "rings", [{"status": "no data", "error": "404"}])
    return found


LOST = ["moons-apart, fast: singular", "rings, fast: 404", "rings, good: 404"]


def test_histograms_of_starts_show_what_was_measured(results, started):
    table = results.draw(script("starts", "measured", table="starts"))
    for model, values in started.items():
        mine = table[table["model"] == model].dropna(subset="start")
        assert mine["start"].tolist() == list(range(1, 21))
        assert_allclose(mine["objective"], values, rtol=1e-5)
    assert reasons(table) == LOST


@pytest.mark.parametrize("against", ["starts", "seconds"])
def test_expected_maxima_are_relative_to_the_best_of_all(results, started, against):
    table = results.draw(script("starts", "measured", table="starts", params={"against": against}))
    best = max(np.nanmax(values) for values in started.values())
    for model, values in started.items():
        mine = table[table["model"] == model].dropna(subset="starts")
        twin = expected_maximum(values[np.isfinite(values)])
        assert_allclose(mine["expected"], twin, rtol=1e-5)
        assert_allclose(mine["percent_of_best"], 100 * twin / best, rtol=1e-5)
        assert_allclose(mine["seconds"], 2.0 * mine["starts"], rtol=1e-5)
    assert reasons(table) == LOST


def test_evaluations_are_seconds_and_errors_by_the_number_of_rows(results):
    speed = {"type": "measured", "script": "evaluations", "metrics": {"seconds": "seconds"}}
    speed |= {"params": {"n_rows": [100, 1000], "exact_up_to": 100}, "caption": ""}
    results.study["tables"]["speed"] = speed | {"methods": {"exact": "exact", "binned": "binned"}}
    rows = [("exact", 100, 0.5), ("binned", 100, 0.125), ("binned", 1000, 0.25)]
    results.measured(
        "speed",
        "generated",
        [
            {"model": way, "reading": f"n{n}", "metric": "seconds", "value": seconds}
            for way, n, seconds in rows
        ],
    )
    entry = script("evaluations", "measured", table="speed")
    assert results.draw(entry)[["series", "rows", "seconds"]].to_numpy().tolist() == [*map(list, rows)]
    results.measured("speed", "generated", [{"status": "failed", "error": "MemoryError"}])
    assert reasons(results.draw(entry)) == ["MemoryError"]


def test_closed_forms_are_beside_what_was_measured(results):
    maxima = {"type": "measured", "script": "entropy_maxima", "caption": "", "metrics": {"value": "ours"}}
    results.study["tables"]["maxima"] = maxima | {"params": {"means": [2, 3.5], "scales": [1]}}
    numbers = {"die_3.5": (1.7, 1.8), "die_2": (1.0, 1.25)}
    rows = [
        {"reading": reading, "metric": metric, "value": value}
        for reading, pair in numbers.items()
        for metric, value in zip(("value", "exact"), pair, strict=True)
    ]
    results.measured("maxima", "generated", rows)
    entry = script(
        "closed_forms",
        "measured",
        table="maxima",
        params={"panels": {"die": "mean", "normal": "deviation"}, "score_name": "entropy"},
    )
    table = results.draw(entry)
    drawn = table.dropna(subset="mean")[["series", "value", "mean"]].to_numpy().tolist()
    assert drawn == [
        ["closed form", 2, 1.25],
        ["closed form", 3.5, 1.8],
        ["measured", 2, 1.0],
        ["measured", 3.5, 1.7],
    ]
    assert set(table.loc[table["mean"].isna(), "reason"]) == {"not measured"}


# ----------------------------------------------------------------------------------------- of tables

# Scores of eem, eekm and svm; rows, rows of the smaller class, features.
BY_DATA = {
    "heart": ((90, 95, 93), (150, 50, 4)),
    "wdbc": ((80, 70, 85), (178, 59, 13)),
    "fourclass": ((60, np.nan, 50), (214, 29, 9)),
    "sonar": ((70, 71, 71), (208, 97, 60)),
    "diabetes": ((40, 30, 60), (1484, 51, 8)),
    "splice": ((80, 80, np.nan), (1000, 483, 60)),
    "ionosphere": ((np.nan,) * 3, "404"),
}


@pytest.mark.parametrize(("metric", "sign"), [("gmean", 1), ("error_rate", -1)])
def test_gains_are_those_of_the_best_of_each_side_with_the_properties_of_their_data(results, metric, sign):
    results.study["models"] = dict.fromkeys(("eem", "eekm", "svm"), "sklearn.svm.SVC")
    results.study |= {"datasets": {"all": [*BY_DATA]}, "metrics": [metric]}
    results.study["tables"] = {"table1": {"type": "scores"}}
    rows = [
        {"dataset": dataset, "model": model, "metric": metric, "ours": sign * score}
        for dataset, (scores, _) in BY_DATA.items()
        for model, score in zip(("eem", "eekm", "svm"), scores, strict=True)
    ]
    results.table("table1", rows)
    for dataset, (_, counts) in BY_DATA.items():
        if isinstance(counts, str):
            results.data(dataset, counts)
            continue
        n, n_smaller, n_features = counts
        y, names = (np.arange(n) < n_smaller).astype(int), [f"x{k}" for k in range(n_features)]
        part = np.zeros(n, dtype=np.int8)
        results.data(dataset, Dataset(np.zeros((n, n_features)), y, names, "binary", ["a", "b"], part))
    params = {"metric": metric, "best_of": ["eem", "eekm"], "against": ["svm"]}
    entry = script("by_data", "table", table="table1", datasets="all", params=params)
    drawn = results.draw(entry)
    assert reasons(drawn) == ["splice: svm: no number", "ionosphere: svm: no number"]
    table = drawn.set_index("dataset")
    gains = {"heart": 2, "wdbc": -5, "fourclass": 10, "sonar": 0, "diabetes": -20}
    assert table["difference"].dropna().to_dict() == pytest.approx(gains)
    assert table["best"].dropna().tolist() == ["eekm", "eem", "eem", "eekm", "eem", "eem"]
    counts = np.array([counts for _, counts in BY_DATA.values() if counts != "404"])
    known = table[["rows", "smaller", "features"]].dropna()
    assert_allclose(known, counts * [1, 100, 1] / [[1, n, 1] for n in counts[:, 0]], rtol=1e-5)
    # Spearman's rho of n = 5 without ties is 1 - 6 Σd² / n (n² - 1): the ranks of rows are 1, 2, 4, 3, 5,
    # those of the gains 4, 2, 5, 3, 1, so that Σd² is 26 and rho -0.3.
    assert "by size: Spearman's ρ = −0.30" in results.svg
