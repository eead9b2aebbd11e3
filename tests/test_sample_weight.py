"""Weights of rows in the learners that are no closed form: a row of weight two is two rows, of zero none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from public_estimators import ESTIMATORS
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale
from sklearn.utils import get_tags

from entrolearn import (
    LSSVC,
    LSSVR,
    MELM,
    RSVC,
    RSVR,
    CrossEntropySVC,
    CrossEntropySVR,
    EntropySearch,
    ErrorEntropyMLPClassifier,
    ErrorEntropyMLPRegressor,
    KDEClassifier,
    OneNormSVC,
    OneNormSVR,
)
from entrolearn.manifold import GEM, ClassPCA, PerClassPCA, TwoEllipsoidPCA
from entrolearn.manifold.densities import COVARIANCES, class_covariance
from entrolearn.manifold.objective import ProjectedDivergence
from entrolearn.maxent import MaxEntClassifier
from entrolearn.measures import error_entropy
from entrolearn.networks import MSEMLPClassifier, MSEMLPRegressor, SoftmaxRegression
from entrolearn.networks.softmax import PenalisedCrossEntropy

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ALL_ROWS = 1000  # in a batch

# With C so large that no coefficient of a zero-norm machine is at its bound: it costs one, a row twice two.
LEARNERS = [
    LSSVC(kernel="poly", class_weight="balanced"),
    LSSVR(alpha=0.1),
    RSVC(15, C=10.0, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, random_state=0),
    RSVR(15, C=10.0, random_state=0),
    OneNormSVC(C=10.0, class_weight="balanced"),
    OneNormSVR(C=10.0),
    CrossEntropySVC(C=10.0, kernel="poly", random_state=0),
    CrossEntropySVR(C=100.0, kernel="linear", random_state=0),
    SoftmaxRegression(1e-2, class_weight="balanced"),
    SoftmaxRegression(1e-2, fit_intercept=False, solver="gradient", max_iter=50),
    MaxEntClassifier(),
    MaxEntClassifier(alpha=10.0, solver="gis", max_iter=50),
    MSEMLPClassifier(5, batch_size=ALL_ROWS, random_state=0),
    MSEMLPRegressor(5, batch_size=ALL_ROWS, random_state=0),
    ErrorEntropyMLPClassifier(3, max_iter=50, random_state=0),
    ErrorEntropyMLPRegressor(3, entropy="renyi", max_iter=50, random_state=0),
    *(KDEClassifier(covariance=covariance, priors="empirical") for covariance in COVARIANCES),
    MELM(n_init=2, random_state=0),
    MELM(n_init=1, covariance="oas", solver="penalty", random_state=0),
    ClassPCA(),
    TwoEllipsoidPCA(),
    PerClassPCA(),
    GEM(),
]


def of_each(learners):
    return pytest.mark.parametrize("learner", learners, ids=lambda learner: str(learner)[:60])


@pytest.fixture(scope="module")
def data():
    """Rows that are not negative, labels, values, and weights that are whole numbers."""
    X, y = load_wine(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:40]
    X, y = scale(X[rows, :4]), y[rows]
    weights = np.random.default_rng(1).choice([0.0, 1.0, 2.0, 5.0], size=len(y))
    return X - X.min(), y, X[:, 0] ** 2 + X[:, 1] + X[:, 2], weights


def targets(learner, data):
    if is_regressor(learner):
        return data[2]
    tags = get_tags(learner).classifier_tags
    return data[1] if tags is None or tags.multi_class else (data[1] == 1).astype(int)


def said(machine, X):
    for method in ("decision_function", "predict_proba", "transform", "predict"):
        if hasattr(machine, method):
            return getattr(machine, method)(X)
    raise AssertionError(machine)


def assert_same(found, expected, X):
    if not hasattr(expected, "candidates_"):  # of these several sets may cost the same
        answers = said(expected, X)
        assert_allclose(said(found, X), answers, rtol=0, atol=1e-8 * np.abs(answers).max())
    for name in ("objective_", "loss_curve_"):
        if hasattr(expected, name):
            assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-8)


@of_each([one for one in LEARNERS if isinstance(one, RSVC | RSVR | CrossEntropySVC | CrossEntropySVR)])
def test_a_row_of_weight_two_is_two_rows(learner, data):
    """Given the landmarks, which are drawn from the rows; of the other learners it is a law of the fuzz."""
    make = csr_array if get_tags(learner).input_tags.sparse else np.asarray
    X, weights, y = data[0], data[3], targets(learner, data)
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    weighted, twice = clone(learner).fit(make(X), y, sample_weight=weights), clone(learner)
    if hasattr(weighted, "_layer"):
        twice._draw_layer = lambda *rows: weighted._layer
    assert_same(weighted, twice.fit(make(X[repeated]), y[repeated]), X)
    assert_same(clone(learner).fit(X, y, sample_weight=weights), weighted, X)


@of_each(LEARNERS)
def test_a_row_of_weight_zero_is_left_out_and_ones_change_nothing(learner, data):
    X, weights, y = data[0], np.minimum(data[3], 1.0), targets(learner, data)
    strange = np.where(weights[:, None] > 0, X, 1e6)  # would be the spread, landmarks
    others = np.where(weights > 0, y, 77)  # and a class
    found = clone(learner).fit(strange, others, sample_weight=weights)
    assert_same(found, clone(learner).fit(X[weights > 0], y[weights > 0]), X)
    for name in ("support_", "candidates_"):
        if hasattr(found, name):
            assert weights[getattr(found, name)].all()


OF_THE_MEAN = SoftmaxRegression | GEM  # alpha is a ridge of a mean over the weights


@of_each(
    [learner for learner in LEARNERS if not isinstance(learner, KDEClassifier | MELM | MaxEntClassifier)]
)
def test_weights_count_by_their_ratios_or_as_a_factor_of_C(learner, data):
    X, y, weights = data[0], targets(learner, data), data[3] + 0.3
    other = clone(learner)
    if hasattr(learner, "C"):
        other.set_params(C=learner.C / 0.37)
    elif hasattr(learner, "alpha") and not isinstance(learner, OF_THE_MEAN):
        other.set_params(alpha=0.37 * learner.alpha)
    assert_same(
        other.fit(X, y, sample_weight=0.37 * weights), clone(learner).fit(X, y, sample_weight=weights), X
    )


@of_each([learner for learner in LEARNERS if hasattr(learner, "class_weight")])
def test_weights_of_classes_are_those_of_their_rows(learner, data):
    X, y, of_classes = data[0], targets(learner, data), np.array([1.0, 3.0, 0.5])
    learner = clone(learner).set_params(**({"gamma": 0.1} if hasattr(learner, "gamma") else {}))
    weighted = clone(learner).set_params(class_weight=None).fit(X, y, sample_weight=of_classes[y])
    named = clone(learner).set_params(class_weight=dict(zip(np.unique(y).tolist(), of_classes, strict=False)))
    assert_same(named.fit(X, y), weighted, X)


@pytest.mark.parametrize("learner", [LSSVC, LSSVR, OneNormSVC, OneNormSVR])
def test_a_precomputed_kernel_loses_rows_and_columns_of_weight_zero(learner, data):
    X, weights, y = data[0], data[3], targets(learner(), data)
    K = X @ X.T
    found = learner(kernel="precomputed").fit(K, y, sample_weight=weights)
    expected = learner(kernel="linear").fit(X, y, sample_weight=weights)
    assert_allclose(said(found, K), said(expected, X), rtol=0, atol=1e-8 * np.abs(said(expected, X)).max())


@of_each(LEARNERS)
def test_weights_that_are_none_are_refused_in_one_line(learner, data):
    X, y, ones = data[0], targets(learner, data), np.ones(len(data[0]))
    for wrong in (-ones, ones * np.nan, 0 * ones, ones[1:], np.ones((len(y), 2))):
        with pytest.raises(ValueError, match=r"(?i)weight") as caught:
            clone(learner).fit(X, y, sample_weight=wrong)
        assert "\n" not in str(caught.value)


def test_every_classifier_and_regressor_takes_weights_that_can_be_requested():
    learners = [learner for learner in ESTIMATORS if is_classifier(learner) or is_regressor(learner)]
    with config_context(enable_metadata_routing=True):
        for learner in learners:
            if not isinstance(learner, EntropySearch):  # passes them on
                clone(learner).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)


# --- what the weights do, piece by piece ----------------------------------------------------------------


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("d", [1, 3, 8])
def test_a_weighted_covariance_is_that_of_repeated_rows(covariance, d):
    rng = np.random.default_rng(d)
    X, weights = rng.normal(size=(12, d)) @ rng.normal(size=(d, d)) + 5, rng.integers(1, 4, 12)
    expected = class_covariance(X.repeat(weights, axis=0), covariance)
    assert_allclose(class_covariance(X, covariance, weights.astype(float)), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("order", ["shannon", "renyi"])
@pytest.mark.parametrize(("method", "precision"), [("exact", 1e-10), ("binned", 1e-5)])
def test_the_entropy_of_weighted_errors_is_that_of_repeated_ones(order, method, precision):
    rng = np.random.default_rng(0)
    e, weights = rng.normal(size=30), rng.integers(1, 4, 30)
    value, gradient = error_entropy(e, 0.5, entropy=order, method=method, sample_weight=weights)
    repeated, of_repeated = error_entropy(e.repeat(weights), 0.5, entropy=order, method=method)
    assert value == pytest.approx(repeated, rel=precision)
    of_each_error = np.add.reduceat(of_repeated, np.cumsum(weights) - weights)
    assert_allclose(gradient, of_each_error, atol=10 * precision)


@pytest.mark.parametrize("order", ["shannon", "renyi"])
def test_the_gradient_of_the_entropy_of_weighted_errors_is_its_slope(order):
    e, weights = np.random.default_rng(0).normal(size=(2, 30)) + [[0], [5]]

    def entropy(errors):
        return error_entropy(errors, 0.5, entropy=order, method="exact", sample_weight=weights)

    assert_allclose(entropy(e)[1], approx_fprime(e, lambda errors: entropy(errors)[0]), atol=1e-6)
    with pytest.raises(ValueError, match="holds 2 numbers from 0 to 1; accepted: 2 positive ones"):
        error_entropy([0.0, 1.0], 1.0, sample_weight=[0.0, 1.0])


@pytest.mark.parametrize(("method", "precision"), [("exact", 1e-10), ("binned", 1e-4)])
def test_the_divergence_of_weighted_rows_is_that_of_repeated_ones(method, precision):
    rng = np.random.default_rng(0)
    groups = [rng.normal(c, 1 + c, size=(400, 3)) for c in range(3)]
    weights, V = [rng.integers(1, 4, 400) for _ in groups], rng.normal(size=(3, 2))
    settings = {"bandwidth_scale": 1.0, "covariance": "ledoit_wolf", "method": method}
    of_rows = tuple(own.astype(float) for own in weights)
    value, gradient = ProjectedDivergence.of_classes(groups, 2, **settings, row_weights=of_rows)(V)
    repeated = [rows.repeat(own, axis=0) for rows, own in zip(groups, weights, strict=True)]
    expected, of_repeated = ProjectedDivergence.of_classes(repeated, 2, **settings)(V)
    assert value == pytest.approx(expected, rel=precision)
    assert_allclose(gradient, of_repeated, atol=precision * np.abs(of_repeated).max())


def test_the_gradient_of_the_weighted_divergence_is_its_slope():
    rng = np.random.default_rng(1)
    groups, weights = [rng.normal(c, 1, size=(20, 3)) for c in (0, 1)], tuple(rng.uniform(0.1, 3, (2, 20)))
    divergence = ProjectedDivergence.of_classes(
        groups, 2, bandwidth_scale=1.0, covariance="oas", row_weights=weights
    )
    V = rng.normal(size=(3, 2))
    slope = approx_fprime(V.ravel(), lambda v: divergence(v.reshape(3, 2))[0])
    assert_allclose(divergence(V)[1].ravel(), slope, atol=1e-5)


def test_the_gradient_of_the_weighted_cross_entropy_is_its_slope(data):
    X, y, weights = data[0], data[1], data[3] + 0.3
    objective = PenalisedCrossEntropy(X, y, 3, 0.1, True, weights)
    theta = np.random.default_rng(0).normal(size=15)
    assert_allclose(objective(theta)[1], approx_fprime(theta, lambda at: objective(at)[0]), atol=1e-5)
