"""Mutual information of discrete samples: twins, laws, corrections in the mean over all samples."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multinomial
from scipy.stats.contingency import crosstab
from sklearn.metrics import mutual_info_score

from entrolearn.measures import (
    UnreliableEstimateWarning,
    discrete_mutual_information,
    entropy_from_counts,
    mutual_information_from_counts,
)

pytestmark = pytest.mark.filterwarnings("ignore:.* different combinations")

CORRECTIONS = [None, "miller_madow", "grassberger"]


@st.composite
def samples(draw, n_variables=3):
    n = draw(st.integers(8, 40))
    return [np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))) for _ in range(n_variables)]


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_estimate_is_that_of_the_contingency_table(rng, correction):
    x, y = rng.integers(0, 4, size=60), np.array(list("abc"))[rng.integers(0, 3, size=60)]
    found = discrete_mutual_information(x, y, correction=correction)
    table = crosstab(x, y).count
    assert found == pytest.approx(mutual_information_from_counts(table, correction=correction), abs=1e-12)
    if correction is None:
        assert found == pytest.approx(mutual_info_score(x, y), abs=1e-12)


@pytest.mark.parametrize("correction", CORRECTIONS)
@settings(max_examples=30)
@given(samples())
def test_conditional_estimate_is_a_sum_of_entropies(correction, xyz):
    x, y, z = xyz

    def entropy(*parts):
        return entropy_from_counts(crosstab(*parts).count, correction=correction)

    expected = entropy(x, z) + entropy(y, z) - entropy(x, y, z) - entropy(z)
    assert discrete_mutual_information(x, y, given=z, correction=correction) == pytest.approx(
        expected, abs=1e-12
    )


@settings(max_examples=40)
@given(samples())
def test_laws_of_the_plug_in_estimate(xyz):
    """Chain rule, symmetry, data processing; not negative; without names of values and order of rows."""
    x, y, z = xyz
    first, then = discrete_mutual_information(x, z), discrete_mutual_information(x, y, given=z)
    both = discrete_mutual_information(x, np.column_stack([y, z]))
    assert both == pytest.approx(first + then, abs=1e-12)
    assert min(first, then) >= 0
    assert discrete_mutual_information(z, x) == pytest.approx(first, abs=1e-13)
    assert discrete_mutual_information(x // 2, z) <= first + 1e-12
    assert discrete_mutual_information(x, y, given=np.zeros(len(x))) == pytest.approx(
        discrete_mutual_information(x, y), abs=1e-13
    )
    renamed = np.array(["c", "a", "b"])[x]
    turned = discrete_mutual_information(renamed[::-1], z[::-1])
    assert turned == pytest.approx(first, abs=1e-13)


def test_independent_counts_have_exactly_none():
    x, y = (each.ravel() for each in np.indices((3, 7)))
    assert discrete_mutual_information(np.tile(x, 4), np.tile(y, 4)) == 0.0


def in_the_mean(correction, p, n):
    """Exact expectation of an entropy over all samples of n."""
    outcomes = np.array([c for c in itertools.product(range(n + 1), repeat=len(p)) if sum(c) == n])
    chances = multinomial.pmf(outcomes, n, p)
    found = [entropy_from_counts(each, correction=correction) for each in outcomes]
    return float(chances @ found)


@pytest.mark.parametrize("p", [[0.25] * 4, [0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]])
def test_corrections_leave_little_of_the_bias(p):
    """Of eight observations of four values."""
    truth = -sum(each * math.log(each) for each in p)
    plug_in, *corrected = (abs(in_the_mean(each, p, 8) - truth) for each in CORRECTIONS)
    assert max(corrected) < 0.55 * plug_in


def test_of_many_rare_values_grassbergers_correction_leaves_the_least(rng):
    """A hundred observations of two hundred values."""
    draws = rng.multinomial(100, np.full(200, 1 / 200), size=20)
    plug_in, miller, grassberger = (
        abs(np.mean([entropy_from_counts(each, correction=correction) for each in draws]) - math.log(200))
        for correction in CORRECTIONS
    )
    assert grassberger < 0.5 * miller < 0.4 * plug_in


def test_grassbergers_function_of_a_count_is_his():
    """G(1) = -γ - ln 2, G(2) = 2 - γ - ln 2, and G(2n + 1) = G(2n), by recursion from these."""
    G = {1: -np.euler_gamma - math.log(2)}
    for n in range(2, 12):
        G[n] = G[n - 1] + (2 / (n - 1) if n % 2 == 0 else 0.0)
    for n in range(1, 12):
        found = entropy_from_counts([n, 5], correction="grassberger")
        assert found == pytest.approx(math.log(n + 5) - (n * G[n] + 5 * G[5]) / (n + 5), abs=1e-12)


@settings(max_examples=5)
@given(st.integers(0, 10**6))
def test_a_hundred_thousand_values_need_no_table(seed):
    x = np.random.default_rng(seed).permutation(100_000)
    with pytest.warns(UnreliableEstimateWarning, match="100000 rows have 100000 different combinations"):
        assert discrete_mutual_information(x, -x) == pytest.approx(math.log(100_000), rel=1e-12)


def test_no_entropy_is_below_zero():
    """Grassberger's function gives ln 2 - G(2) = γ + 2 ln 2 - 2 = -0.036 for one value, observed twice."""
    for n in (2, 4, 6):
        assert entropy_from_counts([n], correction="grassberger") == 0.0


def test_few_rows_of_each_combination_are_an_error_in_either_direction():
    """Too large for independent variables, too small for equal ones, whose information is their entropy."""
    x, y = np.random.default_rng(0).integers(1000, size=(2, 500))
    with pytest.warns(UnreliableEstimateWarning, match="too large for weak, or too small for strong"):
        assert discrete_mutual_information(x, y) > 5
    with pytest.warns(UnreliableEstimateWarning):
        assert discrete_mutual_information(x, x) < math.log(1000) - 0.9


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="x has 2, y has 3 rows"):
        discrete_mutual_information([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="it must be one of None, 'miller_madow', 'grassberger'"):
        discrete_mutual_information([1, 2], [1, 2], correction="jackknife")
    with pytest.raises(ValueError, match=r"x has shape \(0,\)"):
        discrete_mutual_information([], [])
    with pytest.raises(ValueError, match="counts are not integers"):
        entropy_from_counts([0.5, 1.5], correction="grassberger")
