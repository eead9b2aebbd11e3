"""Closed-form readouts against their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import pinv
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.covariance import oas

from entrolearn.machines.moments import ClassMoments
from entrolearn.machines.readouts import (
    ClassCovariance,
    ClassGaussians,
    CovarianceMatrix,
    EntropyReadout,
    bordered_solve,
    class_gaussians,
    entropy_discriminant,
    least_squares,
    least_squares_from_moments,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def spd(rng, h):
    root = rng.normal(size=(h, h))
    return root @ root.T + 0.1 * np.eye(h)


def discriminant(means, matrices) -> EntropyReadout:
    return entropy_discriminant(means, [ClassCovariance(CovarianceMatrix(matrix)) for matrix in matrices])


def test_beta_is_equation_4(rng):
    means, covariances = rng.normal(size=(2, 6)), [spd(rng, 6), spd(rng, 6)]
    m, inverse = means[1] - means[0], np.linalg.inv(covariances[0] + covariances[1])
    readout = discriminant(means, covariances)
    beta = readout.coef[:, 0]
    assert_allclose(beta, 2 * inverse @ m / (m @ inverse @ m))
    assert_allclose(beta @ m, 2)  # the constraint that the thresholds rely on
    assert_allclose(readout.covariances.ravel(), [beta @ S @ beta for S in covariances])
    assert_allclose(readout.means.ravel(), means @ beta)


@pytest.mark.parametrize("covariance", ["ledoit_wolf", "oas", "empirical", 0.3])
def test_covariances_from_moments_are_the_matrices_that_are_never_formed(rng, covariance):
    H, coef = rng.normal(size=(30, 6)) @ rng.normal(size=(6, 6)), rng.normal(size=(6, 2))
    moments = ClassMoments.from_data(H)
    matrix = {
        "ledoit_wolf": moments.ledoit_wolf()[0],
        "oas": oas(H)[0],
        "empirical": moments.covariance(),
    }.get(covariance, moments.covariance() + 0.3 * np.eye(6))
    _, (mine,), _ = class_gaussians([moments], covariance)
    total = np.ones((6, 6), order="F")
    mine.moments.add_covariance_to(total, mine.weight)
    assert_allclose(np.tril(total), np.tril(1 + matrix - mine.ridge * np.eye(6)), rtol=1e-12)
    projected = mine.weight * mine.moments.projected_covariance(coef) + mine.ridge * coef.T @ coef
    assert_allclose(projected, coef.T @ matrix @ coef, rtol=1e-12)
    assert_allclose(mine.dense(), matrix, rtol=1e-12)


def test_beta_minimises_the_papers_problem(rng):
    """Problem of section 3: least projected variance with the projected means two apart."""
    means, covariances = rng.normal(size=(2, 4)), [spd(rng, 4), spd(rng, 4)]
    m, total = means[1] - means[0], covariances[0] + covariances[1]
    found = minimize(
        lambda b: b @ total @ b,
        np.zeros(4),
        jac=lambda b: 2 * total @ b,
        constraints={"type": "eq", "fun": lambda b: b @ m - 2, "jac": lambda b: m},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    assert_allclose(discriminant(means, covariances).coef[:, 0], found.x, rtol=1e-5)


def test_affine_maps_of_the_hidden_space_change_nothing(rng):
    means, covariances, A = rng.normal(size=(3, 5)), [spd(rng, 5) for _ in range(3)], rng.normal(size=(5, 5))
    H = rng.normal(size=(20, 5))
    priors = np.full(3, 1 / 3)
    here = discriminant(means, covariances)
    there = discriminant(means @ A + 1, [A.T @ S @ A for S in covariances])
    odds = here.gaussians(priors).log_joint(H @ here.coef)
    odds_there = there.gaussians(priors).log_joint((H @ A + 1) @ there.coef)
    odds, odds_there = (o - o[:, :1] for o in (odds, odds_there))
    assert_allclose(odds, odds_there, rtol=1e-6, atol=1e-6)


def test_two_classes_by_the_general_basis_span_the_same_line(rng):
    """A third class far less likely than any: the general construction must contain the binary line."""
    means, covariances = rng.normal(size=(2, 5)), [spd(rng, 5), spd(rng, 5)]
    binary = discriminant(means, covariances).coef[:, 0]
    doubled = discriminant(means[[0, 1, 1]], [covariances[0], *[covariances[1] / 2] * 2])
    assert doubled.coef.shape == (5, 1)  # three classes, two distinct means: one direction
    direction = doubled.coef[:, 0]
    assert_allclose(direction / np.linalg.norm(direction), binary / np.linalg.norm(binary), rtol=1e-8)


def test_tiny_but_informative_means_are_not_called_equal(rng):
    means = 1e-28 * rng.normal(size=(2, 4))
    readout = discriminant(means, [1e-60 * spd(rng, 4)] * 2)
    assert not readout.solver_info["degenerate"]
    assert_allclose(np.diff(readout.means.ravel()), 2)


def test_equal_means_give_the_constant_machine(rng):
    means = np.repeat(rng.normal(size=(1, 4)), 2, axis=0)
    readout = discriminant(means, [spd(rng, 4)] * 2)
    assert readout.solver_info["degenerate"]
    assert not readout.coef.any()


def test_a_direction_without_variance_gets_a_share_of_the_others(rng):
    """The limit of a ridge that goes to zero: the means lie apart where no class varies."""
    means, singular = rng.normal(size=(2, 4)), np.zeros((4, 4))
    singular[:2, :2] = spd(rng, 2)
    readout = discriminant(means, [singular, 3 * singular])
    assert readout.solver_info["ridge"] == 0
    apart = np.concatenate([[0, 0], (means[1] - means[0])[2:]])
    assert_allclose(readout.coef[:, 0], 2 * apart / (apart @ apart), rtol=1e-6, atol=1e-6)
    expected = 1e-12 * 2 * np.trace(singular) * 4 / (apart @ apart)
    assert_allclose(readout.covariances.ravel(), [expected, expected], rtol=1e-6)


def test_a_matrix_that_is_no_covariance_gets_the_smallest_ridge_and_says_so(rng):
    means, indefinite = rng.normal(size=(2, 4)), np.diag([1.0, 1.0, 1.0, -1e-9])
    assert 1e-9 < discriminant(means, [indefinite] * 2).solver_info["ridge"] <= 1e-8
    assert (discriminant(means, [indefinite] * 2).covariances > 0).all()
    with pytest.raises(ValueError, match="sum of the class covariances is not positive definite"):
        discriminant(means, [np.diag([1.0, 1.0, 1.0, -2.0])] * 2)


def test_a_class_without_a_density_takes_the_mean_of_the_others(rng):
    means, matrices = rng.normal(size=(4, 6)), [spd(rng, 6) for _ in range(4)]
    row = rng.normal(size=6)
    matrices[2] = np.outer(row, row)  # of two rows
    covariances = [ClassCovariance(CovarianceMatrix(m, 2 if c == 2 else 100)) for c, m in enumerate(matrices)]
    readout = entropy_discriminant(means, covariances)
    own = [readout.coef.T @ matrix @ readout.coef for matrix in matrices]
    assert_allclose(readout.covariances[[0, 1, 3]], [own[0], own[1], own[3]], rtol=1e-8)
    assert_allclose(readout.covariances[2], (own[0] + own[1] + own[3]) / 3, rtol=1e-8)
    shrunk = [*covariances[:2], ClassCovariance(CovarianceMatrix(matrices[2] + np.eye(6), 2)), covariances[3]]
    readout = entropy_discriminant(means, shrunk)  # with a ridge two rows are enough
    assert_allclose(readout.covariances[2], readout.coef.T @ shrunk[2].dense() @ readout.coef, rtol=1e-8)


def test_components_are_white_and_dependent_ones_are_dropped(rng):
    """Means on a line but for 1e-12; the far class lies on the positive side of each component."""
    line = rng.normal(size=6)
    means = np.outer([0.0, 1.0, -3.0, 2.0], line) + 1e-12 * rng.normal(size=(4, 6))
    readout = discriminant(means, [spd(rng, 6)] * 4)
    assert readout.coef.shape == (6, 1)
    assert_allclose(readout.covariances.sum(axis=0), np.eye(1))
    assert readout.means[2, 0] - readout.means[0, 0] == np.ptp(readout.means[[0, 2]])
    means = rng.normal(size=(4, 6)) * [[1.0], [1e6], [1.0], [1.0]]  # two near classes, and one very far
    readout = discriminant(means, [spd(rng, 6) for _ in range(4)])
    assert readout.coef.shape == (6, 3)
    assert_allclose(readout.covariances.sum(axis=0), np.eye(3), atol=1e-9)


@pytest.mark.parametrize("variances", [(1.0, 4.0), (4.0, 1.0), (2.0, 2.0), (1.0, 1.0 + 1e-9)])
@pytest.mark.parametrize("priors", [(0.5, 0.5), (0.4, 0.6)])
def test_thresholds_are_where_the_weighted_densities_cross(variances, priors):
    gaussians = ClassGaussians(
        np.array([[-1.0], [1.0]]), np.reshape(variances, (2, 1, 1)), np.log(np.array(priors))
    )
    thresholds = gaussians.thresholds()
    assert len(thresholds) == (1 if np.isclose(*variances, atol=0, rtol=1e-12) else 2)
    near = thresholds[np.abs(thresholds) < 1e3]  # the far root of nearly equal variances is 1e9 away
    assert len(near) >= 1
    left = priors[0] * norm.pdf(near, -1, np.sqrt(variances[0]))
    assert_allclose(left, priors[1] * norm.pdf(near, 1, np.sqrt(variances[1])), rtol=1e-6)


def test_thresholds_are_the_papers_corrected_roots():
    """t = m_- + (2 S_- ± sqrt(S_- S_+ (ln(S_-/S_+)(S_- - S_+) + 4))) / (S_- - S_+), S_- in both roots."""
    s_neg, s_pos = 1.5, 0.4
    root = np.sqrt(s_neg * s_pos * (np.log(s_neg / s_pos) * (s_neg - s_pos) + 4))
    expected = np.sort(0.3 + (2 * s_neg + np.array([-1, 1]) * root) / (s_neg - s_pos))
    gaussians = ClassGaussians(np.array([[0.3], [2.3]]), np.array([[[s_neg]], [[s_pos]]]), np.log([0.5, 0.5]))
    assert_allclose(gaussians.thresholds(), expected)


def test_one_threshold_for_equal_variances_lies_one_above_the_negative_mean():
    gaussians = ClassGaussians(np.array([[5.0], [7.0]]), np.ones((2, 1, 1)), np.log([0.5, 0.5]))
    assert_allclose(gaussians.thresholds(), [6.0])  # t_0 = m_- + 1


def test_a_class_that_always_wins_leaves_no_threshold():
    gaussians = ClassGaussians(
        np.array([[-1.0], [1.0]]), np.array([[[1.0]], [[1.5]]]), np.log([1e-9, 1 - 1e-9])
    )
    assert gaussians.thresholds().size == 0
    assert (gaussians.log_joint(np.linspace(-9, 9, 50)[:, None]).argmax(axis=1) == 1).all()


def test_log_joint_is_scipys_density(rng):
    gaussians = ClassGaussians(np.array([[-1.0], [1.0]]), np.array([[[0.5]], [[2.0]]]), np.log([0.3, 0.7]))
    t = rng.normal(size=10)
    expected = np.log([0.3, 0.7]) + np.column_stack([norm.logpdf(t, -1, 0.5**0.5), norm.logpdf(t, 1, 2**0.5)])
    got = gaussians.log_joint(t[:, None])
    assert_allclose(got - got[:, :1], expected - expected[:, :1])


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_least_squares_is_the_weighted_pseudoinverse(rng, shape):
    H, T, w = rng.normal(size=shape), rng.normal(size=(shape[0], 2)), rng.uniform(1, 5, size=shape[0])
    root = np.sqrt(w)[:, None]
    assert_allclose(least_squares(H, T, w, len(H)), pinv(root * H) @ (root * T), atol=1e-10)


def test_normal_equations_from_moments_equal_least_squares(rng):
    H, codes, weights = rng.normal(size=(50, 4)) + 3, rng.integers(0, 3, size=50), np.array([1.0, 2.0, 5.0])
    targets = 2 * np.eye(3) - 1
    shift = H[:5].mean(axis=0)
    moments = [ClassMoments.from_data(H[codes == c], shift=shift) for c in range(3)]
    coef, method = least_squares_from_moments(moments, targets, weights)
    assert method == "cholesky"
    assert_allclose(coef, least_squares(H, targets[codes], weights[codes], 50), rtol=1e-9)


def test_a_singular_gram_matrix_gets_its_pseudoinverse(rng):
    H = np.repeat(rng.normal(size=(20, 1)), 3, axis=1)
    codes = np.arange(20) % 2
    moments = [ClassMoments.from_data(H[codes == c]) for c in range(2)]
    targets = np.array([[-1.0], [1.0]])
    coef, method = least_squares_from_moments(moments, targets, np.ones(2))
    if method == "pinvh":  # rounding may leave the matrix just positive definite
        assert_allclose(coef, least_squares(H, targets[codes], np.ones(20), 20), atol=1e-10)
    assert_allclose(H @ coef, H @ least_squares(H, targets[codes], np.ones(20), 20), atol=1e-6)


def test_bordered_system_is_solved(rng):
    A, T = spd(rng, 7), rng.normal(size=(7, 2))
    dual, intercept = bordered_solve(lambda right: np.linalg.solve(A, right), T)
    border = np.block([[np.zeros((1, 1)), np.ones((1, 7))], [np.ones((7, 1)), A]])
    expected = np.linalg.solve(border, np.vstack([np.zeros((1, 2)), T]))
    assert_allclose(np.vstack([intercept, dual]), expected)


def test_densities_that_overflow_are_refused():
    gaussians = ClassGaussians(np.zeros((2, 1)), np.ones((2, 1, 1)), np.log([0.5, 0.5]))
    with pytest.raises(ValueError, match="so far from those of the fit"):
        gaussians.log_joint(np.array([[0.0], [1e200]]))
