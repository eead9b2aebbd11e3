import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from entrolearn.networks import perceptron
from entrolearn.networks.perceptron import ACTIVATIONS, Parameters, Perceptron, outputs

SIZES = (4, 5, 3)
activations = pytest.mark.parametrize("hidden", ["logistic", "tanh"])


def drawn(hidden="tanh", init=1.0, dtype=np.float64, seed=0):
    return Parameters.drawn(SIZES, init, hidden, np.random.RandomState(seed), dtype)


def half_squared_error(parameters, hidden, output, X, T):
    """From the formulas, row by row and unit by unit."""
    functions = {"logistic": lambda z: 1 / (1 + np.exp(-z)), "tanh": np.tanh, "identity": lambda z: z}
    total = 0.0
    for x, t in zip(X, T, strict=True):
        values = x
        for coef, intercept, name in zip(
            parameters.coefs, parameters.intercepts, (hidden, output), strict=True
        ):
            values = np.array(
                [functions[name](values @ coef[:, j] + intercept[j]) for j in range(len(intercept))]
            )
        total += 0.5 * np.sum((values - t) ** 2)
    return total


def test_weights_and_intercepts_are_views_of_one_array():
    parameters = drawn()
    parts = [parameters.coefs[0], parameters.intercepts[0], parameters.coefs[1], parameters.intercepts[1]]
    assert_array_equal(parameters.flat, np.concatenate([part.ravel() for part in parts]))
    assert all(np.shares_memory(part, parameters.flat) for part in parts)


@activations
def test_glorot_weights_fill_their_bounds(hidden):
    found = Parameters.drawn((200, 100, 10), "glorot", hidden, np.random.RandomState(0), float)
    for coef, intercept, fans in zip(found.coefs, found.intercepts, (300, 110), strict=True):
        bound = np.sqrt({"logistic": 2, "tanh": 6}[hidden] / fans)
        assert 0.99 * bound < np.abs(coef).max() <= bound
        assert np.abs(intercept).max() <= bound


@activations
@pytest.mark.parametrize("output", sorted(ACTIVATIONS))
def test_gradient_agrees_with_finite_differences_of_a_naive_loss(rng, hidden, output):
    X, T, parameters, step = rng.normal(size=(7, 4)), rng.normal(size=(7, 3)), drawn(hidden), 1e-6
    network, gradient = Perceptron(parameters, hidden, output, 7), Parameters(SIZES, float)
    network.backward(X, network.forward(X) - T, gradient)
    differences = np.empty_like(parameters.flat)
    for place, start in enumerate(parameters.flat.copy()):
        ends = []
        for sign in (1, -1):
            parameters.flat[place] = start + sign * step
            ends.append(half_squared_error(parameters, hidden, output, X, T))
        parameters.flat[place] = start
        differences[place] = (ends[0] - ends[1]) / (2 * step)
    assert_allclose(gradient.flat, differences, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 6])
def test_step_in_place_is_the_gradient_times_the_rate_of_each_layer(rng, dtype, n):
    """Of a batch smaller than the buffers too."""
    X, T = rng.normal(size=(n, 4)).astype(dtype), rng.normal(size=(n, 3)).astype(dtype)
    parameters, gradient = drawn(dtype=dtype), Parameters(SIZES, dtype)
    start = parameters.flat.copy()
    network = Perceptron(parameters, "tanh", "logistic", 9)
    network.backward(X, network.forward(X) - T, gradient)
    network.backward(X, network.forward(X) - T, parameters, scales=(-0.5, -0.25), kept=1.0)
    rates = np.repeat([0.5, 0.25], [25, 18])
    assert_allclose(parameters.flat, start - rates * gradient.flat, rtol=50 * np.finfo(dtype).eps)
    assert not np.allclose(parameters.flat, start)


@pytest.mark.parametrize("output", sorted(ACTIVATIONS))
def test_outputs_of_fitted_weights_are_those_of_the_network_in_any_blocks(rng, monkeypatch, output):
    X, parameters = rng.normal(size=(11, 4)), drawn()
    expected = Perceptron(parameters, "tanh", output, 11).forward(X).copy()
    monkeypatch.setattr(perceptron, "BLOCK_ROWS", 4)
    found = outputs(X, parameters.coefs, parameters.intercepts, "tanh", output)
    assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logistic_has_its_limits_without_a_warning(dtype):
    Z = np.array([-1e4, -1.0, 0.0, 1.0, 1e4], dtype)
    ACTIVATIONS["logistic"].apply(Z)
    assert_allclose(Z, [0, 1 / (1 + np.e), 0.5, np.e / (1 + np.e), 1], rtol=4 * np.finfo(dtype).eps)
