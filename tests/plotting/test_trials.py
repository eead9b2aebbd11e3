"""Scores of trials: a line per learner, gaps told."""

import numpy as np
from numpy.testing import assert_array_equal

from entrolearn.plotting import TrialsDisplay, plot_panels


def test_each_learner_is_a_line_over_the_trials():
    drawn = TrialsDisplay({"A": [1.0, 2.0, 3.0], "B": [2.0, np.nan, 4.0]}, score_name="accuracy").plot()
    first, second = drawn.ax_.get_lines()
    assert_array_equal(first.get_xdata(), [1, 2, 3])
    assert_array_equal(second.get_ydata(), [2, np.nan, 4])
    assert [text.get_text() for text in drawn.ax_.texts] == ["B: no number at 1 of 3"]
    assert drawn.ax_.get_ylabel() == "accuracy"


def test_panels_of_several_scores_have_axes_of_their_own():
    panels = {
        name: TrialsDisplay({"A": scores, "B": scores}, score_name=name)
        for name, scores in (("accuracy, %", [90.0, 91.0]), ("RMSE", [0.1, 0.2]))
    }
    figure = plot_panels(panels, common=False)
    assert [ax.get_ylabel() for ax in figure.axes] == ["accuracy, %", "RMSE"]
    assert figure.axes[0].get_ylim() != figure.axes[1].get_ylim()
    assert len(figure.legends) == 1
