"""One score against another: a line per machine, gaps told."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from entrolearn.plotting import TradeoffDisplay

NAMES = {"x_name": "support vectors, %", "y_name": "error, %"}


def test_each_machine_is_a_line_through_its_grid_in_order():
    drawn = TradeoffDisplay({"A": ([3, 1, 2], [10, 20, 30]), "B": ([1, np.nan], [2, 3])}, **NAMES).plot()
    first, second = drawn.ax_.get_lines()
    assert_array_equal(first.get_xydata(), [[3, 10], [1, 20], [2, 30]])
    assert np.isnan(second.get_xdata()[1])
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("support vectors, %", "error, %")
    assert [text.get_text() for text in drawn.ax_.texts] == ["B: no scores at 1 of 2"]
    assert drawn.ax_.get_legend_handles_labels()[1] == ["A", "B"]


def test_points_are_the_means_of_a_naive_cross_validation(moons):
    X, y = moons
    machines = {"shared": SVC(gamma=1.0), "default": make_pipeline(StandardScaler(), SVC(kernel="linear"))}
    for name, param_name in (("shared", "C"), ("default", "svc__C")):
        drawn = TradeoffDisplay.from_estimators(
            {name: machines[name]}, X, y, param_name=param_name, param_range=[10, 0.1], cv=4
        )
        for k, value in enumerate((0.1, 10)):
            machine = clone(machines[name]).set_params(**{param_name: value})
            errors, support = [], []
            for train, test in StratifiedKFold(4).split(X, y):
                machine.fit(X[train], y[train])
                errors.append(1 - machine.score(X[test], y[test]))
                last = machine if name == "shared" else machine[-1]
                support.append(len(last.support_) / len(train))
            found = [axis[k] for axis in drawn.curves[name]]
            assert_allclose(found, [100 * np.mean(support), 100 * np.mean(errors)])


def test_machines_without_support_vectors_are_refused(moons):
    with pytest.raises(TypeError, match="LogisticRegression has no support vectors; accepted: estimators"):
        TradeoffDisplay.from_estimators(
            {"L": LogisticRegression()}, *moons, param_name="C", param_range=[1], cv=4
        )


def test_a_machine_without_a_point_keeps_its_place():
    drawn = TradeoffDisplay({"A": ([], []), "B": ([1], [2])}, **NAMES).plot()
    assert drawn.ax_.get_legend_handles_labels()[1] == ["A", "B"]
    assert [text.get_text() for text in drawn.ax_.texts] == ["A: no scores"]


def test_too_many_lines_are_refused():
    with pytest.raises(ValueError, match="7 curves in one panel; accepted: at most 6"):
        TradeoffDisplay({str(k): ([1], [1]) for k in range(7)}, **NAMES).plot()
