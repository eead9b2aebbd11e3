import math
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from entrolearn.measures import density
from entrolearn.measures.density import log_product_integral, silverman_bandwidth


def naive_log_product_integral(x, bandwidth_x, y, bandwidth_y):
    """The mean of the Gaussian kernel over all pairs, one pair at a time."""
    width = math.sqrt(bandwidth_x**2 + bandwidth_y**2)
    total = 0.0
    for a in x:
        for b in y:
            total += math.exp(-((a - b) ** 2) / (2 * width**2)) / (width * math.sqrt(2 * math.pi))
    return math.log(total / (len(x) * len(y)))


def test_silverman_bandwidth_is_the_papers_formula():
    x = np.array([0.3, -1.0, 2.5, 4.0, 4.0, 7.2])
    deviations = [value - sum(x) / 6 for value in x]
    std = math.sqrt(sum(d * d for d in deviations) / 6)
    # Section 7.4 of the paper, below eq. (5).
    assert silverman_bandwidth(x) == pytest.approx((4 / (3 * 6)) ** (1 / 5) * std, rel=1e-14)


def test_silverman_bandwidth_scales_with_the_data_and_ignores_shifts(rng):
    x = rng.normal(size=50)
    assert silverman_bandwidth(-3 * x + 1e6) == pytest.approx(3 * silverman_bandwidth(x), rel=1e-9)
    assert silverman_bandwidth(x * 1e300) == pytest.approx(silverman_bandwidth(x) * 1e300, rel=1e-12)


@pytest.mark.parametrize("value", [0.1, 1e17, -3.0])
def test_silverman_bandwidth_of_equal_points_is_exactly_zero(value):
    assert silverman_bandwidth([value] * 3) == 0.0


@pytest.mark.parametrize("method", ["auto", "exact"])
def test_exact_sum_equals_naive_double_loop(rng, method):
    x, y = rng.normal(size=40), rng.normal(1.0, 2.0, size=25)
    expected = naive_log_product_integral(x, 0.3, y, 0.7)
    assert log_product_integral(x, 0.3, y, 0.7, method=method) == pytest.approx(expected, rel=1e-12)


def test_blocks_do_not_change_the_sum(rng, monkeypatch):
    x, y = rng.normal(size=101), rng.normal(1.0, 2.0, size=57)
    whole = log_product_integral(x, 0.3, y, 0.7, method="exact")
    monkeypatch.setattr(density, "BLOCK_PAIRS", 200)
    assert log_product_integral(x, 0.3, y, 0.7, method="exact") == pytest.approx(whole, rel=1e-13)


def test_exact_sum_never_holds_all_pairs(rng):
    x = rng.normal(size=3000)
    tracemalloc.start()
    log_product_integral(x, 0.3, x, 0.3, method="exact")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * x.size**2 / 8


@pytest.mark.parametrize("method", ["exact", "binned"])
@pytest.mark.parametrize("gap", [50.0, 1e3, 1e6])
def test_sum_far_apart_is_that_of_the_closest_pair(gap, method):
    # At a gap of g widths the pair next closest, 1 further, is e^-(g + 1/2) times smaller: nothing beside 1.
    x, y = np.array([-3.0, -1.0, 0.0]), np.array([gap, gap + 1, gap + 4])
    expected = norm.logpdf(gap) - math.log(9)
    assert log_product_integral(x, 0.6, y, 0.8, method=method) == pytest.approx(expected, rel=1e-12)


def samples(rng, n):
    """Pairs of samples, some hard for a grid: atoms (a support vector machine's margins), outliers."""
    half = n // 2
    return {
        "normal": (rng.normal(size=n), rng.normal(2, 1.7, size=n)),
        "equal distributions": (rng.normal(size=n), rng.normal(size=n)),
        "unbalanced": (rng.normal(size=n // 50), rng.normal(2, 1.7, size=n)),
        "widths 1 and 100": (rng.normal(size=n), rng.normal(2, 100, size=n)),
        "heavy tails": (rng.standard_cauchy(n), rng.standard_cauchy(n) + 3),
        "five values": (rng.integers(0, 5, n), rng.integers(2, 9, n)),
        "two clusters": (
            np.concatenate([rng.normal(0, 0.01, half), rng.normal(10, 0.01, half)]),
            rng.normal(5, 1, n),
        ),
        "outlier": (np.append(rng.normal(size=n), 1e6), rng.normal(5, 1, n)),
        "margins": (
            np.concatenate([np.full(half, -1.0), -1 - rng.exponential(size=half)]),
            np.concatenate([np.full(half, 1.0), 1 + rng.exponential(size=half)]),
        ),
        "apart": (rng.normal(size=n), rng.normal(30, 1, n)),
        "far apart": (rng.normal(size=n), rng.normal(1000, 1, n)),
    }


@pytest.mark.parametrize("kind", sorted(samples(np.random.default_rng(0), 100)))
def test_binned_sum_agrees_with_exact(rng, kind):
    x, y = samples(rng, 3000)[kind]
    for a, b in ((x, x), (x, y)):
        bandwidths = silverman_bandwidth(a), silverman_bandwidth(b)
        exact = log_product_integral(a, bandwidths[0], b, bandwidths[1], method="exact")
        binned = log_product_integral(a, bandwidths[0], b, bandwidths[1], method="binned")
        assert binned == pytest.approx(exact, abs=2e-5)


def test_binning_keeps_count_mean_and_adds_a_quarter_step_squared_of_variance(rng):
    x = np.sort(rng.uniform(-5, 5, size=200))
    grid, weight = density._bin(x, 0.3)
    assert weight.sum() == pytest.approx(200)
    mean = weight @ grid / 200
    assert mean == pytest.approx(x.mean())
    assert weight @ (grid - mean) ** 2 / 200 == pytest.approx(x.var() + 0.3**2 / 4)


def test_grid_of_outliers_stays_small(rng):
    x = np.append(rng.normal(size=1000), [1e12, -1e200])
    tracemalloc.start()
    binned = log_product_integral(x, 0.5, x, 0.5, method="binned")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000
    assert binned == pytest.approx(log_product_integral(x, 0.5, x, 0.5, method="exact"), abs=2e-5)


def test_auto_bins_only_many_pairs(rng, monkeypatch):
    x = rng.normal(size=500)
    exact = log_product_integral(x, 0.3, x, 0.3, method="exact")
    binned = log_product_integral(x, 0.3, x, 0.3, method="binned")
    assert exact != binned
    assert log_product_integral(x, 0.3, x, 0.3) == exact
    monkeypatch.setattr(density, "AUTO_PAIRS", 1000)
    assert log_product_integral(x, 0.3, x, 0.3) == binned


@pytest.mark.parametrize("gap", [15307132602714.36, 22023571879432.92, 10935154002999.416])
def test_classes_that_separate_perfectly_have_a_finite_sum(gap):
    """Least squares on more units than rows: ±1 up to rounding, 1e13 widths apart.

    Of these gaps the library's power function rounds the square otherwise than a multiplication does.
    """
    assert_allclose(log_product_integral([0.0], 1.0, [gap], 0.0), -(gap**2) / 2, rtol=1e-12)


def test_bad_samples_are_named():
    with pytest.raises(ValueError, match=r"y has shape \(2, 1\)"):
        log_product_integral([0.0], 1.0, [[0.0], [1.0]], 1.0)
    with pytest.raises(ValueError, match=r"x has shape \(0,\)"):
        silverman_bandwidth([])
    with pytest.raises(ValueError, match="x holds 2 NaN or infinite values out of 3"):
        silverman_bandwidth([0.0, np.nan, np.inf])
    with pytest.raises(ValueError, match="method is 'fft'"):
        log_product_integral([0.0], 1.0, [0.0], 1.0, method="fft")
