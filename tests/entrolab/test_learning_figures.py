"""Figures of images, clusters and of how learners learn: csv, pictures and words tell the same."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
import skops.io
from drawn_figures import drawn, text_of
from numpy.testing import assert_allclose, assert_array_equal
from refused_studies import refused
from sklearn.cluster import KMeans
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import adjusted_rand_score, confusion_matrix
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from entrolab.data.dataset import DataUnavailable, recording_unavailability, save_dataset
from entrolab.data.prepare import prepare
from entrolab.data.scale import scale
from entrolab.figure_types.base import Stored
from entrolab.figure_types.confusion_matrix import Matrix
from entrolab.figure_types.making import reasons
from entrolab.study.learners import learners_asked, mistakes
from entrolab.study.sections import ConfigError
from entrolab.tables.base import Head
from entrolab.text import Unreadable
from entrolearn.plotting import ErrorDensityDisplay

NET = {"hidden_layer_sizes": [3], "learning_rate_init": 0.02}
KEYS = {"caption": "x"}
NAMED = Head("One")


def svg(folder):
    return (folder / "figure.svg").read_text()


@pytest.fixture
def prepared(tmp_path, catalog):
    """A function that puts a data set of the catalog, scaled to [0, 1], into a file."""

    def written(key):
        data = scale(prepare(key, catalog[key]))
        save_dataset(tmp_path / f"{key}.npz", data)
        return data, tmp_path / f"{key}.npz"

    return written


@pytest.fixture
def absent(tmp_path):
    with recording_unavailability(tmp_path / "absent.npz"):
        raise DataUnavailable("mnist: 404")
    return tmp_path / "absent.npz"


def stored(folder, name, fitted):
    """The record of a run whose folder of models has the one that `cv` selected, or the reason for none."""
    (folder / name).mkdir(parents=True)
    if fitted is None:
        (folder / name / "cv.json").write_text(json.dumps({"error": "nothing was chosen"}))
    else:
        skops.io.dump(fitted, folder / name / "cv.skops")
        (folder / name / "cv.json").write_text(json.dumps({"format": "skops", "types": []}))
    record = folder / f"{name}_record.json"
    record.write_text(json.dumps({"success": True, "status": "ok", "error": ""}))
    return record


# --- images ----------------------------------------------------------------------------------------------


def test_samples_are_the_first_rows_each_with_its_class(tmp_path, prepared, absent):
    data, file = prepared("sklearn-digits")
    shapes = {"digits": [8, 8], "mnist": [28, 28]}
    spec = {**KEYS, "type": "samples", "datasets": list(shapes), "shapes": shapes, "rows": 12}
    table = drawn(tmp_path, spec, [file, absent])
    mine = table[table["dataset"] == "digits"].sort_values(["image", "line", "column"])
    assert_allclose(mine["value"].to_numpy().reshape(12, 64), data.X[:12], rtol=1e-5, atol=1e-12)
    first = mine.drop_duplicates("image")
    assert first["series"].tolist() == [str(label) for label in data.y[:12]]
    assert reasons(table) == ["mnist: no data: mnist: 404"]
    assert "no data: mnist: 404" in svg(tmp_path)


def test_weights_are_those_of_the_model_that_is_fitted_for_good(tmp_path, prepared):
    data, file = prepared("sklearn-digits")
    models = {"ridge": RidgeClassifier().fit(data.X, data.y), "svm": SVC().fit(data.X, data.y), "none": None}
    records = [stored(tmp_path / "models", name, model) for name, model in models.items()]
    spec = {
        **KEYS,
        "type": "weights",
        "datasets": ["digits"],
        "shapes": {"digits": [8, 8]},
        "models": {name: Head(name) for name in models},
        "runs": [("digits", name) for name in models],
        "stored": dict.fromkeys(
            models, Stored("cv", ["sklearn.linear_model.RidgeClassifier", "sklearn.svm.SVC"])
        ),
    }
    table = drawn(
        tmp_path,
        spec,
        [path for name in models for path in (file, tmp_path / "models" / name)],
        records,
    )
    mine = table[table["model"] == "ridge"].sort_values(["image", "line", "column"])
    assert_allclose(mine["value"].to_numpy().reshape(10, 64), models["ridge"].coef_, rtol=1e-4, atol=1e-6)
    assert mine.drop_duplicates("image")["series"].tolist() == list("0123456789")
    assert reasons(table) == [
        "digits, svm: failed: TypeError: SVC has no coef_; accepted: linear classifiers",
        "digits, none: nothing was chosen",
    ]


# --- clusters --------------------------------------------------------------------------------------------


def learner(estimator, **params):
    return {"estimator": estimator, "params": params, "steps": []}


def test_clusterings_hold_every_row_with_its_cluster_and_the_agreement(tmp_path, prepared, absent):
    data, file = prepared("moons-apart")
    spec = {
        **KEYS,
        "type": "clusterings",
        "datasets": ["moons", "mnist"],
        "models": {"kmeans": NAMED, "broken": Head("Other")},
        "learners": {
            (dataset, model): learner("sklearn.cluster.KMeans", n_clusters=n)
            for dataset in ("moons", "mnist")
            for model, n in (("kmeans", 2), ("broken", -1))
        },
        "seed": 3,
    }
    table = drawn(tmp_path, spec, [file, absent])
    mine = table[(table["dataset"] == "moons") & (table["model"] == "kmeans")]
    clusters = KMeans(2, random_state=3).fit_predict(data.X)
    assert_array_equal(mine["cluster"], clusters)
    assert_array_equal(mine["class"], data.y)
    assert_allclose(mine[["x", "y"]], data.X, rtol=1e-5)
    index = adjusted_rand_score(data.y, clusters)
    assert mine["ari"].iloc[0] == pytest.approx(index, rel=1e-5)
    assert [reason[:48] for reason in reasons(table)] == [
        "moons, broken: failed: InvalidParameterError: Th",
        "mnist, kmeans: no data: mnist: 404",
        "mnist, broken: no data: mnist: 404",
    ]
    assert f">{index:.2f}<" in svg(tmp_path)


# --- how learners learn ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_error_densities_are_of_a_learner_fitted_anew_to_all_rows(tmp_path, prepared, absent):
    data, file = prepared("moons-apart")
    estimator = "sklearn.neural_network.MLPClassifier"
    spec = {
        **KEYS,
        "type": "error_densities",
        "datasets": ["moons", "mnist"],
        "models": {"net": NAMED},
        "learners": {(dataset, "net"): learner(estimator, **NET) for dataset in ("moons", "mnist")},
        "epochs": [1, 20],
        "seed": 3,
    }
    table = drawn(tmp_path, spec, [file, absent])
    twin = ErrorDensityDisplay.from_estimator(
        MLPClassifier(**NET, random_state=3), data.X, data.y, epochs=[1, 20]
    )
    for epochs in (1, 20):
        mine = table[table["time"] == epochs]
        assert_allclose(mine["density"], twin.density(epochs, mine["error"]), rtol=1e-3, atol=1e-6)
        assert mine["std"].iloc[0] == pytest.approx(np.std(twin.errors[epochs]), rel=1e-5)
    spread = [np.std(twin.errors[epochs]) for epochs in (1, 20)]
    assert spread[1] < spread[0]
    assert reasons(table) == ["mnist, net: no data: mnist: 404"]
    assert ">epoch 20<" in svg(tmp_path)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_loss_curves_are_those_of_the_models_that_are_fitted_for_good(tmp_path, prepared):
    data, _ = prepared("moons-apart")
    models = {
        "net": MLPClassifier(**NET, max_iter=6, random_state=0).fit(data.X, data.y),
        "svm": SVC().fit(data.X, data.y),
    }
    records = [stored(tmp_path / "models", name, model) for name, model in models.items()]
    spec = {
        **KEYS,
        "type": "loss_curves",
        "datasets": ["moons"],
        "models": {"net": NAMED, "svm": Head("Other")},
        "runs": [("moons", name) for name in models],
        "stored": dict.fromkeys(models, Stored("cv", ["sklearn.neural_network.MLPClassifier"])),
    }
    sources = [tmp_path / "models" / name for name in models]
    table = drawn(tmp_path, spec, sources, records)
    curve = table[(table["model"] == "net")]
    assert_allclose(curve["loss"], models["net"].loss_curve_, rtol=1e-5)
    assert curve["iteration"].tolist() == [1, 2, 3, 4, 5, 6]
    assert reasons(table) == [
        "moons, svm: failed: TypeError: SVC has no loss_curve_; accepted: estimators with one"
    ]
    model = sources[0] / "cv.skops"
    model.write_bytes(model.read_bytes()[:20])
    with pytest.raises(Unreadable, match="cv.skops"):  # a damaged file is no result
        drawn(tmp_path, spec, sources, records)


# --- predictions -----------------------------------------------------------------------------------------


def test_a_confusion_matrix_counts_the_kept_predictions_of_what_was_selected(tmp_path, prepared):
    data, file = prepared("moons-apart")
    rng = np.random.default_rng(0)
    kept = pd.DataFrame({"repeat": np.repeat([0, 1], 60), "fold": 0, "point": rng.integers(2, size=120)})
    kept = kept.assign(y=rng.integers(2, size=120), prediction=rng.integers(2, size=120))
    rows = [(0, "cv", 1, True), (1, "cv", 0, True), (0, "oracle", 0, True), (1, "oracle", 1, False)]
    chosen = pd.DataFrame(rows, columns=["repeat", "criterion", "point", "success"]).assign(fold=0)
    kept.to_parquet(tmp_path / "predictions")
    chosen.to_parquet(tmp_path / "selection")
    records = [stored(tmp_path / "models", name, None) for name in ("net", "none")]
    records[1].write_text(json.dumps({"success": False, "status": "no data", "error": "404"}))
    spec = {
        **KEYS,
        "type": "confusion_matrix",
        "datasets": ["moons"],
        "models": {"net": NAMED, "none": Head("Other")},
        "runs": [("moons", "net"), ("moons", "none")],
        "criterion": "cv",
    }
    sources = [file, tmp_path / "selection", tmp_path / "predictions"] * 2
    table = drawn(tmp_path, spec, sources, records)
    mine = kept[kept["point"] == 1 - kept["repeat"]]
    counts = confusion_matrix(mine["y"], mine["prediction"])
    found = table[table["model"] == "net"]
    assert found["count"].tolist() == counts.ravel().tolist()
    classes = [float(name) for name in data.classes]
    assert found[["true", "predicted"]].to_numpy().tolist() == [*map(list, product(classes, repeat=2))]
    shares = confusion_matrix(mine["y"], mine["prediction"], normalize="true")
    assert_allclose(found["percent"], 100 * shares.ravel(), rtol=1e-5)
    assert f"One: {data.classes[0]} {100 * shares[0, 0]:.1f}, " in text_of(tmp_path)
    assert reasons(table) == ["moons, none: no data: 404"]
    nothing = drawn(
        tmp_path,
        spec | {"criterion": "other"},
        [file, tmp_path / "selection", tmp_path / "predictions"] * 2,
        records,
    )
    assert "moons, net: nothing was selected by this criterion" in reasons(nothing)


def test_classes_of_one_name_and_classes_without_rows_stay_apart():
    display = Matrix([0, 0, 1], [0, 1, 1], ["a", "a", "b"])
    assert display.to_frame()["percent"].tolist() == [50, 50, 0, 0, 100, 0, 0, 0, 0]
    assert display.summary() == "a 50.0, a 100.0, b no rows"


# --- the figures of a study ------------------------------------------------------------------------------


@pytest.fixture
def study_of_images(study):
    study["of_dataset"] = {"shape": {"heart": [2, 2], "default": [1, 4]}}
    shape = {"of_dataset": "shape"}
    study["models"]["ridge"] = {"label": "Ridge", "estimator": "sklearn.linear_model.RidgeClassifier"}
    study["models"]["net"] = {
        "label": "Net",
        "estimator": "sklearn.neural_network.MLPClassifier",
        "criteria": [],
    }
    study["figures"] |= {
        "samples": {"type": "samples", "caption": "", "datasets": "small", "shape": shape, "rows": 9},
        "weights": {
            "type": "weights", "caption": "", "datasets": "small", "models": ["ridge"], "shape": shape
        },
        "losses": {"type": "loss_curves", "caption": "", "datasets": "small", "models": ["ridge"]},
        "errors": {
            "type": "error_densities",
            "caption": "",
            "datasets": "moons",
            "models": ["net"],
            "epochs": [1, 5],
            "params": {"alpha": 0.5},
        },
        "matrix": {
            "type": "confusion_matrix",
            "caption": "",
            "datasets": "small",
            "models": ["ridge"],
            "criterion": "cv",
        },
    }  # fmt: skip
    return study


@pytest.fixture
def entries(entries):
    return {key: {**entry, "expect": {**entry["expect"], "features": 4}} for key, entry in entries.items()}


def test_figures_are_drawn_from_rows_or_from_models_that_are_fitted_for_good(load, study_of_images):
    study = load(study_of_images)
    scaled, models = "results/mine/scaled/{}.npz", "results/mine/seed0/models/{}/ridge"
    assert study.files_of_figure("samples") == [scaled.format(key) for key in ("heart", "sonar")]
    assert study.files_of_figure("weights") == [
        file.format(key) for key in ("heart", "sonar") for file in (scaled, models)
    ]
    assert study.files_of_figure("losses") == [models.format(key) for key in ("heart", "sonar")]
    assert study.files_of_figure("errors") == [scaled.format("two-moons")]
    stages = ("scaled/{}.npz", "seed0/selection/{}/ridge.parquet", "seed0/predictions/{}/ridge.parquet")
    assert study.files_of_figure("matrix") == [
        f"results/mine/{stage.format(key)}" for key in ("heart", "sonar") for stage in stages
    ]
    assert study.runs_of_figure("samples") == study.runs_of_figure("errors") == []
    assert study.runs_of_figure("weights") == [("heart", "ridge"), ("sonar", "ridge")]
    assert study.figure_type("samples").formats == ("svg", "png", "csv")


def test_a_spec_of_a_figure_has_shapes_and_learners_by_data_set(load, study_of_images):
    study = load(study_of_images)
    samples, errors, weights = (study.spec_of_figure(name) for name in ("samples", "errors", "weights"))
    assert samples.shapes == {"heart": [2, 2], "sonar": [1, 4]}
    assert list(errors.learners.values()) == [learner("sklearn.neural_network.MLPClassifier", alpha=0.5)]
    assert study.models["net"].params == {}
    assert weights.stored == {"ridge": ("cv", ["sklearn.linear_model.RidgeClassifier"], "skops")}
    assert errors.seed != study.model_copy(update={"seed": 1}).spec_of_figure("errors").seed


@pytest.mark.parametrize(
    ("figure", "key", "value", "message"),
    [
        ("samples", "shape", [2, 3], "figures.samples.shape: found [2, 3] for 'heart', which has 4 features"),
        ("samples", "shape", [4], "samples.shape: found [4], expected the height and the width of an image"),
        ("weights", "models", ["net"], "'net' has no criteria, so no candidate is selected"),
        ("weights", "shape", [4, 4], "figures.weights.shape: found [4, 4] for 'heart', which has 4 features"),
        ("losses", "models", ["net"], "'net' has no criteria"),
        ("matrix", "models", ["net"], "matrix.criterion: unknown criterion of model 'net' 'cv'"),
        ("matrix", "criterion", "kv", "matrix.criterion: unknown criterion of model 'ridge' 'kv'"),
        ("errors", "epochs", [0], "figures.errors.epochs.0: found 0"),
    ],
)  # fmt: skip
def test_a_mistake_in_these_figures_is_one_line(load, study_of_images, figure, key, value, message):
    study_of_images["figures"][figure][key] = value
    assert message in refused(load, study_of_images)


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [("models", ["lda"], "figures.errors.epochs"), ("params", {"alfa": 1}, "figures.errors.params.alfa")],
)
def test_errors_ask_for_iterations_and_parameters_of_the_learner(load, study_of_images, key, value, place):
    assert mistakes(learners_asked(load(study_of_images))) == []
    study_of_images["figures"]["errors"][key] = value
    assert place in [line.partition(": ")[0] for line in mistakes(learners_asked(load(study_of_images)))]


def test_errors_of_many_classes_are_not_one_number(load, study_of_images, entries):
    entries["two-moons"]["task"] = "multiclass"
    with pytest.raises(ConfigError, match="'two-moons' is a multiclass data set; accepted: binary and regr"):
        load(study_of_images)
