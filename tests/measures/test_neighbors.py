"""Mutual information by nearest neighbours: naive twins, closed forms, warnings."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from entrolearn.measures import (
    UnreliableEstimateWarning,
    knn_mutual_information,
    mixed_mutual_information,
    neighbors,
    ross_mutual_information,
)


def correlated(rng, n, rho, d=1):
    X, noise = rng.normal(size=(2, n, d))
    return X, rho * X + math.sqrt(1 - rho**2) * noise


def scaled(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def apart(a, b):
    return float(np.abs(a - b).max())


def others(n, i):
    return [j for j in range(n) if j != i]


def ksg_loop(X, Y, k, *, second=False, Z=None):
    """Both estimators of Kraskov et al. and that of Frenzel and Pompe, one row at a time."""
    parts = [scaled(each) for each in (X, Y, *(() if Z is None else (Z,)))]
    joint, n = np.hstack(parts), len(X)
    total = 0.0
    for i in range(n):
        nearest = sorted(others(n, i), key=lambda j: apart(joint[i], joint[j]))[:k]
        if second:
            reach = [max(apart(part[i], part[j]) for j in nearest) for part in parts]
            counts = [
                sum(apart(part[i], part[j]) <= r for j in others(n, i))
                for part, r in zip(parts, reach, strict=True)
            ]
            total += digamma(k) - 1 / k + digamma(n) - sum(map(digamma, counts))
            continue
        reach = apart(joint[i], joint[nearest[-1]])

        def within(part, i=i, reach=reach):
            return digamma(1 + sum(apart(part[i], part[j]) < reach for j in others(n, i)))

        if Z is None:
            total += digamma(k) + digamma(n) - within(parts[0]) - within(parts[1])
        else:
            x, y, z = parts
            total += digamma(k) - within(np.hstack([x, z])) - within(np.hstack([y, z])) + within(z)
    return total / n


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize(("d_x", "d_y"), [(1, 1), (2, 3)])
@pytest.mark.filterwarnings("ignore:40 rows of", "ignore:7 columns")
def test_estimates_are_those_of_a_loop(rng, k, d_x, d_y):
    X, Y, Z = rng.normal(size=(40, d_x)), rng.gamma(2.0, size=(40, d_y)), rng.normal(size=(40, 2))
    Y[:, 0] += X[:, 0]
    assert knn_mutual_information(X, Y, n_neighbors=k) == pytest.approx(ksg_loop(X, Y, k), abs=1e-12)
    assert knn_mutual_information(X, Y, n_neighbors=k, variant="ksg2") == pytest.approx(
        ksg_loop(X, Y, k, second=True), abs=1e-12
    )
    for estimate in (knn_mutual_information, mixed_mutual_information):
        assert estimate(X, Y, given=Z, n_neighbors=k) == pytest.approx(ksg_loop(X, Y, k, Z=Z), abs=1e-12)


def test_estimate_of_classes_is_that_of_scikit_learn_and_of_mixed_variables(rng):
    y = np.array(list("aab"))[rng.integers(0, 3, size=80)]
    x = rng.normal(size=80) + 2 * (y == "a")
    found = ross_mutual_information(x, y)
    assert found == pytest.approx(mutual_info_classif(x[:, None], y, random_state=0)[0], abs=1e-6)
    assert found == pytest.approx(mixed_mutual_information(x, y), abs=1e-12)
    with pytest.warns(UnreliableEstimateWarning, match="1 classes of y have at most n_neighbors=3 rows"):
        few = ross_mutual_information(np.append(x, [0.0, 9.0]), np.append(y, ["z", "z"]))
    assert math.isfinite(few)


def test_estimate_of_two_columns_is_scikit_learns(rng):
    x, y = (each[:, 0] for each in correlated(rng, 300, 0.7))
    theirs = mutual_info_regression(x[:, None], y, random_state=0)[0]
    assert knn_mutual_information(x, y) == pytest.approx(theirs, abs=1e-6)


def local_loop(X, Y, k, threshold):
    """Gao et al. (2015): what boxes along principal axes of the neighbours are smaller, where they are so."""
    joint, n = np.hstack([scaled(X), scaled(Y)]), len(X)
    total = 0.0
    for i in range(n):
        nearest = sorted(others(n, i), key=lambda j: apart(joint[i], joint[j]))[:k]
        moved = joint[nearest] - joint[i]
        _, axes = np.linalg.eigh(moved.T @ moved)
        saved = sum(
            math.log(abs(a).max()) - math.log(abs(b).max())
            for a, b in zip(moved.T, (moved @ axes).T, strict=True)
        )
        total += saved if saved > threshold else 0.0
    return ksg_loop(X, Y, k) + total / n


def test_local_correction_is_that_of_a_loop(rng, monkeypatch):
    monkeypatch.setattr("entrolearn.measures.neighbors._usual_log_ratio", lambda k, d: 1.0)
    X, Y = correlated(rng, 60, 0.999)
    found = knn_mutual_information(X, Y, variant="local", n_neighbors=6)
    assert found == pytest.approx(local_loop(X, Y, 6, 1.0), abs=1e-10)


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.95])
@pytest.mark.parametrize("variant", ["ksg1", "ksg2", "local"])
def test_estimates_are_near_the_gaussians_closed_form(rng, rho, variant):
    found = knn_mutual_information(*correlated(rng, 2000, rho), variant=variant, n_neighbors=5)
    assert found == pytest.approx(-0.5 * math.log(1 - rho**2), abs=0.07)


@pytest.mark.filterwarnings("ignore:the estimate")
def test_strong_dependence_is_seen_by_the_local_correction_alone(rng):
    x = rng.normal(size=1500)
    y = x + 1e-4 * rng.normal(size=1500)
    truth = 0.5 * math.log1p(1e8)
    assert knn_mutual_information(x, y) < truth - 2.5
    assert knn_mutual_information(x, y, variant="local", n_neighbors=5) == pytest.approx(truth, abs=0.15)


def test_conditioning_takes_away_what_comes_from_the_condition_and_keeps_the_rest(rng):
    z, of_x, of_y = rng.normal(size=(3, 2000))
    assert knn_mutual_information(z + of_x, z + of_y) > 0.1
    assert knn_mutual_information(z + of_x, z + of_y, given=z) == pytest.approx(0, abs=0.05)
    coupled = knn_mutual_information(z + of_x, z + of_x + of_y, given=z)
    assert coupled == pytest.approx(0.5 * math.log(2), abs=0.07)


def test_mixed_variables_have_the_information_of_their_parts(rng):
    """Half of the rows Gaussian, half signs: a fair coin says which, and each half has its own."""
    n = 3000
    discrete, same = rng.uniform(size=(2, n)) < [[0.5], [0.9]]
    sign = rng.choice([-1.0, 1.0], size=n)
    x, y = (each[:, 0] for each in correlated(rng, n, 0.9))
    x, y = np.where(discrete, 5 * sign, x), np.where(discrete, 5 * np.where(same, sign, -sign), y)
    of_signs = math.log(2) + 0.9 * math.log(0.9) + 0.1 * math.log(0.1)
    truth = math.log(2) + 0.5 * of_signs - 0.25 * math.log(1 - 0.81)
    assert mixed_mutual_information(x, y) == pytest.approx(truth, abs=0.08)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: knn_mutual_information(x, x**2), r"400 rows are few for 60 columns"),
        (lambda x: knn_mutual_information(x[:, :3], x[:, 3:7]), "7 columns are many"),
        (lambda x: ross_mutual_information(x[:, :6], x[:, 7] > 0), "7 columns are many"),
        (lambda x: knn_mutual_information(np.round(x[:, 0]), x[:, 1]), r"X repeats \d+ % of its rows"),
        (lambda x: knn_mutual_information(x[:, 0], x[:, 1], given=np.round(x[:, 2])), "given repeats"),
        (
            lambda x: knn_mutual_information(x[:, 0], x[:, 0]),
            "is close to the largest value that 400 rows allow",
        ),
        (lambda x: ross_mutual_information(np.round(x[:, 0]), x[:, 1] > 0), "X repeats"),
    ],
)
def test_what_makes_an_estimate_unreliable_is_named_at_the_line_of_the_call(rng, call, message):
    with pytest.warns(UnreliableEstimateWarning, match=message) as warned:
        call(rng.normal(size=(400, 30)))
    assert {each.filename for each in warned} == {__file__}


@pytest.mark.filterwarnings("error")
def test_ordinary_data_cause_no_warning(rng):
    X, Y = correlated(rng, 300, 0.8)
    for variant in ("ksg1", "ksg2", "local"):
        knn_mutual_information(X, Y, variant=variant, n_neighbors=5)
    mixed_mutual_information(np.round(X), Y)
    ross_mutual_information(X, Y[:, 0] > 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: knn_mutual_information(x, x[:5]), "X has 20, Y has 5 rows; all variables must"),
        (lambda x: knn_mutual_information(x[:3], x[:3]), "X has 3 rows; at least 4 are needed"),
        (lambda x: knn_mutual_information(x, x, n_neighbors=0), "n_neighbors is 0; it must be an integer"),
        (lambda x: knn_mutual_information(x, x, variant="ksg3"), "variant is 'ksg3'; it must be one of 'ksg"),
        (lambda x: knn_mutual_information(x, x, given=x, variant="ksg2"), "only .ksg1. accepts .given."),
        (
            lambda x: knn_mutual_information(x, x, variant="local", n_neighbors=2),
            "needs more neighbours than columns",
        ),
        (lambda x: knn_mutual_information(x, np.where(x > 1, np.nan, x)), "Y contains NaN"),
        (lambda x: ross_mutual_information(x, np.arange(20)), "y has 20 classes of one row each"),
        (lambda x: ross_mutual_information(x, np.zeros(3)), "X has 20, y has 3 rows"),
        (lambda x: ross_mutual_information(x, np.full(20, np.nan)), "y contains NaN"),
    ],
)
def test_bad_input_is_named(rng, call, message):
    with pytest.raises(ValueError, match=message):
        call(rng.normal(size=20))


def exact_estimates(x, y, c, k):
    """Estimates of integers x and y, and of x and classes c, from distances in exact arithmetic.

    Squared distances in units of the standard deviation are compared after multiplying them by both
    variances, which are integers but for a factor that x and y share.
    """
    n = len(x)
    of_x, of_y = (np.subtract.outer(each, each) ** 2 for each in (x, y))
    of_x, of_y = of_x * of_y.sum(), of_y * of_x.sum()
    joint = np.maximum(of_x, of_y)
    reach = np.sort(joint, axis=1)[:, [k]]

    def psi_of_closer(apart, reach):
        return digamma(np.where(reach > 0, apart < reach, apart == 0).sum(axis=1))

    counted = psi_of_closer(of_x, reach) + psi_of_closer(of_y, reach)
    repeated = np.where(reach[:, 0] > 0, k, (joint == 0).sum(axis=1))
    near = joint <= reach
    n_near = near.sum(axis=1) - 1
    extents = (np.where(near, each, 0).max(axis=1, keepdims=True) for each in (of_x, of_y))
    within = sum(digamma((e >= d).sum(axis=1) - 1) for e, d in zip(extents, (of_x, of_y), strict=True))
    same = np.equal.outer(c, c)
    of_class = np.sort(np.where(same, of_x, np.iinfo(np.int64).max), axis=1)[:, [k]]
    return {
        "ksg1": digamma(n) + np.mean(digamma(k) - counted),
        "ksg2": digamma(n) + np.mean(digamma(n_near) - 1 / n_near - within),
        "mixed": digamma(n) + np.mean(digamma(repeated) - counted),
        "ross": digamma(n) + np.mean(digamma(k) - digamma(same.sum(axis=1)) - psi_of_closer(of_x, of_class)),
    }


units = st.floats(1e-3, 1e3).flatmap(lambda a: st.sampled_from([a, -a]))
origins = st.floats(-1e3, 1e3)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 10, 2**12]), units, origins, units, origins)
@pytest.mark.filterwarnings("ignore::entrolearn.measures.UnreliableEstimateWarning")
def test_units_origins_and_the_order_of_rows_change_no_estimate(seed, n_values, a, b, c, d):
    """Also if distances are equal, which in most units differ by rounding."""
    rng = np.random.default_rng(seed)
    x, y, k = rng.integers(0, 10, size=50), rng.integers(0, n_values, size=50), int(rng.integers(1, 5))
    y, label = y + x // 4, np.argsort(rng.normal(x)) % 50 // 10
    expected = exact_estimates(x, y, label, k)
    local = knn_mutual_information(x, y, variant="local", n_neighbors=5)
    order = rng.permutation(50)
    x, y, label = a * x[order] + b, c * y[order] + d, label[order]
    assert {
        "ksg1": knn_mutual_information(x, y, n_neighbors=k),
        "ksg2": knn_mutual_information(x, y, n_neighbors=k, variant="ksg2"),
        "mixed": mixed_mutual_information(x, y, n_neighbors=k),
        "ross": ross_mutual_information(x, label, n_neighbors=k),
    } == pytest.approx(expected, abs=1e-12)
    assert knn_mutual_information(x, y, variant="local", n_neighbors=5) == pytest.approx(local, abs=1e-6)


def test_repeated_rows_are_searched_once(rng):
    """Searches that visit all equal rows would take minutes."""
    x, y = (rng.random((2, 100_000)) < 0.3).astype(float)
    n_xy = np.array([[np.sum((x == i) & (y == j)) for j in (0, 1)] for i in (0, 1)])
    terms = digamma(n_xy) - digamma(n_xy.sum(axis=1, keepdims=True)) - digamma(n_xy.sum(axis=0))
    expected = digamma(n_xy.sum()) + np.average(terms, weights=n_xy)
    assert mixed_mutual_information(x, y) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:10000 classes")
def test_many_small_classes():
    """Pairs of rows far apart: k = 1, n_c = 2 and m = 1."""
    y = np.arange(20_000) // 2
    found = ross_mutual_information(10.0 * y + np.arange(20_000) % 2, y)
    assert found == pytest.approx(digamma(20_000) - digamma(2), abs=1e-12)


@pytest.mark.filterwarnings("ignore::entrolearn.measures.UnreliableEstimateWarning")
def test_few_rows_have_the_estimates_of_a_tree(rng, monkeypatch):
    X, Z = rng.normal(size=(2, 60, 2))
    counts, labels = rng.poisson(1.0, size=60), np.arange(60) % 3

    def estimates():
        return [
            mixed_mutual_information(X, counts),
            mixed_mutual_information(X, labels.astype(str), given=Z),
            mixed_mutual_information(counts, Z),
            knn_mutual_information(X, Z),
            ross_mutual_information(X, labels),
        ]

    found = estimates()
    monkeypatch.setattr(neighbors, "FEW_ROWS", 0)
    assert estimates() == found
