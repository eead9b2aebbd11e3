"""Learners that keep sums over rows, their hidden units given, and how they are compared with a refit."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.base import is_classifier
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from entrolearn import (
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
)

X, LABELS = load_wine(return_X_y=True)
_ORDER = np.random.default_rng(0).permutation(len(X))
X, LABELS = minmax_scale(X)[_ORDER], LABELS[_ORDER]
LANDMARKS = np.random.default_rng(1).uniform(size=(12, X.shape[1]))

_units = {"bounds": (0.0, 1.0), "random_state": 0}
#: Systems of a condition below 1e5: a refit rounds them to more than ten digits.
LEARNERS = {
    "EEM": EEMClassifier(12, **_units),
    "EEM sigmoid": EEMClassifier(12, activation="sigmoid", covariance="oas", priors="empirical", **_units),
    "EEKM": EEKMClassifier(n_landmarks=LANDMARKS, gamma=0.5),
    "WELM": WELMClassifier(12, solver="cholesky", alpha=0.1, **_units),
    "ELM": ELMClassifier(12, alpha=0.1, **_units),
    "ELM with intercept": ELMClassifier(12, alpha=0.1, fit_intercept=True, **_units),
    "ELM regressor": ELMRegressor(12, alpha=0.1, **_units),
    "RKELM": RKELMClassifier(n_landmarks=LANDMARKS, alpha=0.1, gamma=0.5),
    "RKELM regressor": RKELMRegressor(n_landmarks=LANDMARKS, alpha=0.1),
}


def targets(learner):
    """Labels, or two outputs of a regressor."""
    return LABELS if is_classifier(learner) else np.column_stack([LABELS, X[:, 0]])


def announced(learner) -> dict:
    """What the first call of ``partial_fit`` needs."""
    return {"classes": np.unique(LABELS)} if is_classifier(learner) else {}


def assert_same_model(found, expected, tolerance=1e-10):
    """Coefficients and answers are the same, relative to the largest of them."""
    of_rows = "decision_function" if is_classifier(expected) else "predict"
    pairs = [
        (found.hidden_coef_, expected.hidden_coef_),
        (getattr(found, of_rows)(X), getattr(expected, of_rows)(X)),
    ]
    for mine, others in pairs:
        assert_allclose(mine, others, rtol=0, atol=tolerance * np.abs(others).max())
