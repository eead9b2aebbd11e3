"""Clusterers beside classes: what a table measures, which models it takes, and how it is shown."""

import time

import numpy as np
import pandas as pd
import pytest
from made_studies import made_study, with_entry
from refused_studies import refused
from scipy.sparse import csr_array
from scipy.special import rel_entr
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, mutual_info_score

from entrolab.data.dataset import Dataset
from entrolab.experiments.clusterings import measure as clusterings
from entrolab.experiments.clusterings.table import CLASSES
from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import frame
from entrolab.study.sections import ConfigError
from entrolab.tables.making import make_table
from entrolab.tables.rendering import render
from entrolab.tables.types import TABLE_TYPES


def dataset(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.uniform(0.1, 1, size=(n, 4)) + 3 * np.eye(3, 4)[y]
    return Dataset(X, y, list("abcd"), "multiclass", ["0", "1", "2"], np.zeros(n, dtype=np.int8))


def model(estimator, **params):
    return {"estimator": estimator, "params": params, "steps": []}


def spec(models, **changes):
    asked = {
        "study": "paper",
        "table": "clusters",
        "dataset": "data",
        "measured_by": "entrolab.experiments.clusterings.measure",
        "seed": 0,
        "measures": ["ari", "ami", "clusters", "divergence", "seconds"],
        "repeats": 3,
        "rows": 1000,
        "seconds": 60,
        "gib": 8,
        "models": models,
    }
    return Measurement(**asked | changes)


def measured(models, data=None, **changes):
    rows = clusterings.measure(
        lambda which: data or dataset(), spec(models, **changes), lambda done, total: None
    )
    return frame(rows).set_index(["model", "metric", "reading"])


class Draws(ClusterMixin, BaseEstimator):
    """As many clusters as its seed says, two to four: rows by turns."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        assert y is None  # the classes are never seen
        self.labels_ = np.arange(len(X)) % (2 + self.random_state % 3)
        return self


class Noisy(ClusterMixin, BaseEstimator):
    """The classes of `dataset`, but for the first six rows, which are noise; or it fails."""

    def __init__(self, fail=False):
        self.fail = fail

    def fit(self, X, y=None):
        if self.fail:
            raise ArithmeticError("no covariance")
        self.labels_ = np.arange(len(X)) % 3
        self.labels_[:6] = -1
        return self


HERE = __name__


@pytest.fixture
def found():
    models = {
        "draws": model(f"{HERE}.Draws"),
        "noisy": model(f"{HERE}.Noisy"),
        "fails": model(f"{HERE}.Noisy", fail=True),
    }
    return measured(models)


def test_a_model_that_draws_has_a_run_for_each_seed_and_their_mean(found):
    runs = found.loc["draws"].loc["clusters"].drop("")["value"]
    assert list(runs.index) == ["run 1", "run 2", "run 3"]
    assert found.loc[("draws", "clusters", ""), "value"] == pytest.approx(runs.mean())
    assert found.loc[("draws", "clusters", ""), "std"] == pytest.approx(runs.std(ddof=1))
    indices = [adjusted_rand_score(dataset().y, np.arange(60) % int(number)) for number in runs]
    assert found.loc[("draws", "ari", ""), "value"] == pytest.approx(np.mean(indices))


def test_a_model_that_does_not_draw_has_one_run_and_no_deviation(found):
    noisy = found.loc["noisy"]
    assert set(noisy.loc["ari"].index) == {"run 1", ""}
    assert np.isnan(noisy.loc[("ari", ""), "std"])
    assert noisy.loc[("seconds", ""), "value"] >= 0


def test_noise_counts_as_a_group_in_the_indices_and_as_no_cluster(found):
    labels = Noisy().fit(dataset().X).labels_
    assert found.loc[("noisy", "clusters", ""), "value"] == 3
    for name, index in (("ari", adjusted_rand_score), ("ami", adjusted_mutual_info_score)):
        assert found.loc[("noisy", name, ""), "value"] == pytest.approx(index(dataset().y, labels))


def test_a_model_that_fails_is_a_row_with_the_reason_and_takes_no_other_with_it(found):
    failed = found.loc["fails"]
    assert failed["status"].tolist() == ["failed"]
    assert failed["error"].tolist() == ["ArithmeticError: no covariance"]


def test_a_model_that_takes_too_long_says_after_how_many_runs():
    class_path = f"{HERE}.Sleeps"
    found = measured({"sleeps": model(class_path)}, seconds=2.0, measures=["ari"])
    (error,) = found.loc["sleeps"]["error"]
    assert error.endswith("time limit of 2 s")
    assert error.startswith("after 1 of 3 runs: ")


class Sleeps(Draws):
    """Its first run is quick, all others take for ever."""

    def fit(self, X, y=None):
        first = clusterings.seed_of(spec({}), "run 1")
        if self.random_state != first:
            time.sleep(60)
        return super().fit(X)


def test_a_large_set_is_clustered_by_a_sample_that_is_the_same_for_all():
    data = dataset(90)
    X, y = clusterings.sample(data, spec({}, rows=20))
    again, _ = clusterings.sample(data, spec({"another": None}, rows=20))
    np.testing.assert_array_equal(X, again)
    assert X.shape == (20, 4)
    assert len(np.unique(X, axis=0)) == 20
    rows = [int(np.flatnonzero((row == data.X).all(axis=1))[0]) for row in X]
    assert rows == sorted(rows)
    np.testing.assert_array_equal(data.y[rows], y)
    assert clusterings.sample(data, spec({}, rows=90))[0] is data.X


def test_whether_a_model_draws_is_asked_of_all_its_parts():
    pinned = model("sklearn.cluster.KMeans", random_state=3)
    assert not clusterings.draws(pinned)
    assert clusterings.draws(model("sklearn.cluster.KMeans"))
    pca = {"estimator": "sklearn.decomposition.PCA", "params": {}}
    assert clusterings.draws({**pinned, "steps": [pca]})
    assert not clusterings.draws(model("sklearn.cluster.HDBSCAN", copy=True))


# --- the divergence --------------------------------------------------------------------------------------


def test_divergences_within_and_between_groups_add_up():
    """Against the sums of the definition, row by row."""
    rng = np.random.default_rng(0)
    X, labels = (
        rng.uniform(size=(40, 5)) * (rng.uniform(size=(40, 5)) < 0.7) + np.eye(40, 5, -3),
        rng.integers(4, size=40),
    )
    X[:, 0] += 0.1
    p = X / X.sum(axis=1, keepdims=True)
    mean = p.mean(axis=0)
    means = np.array([p[labels == group].mean(axis=0) for group in labels])
    whole, within = rel_entr(p, mean).sum(), rel_entr(p, means).sum()
    share = clusterings.DivergenceShare(X)
    assert share(labels) == pytest.approx(1 - within / whole)
    assert share(labels) == pytest.approx(rel_entr(means, mean).sum() / whole)


def test_the_share_is_that_of_the_information_on_the_column_which_the_group_has():
    """Against scikit-learn's mutual information of a table of counts: whole numbers, equal row sums."""
    X = np.random.default_rng(1).multinomial(50, [0.1, 0.2, 0.3, 0.4], size=12)
    labels = np.arange(12) % 3
    by_row = mutual_info_score(None, None, contingency=X)
    by_group = mutual_info_score(
        None, None, contingency=np.array([X[labels == k].sum(axis=0) for k in range(3)])
    )
    assert clusterings.DivergenceShare(X)(labels) == pytest.approx(by_group / by_row)
    assert clusterings.DivergenceShare(csr_array(X))(labels) == pytest.approx(by_group / by_row)


def test_the_share_is_one_of_single_rows_none_of_all_and_does_not_fall_where_groups_are_parted():
    X = np.random.default_rng(2).uniform(size=(30, 6))
    share, coarse = clusterings.DivergenceShare(X), np.arange(30) % 3
    assert share(np.arange(30)) == pytest.approx(1)
    assert share(np.zeros(30, dtype=int)) == pytest.approx(0, abs=1e-12)
    assert share(coarse) <= share(coarse + 3 * (np.arange(30) % 2))
    assert clusterings.DivergenceShare(np.ones((4, 2)))(np.arange(4)) == 0


def test_the_classes_have_their_share_beside_the_clusters():
    found = measured({"noisy": model(f"{HERE}.Noisy")})
    share = clusterings.DivergenceShare(dataset().X)
    assert found.loc[("", "divergence", CLASSES), "value"] == pytest.approx(100 * share(dataset().y))
    labels = Noisy().fit(dataset().X).labels_
    assert found.loc[("noisy", "divergence", ""), "value"] == pytest.approx(100 * share(labels))


def test_rows_that_are_no_distributions_have_no_divergence_and_all_else():
    data = dataset()
    data.X[3] = 0
    found = measured({"noisy": model(f"{HERE}.Noisy")}, data)
    assert found.loc[("", "divergence", ""), "error"].startswith(
        "found rows that are not distributions, with a negative"
    )
    assert found.loc[("noisy", "ari", ""), "status"] == "ok"


# --- the table --------------------------------------------------------------------------------------------


ENTRY = {
    "type": "clusterings",
    "caption": "Clusters",
    "datasets": "all",
    "models": ["kmeans", "kl"],
    "measures": ["ari", "divergence", "seconds"],
    "repeats": 3,
    "rows": 5000,
}
ROWS = [
    {"metric": "divergence", "reading": CLASSES, "value": 12.34},
    {"model": "kmeans", "metric": "ari", "value": 0.51234, "std": 0.01},
    {"model": "kmeans", "metric": "ari", "reading": "run 1", "value": 0.5},
    {"model": "kmeans", "metric": "divergence", "value": 30.0},
    {"model": "kmeans", "metric": "seconds", "value": 0.0123},
    {"model": "kl", "status": "failed", "error": "time limit of 5 s"},
]


class Results:
    """What was measured."""

    def measured(self, table, dataset):
        return [*frame(ROWS).itertuples(index=False)]


@pytest.fixture
def shown():
    models = {"kmeans": {"label": "k-means", "estimator": "sklearn.cluster.KMeans"}}
    models["kl"] = {"label": "KL", "estimator": "sklearn.cluster.KMeans"}
    study = made_study(
        {
            "metrics": ["accuracy"],
            "datasets": {"all": ["digits"]},
            "models": models,
            "tables": {"clusters": ENTRY},
        }
    )
    asked = study.spec_of_table("clusters")
    nothing = pd.DataFrame(columns=["table", "dataset", "model", "metric", "value", "std"])
    return make_table(Results(), nothing, asked), asked


def test_a_table_shows_means_and_the_classes_own_divergence_in_a_footnote(shown):
    table, asked = shown
    cells = table.set_index(["model", "metric"])
    assert cells.loc[("kmeans", "ari"), ["ours", "ours_std"]].tolist() == [0.51234, 0.01]
    assert cells.loc[("kmeans", "divergence"), "reason"] == "the classes: 12.3 %"
    assert cells.loc["kl", "verdict"].tolist() == ["failed"] * 3
    page = render(table, asked, "md")
    assert "0.512 ± 0.010" in page
    assert "0.012" in page
    assert "time limit of 5 s" in page
    assert "adjusted Rand index" in page


def test_a_table_says_of_the_divergence_only_where_it_is_asked_for(shown):
    kind, asked = TABLE_TYPES["clusterings"], shown[1]
    assert "Kullback" in kind.says(asked)
    assert "Kullback" not in kind.says(with_entry(asked, measures=["ari"]))
    assert "5,000 rows" in kind.says(asked)


# --- the models of a study -------------------------------------------------------------------------------


@pytest.fixture
def study_of_clusters(study):
    study["of_dataset"] = {"n_classes": {"heart": 2, "sonar": 2, "default": 3}}
    study["models"] |= {
        "kmeans": {
            "label": "k-means",
            "estimator": "sklearn.cluster.KMeans",
            "params": {"n_clusters": {"of_dataset": "n_classes"}},
            "criteria": [],
        },
        "hdbscan": {
            "label": "HDBSCAN",
            "estimator": "sklearn.cluster.HDBSCAN",
            "params": {"copy": True},
            "steps": [{"estimator": "sklearn.preprocessing.StandardScaler"}],
            "criteria": [],
        },
    }
    study["tables"]["clusters"] = {
        "type": "clusterings",
        "caption": "Clusters",
        "datasets": "small",
        "models": ["kmeans", "hdbscan"],
        "repeats": 4,
    }
    study["figures"]["clusters"] = {
        "type": "script",
        "script": "clusterings",
        "of": "rows",
        "caption": "Clusters",
        "datasets": "moons",
        "models": ["kmeans", "hdbscan"],
    }
    return study


@pytest.fixture
def entries(entries):
    return {key: {**entry, "expect": {**entry["expect"], "features": 2}} for key, entry in entries.items()}


def test_clusterers_are_measured_and_drawn_but_never_trained(load, study_of_clusters):
    study = load(study_of_clusters)
    assert study.tables["table1"].models == ["svm", "lda"]  # `all` leaves them out
    assert not {"kmeans", "hdbscan"} & {model for _, model in study.runs()}
    assert study.files_of_table("clusters") == [
        f"results/mine/seed0/measured/clusters/{dataset}.parquet" for dataset in ("heart", "sonar")
    ]
    assert study.runs_of_figure("clusters") == []
    assert study.files_of_figure("clusters") == 2 * ["results/mine/scaled/two-moons.npz"]


def test_a_measurement_holds_what_is_measured_with_the_values_of_its_data_set(load, study_of_clusters):
    measurement = load(study_of_clusters).measurement("clusters", "heart", 0)
    assert measurement.models["kmeans"]["params"] == {"n_clusters": 2}
    assert measurement.models["hdbscan"]["steps"] == [{"estimator": "sklearn.preprocessing.StandardScaler"}]
    assert (measurement.repeats, measurement.rows, measurement.gib) == (4, 5000, 8)
    drawn = load(study_of_clusters).spec_of_figure("clusters")
    assert [learner["params"] for learner in drawn.learners.values()] == [{"n_clusters": 3}, {"copy": True}]


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("tables", "models"), ["svm"], "'svm'; accepted: kmeans, hdbscan"),
        (("tables", "models"), [], "tables.clusters.models: found [], expected a list of model names"),
        (("tables", "measures"), ["arj"], "tables.clusters.measures.0: found 'arj'"),
        (("tables", "rows"), 3, "rows: found 3"),
    ],
)
def test_a_mistake_in_clusterings_is_one_line(load, study_of_clusters, place, value, message):
    group, key = place
    study_of_clusters[group]["clusters"][key] = value
    assert message in refused(load, study_of_clusters)


def test_sets_that_are_clustered_alone_need_no_division(load_trials, study_of_trials):
    study_of_trials["models"]["kmeans"] = {
        "label": "k-means", "estimator": "sklearn.cluster.KMeans", "criteria": []
    }  # fmt: skip
    study_of_trials["tables"]["clusters"] = {
        "type": "clusterings", "caption": "", "datasets": "classes", "models": ["kmeans"]
    }  # fmt: skip
    del study_of_trials["of_dataset"]["n_train"]["heart"]
    with pytest.raises(
        ConfigError, match="n_train: no value for the data set 'heart', needed by protocol.train"
    ):
        load_trials(study_of_trials)
    study_of_trials["datasets"] |= {"both": ["heart", "sonar"], "classes": ["sonar"], "all": ["two-moons"]}
    study_of_trials["tables"]["clusters"]["datasets"] = "both"
    assert load_trials(study_of_trials).tables["clusters"].repeats == 10


def test_a_model_with_criteria_is_no_clusterer(load, study_of_clusters):
    del study_of_clusters["models"]["hdbscan"]["criteria"]
    with pytest.raises(ConfigError, match="'hdbscan'; accepted: kmeans"):
        load(study_of_clusters)


def test_clusters_are_compared_with_classes(load, study_of_clusters, entries):
    entries["heart"]["task"] = "regression"
    del (
        study_of_clusters["tables"]["table1"],
        study_of_clusters["tables"]["counts"],
        study_of_clusters["tables"]["ranks"],
    )
    with pytest.raises(
        ConfigError, match="clusters.datasets: unknown data set of classes 'heart'; accepted: sonar"
    ):
        load(study_of_clusters)
