"""Logarithms of probabilities that underflow; of others: the fuzz, in each case."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from entrolearn import EEKMClassifier, EEMClassifier, EntropySearch
from entrolearn.networks import MSEMLPClassifier, SoftmaxRegression


@pytest.mark.parametrize(
    "estimator",
    [
        EEMClassifier(20, activation="sigmoid", random_state=0),
        EEKMClassifier(n_landmarks=20, gamma=0.01, random_state=0),
        SoftmaxRegression(),
        EntropySearch(SoftmaxRegression(), {"alpha": [1e-4]}),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_logarithms_are_finite_where_probabilities_underflow(estimator):
    X, y = make_blobs(60, 3, centers=[[0, 0, 0], [300, 300, 300]], cluster_std=0.01, random_state=0)
    if isinstance(estimator, EntropySearch | SoftmaxRegression):
        new = np.array([[-1e5, -1e5, -1e5], [1e5, 1e5, 1e5]])
    else:
        new = X
    fitted = estimator.fit(X / 300, y)
    probability, found = fitted.predict_proba(new / 300), fitted.predict_log_proba(new / 300)
    assert (probability == 0).any()
    assert np.isfinite(found).all()
    assert found.min() < -745
    assert_array_equal(fitted.classes_[found.argmax(axis=1)], fitted.predict(new / 300))
    odds = fitted.decision_function(new / 300)
    assert_allclose(found[:, 1] - found[:, 0], odds, rtol=1e-9)


def test_outputs_that_underflow_have_a_logarithm():
    X, y = make_blobs(40, 2, centers=3, random_state=0)
    network = MSEMLPClassifier(5, max_iter=5, random_state=0).fit(X, y)
    network.coefs_[1] *= 1e6
    found = network.predict_log_proba(X)
    assert np.isfinite(found).all()
    assert_allclose(np.exp(found), network.predict_proba(X), atol=1e-300, rtol=1e-9)
