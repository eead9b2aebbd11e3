"""Rényi entropy clustering."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from entrolearn import RenyiEntropyClustering
from entrolearn import kernels as kernel_functions
from entrolearn.cluster import renyi
from entrolearn.measures import silverman_factor


def naive_hierarchy(X, seeds, seed_size, bandwidth):
    """The method by its definitions: every entropy from all pairs, for every row and every cluster."""
    distances = cdist(X, X)
    kernel = np.exp(-(distances**2) / (4 * bandwidth**2)) / (4 * math.pi * bandwidth**2) ** (X.shape[1] / 2)

    def entropy(members):
        return -math.log(sum(kernel[i, j] for i in members for j in members) / len(members) ** 2)

    def between(clusters):
        total = sum(kernel[i, j] for a in clusters for b in clusters if a is not b for i in a for j in b)
        return -math.log(total / (2 * math.prod(len(members) for members in clusters)))

    def assign(clusters, rows):
        rows = set(rows)
        while rows:
            labelled = [i for members in clusters for i in members]
            row = min(rows, key=lambda i: min(distances[i, j] for j in labelled))
            increases = [entropy([*members, row]) - entropy(members) for members in clusters]
            clusters[int(np.argmin(increases))].append(row)
            rows.remove(row)

    def labels(clusters):
        found = np.full(len(X), -1)
        for c, members in enumerate(clusters):
            found[members] = c
        return found

    clusters = [[seed] for seed in seeds]
    for _ in range(seed_size - 1):
        for members in clusters:
            free = set(range(len(X))) - {i for others in clusters for i in others}
            members.append(min(free, key=lambda i: min(distances[i, j] for j in members)))
    seeded = labels(clusters)
    assign(clusters, np.flatnonzero(seeded < 0))
    levels, entropies = [labels(clusters)], [between(clusters)]
    while len(clusters) > 2:
        rest = [between(clusters[:c] + clusters[c + 1 :]) for c in range(len(clusters))]
        assign(clusters, clusters.pop(int(np.argmax(rest))))
        levels.append(labels(clusters))
        entropies.append(between(clusters))
    return seeded, levels, entropies


@pytest.mark.parametrize("bandwidth", [0.5, 1.5])
def test_it_is_the_printed_method(bandwidth):
    X, _ = make_blobs(36, centers=3, cluster_std=2.0, random_state=0)
    seeds = np.random.RandomState(7).choice(36, 5, replace=False)
    seeded, levels, entropies = naive_hierarchy(X, seeds, 3, bandwidth)
    clustering = RenyiEntropyClustering(
        bandwidth=bandwidth, n_seeds=5, seed_size=3, n_init=1, random_state=7
    ).fit(X)
    assert_array_equal(clustering.seeds_, seeded)
    assert_array_equal(clustering.hierarchy_, levels)
    assert_allclose(clustering.between_cluster_entropies_, entropies, rtol=1e-9)
    assert clustering.n_iter_ == 3


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=1)


def test_separate_groups_are_found_with_their_number(blobs):
    X, y = blobs
    clustering = RenyiEntropyClustering(random_state=0).fit(X)
    assert clustering.n_clusters_ == 4
    assert adjusted_rand_score(y, clustering.labels_) == 1
    assert_array_equal(clustering.predict(X), clustering.labels_)


def test_the_last_level_of_two_separate_groups_is_exact():
    X, y = make_blobs(80, centers=[[0, 0], [12, 0]], random_state=2)
    clustering = RenyiEntropyClustering(random_state=0).fit(X)
    assert adjusted_rand_score(y, clustering.hierarchy_[-1]) == 1


@pytest.mark.parametrize("n_clusters", [2, 3, 6])
def test_the_number_asked_for_is_that_level_of_the_hierarchy(blobs, n_clusters):
    clustering = RenyiEntropyClustering(n_clusters, n_seeds=8, random_state=0).fit(blobs[0])
    assert clustering.n_clusters_ == n_clusters
    assert_array_equal(clustering.labels_, clustering.hierarchy_[8 - n_clusters])
    assert clustering.objective_ == -clustering.between_cluster_entropies_[8 - n_clusters]
    assert [len(np.unique(level)) for level in clustering.hierarchy_] == [8, 7, 6, 5, 4, 3, 2]


def test_of_several_seedings_the_one_with_clusters_furthest_apart_counts(blobs):
    several = RenyiEntropyClustering(3, n_init=5, random_state=0).fit(blobs[0])
    assert several.objectives_.shape == (5,)
    assert several.objective_ == several.objectives_.min() < several.objectives_.max()


def test_the_level_is_where_the_separation_jumps():
    def numbers(*separations):
        levels = [
            renyi._Level(np.empty(0), 0.0, each, np.empty(len(separations) + 1 - i), np.empty(0))
            for i, each in enumerate(separations)
        ]
        return [len(renyi._chosen(levels, n_clusters).sizes) for n_clusters in (None, 2, len(levels) + 1)]

    assert numbers(1.0, 1.5, 1.4, 7.0, 9.0) == [3, 2, 6]
    assert numbers(9.0) == [2, 2, 2]  # two clusters were seeded, and are


def test_groups_are_counted_at_any_width_that_they_fill(blobs):
    """Where the between-cluster entropy itself only falls, as it does by ln N with each cluster that goes."""
    X, y = blobs
    counted = RenyiEntropyClustering(bandwidth=3.0, random_state=0).fit(X)
    assert counted.n_clusters_ == 4
    assert adjusted_rand_score(y, counted.labels_) == 1
    assert np.all(np.diff(counted.between_cluster_entropies_) < 0)


def test_a_single_cluster_has_nothing_beside_it(blobs):
    clustering = RenyiEntropyClustering(1, n_init=2, random_state=0).fit(blobs[0])
    assert clustering.objective_ == -math.inf
    assert_array_equal(clustering.labels_, 0)
    assert [level.max() + 1 for level in clustering.hierarchy_[-2:]] == [2, 1]
    assert_array_equal(clustering.predict(blobs[0]), 0)


def test_labels_have_the_entropies_that_are_told(blobs):
    X, _ = blobs
    clustering = RenyiEntropyClustering(3, bandwidth=0.8, random_state=0).fit(X)
    kernel = np.exp(-cdist(X, X, "sqeuclidean") / (4 * 0.8**2)) / (4 * math.pi * 0.8**2)
    members = [clustering.labels_ == c for c in range(3)]
    within = [-math.log(kernel[np.ix_(own, own)].mean()) for own in members]
    assert_allclose(clustering.within_cluster_entropies_, within, rtol=1e-9)
    different = clustering.labels_[:, np.newaxis] != clustering.labels_
    sizes = math.prod(int(own.sum()) for own in members)
    between = -math.log(kernel[different].sum() / (2 * sizes))
    assert clustering.objective_ == pytest.approx(-between, rel=1e-9)
    level = len(clustering.hierarchy_) - 2  # of three clusters
    assert clustering.separations_[level] == pytest.approx(-math.log(kernel[different].mean()), rel=1e-9)
    assert clustering.separations_[-1] == pytest.approx(clustering.between_cluster_entropies_[-1], rel=1e-9)


def test_other_units_and_other_axes_do_not_change_the_clusters():
    """All entropies grow by d ln(scale), as those of densities do."""
    X, _ = load_iris(return_X_y=True)
    X = X + 1e-4 * np.random.default_rng(3).normal(size=X.shape)  # no ties
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(4, 4)))[0]
    plain = RenyiEntropyClustering(3, n_init=2, random_state=0).fit(X)
    turned = RenyiEntropyClustering(3, n_init=2, random_state=0).fit(10 * X @ turn + 1000)
    assert turned.bandwidth_ == pytest.approx(10 * plain.bandwidth_, rel=1e-9)
    assert_array_equal(turned.hierarchy_, plain.hierarchy_)
    for name in ("between_cluster_entropies_", "separations_", "within_cluster_entropies_"):
        grown = getattr(turned, name) - getattr(plain, name)
        assert_allclose(grown, 4 * math.log(10), rtol=1e-6)


def test_the_order_of_the_rows_does_not_matter_where_the_seeds_are_the_same():
    X, _ = make_blobs(60, centers=3, cluster_std=2.0, random_state=5)
    exponents = -cdist(X, X, "sqeuclidean")
    seeds, counts = np.array([3, 20, 41, 50]), np.ones(60, dtype=int)
    order = np.random.default_rng(6).permutation(60)
    place = np.argsort(order)  # where each row went
    plain = renyi._grown(exponents, counts, seeds, 4, None)
    shuffled = renyi._grown(exponents[np.ix_(order, order)], counts, place[seeds], 4, None)
    for one, other in zip(plain.levels, shuffled.levels, strict=True):
        assert_array_equal(other.labels[place], one.labels)
        assert other.between == pytest.approx(one.between, rel=1e-10)


def test_seeds_grow_along_the_shape_and_not_around_the_seed():
    """The fourth row is nearer to the seed than the fifth, which is nearer to a member."""
    x = np.array([0.0, 1.0, 2.0, -2.5, 3.0])
    exponents = -(np.subtract.outer(x, x) ** 2)
    assert_array_equal(
        renyi._grown_seeds(exponents, np.ones(5, dtype=int), np.array([0]), 4).labels, [0, 0, 0, -1, 0]
    )


def test_moons_and_rings_are_told_apart_where_k_means_cuts_them():
    rng = np.random.default_rng(0)
    angle, inner = rng.uniform(0, 2 * np.pi, 150), np.arange(150) < 50
    radius = np.where(inner, 1.0, 4.0) + 0.15 * rng.normal(size=150)
    rings = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    moons, moon = make_moons(200, noise=0.05, random_state=0)
    for X, y, bandwidth, seeds in ((moons, moon, 0.2, (10, 10)), (rings, inner, 0.7, (3, 25))):
        found = RenyiEntropyClustering(
            2, bandwidth=bandwidth, n_seeds=seeds[0], seed_size=seeds[1], random_state=1
        ).fit(X)
        assert adjusted_rand_score(y, found.labels_) > 0.95
        assert adjusted_rand_score(y, KMeans(2, n_init=5, random_state=0).fit_predict(X)) < 0.5


def test_prediction_is_the_least_rise_of_entropy(blobs):
    X, _ = blobs
    clustering = RenyiEntropyClustering(3, bandwidth=1.0, random_state=0).fit(X)
    Z = np.random.default_rng(7).uniform(-3, 12, size=(15, 2))

    def entropy(members):
        return -math.log(np.exp(-cdist(members, members, "sqeuclidean") / 4).mean())

    clusters = [X[clustering.labels_ == c] for c in range(3)]
    expected = [
        np.argmin([entropy(np.vstack([members, z])) - entropy(members) for members in clusters]) for z in Z
    ]
    assert_array_equal(clustering.predict(Z), expected)


def test_the_default_width_is_silvermans_of_the_mean_variance(blobs):
    X, _ = blobs
    expected = silverman_factor(150, 2) * math.sqrt((X[:, 0].var() + X[:, 1].var()) / 2)
    assert RenyiEntropyClustering(n_init=1, random_state=0).fit(X).bandwidth_ == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize(
    ("n_samples", "params", "expected"),
    [
        (1000, {}, (10, 10)),
        (1000, {"n_clusters": 15}, (30, 10)),
        (100, {}, (10, 5)),
        (10, {}, (5, 1)),
        (5, {"n_clusters": 4}, (4, 1)),
        (2, {}, (2, 1)),
        (50, {"n_seeds": 5, "seed_size": 10}, (5, 10)),
    ],
)
def test_seeds_take_at_most_half_of_the_rows_unless_told(n_samples, params, expected):
    assert RenyiEntropyClustering(**params)._seeding(n_samples) == expected


def test_more_clusters_than_seeds_are_refused():
    with pytest.raises(ValueError, match="n_seeds=4 must be at least n_clusters=5"):
        RenyiEntropyClustering(5, n_seeds=4).fit(np.random.default_rng(8).normal(size=(30, 2)))


def test_seeds_are_distinct_rows():
    rows = np.arange(6.0)[np.random.default_rng(5).integers(6, size=60)]
    seeds = RenyiEntropyClustering(n_seeds=6, seed_size=1, n_init=1, random_state=0).fit(rows[:, None]).seeds_
    assert sorted(seeds[np.unique(rows, return_index=True)[1]]) == [0, 1, 2, 3, 4, 5]


def test_fewer_distinct_rows_than_clusters_are_refused():
    for X, n_clusters in (np.ones((10, 2)), None), (np.repeat([[0.0], [1.0]], 9, axis=0), 3):
        with pytest.raises(ValueError, match="distinct rows"):
            RenyiEntropyClustering(n_clusters).fit(X)


def test_more_rows_than_the_memory_holds_are_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr(kernel_functions, "physical_memory", lambda: 1000.0)
    with pytest.raises(MemoryError, match="fit on a sample of the rows, and predict the others"):
        RenyiEntropyClustering().fit(np.random.default_rng(9).normal(size=(30, 2)))


def test_processes_need_room_for_a_second_matrix(monkeypatch):
    X = np.random.default_rng(10).normal(size=(300, 2))
    monkeypatch.setattr(kernel_functions, "memory_limit", lambda: (1.5 * 8 * 300**2, "of this test"))
    RenyiEntropyClustering(n_init=2, n_seeds=4, n_jobs=1).fit(X)
    with pytest.raises(MemoryError):
        RenyiEntropyClustering(n_init=2, n_seeds=4, n_jobs=2).fit(X)
