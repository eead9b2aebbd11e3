"""Weights of the features, where a learner has them: the decision, and other people's feature selection."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_blobs
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from entrolearn import (
    LSSVC,
    LSSVR,
    RSVC,
    RSVR,
    CrossEntropySVC,
    CrossEntropySVR,
    KELMClassifier,
    KELMRegressor,
    OneNormSVC,
    OneNormSVR,
)

LEARNERS = [
    LSSVC(kernel="linear"),
    LSSVR(kernel="linear"),
    KELMClassifier(kernel="linear"),
    KELMRegressor(kernel="linear"),
    RSVC(20, kernel="linear", random_state=0),
    RSVR(20, kernel="linear", random_state=0),
    OneNormSVC(kernel="linear"),
    OneNormSVR(kernel="linear"),
    CrossEntropySVC(kernel="linear", random_state=0),
    CrossEntropySVR(kernel="linear", random_state=0),
]
of_each = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
INFORMATIVE = [1, 4]


def rows(learner):
    """Two features that matter among six, and labels or values."""
    X = scale(np.random.default_rng(0).normal(size=(80, 6)))
    values = 2 * X[:, 1] - 3 * X[:, 4] + 3
    return X, (values > 3).astype(int) if is_classifier(learner) else values


@of_each
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_output_is_that_of_the_weights(learner, form):
    X, y = rows(learner)
    machine = clone(learner).fit(form(X), y)
    assert machine.coef_.shape == (1, 6)
    output = machine.decision_function if is_classifier(machine) else machine.predict
    assert_allclose(X @ machine.coef_[0] + machine.intercept_, output(form(X)), atol=1e-9)


@pytest.mark.parametrize(
    "learner", [LSSVC, KELMClassifier, RSVC, OneNormSVC, LSSVR, KELMRegressor, OneNormSVR]
)
def test_one_output_has_the_shapes_of_scikit_learns_machines(learner):
    """Of all rows: SVC and SVR have coefficients (1, n_SV), coef_ (1, n_features) and one intercept."""
    X, y = rows(learner())
    machine, expected = learner(kernel="linear").fit(X, y), SVC(kernel="linear").fit(X, y > y.mean())
    assert machine.intercept_.shape == expected.intercept_.shape == (1,)
    assert machine.coef_.shape == expected.coef_.shape == (1, 6)
    if not isinstance(machine, RSVC):
        assert np.ndim(machine.dual_coef_) == expected.dual_coef_.ndim == 2
        kept = (
            X
            if isinstance(machine, (LSSVC, LSSVR, KELMClassifier, KELMRegressor))
            else machine.support_vectors_
        )
        assert_allclose(machine.dual_coef_ @ kept, machine.coef_, atol=1e-12)


@pytest.mark.parametrize("learner", [LSSVC, KELMClassifier, RSVC])
def test_more_classes_have_more_rows_of_weights(learner):
    X, y = make_blobs(60, 4, centers=3, random_state=0)
    machine = learner(kernel="linear").fit(X, y)
    assert machine.coef_.shape == (3, 4)
    assert_allclose(X @ machine.coef_.T + machine.intercept_, machine.decision_function(X), atol=1e-9)


def test_the_weights_are_those_of_ridge_regression():
    X, y = rows(LSSVR())
    expected = Ridge(0.5).fit(X, y)
    for machine in (LSSVR(alpha=0.5, kernel="linear"), KELMRegressor(alpha=0.5, kernel="linear")):
        assert_allclose(machine.fit(X, y).coef_[0], expected.coef_, rtol=1e-8, atol=1e-10)
        assert machine.intercept_ == pytest.approx(expected.intercept_)
    exact = OneNormSVR(C=1e4, kernel="linear", epsilon=0.0).fit(X, y)  # of values without noise
    assert_allclose(exact.coef_[0], LinearRegression().fit(X, y).coef_, atol=1e-4)


@of_each
@pytest.mark.parametrize("selector", [lambda m: RFE(m, n_features_to_select=2), SelectFromModel])
def test_feature_selection_finds_the_features_that_matter(learner, selector):
    X, y = rows(learner)
    found = selector(clone(learner)).fit(X, y).get_support(indices=True)
    if selector is SelectFromModel:
        assert set(INFORMATIVE) & set(found)
    else:
        assert_array_equal(found, INFORMATIVE)


@of_each
def test_other_kernels_have_none(learner):
    X, y = (some[:40] for some in rows(learner))
    machine = clone(learner).set_params(kernel="rbf").fit(X, y)
    assert not hasattr(machine, "coef_")
    with pytest.raises(
        AttributeError, match="coef_ is available with kernel='linear' only, got kernel='rbf'"
    ):
        machine.coef_  # noqa: B018
    with pytest.raises(ValueError, match="coef_"):
        SelectFromModel(machine, prefit=True).transform(X)
