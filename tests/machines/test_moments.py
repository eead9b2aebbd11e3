"""Class moments: sums that replace the data."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.covariance import ledoit_wolf, oas

from entrolearn.machines.moments import (
    ClassMoments,
    moments_by_group,
    moments_of_parts,
    no_moments,
    row_blocks,
)


@pytest.fixture
def H(rng):
    return rng.normal(size=(60, 8)) @ rng.normal(size=(8, 8)) + 5


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def identity(X, out=None):
    """A layer that changes nothing."""
    if out is None:
        return X.copy()
    out[:] = X
    return out


def test_mean_and_covariance_are_numpys(H):
    moments = ClassMoments.from_data(H)
    assert moments.n == 60
    assert_allclose(moments.mean, H.mean(axis=0))
    assert_allclose(moments.sum, H.sum(axis=0))
    assert_allclose(moments.second_moment(), H.T @ H)
    assert_allclose(moments.covariance(), np.cov(H.T, ddof=0), atol=1e-11)


@pytest.mark.filterwarnings("ignore:Only one sample available")
@pytest.mark.parametrize("shape", [(60, 8), (8, 60), (5, 1), (2, 4), (1, 3), (400, 3)])
def test_shrinkage_is_scikit_learns(rng, shape):
    H = rng.normal(size=shape) * rng.uniform(0.1, 3, size=shape[1])
    moments = ClassMoments.from_data(H)
    if shape[1] > 1 and shape[0] > 1:  # scikit-learn answers one feature without the formula
        assert moments.oas_shrinkage() == pytest.approx(oas(H)[1], abs=1e-12)
    covariance, shrinkage = moments.ledoit_wolf()
    expected_covariance, expected_shrinkage = ledoit_wolf(H)
    if shape[0] > 1:  # of one row scikit-learn's shrinkage is 0 / 0 or 1; the covariance is zero anyway
        assert_allclose(shrinkage, expected_shrinkage, atol=1e-12)
    assert_allclose(covariance, np.reshape(expected_covariance, covariance.shape), atol=1e-12)


@given(cut=st.integers(1, 58), seed=st.integers(0, 10))
@settings(max_examples=20)
def test_moments_of_disjoint_rows_add_and_subtract(cut, seed):
    H = np.random.default_rng(seed).normal(size=(60, 5))
    whole, first, rest = (ClassMoments.from_data(rows, [2, 5]) for rows in (H, H[:cut], H[cut:]))
    for combined, direct in [(first + rest, whole), (whole - first, rest)]:
        assert combined.n == direct.n
        for size in (2, 5):
            got, expected = combined.restrict(size).ledoit_wolf(), direct.restrict(size).ledoit_wolf()
            assert_allclose(got[0], expected[0], atol=1e-11)
            assert_allclose(got[1], expected[1], atol=1e-9)


def test_weighted_moments_are_numpys_and_add_up(H, rng):
    weights, one_group = rng.uniform(0.1, 3, size=60), np.zeros(60, dtype=int)
    (whole,) = no_moments(identity, H, one_group, 1).add_rows(identity, H, one_group, weights)
    (parts,) = in_parts = no_moments(identity, H, one_group, 1)
    for rows in np.split(np.arange(60), [7, 40]):
        in_parts.add_rows(identity, H[rows], one_group[rows], weights[rows])
    for moments in (whole, parts):
        assert_allclose(moments.n, weights.sum())
        assert_allclose(moments.mean, np.average(H, axis=0, weights=weights))
        assert_allclose(moments.covariance(), np.cov(H.T, aweights=weights, ddof=0), atol=1e-11)
    assert_allclose(parts.ledoit_wolf_shrinkage(), whole.ledoit_wolf_shrinkage())


def test_restriction_commutes_with_accumulation(H):
    moments = ClassMoments.from_data(H, [3, 5, 8])
    for size in (3, 5, 8):
        expected_covariance, expected_shrinkage = ledoit_wolf(H[:, :size])
        covariance, shrinkage = moments.restrict(size).ledoit_wolf()
        assert_allclose(covariance, expected_covariance)
        assert_allclose(shrinkage, expected_shrinkage)
    assert moments.restrict(5).restrict(3).sizes == (3,)


def test_a_stream_of_chunks_is_one_batch(H):
    stream = ClassMoments(8)
    for chunk in np.array_split(H, 7):
        stream.update(chunk)
    batch = ClassMoments.from_data(H)
    assert_allclose(stream.ledoit_wolf()[0], batch.ledoit_wolf()[0])


def test_the_shift_keeps_the_digits_of_units_far_from_zero(rng):
    H = 1 + 1e-7 * rng.normal(size=(100, 4))
    exact = np.cov((H - 1).T, ddof=0)
    shifted = ClassMoments.from_data(H, shift=H[:10].mean(axis=0)).covariance()
    plain = ClassMoments.from_data(H).covariance()
    assert_allclose(shifted, exact, rtol=1e-6, atol=1e-20)
    assert np.abs(plain - exact).max() > 1e-2 * np.abs(exact).max()  # what the shift is for


def test_groups_are_told_apart_in_blocks(H, rng, monkeypatch):
    monkeypatch.setattr("entrolearn.machines.moments.BLOCK_NUMBERS", 8 * 7)  # seven rows a block
    group = rng.integers(0, 3, size=60)
    for g, moments in enumerate(moments_by_group(identity, H, group, 3)):
        assert moments.n == (group == g).sum()
        assert_allclose(moments.covariance(), np.cov(H[group == g].T, ddof=0), atol=1e-11)


def test_training_sets_are_totals_minus_parts(H, rng):
    codes, part = rng.integers(0, 2, size=60), rng.integers(10, 14, size=60)
    moments = moments_of_parts(identity, H, codes, 2, part, [4, 8])
    for left_out in [(), (10,), (11, 13)]:
        for c, got in enumerate(moments.without(left_out)):
            rows = H[(codes == c) & ~np.isin(part, left_out)]
            assert got.n == len(rows)
            assert_allclose(got.restrict(4).ledoit_wolf()[0], ledoit_wolf(rows[:, :4])[0], atol=1e-11)


def test_parts_that_outweigh_the_rest_leave_its_digits(H, rng, monkeypatch):
    """Their sums are not subtracted: of a saturated unit one row can be all that there is."""
    monkeypatch.setattr("entrolearn.machines.moments.PILOT_ROWS", 5)
    H[50] *= 1e9
    part = np.where(np.arange(60) < 40, rng.integers(0, 3, size=60), 3)
    (got,) = moments_of_parts(identity, H, np.zeros(60, dtype=int), 1, part, [8]).without((1, 3))
    rows = H[np.isin(part, [0, 2])]
    assert got.n == len(rows)
    assert_allclose(got.ledoit_wolf()[0], ledoit_wolf(rows)[0], rtol=1e-10)


def test_rows_in_single_precision_are_summed_in_double(rng):
    """A single-precision sum of 300,000 ones and more would be off by whole percents of its last digits."""
    H = (rng.normal(size=(20_000, 4)) + 3).astype(np.float32)
    covariance, _ = ClassMoments.from_data(H, shift=np.full(4, 3.1)).ledoit_wolf()
    assert covariance.dtype == np.float64
    assert_allclose(covariance, ledoit_wolf(H.astype(np.float64))[0], atol=2e-6)


def test_what_cannot_be_combined_is_refused(H):
    moments = ClassMoments.from_data(H, [4, 8])
    with pytest.raises(ValueError, match="cannot be combined|same shifts"):
        moments + ClassMoments.from_data(H)
    with pytest.raises(ValueError, match="cannot be combined|same shifts"):
        moments - ClassMoments.from_data(H, [4, 8], shift=H[0])
    with pytest.raises(ValueError, match=r"first 5 units; sizes kept: \(4, 8\)"):
        moments.restrict(5)
    with pytest.raises(ValueError, match="largest must be n_hidden=8"):
        ClassMoments(8, [4])
    with pytest.raises(ValueError, match=r"the moments have 8 hidden units, got rows of shape \(60, 3\)"):
        moments.update(H[:, :3])


@pytest.mark.parametrize(
    ("device", "numbers", "expected"),
    [
        (1, None, 2**21 // 2000),
        (1, 2000 * 7, 7),
        (1, 1, 1),  # a row of more numbers than a block has
        (2, None, 2**26 // 2000),  # DLPack's number of CUDA
        (2, 2000 * 7, 2**26 // 2000),
    ],
)
def test_blocks_are_larger_on_an_accelerator(device, numbers, expected):
    """And divide the rows without a gap."""
    rows = SimpleNamespace(shape=(10**5, 3), __dlpack_device__=lambda: (device, 0))
    blocks = row_blocks(rows, 2000, numbers)
    assert blocks[0] == slice(0, expected)
    assert [block.start for block in blocks[1:]] == [block.stop for block in blocks[:-1]]
    assert blocks[-1].stop == 10**5
