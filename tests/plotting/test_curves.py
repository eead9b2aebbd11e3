"""Curves over a grid: means and spreads of the folds, gaps where a fold has no score."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from entrolearn.plotting import GridCurveDisplay, plot_panels

SCORES = np.array([[1.0, 2.0, np.nan], [3.0, 6.0, 9.0]])


def display(values=(5, 10, 15), scores=SCORES, **keywords):
    names = {"param_name": "n_hidden", "score_name": "GMEAN"} | keywords
    return GridCurveDisplay({"EEM": (values, scores)}, **names)


def test_a_curve_is_the_mean_of_the_folds_and_its_band_their_standard_deviation():
    drawn = display().plot()
    (line,), (band, _) = drawn.ax_.get_lines(), drawn.ax_.collections
    assert_array_equal(line.get_xdata(), [5, 10, 15])
    assert_allclose(line.get_ydata(), [2, 4, np.nan])
    corners = band.get_paths()[0].vertices
    at = {x: corners[corners[:, 0] == x, 1] for x in (5, 10)}
    # ddof=1: the standard deviation of (1, 3) is sqrt(2), of (2, 6) it is 2 sqrt(2)
    assert_allclose([at[5].min(), at[5].max()], [2 - 2**0.5, 2 + 2**0.5])
    assert_allclose([at[10].min(), at[10].max()], [4 - 8**0.5, 4 + 8**0.5])


def test_axes_with_other_lines_are_drawn_on():
    ax = Figure().subplots()
    ax.plot([0, 1], [0, 1])
    assert len(display().plot(ax).ax_.get_lines()) == 2


def test_a_value_with_a_failed_fold_is_a_gap_that_is_told():
    assert [text.get_text() for text in display().plot().ax_.texts] == ["EEM: no number at 1 of 3"]
    nothing = display(values=[], scores=np.empty((0, 0))).plot()
    assert [text.get_text() for text in nothing.ax_.texts] == ["EEM: no number"]


def test_curves_with_an_order_pass_from_dark_to_light_without_bands():
    many = {f"L = {k}": ([1, 2, 4], [[1.0, 2.0, k]]) for k in range(8)}
    ax = GridCurveDisplay(many, param_name="C", score_name="accuracy", ordered=True).plot().ax_
    assert not ax.collections
    assert not display(scores=np.ones((1, 3))).plot().ax_.collections  # one fold has no spread
    light = [sum(to_rgb(line.get_color())) for line in ax.get_lines()]
    assert light == sorted(light)
    assert len(set(light)) == 8


def test_powers_of_two_stand_on_an_axis_of_base_two():
    values = [2.0**k for k in range(-4, 5)]
    ax = display(values=values, scores=np.ones((2, 9))).plot().ax_
    assert ax.xaxis.get_major_locator()._base == 2


@pytest.mark.parametrize(
    ("values", "scale"),
    [((5, 10, 15), "linear"), ((1, 10, 100), "log"), ((0, 1, 100), "linear"), ((-1, 0, 1), "linear")],
)
def test_values_that_grow_by_factors_stand_on_a_logarithmic_axis(values, scale):
    ax = display(values=values).plot().ax_
    assert ax.get_xscale() == scale
    if scale == "log":
        assert ax.get_xticks().tolist() == list(values)


def test_panels_share_axes_and_a_text_stands_for_what_is_absent():
    two = GridCurveDisplay(
        {"A": ([1, 2], [[1.0, 2.0]]), "B": ([1, 2], [[0.0, 1.0]])}, param_name="C", score_name="score"
    )
    figure = plot_panels({"one": two, "two": "no data: gone", "three": two}, n_columns=2)
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title() for ax in shown] == ["one", "two", "three"]
    assert shown[1].texts[0].get_text() == "no data: gone"
    assert len({ax.get_ylim() for ax in shown}) == len({ax.get_xlim() for ax in shown}) == 1
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["A", "B"]


def test_no_panel_is_refused():
    with pytest.raises(ValueError, match="there is no panel to draw"):
        plot_panels({})
