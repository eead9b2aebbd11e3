"""Displays of plain lines: trials, trade-offs and times."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from entrolearn.plotting import TimingDisplay, TradeoffDisplay, TrialsDisplay, plot_panels


@pytest.mark.parametrize(
    ("display", "names", "scale"),
    [
        (
            TrialsDisplay({"A": [3.0, 1.0, 2.0], "B": [2.0, np.nan, 4.0]}, score_name="y"),
            ("split", "y"),
            "linear",
        ),
        (
            TradeoffDisplay(
                {"A": ([1, 2, 3], [3, 1, 2]), "B": ([1, np.nan, 3], [2, 3, 4])}, x_name="x", y_name="y"
            ),
            ("x", "y"),
            "linear",
        ),
        (
            TimingDisplay({"A": ([1, 2, 3], [3, 1, 2]), "B": ([1, 2, 3], [2, np.nan, 4])}, param_name="x"),
            ("x", "seconds"),
            "log",
        ),
    ],
    ids=["trials", "tradeoff", "timing"],
)
def test_each_learner_is_a_line_in_its_order_and_gaps_are_told(display, names, scale):
    ax = display.plot().ax_
    first, second = ax.get_lines()
    assert_array_equal(first.get_data(), [[1, 2, 3], [3, 1, 2]])
    assert_array_equal(np.isnan(second.get_xydata()).any(axis=1), [False, True, False])
    assert (ax.get_xlabel(), ax.get_ylabel()) == names
    assert (ax.get_xscale(), ax.get_yscale()) == (scale, scale)
    assert [text.get_text() for text in ax.texts] == ["B: no number at 1 of 3"]


def test_panels_of_several_scores_have_axes_of_their_own():
    panels = {
        name: TrialsDisplay({"A": scores, "B": scores}, score_name=name)
        for name, scores in (("accuracy, %", [90.0, 91.0]), ("RMSE", [0.1, 0.2]))
    }
    figure = plot_panels(panels, common=False)
    assert [ax.get_ylabel() for ax in figure.axes] == ["accuracy, %", "RMSE"]
    assert figure.axes[0].get_ylim() != figure.axes[1].get_ylim()
    assert len(figure.legends) == 1
