"""Seconds of learners on logarithmic axes."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import random_array
from sklearn.linear_model import Ridge

from entrolearn.plotting import TimingDisplay


def test_seconds_stand_on_logarithmic_axes_and_gaps_are_told():
    curves = {"A": ([0.1, 0.2], [1.0, 2.0]), "B": ([0.1, 0.2], [3.0, np.nan])}
    ax = TimingDisplay(curves, param_name="density").plot().ax_
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert_array_equal(ax.get_lines()[0].get_ydata(), [1, 2])
    assert [text.get_text() for text in ax.texts] == ["B: no seconds at 1 of 2"]


def test_every_learner_is_timed_on_all_data():
    data = {density: random_array((20, 30), density=density, rng=0) for density in (0.5, 0.1)}
    drawn = TimingDisplay.from_estimators({"ridge": Ridge()}, data, np.arange(20), param_name="density")
    values, seconds = drawn.curves["ridge"]
    assert values == [0.1, 0.5]
    assert min(seconds) > 0


def test_too_many_curves_are_refused():
    with pytest.raises(ValueError, match="7 curves in one panel; accepted: at most 6"):
        TimingDisplay({str(k): ([1], [1.0]) for k in range(7)}, param_name="x").plot()
