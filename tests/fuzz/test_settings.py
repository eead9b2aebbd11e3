"""Wrong settings by table: one line that names the parameter, before any work."""

import numpy as np
import pytest
from many_cases import for_each
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVC
from sklearn.utils._param_validation import make_constraint

from entrolearn import (
    CrossEntropyClustering,
    ELMClassifier,
    EntropySearch,
    KLClustering,
    RenyiEntropyClustering,
)
from entrolearn.maxent import MaxEntClassifier
from entrolearn.networks import SoftmaxRegression
from fuzz.cases import CLASSES, DEFAULT
from fuzz.laws import KERNELS, ORTHONORMAL, UNITS

X = np.random.default_rng(0).uniform(0.1, 1, size=(12, 3))
X[::2, 0] += 1
y = np.arange(12) % 2  # a label, or a value


class Nothing:
    """A type that no parameter has."""


def wrong_values() -> list:
    """Values of other types or sizes, each with every parameter of every learner that does not take it."""
    return [
        (estimator, name, value)
        for estimator in DEFAULT.values()
        for name, constraints in getattr(estimator, "_parameter_constraints", {}).items()
        for value in (Nothing(), "no such name", 0, -1, 2.5, np.nan, np.inf)
        if not any(make_constraint(constraint).is_satisfied_by(value) for constraint in constraints)
    ]


@pytest.mark.fault("Arrays", "a parameter of another type or size", "refused, by its name")
@pytest.mark.parametrize("cases", [wrong_values()], ids=[""])
@for_each("estimator", "name", "value")
def test_a_parameter_that_cannot_be_is_named(estimator, name, value):
    says = rf"^The '{name}' parameter of {type(estimator).__name__} must be "
    with pytest.raises(ValueError, match=says) as caught:
        clone(estimator).set_params(**{name: value}).fit(X, y)
    assert "\n" not in str(caught.value)


def nan_kernel(a, b):
    return np.nan


def nan_units(Z):
    return np.full_like(Z, np.nan)


def too_few_units(Z):
    return Z[:, 1:]


RIDGES = (
    "ELMClassifier",
    "ELMRegressor",
    "KELMClassifier",
    "KELMRegressor",
    "RKELMClassifier",
    "RKELMRegressor",
    "LSSVC",
    "LSSVR",
)
PRECOMPUTED = ("LSSVC", "LSSVR", "OneNormSVC", "OneNormSVR")
WEIGHED = ("WELMClassifier", "LSSVC", "RSVC", "OneNormSVC", "CrossEntropySVC", "SoftmaxRegression")
N_CLUSTERS = ("MinimumEntropyClustering", "RenyiEntropyClustering", "CrossEntropyClustering", "KLClustering")
COMPONENTS = (
    *ORTHONORMAL[:4],
    "GEM",
    "LinearInfomax",
    "CoherentFeatures",
    "IncoherentFeatures",
    "InfomaxICA",
)
NOT_FULL = (None, np.eye(2), -np.eye(3), np.ones((3, 3)), np.full((3, 3), np.nan), "much")

# Parameter -> the learners that have such values of it, and what the error names.
TABLE: list[tuple[tuple, str, list, str]] = [
    (KERNELS, "kernel", [nan_kernel], "must be finite"),
    (UNITS, "activation", [nan_units], "activation gives NaN"),
    (UNITS, "activation", [too_few_units], "activation gives shape"),
    (N_CLUSTERS, "n_clusters", [13], "n_samples=12|12 distinct rows"),
    (COMPONENTS, "n_components", [99], "n_components"),
    (RIDGES, "alpha", [[], [1.0, -1.0], [np.nan], ["much"], [[1.0]]], "alpha must be a number or a sequence"),
    (
        ("EEMClassifier", "EEKMClassifier", "KDEClassifier", "MELM"),
        "priors",
        [[1.0], [1.0, -1.0], [1.0, np.nan], [0.0, 0.0]],
        "priors must be",
    ),
    (
        WEIGHED,
        "class_weight",
        [{0: 0.0, 1: 1.0}, {0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0}, {0: 1.0, 7: 1.0}],
        "class_weight",
    ),
    (("LSSVC", "RKELMRegressor", "RSVR", "OneNormSVC"), "gamma", [1e308, 0.0, -1.0], "gamma|range|finite"),
    (PRECOMPUTED, "kernel", ["precomputed"], r"\(12, 3\)"),
    (("MinimumEntropyClustering", "CrossEntropyClustering"), "init", [[0, 1], range(12)], "init"),
    (("CrossEntropyMethodClustering", "KLClustering"), "init", [[[0.0, 1.0]]], "init"),
    (("RenyiEntropyClustering",), "bandwidth", [1e-200], "bandwidth"),
    (("CrossEntropyClustering",), "covariance", [1.0], "covariance is given"),
    (("CrossEntropyMethodClustering",), "elite_fraction", [0.001], "elite"),
    (("WELMClassifier",), "alpha", [1.0], "solver='cholesky'"),
    (("EEMClassifier",), "covariance", [KMeans(2)], "covariance_"),
    (
        ("MSEMLPClassifier",),
        "learning_rate",
        [(), (1.0, 0.0), (1.0, 1.0, 1.0), (1.0, np.nan), [1.0, "fast"]],
        "learning_rate",
    ),
    (("MSEMLPRegressor",), "learning_rate", [1e30], "learning_rate=1e"),
    (
        ("MaxEntClassifier",),
        "feature_functions",
        [[], [None], lambda X, c: [1.0], lambda X, c: X[:, 0] * np.nan],
        "feature",
    ),
]
# Two parameters that do not go together.
TOGETHER = [
    *((CrossEntropyClustering(2, family="fixed", covariance=c), "covariance") for c in NOT_FULL),
    *(
        (CLASSES[name](kernel="poly", kernel_params={"degree": 400}, gamma=100.0), "must be finite")
        for name in KERNELS
    ),
    (KLClustering(1, init=[[-1, 1, 1]]), "Negative values"),
    (KLClustering(1, init=[[0, 0, 0]]), "init"),
    (RenyiEntropyClustering(n_seeds=5, seed_size=3), "5 seeds of 3 rows"),
    (CLASSES["RKELMClassifier"](kernel="linear", per_landmark_gamma=True), "per_landmark_gamma"),
    (ELMClassifier(activation="rbf", slope=1e308), "overflow|range"),
    (SoftmaxRegression(solver="gradient", learning_rate=1e300), "learning_rate=1e"),
    (MaxEntClassifier(lambda X, c: -X, solver="gis"), "Negative"),
    (EntropySearch(SVC(), {"C": [1.0]}, criterion="best"), "criterion"),
    (EntropySearch(SVC(), {}), "param_grid is empty"),
    (EntropySearch(SVC(), {"c": [1.0]}), "no parameter 'c'"),
    (EntropySearch(LinearRegression(), {"n_jobs": [1]}), "neither decision"),
    (EntropySearch(SVC(), {"C": [-1.0]}), "1 of 1 candidates"),
]


def refused(estimator, names: str) -> None:
    with pytest.raises((ValueError, TypeError), match=names) as caught:
        clone(estimator).fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("cases", "parameter", "values", "names"),
    [
        pytest.param(*line, marks=pytest.mark.fault("Arrays", f"{line[1]}: {line[3]}", "refused in one line"))
        for line in TABLE
    ],
)
@for_each("name")
def test_a_value_that_does_not_fit_is_refused(name, parameter, values, names):
    for value in values:
        refused(clone(DEFAULT[name]).set_params(**{parameter: value}), names)


@pytest.mark.fault("Arrays", "settings that do not go together", "refused in one line")
@pytest.mark.parametrize("cases", [TOGETHER], ids=[""])
@for_each("estimator", "names")
def test_settings_that_do_not_go_together_are_refused(estimator, names):
    refused(estimator, names)


@pytest.mark.parametrize("name", ["ErrorEntropyMLPRegressor", "MSEMLPRegressor"])
def test_first_weights_that_overflow_in_single_precision_are_refused(name):
    with pytest.raises(ValueError, match="init is"):
        CLASSES[name](init=1e50, random_state=0).fit(X.astype(np.float32), y)


def test_what_is_not_fitted_says_so():
    for estimator in DEFAULT.values():
        for method in ("predict", "transform", "project", "hidden", "decision_function"):
            if hasattr(estimator, method):
                with pytest.raises(ValueError, match="is not fitted yet"):
                    getattr(clone(estimator), method)(X)
