"""Seconds of learners on logarithmic axes."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import random_array
from sklearn.linear_model import Ridge

from entrolearn.plotting import TimingDisplay, timings


def test_seconds_stand_on_logarithmic_axes_and_gaps_are_told():
    curves = {"A": ([0.1, 0.2], [1.0, 2.0]), "B": ([0.1, 0.2], [3.0, np.nan])}
    ax = TimingDisplay(curves, param_name="density").plot().ax_
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert_array_equal(ax.get_lines()[0].get_ydata(), [1, 2])
    assert [text.get_text() for text in ax.texts] == ["B: no seconds at 1 of 2"]


def test_the_shortest_of_several_fits_counts_for_each_data_set(monkeypatch):
    clock = iter([0, 3, 0, 2, 0, 4, 0, 7, 0, 6, 0, 5])  # before and after each of three fits to two data sets
    monkeypatch.setattr(timings, "time", SimpleNamespace(process_time=clock.__next__))
    data = {density: random_array((20, 30), density=density, rng=0) for density in (0.5, 0.1)}
    drawn = TimingDisplay.from_estimators({"ridge": Ridge()}, data, np.arange(20), param_name="density")
    assert drawn.curves == {"ridge": ([0.1, 0.5], [2, 5])}


def test_too_many_curves_are_refused():
    with pytest.raises(ValueError, match="7 curves in one panel; accepted: at most 6"):
        TimingDisplay({str(k): ([1], [1.0]) for k in range(7)}, param_name="x").plot()
