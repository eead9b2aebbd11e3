"""Cross-entropy clustering: what it finds, the laws of its energy, what it refuses."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from entrolearn import CrossEntropyClustering
from entrolearn.cluster.gaussians import DiagonalClusters, FullClusters, SphericalClusters
from entrolearn.cluster.hartigan import HartiganSearch

FAMILIES = ("full", "diagonal", "spherical", "fixed")


def mixture(n_components, seed, n=600):
    """Gaussians of different shapes on a circle, neighbours six standard deviations apart or more."""
    rng = np.random.default_rng(seed)
    angles = 2 * np.pi * np.arange(n_components) / n_components
    centres = 3 / np.sin(np.pi / n_components) * np.column_stack([np.cos(angles), np.sin(angles)])
    y = rng.integers(n_components, size=n)
    shapes = np.linalg.qr(rng.normal(size=(n_components, 2, 2)))[0] * [1.0, 0.4]
    return centres[y] + np.einsum("nij,nj->ni", shapes[y], rng.normal(size=(n, 2))), y


def settings(family, **others):
    return {"family": family, "covariance": 0.5 if family == "fixed" else None, "random_state": 0, **others}


def test_number_of_components_is_found_in_nine_of_ten_seeds():
    right = 0
    for seed in range(10):
        n_components = 3 + seed % 3
        X, y = mixture(n_components, seed)
        cec = CrossEntropyClustering(10, random_state=seed).fit(X)
        right += cec.n_clusters_ == n_components and adjusted_rand_score(y, cec.labels_) > 0.95
    assert right >= 9


def test_without_mergers_superfluous_clusters_are_left_though_they_cost_more():
    left = []
    for seed in range(3):
        X, y = mixture(4, seed)
        moved, merged = (
            CrossEntropyClustering(10, merge=merge, random_state=seed).fit(X) for merge in (False, True)
        )
        left.append(moved.n_clusters_)
        assert merged.n_clusters_ == 4
        assert merged.objective_ <= moved.objective_ + 1e-12
        assert merged.objective_ < moved.objective_ or moved.n_clusters_ == 4
    assert 4 < np.mean(left) < 10  # some are removed


def lloyd(X, labels):
    """Where it ends to move all rows to their densest clusters at once; clusters below 5 % are removed."""
    while True:
        clusters = FullClusters(X, labels, np.zeros(2))
        densities = [
            weight * multivariate_normal(mean, covariance).pdf(X)
            for weight, mean, covariance in zip(
                clusters.counts / len(X), clusters.means, clusters.covariances, strict=True
            )
        ]
        kept = np.bincount(np.argmax(densities, axis=0), minlength=len(densities)) >= 0.05 * len(X)
        moved = np.argmax(np.array(densities)[kept], axis=0)
        if np.array_equal(moved, labels):
            return labels
        labels = moved


def test_single_moves_go_on_where_lloyd_rests():
    gains = []
    for seed in range(6):
        X, _ = mixture(4, seed)
        rest = lloyd(X, KMeans(10, n_init=1, max_iter=1, random_state=seed).fit(X).labels_)
        onward = CrossEntropyClustering(10, init=rest, merge=False, reg_covar=0.0, random_state=0).fit(X)
        gains.append(FullClusters(X, rest, np.zeros(2)).energy - onward.objective_)
        assert onward.n_clusters_ <= rest.max() + 1
    assert min(gains) > -1e-12
    assert np.sum(np.array(gains) > 1e-4) >= 4


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_energy_never_rises_unless_a_cluster_is_removed(family, merge):
    """A row's move and a merger lower it; only rows of a removed cluster must go somewhere."""
    X = load_iris().data
    for seed in range(3):
        cec = CrossEntropyClustering(8, **settings(family, merge=merge, n_init=1, random_state=seed)).fit(X)
        kept = np.diff(cec.n_clusters_history_) == 0
        assert (np.diff(cec.history_)[kept] <= 1e-12).all()
        assert (np.diff(cec.n_clusters_history_) <= 0).all()
        assert len(cec.history_) == len(cec.n_clusters_history_) == cec.n_iter_
        assert cec.history_[-1] == cec.objective_


@pytest.mark.parametrize("family", FAMILIES)
def test_labels_are_those_of_the_greatest_weighted_density(family):
    """What no single move improves, no Lloyd step improves either (Telgarsky and Vattani)."""
    for X in (load_iris().data, mixture(4, 0)[0]):
        cec = CrossEntropyClustering(6, **settings(family, n_init=1)).fit(X)
        assert_array_equal(cec.predict(X), cec.labels_)


def test_objective_is_the_energy_of_the_labels():
    X = load_iris().data
    cec = CrossEntropyClustering(4, reg_covar=0.0, random_state=0).fit(X)
    energy = 0.0
    for k, (weight, mean, covariance) in enumerate(
        zip(cec.weights_, cec.means_, cec.covariances_, strict=True)
    ):
        rows = X[cec.labels_ == k]
        assert weight == pytest.approx(len(rows) / 150)
        assert_allclose(mean, rows.mean(axis=0))
        assert_allclose(covariance, np.cov(rows.T, ddof=0), atol=1e-10)
        entropy = 0.5 * np.linalg.slogdet(2 * np.pi * np.e * covariance)[1]
        energy += weight * (entropy - np.log(weight))
    assert cec.objective_ == pytest.approx(energy, abs=1e-8)
    assert cec.objective_ == cec.objectives_.min()
    assert len(cec.objectives_) == 5
    assert (np.diff(cec.weights_) <= 0).all()


def test_partition_is_the_best_of_all_in_a_small_case():
    """All partitions of nine rows into two clusters; the family and the row count allow clusters of three."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(9, 1)) + np.repeat([0.0, 2.5], [5, 4])[:, np.newaxis]
    energies = {}
    for chosen in itertools.product([0, 1], repeat=8):
        labels = np.array([0, *chosen])
        if 3 <= labels.sum() <= 6:
            energies[tuple(labels)] = FullClusters(X, labels, np.zeros(1)).energy
    energies[(0,) * 9] = FullClusters(X, np.zeros(9, dtype=int), np.zeros(1)).energy
    cec = CrossEntropyClustering(2, reg_covar=0.0, n_init=20, random_state=0).fit(X)
    assert cec.objective_ == pytest.approx(min(energies.values()), abs=1e-10)


@pytest.mark.parametrize(
    ("family", "mapped"),
    [
        ("full", lambda X, A, b: X @ A + b),
        ("diagonal", lambda X, A, b: X * np.abs(b) * 10 + b),
        ("spherical", lambda X, A, b: 3 * X @ np.linalg.qr(A)[0] + b),
    ],
)
def test_maps_that_keep_the_family_keep_the_clusters(family, mapped):
    X, _ = mixture(4, 1)
    rng = np.random.default_rng(5)
    A, b = rng.normal(size=(2, 2)), rng.normal(size=2)
    plain, other = (
        CrossEntropyClustering(8, family=family, reg_covar=0.0, n_init=2, random_state=0).fit(rows)
        for rows in (X, mapped(X, A, b))
    )
    assert_array_equal(plain.labels_, other.labels_)
    # Code lengths change by the logarithm of the map's volume.
    change = 0.5 * np.linalg.slogdet(np.cov(mapped(X, A, b).T))[1] - 0.5 * np.linalg.slogdet(np.cov(X.T))[1]
    assert other.objective_ - plain.objective_ == pytest.approx(change, abs=1e-8)


def test_a_small_fixed_sphere_is_kmeans():
    """With C = r I and r to 0, 2 r E is the inertia of a row but for terms that vanish with r."""
    X = load_iris().data
    r = 1e-5
    cec = CrossEntropyClustering(
        3, family="fixed", covariance=r, min_weight=0.0, n_init=10, random_state=0
    ).fit(X)
    kmeans = KMeans(3, n_init=20, random_state=0).fit(X)
    assert adjusted_rand_score(cec.labels_, kmeans.labels_) == 1.0
    inertia = 2 * r * len(X) * (cec.objective_ - 2 * np.log(2 * np.pi * r))
    assert inertia == pytest.approx(kmeans.inertia_, rel=1e-3)


def test_a_wide_fixed_sphere_leaves_one_cluster():
    X, _ = mixture(4, 0)
    assert CrossEntropyClustering(6, family="fixed", covariance=1e4, random_state=0).fit(X).n_clusters_ == 1


def test_round_family_describes_round_clusters_with_fewer_parameters():
    rng = np.random.default_rng(6)
    y = rng.integers(3, size=400)
    centres, stds = 9 * np.eye(3), np.array([0.5, 1.0, 2.0])
    X = centres[y] + stds[y, np.newaxis] * rng.normal(size=(400, 3))
    cec = CrossEntropyClustering(8, family="spherical", random_state=0).fit(X)
    assert cec.n_clusters_ == 3
    variances = cec.covariances_[:, 0, 0]
    assert_allclose(cec.covariances_, variances[:, np.newaxis, np.newaxis] * np.eye(3))
    assert_allclose(np.sort(variances), [0.25, 1.0, 4.0], rtol=0.15)


def test_new_rows_go_where_their_weighted_density_is_greatest():
    X, _ = mixture(3, 1)
    new = 4 * np.random.default_rng(8).normal(size=(200, 2))
    cec = CrossEntropyClustering(6, random_state=0).fit(X)
    joint = [
        np.log(weight) + multivariate_normal(mean, covariance).logpdf(new)
        for weight, mean, covariance in zip(cec.weights_, cec.means_, cec.covariances_, strict=True)
    ]
    assert_array_equal(cec.predict(new), np.argmax(joint, axis=0))


def test_given_labels_are_the_first_partition():
    X, y = mixture(4, 2)
    names = np.array(["d", "b", "c", "a"])[y]
    cec = CrossEntropyClustering(4, init=names, random_state=0).fit(X)
    assert len(cec.objectives_) == 1
    assert cec.n_iter_ <= 3
    assert adjusted_rand_score(cec.labels_, y) > 0.98


def test_cluster_below_the_least_weight_is_removed():
    rng = np.random.default_rng(7)
    X = 10 * np.eye(3)[np.repeat([0, 1, 2], [100, 90, 10])] + rng.normal(size=(200, 3))
    kept, removed = (
        CrossEntropyClustering(6, family="spherical", min_weight=weight, random_state=0).fit(X)
        for weight in (0.02, 0.1)
    )
    assert_array_equal(np.flatnonzero(kept.labels_ == kept.labels_[-1]), np.arange(190, 200))
    assert np.sum(removed.labels_ == removed.labels_[-1]) > 10
    assert removed.weights_.min() >= 0.1 > kept.weights_.min()


def test_constant_and_repeated_features_do_not_matter():
    X, _ = mixture(4, 0)
    plain = CrossEntropyClustering(8, random_state=0).fit(X)
    more = CrossEntropyClustering(8, random_state=0).fit(np.column_stack([X, np.full(len(X), 0.1), X[:, 0]]))
    assert more.n_clusters_ == 4
    assert adjusted_rand_score(plain.labels_, more.labels_) > 0.98


@pytest.mark.parametrize("family", FAMILIES)
def test_far_from_the_origin_clusters_are_those_of_the_same_numbers_near_it(family):
    X, _ = mixture(4, 0)
    X = np.column_stack([np.rint(2**10 * X), np.zeros(len(X))])  # numbers that a shift does not round
    options = {"family": family, "covariance": 2.0**18 if family == "fixed" else None, "random_state": 0}
    near = CrossEntropyClustering(8, **options).fit(X)
    far = CrossEntropyClustering(8, **options).fit(X + 2.0**52)
    assert_array_equal(far.labels_, near.labels_)
    assert_array_equal(far.predict(X + 2.0**52), near.predict(X))
    assert_allclose(far.objectives_, near.objectives_, rtol=1e-9)
    assert_allclose(far.means_ - 2.0**52, near.means_, atol=1)


@pytest.mark.parametrize("start", ["k-means++", "random"])
def test_one_row_of_many_copies_is_one_cluster(start):
    cec = CrossEntropyClustering(3, init=start, random_state=0).fit(np.ones((20, 2)))
    assert cec.n_clusters_ == 1


@pytest.mark.parametrize("family", ["full", "diagonal", "spherical"])
def test_flat_cluster_is_refused_without_regularisation(family):
    X = np.column_stack([np.arange(30.0), np.zeros(30)]) if family != "spherical" else np.ones((30, 2))
    with pytest.raises(
        ValueError, match="a cluster has a singular covariance .* accepted: a larger reg_covar"
    ):
        CrossEntropyClustering(2, family=family, reg_covar=0.0, random_state=0).fit(X)


def test_passes_that_are_used_up_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 passes: raise max_iter"):
        CrossEntropyClustering(8, max_iter=1, n_init=1, random_state=0).fit(load_iris().data)


# --- many moves at once -------------------------------------------------------------------------------


def searches(X, start, family, least_rows=20):
    prior = np.full(X.shape[1], 1e-6 * len(X))
    for together in (False, True):
        labels = start.copy()
        search = HartiganSearch(X, labels, family(X, labels, prior), least_rows, True, together)
        yield search.run(200, np.random.RandomState(0))


@pytest.mark.parametrize("family", [FullClusters, DiagonalClusters, SphericalClusters])
def test_moves_made_together_find_separate_clusters_as_single_ones_do(family):
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=2000)
    X = rng.normal(size=(2000, 3)) + 9 * np.eye(4, 3)[y]
    start = np.where(rng.random(2000) < 0.6, y, rng.integers(4, size=2000))
    one_by_one, together = searches(X, start, family)
    assert_array_equal(together.labels, one_by_one.labels)
    assert together.energies[-1] == pytest.approx(one_by_one.energies[-1], abs=1e-12)
    assert one_by_one._n_moves > 500 > together._n_moves


@pytest.mark.parametrize("family", [FullClusters, SphericalClusters])
def test_moves_made_together_end_where_no_single_one_pays(family):
    rng = np.random.default_rng(1)
    X = rng.standard_t(3, size=(3000, 2)) + 2 * rng.integers(3, size=(3000, 1))  # which overlap
    start = rng.integers(6, size=3000)
    for search in searches(X, start, family, least_rows=300):  # some clusters vanish
        assert search.converged
        assert search.clusters.n_clusters == search.labels.max() + 1 < 6
        assert search.clusters.counts.min() >= 300
        assert search.clusters.changes(X, search.labels).min() > -1e-9
        lost = np.diff(search.numbers, prepend=6) < 0
        assert (np.diff(search.energies, prepend=np.inf)[~lost] <= 1e-12).all()


def test_changes_of_one_row_are_those_of_many():
    rng = np.random.default_rng(2)
    X, labels = rng.normal(size=(60, 3)), np.arange(60) % 4
    for family in (FullClusters, DiagonalClusters, SphericalClusters):
        clusters = family(X, labels, np.full(3, 0.1))
        clusters.remove(X[0], 0)
        clusters.add(X[0], 2)
        clusters.drop(3)
        kept = np.flatnonzero(labels[1:] < 3) + 1
        whole = clusters.changes(X[kept], labels[kept])
        each = [clusters.changes_of_row(X[i], labels[i]) for i in kept]
        assert_allclose(np.transpose(each), whole, atol=1e-14)
        assert clusters.energies == pytest.approx(clusters._energies_now(slice(None)), abs=1e-14)


@pytest.mark.parametrize("family", ["diagonal", "spherical"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_share_next_to_zero_of_the_variances_is_none(family):
    """The scatter of equal rows is then next to zero, and another row's distance in its units infinite."""
    X = np.random.default_rng(0).integers(0, 3, size=(20, 2)).astype(float)
    found = CrossEntropyClustering(3, family=family, reg_covar=5e-324, random_state=0).fit(X)
    assert np.unique(found.labels_).size > 1
