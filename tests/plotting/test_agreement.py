"""Ours against print: marks by verdict, the line of equality, a band of the printed ±."""

import numpy as np
from numpy.testing import assert_allclose

from entrolearn.plotting import AgreementDisplay

VERDICTS = ["reproduced", "higher", "lower"]


def test_each_verdict_has_its_own_marks_at_printed_and_ours():
    drawn = AgreementDisplay([80, 70, 90], [81, 95, 60], VERDICTS, name="accuracy, %").plot()
    marks = {one.get_label(): one.get_offsets().data.tolist() for one in drawn.ax_.collections}
    assert marks == {"reproduced": [[80, 81]], "higher": [[70, 95]], "lower": [[90, 60]]}
    (line,) = drawn.ax_.get_lines()
    assert_allclose(*line.get_data())
    assert drawn.ax_.get_xlim() == drawn.ax_.get_ylim()


def test_a_band_is_as_wide_as_it_is_told():
    drawn = AgreementDisplay([80, 70], [81, 69], VERDICTS[:2], name="accuracy, %", band=2.5).plot()
    corners = drawn.ax_.collections[0].get_paths()[0].vertices
    assert_allclose(np.abs(corners[:, 1] - corners[:, 0]), 2.5)


def test_numbers_of_many_sizes_have_logarithmic_axes_which_nothing_below_zero_has():
    wide = AgreementDisplay([0.1, 100], [0.2, 90], VERDICTS[:2], name="s").plot()
    signed = AgreementDisplay([-1, 100], [0.2, 90], VERDICTS[:2], name="s").plot()
    assert (wide.ax_.get_xscale(), signed.ax_.get_xscale()) == ("log", "linear")


def test_one_number_has_axes_around_it():
    drawn = AgreementDisplay([5.0], [5.0], ["reproduced"], name="s").plot()
    low, high = drawn.ax_.get_xlim()
    assert low < 5 < high
