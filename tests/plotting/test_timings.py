"""Seconds of learners on logarithmic axes."""

import numpy as np
from numpy.testing import assert_array_equal

from entrolearn.plotting import TimingDisplay


def test_seconds_stand_on_logarithmic_axes_and_gaps_are_told():
    curves = {"A": ([0.1, 0.2], [1.0, 2.0]), "B": ([0.1, 0.2], [3.0, np.nan])}
    ax = TimingDisplay(curves, param_name="density").plot().ax_
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert_array_equal(ax.get_lines()[0].get_ydata(), [1, 2])
    assert [text.get_text() for text in ax.texts] == ["B: no number at 1 of 2"]
