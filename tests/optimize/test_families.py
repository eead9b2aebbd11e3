"""Families of distributions: their closed-form fits, their samples, and how they are related."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import bernoulli, multivariate_normal, norm

from entrolearn.optimize import Bernoulli, Family, Gaussian, MultivariateGaussian

COV = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
FAMILIES = [
    Bernoulli([0.1, 0.5, 0.8]),
    Gaussian([1.0, -2.0, 0.0], [0.5, 1.0, 3.0]),
    MultivariateGaussian([1.0, -2.0, 0.0], COV),
]


def parameters(family) -> list[np.ndarray]:
    return [value for value in vars(family).values() if isinstance(value, np.ndarray)]


def a_name(family) -> str:
    return type(family).__name__


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def maximum(log_likelihood, start) -> np.ndarray:
    """The parameters of greatest mean log-likelihood, by a general minimiser."""
    return minimize(lambda theta: -log_likelihood(theta), start, tol=1e-12).x


# Eq. (4) once more, by a general minimiser over unbounded parameters and scipy's densities.


def test_bernoullis_fit_maximises_the_likelihood(rng):
    elite = FAMILIES[0].sample(40, rng)
    found = maximum(lambda theta: bernoulli.logpmf(elite, expit(theta)).sum(axis=1).mean(), np.zeros(3))
    assert_allclose(FAMILIES[0].fit(elite).p, expit(found), atol=1e-5)


def test_gaussians_fit_maximises_the_likelihood(rng):
    elite = FAMILIES[1].sample(40, rng)
    found = maximum(
        lambda theta: norm.logpdf(elite, theta[:3], np.exp(theta[3:])).sum(axis=1).mean(), np.zeros(6)
    )
    fit = FAMILIES[1].fit(elite)
    assert_allclose(fit.mean, found[:3], atol=1e-5)
    assert_allclose(fit.std, np.exp(found[3:]), atol=1e-5)


def test_multivariate_gaussians_fit_maximises_the_likelihood(rng):
    elite = FAMILIES[2].sample(40, rng)
    lower = np.tril_indices(3)

    def covariance(theta):
        root = np.zeros((3, 3))
        root[lower] = theta[3:]
        return root @ root.T

    def log_likelihood(theta):
        return multivariate_normal.logpdf(elite, theta[:3], covariance(theta), allow_singular=True).mean()

    found = maximum(log_likelihood, np.concatenate([np.zeros(3), np.eye(3)[lower]]))
    fit = FAMILIES[2].fit(elite)
    assert_allclose(fit.mean, found[:3], atol=1e-5)
    assert_allclose(fit.cov, covariance(found), atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES, ids=a_name)
def test_fit_to_a_large_sample_is_the_distribution_that_it_was_drawn_from(family, rng):
    """Consistency; the tolerance is some five standard errors of the largest variance here."""
    for given, fitted in zip(
        parameters(family), parameters(family.fit(family.sample(40_000, rng))), strict=True
    ):
        assert_allclose(fitted, given, atol=0.08)


@pytest.mark.parametrize("family", FAMILIES, ids=a_name)
def test_smoothing_goes_from_the_old_distribution_to_the_fit(family, rng):
    fit = family.fit(family.sample(20, rng))
    for old, new, all_of_it, part in zip(
        parameters(family),
        parameters(fit),
        parameters(family.smooth(fit, 1.0)),
        parameters(family.smooth(fit, 0.7)),
        strict=True,
    ):
        assert_allclose(all_of_it, new, rtol=1e-15)
        assert_allclose(part, 0.7 * new + 0.3 * old, rtol=1e-14, atol=1e-15)  # eq. (5)


@pytest.mark.parametrize("family", FAMILIES, ids=a_name)
def test_family_is_what_the_method_asks_for_and_carries_its_tolerance_along(family, rng):
    assert isinstance(family, Family)
    sample = family.sample(6, rng)
    assert sample.shape == (6, family.n_variables) == (6, 3)
    assert_array_equal(family.check(sample), sample)
    tight = type(family)(*parameters(family), tolerance=1e-3)
    assert tight.smooth(tight.fit(sample), 0.5).tolerance == 1e-3
    with pytest.raises(ValueError, match="read-only"):
        parameters(family)[0][:] = 0


@pytest.mark.parametrize("family", FAMILIES, ids=a_name)
def test_samples_are_the_same_for_the_same_state_of_either_kind_of_generator(family):
    for kind in (np.random.default_rng, np.random.RandomState):
        assert_array_equal(family.sample(5, kind(3)), family.sample(5, kind(3)))


def test_impossible_values_are_never_drawn(rng):
    certain = Bernoulli([0.0, 1.0]).sample(10_000, rng)
    assert not certain[:, 0].any()
    assert certain[:, 1].all()


def test_independent_gaussians_are_a_multivariate_one_whose_covariance_is_diagonal(rng):
    elite = FAMILIES[1].sample(30, rng)
    fit, full = FAMILIES[1].fit(elite), FAMILIES[2].fit(elite)
    assert_allclose(fit.mean, full.mean)
    assert_allclose(fit.std, np.sqrt(np.diag(full.cov)))


def test_singular_covariance_is_sampled_within_its_subspace(rng):
    fit = MultivariateGaussian(np.zeros(3), np.eye(3)).fit([[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]])
    sample = fit.sample(100, rng)
    assert_allclose(sample[:, 1] - sample[:, 0], 1, atol=1e-7)  # the line through the two points
    assert_allclose(sample[:, 2], 0, atol=1e-7)
    assert np.ptp(sample[:, 0]) > 1


def test_covariance_that_rounding_made_slightly_negative_is_sampled(rng):
    cov = np.array([[1.0, 1.0], [1.0, 1.0]]) + 1e-12 * np.array([[0, 1], [1, 0]])
    assert np.linalg.eigvalsh(cov)[0] < 0
    sample = MultivariateGaussian([0.0, 0.0], cov).sample(50, rng)
    assert_allclose(sample[:, 0], sample[:, 1], atol=1e-5)
    assert np.ptp(sample) > 1


def test_with_smoothing_no_subset_becomes_impossible():
    p = Bernoulli([0.5])
    for _ in range(20):
        p = p.smooth(p.fit([[True]]), 0.7)
    assert 1 - p.p[0] == pytest.approx(0.5 * 0.3**20, rel=1e-5)


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (Bernoulli([0.0, 1.0, 1e-7]), True),
        (Bernoulli([0.0, 1.0, 1e-3]), False),
        (Bernoulli([0.0, 1.0, 1e-3], tolerance=0.01), True),
        (Gaussian([0.0, 1.0], [1e-9, 0.0]), True),
        (Gaussian([0.0, 1.0], [1e-9, 1e-7]), False),
        (Gaussian([1e12, 0.0], [1e-4, 0.0]), True),  # doubles near 1e12 are 1.2e-4 apart
        (MultivariateGaussian([0.0, 0.0], [[1e-18, 0], [0, 0]]), True),
        (MultivariateGaussian([0.0, 0.0], [[1e-14, 0], [0, 0]]), False),
        (MultivariateGaussian([0.0, 0.0], np.ones((2, 2)), tolerance=1.5), True),  # sqrt(2) along (1, 1)
        (MultivariateGaussian([0.0, 0.0], np.ones((2, 2)), tolerance=1.4), False),
    ],
)
def test_degenerate_distributions_are_known(family, expected):
    assert family.degenerate is expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli([0.5, 1.2]), r"p holds numbers from 0.5 to 1.2; probabilities are in \[0, 1\]"),
        (lambda: Bernoulli(0.5), r"p has shape \(\); it must have 1 dimension"),
        (lambda: Bernoulli([]), r"p has shape \(0,\)"),
        (lambda: Bernoulli([0.5, np.nan]), r"p must be finite, got \[nan\]"),
        (lambda: Bernoulli([0.5], tolerance=-1), "tolerance is -1"),
        (
            lambda: Gaussian([0.0, 0.0], [1.0, 1.0, 1.0]),
            r"std has shape \(3,\); accepted: a number or the shape of mean, \(2,\)",
        ),
        (lambda: Gaussian([0.0, 0.0], -1.0), "std holds -1"),
        (lambda: Gaussian([0.0, np.inf], 1.0), r"mean must be finite, got \[inf\]"),
        (lambda: MultivariateGaussian([0.0], np.eye(2)), r"cov has shape \(2, 2\); .* it must be \(1, 1\)"),
        (lambda: MultivariateGaussian([0.0, 0.0], [[1, 1], [0, 1]]), "cov is not symmetric"),
        (lambda: MultivariateGaussian([0.0, 0.0], [[1, 2], [2, 1]]), "cov has the eigenvalue -1"),
        (lambda: Bernoulli([0.5]).check([[2]]), r"hold zeros and ones, got \[\[2\]\]"),
        (lambda: FAMILIES[1].check([[np.nan]]), "points of a Gaussian distribution must be finite"),
    ],
)
def test_bad_distribution_or_point_is_one_line_that_says_what_was_found(make, message):
    with pytest.raises(ValueError, match=message):
        make()
