"""The kernel density classifier."""

import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import gaussian_kde, norm
from sklearn.datasets import load_iris
from sklearn.neighbors import KernelDensity, KNeighborsClassifier

from entrolearn import MELM, KDEClassifier
from entrolearn.measures.gauss_sums import LOG_ERROR


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[:, :2] + 1e-3 * np.random.default_rng(0).normal(size=(150, 2)), y  # no ties


def test_probabilities_are_those_of_scipys_estimates(iris):
    X, y = iris
    X, y = X[20:], y[20:]  # classes of different sizes
    scale = 0.7
    joint = []
    for c in range(3):
        rows = X[y == c].T
        n = rows.shape[1]
        # scipy divides by n - 1 in the covariance, the paper's estimate by n.
        kde = gaussian_kde(rows, lambda kde, n=n: scale * kde.silverman_factor() * math.sqrt((n - 1) / n))
        joint.append(kde(X.T) * n / len(y))
    expected = np.transpose(joint) / np.sum(joint, axis=0)[:, None]
    ours = KDEClassifier(scale, covariance="empirical", priors="empirical").fit(X, y)
    assert_allclose(ours.predict_proba(X), expected, rtol=1e-10)
    assert_array_equal(ours.predict(X), expected.argmax(axis=1))


def test_on_the_line_it_is_scikit_learns_estimate(iris):
    x, y = iris[0][:100, :1], iris[1][:100]
    log_densities = []
    for c in (0, 1):
        width = (4 / (3 * 50)) ** (1 / 5) * x[y == c].std()  # Silverman's rule
        log_densities.append(KernelDensity(bandwidth=width).fit(x[y == c]).score_samples(x))
    found = KDEClassifier().fit(x, y).decision_function(x)  # one variance has nothing to shrink towards
    assert_allclose(found, log_densities[1] - log_densities[0], rtol=1e-7, atol=1e-7)


def test_one_row_in_each_class_is_the_nearest_neighbour_in_standard_units():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(4, 3)) * [1.0, 10.0, 0.1], np.arange(4)
    Z = rng.normal(size=(100, 3)) * [1.0, 10.0, 0.1]
    expected = KNeighborsClassifier(1).fit(X / X.std(axis=0), y).predict(Z / X.std(axis=0))
    assert_array_equal(KDEClassifier().fit(X, y).predict(Z), expected)


def test_two_points_on_the_line_have_a_closed_form():
    x, y = np.array([[-1.0], [1.0], [2.0], [6.0]]), np.array([0, 0, 1, 1])
    h = (4 / (3 * 2)) ** (1 / 5)
    densities = [norm([-1, 1], h).pdf(0.5).mean(), norm([2, 6], 2 * h).pdf(0.5).mean()]
    found = KDEClassifier().fit(x, y).predict_proba([[0.5]])
    assert_allclose(found, [np.divide(densities, sum(densities))], rtol=1e-12)


def test_very_wide_kernels_are_a_gaussian_of_each_class():
    """The estimate has the covariance of its points and that of its kernel: C (1 + γ²h²)."""
    X, y = load_iris(return_X_y=True)
    X, scale = X[:, 2:], 200.0
    h = (4 / (4 * 50)) ** (1 / 6)
    kde = KDEClassifier(scale, covariance="empirical").fit(X, y)
    Z = X.mean(axis=0) + 50 * (X - X.mean(axis=0))
    expected = []
    for c in range(3):
        rows = X[y == c]
        covariance = np.cov(rows.T, ddof=0) * (1 + (scale * h) ** 2)
        difference = Z - rows.mean(axis=0)
        distance = np.sum(difference @ np.linalg.inv(covariance) * difference, axis=1)
        expected.append(-0.5 * (distance + np.linalg.slogdet(covariance)[1]))
    expected = np.transpose(expected)
    found = kde.decision_function(Z)
    assert_allclose(found - found[:, :1], expected - expected[:, :1], atol=1e-4)
    assert np.ptp(expected - expected[:, :1]) > 1


def test_very_narrow_kernels_are_the_nearest_neighbour_where_covariances_are_equal():
    rng = np.random.default_rng(3)
    cloud = rng.normal(size=(30, 2))
    X, y = np.concatenate([cloud, cloud + [0.5, 0.2]]), np.repeat(["a", "b"], 30)
    Z = rng.normal(size=(300, 2))
    whitening = np.linalg.cholesky(np.linalg.inv(np.cov(cloud.T)))
    expected = KNeighborsClassifier(1).fit(X @ whitening, y).predict(Z @ whitening)
    found = KDEClassifier(1e-3, covariance="empirical").fit(X, y)
    assert_array_equal(found.predict(Z), expected)
    assert len(np.unique(expected)) == 2


def test_far_from_all_rows_the_nearest_class_wins_for_certain():
    rng = np.random.default_rng(4)
    cloud = rng.normal(size=(30, 2))
    fitted = KDEClassifier().fit(np.concatenate([cloud, cloud + 10]), np.repeat([0, 1], 30))
    Z = np.array([[-1e5, -1e5], [1e5, 1e5]])
    assert np.exp(fitted.densities_.log_density(Z)).max() == 0
    proba = fitted.predict_proba(Z)
    assert np.isfinite(fitted.predict_log_proba(Z)).all()
    assert_allclose(proba.sum(axis=1), 1)
    assert_array_equal(proba.argmax(axis=1), [0, 1])
    assert_array_equal(fitted.predict(Z), [0, 1])
    assert (proba.max(axis=1) > 0.999).all()


def test_log_probabilities_keep_what_probabilities_lose():
    X, y = np.array([[-1.0], [1.0], [99.0], [101.0]]), [0, 0, 1, 1]
    fitted = KDEClassifier().fit(X, y)
    proba, log_proba = fitted.predict_proba([[0.0]]), fitted.predict_log_proba([[0.0]])
    assert proba[0, 1] == 0
    h = (4 / (3 * 2)) ** (1 / 5)
    near, far = norm([-1, 1], h).pdf(0).mean(), norm([99, 101], h).logpdf(0)
    expected = np.logaddexp(*far) - math.log(2) - math.log(near)
    assert log_proba[0, 1] == pytest.approx(expected, rel=1e-12)


def test_priors_move_the_log_odds_by_their_own(iris):
    X, y = iris[0][:100], iris[1][:100]
    uniform, weighted = (KDEClassifier(priors=p).fit(X, y).decision_function(X) for p in ("uniform", [1, 9]))
    assert_allclose(weighted - uniform, math.log(9), rtol=1e-9)


def test_a_class_in_a_plane_needs_a_shrunk_covariance():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, 30))  # 20 rows of each class span no more than 19 dimensions
    X[20:, 0] += 6
    y = np.repeat([0, 1], 20)
    test = rng.normal(size=(200, 30))
    test[100:, 0] += 6
    right = {
        covariance: np.mean(
            KDEClassifier(covariance=covariance).fit(X, y).predict(test) == np.repeat([0, 1], 100)
        )
        for covariance in ("empirical", "ledoit_wolf")
    }
    assert right["ledoit_wolf"] > 0.95 > right["empirical"]


def some_classes(k, n=3000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, k)) + y[:, None], y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 2])
def test_binned_predictions_are_those_of_all_pairs(k, weighted):
    X, y = some_classes(k, 3000 * k)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    exact, binned = (KDEClassifier(method=m).fit(X, y, weights) for m in ("exact", "binned"))
    Z = np.vstack([some_classes(k, 1000, seed=2)[0], [[1e3] * k, [-1e60] * k]])
    gaps = binned.decision_function(Z) - exact.decision_function(Z)
    assert 0 < abs(gaps).max() <= LOG_ERROR
    assert_array_equal(binned.predict(Z), exact.predict(Z))


def test_rows_between_two_classes_are_computed_exactly():
    """Mirrored classes: on the axis of symmetry the densities are equal, and rounding alone decides."""
    half = np.random.default_rng(0).normal(1.0, 1.0, size=3000)
    X, y = np.append(half, -half)[:, None], np.repeat([0, 1], 3000)
    exact, binned = (KDEClassifier(method=m).fit(X, y) for m in ("exact", "binned"))
    Z = np.append(np.random.default_rng(1).normal(scale=1e-9, size=500), half)[:, None]
    assert_array_equal(binned.decision_function(Z)[:500], exact.decision_function(Z)[:500])
    assert_array_equal(binned.predict(Z), exact.predict(Z))
    assert abs(exact.decision_function(Z)[:500]).max() < 2 * LOG_ERROR  # near enough for the rule to matter


def test_melm_predicts_as_its_exact_densities_do():
    X, y = some_classes(3, 900)
    machine = MELM(1, n_init=1, method="binned", random_state=0).fit(X, y)
    Z = some_classes(3, 2000, seed=3)[0]
    binned, scores = machine.predict(Z), machine.decision_function(Z)
    machine.set_params(method="exact")
    assert_array_equal(machine.predict(Z), binned)
    assert_allclose(machine.decision_function(Z), scores, atol=LOG_ERROR)


def test_a_prediction_changes_no_file():
    X, y = some_classes(2, 2000)
    machine = KDEClassifier(method="binned").fit(X, y)
    before = pickle.dumps(machine)
    scores = machine.decision_function(X)
    assert pickle.dumps(machine) == before
    assert_array_equal(pickle.loads(before).decision_function(X), scores)
