"""Posteriors of clusters: against their definitions, and after moves against themselves anew."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from entrolearn.cluster.posteriors import (
    VolumePosteriors,
    WindowPosteriors,
    neighbour_distance,
    volume_posteriors,
    window_counts,
)

RADIUS, K = 0.8, 4


def naive_window(X, labels, n_clusters):
    """Equation (9), row by row."""
    near = cdist(X, X) <= RADIUS
    return np.array([[np.mean(labels[row] == c) for c in range(n_clusters)] for row in near])


def naive_volume(X, labels, n_clusters):
    """Equation (10), normalised, of every row with the others."""
    return np.array(
        [
            naive_volume_at(X[i], np.delete(X, i, axis=0), np.delete(labels, i), n_clusters)
            for i in range(len(X))
        ]
    )


def naive_volume_at(z, X, labels, n_clusters):
    """The share of a cluster goes with the number of its nearest members over the volume that holds them."""
    shares = np.zeros(n_clusters)
    for c in np.unique(labels):
        distances = np.sort([np.sqrt(np.sum((z - x) ** 2)) for x in X[labels == c]])[:K]
        shares[c] = len(distances) / max(distances[-1], 1e-150) ** X.shape[1]
    return shares / shares.sum()


ONCE = np.ones(50, dtype=int)
NAIVE = {WindowPosteriors: naive_window, VolumePosteriors: naive_volume}


@pytest.fixture(params=[(each, most) for each in NAIVE for most in (1, 8)], ids=str)
def posteriors(request):
    """Of five clusters of rows at random, the last of them empty and the one before as small as can be.

    Each row occurs once, or up to eight times: more often than a list of K + 2 distances can hold.
    """
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(40, 2)), rng.integers(3, size=40)
    labels[:2] = 3
    which, most = request.param
    counts = rng.integers(1, most + 1, size=40)
    return X, which(X, counts, labels, 5, RADIUS if which is WindowPosteriors else K)


def naive(X, posteriors):
    """Of the repeated rows, at the first of each."""
    rows = np.repeat(np.arange(len(X)), posteriors.counts)
    return NAIVE[type(posteriors)](X[rows], posteriors.labels[rows], 5)[np.unique(rows, return_index=True)[1]]


def test_values_are_those_of_the_definition(posteriors):
    X, fast = posteriors
    assert_allclose(fast.values, naive(X, fast), rtol=1e-10, atol=1e-12)
    assert_allclose(fast.values.sum(axis=1), 1)


def test_many_moves_leave_what_a_start_from_their_labels_has(posteriors):
    """Clusters grow, lose all members and are filled again on the way."""
    X, fast = posteriors
    rng = np.random.default_rng(1)
    seen_empty = False
    for step in range(120):
        row = rng.integers(len(X))
        cluster = rng.integers(5) if step >= 60 else min(2, rng.integers(5))
        if cluster == fast.labels[row]:
            continue
        rows, values = fast.propose(row, cluster)
        before = fast.values.copy()
        fast.accept(row, cluster, rows, values)
        assert fast.labels[row] == cluster
        if step % 4 == 0:
            expected = naive(X, fast)
            assert_allclose(fast.values, expected, rtol=1e-10, atol=1e-12)
            # Exactly the others keep theirs: what is summed over the proposed rows is the whole change.
            others = np.setdiff1d(np.arange(len(X)), rows)
            assert_allclose(expected[others], before[others], rtol=1e-10, atol=1e-12)
        seen_empty |= not np.all(np.isin([3, 4], fast.labels))
    assert_allclose(fast.values, naive(X, fast), rtol=1e-10, atol=1e-12)
    assert seen_empty


def test_a_proposal_changes_nothing_until_it_is_accepted(posteriors):
    X, fast = posteriors
    values, labels = fast.values.copy(), fast.labels.copy()
    for row in range(len(X)):
        fast.propose(row, (labels[row] + 1) % 5)
    assert_array_equal(fast.values, values)
    assert_array_equal(fast.labels, labels)


def test_rows_on_the_rim_of_a_window_are_neighbours_of_each_other():
    grid = np.array([(i, j) for i in range(7) for j in range(7)]) * 0.1  # whose distances are rounded
    labels = np.arange(49)
    values = WindowPosteriors(grid, ONCE[:49], labels, 49, 0.1).values
    assert_array_equal(values > 0, values.T > 0)
    assert np.all(values.diagonal() > 0)


def test_equal_rows_share_what_there_is():
    """As in the limit of equal volumes that vanish: by their numbers, and other clusters have no share."""
    X = np.array([[0.0], [0.0], [0.0], [0.0], [3.0], [4.0]])
    values = VolumePosteriors(X, ONCE[:6], np.array([0, 0, 1, 1, 2, 2]), 3, 2).values
    assert_allclose(values[0], [1 / 3, 2 / 3, 0], atol=1e-300)
    assert_allclose(values[3], [2 / 3, 1 / 3, 0], atol=1e-300)
    assert_allclose(values[4], np.array([2 / 3, 2 / 3, 1 / 1]) / (2 / 3 + 2 / 3 + 1), rtol=1e-12)


def test_three_clusters_on_the_line_have_a_closed_form():
    """At 0 the one other member is at 1, the second of the next cluster at 4, the second of the last at 8."""
    X = np.array([[0.0], [1.0], [3.0], [4.0], [7.0], [8.0]])
    values = VolumePosteriors(X, ONCE[:6], np.array([0, 0, 1, 1, 2, 2]), 3, 2).values
    assert_allclose(values[0], np.array([1, 2 / 4, 2 / 8]) / (1 + 2 / 4 + 2 / 8), rtol=1e-12)


def test_a_row_alone_in_its_cluster_says_nothing_for_it():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    values = VolumePosteriors(X, ONCE[:4], np.array([0, 1, 1, 1]), 2, 2).values
    assert_array_equal(values[0], [0, 1])
    assert values[1, 0] > 0


def test_posteriors_at_other_rows_are_those_of_the_definition():
    rng = np.random.default_rng(2)
    X, labels, Z = rng.normal(size=(50, 3)), rng.integers(3, size=50), rng.normal(size=(20, 3))
    labels[0] = 3  # a cluster of one
    expected = [naive_volume_at(z, X, labels, 4) for z in Z]
    assert_allclose(volume_posteriors(X, labels, 4, K, Z), expected, rtol=1e-10)
    counts = window_counts(NearestNeighbors(radius=RADIUS).fit(X), labels, 4, Z)
    near = cdist(Z, X) <= RADIUS
    assert_array_equal(counts, [[np.sum(labels[row] == c) for c in range(4)] for row in near])


def test_half_of_the_windows_of_the_default_radius_hold_the_neighbours_asked_for():
    X = np.random.default_rng(3).normal(size=(101, 2))
    radius = neighbour_distance(X, 7)
    held = np.sum(cdist(X, X) <= radius * (1 + 1e-12), axis=1)
    assert np.sum(held >= 1 + 7) == 51
    assert neighbour_distance(X[:5], 7) == pytest.approx(np.median(cdist(X[:5], X[:5]).max(axis=1)))
