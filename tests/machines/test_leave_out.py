"""Influence of training rows beside refits without them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from public_estimators import ON_GIVEN_LAYERS
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from entrolearn import (
    LSSVC,
    LSSVR,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
    influence,
    streaming,
)

learners = pytest.mark.parametrize("learner", ON_GIVEN_LAYERS, ids=lambda learner: type(learner).__name__)

LABELS = np.arange(90) % 3
X = np.random.default_rng(0).uniform(-1, 1, size=(90, 4)) + LABELS[:, None] * [1.0, -0.5, 0.0, 0.0]
VALUES = np.column_stack([X[:, 0] ** 2, X[:, 1] - X[:, 2]])


def targets(learner, n_classes):
    return (
        np.minimum(LABELS, n_classes - 1) if is_classifier(learner) else VALUES[:, : n_classes - 1].squeeze()
    )


def said(machine, rows):
    return machine.decision_function(rows) if is_classifier(machine) else machine.predict(rows)


def assert_is_a_refit(found, learner, y, leaving, which, weights=None, bound=1e-9):
    """What is found of rows, and the threshold of model `which`, are those of a fit to all the others."""
    kept = np.setdiff1d(np.arange(len(y)), leaving)
    refit = clone(learner).fit(X[kept], y[kept], None if weights is None else weights[kept])
    size = np.abs(said(refit, X)).max()
    assert np.abs(found.decision[leaving] - said(refit, X[leaving])).max() < bound * size
    if found.thresholds is None:
        return
    places = refit.thresholds_ - refit.projected_means_.mean()
    place = places[np.abs(places).argmin()] if len(places) else np.nan
    assert_allclose(found.thresholds[which], place, rtol=bound, atol=bound)


@learners
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_that_is_left_out_is_a_row_that_was_not_there(learner, n_classes, monkeypatch):
    """And only WELM is solved anew for each row."""
    y = targets(learner, n_classes)
    machine = clone(learner).fit(X, y)
    if not isinstance(learner, WELMClassifier):
        monkeypatch.setattr(type(learner), "_without", None)
    found = influence(machine, X, y)
    assert np.abs(found.decision - found.change - said(machine, X)).max() < 1e-12
    assert (found.threshold is None) == (not hasattr(learner, "covariance") or n_classes == 3)
    for i in range(0, 90, 15):
        assert_is_a_refit(found, learner, y, [i], i)


@learners
def test_groups_and_weighted_rows(learner):
    """Of sparse rows too, and of some rows only; rows of weight zero are held out with their group."""
    y, groups = targets(learner, 2), np.array(["a", "b", "c", "d", "e"])[np.arange(90) // 18]
    machine = clone(learner).fit(X, y)
    found = influence(machine, csr_array(X[:72]), y[:72], groups=groups[:72])
    assert found.left_out.tolist() == ["a", "b", "c", "d"]
    for g in range(4):
        assert_is_a_refit(found, learner, y, np.flatnonzero(groups == found.left_out[g]), g)
    weights = np.where(np.arange(90) < 10, 0.0, np.random.default_rng(1).uniform(0.5, 2, 90))
    found = influence(clone(learner).fit(X, y, weights), X, y, sample_weight=weights)
    assert found.left_out.tolist() == list(range(90))
    assert len(found.decision) == 90
    assert not found.change[:10].any()
    if found.thresholds is not None:
        assert_allclose(found.thresholds[:10], found.threshold)
    assert_is_a_refit(found, learner, y, [49], 49, weights)
    found = influence(clone(learner).fit(X, y, weights), X, y, groups=groups, sample_weight=weights)
    for g in range(5):  # ten rows of weight zero are in group "a"
        assert_is_a_refit(found, learner, y, np.flatnonzero(groups == found.left_out[g]), g, weights)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_hidden": 60},  # more units than rows of a class
        {"covariance": "empirical"},
        {"covariance": 1e-12},
        {"covariance": "oas", "min_class_size": 29},  # which the classes of thirty rows fall to
        {"priors": "empirical"},
        {"priors": [1.0, 3.0, 1.0], "min_class_size": 0},
    ],
)
def test_settings_of_entropy_machines(settings):
    learner = EEMClassifier(
        **{"n_hidden": 12, "bounds": (-2, 4), "store_sums": True, "random_state": 0} | settings
    )
    found = influence(clone(learner).fit(X, LABELS), X, LABELS)
    for i in range(0, 90, 20):
        assert_is_a_refit(found, learner, LABELS, [i], i, bound=1e-7)


def test_interpolated_rows_have_solutions_of_their_own():
    """Of leverage one: what is left of their residual is rounding."""
    rows, y = np.vstack([X[:20], [[50.0, 0, 0, 0]]]), np.append(VALUES[:20, 0], 3.0)
    learner = ELMRegressor(6, bounds=None, alpha=1e-10, activation="sine", store_sums=True, random_state=0)
    found = influence(clone(learner).fit(rows, y), rows, y)
    refit = clone(learner).fit(rows[:20], y[:20])
    assert found.decision[20] == pytest.approx(refit.predict(rows[20:])[0], rel=1e-4)


@pytest.mark.parametrize(
    "learner",
    [
        KELMClassifier(alpha=0.1, gamma=0.5),
        KELMClassifier(alpha=[0.1, 1.0], gamma=0.5, fit_intercept=True, kernel="inverse_multiquadric"),
        KELMRegressor(alpha=0.1, gamma=0.5, fit_intercept=True),
        LSSVC(gamma=0.5, class_weight={0: 1.0, 1: 3.0, 2: 1.0}),
        LSSVR(gamma=0.5, alpha=0.3333333333333333),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_kernel_machines(learner):
    y, groups = targets(learner, 3), np.arange(90) // 30
    machine = clone(learner).fit(X, y)
    if np.ndim(learner.get_params()["alpha"]):
        learner = clone(learner).set_params(alpha=machine.alpha_)
    found = influence(machine, X, y)
    for i in range(0, 90, 15):
        assert_is_a_refit(found, learner, y, [i], i)
    found = influence(machine, X, y, groups=groups)
    for g in range(3):
        assert_is_a_refit(found, learner, y, np.flatnonzero(groups == g), g)
    for rows, of_rows in ((X[1:], y[1:]), (X[::-1], y), (X + 0.1, y)):
        with pytest.raises(ValueError, match="does not solve its system on these rows; accepted: all rows"):
            influence(machine, rows, of_rows)


def test_without_a_class_there_is_no_model_and_what_is_refused():
    y = np.minimum(LABELS, 1)
    machine = EEMClassifier(8, store_sums=True, random_state=0).fit(X, y)
    found = influence(machine, X, y, groups=y)
    assert np.isnan(found.decision).all()
    assert np.isnan(found.threshold_change).all()
    with pytest.raises(TypeError, match="SVC has no closed form of this; accepted: EEMClassifier, "):
        influence(SVC().fit(X, y), X, y)
    with pytest.raises(TypeError, match="without sample_weight KELM"):
        influence(KELMClassifier().fit(X, y), X, y, sample_weight=np.ones(90))
    with pytest.raises(ValueError, match="store_sums=False.* influence"):
        influence(EEMClassifier(8, store_sums=False).fit(X, y), X, y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        influence(machine, X, y, groups=y[:5])
    with pytest.raises(ValueError, match="the model was not fitted to these rows|are to be forgotten"):
        influence(machine, 3 * X - 50, y, groups=y)
    pipe = make_pipeline(StandardScaler(), EEMClassifier(8, store_sums=True)).fit(X, y)
    with pytest.raises(TypeError, match=r"not a Pipeline: influence\(pipe\[-1\], pipe\[:-1\].transform"):
        influence(pipe, X, y)


@learners
def test_more_rows_than_were_learnt_are_refused(learner):
    y = targets(learner, 2)
    machine = clone(learner).fit(X, y)
    twice = np.concatenate([X, X]), np.concatenate([y, y])
    with pytest.raises(ValueError, match=r"are given, counted by weight, but the model has \d+\.$"):
        influence(machine, *twice)
    with pytest.raises(ValueError, match="are given, counted by weight"):
        influence(machine, X, y, sample_weight=np.full(90, 1.5))
    assert np.isfinite(influence(machine, X, y, sample_weight=np.full(90, 1.0)).decision).all()


@pytest.mark.parametrize(
    "weights", [np.full(90, 0.777), np.full(90, 2.0), np.tile(np.repeat([0.5, 1.5], 3), 15)]
)
@learners
def test_weights_of_the_fit_are_asked_for(learner, weights, tmp_path):
    """Also if they add up to the number of rows of each class; in sums that were saved or merged, too."""
    y, half = targets(learner, 2), np.arange(90) < 48
    model = clone(learner).fit(X, y, weights)
    streaming.save_sums(model, tmp_path / "sums.npz")
    parts = [clone(learner).fit(X[rows], y[rows], weights[rows]) for rows in (half, ~half)]
    for each in (model, streaming.load_sums(tmp_path / "sums.npz", model), streaming.merge(parts)):
        with pytest.raises(ValueError, match="were learnt with weights, or have faded; accepted: these as"):
            influence(each, X, y)
    ones = clone(learner).fit(X[half], y[half], np.ones(48)).partial_fit(X[~half], y[~half])
    assert np.isfinite(influence(ones, X, y).decision).all()


@pytest.mark.parametrize(
    "learner", [*ON_GIVEN_LAYERS, KELMClassifier(), LSSVR()], ids=lambda learner: type(learner).__name__
)
def test_named_features_warn_only_if_the_names_are_missing(learner, recwarn):
    pd = pytest.importorskip("pandas")
    y, table = targets(learner, 2), pd.DataFrame(X, columns=list("abcd"))
    model = clone(learner).fit(table, y)
    influence(model, table, y, groups=np.arange(90) // 30)
    assert not recwarn.list
    assert list(model.feature_names_in_) == list("abcd")
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        influence(model, X, y)


@pytest.mark.parametrize("learner", [LSSVC(), LSSVR(), KELMClassifier(), KELMRegressor(), ELMClassifier(5)])
def test_without_all_rows_there_is_no_model(learner):
    y = targets(learner, 2)
    machine = clone(learner)
    if hasattr(machine, "store_sums"):
        machine.set_params(store_sums=True)
    found = influence(machine.fit(X, y), X, y, groups=np.zeros(90))
    assert np.isnan(found.decision).all()
    assert np.isnan(found.change).all()


def test_groups_of_several_types_are_refused_in_one_line():
    X, y = np.random.default_rng(0).normal(size=(6, 2)), np.arange(6) % 2
    machine = ELMClassifier(5, store_sums=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="groups cannot be sorted"):
        influence(machine, X, y, groups=[None, None, 1, 1, 2, 2])
