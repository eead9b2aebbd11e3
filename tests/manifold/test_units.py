"""Laws of units: all numbers times a factor, and a feature that is the same for all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone, is_classifier

from entrolearn import MELM, KDEClassifier
from entrolearn.manifold import GEM, ClassPCA, PerClassPCA, TwoEllipsoidPCA

DENSITIES = [
    KDEClassifier(),
    KDEClassifier(0.5, covariance="oas"),
    KDEClassifier(2.0, covariance="empirical"),
    MELM(n_init=2, random_state=0),
    MELM(n_init=2, covariance="empirical", method="binned", random_state=0),
    MELM(n_init=2, covariance="oas", solver="penalty", random_state=0),
]
PROJECTIONS = [ClassPCA(), TwoEllipsoidPCA(), PerClassPCA(3), GEM(), GEM(alpha=0)]

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def classes():
    """Overlapping ones, and new rows."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(90, 4)) @ rng.normal(size=(4, 4)) + 3
    X[:60] += y[:, np.newaxis]
    return X[:60], y, X[60:]


@pytest.mark.parametrize("exponent", [-230, -90, 68])
@pytest.mark.parametrize("learner", [*DENSITIES, *PROJECTIONS], ids=str)
def test_answers_do_not_depend_on_the_unit_over_three_hundred_orders_of_magnitude(learner, exponent, classes):
    X, y, new = classes
    unit = 10.0**exponent  # no power of two: that all rounds alike has no part in it
    plain, scaled = clone(learner).fit(X, y), clone(learner).fit(unit * X, y)
    if is_classifier(learner):
        assert_allclose(scaled.predict_proba(unit * new), plain.predict_proba(new), rtol=0, atol=1e-7)
    if hasattr(learner, "transform"):
        # Of the generalised eigenvectors the projections are without a unit, of the others the components.
        size = unit if isinstance(learner, GEM) else 1
        assert_allclose(size * scaled.components_, plain.components_, rtol=0, atol=1e-7)


@pytest.mark.parametrize("value", [0.1, -1e60])
@pytest.mark.parametrize("learner", DENSITIES, ids=str)
def test_value_of_a_constant_feature_does_not_matter(learner, value, classes):
    """That there is one does, where covariances are shrunk: it counts in the mean variance."""
    X, y, new = classes
    if learner.covariance == "empirical" and isinstance(learner, MELM):
        learner = clone(learner).set_params(covariance="oas")  # the empirical one is singular
    zero, same = (
        clone(learner)
        .fit(np.insert(X, 2, number, axis=1), y)
        .predict_proba(np.insert(new, 2, number, axis=1))
        for number in (0.0, value)
    )
    assert_allclose(same, zero, rtol=0, atol=1e-7)
