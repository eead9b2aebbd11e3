"""Distributions of greatest entropy under moment constraints."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import approx_fprime, brentq, minimize
from scipy.stats import beta, norm, truncexpon

from entrolearn import MaximumEntropyDistribution
from entrolearn.maxent.dual import Dual, InfeasibleMomentsError, minimize_dual
from entrolearn.measures import entropy, gaussian_entropy

FACES = np.arange(1, 7)


def value(y):
    return y


def square(y):
    return y**2


# Discrete


def test_without_constraints_it_is_uniform():
    found = MaximumEntropyDistribution.on_points(FACES, [], [])
    assert_allclose(found.probabilities, np.full(6, 1 / 6), rtol=1e-14)
    assert found.entropy == pytest.approx(math.log(6), rel=1e-14)
    assert found.log_partition == pytest.approx(math.log(6), rel=1e-14)


def test_jaynes_die():
    """Jaynes' Brandeis lectures (1962): a die whose mean is 4.5."""
    found = MaximumEntropyDistribution.on_points(FACES, [value], [4.5])
    printed = [0.05435, 0.07877, 0.11416, 0.16545, 0.23977, 0.34749]
    assert_allclose(found.probabilities, printed, atol=6e-6)
    assert found.entropy == pytest.approx(1.61358, abs=6e-6)


def test_die_is_boltzmanns_with_the_root_of_one_equation():
    def excess(multiplier):
        p = np.exp(multiplier * FACES)
        return FACES @ p / p.sum() - 2.2

    root = brentq(excess, -5, 5, xtol=1e-14)
    found = MaximumEntropyDistribution.on_points(FACES, [value], [2.2])
    assert found.multipliers[0] == pytest.approx(root, rel=1e-10)


def test_a_mean_of_many_counts_makes_them_geometric():
    found = MaximumEntropyDistribution.on_points(np.arange(2000), [value], [3.0])
    ratio = 3 / 4  # mean = ratio / (1 - ratio)
    assert_allclose(found.probabilities[:50], (1 - ratio) * ratio ** np.arange(50), rtol=1e-9)


def test_of_all_distributions_with_the_moments_it_has_the_greatest_entropy():
    """By a solver that knows nothing of duals."""
    constraints = [
        {"type": "eq", "fun": lambda p: p.sum() - 1},
        {"type": "eq", "fun": lambda p: FACES @ p - 3.0},
        {"type": "eq", "fun": lambda p: FACES**2 @ p - 12.0},
    ]
    start = np.full(6, 1 / 6)
    primal = minimize(
        lambda p: np.sum(p * np.log(np.maximum(p, 1e-300))),
        start,
        bounds=[(0, 1)] * 6,
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-13},
    )
    found = MaximumEntropyDistribution.on_points(FACES, [value, square], [3.0, 12.0])
    assert_allclose(found.probabilities, primal.x, atol=1e-5)
    assert found.entropy == pytest.approx(-primal.fun, abs=1e-9)


def test_entropy_is_that_of_its_probabilities_and_of_its_multipliers():
    found = MaximumEntropyDistribution.on_points(FACES, [value, square], [3.0, 12.0])
    assert found.entropy == pytest.approx(entropy(found.probabilities, base=math.e), rel=1e-12)
    by_multipliers = found.log_partition - found.multipliers @ found.moments
    assert found.entropy == pytest.approx(by_multipliers, rel=1e-10)
    assert_allclose(found.density(FACES), found.probabilities, rtol=1e-10)


def test_entropy_falls_with_each_further_constraint():
    entropies = [
        MaximumEntropyDistribution.on_points(FACES, functions, moments).entropy
        for functions, moments in (([], []), ([value], [3.0]), ([value, square], [3.0, 12.0]))
    ]
    assert entropies[0] > entropies[1] > entropies[2]


def test_support_of_vectors_with_the_marginals_fixed_makes_them_independent():
    support = np.array([[x, y] for x in range(3) for y in range(2)], dtype=float)
    functions = [lambda p: p[:, 0] == 0, lambda p: p[:, 0] == 1, lambda p: p[:, 1]]
    found = MaximumEntropyDistribution.on_points(support, functions, [0.2, 0.3, 0.6])
    expected = np.outer([0.2, 0.3, 0.5], [0.4, 0.6]).ravel()
    assert_allclose(found.probabilities, expected, rtol=1e-10)


def test_moments_that_one_point_alone_can_have_put_all_there():
    found = MaximumEntropyDistribution.on_points(FACES, [value], [6.0])
    assert found.probabilities[-1] == pytest.approx(1, rel=1e-12)


def test_a_constraint_that_repeats_another_changes_nothing():
    once = MaximumEntropyDistribution.on_points(FACES, [value], [2.5])
    twice = MaximumEntropyDistribution.on_points(FACES, [value, lambda y: 2 * y + 1], [2.5, 6.0])
    assert_allclose(twice.probabilities, once.probabilities, rtol=1e-10)


def test_a_constant_whose_moment_is_off_by_a_rounding_changes_nothing():
    functions = [value, lambda y: np.full(len(y), 1000.0)]
    found = MaximumEntropyDistribution.on_points(FACES, functions, [2.5, 1000.0 * (1 - 1e-15)])
    assert found.expectation(value) == pytest.approx(2.5, rel=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_moments_of_any_distribution_are_met_with_at_least_its_entropy(seed):
    rng = np.random.default_rng(seed)
    n_points, n_functions = rng.integers(2, 12), rng.integers(1, 5)
    table = rng.normal(size=(n_points, n_functions)) * 10.0 ** rng.integers(-4, 5, size=n_functions)
    table += rng.choice([0.0, 10.0])
    p = rng.dirichlet(np.full(n_points, rng.choice([0.05, 0.3, 1.0])))
    functions = [lambda y, j=j: table[y.astype(int), j] for j in range(n_functions)]
    found = MaximumEntropyDistribution.on_points(np.arange(n_points), functions, p @ table)
    scale = np.abs(table - p @ table).max(axis=0)
    assert (np.abs(found.probabilities @ table - p @ table) <= 1e-6 * scale).all()
    assert found.entropy >= entropy(p, base=math.e) - 1e-4


# On an interval


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 1.0), (3.0, 0.25), (-7.0, 1e-4)])
def test_mean_and_variance_on_a_wide_interval_make_a_gaussian(mean, variance):
    found = MaximumEntropyDistribution.on_interval(-20, 20, [value, square], [mean, mean**2 + variance])
    assert found.entropy == pytest.approx(gaussian_entropy(variance), rel=1e-9)
    y = mean + math.sqrt(variance) * np.linspace(-4, 4, 9)
    assert_allclose(found.density(y), norm(mean, math.sqrt(variance)).pdf(y), rtol=1e-6)
    assert found.multipliers[1] == pytest.approx(-1 / (2 * variance), rel=1e-6)


def test_a_mean_on_an_interval_makes_a_truncated_exponential():
    rate = 1.7
    twin = truncexpon(b=3 * rate, scale=1 / rate)
    found = MaximumEntropyDistribution.on_interval(0, 3, [value], [twin.mean()])
    assert found.multipliers[0] == pytest.approx(-rate, rel=1e-9)
    y = np.linspace(0, 3, 7)
    assert_allclose(found.density(y), twin.pdf(y), rtol=1e-9)
    assert found.entropy == pytest.approx(twin.entropy(), rel=1e-9)


def test_means_of_logarithms_make_a_beta_distribution():
    a, b = 2.5, 4.0
    twin = beta(a, b)
    moments = [twin.expect(np.log), twin.expect(lambda y: np.log1p(-y))]
    found = MaximumEntropyDistribution.on_interval(0, 1, [np.log, lambda y: np.log1p(-y)], moments)
    assert_allclose(found.multipliers, [a - 1, b - 1], rtol=1e-6)


def test_a_jump_in_a_function_needs_a_break():
    def below(y):
        return (y < 0.3).astype(float)

    found = MaximumEntropyDistribution.on_interval(0, 1, [below], [0.8], breaks=[0.3])
    assert_allclose(found.density([0.1, 0.9]), [0.8 / 0.3, 0.2 / 0.7], rtol=1e-9)
    with pytest.raises(InfeasibleMomentsError, match="the quadrature does not resolve the functions"):
        MaximumEntropyDistribution.on_interval(0, 1, [below], [0.8])


def test_density_integrates_to_one_and_is_zero_outside():
    found = MaximumEntropyDistribution.on_interval(0, 1, [value], [0.3])
    assert quad(found.density, 0, 1)[0] == pytest.approx(1, rel=1e-10)
    assert_allclose(found.density([-0.1, 1.1]), 0)
    assert found.expectation(value) == pytest.approx(0.3, rel=1e-10)
    assert found.expectation(np.ones_like) == pytest.approx(1, rel=1e-12)


# The dual


@pytest.fixture
def dual():
    rng = np.random.default_rng(0)
    return Dual(rng.uniform(-1, 1, size=(30, 3)), rng.normal(size=30))


def test_gradient_of_the_dual_by_finite_differences(dual):
    theta = np.array([0.3, -0.5, 1.0])
    numeric = approx_fprime(theta, lambda theta: dual(theta)[0], 1e-7)
    assert_allclose(dual.gradient(dual(theta)[1]), numeric, atol=1e-6)


def test_newton_step_solves_with_the_hessian_of_finite_differences(dual):
    theta = np.array([0.3, -0.5, 1.0])
    hessian = np.array(
        [approx_fprime(theta, lambda theta, i=i: dual.gradient(dual(theta)[1])[i], 1e-7) for i in range(3)]
    )
    step, constant = dual.newton_step(dual(theta)[1])
    assert_allclose(hessian @ step, -dual.gradient(dual(theta)[1]), atol=1e-6)
    assert_allclose(constant, 0, atol=1e-14)


def test_minimum_is_scipys(dual):
    theta = minimize_dual(dual, np.zeros(3))
    value_there, probability = dual(theta)
    twin = minimize(lambda theta: dual(theta)[0], np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    assert_allclose(theta, twin.x, atol=1e-5)
    assert value_there == pytest.approx(twin.fun, rel=1e-12)
    assert_allclose(dual.gradient(probability), 0, atol=1e-12)


# Input


@pytest.mark.parametrize(
    ("functions", "moments"),
    [
        ([value], [7.0]),
        ([value, square], [3.5, 12.35]),  # between 3 and 4 there is no face: 12.5 at least
        ([value, square], [3.5, 12.0]),  # less than the mean's square
        ([value, lambda y: 2 * y], [1.5, 4.0]),  # contradict each other
        ([np.zeros_like], [1.0]),
    ],
)
def test_moments_that_no_distribution_has_are_refused(functions, moments):
    with pytest.raises(InfeasibleMomentsError, match="no distribution on the support has these moments: "):
        MaximumEntropyDistribution.on_points(FACES, functions, moments)


def test_moments_next_to_those_that_no_distribution_has_are_met():
    found = MaximumEntropyDistribution.on_points(FACES, [value, square], [3.5, 12.2500001 + 0.25])
    assert found.expectation(square) == pytest.approx(12.5000001, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda M: M.on_points([], [value], [1.0]), r"points have shape \(0,\)"),
        (lambda M: M.on_points([1, math.nan], [value], [1.0]), r"they must be finite"),
        (lambda M: M.on_points(FACES, [value], [1.0, 2.0]), r"a finite one for each of the 1 functions"),
        (lambda M: M.on_points(FACES, [value], [math.inf]), r"moments are \[inf\]"),
        (lambda M: M.on_points(FACES, [lambda y: 1.0], [1.0]), r"function 0 gives shape \(\) for 6 points"),
        (lambda M: M.on_interval(1, 0, [value], [1.0]), r"the interval is from 1 to 0; it must be finite"),
        (lambda M: M.on_interval(0, math.inf, [value], [1.0]), r"the interval is from 0 to inf"),
        (lambda M: M.on_interval(0, 1, [value], [0.5], breaks=[2]), r"they must lie between 0 and 1"),
        (lambda M: M.on_interval(0, 1, [value], [1.5]), r"these moments: 1.5 of a function from"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make(MaximumEntropyDistribution)
