"""Least squares support vector machines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import recall_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import PolynomialFeatures, minmax_scale

from entrolearn import LSSVC, LSSVR
from entrolearn.kernels import kernel_matrix


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X)[:200], y[:200]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return minmax_scale(X)[:150], minmax_scale(y)[:150]


def test_coefficients_solve_the_bordered_system(wdbc):
    X, y = wdbc
    machine = LSSVC(alpha=1 / 3, gamma=0.7, class_weight={0: 2.0, 1: 5.0}).fit(X, y)
    Q = np.diag(1 / np.array([2.0, 5.0])[y])
    A = np.block(
        [[np.zeros((1, 1)), np.ones((1, 200))], [np.ones((200, 1)), rbf_kernel(X, gamma=0.7) + Q / 3]]
    )
    expected = np.linalg.solve(A, np.r_[0, 2.0 * y - 1])
    assert_allclose(np.r_[machine.intercept_, machine.dual_coef_[0]], expected, atol=1e-8)


def test_it_is_kernel_ridge_regression_after_removing_the_intercept(wdbc):
    X, y = wdbc
    machine = LSSVC(alpha=0.5, gamma=1.0).fit(X, y)
    ridge = KernelRidge(alpha=1 / 2.0, kernel="rbf", gamma=1.0).fit(X, 2.0 * y - 1 - machine.intercept_)
    assert_allclose(machine.decision_function(X), ridge.predict(X) + machine.intercept_, atol=1e-8)


def test_balance_helps_the_small_class(wdbc):
    """The paper's Q read to the letter would do the reverse (Q is the reciprocal of the weight)."""
    X, y = wdbc
    rows = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:8]])
    recall = {
        weight: recall_score(
            y, LSSVC(alpha=1.0, gamma=0.1, class_weight=weight).fit(X[rows], y[rows]).predict(X)
        )
        for weight in (None, "balanced")
    }
    assert recall["balanced"] > recall[None] + 0.1


@pytest.mark.parametrize("kernel", ["rbf", lambda a, b: float(RBF(2.0)(a[None], b[None])[0, 0])])
def test_a_precomputed_kernel_is_the_same_machine(wdbc, kernel):
    X, y = wdbc[0][:60], wdbc[1][:60]
    gamma = 1 / (2 * 2.0**2)  # of RBF(length_scale=2)
    direct = LSSVC(kernel=kernel, gamma=gamma).fit(X, y)
    precomputed = LSSVC(kernel="precomputed").fit(rbf_kernel(X, gamma=gamma), y)
    assert_allclose(
        direct.decision_function(X[:9]),
        precomputed.decision_function(rbf_kernel(X[:9], X, gamma=gamma)),
        atol=1e-9,
    )


@pytest.mark.parametrize("machine", [LSSVC(), LSSVR()])
def test_a_precomputed_kernel_keeps_no_rows_of_an_earlier_fit(wdbc, machine):
    X, y = wdbc[0][:20], wdbc[1][:20]
    machine.fit(X, y).set_params(kernel="precomputed").fit(X @ X.T, y)
    assert not hasattr(machine, "X_fit_")


def test_more_classes_are_one_against_the_rest():
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    machine = LSSVC(alpha=0.1).fit(X, y)
    for c in range(3):
        alone = LSSVC(alpha=0.1).fit(X, y == c)
        assert_allclose(machine.decision_function(X)[:, c], alone.decision_function(X), atol=1e-8)
    assert_array_equal(machine.predict(X), machine.decision_function(X).argmax(axis=1))


@pytest.mark.parametrize("kernel", ["rbf", "inverse_multiquadric", "linear"])
def test_regression_solves_the_bordered_system(diabetes, kernel):
    """Suykens: [[0, 1'], [1, K + alpha I]] [b; a] = [0; y], by a solver that knows no structure."""
    X, y = diabetes
    machine = LSSVR(alpha=1 / 3, kernel=kernel, gamma=0.7).fit(X, y)
    K = kernel_matrix(X, X, kernel, {"gamma": 0.7, "degree": 3, "coef0": 1})
    A = np.block([[np.zeros((1, 1)), np.ones((1, 150))], [np.ones((150, 1)), K + np.eye(150) / 3]])
    expected = np.linalg.solve(A, np.r_[0, y])
    assert_allclose(np.r_[machine.intercept_, machine.dual_coef_[0]], expected, atol=1e-9)
    assert_allclose(machine.predict(X), K @ expected[1:] + expected[0], atol=1e-9)


def test_regression_with_a_small_ridge_interpolates(diabetes):
    """K of different rows is positive definite: nothing but the penalty keeps it from the values."""
    X, y = diabetes
    ridges = (1.0, 1e-3, 1e-6, 1e-10)
    errors = [abs(LSSVR(alpha=a, gamma=30.0).fit(X, y).predict(X) - y).max() for a in ridges]
    assert errors[0] > 0.1
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-7


def test_regression_is_kernel_ridge_where_the_intercept_is_zero():
    """Rows and values that are odd under a reflection: by symmetry, and the solution is unique, b = 0."""
    half = np.random.default_rng(0).normal(size=(40, 3))
    X = np.vstack([half, -half])
    y = np.sin(X.sum(axis=1))
    machine = LSSVR(alpha=0.2, gamma=0.3).fit(X, y)
    ridge = KernelRidge(alpha=1 / 5.0, kernel="rbf", gamma=0.3).fit(X, y)
    assert machine.intercept_ == pytest.approx(0, abs=1e-12)
    assert_allclose(machine.predict(X + 0.1), ridge.predict(X + 0.1), atol=1e-10)


def test_regression_on_sparse_rows_and_on_a_precomputed_kernel_is_the_same(diabetes):
    X, y = diabetes
    X = np.where(X > 0.5, X, 0)
    expected = LSSVR(gamma=0.5).fit(X, y).predict(X)
    assert_allclose(LSSVR(gamma=0.5).fit(csr_array(X), y).predict(csr_array(X)), expected, atol=1e-9)
    gram = rbf_kernel(X, gamma=0.5)
    assert_allclose(LSSVR(kernel="precomputed").fit(gram, y).predict(gram), expected, atol=1e-9)
    assert_allclose(LSSVR(kernel="precomputed").fit(csr_array(gram), y).predict(gram), expected, atol=1e-9)


def test_with_a_large_ridge_the_mean_is_left(diabetes):
    X, y = diabetes
    for alpha in (1e20, 1e150, 1e300):
        assert_allclose(LSSVR(alpha=alpha).fit(X, y).predict(X), y.mean())


def test_memory_that_is_not_there_is_refused_before_anything_is_computed(diabetes, monkeypatch):
    monkeypatch.setattr("entrolearn.kernels.physical_memory", lambda: 1000.0)
    with pytest.raises(MemoryError, match="150 x 150 rows"):
        LSSVR().fit(*diabetes)
    with pytest.raises(MemoryError, match="a copy of the kernel matrix of 150 x 150 rows"):
        LSSVR(kernel="precomputed").fit(np.eye(150), diabetes[1])


def test_a_precomputed_kernel_that_is_not_symmetric_is_refused(wdbc):
    gram = rbf_kernel(wdbc[0])
    gram[3, 7] += 0.1
    with pytest.raises(ValueError, match=r"must be symmetric; .* row 3, column 7, and .* row 7, column 3"):
        LSSVC(kernel="precomputed").fit(gram, wdbc[1])


@pytest.mark.parametrize("class_weight", [None, {0: 2.0, 1: 5.0}])
def test_an_indefinite_kernel_solves_the_bordered_system_all_the_same(wdbc, class_weight):
    (X, y), weights = wdbc, np.array([2.0, 5.0])[wdbc[1]] if class_weight else 1.0
    machine = LSSVC(
        alpha=0.01, kernel="sigmoid", gamma=3.0, kernel_params={"coef0": -2.0}, class_weight=class_weight
    ).fit(X, y)
    K = kernel_matrix(X, X, "sigmoid", {"gamma": 3.0, "coef0": -2.0})
    assert np.linalg.eigvalsh(K).min() < -0.01
    assert machine.solver_info_ == {"method": "eigh"}
    system = K + np.eye(200) / (100 * weights)
    A = np.block([[np.zeros((1, 1)), np.ones((1, 200))], [np.ones((200, 1)), system]])
    expected = np.linalg.solve(A, np.r_[0, 2.0 * y - 1])
    assert_allclose(
        np.r_[machine.intercept_, machine.dual_coef_[0]], expected, atol=1e-8 * abs(expected).max()
    )


def test_kernel_values_beside_which_the_ridge_is_rounding_leave_the_projection_of_the_targets():
    """Quadratic values of 1e26 have rank 15; beside them 1 / C = .5 is nothing: least squares."""
    rng = np.random.default_rng(0)
    X, y = 1e6 * rng.normal(size=(40, 5)), rng.normal(size=40)
    machine = LSSVR(alpha=0.5, kernel="poly", kernel_params={"degree": 2, "coef0": 0.0}, gamma=1.0).fit(X, y)
    assert machine.solver_info_ == {"method": "eigh"}
    squares = PolynomialFeatures(2).fit_transform(X / 1e6)[:, [0, *range(6, 21)]]  # homogeneous, and 1
    expected = squares @ np.linalg.lstsq(squares, y, rcond=None)[0]
    assert_allclose(machine.predict(X), expected, atol=1e-6)
