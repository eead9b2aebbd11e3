"""Densities of errors over epochs: naive twins, one width for all, and errors of what learns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolearn.plotting import ErrorDensityDisplay
from entrolearn.plotting.errors import errors_of


@pytest.fixture
def errors():
    rng = np.random.default_rng(0)
    return {1: rng.normal(size=50), 10: 0.3 * rng.normal(size=50) + 0.1}


def test_densities_are_means_of_kernels_of_one_width(errors):
    """Against the naive mean of normal densities, place by place."""
    display = ErrorDensityDisplay(errors, bandwidth=0.2)
    at = np.array([-1.0, 0.0, 0.7])
    for epochs in errors:
        twin = [np.mean(norm.pdf(place, errors[epochs], 0.2)) for place in at]
        assert_allclose(display.density(epochs, at), twin)


def test_every_density_has_mass_one_where_it_is_drawn(errors):
    display = ErrorDensityDisplay(errors).plot()
    assert display._width() == pytest.approx(np.ptp(np.concatenate(list(errors.values()))) / 60)
    for line in display.ax_.get_lines()[:2]:
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1, abs=1e-3)
    labels = display.ax_.get_legend_handles_labels()[1]
    assert labels == ["epoch 1", "epoch 10"]


def test_equal_errors_are_one_kernel():
    display = ErrorDensityDisplay({1: [0.5] * 4, 2: [0.0, 1.0, 0.5, 0.5]}, bandwidth=0.1)
    at = np.linspace(0, 1, 7)
    assert_allclose(display.density(1, at), norm.pdf(at, 0.5, 0.1))
    assert ErrorDensityDisplay({1: [0.5] * 4}).plot()._width() == 1


def test_errors_are_targets_less_outputs(moons):
    X, y = moons
    signs = np.where(y == 1, 1.0, -1.0)
    linear = LogisticRegression().fit(X, np.where(y == 1, "yes", "no"))
    assert_allclose(errors_of(linear, X, np.where(y == 1, "yes", "no")), signs - linear.decision_function(X))
    bayes = GaussianNB().fit(X, y)
    assert_allclose(errors_of(bayes, X, y), signs - (2 * bayes.predict_proba(X)[:, 1] - 1))
    net = MLPRegressor(hidden_layer_sizes=(3,), max_iter=500, solver="lbfgs", random_state=0).fit(X, signs)
    assert_allclose(errors_of(net, X, signs), signs - net.predict(X))


class Waits(ClassifierMixin, BaseEstimator):
    """Its output comes nearer to the target, one half of the way at every epoch."""

    def __init__(self, max_iter=1):
        self.max_iter = max_iter

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self._output = np.where(y == self.classes_[1], 1.0, -1.0) * (1 - 0.5**self.max_iter)
        return self

    def decision_function(self, X):
        return self._output


@pytest.mark.parametrize("learner", [Waits(), make_pipeline(StandardScaler(), Waits())])
def test_a_learner_is_fitted_anew_for_each_number_of_epochs(moons, learner):
    display = ErrorDensityDisplay.from_estimator(learner, *moons, epochs=[1, 3])
    signs = np.where(moons[1] == 1, 1.0, -1.0)
    assert_allclose(display.errors[1], signs / 2)
    assert_allclose(display.errors[3], signs / 8)


def test_what_has_no_epochs_no_output_or_too_many_classes_is_refused(moons):
    with pytest.raises(TypeError, match="GaussianNB has no max_iter; accepted: estimators with max_iter"):
        ErrorDensityDisplay.from_estimator(GaussianNB(), *moons, epochs=[1])
    three = np.arange(len(moons[1])) % 3
    net = MLPClassifier((2,), solver="lbfgs", random_state=0)
    with pytest.raises(ValueError, match="fitted to 3 classes; accepted: a classifier of two classes"):
        ErrorDensityDisplay.from_estimator(net, moons[0], three, epochs=[50])
