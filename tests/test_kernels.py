"""Kernel functions against their definitions, scikit-learn's twins and laws."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix, hstack, random_array
from sklearn.metrics.pairwise import pairwise_kernels

from entrolearn import LSSVC, OneNormSVC, kernels
from entrolearn.kernels import (
    ADDITIVE,
    BELOW_ONE,
    INNER,
    KERNELS,
    RADIAL,
    check_precomputed,
    inner_products,
    kernel_matrix,
    kernel_params,
)

PARAMS = {"gamma": 0.7, "degree": 3, "coef0": 0.5}

# k(x, z), section 4.3 and footnotes of the RKELM paper with sigma = 1 / gamma
NAIVE = {
    "rbf": lambda x, z: np.exp(-0.7 * np.sum((x - z) ** 2)),
    "inverse_multiquadric": lambda x, z: 1 / np.sqrt(1 + 0.7 * np.sum((x - z) ** 2)),
    "rational_quadratic": lambda x, z: 1 - np.sum((x - z) ** 2) / (np.sum((x - z) ** 2) + 1 / 0.7),
    "wave": lambda x, z: np.sin(r) / r if (r := np.sqrt(0.7 * np.sum((x - z) ** 2))) else 1.0,
    "exponential_power": lambda x, z: np.exp(-np.sqrt(0.7) * np.sqrt(np.sum((x - z) ** 2))),
    "linear": lambda x, z: x @ z,
    "poly": lambda x, z: (0.7 * x @ z + 0.5) ** 3,
    "sigmoid": lambda x, z: np.tanh(0.7 * x @ z + 0.5),
}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(-1, 1, size=(12, 4)), rng.uniform(-1, 1, size=(7, 4))
    Y[0] = X[0]
    return X, Y


FORMULAS = [
    *((ADDITIVE, name, {}) for name, formula in ADDITIVE.items() if formula.slope),
    *((BELOW_ONE, name, {}) for name in ("sigmoid", "nsigmoid")),
    *((RADIAL, name, {}) for name in RADIAL),
    *((RADIAL, "exponential_power", {"power": power}) for power in (0.5, 1.5, 2.0)),
    *((INNER, name, {}) for name in INNER),
    *((INNER, name, {"gamma": 0.7, "degree": 2, "coef0": 0.5}) for name in INNER),
]


@pytest.mark.parametrize(("table", "name", "params"), FORMULAS)
def test_slopes_are_central_differences_of_values(table, name, params):
    """Of sixth order, with steps of a hundredth of each number: their error is some 1e-10 of the slope."""
    at = np.outer([-1, 1] if table is ADDITIVE or table is BELOW_ONE else [-1], np.geomspace(1e-5, 6, 60))
    value, step = table[name].value, at / 100
    near, far, farthest = (
        value(at + k * step, np, **params) - value(at - k * step, np, **params) for k in (1, 2, 3)
    )
    expected = (45 * near - 9 * far + farthest) / (60 * step)
    assert_allclose(table[name].slope(at, np, **params), expected, rtol=1e-6, atol=1e-8)


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


@pytest.mark.parametrize("power", [0.5, 1.0, 1.5, 2.0])
def test_exponential_power_is_as_defined_and_the_gaussian_at_two(rows, power):
    X, Y = rows
    distances = np.linalg.norm(X[:, None] - Y, axis=2)
    params = {"gamma": 0.7, "power": power}
    values = kernel_matrix(X, Y, "exponential_power", params)
    assert_allclose(values, np.exp(-((np.sqrt(0.7) * distances) ** power)), atol=1e-12)
    assert np.linalg.eigvalsh(kernel_matrix(X, X, "exponential_power", params)).min() > -1e-12
    if power == 2:
        assert_array_equal(values, kernel_matrix(X, Y, "rbf", params))


# --- distances: rows anywhere, in any representation ------------------------------------------------------

RNG = np.random.default_rng(1)
SPREAD = RNG.normal(size=(30, 3))
HALF = np.arange(30)[:, None] % 2
FAR = {
    "near": SPREAD,
    "unix times": SPREAD + 1.7e9,
    "each column elsewhere": SPREAD + [1e12, -1e6, 0.0],
    "two groups": SPREAD + 1e8 * HALF,
    "two groups, and their middle far away": SPREAD + 1e8 * HALF + 1e12,
    "one row far away": SPREAD + 1e9 * (np.arange(30)[:, None] == 4),
    "a tenth of the times missing": SPREAD + [1.7e9, 0, 0] * (np.arange(30)[:, None] % 10 > 0),
    "mostly zeros beside a column of times": (SPREAD + 1.7e9) * [1, 0, 0],
    "columns that are constant": SPREAD * [1, 0, 0] + [0, 1e15, 1e-9],
    "the last digits": 2.0**52 + RNG.integers(0, 8, size=(30, 3)),
    "rows that repeat": np.repeat(SPREAD[:10] + 1e8 * HALF[:10], 3, axis=0),
}
# k as a function of gamma d^2
OF_DISTANCES = {
    "rbf": lambda d: np.exp(-d),
    "inverse_multiquadric": lambda d: 1 / np.sqrt(1 + d),
    "rational_quadratic": lambda d: 1 / (1 + d),
    "wave": lambda d: np.sinc(np.sqrt(d) / np.longdouble(np.pi)),
    "exponential_power": lambda d: np.exp(-np.sqrt(d)),
}
FORMS = {"dense": np.asarray, "CSR": csr_array, "CSR matrix": csr_matrix}


def by_differences(X, Y, gamma, kernel) -> np.ndarray:
    differences = X[:, None].astype(np.longdouble) - Y.astype(np.longdouble)
    return OF_DISTANCES[kernel](gamma * np.square(differences).sum(axis=2))


@pytest.mark.parametrize("kernel", OF_DISTANCES)
@pytest.mark.parametrize("case", FAR)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_kernels_of_distances_are_those_of_differences_wherever_the_rows_are(kernel, case, dtype, tolerance):
    X = FAR[case].astype(dtype)
    gamma = np.linspace(0.1, 3, 12).astype(dtype)
    some = X[::-1][:12]
    expected = by_differences(X, some, gamma, kernel)
    for left in FORMS.values():
        for right in FORMS.values():
            values = kernel_matrix(left(X), right(some), kernel, {"gamma": gamma})
            assert_allclose(values, expected.astype(float), rtol=0, atol=tolerance)


@pytest.mark.parametrize("case", FAR)
@pytest.mark.parametrize("form", FORMS)
def test_a_kernel_of_distances_is_symmetric_and_one_for_equal_rows(case, form):
    X = FORMS[form](FAR[case])
    values = kernel_matrix(X, X, "rbf", {"gamma": 0.5})
    assert_allclose(values, values.T, rtol=0, atol=1e-10)
    equal = (FAR[case][:, None] == FAR[case]).all(axis=2)
    assert_array_equal(np.diag(values), 1.0)
    assert_allclose(values[equal], 1.0, rtol=0, atol=1e-10)
    assert values.max() <= 1


def test_sparse_rows_far_from_the_origin_stay_sparse():
    sparse = random_array((200, 1000), density=0.01, format="csr", rng=np.random.default_rng(0))
    X = csr_array(hstack([sparse, csr_array(1.7e9 + np.arange(200.0)[:, None])]))
    moved = kernels._less(X, kernels._middle(X))
    assert moved.nnz <= X.nnz
    assert abs(moved).max() <= 200


@pytest.mark.parametrize("container", [np.asarray, csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("power", [0, 10, 16, 30, 40, 49])
def test_gamma_scale_is_the_same_wherever_the_rows_are(container, dtype, power):
    """Of whole numbers, whose variance has a closed form."""
    wholes = RNG.integers(0, 8, size=(40, 3))
    if power > 16 and dtype == np.float32:
        power -= 26
    variance = Fraction(int((wholes**2).sum()), 120) - Fraction(int(wholes.sum()), 120) ** 2
    gamma = kernel_params(container((wholes + 2.0**power).astype(dtype)), "rbf", "scale")["gamma"]
    assert gamma == pytest.approx(float(1 / (3 * variance)), rel=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("container", [np.asarray, csr_array])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e9 / 3, 1e15 / 3])
def test_gamma_scale_of_equal_numbers_is_one(container, value):
    """As in scikit-learn, though their mean is rounded."""
    X = container(np.full((37, 3), value))
    assert kernel_params(X, "rbf", "scale")["gamma"] == 1.0


@pytest.mark.parametrize("form", FORMS)
def test_a_precomputed_kernel_is_square_and_symmetric_up_to_single_precision(rows, form):
    made = FORMS[form]
    values = kernel_matrix(*rows[:1] * 2, "poly", PARAMS)
    check_precomputed(made(values))
    check_precomputed(made(values * (1 + 1e-7 * RNG.normal(size=values.shape))))
    with pytest.raises(ValueError, match=r"must be square, got shape \(12, 11\)"):
        check_precomputed(made(values[:, 1:]))
    values[8, 2] += 1e-3 * values.max()
    with pytest.raises(ValueError, match=r"in row (2|8), column (2|8), and .* in row (2|8), column (2|8)\."):
        check_precomputed(made(values))


def test_gamma_times_a_distance_must_not_overflow(rows):
    with pytest.raises(ValueError, match="gamma=1e.200 times a squared distance overflows; take a smaller"):
        kernel_matrix(1e60 * rows[0], rows[1], "rbf", {"gamma": 1e200})


@pytest.mark.parametrize("kernel", ["rbf", "inverse_multiquadric", "rational_quadratic"])
def test_mercer_kernels_have_positive_definite_matrices(rows, kernel):
    assert np.linalg.eigvalsh(kernel_matrix(rows[0], rows[0], kernel, PARAMS)).min() > 0


def test_distinct_rows_may_have_a_singular_matrix_of_a_mercer_kernel():
    """Inner products of three rows of the plane: positive semidefinite, of rank 2."""
    K = kernel_matrix(PLANE := np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), PLANE, "linear", {})
    assert_allclose(np.linalg.eigvalsh(K), [0, 1, 3], atol=1e-12)


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
    gamma = kernel_params(container(X), "rbf", "scale")["gamma"]
    assert_allclose(gamma, 1 / (4 * X.var()))  # sklearn.svm.SVC's definition
    assert kernel_params(container(X), "rbf", "auto")["gamma"] == 0.25


@pytest.mark.parametrize(
    ("kernel", "given", "hint"),
    [
        ("poly", {"degre": 2}, "'degree'"),
        ("poly", {"power": 2}, "'degree', 'coef0'"),
        ("sigmoid", {"degree": 2}, "'coef0'"),
        ("rbf", {"coef0": 1.0}, "none"),
        ("precomputed", {"coef0": 1.0}, "none"),
        ("poly", {"degree": -1}, r"\[0"),
        ("poly", {"coef0": np.nan}, "coef0=nan"),
        ("exponential_power", {"power": 2.5}, r"\(0"),
    ],
)
def test_a_kernel_parameter_that_cannot_be_is_named_before_any_work(kernel, given, hint):
    for learner in (
        OneNormSVC(kernel=kernel, kernel_params=given),
        LSSVC(kernel=kernel, kernel_params=given),
    ):
        with pytest.raises(ValueError, match=f"{type(learner).__name__} has .*{hint}") as caught:
            learner.fit("no rows", "no labels")
        assert "\n" not in str(caught.value)


def test_a_kernel_given_as_a_function_gets_its_parameters(rows):
    X, y = rows[0], np.arange(12) % 2
    named = LSSVC(kernel="poly", gamma=0.7, kernel_params={"degree": 2, "coef0": 0.5}).fit(X, y)

    def powers(x, z, degree, shift=0.0):
        return (0.7 * (x @ z) + shift) ** degree

    given = LSSVC(kernel=powers, kernel_params={"degree": 2, "shift": 0.5}).fit(X, y)
    assert_allclose(given.decision_function(X), named.decision_function(X), rtol=1e-9)
