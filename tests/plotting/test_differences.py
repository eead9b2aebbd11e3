"""Differences of scores by a property of the data: where points are, and what is named."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from entrolearn.plotting import DifferencesDisplay

NAMES = ["a", "b", "c", "d", "e", "f"]
VALUES = [10, 100, 1000, 20, 200, 2000]
GAINS = [3.0, -1.0, 0.0, 2.0, -4.0, 1.0]


def display(**changes):
    return DifferencesDisplay(NAMES, VALUES, GAINS, **{"x_name": "rows", "y_name": "gain"} | changes).plot()


def test_points_ahead_behind_and_neither_are_marked_apart():
    ax = display(sides=("A ahead", "B ahead")).ax_
    offsets = [scatter.get_offsets() for scatter in ax.collections]
    assert_array_equal(offsets[0], [[10, 3], [20, 2], [2000, 1]])
    assert_array_equal(offsets[1], [[100, -1], [200, -4]])
    assert_array_equal(offsets[2], [[1000, 0]])
    assert len({scatter.get_paths()[0].vertices.tobytes() for scatter in ax.collections}) == 3
    assert ax.get_xscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rows", "gain")
    assert {"A ahead", "B ahead"} <= {text.get_text() for text in ax.texts}


def test_the_two_farthest_ahead_and_behind_are_named_once_each():
    def named(ax):
        return [text.get_text() for text in ax.texts if text.get_text()]

    assert sorted(named(display().ax_)) == ["a", "b", "d", "e"]
    few = DifferencesDisplay(NAMES[:3], VALUES[:3], GAINS[:3], x_name="rows", y_name="gain").plot()
    assert sorted(named(few.ax_)) == ["a", "b", "c"]


def test_a_trend_is_a_straight_line_by_the_logarithm_over_the_points():
    (zero, trend) = display(line=(1.0, -2.0)).ax_.get_lines()
    assert set(zero.get_ydata()) == {0}
    assert_allclose(trend.get_xydata(), [[10, 1 - 2 * 1], [2000, 1 - 2 * np.log10(2000)]])
    assert len(display().ax_.get_lines()) == 1


@pytest.mark.parametrize(
    ("most", "within"),
    [(900, ["10", "20", "50", "100", "200", "500"]), (1_000, ["10", "100", "1,000"])],
    ids=["narrow", "wide"],
)
def test_ticks_are_numbers_as_they_are_read(most, within):
    ax = DifferencesDisplay(["a", "b"], [10, most], [1.0, 2.0], x_name="rows", y_name="gain").plot().ax_
    ax.figure.draw_without_rendering()
    shown = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
    assert [label.get_text() for at, label in shown if 10 <= at <= most] == within
