"""Kernel density estimates of classes."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.covariance import OAS, LedoitWolf

from entrolearn import MELM, KDEClassifier
from entrolearn.manifold import densities
from entrolearn.manifold.densities import COVARIANCES, FURTHEST, ClassDensities, class_covariance
from entrolearn.validation import class_priors


def positive_definite(rng, k):
    A = rng.normal(size=(k, k))
    return A @ A.T + 0.1 * np.eye(k)


def some_densities(rng, k=2, counts=(7, 12, 1)):
    points = tuple(rng.normal(size=(n, k)) for n in counts)
    return ClassDensities(points, np.array([positive_definite(rng, k) for _ in counts]))


# --- covariances --------------------------------------------------------------------------------------


def test_covariances_are_scikit_learns_and_numpys(rng):
    X = rng.normal(size=(20, 30)) * np.arange(1, 31)  # fewer rows than features
    assert_allclose(class_covariance(X, "empirical"), np.cov(X.T, ddof=0), rtol=1e-12, atol=1e-12)
    assert_allclose(class_covariance(X, "ledoit_wolf"), LedoitWolf().fit(X).covariance_, rtol=1e-12)
    assert_allclose(class_covariance(X, "oas"), OAS().fit(X).covariance_, rtol=1e-12)


@pytest.mark.parametrize("value", [4.0, 0.1, 1e60])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("n_samples", [1, 2, 7])
def test_equal_rows_have_no_covariance(covariance, n_samples, value):
    assert_array_equal(class_covariance(np.full((n_samples, 3), value), covariance), np.zeros((3, 3)))


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_shrinking_leaves_variances_between_those_that_there_are(covariance, rng):
    """Of rows whose covariance is all but round too: the shrinkage is then a quotient of two roundings."""
    for n, d in [(4, 2), (10, 2), (20, 5), (50, 3)] * 10:
        rows = rng.normal(size=(n, d))
        left, _, right = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        for X in (rows, left @ right, left * [1, *np.full(d - 1, 1 + 1e-9)] @ right):
            plain, shrunk = (np.linalg.eigvalsh(class_covariance(X, c)) for c in ("empirical", covariance))
            assert plain[0] * (1 - 1e-9) <= shrunk[0] <= shrunk[-1] <= plain[-1] * (1 + 1e-9)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_single_precision_is_summed_in_double(covariance, rng):
    X = (1000 + rng.normal(size=(50, 3))).astype(np.float32)
    found = class_covariance(X, covariance)
    assert found.dtype == np.float64
    assert_array_equal(found, class_covariance(X.astype(np.float64), covariance))


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 1.0, 1.0])], ids=["equal", "weighted"])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize(
    "n_samples", [2, 4]
)  # with two rows the shrinkage is zero, unless the mean is rounded
def test_a_shift_leaves_the_covariance(covariance, weights, n_samples, rng):
    X = np.round(rng.normal(size=(n_samples, 3)) * 2**10) / 2**10  # which the shift keeps to the last bit
    own = weights if weights is None else weights[:n_samples]
    found = class_covariance(X + 2.0**40, covariance, own)
    assert_allclose(found, class_covariance(X, covariance, own), rtol=1e-12, atol=1e-14)


def test_unknown_covariance_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="covariance is 'lw'; it must be one of 'ledoit_wolf', 'oas', 'empi"):
        class_covariance(np.eye(2), "lw")


# --- densities ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 5])
def test_density_is_the_mean_of_scipys_gaussians(k, rng):
    estimate = some_densities(rng, k)
    Z = 2 * rng.normal(size=(30, k))
    naive = [
        [np.mean([multivariate_normal(p, covariance).pdf(z) for p in points]) for z in Z]
        for points, covariance in zip(estimate.points, estimate.covariances, strict=True)
    ]
    assert_allclose(np.exp(estimate.log_density(Z)), np.transpose(naive), rtol=1e-11)


def test_densities_integrate_to_one(rng):
    estimate = some_densities(rng)
    side = np.linspace(-25, 25, 401)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    # The trapezoidal rule converges faster than any power of the step for these.
    assert_allclose(np.exp(estimate.log_density(grid)).sum(axis=0) * (side[1] - side[0]) ** 2, 1, rtol=1e-8)


def test_one_point_is_a_gaussian_however_far_away(rng):
    covariance = positive_definite(rng, 3)
    estimate = ClassDensities((np.array([[1.0, 2.0, 3.0]]),), covariance[None])
    for distance in (0.0, 1.0, 1e3, 1e8):
        z = np.array([1.0, 2.0, 3.0]) + distance * np.array([0.6, 0.0, -0.8])
        expected = multivariate_normal([1, 2, 3], covariance).logpdf(z)
        assert_allclose(estimate.log_density([z]), [[expected]], rtol=1e-10)


def test_far_from_all_points_the_nearest_of_them_decides(rng):
    points = (rng.normal(size=(50, 2)), rng.normal(size=(60, 2)))
    estimate = ClassDensities(points, np.array([np.eye(2)] * 2))
    angle = rng.uniform(0, 2 * np.pi, size=40)
    Z = 1e6 * np.column_stack([np.cos(angle), np.sin(angle)])
    assert np.exp(estimate.log_density(Z)).max() == 0
    nearest = np.column_stack([cdist(Z, P).min(axis=1) for P in points])
    assert_array_equal(estimate.log_density(Z).argmax(axis=1), nearest.argmin(axis=1))
    assert len(np.unique(nearest.argmin(axis=1))) == 2


def test_rows_beyond_all_squares_have_the_density_of_the_furthest(rng):
    found = ClassDensities((np.zeros((1, 2)),), np.eye(2)[None]).log_density([[1e200, 0.0], [-1e250, 1e249]])
    assert_allclose(found, -(FURTHEST**2) * np.array([[0.5], [1.0]]))


def test_blocks_do_not_change_the_densities(rng, monkeypatch):
    points, covariances = (rng.normal(size=(13, 2)), rng.normal(size=(40, 2))), np.array([np.eye(2)] * 2)
    Z = rng.normal(size=(37, 2))
    whole = ClassDensities(points, covariances).log_density(Z)
    for pairs in (1, 100, 13 * 37):
        monkeypatch.setattr(densities, "BLOCK_PAIRS", pairs)
        assert_allclose(ClassDensities(points, covariances).log_density(Z), whole, rtol=1e-13)


def test_blocks_hold_no_more_pairs_than_allowed(rng, monkeypatch):
    asked = []

    def recorded(Z, P, metric):
        asked.append(len(Z) * len(P))
        return cdist(Z, P, metric)

    monkeypatch.setattr(densities, "cdist", recorded)
    monkeypatch.setattr(densities, "BLOCK_PAIRS", 1000)
    ClassDensities((rng.normal(size=(30, 2)),), np.eye(2)[None]).log_density(rng.normal(size=(500, 2)))
    assert max(asked) <= 1000
    assert sum(asked) == 30 * 500


def test_an_affine_map_divides_the_densities_by_its_determinant(rng):
    """Also one that takes the features to units sixteen orders of magnitude apart."""
    estimate = some_densities(rng)
    Z = rng.normal(size=(20, 2))
    for A, tolerance in ((np.array([[2.0, 1.0], [-1.0, 0.5]]), 1e-11), (np.diag([1e-8, 1e8]), 1e-9)):
        moved = ClassDensities(
            tuple(P @ A.T + 3.0 * np.diag(A) for P in estimate.points), A @ estimate.covariances @ A.T
        )
        found = moved.log_density(Z @ A.T + 3.0 * np.diag(A)) + math.log(abs(np.linalg.det(A)))
        assert_allclose(found, estimate.log_density(Z), rtol=tolerance, atol=tolerance)


def test_a_far_origin_costs_no_digits(rng):
    estimate = some_densities(rng)
    Z = rng.normal(size=(20, 2))
    moved = ClassDensities(tuple(P + 2.0**20 for P in estimate.points), estimate.covariances)
    assert_allclose(moved.log_density(Z + 2.0**20), estimate.log_density(Z), rtol=1e-8)


# --- kernels without variance -------------------------------------------------------------------------


def test_between_point_masses_the_nearest_wins(rng):
    points = tuple(rng.normal(size=(1, 2)) for _ in range(4))
    estimate = ClassDensities(points, np.zeros((4, 2, 2)))
    Z = rng.normal(size=(200, 2))
    together = np.concatenate(points)
    nearest = cdist(Z / together.std(axis=0), together / together.std(axis=0)).argmin(axis=1)
    found = estimate.log_density(Z)
    assert np.isfinite(found).all()
    assert_array_equal(found.argmax(axis=1), nearest)
    assert set(nearest) == {0, 1, 2, 3}


def test_a_point_mass_wins_at_its_place_only(rng):
    points = (np.zeros((3, 2)), rng.normal(size=(30, 2)))
    estimate = ClassDensities(points, np.array([np.zeros((2, 2)), np.eye(2)]))
    Z = [[0.0, 0.0], [1e-7, 0.0], [1e-3, 0.0], [0.0, 2.0]]
    assert_array_equal(estimate.log_density(Z).argmax(axis=1), [0, 0, 1, 1])


def test_a_class_in_a_plane_keeps_its_density_there(rng):
    """Its density in the plane, times the same narrow Gaussian across wherever it is."""
    flat = np.array([[1.0, 0.0], [0.0, 0.0]])
    points = rng.normal(size=(20, 2)) * [1.0, 0.0]
    estimate = ClassDensities((points, rng.normal(size=(20, 2))), np.array([flat, np.eye(2)]))
    line = ClassDensities((points[:, :1],), np.ones((1, 1, 1)))
    z = np.linspace(-2, 2, 9)[:, None]
    across = estimate.log_density(np.hstack([z, 0 * z]))[:, 0] - line.log_density(z)[:, 0]
    assert_allclose(across, across[0], rtol=1e-9)
    assert across[0] > 10
    assert estimate.log_density([[0.0, 1e-3]])[0, 0] < -1e5


def test_all_points_of_all_classes_in_one_place_are_equally_likely():
    estimate = ClassDensities((np.full((2, 2), 0.1), np.full((5, 2), 0.1)), np.zeros((2, 2, 2)))
    found = estimate.log_density([[0.1, 0.1], [7.0, 0.1]])
    assert np.isfinite(found).all()
    assert_allclose(found[:, 0], found[:, 1], rtol=1e-9)


@pytest.mark.parametrize(
    ("points", "covariances"),
    [
        ((), np.zeros((0, 2, 2))),
        ((np.zeros((0, 2)),), np.zeros((1, 2, 2))),
        ((np.zeros((3, 2)),), np.zeros((1, 3, 3))),
        ((np.zeros((3, 2)),), np.zeros((2, 2, 2))),
        ((np.zeros(3),), np.zeros((1, 1, 1))),
    ],
)
def test_shapes_that_do_not_fit_are_refused(points, covariances):
    with pytest.raises(ValueError, match=r"do not fit covariances of shape \(.*; they must be"):
        ClassDensities(points, covariances)


def test_covariances_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="kernel covariance holds NaN or infinite"):
        ClassDensities((np.zeros((1, 1)),), np.array([[[np.inf]]]))


# --- labels and priors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("priors", "expected"), [("uniform", [0.5, 0.5]), ("empirical", [0.25, 0.75]), ([4, 1], [0.8, 0.2])]
)
def test_priors_add_up_to_one(priors, expected):
    assert_allclose(class_priors(priors, np.array([0, 1]), np.array([5, 15])), expected)


def test_priors_by_label_are_those_of_the_labels():
    labels, counts = np.array(["a", "b", "c"]), np.array([5, 15, 1])
    assert_allclose(class_priors({"c": 2, "a": 1, "b": 1}, labels, counts), [0.25, 0.25, 0.5])
    with pytest.raises(ValueError, match=r"priors names the labels \['a'\]; accepted: a weight for each of"):
        class_priors({"a": 1}, labels, counts)


@pytest.mark.parametrize("learner", [KDEClassifier(), MELM(n_init=1, random_state=0)], ids=repr)
def test_learners_take_priors_by_label(learner):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
    by_label = clone(learner).set_params(priors={"yes": 3, "no": 1}).fit(X, y)
    assert_allclose(by_label.priors_, [0.25, 0.75])
    in_order = clone(learner).set_params(priors=[1, 3]).fit(X, y)
    assert_allclose(by_label.predict_log_proba(X), in_order.predict_log_proba(X))


def test_priors_near_the_largest_number_add_up_too():
    assert_allclose(class_priors([1e308, 1e308], np.array([0, 1]), np.array([5, 15])), [0.5, 0.5])


@pytest.mark.parametrize(
    "priors", [[1.0], [1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [[1.0, 1.0]], [1e-308, 1e308]]
)
def test_priors_that_do_not_fit_are_refused(priors):
    with pytest.raises(
        ValueError, match=r"or 2 positive numbers, one for each class of \['a', 'b'\], with .*; got"
    ):
        class_priors(priors, np.array(["a", "b"]), np.array([5, 15]))
