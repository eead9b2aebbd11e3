"""Critical-difference diagrams: ranks, names, bars and the scale."""

from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose

from entrolearn.plotting import CriticalDifferenceDisplay, critical_difference_axes, journal_style

RANKS = {"d": 5.0, "a": 1.5, "c": 3.25, "b": 2.5, "e": 4.5}


def lines(display, length):
    """The drawn lines of so many points."""
    return [line.get_xydata() for line in display.ax_.get_lines() if len(line.get_xydata()) == length]


def texts(display):
    return {text.get_text(): text for text in display.ax_.texts}


def test_every_model_has_its_name_and_rank_at_the_end_of_a_line_from_its_rank():
    display = CriticalDifferenceDisplay(RANKS, []).plot()
    leaders = lines(display, 3)
    assert [leader[0, 0] for leader in leaders] == [1.5, 2.5, 3.25, 5.0, 4.5]
    assert [leader[2, 0] for leader in leaders] == [1, 1, 1, 5, 5]
    found = texts(display)
    for name, rank in RANKS.items():
        leader = next(one for one in leaders if one[0, 0] == rank)
        assert_allclose(found[name].xy, leader[2])
        assert_allclose(found[f"{rank:.2f}"].xy, leader[2])
        assert found[name].get_ha() == ("right" if leader[2, 0] == 1 else "left")


def test_no_two_names_share_a_line():
    display = CriticalDifferenceDisplay(RANKS, [["a", "b"]]).plot()
    at = [tuple(leader[2]) for leader in lines(display, 3)]
    assert len(set(at)) == len(RANKS)


def test_a_bar_spans_its_group_with_a_dot_at_each_of_its_models():
    display = CriticalDifferenceDisplay(RANKS, [["a", "c", "e"]]).plot()
    (bar,) = [line for line in lines(display, 2) if line[0, 1] < 0]
    assert_allclose(bar[:, 0], [1.5, 4.5])
    (dots,) = [line for line in lines(display, 3) if np.ptp(line[:, 1]) == 0]
    assert_allclose(dots[:, 0], [1.5, 3.25, 4.5])
    assert_allclose(dots[:, 1], bar[0, 1])


def test_bars_that_meet_are_one_below_the_other_and_others_share_a_level():
    groups = [["a", "b"], ["b", "c"], ["c", "e"], ["e", "d"]]
    assert CriticalDifferenceDisplay(RANKS, groups)._levels() == [0, 1, 0, 1]
    drawn = lines(CriticalDifferenceDisplay(RANKS, groups).plot(), 2)
    assert len({line[0, 1] for line in drawn if line[0, 1] < 0}) == 2


def test_the_scale_is_as_long_as_the_critical_difference_and_the_axis_has_room_for_it():
    display = CriticalDifferenceDisplay({"a": 2.1, "b": 2.4}, [], critical_difference=3.3).plot()
    (scale,) = [line for line in lines(display, 2) if line[0, 1] > 0]
    assert_allclose(scale[:, 0], [2, 5.3])
    assert display.ax_.get_xlim() == (2, 6)
    assert "critical difference: 3.30" in texts(display)
    assert not lines(CriticalDifferenceDisplay({"a": 2.1, "b": 2.4}, []).plot(), 2)


@pytest.mark.parametrize("style", [journal_style, nullcontext])
@pytest.mark.parametrize("n_models", [2, 3, 9, 24])
def test_names_and_remarks_lie_within_the_figure_and_apart(n_models, style):
    ranks = {f"a model of a long name {k}": 1 + k * (n_models - 1) / n_models for k in range(n_models)}
    display = CriticalDifferenceDisplay(
        ranks, [list(ranks)], critical_difference=1.0, remark="bars: by a test\nof all"
    )
    with style():
        display.plot(critical_difference_axes(display))
        display.figure_.draw_without_rendering()
    around = display.figure_.bbox
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    assert all(around.x0 <= box.x0 and box.x1 <= around.x1 for box in boxes)
    assert all(around.y0 <= box.y0 and box.y1 <= around.y1 for box in boxes)
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])
