"""Laws of all clusterers: the origin of the rows, the memory that is counted, settings beyond the numbers."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs

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
DATA = {
    "plane": PLANE,
    "ties": np.round(4 * PLANE) / 4,
    "a constant feature": np.insert(PLANE, 1, 0.375, axis=1),
    "20 features": np.round(make_blobs(45, 20, centers=3, random_state=1)[0] * 2**16) / 2**16,
}
CLUSTERERS = [
    CrossEntropyClustering(5, n_init=1, random_state=0),
    CrossEntropyClustering(5, family="diagonal", n_init=1, random_state=0),
    CrossEntropyClustering(5, family="spherical", n_init=1, random_state=0),
    CrossEntropyClustering(5, family="fixed", covariance=1.0, n_init=1, random_state=0),
    CrossEntropyMethodClustering(3, samples_per_coordinate=5, elite_fraction=0.1, random_state=0),
    MinimumEntropyClustering(3, init="random", random_state=0),
    MinimumEntropyClustering(3, init="random", n_neighbors=22, random_state=0),
    MinimumEntropyClustering(3, init="random", radius=1.5, random_state=0),
    MinimumEntropyClustering(3, init="random", posterior="knn", random_state=0),
    RenyiEntropyClustering(3, n_init=1, random_state=0),
    RenyiEntropyClustering(3, sigma=0.7, n_init=1, random_state=0),
]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("clusterer", CLUSTERERS, ids=str)
@pytest.mark.fault("Laws", "rows that are clustered, far from the origin", "the same clusters")
def test_clusters_do_not_depend_on_the_origin(clusterer, data):
    X = DATA[data]
    new = X[::3] + 2**-5
    here = clone(clusterer).fit(X)
    for offset in (2.0**20, 2.0**30):
        there = clone(clusterer).fit(X + offset)
        assert_array_equal(there.labels_, here.labels_)
        assert_array_equal(there.predict(new + offset), here.predict(new))
        # Means and centroids are rounded as numbers of their size are.
        assert_allclose(there.objective_, here.objective_, rtol=1e-15 * offset, atol=1e-9)


# --- what is counted before a fit is what the fit takes -----------------------------------------------


@pytest.mark.parametrize(
    ("clusterer", "shape"),
    [
        (RenyiEntropyClustering(2, n_init=1, sigma=1.0), (400, 2)),
        (RenyiEntropyClustering(2, n_init=2, n_seeds=12, seed_size=1, sigma=1.0), (100, 2)),
        (RenyiEntropyClustering(2, n_init=1, sigma=9.0), (100, 300)),
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


@pytest.mark.parametrize("clusterer", CLUSTERERS, ids=str)
def test_rows_that_change_after_the_fit_change_nothing(clusterer):
    X = PLANE.copy()
    fitted = clone(clusterer).fit(X)
    before = fitted.predict(PLANE)
    X[:] = 5.0
    assert_array_equal(fitted.predict(PLANE), before)


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
        (RenyiEntropyClustering(sigma=1e160), r"sigma is 1e\+160 with sigma=1e\+160; for these rows it must"),
        (RenyiEntropyClustering(sigma=1e-160), "sigma is 1e-160"),
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
