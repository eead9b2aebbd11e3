"""Kernel sums of clusters, and the entropies made of them."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from entrolearn.cluster.potentials import ClusterPotentials, between_entropy, entropy_increase
from entrolearn.measures import quadratic_cross_entropy_kde, quadratic_entropy_kde

SIGMA = 0.7


def naive_entropy(members):
    """H(C) less the kernel's constant: a double loop over equations (5) and (6)."""
    total = sum(math.exp(-np.sum((x - z) ** 2) / (4 * SIGMA**2)) for x in members for z in members)
    return -math.log(total / len(members) ** 2)


def naive_between(X, labels):
    """Equations (7) and (8), corrected, less the kernel's constant."""
    total = sum(
        math.exp(-np.sum((X[i] - X[j]) ** 2) / (4 * SIGMA**2))
        for i in range(len(X))
        for j in range(len(X))
        if labels[i] != labels[j]
    )
    return -math.log(total / (2 * math.prod(np.bincount(labels).tolist())))


def grown(X, labels, counts=None):
    counts = np.ones_like(labels) if counts is None else counts
    potentials = ClusterPotentials(-cdist(X, X, "sqeuclidean") / (4 * SIGMA**2), labels.max() + 1, counts)
    for row in np.random.default_rng(0).permutation(np.flatnonzero(labels >= 0)):
        potentials.add(row, labels[row])
    return potentials


@pytest.fixture
def clusters():
    rng = np.random.default_rng(1)
    labels = rng.integers(-1, 4, size=40)
    return rng.normal(size=(40, 3)), labels


def test_entropies_are_those_of_a_double_loop(clusters):
    X, labels = clusters
    potentials = grown(X, labels)
    assert_array_equal(potentials.labels, labels)
    expected = [naive_entropy(X[labels == c]) for c in range(4)]
    assert_allclose(-np.log(potentials.within / potentials.sizes**2), expected, rtol=1e-12)
    members = labels >= 0
    found = between_entropy(potentials.log_pair_sums(), potentials.sizes)
    assert found == pytest.approx(naive_between(X[members], labels[members]), rel=1e-12)


def test_increases_are_differences_of_entropies(clusters):
    X, labels = clusters
    potentials = grown(X, labels)
    for row in np.flatnonzero(labels < 0):
        expected = [
            naive_entropy(np.vstack([X[labels == c], X[row]])) - naive_entropy(X[labels == c])
            for c in range(4)
        ]
        assert_allclose(potentials.increases(row), expected, rtol=1e-9, atol=1e-12)


def test_a_row_that_occurs_three_times_is_three_rows(clusters):
    X, labels = clusters
    counts = np.random.default_rng(4).integers(1, 4, size=40)
    rows = np.repeat(np.arange(40), counts)
    once, again = grown(X, labels, counts), grown(X[rows], labels[rows])
    assert_array_equal(once.sizes, again.sizes)
    assert_allclose(once.within, again.within, rtol=1e-12)
    assert_allclose(once.log_pair_sums(), again.log_pair_sums(), rtol=1e-12)
    for row in np.flatnonzero(labels < 0):
        members = [X[rows][labels[rows] == c] for c in range(4)]
        copies = np.repeat(X[[row]], counts[row], axis=0)
        expected = [naive_entropy(np.vstack([each, copies])) - naive_entropy(each) for each in members]
        assert_allclose(once.increases(row), expected, rtol=1e-9, atol=1e-12)


def test_a_cluster_that_is_released_leaves_the_others_as_they_were(clusters):
    X, labels = clusters
    potentials = grown(X, labels)
    assert_array_equal(potentials.release(1), np.flatnonzero(labels == 1))
    rest = np.array([-1, 0, -1, 1, 2])[labels + 1]
    anew = grown(X, rest)
    assert_array_equal(potentials.labels, rest)
    assert_array_equal(potentials.sizes, anew.sizes)
    assert_allclose(potentials.within, anew.within, rtol=1e-12)
    assert_allclose(potentials.log_pair_sums(), anew.log_pair_sums(), rtol=1e-12)


def test_on_the_line_they_are_the_entropies_of_kernel_density_estimates():
    """Whose constant is that of the kernel of variance 2σ². A pair's entropy is the cross entropy."""
    rng = np.random.default_rng(2)
    x, labels = rng.normal(size=30), np.repeat([0, 1], [12, 18])
    potentials = grown(x[:, np.newaxis], labels)
    constant = 0.5 * math.log(4 * math.pi * SIGMA**2)
    expected = [quadratic_entropy_kde(x[labels == c], bandwidth=SIGMA) for c in (0, 1)]
    assert_allclose(constant - np.log(potentials.within / potentials.sizes**2), expected, rtol=1e-12)
    cross = quadratic_cross_entropy_kde(x[:12], x[12:], bandwidth=SIGMA)
    found = constant + between_entropy(potentials.log_pair_sums(), potentials.sizes)
    assert found == pytest.approx(cross, rel=1e-12)


def test_two_rows_have_a_closed_form():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    potentials = grown(X, np.array([0, 1]))
    found = between_entropy(potentials.log_pair_sums(), potentials.sizes)
    assert found == pytest.approx(25 / (4 * SIGMA**2), rel=1e-12)  # 1/2 of two equal ordered pairs


def test_clusters_so_far_apart_that_kernel_values_vanish_have_a_finite_entropy():
    X = np.array([[0.0], [1e3], [3e3]])
    potentials = grown(X, np.arange(3))
    found = between_entropy(potentials.log_pair_sums(), potentials.sizes)
    assert found == pytest.approx(1e6 / (4 * SIGMA**2), rel=1e-12)  # the closest pair is all that counts
    assert math.exp(-found) == 0


def test_many_sizes_do_not_overflow():
    n = 200
    sizes = np.full(n, 10**6)
    assert between_entropy(np.zeros((n, n)), sizes) == pytest.approx(
        math.log(2) + n * math.log(1e6) - math.log(n * (n - 1)), rel=1e-12
    )


def test_the_nearer_a_row_the_less_it_adds_and_never_more_than_the_size_allows():
    sizes, within = np.array([5, 50]), np.array([9.0, 600.0])
    sums = np.linspace(0, 5, 20)[:, np.newaxis] * [1, 1]
    increases = entropy_increase(sums, sizes, within)
    assert np.all(np.diff(increases, axis=0) < 0)
    assert np.all(increases < 2 * np.log1p(1 / sizes))


def test_a_large_cluster_however_far_outbids_a_small_one():
    """Equation (1) has it so: a row at distance σ of a single one joins a hundred equal rows far away."""
    X = np.concatenate([[[0.0], [SIGMA]], np.full((100, 1), 1e6)])
    potentials = grown(X, np.array([0, -1] + [1] * 100))
    small = math.log(2 / (1 + math.exp(-1 / 4)))  # of one row at distance σ
    large = 2 * math.log1p(1 / 100) - math.log1p(1 / 100**2)
    assert_allclose(potentials.increases(1), [small, large], rtol=1e-9)
    assert large < small


def test_wider_kernels_have_more_entropy_within():
    """Convolution only loses information: the integral of the squared density falls with σ."""
    X = np.random.default_rng(3).normal(size=(20, 2))
    squared, entropies = cdist(X, X, "sqeuclidean"), []
    for sigma in (0.1, 0.3, 1.0, 3.0):
        potentials = ClusterPotentials(-squared / (4 * sigma**2), 1, np.ones(20, dtype=int))
        for row in range(20):
            potentials.add(row, 0)
        entropies.append(math.log(4 * math.pi * sigma**2) - math.log(potentials.within[0] / 400))
    assert np.all(np.diff(entropies) > 0)
