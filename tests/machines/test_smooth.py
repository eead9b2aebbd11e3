"""Smooth losses and Newton's method on them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize, minimize_scalar
from scipy.special import expit

from entrolearn.machines import moments, smooth
from entrolearn.machines.smooth import (
    Objective,
    SmoothHinge,
    SmoothTube,
    gram_matrix,
    half_squared_plus,
    minimise,
    ridge_start,
)

LOSSES = [SmoothHinge(), SmoothHinge(alpha=50.0), SmoothTube(0.1), SmoothTube(0.0, alpha=20.0)]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return np.column_stack([np.ones(60), rng.normal(size=(60, 4))]), np.where(rng.random(60) < 0.4, 1.0, -1.0)


def at(objective: Objective, coef: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Value, gradient and Hessian, all rows counted in it."""
    value, gradient, curvature = objective.derivatives(coef, objective.features @ coef)
    lower = np.tril(objective.hessian(curvature))
    return value, gradient, lower + np.tril(lower, -1).T


def test_p_is_the_formula_of_lee_and_mangasarian():
    x = np.linspace(-3, 3, 31)
    loss, slope, curvature = half_squared_plus(x, 5.0)
    p = x + np.log(1 + np.exp(-5 * x)) / 5
    sigmoid = expit(5 * x)
    assert_allclose(loss, p**2 / 2, atol=1e-14)
    assert_allclose(slope, p * sigmoid, atol=1e-14)
    assert_allclose(curvature, sigmoid**2 + p * 5 * sigmoid * (1 - sigmoid), atol=1e-14)


def test_p_has_the_limits_of_the_plus_function():
    """p(x) - max(x, 0) is ln 2 / alpha at zero, the most, and vanishes far away; nothing overflows."""
    x = np.array([-1e300, -1e3, -1.0, 0.0, 1.0, 1e3, 1e150])
    for alpha in (1.0, 5.0, 1e4):
        p = np.sqrt(2 * half_squared_plus(x, alpha)[0])
        excess = p - np.maximum(x, 0)
        assert excess[3] == pytest.approx(np.log(2) / alpha)
        assert (excess <= np.log(2) / alpha * (1 + 1e-12)).all()
        assert_allclose(p[[0, 1, 5, 6]], [0, 0, 1e3, 1e150], atol=1e-12)
    with np.errstate(over="raise"):
        assert half_squared_plus(np.array([-np.inf]), 5.0)[0] == 0


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_derivatives_are_those_of_finite_differences(rows, loss):
    features, targets = rows
    objective = Objective(features, targets, loss, C=3.0)
    for coef in np.random.default_rng(1).normal(size=(3, 5)):
        _, gradient, hessian = at(objective, coef)
        assert_allclose(gradient, approx_fprime(coef, lambda c: at(objective, c)[0]), rtol=1e-4, atol=1e-4)
        by_differences = approx_fprime(coef, lambda c: at(objective, c)[1])
        assert_allclose(hessian, by_differences, rtol=1e-4, atol=1e-4 * abs(hessian).max())


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_the_minimum_is_that_of_a_general_minimiser(rows, loss, C):
    features, targets = rows
    objective = Objective(features, targets, loss, C)
    found = minimise(objective, np.zeros(5), max_iter=100, tol=1e-12)
    assert found.converged
    value, gradient, _ = at(objective, found.coef)
    assert abs(gradient).max() < 1e-6 * max(C, 1)
    scale = max(C, 1)  # of what the other minimiser sees
    other = minimize(
        lambda c: at(objective, c)[0] / scale, np.zeros(5), jac=lambda c: at(objective, c)[1] / scale
    )
    assert value <= scale * other.fun * (1 + 1e-9)
    assert_allclose(found.coef, other.x, atol=1e-3)


def test_armijo_keeps_a_step_from_going_too_far(rows):
    """From far away on a sharp hinge a full step would climb."""
    features, targets = rows
    objective = Objective(features, targets, SmoothHinge(alpha=200.0), 1e3)
    start = 30 * np.ones(5)
    values = [
        at(objective, minimise(objective, start, max_iter=steps, tol=0).coef)[0] for steps in range(1, 12)
    ]
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert not minimise(objective, start, max_iter=1, tol=1e-9).converged


def test_rows_far_beyond_the_margin_are_left_out_of_the_hessian_alone(rows, monkeypatch):
    features, targets = rows
    seen = []
    gather = smooth.gram_matrix

    def watched(features, rows, *rest, **named):
        seen.append(rows)
        return gather(features, rows, *rest, **named)

    monkeypatch.setattr(smooth, "gram_matrix", watched)
    objective = Objective(features, targets, SmoothHinge(alpha=100.0), 1.0)
    coef = np.array([0, 3.0, 0, 0, 0])
    margins = targets * (features @ coef)
    objective.hessian(objective.derivatives(coef, features @ coef)[2])
    assert set(np.flatnonzero(margins < 1)) <= set(seen[0])
    assert not set(np.flatnonzero(margins > 1.1)) & set(seen[0])
    assert 0 < len(seen[0]) < 60


def test_least_squares_are_where_newton_starts(rows):
    features, targets = rows
    T = np.column_stack([targets, targets**2])
    expected = np.linalg.solve(np.eye(5) + 7 * features.T @ features, 7 * features.T @ T)
    assert_allclose(ridge_start(gram_matrix(features), features.T @ T, 7.0), expected, atol=1e-12)


def test_a_gram_matrix_is_gathered_in_blocks(rows, monkeypatch):
    monkeypatch.setattr(moments, "BLOCK_NUMBERS", 35)  # seven rows of five
    features, _ = rows
    some, weights = np.array([3, 7, 8, 20, 21, 22, 40, 41, 59]), np.arange(1.0, 10)
    expected = 2 * features[some].T @ np.diag(weights) @ features[some]
    found = gram_matrix(features, some, np.sqrt(weights), 2.0)
    assert_allclose(np.tril(found), np.tril(expected), rtol=1e-12)
    leading = gram_matrix(features[:, :3])  # a view: columns of a larger machine
    assert_allclose(np.tril(leading), np.tril(features[:, :3].T @ features[:, :3]), rtol=1e-12)


def test_a_hessian_whose_identity_rounding_hides_is_solved_all_the_same():
    features = np.ones((50, 3)) + 1e-9 * np.arange(150).reshape(50, 3)
    targets = np.where(np.arange(50) % 3, 1.0, -1.0)
    objective = Objective(features, targets, SmoothHinge(), 1e18)
    found = minimise(objective, np.zeros(3), max_iter=20, tol=1e-6).coef
    constant = minimize_scalar(lambda output: objective.value(np.zeros(3), np.full(50, output)))
    assert objective.value(found, features @ found) == pytest.approx(constant.fun, rel=1e-6)
