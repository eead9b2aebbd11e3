"""Entropies and divergences of discrete distributions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.stats import multinomial

from entrolearn.measures import (
    conditional_entropy,
    cross_entropy,
    entropy,
    entropy_from_counts,
    havrda_charvat_entropy,
    joint_entropy,
    kl_divergence,
    mutual_information,
    mutual_information_from_counts,
    renyi_entropy,
)

BASES = [2, math.e]

weights = st.lists(st.integers(0, 20), min_size=2, max_size=6).filter(any)


def distribution(rng, *shape):
    return rng.dirichlet(np.full(math.prod(shape), 0.7)).reshape(shape)


def normalized(counts):
    return np.array(counts) / sum(counts)


@st.composite
def tables(draw):
    """Joint distributions with zeros."""
    shape = draw(st.integers(1, 4)), draw(st.integers(2, 4))
    size = math.prod(shape)
    counts = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any))
    return normalized(counts).reshape(shape)


# Closed forms and twins


@pytest.mark.parametrize("base", BASES)
def test_uniform_distribution_has_the_logarithm_of_its_values(base):
    p = np.full(8, 1 / 8)
    expected = math.log(8, base)
    assert entropy(p, base=base) == pytest.approx(expected, rel=1e-14)
    for alpha in (0, 0.5, 1, 2, 7, math.inf):
        assert renyi_entropy(p, alpha, base=base) == pytest.approx(expected, rel=1e-14)
    for alpha in (0, 0.5, 2, 7):
        power = base ** (1 - alpha)
        closed = (8 ** (1 - alpha) - 1) / (power - 1)
        assert havrda_charvat_entropy(p, alpha, base=base) == pytest.approx(closed, rel=1e-13)


@pytest.mark.parametrize("base", BASES)
def test_entropies_are_those_of_scipy(rng, base):
    p, q = distribution(rng, 7), distribution(rng, 7)
    assert entropy(p, base=base) == pytest.approx(stats.entropy(p, base=base), rel=1e-13)
    assert kl_divergence(p, q, base=base) == pytest.approx(stats.entropy(p, q, base=base), rel=1e-12)
    P = distribution(rng, 3, 4)
    assert joint_entropy(P, base=base) == pytest.approx(stats.entropy(P.ravel(), base=base), rel=1e-13)


def test_measures_of_a_table_are_those_of_a_loop_over_its_cells(rng):
    P = distribution(rng, 3, 4)
    P[1, 2] = 0
    P /= P.sum()
    information = uncertain = 0.0
    for t, y in itertools.product(range(3), range(4)):
        if P[t, y] > 0:
            information += P[t, y] * math.log(P[t, y] / (P[t].sum() * P[:, y].sum()))
            uncertain -= P[t, y] * math.log(P[t, y] / P[:, y].sum())
    assert mutual_information(P) == pytest.approx(information, rel=1e-12)
    assert conditional_entropy(P, given="columns") == pytest.approx(uncertain, rel=1e-12)


def test_order_two_is_the_collision_probability_and_gini(rng):
    p = distribution(rng, 5)
    assert renyi_entropy(p, 2) == pytest.approx(-math.log(np.sum(p**2)), rel=1e-13)
    assert havrda_charvat_entropy(p, 2, base=2) == pytest.approx(2 * (1 - np.sum(p**2)), rel=1e-13)


def test_orders_at_the_ends_count_the_values_and_see_only_the_likeliest():
    p = [0.7, 0.2, 0.1, 0.0]
    assert renyi_entropy(p, 0) == pytest.approx(math.log(3), rel=1e-14)
    assert renyi_entropy(p, math.inf) == pytest.approx(-math.log(0.7), rel=1e-14)
    assert renyi_entropy(p, 1e4) == pytest.approx(-math.log(0.7), rel=2e-4)
    assert havrda_charvat_entropy(p, 0, base=2) == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize("family", [renyi_entropy, havrda_charvat_entropy])
@pytest.mark.parametrize("base", BASES)
def test_order_one_is_shannons_and_orders_next_to_it_lead_there(family, base, rng):
    p = np.append(distribution(rng, 5), 0.0)
    shannon = entropy(p, base=base)
    assert family(p, 1, base=base) == shannon
    for distance in (1e-3, 1e-6, 1e-9, 1e-12, 1e-15):
        for alpha in (1 - distance, 1 + distance):
            assert family(p, alpha, base=base) == pytest.approx(shannon, rel=10 * distance + 1e-13)


@pytest.mark.parametrize("alpha", [0.75, 1.25])
def test_renyis_two_ways_of_summing_meet(alpha, rng):
    p = distribution(rng, 6)
    sides = [renyi_entropy(p, alpha * (1 + step)) for step in (-1e-12, 1e-12)]
    assert sides[0] == pytest.approx(sides[1], rel=1e-11)


def test_along_the_last_axis_each_distribution_is_measured_alone(rng):
    p, q = distribution(rng, 4, 5), distribution(rng, 4, 5)
    p, q = p / p.sum(axis=1, keepdims=True), q / q.sum(axis=1, keepdims=True)
    for measure in (entropy, lambda p: renyi_entropy(p, 3), lambda p: havrda_charvat_entropy(p, 0.5)):
        assert_allclose(measure(p), [measure(row) for row in p], rtol=1e-13)
    for measure in (cross_entropy, kl_divergence):
        assert_allclose(measure(p, q), [measure(*pair) for pair in zip(p, q, strict=True)], rtol=1e-13)


# Laws


@given(tables())
def test_chain_rule(P):
    of_rows, of_columns = entropy(P.sum(axis=1)), entropy(P.sum(axis=0))
    joint = joint_entropy(P)
    assert of_columns + conditional_entropy(P, given="columns") == pytest.approx(joint, abs=1e-12)
    assert of_rows + conditional_entropy(P, given="rows") == pytest.approx(joint, abs=1e-12)
    assert of_rows - conditional_entropy(P, given="columns") == pytest.approx(
        mutual_information(P), abs=1e-12
    )


@given(tables())
def test_mutual_information_is_symmetric_and_conditioning_swaps_sides(P):
    assert mutual_information(P.T) == pytest.approx(mutual_information(P), abs=1e-13)
    assert conditional_entropy(P.T, given="rows") == pytest.approx(
        conditional_entropy(P, given="columns"), abs=1e-13
    )


@given(tables())
def test_mutual_information_lies_between_zero_and_either_entropy(P):
    least = min(entropy(P.sum(axis=1)), entropy(P.sum(axis=0)))
    assert 0 <= mutual_information(P) <= least + 1e-12


@given(tables(), st.integers(0, 2**32 - 1))
def test_processing_data_adds_no_information(P, seed):
    """T -> Y -> Z with any channel from Y to Z."""
    channel = np.random.default_rng(seed).dirichlet(np.full(3, 0.5), size=P.shape[1])
    assert mutual_information(P @ channel) <= mutual_information(P) + 1e-12


@given(tables())
def test_fanos_inequality(P):
    """The essay's eq. (6), in its part on clustering: C along the rows, guessed from x, the column."""
    wrong = max(0.0, 1 - P.max(axis=0).sum())
    log_others = math.log(len(P) - 1) if len(P) > 1 else 0.0
    assert entropy([wrong, 1 - wrong]) + wrong * log_others >= conditional_entropy(P, given="columns") - 1e-12


def test_fanos_inequality_is_sharp_where_all_wrong_classes_are_equally_likely():
    P = np.full((4, 4), 0.1 / 3) + np.eye(4) * (0.9 - 0.1 / 3)
    bound = entropy([0.1, 0.9]) + 0.1 * math.log(3)
    assert conditional_entropy(P / 4, given="columns") == pytest.approx(bound, rel=1e-12)


@given(weights)
def test_entropy_lies_between_zero_and_that_of_equal_probabilities(counts):
    """Zero where one value is certain, the most where all are equally likely."""
    assert 0 <= entropy(normalized(counts)) <= math.log(len(counts)) + 1e-12
    assert entropy(np.eye(len(counts))[0]) == 0 < entropy(np.full(len(counts), 1 / len(counts)))


@given(weights, st.floats(0, 1))
def test_entropy_of_a_mixture_is_at_least_the_mean_of_the_entropies(counts, share):
    p, q = normalized(counts), np.full(len(counts), 1 / len(counts))
    mixed = entropy(share * p + (1 - share) * q)
    assert mixed >= share * entropy(p) + (1 - share) * entropy(q) - 1e-12


@given(weights)
def test_renyis_entropy_does_not_grow_with_its_order(counts):
    orders = [0, 0.1, 0.5, 0.74, 0.76, 0.999, 1, 1.001, 1.24, 1.26, 2, 5, 50, math.inf]
    values = [renyi_entropy(normalized(counts), alpha) for alpha in orders]
    assert (np.diff(values) <= 1e-12).all()


def test_renyis_entropy_of_independent_variables_adds_up_and_havrda_charvats_does_not(rng):
    p, q = distribution(rng, 3), distribution(rng, 4)
    both = np.outer(p, q).ravel()
    assert renyi_entropy(both, 3) == pytest.approx(renyi_entropy(p, 3) + renyi_entropy(q, 3), rel=1e-12)
    first, second = havrda_charvat_entropy(p, 3), havrda_charvat_entropy(q, 3)
    together = first + second + (math.e ** (1 - 3) - 1) * first * second  # pseudo-additivity
    assert havrda_charvat_entropy(both, 3) == pytest.approx(together, rel=1e-12)


def test_cross_entropy_is_entropy_and_divergence(rng):
    p, q = distribution(rng, 6), distribution(rng, 6)
    assert cross_entropy(p, q) == pytest.approx(entropy(p) + kl_divergence(p, q), rel=1e-12)
    assert cross_entropy(p, p) == pytest.approx(entropy(p), rel=1e-14)
    assert kl_divergence(p, p) == 0.0


def test_divergence_is_positive_and_not_symmetric(rng):
    p, q = np.array([0.9, 0.1]), np.array([0.5, 0.5])
    assert 0 < kl_divergence(q, p) != kl_divergence(p, q) > 0
    for _ in range(20):
        assert kl_divergence(distribution(rng, 4), distribution(rng, 4)) > 0


@pytest.mark.parametrize("measure", [cross_entropy, kl_divergence])
def test_a_value_that_cannot_happen_costs_infinitely_much_and_one_that_does_not_happen_nothing(measure):
    assert measure([0.5, 0.5], [1.0, 0.0]) == math.inf
    assert measure([1.0, 0.0], [0.5, 0.5]) == math.log(2)
    assert measure([1.0, 0.0], [1.0, 0.0]) == 0.0


def test_independent_variables_have_no_mutual_information_and_a_function_none_left(rng):
    p, q = distribution(rng, 3), distribution(rng, 4)
    assert mutual_information(np.outer(p, q)) == pytest.approx(0, abs=1e-15)
    decided = np.zeros((3, 4))
    decided[[0, 1, 1, 2], range(4)] = q
    assert conditional_entropy(decided, given="columns") == 0.0
    assert conditional_entropy(decided, given="rows") > 0


# Counts and samples


def test_plug_in_estimates_are_the_measures_of_the_frequencies(rng):
    counts = rng.integers(0, 9, size=(3, 4))
    P = counts / counts.sum()
    assert entropy_from_counts(counts) == pytest.approx(joint_entropy(P), rel=1e-14)
    assert mutual_information_from_counts(counts) == pytest.approx(mutual_information(P), rel=1e-14)


def in_the_mean(estimate, p, n):
    """Exact expectation over all samples of n from p, none of them drawn."""
    p = np.asarray(p)
    outcomes = [counts for counts in itertools.product(range(n + 1), repeat=p.size - 1) if sum(counts) <= n]
    outcomes = np.array([[*counts, n - sum(counts)] for counts in outcomes])
    chances = multinomial.pmf(outcomes, n, p.ravel())
    assert chances.sum() == pytest.approx(1, rel=1e-10)
    return sum(c * estimate(counts.reshape(p.shape)) for c, counts in zip(chances, outcomes, strict=True))


@pytest.mark.parametrize("p", [[0.5, 0.5], [0.2, 0.3, 0.5], [0.25, 0.25, 0.25, 0.25], [0.7, 0.2, 0.1]])
@pytest.mark.parametrize("n", [8, 16])
def test_miller_and_madow_take_more_than_half_of_the_bias_away(p, n):
    plug_in = in_the_mean(entropy_from_counts, p, n) - entropy(p)
    corrected = in_the_mean(lambda c: entropy_from_counts(c, correction="miller_madow"), p, n) - entropy(p)
    assert plug_in < 0
    assert abs(corrected) < 0.5 * abs(plug_in)


def test_plug_in_bias_is_the_corrections_to_the_first_order():
    """The bias times N tends to -(m - 1) / 2 nats."""
    p = [0.2, 0.3, 0.5]
    scaled = [n * (in_the_mean(entropy_from_counts, p, n) - entropy(p)) for n in (10, 20, 40)]
    errors = np.abs(np.add(scaled, 1.0))
    assert (np.diff(errors) < 0).all()
    assert errors[-1] < 0.06


def test_correction_takes_more_than_half_of_what_independent_variables_seem_to_tell_of_each_other():
    P = np.outer([0.4, 0.6], [0.5, 0.5])
    plug_in, corrected = (
        in_the_mean(lambda c, how=how: mutual_information_from_counts(c, correction=how), P, 12)
        for how in (None, "miller_madow")
    )
    assert plug_in > 0.05
    assert abs(corrected) < 0.5 * plug_in


def test_values_that_were_never_seen_do_not_count_in_the_correction():
    seen, padded = ([3, 2], [3, 0, 2, 0])
    assert entropy_from_counts(padded, correction="miller_madow") == entropy_from_counts(
        seen, correction="miller_madow"
    )
    table = np.pad([[3, 1], [0, 2]], 1)
    assert mutual_information_from_counts(table, correction="miller_madow") == pytest.approx(
        mutual_information_from_counts(table[1:3, 1:3], correction="miller_madow"), rel=1e-14
    )


# Input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: entropy([0.5, 0.6]), r"p adds up to 1.1; probabilities must add up to 1"),
        (lambda: entropy([1.5, -0.5]), r"p holds -0.5; probabilities must not be negative"),
        (lambda: entropy([math.nan, 1.0]), r"p holds NaN or infinite values"),
        (lambda: entropy([]), r"p has shape \(0,\); it must hold at least one probability"),
        (lambda: entropy(1.0), r"p has shape \(\); it must hold at least one probability"),
        (lambda: entropy([1.0], base=10), r"base is 10; it must be 2 or math.e"),
        (lambda: joint_entropy([0.5, 0.5]), r"P has shape \(2,\); it must be a table of two variables"),
        (lambda: mutual_information([[0.5, 0.6]]), r"P adds up to 1.1"),
        (lambda: conditional_entropy([[1.0]], given="y"), r"given is 'y'"),
        (lambda: cross_entropy([1.0], [0.5, 0.5]), r"p has shape \(1,\) and q \(2,\)"),
        (lambda: kl_divergence([0.5, 0.5], [0.5, 0.4]), r"q adds up to 0.9"),
        (lambda: renyi_entropy([1.0], -1), r"order is -1; it must be a number of at least 0"),
        (lambda: renyi_entropy([1.0], math.nan), r"order is nan"),
        (lambda: havrda_charvat_entropy([1.0], math.inf), r"order is inf; it must be a finite number"),
        (lambda: entropy_from_counts([0, 0]), r"counts of shape \(2,\) hold no observation"),
        (lambda: entropy_from_counts([1, -1]), r"counts holds -1; counts must not be negative"),
        (lambda: entropy_from_counts([1], correction="jackknife"), r"it must be one of None, 'miller_madow'"),
        (lambda: mutual_information_from_counts([1, 2]), r"they must be a table of two variables"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_probabilities_in_single_precision_add_up_within_their_rounding(rng):
    p = distribution(rng, 1000).astype(np.float32)
    assert entropy(p) == pytest.approx(stats.entropy(p.astype(float)), rel=1e-6)
