"""Scores of trials: a line per learner, gaps told."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_score
from sklearn.svm import SVC

from entrolearn.plotting import TrialsDisplay, plot_panels


def test_each_learner_is_a_line_over_the_trials():
    drawn = TrialsDisplay({"A": [1.0, 2.0, 3.0], "B": [2.0, np.nan, 4.0]}, score_name="accuracy").plot()
    first, second = drawn.ax_.get_lines()
    assert_array_equal(first.get_xdata(), [1, 2, 3])
    assert_array_equal(second.get_ydata(), [2, np.nan, 4])
    assert [text.get_text() for text in drawn.ax_.texts] == ["B: no score in 1 of 3"]
    assert drawn.ax_.get_ylabel() == "accuracy"


def test_learners_are_scored_in_the_same_trials(moons):
    trials = ShuffleSplit(4, test_size=0.5, random_state=3)
    drawn = TrialsDisplay.from_estimators({"rbf": SVC(), "linear": SVC(kernel="linear")}, *moons, cv=trials)
    assert_allclose(drawn.scores["linear"], cross_val_score(SVC(kernel="linear"), *moons, cv=trials))
    assert len(drawn.scores["rbf"]) == 4


@pytest.mark.parametrize(
    "make_cv",
    [lambda X: ShuffleSplit(4, random_state=np.random.RandomState(0)), lambda X: KFold(4).split(X)],
    ids=["stateful splitter", "generator"],
)
def test_splits_are_drawn_once_for_all_learners(moons, make_cv):
    drawn = TrialsDisplay.from_estimators({"A": SVC(), "B": SVC()}, *moons, cv=make_cv(moons[0]))
    assert len(drawn.scores["A"]) == 4
    assert_array_equal(drawn.scores["A"], drawn.scores["B"])


def test_too_many_lines_are_refused():
    with pytest.raises(ValueError, match="7 lines in one panel; accepted: at most 6"):
        TrialsDisplay({str(k): [1.0] for k in range(7)}, score_name="x").plot()


def test_panels_of_several_scores_have_axes_of_their_own():
    panels = {
        name: TrialsDisplay({"A": scores, "B": scores}, score_name=name)
        for name, scores in (("accuracy, %", [90.0, 91.0]), ("RMSE", [0.1, 0.2]))
    }
    figure = plot_panels(panels, common=False)
    assert [ax.get_ylabel() for ax in figure.axes] == ["accuracy, %", "RMSE"]
    assert figure.axes[0].get_ylim() != figure.axes[1].get_ylim()
    assert len(figure.legends) == 1
