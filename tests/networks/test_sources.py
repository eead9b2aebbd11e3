"""Densities of sources: what they integrate to, what their scores are derivatives of."""

import numpy as np
import pytest
from information_objectives import log_density, scores
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import logistic, norm

from entrolearn.networks import sources
from entrolearn.networks.sources import moments

KINDS = [False, True]


def density(u, flat):
    return np.exp(log_density(np.array([[u]]), np.array([flat]))[0])


@pytest.mark.parametrize("flat", KINDS)
def test_densities_have_unit_mass_zero_mean_and_unit_variance(flat):
    moments = [
        quad(lambda u, m=m: u**m * density(u, flat), -40, 40, points=[0], limit=200)[0] for m in range(3)
    ]
    assert_allclose(moments, [1, 0, 1], atol=1e-7)


@pytest.mark.parametrize("flat", KINDS)
def test_densities_are_those_of_scipy(flat):
    for u in (-3.0, -0.7, 0.0, 1.2, 8.0):
        bumps = [norm.pdf(u, loc=sign * np.sqrt(0.5), scale=np.sqrt(0.5)) for sign in (-1, 1)]
        expected = np.mean(bumps) if flat else logistic.pdf(u, scale=np.sqrt(3) / np.pi)
        assert density(u, flat) == pytest.approx(expected, rel=1e-12)


def test_one_is_more_peaked_and_the_other_flatter_than_a_gaussian():
    kurtosis = [quad(lambda u, f=flat: u**4 * density(u, f), -60, 60, limit=200)[0] for flat in KINDS]
    assert_allclose(kurtosis, [4.2, 2.5], rtol=1e-6)  # 3 + 6/5 of a logistic, 3 - 2 (1/√2)⁴ of two bumps


@pytest.mark.parametrize("flat", KINDS)
def test_scores_are_the_derivatives_of_minus_the_logarithm(flat):
    u, step = np.linspace(-4, 4, 41), 1e-4
    kind = np.array([flat])
    first, second = scores(u[np.newaxis], kind)
    below, here, above = (
        np.array([-log_density(np.array([[v]]), kind)[0] for v in u + shift]) for shift in (-step, 0, step)
    )
    assert_allclose(first[0], (above - below) / (2 * step), atol=1e-6)
    assert_allclose(second[0], (above - 2 * here + below) / step**2, atol=1e-5)


def test_each_source_has_its_own_kind():
    Y, kinds = np.random.default_rng(0).normal(size=(3, 50)), np.array([False, True, False])
    together, alone = scores(Y, kinds), [scores(Y[[i]], kinds[[i]]) for i in range(3)]
    for i in range(3):
        assert_allclose([each[i] for each in together], [each[0] for each in alone[i]])
        assert_allclose(log_density(Y, kinds)[i], log_density(Y[[i]], kinds[[i]])[0])


def test_the_likelier_kind_tells_peaked_sources_from_flat_ones():
    rng = np.random.default_rng(1)
    Y = np.stack([rng.laplace(size=5000), rng.uniform(-1, 1, size=5000), rng.choice([-1.0, 1], size=5000)])
    Y /= Y.std(axis=1, keepdims=True)
    found = moments(Y, np.zeros(3, dtype=bool))
    assert (found.flat > found.peaked).tolist() == [False, True, True]


def test_moments_of_tiles_are_those_of_all_samples_at_once(monkeypatch):
    monkeypatch.setattr(sources, "TILE", 64)  # 21 samples of three sources; the last tile is smaller
    Y, kinds = np.random.default_rng(2).normal(size=(3, 200)), np.array([False, True, False])
    found, (first, second) = moments(Y, kinds), scores(Y, kinds)
    assert_allclose(found.peaked, log_density(Y, np.zeros(3, dtype=bool)), rtol=1e-12)
    assert_allclose(found.flat, log_density(Y, np.ones(3, dtype=bool)), rtol=1e-12)
    assert_allclose(found.first, first @ Y.T / 200, atol=1e-12)
    expected = np.outer(second.mean(axis=1), (Y**2).mean(axis=1))
    np.fill_diagonal(expected, (second * Y**2).mean(axis=1))
    assert_allclose(found.second, expected, atol=1e-12)


def test_far_outputs_do_not_overflow():
    Y = np.array([[1e4], [1e4]])
    kinds = np.array([False, True])
    with np.errstate(over="raise"):
        found, (first, second) = log_density(Y, kinds), scores(Y, kinds)
    slope = np.pi / np.sqrt(3)  # of a logistic density's logarithm; the nearer of two bumps decides the other
    assert_allclose(
        found, [np.log(slope) - slope * 1e4, -((1e4 - np.sqrt(0.5)) ** 2) - np.log(2 * np.sqrt(np.pi))]
    )
    assert_allclose(first, [[slope], [2e4 - np.sqrt(2)]])
    assert_allclose(second, [[0], [2]], atol=1e-12)
