"""The distance from reordered and scaled sources."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrolearn.networks import amari_index


def naive(P):
    n, total = len(P), 0.0
    for i in range(n):
        total += sum(abs(P[i, j]) / max(abs(P[i])) for j in range(n)) - 1
        total += sum(abs(P[j, i]) / max(abs(P[:, i])) for j in range(n)) - 1
    return total / (2 * n * (n - 1))


@given(n=st.integers(2, 6), seed=st.integers(0, 1000))
def test_index_is_the_double_sum_of_its_definition(n, seed):
    P = np.random.default_rng(seed).normal(size=(n, n))
    assert amari_index(P) == pytest.approx(naive(P), rel=1e-12)
    assert 0 < amari_index(P) <= 1


@given(n=st.integers(1, 6), seed=st.integers(0, 1000))
def test_order_signs_and_sizes_of_sources_do_not_count(n, seed):
    rng = np.random.default_rng(seed)
    P = np.diag(rng.normal(size=n))[rng.permutation(n)]
    assert amari_index(P) == pytest.approx(0, abs=1e-15)


def test_order_and_one_size_for_all_do_not_count_in_any_matrix():
    rng = np.random.default_rng(0)
    P = rng.normal(size=(4, 4))
    assert amari_index(-3 * P[rng.permutation(4)][:, rng.permutation(4)]) == pytest.approx(amari_index(P))


def test_equal_entries_are_furthest():
    assert amari_index(np.ones((5, 5))) == 1


@pytest.mark.parametrize("P", [np.ones((2, 3)), np.ones(4)])
def test_matrices_that_are_not_square_are_refused(P):
    with pytest.raises(ValueError, match="P has shape .*; it must be square"):
        amari_index(P)


def test_a_source_that_is_lost_is_refused():
    with pytest.raises(ValueError, match="a row or a column of zeros"):
        amari_index([[1, 0], [1, 0]])
