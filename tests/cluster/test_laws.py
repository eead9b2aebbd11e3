"""What holds of all clusterers: separate groups, the memory that is counted, settings beyond the numbers."""

import tracemalloc

import numpy as np
import pytest
from many_cases import for_each
from numpy.testing import assert_allclose, assert_array_equal
from public_estimators import NAMED
from sklearn.base import clone, is_clusterer
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from entrolearn import (
    CrossEntropyClustering,
    KLClustering,
    MinimumEntropyClustering,
    RenyiEntropyClustering,
    kernels,
)
from entrolearn.cluster import CrossEntropyMethodClustering

pytestmark = pytest.mark.filterwarnings("error", "ignore::sklearn.exceptions.ConvergenceWarning")

# Multiples of small powers of two: moved by larger ones they have the same differences, to the last bit.
PLANE = np.round(make_blobs(45, centers=3, random_state=1)[0] * 2**16) / 2**16
CLUSTERERS = {name: one for name, one in NAMED.items() if is_clusterer(one)}


# Of one the fixed covariance is wider than the groups are apart.
@pytest.mark.fault("Laws", "separate groups in any order", "the groups are found")
@pytest.mark.parametrize("cases", [sorted(CLUSTERERS.keys() - {"CrossEntropyClustering-3"})], ids=[""])
@for_each("name")
def test_separate_groups_are_found(name):
    rng, groups = np.random.default_rng(0), np.arange(60) % 3
    X = 0.1 + 0.01 * rng.normal(size=(60, 3)) ** 2 + np.eye(3)[groups]
    order = rng.permutation(60)
    found = clone(CLUSTERERS[name]).set_params(n_clusters=3)
    if "n_init" in found.get_params():
        found.set_params(n_init=10)  # one draw of first rows may miss a group
    assert adjusted_rand_score(groups[order], found.fit(X[order]).labels_) == 1


# Each row three times, and positive for KLClustering.
REPEATED = np.repeat(9 + np.random.default_rng(0).normal(size=(50, 2))[30:], 3, axis=0)


@pytest.mark.parametrize("cases", [sorted(CLUSTERERS)], ids=[""])
@for_each("name")
def test_equal_rows_have_equal_labels(name):
    """The label of each row is a function of the row: that of the first row equal to it."""
    _, first, of_row = np.unique(REPEATED, axis=0, return_index=True, return_inverse=True)
    starts = {
        "MinimumEntropyClustering": {"init": "random"},
        "KLClustering": {"init": "random", "n_clusters": 12, "max_iter": 1},  # empty clusters are filled
    }
    found = clone(CLUSTERERS[name]).set_params(**starts.get(name[:-2], {})).fit(REPEATED)
    for labels in (found.labels_, found.predict(REPEATED)):
        assert_array_equal(labels, labels[first][of_row])


# --- what is counted before a fit is what the fit takes -----------------------------------------------


@pytest.mark.parametrize(
    ("clusterer", "shape"),
    [
        (RenyiEntropyClustering(2, n_init=1, bandwidth=1.0), (400, 2)),
        (RenyiEntropyClustering(2, n_init=2, n_seeds=12, seed_size=1, bandwidth=1.0), (100, 2)),
        (RenyiEntropyClustering(2, n_init=1, bandwidth=9.0), (100, 300)),
        (MinimumEntropyClustering(2, radius=0.5, max_iter=1), (400, 2)),
        (MinimumEntropyClustering(2, radius=9.0, max_iter=1), (400, 2)),
        (MinimumEntropyClustering(2, posterior="knn", max_iter=1), (400, 2)),
        (MinimumEntropyClustering(2, posterior="knn", n_neighbors=100, max_iter=1), (200, 2)),
        (MinimumEntropyClustering(5, posterior="knn", n_neighbors=40, max_iter=1), (200, 2)),
        (CrossEntropyMethodClustering(8, max_iter=1, samples_per_coordinate=10), (10, 30)),
        (CrossEntropyMethodClustering(3, max_iter=2), (300, 2)),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "x".join(map(str, value)),
)
@pytest.mark.fault("Memory", "a clustering that will not fit", "refused by what it takes at its peak")
def test_memory_that_is_counted_is_the_peak(clusterer, shape, monkeypatch):
    """No less, and at most twice as much."""
    X = np.random.default_rng(0).normal(size=shape)
    clusterer = clone(clusterer).set_params(random_state=0)
    clusterer.fit(X)  # what is imported and cached by a first fit is not the fit's
    tracemalloc.start()
    clusterer.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    monkeypatch.setattr(kernels, "memory_limit", lambda: (0.99 * peak, "of this test"))
    with pytest.raises(MemoryError, match=" GiB of this test; "):
        clusterer.fit(X)
    monkeypatch.setattr(kernels, "memory_limit", lambda: (2 * peak, "of this test"))
    clusterer.fit(X)


# --- settings that are no numbers once they are squared -----------------------------------------------


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
@pytest.mark.parametrize(
    ("clusterer", "message"),
    [
        (CrossEntropyClustering(2, family="fixed", covariance=1e308), "covariance is so small or large"),
        (CrossEntropyClustering(2, family="fixed", covariance=1e-320), "covariance is so small or large"),
        (
            CrossEntropyClustering(2, family="fixed", covariance=1e308 * np.eye(2)),
            "covariance is so small or",
        ),
        (CrossEntropyClustering(2, reg_covar=1e308), r"reg_covar=1e\+308 times the variances of 45 rows"),
        (CrossEntropyClustering(2, family="spherical", reg_covar=1e308), "reg_covar"),
        (CrossEntropyMethodClustering(2, initial_std=1e308), "'initial_std' parameter"),
        (
            RenyiEntropyClustering(bandwidth=1e160),
            r"bandwidth is 1e\+160 with bandwidth=1e\+160; for these rows it must",
        ),
        (RenyiEntropyClustering(bandwidth=1e-160), "bandwidth is 1e-160"),
        (MinimumEntropyClustering(2, radius=1e308, max_iter=1), None),
        (MinimumEntropyClustering(2, radius=1e-308, max_iter=1), None),
    ],
    ids=str,
)
@pytest.mark.fault("Arrays", "a width or a variance whose square is no number", "one line, or finite answers")
def test_what_has_no_square_is_refused_in_one_line(clusterer, message, scale):
    clusterer = clone(clusterer).set_params(random_state=0)
    if message is None:
        assert np.isfinite(clusterer.fit(scale * PLANE).objective_)
        return
    with pytest.raises(ValueError, match=message) as caught:
        clusterer.fit(scale * PLANE)
    assert "\n" not in str(caught.value)


def test_distances_near_to_each_other_and_far_from_all_else_keep_their_digits():
    """Of two groups 1e8 apart: each has the windows and the distances that it has alone."""
    rng = np.random.default_rng(2)
    group = np.round(rng.normal(size=(40, 20)) * 2**16) / 2**16
    both = np.concatenate([group, group + 2.0**27])
    start = rng.integers(2, size=40)
    alone = MinimumEntropyClustering(2, radius=5.5, init=start).fit(group)
    twice = MinimumEntropyClustering(2, radius=5.5, init=np.tile(start, 2)).fit(both)
    assert alone.n_clusters_ > 1
    assert_array_equal(twice.labels_, np.tile(alone.labels_, 2))
    assert_array_equal(twice.predict(both), np.tile(alone.predict(group), 2))
    found = CrossEntropyMethodClustering(2, init=both[[0, 40]], max_iter=1, random_state=0).fit(both)
    naive = [[np.sqrt(np.sum((x - c) ** 2)) for c in found.cluster_centers_] for x in both]
    assert_allclose(found.transform(both), naive, rtol=1e-12)


@pytest.mark.parametrize("clusterer", [CrossEntropyClustering(), MinimumEntropyClustering()], ids=str)
def test_first_labels_that_do_not_sort_are_refused(clusterer):
    clusterer = clone(clusterer).set_params(init=["a", None, 1] * 15)
    with pytest.raises(ValueError, match="^init holds labels of the types NoneType, number, str; they must"):
        clusterer.fit(PLANE)


# --- restarts in several processes --------------------------------------------------------------------


@pytest.mark.parametrize(
    "clusterer",
    [
        KLClustering(4, init="random", n_init=4, random_state=0),
        RenyiEntropyClustering(n_init=4, random_state=0),
    ],
    ids=lambda clusterer: type(clusterer).__name__,
)
def test_restarts_in_processes_give_the_same_bits(clusterer):
    """Of 400 rows the kernel matrix is handed over as a file that is read alone."""
    X = np.abs(make_blobs(400, 3, centers=5, random_state=2)[0])
    alone, shared = (clone(clusterer).set_params(n_jobs=n).fit(X) for n in (None, 2))
    for name in ("labels_", "objectives_", "objective_", "n_iter_"):
        assert_array_equal(getattr(shared, name), getattr(alone, name))
    assert_array_equal(shared.predict(X), alone.predict(X))
