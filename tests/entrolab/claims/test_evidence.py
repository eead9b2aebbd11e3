"""Intervals and p-values: known values, the law that ties them together, and how often they err."""

import math

import numpy as np
import pytest
from scipy import stats

from entrolab.tables.evidence import ALPHA, LEAST_DATASETS, Exact, SignedRank, Student, holm, of_folds


def test_five_differences_of_one_sign_have_the_least_p_value_and_the_range_as_interval():
    evidence = SignedRank([1.0, 2.0, 3.0, 4.0, 5.0])
    assert evidence.above(0.0) == 1 / 32
    assert evidence.below(0.0) == 1.0
    assert evidence.effect == 3.0
    assert evidence.interval == (1.0, 5.0)


def test_fewer_data_sets_than_five_are_never_significant():
    evidence = SignedRank([1.0] * (LEAST_DATASETS - 1))
    assert evidence.above(0.0) > ALPHA
    assert evidence.interval == (-math.inf, math.inf)


def test_no_difference_at_all_is_no_evidence():
    evidence = SignedRank([0.0] * 8)
    assert evidence.above(0.0) == evidence.below(0.0) == 1.0


@pytest.mark.parametrize("n", [6, 14, 30])
def test_p_values_are_those_of_scipy_without_ties_and_agree_with_the_interval_with_ties(n):
    rng = np.random.default_rng(n)
    for _ in range(30):
        untied = SignedRank(rng.normal(0.5, 1, n))
        for alternative, p in (("greater", untied.above(0.1)), ("less", untied.below(0.1))):
            said = stats.wilcoxon(untied.differences - 0.1, alternative=alternative, method="exact")
            assert p == pytest.approx(said.pvalue)
        tied = SignedRank(rng.normal(0.7, 1, n).round(1))
        low, high = tied.interval
        for limit in (-0.05, 0.05, 0.15):
            assert (tied.above(limit) <= ALPHA) == (limit < low - 1e-9) or abs(limit - low) < 1e-9
            assert (tied.below(limit) <= ALPHA) == (limit > high + 1e-9) or abs(limit - high) < 1e-9


def test_p_values_with_ties_and_zeros_are_shares_of_all_signs():
    differences = np.random.default_rng(0).normal(0.3, 1, 14).round()
    signs = 1 - 2 * (np.arange(2**14)[:, None] >> np.arange(14) & 1)
    sums = signs @ (stats.rankdata(np.abs(differences)) * (differences != 0))
    own = (np.sign(differences) * stats.rankdata(np.abs(differences))).sum()
    assert SignedRank(differences).above(0.0) == np.mean(sums >= own)
    assert SignedRank(differences).below(0.0) == np.mean(sums <= own)


def test_infinite_differences_are_the_largest():
    """As differences that exceed all others: those of a ratio to 0."""
    infinite = SignedRank([math.inf, math.inf, -0.1, -0.2, 0.3, 0.4])
    large = SignedRank([1e6, 2e6, -0.1, -0.2, 0.3, 0.4])
    assert infinite.above(0.0) == large.above(0.0)
    assert infinite.below(0.0) == large.below(0.0)
    assert SignedRank([math.inf] * 3 + [-math.inf] * 3).effect == 0


def test_of_folds_agrees_with_the_plain_t_test_where_no_rows_are_shared():
    values = [0.3, 0.1, 0.4, 0.1, 0.5, 0.9]
    plain = stats.ttest_1samp(values, 0.2, alternative="greater")
    assert of_folds(values, 0.0).above(0.2) == pytest.approx(plain.pvalue)
    for limit in (0.2, 0.9):  # the mean, 0.38, lies between
        expected = stats.ttest_1samp(values, limit).pvalue
        assert of_folds(values, 0.0).two_sided(limit) == pytest.approx(expected)
    low, high = plain.confidence_interval(0.95)
    assert of_folds(values, 0.0).interval[0] == pytest.approx(low)
    assert of_folds(values, 0.25).interval[0] < low


def test_folds_that_share_rows_reject_a_true_null_hypothesis_rarely_enough():
    """Ten overlapping trials: scores of a trial share a part, as Nadeau and Bengio's correction supposes."""
    rng = np.random.default_rng(0)
    ratio, n, trials = 1 / 3, 400, 10
    shared = ratio / (1 + ratio)  # the correlation at which the correction is exact
    rejected = 0
    for _ in range(n):
        common, own = rng.normal(size=2 * 1)[0], rng.normal(size=trials)
        values = math.sqrt(shared) * common + math.sqrt(1 - shared) * own
        rejected += of_folds(values, ratio).above(0.0) <= ALPHA
    assert rejected / n == pytest.approx(ALPHA, abs=4 * math.sqrt(ALPHA * (1 - ALPHA) / n))


def test_equal_folds_are_certain():
    assert of_folds([2.0, 2.0, 2.0], 0.25).above(1.0) == 0.0
    assert of_folds([2.0, 2.0, 2.0], 0.25).above(2.0) == 1.0


def test_a_single_number_decides_unless_it_is_next_to_the_limit():
    assert Exact(3.0).above(2.9) == 0.0
    assert Exact(3.0).above(3.0) == Exact(3.0).below(3.0) == 1.0
    near = Exact(math.log(1.1), math.log(1.25))
    assert near.above(0.0) == near.below(0.0) == 1.0
    assert near.above(math.log(0.8)) == 0.0


def test_the_interval_of_an_exponent_is_that_of_student():
    low, high = Student(2.0, 0.1, 2).interval
    assert (low, high) == pytest.approx((2 - 0.29200, 2 + 0.29200), abs=1e-4)


def test_holm_corrects_step_by_step():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
