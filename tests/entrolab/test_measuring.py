"""What tables measure for themselves: naive twins, laws, and rows for what fails."""

import math
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, spearmanr
from sklearn.base import BaseEstimator
from sklearn.covariance import ledoit_wolf
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import confusion_matrix, matthews_corrcoef, mutual_info_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier

from entrolab.data.dataset import Dataset, DataUnavailable, recording_unavailability, save_dataset
from entrolab.experiments import generated
from entrolab.experiments.base import with_params
from entrolab.experiments.capacity import measure as capacity
from entrolab.experiments.correlations import measure as correlations
from entrolab.experiments.correlations.table import Reading
from entrolab.experiments.density import measure as density
from entrolab.experiments.evaluations import measure as evaluations
from entrolab.experiments.growth import measure as growth
from entrolab.experiments.growth.table import At
from entrolab.experiments.information import measure as information
from entrolab.experiments.information.table import MEASURES
from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import COLUMNS, frame, measure, of_each_model, quickest
from entrolab.experiments.separability import measure as separability
from entrolab.experiments.separability.table import LEARNT
from entrolab.experiments.starts import measure as starts
from entrolab.fit.learners import parts_seed, seed_from
from entrolab.fit.limits import KilledError
from entrolab.fit.protocols import Folds
from entrolab.study.definition import Model
from entrolab.study.entries import WithParams
from entrolearn.machines.layers import RandomLayer
from entrolearn.machines.moments import ClassMoments
from entrolearn.measures import cauchy_schwarz_gaussian
from entrolearn.metrics import separability_scores

READING = Reading(activation="rbf", weights="normal", formula="right", data="scaled", centres="means")


def dataset(n=60, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.uniform(size=(n, n_features)) * (1 + 0.5 * y[:, None]) + 0.2 * y[:, None]
    names = [f"x{i}" for i in range(n_features)]
    return Dataset(X, y, names, "binary", ["0", "1"], np.zeros(n, dtype=np.int8))


def spec(**changes):
    asked = {
        "study": "paper",
        "table": "table1",
        "dataset": "data",
        "measured_by": "entrolab.experiments.correlations.measure",
        "seed": 0,
        "sizes": [1, 4],
        "layers": 6,
        "operators": 5,
        "reading": READING,
        "readings": [],
    }
    return Measurement(**asked | changes)


def quietly(done, total):
    assert done <= total


def measured(data, **changes):
    return correlations.measure(lambda which: data, spec(**changes), quietly)


def values(rows):
    return {(row["metric"], row["reading"]): row["value"] for row in rows}


# --- correlations ----------------------------------------------------------------------------------------


def test_terms_add_up_to_the_divergence_of_two_gaussians():
    """Against entrolearn.measures, the covariances against scikit-learn's Ledoit-Wolf."""
    rng = np.random.default_rng(1)
    H = [rng.normal(size=(40, 4)), rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4)) + 1]
    operators = rng.normal(size=(3, 4))
    logarithm, distance = correlations.terms_of_divergence(map(ClassMoments.from_data, H), operators)
    for k, b in enumerate(operators):
        gaussians = [number for rows in H for number in (b @ rows.mean(axis=0), b @ ledoit_wolf(rows)[0] @ b)]
        assert logarithm[k] + distance[k] == pytest.approx(cauchy_schwarz_gaussian(*gaussians))
        variances = gaussians[1] + gaussians[3]
        assert distance[k] == pytest.approx((gaussians[0] - gaussians[2]) ** 2 / variances)


def test_correlation_equals_the_naive_one_of_every_projected_row():
    """A twin that forms hidden rows and projects them one layer and one operator at a time."""
    data = dataset()
    operators = np.random.RandomState(5).normal(size=(7, 4))
    terms, whole, part = [], [], []
    for seed in range(3):
        layer = RandomLayer.draw(3, 4, "rbf", np.random.RandomState(seed))
        H = [layer(data.X[data.y == label]) for label in (0, 1)]
        terms.append(correlations.terms_of_divergence(map(ClassMoments.from_data, H), operators))
        for b in operators:
            (m0, s0), (m1, s1) = ((b @ rows.mean(axis=0), b @ ledoit_wolf(rows)[0] @ b) for rows in H)
            part.append((m0 - m1) ** 2 / (s0 + s1))
            whole.append(part[-1] + math.log((s0 + s1) / 2 / math.sqrt(s0 * s1)))
    logarithm, distance = np.moveaxis(terms, 1, 0)
    expected = spearmanr(whole, part).statistic
    assert correlations.rank_correlation(logarithm, distance, 1) == pytest.approx(expected)


def test_sums_of_classes_are_compared_as_projected_rows_are_added_up():
    """Against the rows themselves; and of classes of n rows each, n² times the distance of means."""
    rng = np.random.default_rng(3)
    H = [rng.normal(size=(40, 4)), rng.normal(size=(30, 4)) + 1]
    operators = rng.normal(size=(3, 4))
    moments = [ClassMoments.from_data(rows) for rows in H]
    logarithm, distance = correlations.terms_of_divergence(moments, operators, "sums")
    np.testing.assert_allclose(logarithm, correlations.terms_of_divergence(moments, operators)[0])
    for k, b in enumerate(operators):
        sums, variances = zip(*(((rows @ b).sum(), b @ ledoit_wolf(rows)[0] @ b) for rows in H), strict=True)
        assert distance[k] == pytest.approx((sums[0] - sums[1]) ** 2 / sum(variances))
    equal = [ClassMoments.from_data(rows[:30]) for rows in H]
    of_sums, of_means = (
        correlations.terms_of_divergence(equal, operators, one)[1] for one in ("sums", "means")
    )
    np.testing.assert_allclose(of_sums, 30**2 * of_means)


def test_a_smaller_layer_is_the_leading_part_of_a_larger_one():
    data = dataset()
    alone, beside = values(measured(data, sizes=[1])), values(measured(data, sizes=[1, 4]))
    # Sums are rounded otherwise, and with one unit all operators of a layer tie but for rounding.
    assert beside["spearman_h1", ""] == pytest.approx(alone["spearman_h1", ""], abs=0.05)
    assert beside.keys() == {("spearman_h1", ""), ("spearman_h4", "")}


@pytest.mark.parametrize("centres", ["means", "sums"])
def test_a_reading_measured_beside_is_what_it_is_as_the_tables_own(centres):
    data = dataset()
    other = Reading(
        activation="sigmoid", weights="uniform", formula="published", data="scaled", centres=centres
    )
    name = "sigmoid units, uniform operators, eq. (3) as published, scaled data"
    name += ", class sums" if centres == "sums" else ""
    beside, own = values(measured(data, readings=[other])), values(measured(data, reading=other))
    for metric in ("spearman_h1", "spearman_h4"):
        assert beside[metric, name] == own[metric, ""]


def test_the_printed_sign_subtracts_the_logarithm():
    logarithm, distance = np.random.default_rng(0).uniform(size=(2, 4, 5))
    expected = spearmanr((distance - logarithm).ravel(), distance.ravel()).statistic
    assert correlations.rank_correlation(logarithm, distance, -1) == pytest.approx(expected)


def test_raw_data_are_asked_for_by_their_name():
    asked = []

    def load(which):
        asked.append(which)
        return dataset()

    correlations.measure(load, spec(readings=[READING.model_copy(update={"data": "raw"})]), quietly)
    assert asked == ["scaled", "raw"]


def test_jackknife_of_independent_layers_is_the_error_of_the_correlation():
    """Pearson's r of n bivariate normal pairs has the error (1 - r²)/√(n-1); Spearman's is close to it."""
    rng = np.random.default_rng(0)
    n = 400
    first, noise = rng.normal(size=(2, n, 1))
    part, whole = norm.cdf(first), norm.cdf((first + noise) / math.sqrt(2))
    error = correlations.jackknife_error(whole - part, part, 1)
    assert error == pytest.approx((1 - 0.5) / math.sqrt(n - 1), rel=0.25)


def test_projections_without_variance_are_a_row_with_the_reason():
    data = dataset()
    constant = Dataset(np.ones_like(data.X), data.y, data.feature_names, "binary", data.classes, data.part)
    rows = measured(constant)
    assert {row["status"] for row in rows} == {"failed"}
    assert rows[0]["error"] == "30 of 30 projections have no variance"


# --- growth ----------------------------------------------------------------------------------------------


def growing(**changes):
    logistic = {"estimator": "sklearn.linear_model.LogisticRegression", "steps": [], "params": {}, "size": ""}
    elm = {"estimator": "entrolearn.WELMClassifier", "steps": [], "size": "n_hidden"}
    elm["params"] = {"feature_range": None}
    lssvm = {"estimator": "entrolearn.LSSVC", "steps": [], "params": {"gamma": 1}, "size": ""}
    models = {"logistic": logistic, "elm": elm, "lssvm": lssvm}
    asked = {
        "measured_by": "entrolab.experiments.growth.measure",
        "sizes": [10, 20, 40],
        "at": At(rows=200, size=20),
        "repeats": 1,
        "models": {name: {**model, "rows": [50, 100, 200]} for name, model in models.items()},
    }
    return spec(**asked | changes)


def test_exponent_of_a_power_law_is_found_and_its_error_too():
    sizes = np.array([1, 2, 4, 8, 16])
    assert growth.exponent(sizes, 3 * sizes**2.34) == (pytest.approx(2.34), pytest.approx(0, abs=1e-6))
    noisy = sizes**1.5 * np.exp([0.1, -0.1, 0.1, -0.1, 0.1])
    slope, error = growth.exponent(sizes, noisy)
    x = np.log(sizes) - np.log(sizes).mean()
    residuals = np.log(noisy) - np.log(noisy).mean() - slope * x
    assert error == pytest.approx(math.sqrt(residuals @ residuals / 3 / (x @ x)))


def test_stored_numbers_grow_as_the_models_do():
    """hd for an ELM, (N + 1)d for an LS-SVM that keeps its rows, d for a linear machine."""
    rows = growth.measure(lambda which: dataset(200), growing(), quietly)
    found = {(row["model"], row["metric"]): row.get("value") for row in rows if not row.get("reading")}
    assert found["elm", "numbers_by_size"] == pytest.approx(1, abs=0.05)
    assert found["elm", "numbers_by_rows"] == 0
    assert found["lssvm", "numbers_by_rows"] == pytest.approx(1, abs=0.05)
    assert found["logistic", "numbers_by_rows"] == 0
    assert ("lssvm", "numbers_by_size") not in found
    points = {row["reading"] for row in rows if row["model"] == "elm" and row.get("reading")}
    assert points == {
        "N = 50, h = 20",
        "N = 100, h = 20",
        "N = 200, h = 20",
        "N = 200, h = 10",
        "N = 200, h = 40",
    }


def test_more_rows_than_there_are_fail_the_model_that_asks_for_them():
    rows = growth.measure(lambda which: dataset(150), growing(), quietly)
    assert [(row["model"], row["status"]) for row in rows] == [
        ("logistic", "failed"),
        ("elm", "failed"),
        ("lssvm", "failed"),
    ]
    assert "asks for 200 rows, the data set has 150" in rows[0]["error"]


# --- starts ----------------------------------------------------------------------------------------------


class Climber(BaseEstimator):
    """An optimizer whose start is all that decides: a value by its seed, a failure now and then."""

    def __init__(self, n_init=5, random_state=None, scale=1.0, failing=0.0):
        self.n_init = n_init
        self.random_state = random_state
        self.scale = scale
        self.failing = failing

    def fit(self, X, y):
        draws = np.random.RandomState(self.random_state).uniform(size=2)
        if draws[1] < self.failing:
            raise np.linalg.LinAlgError("singular")
        self.objective_ = self.scale * draws[0] + 0 * X.mean()
        self.n_evaluations_ = 10 * self.n_init
        return self


@pytest.fixture
def climber(monkeypatch):
    """Its import path, as a study would name it."""
    monkeypatch.setitem(sys.modules, "climbers", SimpleNamespace(Climber=Climber))
    return {"estimator": "climbers.Climber", "steps": [], "params": {}, "starts": 40}


def starting(**models):
    return spec(measured_by="entrolab.experiments.starts.measure", some=16, enough=95.0, models=models)


def started(**models):
    return starts.measure(lambda which: dataset(), starting(**models), quietly)


def test_each_start_is_alone_and_has_a_seed_of_its_own_that_models_share(climber):
    scaler = {"estimator": "sklearn.preprocessing.StandardScaler"}
    rows = started(one=climber, other=climber | {"steps": [scaler], "params": {"scale": 2.0}})
    one, other = (starts.starts_of(frame(rows), name) for name in ("one", "other"))
    assert one["start"].tolist() == list(range(1, 41))
    assert one["objective"].nunique() == 40
    np.testing.assert_allclose(other["objective"], 2 * one["objective"])
    assert set(one["evaluations"]) == {10}
    assert (one["seconds"] >= 0).all()
    assert starts.starts_of(frame(started(one=climber)), "one")["objective"].equals(one["objective"])


def test_starts_are_summed_up_relative_to_the_best_of_all_models(climber):
    rows = started(one=climber, other=climber | {"params": {"scale": 2.0}, "starts": 16})
    found = {(row["model"], row["metric"]): row["value"] for row in rows if not row.get("reading")}
    values = {name: starts.starts_of(frame(rows), name)["objective"] for name in ("one", "other")}
    best = values["other"].max()
    assert found["one", "best"] == values["one"].max()
    assert found["other", "expected"] == pytest.approx(100)  # the best of all sixteen
    draws = np.random.default_rng(0).permuted(np.tile(values["one"], (20_000, 1)), axis=1)[:, :16].max(axis=1)
    error = 100 * draws.std() / best / math.sqrt(len(draws))
    assert found["one", "expected"] == pytest.approx(100 * draws.mean() / best, abs=5 * error)
    assert found["other", "near"] == pytest.approx(100 * np.mean(values["other"] >= 0.95 * best))
    assert found["one", "evaluations"] == 10


def test_starts_that_fail_are_rows_and_so_are_models_that_have_too_few_left(climber):
    rows = started(
        some=climber | {"params": {"failing": 0.2}},
        most=climber | {"params": {"failing": 0.9}},
        none=climber | {"params": {"slope": 1}},
    )
    some = starts.starts_of(frame(rows), "some")
    failed = some["error"] != ""
    assert 0 < failed.sum() < 24
    assert some.loc[failed, "objective"].isna().all()
    assert set(some.loc[failed, "error"]) == {"LinAlgError: singular"}
    near = next(row["value"] for row in rows if (row["model"], row.get("metric")) == ("some", "near"))
    assert near == 100 * np.mean(some["objective"] >= 0.95 * some["objective"].max())  # a failed one is not
    statuses = {row["model"]: row["error"] for row in rows if row.get("status") and not row.get("reading")}
    assert "starts succeeded, fewer than 16: LinAlgError: singular" in statuses["most"]
    assert "unexpected keyword argument 'slope'" in statuses["none"]
    assert frame(rows)["value"].notna().sum() > 0


# --- from files to a file --------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    for name in ("raw", "scaled"):
        save_dataset(tmp_path / f"{name}.npz", dataset())
    return [tmp_path / f"{name}.npz" for name in ("raw", "scaled")]


def test_a_measurement_is_a_file_of_rows(files, tmp_path):
    output = tmp_path / "measured" / "table1" / "data.parquet"
    measure(*files, output, spec(), quietly)
    rows = pd.read_parquet(output)
    assert list(rows.columns) == list(COLUMNS)
    assert rows["metric"].tolist() == ["spearman_h1", "spearman_h4"]
    assert rows["value"].between(-1, 1).all()


def test_the_same_names_and_seed_measure_the_same(files, tmp_path):
    outputs = [tmp_path / name for name in ("one.parquet", "two.parquet", "three.parquet")]
    for output, seed in zip(outputs, (0, 0, 1), strict=True):
        measure(*files, output, spec(seed=seed), quietly)
    one, two, three = map(pd.read_parquet, outputs)
    pd.testing.assert_frame_equal(one, two)
    assert not one.equals(three)


def test_absent_data_and_failures_are_rows(files, tmp_path):
    with recording_unavailability(files[1]):
        raise DataUnavailable("data: 404")
    measure(*files, tmp_path / "absent.parquet", spec(), quietly)
    rows = pd.read_parquet(tmp_path / "absent.parquet")
    assert rows[["status", "error"]].to_numpy().tolist() == [["no data", "data: 404"]]

    broken = spec(reading=READING.model_copy(update={"data": "raw", "activation": "tanh"}))
    measure(*files, tmp_path / "broken.parquet", broken, quietly)
    rows = pd.read_parquet(tmp_path / "broken.parquet")
    assert rows["status"].tolist() == ["failed"]
    assert "tanh" in rows["error"][0]


def test_parameters_of_a_table_replace_those_of_its_models():
    study = SimpleNamespace(models={"svm": Model(estimator="a.SVM", params={"C": 1, "tol": 2})})
    found = with_params({"svm": WithParams(params={"C": 5})}, study, "binary")
    assert found == {"svm": {"estimator": "a.SVM", "params": {"C": 5, "tol": 2}, "steps": []}}
    assert study.models["svm"].params["C"] == 1


def test_a_killed_process_fails_the_job_and_no_model():
    def killed(name, model):
        raise KilledError("SIGKILL")

    with pytest.raises(KilledError):
        of_each_model(killed, spec(models={"svm": {}}))


def test_the_quickest_of_several_calls_counts(monkeypatch):
    clock = iter([0.0, 5.0, 10.0, 12.0, 20.0, 29.0])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    assert quickest(max, 3, 4, repeats=3) == (2.0, 4)


# --- generated data --------------------------------------------------------------------------------------


RIDGE = {"estimator": "sklearn.linear_model.RidgeClassifier", "steps": [], "params": {}}
BROKEN = {"estimator": "sklearn.linear_model.RidgeClassifier", "steps": [], "params": {"alpha": -1}}


def generating(**changes):
    shared = {"rows": 20, "task": "binary", "repeats": 2, "gib": 4}
    return spec(**shared | {"models": {"ridge": RIDGE, "broken": BROKEN}} | changes)


def never(which):
    raise AssertionError("generated data ask for no data set")


def test_sparse_rows_have_the_density_that_is_asked_for_and_no_place_twice():
    X = generated.sparse_rows(30, 200, 0.1, np.random.default_rng(0))
    assert X.shape == (30, 200)
    assert np.diff(X.indptr).tolist() == [20] * 30
    assert X.has_canonical_format
    assert {X.indices.min(), X.indices.max()} <= set(range(200))
    # 600 places among 200 columns: each column expects 3
    assert np.bincount(X.indices, minlength=200).std() < 3
    assert generated.sparse_gib(30, 200, 0.1) * 2**30 == pytest.approx(X.data.nbytes + X.indices.nbytes)


def test_densities_are_measured_point_by_point_and_what_fails_says_why():
    rows = density.measure(never, generating(dims=[10, 50], densities=[0.2, 1.0]), quietly)
    seconds = [row for row in rows if row["model"] == "ridge"]
    assert [row["reading"] for row in seconds] == [
        "d10_density0.2",
        "d10_density1",
        "d50_density0.2",
        "d50_density1",
    ]
    assert all(row["value"] > 0 for row in seconds)
    assert {row["status"] for row in rows if row["model"] == "broken"} == {"failed"}


def test_data_that_would_not_fit_are_not_made():
    (row,) = density.measure(never, generating(dims=[10**9], densities=[0.5], rows=1000), quietly)
    assert row["reading"] == "d1000000000_density0.5"
    assert "the data alone take 5.6e+03 GiB, more than the 4 GiB allowed" in row["error"]


def test_capacity_is_seconds_and_memory_of_a_process_of_its_own():
    hungry = {"estimator": "sklearn.linear_model.Ridge", "steps": [], "params": {}}
    rows = capacity.measure(
        never, generating(rows=200_000, features=50, task="regression", models={"ridge": hungry}), quietly
    )
    found = {row["metric"]: row["value"] for row in rows}
    assert found.keys() == {"fit_seconds", "predict_seconds", "peak_mib"}
    assert found["fit_seconds"] > 0
    # Ridge centres a copy of the data, 200,000 x 50 numbers of 8 bytes: 76 MiB, more than malloc serves from
    # what was freed before
    assert 70 < found["peak_mib"] < 200


def test_what_takes_long_is_not_repeated(monkeypatch):
    monkeypatch.setattr(generated, "LONG", 0)
    monkeypatch.setattr(generated, "SECONDS", 20)
    rows = density.measure(
        never, generating(dims=[10], densities=[1.0], repeats=10**9, models={"ridge": RIDGE}), quietly
    )
    assert [row.get("metric") for row in rows] == ["fit_seconds"]


# --- separability ----------------------------------------------------------------------------------------

PROJECTIONS = {
    "lda": {"steps": [{"estimator": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis"}], "grid": {}},
    "pca": {
        "steps": [{"estimator": "sklearn.decomposition.PCA", "params": {"n_components": 2}}],
        "grid": {"step1__n_components": [1, 2]},
    },
}


@pytest.fixture
def quick(monkeypatch):
    """One classifier that takes little time, in the place of the three."""
    classifiers = {"knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]})}
    scores = partial(separability_scores, classifiers=classifiers)
    monkeypatch.setattr(separability, "separability_scores", scores)
    return scores


def separated(data, **changes):
    asked = {"models": PROJECTIONS, "subsets": 2, "share": 0.75, **changes}
    return separability.measure(lambda which: data, spec(**asked), quietly)


def test_separability_is_that_of_subsets_of_rows_that_were_projected_together(quick):
    """Naive twin: the projection of all rows, then each subset by itself."""
    data = dataset(n=80)
    found = {(row["model"], row["reading"]): row for row in separated(data)}
    assert list(found) == [
        *(("lda", reading) for reading in ("", LEARNT)),
        *(("pca", reading) for reading in ("", LEARNT, "n_components = 1")),
    ]
    seed = seed_from(0, "paper", "table1", "data")
    subsets = list(separability.subsets_of(data.y, 2, 0.75, seed))
    for key, projection in {
        ("lda", ""): LinearDiscriminantAnalysis(),
        ("pca", ""): PCA(2, random_state=seed),
        ("pca", "n_components = 1"): PCA(1, random_state=seed),
    }.items():
        Z = projection.fit_transform(data.X, data.y)
        parts = [quick(Z[rows], data.y[rows], random_state=k)["knn"] for k, rows in enumerate(subsets)]
        unseen, learnt = np.transpose(parts)
        assert found[key]["value"] == pytest.approx(np.mean(unseen))
        assert found[key]["std"] == pytest.approx(np.std(unseen, ddof=1))
        if not key[1]:
            assert found[key[0], LEARNT]["value"] == pytest.approx(np.mean(learnt))


def test_subsets_hold_the_same_share_of_each_class_and_more_of_them_leave_the_first_alone():
    y = np.array([0] * 40 + [1] * 8)
    few, more = (list(separability.subsets_of(y, n, 0.75, seed=3)) for n in (2, 5))
    for rows in more:
        assert np.bincount(y[rows]).tolist() == [30, 6]
        assert (np.diff(rows) > 0).all()
    assert all(np.array_equal(*pair) for pair in zip(few, more, strict=False))
    assert len({tuple(rows) for rows in more}) == 5


def test_a_projection_that_fails_is_a_row_with_the_reason_and_takes_no_other_with_it(quick):
    failing = {
        "steps": [{"estimator": "sklearn.decomposition.PCA", "params": {"n_components": -1}}],
        "grid": {},
    }
    rows = separated(dataset(n=80), models={"bad": failing, "lda": PROJECTIONS["lda"]}, subsets=1)
    statuses = [(row["model"], row.get("status", "ok")) for row in rows]
    assert statuses == [("bad", "failed"), *2 * [("lda", "ok")]]
    assert "'n_components' parameter" in rows[0]["error"]
    assert math.isnan(rows[1]["std"])


# --- information -----------------------------------------------------------------------------------------

CLASSIFIERS = {
    "logistic": {"estimator": "sklearn.linear_model.LogisticRegression", "params": {"C": 2.0}, "steps": []},
    "ridge": {"estimator": "sklearn.linear_model.RidgeClassifier", "params": {}, "steps": []},
    "nearest": {"estimator": "sklearn.neighbors.NearestCentroid", "params": {}, "steps": []},
}
FOLDS = {"folds": 4, "repeats": 1}


def informed(data, reject=(0, 0.2), **changes):
    asked = {"models": CLASSIFIERS, "reject": reject, "protocol": FOLDS, **changes}
    rows = information.measure(lambda which: data, spec(**asked), quietly)
    return {(row["model"], row.get("metric", "")): row for row in rows}


def test_information_is_that_of_the_first_test_rows_with_the_least_certain_ones_rejected():
    """Naive twin: the confusion matrix of a fit on the other folds, by scikit-learn's functions."""
    data = dataset(n=120)
    found = informed(data)
    part = Folds(4, 1).draw(data.y, parts_seed(0, "paper", "data"))[0]
    for name, machine in (("logistic", LogisticRegression(C=2.0)), ("ridge", RidgeClassifier())):
        machine.fit(data.X[part > 0], data.y[part > 0])
        X, y = data.X[part == 0], data.y[part == 0]
        said, far = machine.predict(X), np.abs(machine.decision_function(X))
        assert found[name, "mutual_information"]["value"] == pytest.approx(
            mutual_info_score(y, said) / np.log(2)
        )
        assert found[name, "accuracy"]["value"] == pytest.approx(np.trace(confusion_matrix(y, said)) / len(y))
        kept = far > np.sort(far)[5]  # 6 of 30 rows are rejected
        rejected = f"{name}_reject_0.2"
        assert found[rejected, "reject_rate"]["value"] == pytest.approx(0.2)
        assert found[rejected, "mcc"]["value"] == pytest.approx(matthews_corrcoef(y[kept], said[kept]))
        three = np.where(kept, said, 2)
        assert found[rejected, "mutual_information"]["value"] == pytest.approx(
            mutual_info_score(y, three) / np.log(2)
        )
        assert found[rejected, "cross_entropy_pred_true"]["value"] == math.inf
        assert {*MEASURES} <= {metric for model, metric in found if model == name}


def test_a_share_that_rejects_all_rows_leaves_the_other_shares():
    found = informed(dataset(n=120), reject=(0, 0.99))
    assert found["logistic", "mcc"]["value"] > 0
    assert math.isnan(found["logistic_reject_0.99", "mcc"]["value"])
    assert found["logistic_reject_0.99", "reject_rate"]["value"] == 1


def test_what_a_classifier_is_not_certain_of_is_not_rejected_and_a_failure_takes_no_other_with_it():
    bad = {"estimator": "sklearn.linear_model.LogisticRegression", "params": {"C": -1}, "steps": []}
    found = informed(dataset(), models={"bad": bad, "nearest": CLASSIFIERS["nearest"]})
    assert found["nearest", "accuracy"]["value"] > 0.5
    assert "'C' parameter" in found["bad", ""]["error"]
    assert found["bad_reject_0.2", ""]["status"] == "failed"


@pytest.mark.parametrize("n_classes", [2, 4])
def test_certainty_is_a_probability_or_how_far_the_next_class_is(n_classes):
    X = dataset(n=40).X
    y = np.arange(40) % n_classes
    probable, far = LogisticRegression().fit(X, y), RidgeClassifier().fit(X, y)
    np.testing.assert_allclose(information.certainty(probable, X), probable.predict_proba(X).max(axis=1))
    decision = far.decision_function(X)
    expected = np.abs(decision) if n_classes == 2 else [a - b for *_, b, a in np.sort(decision, axis=1)]
    np.testing.assert_allclose(information.certainty(far, X), expected)
    assert information.certainty(PCA().fit(X), X) is None


# --- evaluations -----------------------------------------------------------------------------------------


METRICS = ("seconds", "value_error", "gradient_error")
EVALUATIONS = {
    "rows": [60, 400],
    "features": 5,
    "components": 2,
    "ways": ["exact_float32", "binned"],
    "exact_up_to": 100,
    "repeats": 1,
}


def test_two_mixtures_have_the_rows_that_are_asked_for_around_centres_of_their_own():
    negative, positive = evaluations.two_mixtures(2001, 4, np.random.default_rng(0))
    assert (negative.shape, positive.shape) == ((1001, 4), (1000, 4))
    for rows in (negative, positive):
        # The variance around three centres is one; around a single mean it is more.
        within = GaussianMixture(3, covariance_type="spherical", random_state=0, n_init=5).fit(rows)
        np.testing.assert_allclose(within.covariances_, 1, atol=0.15)
        assert rows.var(axis=0).mean() > 1.5


def test_evaluations_measure_seconds_of_every_way_and_errors_where_something_is_exact():
    rows = evaluations.measure(never, spec(**EVALUATIONS), quietly)
    found = {(row["reading"], row["model"], row["metric"]): row["value"] for row in rows}
    assert found.keys() == {
        *(("n60", way, metric) for way in EVALUATIONS["ways"] for metric in METRICS),
        ("n400", "binned", "seconds"),
    }
    assert 0 < found["n60", "exact_float32", "value_error"] < 1e-4
    assert found["n60", "binned", "gradient_error"] < 0.05
    assert all(value >= 0 for value in found.values())


def test_errors_are_relative_to_what_is_exact():
    exact = (2.0, np.array([[3.0, 4.0]]))
    errors = evaluations.relative_errors((2.5, np.array([[3.0, 4.5]])), exact)
    assert errors == pytest.approx({"value_error": 0.25, "gradient_error": 0.1})
    assert evaluations.relative_errors(exact, exact) == {"value_error": 0, "gradient_error": 0}
