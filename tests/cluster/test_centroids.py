"""Centroids by the cross-entropy method: the objective, what the search reaches, what it refuses."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from entrolearn.cluster import CrossEntropyMethodClustering
from entrolearn.cluster.centroids import _Box, _Inertia

DATA = {"iris": load_iris().data, "wine": StandardScaler().fit_transform(load_wine().data)}


def test_objective_is_the_inertia_of_kmeans():
    X = load_iris().data
    kmeans = [KMeans(3, n_init=1, max_iter=i, tol=0.0, random_state=i).fit(X) for i in (20, 40, 60)]
    box = _Box.around(X)
    points = np.array([box.coordinates(each.cluster_centers_) for each in kmeans])
    inertia = _Inertia.of(X, box, 3)
    assert_allclose(inertia(points), [each.inertia_ for each in kmeans], rtol=1e-12)
    assert_allclose([inertia(point[np.newaxis])[0] for point in points], inertia(points))


def test_objective_is_that_of_the_definition():
    """Equation (7), for centroids anywhere, by loops."""
    rng = np.random.default_rng(0)
    X, centroids = 50 + rng.normal(size=(20, 3)) * [1, 10, 0.1], 50 + rng.normal(size=(6, 4, 3))
    expected = [sum(min(np.sum((x - c) ** 2) for c in those) for x in X) for those in centroids]
    box = _Box.around(X)
    points = np.array([box.coordinates(those) for those in centroids])
    assert_allclose(_Inertia.of(X, box, 4)(points), expected, rtol=1e-10)
    assert_allclose([box.centroids(point) for point in points], centroids)


def test_box_has_its_walls_at_one_half():
    X = np.array([[0.0, 7.0, -1.0], [4.0, 7.0, 3.0]])
    box = _Box.around(X)
    assert_allclose(box.coordinates(X), [-0.5, -0.5, 0.5, 0.5])
    assert_allclose(box.centroids(np.zeros(2)), [[2.0, 7.0, 1.0]])


@pytest.mark.parametrize("name", DATA)
def test_search_reaches_what_the_best_of_fifty_kmeans_does(name):
    X = DATA[name]
    best = KMeans(3, n_init=50, random_state=0).fit(X).inertia_
    found = CrossEntropyMethodClustering(3, random_state=0).fit(X)
    assert found.inertia_ == pytest.approx(best, rel=1e-3)
    assert found.inertia_ >= best * (1 - 1e-6)


def test_first_distribution_as_wide_as_the_box_loses_centroids_in_many_dimensions():
    X = DATA["wine"]
    wide, usual = (
        CrossEntropyMethodClustering(3, samples_per_coordinate=20, initial_std=std, random_state=0).fit(X)
        for std in (1.0, 0.3)
    )
    assert wide.inertia_ > 1.05 * usual.inertia_


def test_search_reaches_the_best_of_all_partitions():
    X = np.random.default_rng(1).normal(size=(8, 2))
    partitions = (np.array([0, *others]) for others in itertools.product(range(3), repeat=7))
    best = min(
        sum(len(X[labels == k]) * X[labels == k].var(axis=0).sum() for k in np.unique(labels))
        for labels in partitions
    )
    found = CrossEntropyMethodClustering(3, random_state=0).fit(X)
    assert found.inertia_ == pytest.approx(best, rel=1e-5)


def test_start_that_holds_kmeans_does_not_hold_the_search():
    """Four corners of a long rectangle: pairs along its long sides are at rest, and far from the best."""
    rng = np.random.default_rng(2)
    corners = np.array([[0.0, 0.0], [0.0, 2.0], [6.0, 0.0], [6.0, 2.0]])
    X = np.concatenate([corner + 0.1 * rng.normal(size=(25, 2)) for corner in corners])
    starts = np.array([[[3.0, 0.0], [3.0, 2.0]], [[-1.0, 0.0], [-1.0, 2.0]], [[0.0, 1.0], [6.0, 1.0]]])
    kmeans = [KMeans(2, init=start, n_init=1).fit(X).inertia_ for start in starts]
    found = [CrossEntropyMethodClustering(2, init=start, random_state=0).fit(X) for start in starts]
    assert max(kmeans) > 5 * min(kmeans)
    assert_allclose([each.inertia_ for each in found], min(kmeans), rtol=1e-4)
    iterations = [each.n_iter_ for each in found]
    assert max(iterations) < 1.5 * min(iterations)


def test_a_single_centroid_is_the_mean():
    X = DATA["iris"]
    found = CrossEntropyMethodClustering(1, tol=1e-6, random_state=0).fit(X)
    assert_allclose(found.cluster_centers_[0], X.mean(axis=0), atol=1e-5)
    assert found.inertia_ == pytest.approx(len(X) * X.var(axis=0).sum(), rel=1e-9)


def test_attributes_belong_together():
    X = DATA["iris"]
    found = CrossEntropyMethodClustering(4, random_state=0).fit(X)
    distances = euclidean_distances(X, found.cluster_centers_)
    assert_array_equal(found.labels_, distances.argmin(axis=1))
    assert_array_equal(found.labels_, found.predict(X))
    assert_allclose(found.transform(X), distances)
    assert found.objective_ == found.inertia_ == pytest.approx(np.sum(distances.min(axis=1) ** 2))
    assert len(found.history_) == found.n_iter_
    assert found.inertia_ == pytest.approx(min(each.best for each in found.history_), rel=1e-9)
    assert found.get_feature_names_out().tolist() == [f"crossentropymethodclustering{i}" for i in range(4)]


def test_units_of_all_features_together_and_their_origin_do_not_matter():
    X = DATA["iris"]
    plain = CrossEntropyMethodClustering(3, random_state=0).fit(X)
    moved = CrossEntropyMethodClustering(3, random_state=0).fit(4 * X + 256)
    assert_array_equal(plain.labels_, moved.labels_)
    assert moved.inertia_ == pytest.approx(16 * plain.inertia_, rel=1e-5)


def test_centroids_without_rows_are_left_out():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    found = CrossEntropyMethodClustering(4, random_state=0).fit(X)
    assert found.n_clusters_ == len(found.cluster_centers_) == len(np.unique(found.labels_)) >= 2
    assert found.inertia_ < 1e-3
    same = CrossEntropyMethodClustering(4, random_state=0).fit(np.ones((10, 2)))
    assert (same.n_clusters_, same.inertia_, same.n_iter_) == (1, 0.0, 0)


def test_iterations_that_are_used_up_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="did not converge in 3 iterations: raise max_iter or tol"):
        CrossEntropyMethodClustering(3, max_iter=3, random_state=0).fit(DATA["iris"])
