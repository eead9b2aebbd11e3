"""Clusterers beside classes: runs and their means, the divergence of groups, and rows for what fails."""

import os

import numpy as np
import pytest
from measured_scripts import at, script
from measured_scripts import measured as rows_of
from scipy.sparse import csr_array
from scipy.special import rel_entr
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, mutual_info_score

from entrolab.data.dataset import Dataset
from entrolab.experiments.measuring import frame


def dataset(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.uniform(0.1, 1, size=(n, 4)) + 3 * np.eye(3, 4)[y]
    return Dataset(X, y, list("abcd"), "multiclass", ["0", "1", "2"], np.zeros(n, dtype=np.int8))


def model(estimator, **params):
    return {"estimator": estimator, "params": params, "steps": []}


ALL = ["ari", "ami", "clusters", "divergence", "seconds"]


def measured(models, data=None, **changes):
    asked = {"measures": ALL, "repeats": 3, **changes}
    rows = rows_of("clusterings", data or dataset(), models=models, **asked)
    return frame(rows).set_index(["model", "metric"])


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
    seeds = [script("clusterings").seed_of(at(), f"run {run}") for run in (1, 2, 3)]
    runs = np.array([2 + seed % 3 for seed in seeds])
    assert len(set(runs)) > 1
    assert found.loc[("draws", "clusters"), "value"] == pytest.approx(runs.mean())
    assert found.loc[("draws", "clusters"), "std"] == pytest.approx(runs.std(ddof=1))
    indices = [adjusted_rand_score(dataset().y, np.arange(60) % int(number)) for number in runs]
    assert found.loc[("draws", "ari"), "value"] == pytest.approx(np.mean(indices))


def test_a_model_that_does_not_draw_has_one_run_and_no_deviation(found):
    noisy = found.loc["noisy"]
    assert np.isnan(noisy.loc["ari", "std"])
    assert noisy.loc["seconds", "value"] >= 0


def test_noise_counts_as_a_group_in_the_indices_and_as_no_cluster(found):
    labels = Noisy().fit(dataset().X).labels_
    assert found.loc[("noisy", "clusters"), "value"] == 3
    for name, index in (("ari", adjusted_rand_score), ("ami", adjusted_mutual_info_score)):
        assert found.loc[("noisy", name), "value"] == pytest.approx(index(dataset().y, labels))


def test_a_model_that_fails_is_a_row_with_the_reason_and_takes_no_other_with_it(found):
    failed = found.loc["fails"]
    assert failed["status"].tolist() == ["failed"]
    assert failed["error"].tolist() == ["ArithmeticError: no covariance"]


def test_a_model_that_ends_its_process_says_after_how_many_runs():
    found = measured({"ends": model(f"{HERE}.Ends")}, measures=["ari"])
    (error,) = found.loc["ends"]["error"]
    assert error == "after 1 of 3 runs: the process ended without a result (exit status 3)"


class Ends(Draws):
    """Its first run is as of others, all others end their process."""

    def fit(self, X, y=None):
        if self.random_state != script("clusterings").seed_of(at(), "run 1"):
            os._exit(3)
        return super().fit(X)


def test_a_large_set_is_clustered_by_a_sample_in_order():
    data = dataset(90)
    sample = script("clusterings").sample
    X, y = sample(data, 20, seed=0)
    np.testing.assert_array_equal(X, sample(data, 20, seed=0)[0])
    assert X.shape == (20, 4)
    assert len(np.unique(X, axis=0)) == 20
    rows = [int(np.flatnonzero((row == data.X).all(axis=1))[0]) for row in X]
    assert rows == sorted(rows)
    np.testing.assert_array_equal(data.y[rows], y)
    assert sample(data, 90, seed=0)[0] is data.X


def test_whether_a_model_draws_is_asked_of_all_its_parts():
    pinned = model("sklearn.cluster.KMeans", random_state=3)
    assert not script("clusterings").draws(pinned)
    assert script("clusterings").draws(model("sklearn.cluster.KMeans"))
    pca = {"estimator": "sklearn.decomposition.PCA", "params": {}}
    assert script("clusterings").draws({**pinned, "steps": [pca]})
    assert not script("clusterings").draws(model("sklearn.cluster.HDBSCAN", copy=True))


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
    share = script("clusterings").DivergenceShare(X)
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
    assert script("clusterings").DivergenceShare(X)(labels) == pytest.approx(by_group / by_row)
    assert script("clusterings").DivergenceShare(csr_array(X))(labels) == pytest.approx(by_group / by_row)


def test_the_classes_have_their_share_beside_the_clusters():
    found = measured({"noisy": model(f"{HERE}.Noisy")})
    share = script("clusterings").DivergenceShare(dataset().X)
    assert found.loc[("noisy", "divergence"), "error"] == f"the classes: {100 * share(dataset().y):.1f} %"
    labels = Noisy().fit(dataset().X).labels_
    assert found.loc[("noisy", "divergence"), "value"] == pytest.approx(100 * share(labels))


def test_rows_that_are_no_distributions_have_no_divergence_and_all_else():
    data = dataset()
    data.X[3] = 0
    found = measured({"noisy": model(f"{HERE}.Noisy")}, data)
    assert found.loc[("", "divergence"), "error"].startswith(
        "found rows that are not distributions, with a negative"
    )
    assert found.loc[("noisy", "ari"), "status"] == "ok"
