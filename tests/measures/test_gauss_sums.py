"""Sums of kernels by interpolation: within the stated bound of the sums over all pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from entrolearn.measures.gauss_sums import gauss_sums


def naive(places, sources, weights=None):
    kernels = np.exp(-cdist(places, sources, "sqeuclidean") / 2)
    return kernels.sum(axis=1) if weights is None else kernels @ weights


def spread(n, k, width=4.0, seed=0):
    return width * np.random.default_rng(seed).standard_normal((n, k))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 2])
def test_sums_are_those_of_all_pairs_within_the_bound(k, weighted):
    places, sources = spread(1500, k, 5.0), spread(2000, k, seed=1)
    weights = np.random.default_rng(2).uniform(0.1, 3, 2000) if weighted else None
    sums, error = gauss_sums(places, sources, weights)
    assert abs(sums - naive(places, sources, weights)).max() <= error
    assert error < 1e-10 * 2000 * 3


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("at", [0.0, 0.25, 0.5, -0.5])
def test_points_on_the_borders_of_cells_and_far_out(k, at):
    """Rounding to a cell may go either way there; an outlier occupies a cell of its own."""
    sources = np.vstack([np.floor(spread(1500, k)) + at, np.full((1, k), 1e9), np.full((1, k), -1e140)])
    sums, error = gauss_sums(sources, sources)
    assert abs(sums - naive(sources, sources)).max() <= error
    assert_allclose(sums[-2:], 1, atol=error)


def test_shifts_by_whole_cells_change_nothing_but_rounding():
    x = np.round(spread(3000, 1) * 2**20) / 2**20
    (one, _), (other, _) = gauss_sums(x, x), gauss_sums(x + 2.0**20, x + 2.0**20)
    assert_allclose(one, other, rtol=1e-12)


def test_weights_are_copies():
    x, copies = spread(2000, 1), np.random.default_rng(3).integers(1, 4, 2000)
    (weighted, error), (copied, _) = (
        gauss_sums(x, x, copies.astype(float)),
        gauss_sums(x, np.repeat(x, copies, 0)),
    )
    assert_allclose(weighted, copied, atol=2 * error)


def test_few_pairs_and_scattered_points_are_left_to_all_pairs():
    assert gauss_sums(spread(20, 1), spread(20, 1)) is None
    assert gauss_sums(spread(500, 1, 1e6), spread(500, 1, 1e6)) is None
    assert gauss_sums(spread(1000, 2, 100.0), spread(1000, 2, 100.0)) is None
