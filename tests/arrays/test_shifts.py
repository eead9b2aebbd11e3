"""Learners with a kernel of distances say the same of rows wherever these are, dense or sparse.

The rows are multiples of 1/8 and the shifts are powers of two, so that the shifted rows have the same digits:
what changes in an answer is the learner's doing.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone, is_regressor

from entrolearn import (
    LSSVC,
    LSSVR,
    RSVC,
    RSVR,
    CrossEntropySVR,
    EEKMClassifier,
    KELMClassifier,
    KELMRegressor,
    OneNormSVC,
    OneNormSVR,
    RKELMClassifier,
    RKELMRegressor,
)
from entrolearn.path import Partition, path

RNG = np.random.default_rng(5)
ROWS = np.round(8 * RNG.normal(size=(60, 3))) / 8
VALUES = np.sin(ROWS[:, 0]) + ROWS[:, 1]

# In their own widths, which are the same of rows that are shifted by as much in all features.
LEARNERS = [
    KELMClassifier(),
    KELMClassifier(C=[1e-3, 1.0], kernel="wave"),
    KELMRegressor(),
    RKELMClassifier(20, C=1e-3, random_state=0),
    RKELMRegressor(20, C=1e-3, per_landmark_sigma=True, random_state=0),
    LSSVC(),
    LSSVR(kernel="inverse_multiquadric"),
    RSVC(20, random_state=0),
    RSVR(20, kernel="rational_quadratic", random_state=0),
    OneNormSVC(),
    OneNormSVR(),
    CrossEntropySVR(C=0.1, random_state=0),
    EEKMClassifier(n_landmarks=20, random_state=0),
]
FORMS = {"dense": np.asarray, "CSR": csr_array}
# In double precision: whole shifts, and one for each feature. In single precision 24 binary digits.
SHIFTS = {
    "2^13": (np.float64, 2.0**13),
    "2^30, as unix times": (np.float64, 2.0**30),
    "2^46": (np.float64, 2.0**46),
    "each feature's own": (np.float64, np.array([2.0**40, -(2.0**20), 0.0])),
    "2^16 in single precision": (np.float32, 2.0**16),
}


def targets(learner) -> np.ndarray:
    return VALUES if is_regressor(learner) else (VALUES > 0.3).astype(int)


def outputs(learner, X) -> np.ndarray:
    fitted = clone(learner).fit(X[:50], targets(learner)[:50])
    return fitted.predict(X) if is_regressor(learner) else fitted.decision_function(X)


def with_own_width(learner, shift):
    """With a width that is given where the shifts differ, which changes what "scale" means."""
    if np.isscalar(shift):
        return learner
    return clone(learner).set_params(**{"sigma" if hasattr(learner, "sigma") else "gamma": 2.0})


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.fault("Laws", "rows far from the origin, dense and sparse", "the answers of the rows near it")
def test_answers_are_those_of_the_rows_near_the_origin(learner, shift):
    dtype, offset = SHIFTS[shift]
    learner = with_own_width(learner, offset)
    wanted = outputs(learner, ROWS)
    single = dtype == np.float32
    tolerance = (2e-3 if single else 1e-7) * np.abs(wanted).max()
    for form in FORMS.values():
        far = form((ROWS + offset).astype(dtype))
        assert_allclose(outputs(learner, far), wanted, rtol=0, atol=tolerance)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("learner", [KELMRegressor(sigma=2.0), LSSVR(gamma=0.5), RSVR(20, random_state=0)])
def test_paths_are_those_of_the_rows_near_the_origin(learner, form):
    partition = Partition.cross_validation(np.arange(60) % 3)
    grid = [{"C": 0.1}, {"C": 10.0}]

    def predictions(X):
        return [point.prediction for point in path(learner, X, VALUES, partition, grid)]

    far = FORMS[form](ROWS + 2.0**30)
    assert_allclose(predictions(far), predictions(ROWS), rtol=0, atol=1e-7)
