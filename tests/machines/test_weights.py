"""Weights of rows: a row of weight two counts as two rows, a row of weight zero as none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from entrolearn import (
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)

# Of learners that draw landmarks all rows are landmarks, and weights leave them alone: see `fitted_twice`.
LEARNERS = [
    EEMClassifier(20, random_state=0),
    EEMClassifier(20, covariance="oas", priors="empirical", random_state=0),
    EEMClassifier(20, covariance=LedoitWolf(), class_weight={0: 1.0, 1: 2.0, 2: 3.0}, random_state=0),
    EEMClassifier(20, covariance=0.1, class_weight="balanced", random_state=0),
    WELMClassifier(20, random_state=0),
    WELMClassifier(20, solver="cholesky", C=0.1, random_state=0),
    ELMClassifier(20, C=0.1, random_state=0),
    ELMClassifier(20, C=[0.01, 1.0], fit_intercept=True, random_state=0),
    ELMRegressor(20, C=[0.1, 10.0], random_state=0),
    KELMClassifier(kernel="laplacian"),
    KELMClassifier(C=[0.1, 1.0]),
    KELMRegressor(C=1.0),
    KELMRegressor(C=[0.1, 10.0]),
]
named = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: str(learner)[:60])


@pytest.fixture(scope="module")
def data():
    """Rows, labels, values, and weights that are whole numbers."""
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    rng = np.random.default_rng(0)
    weights = rng.choice([0.0, 1.0, 2.0, 5.0], size=len(y))
    return X, y, X[:, 0] ** 2 + X[:, 1] + rng.normal(size=len(y)), weights


def said(machine, X):
    return machine.decision_function(X) if is_classifier(machine) else machine.predict(X)


@named
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_a_row_of_weight_two_is_two_rows(learner, make, data):
    X, labels, values, weights = data
    y = labels if is_classifier(learner) else values
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    weighted = clone(learner).fit(make(X), y, sample_weight=weights)
    twice = clone(learner).fit(make(X[repeated]), y[repeated])
    assert_allclose(said(weighted, X), said(twice, X), rtol=1e-6, atol=1e-8)
    if hasattr(twice, "loo_errors_"):
        assert_allclose(weighted.loo_errors_, twice.loo_errors_, rtol=1e-8)
