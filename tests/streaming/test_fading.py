"""Streams of which old rows fade or leave: the fits with weights, and to the last rows."""

import numpy as np
import pandas as pd
import pytest
from additive_learners import LABELS, LANDMARKS, LEARNERS, X, announced, assert_same_model, targets
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier

from entrolearn import EEMClassifier, ELMClassifier, RKELMClassifier
from entrolearn.machines.additive import stored_sums
from entrolearn.streaming import SlidingWindow

by_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
few = pytest.mark.filterwarnings("ignore:EEK?M.* fewer than min_class_size")
chunked = given(
    cuts=st.lists(st.integers(1, len(X) - 1), max_size=6, unique=True).map(sorted),
    decay=st.floats(0.05, 1.0),
    n_rows=st.integers(20, 200),
)


@few
@by_learner
@settings(max_examples=4, deadline=None, derandomize=True, database=None)
@chunked
def test_fading_rows_are_a_fit_with_weights(learner, cuts, decay, n_rows):
    y, fading, age = targets(learner), clone(learner), np.empty(len(X))
    for k, rows in enumerate(np.split(np.arange(len(X)), cuts)):
        fading.partial_fit(X[rows], y[rows], **announced(learner), decay=decay)
        age[rows] = len(cuts) - k
    assert_same_model(fading, clone(learner).fit(X, y, sample_weight=decay**age), 1e-9)


@pytest.mark.parametrize("name", ["EEM", "WELM", "ELM"])
def test_a_class_that_never_comes_again_fades_without_end(name):
    """After 4,000 calls its weight would be 1e-1204; it keeps 1e-100, which decides nothing."""
    learner = clone(LEARNERS[name]).partial_fit(X, LABELS, np.unique(LABELS))
    still, sums = LABELS != 1, stored_sums(learner, "this test")
    for _ in range(4000):
        sums *= 0.5
    learner.partial_fit(X[still], LABELS[still], decay=0.5)
    assert np.isfinite(learner.hidden_coef_).all()
    assert (learner.predict(X[still]) == LABELS[still]).mean() > 0.9


@pytest.mark.parametrize("name", ["EEM", "WELM"])
def test_a_decay_below_the_least_weight_of_a_class_fades_earlier_rows(name):
    learner = clone(LEARNERS[name]).partial_fit(X[:90], LABELS[:90], np.unique(LABELS))
    learner.partial_fit(X[90:], LABELS[90:], decay=1e-300)
    sizes = np.bincount(LABELS[90:])
    assert_allclose([moments.n for moments in learner._stream], sizes)


@pytest.mark.parametrize("decay", [0, -0.5, 1.5, np.nan, "fast", None])
def test_other_decays_are_refused(decay):
    learner = clone(LEARNERS["ELM"]).partial_fit(X, LABELS, np.unique(LABELS))
    before = learner.hidden_coef_
    with pytest.raises(ValueError, match="decay=.*; accepted: a number above 0, up to 1"):
        learner.partial_fit(X, LABELS, decay=decay)
    assert_array_equal(learner.hidden_coef_, before)


@few
@by_learner
@settings(max_examples=3, deadline=None, derandomize=True, database=None)
@chunked
def test_a_window_is_the_fit_of_its_rows(learner, cuts, decay, n_rows):
    y, window, stop = targets(learner), SlidingWindow(learner, n_rows), 0
    for rows in np.split(np.arange(len(X)), cuts):
        window.partial_fit(X[rows], y[rows], **announced(learner))
        stop += len(rows)
        held = slice(max(0, stop - n_rows), stop)
        if is_regressor(learner) or len(np.unique(LABELS[held])) > 1:
            expected = clone(learner).fit(X[held], y[held])
            assert_same_model(window.estimator_, expected, 1e-9)


def test_rounding_does_not_stay_in_a_window():
    """Large rows leave rounding behind, which is gone a window later."""
    learner = RKELMClassifier(n_landmarks=LANDMARKS, kernel="linear", gamma=1.0, alpha=0.1)
    window = SlidingWindow(learner, 40)
    window.partial_fit(1e6 * X[:40], LABELS[:40], classes=[0, 1, 2])
    for rows in np.split(np.arange(150), 15):
        window.partial_fit(X[rows], LABELS[rows])
    assert_same_model(window.estimator_, clone(learner).fit(X[110:150], LABELS[110:150]))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("rows", [csr_array(X), pd.DataFrame(X).add_prefix("x")], ids=["csr", "frame"])
def test_windows_of_other_rows_are_the_same(rows):
    learner = LEARNERS["ELM"]
    windows = [SlidingWindow(learner, 50), SlidingWindow(learner, 50)]
    for start in range(0, 160, 40):
        for window, given_rows in zip(windows, (X, rows), strict=True):
            window.partial_fit(given_rows[start : start + 40], LABELS[start : start + 40], classes=[0, 1, 2])
    assert_same_model(windows[1].estimator_, windows[0].estimator_)


def test_a_window_is_an_estimator_of_its_kind():
    for learner in LEARNERS.values():
        window = SlidingWindow(learner, 60)
        assert is_classifier(window) == is_classifier(learner)
        y = targets(learner)
        window.fit(X, y)
        for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
            assert hasattr(window, method) == hasattr(learner, method)
            if hasattr(learner, method):
                expected = getattr(clone(learner).fit(X[-60:], y[-60:]), method)(X)
                assert_array_equal(getattr(window, method)(X), expected)
        assert window.fit(X, y).score(X, y) == clone(learner).fit(X[-60:], y[-60:]).score(X, y)
        assert_array_equal(window.fit(X, y).predict(X), clone(window).fit(X, y).predict(X))


def test_one_class_in_the_window_leaves_the_answers_of_the_last_window_with_two():
    window = SlidingWindow(EEMClassifier(5, bounds=(0, 1), random_state=0), 40)
    window.partial_fit(X, LABELS, classes=[0, 1, 2])
    before = window.decision_function(X)
    window.partial_fit(X[LABELS == 0], LABELS[LABELS == 0])
    assert_array_equal(window.decision_function(X), before)
    assert window.partial_fit(X[:30], LABELS[:30]).classes_.tolist() == [0, 1, 2]


@few
@pytest.mark.parametrize("priors", [[1, 2, 5], {0: 1, 1: 2, 2: 5}, {"a": 1, "b": 2, "c": 5}])
def test_priors_of_a_class_that_left_the_window(priors):
    y = np.array(["a", "b", "c"])[LABELS] if "a" in priors else LABELS
    learner = clone(LEARNERS["EEM"]).set_params(priors=priors)
    window = SlidingWindow(learner, n_rows=60).partial_fit(X[:60], y[:60], np.unique(y))
    others = LABELS != 1
    window.partial_fit(X[others], y[others])
    rows = np.flatnonzero(others)[-60:]
    kept = {label: priors[label] for label in np.unique(y[rows])} if isinstance(priors, dict) else [1, 5]
    assert_same_model(window.estimator_, clone(learner).set_params(priors=kept).fit(X[rows], y[rows]))
    window.partial_fit(X[:60], y[:60])
    assert_same_model(window.estimator_, clone(learner).fit(X[:60], y[:60]))


@few
@pytest.mark.parametrize("name", ["EEM", "ELM"])
def test_dense_and_sparse_chunks_in_one_window(name):
    window = SlidingWindow(LEARNERS[name], 35)
    for k in range(17):
        rows = slice(10 * k, 10 * k + 10)
        window.partial_fit(csr_array(X[rows]) if k % 2 else X[rows], LABELS[rows], classes=[0, 1, 2])
    assert_same_model(window.estimator_, clone(LEARNERS[name]).fit(X[135:170], LABELS[135:170]))


def test_a_window_whose_rows_cannot_be_joined_is_unchanged(monkeypatch):
    window = SlidingWindow(LEARNERS["EEM"], 35).fit(X[:35], LABELS[:35])

    def fail(parts):
        raise MemoryError("too many rows")

    with monkeypatch.context() as patch:
        patch.setattr("entrolearn.streaming.window.stacked", fail)
        with pytest.raises(MemoryError):
            window.partial_fit(X[35:45], LABELS[35:45])
    window.partial_fit(X[35:45], LABELS[35:45])
    assert_same_model(window.estimator_, clone(LEARNERS["EEM"]).fit(X[10:45], LABELS[10:45]))


@pytest.mark.parametrize("class_weight", [{1: 3.0}, {0: 2.0, 1: 3.0, 2: 5.0}, {2: 5.0}])
def test_class_weights_of_a_class_that_left_the_window(class_weight):
    learner = clone(LEARNERS["WELM"]).set_params(class_weight=class_weight)
    window = SlidingWindow(learner, n_rows=60).partial_fit(X[:60], LABELS[:60], classes=[0, 1, 2])
    others = np.flatnonzero(LABELS != 1)
    window.partial_fit(X[others], LABELS[others])
    rows, kept = others[-60:], {label: class_weight.get(label, 1.0) for label in (0, 2)}
    expected = clone(learner).set_params(class_weight=kept).fit(X[rows], LABELS[rows])
    assert_same_model(window.estimator_, expected)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_rows_that_the_window_skips_are_validated(number, first):
    """A window that has begun is unchanged."""
    window, wrong = SlidingWindow(LEARNERS["ELM"], 50), X.copy()
    wrong[3, 0] = number
    if not first:
        before = window.fit(X, LABELS).predict(X)
    with pytest.raises(ValueError, match="NaN|infinity"):
        window.partial_fit(wrong, LABELS, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="label 5"):
        window.partial_fit(X, np.where(np.arange(len(X)) == 3, 5, LABELS), classes=[0, 1, 2])
    if first:
        assert not hasattr(window, "_learner")
    else:
        assert_array_equal(window.predict(X), before)


def test_what_no_window_takes_is_refused():
    with pytest.raises(TypeError, match="SGDClassifier is no sum over rows; accepted: EEMClassifier"):
        SlidingWindow(SGDClassifier()).fit(X, LABELS)
    with pytest.raises(ValueError, match="'n_rows' parameter .* Got 0"):
        SlidingWindow(ELMClassifier(), 0).fit(X, LABELS)
    with pytest.raises(NotFittedError):
        SlidingWindow(ELMClassifier()).predict(X)
    window = SlidingWindow(LEARNERS["ELM"], 50).fit(X, LABELS)
    before = window.predict(X)
    with pytest.raises(ValueError, match="holds the label 5"):
        window.partial_fit(X, LABELS + 5)
    assert_array_equal(window.partial_fit(X[-50:], LABELS[-50:]).predict(X), before)
