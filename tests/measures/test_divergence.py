import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import gaussian_kde, multivariate_normal, norm

from entrolearn.measures import (
    cauchy_schwarz_gaussian,
    cauchy_schwarz_kde,
    quadratic_cross_entropy_gaussian,
    quadratic_cross_entropy_kde,
    quadratic_entropy_gaussian,
    quadratic_entropy_kde,
    silverman_bandwidth,
)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def log_integral_of_product(f, g):
    """By quadrature, for densities that live within 40 of the origin."""
    value, _ = quad(
        lambda t: float(f(t)) * float(g(t)), -40, 40, limit=500, epsabs=0, epsrel=1e-11, points=[0, 2]
    )
    return math.log(value)


def random_gaussian(rng, d):
    factor = rng.normal(size=(d, d + 2))
    return rng.normal(size=d), factor @ factor.T


# Gaussians on the line


def test_divergence_of_a_pair_computed_by_hand():
    # Eq. (3) corrected, by hand: ln(2 / sqrt 3) + 4/4 = 1.1438. As printed, with the wrong sign of the
    # logarithm and -ln(pi / 2) / 2, it would be 0.6304.
    assert round(-math.log(math.pi / 2) / 2 - math.log(2 / math.sqrt(3)) + 1, 4) == 0.6304
    divergence = cauchy_schwarz_gaussian(0, 1, 2, 3)
    assert divergence == pytest.approx(math.log(2 / math.sqrt(3)) + 1, rel=1e-14)
    assert round(divergence, 4) == 1.1438


@pytest.mark.parametrize(("mean_q", "variance_q"), [(2.0, 3.0), (0.0, 1.0), (-1.5, 0.2), (3.0, 9.0)])
def test_gaussian_closed_forms_equal_quadrature(mean_q, variance_q):
    f, g = norm(0, 1).pdf, norm(mean_q, math.sqrt(variance_q)).pdf
    log_ff, log_gg, log_fg = (log_integral_of_product(*pair) for pair in ((f, f), (g, g), (f, g)))
    assert quadratic_entropy_gaussian(variance_q) == pytest.approx(-log_gg, rel=1e-9)
    assert quadratic_cross_entropy_gaussian(0, 1, mean_q, variance_q) == pytest.approx(-log_fg, rel=1e-9)
    divergence = cauchy_schwarz_gaussian(0, 1, mean_q, variance_q)
    assert divergence == pytest.approx(log_ff + log_gg - 2 * log_fg, rel=1e-9, abs=1e-9)


variances = st.floats(1e-6, 1e6)
means = st.floats(-1e3, 1e3)


@given(means, variances, means, variances)
def test_gaussian_divergence_is_symmetric_and_not_negative(mean_p, variance_p, mean_q, variance_q):
    forth = cauchy_schwarz_gaussian(mean_p, variance_p, mean_q, variance_q)
    assert forth >= 0
    assert cauchy_schwarz_gaussian(mean_q, variance_q, mean_p, variance_p) == forth


@given(means, variances)
def test_gaussian_divergence_is_zero_for_equal(mean, variance):
    assert cauchy_schwarz_gaussian(mean, variance, mean, variance) == 0.0


@given(means, variances, st.floats(0.01, 10), st.floats(1.01, 10))
def test_gaussian_divergence_of_equal_variances_or_equal_means(mean, variance, shift, factor):
    apart = (mean + shift) - mean  # rounded as the means are
    shifted = cauchy_schwarz_gaussian(mean, variance, mean + shift, variance)
    assert shifted == pytest.approx(apart**2 / (2 * variance), rel=1e-9)
    scaled = cauchy_schwarz_gaussian(mean, variance, mean, variance * factor)
    assert scaled == pytest.approx(math.log((1 + factor) / (2 * math.sqrt(factor))), rel=1e-9)


@given(means, variances, means, variances, st.floats(0.1, 10), st.floats(-10, 10))
def test_gaussian_divergence_is_affine_invariant(mean_p, variance_p, mean_q, variance_q, scale, shift):
    before = cauchy_schwarz_gaussian(mean_p, variance_p, mean_q, variance_q)
    after = cauchy_schwarz_gaussian(
        -scale * mean_p + shift, scale**2 * variance_p, -scale * mean_q + shift, scale**2 * variance_q
    )
    # The means lose digits in the shift; beside a variance of 1e-6 that is 1e-13² · 1e6.
    assert after == pytest.approx(before, rel=1e-6, abs=1e-9)


@given(means, variances, means, variances)
def test_gaussian_divergence_is_made_of_its_entropies(mean_p, variance_p, mean_q, variance_q):
    cross = quadratic_cross_entropy_gaussian(mean_p, variance_p, mean_q, variance_q)
    own = quadratic_entropy_gaussian(variance_p) + quadratic_entropy_gaussian(variance_q)
    divergence = cauchy_schwarz_gaussian(mean_p, variance_p, mean_q, variance_q)
    assert divergence == pytest.approx(2 * cross - own, rel=1e-9, abs=1e-9)


def test_point_masses_have_the_limits_of_the_docstring():
    assert cauchy_schwarz_gaussian(1.0, 0.0, 1.0, 0.0) == 0.0
    assert cauchy_schwarz_gaussian(1.0, 0.0, 2.0, 0.0) == math.inf
    assert cauchy_schwarz_gaussian(1.0, 0.0, 1.0, 2.0) == math.inf
    assert quadratic_entropy_gaussian(0.0) == -math.inf
    assert quadratic_cross_entropy_gaussian(1.0, 0.0, 1.0, 0.0) == -math.inf
    assert quadratic_cross_entropy_gaussian(1.0, 0.0, 2.0, 0.0) == math.inf
    assert quadratic_cross_entropy_gaussian(0.0, 0.0, 0.0, 1.0) == pytest.approx(-norm.logpdf(0))


@pytest.mark.parametrize("ratio", [1e-20, 1e-200, 1e200])
def test_extreme_variance_ratios_stay_finite(ratio):
    # ln(½ (1 + r) / sqrt r) for r far from 1.
    assert cauchy_schwarz_gaussian(0, 1, 0, ratio) == pytest.approx(
        abs(math.log(ratio)) / 2 - math.log(2), rel=1e-12
    )


# Gaussians in d dimensions


@pytest.mark.parametrize("divergence", [cauchy_schwarz_gaussian, quadratic_cross_entropy_gaussian])
def test_one_dimension_equals_the_line(divergence):
    on_line = divergence(0.5, 1.5, 2.0, 3.0)
    assert divergence([0.5], [[1.5]], [2.0], [[3.0]]) == pytest.approx(on_line, rel=1e-13)
    assert quadratic_entropy_gaussian([[3.0]]) == quadratic_entropy_gaussian(3.0)


@pytest.mark.parametrize("d", [2, 5])
def test_cross_entropy_is_the_log_density_of_the_difference(rng, d):
    (mean_p, covariance_p), (mean_q, covariance_q) = random_gaussian(rng, d), random_gaussian(rng, d)
    expected = -multivariate_normal(mean_q, covariance_p + covariance_q).logpdf(mean_p)
    assert quadratic_cross_entropy_gaussian(mean_p, covariance_p, mean_q, covariance_q) == pytest.approx(
        expected
    )
    own = -multivariate_normal(mean_p, 2 * covariance_p).logpdf(mean_p)
    assert quadratic_entropy_gaussian(covariance_p) == pytest.approx(own)


def test_divergence_in_the_plane_adds_up_over_independent_coordinates():
    both = cauchy_schwarz_gaussian([0, 1], np.diag([1.0, 4.0]), [2, 0], np.diag([3.0, 0.5]))
    parts = cauchy_schwarz_gaussian(0, 1, 2, 3) + cauchy_schwarz_gaussian(1, 4, 0, 0.5)
    assert both == pytest.approx(parts, rel=1e-12)


@pytest.mark.parametrize("d", [2, 5])
def test_divergence_is_made_of_its_entropies_in_d_dimensions(rng, d):
    p, q = random_gaussian(rng, d), random_gaussian(rng, d)
    expected = (
        2 * quadratic_cross_entropy_gaussian(*p, *q)
        - quadratic_entropy_gaussian(p[1])
        - quadratic_entropy_gaussian(q[1])
    )
    assert cauchy_schwarz_gaussian(*p, *q) == pytest.approx(expected, rel=1e-10)
    assert cauchy_schwarz_gaussian(*q, *p) == pytest.approx(expected, rel=1e-10)
    assert cauchy_schwarz_gaussian(*p, *p) == pytest.approx(0.0, abs=1e-12)


def test_divergence_is_affine_invariant_in_d_dimensions(rng):
    (mean_p, covariance_p), (mean_q, covariance_q) = random_gaussian(rng, 4), random_gaussian(rng, 4)
    before = cauchy_schwarz_gaussian(mean_p, covariance_p, mean_q, covariance_q)
    # Units apart by 1e12: no feature may count as having no variance because another has more.
    A, shift = np.diag([1e-6, 1, 30, 1e6]) @ rng.normal(size=(4, 4)), rng.normal(size=4)
    after = cauchy_schwarz_gaussian(
        A @ mean_p + shift, A @ covariance_p @ A.T, A @ mean_q + shift, A @ covariance_q @ A.T
    )
    assert after == pytest.approx(before, rel=1e-6)


def test_singular_covariances_have_the_limits_of_the_docstring():
    flat, tilted = np.diag([1.0, 0.0]), np.ones((2, 2))
    assert cauchy_schwarz_gaussian([0, 0], flat, [2, 0], 3 * flat) == pytest.approx(
        cauchy_schwarz_gaussian(0, 1, 2, 3)
    )
    assert cauchy_schwarz_gaussian([0, 0], flat, [2, 1], 3 * flat) == math.inf
    assert cauchy_schwarz_gaussian([0, 0], flat, [0, 0], tilted) == math.inf
    assert cauchy_schwarz_gaussian([0, 0], np.eye(2), [0, 0], flat) == math.inf
    nothing = np.zeros((2, 2))
    assert cauchy_schwarz_gaussian([1, 2], nothing, [1, 2], nothing) == 0.0
    assert cauchy_schwarz_gaussian([1, 2], nothing, [1, 3], nothing) == math.inf
    assert quadratic_entropy_gaussian(tilted) == -math.inf
    assert quadratic_cross_entropy_gaussian([0, 0], flat, [2, 0], flat) == -math.inf
    assert quadratic_cross_entropy_gaussian([0, 0], flat, [2, 1], flat) == math.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, -1.0, 0, 1), "covariance_p holds a negative variance, -1"),
        ((0, 1.0, 0, math.nan), "covariance_q holds NaN"),
        ((math.inf, 1.0, 0, 1), "mean_p or mean_q holds NaN or infinite values"),
        (([0, 0], np.eye(2), [0, 0], [[1, 2], [0, 1]]), "covariance_q is not symmetric"),
        (([0, 0], np.eye(2), [0, 0, 0], np.eye(3)), r"means of shapes \(2,\) and \(3,\)"),
        (([0, 0], [1, 1], [0, 0], np.eye(2)), r"covariance_p has shape \(1, 2\)"),
        (([0, 0], [[1, 2], [2, 1]], [0, 0], [[1, 2], [2, 1]]), "not positive semi-definite"),
    ],
)
def test_bad_gaussians_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        cauchy_schwarz_gaussian(*arguments)


# Kernel density estimates


def test_kde_measures_equal_quadrature_of_the_densities(rng):
    x, y = rng.normal(size=20), rng.normal(2, 1.5, size=12)
    # scipy's bandwidth factor multiplies the standard deviation with ddof=1.
    f = gaussian_kde(x, bw_method=silverman_bandwidth(x) / x.std(ddof=1))
    g = gaussian_kde(y, bw_method=silverman_bandwidth(y) / y.std(ddof=1))
    log_ff, log_gg, log_fg = (
        log_integral_of_product(lambda t, a=a: a(t)[0], lambda t, b=b: b(t)[0])
        for a, b in ((f, f), (g, g), (f, g))
    )
    assert quadratic_entropy_kde(x) == pytest.approx(-log_ff, rel=1e-9)
    assert quadratic_cross_entropy_kde(x, y) == pytest.approx(-log_fg, rel=1e-9)
    assert cauchy_schwarz_kde(x, y) == pytest.approx(log_ff + log_gg - 2 * log_fg, rel=1e-9)


def test_kde_with_two_bandwidths_of_one_point_each_is_the_gaussian_closed_form():
    assert cauchy_schwarz_kde([0.0], [2.0], bandwidth=(1.0, math.sqrt(3))) == pytest.approx(
        cauchy_schwarz_gaussian(0, 1, 2, 3)
    )
    assert quadratic_entropy_kde([5.0], bandwidth=2.0) == pytest.approx(quadratic_entropy_gaussian(4.0))


def test_kde_of_many_gaussian_points_tends_to_the_closed_form_of_the_smoothed_gaussians():
    # Points at the quantiles: no sampling noise. A kernel of width h adds h² to the variance.
    quantiles = norm.ppf((np.arange(4000) + 0.5) / 4000)
    x, y = quantiles, 2 + 1.7 * quantiles
    expected = cauchy_schwarz_gaussian(0, 1 + 0.3**2, 2, 1.7**2 + 0.4**2)
    assert cauchy_schwarz_kde(x, y, bandwidth=(0.3, 0.4)) == pytest.approx(expected, rel=1e-3)


# Multiples of 1/8 and of a power of two: equal points stay equal under the maps below.
points = st.lists(st.integers(-80, 80).map(lambda k: k / 8), min_size=2, max_size=12).filter(
    lambda v: len(set(v)) > 1
)


@given(points, points)
def test_kde_divergence_is_symmetric_and_not_negative(x, y):
    forth = cauchy_schwarz_kde(x, y)
    assert forth >= 0
    assert cauchy_schwarz_kde(y, x) == pytest.approx(forth, rel=1e-9, abs=1e-12)


@given(points)
def test_kde_divergence_is_zero_for_the_same_points_and_positive_for_others(x):
    assert cauchy_schwarz_kde(x, x[::-1]) == pytest.approx(0.0, abs=1e-12)
    assert cauchy_schwarz_kde(x, np.array(x) + 1) > 1e-6


@given(points, points, st.sampled_from([0.25, -2.0, 1024.0]), st.integers(-50, 50))
def test_kde_divergence_is_invariant_under_joint_affine_maps(x, y, scale, shift):
    mapped = cauchy_schwarz_kde(scale * np.array(x) + shift, scale * np.array(y) + shift)
    assert mapped == pytest.approx(cauchy_schwarz_kde(x, y), rel=1e-9, abs=1e-9)


def test_binned_divergence_of_ten_thousand_points_is_within_the_projects_bound(rng):
    x, y = rng.normal(size=10_000), rng.normal(2, 1.7, size=8_000)
    exact = cauchy_schwarz_kde(x, y, method="exact")
    # The project's target is 2e-5.
    assert cauchy_schwarz_kde(x, y, method="binned") == pytest.approx(exact, abs=2e-5)
    assert cauchy_schwarz_kde(x, y) == pytest.approx(exact, abs=2e-5)


@pytest.mark.parametrize("method", ["exact", "binned"])
def test_divergence_of_separated_classes_is_finite_grows_and_approaches_the_squared_gap(rng, method):
    x = rng.normal(size=2000)
    y = rng.normal(size=2000)
    shifts = np.array([10.0, 30.0, 100.0, 1e3, 1e5])
    values = np.array([cauchy_schwarz_kde(x, y + shift, method=method) for shift in shifts])
    assert np.isfinite(values).all()
    assert (np.diff(values) > 0).all()
    # -2 ln of the closest pair's kernel is gap² / (h_x² + h_y²), and all else grows more slowly.
    gaps = y.min() + shifts - x.max()
    leading = gaps**2 / (silverman_bandwidth(x) ** 2 + silverman_bandwidth(y) ** 2)
    assert values[-2:] == pytest.approx(leading[-2:], rel=1e-5)


def test_samples_of_equal_points_have_the_limits_of_the_docstring():
    assert cauchy_schwarz_kde([0.1] * 3, [0.1] * 5) == 0.0
    assert cauchy_schwarz_kde([0.1] * 3, [0.2]) == math.inf
    assert cauchy_schwarz_kde([0.1] * 3, [0.1, 0.3]) == math.inf
    assert quadratic_entropy_kde([0.1] * 3) == -math.inf
    assert quadratic_cross_entropy_kde([0.1] * 3, [0.1]) == -math.inf
    assert quadratic_cross_entropy_kde([0.1] * 3, [0.2]) == math.inf
    assert math.isfinite(quadratic_cross_entropy_kde([0.1] * 3, [0.1, 0.3]))


def test_divergence_too_large_for_a_double_is_infinite():
    assert cauchy_schwarz_kde([0.0, 1e-10], [1e200, 1e200 * (1 + 1e-10)], bandwidth=1e-10) == math.inf


@pytest.mark.parametrize("bandwidth", ["scott", 0.0, -1.0, math.nan, math.inf, ("silverman", 0.0)])
def test_bad_bandwidths_are_named(bandwidth):
    with pytest.raises(ValueError, match=r"bandwidth is .*; it must be 'silverman' or a positive number"):
        cauchy_schwarz_kde([0.0, 1.0], [1.0, 2.0], bandwidth=bandwidth)
