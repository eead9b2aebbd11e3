"""Weights of rows: a row of weight two counts as two rows, a row of weight zero as none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_wine
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, scale

from entrolearn import (
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
    streaming,
)
from entrolearn.kernels import scale_gamma
from entrolearn.path import Partition, path

# Learners whose fit is a sum over the rows, and which therefore stream.
SUMS = [
    EEMClassifier(20, random_state=0),
    EEMClassifier(20, covariance="oas", priors="empirical", random_state=0),
    EEMClassifier(20, covariance=0.1, priors=[1.0, 2.0, 3.0], random_state=0),
    EEKMClassifier(20, random_state=0),
    WELMClassifier(20, solver="cholesky", alpha=0.1, random_state=0),
    ELMClassifier(20, alpha=0.1, random_state=0),
    ELMRegressor(20, alpha=0.1, random_state=0),
    RKELMClassifier(20, alpha=0.1, fit_intercept=True, random_state=0),
    RKELMRegressor(20, alpha=0.1, random_state=0),
]
OTHERS = [
    EEMClassifier(20, covariance=LedoitWolf(), priors={0: 1.0, 1: 2.0, 2: 3.0}, random_state=0),
    WELMClassifier(20, random_state=0),
    ELMClassifier(20, alpha=[0.01, 1.0], random_state=0),
    RKELMRegressor(20, alpha=[0.1, 10.0], random_state=0),
    KELMClassifier(kernel="laplacian"),
    KELMClassifier(alpha=[0.1, 1.0]),
    KELMRegressor(alpha=1.0),
    KELMRegressor(alpha=[0.1, 10.0]),
]


def of_each(learners):
    return pytest.mark.parametrize("learner", learners, ids=lambda learner: str(learner)[:60])


@pytest.fixture(scope="module")
def data():
    """Rows, labels, values, and weights that are whole numbers."""
    X, y = load_wine(return_X_y=True)
    X, rng = scale(X), np.random.default_rng(0)
    weights = rng.choice([0.0, 1.0, 2.0, 5.0], size=len(y))
    # The last value is far out, and no bound, where the rows of weight five are most of all.
    X[:, 3] = np.select([weights == 5, weights == 2], [1 + rng.uniform(0, 0.03, len(y)), 0.03], 0.0)
    X[np.flatnonzero(weights == 1)[-1], 3] = 7.0
    return X, y, X[:, 0] ** 2 + X[:, 1] + rng.normal(size=len(y)), weights


def targets(learner, data):
    return data[1] if is_classifier(learner) else data[2]


def said(machine, X):
    return machine.decision_function(X) if is_classifier(machine) else machine.predict(X)


def assert_same(found, expected, X, same_rows=None):
    answers = said(expected, X)
    rows = X if same_rows is None else same_rows
    assert_allclose(said(found, rows), answers, rtol=0, atol=1e-8 * np.abs(answers).max())


@of_each([*SUMS, *OTHERS])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_a_row_of_weight_two_is_two_rows(learner, make, data):
    """Random units are the same, in a box of weighted rows; of given landmarks, drawn whatever rows weigh."""
    X, weights, y = data[0], data[3], targets(learner, data)
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    weighted, twice = clone(learner).fit(make(X), y, sample_weight=weights), clone(learner)
    if hasattr(learner, "n_landmarks"):
        twice._draw_layer = lambda *rows: weighted._layer
    assert_same(weighted, twice.fit(make(X[repeated]), y[repeated]), X)
    if hasattr(twice, "loo_errors_"):
        assert_allclose(weighted.loo_errors_, twice.loo_errors_, rtol=1e-8)
    if hasattr(weighted._layer, "kernel_params"):
        assert_allclose(weighted._layer.kernel_params["gamma"], scale_gamma(X[repeated]), rtol=1e-12)


@of_each([*SUMS, *OTHERS])
def test_a_row_of_weight_zero_is_left_out_and_ones_change_nothing(learner, data):
    X, weights, y = data[0], np.minimum(data[3], 1.0), targets(learner, data)
    strange = np.where(weights[:, None] > 0, X, 1e6)  # would be the box, the spread, landmarks
    others = np.where(weights > 0, y, 77)  # and a class
    expected = clone(learner).fit(X[weights > 0], y[weights > 0])
    assert_same(clone(learner).fit(strange, others, sample_weight=weights), expected, X)
    if learner in SUMS:
        rows = streaming.rows(strange, others, chunk_rows=30)
        assert_same(streaming.fit(clone(learner), rows, sample_weight=weights), expected, X)


@of_each([SUMS[0], SUMS[-1]])
def test_dask_weighs_rows_as_fit_does(learner, data):
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, weights, y = data[0], data[3], targets(learner, data)
    fit = clone(learner).fit(X, y, sample_weight=weights)
    arrays = da.from_array(X, chunks=(30, X.shape[1])), da.from_array(y, chunks=30)
    assert_same(streaming.fit(clone(learner), *arrays, sample_weight=da.from_array(weights)), fit, X)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y, w=weights)
    frame = dd.from_pandas(frame, npartitions=5)
    for features, weight in ((frame, "w"), (frame.drop(columns="w"), frame["w"])):
        named = streaming.fit(clone(learner), features, "y", sample_weight=weight)
        assert_same(named, fit, X, pd.DataFrame(X, columns=named.feature_names_in_))


@of_each(SUMS)
def test_streams_and_folds_weigh_rows_as_fit_does(learner, data):
    X, weights, y = data[0], data[3].copy(), targets(learner, data)
    weights[:40] = 0.0  # the whole first chunk
    fit = clone(learner).fit(X, y, sample_weight=weights)
    rows = streaming.rows(X, y, chunk_rows=30)
    pipeline = make_pipeline(FunctionTransformer(accept_sparse=True), clone(learner))
    assert_same(streaming.fit(clone(learner), rows, sample_weight=weights), fit, X)
    assert_same(streaming.fit(pipeline, rows, sample_weight=weights)[-1], fit, X)

    folds = Partition.cross_validation(np.arange(len(y)) % 3)
    for point in path(learner, X, y, folds, [{}], sample_weight=weights):
        training = folds.training(point.left_out)
        one = clone(learner).fit(X[training], y[training], sample_weight=weights[training])
        assert_array_equal(point.prediction, one.predict(X))


@pytest.mark.usefixtures("dispatch")
@of_each([*SUMS, ELMClassifier(20, alpha=[0.01, 1.0], fit_intercept=True, random_state=0)])
def test_other_libraries_weigh_rows_as_numpy_does(learner, place, data):
    X, weights, y = data[0], data[3], targets(learner, data)
    expected = clone(learner).fit(X, y, sample_weight=weights)
    for given in (weights, place(weights)):
        found = clone(learner).fit(place(X), place(y), sample_weight=given)
        assert_allclose(place.numbers(said(found, place(X))), said(expected, X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
def test_of_any_weights_regressors_are_scikit_learns(intercept, data):
    X, values, weights = data[0], data[2], np.random.default_rng(1).uniform(0.1, 3.0, 178)
    settings = {"alpha": 0.5, "fit_intercept": intercept}
    elm = ELMRegressor(20, random_state=0, **settings).fit(X, values, sample_weight=weights)
    ridge = Ridge(0.5, fit_intercept=intercept).fit(elm._layer(X), values, sample_weight=weights)
    assert_allclose(elm.predict(X), ridge.predict(elm._layer(X)), rtol=1e-7)
    kelm = KELMRegressor(kernel="linear", **settings).fit(X, values, sample_weight=weights)
    linear = Ridge(0.5, fit_intercept=intercept).fit(X, values, sample_weight=weights)
    assert_allclose(kelm.coef_[0], linear.coef_, rtol=1e-7)
    assert_allclose(kelm.intercept_, linear.intercept_, atol=1e-9)


@of_each([ELMRegressor(10, alpha=[0.1, 1.0], random_state=0), KELMRegressor(alpha=[0.1, 1.0])])
def test_of_weights_below_one_leave_one_out_leaves_all_of_a_row(learner, data):
    X, values, weights = data[0][:40], data[2][:40], np.random.default_rng(1).uniform(0.1, 1.0, 40)
    machine = clone(learner).set_params(**({} if hasattr(learner, "n_hidden") else {"gamma": 1 / 13}))
    machine.fit(X, values, sample_weight=weights)
    alone = clone(machine).set_params(alpha=0.1)
    alone._draw_layer = lambda *rows: machine._layer
    errors = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        alone.fit(X[rest], values[rest], sample_weight=weights[rest])
        errors.append((alone.predict(X[[i]])[0] - values[i]) ** 2)
    assert_allclose(machine.loo_errors_[0], np.average(errors, weights=weights), rtol=1e-8)


def test_weights_that_add_up_to_one_shrink_as_the_rows_do(data):
    """The size of a class is its number of rows where that is more than the sum of the weights."""
    X, y = data[:2]
    machine = EEMClassifier(20, priors="empirical", random_state=0).fit(X, y)
    shares = clone(machine).fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    assert_same(shares, machine, X)
    assert_allclose(shares.shrinkage_, machine.shrinkage_, rtol=1e-9)
    boosted = AdaBoostClassifier(clone(machine), n_estimators=5, random_state=0).fit(X, y)
    assert boosted.score(X, y) > 0.95


def test_empirical_priors_are_shares_of_the_weight(data):
    X, y = data[:2]
    shares = np.random.default_rng(0).uniform(0, 1, len(y))
    empirical = EEMClassifier(20, priors="empirical").fit(X, y, sample_weight=shares)
    assert_allclose(empirical.priors_, np.bincount(y, shares) / shares.sum())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"sample_weight.shape == \(3,\), expected \(178,\)"),
        (np.arange(178) - 1.0, "Negative values in data passed to `sample_weight`"),
        (np.full(178, np.nan), "Input sample_weight contains NaN"),
        (np.zeros(178), "at least one"),
        (np.inf, r"largest number of sample_weight is inf; accepted: numbers from 0 to 1e\+15"),
        (np.full(178, 1e16), r"largest number of sample_weight is 1e\+16; accepted: numbers from 0 to 1e\+1"),
    ],
)
def test_weights_that_are_none_are_refused(weights, message, data):
    with pytest.raises(ValueError, match=message):
        KELMClassifier().fit(data[0], data[1], sample_weight=weights)


def test_weights_that_do_not_go_with_a_setting_or_a_stream_are_refused(data):
    X, y = data[:2]
    with pytest.raises(ValueError, match=r"holds 0.5; with covariance=LedoitWolf\(\) whole numbers are acc"):
        EEMClassifier(covariance=LedoitWolf()).fit(X, y, sample_weight=0.5)
    for n in (100, 200):
        with pytest.raises(ValueError, match=f"sample_weight holds {n} numbers, but there are 178 rows"):
            streaming.fit(EEMClassifier(), streaming.rows(X, y, chunk_rows=40), sample_weight=np.ones(n))
    da = pytest.importorskip("dask.array")
    rows = da.from_array(X, chunks=(40, 13)), da.from_array(y, chunks=40)
    with pytest.raises(ValueError, match="rows 40 to 79: Negative values"):
        streaming.fit(
            EEMClassifier(), *rows, sample_weight=da.from_array(np.where(np.arange(178) == 50, -1, 1))
        )
    with pytest.raises(ValueError, match="X has 178 rows and sample_weight has 3"):
        streaming.fit(EEMClassifier(), *rows, sample_weight=da.ones(3))
    with pytest.raises(
        TypeError, match=r"sample_weight is numpy's ndarray; EEMClassifier accepts for a Dask"
    ):
        streaming.fit(EEMClassifier(), *rows, sample_weight=np.ones(178))
