"""`forget` equals a fit without the rows, for all learners that keep sums; refusals; given landmarks."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from public_estimators import LANDMARKS, ON_GIVEN_LAYERS
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from entrolearn import (
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
    influence,
    streaming,
)
from entrolearn.machines.devices import mirrored
from entrolearn.machines.readouts import class_gaussians
from entrolearn.path import Partition, path
from entrolearn.validation import class_error_weights

learners = pytest.mark.parametrize("learner", ON_GIVEN_LAYERS, ids=lambda learner: type(learner).__name__)

rng = np.random.default_rng(0)
LABELS = np.arange(120) % 3
X = rng.uniform(-1, 1, size=(120, 4)) + LABELS[:, None] * [1.0, -0.5, 0.0, 0.0]
VALUES = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=120)


def targets(learner, n_classes=3):
    return np.minimum(LABELS, n_classes - 1) if is_classifier(learner) else VALUES


def outputs(machine, rows=X):
    return machine.decision_function(rows) if is_classifier(machine) else machine.predict(rows)


def distance(found, expected):
    """Relative to the largest number."""
    return np.abs(found - expected).max() / np.abs(expected).max()


def condition(machine):
    """Condition number of the matrix that the machine solves with."""
    sums = machine._stream
    if hasattr(machine, "covariance"):
        matrix = sum(each.dense() for each in class_gaussians(sums, machine.covariance)[1])
    elif hasattr(machine, "class_weight"):
        weights = class_error_weights(machine.class_weight, machine.classes_, [m.n for m in sums])
        matrix = sum(w * m.second_moment() for w, m in zip(weights, sums, strict=True))
    else:
        matrix = mirrored(sums[0].scatter())
    return np.linalg.cond(matrix + getattr(machine, "C", 0.0) * np.eye(len(matrix)))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    learner=st.sampled_from(ON_GIVEN_LAYERS),
    n_classes=st.sampled_from([2, 3]),
    weighted=st.booleans(),
    steps=st.lists(st.sampled_from(["add", "forget", "forget"]), min_size=2, max_size=4),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_adding_and_forgetting_ends_at_the_fit_to_the_rows_that_are_left(
    learner, n_classes, weighted, steps, seed
):
    rng, y = np.random.default_rng(seed), targets(learner, n_classes)
    weights = rng.uniform(0.1, 3.0, size=len(y)) if weighted else np.ones(len(y))
    held = np.arange(len(y)) < rng.integers(40, 90)
    machine = clone(learner).fit(X[held], y[held], sample_weight=weights[held])
    for step in steps:
        free = np.flatnonzero(~held if step == "add" else held & (np.arange(len(y)) >= 30))
        some = rng.permutation(free)[: rng.integers(1, 40)]
        if len(some):
            change = machine.partial_fit if step == "add" else machine.forget
            change(X[some], y[some], sample_weight=weights[some] if weighted else None)
            held[some] = step == "add"
    expected = clone(learner).fit(X[held], y[held], sample_weight=weights[held])
    bound = (
        max(1e-10, 100 * condition(expected) * np.finfo(float).eps) if condition(expected) > 1e5 else 1e-10
    )
    assert distance(outputs(machine), outputs(expected)) < bound
    if n_classes == 2 or not hasattr(learner, "covariance"):  # axes of several classes may turn
        assert distance(machine.hidden_coef_, expected.hidden_coef_) < bound


@learners
@pytest.mark.parametrize("way", ["streaming.fit", "partial_fit", "pickled", "pickled, forgets sparse rows"])
def test_rows_are_forgotten_however_they_were_learnt(learner, way):
    y, machine = targets(learner), clone(learner)
    if way == "streaming.fit":
        streaming.fit(machine, streaming.rows(X, y, chunk_rows=17))
    elif way == "partial_fit":
        known = {"classes": np.unique(y)} if is_classifier(learner) else {}
        machine.partial_fit(X[:70], y[:70], **known).partial_fit(X[70:], y[70:])
    else:
        machine = pickle.loads(pickle.dumps(machine.fit(X, y)))
    machine.forget(csr_array(X[:50]) if "sparse" in way else X[:50], y[:50])
    assert distance(outputs(machine), outputs(clone(learner).fit(X[50:], y[50:]))) < 1e-9


@learners
def test_what_was_not_learnt_is_refused_and_changes_nothing(learner):
    y = targets(learner)
    machine = clone(learner).fit(X[:60], y[:60])
    before = outputs(machine)
    refused = {
        "has 20|has 60": (np.vstack([X[:60], X[:3]]), np.append(y[:60], y[:3]), None),
        "counted by weight, but the model has": (X[:60], y[:60], np.full(60, 1.5)),
        "not fitted to these rows.* negative sums of squares": (3 * X[60:75] + 1, y[60:75], np.full(15, 2.0)),
        "features": (X[:, :3], y, None),
    }
    for message, (rows, of_rows, weights) in refused.items():
        with pytest.raises(ValueError, match=message):
            machine.forget(rows, of_rows, sample_weight=weights)
    assert_array_equal(outputs(machine), before)
    machine.forget(X[:30], y[:30])
    assert distance(outputs(machine), outputs(clone(learner).fit(X[30:60], y[30:60]))) < 1e-9


@learners
def test_a_machine_without_rows_of_a_class_is_not_fitted_until_one_comes(learner):
    """Learners that regress on targets of ±1 still predict when a class has no rows left."""
    y = targets(learner)
    machine, last = clone(learner).fit(X, y), LABELS == 2
    machine.forget(X[last], y[last])
    if is_classifier(learner) and not isinstance(learner, ELMClassifier | RKELMClassifier):
        with pytest.raises(NotFittedError, match=r"there are no rows of class 2 yet"):
            outputs(machine)
        assert machine._stream[2].n == machine._stream[2].total_square() == 0
    else:
        outputs(machine)
        machine.forget(X[~last], y[~last])
        with pytest.raises(NotFittedError):
            outputs(machine)
        machine.partial_fit(X[~last], y[~last])
    machine.partial_fit(X[last], y[last])
    assert distance(outputs(machine), outputs(clone(learner).fit(X, y))) < 1e-9


SHAPING = {
    "attains a bound of feature": [
        EEMClassifier(8, store_sums=True),
        WELMClassifier(8, solver="cholesky", store_sums=True),
        ELMRegressor(8, store_sums=True),
    ],
    "is one of the landmarks": [
        EEKMClassifier(8, gamma=1.0, store_sums=True),
        RKELMClassifier(8, gamma=1.0, store_sums=True),
    ],
    "='scale' was measured on all rows": [
        EEKMClassifier(8, store_sums=True),
        RKELMRegressor(8, store_sums=True),
    ],
}


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("message", "learner"), [(why, each) for why, some in SHAPING.items() for each in some], ids=str
)
def test_rows_that_shaped_the_layer_are_refused_and_others_forgotten_exactly(message, learner, make):
    y = targets(learner)
    machine = clone(learner).set_params(random_state=0).fit(make(X), y)
    before = outputs(machine)
    with pytest.raises(ValueError, match=message + ".*; accepted: an .* or a new fit without"):
        machine.forget(make(X), y)
    assert_array_equal(outputs(machine), before)
    if "scale" in message:
        return
    if "bound" in message:
        shaping = np.isin(X, [X.min(axis=0), X.max(axis=0)]).any(axis=1)
        given = {"bounds": machine.bounds_}
    else:
        shaping = X[:, None] == np.asarray(
            machine.landmarks_.todense() if make is csr_array else machine.landmarks_
        )
        shaping = shaping.all(axis=2).any(axis=1)
        given = {"n_landmarks": machine.landmarks_}
    some = np.flatnonzero(~shaping)[:30]
    rest = np.setdiff1d(np.arange(len(y)), some)
    expected = clone(machine).set_params(**given).fit(X[rest], y[rest])
    assert distance(outputs(machine.forget(make(X[some]), y[some])), outputs(expected)) < 1e-9


def test_a_machine_without_sums_has_nothing_to_forget():
    with pytest.raises(NotFittedError):
        EEMClassifier().forget(X, LABELS)
    with pytest.raises(ValueError, match="store_sums=False.* forget"):
        EEMClassifier(8, store_sums=False).fit(X, LABELS).forget(X, LABELS)
    for machine in (WELMClassifier(), ELMRegressor(alpha=[1.0, 2.0])):
        assert not hasattr(machine, "forget")


def test_given_landmarks_are_the_layer():
    """Equal to a naive ridge on K(x, landmarks), dense or sparse; "scale" is their variance, not X's."""
    gamma = 1 / (4 * LANDMARKS.var())
    K = rbf_kernel(X, LANDMARKS, gamma)
    expected = K @ np.linalg.solve(K.T @ K + 0.1 * np.eye(8), K.T @ VALUES)
    for landmarks in (LANDMARKS, csr_array(LANDMARKS), LANDMARKS.tolist()):
        machine = RKELMRegressor(n_landmarks=landmarks, alpha=0.1, fit_intercept=False)
        for fitted in (machine.fit(X, VALUES), streaming.fit(clone(machine), iter([(X, VALUES)]))):
            assert_allclose(fitted.predict(X), expected, rtol=1e-9)
    drawn = EEKMClassifier(30, gamma=0.5, random_state=0).fit(X, LABELS)
    same = EEKMClassifier(n_landmarks=drawn.landmarks_, gamma=0.5).fit(X, LABELS)
    assert_array_equal(same.decision_function(X), drawn.decision_function(X))
    with pytest.raises(ValueError, match="n_landmarks has rows of 3 features; accepted: 4, as in X"):
        RKELMClassifier(n_landmarks=LANDMARKS[:, :3]).fit(X, LABELS)
    with pytest.raises(ValueError, match="n_landmarks contains NaN"):
        RKELMClassifier(n_landmarks=LANDMARKS * np.nan).fit(X, LABELS)


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("learner", [EEKMClassifier(2, random_state=0), RKELMClassifier(2, random_state=0)])
def test_the_path_of_given_landmarks_is_that_of_fits(learner, make):
    folds = Partition.cross_validation(np.arange(len(X)) // 40)
    grid = [{"n_landmarks": make(LANDMARKS[:h])} for h in (5, 8)]
    found, plain = (
        {
            (point.left_out, point.params["n_landmarks"].shape[0]): point
            for point in paths(learner, X, LABELS, folds, grid)
        }
        for paths in (path, path.dispatch(object))  # the second fits each setting by itself
    )
    assert len(found) == 6
    for key, point in plain.items():
        assert_array_equal(found[key].prediction, point.prediction)


@pytest.mark.usefixtures("dispatch")
@learners
def test_rows_are_forgotten_and_left_out_where_they_live(learner, place):
    y = targets(learner)
    machine, numpys = clone(learner).fit(place(X), place(y)), clone(learner).fit(X, y)
    found = influence(machine, place(X[:3]), place(y[:3]))
    assert_allclose(found.decision, influence(numpys, X[:3], y[:3]).decision, rtol=1e-8, atol=1e-8)
    machine.forget(place(X[:40]), place(y[:40])).partial_fit(place(X[:10]), place(y[:10]))
    expected = outputs(numpys.forget(X[10:40], y[10:40]))
    assert distance(place.numbers(outputs(machine, place(X))), expected) < 1e-9
