"""Differential entropies."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from entrolearn.measures import differential, gaussian_entropy, kde_entropy, knn_entropy, silverman_factor
from entrolearn.measures.differential import _log_sums
from entrolearn.measures.gauss_sums import LOG_ERROR

COVARIANCE = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])


def gaussian_rows(rng, n):
    return rng.multivariate_normal(np.zeros(3), COVARIANCE, size=n)


def test_gaussian_entropy_is_scipys():
    assert gaussian_entropy(4.0) == pytest.approx(norm(0, 2).entropy(), rel=1e-14)
    assert gaussian_entropy(COVARIANCE) == pytest.approx(
        multivariate_normal(cov=COVARIANCE).entropy(), rel=1e-14
    )
    assert gaussian_entropy(np.diag([1.0, 0.0])) == -math.inf


def test_no_density_of_this_variance_has_more_entropy_than_the_gaussian():
    assert gaussian_entropy(1 / 12) > 0.0  # uniform on the unit interval
    assert gaussian_entropy(2.0) > 1 + math.log(2)  # Laplace of scale 1


@pytest.mark.parametrize("bandwidth", ["silverman", 0.7])
def test_kernel_estimate_is_that_of_a_loop(rng, bandwidth):
    X = gaussian_rows(rng, 40)
    covariance = (
        silverman_factor(40, 3) ** 2 * np.cov(X.T, bias=True)
        if bandwidth == "silverman"
        else bandwidth**2 * np.eye(3)
    )
    naive = -np.mean(
        [
            math.log(np.mean([multivariate_normal(other, covariance).pdf(x) for other in np.delete(X, i, 0)]))
            for i, x in enumerate(X)
        ]
    )
    assert kde_entropy(X, bandwidth=bandwidth) == pytest.approx(naive, rel=1e-10)


def test_two_points_have_a_closed_kernel_estimate():
    assert kde_entropy([0.0, 3.0], bandwidth=1.5) == pytest.approx(-norm(0, 1.5).logpdf(3.0), rel=1e-14)


def test_points_far_apart_keep_the_kernel_estimate_finite():
    assert kde_entropy([0.0, 1e4], bandwidth=1.0) == pytest.approx(-norm.logpdf(1e4), rel=1e-12)


def neighbour_loop(X, k):
    n, d = X.shape
    logs = []
    for i, x in enumerate(X):
        distances = sorted(math.dist(x, other) for j, other in enumerate(X) if j != i)
        logs.append(math.log(distances[k - 1]))
    harmonic = sum(1 / j for j in range(k, n))  # digamma(n) - digamma(k)
    ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
    return harmonic + math.log(ball) + d * np.mean(logs)


@pytest.mark.parametrize("k", [1, 3])
def test_neighbour_estimate_is_that_of_a_loop(rng, k):
    X = gaussian_rows(rng, 60)
    assert knn_entropy(X, n_neighbors=k) == pytest.approx(neighbour_loop(X, k), rel=1e-12)


@pytest.mark.parametrize(("estimate", "bound"), [(knn_entropy, 0.06), (kde_entropy, 0.12)])
def test_estimates_are_near_the_gaussians_closed_form(rng, estimate, bound):
    X = gaussian_rows(rng, 3000)
    assert abs(estimate(X) - gaussian_entropy(COVARIANCE)) < bound


def test_estimates_come_nearer_with_more_rows(rng):
    """Mean absolute error over 20 samples of each size."""
    for estimate in (knn_entropy, kde_entropy):
        few, many = (
            np.mean([abs(estimate(rng.normal(size=n)) - gaussian_entropy(1.0)) for _ in range(20)])
            for n in (50, 800)
        )
        assert many < 0.5 * few


def test_shifts_change_nothing_and_maps_add_the_logarithm_of_their_determinant(rng):
    X = gaussian_rows(rng, 100)
    A = rng.normal(size=(3, 3))
    log_determinant = math.log(abs(np.linalg.det(A)))
    assert kde_entropy(X @ A + 5.0) == pytest.approx(kde_entropy(X) + log_determinant, rel=1e-9)
    turned, _ = np.linalg.qr(A)
    assert knn_entropy(3.0 * X @ turned - 2.0) == pytest.approx(knn_entropy(X) + 3 * math.log(3.0), rel=1e-9)
    assert gaussian_entropy(A @ COVARIANCE @ A.T) == pytest.approx(
        gaussian_entropy(COVARIANCE) + log_determinant, rel=1e-9
    )


def test_kernel_entropy_of_groups_far_apart_is_that_of_their_differences(rng):
    """A map of determinant one takes away the jump that all columns share."""
    X = rng.normal(size=(30, 3)) + 1e8 * (rng.random((30, 1)) < 0.5)
    apart = np.column_stack([X[:, 0], X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]])
    assert kde_entropy(X) == pytest.approx(kde_entropy(apart), rel=1e-6)
    assert kde_entropy(X[::-1]) == pytest.approx(kde_entropy(X), rel=1e-6)


def test_kernel_entropy_is_finite_as_long_as_the_numbers_have_digits(rng):
    """16 spacings of the numbers make a deviation: rounding changes the third digit of a width at most."""
    X = np.rint(64 * rng.normal(size=(40, 4))) / 64
    assert kde_entropy(X + 2.0**46) == pytest.approx(kde_entropy(X), abs=1e-3)
    assert kde_entropy(np.column_stack([X, X[:, 0] + X[:, 1]]) + 2.0**46) == -math.inf


def test_a_line_may_be_given_as_a_column(rng):
    x = rng.normal(size=50)
    for estimate in (knn_entropy, kde_entropy):
        assert estimate(x) == estimate(x[:, None])


def test_samples_without_variance_have_no_entropy(rng):
    assert kde_entropy(np.column_stack([rng.normal(size=20), np.ones(20)])) == -math.inf
    assert knn_entropy(np.repeat([0.0, 1.0, 2.0], 4)) == -math.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kde_entropy([1.0]), "X has 1 rows; at least 2 are needed"),
        (lambda: kde_entropy([1.0, 2.0], bandwidth=0.0), "bandwidth is 0.0; it must be 'silverman' or"),
        (lambda: kde_entropy([0.0, 1e300], bandwidth=1.0), "bandwidth is 1.0, less than 1e-150 of"),
        (lambda: kde_entropy([1.0, 2.0], bandwidth="scott"), "bandwidth is 'scott'"),
        (lambda: kde_entropy([1.0, 2.0], method="fast"), "method is 'fast'"),
        (lambda: knn_entropy([1.0, 2.0, 3.0]), "X has 3 rows; at least 4 are needed"),
        (lambda: knn_entropy([1.0, 2.0], n_neighbors=0), "n_neighbors is 0; it must be an integer of at lea"),
        (lambda: knn_entropy([1.0, math.nan], n_neighbors=1), "X contains NaN"),
        (lambda: gaussian_entropy([[1.0, 2.0]]), "covariance has shape"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


SPREADS = {
    "normal": lambda rng, k: rng.normal(size=(3000, k)),
    "a long tail": lambda rng, k: rng.standard_t(2, size=(3000, k)),
    "far clusters": lambda rng, k: rng.normal(size=(3000, k)) + 1e3 * rng.integers(2, size=(3000, 1)),
}


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("spread", SPREADS)
def test_binned_sums_are_the_exact_ones_to_their_bound(spread, k):
    X = SPREADS[spread](np.random.default_rng(k), k)
    exact, binned = (_log_sums(X / 0.5, method) for method in ("exact", "binned"))
    assert abs(exact - binned).max() <= LOG_ERROR
    assert kde_entropy(X, method="auto") == pytest.approx(kde_entropy(X, method="exact"), abs=LOG_ERROR)


def test_rows_that_stand_alone_are_exact(monkeypatch):
    x = np.append(np.random.default_rng(0).normal(size=3000), [60.0, 66.0])
    seen = []
    whole = differential.log_kernel_sums
    monkeypatch.setattr(differential, "log_kernel_sums", lambda X, of: seen.extend(of) or whole(X, of))
    found = _log_sums(x[:, None], "binned")
    assert {3000, 3001} <= set(seen)
    assert len(seen) < 100
    assert found[3000:].tolist() == pytest.approx([-18.0, -18.0], rel=1e-14)  # each has the other, 6 away
