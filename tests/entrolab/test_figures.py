"""Figures of studies: what is drawn is what was computed, and what is absent is said."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import skops.io
from drawn_figures import drawn, figure_spec, text_of
from numpy.testing import assert_allclose
from scipy.stats import gaussian_kde
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from told_scores import write_scores

from entrolab.data.dataset import Dataset, DataUnavailable, recording_unavailability, save_dataset, save_folds
from entrolab.data.prepare import prepare
from entrolab.data.scale import scale
from entrolab.figure_types.base import Stored
from entrolab.figure_types.making import make_page_to_hover, reasons
from entrolab.figure_types.registry import FIGURE_TYPES
from entrolab.fit.protocols import protocol
from entrolab.tables.base import Head
from entrolearn import EEMClassifier
from entrolearn.plotting.regions import plane_density

EEM = {"estimator": "entrolearn.EEMClassifier", "steps": [], "params": {"n_hidden": 10}}
PROCESS = {
    "type": "process",
    "caption": "A plane",
    "learners": {("rings", "eem"): EEM},
    "seed": 3,
}
CURVES = {
    "type": "grid_curves",
    "caption": "Sizes",
    "datasets": ["iris", "wine"],
    "models": {"eem": Head("EEM", "rbf"), "welm": Head("WELM")},
    "parameter": "n_hidden",
    "metric": "gmean",
    "runs": [(dataset, model) for dataset in ("iris", "wine") for model in ("eem", "welm")],
}


@pytest.fixture(scope="module")
def rings(catalog):
    return scale(prepare("rings", catalog["rings"]), "minmax", (0, 1), "all")


# ------------------------------------------------------------------------------------------------- process


@pytest.fixture
def process(tmp_path, rings):
    save_dataset(tmp_path / "rings.npz", rings)
    return drawn(tmp_path, PROCESS, [tmp_path / "rings.npz"])


def points(table, panel, series):
    return table.loc[(table["panel"] == panel) & (table["series"] == series), ["x", "y"]].to_numpy()


def test_csv_of_a_process_holds_the_machine_that_the_spec_describes(process, rings):
    machine = EEMClassifier(10, random_state=3).fit(rings.X, rings.y)
    assert_allclose(points(process, "projected", "threshold")[:, 0], machine.thresholds_, rtol=1e-5)
    assert len(machine.thresholds_) == 2
    for code, label in enumerate(rings.classes):
        rows = rings.X[rings.y == code]
        assert_allclose(points(process, "input", f"rows of {label}"), rows, rtol=1e-5, atol=1e-12)
        projected = points(process, "projected", f"rows of {label}")[:, 0]
        assert_allclose(projected, machine.project(rows), rtol=1e-5)
        assert len(points(process, "hidden", f"rows of {label}")) == len(rows)


def test_drawn_densities_cross_at_the_drawn_thresholds(process, rings):
    (t, negative), (_, positive) = (points(process, "projected", f"density of {k}").T for k in rings.classes)
    for threshold in points(process, "projected", "threshold")[:, 0]:
        heights = [np.interp(threshold, t, height) for height in (negative, positive)]
        assert heights[0] == pytest.approx(heights[1], rel=0.02)


def test_ellipses_of_the_csv_are_one_and_two_deviations_from_the_mean(process, rings):
    for label in rings.classes:
        ((x, y),) = points(process, "hidden", f"mean of {label}")
        one, two = (points(process, "hidden", f"{sd} sd of {label}") - [x, y] for sd in (1, 2))
        assert_allclose(two, 2 * one, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"estimator": "sklearn.svm.SVC", "params": {}}, "failed: TypeError: SVC has no Gaussians in a hidd"),
        ({"params": {"n_hidden": -1}}, "failed: InvalidParameterError: The 'n_hidden' parameter"),
    ],
)
def test_a_machine_that_fails_is_said_in_figure_and_csv(tmp_path, rings, change, reason):
    save_dataset(tmp_path / "rings.npz", rings)
    spec = PROCESS | {"learners": {("rings", "eem"): EEM | change}}
    table = drawn(tmp_path, spec, [tmp_path / "rings.npz"])
    assert table["reason"].str.startswith(reason).tolist() == [True]
    assert "failed" in (tmp_path / "figure.svg").read_text()
    assert reason in text_of(tmp_path)


def test_data_that_cannot_be_had_are_said(tmp_path):
    with recording_unavailability(tmp_path / "rings.npz"):
        raise DataUnavailable("rings: 404")
    table = drawn(tmp_path, PROCESS, [tmp_path / "rings.npz"])
    assert reasons(table) == ["no data: rings: 404"]


# ------------------------------------------------------------------------------------------------- curves


def candidates(scores, errors=None):
    """Rows of two folds × three sizes; a score that is NaN failed with its error."""
    rows = [
        {
            "repeat": 0,
            "fold": fold,
            "point": point,
            "params": json.dumps({"n_hidden": size}),
            "test_gmean": scores[fold][point],
            "success": bool(np.isfinite(scores[fold][point])),
            "error": "" if np.isfinite(scores[fold][point]) else errors,
        }
        for fold in (0, 1)
        for point, size in enumerate((50, 5, 10))
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def runs(tmp_path):
    """Two models on iris, one of them with a failed fit; no data for wine."""
    good = candidates([[0.9, 0.5, 0.7], [0.8, 0.6, 0.7]])
    holed = candidates([[0.9, np.nan, 0.7], [0.8, 0.6, 0.7]], "LinAlgError: singular")
    nothing = good.iloc[:0]
    found = {"success": True, "status": "ok", "error": ""}
    absent = {"success": False, "status": "no data", "error": "wine: 404"}
    sources, records = [], []
    for number, (rows, record) in enumerate(
        [(good, found), (holed, found), (nothing, absent), (nothing, absent)]
    ):
        sources.append(tmp_path / f"{number}.parquet")
        records.append(tmp_path / f"{number}.json")
        rows.to_parquet(sources[-1])
        records[-1].write_text(json.dumps(record))
    return sources, records


def test_curves_are_means_and_deviations_of_the_candidates(tmp_path, runs):
    table = drawn(tmp_path, CURVES, *runs)
    curve = table[(table["dataset"] == "iris") & (table["model"] == "eem")]
    assert curve["value"].tolist() == [5, 10, 50]
    rows = pd.read_parquet(runs[0][0])
    rows["size"] = [json.loads(params)["n_hidden"] for params in rows["params"]]
    twin = 100 * rows.groupby("size")["test_gmean"].agg(["mean", "std"])
    assert_allclose(curve[["mean", "std"]], twin, rtol=1e-5)
    assert curve["folds"].tolist() == [2, 2, 2]


def test_a_size_with_a_failed_fold_is_a_gap_with_its_reason(tmp_path, runs):
    table = drawn(tmp_path, CURVES, *runs)
    curve = table[(table["dataset"] == "iris") & (table["model"] == "welm")].set_index("value")
    assert np.isnan(curve.loc[5, "mean"])
    assert (curve.loc[5, "folds"], curve.loc[5, "reason"]) == (1, "LinAlgError: singular")
    assert curve.loc[10, "mean"] == pytest.approx(70)
    assert "WELM: no score at 1 of 3" in (tmp_path / "figure.svg").read_text()


def test_models_of_one_label_are_two_curves(tmp_path, runs):
    spec = CURVES | {"models": dict.fromkeys(CURVES["models"], Head("Machine"))}
    table = drawn(tmp_path, spec, *runs).dropna(subset="value")
    assert table["series"].unique().tolist() == ["Machine", "Machine (welm)"]
    assert table.groupby("model").size().to_dict() == {"eem": 3, "welm": 3}


def test_a_data_set_that_cannot_be_had_is_a_text_in_its_panel(tmp_path, runs):
    table = drawn(tmp_path, CURVES, *runs)
    assert table.loc[table["dataset"] == "wine", "reason"].tolist() == ["no data: wine: 404"] * 2
    svg = (tmp_path / "figure.svg").read_text()
    assert "no data: wine: 404" in svg
    assert ">iris<" in svg
    assert reasons(table) == [
        "iris, welm: LinAlgError: singular",
        "wine, eem: no data: wine: 404",
        "wine, welm: no data: wine: 404",
    ]


# --------------------------------------------------------------------------------- a grid of two parameters


def surface_candidates(failed=()):
    """Two trials x (C, L); 100 times the score is 10 C + L + 20 times the trial."""
    rows = [
        {
            "repeat": trial,
            "fold": 0,
            "params": json.dumps({"C": C, "L": L}),
            "test_accuracy": np.nan if (C, L) in failed else (10 * C + L + 20 * trial) / 100,
            "success": (C, L) not in failed,
            "error": "singular" if (C, L) in failed else "",
        }
        for trial in (0, 1)
        for C in (0.25, 0.5, 1.0, 2.0)
        for L in (5, 10, 20)
    ]
    return pd.DataFrame(rows).assign(point=0)


GRID = {
    "caption": "Two parameters",
    "datasets": ["iris"],
    "models": {"rkelm": Head("RKELM")},
    "runs": [("iris", "rkelm")],
    "metric": "accuracy",
}
SURFACE = {**GRID, "type": "grid_surface", "parameters": ["C", "L"]}
BY = {**GRID, "type": "grid_curves", "parameter": "C", "by": "L"}


@pytest.fixture
def grid(tmp_path):
    """One run with a point that failed in every trial."""
    surface_candidates(failed=[(0.25, 5)]).to_parquet(tmp_path / "grid.parquet")
    (tmp_path / "grid.json").write_text(json.dumps({"success": True, "status": "ok", "error": ""}))
    return [tmp_path / "grid.parquet"], [tmp_path / "grid.json"]


def test_a_surface_shows_the_mean_over_the_trials(tmp_path, grid):
    table = drawn(tmp_path, SURFACE, *grid).set_index(["x", "y"])
    assert table.loc[(2.0, 20), "mean"] == pytest.approx(10 * 2 + 20 + 10)
    assert (table["x_parameter"].unique(), table["y_parameter"].unique()) == (["C"], ["L"])
    assert np.isnan(table.loc[(0.25, 5), "mean"])
    assert table.loc[(0.25, 5), "reason"] == "singular"
    assert "no score at 1 of 12" in (tmp_path / "figure.svg").read_text()


def test_models_of_one_label_are_two_surfaces(tmp_path, grid):
    models = dict.fromkeys(("rkelm", "elm"), SURFACE["models"]["rkelm"])
    spec = SURFACE | {"models": models, "runs": [("iris", model) for model in models]}
    drawn(tmp_path, spec, *(2 * files for files in grid))
    svg = (tmp_path / "figure.svg").read_text()
    assert (svg.count(">RKELM<"), svg.count(">RKELM (elm)<")) == (1, 1)


def test_a_surface_without_a_result_says_why(tmp_path, grid):
    (sources, (record,)) = grid
    surface_candidates().iloc[:0].to_parquet(sources[0])
    record.write_text(json.dumps({"success": False, "status": "no data", "error": "iris: 404"}))
    table = drawn(tmp_path, SURFACE, sources, [record])
    assert table["reason"].tolist() == ["no data: iris: 404"]
    assert reasons(drawn(tmp_path, BY, sources, [record])) == ["iris, rkelm: no data: iris: 404"]


def test_curves_by_a_second_parameter_are_its_values(tmp_path, grid):
    table = drawn(tmp_path, BY, *grid)
    assert table["series"].unique().tolist() == ["L = 5", "L = 10", "L = 20"]
    curve = table[table["series"] == "L = 20"]
    assert curve["value"].tolist() == [0.25, 0.5, 1, 2]
    assert_allclose(curve["mean"], [32.5, 35, 40, 50])
    svg = (tmp_path / "figure.svg").read_text()
    assert "L = 20" in svg
    assert "L = 5: no score at 1 of 4" in svg


# -------------------------------------------------------------------------------------------------- trials


TRIALS = {
    "type": "trials",
    "caption": "Trials",
    "datasets": ["iris", "diabetes"],
    "models": {"rkelm": Head("RKELM"), "elm": Head("ELM")},
    "runs": [(dataset, model) for dataset in ("iris", "diabetes") for model in ("rkelm", "elm")],
    "metrics": {"iris": "accuracy", "diabetes": "rmse"},
    "criterion": "cv",
}


def test_trials_are_the_scores_of_what_was_chosen_each_in_its_metric(tmp_path):
    records, sources = [], []
    for dataset, metric in (("iris", "accuracy"), ("diabetes", "rmse")):
        for model in ("rkelm", "elm"):
            rows = pd.DataFrame({"repeat": [1, 0, 0], "fold": 0, "criterion": ["cv", "cv", "oracle"]})
            rows = rows.assign(success=True, error="", **{metric: [0.5, 0.25, 1.0]})
            sources += [tmp_path / "selection" / dataset / model, tmp_path / "predictions" / dataset / model]
            write_scores(*sources[-2:], rows)
            failed = (dataset, model) == ("iris", "elm")
            records.append(tmp_path / f"{dataset}_{model}.json")
            outcome = {"success": not failed, "status": "failed" if failed else "", "error": "singular"}
            records[-1].write_text(json.dumps(outcome))
    table = drawn(tmp_path, TRIALS, sources, records)
    scores = table.dropna(subset="trial").groupby(["dataset", "model"])["score"].apply(list).to_dict()
    assert scores == {
        ("iris", "rkelm"): [25, 50],
        ("diabetes", "rkelm"): [0.25, 0.5],
        ("diabetes", "elm"): [0.25, 0.5],
    }
    assert reasons(table) == ["iris, elm: failed: singular"]
    svg = (tmp_path / "figure.svg").read_text()
    assert "accuracy, %" in svg
    assert "RMSE" in svg
    assert "ELM: no score" in svg


# ------------------------------------------------------------------------------------------------- tradeoffs


TRADEOFF = {
    "type": "tradeoff",
    "caption": "Errors and support vectors",
    "datasets": ["iris", "wine"],
    "models": {"svm": Head("SVM"), "lasso": Head("L1")},
    "runs": [(dataset, model) for dataset in ("iris", "wine") for model in ("svm", "lasso")],
    "metric": ["support", "error_rate"],
}


def tradeoff_candidates(support=True, failed=()):
    """Two trials of three points: support is (point + 1) / 10, the error a tenth of (5 - point + trial)."""
    rows = [
        {
            "repeat": trial,
            "fold": 0,
            "point": point,
            "params": json.dumps({"C": C}),
            "test_support": (point + 1) / 10 if support else np.nan,
            "test_error_rate": (5 - point + trial) / 10,
            "success": (trial, point) not in failed,
            "error": "singular" if (trial, point) in failed else "",
        }
        for trial in (0, 1)
        for point, C in enumerate((1, 4, 9))
    ]
    return pd.DataFrame(rows)


def test_a_tradeoff_is_a_line_through_the_mean_scores_of_a_grid(tmp_path):
    found, absent = (
        {"success": True, "status": "ok", "error": ""},
        {"success": False, "status": "no data", "error": "404"},
    )
    runs = [
        (tradeoff_candidates(failed=[(1, 1)]), found),
        (tradeoff_candidates(support=False), found),
        *[(tradeoff_candidates().iloc[:0], absent)] * 2,
    ]
    for number, (candidates, record) in enumerate(runs):
        candidates.to_parquet(tmp_path / f"{number}.parquet")
        (tmp_path / f"{number}.json").write_text(json.dumps(record))
    sources, records = (
        [tmp_path / f"{number}.{suffix}" for number in range(4)] for suffix in ("parquet", "json")
    )
    table = drawn(tmp_path, TRADEOFF, sources, records)
    svm = table[(table["dataset"] == "iris") & (table["model"] == "svm")]
    assert_allclose(svm["x"], [10, np.nan, 30])
    assert_allclose(svm["y"], [55, np.nan, 35])
    assert svm["params"].tolist() == ['{"C": 1}', '{"C": 4}', '{"C": 9}']
    assert reasons(table) == [
        "iris, svm: singular",
        "iris, lasso: a learner without support vectors (at 3 values)",
        "wine, svm: no data: 404",
        "wine, lasso: no data: 404",
    ]
    svg = (tmp_path / "figure.svg").read_text()
    assert "support vectors, %" in svg
    assert "error, %" in svg
    assert "SVM: no scores at 1 of 3" in svg
    assert "no data: 404" in svg


# ------------------------------------------------------------------------------------------- support vectors


SUPPORT = {
    "type": "support",
    "caption": "What machines keep",
    "datasets": ["stretched"],
    "models": {"svm": Head("SVM"), "lasso": Head("L1")},
    "runs": [("stretched", "svm"), ("stretched", "lasso")],
    "stored": {
        "svm": Stored("cv", ["sklearn.svm.SVC", "sklearn.preprocessing.StandardScaler"]),
        "lasso": Stored("dcs_kde", ["sklearn.svm.LinearSVC"]),
    },
    "protocols": {"stretched": {"trials": 2, "train": 60, "test": 40, "inner": {"folds": 2, "used": 2}}},
}


@pytest.fixture
def machines(tmp_path, catalog):
    """Two models fitted to the training rows of the first of two trials, and what they were fitted to."""
    data = prepare("stretched", catalog["stretched"])
    parts = protocol(SUPPORT["protocols"]["stretched"]).draw(data.y, seed=0)
    save_dataset(tmp_path / "scaled.npz", data)
    save_folds(tmp_path / "folds.npz", parts)
    rows = parts[0] > 0
    fitted = {
        "svm": make_pipeline(StandardScaler(with_std=False), SVC(kernel="linear")),
        "lasso": LinearSVC(),
    }
    for name, machine in fitted.items():
        machine.fit(data.X[rows], data.y[rows])
        file = tmp_path / "models" / name / f"{SUPPORT['stored'][name].criterion}.skops"
        file.parent.mkdir(parents=True)
        skops.io.dump(machine, file)
        file.with_suffix(".json").write_text(json.dumps({"format": "skops", "types": []}))
        (tmp_path / f"{name}.json").write_text(json.dumps({"success": True, "status": "ok", "error": ""}))
    shared = [tmp_path / "scaled.npz", tmp_path / "folds.npz"]
    sources = [path for name in fitted for path in (*shared, tmp_path / "models" / name)]
    return fitted["svm"], data.X[rows], sources, [tmp_path / "svm.json", tmp_path / "lasso.json"]


def test_a_figure_of_support_vectors_shows_the_stored_machine_among_its_training_rows(tmp_path, machines):
    svm, X, sources, records = machines
    table = drawn(tmp_path, SUPPORT, sources, records)
    mine = table[table["model"] == "svm"]
    kept = mine.loc[mine["series"].str.startswith("support vectors"), ["x", "y"]].to_numpy()
    others = mine.loc[mine["series"].str.startswith("rows"), ["x", "y"]].to_numpy()
    assert_allclose(np.sort(kept, axis=0), np.sort(X[svm[-1].support_], axis=0), rtol=1e-5)
    assert len(kept) + len(others) == 60
    margins = mine.loc[mine["series"].str.startswith("margins"), ["x", "y"]].to_numpy()
    assert_allclose(np.abs(svm.decision_function(margins)), 1, atol=1e-4)
    assert reasons(table) == [
        "stretched, lasso: failed: TypeError: LinearSVC has no support_ or no decision_function; "
        "accepted: classifiers with both, or a pipeline or search that ends in one"
    ]
    assert f"{len(kept)} of 60 rows" in (tmp_path / "figure.svg").read_text()


def test_support_vectors_of_what_is_not_there_say_why(tmp_path, machines):
    *_, sources, records = machines
    records[0].write_text(json.dumps({"success": False, "status": "no data", "error": "404"}))
    (tmp_path / "models" / "lasso" / "dcs_kde.skops").unlink()
    (tmp_path / "models" / "lasso" / "dcs_kde.json").write_text(json.dumps({"error": "nothing was chosen"}))
    table = drawn(tmp_path, SUPPORT, sources, records)
    assert reasons(table) == ["stretched, svm: no data: 404", "stretched, lasso: nothing was chosen"]


# --------------------------------------------------------------------------------------------- projections


PCA_OF_RINGS = {
    "estimator": "sklearn.decomposition.PCA",
    "params": {"n_components": 2, "whiten": True},
    "steps": [{"estimator": "sklearn.preprocessing.StandardScaler"}],
}
PROJECTIONS = {
    "type": "projections",
    "caption": "Planes of rings & <others>",
    "datasets": ["rings"],
    "models": {"pca": Head("PCA", "white"), "lda": Head("LDA")},
    "learners": {
        ("rings", "pca"): PCA_OF_RINGS,
        ("rings", "lda"): {
            "estimator": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
            "params": {},
            "steps": [],
        },
    },
    "seed": 3,
}


@pytest.fixture
def projections(tmp_path, rings):
    save_dataset(tmp_path / "rings.npz", rings)
    return drawn(tmp_path, PROJECTIONS, [tmp_path / "rings.npz"])


def test_projections_are_fitted_to_all_rows_and_the_csv_holds_every_row_and_contour(projections, rings):
    plane = make_pipeline(StandardScaler(), PCA(2, whiten=True)).fit_transform(rings.X)
    mine = projections[projections["model"] == "pca"]
    rows = mine.dropna(subset="row").astype({"row": int}).set_index("row").sort_index()
    assert_allclose(rows[["x", "y"]], plane, rtol=1e-5, atol=1e-8)
    assert (rows["series"] == [f"rows of {rings.classes[code]}" for code in rings.y]).all()
    for c, label in enumerate(rings.classes):
        lines = mine[mine["series"].str.endswith(f" of {label}") & mine["row"].isna()]
        twin = plane_density(plane[rings.y == c])
        masses = np.unique([twin.height_around(mass) for mass in (0.25, 0.5, 0.75)])
        heights = gaussian_kde(plane[rings.y == c].T, "silverman")(lines[["x", "y"]].to_numpy().T)
        assert np.abs(heights[:, None] / masses - 1).min(axis=1).max() < 0.1


def test_a_projection_that_fails_is_said_in_its_panel(tmp_path, projections):
    assert reasons(projections) == [
        "rings, lda: failed: ValueError: LinearDiscriminantAnalysis maps to rows of shape (1,); "
        "accepted: transformers with two components"
    ]
    svg = (tmp_path / "figure.svg").read_text()
    assert ">PCA white<" in svg
    assert "component 1" in svg


def test_models_of_one_label_are_two_panels(tmp_path, projections):
    spec = PROJECTIONS | {"models": dict.fromkeys(PROJECTIONS["models"], Head("Map"))}
    drawn(tmp_path, spec, [tmp_path / "rings.npz"])
    svg = (tmp_path / "figure.svg").read_text()
    assert (svg.count(">Map<"), svg.count(">Map (lda)<")) == (1, 1)


def test_a_page_to_hover_over_tells_the_features_before_they_were_scaled(tmp_path, projections, catalog):
    data = prepare("rings", catalog["rings"])
    save_dataset(tmp_path / "prepared.npz", data)
    paths = (tmp_path / "figure.csv", [tmp_path / "prepared.npz"], tmp_path / "figure.html")
    make_page_to_hover(FIGURE_TYPES["projections"], figure_spec(**PROJECTIONS), *paths)
    page = (tmp_path / "figure.html").read_text(encoding="utf-8")
    for row in (0, 7):
        name, value = data.feature_names[1], data.X[row, 1]
        told = rf"row {row}<br>class {data.classes[data.y[row]]}<br>[^\"]*{name} = {value:.4g}"
        assert re.search(told.replace("<br>", r"\\u003cbr\\u003e"), page)
    assert "LinearDiscriminantAnalysis maps to" in page
    assert "<title>Planes of rings &amp; &lt;others&gt;</title>" in page


def test_classes_of_different_data_sets_are_called_alike_in_the_one_legend(tmp_path, rings):
    """Three classes of iris, of which the legend has to have all, after the two of the rings."""
    iris = load_iris()
    part = np.zeros(len(iris.target), dtype=np.int8)
    names = [f"x{k}" for k in range(4)]
    three = Dataset(iris.data, iris.target, names, "multiclass", list(iris.target_names), part)
    for name, data in (("rings", rings), ("iris", three)):
        save_dataset(tmp_path / f"{name}.npz", data)
    learners = {(dataset, "pca"): PCA_OF_RINGS for dataset in ("rings", "iris")}
    spec = PROJECTIONS | {"datasets": ["rings", "iris"], "learners": learners}
    table = drawn(tmp_path, spec, [tmp_path / "rings.npz", tmp_path / "iris.npz"])
    svg = (tmp_path / "figure.svg").read_text()
    assert [svg.count(f">class {k}<") for k in (1, 2, 3)] == [1, 1, 1]
    assert "rows of setosa" in set(table["series"])
    assert ">iris, PCA white<" in svg


def test_projections_of_data_that_cannot_be_had_say_so(tmp_path):
    for name in ("scaled", "prepared"):
        with recording_unavailability(tmp_path / f"{name}.npz"):
            raise DataUnavailable("rings: 404")
    table = drawn(tmp_path, PROJECTIONS, [tmp_path / "scaled.npz"])
    assert reasons(table) == ["rings, pca: no data: rings: 404", "rings, lda: no data: rings: 404"]
    paths = (tmp_path / "figure.csv", [tmp_path / "prepared.npz"], tmp_path / "figure.html")
    make_page_to_hover(FIGURE_TYPES["projections"], figure_spec(**PROJECTIONS), *paths)
    assert "no data: rings: 404" in (tmp_path / "figure.html").read_text(encoding="utf-8")
