"""Extreme learning machines: the paper's units and equation, twins and laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from entrolearn import ELMClassifier, ELMRegressor
from entrolearn.path import Partition, path


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return minmax_scale(X, (-1, 1)), y


def drawn(n_hidden=12, seed=0):
    """a from U[-1, 1] and b from U[0, 1], unit by unit."""
    units = np.random.RandomState(seed).uniform(size=(n_hidden, 14))
    return 2 * units[:, :-1] - 1, units[:, -1]


# G of a unit with weights a, bias b and slope 2.5, section 2.1 of the RKELM paper
NAIVE = {
    "sigmoid": lambda x, a, b: 1 / (1 + np.exp(-2.5 * (a @ x + b))),
    "sine": lambda x, a, b: np.sin(2.5 * (a @ x + b)),
    "hardlimit": lambda x, a, b: 1.0 if a @ x + b >= 0 else 0.0,
    "rbf": lambda x, a, b: np.exp(-2.5 * b * np.sum((x - a) ** 2)),
    np.cos: lambda x, a, b: np.cos(2.5 * (a @ x + b)),
}


@pytest.mark.parametrize("container", [np.asarray, csr_array])
@pytest.mark.parametrize("activation", NAIVE)
def test_the_machine_is_equation_4(wine, activation, container):
    X, y = wine
    settings = {"activation": activation, "slope": 2.5, "alpha": 0.1, "fit_intercept": False}
    machine = ELMClassifier(12, random_state=0, **settings).fit(container(X), y)
    H = np.array([[NAIVE[activation](x, a, b) for a, b in zip(*drawn(), strict=True)] for x in X])
    assert_allclose(machine._layer(container(X)), H, rtol=1e-10)
    T = np.where(y[:, None] == [0, 1, 2], 1, -1)
    beta = np.linalg.inv(0.1 * np.eye(12) + H.T @ H) @ H.T @ T
    assert_allclose(machine.hidden_coef_, beta, rtol=1e-7)
    assert_allclose(machine.decision_function(container(X)), H @ beta, rtol=1e-7, atol=1e-9)


def test_without_a_ridge_it_is_least_squares(wine):
    X, y = wine[0], wine[0][:, 0] ** 2
    machine = ELMRegressor(12, slope=2.5, alpha=0.0, fit_intercept=False, random_state=0).fit(X, y)
    assert_allclose(machine.hidden_coef_, np.linalg.pinv(machine._layer(X)) @ y, rtol=1e-6)


def test_units_that_depend_on_one_another_have_weights_of_least_norm(wine):
    X, y = wine[0][:9], wine[0][:9, 0] ** 2
    machine = ELMRegressor(30, slope=2.5, alpha=0.0, fit_intercept=False, random_state=0).fit(X, y)
    assert machine.solver_info_ == {"method": "eigh"}
    assert_allclose(machine.hidden_coef_, np.linalg.pinv(machine._layer(X)) @ y, rtol=1e-5, atol=1e-7)


def test_units_of_a_smaller_machine_are_the_first_of_a_larger_one(wine):
    small, large = (ELMClassifier(h, slope=2.0, random_state=3).fit(*wine)._layer for h in (5, 20))
    assert_array_equal(small(wine[0]), large(wine[0])[:, :5])


def test_a_sequence_of_ridges_is_decided_by_leaving_one_out(wine):
    X, y = wine[0][:60], wine[0][:60, 0] + np.random.default_rng(0).normal(size=60)
    ridges = (1e-3, 0.1, 10.0)
    chosen = ELMRegressor(20, bounds=(-1, 1), alpha=ridges, random_state=0).fit(X, y)
    errors = []
    for C in ridges:
        machine = ELMRegressor(20, bounds=(-1, 1), alpha=C, random_state=0)
        rest = [np.delete(np.arange(60), i) for i in range(60)]
        left = [machine.fit(X[rows], y[rows]).predict(X[[i]])[0] - y[i] for i, rows in enumerate(rest)]
        errors.append(np.mean(np.square(left)))
    assert_allclose(chosen.loo_errors_, errors, rtol=1e-6)
    assert ridges[np.argmin(errors)] == chosen.alpha_


TRIAL = Partition(np.arange(178) % 5, ((0,), (0, 1), (0, 2), (0, 3), (0, 4)))


def test_ridges_to_choose_from_take_the_default_path(wine):
    points = list(
        path(ELMClassifier(9, random_state=0), *wine, TRIAL, [{"alpha": (0.1, 1.0)}, {"alpha": 1.0}])
    )
    assert len(points) == 10
    assert not any(point.error for point in points)


@pytest.mark.parametrize("change", ["forget", "partial_fit"])
def test_later_values_may_come_as_a_column(wine, change):
    X, y = wine
    y = y.astype(float)
    machine, same = (ELMRegressor(5, store_sums=True, bounds=(0, 1), random_state=0).fit(X, y) for _ in "ab")
    getattr(machine, change)(X[:5], y[:5, None])
    getattr(same, change)(X[:5], y[:5])
    assert_array_equal(machine.predict(X), same.predict(X), strict=True)
