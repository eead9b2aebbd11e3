import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse
from scipy.stats import chisquare

from entrolearn.streaming.sampling import MOST_PERMUTED, Chosen, Reservoir, sample_of

X = np.arange(24.0).reshape(12, 2)


def filled(sample, chunks):
    """The sampler of rows and, to be kept with them, their sums."""
    for chunk in chunks:
        sample.offer(chunk, np.asarray(chunk.sum(axis=1)))
    return sample


def rows_of(sample) -> np.ndarray:
    rows, sums = sample.rows()
    rows = rows.toarray() if issparse(rows) else rows
    assert_array_equal(rows.sum(axis=1), sums)
    return rows


def kept(reservoir) -> np.ndarray:
    """The numbers of the rows of X that a reservoir holds."""
    return (rows_of(reservoir)[:, 0] / 2).astype(int)


@pytest.mark.parametrize("cuts", [[], [5], [1, 2, 3, 11]])
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_chosen_rows_are_those_of_their_numbers_in_their_order(cuts, make):
    """Offered to one sampler, or to parts that are merged."""
    places = np.random.default_rng(0).permutation(12)[:7]
    chosen, chunks = Chosen(places), [make(part) for part in np.split(X, cuts)]
    merged = chosen.part(0, 0)
    for number, start in enumerate([0, *cuts]):
        merged = merged.merge(filled(chosen.part(number, start), chunks[number : number + 1]))
    assert_array_equal(rows_of(merged), X[places])
    assert_array_equal(rows_of(filled(chosen, chunks)), X[places])


def test_rows_that_are_counted_are_drawn_as_in_memory():
    sample = filled(sample_of(12, 5, np.random.RandomState(3)), [X[:7], X[7:]])
    assert_array_equal(rows_of(sample), X[np.random.RandomState(3).permutation(12)[:5]])


@pytest.mark.parametrize("n_rows", [None, MOST_PERMUTED + 1])
def test_rows_that_are_not_or_too_many_go_into_a_reservoir(n_rows):
    assert isinstance(sample_of(n_rows, 5, np.random.RandomState(0)), Reservoir)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_the_cuts_between_chunks_do_not_matter(make):
    whole, cut = (
        rows_of(filled(Reservoir(5, np.random.RandomState(1)), map(make, parts)))
        for parts in ([X], np.split(X, [2, 3, 9]))
    )
    assert_array_equal(whole, cut)


def test_dense_and_sparse_chunks_are_sampled_as_sparse_rows():
    parts = [X[:4], csr_array(X[4:9]), X[9:]]
    assert_array_equal(rows_of(filled(Chosen(np.array([10, 5, 0])), parts)), X[[10, 5, 0]])
    dense, mixed = (filled(Reservoir(9, np.random.RandomState(1)), each) for each in ([X], parts))
    assert_array_equal(kept(mixed), kept(dense))
    assert issparse(mixed.rows()[0])


def test_small_reservoirs_are_the_first_rows_of_large_ones():
    small, large = (filled(Reservoir(size, np.random.RandomState(1)), [X[:4], X[4:]]) for size in (3, 8))
    assert_array_equal(rows_of(large)[:3], rows_of(small))


def test_fewer_rows_than_asked_for_are_all_kept():
    assert sorted(kept(filled(Reservoir(50, np.random.RandomState(0)), [X]))) == list(range(12))


def test_every_row_and_every_pair_is_equally_likely():
    """In a reservoir, and in parts of one that are merged, which are left as they were."""
    rng, times, pairs, merged_times = np.random.RandomState(0), np.zeros(12), np.zeros((12, 12)), np.zeros(12)
    for _ in range(1500):
        reservoir = Reservoir(3, rng)
        first, second = (filled(reservoir.part(i, 0), [part]) for i, part in enumerate((X[:2], X[2:])))
        before = kept(second)
        merged_times[kept(first.merge(second))] += 1
        assert_array_equal(kept(second), before)
        some = kept(filled(reservoir, np.split(X, [1, 5, 6])))
        times[some] += 1
        pairs[np.ix_(some, some)] += 1
    for counts in (times, merged_times, pairs[np.triu_indices(12, 1)]):
        assert chisquare(counts).pvalue > 1e-3


def test_what_a_reservoir_cannot_do():
    with pytest.raises(ValueError, match="offered no rows"):
        Reservoir(3, np.random.RandomState(0)).rows()
    with pytest.raises(ValueError, match="of 3 and of 4 rows cannot be merged"):
        Reservoir(3, np.random.RandomState(0)).merge(Reservoir(4, np.random.RandomState(0)))
