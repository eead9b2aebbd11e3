"""What many starts reach: histograms, and the best of several."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from entrolearn.measures import expected_maximum
from entrolearn.plotting import ExpectedMaximumDisplay, StartsDisplay

FOUND = {"A": np.array([1.0, 2.0, 2.0, 4.0]), "B": np.array([3.0, 3.5])}


def lines(ax):
    return {line.get_label(): line.get_data() for line in ax.get_lines()}


# ------------------------------------------------------------------------------------------- histograms


def test_histograms_count_every_start_once_on_common_bins():
    display = StartsDisplay(FOUND).plot()
    outlines = [patch for patch in display.ax_.patches if patch.get_label() in FOUND]
    for patch in outlines:
        heights, edges, _ = patch.get_data()
        assert heights.sum() == pytest.approx(100)
        assert_array_equal(edges, display.bins())
    heights = dict(zip(FOUND, (patch.get_data()[0] for patch in outlines), strict=True))
    assert sorted(heights["A"][heights["A"] > 0]) == [25, 25, 50]
    assert display.ax_.get_legend_handles_labels()[1] == ["A", "B"]


@pytest.mark.parametrize("values", [[2.0] * 5, [2.0, 2.0 + 1e-9], [-2.0, -2.0 - 1e-9], [0.0, 0.0]])
def test_values_that_differ_by_nothing_that_matters_are_one_peak(values):
    display = StartsDisplay({"A": values}).plot()
    heights, _, _ = display.ax_.patches[1].get_data()
    assert np.count_nonzero(heights) <= 2
    assert heights.sum() == pytest.approx(100)


def test_starts_that_came_to_nothing_are_left_out_and_told():
    found = {"A": [1.0, np.nan, 2.0, np.nan], "B": [2.0]}
    histograms = StartsDisplay(found).plot()
    heights, _, _ = histograms.ax_.patches[1].get_data()
    assert heights.sum() == pytest.approx(50)
    maxima = ExpectedMaximumDisplay(found, relative=True).plot()
    assert_allclose(maxima.curve("A"), [[1, 2], [75, 100]])
    told = [[text.get_text() for text in display.ax_.texts] for display in (histograms, maxima)]
    assert told == [["A: nothing from 2 of 4"], ["A: nothing from 2 of 4\nbest: 2"]]


# ------------------------------------------------------------------------------------- expected maxima


def test_curves_are_the_expected_maxima_against_the_number_of_starts():
    ax = ExpectedMaximumDisplay(FOUND).plot().ax_
    x, y = lines(ax)["A"]
    assert_array_equal(x, [1, 2, 3, 4])
    assert_allclose(y, expected_maximum(FOUND["A"]))
    assert ax.get_xscale() == "log"


def test_relative_curves_end_at_their_share_of_the_best_of_all():
    display = ExpectedMaximumDisplay(FOUND, relative=True).plot()
    ends = {name: lines(display.ax_)[name][1][-1] for name in FOUND}
    assert ends == {"A": 100.0, "B": 87.5}
    assert [text.get_text() for text in display.ax_.texts] == ["best: 4"]
    assert display.axis_names == ("starts", "expected best, % of the best")


def test_against_costs_a_start_is_as_wide_as_it_costs_and_a_point_marks_sixteen():
    found = FOUND | {"C": np.arange(20.0)}
    display = ExpectedMaximumDisplay(found, costs={"A": 0.5, "B": 10.0, "C": 2.0}).plot()
    drawn = lines(display.ax_)
    assert_allclose(drawn["A"][0], [0.5, 1.0, 1.5, 2.0])
    assert_allclose(drawn["B"][0], [10, 20])
    points = [line.get_data() for line in display.ax_.get_lines() if line.get_marker() == "o"]
    (point,) = [np.ravel(one) for one in points if np.size(one)]
    assert_allclose(point, [32.0, expected_maximum(found["C"])[15]])  # the others have fewer starts
    assert display.axis_names[0] == "seconds"


def test_shares_of_a_best_that_is_not_positive_are_refused():
    with pytest.raises(ValueError, match="the best objective is -1; accepted with relative=True: positive"):
        ExpectedMaximumDisplay({"A": [-2.0, -1.0]}, relative=True).plot()
