"""The expected maximum of several draws: every subset, two limits, and laws."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from entrolearn.measures import expected_maximum

SAMPLES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)


@settings(max_examples=30)
@given(SAMPLES)
def test_it_is_the_mean_maximum_of_all_subsets(values):
    twin = [np.mean([max(one) for one in combinations(values, s)]) for s in range(1, len(values) + 1)]
    assert_allclose(expected_maximum(values), twin, rtol=1e-12, atol=1e-6)


def test_one_draw_gives_the_mean_and_all_of_them_the_maximum():
    values = np.random.default_rng(0).normal(size=500)
    expected = expected_maximum(values)
    assert expected[0] == pytest.approx(values.mean(), abs=1e-12)
    assert expected[-1] == values.max()


def test_of_the_first_whole_numbers_it_is_known_in_closed_form():
    """E max of s out of 1 … n is s (n + 1) / (s + 1); binomial coefficients of 2000 would overflow."""
    n = 2000
    s = np.arange(1, n + 1)
    assert_allclose(expected_maximum(s), s * (n + 1) / (s + 1), rtol=1e-12)


@settings(max_examples=30)
@given(SAMPLES)
def test_more_draws_are_never_worse_and_each_one_more_helps_less(values):
    expected = expected_maximum(values)
    slack = 1e-9 * (1 + np.abs(values).max())
    assert np.diff(expected).min(initial=0) >= -slack
    assert np.diff(expected, 2).max(initial=0) <= slack


def test_order_does_not_matter_and_shift_and_scale_pass_through():
    values = np.random.default_rng(1).normal(size=30)
    assert_allclose(expected_maximum(values[::-1]), expected_maximum(values))
    assert_allclose(expected_maximum(3 * values + 2), 3 * expected_maximum(values) + 2)


@pytest.mark.parametrize("values", [[], [1.0, np.nan], [1.0, np.inf]])
def test_no_values_and_values_that_are_not_finite_are_refused(values):
    with pytest.raises(ValueError, match="values contains|minimum of 1 is required"):
        expected_maximum(values)
