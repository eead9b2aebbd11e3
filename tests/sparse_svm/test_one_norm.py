"""One-norm machines as estimators: what they keep, what they say, what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import scale

from entrolearn import CrossEntropySVC, CrossEntropySVR, OneNormSVC, OneNormSVR

CLASSIFIERS = [OneNormSVC, CrossEntropySVC]


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:120], np.where(y[:120] == 1, "benign", "malign")


@pytest.fixture(scope="module")
def values():
    X, y = load_diabetes(return_X_y=True)
    return scale(X[:80]), scale(y[:80])


def test_the_output_is_the_expansion_in_the_support_vectors(wdbc):
    X, y = wdbc
    machine = OneNormSVC(gamma=0.05).fit(X, y)
    expected = rbf_kernel(X, X[machine.support_], gamma=0.05) @ machine.dual_coef_[0] + machine.intercept_
    assert_allclose(machine.decision_function(X), expected, atol=1e-12)
    assert_array_equal(machine.predict(X), np.where(expected > 0, "malign", "benign"))
    signs = np.where(y == "malign", 1, -1)
    assert (machine.dual_coef_[0] * signs[machine.support_] > 0).all()
    assert_array_equal(
        machine.n_support_, [np.sum(signs[machine.support_] < 0), np.sum(signs[machine.support_] > 0)]
    )
    hinge = np.maximum(1 - signs * expected, 0).sum()
    assert machine.objective_ == pytest.approx(np.abs(machine.dual_coef_).sum() + hinge, abs=1e-4)


def test_regression_is_the_expansion_in_the_support_vectors(values):
    X, y = values
    machine = OneNormSVR(C=2.0, gamma=0.05, epsilon=0.2).fit(X, y)
    expected = rbf_kernel(X, X[machine.support_], gamma=0.05) @ machine.dual_coef_[0] + machine.intercept_
    assert_allclose(machine.predict(X), expected, atol=1e-12)
    losses = np.maximum(np.abs(y - expected) - 0.2, 0).sum()
    assert machine.objective_ == pytest.approx(np.abs(machine.dual_coef_).sum() + 2 * losses, abs=1e-4)
    assert np.abs(machine.dual_coef_).max() <= 2.0


def test_a_wide_enough_tube_needs_no_machine(values):
    X, y = values
    machine = OneNormSVR(epsilon=np.ptp(y) / 2 + 0.01).fit(X, y)
    assert len(machine.support_) == 0
    assert machine.objective_ == pytest.approx(0, abs=1e-9)
    assert np.ptp(machine.predict(X)) == 0
    assert abs(y - machine.predict(X)[0]).max() <= np.ptp(y) / 2 + 0.01 + 1e-9


def test_a_linear_machine_keeps_no_more_rows_than_features():
    """A vertex has no more coefficients than the kernel matrix has rank, and the intercept."""
    X, y = make_moons(150, noise=0.2, random_state=0)
    assert len(OneNormSVC(C=5.0, kernel="linear").fit(X, y).support_) <= 3


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize("kernel", ["precomputed", lambda a, b: float(np.exp(-0.05 * np.sum((a - b) ** 2)))])
def test_every_way_to_give_a_kernel_is_the_same_machine(wdbc, estimator, kernel):
    X, y = wdbc[0][:50], wdbc[1][:50]
    seed = {"random_state": 0} if estimator is CrossEntropySVC else {}
    direct = estimator(gamma=0.05, **seed).fit(X, y)
    given = (lambda A: rbf_kernel(A, X, gamma=0.05)) if kernel == "precomputed" else (lambda A: A)
    other = estimator(kernel=kernel, **seed).fit(given(X), y)
    assert_array_equal(other.support_, direct.support_)
    assert_allclose(other.decision_function(given(X[:9])), direct.decision_function(X[:9]), atol=1e-6)


def test_more_classes_are_scikit_learns_business():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(
        ValueError, match=r"multiclass: it has 3 classes.*OneVsRestClassifier\(OneNormSVC\(\)\)"
    ):
        OneNormSVC().fit(X, y)
    machines = OneVsRestClassifier(OneNormSVC(C=10.0)).fit(X[::2], y[::2])
    assert machines.score(X[1::2], y[1::2]) > 0.93


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_what_is_no_problem_of_two_classes_is_refused(wdbc, estimator):
    X, y = wdbc
    with pytest.raises(ValueError, match="needs samples of at least two classes.* one class: 'benign'"):
        estimator().fit(X, np.full(len(X), "benign"))
    with pytest.raises(ValueError, match=r"must be symmetric; .* row 0, column 1, and .* row 1, column 0"):
        estimator(kernel="precomputed").fit(np.triu(np.ones((120, 120))), y)
    with pytest.raises(ValueError, match="contains NaN"):
        estimator(kernel="precomputed").fit(np.full((120, 120), np.nan), y)


def test_a_kernel_that_is_not_finite_is_named_with_its_rows(wdbc):
    X, y = wdbc
    with pytest.raises(ValueError, match="kernel 'poly' gives inf for rows 0 and 0.* scale the features"):
        OneNormSVC(kernel="poly", kernel_params={"degree": 400}, gamma=1.0).fit(100 * X, y)
    with pytest.raises(ValueError, match="gives nan for rows 0 and 0"):
        OneNormSVC(kernel=lambda a, b: np.nan).fit(X, y)


@pytest.mark.parametrize(("estimator", "conditions"), [(OneNormSVC, 80), (CrossEntropySVR, 160)])
def test_too_many_rows_for_the_memory_are_refused_before_the_kernel(
    values, monkeypatch, estimator, conditions
):
    X, y = values
    monkeypatch.setattr("entrolearn.kernels.physical_memory", lambda: 1e5)
    monkeypatch.setattr("entrolearn.sparse_svm.base.kernel_matrix", None)  # not to be called
    with pytest.raises(MemoryError, match=f"linear program of {conditions} conditions on 80 candidate"):
        estimator().fit(X, y > 0 if estimator is OneNormSVC else y)
