"""Perceptrons for the squared error: against scikit-learn's, loops, and the essay's own code."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_moons
from sklearn.neural_network import MLPRegressor

from entrolearn.networks import MSEMLPClassifier, MSEMLPRegressor


def logistic(z):
    return 1 / (1 + np.exp(-z))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("activation", ["logistic", "tanh"])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_full_batches_make_scikit_learns_steps(rng, activation, n_outputs):
    X, y = rng.normal(size=(40, 5)), rng.normal(size=(40, n_outputs)).squeeze()
    ours = MSEMLPRegressor(
        6, activation=activation, learning_rate=0.05, batch_size=40, max_iter=8, random_state=3
    ).fit(X, y)
    theirs = MLPRegressor(
        hidden_layer_sizes=6,
        activation=activation,
        solver="sgd",
        alpha=0,
        momentum=0,
        learning_rate_init=0.05,
        batch_size=40,
        max_iter=8,
        random_state=3,
    ).fit(X, y)
    for one, other in zip(ours.coefs_ + ours.intercepts_, theirs.coefs_ + theirs.intercepts_, strict=True):
        assert_allclose(one, other, rtol=1e-10, atol=1e-14)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-10)
    assert_allclose(ours.loss_curve_, n_outputs * np.array(theirs.loss_curve_), rtol=1e-10)


def test_the_online_rule_is_that_of_the_essays_code(rng):
    """Its slope β = 0.01 and weights from ±1 are weights from ±β, and another rate for each layer."""
    alpha, beta, seed, n_hidden = 0.1, 0.01, 5, 7
    X, y = rng.uniform(size=(30, 4)), np.arange(30) % 3
    network = MSEMLPClassifier(
        n_hidden, init=beta, learning_rate=(alpha, alpha * beta), batch_size=1, max_iter=2, random_state=seed
    ).fit(X, y)

    draw = np.random.RandomState(seed)
    W1 = np.vstack([draw.uniform(-1, 1, (4, n_hidden)), draw.uniform(-1, 1, (1, n_hidden))])
    W2 = np.vstack([draw.uniform(-1, 1, (n_hidden, 3)), draw.uniform(-1, 1, (1, 3))])
    for _ in range(2):
        for index in draw.permutation(30):
            x = np.append(X[index], 1)
            hidden = np.append(logistic(beta * (x @ W1)), 1)
            output = logistic(beta * (hidden @ W2))
            output_delta = (output - np.eye(3)[y[index]]) * output * (1 - output)
            hidden_delta = ((W2 @ output_delta) * hidden * (1 - hidden))[:-1]
            W1 -= alpha * np.outer(x, hidden_delta)
            W2 -= alpha * np.outer(hidden, output_delta)
    for layer, W in enumerate((W1, W2)):
        assert_allclose(network.coefs_[layer], beta * W[:-1], rtol=1e-10)
        assert_allclose(network.intercepts_[layer], beta * W[-1], rtol=1e-10)


def test_batches_of_rows_make_the_steps_of_a_loop(rng):
    """The last batch of an epoch is a smaller one; a loss is that before its batch's step."""
    X, y = rng.normal(size=(10, 3)), np.array(["b", "a"])[rng.integers(2, size=10)]
    start = MSEMLPClassifier(4, learning_rate=1e-300, max_iter=1, random_state=1).fit(X, y)
    (V, W), (b, c) = ([part.copy() for part in parts] for parts in (start.coefs_, start.intercepts_))
    T, losses = np.column_stack([y == "a", y == "b"]).astype(float), []
    draw = np.random.RandomState(1)
    for shape in ((3, 4), 4, (4, 2), 2):
        draw.uniform(size=shape)
    for _ in range(3):
        losses.append(0.0)
        order = draw.permutation(10)
        for rows in (order[:4], order[4:8], order[8:]):
            H = logistic(X[rows] @ V + b)
            Y = logistic(H @ W + c)
            losses[-1] += 0.5 * np.sum((Y - T[rows]) ** 2) / 10
            D = (Y - T[rows]) * Y * (1 - Y) / len(rows)
            E = D @ W.T * H * (1 - H)
            V, b = V - 2 * X[rows].T @ E, b - 2 * E.sum(axis=0)
            W, c = W - 2 * H.T @ D, c - 2 * D.sum(axis=0)
    network = MSEMLPClassifier(4, learning_rate=2.0, batch_size=4, max_iter=3, random_state=1).fit(X, y)
    assert_allclose(network.coefs_[0], V, rtol=1e-12)
    assert_allclose(network.coefs_[1], W, rtol=1e-12)
    assert_allclose(network.intercepts_[0], b, rtol=1e-12)
    assert_allclose(network.intercepts_[1], c, rtol=1e-12)
    assert_allclose(network.loss_curve_, losses, rtol=1e-12)
    assert network.n_iter_ == 3


def test_single_precision_is_computed_in_single_precision():
    X, y = load_digits(return_X_y=True)
    X = X[:600] / 16
    double = MSEMLPClassifier(20, max_iter=5, random_state=0).fit(X, y[:600])
    single = MSEMLPClassifier(20, max_iter=5, random_state=0).fit(X.astype(np.float32), y[:600])
    assert all(part.dtype == np.float32 for part in single.coefs_ + single.intercepts_)
    assert single.predict_proba(X).dtype == np.float32
    assert_allclose(single.loss_curve_, double.loss_curve_, rtol=1e-4)


def test_digits_are_learnt():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    network = MSEMLPClassifier(50, random_state=0).fit(X[:1400], y[:1400])
    assert network.score(X[1400:], y[1400:]) > 0.9


def test_probabilities_are_the_outputs_over_their_sum():
    X, y = make_moons(100, noise=0.2, random_state=0)
    network = MSEMLPClassifier(5, max_iter=20, random_state=0).fit(X, y)
    H = logistic(X @ network.coefs_[0] + network.intercepts_[0])
    Y = logistic(H @ network.coefs_[1] + network.intercepts_[1])
    P = network.predict_proba(X)
    assert_allclose(P, Y / Y.sum(axis=1, keepdims=True))
    assert_array_equal(P.argmax(axis=1), network.predict(X))


def test_outputs_that_underflow_still_have_probabilities():
    X, y = make_moons(50, noise=0.2, random_state=0)
    network = MSEMLPClassifier(5, max_iter=1, random_state=0).fit(X, y)
    network.intercepts_[1] -= 1e5
    assert_allclose(network.predict_proba(X), 0.5)
