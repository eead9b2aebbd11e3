"""Laws that all estimators of mutual information keep, and the choice among them by name."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entrolearn.measures import (
    knn_mutual_information,
    mixed_mutual_information,
    mutual_information_estimator,
    mutual_information_from_samples,
)

pytestmark = pytest.mark.filterwarnings("ignore::entrolearn.measures.UnreliableEstimateWarning")

CONTINUOUS = ["knn", "mixed", "gaussian", "copula", "kde", "quadratic"]
CONDITIONAL = ["knn", "mixed", "gaussian", "copula", "kde"]
SYMMETRIC = [*CONTINUOUS, "discrete"]


def rows(seed, n=40):
    rng = np.random.default_rng(seed)
    R = rng.standard_t(4, size=(n, 4)) @ rng.normal(size=(4, 4))
    return R[:, :1], R[:, 1:3], R[:, 3:]


seeds = st.integers(0, 10**6)
ALL = [(method, False) for method in CONTINUOUS] + [(method, True) for method in CONDITIONAL]


def estimate(method, X, Y, Z=None, **options):
    return mutual_information_from_samples(X, Y, given=Z, method=method, **options)


@pytest.mark.parametrize(("method", "conditional"), ALL)
@settings(max_examples=5)
@given(seed=seeds)
def test_either_variable_may_come_first_and_the_order_of_rows_does_not_matter(method, conditional, seed):
    X, Y, Z = rows(seed)
    Z = Z if conditional else None
    found = estimate(method, X, Y, Z)
    # 1 - rho² = exp(-2 I) has the rounding errors of numbers of the order of 1.
    error = 1e-10 + 1e-14 * math.exp(2 * found)
    assert estimate(method, Y, X, Z) == pytest.approx(found, abs=error)
    order = np.random.default_rng(seed).permutation(len(X))
    turned = estimate(method, X[order], Y[order], None if Z is None else Z[order])
    assert turned == pytest.approx(found, abs=error)


@pytest.mark.parametrize(("method", "conditional"), ALL)
@settings(max_examples=5)
@given(seed=seeds, exponents=st.lists(st.integers(-900, 900), min_size=4, max_size=4))
def test_units_and_origins_of_columns_do_not_matter(method, conditional, seed, exponents):
    X, Y, Z = rows(seed)
    found = estimate(method, X, Y, Z if conditional else None)
    units = np.ldexp([1.0, -1.0, 1.0, 1.0], exponents)
    X, Y, Z = X * units[:1] + 3 * units[0], Y * units[1:3], Z * units[3:]
    assert estimate(method, X, Y, Z if conditional else None) == pytest.approx(found, abs=1e-9)


@settings(max_examples=10)
@given(seed=seeds, conditional=st.booleans())
def test_names_of_labels_do_not_matter(seed, conditional):
    """Even of labels that fewer rows have than there are neighbours."""
    X, Y, Z = rows(seed)
    rng = np.random.default_rng(seed)
    labels, given = rng.integers(0, 15, size=len(X)), rng.integers(0, 2, size=len(X))
    found, renamed = (
        mixed_mutual_information(X, names[labels], given=names[given] if conditional else None)
        for names in (np.arange(15).astype(str), rng.permutation(15).astype(str))
    )
    assert renamed == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("method", ["knn", "mixed", "kde", "gaussian", "copula"])
def test_independent_variables_have_about_nothing_and_a_noisy_copy_its_information(method):
    rng = np.random.default_rng(0)
    found = [estimate(method, *rng.normal(size=(2, 400))) for _ in range(10)]
    assert abs(np.mean(found)) < 0.03
    x, noise = rng.normal(size=(2, 1500))
    assert estimate(method, x, x + noise) == pytest.approx(0.5 * math.log(2), abs=0.07)


@pytest.mark.parametrize("method", ["knn", "mixed", "kde", "gaussian", "copula"])
def test_chain_rule_and_data_processing_hold_within_the_error(method):
    """X -> Y -> Z: X and Z have less, and given Y nothing."""
    rng = np.random.default_rng(1)
    x, of_y, of_z = rng.normal(size=(3, 1500))
    y = x + of_y
    z = y + of_z
    near, far = estimate(method, x, y), estimate(method, x, z)
    assert far < near - 0.1
    assert estimate(method, x, z, y) == pytest.approx(0, abs=0.06)
    both = estimate(method, x, np.column_stack([y, z]))
    assert both == pytest.approx(far + estimate(method, x, y, z), abs=0.1)
    assert both == pytest.approx(near, abs=0.1)


@pytest.mark.parametrize(
    ("X", "Y", "given", "chosen"),
    [
        (["a", "b"], [True, False], None, "discrete"),
        ([["a", "b"], ["b", "c"]], ["x", "y"], [True, False], "discrete"),
        ([0.1, 0.2], ["x", "y"], None, "ross"),
        ([0.1, 0.2], ["x", "y"], [1.0, 2.0], "mixed"),
        (["x", "y"], [0.1, 0.2], None, "mixed"),
        ([0.1, 0.2], [0.3, 0.4], None, "knn"),
        ([0.1, 0.2], [0.3, 0.4], [[0.5, 1], [0.5, 2]], "knn"),
        ([0.1, 0.2], [3, 3], None, "mixed"),
        ([0.1, 0.2], [0.3, 0.4], [0, 0], "mixed"),
    ],
)
def test_auto_goes_by_what_the_variables_are(X, Y, given, chosen):
    assert mutual_information_estimator(X, Y, given=given).__name__ == f"{chosen}_mutual_information"


def test_options_reach_the_estimator_and_unknown_methods_are_named():
    X, Y, Z = rows(0)
    assert estimate("knn", X, Y, n_neighbors=7) == knn_mutual_information(X, Y, n_neighbors=7)
    assert estimate("ross", X, Y[:, 0] > 0) == estimate("auto", X, (Y[:, 0] > 0))
    with pytest.raises(ValueError, match="method is 'ksg'; it must be one of 'auto', 'knn', 'mixed', 'ross'"):
        estimate("ksg", X, Y)
    for method in ("ross", "quadratic"):
        with pytest.raises(ValueError, match=f"method is '{method}', which does not accept `given`"):
            estimate(method, X, Y, Z)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([0.1, 0.2, np.nan], "Y contains NaN"),
        (["a", "b", None], "y holds values that cannot be sorted or are missing"),
        ([["a", 1], ["a", 2], ["b", None]], "Y holds values that cannot be sorted or are missing"),
    ],
)
def test_missing_values_are_named_by_their_variable(Y, message):
    with pytest.raises(ValueError, match=message):
        estimate("auto", [0.3, 0.4, 0.5], np.array(Y))
