"""Kernel extreme learning machines: eq. (6) of the RKELM paper, twins and limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import minmax_scale

from entrolearn import LSSVC, LSSVR, KELMClassifier, KELMRegressor, RKELMRegressor, kernels
from entrolearn.kernels import kernel_matrix
from entrolearn.path import Partition, path


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return minmax_scale(X, (-1, 1)), y


@pytest.mark.parametrize("kernel", ["rbf", "inverse_multiquadric", "poly"])
def test_the_machine_is_equation_6(wine, kernel):
    X, y = wine
    params = {"gamma": 1 / 4.0, "degree": 3, "coef0": 1}
    machine = KELMClassifier(alpha=0.1, fit_intercept=False, kernel=kernel, gamma=0.25).fit(X[::2], y[::2])
    T = np.where(y[::2, None] == [0, 1, 2], 1, -1)
    alpha = np.linalg.inv(0.1 * np.eye(89) + kernel_matrix(X[::2], X[::2], kernel, params)) @ T
    expected = kernel_matrix(X, X[::2], kernel, params) @ alpha
    assert_allclose(machine.decision_function(X), expected, rtol=1e-6, atol=1e-8)
    assert machine.solver_info_ == {"method": "cholesky"}
    assert_array_equal(machine.X_fit_, X[::2])


def test_for_values_it_is_kernel_ridge_regression(wine):
    X, y = wine[0][:, :-1], wine[0][:, -1]
    machine = KELMRegressor(alpha=0.3, fit_intercept=False, gamma=0.5).fit(X, y)
    assert_allclose(machine.predict(X), KernelRidge(alpha=0.3, kernel="rbf", gamma=0.5).fit(X, y).predict(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_with_an_intercept_it_is_the_least_squares_machine(wine, weighted):
    (X, y), options = wine, {"fit_intercept": True, "gamma": 0.5, "alpha": 0.25}
    weights = np.arange(178) % 3 if weighted else None
    for ours, other, target in [(KELMClassifier, LSSVC, y), (KELMRegressor, LSSVR, X[:, :2] + 1000.0)]:
        found = ours(**options).fit(X, target, sample_weight=weights)
        expected = other(alpha=0.25, gamma=0.5).fit(X, target, sample_weight=weights)
        assert_array_equal(found.dual_coef_, expected.dual_coef_)
        assert_array_equal(found.intercept_, expected.intercept_)
        assert_array_equal(found.predict(X + 0.1), expected.predict(X + 0.1))


@pytest.mark.parametrize("alpha", [0.1, [0.01, 0.1]])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_precomputed_kernel_is_the_same_machine(wine, alpha, fit_intercept):
    (X, y), options = wine, {"alpha": alpha, "fit_intercept": fit_intercept}
    direct = KELMClassifier(gamma=0.5, **options).fit(X[::2], y[::2])
    gram = kernel_matrix(X, X[::2], "rbf", {"gamma": 0.5})
    precomputed = KELMClassifier(kernel="precomputed", **options).fit(gram[::2], y[::2])
    assert_allclose(precomputed.decision_function(gram), direct.decision_function(X), atol=1e-10)
    assert precomputed.alpha_ == direct.alpha_


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_leave_one_out_errors_are_those_of_fits_without_each_row(wine, fit_intercept, weighted):
    """Of a row of weight 2 one copy is left out; a row of weight .5 is left out as a whole."""
    X, y = wine[0][::6, :-1], wine[0][::6, -1] + 5.0
    weights = np.tile([1.0, 2.0, 0.5], 10) if weighted else np.ones(30)
    ridges = [1e-3, 0.1, 10.0]
    machine = KELMRegressor(alpha=ridges, gamma=0.5, fit_intercept=fit_intercept)
    found = machine.fit(X, y, sample_weight=weights if weighted else None)
    for ridge, error in zip(ridges, found.loo_errors_, strict=True):
        one = clone(machine).set_params(alpha=ridge)
        errors = []
        for i in range(30):
            without = weights - np.minimum(weights[i], 1.0) * (np.arange(30) == i)
            errors.append((one.fit(X, y, sample_weight=without).predict(X[i : i + 1])[0] - y[i]) ** 2)
        assert_allclose(error, np.average(errors, weights=weights), rtol=1e-7)
    assert ridges[found.loo_errors_.argmin()] == found.alpha_


@pytest.mark.parametrize("weighted", [False, True])
def test_without_a_ridge_a_linear_kernel_is_least_squares(wine, weighted):
    """K has the rank of the features, and 1 is not an output of it."""
    X, y = wine[0][:, :-1] + 3.0, wine[0][:, -1]
    weights = np.arange(1, 179) / 100 if weighted else None
    machine = KELMRegressor(alpha=0.0, kernel="linear").fit(X, y, sample_weight=weights)
    assert machine.solver_info_ == {"method": "eigh"}
    expected = LinearRegression().fit(X, y, sample_weight=weights)
    assert_allclose(machine.predict(X), expected.predict(X), rtol=1e-7, atol=1e-9)
    assert_allclose(machine.coef_[0], expected.coef_, rtol=1e-7)


@pytest.mark.parametrize("learner", [KELMRegressor(gamma=0.5), RKELMRegressor(30, random_state=0)], ids=repr)
def test_what_is_added_to_the_targets_is_added_to_the_predictions(wine, learner):
    X, y = wine[0][:, :-1], wine[0][:, -1]
    for alpha in (0.1, [0.01, 1.0]):
        machine = clone(learner).set_params(alpha=alpha)
        before = machine.fit(X, y).predict(X)
        assert_allclose(machine.fit(X, y + 1e6).predict(X) - 1e6, before, atol=1e-8)
        assert_allclose(machine.fit(X, y - y + 7.5).predict(X), 7.5, rtol=1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_without_a_ridge_it_interpolates(wine, fit_intercept):
    X, y = wine[0][:, :-1], wine[0][:, -1]
    machine = KELMRegressor(alpha=0.0, fit_intercept=fit_intercept, gamma=2.0).fit(X, y)
    assert machine.solver_info_ == {"method": "cholesky"}
    assert_allclose(machine.predict(X), y, atol=1e-8)


def test_an_indefinite_kernel_is_solved_all_the_same(wine):
    X, y = wine
    settings = {"kernel": "sigmoid", "gamma": 1.0, "kernel_params": {"coef0": -2.0}}
    machine = KELMClassifier(alpha=0.05, fit_intercept=False, **settings).fit(X, y)
    K = kernel_matrix(X, X, "sigmoid", {"gamma": 1.0, "coef0": -2.0})
    assert np.linalg.eigvalsh(K).min() < -0.05
    assert machine.solver_info_ == {"method": "eigh"}
    T = np.where(y[:, None] == [0, 1, 2], 1, -1)
    assert_allclose(machine.dual_coef_.T, np.linalg.solve(K + 0.05 * np.eye(len(y)), T), rtol=1e-6, atol=1e-8)


def test_an_indefinite_kernel_whose_system_is_singular_is_not_solved_by_a_factor_of_rounding_alone():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    values = np.append(np.ones(29), -1 + 1e-15)
    K, y = (Q * values) @ Q.T, Q[:, 0] + Q[:, 29]
    machine = KELMRegressor(kernel="precomputed", alpha=1.0, fit_intercept=False).fit((K + K.T) / 2, y)
    assert machine.solver_info_ == {"method": "eigh"}


@pytest.mark.parametrize("machine", [KELMRegressor(), RKELMRegressor(178, random_state=0)], ids=repr)
@pytest.mark.parametrize("alpha", [1e20, 1e150, 1e308, [1e308]])
def test_under_a_large_ridge_coefficients_are_the_targets_over_it(wine, machine, alpha):
    """(a I + K)^-1 T goes to T / a, and (a I + K'K)^-1 K'T to K'T / a; with an intercept of centred T."""
    X, y = wine[0], wine[0][:, -1] - wine[0][:, -1].mean()
    fitted = clone(machine).set_params(alpha=alpha, gamma=0.5).fit(X, y)
    if isinstance(machine, KELMRegressor):
        expected, coef = y, fitted.dual_coef_[0]
    else:
        expected, coef = (
            kernel_matrix(fitted.landmarks_, X, "rbf", {"gamma": 0.5}) @ y,
            fitted.hidden_coef_,
        )
    assert_allclose(coef * fitted.alpha_, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_rows_that_come_twice_are_no_obstacle_without_a_ridge(wine):
    X, y = np.vstack([wine[0]] * 2), np.tile(wine[0][:, -1], 2)
    machine = KELMRegressor(alpha=0.0, gamma=2.0).fit(X, y)
    assert machine.solver_info_ == {"method": "eigh"}
    assert_allclose(machine.predict(X), y, atol=1e-6)


def test_several_outputs_are_separate_machines(wine):
    X, Y = wine[0][:, :-2], wine[0][:, -2:]
    together = KELMRegressor(gamma=0.5).fit(X, Y).predict(X)
    for values, y in zip(together.T, Y.T, strict=True):
        assert_allclose(values, KELMRegressor(gamma=0.5).fit(X, y).predict(X), rtol=1e-8)


def test_more_rows_than_memory_holds_are_refused(wine, monkeypatch):
    monkeypatch.setattr(kernels, "physical_memory", lambda: 1e5)
    with pytest.raises(MemoryError, match="RKELM"):
        KELMClassifier().fit(*wine)


PARTITIONS = [
    Partition(np.arange(178) % 5, ((0,), (0, 1), (0, 2), (0, 3), (0, 4))),  # a trial
    Partition.cross_validation(np.arange(178) % 3, nested=True),
]


def test_a_matrix_that_no_memory_holds_is_an_error_of_each_point(wine, monkeypatch):
    monkeypatch.setattr(kernels, "physical_memory", lambda: 1e5)
    points = list(path(KELMClassifier(gamma=1.0), *wine, PARTITIONS[0], [{"alpha": 0.1}, {"alpha": 1.0}]))
    assert len(points) == 10
    assert all(point.error.startswith("MemoryError: a kernel matrix of") for point in points)
