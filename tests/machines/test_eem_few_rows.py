"""Entropy machines on fewer rows than units: exact arithmetic, and laws over small data sets."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance, LedoitWolf
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import minmax_scale

from entrolearn import EEKMClassifier, EEMClassifier, streaming
from entrolearn.path import Partition, path

pytestmark = pytest.mark.filterwarnings(
    "error::RuntimeWarning", "ignore:.*fewer than min_class_size:UserWarning"
)

# name -> number of rows of each class, and what is done to uniform rows of three features
SETS = {
    "two rows a class": ((2, 2, 2), lambda X, y: X),
    "two classes of two rows": ((2, 2), lambda X, y: X),
    "a class of two rows": ((7, 7, 2), lambda X, y: X),
    "a class of one row": ((9, 1), lambda X, y: X),
    "one row a class": ((1, 1, 1, 1), lambda X, y: X),
    "a few of each": ((1, 2, 3, 5, 8), lambda X, y: X),
    "repeated rows": ((4, 6, 8), lambda X, y: X[np.arange(len(y)) // 2 * 2]),
    "a constant column": ((3, 5), lambda X, y: X * [1, 0, 1] + [0, 7, 0]),
    "a constant class": ((5, 4, 5), lambda X, y: np.where(y[:, None] == 0, 0.5, X)),
    "mostly zeros": ((5, 9), lambda X, y: np.where(X > 0.6, X, 0)),
    "nearly equal rows": ((6, 6, 2), lambda X, y: 0.5 + 1e-5 * X),
}


def rows_of(name: str) -> tuple[np.ndarray, ...]:
    """Rows and labels of a set, and 20 rows more, with labels."""
    counts, change = SETS[name]
    classes = np.arange(len(counts))
    y = np.concatenate([np.repeat(classes, counts), np.resize(classes, 20)])
    X = change(np.random.default_rng(0).random((len(y), 3)) + 0.1 * y[:, None], y)
    return X[:-20], y[:-20], X[-20:], y[-20:]


def sound_odds(machine, X) -> np.ndarray:
    """Log odds of the classes, of several to their mean, after a check of the machine's numbers."""
    variances = machine.projected_variances_
    assert np.linalg.eigvalsh(variances).min() > 0 if variances.ndim == 3 else (variances > 0).all()
    assert np.isfinite(machine.hidden_coef_).all()
    assert np.isfinite(machine.predict_proba(X)).all()
    odds = machine.decision_function(X)
    assert np.isfinite(odds).all()
    return odds if odds.ndim == 1 else odds - odds.mean(axis=1, keepdims=True)


# --- exact arithmetic ----------------------------------------------------------------------------------


def exact(numbers) -> np.ndarray:
    return np.vectorize(Fraction, otypes=[object])(np.asarray(numbers, dtype=float))


def solve_exactly(matrix: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, Fraction]:
    """The solution and the determinant of a positive definite matrix, by Gauss and Jordan."""
    both, determinant = np.hstack([matrix, right]), Fraction(1)
    for i in range(len(matrix)):
        determinant *= both[i, i]
        both[i] = both[i] / both[i, i]
        for j in range(len(matrix)):
            if j != i:
                both[j] = both[j] - both[j, i] * both[i]
    return both[:, len(matrix) :], determinant


def exact_shrinkage(centred: np.ndarray, S: np.ndarray) -> Fraction:
    """Ledoit and Wolf's."""
    (n, p), scale, norm = centred.shape, np.trace(S) / len(S), (S * S).sum()
    spread = norm / p - scale**2
    error = (((centred**2).sum(axis=1) ** 2).sum() / n - norm) / (n * p)
    return min(error / spread, Fraction(1)) if error > 0 else Fraction(0)


def exact_log_densities(H: np.ndarray, y: np.ndarray, rows: np.ndarray, covariance: str) -> np.ndarray:
    """What a machine's log densities of hidden rows are up to a constant, in rational numbers to the last."""
    H, rows, classes, p = exact(H), exact(rows), range(y.max() + 1), H.shape[1]
    counts = np.bincount(y).tolist()
    means = np.array([H[y == c].sum(axis=0) / counts[c] for c in classes])
    centred = [H[y == c] - means[c] for c in classes]
    S = [Z.T @ Z / n for Z, n in zip(centred, counts, strict=True)]
    shrinkages = [exact_shrinkage(Z, s) for Z, s in zip(centred, S, strict=True)]
    if covariance == "empirical":
        shrinkages = [0] * len(S)
    given = [a * np.trace(s) / p for a, s in zip(shrinkages, S, strict=True)]
    least = [Fraction(1e-12) * np.trace(s) for s in S]
    shrunk = [ridge > lowest for ridge, lowest in zip(given, least, strict=True)]
    ridges = [given[c] if shrunk[c] else sum(least) / len(S) for c in classes]
    sigma = [(1 - a) * s + exact(np.eye(p)) * r for a, s, r in zip(shrinkages, S, ridges, strict=True)]
    coef, _ = solve_exactly(sum(sigma), (means[1:] - means[0]).T)
    projected = [coef.T @ s @ coef for s in sigma]
    own = [counts[c] > coef.shape[1] or shrunk[c] for c in classes]
    others = [projected[c] for c in classes if own[c]] or projected
    columns = []
    for c in classes:
        from_mean = (rows - means[c]) @ coef
        solved, volume = solve_exactly(projected[c] if own[c] else sum(others) / len(others), from_mean.T)
        logarithm = math.log(volume.numerator) - math.log(volume.denominator)
        columns.append([-0.5 * (float(d) + logarithm) for d in (from_mean * solved.T).sum(axis=1)])
    return np.array(columns).T


@pytest.mark.parametrize("covariance", ["ledoit_wolf", "empirical"])
@pytest.mark.parametrize(
    ("counts", "n_hidden", "activation", "digits"),
    [
        ((9, 7), 3, "rbf", 12),  # regular
        ((9, 8, 7), 4, "sigmoid", 12),
        ((8, 8, 2), 4, "rbf", 12),  # a class of two rows among others
        ((6, 1), 3, "sigmoid", 12),
        ((2, 2), 6, "rbf", 3),  # fewer rows than units: variances are what the floor says
        ((2, 2, 2), 7, "rbf", 3),
        ((3, 1, 2), 6, "sigmoid", 3),
    ],
)
def test_the_machine_is_that_of_exact_arithmetic(counts, n_hidden, activation, digits, covariance):
    rng = np.random.default_rng(sum(counts))
    y = np.repeat(np.arange(len(counts)), counts)
    X, new = rng.random((len(y), 3)) + 0.3 * y[:, None], rng.random((4, 3))
    settings = {"activation": activation, "covariance": covariance, "random_state": 1}
    settings |= {"bounds": None, "min_class_size": 0}
    machine = EEMClassifier(n_hidden, **settings).fit(X, y)
    log_densities = exact_log_densities(machine.hidden(X), y, machine.hidden(new), covariance)
    expected = log_densities - log_densities.mean(axis=1, keepdims=True)
    if len(counts) == 2:
        expected = log_densities[:, 1] - log_densities[:, 0]
    stream = EEMClassifier(n_hidden, **settings)
    for i in rng.permutation(len(y)):
        stream.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.unique(y))
    for found in (machine, stream):
        assert_allclose(sound_odds(found, new), expected, rtol=0, atol=10.0**-digits * np.abs(expected).max())


def test_empirical_variances_are_those_of_the_projected_rows():
    """A second pass over the rows, where they are more than the units."""
    X, y = load_wine(return_X_y=True)
    X, y = minmax_scale(X)[y < 2], y[y < 2]
    for n_hidden, rtol in [(5, 1e-8), (20, 1e-8), (40, 1e-5)]:
        machine = EEMClassifier(n_hidden, covariance="empirical", random_state=0).fit(X, y)
        projected = machine.project(X)
        assert_allclose(machine.projected_means_, [projected[y == c].mean() for c in (0, 1)], rtol=1e-6)
        assert_allclose(machine.projected_variances_, [projected[y == c].var() for c in (0, 1)], rtol=rtol)


# --- laws ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_hidden", [2, 60])
@pytest.mark.parametrize("covariance", ["ledoit_wolf", "oas", "empirical", 1e-9])
@pytest.mark.parametrize("name", SETS)
def test_every_way_to_fit_gives_the_same_sound_machine(name, covariance, n_hidden):
    """Rows dense and sparse, in another order, in chunks, and without a part of more rows."""
    X, y, more, more_y = rows_of(name)
    classes, order = np.unique(y), np.random.default_rng(1).permutation(len(y))
    # Of the two activations each takes every other case.
    for activation in ("rbf", "sigmoid")[(len(name) + len(str(covariance)) + n_hidden // 60) % 2 :][:1]:
        settings = {"activation": activation, "bounds": (0, 1), "covariance": covariance}
        settings["random_state"] = 0
        machine = EEMClassifier(n_hidden, **settings).fit(X, y)
        odds = sound_odds(machine, more)
        sound_odds(EEMClassifier(n_hidden, **settings).fit(X.astype(np.float32), y), more.astype(np.float32))

        stream = EEMClassifier(n_hidden, **settings)
        for some in np.array_split(order, 4):
            stream.partial_fit(X[some], y[some], classes=classes)
        permuted = EEMClassifier(n_hidden, **settings).fit(X[order], y[order])
        sparse = EEMClassifier(n_hidden, **settings).fit(csr_array(X), y)
        for other in (stream, permuted, sparse):
            assert_allclose(sound_odds(other, more), odds, rtol=0, atol=1e-3 * np.abs(odds).max())

        partition = Partition(np.repeat([0, 1], [len(y), len(more_y)]), ((), (1,)))
        both = np.vstack([X, more]), np.concatenate([y, more_y])
        _, fold = path(EEMClassifier(**settings), *both, partition, [{"n_hidden": n_hidden}])
        assert np.mean(fold.prediction[len(y) :] == machine.predict(more)) > 0.9
        if len(classes) == 2:
            (m0, m1), (s0, s1) = machine.projected_means_, machine.projected_variances_
            assert_allclose(fold.gaussians, (m0, s0, m1, s1), rtol=1e-3)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_two_rows_of_each_class_are_enough(load):
    """As many are right as by the nearest mean of the classes in the space of the features, or more."""
    X, y = load(return_X_y=True)
    X, classes, scores, nearest = minmax_scale(X), np.unique(y), [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        some = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:2] for c in classes])
        means = np.array([X[some][y[some] == c].mean(axis=0) for c in classes])
        nearest.append((((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1) == y).mean())
        for machine in (
            EEMClassifier(bounds=(0, 1), random_state=seed),
            EEKMClassifier(random_state=seed),
        ):
            scores.append(machine.fit(X[some], y[some]).score(X, y))
    assert np.mean(scores) > np.mean(nearest) - 0.03


def test_a_class_of_two_rows_among_others_is_still_found():
    """As a class of infinite density on the line through its rows it was never answered."""
    X, y = load_iris(return_X_y=True)
    X, recall = minmax_scale(X), []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        some = np.concatenate(
            [rng.permutation(np.flatnonzero(y == c))[:n] for c, n in enumerate([40, 40, 2])]
        )
        machine = EEMClassifier(random_state=seed).fit(X[some], y[some])
        assert_allclose(machine.projected_variances_[2], machine.projected_variances_[:2].mean(axis=0))
        recall.append((machine.predict(X[y == 2]) == 2).mean())
    assert np.mean(recall) > 0.5


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("machine", [EEMClassifier(40, random_state=0), EEKMClassifier(random_state=0)])
def test_classes_of_few_rows_have_the_variances_of_the_others(machine, n_classes):
    """The projection is that of the machine without pooling, the other classes' densities are their own."""
    X, y = load_iris(return_X_y=True)
    some = np.concatenate([np.flatnonzero(y == c)[:n] for c, n in enumerate([30, 4, 25][:n_classes])])
    X, y = X[some], y[some]
    with pytest.warns(UserWarning, match=r"fewer than min_class_size=7 rows of the classes \[1\]; they use"):
        pooled = clone(machine).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = clone(machine).set_params(min_class_size=0).fit(X, y)
        assert_allclose(clone(machine).set_params(min_class_size=4).fit(X, y).project(X), own.project(X))
    assert_allclose(pooled.hidden_coef_, own.hidden_coef_)
    others = [c for c in range(n_classes) if c != 1]
    assert_allclose(pooled.projected_variances_[others], own.projected_variances_[others])
    assert_allclose(pooled.projected_variances_[1], own.projected_variances_[others].mean(axis=0))
    streamed = streaming.fit(clone(machine), X, y)
    assert_allclose(streamed.projected_variances_, pooled.projected_variances_, rtol=1e-5)
    (point,) = path(clone(machine), X, y, Partition.whole(len(y)), [{}])
    assert_array_equal(point.prediction, pooled.predict(X))
    all_few = clone(machine).set_params(min_class_size=1000).fit(X, y)
    assert_allclose(all_few.projected_variances_ - own.projected_variances_.mean(axis=0), 0, atol=1e-12)


def test_a_class_of_a_few_rows_is_found():
    """Mean recall of one class of breast cancer and of wine that has two rows, of twenty draws."""
    recall = {0: [], 7: []}
    for load in (load_breast_cancer, load_wine):
        X, y = load(return_X_y=True)
        for seed in range(10):
            rows = np.random.default_rng(seed).permutation(len(y))
            some = np.concatenate([rows[y[rows] == 0][:2], rows[y[rows] > 0][:60]])
            for min_class_size, found in recall.items():
                machine = EEMClassifier(60, min_class_size=min_class_size, random_state=seed).fit(
                    X[some], y[some]
                )
                found.append((machine.predict(X[y == 0]) == 0).mean())
    assert np.mean(recall[7]) > np.mean(recall[0]) + 0.15


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("covariance", ["ledoit_wolf", "empirical"])
@pytest.mark.parametrize("name", ["two rows a class", "a few of each", "one row a class"])
def test_other_libraries_arrays_give_the_same_machine(name, covariance, place):
    X, y, more, _ = rows_of(name)
    machine = EEMClassifier(30, covariance=covariance, random_state=0)
    odds = sound_odds(machine.fit(X, y), more)
    found = place.numbers(machine.fit(place(X), place(y)).decision_function(place(more)))
    assert_allclose(found - found.mean(axis=1, keepdims=True), odds, rtol=0, atol=1e-3 * np.abs(odds).max())


@pytest.mark.parametrize("estimator", [EmpiricalCovariance(), LedoitWolf()])
@pytest.mark.parametrize(
    "name", ["two rows a class", "a class of two rows", "a constant class", "repeated rows"]
)
def test_covariances_of_estimators_are_sound_too(name, estimator):
    X, y, more, _ = rows_of(name)
    sound_odds(EEMClassifier(30, covariance=estimator, random_state=0).fit(X, y), more)


@pytest.mark.parametrize("left", [1, 2, 3])
def test_what_thousands_of_other_rows_leave_of_a_class_is_its_own(left):
    """Sums of all rows less those of a part with nearly all of a class carry the rounding of all rows."""
    rng = np.random.default_rng(0)
    X, y, part = rng.random((20_000, 3)), np.arange(20_000) % 2, np.zeros(20_000, dtype=int)
    part[:1000:2] = part[1 : 2 * left : 2] = 1  # 500 rows of class 0, a few of class 1
    for activation in ("rbf", "sigmoid"):
        machine = EEMClassifier(20, activation=activation, covariance="oas", random_state=0)
        _, fold = path(machine, X, y, Partition(part, ((), (0,))), [{"n_hidden": 20}])
        machine.fit(X[part == 1], y[part == 1])
        (m0, m1), (s0, s1) = machine.projected_means_, machine.projected_variances_
        assert_allclose(fold.gaussians, (m0, s0, m1, s1), rtol=1e-6)


@pytest.mark.parametrize(
    "machine", [EEMClassifier(random_state=0), EEKMClassifier(gamma=1.0, random_state=0)]
)
def test_a_path_of_one_class_says_what_a_fit_says(machine):
    partition = Partition.cross_validation(np.arange(6) % 2)
    for point in path(machine, np.random.default_rng(0).random((6, 2)), np.zeros(6), partition, [{}]):
        assert "needs samples of at least two classes" in point.error


def test_what_single_precision_cannot_tell_apart_is_told_in_double():
    """Differences of means of a few roundings of float32, and units that it holds as zeros."""
    rng, y = np.random.default_rng(0), np.arange(40) % 2
    near, far = 0.5 + 1e-6 * (rng.random((40, 3)) + y[:, None]), 70 + rng.random((40, 3))
    for X, units in [(near, {}), (far, {"activation": "sigmoid", "unit_scale": "uniform"})]:
        X = X.astype(np.float32)
        machine = EEMClassifier(5, bounds=None, random_state=0, **units)
        single, double = clone(machine).fit(X, y), clone(machine).fit(X.astype(float), y)
        assert single.solver_info_ == {"ridge": 0.0, "degenerate": False, "dtype": "float64"}
        assert_allclose(single.projected_variances_, double.projected_variances_, rtol=1e-3)


# --- streams -------------------------------------------------------------------------------------------


def test_a_stream_of_single_rows_raises_no_warning():
    rng = np.random.default_rng(0)
    X, y = rng.random((12, 3)), np.arange(12) % 3
    for covariance in ("ledoit_wolf", "oas", "empirical"):
        for n_hidden in (5, 60):
            stream = EEMClassifier(n_hidden, covariance=covariance, bounds=(0, 1), random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                for i in range(len(y)):
                    stream.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1, 2])
                    if i >= 2:
                        sound_odds(stream, X)


def test_a_stream_names_the_classes_that_it_waits_for():
    rng = np.random.default_rng(0)
    X, y = rng.random((20, 3)), np.resize(["a", "b"], 20)
    stream = EEMClassifier(5, random_state=0).partial_fit(X[y == "b"], y[y == "b"], classes=["a", "b"])
    for call in (stream.predict, stream.predict_proba, stream.decision_function, stream.hidden):
        with pytest.raises(
            NotFittedError,
            match=r"EEMClassifier .* row of every class; there are no rows of class 'a' yet\.$",
        ):
            call(X)
    assert set(stream.partial_fit(X, y).predict(X)) == {"a", "b"}


def test_a_class_that_comes_late_keeps_its_digits():
    """Its shift is a mean of its own rows: those of another class may be billions of its spreads away."""
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 30)), np.arange(60) % 2
    X[y == 1] += 1  # <w, x> is 15 more: units of 1e-7 of the other class's
    whole = EEMClassifier(10, activation="sigmoid", bounds=None, random_state=0).fit(X, y)
    stream = EEMClassifier(10, activation="sigmoid", bounds=None, random_state=0)
    for c in (0, 1):
        stream.partial_fit(X[y == c], y[y == c], classes=[0, 1])
    assert_allclose(stream.projected_variances_, whole.projected_variances_, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e308])
def test_only_ratios_of_priors_matter(scale):
    X, y, more, _ = rows_of("a constant column")
    machine = EEMClassifier(5, priors=[scale, scale / 4], random_state=0).fit(X, y)
    assert_allclose(machine.priors_, [0.8, 0.2])
    with pytest.raises(ValueError, match=r"positive numbers, .* with finite ratios; got \[1e-200, 1e\+200\]"):
        EEMClassifier(5, priors=[1e-200, 1e200]).fit(X, y)
