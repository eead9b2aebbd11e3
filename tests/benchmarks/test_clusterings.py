"""Clusterings on tiny data: the refitted twin makes the same search, and the counts of starts are right."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from benchmarks import clusterings
from benchmarks.clusterings import RefittedClusters, searched, starts_for
from entrolearn.cluster.gaussians import FullClusters


def test_twin_has_the_energies_of_rank_one_changes():
    X, labels = load_iris().data[::3], load_iris().target[::3]
    prior = np.full(4, 0.01)
    ours, twin = FullClusters(X, labels, prior), RefittedClusters(X, labels, prior)
    assert twin.energy == pytest.approx(ours.energy, rel=1e-12)
    assert_allclose(twin.changes(X, labels), ours.changes(X, labels), atol=1e-12)
    assert_allclose(twin.mergers(), ours.mergers(), atol=1e-12)
    for clusters in (ours, twin):
        clusters.remove(X[0], labels[0])
        clusters.add(X[0], 2)
        clusters.drop(1)
    assert_array_equal(twin.counts, ours.counts)
    assert_allclose(twin.means, ours.means)
    assert_allclose(twin.additions(X[20:22]), ours.additions(X[20:22]), atol=1e-12)


def test_twin_makes_the_same_search():
    ours, twin = (searched(each, 60, 2, 3).value for each in (FullClusters, RefittedClusters))
    assert_array_equal(ours.labels, twin.labels)
    assert ours.energies == pytest.approx(twin.energies, abs=1e-10)
    assert len(ours.energies) > 1


def test_as_many_starts_are_counted_as_come_near(monkeypatch):
    monkeypatch.setattr(clusterings, "SETS", {"iris": (lambda: load_iris().data[:, 2:], 3)})
    (race,) = clusterings.centroids(sets=("iris",), n_starts=20, n_searches=2)
    ours, theirs = (way(0) for way in race.ways.values())
    assert ours.value == pytest.approx(theirs.value, rel=0.01)
    assert min(ours.seconds, theirs.seconds) > 0


@pytest.mark.parametrize("share", [0.03, 0.2, 0.5, 0.9])
def test_starts_are_sure_to_have_a_success_and_one_less_is_not(share):
    n = starts_for(share)
    assert 1 - (1 - share) ** n >= clusterings.SURE - 1e-9
    assert n == 1 or 1 - (1 - share) ** (n - 1) < clusterings.SURE
