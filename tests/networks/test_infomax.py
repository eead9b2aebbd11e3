"""Most informative linear maps: principal components, water-filling, and what climbing finds."""

import numpy as np
import pytest
from information_objectives import infomax_objective
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from scipy.optimize import LinearConstraint, minimize
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA

from entrolearn.networks import LinearInfomax
from entrolearn.networks.infomax import water_filling


@pytest.fixture(scope="module")
def X():
    X, _ = load_wine(return_X_y=True)
    return X[:, [0, 1, 2, 5, 6]] * [1, 1, 1, 2, 1]


@pytest.fixture(scope="module")
def C(X):
    return np.cov(X.T, bias=True)


def climbed(objective, shape, seed=0):
    """The map that L-BFGS finds from a random start."""

    def negated(w):
        value, gradient = objective(w.reshape(shape))
        return -value, -gradient.ravel()

    start = np.random.default_rng(seed).normal(size=shape)
    found = minimize(
        negated, start.ravel(), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9}
    )
    return found.x.reshape(shape), -found.fun


# --- orthonormal rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("noise_variance", [1e-3, 1.0, 100.0])
def test_with_white_noise_the_rows_are_the_principal_axes(noise_variance, X):
    ours, pca = LinearInfomax(3, noise_variance=noise_variance).fit(X), PCA(3, svd_solver="full").fit(X)
    assert_allclose(ours.components_, pca.components_, atol=1e-10)
    assert_allclose(ours.transform(X), pca.transform(X), atol=1e-10)
    assert_allclose(ours.variances_, pca.explained_variance_ * (len(X) - 1) / len(X), rtol=1e-10)


def test_information_is_that_of_the_objective(X, C):
    for constraint in ("orthonormal", "power"):
        ours = LinearInfomax(3, constraint=constraint, noise_variance=0.2).fit(X)
        expected, _ = infomax_objective(ours.components_, C, 0.2)
        assert ours.information_ == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_climbing_the_information_ends_in_the_principal_subspace(seed, X, C):
    """Behind input noise only the span counts, and with orthonormal rows both noises are the same."""
    ours = LinearInfomax(2, noise_variance=0.2).fit(X)
    W, value = climbed(lambda W: infomax_objective(W, C, 0.2, noise="input"), (2, 5), seed)
    assert value == pytest.approx(ours.information_, rel=1e-9)
    assert subspace_angles(W.T, ours.components_.T).max() < 1e-4


def test_no_orthonormal_rows_convey_more(X, C):
    ours = LinearInfomax(2, noise_variance=0.2).fit(X)
    rng = np.random.default_rng(4)
    for spread in (0.01, 0.1, 1.0):
        near = ours.components_ + spread * rng.normal(size=(20, 2, 5))
        others = [np.linalg.qr(W.T)[0].T for W in near]
        assert max(infomax_objective(W, C, 0.2)[0] for W in others) < ours.information_


def test_all_components_convey_what_any_rotation_does(X, C):
    everything = 0.5 * np.linalg.slogdet(np.eye(5) + C / 0.2).logabsdet
    assert LinearInfomax(noise_variance=0.2).fit(X).information_ == pytest.approx(everything, rel=1e-10)


def test_a_dimension_without_variance_conveys_nothing(X):
    flat = np.column_stack([X, X[:, 0] - X[:, 1]])
    ours = LinearInfomax().fit(flat)
    assert ours.variances_[-1] == pytest.approx(0, abs=1e-12)
    assert ours.information_ == pytest.approx(LinearInfomax(5).fit(flat).information_, rel=1e-12)


def test_rounding_makes_no_variance_negative():
    rng = np.random.default_rng(5)
    for _ in range(
        5
    ):  # two dimensions of eight have variance; of the others' eigenvalues some come out below 0
        plane = 1e3 * rng.normal(size=(50, 2)) @ rng.normal(size=(2, 8))
        assert (LinearInfomax(noise_variance=1e-12).fit(plane).variances_ >= 0).all()


def test_noise_of_known_variances_at_the_inputs_is_scaled_away_before(X, C):
    deviations = np.array([0.1, 1.0, 0.5, 0.2, 2.0])
    ours = LinearInfomax(2).fit(X / deviations)
    W = ours.components_ / deviations
    objective = lambda W: infomax_objective(W, C, deviations**2, noise="input")  # noqa: E731
    assert objective(W)[0] == pytest.approx(ours.information_, rel=1e-10)
    _, best = climbed(objective, (2, 5))
    assert best == pytest.approx(ours.information_, rel=1e-8)


# --- bounded power ------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise_variance", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("seed", range(2))
def test_climbing_with_bounded_power_ends_at_water_filling(noise_variance, seed, X, C):
    """Rows of mean squared length 1, whichever way the optimizer goes."""
    ours = LinearInfomax(3, constraint="power", noise_variance=noise_variance).fit(X)

    def of_direction(V):
        size = np.sqrt(3) / np.linalg.norm(V)
        value, gradient = infomax_objective(size * V, C, noise_variance)
        return value, size * (gradient - np.sum(gradient * V) / np.sum(V**2) * V)

    V, value = climbed(of_direction, (3, 5), seed)
    assert value == pytest.approx(ours.information_, rel=1e-7)
    W = V * np.sqrt(3) / np.linalg.norm(V)
    assert_allclose(W.T @ W, ours.components_.T @ ours.components_, atol=2e-3)


def test_rows_have_a_mean_squared_length_of_one_and_the_shares_that_powers_say(X):
    for noise_variance in (0.01, 1.0, 10.0):
        ours = LinearInfomax(4, constraint="power", noise_variance=noise_variance).fit(X)
        assert_allclose((ours.components_**2).sum(axis=1), ours.powers_, rtol=1e-10)
        assert ours.powers_.mean() == pytest.approx(1, rel=1e-10)
        assert (np.diff(ours.powers_) <= 1e-12).all()


def test_much_noise_leaves_one_direction_and_little_noise_makes_all_alike(X):
    """Linsker: redundant outputs, then different ones."""
    loud, quiet = (
        LinearInfomax(4, constraint="power", noise_variance=variance).fit(X) for variance in (1e4, 1e-8)
    )
    assert_allclose(loud.powers_, [4, 0, 0, 0], atol=1e-12)
    assert_allclose(quiet.powers_, np.ones(4), atol=1e-5)
    plain = LinearInfomax(4, noise_variance=1e-8).fit(X)
    assert quiet.information_ == pytest.approx(plain.information_, rel=1e-9)
    assert loud.information_ > 1.5 * LinearInfomax(4, noise_variance=1e4).fit(X).information_


def test_with_bounded_output_power_any_subspace_conveys_the_same(C):
    """Outputs of equal variance and no correlation, made of the first or of the last directions."""
    values, vectors = np.linalg.eigh(C)
    found = []
    for some in ([0, 1], [3, 4], [1, 3]):
        W = vectors[:, some].T * np.sqrt(1.5 / values[some])[:, np.newaxis]
        assert np.trace(W @ C @ W.T) == pytest.approx(3)
        found.append(infomax_objective(W, C, 0.2)[0])
    assert_allclose(found, np.log1p(1.5 / 0.2), rtol=1e-10)


@pytest.mark.parametrize("power", [0.1, 1.0, 5.0])
def test_water_filling_is_the_maximum_that_a_general_optimizer_finds(power):
    gains = np.array([4.0, 2.5, 0.5, 0.1])
    found = minimize(
        lambda p: -np.log1p(p * gains).sum(),
        np.full(4, power / 4),
        jac=lambda p: -gains / (1 + p * gains),
        bounds=[(0, None)] * 4,
        constraints=LinearConstraint(np.ones(4), power, power),
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    assert_allclose(water_filling(gains, power), found.x, atol=1e-5)


def test_channels_in_use_have_one_level_and_the_others_stand_above_it():
    gains = np.array([5.0, 5.0, 1.0, 0.2, 0.0])
    powers = water_filling(gains, 2.0)
    assert powers.sum() == pytest.approx(2.0)
    assert powers.tolist()[3:] == [0, 0]
    level = powers[0] + 1 / gains[0]
    assert_allclose((powers + 1 / np.maximum(gains, 1e-300))[:3], level)
    assert level < 1 / gains[3]
    assert_array_equal(water_filling(np.zeros(3), 3.0), np.zeros(3))


# --- the estimator ------------------------------------------------------------------------------------


def test_rows_that_are_all_equal_convey_nothing():
    for constraint in ("orthonormal", "power"):
        assert LinearInfomax(2, constraint=constraint).fit(np.ones((5, 3))).information_ == 0
