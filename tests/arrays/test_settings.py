"""Wrong settings by table: an error names the parameter, what it was, and what it may be."""

import numpy as np
import pytest
from many_cases import for_each
from public_estimators import ESTIMATORS
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVC
from sklearn.utils._param_validation import make_constraint

from entrolearn import (
    LSSVC,
    LSSVR,
    MELM,
    RSVC,
    RSVR,
    CrossEntropyClustering,
    CrossEntropySVC,
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    EntropySearch,
    ErrorEntropyMLPRegressor,
    InfomaxICA,
    KDEClassifier,
    KELMClassifier,
    KELMRegressor,
    KLClustering,
    MinimumEntropyClustering,
    OneNormSVC,
    OneNormSVR,
    RenyiEntropyClustering,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
)
from entrolearn.cluster import CrossEntropyMethodClustering
from entrolearn.manifold import GEM, ClassPCA, PerClassPCA, TwoEllipsoidPCA
from entrolearn.maxent import MaxEntClassifier
from entrolearn.networks import (
    CoherentFeatures,
    IncoherentFeatures,
    LinearInfomax,
    MSEMLPClassifier,
    MSEMLPRegressor,
    SoftmaxRegression,
)

X = np.random.default_rng(0).uniform(0.1, 1, size=(12, 3))
X[::2, 0] += 1
y = np.arange(12) % 2  # a label, or a value


class Nothing:
    """A type that no parameter has."""


# Of each, some parameters take none, and then say so.
CANDIDATES = {
    "an object of another type": Nothing(),
    "an unknown name": "no such name",
    "zero": 0,
    "a negative number": -1,
    "a number that is not whole": 2.5,
    "NaN for a number": np.nan,
    "inf for a number": np.inf,
}


def wrong_values() -> list:
    """All of the candidates, each with every parameter of every learner that does not take it."""
    classes = {type(estimator): estimator for estimator in ESTIMATORS}.values()
    known = [
        (estimator, name, [make_constraint(constraint) for constraint in constraints])
        for estimator in classes
        for name, constraints in getattr(estimator, "_parameter_constraints", {}).items()
    ]
    return [
        pytest.param(
            [
                (estimator, name, value)
                for estimator, name, constraints in known
                if not any(constraint.is_satisfied_by(value) for constraint in constraints)
            ],
            id=what,
            marks=pytest.mark.fault("Arrays", f"{what}, as a parameter", "refused, by its name"),
        )
        for what, value in CANDIDATES.items()
    ]


@pytest.mark.parametrize("cases", wrong_values())
@for_each("estimator", "name", "value")
def test_a_parameter_that_cannot_be_is_named(estimator, name, value):
    says = rf"^The '{name}' parameter of {type(estimator).__name__} must be .*\. Got .* instead\.$"
    with pytest.raises(ValueError, match=says) as caught:
        clone(estimator).set_params(**{name: value}).fit(X, y)
    assert "\n" not in str(caught.value)


def nan_kernel(a, b):
    return np.nan


def nan_units(Z):
    return np.full_like(Z, np.nan)


def too_few_units(Z):
    return Z[:, 1:]


def overflowing(kernel_machine: type[BaseEstimator]) -> BaseEstimator:
    width = {"gamma": 100.0} if "gamma" in kernel_machine().get_params() else {"sigma": 0.01}
    return kernel_machine(kernel="poly", degree=400, **width)


ON_KERNELS = [KELMClassifier, KELMRegressor, RKELMClassifier, RKELMRegressor, LSSVC, LSSVR, RSVC, RSVR]
ON_KERNELS += [EEKMClassifier, OneNormSVC, OneNormSVR, CrossEntropySVC]
ON_UNITS = [ELMClassifier, ELMRegressor, EEMClassifier, WELMClassifier]
MANY_CLUSTERS = [
    MinimumEntropyClustering,
    RenyiEntropyClustering,
    CrossEntropyClustering,
    CrossEntropyMethodClustering,
    KLClustering,
]
MANY_COMPONENTS = [
    *(ClassPCA, TwoEllipsoidPCA, PerClassPCA, GEM, MELM, LinearInfomax, CoherentFeatures),
    *(IncoherentFeatures, InfomaxICA),
]

# The line of the table, a learner with such a setting, and what it says.
SETTINGS: list[tuple[str, BaseEstimator, str]] = [
    *(("a kernel that is NaN", c(kernel=nan_kernel), "gives nan .* must be finite") for c in ON_KERNELS),
    *(("a kernel that overflows", overflowing(c), "gives inf .* must be finite") for c in ON_KERNELS),
    *(
        ("a width that is none", c(**{name: width}), f"The '{name}' parameter")
        for c in ON_KERNELS
        for name in sorted({"sigma", "gamma"} & c().get_params().keys())
        for width in (0.0, -1.0)
    ),
    *(("units that are NaN", c(activation=nan_units), "activation gives NaN .* must give") for c in ON_UNITS),
    *(
        ("fewer units than sums", c(10, activation=too_few_units), r"activation gives shape .*, 9\); it must")
        for c in ON_UNITS
    ),
    *(
        ("more clusters than rows", c(13), r"n_samples=12 (should be >=|must be at least) n_clusters=13")
        for c in MANY_CLUSTERS
    ),
    *(("more components than features", c(n_components=99), "n_components") for c in MANY_COMPONENTS),
    *(
        ("a list of ridges that holds none", c(C=C), r"C must be a number or a sequence of numbers, .* got ")
        for c in (ELMClassifier, ELMRegressor, KELMClassifier, KELMRegressor, RKELMClassifier, RKELMRegressor)
        for C in ([], [1.0, -1.0], [np.nan], ["much"], [[1.0]])
    ),
    *(
        ("priors that are none", c(priors=priors), r"priors must be .*2 positive numbers, one for each class")
        for c in (EEMClassifier, EEKMClassifier, KDEClassifier, MELM)
        for priors in ([1.0], [1.0, -1.0], [1.0, np.nan], [0.0, 0.0])
    ),
    *(
        ("weights of classes that are none", c(class_weight=weights), "class_weight")
        for c in (WELMClassifier, LSSVC, RSVC, OneNormSVC, CrossEntropySVC, SoftmaxRegression)
        for weights in ({0: 0.0, 1: 1.0}, {0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0}, {0: 1.0, 7: 1.0})
    ),
    *(
        (
            "a width whose square underflows",
            estimator,
            "overflows|its square is used|no number|in the range",
        )
        for estimator in (
            KELMClassifier(sigma=1e-308),
            RKELMRegressor(sigma=1e-308),
            LSSVC(gamma=1e308),
            RSVR(gamma=1e308),
            OneNormSVC(gamma=1e308),
            ELMClassifier(activation="rbf", slope=1e308),
            RenyiEntropyClustering(sigma=1e-200),
        )
    ),
    *(
        ("a precomputed kernel that is not square", c(kernel="precomputed"), r"must be square, .* \(12, 3\)")
        for c in (LSSVC, LSSVR, OneNormSVC, OneNormSVR)
    ),
    *(
        ("first clusters of another shape", estimator, "init (has|holds)")
        for estimator in (
            MinimumEntropyClustering(2, init=[0, 1]),
            MinimumEntropyClustering(2, init=range(12)),
            CrossEntropyClustering(2, init=[0, 1]),
            CrossEntropyClustering(2, init=range(12)),
            CrossEntropyMethodClustering(2, init=[[0.0, 1.0]]),
            KLClustering(2, init=[[0.0, 1.0]]),
        )
    ),
    ("first clusters that are no distributions", KLClustering(1, init=[[-1, 1, 1]]), "Negative values"),
    ("first clusters that are no distributions", KLClustering(1, init=[[0, 0, 0]]), "init has a center"),
    *(
        ("a covariance that is none", CrossEntropyClustering(2, family="fixed", covariance=c), "covariance")
        for c in (None, np.eye(2), -np.eye(3), np.ones((3, 3)), np.full((3, 3), np.nan), "much")
    ),
    ("a covariance that nobody asked for", CrossEntropyClustering(2, covariance=1.0), "covariance is given"),
    ("more seeds than rows", RenyiEntropyClustering(n_seeds=5, seed_size=3), "5 seeds of 3 rows take 15"),
    ("an elite of one point", CrossEntropyMethodClustering(2, elite_fraction=0.001), "elite"),
    (
        "widths of landmarks without distance",
        RKELMClassifier(kernel="linear", per_landmark_sigma=True),
        "per",
    ),
    ("a ridge for a pseudoinverse", WELMClassifier(C=1.0), "needs solver='cholesky'"),
    ("a covariance that is an estimator of labels", EEMClassifier(covariance=KMeans(2)), "no covariance_"),
    *(
        ("rates that are none", MSEMLPClassifier(learning_rate=rates), "learning_rate is .* accepted: a pos")
        for rates in ((), (1.0, 0.0), (1.0, 1.0, 1.0), (1.0, np.nan), [1.0, "fast"])
    ),
    ("a rate too large", MSEMLPRegressor(learning_rate=1e30), "not finite after epoch .* learning_rate=1e"),
    ("a rate too large", SoftmaxRegression(solver="gradient", learning_rate=1e300), "learning_rate=1e"),
    ("features of nothing", MaxEntClassifier(feature_functions=[]), "feature_functions is empty"),
    ("features of nothing", MaxEntClassifier(lambda X, c: [1.0]), "feature function 0 gives shape"),
    ("features of nothing", MaxEntClassifier(lambda X, c: X[:, 0] * np.nan), "feature function 0 gives"),
    ("features of nothing", MaxEntClassifier([None]), "feature function 0 is None"),
    ("negative features for iterative scaling", MaxEntClassifier(lambda X, c: -X, solver="gis"), "Negative"),
    ("a search by no criterion", EntropySearch(SVC(), {"C": [1.0]}, criterion="best"), "unknown criterion"),
    ("a search of nothing", EntropySearch(SVC(), {}), "param_grid is empty"),
    ("a search of what is no parameter", EntropySearch(SVC(), {"c": [1.0]}), "SVC has no parameter 'c'"),
    ("a search without projection", EntropySearch(LinearRegression(), {"n_jobs": [1]}), "neither decision"),
    ("a search in which nothing can be fitted", EntropySearch(SVC(), {"C": [-1.0]}), "1 of 1 candidates"),
]


@pytest.mark.parametrize(
    ("estimator", "says"),
    [
        pytest.param(
            estimator,
            says,
            id=f"{number}: {what}: {type(estimator).__name__}",
            marks=pytest.mark.fault("Arrays", what, "refused in one line"),
        )
        for number, (what, estimator, says) in enumerate(SETTINGS)
    ],
)
def test_a_setting_that_does_not_fit_is_refused(estimator, says):
    estimator = clone(estimator)
    with pytest.raises((ValueError, TypeError), match=says) as caught:
        estimator.fit(X, y)
    assert caught.type in {ValueError, TypeError} or caught.type.__name__ == "InvalidParameterError"
    assert "\n" not in str(caught.value)


@pytest.mark.fault("Arrays", "first weights too large for single precision", "refused in one line")
@pytest.mark.parametrize("network", [ErrorEntropyMLPRegressor, MSEMLPRegressor])
def test_first_weights_that_overflow_are_refused(network):
    with pytest.raises(ValueError, match=r"init is 1e\+50; it must be at most 1e\+15 for rows in float32"):
        network(init=1e50, random_state=0).fit(X.astype(np.float32), y)


# --- streams --------------------------------------------------------------------------------------------

STREAMS = [EEMClassifier(10, random_state=0), ELMClassifier(10, random_state=0)]
STREAMS += [RKELMClassifier(5, random_state=0)]
WRONG_CHUNKS = {
    "a label that was not announced": (lambda s: s.partial_fit(X, y + 1), "holds the label 2, .* not among"),
    "a chunk of another width": (lambda s: s.partial_fit(X[:, 1:], y), "X has 2 features, .* expecting 3"),
    "other classes than at first": (
        lambda s: s.partial_fit(X, y, classes=[0, 2]),
        "`classes=.*` is not the same as on last call",
    ),
    "NaN in a chunk": (lambda s: s.partial_fit(X * np.nan, y), "X contains NaN"),
    "1e300 in a chunk": (lambda s: s.partial_fit(X * 1e300, y), r"X holds .*e\+300"),
    "an empty chunk": (lambda s: s.partial_fit(X[:0], y[:0]), r"0 sample\(s\)"),
    "a chunk with fewer labels than rows": (lambda s: s.partial_fit(X, y[:3]), "inconsistent numbers of"),
}


def of_each_stream(cases, outcome):
    """Every case with every stream, a line of the table for each case."""
    return pytest.mark.parametrize(
        ("stream", "case"),
        [
            pytest.param(
                stream,
                case,
                id=f"{case}: {type(stream).__name__}",
                marks=pytest.mark.fault("Arrays", case, outcome),
            )
            for case in cases
            for stream in STREAMS
        ],
    )


@of_each_stream(WRONG_CHUNKS, "refused, the stream goes on")
def test_a_wrong_chunk_is_refused_and_the_stream_goes_on(stream, case):
    spoil, says = WRONG_CHUNKS[case]
    undisturbed, disturbed = (clone(stream).partial_fit(X[:8], y[:8], classes=[0, 1]) for _ in range(2))
    with pytest.raises(ValueError, match=says):
        spoil(disturbed)
    expected = undisturbed.partial_fit(X[8:], y[8:]).decision_function(X)
    np.testing.assert_array_equal(disturbed.partial_fit(X[8:], y[8:]).decision_function(X), expected)


WRONG_BEGINNINGS = {
    "a stream without its classes": (None, "classes must be passed on the first call"),
    "a stream of one class": ([0], "at least two classes|only one class"),
}


@of_each_stream(WRONG_BEGINNINGS, "refused in one line")
def test_a_stream_must_know_its_classes(stream, case):
    classes, says = WRONG_BEGINNINGS[case]
    with pytest.raises(ValueError, match=says):
        clone(stream).partial_fit(X[::2], y[::2], classes=classes)


@pytest.mark.fault("Arrays", "another number of outputs than at first", "refused in one line")
@pytest.mark.parametrize("machine", [ELMRegressor, RKELMRegressor])
def test_a_stream_keeps_its_outputs(machine):
    stream = machine(5, random_state=0).partial_fit(X, y)
    with pytest.raises(ValueError, match="y has 2 outputs .* had 1"):
        stream.partial_fit(X, np.column_stack([y, y]))
