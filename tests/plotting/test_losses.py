"""Objectives against iterations: a line per learner, logarithms where they are defined."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from entrolearn.plotting import LossCurvesDisplay


def test_each_learner_is_a_line_from_its_first_iteration_to_where_it_stopped():
    display = LossCurvesDisplay({"A": [4.0, 2.0, 1.0], "B": [3.0, 1.0]}).plot()
    first, second = display.ax_.get_lines()
    assert_array_equal(first.get_data(), [[1, 2, 3], [4, 2, 1]])
    assert_array_equal(second.get_data(), [[1, 2], [3, 1]])
    assert first.get_markevery() == slice(-1, None)
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "log")
    assert display.ax_.get_legend_handles_labels()[1] == ["A", "B"]


def test_an_entropy_below_zero_has_a_linear_axis():
    display = LossCurvesDisplay({"A": [1.0, -0.5], "B": [3.0, 1.0]}, loss_name="entropy").plot()
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "linear")
    assert display.ax_.get_ylabel() == "entropy"


def test_what_is_no_number_is_told():
    display = LossCurvesDisplay({"A": [2.0, np.inf, np.nan, 1.0]}, step_name="epoch").plot()
    assert [text.get_text() for text in display.ax_.texts] == ["A: no number at 2 of 4"]
    assert display.ax_.get_yscale() == "log"


def test_fitted_learners_show_what_they_remember(moons):
    net = MLPClassifier((4,), max_iter=5, tol=1.0, n_iter_no_change=3, random_state=0)
    nets = {"plain": net.fit(*moons), "scaled": make_pipeline(StandardScaler(), net).fit(*moons)}
    display = LossCurvesDisplay.from_estimators(nets)
    assert_array_equal(display.losses["plain"], nets["plain"].loss_curve_)
    assert_array_equal(display.losses["scaled"], nets["scaled"][-1].loss_curve_)
    with pytest.raises(TypeError, match="SVC has no loss_curve_; accepted: estimators with one"):
        LossCurvesDisplay.from_estimators({"A": SVC().fit(*moons)})
    other = MLPRegressor(
        hidden_layer_sizes=(4,), max_iter=5, tol=1.0, n_iter_no_change=3, random_state=0
    ).fit(*moons)
    with pytest.raises(ValueError, match="MLPClassifier and MLPRegressor"):  # log loss and squared error
        LossCurvesDisplay.from_estimators({"A": net, "B": other})
    with pytest.raises(NotFittedError):
        LossCurvesDisplay.from_estimators({"A": MLPClassifier()})
