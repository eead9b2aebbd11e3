"""Least squares support vector machines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import recall_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import minmax_scale

from entrolearn import LSSVC


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X)[:200], y[:200]


def test_coefficients_solve_the_bordered_system(wdbc):
    X, y = wdbc
    machine = LSSVC(C=3.0, gamma=0.7, class_weight={0: 2.0, 1: 5.0}).fit(X, y)
    Q = np.diag(1 / np.array([2.0, 5.0])[y])
    A = np.block(
        [[np.zeros((1, 1)), np.ones((1, 200))], [np.ones((200, 1)), rbf_kernel(X, gamma=0.7) + Q / 3]]
    )
    expected = np.linalg.solve(A, np.r_[0, 2.0 * y - 1])
    assert_allclose(np.r_[machine.intercept_, machine.dual_coef_], expected, atol=1e-8)


def test_it_is_kernel_ridge_regression_after_removing_the_intercept(wdbc):
    X, y = wdbc
    machine = LSSVC(C=2.0, gamma=1.0).fit(X, y)
    ridge = KernelRidge(alpha=1 / 2.0, kernel="rbf", gamma=1.0).fit(X, 2.0 * y - 1 - machine.intercept_)
    assert_allclose(machine.decision_function(X), ridge.predict(X) + machine.intercept_, atol=1e-8)


def test_balance_helps_the_small_class(wdbc):
    """The paper's Q read to the letter would do the reverse (Q is the reciprocal of the weight)."""
    X, y = wdbc
    rows = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:8]])
    recall = {
        weight: recall_score(y, LSSVC(C=1.0, gamma=0.1, class_weight=weight).fit(X[rows], y[rows]).predict(X))
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


def test_more_classes_are_one_against_the_rest():
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    machine = LSSVC(C=10.0).fit(X, y)
    for c in range(3):
        alone = LSSVC(C=10.0).fit(X, y == c)
        assert_allclose(machine.decision_function(X)[:, c], alone.decision_function(X), atol=1e-8)
    assert_array_equal(machine.predict(X), machine.decision_function(X).argmax(axis=1))


def test_what_cannot_be_solved_is_refused(wdbc):
    X, y = wdbc
    with pytest.raises(ValueError, match=r"must be square, got shape \(200, 30\)"):
        LSSVC(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="'sigmoid' kernel matrix .* not positive definite at C=100"):
        LSSVC(kernel="sigmoid", gamma=3.0, coef0=-2.0, C=100.0).fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        LSSVC().fit(X[:5], np.ones(5))
