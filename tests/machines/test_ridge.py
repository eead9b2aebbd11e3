"""Normal equations and leave-one-out: laws and naive twins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from entrolearn.machines import ridge
from entrolearn.machines.ridge import (
    CHOLESKY_UP_TO,
    NormalEquations,
    Spectrum,
    cholesky_solve,
    equations_of_parts,
    leave_one_out_errors,
    normal_equations,
    ridge_candidates,
)
from entrolearn.path import Partition


def layer(X, out=None):
    return np.tanh(X @ np.linspace(-1, 1, 18).reshape(3, 6), out=out)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)), rng.normal(size=(60, 2))


def naive(H, T, C):
    """Eq. (10) of the RKELM paper."""
    return np.linalg.inv(C * np.eye(H.shape[1]) + H.T @ H) @ H.T @ T


@pytest.mark.parametrize("numbers", [6 * 7, 2**18])  # seven rows a block; all rows at once
def test_solutions_are_the_ridge_formula_block_by_block(data, monkeypatch, numbers):
    monkeypatch.setattr(ridge, "BLOCK_NUMBERS", numbers)
    monkeypatch.setattr(ridge, "THREADED_ROWS", 1)
    X, T = data
    equations = normal_equations(layer, X, T)
    assert equations.n == 60
    coef, method = equations.solve(0.3)
    assert method == "cholesky"
    assert_allclose(coef, naive(layer(X), T, 0.3), rtol=1e-9)


@pytest.mark.parametrize(("threads", "blocks"), [(1, [1310, 1310, 1310, 1070]), (2, [2048, 2048, 904])])
def test_several_threads_get_larger_blocks(threads, blocks):
    rng = np.random.default_rng(0)
    X, T, weights = rng.normal(size=(5000, 3)), rng.normal(size=(5000, 2)), rng.normal(size=(3, 200))
    sizes = []

    def units(X, out=None):
        sizes.append(len(X))
        return np.tanh(X @ weights, out=out)

    with threadpool_limits(threads, user_api="blas"):
        found, _ = normal_equations(units, X, T).solve(0.1)
    assert sizes[1:] == blocks  # the first call counts the units
    H = np.tanh(X @ weights)
    assert_allclose(found, np.linalg.solve(H.T @ H + 0.1 * np.eye(200), H.T @ T), atol=1e-9)


@pytest.mark.parametrize("numbers", [6 * 7, 2**18])
def test_an_intercept_is_that_of_ridge_regression(data, monkeypatch, numbers):
    monkeypatch.setattr(ridge, "BLOCK_NUMBERS", numbers)
    monkeypatch.setattr(ridge, "THREADED_ROWS", 1)
    X, T = data
    T = T + [1e4, -3.0]
    equations = normal_equations(layer, X, T, intercept=True)
    for C in (0.0, 0.3, 50.0):
        coef, _ = equations.solve(C)
        twin = Ridge(C).fit(layer(X), T)
        assert_allclose(coef.T, twin.coef_, rtol=1e-7)
        assert_allclose(equations.intercept(coef), twin.intercept_, rtol=1e-8)
        leading = equations.restrict(4)
        coef, _ = leading.solve(C)
        assert_allclose(leading.intercept(coef), Ridge(C).fit(layer(X)[:, :4], T).intercept_, rtol=1e-8)


def test_decay_leaves_a_weight_of_which_the_solution_can_be_computed(data):
    X, T = data
    equations = normal_equations(layer, X, T, intercept=True)
    coef, _ = equations.solve(0.0)
    intercept = equations.intercept(coef)
    for _ in range(50):  # 1e-500 is zero
        equations *= 1e-10
    assert equations.n == pytest.approx(1e-100)
    assert_allclose(equations.solve(0.0)[0], coef, rtol=1e-6)
    assert_allclose(equations.intercept(coef), intercept, rtol=1e-10)


def test_equations_of_other_shifts_do_not_combine(data):
    X, T = data
    with_shifts, others = (normal_equations(layer, X[rows], T[rows], intercept=True) for rows in ([0], [1]))
    for other in (others, normal_equations(layer, X, T)):
        with pytest.raises(ValueError, match="with the same shifts"):
            with_shifts + other


def test_equations_of_disjoint_rows_add_and_subtract(data):
    X, T = data
    whole = normal_equations(layer, X, T)
    some, others = (normal_equations(layer, X[rows], T[rows]) for rows in np.split(np.arange(60), [25]))
    for sum_of_two in (some + others, NormalEquations(6, 2).update(layer(X), T)):
        assert sum_of_two.n == 60
        assert_allclose(sum_of_two.solve(0.1)[0], whole.solve(0.1)[0], rtol=1e-9)
    assert_allclose((whole - some).solve(0.1)[0], others.solve(0.1)[0], rtol=1e-8)
    before = whole.solve(0.1)[0]
    kept = whole
    kept += some
    kept -= some
    assert_allclose(kept.solve(0.1)[0], before, rtol=1e-8)


def test_restriction_commutes_with_the_sums(data):
    X, T = data
    H = layer(X)
    assert_allclose(
        normal_equations(layer, X, T).restrict(4).solve(0.2)[0], naive(H[:, :4], T, 0.2), rtol=1e-9
    )


def test_equations_of_other_sizes_do_not_combine():
    with pytest.raises(ValueError, match=r"\(6, 2\).* \(5, 2\), cannot be combined"):
        NormalEquations(6, 2) + NormalEquations(5, 2)


@pytest.mark.parametrize("n", [3, CHOLESKY_UP_TO + 1])
def test_few_ridges_and_many_have_the_same_solutions(data, n):
    X, T = data
    equations = normal_equations(layer, X, T)
    ridges = np.logspace(-8, 3, n)
    for C, coef in zip(ridges, equations.solve_each(ridges), strict=True):
        assert_allclose(coef, naive(layer(X), T, C), rtol=1e-6, atol=1e-9)


def test_without_a_ridge_dependent_units_have_the_solution_of_least_norm(data):
    H, T = layer(data[0]), data[1]
    H = np.hstack([H, H[:, :3]])
    coef, method = NormalEquations(9, 2).update(H, T).solve(0.0)
    assert method == "eigh"
    assert_allclose(coef, np.linalg.pinv(H) @ T, rtol=1e-5, atol=1e-7)


def test_fewer_rows_than_units_are_interpolated_with_least_norm():
    rng = np.random.default_rng(0)
    H, T = rng.normal(size=(4, 9)), rng.normal(size=(4, 1))
    assert_allclose(NormalEquations(9, 1).update(H, T).solve(0.0)[0], np.linalg.pinv(H) @ T, atol=1e-9)


def test_an_indefinite_matrix_has_no_cholesky_solution_but_a_spectral_one():
    rng = np.random.default_rng(0)
    matrix, right = rng.normal(size=(7, 7)), rng.normal(size=(7, 2))
    matrix = matrix + matrix.T
    assert cholesky_solve(np.array(matrix, order="F"), right, 0.1) is None
    expected = np.linalg.solve(matrix + 0.1 * np.eye(7), right)
    assert_allclose(Spectrum.of(np.array(matrix, order="F")).solve(right, 0.1), expected, rtol=1e-8)


PARTITIONS = [
    Partition.cross_validation(np.arange(60) % 4, nested=True),
    Partition(np.arange(60) % 5, ((0,), (0, 1))),  # a trial with one inner part; 2, 3 and 4 stay together
    Partition(np.arange(60) % 5, ((0,), (0, 1), (0, 2), (0, 3), (0, 4))),
    Partition.whole(60),
]


@pytest.mark.parametrize("partition", PARTITIONS)
def test_training_sets_are_sums_of_parts(data, partition):
    X, T = data
    for intercept in (False, True):
        parts = equations_of_parts(layer, X, T, partition, partition.left_out, intercept=intercept)
        for left_out in partition.left_out:
            rows = partition.training(left_out)
            (training,) = parts.without(left_out)
            assert training.n == len(rows)
            coef, _ = training.solve(0.1)
            twin = Ridge(0.1, fit_intercept=intercept).fit(layer(X[rows]), T[rows])
            assert_allclose(coef, twin.coef_.T, rtol=1e-8)
            assert_allclose(training.intercept(coef), twin.intercept_, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_rows_that_no_training_set_holds_are_not_evaluated(data, intercept):
    X, T = data
    partition = PARTITIONS[1]  # which leaves part 0 out of every training set
    spoilt = X.copy()
    spoilt[::5] = np.nan
    clean, found = (
        equations_of_parts(layer, rows, T, partition, partition.left_out, intercept=intercept)
        for rows in (X, spoilt)
    )
    for out in partition.left_out:
        assert_array_equal(found.without(out)[0].solve(0.1)[0], clean.without(out)[0].solve(0.1)[0])


def test_parts_that_outweigh_the_rest_leave_its_digits(data):
    """Their equations are not subtracted: scikit-learn's coefficients of the rows of the other parts."""
    X, T = data
    H = layer(X)
    H[-1] *= 1e9
    partition = Partition.cross_validation(np.arange(60) // 15)
    parts = equations_of_parts(lambda rows, out=None: rows.copy(), H, T, partition, partition.left_out)
    rows = partition.training((3,))
    coef, _ = parts.without((3,))[0].solve(0.1)
    assert_allclose(coef, Ridge(0.1, fit_intercept=False).fit(H[rows], T[rows]).coef_.T, rtol=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("numbers", [6 * 7, 2**18])
def test_leave_one_out_errors_are_those_of_refitting(data, monkeypatch, numbers, intercept):
    monkeypatch.setattr(ridge, "BLOCK_NUMBERS", numbers)
    monkeypatch.setattr(ridge, "THREADED_ROWS", 1)
    X, T = data
    H, T = layer(X), T + 5
    ridges = [1e-3, 0.5, 20.0]
    equations = normal_equations(layer, X, T, intercept=intercept)
    errors, _ = leave_one_out_errors(layer, X, T, equations, ridges)
    for C, error in zip(ridges, errors, strict=True):
        rest = [np.delete(np.arange(60), i) for i in range(60)]
        twin = Ridge(C, fit_intercept=intercept)
        left = [T[i] - twin.fit(H[rows], T[rows]).predict(H[[i]])[0] for i, rows in enumerate(rest)]
        assert_allclose(error, np.mean(np.square(left)), rtol=1e-8)


def test_one_number_is_no_choice_and_several_are():
    assert ridge_candidates(0.5) is None
    assert_array_equal(ridge_candidates((1, 2.5)), [1.0, 2.5])
    for wrong in ([], [1.0, -1.0], [np.nan], [[1.0]], ["a"]):
        with pytest.raises(
            ValueError, match="alpha must be a number or a sequence of numbers, none negative"
        ):
            ridge_candidates(wrong)
