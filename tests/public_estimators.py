"""Every public estimator, some of them in several settings: what is asked of all is asked of these."""

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from entrolearn import (
    LSSVC,
    LSSVR,
    MELM,
    RSVC,
    RSVR,
    CrossEntropyClustering,
    CrossEntropySVC,
    CrossEntropySVR,
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    EntropySearch,
    ErrorEntropyMLPClassifier,
    ErrorEntropyMLPRegressor,
    InfomaxICA,
    KDEClassifier,
    KELMClassifier,
    KELMRegressor,
    KLClustering,
    MinimumEntropyClustering,
    OneNormSVC,
    OneNormSVR,
    RecursiveFeatureClassifier,
    RecursiveFeatureRegressor,
    RenyiEntropyClustering,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
)
from entrolearn.cluster import CrossEntropyMethodClustering
from entrolearn.feature_selection import InformationFilter
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

ESTIMATORS = [
    EEMClassifier(random_state=0),
    EEMClassifier(activation="sigmoid", covariance="oas"),
    EEMClassifier(activation="nsigmoid", covariance=1e-3),
    EEKMClassifier(random_state=0),
    EEKMClassifier(kernel="linear", n_landmarks=5, store_sums=True),
    EEKMClassifier(kernel="exponential_power", kernel_params={"power": 0.7}, random_state=0),
    WELMClassifier(),
    WELMClassifier(solver="cholesky", alpha=0.1, class_weight=None, store_sums=True),
    ELMClassifier(),
    ELMClassifier(activation="rbf", alpha=[1e-3, 1.0]),
    ELMRegressor(),
    ELMRegressor(activation="sine", alpha=1e-3, store_sums=True),
    KELMClassifier(),
    KELMClassifier(kernel="rational_quadratic", alpha=[1e-3, 1.0]),
    KELMRegressor(),
    KELMRegressor(kernel="inverse_multiquadric"),
    RKELMClassifier(),
    RKELMClassifier(per_landmark_gamma=True, alpha=[1e-6, 1e-3]),
    RKELMRegressor(random_state=0),
    RKELMRegressor(n_landmarks=50, kernel="poly", alpha=1e-3, store_sums=True),
    LSSVC(),
    LSSVC(class_weight="balanced", kernel="poly"),
    LSSVR(),
    LSSVR(alpha=0.1, kernel="inverse_multiquadric"),
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
    GEM(n_components=1, alpha=10.0),
    MELM(n_init=2, random_state=0),
    MELM(n_init=2, covariance="oas", solver="penalty", random_state=0),
    MinimumEntropyClustering(random_state=0),
    MinimumEntropyClustering(posterior="knn", entropy="havrda_charvat", n_neighbors=3, random_state=0),
    RenyiEntropyClustering(random_state=0),
    RenyiEntropyClustering(3, bandwidth=0.5, random_state=0),
    MaxEntClassifier(),
    MaxEntClassifier(alpha=0, fit_intercept=False, max_iter=200),
    MaxEntClassifier(solver="gis", max_iter=200),
    CrossEntropyMethodClustering(3, samples_per_coordinate=20, random_state=0),
    CrossEntropyClustering(n_init=2, random_state=0),
    CrossEntropyClustering(5, family="spherical", merge=False, n_init=1, random_state=0),
    CrossEntropyClustering(5, family="fixed", covariance=0.5, n_init=1, random_state=0),
    KLClustering(3, n_init=2, random_state=0),
    SoftmaxRegression(),
    SoftmaxRegression(1e-2, fit_intercept=False, solver="gradient"),
    MSEMLPClassifier(n_hidden=10, random_state=0),
    MSEMLPRegressor(n_hidden=10, random_state=0),
    ErrorEntropyMLPClassifier(random_state=0),
    ErrorEntropyMLPRegressor(entropy="renyi", max_iter=100, random_state=0),
    LinearInfomax(),
    LinearInfomax(1, constraint="power", noise_variance=0.1),
    CoherentFeatures(),
    CoherentFeatures(noise_variance=0.1),
    IncoherentFeatures(),
    InfomaxICA(random_state=0),
    InfomaxICA(n_components=1, extended=False, random_state=0),
    RecursiveFeatureClassifier(EEKMClassifier(20, random_state=0), n_rounds=1, cv=2, random_state=0),
    RecursiveFeatureRegressor(KELMRegressor(), n_rounds=1, random_state=0),
    InformationFilter(),
    InformationFilter(1, criterion="cmim"),
    EntropySearch(SVC(), {"C": [0.1, 1.0]}),
    EntropySearch(
        make_pipeline(MinMaxScaler(), EEMClassifier(random_state=0)),
        {"eemclassifier__n_hidden": [10, 50]},
        criterion="kde",
    ),
]

# For tests that need neither the best solution nor another one each time.
QUICK = {
    "random_state": 0,
    "n_init": 1,
    "max_iter": 30,
    "samples_per_coordinate": 2,
    "samples_per_candidate": 2,
}


def quick(estimator: BaseEstimator) -> BaseEstimator:
    known = estimator.get_params(deep=False)
    return clone(estimator).set_params(**{name: value for name, value in QUICK.items() if name in known})


def _named() -> dict[str, BaseEstimator]:
    """All of them by their class and the number of their setting, such as ``EEMClassifier-2``."""
    named: dict[str, BaseEstimator] = {}
    for estimator in ESTIMATORS:
        name = type(estimator).__name__
        named[f"{name}-{1 + sum(key.startswith(f'{name}-') for key in named)}"] = estimator
    return named


NAMED = _named()

# Learners whose sums over rows add and subtract, each on a hidden layer that no row draws, for four features.
LANDMARKS = np.random.default_rng(0).uniform(-1, 1, size=(8, 4))
ON_GIVEN_LAYERS = [
    EEMClassifier(8, bounds=(-3, 3), store_sums=True, random_state=0),
    EEMClassifier(8, activation="sigmoid", bounds=None, covariance="oas", store_sums=True, random_state=0),
    EEMClassifier(8, bounds=(-3, 3), covariance=0.1, priors="empirical", store_sums=True, random_state=0),
    EEKMClassifier(n_landmarks=LANDMARKS, store_sums=True),
    WELMClassifier(8, bounds=(-3, 3), solver="cholesky", alpha=0.1, store_sums=True, random_state=0),
    ELMClassifier(8, bounds=(-3, 3), alpha=1e-4, store_sums=True, random_state=0),
    ELMRegressor(8, bounds=(-3, 3), alpha=1e-3, store_sums=True, random_state=0),
    RKELMClassifier(n_landmarks=LANDMARKS, alpha=1e-9, store_sums=True),
    RKELMRegressor(
        n_landmarks=LANDMARKS, gamma=0.5, per_landmark_gamma=True, store_sums=True, random_state=0
    ),
]
