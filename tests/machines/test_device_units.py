"""Units and kernels in other libraries' arrays are those of NumPy's."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from entrolearn.kernels import ON_DEVICES, RADIAL, kernel_matrix
from entrolearn.machines.devices import mean_and_variance
from entrolearn.machines.layers import ACTIVATIONS, LandmarkLayer, NystromLayer, RandomLayer, project_rows

rng = np.random.default_rng(0)
X, Y = rng.random((40, 6)), rng.random((9, 6))
PARAMS = {"gamma": 0.7, "degree": 3, "coef0": 1.0}


@pytest.mark.parametrize("kernel", sorted(ON_DEVICES))
def test_kernel_is_numpys(place, kernel):
    found = place.numbers(kernel_matrix(place(X), place(Y), kernel, PARAMS))
    assert_allclose(found, kernel_matrix(X, Y, kernel, PARAMS), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", sorted(RADIAL))
def test_row_is_at_no_distance_from_itself(place, kernel):
    there = place(X + 1e4)  # far from the origin
    found = place.numbers(kernel_matrix(there, there, kernel, PARAMS))
    assert_allclose(np.diag(found), 1.0, rtol=0)
    assert_allclose(found, kernel_matrix(X, X, kernel, PARAMS), atol=1e-9)


@pytest.mark.parametrize("kernel", sorted(RADIAL))
def test_groups_far_apart_keep_their_distances(place, kernel):
    rows = X + 1e8 * (np.arange(40)[:, None] % 2)
    params = {**PARAMS, "gamma": rng.random(40)}
    found = kernel_matrix(place(rows), place(rows), kernel, {**params, "gamma": place(params["gamma"])})
    assert_allclose(place.numbers(found), kernel_matrix(rows, rows, kernel, params), rtol=0, atol=1e-10)


def test_each_landmark_may_have_a_width(place):
    params = {"gamma": rng.random(9), "degree": 3, "coef0": 1.0}
    there = {**params, "gamma": place(params["gamma"])}
    found = place.numbers(LandmarkLayer(place(Y), "rbf", there)(place(X)))
    assert_allclose(found, kernel_matrix(X, Y, "rbf", params), rtol=1e-12)


def test_kernel_that_overflows_is_told(place):
    with pytest.raises(ValueError, match="must be finite"):
        kernel_matrix(place(1e60 * X), place(Y), "poly", {**PARAMS, "degree": 10})


@pytest.mark.parametrize("below_one", [False, True])
@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_units_are_numpys(place, activation, below_one):
    layer = RandomLayer.draw(6, 15, activation, np.random.RandomState(0), below_one=below_one)
    found = place.numbers(layer.beside(place(X))(place(X)))
    assert_allclose(found, layer(X), rtol=1e-12, atol=1e-15)


def test_saturated_units_keep_their_digits_below_one(place):
    layer = RandomLayer(np.array([[60.0]]), np.zeros(1), "sigmoid", below_one=True)
    found = float(layer.beside(place([[1.0]]))(place([[1.0]]))[0, 0])
    assert found == pytest.approx(-np.exp(-60), rel=1e-12)


def test_units_are_zero_where_the_exponential_overflows(place):
    layer = RandomLayer(np.array([[-1e3]]), np.zeros(1), "sigmoid")
    assert float(layer.beside(place([[1.0]]))(place([[1.0]]))[0, 0]) == 0


def test_callable_gets_an_array_of_the_library(place):
    asked = []

    def twice(Z):
        asked.append(type(Z))
        return 2 * Z

    layer = RandomLayer.draw(6, 5, twice, np.random.RandomState(0)).beside(place(X))
    assert_allclose(
        place.numbers(layer(place(X))),
        2 * (X @ place.numbers(layer.weights).T - place.numbers(layer.biases)),
        rtol=1e-12,
    )
    assert asked == [type(place(X))]


def test_callable_that_gives_something_else_is_told(place):
    layer = RandomLayer.draw(6, 5, lambda Z: Z[:, :2], np.random.RandomState(0)).beside(place(X))
    with pytest.raises(ValueError, match=r"gives shape \(40, 2\); it must give finite numbers"):
        layer(place(X))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_nystrom_features_and_their_folded_coefficients_are_numpys(place, kernel):
    numpys, theirs = NystromLayer.on(Y[:5], kernel, PARAMS), NystromLayer.on(place(Y[:5]), kernel, PARAMS)
    assert_allclose(place.numbers(theirs(place(X))), numpys(X), rtol=1e-7, atol=1e-8)
    coef = rng.normal(size=(5, 2))
    folded = theirs.fold(place(coef))
    (projected,) = project_rows(replace(theirs), place(X), [folded])
    assert_allclose(place.numbers(projected), numpys(X) @ coef, rtol=1e-6, atol=1e-7)


def test_nystrom_layer_needs_a_mercer_kernel(place):
    with pytest.raises(ValueError, match="needs a Mercer kernel"):
        NystromLayer.on(place(10 * Y - 5), "sigmoid", {**PARAMS, "coef0": -1.0})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_spread_of_numbers_is_computed_in_double_precision(place, dtype):
    far = (X + 1e3).astype(dtype)
    mean, variance = mean_and_variance(place(far))
    assert mean == pytest.approx(far.mean(dtype=np.float64), rel=1e-12)
    assert variance == pytest.approx(far.var(dtype=np.float64), rel=1e-6)
