"""The divergence of projected classes and its gradient: against formulas, finite differences and laws."""

import math

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.covariance import empirical_covariance, ledoit_wolf
from sklearn.datasets import load_iris

from entrolearn.manifold import binned, exact
from entrolearn.manifold.objective import METHODS, ProjectedDivergence, melm_objective
from entrolearn.measures import cauchy_schwarz_kde, quadratic_entropy_gaussian, silverman_factor

COVARIANCE = {"ledoit_wolf": lambda X: ledoit_wolf(X)[0], "empirical": empirical_covariance}


def naive_objective(V, X_neg, X_pos, bandwidth_scale=1.0, covariance="ledoit_wolf", printed=False):
    """The paper's section 4 pair by pair, with S_AB(V) where ∇ψ is `printed` with its inverse."""

    def kernel(X):
        factor = bandwidth_scale * silverman_factor(len(X), V.shape[1])
        return factor**2 * COVARIANCE[covariance](X)

    def potential(A, B):
        sigma = kernel(A) + kernel(B)
        S = np.linalg.inv(V.T @ sigma @ V)
        of_exponent = V.T @ sigma @ V if printed else S
        phi = math.sqrt(np.linalg.det(S)) / ((2 * math.pi) ** (V.shape[1] / 2) * len(A) * len(B))
        psi, of_psi = 0.0, np.zeros_like(V)
        for a in A:
            for b in B:
                w = (a - b)[:, np.newaxis]
                one = math.exp(-0.5 * (w.T @ V @ S @ V.T @ w).item())
                psi += one
                pull = w @ w.T @ V @ of_exponent
                of_psi -= one * (pull - sigma @ V @ of_exponent @ V.T @ pull)
        return phi * psi, phi * of_psi - phi * psi * sigma @ V @ S

    value, gradient = 0.0, np.zeros_like(V)
    for weight, A, B in ((1, X_pos, X_pos), (1, X_neg, X_neg), (-2, X_pos, X_neg)):
        ip, of_ip = potential(A, B)
        value += weight * math.log(ip)
        gradient += weight * of_ip / ip
    return value, gradient


@pytest.fixture
def classes(rng):
    """Two classes in five dimensions, of different sizes and shapes."""
    return rng.normal(size=(30, 5)) @ rng.normal(size=(5, 5)), rng.normal(size=(20, 5)) + [1, 0, 2, 0, 0]


@pytest.fixture
def V(rng):
    return rng.normal(size=(5, 2))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("covariance", COVARIANCE)
@pytest.mark.parametrize("bandwidth_scale", [0.3, 1.0])
def test_exact_objective_is_the_papers_formulas(rng, classes, k, covariance, bandwidth_scale):
    V = rng.normal(size=(5, k))
    settings = {"bandwidth_scale": bandwidth_scale, "covariance": covariance}
    value, gradient = melm_objective(V, *classes, method="exact", **settings)
    naive_value, naive_gradient = naive_objective(V, *classes, **settings)
    assert value == pytest.approx(naive_value, rel=1e-12)
    np.testing.assert_allclose(gradient, naive_gradient, rtol=0, atol=1e-12 * np.abs(naive_gradient).max())


# What the authors' code (github.com/gmum/melm, commit 62f294b, DCS_kd) gives for iris and this projection.
PROJECTION = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, -1.0], [-0.5, 0.25]])
OF_THE_AUTHORS = {
    ((1, 2), 2, 0.8): (
        1.91604600236837,
        [
            [0.02587547076071339, -0.459413319980307],
            [0.1326070100446729, -1.3978356353171932],
            [0.19405966056670654, -2.170056393743129],
            [0.24581060208813382, -3.0888830337037425],
        ],
    ),
    ((0, 2), 1, 1.5): (
        6.637910201886486,
        [[-2.671253233465241], [-5.788680710888051], [12.677770703802338], [7.335264236871855]],
    ),
}


@pytest.mark.parametrize(("case", "printed"), OF_THE_AUTHORS.items())
def test_objective_is_that_of_the_authors_published_code(case, printed):
    (a, b), k, bandwidth_scale = case
    X, y = load_iris(return_X_y=True)
    value, gradient = melm_objective(PROJECTION[:, :k], X[y == a], X[y == b], bandwidth_scale=bandwidth_scale)
    assert value == pytest.approx(printed[0], rel=1e-12)
    np.testing.assert_allclose(gradient, printed[1], rtol=0, atol=1e-12 * np.abs(printed[1]).max())


@pytest.mark.parametrize("k", [1, 2, 3])
def test_exact_gradient_is_that_of_finite_differences(rng, classes, k):
    V, step = rng.normal(size=(5, k)), 1e-5
    _, gradient = melm_objective(V, *classes)
    for _ in range(5):
        direction = rng.normal(size=V.shape)
        ahead, behind = (melm_objective(V + sign * step * direction, *classes)[0] for sign in (1, -1))
        assert np.sum(gradient * direction) == pytest.approx(
            (ahead - behind) / (2 * step), rel=1e-6, abs=1e-8
        )


def test_gradient_as_printed_is_not_that_of_finite_differences(rng, classes, V):
    direction, step = rng.normal(size=V.shape), 1e-5
    ahead, behind = (naive_objective(V + sign * step * direction, *classes)[0] for sign in (1, -1))
    difference = (ahead - behind) / (2 * step)
    of_printed, corrected = (
        np.sum(naive_objective(V, *classes, printed=printed)[1] * direction) for printed in (True, False)
    )
    assert corrected == pytest.approx(difference, rel=1e-6)
    assert abs(of_printed - difference) > 0.5 * abs(difference)


@pytest.mark.parametrize(("width", "holds"), [(1.0, True), (4.0, False)])
def test_theorem_2_fails_beyond_the_unit_cube(width, holds):
    """Two equal uniform densities on [0, width]: the overlap is 1, the cross entropy log(width)."""
    x, dx = np.linspace(0, width, 1001, retstep=True)
    density = np.full(len(x), 1 / width)
    overlap, cross = trapezoid(np.minimum(density, density), dx=dx), trapezoid(density * density, dx=dx)
    assert -math.log(cross) == pytest.approx(math.log(width), abs=1e-12)
    assert (-math.log(overlap) >= -math.log(cross) / 2 - 1e-12) == holds


def test_value_is_a_mean_over_pairs_where_tiles_are_several_and_of_unequal_sizes(rng):
    P, Q = rng.normal(size=(1100, 2)), rng.normal(size=(600, 2)) + 1
    kernel = np.array([[0.3, 0.1], [0.1, 0.2]])
    for A, B, same in ((P, Q, False), (P, P, True)):
        value, of_a, of_b, _ = exact.log_potential(A, B, kernel, same=same)
        pairs = multivariate_normal(cov=kernel).pdf(A[:, np.newaxis] - B[np.newaxis])
        assert value == pytest.approx(math.log(pairs.mean()), rel=1e-12)
        towards = (B[np.newaxis] - A[:, np.newaxis]) @ np.linalg.inv(kernel)
        pulls = (pairs[..., np.newaxis] * towards) / pairs.sum()
        np.testing.assert_allclose(of_a, pulls.sum(axis=1), atol=1e-15)
        np.testing.assert_allclose(of_b, -pulls.sum(axis=0), atol=1e-15)


@pytest.mark.parametrize("distance", [1e2, 1e4])
def test_classes_so_far_apart_that_every_pair_underflows_have_a_finite_divergence(rng, distance):
    A, B = rng.normal(size=(40, 3)), rng.normal(size=(50, 3)) + distance
    V = np.eye(3)[:, :2]
    value, gradient = melm_objective(V, A, B, covariance="empirical")
    kernels = [silverman_factor(len(X), 2) ** 2 * empirical_covariance(X)[:2, :2] for X in (A, B)]

    def log_potential(P, Q, kernel):
        w = (P[:, np.newaxis] - Q[np.newaxis])[..., :2]
        exponents = -0.5 * np.einsum("ijk,kl,ijl->ij", w, np.linalg.inv(kernel), w)
        return (
            logsumexp(exponents) - math.log(exponents.size) - 0.5 * np.linalg.slogdet(2 * np.pi * kernel)[1]
        )

    expected = (
        log_potential(A, A, 2 * kernels[0])
        + log_potential(B, B, 2 * kernels[1])
        - 2 * log_potential(A, B, sum(kernels))
    )
    assert value == pytest.approx(expected, rel=1e-9)
    assert np.isfinite(gradient).all()
    assert np.abs(gradient).max() > 1


@pytest.mark.parametrize("method", METHODS)
def test_value_is_that_of_the_subspace_whatever_its_basis(rng, classes, V, method):
    value, gradient = melm_objective(V, *classes, method=method)
    M = rng.normal(size=(2, 2))
    of_other_basis, other_gradient = melm_objective(V @ M, *classes, method=method)
    tolerance = 1e-9 if method != "binned" else 1e-4
    assert of_other_basis == pytest.approx(value, abs=tolerance)
    np.testing.assert_allclose(other_gradient @ M.T, gradient, atol=1e2 * tolerance * np.abs(gradient).max())


@pytest.mark.parametrize("method", METHODS)
def test_gradient_is_orthogonal_to_the_projection(classes, V, method):
    _, gradient = melm_objective(V, *classes, method=method)
    assert np.abs(V.T @ gradient).max() < (1e-10 if method != "binned" else 1e-3) * np.abs(gradient).max()


def test_affine_change_of_the_data_changes_nothing_with_the_empirical_covariance(rng, classes, V):
    M, shift = rng.normal(size=(5, 5)), rng.normal(size=5)
    moved = [X @ M + shift for X in classes]
    value, _ = melm_objective(V, *classes, covariance="empirical")
    of_moved, _ = melm_objective(np.linalg.solve(M, V), *moved, covariance="empirical")
    assert of_moved == pytest.approx(value, rel=1e-10)


def test_classes_may_change_places_and_equal_ones_have_no_divergence(classes, V):
    value, gradient = melm_objective(V, *classes)
    swapped, of_swapped = melm_objective(V, *reversed(classes))
    assert swapped == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(of_swapped, gradient, atol=1e-12 * np.abs(gradient).max())
    assert melm_objective(V, classes[0], classes[0])[0] == pytest.approx(0, abs=1e-12)


def test_on_the_line_it_is_the_divergence_of_kernel_density_estimates(rng, classes):
    v = rng.normal(size=(5, 1))
    on_line = [(X @ v).ravel() for X in classes]
    widths = tuple(0.7 * silverman_factor(len(x), 1) * np.std(x) for x in on_line)
    value, _ = melm_objective(v, *classes, bandwidth_scale=0.7, covariance="empirical")
    assert value == pytest.approx(cauchy_schwarz_kde(*on_line, bandwidth=widths), rel=1e-10)


def test_divergence_of_three_classes_is_the_sum_over_their_pairs(rng, classes, V):
    third = rng.normal(size=(25, 5)) - 1
    settings = {"bandwidth_scale": 1.0, "covariance": "ledoit_wolf"}
    value, gradient = ProjectedDivergence.of_classes([*classes, third], 2, **settings)(V)
    pairs = [melm_objective(V, *pair) for pair in (classes, (classes[0], third), (classes[1], third))]
    assert value == pytest.approx(sum(each for each, _ in pairs), rel=1e-12)
    np.testing.assert_allclose(gradient, sum(each for _, each in pairs), atol=1e-10)


def test_wide_kernels_of_one_class_make_the_principal_plane_the_one_of_largest_entropy(rng):
    """Theorem 1: with one Gaussian for a density, the limit of wide kernels, entropy leads to PCA's plane."""
    X = rng.normal(size=(200, 5)) * [3.0, 2.0, 1.0, 0.5, 0.2] @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    X -= X.mean(axis=0)
    covariance = empirical_covariance(X)
    axes = np.linalg.eigh(covariance)[1]
    pca, last = axes[:, :-3:-1], axes[:, :2]
    others = [np.linalg.qr(rng.normal(size=(5, 2)))[0] for _ in range(50)]
    others += [axes[:, [i, j]] for i in range(5) for j in range(i) if (j, i) not in ((0, 1), (3, 4))]
    least, *entropies, most = (quadratic_entropy_gaussian(V.T @ covariance @ V) for V in [last, *others, pca])
    assert least < min(entropies) < max(entropies) < most

    def slope(V, kernel):
        """Of the entropy of the kernel density estimate, within the manifold of subspaces."""
        _, of_p, of_q, of_kernel = exact.log_potential(X @ V, X @ V, 2 * V.T @ kernel @ V, same=True)
        gradient = -X.T @ (of_p + of_q) - 4 * kernel @ V @ of_kernel
        return np.abs(gradient - V @ (V.T @ gradient)).max()

    assert slope(pca, 1e4 * covariance) < 1e-3 < 0.1 < min(slope(V, 1e4 * covariance) for V in others[:50])


def samples(kind, n, rng):
    """Classes that are hard on a grid: heavy tails, thin ones across each other, lumps of equal rows."""
    A, B = rng.normal(size=(n, 4)), 0.6 * rng.normal(size=(n // 2, 4)) + 1
    if kind == "tails":
        A = rng.standard_t(3, size=A.shape)
    elif kind == "thin":
        A, B = A * [1, 0.05, 1, 1], B * [0.05, 1, 1, 1]
    elif kind == "lumps":
        A = rng.normal(size=(8, 4))[rng.integers(8, size=n)]
    return A, B


@pytest.mark.parametrize("kind", ["round", "tails", "thin", "lumps"])
@pytest.mark.parametrize(("n", "k"), [(300, 2), (600, 1)])
@pytest.mark.parametrize("bandwidth_scale", [0.25, 2.0])
def test_binned_objective_is_within_its_bounds(rng, kind, n, k, bandwidth_scale):
    rows, V = samples(kind, n, rng), np.eye(4)[:, :k]
    divergence = ProjectedDivergence.of_classes(
        rows, k, bandwidth_scale=bandwidth_scale, covariance="ledoit_wolf"
    )
    points, kernels = [X @ V for X in divergence.rows], V.T @ divergence.kernels @ V
    grid, weights = binned.Grid.around(points, kernels, math.inf), np.array([[1.0, -2.0], [0.0, 1.0]])
    value, of_points, of_kernels = binned.weighted_log_potentials(points, kernels, weights, grid)
    exact_value, *exact_slopes = exact.weighted_log_potentials(points, kernels, weights)
    assert value == pytest.approx(exact_value, rel=1e-4, abs=1e-4)

    def gradient(of_points, of_kernels):
        shapes = zip(divergence.kernels, of_kernels, strict=True)
        moved = zip(divergence.rows, of_points, strict=True)
        return sum(X.T @ own for X, own in moved) + 2 * sum(kernel @ V @ own for kernel, own in shapes)

    expected = gradient(*exact_slopes)
    np.testing.assert_allclose(gradient(of_points, of_kernels), expected, atol=1e-2 * np.abs(expected).max())


def test_binned_gradient_is_that_of_the_binned_value(rng):
    """On a grid that stays where it is: what L-BFGS follows leads uphill."""
    points = [rng.normal(size=(50, 2)), rng.normal(size=(40, 2)) + 1]
    kernels, weights = (
        np.array([0.2 * np.eye(2), [[0.3, 0.1], [0.1, 0.2]]]),
        np.array([[1.0, -2.0], [0.0, 1.0]]),
    )
    grid, step = binned.Grid.around(points, kernels, math.inf), 1e-6
    _, of_points, of_kernels = binned.weighted_log_potentials(points, kernels, weights, grid)
    move, stretch = rng.normal(size=(40, 2)), np.array([[1.0, 0.5], [0.5, -1.0]])
    values = [
        binned.weighted_log_potentials(
            [points[0], points[1] + sign * step * move],
            kernels + sign * step * np.array([np.zeros((2, 2)), stretch]),
            weights,
            grid,
        )[0]
        for sign in (1, -1)
    ]
    predicted = np.sum(of_points[1] * move) + np.sum(of_kernels[1] * stretch)
    assert predicted == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-6)


def test_binned_objective_of_classes_too_far_apart_for_the_grid_is_exact(rng):
    A, B = rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 12
    value, gradient = melm_objective(np.eye(2), A, B, method="binned")
    exact_value, exact_gradient = melm_objective(np.eye(2), A, B, method="exact")
    assert value == exact_value > 40
    np.testing.assert_array_equal(gradient, exact_gradient)


def test_very_many_rows_are_binned_unless_asked_otherwise(rng, monkeypatch):
    rows, V = (rng.normal(size=(708, 3)), rng.normal(size=(708, 3)) + 1), np.eye(3)[:, :2]
    called = []
    monkeypatch.setattr(binned, "weighted_log_potentials", lambda *_: called.append(1))
    for method, times in (("auto", 1), ("exact", 0), ("binned", 1)):
        called.clear()
        melm_objective(V, *rows, method=method)
        assert len(called) == times, method
    called.clear()
    melm_objective(V, *(X[:707] for X in rows))  # 999,698 pairs, less than a million
    assert not called


def test_single_precision_stays_so_and_is_near_double_precision(rng):
    rows = rng.normal(size=(300, 6)), rng.normal(size=(200, 6)) + 0.5
    V = rng.normal(size=(6, 2))
    value, gradient = melm_objective(V, *rows)
    single, of_single = melm_objective(V, *(X.astype(np.float32) for X in rows))
    assert of_single.dtype == np.float32
    assert single == pytest.approx(value, rel=1e-4)
    np.testing.assert_allclose(of_single, gradient, atol=1e-3 * np.abs(gradient).max())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(3), np.ones((4, 2)), np.ones((4, 2))), r"V has shape \(3, 3\), the classes \(4, 2\), \(4,"),
        ((np.ones((2, 3)), np.ones((4, 2)), np.ones((4, 2))), "at most as many columns as rows"),
        ((np.eye(2)[:, 0], np.ones((4, 2)), np.ones((4, 2))), r"V has shape \(2,\)"),
        ((np.eye(2), np.ones((0, 2)), np.ones((4, 2))), r"X_neg has shape \(0, 2\)"),
        ((np.eye(2), np.ones((4, 2)), np.full((4, 2), np.nan)), "X_pos holds 8 NaN or infinite values"),
        ((np.eye(2), 1e307 * np.ones((4, 2)), np.ones((4, 2))), "X_neg holds 1e.307 in size; it must be at"),
        ((np.eye(2), np.ones((4, 2)), np.arange(8.0).reshape(4, 2)), "have no density"),
        ((np.ones((2, 2)), np.eye(2), 1 - np.eye(2)), "V has dependent columns"),
    ],
)
def test_what_has_no_divergence_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        melm_objective(*arguments)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"method": "fast"}, "method is 'fast'"),
        ({"bandwidth_scale": 0.0}, "bandwidth_scale is 0.0; accepted: positive numbers"),
        ({"bandwidth_scale": 1e160}, r"bandwidth_scale is 1e\+160; accepted: positive numbers up to 1e\+100"),
        ({"covariance": "diagonal"}, "covariance is 'diagonal'"),
    ],
)
def test_setting_that_is_not_there_is_refused(classes, V, setting, message):
    with pytest.raises(ValueError, match=message):
        melm_objective(V, *classes, **setting)
