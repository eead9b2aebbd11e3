"""Hidden layers against their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import inv, sqrtm
from scipy.sparse import csr_array
from scipy.stats import kstest, norm
from sklearn.metrics.pairwise import rbf_kernel

from entrolearn.machines import layers
from entrolearn.machines.layers import ACTIVATIONS, UNIT_SCALES, NystromLayer, RandomLayer, project_rows


@pytest.fixture
def X():
    return np.random.default_rng(0).uniform(size=(30, 4))


# G(x, w, b) for one row and one unit: section 7 of the EEM paper, section 2.1 of the RKELM paper
NAIVE = {
    "sigmoid": lambda x, w, b: 1 / (1 + np.exp(-(w @ x) + b)),
    "nsigmoid": lambda x, w, b: 1 / (1 + np.exp(-(w @ x) / len(x) + b)),
    "rbf": lambda x, w, b: np.exp(-b * np.sum((w - x) ** 2)),
    "sine": lambda x, w, b: np.sin(w @ x - b),
    "hardlimit": lambda x, w, b: float(w @ x >= b),
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_units_are_as_printed(X, activation, container):
    layer = RandomLayer.draw(4, 7, activation, np.random.RandomState(1))
    expected = [
        [NAIVE[activation](x, w, b) for w, b in zip(layer.weights, layer.biases, strict=True)] for x in X
    ]
    assert_allclose(layer(container(X)), expected, rtol=1e-12)


@pytest.mark.parametrize("activation", ["sigmoid", "nsigmoid"])
def test_below_one_is_the_same_minus_one(X, activation):
    plain = RandomLayer.draw(4, 7, activation, np.random.RandomState(1))
    below = RandomLayer.draw(4, 7, activation, np.random.RandomState(1), below_one=True)
    assert_allclose(below(X), plain(X) - 1, rtol=1e-12)


def test_saturated_units_keep_their_digits_below_one():
    layer = RandomLayer(np.ones((1, 1)), np.zeros(1), "sigmoid", below_one=True)
    X = np.array([[100.0], [101.0]])
    assert_allclose(layer(X).ravel(), -np.exp(-X.ravel()), rtol=1e-12)
    assert_array_equal(RandomLayer(np.ones((1, 1)), np.zeros(1), "sigmoid")(X), 1.0)  # what it is for


@pytest.mark.parametrize("unit_scale", UNIT_SCALES)
def test_small_layers_are_the_first_units_of_large_ones(unit_scale):
    small, large = (
        RandomLayer.draw(4, h, "rbf", np.random.RandomState(3), unit_scale=unit_scale) for h in (5, 20)
    )
    assert_array_equal(small.weights, large.weights[:5])
    assert_array_equal(small.biases, large.biases[:5])


def drawn(n_features, unit_scale, activation="rbf", **options):
    return RandomLayer.draw(
        n_features, 2000, activation, np.random.RandomState(0), unit_scale=unit_scale, **options
    )


def test_log_uniform_gammas_lie_between_three_tenths_and_thirty_over_the_number_of_features():
    log_ratio = np.log(drawn(7, "log-uniform").biases * 7 / 0.3) / np.log(30 / 0.3)
    assert kstest(log_ratio, "uniform").pvalue > 0.01
    assert kstest(drawn(7, "uniform").biases, "uniform").pvalue > 0.01  # as in the paper


def test_gamma_is_of_rbf_units_and_sigmoids_alone():
    assert_array_equal(drawn(7, "log-uniform").weights, drawn(7, "uniform").weights)
    for activation in ("nsigmoid", np.sin):
        layers = [drawn(7, unit_scale, activation) for unit_scale in UNIT_SCALES]
        assert_array_equal(layers[0].biases, layers[1].biases)


@pytest.mark.parametrize("n_features", [1, 30, 1000])
def test_sigmoids_step_within_the_box_in_any_number_of_features(n_features):
    """The same draws as the paper's uniform ones, by the normal quantiles; as many steps on either side."""
    paper, layer = drawn(n_features, "uniform", "sigmoid"), drawn(n_features, "log-uniform", "sigmoid")
    weights = norm.ppf(paper.weights) * np.sqrt(30 / n_features)
    assert_allclose(layer.weights, weights, rtol=1e-12)
    assert_allclose(layer.biases, weights.sum(axis=1) / 2 + np.sqrt(2.5) * norm.ppf(paper.biases), rtol=1e-9)
    units = layer(np.random.default_rng(0).uniform(size=(200, n_features)))
    assert 0.4 < units.mean() < 0.6
    assert np.median(units.std(axis=0)) > 0.15


@pytest.mark.parametrize("n_features", [2, 30, 1000])
def test_log_uniform_units_neither_vanish_nor_saturate_in_any_number_of_features(n_features):
    """||x - w||^2 is n_features / 6 on average: most units are between exp(-5) and exp(-0.05) there."""
    X = np.random.default_rng(0).uniform(size=(50, n_features))

    def alive(gamma):
        at_the_median = np.median(drawn(n_features, gamma)(X), axis=0)
        return np.mean((at_the_median > 0.01) & (at_the_median < 0.99))

    assert alive("log-uniform") > 0.9
    assert n_features < 1000 or alive("uniform") < 0.05  # gamma n_features / 6 < -ln 0.01: 2.8 percent


def test_drawing_keeps_single_precision():
    layer = drawn(7, "log-uniform", dtype=np.float32)
    assert layer.weights.dtype == layer.biases.dtype == np.float32


def test_a_callable_activation_gets_the_inner_products(X):
    layer = RandomLayer.draw(4, 3, np.sin, np.random.RandomState(0))
    assert_allclose(layer(X), np.sin(X @ layer.weights.T - layer.biases))


def nystrom(X, n_landmarks=10, gamma=1.0):
    return NystromLayer.on(np.random.RandomState(0).permutation(X)[:n_landmarks], "rbf", {"gamma": gamma})


def test_nystrom_features_are_the_papers_up_to_a_rotation(X):
    layer = nystrom(X)
    K = rbf_kernel(layer.landmarks, gamma=1.0)
    printed = rbf_kernel(X, layer.landmarks, gamma=1.0) @ inv(sqrtm(K).real)
    features = layer(X)
    rotation = np.linalg.lstsq(printed, features)[0]
    assert_allclose(rotation @ rotation.T, np.eye(10), atol=1e-6)
    assert_allclose(features @ features.T, printed @ printed.T, atol=1e-9)


def test_with_all_rows_as_landmarks_inner_products_are_the_kernel(X):
    features = nystrom(X, n_landmarks=100)(X)
    assert features.shape == (30, 30)
    assert_allclose(features @ features.T, rbf_kernel(X, gamma=1.0), atol=1e-9)


def test_with_fewer_landmarks_than_rows_inner_products_are_the_kernel_of_the_landmarks_alone(X):
    layer = nystrom(X, 10)
    features, kernel = layer(X), rbf_kernel(X, gamma=1.0)
    is_landmark = (X[:, np.newaxis] == layer.landmarks).all(axis=2).any(axis=1)
    assert is_landmark.sum() == 10
    assert_allclose((features @ features.T)[is_landmark], kernel[is_landmark], atol=1e-9)
    assert np.abs(features @ features.T - kernel).max() > 0.01


def test_small_nystrom_layers_are_the_first_features_of_large_ones(X):
    assert_allclose(nystrom(X, 6)(X), nystrom(X, 12)(X)[:, :6], atol=1e-12)


def test_folding_moves_the_whitening_into_the_coefficients(X):
    layer, coef = nystrom(X), np.arange(1.0, 7.0)[:, None]
    assert_allclose(layer.units(X)[:, :6] @ layer.fold(coef), layer(X)[:, :6] @ coef, rtol=1e-8)


def test_coefficients_of_units_next_to_zero_are_refused(X):
    layer = NystromLayer(1e-150 * X[:10], lambda x, z: x @ z, {})
    with pytest.raises(ValueError, match="so close to 0 that the units' coefficients overflow: scale the"):
        layer.fold(np.full((10, 1), 1e200))


def test_features_far_from_the_origin_still_factor(X):
    """Squared distances of rows around 1000 carry an error of 1e-10, more than the first floor."""
    features = nystrom(X + 1000, n_landmarks=30, gamma=0.1)(X + 1000)
    assert_allclose(features @ features.T, rbf_kernel(X, gamma=0.1), atol=1e-7)


def test_an_indefinite_kernel_is_refused(X):
    with pytest.raises(ValueError, match="'sigmoid' kernel .* not positive semi-definite"):
        NystromLayer.on(X[:10], "sigmoid", {"gamma": 5.0, "coef0": -3.0})


@pytest.mark.parametrize("numbers", [1, 2**25])
def test_rows_are_projected_by_coefficients_of_any_sizes_in_the_order_given(X, numbers, monkeypatch):
    """One by one too, as if all outputs were too many for the memory."""
    monkeypatch.setattr(layers, "OUTPUT_NUMBERS", numbers)
    layer = RandomLayer.draw(4, 7, "rbf", np.random.RandomState(1))
    rng = np.random.default_rng(0)
    coefs = [rng.standard_normal(shape) for shape in ((7, 1), (3, 2), (7, 3), (5, 1), (3, 1))]
    for found, coef in zip(project_rows(layer, X, coefs), coefs, strict=True):
        assert_allclose(found, layer(X)[:, : len(coef)] @ coef, rtol=1e-12)
