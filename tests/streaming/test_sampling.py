import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse
from scipy.stats import chisquare

from entrolearn.streaming.sampling import MOST_PERMUTED, Chosen, Reservoir, sample_of

X = np.arange(24.0).reshape(12, 2)


def filled(sample, chunks):
    for chunk in chunks:
        sample.offer(chunk)
    return sample


def kept(reservoir) -> np.ndarray:
    """The numbers of the rows of X that a reservoir holds."""
    rows = reservoir.rows.toarray() if issparse(reservoir.rows) else reservoir.rows
    return (rows[:, 0] / 2).astype(int)


@pytest.mark.parametrize("cuts", [[], [5], [1, 2, 3, 11]])
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_chosen_rows_are_those_of_their_numbers_in_their_order(cuts, make):
    places = np.random.default_rng(0).permutation(12)[:7]
    chosen = filled(Chosen(places), (make(part) for part in np.split(X, cuts)))
    assert_array_equal(chosen.rows if make is np.asarray else chosen.rows.toarray(), X[places])


def test_rows_that_are_counted_are_drawn_as_in_memory():
    sample = filled(sample_of(12, 5, np.random.RandomState(3)), [X[:7], X[7:]])
    assert_array_equal(sample.rows, X[np.random.RandomState(3).permutation(12)[:5]])


@pytest.mark.parametrize("n_rows", [None, MOST_PERMUTED + 1])
def test_rows_that_are_not_or_too_many_go_into_a_reservoir(n_rows):
    assert isinstance(sample_of(n_rows, 5, np.random.RandomState(0)), Reservoir)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_the_cuts_between_chunks_do_not_matter(make):
    whole, cut = (
        filled(Reservoir(5, np.random.RandomState(1)), map(make, parts)).rows
        for parts in ([X], np.split(X, [2, 3, 9]))
    )
    assert_array_equal(
        np.asarray(whole.todense() if make is csr_array else whole),
        cut.toarray() if make is csr_array else cut,
    )


def test_dense_and_sparse_chunks_are_sampled_as_sparse_rows():
    parts = [X[:4], csr_array(X[4:9]), X[9:]]
    assert_array_equal(filled(Chosen(np.array([10, 5, 0])), parts).rows.toarray(), X[[10, 5, 0]])
    dense, mixed = (filled(Reservoir(9, np.random.RandomState(1)), each) for each in ([X], parts))
    assert_array_equal(kept(mixed), kept(dense))
    others = Reservoir(9, np.random.RandomState(2))
    others.offer(csr_array(X))
    assert dense.merge(others).rows.shape == (9, 2)


def test_small_reservoirs_are_the_first_rows_of_large_ones():
    small, large = (filled(Reservoir(size, np.random.RandomState(1)), [X[:4], X[4:]]) for size in (3, 8))
    assert_array_equal(large.rows[:3], small.rows)


def test_fewer_rows_than_asked_for_are_all_kept():
    reservoir = filled(Reservoir(50, np.random.RandomState(0)), [X])
    assert sorted(kept(reservoir)) == list(range(12))


def test_every_row_and_every_pair_is_equally_likely():
    rng, times, pairs = np.random.RandomState(0), np.zeros(12), np.zeros((12, 12))
    for _ in range(6000):
        some = kept(filled(Reservoir(3, rng), np.split(X, [1, 5, 6])))
        times[some] += 1
        pairs[np.ix_(some, some)] += 1
    assert chisquare(times).pvalue > 1e-3
    assert chisquare(pairs[np.triu_indices(12, 1)]).pvalue > 1e-3


def test_merged_reservoirs_are_a_sample_of_the_rows_of_both():
    rng, times = np.random.RandomState(0), np.zeros(12)
    for _ in range(6000):
        first, second = (filled(Reservoir(3, rng), [part]) for part in (X[:2], X[2:]))
        merged = first.merge(second)
        assert merged.n_seen == 12
        times[kept(merged)] += 1
    assert chisquare(times).pvalue > 1e-3


def test_what_a_reservoir_cannot_do():
    with pytest.raises(ValueError, match="offered no rows"):
        Reservoir(3, np.random.RandomState(0)).rows  # noqa: B018
    with pytest.raises(ValueError, match="of 3 and of 4 rows cannot be merged"):
        Reservoir(3, np.random.RandomState(0)).merge(Reservoir(4, np.random.RandomState(0)))
