"""Kernel functions against their definitions, scikit-learn's twins and laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array
from sklearn.metrics.pairwise import pairwise_kernels

from entrolearn import kernels
from entrolearn.kernels import INNER, KERNELS, RADIAL, inner_products, kernel_matrix, kernel_params

PARAMS = {"gamma": 0.7, "degree": 3, "coef0": 0.5}

# k(x, z), section 4.3 and footnotes of the RKELM paper with sigma = 1 / gamma
NAIVE = {
    "gaussian": lambda x, z: np.exp(-0.7 * np.sum((x - z) ** 2)),
    "rbf": lambda x, z: np.exp(-np.sum((x - z) ** 2) / (1 / 0.7)),
    "inverse_multiquadric": lambda x, z: 1 / np.sqrt(1 + 0.7 * np.sum((x - z) ** 2)),
    "rational_quadratic": lambda x, z: 1 - np.sum((x - z) ** 2) / (np.sum((x - z) ** 2) + 1 / 0.7),
    "wave": lambda x, z: np.sin(r) / r if (r := np.sqrt(0.7 * np.sum((x - z) ** 2))) else 1.0,
    "linear": lambda x, z: x @ z,
    "polynomial": lambda x, z: (0.7 * x @ z + 0.5) ** 3,
    "poly": lambda x, z: (0.7 * x @ z + 0.5) ** 3,
    "sigmoid": lambda x, z: np.tanh(0.7 * x @ z + 0.5),
}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(-1, 1, size=(12, 4)), rng.uniform(-1, 1, size=(7, 4))
    Y[0] = X[0]
    return X, Y


@pytest.mark.parametrize("kernel", [*RADIAL, *INNER])
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_values_are_as_defined(rows, kernel, container):
    X, Y = rows
    expected = [[NAIVE[kernel](x, z) for z in Y] for x in X]
    assert_allclose(kernel_matrix(container(X), container(Y), kernel, PARAMS), expected, atol=1e-7)


@pytest.mark.parametrize("kernel", sorted(KERNELS - set(NAIVE) | {"rbf", "poly", "sigmoid", "linear"}))
def test_values_are_scikit_learns(rows, kernel):
    X, Y = (abs(some) for some in rows)  # chi2 is of nonnegative features
    expected = pairwise_kernels(X, Y, metric=kernel, filter_params=True, **PARAMS)
    assert_allclose(kernel_matrix(X, Y, kernel, PARAMS), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", sorted(RADIAL))
def test_each_column_may_have_a_gamma_of_its_own(rows, kernel):
    X, Y = rows
    gamma = np.linspace(0.1, 2, len(Y))
    together = kernel_matrix(X, Y, kernel, {"gamma": gamma})
    for column, g, y in zip(together.T, gamma, Y, strict=True):
        assert_allclose(column, kernel_matrix(X, y[None], kernel, {"gamma": g})[:, 0], atol=1e-12)


@pytest.mark.parametrize("kernel", [*RADIAL, *INNER, "laplacian"])
def test_an_array_to_fill_gets_the_values(rows, kernel):
    X, Y = rows
    out = np.full((len(X), len(Y)), np.nan)
    assert kernel_matrix(X, Y, kernel, PARAMS, out) is out
    assert_array_equal(out, kernel_matrix(X, Y, kernel, PARAMS))


@pytest.mark.parametrize("kernel", sorted(RADIAL))
def test_a_row_has_the_value_one_with_itself(rows, kernel):
    """Also far from the origin, where rounding makes the distance of a row from itself 1e-4."""
    X = rows[0] + 1e6
    assert_array_equal(np.diag(kernel_matrix(X, X, kernel, PARAMS)), 1.0)


@pytest.mark.parametrize("kernel", ["gaussian", "inverse_multiquadric", "rational_quadratic"])
def test_mercer_kernels_have_positive_definite_matrices(rows, kernel):
    assert np.linalg.eigvalsh(kernel_matrix(rows[0], rows[0], kernel, PARAMS)).min() > 0


def test_the_sigmoid_kernel_is_not_positive_definite(rows):
    params = {"gamma": 1.0, "coef0": -2.0, "degree": 1}
    assert np.linalg.eigvalsh(kernel_matrix(rows[0], rows[0], "sigmoid", params)).min() < -0.1


def test_a_callable_gets_two_rows(rows):
    X, Y = rows
    assert_allclose(kernel_matrix(X, Y, lambda x, z: x @ z, {}), X @ Y.T)


@pytest.mark.parametrize("density", [0.02, 0.5])  # sparse products, and blocks of dense rows
@pytest.mark.parametrize("block", [2**24, 90])
def test_inner_products_are_the_same_however_they_are_computed(monkeypatch, density, block):
    monkeypatch.setattr(kernels, "BLOCK", block)
    rng = np.random.default_rng(0)
    X, Y = (
        random_array((n, 40), density=density, format="csr", rng=rng, data_sampler=rng.normal)
        for n in (20, 8)
    )
    for left in (X, X.toarray()):
        for right in (Y, Y.toarray()):
            assert_allclose(inner_products(left, right), X.toarray() @ Y.toarray().T, atol=1e-12)


def test_a_matrix_that_no_memory_holds_is_refused_before_it_is_computed(monkeypatch, rows):
    monkeypatch.setattr(kernels, "physical_memory", lambda: 12 * 7 * 8 - 1)
    X, Y = rows
    with pytest.raises(MemoryError, match=r"12 x 7 rows takes .* GiB, more than the .* GiB of this machine"):
        kernel_matrix(X, Y, "rbf", PARAMS)


@pytest.mark.parametrize("container", [np.asarray, csr_array])
@pytest.mark.parametrize("numbers", [20, 2**16])  # five rows a block; all rows
def test_gamma_scale_is_scikit_learns(rows, container, numbers, monkeypatch):
    monkeypatch.setattr(kernels, "CACHED_NUMBERS", numbers)
    X = np.where(rows[0] > 0.5, rows[0], 0)
    gamma = kernel_params(container(X), "rbf", "scale", 3, 1)["gamma"]
    assert_allclose(gamma, 1 / (4 * X.var()))  # sklearn.svm.SVC's definition
    assert kernel_params(container(X), "rbf", "auto", 3, 1)["gamma"] == 0.25
