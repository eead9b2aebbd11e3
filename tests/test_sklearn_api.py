"""scikit-learn's own checks over every public estimator."""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import entrolearn
from entrolearn import (
    GEM,
    LSSVC,
    LSSVR,
    MELM,
    RSVC,
    RSVR,
    ClassPCA,
    CoherentFeatures,
    CrossEntropyClustering,
    CrossEntropyMethodClustering,
    CrossEntropySVC,
    CrossEntropySVR,
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    EntropySearch,
    ErrorEntropyMLPClassifier,
    ErrorEntropyMLPRegressor,
    IncoherentFeatures,
    InfomaxICA,
    KDEClassifier,
    KELMClassifier,
    KELMRegressor,
    KLClustering,
    LinearInfomax,
    MaxEntClassifier,
    MinimumEntropyClustering,
    MSEMLPClassifier,
    MSEMLPRegressor,
    OneNormSVC,
    OneNormSVR,
    PerClassPCA,
    RenyiEntropyClustering,
    RKELMClassifier,
    RKELMRegressor,
    SoftmaxRegression,
    TwoEllipsoidPCA,
    WELMClassifier,
)

ESTIMATORS = [
    EEMClassifier(random_state=0),
    EEMClassifier(activation="sigmoid", covariance="oas"),
    EEMClassifier(activation="nsigmoid", covariance=1e-3),
    EEKMClassifier(random_state=0),
    EEKMClassifier(kernel="linear", n_landmarks=5),
    WELMClassifier(),
    WELMClassifier(solver="cholesky", C=0.1, class_weight=None),
    ELMClassifier(),
    ELMClassifier(activation="rbf", C=[1e-3, 1.0]),
    ELMRegressor(),
    ELMRegressor(activation="sine", C=1e-3),
    KELMClassifier(),
    KELMClassifier(kernel="rational_quadratic", C=[1e-3, 1.0]),
    KELMRegressor(),
    KELMRegressor(kernel="inverse_multiquadric"),
    RKELMClassifier(),
    RKELMClassifier(per_landmark_sigma=True, C=[1e-6, 1e-3]),
    RKELMRegressor(random_state=0),
    RKELMRegressor(n_landmarks=50, kernel="polynomial", C=1e-3),
    LSSVC(),
    LSSVC(class_weight="balanced", kernel="poly"),
    LSSVR(),
    LSSVR(C=10.0, kernel="inverse_multiquadric"),
    RSVC(random_state=0),
    RSVC(10, kernel="sigmoid", C=10.0),
    RSVR(C=100.0, random_state=0),
    RSVR(kernel="linear", epsilon=0.0),
    OneNormSVC(),
    OneNormSVC(C=10.0, kernel="poly"),
    OneNormSVR(C=10.0),
    OneNormSVR(C=10.0, kernel="linear", epsilon=0.0),
    CrossEntropySVC(random_state=0),
    CrossEntropySVC(C=10.0, kernel="linear", random_state=0),
    CrossEntropySVR(kernel="linear", random_state=0),
    KDEClassifier(),
    KDEClassifier(0.5, covariance="empirical", priors="empirical"),
    ClassPCA(),
    TwoEllipsoidPCA(n_components=1),
    PerClassPCA(),
    GEM(),
    GEM(n_components=1, gamma=10.0),
    MELM(n_init=2, random_state=0),
    MELM(n_init=2, covariance="oas", solver="penalty", random_state=0),
    MinimumEntropyClustering(random_state=0),
    MinimumEntropyClustering(posterior="knn", entropy="havrda_charvat", n_neighbors=3, random_state=0),
    RenyiEntropyClustering(random_state=0),
    RenyiEntropyClustering(3, sigma=0.5, random_state=0),
    MaxEntClassifier(),
    MaxEntClassifier(prior_variance=None, fit_intercept=False, max_iter=200),
    MaxEntClassifier(solver="gis", max_iter=200),
    CrossEntropyMethodClustering(3, samples_per_coordinate=20, random_state=0),
    CrossEntropyClustering(n_init=2, random_state=0),
    CrossEntropyClustering(5, family="spherical", merge=False, n_init=1, random_state=0),
    CrossEntropyClustering(5, family="fixed", covariance=0.5, n_init=1, random_state=0),
    KLClustering(3, n_init=2, random_state=0),
    SoftmaxRegression(),
    SoftmaxRegression(1e-2, fit_intercept=False, solver="gradient"),
    SoftmaxRegression(early_stopping=True, validation_fraction=0.5, random_state=0),
    MSEMLPClassifier(n_hidden=10, random_state=0),
    MSEMLPRegressor(n_hidden=10, random_state=0),
    ErrorEntropyMLPClassifier(random_state=0),
    ErrorEntropyMLPRegressor(entropy="renyi", random_state=0),
    LinearInfomax(),
    LinearInfomax(1, constraint="power", noise_variance=0.1),
    CoherentFeatures(),
    CoherentFeatures(noise_variance=0.1),
    IncoherentFeatures(),
    InfomaxICA(random_state=0),
    InfomaxICA(n_components=1, extended=False, random_state=0),
    EntropySearch(SVC(), {"C": [0.1, 1.0]}),
    EntropySearch(
        # Scaled first: far from [0, 1] every rbf unit is zero, and a search has nothing to choose.
        make_pipeline(MinMaxScaler(), EEMClassifier(random_state=0)),
        {"eemclassifier__n_hidden": [10, 50]},
        criterion="kde",
    ),
]


def expected_failures(estimator):
    """Checks that give negative rows whatever the tag `positive_only` says."""
    if isinstance(estimator, MaxEntClassifier) and estimator.solver == "gis":
        return {"check_decision_proba_consistency": "iterative scaling wants no negative features"}
    if isinstance(estimator, KLClustering):
        return {"check_clustering": "rows with negative entries are no distributions"}
    return {}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    public = {
        name
        for name in entrolearn.__all__
        if inspect.isclass(getattr(entrolearn, name)) and issubclass(getattr(entrolearn, name), BaseEstimator)
    }
    assert public == {type(estimator).__name__ for estimator in ESTIMATORS}
