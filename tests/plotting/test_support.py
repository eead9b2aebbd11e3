"""Support vectors in the plane: the filled rows are the machine's, the lines are where it says so."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from entrolearn.plotting import SupportVectorDisplay


@pytest.fixture(scope="module")
def svm(moons):
    return SVC(kernel="linear").fit(*moons)


def filled(ax):
    """The places of the filled markers."""
    groups = [group for group in ax.collections if len(group.get_facecolor())]
    return np.concatenate([group.get_offsets() for group in groups])


def test_the_filled_rows_are_the_support_vectors_and_the_others_are_open(moons, svm):
    display = SupportVectorDisplay.from_estimator(svm, *moons).plot()
    found = filled(display.ax_)
    assert_array_equal(np.unique(found, axis=0), np.unique(svm.support_vectors_, axis=0))
    drawn = np.concatenate([group.get_offsets() for group in display.ax_.collections])
    assert_array_equal(np.unique(drawn, axis=0), np.unique(moons[0], axis=0))
    assert [text.get_text() for text in display.ax_.texts] == [f"support: {len(svm.support_)} of 200"]
    on_top = max(display.ax_.collections, key=lambda group: group.get_zorder())
    assert_array_equal(np.isin(on_top.get_offsets(), found).all(axis=1), True)


def test_classes_differ_in_their_markers(moons, svm):
    ax = SupportVectorDisplay.from_estimator(svm, *moons, display_labels=["down", "up"]).plot().ax_
    labels = ["class down", "support vectors of down", "class up", "support vectors of up"]
    vertices = {group.get_label(): len(group.get_paths()[0].vertices) for group in ax.collections}
    assert list(vertices) == labels
    assert vertices["class down"] == vertices["support vectors of down"]
    assert vertices["class down"] != vertices["class up"]


@pytest.mark.parametrize(("name", "values"), [("boundary", [0]), ("margins", [-1, 1])])
def test_lines_are_where_a_linear_machine_says_so(moons, svm, name, values):
    """In closed form: wᵀx + b is linear, and so is what contours interpolate."""
    lines = SupportVectorDisplay.from_estimator(svm, *moons).lines(name)
    found = [line @ svm.coef_[0] + svm.intercept_[0] for line in lines]
    assert len(found) == len(values)
    for line, value in zip(found, values, strict=True):
        assert_allclose(line, value, atol=1e-9)


def test_a_table_with_names_is_shown_through_a_pipeline(moons):
    X, y = pd.DataFrame(moons[0], columns=["east", "north"]), moons[1]
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    display = SupportVectorDisplay.from_estimator(pipeline, X, y).plot()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("east", "north")
    assert_array_equal(display.support, pipeline[-1].support_)
    assert display.ax_.get_xlim()[0] < X["east"].min()


def test_a_machine_that_keeps_no_row_has_no_line(moons, svm):
    class Constant(SVC):
        def decision_function(self, X):
            return np.full(len(X), 0.5)

    machine = Constant().fit(*moons)
    machine.support_ = np.array([], dtype=int)
    machine.support_vectors_ = np.empty((0, 2))
    display = SupportVectorDisplay.from_estimator(machine, *moons).plot()
    assert not display.lines("boundary") + display.lines("margins")
    assert not len(filled(display.ax_))


def test_other_machines_and_other_rows_are_refused(moons, svm):
    X, y = moons
    with pytest.raises(
        TypeError, match="LogisticRegression has no support_ or no decision_function; accepted"
    ):
        SupportVectorDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(ValueError, match="200 rows of X are not the training rows of SVC"):
        SupportVectorDisplay.from_estimator(svm, X[::-1], y[::-1])
    with pytest.raises(ValueError, match="the 3 rows of X are not the training rows"):
        SupportVectorDisplay.from_estimator(svm, X[[0, 1, 2]], [0, 1, 0])
    with pytest.raises(ValueError, match="X has 3 features; accepted: 2"):
        SupportVectorDisplay.from_estimator(svm, np.ones((4, 3)), [0, 1, 0, 1])
