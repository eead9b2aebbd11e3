"""Weighted extreme learning machines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import Ridge
from sklearn.preprocessing import minmax_scale

from entrolearn import WELMClassifier


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X), y


def test_output_weights_are_section_2_1(wdbc):
    """beta = (B H)^+ B T with B the root of the inverse class size."""
    X, y = wdbc
    machine = WELMClassifier(15, random_state=0).fit(X, y)
    H, T = machine._layer(X), 2.0 * y - 1
    B = 1 / np.sqrt(np.bincount(y)[y])
    assert_allclose(machine.hidden_coef_, np.linalg.pinv(B[:, None] * H) @ (B * T), rtol=1e-5)


def test_both_solvers_agree_where_the_problem_is_well_posed(wdbc):
    X, y = wdbc
    pinv, cholesky = (
        WELMClassifier(10, solver=solver, random_state=0).fit(X, y) for solver in ("pinv", "cholesky")
    )
    assert cholesky.solver_info_["method"] == "cholesky"
    assert_allclose(pinv.decision_function(X), cholesky.decision_function(X), atol=1e-4)


def test_a_ridge_is_scikit_learns_ridge(wdbc):
    X, y = wdbc
    machine = WELMClassifier(20, solver="cholesky", alpha=0.2, class_weight={0: 2.0, 1: 3.0}, random_state=0)
    machine.fit(X, y)
    ridge = Ridge(alpha=0.2, fit_intercept=False)
    ridge.fit(machine._layer(X), 2.0 * y - 1, sample_weight=np.array([2.0, 3.0])[y])
    assert_allclose(machine.hidden_coef_, ridge.coef_, rtol=1e-4)


def test_balance_is_repetition(wdbc):
    """Weights in inverse proportion to class sizes do what repeating the smaller class would."""
    X, y = wdbc[0][:150], np.repeat([0, 1], [100, 50])
    repeated = np.concatenate([np.arange(150), np.arange(100, 150)])
    balanced = WELMClassifier(10, random_state=0).fit(X, y).decision_function(X)
    plain = WELMClassifier(10, class_weight=None, random_state=0).fit(X[repeated], y[repeated])
    assert_allclose(balanced, plain.decision_function(X), atol=1e-5)


def test_three_classes_have_one_output_each():
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    machine = WELMClassifier(20, random_state=0).fit(X[::2], y[::2])
    assert machine.decision_function(X).shape == (len(X), 3)
    assert machine.score(X[1::2], y[1::2]) > 0.9


def test_a_singular_gram_matrix_is_solved_by_its_pseudoinverse():
    """The layer of 10 units has rank 9 on 9 different rows; rounding can leave a positive last pivot."""
    X = np.tile([[i, j] for i in range(3) for j in range(3)], (6, 1)).astype(float)
    for seed in range(10):
        y = (X[:, 0] + 0.7 * np.random.default_rng(seed).normal(size=54) > 1).astype(int)
        machine = WELMClassifier(10, solver="cholesky", random_state=seed).fit(X, y)
        assert machine.solver_info_["method"] == "pinvh"


@pytest.mark.parametrize("n_rows", [9, 1000])
def test_the_ridges_of_the_study_are_solved_by_cholesky(n_rows):
    """Of today.yaml: at most 1,000 rows and 250 units, C from 1e-8."""
    X = np.random.default_rng(0).uniform(size=(n_rows, 2)).repeat(1000 // n_rows, axis=0)
    machine = WELMClassifier(250, solver="cholesky", alpha=1e-8, bounds=None, random_state=0)
    assert machine.fit(X, X[:, 0] > 0.5).solver_info_["method"] == "cholesky"


def test_sums_that_overflow_are_refused(wdbc):
    machine = WELMClassifier(5, activation=lambda a: 1e200 * np.tanh(a), solver="cholesky", random_state=0)
    with pytest.raises(ValueError, match="squares overflow: scale the features"):
        machine.fit(*wdbc)
