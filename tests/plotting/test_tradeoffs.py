"""One score against another: a line per machine, gaps told."""

import numpy as np
from numpy.testing import assert_array_equal

from entrolearn.plotting import TradeoffDisplay

NAMES = {"x_name": "support vectors, %", "y_name": "error, %"}


def test_each_machine_is_a_line_through_its_grid_in_order():
    drawn = TradeoffDisplay({"A": ([3, 1, 2], [10, 20, 30]), "B": ([1, np.nan], [2, 3])}, **NAMES).plot()
    first, second = drawn.ax_.get_lines()
    assert_array_equal(first.get_xydata(), [[3, 10], [1, 20], [2, 30]])
    assert np.isnan(second.get_xdata()[1])
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("support vectors, %", "error, %")
    assert [text.get_text() for text in drawn.ax_.texts] == ["B: no number at 1 of 2"]
    assert drawn.ax_.get_legend_handles_labels()[1] == ["A", "B"]


def test_a_machine_without_a_point_keeps_its_place():
    drawn = TradeoffDisplay({"A": ([], []), "B": ([1], [2])}, **NAMES).plot()
    assert drawn.ax_.get_legend_handles_labels()[1] == ["A", "B"]
    assert [text.get_text() for text in drawn.ax_.texts] == ["A: no number"]
