"""The entropy of squashed outputs, and the climb that never lowers it."""

import numpy as np
import pytest
from information_objectives import ica_objective
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit

from entrolearn.networks.relative import _direction, _Place, _solved, climb, fixed_point


@pytest.fixture(scope="module")
def mixed():
    """Mixtures of two Laplace and two uniform sources, of shape (n_sources, n_samples)."""
    rng = np.random.default_rng(0)
    S = np.concatenate([rng.laplace(size=(2, 1500)), rng.uniform(-1, 1, size=(2, 1500))])
    S /= S.std(axis=1, keepdims=True)
    Z = rng.normal(size=(4, 4)) @ (S - S.mean(axis=1, keepdims=True))
    return Z / Z.std(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def W():
    return np.eye(4) + 0.3 * np.random.default_rng(1).normal(size=(4, 4))


# --- the objective ------------------------------------------------------------------------------------


@pytest.mark.parametrize("flat", [None, [True, False, False, True], [True] * 4])
def test_gradient_by_the_weights_is_that_of_differences(flat, mixed, W):
    _, gradient = ica_objective(W, mixed.T, sub_gaussian=flat)
    numeric = approx_fprime(
        W.ravel(), lambda w: ica_objective(w.reshape(4, 4), mixed.T, sub_gaussian=flat)[0], 1e-7
    )
    assert_allclose(gradient.ravel(), numeric, atol=1e-5)


def test_value_is_the_mean_logarithm_of_the_determinant_of_the_squashing_map(mixed, W):
    """Bell and Sejnowski's: an input's entropy grows by E log |det dg(Wx)/dx|."""
    scale = np.pi / np.sqrt(3)
    determinants = []
    for x in mixed.T[:200]:
        g = expit(scale * W @ x)
        jacobian = (scale * g * (1 - g))[:, np.newaxis] * W
        determinants.append(np.log(abs(np.linalg.det(jacobian))))
    assert ica_objective(W, mixed.T[:200])[0] == pytest.approx(np.mean(determinants), rel=1e-10)


def test_entropy_of_a_uniform_output_is_that_of_its_input():
    """A logistic input squashed by its own distribution function is uniform: entropy 0, the most there is."""
    x = np.random.default_rng(2).logistic(scale=np.sqrt(3) / np.pi, size=(200_000, 1))
    entropy_of_input = np.log(np.sqrt(3) / np.pi) + 2
    assert ica_objective([[1.0]], x)[0] == pytest.approx(-entropy_of_input, abs=0.01)
    for size in (0.8, 1.25):
        assert ica_objective([[size]], x)[0] < ica_objective([[1.0]], x)[0]


# --- derivatives by a relative step -------------------------------------------------------------------


@pytest.mark.parametrize("flat", [[False] * 4, [True, False, False, True]])
def test_relative_gradient_is_the_gradient_times_the_map(flat, mixed, W):
    """Amari: the natural gradient is the plain one times W'W, and a step by E is one of E W."""
    _, plain = ica_objective(W, mixed.T, sub_gaussian=flat)
    place = _Place.of(W @ mixed, 0.0, np.array(flat))
    assert_allclose(place.gradient, plain @ W.T, atol=1e-10)


def test_blocks_are_the_second_derivatives_where_sources_are_independent():
    rng = np.random.default_rng(3)
    Y, flat = rng.laplace(size=(3, 200_000)), np.array([False, False, False])
    blocks = _Place.of(Y, 0.0, flat).blocks
    step = 1e-4

    def gradient(E):
        outputs = (np.eye(3) + E) @ Y
        return (
            _Place.of(outputs, 0.0, flat).gradient @ np.linalg.inv(np.eye(3) + E).T
        )  # by E at 0 rather than at E

    for i, j in ((0, 1), (2, 0)):
        E = np.zeros((3, 3))
        E[i, j] = step
        numeric = -(gradient(E) - gradient(-E)) / (2 * step)
        expected = np.zeros((3, 3))
        expected[i, j], expected[j, i] = blocks[i, j], 1
        assert_allclose(numeric, expected, atol=0.03)


def test_newtons_step_solves_the_blocks():
    rng = np.random.default_rng(4)
    blocks, gradient = 1.5 + rng.random((3, 3)), rng.normal(size=(3, 3))
    solved = _solved(blocks, gradient)
    back = blocks * solved + solved.T  # the diagonal is b + 1 as well
    assert_allclose(back, gradient, rtol=1e-10)


def test_indefinite_blocks_still_give_a_direction_that_rises():
    rng = np.random.default_rng(5)
    for _ in range(20):
        blocks, gradient = 2 * rng.random((4, 4)) ** 3, rng.normal(size=(4, 4))
        assert np.sum(_solved(blocks, gradient) * gradient) > 0


def test_remembered_steps_give_the_direction_of_the_dense_update():
    """Limited-memory BFGS beside the matrix that its updates make."""
    rng = np.random.default_rng(6)
    blocks, gradient = 1.5 + rng.random((2, 2)), rng.normal(size=(2, 2))
    second = rng.normal(size=(4, 4))
    second = second @ second.T + np.eye(4)
    memory = [(s, (second @ s.ravel()).reshape(2, 2)) for s in rng.normal(size=(3, 2, 2))]
    inverse = np.array([_solved(blocks, e.reshape(2, 2)).ravel() for e in np.eye(4)]).T
    for s, y in ((s.ravel(), y.ravel()) for s, y in memory):
        left = np.eye(4) - np.outer(s, y) / (s @ y)
        inverse = left @ inverse @ left.T + np.outer(s, s) / (s @ y)
    found = _direction(gradient, blocks, memory)
    assert_allclose(found.ravel(), inverse @ gradient.ravel(), rtol=1e-9)


# --- the climb ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("extended", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_no_iteration_lowers_the_objective(seed, extended, mixed):
    start = np.random.default_rng(seed).normal(size=(4, 4))
    found = climb(mixed, start, extended=extended, max_iter=300, tol=1e-8)
    assert (np.diff(found.history) > 0).all()
    assert len(found.history) > 5
    assert found.history[0] > ica_objective(start, mixed.T)[0]
    assert found.history[-1] == found.objective


@pytest.mark.parametrize("extended", [True, False])
def test_the_climb_ends_at_a_maximum_of_the_objective(extended, mixed):
    found = climb(mixed, np.eye(4), extended=extended, max_iter=300, tol=1e-7)
    value, gradient = ica_objective(found.W, mixed.T, sub_gaussian=found.flat)
    assert found.converged
    assert value == pytest.approx(found.objective, rel=1e-10)
    assert np.abs(gradient @ found.W.T).max() < 1.1e-7
    rng = np.random.default_rng(7)
    near = [(np.eye(4) + 0.01 * rng.normal(size=(4, 4))) @ found.W for _ in range(50)]
    assert max(ica_objective(W, mixed.T, sub_gaussian=found.flat)[0] for W in near) < value


def test_a_general_optimizer_ends_at_the_same_maximum(mixed):
    found = climb(mixed, np.eye(4), extended=False, max_iter=300, tol=1e-7)
    kinds = found.flat

    def negated(w):
        value, gradient = ica_objective(w.reshape(4, 4), mixed.T, sub_gaussian=kinds)
        return -value, -gradient.ravel()

    start = (np.eye(4) + 0.02 * np.random.default_rng(8).normal(size=(4, 4))) @ found.W
    theirs = minimize(negated, start.ravel(), jac=True, method="BFGS", options={"gtol": 1e-8})
    assert -theirs.fun == pytest.approx(found.objective, rel=1e-9)
    assert_allclose(theirs.x.reshape(4, 4), found.W, atol=1e-4)


def test_outputs_do_not_depend_on_what_the_sources_were_mixed_with(mixed, W):
    """Equivariance: another mixture, started from the same outputs, has the same outputs all along."""
    A = np.random.default_rng(9).normal(size=(4, 4))
    for max_iter in (1, 3, 100):
        plain = climb(mixed, W, extended=True, max_iter=max_iter, tol=1e-7)
        other = climb(A @ mixed, W @ np.linalg.inv(A), extended=True, max_iter=max_iter, tol=1e-7)
        assert len(other.history) == len(plain.history)
        assert_allclose(other.W @ A, plain.W, rtol=1e-5, atol=1e-7)


def test_a_likelier_kind_is_taken_up_on_the_way(mixed):
    found = climb(mixed, np.eye(4), extended=True, max_iter=300, tol=1e-6)
    assert found.flat.sum() == 2
    assert found.objective > climb(mixed, np.eye(4), extended=False, max_iter=300, tol=1e-6).objective


def test_few_iterations_end_the_climb_before_the_top(mixed):
    found = climb(mixed, np.eye(4), extended=True, max_iter=2, tol=1e-9)
    assert len(found.history) == 2
    assert not found.converged
    assert found.steepness > 1e-9


def test_a_climb_from_the_top_stays_there(mixed):
    top = climb(mixed, np.eye(4), extended=True, max_iter=300, tol=1e-7)
    again = climb(mixed, top.W, extended=True, max_iter=300, tol=1e-6)
    assert again.history == []
    assert_array_equal(again.W, top.W)
    assert again.objective == pytest.approx(top.objective, rel=1e-12)


def test_a_precision_that_cannot_be_reached_ends_the_climb(mixed):
    found = climb(mixed, np.eye(4), extended=True, max_iter=10_000, tol=1e-30)
    assert not found.converged
    assert len(found.history) < 1000
    assert found.steepness < 1e-6


# --- where it starts ----------------------------------------------------------------------------------


def whitened(rows):
    values, vectors = np.linalg.eigh(rows @ rows.T / rows.shape[1])
    return (vectors / np.sqrt(values)).T @ rows


def test_fixed_point_is_one_of_the_iteration_and_separates(mixed):
    Z = whitened(mixed)
    W = fixed_point(Z, np.eye(4))
    assert_allclose(W @ W.T, np.eye(4), atol=1e-12)
    t = np.tanh(W @ Z)
    moved = t @ Z.T / Z.shape[1] - np.diag(1 - (t**2).mean(axis=1)) @ W
    left, _, right = np.linalg.svd(moved)
    assert_allclose(abs(np.diag(left @ right @ W.T)), 1, atol=1e-3)
    found = climb(Z, W, extended=True, max_iter=100, tol=1e-6)
    far = climb(Z, np.eye(4), extended=True, max_iter=500, tol=1e-6)
    assert found.objective == pytest.approx(far.objective, abs=1e-9)
    assert len(found.history) < len(far.history)
