"""Signs of axes, and units of length."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from entrolearn.axes import signs_of_rows, unit_of_length


def test_the_largest_entry_becomes_positive_and_rounding_does_not_choose_between_equal_ones():
    rng = np.random.default_rng(0)
    rows = np.array([[0.6, -0.8], [-0.8, 0.6], [0.5, -0.5], [-0.5, 0.5], [0.0, 0.0], [-1.0, 0.999]])
    for _ in range(20):
        rounded = rows * (1 + 1e-14 * rng.normal(size=rows.shape))
        assert_array_equal(signs_of_rows(rounded), [[-1], [-1], [1], [-1], [0], [-1]])


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-230, 0.1, 1.0, 1.5, 1e70, 1e308])
def test_unit_is_the_power_of_two_below_the_size(size):
    unit = unit_of_length(size)
    assert 1 <= size / unit < 2
    assert np.frexp(unit)[0] == 0.5
    assert unit_of_length(0.0) == 1
    assert unit_of_length(np.inf) == 2.0**1023
