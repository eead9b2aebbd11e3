"""Triangular factors stand for the rows behind them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import lstsq

from entrolearn.machines import welm
from entrolearn.machines.layers import RandomLayer
from entrolearn.machines.welm import factors_by_group


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def layer():
    return RandomLayer.draw(3, 6, "rbf", np.random.RandomState(0))


@pytest.mark.parametrize("rows_per_column", [1, 8, 1000])
def test_a_factor_has_the_gram_matrix_of_its_rows(rng, layer, monkeypatch, rows_per_column):
    """R'R = [H, 1]'[H, 1], however many rows are reduced at once."""
    monkeypatch.setattr(welm, "ROWS_PER_COLUMN", rows_per_column)
    X, group = rng.random((200, 3)), np.arange(200) % 3
    for g, factor in enumerate(factors_by_group(layer, X, group, 4)[:3]):
        H = np.hstack([layer(X[group == g]), np.ones((len(X[group == g]), 1))])
        assert factor.shape == (7, 7)
        assert_allclose(factor.T @ factor, H.T @ H, rtol=1e-10)
        assert_allclose(np.tril(factor, -1), 0, atol=1e-12)


def test_few_rows_stay_few_and_an_empty_group_has_none(rng, layer):
    small, empty = factors_by_group(layer, rng.random((4, 3)), np.zeros(4, dtype=int), 2)
    assert (small.shape, empty.shape) == ((4, 7), (0, 7))


def test_leading_blocks_solve_the_smaller_problems(rng, layer):
    """Two groups with targets of their own: least squares on rows, and on the factors of the rows."""
    X, group = rng.random((300, 3)), rng.integers(0, 2, 300)
    target = np.array([-1.0, 3.0])
    R = factors_by_group(layer, X, group, 2)
    for h in (2, 4, 6):
        stacked = np.vstack([factor[:h, :h] for factor in R])
        right = np.concatenate([factor[:h, -1] * t for factor, t in zip(R, target, strict=True)])
        expected = lstsq(layer(X)[:, :h], target[group])[0]
        assert_allclose(lstsq(stacked, right)[0], expected, rtol=1e-6)


def test_small_singular_values_survive(rng):
    """Normal equations lose a direction of relative size 1e-10; the factor does not."""
    H = rng.normal(size=(500, 2)) @ np.array([[1.0, 1.0], [1e-10, -1e-10]])

    def layer(X, out=None):
        return H[X[:, 0].astype(int)]

    (factor,) = factors_by_group(layer, np.arange(500.0)[:, None], np.zeros(500, dtype=int), 1)
    kept = np.linalg.svd(factor[:2, :2], compute_uv=False)
    assert_allclose(kept, np.linalg.svd(H, compute_uv=False), rtol=1e-5)
    squares = np.linalg.eigvalsh(H.T @ H)
    assert not 0.9 < np.sqrt(abs(squares[0])) / kept[1] < 1.1
