"""The entropy of errors and its gradient: against loops, formulas, finite differences and laws."""

import math
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from entrolearn.measures import error_entropy, errors, quadratic_entropy_kde
from entrolearn.measures.errors import ENTROPIES

both_entropies = pytest.mark.parametrize("entropy", ENTROPIES)
both_ways = pytest.mark.parametrize("method", ["exact", "binned"])


def naive_entropy(e, bandwidth, entropy):
    """The essay's estimator and its equation (1), pair by pair, with e itself for the weights."""

    def K(x):
        return math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)

    N, h = len(e), bandwidth
    f = [sum(K((a - b) / h) for b in e) / (N * h) for a in e]
    if entropy == "renyi":
        mean = sum(f) / N
        gradient = [2 / (N * mean * N * h) * sum(K((a - b) / h) * (a - b) / h**2 for b in e) for a in e]
        return -math.log(mean), gradient
    value = -sum(math.log(one) for one in f) / N
    gradient = [0.0] * N
    for n in range(N):
        for k in range(N):
            # de(n)/dw - de(l)/dw of equation (1), for each error as the weight.
            both = 1 / (N**2 * h**2) * K((e[n] - e[k]) / h) / h / f[n] * (e[n] - e[k])
            gradient[n] += both
            gradient[k] -= both
    return value, gradient


@both_entropies
@pytest.mark.parametrize("bandwidth", [0.1, 1.0, 4.0])
def test_exact_entropy_equals_the_naive_double_loop(rng, entropy, bandwidth):
    e = rng.normal(size=25)
    value, gradient = naive_entropy(e.tolist(), bandwidth, entropy)
    found, found_gradient = error_entropy(e, bandwidth, entropy=entropy, method="exact")
    assert found == pytest.approx(value, rel=1e-12)
    assert_allclose(found_gradient, gradient, rtol=1e-9, atol=1e-14)


@both_entropies
@pytest.mark.parametrize("bandwidth", [0.2, 1.0])
def test_gradient_agrees_with_finite_differences(rng, entropy, bandwidth):
    e, step = rng.normal(size=12), 1e-6
    _, gradient = error_entropy(e, bandwidth, entropy=entropy, method="exact")
    differences = [
        error_entropy(e + step * unit, bandwidth, entropy=entropy, method="exact")[0]
        - error_entropy(e - step * unit, bandwidth, entropy=entropy, method="exact")[0]
        for unit in np.eye(12)
    ]
    assert_allclose(gradient, np.array(differences) / (2 * step), atol=1e-8)


@both_entropies
@both_ways
def test_two_errors_have_the_closed_form(entropy, method):
    """Both densities are (K(0) + K(d/h)) / (2 h), so that both orders agree."""
    d, h = 0.7, 0.4
    density = (norm.pdf(0) + norm.pdf(d / h)) / (2 * h)
    slope = norm.pdf(d / h) * d / h**2 / (2 * h) / density
    value, gradient = error_entropy([1.0, 1.0 + d], h, entropy=entropy, method=method)
    assert value == pytest.approx(-math.log(density), abs=1e-5)
    assert_allclose(gradient, [-slope, slope], atol=1e-4 if method == "binned" else 1e-12)


@both_entropies
@both_ways
@pytest.mark.parametrize("n", [1, 30])
def test_equal_errors_have_the_kernel_for_density_and_no_gradient(entropy, method, n):
    value, gradient = error_entropy(np.full(n, 0.3), 0.5, entropy=entropy, method=method)
    assert value == pytest.approx(0.5 * math.log(2 * math.pi * 0.25), abs=1e-5)
    assert_allclose(gradient, 0, atol=1e-12)


def test_renyi_entropy_is_the_quadratic_entropy_of_a_density_with_a_narrower_kernel(rng):
    """The convolution of two kernels of width h / √2 has the width h."""
    e = rng.normal(size=200)
    value, _ = error_entropy(e, 0.5, entropy="renyi", method="exact")
    assert value == pytest.approx(quadratic_entropy_kde(e, bandwidth=0.5 / math.sqrt(2)), rel=1e-12)


def test_renyi_entropy_is_at_most_shannons(rng):
    """Jensen: the logarithm of a mean is at least the mean of the logarithms."""
    for e in (rng.normal(size=150), rng.standard_cauchy(size=150)):
        assert error_entropy(e, 0.3, entropy="renyi")[0] < error_entropy(e, 0.3)[0]


def test_wide_kernels_see_the_variance_alone(rng):
    """ln f is -(e_n - e_l)²/(2 h²) averaged, to the first order: H grows by var(e) / h² from the kernel's."""
    e, h = rng.normal(size=40), 300.0
    for entropy in ENTROPIES:
        value, gradient = error_entropy(e, h, entropy=entropy, method="exact")
        assert value - 0.5 * math.log(2 * math.pi * h**2) == pytest.approx(np.var(e) / h**2, rel=1e-3)
        assert_allclose(gradient, 2 * (e - e.mean()) / (40 * h**2), rtol=1e-2)


@both_entropies
@both_ways
def test_entropy_is_blind_to_the_mean(rng, entropy, method):
    e = rng.normal(size=300)
    value, gradient = error_entropy(e, 0.5, entropy=entropy, method=method)
    shifted, shifted_gradient = error_entropy(e + 3.7, 0.5, entropy=entropy, method=method)
    assert shifted == pytest.approx(value, abs=1e-12)
    assert_allclose(shifted_gradient, gradient, atol=1e-12)
    assert abs(gradient.sum()) < (1e-3 if method == "binned" else 1e-12) * np.abs(gradient).max()


@both_entropies
@both_ways
def test_errors_and_bandwidth_scaled_together_add_the_logarithm_of_the_scale(rng, entropy, method):
    e = rng.normal(size=300)
    value, gradient = error_entropy(e, 0.5, entropy=entropy, method=method)
    scaled, scaled_gradient = error_entropy(8 * e, 4.0, entropy=entropy, method=method)
    assert scaled == pytest.approx(value + math.log(8), abs=1e-12)
    assert_allclose(8 * scaled_gradient, gradient, atol=1e-14)


def samples(rng, n):
    """Errors as networks have them: two classes that are parted or not, outliers, equal ones."""
    return {
        "normal": rng.normal(size=n),
        "saturated": np.concatenate([rng.normal(0, 1e-3, n - n // 4), rng.choice([-2.0, 2.0], n // 4)]),
        "uniform": rng.uniform(-2, 2, n),
        "heavy tails": rng.standard_cauchy(n),
        "outlier": np.append(rng.normal(size=n), 1e8),
    }


@both_entropies
@pytest.mark.parametrize("bandwidth", [0.1, 1.0])
@pytest.mark.parametrize("n", [300, 1500])
@pytest.mark.parametrize("kind", sorted(samples(np.random.default_rng(0), 8)))
def test_binned_entropy_is_within_its_bounds(rng, kind, n, bandwidth, entropy):
    e = samples(rng, n)[kind]
    exact, exact_gradient = error_entropy(e, bandwidth, entropy=entropy, method="exact")
    binned, binned_gradient = error_entropy(e, bandwidth, entropy=entropy, method="binned")
    assert binned == pytest.approx(exact, abs=1e-4)
    assert_allclose(binned_gradient, exact_gradient, atol=1e-3 * np.abs(exact_gradient).max())


def test_binned_gradient_is_that_of_the_binned_value(rng):
    """With the least error where it is, so that the grid stays."""
    e, step = np.append(rng.normal(size=60), -5.0), 1e-6
    move = np.append(rng.normal(size=60), 0.0)
    for entropy in ENTROPIES:
        _, gradient = error_entropy(e, 0.5, entropy=entropy, method="binned")
        ahead, behind = (
            error_entropy(e + sign * step * move, 0.5, entropy=entropy, method="binned")[0]
            for sign in (1, -1)
        )
        assert gradient @ move == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)


def test_grid_of_errors_far_apart_stays_small(rng):
    """In units of the bandwidth the farthest is beyond any number."""
    e = np.append(rng.normal(size=1000), [1e12, -1e300, 1e300])
    tracemalloc.start()
    value, gradient = error_entropy(e, 1e-5, method="binned")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
    exact, exact_gradient = error_entropy(e, 1e-5, method="exact")
    assert value == pytest.approx(exact, abs=1e-4)
    assert_allclose(gradient, exact_gradient, atol=1e-3 * np.abs(exact_gradient).max())


def test_blocks_do_not_change_the_sum_and_never_hold_all_pairs(rng, monkeypatch):
    e = rng.normal(size=2000)
    whole, whole_gradient = error_entropy(e, 0.5, method="exact")
    monkeypatch.setattr(errors, "BLOCK_PAIRS", 30_000)
    tracemalloc.start()
    value, gradient = error_entropy(e, 0.5, method="exact")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * e.size**2 / 8
    assert value == pytest.approx(whole, rel=1e-13)
    assert_allclose(gradient, whole_gradient, atol=1e-15)


def test_auto_is_exact_for_few_errors_and_binned_for_many(rng):
    for n, like in ((100, "exact"), (101, "binned")):
        e = rng.normal(size=n)
        value, gradient = error_entropy(e, 0.5)
        expected, expected_gradient = error_entropy(e, 0.5, method=like)
        assert value == expected
        assert_array_equal(gradient, expected_gradient)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"e has shape \(0,\)"):
        error_entropy([], 1.0)
    with pytest.raises(ValueError, match="e holds 1 NaN or infinite values out of 2"):
        error_entropy([0.0, np.nan], 1.0)
    with pytest.raises(ValueError, match="bandwidth is 0.0; it must be a positive number"):
        error_entropy([0.0], 0.0)
    with pytest.raises(ValueError, match="entropy is 'renyi2'"):
        error_entropy([0.0], 1.0, entropy="renyi2")
    with pytest.raises(ValueError, match="method is 'fft'"):
        error_entropy([0.0], 1.0, method="fft")
