"""Intervals by subsampling and tests by permutation."""

import math

import numpy as np
import pytest

from entrolearn.measures import (
    MutualInformationInterval,
    UnreliableEstimateWarning,
    independence_test,
    mutual_information_interval,
)
from entrolearn.measures.independence import local_blocks, permuted_within

pytestmark = pytest.mark.filterwarnings("ignore:15 rows of", "ignore:500 rows have", "ignore:the estimate is")


def correlated(rng, n, rho):
    x, noise = rng.normal(size=(2, n))
    return x, rho * x + math.sqrt(1 - rho**2) * noise


# Intervals


@pytest.mark.parametrize(("method", "n_draws"), [("gaussian", 40), ("knn", 12)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(method, n_draws):
    """And the standard error of the Gaussian estimate is ρ / sqrt(n), by the delta method."""
    rng = np.random.default_rng(1)
    truth = -0.5 * math.log(1 - 0.36)
    found = [
        mutual_information_interval(*correlated(rng, 150, 0.6), method=method, confidence=0.9, random_state=i)
        for i in range(n_draws)
    ]
    held = sum(each.low <= truth <= each.high for each in found)
    assert 0.78 * n_draws < held < n_draws
    if method == "gaussian":
        errors = [each.standard_error for each in found]
        assert math.sqrt(np.mean(np.square(errors))) == pytest.approx(0.6 / math.sqrt(150), rel=0.1)


def test_interval_repeats_itself_and_is_wider_with_more_confidence(rng):
    x, y = correlated(rng, 200, 0.5)
    first = mutual_information_interval(x, y, given=rng.normal(size=200), random_state=3, n_neighbors=5)
    assert isinstance(first, MutualInformationInterval)
    assert first.low < first.estimate < first.high
    narrow, wide = (mutual_information_interval(x, y, confidence=c, random_state=3) for c in (0.5, 0.99))
    assert narrow.estimate == wide.estimate
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)


def test_bias_that_the_interval_does_not_hold_is_named(rng):
    """Of 100 × 100 values and 500 rows the plug-in estimate is all bias."""
    x, y = rng.integers(0, 100, size=(2, 500)).astype(str)
    with pytest.warns(UnreliableEstimateWarning, match="its bias exceeds its standard error"):
        found = mutual_information_interval(x, y, random_state=0)
    assert abs(found.drift) > found.high - found.estimate


def test_bad_arguments_of_an_interval_are_named(rng):
    x = rng.normal(size=120)
    with pytest.raises(ValueError, match="confidence is 95; it must be a number between 0 and 1"):
        mutual_information_interval(x, x**3, confidence=95)
    with pytest.raises(ValueError, match="X has 99 rows; at least 100 are needed"):
        mutual_information_interval(x[:99], x[:99])
    with pytest.raises(ValueError, match="X has 120, Y has 7, given has 120 rows"):
        mutual_information_interval(x, x[:7], given=x)


# Tests of independence


def independent(rng):
    return *rng.exponential(size=(2, 15)), None


def truth_values(rng):
    X, Y, _ = independent(rng)
    return X > 0.7, Y > 0.7, None


def of_classes(rng):
    z = rng.integers(3, size=30)
    return *(5 * z + rng.normal(size=(2, 30))), z


def p_values(draw, n_draws, method="gaussian", conditional=True):
    found = []
    for seed in range(n_draws):
        X, Y, z = draw(np.random.default_rng(seed))
        given = z if conditional else None
        test = independence_test(X, Y, given=given, method=method, n_permutations=19, random_state=seed)
        found.append(test.p_value)
    return np.array(found)


@pytest.mark.parametrize(
    ("draw", "method"), [(independent, "gaussian"), (truth_values, "discrete"), (of_classes, "gaussian")]
)
def test_p_values_of_independent_rows_are_uniform_on_their_grid(draw, method):
    """Whatever the estimator and however few the rows: each twentieth has a chance of a twentieth."""
    found = p_values(draw, 100, method)
    for alpha in (0.05, 0.25, 0.5):
        share, error = np.mean(found <= alpha + 1e-9), math.sqrt(alpha * (1 - alpha) / 100)
        assert share < alpha + 3 * error
        if method == "gaussian":  # without ties of the statistic no more is lost
            assert share > alpha - 3 * error


def test_rows_that_depend_on_each_other_by_their_classes_alone_are_dependent_unless_these_are_given():
    assert np.mean(p_values(of_classes, 20, conditional=False) <= 0.05) > 0.9


def test_dependence_is_found_by_the_estimator_that_sees_it():
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    y = x**2 + 0.3 * rng.normal(size=150)
    assert independence_test(x, y, n_permutations=99, random_state=0).p_value == 0.01
    assert independence_test(x, y, method="copula", random_state=0).p_value > 0.05


def test_p_value_is_the_share_of_permutations(rng):
    x, y = rng.normal(size=(2, 30))
    found = independence_test(x, y, method="gaussian", n_permutations=50, random_state=0)
    assert found.null_distribution.shape == (50,)
    assert found.p_value == (1 + np.sum(found.null_distribution >= found.estimate)) / 51
    again = independence_test(x, y, method="gaussian", n_permutations=50, random_state=0)
    np.testing.assert_array_equal(found.null_distribution, again.null_distribution)


# Blocks


@pytest.mark.parametrize(("n", "d", "n_local"), [(100, 1, 5), (103, 3, 5), (64, 2, 2), (7, 1, 5)])
def test_blocks_have_the_size_asked_for_and_are_close(rng, n, d, n_local):
    Z = rng.normal(size=(n, d))
    block = local_blocks(Z, n_local)
    sizes = np.bincount(block)
    assert sizes.min() >= min(n, n_local)
    assert sizes.max() <= 2 * n_local + 1
    if d == 1:  # neighbours on the line
        order = np.argsort(Z[:, 0])
        assert (np.diff(block[order]) != 0).sum() == len(sizes) - 1
    else:
        spread = np.mean([Z[block == b].std(axis=0) for b in range(len(sizes))])
        assert spread < 0.6 * Z.std()


def test_blocks_of_labels_and_of_repeated_rows_are_equal_rows(rng):
    labels = rng.integers(0, 4, size=60)
    for Z in (labels, labels.astype(str), np.column_stack([labels, labels % 2]).astype(float)):
        block = local_blocks(Z, 5)
        assert len(np.unique(np.column_stack([block, labels]), axis=0)) == len(np.unique(labels))


def test_permutations_stay_in_their_blocks_and_all_are_equally_likely():
    block = np.array([0, 1, 0, 1, 0])
    rng = np.random.RandomState(0)
    draws = np.array([permuted_within(block, rng) for _ in range(1200)])
    assert (block[draws] == block).all()
    seen, counts = np.unique(draws, axis=0, return_counts=True)
    assert len(seen) == math.factorial(3) * math.factorial(2)
    assert np.abs(counts - 100).max() < 45


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_permutations": 0}, "n_permutations is 0; it must be an integer of at least 1"),
        ({"n_local": 1}, "n_local is 1; it must be an integer of at least 2"),
        ({"given": np.zeros((2, 2, 2))}, r"given has shape \(2, 2, 2\); it must be \(n,\) or \(n, d\)"),
    ],
)
def test_bad_arguments_of_a_test_are_named(rng, options, message):
    with pytest.raises(ValueError, match=message):
        independence_test(*rng.normal(size=(2, 20)), **options)
