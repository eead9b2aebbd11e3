"""Reduced kernel extreme learning machines: the paper's equations and theorems, naive twins, limits."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import Ridge
from sklearn.preprocessing import minmax_scale

from entrolearn import KELMRegressor, RKELMClassifier, RKELMRegressor
from entrolearn.kernels import INNER, RADIAL, kernel_matrix
from entrolearn.machines.layers import landmark_sources
from entrolearn.machines.rkelm import SPREAD
from entrolearn.path import Partition, path

STRICTLY_POSITIVE = ["rbf", "inverse_multiquadric", "rational_quadratic"]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return minmax_scale(X, (-1, 1)), y


@pytest.fixture(scope="module")
def curve():
    X = np.random.default_rng(0).uniform(-1, 1, size=(80, 2))
    return X, np.sinc(2 * X[:, 0]) + X[:, 1]


def ridge_weights(K, T, C):
    """Eq. (10)."""
    return np.linalg.inv(C * np.eye(K.shape[1]) + K.T @ K) @ K.T @ T


@pytest.mark.parametrize("kernel", [*RADIAL, *INNER])
def test_the_machine_is_equation_10(wine, kernel):
    X, y = wine
    params = (
        {"degree": 2, "coef0": 0.5} if kernel == "poly" else {"coef0": 0.5} if kernel == "sigmoid" else {}
    )
    settings = {"kernel": kernel, "gamma": 0.2, "kernel_params": params, "fit_intercept": False}
    machine = RKELMClassifier(15, alpha=0.1, random_state=0, **settings).fit(X, y)
    params = {"gamma": 1 / 5.0, "degree": 2, "coef0": 0.5}
    rows = np.random.RandomState(0).permutation(len(y))[:15]
    assert_array_equal(machine.landmarks_, X[rows])
    K = kernel_matrix(X, X[rows], kernel, params)
    beta = ridge_weights(K, np.where(y[:, None] == [0, 1, 2], 1, -1), 0.1)
    assert_allclose(machine.hidden_coef_, beta, rtol=1e-5, atol=1e-8)
    assert_allclose(machine.decision_function(X), K @ beta, rtol=1e-6, atol=1e-8)
    assert_array_equal(machine.predict(X), (K @ beta).argmax(axis=1))


def test_gamma_is_the_reciprocal_of_the_papers_sigma():
    """exp(-||x - z||^2 / sigma): sigma is not squared."""
    X = np.array([[0.0, 0.0], [1.0, 2.0]])
    layer = RKELMRegressor(gamma=1 / 3, random_state=0).fit(X, [0.0, 1.0])._layer
    assert_allclose(sorted(layer(X)[0]), [np.exp(-5 / 3), 1.0])


def test_gamma_scale_is_that_of_scikit_learns_svc(wine):
    X, y = wine
    gammas = "scale", 1 / (X.shape[1] * X.var())
    named, given = (RKELMClassifier(20, gamma=gamma, random_state=0).fit(X, y) for gamma in gammas)
    assert_allclose(named.hidden_coef_, given.hidden_coef_, rtol=1e-4)


@pytest.mark.parametrize("kernel", STRICTLY_POSITIVE)
@pytest.mark.parametrize("alpha", [0.0, 1e-15])
def test_theorem_1_all_rows_as_landmarks_leave_no_training_error(curve, kernel, alpha):
    X, _ = curve
    y = np.random.default_rng(1).normal(size=len(X))  # whatever the targets
    options = {"alpha": alpha, "kernel": kernel, "gamma": 50.0, "fit_intercept": False}
    machine = RKELMRegressor(len(X), random_state=0, **options).fit(X, y)
    K = kernel_matrix(X, X, kernel, {"gamma": 50.0})
    assert np.linalg.eigvalsh(K).min() > 0
    assert_allclose(machine.predict(X), y, atol=1e-6)


def test_more_landmarks_leave_less_training_error_and_all_rows_none(curve):
    """Nested landmarks without a ridge: the squared residuals of least squares, which cannot grow."""
    X, _ = curve
    y = np.random.default_rng(1).normal(size=len(X))
    options = {"alpha": 0.0, "gamma": 50.0, "fit_intercept": False, "random_state": 0}
    left = [
        np.sum((RKELMRegressor(n, **options).fit(X, y).predict(X) - y) ** 2) for n in (5, 10, 20, 40, 60, 80)
    ]
    assert np.all(np.diff(left) < 0)
    assert left[0] > 0.5 * np.sum(y**2)
    assert left[-1] < 1e-12


def test_a_kernel_that_is_not_positive_definite_leaves_no_training_error_either(curve):
    """The distance: invertible for all distinct rows (Micchelli 1986), with one positive eigenvalue."""
    X, _ = curve
    y = np.random.default_rng(1).normal(size=len(X))
    machine = RKELMRegressor(len(X), alpha=0.0, kernel=math.dist, fit_intercept=False, random_state=0).fit(
        X, y
    )
    assert (np.linalg.eigvalsh(kernel_matrix(X, X, math.dist, {})) > 0).sum() == 1
    assert_allclose(machine.predict(X), y, atol=1e-6)


def kernel_determinant(points, sigmas):
    """Of exp(-(x_i - x_j)^2 / sigma_j)."""
    squares = (points[:, None] - points) ** 2
    return np.linalg.det(np.exp(-squares / sigmas))


def test_theorem_2_fails_a_kernel_matrix_with_widths_of_its_own_can_be_singular():
    """Distinct rows and positive widths between which the determinant changes its sign, bisected.

    On the segment from a to b it is continuous: a singular matrix lies between.
    """
    points = np.array([0.0, 1.0, 2.0])
    a, b = np.array([1.0, 1.0, 1.0]), np.array([4.0, 50.0, 3.0])
    assert kernel_determinant(points, a) > 0.1
    assert kernel_determinant(points, b) < -0.05
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if kernel_determinant(points, a + middle * (b - a)) > 0:
            low = middle
        else:
            high = middle
    sigmas = a + low * (b - a)
    assert (sigmas > 0).all()
    K = kernel_matrix(points[:, None], points[:, None].copy(), "rbf", {"gamma": 1 / sigmas})
    singular_values = np.linalg.svd(K, compute_uv=False)
    assert singular_values[-1] < 1e-14 * singular_values[0]


def test_a_width_for_each_landmark_is_sigma_times_a_number_around_one(wine):
    X, y = wine
    machine = RKELMClassifier(170, gamma=0.25, per_landmark_gamma=True, random_state=0).fit(X, y)
    widths = 1 / machine._layer.kernel_params["gamma"] / 4.0
    assert widths.shape == (170,)
    assert SPREAD[0] <= widths.min() < 0.55
    assert 1.45 < widths.max() <= SPREAD[1]
    x, z = X[3], machine.landmarks_[7]
    assert_allclose(machine._layer(X[3:4])[0, 7], np.exp(-np.sum((x - z) ** 2) / (4.0 * widths[7])))


def test_only_kernels_of_the_distance_have_a_width_for_each_landmark(wine):
    with pytest.raises(ValueError, match="per_landmark_gamma=True needs a kernel of the distance: .*'poly'"):
        RKELMClassifier(kernel="poly", per_landmark_gamma=True).fit(*wine)


@pytest.mark.parametrize(("n_landmarks", "fit_intercept"), [(10, True), (80, False)])
def test_it_is_kelm_with_the_landmarks_inner_products_for_a_kernel(curve, n_landmarks, fit_intercept):
    """K (C I + K'K)^-1 K' = K K' (C I + K K')^-1: the kernel is sum_i k(x, x_i) k(z, x_i)."""
    X, y = curve
    options = {"alpha": 1e-2, "fit_intercept": fit_intercept}
    reduced = RKELMRegressor(n_landmarks, gamma=2.0, random_state=0, **options).fit(X, y)
    layer = reduced._layer

    def through_landmarks(x, z):
        return layer(x[None])[0] @ layer(z[None])[0]

    full = KELMRegressor(kernel=through_landmarks, **options).fit(X, y)
    new = X[:20] + 0.1
    assert_allclose(reduced.predict(new), full.predict(new), rtol=1e-6)


def test_with_all_rows_and_no_ridge_it_interpolates_as_kelm_does(curve):
    X, y = curve
    options = {"alpha": 0.0, "gamma": 50.0, "fit_intercept": False}
    reduced, full = (
        RKELMRegressor(80, random_state=0, **options).fit(X, y),
        KELMRegressor(**options).fit(X, y),
    )
    assert_allclose(reduced.predict(X + 0.01), full.predict(X + 0.01), rtol=1e-4, atol=1e-5)


def test_more_landmarks_than_rows_are_all_rows(wine):
    X, y = wine
    many, all_rows = (RKELMClassifier(n, alpha=0.1, random_state=0).fit(X, y) for n in (1000, len(y)))
    assert many.landmarks_.shape == X.shape
    assert_allclose(many.decision_function(X), all_rows.decision_function(X))


def test_landmarks_of_a_smaller_machine_are_the_first_of_a_larger_one(wine):
    small, large = (
        RKELMClassifier(n, gamma=0.5, per_landmark_gamma=True, random_state=3).fit(*wine) for n in (5, 20)
    )
    assert_array_equal(small.landmarks_, large.landmarks_[:5])


def test_several_outputs_are_separate_machines(curve):
    X, y = curve
    both = np.column_stack([y, y**2])
    machine = RKELMRegressor(20, alpha=1e-4, gamma=2.0, random_state=0)
    together = machine.fit(X, both).predict(X)
    for values, target in zip(together.T, both.T, strict=True):
        assert_allclose(values, machine.fit(X, target).predict(X), rtol=1e-7, atol=1e-9)


def test_two_classes_are_one_output(wine):
    X, y = wine
    options = {"alpha": 0.1, "gamma": 0.25, "random_state": 0}
    machine = RKELMClassifier(20, **options).fit(X, y > 0)
    regression = RKELMRegressor(20, **options).fit(X, np.where(y > 0, 1.0, -1.0))
    assert machine.hidden_coef_.shape == (20,)
    assert_allclose(machine.decision_function(X), regression.predict(X))


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("machine", [RKELMRegressor(25, gamma=2.0, random_state=0), KELMRegressor(gamma=2.0)])
def test_a_sequence_of_ridges_is_decided_by_leaving_one_out(curve, machine, fit_intercept):
    X, y = curve[0][::2], 3 + curve[1][::2] + np.random.default_rng(2).normal(scale=0.3, size=40)
    machine = clone(machine).set_params(fit_intercept=fit_intercept)
    ridges = [1e-2, 0.3, 10.0]
    chosen = clone(machine).set_params(alpha=ridges).fit(X, y)
    layer = chosen._layer
    errors = []
    for alpha in ridges:
        left = []
        for i in range(len(y)):
            rest = np.delete(np.arange(len(y)), i)
            if isinstance(machine, KELMRegressor):
                one = clone(machine).set_params(alpha=alpha).fit(X[rest], y[rest])
                left.append(one.predict(X[[i]])[0] - y[i])
            else:  # the landmarks stay
                twin = Ridge(alpha, fit_intercept=fit_intercept, solver="cholesky").fit(
                    layer(X[rest]), y[rest]
                )
                left.append(twin.predict(layer(X[[i]]))[0] - y[i])
        errors.append(np.mean(np.square(left)))
    assert_allclose(chosen.loo_errors_, errors, rtol=1e-5)
    assert ridges[np.argmin(errors)] == chosen.alpha_
    fixed = clone(machine).set_params(alpha=chosen.alpha_).fit(X, y)
    assert_allclose(chosen.predict(X), fixed.predict(X), rtol=1e-7, atol=1e-9)
    assert not hasattr(chosen.set_params(alpha=0.1).fit(X, y), "loo_errors_")


def test_several_ridges_do_not_stream():
    assert not hasattr(RKELMClassifier(alpha=[0.1, 1.0]), "partial_fit")


def test_equations_that_have_no_factor_are_solved_by_eigenvalues(curve):
    X, y = curve
    X = np.vstack([X, X])  # every landmark twice
    machine = RKELMRegressor(len(X), alpha=0.0, gamma=50.0, random_state=0).fit(X, np.tile(y, 2))
    assert machine.solver_info_ == {"method": "eigh"}
    assert_allclose(machine.predict(X[:80]), y, atol=1e-5)


# --- paths ---------------------------------------------------------------------------------------------

TRIAL = Partition(np.arange(178) % 5, ((0,), (0, 1), (0, 2), (0, 3), (0, 4)), random=True)


def test_landmark_sources_lie_in_every_training_set_that_they_serve():
    for n_landmarks in (5, 30, 40, 200):
        for partition in (TRIAL, Partition.cross_validation(np.arange(178) % 4, nested=True)):
            sources = landmark_sources(n_landmarks, partition)
            assert sorted(out for _, outs in sources for out in outs) == sorted(partition.left_out)
            for rows, left_outs in sources:
                for left_out in left_outs:
                    training = partition.training(left_out)
                    assert set(rows) <= set(training)
                    assert len(rows) >= n_landmarks or len(rows) == len(training)


def test_landmarks_come_from_the_parts_that_are_never_left_out():
    partition = Partition(np.arange(178) % 5, ((0,), (0, 1)))
    ((rows, left_outs),) = landmark_sources(50, partition)
    assert left_outs == [(0,), (0, 1)]
    assert_array_equal(rows, np.flatnonzero(np.arange(178) % 5 > 1))


def test_a_path_shares_landmarks_and_solves_every_training_set(wine):
    """Naive twin: eq. (10) on the training rows with the landmarks of the layer that the path drew."""
    X, y = wine
    T = np.where(y[:, None] == [0, 1, 2], 1, -1)
    machine = RKELMClassifier(gamma=0.25, fit_intercept=False, random_state=0)
    grid = [{"n_landmarks": n, "alpha": alpha} for n in (10, 30) for alpha in (1e-6, 0.1)]
    points = list(path(machine, X, y, TRIAL, grid))
    assert len(points) == 20
    sources = {out: rows for rows, outs in landmark_sources(30, TRIAL) for out in outs}
    assert len({rows.tobytes() for rows in sources.values()}) == 2
    for point in points:
        rows = sources[point.left_out]
        n, C = point.params["n_landmarks"], point.params["alpha"]
        landmarks = X[rows[np.random.RandomState(0).permutation(len(rows))[:n]]]
        training = TRIAL.training(point.left_out)
        K = kernel_matrix(X, landmarks, "rbf", {"gamma": 1 / 4.0})
        expected = (K @ ridge_weights(K[training], T[training], C)).argmax(axis=1)
        assert (point.prediction == expected).mean() > 0.99
        assert point.projection is None


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_path_of_values(curve, fit_intercept):
    X, y = curve
    partition = Partition(np.arange(80) % 4, ((0,), (0, 1)), random=True)
    machine = RKELMRegressor(15, gamma=2.0, fit_intercept=fit_intercept, random_state=0)
    grid = [{"alpha": alpha} for alpha in np.logspace(-8, 1, 20)]
    ((rows, _),) = landmark_sources(15, partition)
    layer = machine._draw_layer(X[rows])
    for point in path(machine, X, y, partition, grid):
        training = partition.training(point.left_out)
        twin = Ridge(point.params["alpha"], fit_intercept=fit_intercept, solver="svd")
        expected = twin.fit(layer(X[training]), y[training]).predict(layer(X))
        assert_allclose(point.prediction, expected, atol=1e-5)


def test_training_sets_without_rows_in_common_have_landmarks_as_fit_draws_them(wine):
    partition = replace(Partition.cross_validation(np.arange(178) % 3), random=True)
    machine, grid = RKELMClassifier(100, gamma=0.25, random_state=0), [{"alpha": 0.01}, {"alpha": 1.0}]
    quick = path(machine, *wine, partition, grid)
    plain = path.dispatch(object)(machine, *wine, partition, grid)
    expected = {(point.left_out, point.params["alpha"]): point.prediction for point in plain}
    for point in quick:
        assert_array_equal(point.prediction, expected[point.left_out, point.params["alpha"]])
