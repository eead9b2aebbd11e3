"""Reduced support vector machines."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import minmax_scale
from sklearn.svm import LinearSVC, LinearSVR

from entrolearn import RSVC, RSVR
from entrolearn.kernels import kernel_matrix
from entrolearn.machines import smooth


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X)[:200], y[:200]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return minmax_scale(X)[:150], minmax_scale(y)[:150]


@pytest.fixture
def sharp(monkeypatch):
    """Losses whose p is all but max(x, 0)."""
    for loss in (smooth.SmoothHinge, smooth.SmoothTube):
        defaults = (*loss.__init__.__defaults__[:-1], 3e4)
        monkeypatch.setattr(loss.__init__, "__defaults__", defaults)


def objective(machine, X, targets, loss) -> float:
    """As the papers write it, from the attributes of a fitted machine."""
    K = kernel_matrix(X, machine.landmarks_, "rbf", {"gamma": machine.gamma, "degree": 3, "coef0": 1})
    outputs = K @ machine.hidden_coef_ + machine.intercept_
    norm = machine.hidden_coef_ @ machine.hidden_coef_ + machine.intercept_**2
    return machine.C / 2 * loss(outputs, targets).sum() + norm / 2


def p(x):
    return x + np.log(1 + np.exp(-5 * x)) / 5


@pytest.mark.parametrize("C", [0.1, 100.0])
def test_the_classifier_minimises_the_objective_of_the_paper(wdbc, C):
    X, y = wdbc
    machine = RSVC(20, C=C, gamma=0.7, random_state=0).fit(X, y)
    targets = 2.0 * y - 1

    def loss(outputs, targets):
        return p(1 - targets * outputs) ** 2

    least = objective(machine, X, targets, loss)
    for move in 1e-3 * np.random.default_rng(0).normal(size=(20, 20)):
        machine.hidden_coef_ += move
        assert objective(machine, X, targets, loss) > least
        machine.hidden_coef_ -= move


def test_the_regressor_minimises_the_objective_of_the_paper(diabetes):
    X, y = diabetes
    machine = RSVR(20, C=10.0, gamma=0.7, epsilon=0.05, random_state=0).fit(X, y)

    def loss(outputs, values):
        return p(outputs - values - 0.05) ** 2 + p(values - outputs - 0.05) ** 2

    least = objective(machine, X, y, loss)
    for move in 1e-3 * np.random.default_rng(0).normal(size=(20, 20)):
        machine.hidden_coef_ += move
        assert objective(machine, X, y, loss) > least
        machine.hidden_coef_ -= move


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_a_sharp_classifier_is_the_squared_hinge_on_kernel_features(wdbc, sharp, C):
    """As alpha grows; scikit-learn penalises the intercept too, and has C where the papers have C / 2."""
    X, y = wdbc
    machine = RSVC(20, C=C, gamma=0.7, random_state=0, tol=1e-12).fit(X, y)
    features = rbf_kernel(X, machine.landmarks_, gamma=0.7)
    linear = LinearSVC(C=C / 2, dual=False, tol=1e-10, max_iter=10_000).fit(features, y)
    assert_allclose(machine.hidden_coef_, linear.coef_[0], atol=1e-3 * abs(linear.coef_).max())
    assert machine.intercept_ == pytest.approx(linear.intercept_[0], abs=1e-3)


def test_a_sharp_regressor_is_the_squared_tube_on_kernel_features(diabetes, sharp):
    X, y = diabetes
    machine = RSVR(20, C=10.0, gamma=0.7, epsilon=0.05, random_state=0, tol=1e-12).fit(X, y)
    features = rbf_kernel(X, machine.landmarks_, gamma=0.7)
    linear = LinearSVR(
        C=5.0, epsilon=0.05, loss="squared_epsilon_insensitive", dual=False, tol=1e-10, max_iter=10_000
    ).fit(features, y)
    assert_allclose(machine.hidden_coef_, linear.coef_, atol=1e-3 * abs(linear.coef_).max())
    assert machine.intercept_ == pytest.approx(linear.intercept_[0], abs=1e-3)


@pytest.mark.parametrize("machine", [RSVC(30, C=1e3, gamma=0.5), RSVR(30, C=1e3, gamma=0.5)], ids=repr)
def test_the_default_tolerance_leaves_no_visible_error(machine, wdbc, diabetes):
    X, y = wdbc if isinstance(machine, RSVC) else diabetes
    found, exact = (
        machine.set_params(random_state=0, tol=tol).fit(X, y)._outputs(X) for tol in (1e-6, 1e-13)
    )
    assert_allclose(found, exact, atol=1e-3 * abs(exact).max())


def test_more_classes_are_one_against_the_rest_of_the_same_landmarks():
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    machine = RSVC(25, C=10.0, gamma=1.0, random_state=0, tol=1e-12).fit(X, y)
    for c in range(3):
        alone = RSVC(25, C=10.0, gamma=1.0, random_state=0, tol=1e-12).fit(X, y == c)
        assert_allclose(machine.decision_function(X)[:, c], alone.decision_function(X), atol=1e-6)
    assert machine.hidden_coef_.shape == (25, 3)
    assert machine.intercept_.shape == (3,)
    assert_array_equal(machine.predict(X), machine.decision_function(X).argmax(axis=1))


def test_several_outputs_are_separate_machines(diabetes):
    X, y = diabetes
    machine = RSVR(25, C=10.0, gamma=1.0, random_state=0, tol=1e-12)
    both = machine.fit(X, np.column_stack([y, y**2])).predict(X)
    for column, values in enumerate((y, y**2)):
        assert_allclose(both[:, column], machine.fit(X, values).predict(X), atol=1e-6)


def test_landmarks_are_training_rows_and_those_of_a_smaller_machine_are_the_first(wdbc):
    X, y = wdbc
    few, many, all_rows = (RSVC(L, random_state=3).fit(X, y).landmarks_ for L in (10, 50, 1000))
    assert_array_equal(few, many[:10])
    assert_array_equal(many, all_rows[:50])
    assert_array_equal(np.sort(all_rows, axis=0), np.sort(X, axis=0))


def test_a_kernel_need_not_be_positive_definite(wdbc):
    X, y = wdbc
    assert (
        RSVC(50, kernel="sigmoid", gamma=1.0, kernel_params={"coef0": -1.0}, C=1e3, random_state=0)
        .fit(X, y)
        .score(X, y)
        > 0.95
    )


@pytest.mark.filterwarnings("error::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("C", [1e-300, 1e6, 1e100, 1e200, 1e300])
def test_numbers_of_any_size_are_fitted_or_refused_in_one_line(diabetes, kernel, C):
    X, y = diabetes
    for scale in (1e-80, 1e5, 1e60):
        for machine, targets in ((RSVC, y > y.mean()), (RSVR, scale * y)):
            machine = machine(8, C=C, kernel=kernel, max_iter=30, random_state=0)
            try:
                outputs = machine.fit(scale * X, targets).predict(scale * X)
            except ValueError as error:
                assert re.fullmatch("the (Hessian|objective) overflows: scale the .*", str(error))  # noqa: PT017
            else:
                assert np.isfinite(outputs).all()


def test_newtons_method_that_is_stopped_warns(wdbc):
    X, y = wdbc
    with pytest.warns(ConvergenceWarning, match="RSVC stopped at 1 iterations"):
        machine = RSVC(max_iter=1, C=1e4, random_state=0).fit(X, y)
    assert machine.n_iter_ == 1
