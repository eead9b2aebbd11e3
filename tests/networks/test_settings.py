"""Whatever the settings and the numbers: finite answers without a warning, or a refusal in one line."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from entrolearn import ErrorEntropyMLPClassifier, ErrorEntropyMLPRegressor, InfomaxICA
from entrolearn.networks import LinearInfomax, MSEMLPClassifier, MSEMLPRegressor, SoftmaxRegression

pytestmark = pytest.mark.filterwarnings("error", "ignore::sklearn.exceptions.ConvergenceWarning")

RATES = [1e-300, 0.01, 1.0, 50.0, 1e100, 1e300]
WEIGHTS = ["glorot", 0.01, 10.0, 1e30, 1e100]
PERCEPTRON = {"n_hidden": [1, 5], "activation": ["tanh", "logistic"], "init": WEIGHTS, "random_state": [0]}
ENTROPY = {
    **PERCEPTRON,
    "bandwidth": [1e-300, 1e-6, 0.1, 1.0, 1e6, 1e300],
    "entropy": ["shannon", "renyi"],
    "learning_rate": RATES,
    "increase": [1.0, 1.2, 1e300],
    "decrease": [0.5, 1e-300],
    "max_iter": [1, 40],
}
SQUARES = {**PERCEPTRON, "learning_rate": RATES, "batch_size": [1, 7], "max_iter": [1, 5]}
SETTINGS = {
    ErrorEntropyMLPClassifier: ENTROPY,
    ErrorEntropyMLPRegressor: ENTROPY,
    MSEMLPClassifier: SQUARES,
    MSEMLPRegressor: SQUARES,
    SoftmaxRegression: {
        "alpha": [0.0, 1e-4, 1e300],
        "solver": ["lbfgs", "gradient"],
        "learning_rate": ["auto", *RATES],
        "max_iter": [1, 40],
    },
    LinearInfomax: {"constraint": ["orthonormal", "power"], "noise_variance": [1e-300, 1e-150, 1.0, 1e300]},
    InfomaxICA: {"extended": [True, False], "max_iter": [1, 40], "random_state": [0]},
}
REGRESSORS = [ErrorEntropyMLPRegressor, MSEMLPRegressor]


def numbers_of(estimator, X):
    """What a fitted estimator says of rows, and keeps of them."""
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(estimator, method):
            yield getattr(estimator, method)(X)
    for name, value in vars(estimator).items():
        if name.endswith("_") and not name.startswith("_"):
            yield from value if isinstance(value, list) else [value]


@pytest.mark.parametrize("learner", SETTINGS)
def test_answers_are_finite_or_refused_in_one_line_without_a_warning(learner):
    fitted = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        settings = {name: values[rng.integers(len(values))] for name, values in SETTINGS[learner].items()}
        dtype, largest = (np.float32, 15) if rng.random() < 0.4 else (np.float64, 69)
        X = rng.normal(size=(20, 2)) * 10.0 ** rng.choice([-30, 0, 0, 0, largest - 1])
        y = np.arange(20) % 2
        if learner in REGRESSORS:
            y = rng.normal(size=20) * 10.0 ** rng.choice([-30, 0, 0, 14, 40, 69])
        try:
            estimator = learner(**settings).fit(X.astype(dtype), y)
        except ValueError as error:
            said = str(error)
        else:
            said, fitted = "", fitted + 1
            assert all(np.isfinite(numbers).all() for numbers in numbers_of(estimator, X.astype(dtype)))
        assert "\n" not in said
    assert fitted > 10


@pytest.mark.parametrize("learner", REGRESSORS)
def test_values_too_large_for_the_precision_of_the_rows_are_named(learner):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    y *= 1e40 / np.abs(y).max()
    network = learner(5, max_iter=3, random_state=0)
    for size in (1e16, 1e20, 1e40):
        with pytest.raises(
            ValueError, match="y holds .* in size; .*up to 1e.15 for rows in float32: scale y, or"
        ):
            network.fit(X.astype(np.float32), size / 1e40 * y)
        assert np.isfinite(network.fit(X, size / 1e40 * y).predict(X)).all()
    assert_allclose(
        network.fit(X.astype(np.float32), 1e-26 * y).predict(X).mean(), 1e-26 * y.mean(), atol=1e14
    )


def test_rates_stay_numbers_however_they_grow():
    """Where nothing moves any more, each epoch lets the rate grow."""
    X, y = np.repeat([[-1.0], [1.0]], 10, axis=0), np.repeat([0, 1], 10)
    for dtype in (np.float32, np.float64):
        network = ErrorEntropyMLPClassifier(3, increase=10.0, max_iter=400, random_state=0)
        network.fit(X.astype(dtype), y)
        assert network.learning_rates_.max() <= np.finfo(dtype).max
        assert network.score(X, y) == 1
