"""Surfaces over two parameters: every point in its field, gaps told."""

import numpy as np
from numpy.testing import assert_allclose

from entrolearn.plotting import GridSurfaceDisplay

XS, YS = [0.25, 0.5, 1.0, 2.0], [200, 400, 1200]
SCORES = np.arange(12.0).reshape(3, 4)


def display(scores=SCORES, xs=XS, ys=YS):
    return GridSurfaceDisplay(xs, ys, scores, x_name="C", y_name="L", score_name="accuracy, %")


def test_every_point_lies_in_a_field_of_its_score():
    ax = display().plot().ax_
    mesh = ax.collections[0]
    assert_allclose(mesh.get_array(), SCORES)
    corners = mesh.get_coordinates()
    for k, x in enumerate(XS):
        assert corners[0, k, 0] < x < corners[0, k + 1, 0]
    for k, y in enumerate(YS):
        assert corners[k, 0, 1] < y < corners[k + 1, 0, 1]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("C", "L")


def test_powers_of_two_stand_on_an_axis_of_base_two():
    ax = display(xs=[2.0**k for k in range(-4, 4)], scores=np.zeros((3, 8))).plot().ax_
    assert ax.get_xscale() == "log"
    assert ax.xaxis.get_major_locator()._base == 2
    assert display(xs=[1, 2, 3, 4]).plot().ax_.get_xscale() == "linear"


def test_a_point_without_a_score_is_empty_and_told():
    scores = SCORES.copy()
    scores[1, 2] = np.nan
    ax = display(scores).plot().ax_
    assert np.ma.count_masked(ax.collections[0].get_array()) == 1
    assert "no score at 1 of 12" in [text.get_text() for text in ax.texts]


def test_a_single_row_or_a_constant_score_is_drawn_without_lines():
    assert len(display(SCORES[:1], ys=[200]).plot().ax_.collections) == 1
    assert len(display(np.ones((3, 4))).plot().ax_.collections) == 1
