"""Seconds and errors of evaluations, one above the other."""

import pytest
from numpy.testing import assert_allclose

from entrolearn.plotting import EvaluationsDisplay, evaluation_axes

NAN = float("nan")
CURVES = {
    "exact": ([10, 100, 1000], [1.0, 2.0, NAN], [NAN, NAN, NAN]),
    "binned": ([10, 100, 1000], [1.5, 1.6, 1.7], [1e-3, 2e-3, NAN]),
}


def test_seconds_stand_above_errors_on_logarithmic_axes():
    display = EvaluationsDisplay(CURVES).plot()
    above, below = display.axes_
    assert {ax.get_xscale() for ax in display.axes_} | {ax.get_yscale() for ax in display.axes_} == {"log"}
    assert_allclose(above.get_lines()[1].get_ydata(), [1.5, 1.6, 1.7])
    assert_allclose(below.get_lines()[0].get_ydata(), [1e-3, 2e-3, NAN])
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == ["exact", "binned"]


def test_a_way_without_any_error_is_drawn_above_alone_in_the_look_that_it_has_there():
    above, below = EvaluationsDisplay(CURVES).plot().axes_
    assert (len(above.get_lines()), len(below.get_lines())) == (2, 1)
    assert below.get_lines()[0].get_color() == above.get_lines()[1].get_color()


def test_axes_that_are_given_are_drawn_on_and_they_are_two():
    axes = evaluation_axes()
    assert EvaluationsDisplay(CURVES).plot(axes).figure_ is axes[0].figure
    with pytest.raises(ValueError, match="ax holds 1 axes; accepted: two"):
        EvaluationsDisplay(CURVES).plot(axes[:1])
