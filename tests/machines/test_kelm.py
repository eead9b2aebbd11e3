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


@pytest.mark.parametrize("kernel", ["gaussian", "inverse_multiquadric", "polynomial"])
def test_the_machine_is_equation_6(wine, kernel):
    X, y = wine
    params = {"gamma": 1 / 4.0, "degree": 3, "coef0": 1}
    machine = KELMClassifier(C=0.1, kernel=kernel, sigma=4.0).fit(X[::2], y[::2])
    T = np.where(y[::2, None] == [0, 1, 2], 1, -1)
    alpha = np.linalg.inv(0.1 * np.eye(89) + kernel_matrix(X[::2], X[::2], kernel, params)) @ T
    expected = kernel_matrix(X, X[::2], kernel, params) @ alpha
    assert_allclose(machine.decision_function(X), expected, rtol=1e-6, atol=1e-8)
    assert machine.solver_info_ == {"method": "cholesky"}
    assert_array_equal(machine.X_fit_, X[::2])


def test_for_values_it_is_kernel_ridge_regression(wine):
    X, y = wine[0][:, :-1], wine[0][:, -1]
    machine = KELMRegressor(C=0.3, fit_intercept=False, sigma=2.0).fit(X, y)
    assert_allclose(machine.predict(X), KernelRidge(alpha=0.3, kernel="rbf", gamma=0.5).fit(X, y).predict(X))


@pytest.mark.parametrize("C", [1e-4, 0.1, 10.0])
@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_with_an_intercept_it_is_the_least_squares_machine(wine, C, kernel):
    """Whose bordered system has C's reciprocal, and is solved otherwise."""
    (X, y), options = wine, {"fit_intercept": True, "sigma": 2.0, "kernel": kernel, "C": C}
    bordered = {"C": 1 / C, "gamma": 0.5, "kernel": {"gaussian": "rbf"}.get(kernel, kernel)}
    values = X[:, :2] + [0.0, 1000.0]
    found, expected = KELMRegressor(**options).fit(X, values), LSSVR(**bordered).fit(X, values)
    assert_allclose(found.intercept_, expected.intercept_, rtol=1e-6)
    assert_allclose(found.predict(X[::3] + 0.1), expected.predict(X[::3] + 0.1), rtol=1e-6, atol=1e-7)
    found, expected = KELMClassifier(**options).fit(X, y), LSSVC(**bordered).fit(X, y)
    assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-6, atol=1e-6)


def test_without_a_ridge_a_linear_kernel_is_least_squares(wine):
    X, y = wine[0][:, :-1] + 3.0, wine[0][:, -1]
    machine = KELMRegressor(C=0.0, kernel="linear").fit(X, y)
    assert_allclose(machine.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("learner", [KELMRegressor(sigma=2.0), RKELMRegressor(30, random_state=0)], ids=repr)
def test_what_is_added_to_the_targets_is_added_to_the_predictions(wine, learner):
    X, y = wine[0][:, :-1], wine[0][:, -1]
    for C in (0.1, [0.01, 1.0]):
        machine = clone(learner).set_params(C=C)
        before = machine.fit(X, y).predict(X)
        assert_allclose(machine.fit(X, y + 1e6).predict(X) - 1e6, before, atol=1e-8)
        assert_allclose(machine.fit(X, y - y + 7.5).predict(X), 7.5, rtol=1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_without_a_ridge_it_interpolates(wine, fit_intercept):
    X, y = wine[0][:, :-1], wine[0][:, -1]
    machine = KELMRegressor(C=0.0, fit_intercept=fit_intercept, sigma=0.5).fit(X, y)
    assert machine.solver_info_ == {"method": "cholesky"}
    assert_allclose(machine.predict(X), y, atol=1e-8)


def test_an_indefinite_kernel_is_solved_all_the_same(wine):
    X, y = wine
    machine = KELMClassifier(C=0.05, kernel="sigmoid", sigma=1.0, coef0=-2.0).fit(X, y)
    K = kernel_matrix(X, X, "sigmoid", {"gamma": 1.0, "coef0": -2.0})
    assert np.linalg.eigvalsh(K).min() < -0.05
    assert machine.solver_info_ == {"method": "eigh"}
    T = np.where(y[:, None] == [0, 1, 2], 1, -1)
    assert_allclose(machine.dual_coef_, np.linalg.solve(K + 0.05 * np.eye(len(y)), T), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("machine", [KELMRegressor(), RKELMRegressor(178, random_state=0)], ids=repr)
@pytest.mark.parametrize("C", [1e20, 1e150, 1e308, [1e308]])
def test_under_a_large_ridge_coefficients_are_the_targets_over_it(wine, machine, C):
    """(C I + K)^-1 T goes to T / C, and (C I + K'K)^-1 K'T to K'T / C; with an intercept of centred T."""
    X, y = wine[0], wine[0][:, -1] - wine[0][:, -1].mean()
    fitted = clone(machine).set_params(C=C, sigma=2.0).fit(X, y)
    if isinstance(machine, KELMRegressor):
        expected, coef = y, fitted.dual_coef_
    else:
        expected, coef = (
            kernel_matrix(fitted.landmarks_, X, "gaussian", {"gamma": 0.5}) @ y,
            fitted.hidden_coef_,
        )
    assert_allclose(coef * fitted.C_, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_rows_that_come_twice_are_no_obstacle_without_a_ridge(wine):
    X, y = np.vstack([wine[0]] * 2), np.tile(wine[0][:, -1], 2)
    machine = KELMRegressor(C=0.0, sigma=0.5).fit(X, y)
    assert machine.solver_info_ == {"method": "eigh"}
    assert_allclose(machine.predict(X), y, atol=1e-6)


def test_several_outputs_are_separate_machines(wine):
    X, Y = wine[0][:, :-2], wine[0][:, -2:]
    together = KELMRegressor(sigma=2.0).fit(X, Y).predict(X)
    for values, y in zip(together.T, Y.T, strict=True):
        assert_allclose(values, KELMRegressor(sigma=2.0).fit(X, y).predict(X), rtol=1e-8)


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
    points = list(path(KELMClassifier(sigma=1.0), *wine, PARTITIONS[0], [{"C": 0.1}, {"C": 1.0}]))
    assert len(points) == 10
    assert all(point.error.startswith("MemoryError: a kernel matrix of") for point in points)
