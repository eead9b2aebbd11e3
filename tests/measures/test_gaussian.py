"""Mutual information of Gaussian variables and of Gaussian copulas."""

import math

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from entrolearn.measures import (
    UnreliableEstimateWarning,
    copula_mutual_information,
    gaussian_entropy,
    gaussian_mutual_information,
)


def by_entropies(X, Y, Z=None):
    """The same from determinants of the sample's covariances."""

    def entropy(*parts):
        return gaussian_entropy(np.cov(np.hstack(parts).T)) if parts else 0.0

    given = () if Z is None else (Z,)
    return entropy(X, *given) + entropy(Y, *given) - entropy(X, Y, *given) - entropy(*given)


def rows(rng, n=60):
    R = rng.normal(size=(n, 6)) @ rng.normal(size=(6, 6))
    return R[:, :2], R[:, 2:5], R[:, 5:]


@pytest.mark.parametrize("conditional", [False, True])
def test_estimate_is_that_of_determinants(rng, conditional):
    X, Y, Z = rows(rng)
    given = Z if conditional else None
    found = gaussian_mutual_information(X, Y, given=given, bias_corrected=False)
    assert found == pytest.approx(by_entropies(X, Y, given), rel=1e-10)


@pytest.mark.parametrize(("d", "d_z"), [(1, 0), (2, 0), (1, 2)])
@pytest.mark.filterwarnings("ignore")
def test_corrected_estimate_is_unbiased(rng, d, d_z):
    """Of 12 rows, where the uncorrected one is far too large."""
    found = []
    for corrected in (True, False):
        draws = []
        for _ in range(500):
            R = rng.normal(size=(12, 2 * d + d_z))
            R[:, d : 2 * d] += R[:, :d]
            given = R[:, 2 * d :] if d_z else None
            draws.append(
                gaussian_mutual_information(R[:, :d], R[:, d : 2 * d], given=given, bias_corrected=corrected)
            )
        found.append(np.mean(draws) - 0.5 * d * math.log(2))
        error = np.std(draws) / math.sqrt(500)
    assert abs(found[0]) < 4 * error
    assert found[1] > 3 * error


def test_chain_rule_holds_to_rounding(rng):
    X, Y, Z = rows(rng)
    for corrected in (True, False):
        both = gaussian_mutual_information(X, np.hstack([Y, Z]), bias_corrected=corrected)
        first = gaussian_mutual_information(X, Z, bias_corrected=corrected)
        then = gaussian_mutual_information(X, Y, given=Z, bias_corrected=corrected)
        assert both == pytest.approx(first + then, abs=1e-12)


def test_processing_adds_nothing_and_linear_maps_change_nothing(rng):
    X, Y, Z = rows(rng)
    whole = gaussian_mutual_information(X, Y, bias_corrected=False)
    assert 0 <= gaussian_mutual_information(X[:, :1], Y, bias_corrected=False) <= whole
    A, B = rng.normal(size=(2, 2)), rng.normal(size=(3, 3))
    for given in (None, Z):
        mapped = gaussian_mutual_information(1e-200 * X @ A + 3e-200, 1e200 * Y @ B, given=given)
        assert mapped == pytest.approx(gaussian_mutual_information(X, Y, given=given), abs=1e-8)


def test_columns_that_follow_from_others_count_for_nothing(rng):
    X, Y, Z = rows(rng, 90)
    more = np.column_stack([X, X.sum(axis=1), np.ones(len(X))])
    for given in (None, Z):
        assert gaussian_mutual_information(more, Y, given=given) == pytest.approx(
            gaussian_mutual_information(X, Y, given=given), abs=1e-10
        )
    constant = np.full(90, 98765.4321)  # its rounded mean differs from it
    assert gaussian_mutual_information(constant, Y) == 0.0
    found = gaussian_mutual_information(X, np.column_stack([Y, constant]), given=constant)
    assert found == pytest.approx(gaussian_mutual_information(X, Y), abs=1e-12)
    assert gaussian_mutual_information(Z, Y, given=Z) == pytest.approx(0.0, abs=1e-12)


def test_a_linear_function_tells_infinitely_much(rng):
    X, Y, _ = rows(rng)
    assert gaussian_mutual_information(X, np.column_stack([Y, X[:, 0] - X[:, 1]])) == math.inf


def test_copulas_estimate_is_the_gaussian_one_of_normal_scores_and_sees_no_monotonic_maps(rng):
    X, Y, Z = rows(rng)

    def scores(V):
        return norm.ppf(np.column_stack([rankdata(column) for column in V.T]) / (len(V) + 1))

    for given in (None, Z):
        found = copula_mutual_information(X, Y, given=given)
        assert found == pytest.approx(
            gaussian_mutual_information(scores(X), scores(Y), given=None if given is None else scores(given)),
            rel=1e-12,
        )
        assert copula_mutual_information(np.exp(X), Y**3, given=given) == found


def test_dependence_that_is_not_monotonic_is_not_seen(rng):
    x = rng.normal(size=2000)
    assert abs(copula_mutual_information(x, x**2 + 0.01 * rng.normal(size=2000))) < 0.01


def test_unreliable_estimates_and_bad_input_are_named(rng):
    X = rng.normal(size=(30, 5))
    with pytest.warns(UnreliableEstimateWarning, match="30 rows are few for 5 columns"):
        gaussian_mutual_information(X[:, :2], X[:, 2:])
    with pytest.warns(UnreliableEstimateWarning, match="Y repeats"):
        copula_mutual_information(X[:, 0], np.round(X[:, 1]))
    few = rng.normal(size=(5, 6))
    with (
        pytest.warns(UnreliableEstimateWarning),
        pytest.raises(ValueError, match="X has 5 rows; .* needs at least 7"),
    ):
        gaussian_mutual_information(few[:, :3], few[:, 3:])
