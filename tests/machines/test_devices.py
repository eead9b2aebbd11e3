"""Linear algebra on other libraries' arrays gives what NumPy, LAPACK and BLAS give."""

import array_api_strict
import numpy as np
import pytest
from array_api_strict import Device
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg.blas import dsyrk, ssyrk

from entrolearn.machines import ClassMoments, devices
from entrolearn.machines.moments import moments_by_group
from entrolearn.machines.ridge import NormalEquations, cholesky_solve

rng = np.random.default_rng(0)
H = rng.normal(size=(300, 12)) + 3
ROOT = rng.normal(size=(15, 12))
MATRIX = ROOT.T @ ROOT  # positive definite


@pytest.fixture(params=["numpy", "elsewhere"])
def put(request, place):
    return place if request.param == "elsewhere" else np.array


def test_solutions_are_those_of_numpy(put):
    right = rng.normal(size=(12, 3))
    found = devices.solve_cholesky(devices.cholesky(put(np.tril(MATRIX))), put(right))
    assert_allclose(devices.to_numpy(found), np.linalg.solve(MATRIX, right), rtol=1e-9)


def test_indefinite_matrix_has_no_factor(put):
    assert devices.cholesky(put(np.diag([1.0, -1.0]))) is None


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("n", [1, 7, 12])
def test_triangles_are_solved_by_halves(place, monkeypatch, n, transposed):
    monkeypatch.setattr(devices, "SUBSTITUTED", 2)  # of twelve rows, three levels
    lower = np.tril(MATRIX)[:n, :n]
    right = rng.normal(size=(n, 2))
    found = place.numbers(devices.solve_lower(place(lower), place(right), transposed))
    assert_allclose(found, np.linalg.solve(lower.T if transposed else lower, right), rtol=1e-9)


@pytest.mark.parametrize("damage", [1.0, 1e-5, 1e-10])
def test_condition_is_estimated_as_by_lapack(place, damage):
    # Higham's estimates of a norm are lower bounds, nearly always within a factor of three.
    matrix = MATRIX.copy()
    matrix[:, 0] *= damage
    matrix[0] *= damage
    true = 1 / (np.trace(matrix) * np.linalg.norm(np.linalg.inv(matrix), 1))
    found = devices.reciprocal_condition(devices.cholesky(place(np.tril(matrix))), np.trace(matrix))
    assert true * 0.999 <= found <= 3 * true
    assert found == pytest.approx(
        devices.reciprocal_condition(
            devices.cholesky(np.array(np.tril(matrix), order="F")), np.trace(matrix)
        ),
        rel=1e-6,
    )


def test_condition_of_one_number_is_one(place):
    assert devices.reciprocal_condition(devices.cholesky(place([[4.0]])), 4.0) == pytest.approx(1)


def test_symmetric_matrices_are_their_lower_triangle(put):
    lower, vector = put(np.tril(MATRIX)), put(H[0])
    assert_allclose(devices.to_numpy(devices.mirrored(lower)), MATRIX, rtol=1e-14)
    assert_allclose(devices.to_numpy(devices.symmetric_product(lower, vector)), MATRIX @ H[0], rtol=1e-12)
    assert_allclose(float(devices.sum_of_squares(lower)), np.sum(np.tril(MATRIX) ** 2), rtol=1e-12)
    values, vectors = devices.decompose(put(np.tril(MATRIX)))
    vectors = devices.to_numpy(vectors)
    assert_allclose(vectors * values @ vectors.T, MATRIX, atol=1e-12 * np.trace(MATRIX))


def test_numpys_arrays_are_multiplied_by_blas_itself_to_the_last_bit():
    zero = np.zeros((12, 12), order="F")
    assert_array_equal(devices.plus_products(zero.copy(order="F"), H), dsyrk(1.0, H.T, lower=1))
    single = H.astype(np.float32)
    assert_array_equal(devices.plus_products(zero.copy(order="F"), single), ssyrk(1.0, single.T, lower=1))


@pytest.mark.parametrize("panel", [1, 5, 12, 100])
def test_product_is_summed_by_panels_of_columns(place, monkeypatch, panel):
    monkeypatch.setattr(devices, "PANEL", panel)
    summed = devices.plus_products(place(np.tril(MATRIX)), place(H))
    assert_allclose(place.numbers(summed), np.tril(MATRIX + H.T @ H), rtol=1e-12)


def test_groups_of_rows_are_numpys(place):
    group = rng.integers(4, size=50)
    group[group == 2] = 3  # a group without rows
    found = [place.numbers(rows) for rows in devices.rows_of_groups(place(group), 4)]
    for mine, numpys in zip(found, devices.rows_of_groups(group, 4), strict=True):
        assert_array_equal(mine, numpys)


def test_moments_are_numpys(place):
    sizes, shift = (5, 12), H[:20].mean(axis=0)
    numpys = ClassMoments.from_data(H, sizes, shift=shift)
    theirs = ClassMoments.from_data(place(H), sizes, shift=place(shift))
    for name in ("ledoit_wolf_shrinkage", "oas_shrinkage", "mean_variance"):
        assert getattr(theirs, name)() == pytest.approx(getattr(numpys, name)(), rel=1e-11)
    for name in ("covariance", "second_moment"):
        assert_allclose(place.numbers(getattr(theirs, name)()), getattr(numpys, name)(), rtol=1e-11)
    assert_allclose(place.numbers(theirs.mean), H.mean(axis=0), rtol=1e-13)
    shrunk, _ = theirs.restrict(5).ledoit_wolf()
    assert_allclose(place.numbers(shrunk), numpys.restrict(5).ledoit_wolf()[0], rtol=1e-11)
    assert_allclose(place.numbers(theirs.covariance()), np.cov(H.T, ddof=0), rtol=1e-10)


def test_moments_of_disjoint_rows_add_and_subtract_there(place):
    whole, part = ClassMoments.from_data(place(H)), ClassMoments.from_data(place(H[:90]))
    rest = whole - part
    assert rest.n == 210
    assert_allclose(place.numbers(rest.covariance()), np.cov(H[90:].T, ddof=0), rtol=1e-9)
    rest += part
    assert_allclose(place.numbers(rest.covariance()), np.cov(H.T, ddof=0), rtol=1e-9)


def test_moments_of_groups_take_a_pilot_mean_each(place):
    group = rng.integers(2, size=300)

    def layer(X, out=None):
        return X * 2

    for g, moments in enumerate(moments_by_group(layer, place(H), place(group), 2)):
        assert_allclose(place.numbers(moments.mean), 2 * H[group == g].mean(axis=0), rtol=1e-13)
        assert_allclose(place.numbers(moments.covariance()), 4 * np.cov(H[group == g].T, ddof=0), rtol=1e-11)


def test_rows_of_single_precision_are_multiplied_in_double(place):
    rows = H.astype(np.float32)
    expected = np.cov(rows.T.astype(np.float64), ddof=0)  # of the rounded rows
    for moments in (
        ClassMoments.from_data(place(rows)),
        *moments_by_group(lambda X, out=None: X, place(rows), place(np.zeros(300, dtype=int)), 1),
    ):
        assert_allclose(place.numbers(moments.covariance()), expected, rtol=1e-11, atol=1e-13)


def test_where_there_is_no_double_precision_numpy_keeps_the_sums(single):
    shift = H[:20].mean(axis=0)
    moments = ClassMoments.from_data(single(H, np.float32), shift=shift)
    covariance = moments.covariance()
    assert isinstance(covariance, np.ndarray)
    assert_allclose(covariance, np.cov(H.T, ddof=0), atol=1e-5)
    assert moments.ledoit_wolf_shrinkage() == pytest.approx(
        ClassMoments.from_data(H).ledoit_wolf_shrinkage(), rel=1e-4
    )


def test_equations_are_numpys_and_so_are_their_solutions(place):
    T = rng.normal(size=(300, 2))
    numpys = NormalEquations(12, 2).update(H, T)
    theirs = NormalEquations(12, 2, place([0.0])).update(place(H[:100]), place(T[:100]))
    theirs += NormalEquations(12, 2, place([0.0])).update(place(H[100:]), place(T[100:]))
    assert theirs.n == 300
    for ridge in (0.0, 3.0):
        expected, method = numpys.solve(ridge)
        found, their_method = theirs.solve(ridge)
        assert method == their_method == "cholesky"
        assert_allclose(place.numbers(found), expected, rtol=1e-9)
    # Many ridges go by the eigenvectors.
    for found, expected in zip(
        theirs.solve_each([0.1 * i for i in range(14)]),
        numpys.solve_each([0.1 * i for i in range(14)]),
        strict=True,
    ):
        assert_allclose(place.numbers(found), expected, rtol=1e-8)


def test_singular_equations_have_the_solution_of_least_norm(place):
    twice = np.hstack([H, H])
    T = rng.normal(size=(300, 1))
    found, method = NormalEquations(24, 1, place([0.0])).update(place(twice), place(T)).solve(0.0)
    assert method == "eigh"
    assert_allclose(place.numbers(found), np.linalg.lstsq(twice, T, rcond=None)[0], rtol=1e-6)


def test_numerically_singular_matrix_is_told_by_its_condition_alone(place):
    # It has a Cholesky factor, of its rounding.
    matrix = np.diag([1.0, 1e-18])
    assert devices.cholesky(place(matrix)) is not None
    assert cholesky_solve(place(matrix), place([[1.0], [1.0]]), 0.0) is None


def test_numbers_move_to_a_device_in_the_precision_that_it_has(single):
    reference = single([1.0], np.float32)
    assert devices.like(np.ones(3), reference).dtype == reference.dtype
    assert devices.like(np.ones(3), reference).device == Device("no_float64")
    with pytest.raises(ValueError, match="has no double; accepted"):
        devices.in_double(reference)


@pytest.mark.parametrize("left", [-1.0, 0.0, np.nan, np.inf])
def test_factor_that_a_library_gives_without_an_error_is_looked_at(monkeypatch, left):
    # CuPy's does not wait for the device to say whether it succeeded.
    failed = array_api_strict.asarray(np.diag([1.0, left]))
    monkeypatch.setattr(array_api_strict.linalg, "cholesky", lambda matrix: failed)
    assert devices.cholesky(array_api_strict.asarray(np.eye(2))) is None


def test_error_that_is_not_about_a_factor_is_not_taken_for_one(monkeypatch):
    def no_memory(matrix):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(array_api_strict.linalg, "cholesky", no_memory)
    with pytest.raises(RuntimeError, match="out of memory"):
        devices.cholesky(array_api_strict.asarray(MATRIX))
