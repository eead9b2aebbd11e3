"""Distributions of greatest entropy under moment constraints."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.optimize import approx_fprime, brentq, minimize
from scipy.special import digamma
from scipy.stats import beta, norm, truncexpon, truncnorm

from entrolearn.maxent import MaximumEntropyDistribution
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
    assert found.entropy == pytest.approx(entropy(found.probabilities), rel=1e-12)
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


@settings(max_examples=30)
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
    assert found.entropy >= entropy(p) - 1e-4


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


@pytest.mark.parametrize("breaks", [[], [0.3]])
def test_a_jump_in_a_function_is_found_with_a_break_and_without(breaks):
    def below(y):
        return (y < 0.3).astype(float)

    found = MaximumEntropyDistribution.on_interval(0, 1, [below], [0.8], breaks=breaks)
    assert_allclose(found.density([0.1, 0.9]), [0.8 / 0.3, 0.2 / 0.7], rtol=1e-9)


@pytest.mark.parametrize("mean", [1e-20, 1e-3, 0.5 - 1e-9, 0.9, 1 - 1e-10])
def test_any_mean_inside_of_the_interval_is_that_of_a_truncated_exponential(mean):
    found = MaximumEntropyDistribution.on_interval(0, 1, [value], [mean])
    # Of the rate r on [0, 1] the mean is 1 / r - 1 / (e^r - 1).
    near = min(mean, 1 - mean)
    rate = 1 / near if near < 0.01 else brentq(lambda r: 1 / r - 1 / math.expm1(r) - near, -1, 100)
    assert found.multipliers[0] == pytest.approx(-rate if mean < 0.5 else rate, rel=1e-6, abs=1e-7)
    assert found.expectation(value) == pytest.approx(mean, rel=1e-9)
    if near < 0.01:
        assert found.entropy == pytest.approx(1 + math.log(near), rel=1e-7)


@pytest.mark.parametrize("half", [2.0, 1e4])
@pytest.mark.parametrize("deviation", [1e-4, 1.0])
@pytest.mark.parametrize("mean", [0.0, 0.75])
def test_normal_densities_are_found_however_wide_the_interval(half, deviation, mean):
    moments = [mean, mean**2 + deviation**2]
    # What the second moment is rounded to is what there is of a variance.
    precision = max(1e-7, 1e-14 * mean**2 / deviation**2)
    if half < 8 * deviation:
        moments = [0.0, truncnorm(-half / deviation, half / deviation, scale=deviation).var()]
    found = MaximumEntropyDistribution.on_interval(-half, half, [value, square], moments)
    assert found.multipliers[1] == pytest.approx(-0.5 / deviation**2, rel=precision)
    if half >= 8 * deviation:
        assert found.entropy == pytest.approx(gaussian_entropy(deviation**2), rel=1e-6, abs=precision)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.3, 2.0), (50.0, 0.6), (1.0, 1.0), (300.0, 2.0)])
def test_beta_densities_are_found_that_grow_without_bound_at_the_ends(a, b):
    moments = [digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)]
    found = MaximumEntropyDistribution.on_interval(0, 1, [np.log, lambda y: np.log1p(-y)], moments)
    assert_allclose(found.multipliers, [a - 1, b - 1], rtol=1e-6, atol=1e-6)
    assert found.entropy == pytest.approx(beta(a, b).entropy(), abs=1e-6)


@pytest.mark.parametrize("scale", [1e-100, 1e-9, 1e9, 1e100])
@pytest.mark.parametrize("shift", [0.0, 3.0, -1e4])
def test_units_and_origin_of_the_interval_do_not_matter(scale, shift):
    """The entropy grows by the logarithm of the unit."""

    def moved(function):
        return lambda y: function(y / scale - shift)

    functions, moments = [value, np.cos], [0.01, 0.8]
    plain = MaximumEntropyDistribution.on_interval(-1, 5, functions, moments)
    ends = [scale * (end + shift) for end in (-1, 5)]
    other = MaximumEntropyDistribution.on_interval(*ends, [moved(each) for each in functions], moments)
    assert_allclose(other.multipliers, plain.multipliers, rtol=1e-8)
    assert other.entropy - plain.entropy == pytest.approx(math.log(scale), abs=1e-9)


@pytest.mark.parametrize(
    ("ends", "functions", "moments"),
    [
        ((0, 1), [value], [1.5]),
        ((0, 1), [value], [-1e-9]),
        ((0, 1), [value], [1 + 1e-9]),
        ((0, 1), [value], [1.0]),
        ((0, 1), [value, square], [0.5, 0.2]),  # less than the mean's square
        ((0, 1), [value, square], [0.5, 0.25]),  # no variance
        ((0, 1), [value, square], [0.5, 0.6]),  # more than the mean
        ((-1e4, 1e4), [value, square], [5.0, 24.9]),
        ((0, 1), [value, lambda y: 2 * y], [0.5, 1.2]),  # contradict each other
        ((0, 1), [np.log], [0.1]),
        ((0, 1), [np.ones_like], [2.0]),
        ((0, 1e4), [np.sin], [1 + 1e-9]),
    ],
)
def test_moments_that_no_density_on_the_interval_has_are_refused(ends, functions, moments):
    with pytest.raises(
        InfeasibleMomentsError, match="^(no distribution|the quadrature does not) .*: "
    ) as caught:
        MaximumEntropyDistribution.on_interval(*ends, functions, moments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("functions", "moments"),
    [
        ([lambda y: np.sin(1e9 * y)], [0.3]),
        # Beside 1 doubles are 1e-16 apart, where a hundredth of this density's mass is.
        ([np.log, lambda y: np.log1p(-y)], [digamma(0.5) - digamma(0.6), digamma(0.1) - digamma(0.6)]),
    ],
)
def test_what_no_quadrature_resolves_is_refused(functions, moments):
    with pytest.raises(
        InfeasibleMomentsError, match="^the quadrature does not resolve the functions, or the"
    ):
        MaximumEntropyDistribution.on_interval(0, 1, functions, moments)


def test_density_integrates_to_one_and_is_zero_outside():
    found = MaximumEntropyDistribution.on_interval(0, 1, [value], [0.3])
    assert quad(found.density, 0, 1)[0] == pytest.approx(1, rel=1e-10)
    assert_allclose(found.density([-0.1, 1.1]), 0)
    logarithm = MaximumEntropyDistribution.on_interval(0, 10, [np.log], [1.0])
    assert_array_equal(logarithm.density([-1.0, 2.0, 11.0]), [0, logarithm.density(2.0), 0])
    assert logarithm.density(-1.0) == 0
    with pytest.raises(ValueError, match="function 0 gives shape"):
        logarithm.density(np.nan)
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
    _, theta = minimize_dual(dual)
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
