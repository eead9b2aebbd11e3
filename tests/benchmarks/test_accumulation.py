"""What is measured of sums in single precision."""

import numpy as np
import pytest

from benchmarks import accumulation
from benchmarks.accumulation import COLUMNS, WAYS, Compensated, Double, Pairwise, Plain, in_tf32
from entrolab.fit.limits import Limits


def summed(kind, numbers) -> float:
    total = kind()
    for number in numbers:
        total.add(np.array([number], dtype=np.float32))
    return float(total.total[0])


@pytest.mark.parametrize("kind", [Plain, Pairwise, Compensated, Double])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 100])
def test_sums_of_whole_numbers_are_exact(kind, n):
    assert summed(kind, range(n)) == n * (n - 1) / 2


def test_plain_sum_loses_what_the_others_keep():
    numbers = [2.0**24, *[1.0] * 64]  # the next single-precision number is two larger
    assert summed(Plain, numbers) == 2**24
    assert summed(Compensated, numbers) == 2**24 + 64
    assert summed(Double, numbers) == 2**24 + 64
    assert summed(Pairwise, numbers) == pytest.approx(2**24 + 64, abs=2)


def test_tf32_keeps_ten_bits():
    assert in_tf32(np.float32([1 + 2**-10, 1 + 2**-12, 1 + 3 * 2**-12, -3.0])).tolist() == [
        1 + 2**-10,
        1,
        1 + 2**-10,
        -3,
    ]


def test_errors_of_covariances_are_those_of_their_precision():
    table = accumulation.accumulation(Limits(seconds=60), sizes=(40_000,), n_features=3, n_hidden=6).table
    assert table.index.get_level_values("sums").tolist() == list(WAYS)
    error = table.loc[40_000]["covariance error"]
    assert (error > 0).all()
    assert error["double over blocks"] < 4 * np.finfo(np.float32).eps
    assert error["double over blocks"] <= error["single, plain"] < 1e-5
    assert error["double over blocks, TF32 products"] > 10 * error["double over blocks"]
    assert (table["log odds error"] < 0.01).all()
    assert set(table.columns) == set(COLUMNS)
