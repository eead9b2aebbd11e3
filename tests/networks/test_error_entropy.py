"""Perceptrons for the entropy of errors: against a loop, finite differences, and laws."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_moons

from entrolearn import ErrorEntropyMLPClassifier, ErrorEntropyMLPRegressor
from entrolearn.measures import error_entropy
from entrolearn.networks import error_entropy as error_entropy_module
from entrolearn.networks.error_entropy import _centre_and_spread, _Objective
from entrolearn.networks.perceptron import Parameters, Perceptron

both_orders = pytest.mark.parametrize("entropy", ["shannon", "renyi"])


def some(kind, n=60):
    X, y = make_moons(n, noise=0.2, random_state=0)
    if kind is ErrorEntropyMLPRegressor:
        y = np.sin(2 * X[:, 0]) + X[:, 1]
    return X, y


both_learners = pytest.mark.parametrize("learner", [ErrorEntropyMLPClassifier, ErrorEntropyMLPRegressor])


@both_orders
@pytest.mark.parametrize("output", ["tanh", "identity"])
@pytest.mark.parametrize("hidden", ["tanh", "logistic"])
def test_gradient_by_all_weights_agrees_with_finite_differences(rng, entropy, output, hidden):
    X, t, step = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], size=30), 1e-6
    parameters = Parameters.drawn((3, 4, 1), 1.0, hidden, np.random.RandomState(0), float)
    objective = _Objective(Perceptron(parameters, hidden, output, 30), X, t, 0.7, entropy)
    objective.value()
    objective.differentiate()
    differences = np.empty_like(parameters.flat)
    for place, start in enumerate(parameters.flat.copy()):
        ends = []
        for sign in (1, -1):
            parameters.flat[place] = start + sign * step
            ends.append(objective.value())
        parameters.flat[place] = start
        differences[place] = (ends[0] - ends[1]) / (2 * step)
    assert_allclose(objective.gradient.flat, differences, atol=1e-8)


def test_entropy_is_blind_to_the_intercept_of_a_linear_output(rng):
    X, t = rng.normal(size=(30, 3)), rng.normal(size=30)
    parameters = Parameters.drawn((3, 4, 1), 1.0, "tanh", np.random.RandomState(0), float)
    objective = _Objective(Perceptron(parameters, "tanh", "identity", 30), X, t, 0.7, "shannon")
    before = objective.value()
    objective.differentiate()
    assert abs(objective.gradient.intercepts[1][0]) < 1e-14
    parameters.intercepts[1] += 3
    assert objective.value() == pytest.approx(before, abs=1e-12)


def test_training_is_the_essays_rule(rng):
    """Its update, with growth by u or a restart and d, written out; rows so few that sums are exact."""
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], 20)
    X[y == 1] += 1
    t = 2.0 * y - 1
    rate, u, d, h = 8.0, 1.5, 0.3, 0.8
    learner = ErrorEntropyMLPClassifier(
        3, bandwidth=h, learning_rate=rate, increase=u, decrease=d, max_iter=25, random_state=2
    ).fit(X, y)

    draw = np.random.RandomState(2)
    parts = []
    for fans in ((2, 3), (3, 1)):
        bound = np.sqrt(6 / sum(fans))
        parts += [draw.uniform(-bound, bound, fans), draw.uniform(-bound, bound, fans[1])]

    def evaluated(parts):
        V, b, W, c = parts
        H = np.tanh(X @ V + b)
        y = np.tanh(H @ W + c)[:, 0]
        value, by_errors = error_entropy(t - y, h, method="exact")
        D = (-by_errors * (1 - y**2))[:, None]
        E = D @ W.T * (1 - H**2)
        return value, [X.T @ E, E.sum(axis=0), H.T @ D, D.sum(axis=0)]

    entropy, gradient = evaluated(parts)
    entropies, rates = [], []
    for _ in range(25):
        rates.append(rate)
        moved = [part - rate * slope for part, slope in zip(parts, gradient, strict=True)]
        reached, new_gradient = evaluated(moved)
        if reached <= entropy:
            parts, entropy, gradient, rate = moved, reached, new_gradient, u * rate
        else:
            rate *= d
        entropies.append(entropy)
    assert_allclose(learner.learning_rates_, rates, rtol=1e-12)
    assert_allclose(learner.loss_curve_, entropies, rtol=1e-9)
    assert_allclose(learner.coefs_[0], parts[0], rtol=1e-8)
    assert_allclose(learner.coefs_[1], parts[2], rtol=1e-8)
    assert len(set(np.diff(rates) > 0)) == 2  # both rules were needed


@both_orders
@both_learners
@pytest.mark.parametrize("rate", [1.0, 1e6])
def test_entropy_never_increases_and_rates_follow_it(learner, entropy, rate):
    X, y = some(learner, 150)
    network = learner(entropy=entropy, learning_rate=rate, random_state=0).fit(X, y)
    assert (np.diff(network.loss_curve_) <= 0).all()
    if rate == 1.0:  # a step of 1e6 may saturate the output, where no gradient leads away
        assert network.loss_curve_[-1] < network.loss_curve_[0]
    factors = network.learning_rates_[1:] / network.learning_rates_[:-1]
    up = np.isclose(factors, 1.2)
    assert_allclose(factors[~up], 0.5)
    # Between two epochs the entropy has moved only where the rate has grown after the second.
    assert (np.diff(network.loss_curve_)[:-1][~up[1:]] == 0).all()


@both_learners
def test_mean_error_of_the_training_rows_is_zero(learner):
    X, y = some(learner)
    network = learner(max_iter=20, random_state=0).fit(X, y)
    if learner is ErrorEntropyMLPClassifier:
        errors = 2 * y - 1 - network.decision_function(X)
        assert np.abs(network.decision_function(X) - network.offset_).max() <= 1
    else:
        errors = y - network.predict(X)
    assert abs(errors.mean()) < 1e-12
    if learner is ErrorEntropyMLPRegressor:
        errors /= _centre_and_spread(y)[1]
    # ... which has left the entropy as it was.
    assert error_entropy(errors, 1.0)[0] == pytest.approx(network.loss_curve_[-1], abs=1e-9)


@both_orders
def test_narrow_kernels_fail_where_wide_ones_part_the_classes(entropy):
    """The reading of this project: h >= 1 works on errors in [-2, 2], h <= 0.3 does not."""
    X, y = make_moons(100, noise=0.1, random_state=0)

    def score(bandwidth):
        network = ErrorEntropyMLPClassifier(
            bandwidth=bandwidth, entropy=entropy, max_iter=500, random_state=0
        )
        return network.fit(X, y).score(X, y)

    assert score(0.2) < 0.8
    assert score(1.0) > 0.97


@both_orders
def test_a_curve_is_learnt(entropy):
    X = np.linspace(-1, 1, 200)[:, None]
    y = np.sin(3 * X[:, 0]) + 5
    network = ErrorEntropyMLPRegressor(bandwidth=0.5, entropy=entropy, max_iter=500, random_state=0)
    assert network.fit(X, y).score(X, y) > 0.98


@both_orders
@pytest.mark.parametrize(("factor", "shift"), [(1e6, 0.0), (1e-6, 0.0), (50.0, -1e3), (1e-300, 0.0)])
def test_values_in_other_units_are_learnt_alike(entropy, factor, shift):
    """Of a values + b the network is a times the one of the values, plus b."""
    X, y = some(ErrorEntropyMLPRegressor)
    network = ErrorEntropyMLPRegressor(entropy=entropy, max_iter=40, random_state=0)
    expected, curve = network.fit(X, y).predict(X), network.loss_curve_
    found = network.fit(X, factor * y + shift).predict(X)
    assert_allclose((found - shift) / factor, expected, rtol=1e-6, atol=1e-6)
    assert_allclose(network.loss_curve_, curve, rtol=1e-6)


def test_without_the_unit_the_bandwidth_is_in_the_units_of_y():
    X, y = some(ErrorEntropyMLPRegressor)
    spread = min(y.std(), np.subtract(*np.quantile(y, [0.75, 0.25], method="averaged_inverted_cdf")) / 1.349)
    network = ErrorEntropyMLPRegressor(bandwidth=0.5, max_iter=40, random_state=0).fit(X, y)
    given = (y - np.median(y)) / spread
    plain = ErrorEntropyMLPRegressor(bandwidth=0.5, normalize_y=False, max_iter=40, random_state=0)
    expected = plain.fit(X, given).predict(X) * spread + np.median(y)
    assert_allclose(network.predict(X), expected, rtol=1e-9, atol=1e-9)


def test_one_value_far_away_does_not_set_the_unit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y, far = X[:, 0], X[:, 0].copy()
    far[0] = 1e9
    network = ErrorEntropyMLPRegressor(random_state=0)
    before = network.fit(X, y).predict(X[1:])
    after = network.fit(X, far).predict(X[1:])
    assert np.corrcoef(before, after)[0, 1] > 0.99


@pytest.mark.parametrize("y", [np.full(30, 0.1), np.r_[1e-170, np.zeros(29)], np.r_[1.0, np.zeros(29)]])
def test_values_of_no_spread_have_a_unit_all_the_same(y):
    X = np.random.default_rng(0).normal(size=(30, 2))
    found = ErrorEntropyMLPRegressor(max_iter=20, random_state=0).fit(X, y).predict(X)
    assert_allclose(found.mean(), y.mean(), atol=1e-6)


def test_single_precision_is_computed_in_single_precision():
    X, y = some(ErrorEntropyMLPRegressor)
    double = ErrorEntropyMLPRegressor(max_iter=20, random_state=0).fit(X, y)
    single = ErrorEntropyMLPRegressor(max_iter=20, random_state=0).fit(X.astype(np.float32), y)
    assert all(part.dtype == np.float32 for part in single.coefs_ + single.intercepts_)
    assert_allclose(single.loss_curve_, double.loss_curve_, atol=1e-4)


def test_three_classes_are_named():
    X, _ = some(ErrorEntropyMLPClassifier)
    with pytest.raises(ValueError, match="3 classes"):
        ErrorEntropyMLPClassifier().fit(X, np.arange(60) % 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("n", "d", "n_hidden"), [(20_000, 3, 1), (20_000, 3, 10), (5_000, 3, 100), (300, 1000, 300)]
)
def test_memory_that_is_asked_for_is_what_training_takes(rng, monkeypatch, n, d, n_hidden, dtype):
    asked = []
    monkeypatch.setattr(error_entropy_module, "check_memory", lambda needed, *_: asked.append(needed))
    X, y = rng.normal(size=(n, d)).astype(dtype), np.arange(n) % 2
    tracemalloc.start()
    try:
        ErrorEntropyMLPClassifier(n_hidden, max_iter=2, random_state=0).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < asked[0] < 1.2 * peak
