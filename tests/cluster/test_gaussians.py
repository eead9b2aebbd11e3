"""Energies of partitions beside densities and refits, and how they change."""

from functools import partial

import numpy as np
import pytest
from numpy.linalg import LinAlgError
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from entrolearn.cluster.gaussians import DiagonalClusters, FixedClusters, FullClusters, SphericalClusters

D = 3
C = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 0.7]])
PRIOR = np.array([0.3, 0.2, 0.1])
# Each family, without a prior and with one where it may have one.
CASES = {
    "full": partial(FullClusters, prior=np.zeros(D)),
    "full, prior": partial(FullClusters, prior=PRIOR),
    "diagonal": partial(DiagonalClusters, prior=np.zeros(D)),
    "diagonal, prior": partial(DiagonalClusters, prior=PRIOR),
    "spherical": partial(SphericalClusters, prior=np.zeros(D)),
    "spherical, prior": partial(SphericalClusters, prior=PRIOR),
    "fixed": partial(FixedClusters, covariance=C),
}
every_family = pytest.mark.parametrize("clusters_of", CASES.values(), ids=CASES)


@pytest.fixture
def data():
    """Rows of three clusters of different shapes, sizes and places."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat([0, 1, 2], [12, 20, 8]))
    A = rng.normal(size=(3, D, D))
    X = 2.0 * rng.normal(size=(3, D))[labels] + np.einsum("nij,nj->ni", A[labels], rng.normal(size=(40, D)))
    return X, labels


def naive_energy(X, labels, means, covariances, prior):
    """The mean of -ln p_k N(x; m_k, S_k), and the penalty of the prior."""
    logs = []
    for x, k in zip(X, labels, strict=True):
        p = np.mean(labels == k)
        logs.append(np.log(p) + multivariate_normal(means[k], covariances[k]).logpdf(x))
    penalty = sum(np.trace(np.diag(prior) @ np.linalg.inv(covariance)) for covariance in covariances)
    return -np.mean(logs) + penalty / (2 * len(X))


@every_family
def test_energy_is_the_code_length_of_the_densities(data, clusters_of):
    X, labels = data
    clusters = clusters_of(X, labels)
    prior = clusters_of.keywords.get("prior", np.zeros(D))
    expected = naive_energy(X, labels, clusters.means, clusters.covariances, prior)
    assert clusters.energy == pytest.approx(expected, rel=1e-12)
    assert_allclose(clusters.means, [X[labels == k].mean(axis=0) for k in range(3)])


@pytest.mark.parametrize("prior", [np.zeros(D), PRIOR])
@pytest.mark.parametrize(
    ("family", "changed"),
    [
        (FullClusters, lambda S, E: (np.eye(D) + E) @ S @ (np.eye(D) + E).T),
        (DiagonalClusters, lambda S, E: S * np.diag(1 + np.diag(E))),
        (SphericalClusters, lambda S, E: S * (1 + E[0, 0])),
    ],
)
def test_covariances_are_the_best_of_their_family(data, family, changed, prior):
    X, labels = data
    clusters = family(X, labels, prior)
    best = naive_energy(X, labels, clusters.means, clusters.covariances, prior)
    rng = np.random.default_rng(1)
    for _ in range(5):
        E = 0.05 * rng.normal(size=(D, D))
        others = np.array([changed(S, E) for S in clusters.covariances])
        assert naive_energy(X, labels, clusters.means, others, prior) > best
        shifted = clusters.means + 0.05 * rng.normal(size=(3, D))
        assert naive_energy(X, labels, shifted, clusters.covariances, prior) > best


@every_family
def test_change_by_a_move_is_that_of_a_refit(data, clusters_of):
    X, labels = data
    clusters = clusters_of(X, labels)
    expected = np.empty((3, len(X)))
    for i in range(len(X)):
        for k in range(3):
            moved = labels.copy()
            moved[i] = k
            expected[k, i] = clusters_of(X, moved).energy - clusters.energy
    assert_allclose(clusters.changes(X, labels), expected, atol=1e-12)
    assert_allclose(clusters.changes(X[7:9], labels[7:9]), expected[:, 7:9], atol=1e-12)


@every_family
def test_a_thousand_moves_end_where_a_refit_does(data, clusters_of):
    X, labels = data
    clusters, labels = clusters_of(X, labels), labels.copy()
    rng = np.random.default_rng(2)
    for i, k in zip(rng.integers(len(X), size=1000), rng.integers(3, size=1000), strict=True):
        if k != labels[i] and clusters.counts[labels[i]] > D + 2:
            clusters.remove(X[i], labels[i])
            clusters.add(X[i], k)
            labels[i] = k
    fresh = clusters_of(X, labels)
    assert clusters.energy == pytest.approx(fresh.energy, abs=1e-8)
    assert_allclose(clusters.means, fresh.means, atol=1e-10)
    assert_allclose(clusters.covariances, fresh.covariances, atol=1e-9)
    assert_allclose(clusters.changes(X, labels), fresh.changes(X, labels), atol=1e-8)


@every_family
def test_change_by_a_merger_is_that_of_a_refit(data, clusters_of):
    X, labels = data
    clusters = clusters_of(X, labels)
    found = clusters.mergers()
    for k, other, third in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        merged = np.where(labels == third, 1, 0)
        assert found[k, other] == pytest.approx(clusters_of(X, merged).energy - clusters.energy, abs=1e-12)
    assert np.isinf(found[np.tril_indices(3)]).all()


@every_family
def test_rows_of_a_dropped_cluster_are_added_to_others(data, clusters_of):
    X, labels = data
    clusters = clusters_of(X, labels)
    clusters.drop(1)
    row = X[labels == 1][0]
    before, growth = clusters.energy, clusters.additions(row[np.newaxis])[:, 0]
    clusters.add(row, 1)
    assert clusters.energy - before == pytest.approx(growth[1], abs=1e-12)
    for each in X[labels == 1][1:]:
        clusters.add(each, 1)
    assert clusters.energy == pytest.approx(clusters_of(X, np.where(labels == 0, 0, 1)).energy, abs=1e-10)


def test_row_that_gives_a_cluster_its_volume_stays():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [5.0, 5.0], [6.0, 5.0], [5.0, 7.0]])
    labels = np.array([0, 0, 0, 0, 1, 1, 1])
    changes = FullClusters(X, labels, np.zeros(2)).changes(X[:4], labels[:4])
    assert np.isinf(changes[1, 3])  # the other three are on a line
    assert np.isfinite(changes[1, :3]).all()


@pytest.mark.parametrize("family", [FullClusters, DiagonalClusters, SphericalClusters])
def test_cluster_without_volume_takes_a_prior(family):
    X, labels = np.ones((4, 2)), np.zeros(4, dtype=int)
    with pytest.raises(LinAlgError):
        family(X, labels, np.zeros(2))
    assert np.isfinite(family(X, labels, np.full(2, 0.1)).energy)
