"""Softmax regression: against scikit-learn's, the essay's code, finite differences, and laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import scale

from entrolearn.networks import SoftmaxRegression
from entrolearn.networks.softmax import PenalisedCrossEntropy

with_and_without = pytest.mark.parametrize("fit_intercept", [True, False])


def iris():
    X, y = load_iris(return_X_y=True)
    return scale(X), y


def essays_cost(theta, X, y, alpha):
    """softmaxCost of the essay's appendix, with rows for columns: value and gradient."""
    td = theta @ X.T
    td = td - td.max(axis=0)
    p = np.exp(td) / np.exp(td).sum(axis=0)
    truth = np.eye(len(theta))[:, y]
    cost = -np.sum(truth * np.log(p)) / len(y) + alpha / 2 * np.sum(theta**2)
    return cost, -(truth - p) @ X / len(y) + alpha * theta


def test_objective_without_intercepts_is_that_of_the_essays_code(rng):
    (X, y), theta = iris(), rng.normal(size=(3, 4))
    value, gradient = PenalisedCrossEntropy(X, y, 3, 0.01, False)(theta.ravel())
    expected, expected_gradient = essays_cost(theta, X, y, 0.01)
    assert value == pytest.approx(expected, rel=1e-12)
    assert_allclose(gradient.reshape(3, 4), expected_gradient, rtol=1e-10, atol=1e-14)


@with_and_without
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_gradient_agrees_with_finite_differences(rng, fit_intercept, form):
    X, y = iris()
    objective = PenalisedCrossEntropy(form(X), y, 3, 0.1, fit_intercept)
    theta = rng.normal(size=objective.start().shape)
    _, gradient = objective(theta)
    assert_allclose(gradient, approx_fprime(theta, lambda at: objective(at)[0], 1e-7), atol=1e-5)


@with_and_without
def test_no_curvature_is_above_the_bound(rng, fit_intercept):
    X, y = load_wine(return_X_y=True)
    objective = PenalisedCrossEntropy(X, y, 3, 0.1, fit_intercept)
    bound = objective.curvature_bound()
    for spread in (0.0, 1e-3, 1e-2):
        theta = spread * rng.normal(size=objective.start().shape)
        _, here = objective(theta)
        for _ in range(20):
            towards = rng.normal(size=theta.shape)
            towards *= 1e-6 / np.linalg.norm(towards)
            _, there = objective(theta + towards)
            assert np.linalg.norm(there - here) <= bound * np.linalg.norm(towards)


@with_and_without
@pytest.mark.parametrize("alpha", [1e-3, 1e-1])
def test_minimum_is_scikit_learns_with_c_of_one_over_n_lambda(fit_intercept, alpha):
    X, y = iris()
    ours = SoftmaxRegression(alpha, fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
    theirs = LogisticRegression(C=1 / (150 * alpha), fit_intercept=fit_intercept, tol=1e-10).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert_allclose(ours.intercept_, theirs.intercept_ * fit_intercept, atol=1e-4)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


def test_two_classes_have_opposite_weights_and_twice_the_penalty_of_one_row():
    """Of all pairs of rows with one difference w the opposite ones are smallest, with |w|²/2 together."""
    X, y = iris()
    X, y = X[50:], y[50:]
    ours = SoftmaxRegression(0.02, tol=1e-8).fit(X, y)
    theirs = LogisticRegression(C=2 / (100 * 0.02), tol=1e-10).fit(X, y)
    assert_allclose(ours.coef_[0], -ours.coef_[1], atol=1e-7)
    assert_allclose(ours.coef_[1:] - ours.coef_[:1], theirs.coef_, atol=1e-4)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


def test_gradient_vanishes_at_the_minimum_and_the_curve_ends_there():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    model = SoftmaxRegression(1e-3, fit_intercept=False, tol=1e-6).fit(X, y)
    value, gradient = essays_cost(model.coef_, X, y, 1e-3)
    assert np.abs(gradient).max() <= 1.01e-6
    assert model.loss_curve_[-1] == pytest.approx(value, rel=1e-12)
    assert len(model.loss_curve_) == model.n_iter_
    assert (np.diff(model.loss_curve_) < 0).all()


@with_and_without
def test_gradient_descent_decreases_in_every_iteration_towards_the_same_minimum(fit_intercept):
    X, y = iris()
    slow = SoftmaxRegression(
        0.1, fit_intercept=fit_intercept, solver="gradient", max_iter=3000, tol=1e-6
    ).fit(X, y)
    quick = SoftmaxRegression(0.1, fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
    assert (np.diff(slow.loss_curve_) <= 0).all()
    assert_allclose(slow.coef_, quick.coef_, atol=1e-4)
    assert slow.n_iter_ > quick.n_iter_


def test_gradient_descent_makes_the_essays_steps(rng):
    X, y = iris()
    with pytest.warns(ConvergenceWarning, match="the 5 iterations are used up"):
        model = SoftmaxRegression(
            0.01, fit_intercept=False, solver="gradient", learning_rate=0.7, max_iter=5
        ).fit(X, y)
    theta = np.zeros((3, 4))
    for _ in range(5):
        theta -= 0.7 * essays_cost(theta, X, y, 0.01)[1]
    assert_allclose(model.coef_, theta, rtol=1e-10)


def test_single_precision_has_nearly_the_same_minimum():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    double = SoftmaxRegression(1e-2).fit(X, y)
    single = SoftmaxRegression(1e-2).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    assert_allclose(single.coef_, double.coef_, atol=5e-3)
    assert single.loss_curve_[-1] == pytest.approx(double.loss_curve_[-1], abs=1e-6)


def test_the_least_loss_need_not_make_the_fewest_errors():
    """One mislabelled row far away turns the line of 20 others, which a cut at 0 parts without an error."""
    X = np.repeat([[-1.0], [1.0], [30.0]], [10, 10, 1], axis=0)
    y = np.repeat([0, 1, 0], [10, 10, 1])
    machine = SoftmaxRegression(alpha=0.0).fit(X, y)
    cut = SoftmaxRegression(alpha=0.0).fit(X, y)
    cut.coef_, cut.intercept_ = np.array([[-1.0], [1.0]]), np.zeros(2)
    loss, of_cut = (log_loss(y, each.predict_proba(X)) for each in (machine, cut))
    assert loss < of_cut
    assert np.sum(machine.predict(X) != y) > np.sum(cut.predict(X) != y) == 1


def test_huge_outputs_have_a_finite_loss(rng):
    X, y = iris()
    value, gradient = PenalisedCrossEntropy(1e6 * X, y, 3, 0.0, False)(rng.normal(size=12))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert value > 1e4


def test_more_alpha_makes_smaller_weights():
    X, y = iris()
    norms = [np.linalg.norm(SoftmaxRegression(decay).fit(X, y).coef_) for decay in (1e-3, 1e-2, 0.1, 1.0)]
    assert (np.diff(norms) < 0).all()
