"""PathSearchCV beside GridSearchCV: equal results of fewer fits."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.metrics import accuracy_score, make_scorer, precision_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from entrolearn import (
    LSSVC,
    LSSVR,
    RSVC,
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    PathSearchCV,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
)

N = 60
LANDMARKS = np.random.default_rng(1).uniform(size=(8, 3))
BOX = {"bounds": (0, 1), "random_state": 0}
RIDGES = [1e-3, 1.0]
CLASSIFIERS = [
    (EEMClassifier(**BOX), {"n_hidden": [3, 8], "covariance": [0.01, "oas"]}),
    (EEKMClassifier(n_landmarks=LANDMARKS), [{"covariance": ["oas", 0.1]}, {"gamma": [2.0]}]),
    (ELMClassifier(**BOX), {"n_hidden": [3, 8], "alpha": RIDGES}),
    (WELMClassifier(8, solver="cholesky", **BOX), {"alpha": RIDGES}),
    (RKELMClassifier(n_landmarks=LANDMARKS, gamma=0.5), {"alpha": RIDGES}),
    (KELMClassifier(), {"gamma": [2.0, 0.3333333333333333], "alpha": RIDGES}),
    (LSSVC(), {"gamma": [0.5, 3.0], "alpha": RIDGES}),
    (SVC(gamma=1.0), {"C": [0.1, 10.0]}),
    (make_pipeline(StandardScaler(), LSSVC(gamma=0.3)), {"lssvc__alpha": RIDGES}),
]
REGRESSORS = [
    (ELMRegressor(**BOX), {"n_hidden": [3, 8], "alpha": RIDGES}),
    (RKELMRegressor(n_landmarks=LANDMARKS, gamma=0.5), {"alpha": RIDGES}),
    (KELMRegressor(gamma=0.5), {"alpha": RIDGES}),
    (LSSVR(gamma=1.0), {"alpha": RIDGES}),
    (SVR(gamma=1.0), {"C": RIDGES}),
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(N, 3))
    return X, np.where(X.sum(axis=1) + 0.3 * rng.standard_normal(N) > 1.4, "yes", "no")


@pytest.fixture
def values(data):
    X, _ = data
    return X, np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2]


@pytest.fixture
def fits(monkeypatch):
    """The estimators that are fitted while a test runs."""
    found: list[BaseEstimator] = []
    learners = [last(estimator) for estimator, _ in CLASSIFIERS + REGRESSORS]
    for kind in {type(each) for each in learners} | {KNeighborsClassifier}:

        def fit(self, *arguments, _fit=kind.fit, **params):
            found.append(self)
            return _fit(self, *arguments, **params)

        monkeypatch.setattr(kind, "fit", fit)
    return found


def fitted_on_rows(fits) -> list:
    """Without the fits of SVC and SVR on a kernel matrix, of which their path consists."""
    return [each for each in fits if getattr(each, "kernel", "") != "precomputed"]


def last(estimator):
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def assert_equal_results(ours, theirs, X) -> None:
    ours_, theirs_ = ours.cv_results_, theirs.cv_results_
    assert list(ours_) == list(theirs_)
    for name in theirs_:
        if "time" in name:
            assert ours_[name].shape == theirs_[name].shape
        elif "score" in name or "_test_" in name or "_train_" in name:
            assert_allclose(ours_[name], theirs_[name], rtol=1e-9, atol=1e-12, err_msg=name)
        elif name != "params":
            assert_array_equal(ours_[name].mask, theirs_[name].mask)
            assert ours_[name].dtype == theirs_[name].dtype
    assert [repr(each) for each in ours_["params"]] == [repr(each) for each in theirs_["params"]]
    known = {"best_index_", "best_params_", "best_score_", "n_splits_", "multimetric_"}
    for name in known & vars(theirs).keys():
        assert repr(getattr(ours, name)) == repr(getattr(theirs, name)) or name == "best_score_"
    assert {name for name in vars(theirs) if name.endswith("_")} == {
        name for name in vars(ours) if name.endswith("_")
    }
    if hasattr(theirs, "best_estimator_") and hasattr(theirs, "predict"):
        assert_array_equal(ours.predict(X), theirs.predict(X))


def both(estimator, grid, X, y, fit_params=(), **settings):
    """The two searches, fitted, after a comparison of their results."""
    ours = PathSearchCV(estimator, grid, **settings).fit(X, y, **dict(fit_params))
    theirs = GridSearchCV(estimator, grid, **settings).fit(X, y, **dict(fit_params))
    assert_equal_results(ours, theirs, X)
    return ours, theirs


@pytest.mark.parametrize(("estimator", "grid"), CLASSIFIERS, ids=lambda each: type(each).__name__)
def test_scores_of_classifiers_equal_those_of_a_grid_search_by_one_fit(data, fits, estimator, grid):
    X, y = data
    scoring = ["balanced_accuracy", "roc_auc"]
    settings = {"cv": 3, "scoring": scoring, "refit": "roc_auc", "return_train_score": True}
    ours = PathSearchCV(estimator, grid, **settings).fit(X, y)
    # The path of SVC fits on kernel matrices; nothing else is fitted but the selected model.
    assert [fit for fit in fits if getattr(fit, "kernel", "") != "precomputed"] == [
        last(ours.best_estimator_)
    ]
    theirs = GridSearchCV(estimator, grid, **settings).fit(X, y)
    assert_equal_results(ours, theirs, X)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-12)
    assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.scorer_.keys() == theirs.scorer_.keys()


@pytest.mark.parametrize(("estimator", "grid"), REGRESSORS, ids=lambda each: type(each).__name__)
def test_scores_of_regressors_equal_those_of_a_grid_search_by_one_fit(values, fits, estimator, grid):
    ours = PathSearchCV(estimator, grid, cv=3).fit(*values)
    assert fitted_on_rows(fits) == [ours.best_estimator_]
    assert_equal_results(ours, GridSearchCV(estimator, grid, cv=3).fit(*values), values[0])


GROUPS = np.arange(N) % 4
FIRST = np.arange(N) < N // 2
SPLITS = {
    "shuffled": (KFold(3, shuffle=True, random_state=0), 1),
    "repeated": (RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0), 1),
    "drawn": (StratifiedShuffleSplit(3, random_state=0), 1),
    "series": (TimeSeriesSplit(3), 1),
    "groups": (GroupKFold(2), 1),
    "a group": (LeaveOneGroupOut(), 1),
    "some rows always in training": (PredefinedSplit(np.arange(N) % 3 - 1), 1),
    "masks": ([(FIRST, ~FIRST), (~FIRST, FIRST)], 1),
    "other rows than trained on": ([(np.arange(40), np.arange(50, 60)), (np.arange(40), [41])], 1),
    "the training rows": ([(np.arange(40), np.arange(45)), (np.arange(20, 60), np.arange(9))], 1),
    "rows drawn twice": ([(np.arange(50) // 2 * 2, np.arange(50, 60))], 1 + 4),
    "all rows": ([(np.arange(N), np.arange(N))], 1 + 4),
}


@pytest.mark.parametrize(("cv", "n_fits"), SPLITS.values(), ids=SPLITS)
def test_every_splitter_is_served(data, fits, cv, n_fits):
    X, y = data
    estimator, grid = CLASSIFIERS[0]
    of_split = {"groups": GROUPS} if "Group" in type(cv).__name__ else {}
    PathSearchCV(estimator, grid, cv=cv).fit(X, y, **of_split)
    assert len(fits) == n_fits
    both(estimator, grid, X, y, of_split, cv=cv)


def test_fits_with_weights_are_those_of_a_grid_search(data):
    X, y = data
    estimator, grid = CLASSIFIERS[0]
    weights = np.random.default_rng(0).uniform(size=N)
    weighted, _ = both(estimator, grid, X, y, {"sample_weight": weights}, cv=3)
    plain = PathSearchCV(estimator, grid, cv=3).fit(X, y)
    assert not np.allclose(weighted.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", make_scorer(precision_score, pos_label="yes")])
def test_scorers_of_labels_and_probabilities_need_no_fit(data, fits, scoring):
    X, y = data
    estimator, grid = CLASSIFIERS[0]
    ours = PathSearchCV(estimator, grid, scoring=scoring, cv=3).fit(X, y)
    assert len(fits) == 1
    assert_equal_results(ours, GridSearchCV(estimator, grid, scoring=scoring, cv=3).fit(X, y), X)


def test_probabilities_that_no_path_gives_are_those_of_a_fit(data):
    X, _ = data
    y = (3 * X[:, 0]).astype(int)
    both(*CLASSIFIERS[0], X, y, scoring=["roc_auc_ovr", "accuracy"], refit="accuracy", cv=3)


def error_near_the_edge(estimator, X, y) -> dict:
    """Numbers that need the features, the model and its labels for other rows."""
    found = estimator.predict(X)
    return {
        "a": float(np.mean((found == y) * X[:, 0])),
        "b": float(np.mean(estimator.predict(X[:, :] * 0.9) == found)),
        "c": float(np.sum(estimator.hidden_coef_**2)),
    }


def test_a_function_that_scores_gets_the_rows_and_the_model(data):
    both(*CLASSIFIERS[0], *data, scoring=error_near_the_edge, refit="b", cv=3)
    scoring = {"a": lambda e, X, y: X[:, 0].sum() * accuracy_score(y, e.predict(X)), "b": "accuracy"}
    ours, _ = both(*CLASSIFIERS[0], *data, scoring=scoring, refit="a", cv=3)
    assert ours.scorer_["a"] is scoring["a"]


def least_hidden(results) -> int:
    return int(np.argmin([params["n_hidden"] for params in results["params"]]))


@pytest.mark.parametrize("refit", [False, True, least_hidden])
def test_refit(data, refit):
    ours, theirs = both(*CLASSIFIERS[0], *data, refit=refit, cv=3)
    assert hasattr(ours, "predict") == hasattr(theirs, "predict") == bool(refit)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("error_score", [np.nan, -1.0])
def test_candidates_that_cannot_be_fitted_have_the_error_score(data, error_score):
    X, y = data
    grid = {"n_hidden": [5, 0, 8]}
    ours, _ = both(EEMClassifier(**BOX), grid, X, y, error_score=error_score, cv=3)
    assert_array_equal(ours.cv_results_["mean_test_score"][1], error_score)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.FitFailedWarning")
def test_training_rows_of_one_class_are_fitted_as_in_a_grid_search(data, fits):
    X, y = data
    both(EEMClassifier(**BOX), {"n_hidden": [3, 8]}, X, np.sort(y), cv=KFold(2))
    assert len(fits) > 2


def test_errors_are_raised_if_wished(data):
    search = PathSearchCV(EEMClassifier(), {"n_hidden": [5, 0]}, error_score="raise")
    with pytest.raises(ValueError, match="n_hidden"):
        search.fit(*data)


REFUSED = [
    ({"param_grid": {"hidden": [1]}}, "hidden"),
    ({"scoring": ["accuracy", "roc_auc"]}, "refit"),
    ({"scoring": "best"}, "scoring"),
    ({"error_score": "no"}, "error_score"),
    ({"cv": 1}, "1"),
]


@pytest.mark.parametrize(("settings", "named"), REFUSED, ids=[named for _, named in REFUSED])
def test_bad_settings_are_refused_before_any_fit(data, fits, settings, named):
    estimator, grid = CLASSIFIERS[0]
    with pytest.raises(ValueError, match=named):
        PathSearchCV(estimator, **{"param_grid": grid, **settings}).fit(*data)
    assert not fits


def test_rows_may_be_sparse_or_frames_or_lists(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    both(RKELMClassifier(n_landmarks=LANDMARKS, gamma=0.5), {"alpha": RIDGES}, csr_array(X), y, cv=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    ours, _ = both(*CLASSIFIERS[0], frame, pd.Series(y), cv=3)
    assert_array_equal(ours.feature_names_in_, ["a", "b", "c"])
    both(*CLASSIFIERS[0], X.tolist(), y.tolist(), cv=3)


def product(x, z) -> float:
    return float(x @ z)


def test_grids_may_contain_estimators_arrays_and_functions(data):
    machine = Pipeline([("scale", StandardScaler()), ("last", LSSVC())])
    grid = [
        {"scale": ["passthrough", StandardScaler(with_mean=False)], "last__alpha": RIDGES},
        {"last": [EEMClassifier(**BOX), KNeighborsClassifier(3)]},
    ]
    both(machine, grid, *data, cv=3)
    both(EEKMClassifier(), {"n_landmarks": [LANDMARKS[:4], LANDMARKS]}, *data, cv=3)
    both(KELMClassifier(), {"kernel": [product, lambda x, z: product(x, z) ** 2]}, *data, cv=3)


def test_fits_that_cannot_share_are_made_by_a_grid_search(data, fits):
    X, y = data
    both(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, X, y, cv=3)
    assert len(fits) == 2 * (2 * 3 + 1)
    both(KELMClassifier(kernel="precomputed"), {"alpha": RIDGES}, rbf_kernel(X), y, cv=3)
    both(KMeans(2, random_state=0), {"n_init": [1, 2]}, X, None, cv=3)
    both(ELMRegressor(5, **BOX), {"alpha": RIDGES}, X, X[:, :2], cv=3)


def test_a_seed_that_is_not_set_is_drawn_once(data):
    X, y = data
    search = PathSearchCV(EEMClassifier(bounds=(0, 1)), {"n_hidden": [3, 8]}, cv=3).fit(X, y)
    seed = search.best_estimator_.random_state
    seeded = EEMClassifier(bounds=(0, 1), random_state=seed)
    assert_equal_results(search, GridSearchCV(seeded, {"n_hidden": [3, 8]}, cv=3).fit(X, y), X)
    assert search.estimator.random_state is None
    assert search.best_params_.keys() == {"n_hidden"}


def test_processes_fit_parts_of_the_grid(data):
    X, y = data
    estimator, grid = CLASSIFIERS[5]
    one = PathSearchCV(estimator, grid, cv=3).fit(X, y)
    with parallel_config("threading"):
        two = PathSearchCV(estimator, grid, cv=3, n_jobs=2).fit(X, y)
    assert_equal_results(two, one, X)


def test_every_candidate_has_the_mean_time_of_a_fit(data):
    results = PathSearchCV(*CLASSIFIERS[0], cv=3).fit(*data).cv_results_
    assert np.ptp(results["mean_fit_time"]) == 0 < results["mean_fit_time"][0]
    assert_array_equal(results["std_fit_time"], 0)


def test_routed_parameters_reach_the_splitter_the_estimator_and_the_scorer(data, fits):
    X, y = data
    weights = np.random.default_rng(0).uniform(size=N)
    with config_context(enable_metadata_routing=True):
        splitter = GroupKFold(2).set_split_request(groups=True)
        search = PathSearchCV(*CLASSIFIERS[0], cv=splitter).fit(X, y, groups=GROUPS)
        assert len(fits) == 1
        assert_equal_results(search, GridSearchCV(*CLASSIFIERS[0], cv=splitter).fit(X, y, groups=GROUPS), X)
        estimator = clone(CLASSIFIERS[0][0]).set_fit_request(sample_weight=True)
        scoring = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        given = {"sample_weight": weights}
        both(estimator, CLASSIFIERS[0][1], X, y, given, scoring=scoring, cv=3)


@pytest.mark.parametrize("estimator", [RKELMClassifier, EEKMClassifier, RSVC])
def test_landmarks_of_ordered_folds_are_drawn_from_all_training_rows(fits, estimator):
    """Rows in the order of time: landmarks from some of the folds would not represent the others."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.sort(rng.uniform(0, 5, 150)), rng.standard_normal(150)])
    grid, machine = {"n_landmarks": [5, 10]}, estimator(gamma=1.0, random_state=0)
    search = PathSearchCV(machine, grid, cv=KFold(3)).fit(X, X[:, 1] > 0)
    assert len(fits) == (estimator is not RSVC)  # the refit
    assert_equal_results(search, GridSearchCV(machine, grid, cv=KFold(3)).fit(X, X[:, 1] > 0), X)
