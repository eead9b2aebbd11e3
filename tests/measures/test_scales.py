"""Laws of scale and of place: what a unit of measurement does to each measure, over the range of doubles."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from entrolearn.measures import (
    cauchy_schwarz_kde,
    entropy_from_counts,
    gaussian_entropy,
    kde_entropy,
    knn_entropy,
    mutual_information,
    mutual_information_from_counts,
    quadratic_cross_entropy_kde,
    quadratic_entropy_kde,
    silverman_bandwidth,
)

ROWS = np.random.default_rng(20261120).normal(size=(60, 2))
OTHERS = np.random.default_rng(20261121).normal(1.0, 2.0, size=50)

exponents = st.integers(-1000, 1018)  # of a power of two, by which rows are multiplied without rounding


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@settings(max_examples=20)
@given(exponents)
@example(-1000)
@example(-540)
@example(1018)
def test_entropies_grow_by_the_logarithm_of_the_scale(exponent):
    scale, log_scale = 2.0**exponent, exponent * math.log(2)
    for X in (ROWS[:, 0], ROWS):
        d = 1 if X.ndim == 1 else 2
        for estimate in (knn_entropy, kde_entropy):
            assert estimate(X * scale) == pytest.approx(estimate(X) + d * log_scale, abs=1e-11)
    x = ROWS[:, 0]
    assert kde_entropy(x * scale, bandwidth=0.5 * scale) == pytest.approx(
        kde_entropy(x, bandwidth=0.5) + log_scale, abs=1e-11
    )
    assert quadratic_entropy_kde(x * scale) == pytest.approx(quadratic_entropy_kde(x) + log_scale, abs=1e-11)
    assert quadratic_cross_entropy_kde(x * scale, OTHERS * scale) == pytest.approx(
        quadratic_cross_entropy_kde(x, OTHERS) + log_scale, abs=1e-11
    )
    assert silverman_bandwidth(x * scale) == pytest.approx(silverman_bandwidth(x) * scale, rel=1e-12)
    assert cauchy_schwarz_kde(x * scale, OTHERS * scale) == pytest.approx(
        cauchy_schwarz_kde(x, OTHERS), rel=1e-11
    )


@given(st.integers(-500, 500), st.integers(-500, 500))
def test_entropies_of_features_in_units_of_their_own(first, second):
    """The kernel of Silverman's rule has the sample's covariance, that of a Gaussian is any."""
    scale = np.ldexp(1.0, [first, second])
    log_scale = (first + second) * math.log(2)
    assert kde_entropy(ROWS * scale) == pytest.approx(kde_entropy(ROWS) + log_scale, abs=1e-9)
    covariance = np.cov(ROWS.T)
    assert gaussian_entropy(covariance * np.outer(scale, scale)) == pytest.approx(
        gaussian_entropy(covariance) + log_scale, abs=1e-9
    )


@settings(max_examples=20)
@given(st.floats(-1e6, 1e6))
def test_entropies_ignore_where_the_origin_is(shift):
    for estimate in (knn_entropy, kde_entropy, lambda X: kde_entropy(X, bandwidth=0.3)):
        assert estimate(ROWS + shift) == pytest.approx(estimate(ROWS), abs=1e-7)


def test_two_groups_far_apart_keep_the_densities_within_them():
    """Each row's density is that of its own group, whose share of the rows is about a half."""
    x = np.concatenate([ROWS[:, 0], ROWS[:, 1] + 1e8])
    within = np.mean([kde_entropy(column, bandwidth=0.5) for column in ROWS.T])
    assert kde_entropy(x, bandwidth=0.5) == pytest.approx(within + math.log(119 / 59), abs=1e-6)


@pytest.mark.parametrize("largest", [1.7e308, 1e308])
def test_samples_at_the_ends_of_the_range_are_compared(largest):
    x, y = np.array([-1.0, -0.3, 0.2]), np.array([0.1, 0.9, 1.0])
    assert silverman_bandwidth(x * largest) == pytest.approx(silverman_bandwidth(x) * largest, rel=1e-12)
    assert cauchy_schwarz_kde(x * largest, y * largest) == pytest.approx(cauchy_schwarz_kde(x, y), rel=1e-12)


@given(st.integers(-1060, 1023), st.lists(st.integers(0, 9), min_size=6, max_size=6).filter(any))
@example(1023, [1, 1, 0, 0, 1, 1])
def test_counts_in_any_unit_have_the_same_entropies(exponent, counts):
    counts = np.reshape(counts, (2, 3)) / 9
    scaled = np.ldexp(counts, exponent)
    assert entropy_from_counts(scaled) == pytest.approx(entropy_from_counts(counts), abs=1e-2)
    if exponent > -1000:  # below, counts themselves have lost digits
        assert entropy_from_counts(scaled) == pytest.approx(entropy_from_counts(counts), abs=1e-12)
        assert mutual_information_from_counts(scaled) == pytest.approx(
            mutual_information_from_counts(counts), abs=1e-12
        )


@given(st.integers(0, 1020))
@example(532)
def test_information_of_rare_cells_is_finite_and_bounded_by_their_entropy(exponent):
    """One of the two values with a chance of p: I = H(p), which is near p log(1/p)."""
    p = 2.0**-exponent / 2
    table = [[1 - p, 0.0], [0.0, p]]
    entropy = -p * math.log(p) - (1 - p) * math.log1p(-p)
    # Beyond a share of 2**-53 the other cell is 1, and what it adds, p nats, is rounded away.
    tolerance = 1e-9 if exponent < 20 else 0.03
    assert mutual_information(table) == pytest.approx(entropy, rel=tolerance, abs=0)


@pytest.mark.parametrize("covariance", [np.zeros((0, 0)), []])
def test_a_covariance_of_nothing_is_refused_in_one_line(covariance):
    with pytest.raises(ValueError, match=r"covariance has shape .*; it must be a scalar or a"):
        gaussian_entropy(covariance)
