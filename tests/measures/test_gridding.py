import numpy as np
import pytest
from numpy.testing import assert_allclose

from entrolearn.measures.gridding import SplineShares, blur


@pytest.fixture
def shares(rng):
    """Thirty points on a periodic grid of 8 times 11."""
    return SplineShares(rng.uniform(0, 3, size=(30, 2)), np.array([-0.5, 0.0]), np.array([0.5, 0.4]), (8, 11))


def test_spreading_keeps_the_weights_and_their_means(rng):
    places, weights = rng.uniform(1, 2, size=20), rng.uniform(size=20)
    shares = SplineShares(places[:, np.newaxis], np.zeros(1), np.array([0.25]), (16,))
    found = shares.spread(weights)
    assert found.sum() == pytest.approx(weights.sum())
    assert found @ (0.25 * np.arange(16)) == pytest.approx(weights @ places)


def test_points_without_weights_weigh_one(shares):
    assert_allclose(shares.spread(), shares.spread(np.ones(30)))


def test_reading_is_the_transpose_of_spreading(rng, shares):
    field, weights = rng.normal(size=(8, 11)), rng.normal(size=30)
    assert np.vdot(field, shares.spread(weights)) == pytest.approx(shares.values(field) @ weights)


def test_a_linear_field_is_read_exactly(rng):
    """Away from where the grid closes on itself: splines reproduce lines, and their slopes."""
    places = rng.uniform([1, 1], [3, 3], size=(20, 2))
    origin, step = np.zeros(2), np.array([0.5, 0.4])
    shares = SplineShares(places, origin, step, (12, 14))
    x, y = np.ix_(0.5 * np.arange(12), 0.4 * np.arange(14))
    assert_allclose(shares.values(2 * x - 3 * y), places @ [2, -3])
    assert_allclose(shares.slopes(2 * x - 3 * y), np.broadcast_to([2, -3], (20, 2)))


def test_slopes_are_those_of_the_values(rng):
    places, field, step = rng.uniform(0, 3, size=(15, 2)), rng.normal(size=(8, 11)), 1e-6
    grid = (np.zeros(2), np.array([0.5, 0.4]), (8, 11))
    slopes = SplineShares(places, *grid).slopes(field)
    for axis in (0, 1):
        ahead, behind = (
            SplineShares(places + sign * step * np.eye(2)[axis], *grid).values(field) for sign in (1, -1)
        )
        assert_allclose(slopes[:, axis], (ahead - behind) / (2 * step), atol=1e-7)


def test_blur_is_the_spectrum_of_the_shares_averaged_over_a_cell():
    """Over places within a cell, a wave spread to the grid is that wave times the blur."""
    n, step = 16, 0.25
    places = np.linspace(0, step, 4000, endpoint=False)[:, np.newaxis]
    shares = SplineShares(places, np.zeros(1), np.array([step]), (n,))
    frequency = 2 * np.pi * 3 / (n * step)
    waves = np.exp(1j * frequency * places[:, 0])
    grid_waves = np.exp(-1j * frequency * step * np.arange(n))
    spread = shares.spread(waves.real) + 1j * shares.spread(waves.imag)
    assert grid_waves @ spread / len(places) == pytest.approx(blur(frequency, step), abs=1e-6)
