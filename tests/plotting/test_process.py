"""The whole process: the parts are those of their own displays, the boundary is where the answer changes."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale

from entrolearn import EEMClassifier
from entrolearn.plotting import HiddenSpaceDisplay, ProcessDisplay, ProjectedDensityDisplay, process_axes


def test_parts_are_those_of_their_own_displays(moons, machine):
    X, y = moons
    display = ProcessDisplay.from_estimator(machine, X, y)
    assert_allclose(display.hidden.coordinates, HiddenSpaceDisplay.from_estimator(machine, X, y).coordinates)
    assert_allclose(
        display.projected.thresholds, ProjectedDensityDisplay.from_estimator(machine, X, y).thresholds
    )
    assert_allclose(display.X, X)


def test_along_the_boundary_the_machine_is_undecided(moons, machine):
    display = ProcessDisplay.from_estimator(machine, *moons)
    lines = display.boundary_lines()
    assert lines
    points = np.concatenate(lines)
    everywhere = machine.decision_function(
        np.column_stack([display.boundary.xx0.ravel(), display.boundary.xx1.ravel()])
    )
    assert np.abs(machine.decision_function(points)).max() < 1e-2 * np.ptp(everywhere)
    # And the projection of the boundary is a threshold.
    distance = np.abs(machine.project(points)[:, None] - machine.thresholds_).min(axis=1)
    assert distance.max() < 0.02


def test_a_plot_has_four_panels_and_the_machines_boundary_in_the_last(moons, machine):
    display = ProcessDisplay.from_estimator(machine, *moons, display_labels=["up", "down"]).plot()
    assert [ax.get_title(loc="left")[0] for ax in display.axes_] == list("abcd")
    drawn = [line.get_xydata() for line in display.axes_[3].get_lines()]
    for line, points in zip(drawn[:-1], display.boundary_lines(), strict=True):
        assert_allclose(line, points)
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()][:2] == ["class up", "class down"]


def test_a_table_with_names_is_followed_through_a_pipeline(moons):
    X, y = pd.DataFrame(moons[0], columns=["east", "north"]), moons[1]
    pipeline = make_pipeline(MinMaxScaler(), EEMClassifier(10, random_state=0)).fit(X, y)
    display = ProcessDisplay.from_estimator(pipeline, X, y).plot(process_axes())
    assert (display.axes_[0].get_xlabel(), display.axes_[3].get_ylabel()) == ("east", "north")
    assert not plt.get_fignums()  # a figure for writing files is none of pyplot's


def test_more_than_a_plane_and_other_than_four_axes_are_refused(moons, machine):
    X, y = load_breast_cancer(return_X_y=True)
    other = EEMClassifier(5, random_state=0).fit(minmax_scale(X), y)
    with pytest.raises(ValueError, match="the input is drawn as a plane: X has 30 features; accepted: 2"):
        ProcessDisplay.from_estimator(other, X, y)
    display = ProcessDisplay.from_estimator(machine, *moons)
    with pytest.raises(ValueError, match="ax holds 1 axes; accepted: four"):
        display.plot(plt.figure().subplots())
