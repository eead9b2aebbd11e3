"""What many starts reach: histograms, and the best of several."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolearn.measures import expected_maximum
from entrolearn.plotting import ExpectedMaximumDisplay, StartsDisplay

FOUND = {"A": np.array([1.0, 2.0, 2.0, 4.0]), "B": np.array([3.0, 3.5])}


class Optimizer(TransformerMixin, BaseEstimator):
    """What a solver of many starts leaves behind."""

    def fit(self, X, y=None):
        self.objectives_ = np.sort(np.abs(X[:, 0]))
        return self


def lines(ax):
    return {line.get_label(): line.get_data() for line in ax.get_lines()}


# ------------------------------------------------------------------------------------------- histograms


def test_histograms_count_every_start_once_on_common_bins():
    display = StartsDisplay(FOUND).plot()
    outlines = [patch for patch in display.ax_.patches if patch.get_label() in FOUND]
    for patch in outlines:
        heights, edges, _ = patch.get_data()
        assert heights.sum() == pytest.approx(100)
        assert_array_equal(edges, display.bins())
    heights = dict(zip(FOUND, (patch.get_data()[0] for patch in outlines), strict=True))
    assert sorted(heights["A"][heights["A"] > 0]) == [25, 25, 50]
    assert display.ax_.get_legend_handles_labels()[1] == ["A", "B"]


@pytest.mark.parametrize("values", [[2.0] * 5, [2.0, 2.0 + 1e-9], [-2.0, -2.0 - 1e-9], [0.0, 0.0]])
def test_values_that_differ_by_nothing_that_matters_are_one_peak(values):
    display = StartsDisplay({"A": values}).plot()
    heights, _, _ = display.ax_.patches[1].get_data()
    assert np.count_nonzero(heights) <= 2
    assert heights.sum() == pytest.approx(100)


def test_starts_that_came_to_nothing_are_left_out_and_told():
    found = {"A": [1.0, np.nan, 2.0, np.nan], "B": [2.0]}
    histograms = StartsDisplay(found).plot()
    heights, _, _ = histograms.ax_.patches[1].get_data()
    assert heights.sum() == pytest.approx(50)
    maxima = ExpectedMaximumDisplay(found, relative=True).plot()
    assert_allclose(maxima.curve("A"), [[1, 2], [75, 100]])
    told = [[text.get_text() for text in display.ax_.texts] for display in (histograms, maxima)]
    assert told == [["A: nothing from 2 of 4"], ["A: nothing from 2 of 4\nbest 2"]]


# ------------------------------------------------------------------------------------- expected maxima


def test_curves_are_the_expected_maxima_against_the_number_of_starts():
    ax = ExpectedMaximumDisplay(FOUND).plot().ax_
    x, y = lines(ax)["A"]
    assert_array_equal(x, [1, 2, 3, 4])
    assert_allclose(y, expected_maximum(FOUND["A"]))
    assert ax.get_xscale() == "log"


def test_relative_curves_end_at_their_share_of_the_best_of_all():
    display = ExpectedMaximumDisplay(FOUND, relative=True).plot()
    ends = {name: lines(display.ax_)[name][1][-1] for name in FOUND}
    assert ends == {"A": 100.0, "B": 87.5}
    assert [text.get_text() for text in display.ax_.texts] == ["best 4"]
    assert display.axis_names == ("starts", "expected best, % of the best")


def test_against_costs_a_start_is_as_wide_as_it_costs_and_a_point_marks_some():
    display = ExpectedMaximumDisplay(FOUND, costs={"A": 0.5, "B": 10.0}).plot(n_starts=3)
    drawn = lines(display.ax_)
    assert_allclose(drawn["A"][0], [0.5, 1.0, 1.5, 2.0])
    assert_allclose(drawn["B"][0], [10, 20])
    (point,) = [line.get_data() for line in display.ax_.get_lines() if line.get_marker() == "o"]
    assert_allclose(np.ravel(point), [1.5, expected_maximum(FOUND["A"])[2]])  # B has fewer starts
    assert display.axis_names[0] == "seconds"


def test_shares_of_a_best_that_is_not_positive_are_refused():
    with pytest.raises(ValueError, match="the best objective is -1; accepted with relative=True: positive"):
        ExpectedMaximumDisplay({"A": [-2.0, -1.0]}, relative=True).plot()


# ---------------------------------------------------------------------------------- from fitted solvers


@pytest.mark.parametrize("display", [StartsDisplay, ExpectedMaximumDisplay])
def test_fitted_solvers_show_the_objectives_of_their_starts(display):
    X = np.random.default_rng(0).normal(size=(30, 2))
    solvers = {"plain": Optimizer().fit(X), "scaled": make_pipeline(StandardScaler(), Optimizer()).fit(X)}
    shown = display.from_estimators(solvers)
    assert_array_equal(shown.objectives["plain"], solvers["plain"].objectives_)
    assert_array_equal(shown.objectives["scaled"], solvers["scaled"][-1].objectives_)
    with pytest.raises(NotFittedError):
        display.from_estimators({"A": Optimizer()})
    with pytest.raises(TypeError, match="StandardScaler has no objectives_; accepted: estimators with one"):
        display.from_estimators({"A": StandardScaler().fit(X)})


@pytest.mark.parametrize("display", [StartsDisplay, ExpectedMaximumDisplay])
def test_more_solvers_than_there_are_looks_are_refused(display):
    with pytest.raises(ValueError, match="7 (curves|histograms) in one panel; accepted: at most 6"):
        display({str(k): [1.0] for k in range(7)}).plot()
