"""The curves of fits that are tracked, against the learners' own attributes."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolab.fit.curves import LONGEST, curves_of
from entrolearn import MELM, CrossEntropySVC
from entrolearn.networks import SoftmaxRegression

X, y = load_wine(return_X_y=True)
X, y = StandardScaler().fit_transform(X)[:130:3], (y[:130:3] > 0).astype(int)


def test_a_learner_with_losses_has_them_in_order():
    fitted = SoftmaxRegression(max_iter=20).fit(X, y)
    assert curves_of(fitted) == {"loss": pytest.approx(list(fitted.loss_curve_))}


def test_a_projection_before_a_classifier_has_its_objective():
    fitted = make_pipeline(MELM(n_init=1, random_state=0), GaussianNB()).fit(X, y)
    assert curves_of(fitted) == {"objective": pytest.approx(list(fitted[0].history_))}


def test_the_cross_entropy_method_has_its_levels_and_best_values():
    fitted = CrossEntropySVC(random_state=0).fit(X, y)
    found = curves_of(fitted)
    assert found["threshold"] == [one.threshold for one in fitted.history_]
    assert found["best"] == [one.best for one in fitted.history_]


def test_a_learner_without_iterations_has_none():
    assert curves_of(CalibratedClassifierCV(GaussianNB(), cv=2).fit(X, y)) == {}


def test_a_long_curve_is_thinned_and_keeps_its_ends():
    fitted = MLPClassifier(max_iter=1).fit(X, y)
    fitted.loss_curve_ = list(np.arange(10_000.0))
    (loss,) = curves_of(fitted).values()
    assert (len(loss), loss[0], loss[-1]) == (LONGEST, 0, 9_999)
    assert np.ptp(np.diff(loss)) <= 1
