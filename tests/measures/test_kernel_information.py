"""Mutual information by kernel densities: naive twins, quadrature, laws."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from entrolearn.measures import (
    UnreliableEstimateWarning,
    kde_entropy,
    kde_mutual_information,
    quadratic_mutual_information,
    silverman_factor,
)

pytestmark = pytest.mark.filterwarnings("ignore:[12][20] rows of")


def rows(rng, n=20):
    R = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4))
    return R[:, :1], R[:, 1:3], R[:, 3:]


def log_density_loop(V, i, width):
    covariance = width**2 * np.cov(V.T, bias=True)
    return math.log(np.mean([multivariate_normal(v, covariance).pdf(V[i]) for v in np.delete(V, i, 0)]))


@pytest.mark.parametrize("width", [1.0, 0.6])
def test_estimates_are_those_of_a_loop(rng, width):
    X, Y, Z = rows(rng)
    n = len(X)

    def expected(factor, *signed):
        return np.mean([sum(sign * log_density_loop(V, i, factor) for sign, V in signed) for i in range(n)])

    both = np.hstack([X, Y])
    factor = width * silverman_factor(n, 3)
    assert kde_mutual_information(X, Y, bandwidth_scale=width) == pytest.approx(
        expected(factor, (1, both), (-1, X), (-1, Y)), rel=1e-10
    )
    parts = (1, np.hstack([both, Z])), (1, Z), (-1, np.hstack([X, Z])), (-1, np.hstack([Y, Z]))
    assert kde_mutual_information(X, Y, given=Z, bandwidth_scale=width) == pytest.approx(
        expected(width * silverman_factor(n, 4), *parts), rel=1e-10
    )


def test_estimate_is_a_sum_of_entropies(rng):
    """With round kernels of one width, that is of uncorrelated columns of variance 1."""
    x, y = rng.normal(size=(2, 80))
    y -= y.mean() + (x - x.mean()) * np.cov(x, y, bias=True)[0, 1] / x.var()
    x, y = x / x.std(), y / y.std()
    h = silverman_factor(80, 2)
    entropies = [kde_entropy(each, bandwidth=h) for each in (x, y, np.column_stack([x, y]))]
    assert kde_mutual_information(x, y) == pytest.approx(entropies[0] + entropies[1] - entropies[2], rel=1e-9)


def test_quadratic_forms_are_the_integrals_of_the_densities(rng):
    """On a grid, of the standardised columns."""
    x = rng.normal(size=12)
    y = x + 0.5 * rng.normal(size=12)
    scaled = [(each - each.mean()) / each.std() for each in (x, y)]
    h = silverman_factor(12, 2)
    grid, step = np.linspace(-8, 8, 401, retstep=True)
    kernels = [
        np.exp(-0.5 * ((grid[:, None] - each) / h) ** 2) / (h * math.sqrt(2 * math.pi)) for each in scaled
    ]
    joint = kernels[0] @ kernels[1].T / 12
    product = np.outer(kernels[0].mean(axis=1), kernels[1].mean(axis=1))
    area = step**2
    euclidean = np.sum((joint - product) ** 2) * area
    v_j, v_m, v_c = (np.sum(each) * area for each in (joint**2, product**2, joint * product))
    assert quadratic_mutual_information(x, y, divergence="euclidean") == pytest.approx(euclidean, rel=1e-8)
    assert quadratic_mutual_information(x, y) == pytest.approx(math.log(v_j * v_m / v_c**2), rel=1e-8)


@pytest.mark.parametrize("divergence", ["cauchy_schwarz", "euclidean"])
def test_quadratic_forms_grow_with_dependence_and_are_never_negative(rng, divergence):
    x, noise = rng.normal(size=(2, 200))
    found = [
        quadratic_mutual_information(x, rho * x + math.sqrt(1 - rho**2) * noise, divergence=divergence)
        for rho in (0.0, 0.5, 0.8, 0.95)
    ]
    assert found[0] >= 0
    assert (np.diff(found) > 0).all()


def test_linear_maps_of_either_variable_change_nothing(rng):
    X, Y, Z = rows(rng)
    A = rng.normal(size=(2, 2))
    mapped = -1e200 * X + 3e199, 1e-200 * Y @ A, 7 * Z
    for given in (False, True):
        found = [kde_mutual_information(x, y, given=z if given else None) for x, y, z in ((X, Y, Z), mapped)]
        assert found[1] == pytest.approx(found[0], abs=1e-9)
    assert quadratic_mutual_information(*mapped[:2]) == pytest.approx(
        quadratic_mutual_information(X, Y), rel=1e-9
    )


def test_estimate_is_near_the_gaussians_closed_form(rng):
    x, noise = rng.normal(size=(2, 1500))
    found = kde_mutual_information(x, 0.8 * x + 0.6 * noise)
    assert found == pytest.approx(-0.5 * math.log(1 - 0.64), abs=0.05)


def test_unreliable_estimates_and_bad_input_are_named(rng):
    x = rng.normal(size=40)
    with pytest.warns(UnreliableEstimateWarning, match="Y repeats"):
        kde_mutual_information(x, np.round(x))
    for estimate in (kde_mutual_information, quadratic_mutual_information):
        with pytest.raises(ValueError, match="Y has no density"):
            estimate(x, np.column_stack([rng.normal(size=40), x, 2 * x]))
        for scale in (0, 1e-200, 1e200):  # squares of distances in bandwidths overflow
            with pytest.raises(ValueError, match="bandwidth_scale is"):
                estimate(x, x[::-1], bandwidth_scale=scale)
    with pytest.raises(ValueError, match="X and Y have no joint density"):
        kde_mutual_information(x, 2 * x)
    with pytest.raises(ValueError, match="X, Y and given have no joint density"):
        kde_mutual_information(x, rng.normal(size=40), given=-x)
    with pytest.raises(
        ValueError, match="divergence is 'kl'; it must be one of 'cauchy_schwarz', 'euclidean'"
    ):
        quadratic_mutual_information(x, x, divergence="kl")
