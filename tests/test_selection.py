import math
import re
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.random_projection import GaussianRandomProjection
from sklearn.svm import SVC

from entrolearn import EEMClassifier
from entrolearn.measures import cauchy_schwarz_gaussian, cauchy_schwarz_kde
from entrolearn.path import PathPoint, project
from entrolearn.selection import CRITERIA, EntropySearch, best_point, entropy_criterion

Y = np.array([0, 0, 0, 1, 1, 1])
ROWS = np.arange(6)
PROJECTION = np.array([-1.0, -2.0, 0.5, 1.0, 3.0, 2.5])


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(150, 6, n_informative=4, flip_y=0.1, random_state=3)
    return X, np.array(["no", "yes"])[y]


# entropy_criterion


def test_gaussian_criterion_takes_the_moments_of_the_training_rows():
    rows = np.array([0, 1, 3, 4])
    point = PathPoint((), {}, projection=PROJECTION)
    expected = cauchy_schwarz_gaussian(2.0, 1.0, -1.5, 0.25)
    assert entropy_criterion(point, Y, rows, "gaussian") == pytest.approx(expected, rel=1e-14)


@pytest.mark.fault("Determinism", "variances of rounding, which other processors change", "equal to 1e-6")
@pytest.mark.parametrize("kind", ["gaussian", "kde"])
@pytest.mark.parametrize("seed", [0, 1])
def test_variances_of_rounding_have_the_divergence_of_one_rounding(kind, seed):
    """Classes at ±1: their squared distance over twice what is added to variances, eps times that of all."""
    y = np.repeat([0, 1], 20)
    noise = 1e-13 * np.random.default_rng(seed).standard_normal(40)
    point = PathPoint((), {}, projection=2.0 * y - 1 + noise)
    expected = 4 / (2 * np.finfo(float).eps)
    assert entropy_criterion(point, y, np.arange(40), kind) == pytest.approx(expected, rel=1e-6)


def test_gaussian_criterion_takes_the_machines_own_gaussians_where_it_has_them():
    point = PathPoint((), {}, projection=PROJECTION, gaussians=(0.0, 1.0, 2.0, 3.0))
    # 1.1438: N(0, 1) against N(2, 3) by eq. (3) corrected.
    assert round(entropy_criterion(point, Y, ROWS, "gaussian"), 4) == 1.1438


def test_kde_criterion_is_the_divergence_of_the_projected_training_rows():
    point = PathPoint((), {}, projection=PROJECTION, gaussians=(0.0, 1.0, 2.0, 3.0))
    rows = np.array([0, 2, 3, 4, 5])
    expected = cauchy_schwarz_kde([-1.0, 0.5], [1.0, 3.0, 2.5])
    assert entropy_criterion(point, Y, rows, "kde") == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("kind", sorted(CRITERIA))
def test_criteria_depend_neither_on_the_names_of_the_labels_nor_on_unseen_rows(kind):
    rows = np.array([0, 1, 3, 4])
    expected = entropy_criterion(PathPoint((), {}, projection=PROJECTION), Y, rows, kind)
    other = PROJECTION.copy()
    other[[2, 5]] = 1e9, -1e9
    named = np.array(["a", "b"])[Y]
    assert entropy_criterion(PathPoint((), {}, projection=other), named, rows, kind) == expected


@pytest.mark.parametrize("kind", sorted(CRITERIA))
@pytest.mark.parametrize(
    "point",
    [
        PathPoint((), {}, error="ValueError: no"),
        PathPoint((), {}, prediction=Y),
        PathPoint((), {}, projection=np.full(6, 0.1)),
        PathPoint((), {}, projection=np.where(ROWS == 2, np.nan, PROJECTION)),
        PathPoint((), {}, projection=np.where(ROWS == 2, np.inf, PROJECTION)),
    ],
    ids=["failed", "no projection", "constant", "nan", "inf"],
)
def test_criteria_are_nan_where_there_is_nothing_to_compare(point, kind):
    assert math.isnan(entropy_criterion(point, Y, ROWS, kind))


@pytest.mark.parametrize("kind", sorted(CRITERIA))
def test_criteria_are_nan_for_one_class_and_infinite_for_a_class_on_one_point(kind):
    point = PathPoint((), {}, projection=PROJECTION)
    assert math.isnan(entropy_criterion(point, Y, np.array([0, 1, 2]), kind))
    collapsed = PathPoint((), {}, projection=np.where(Y == 0, 0.1, PROJECTION))
    assert entropy_criterion(collapsed, Y, ROWS, kind) == math.inf


@pytest.mark.parametrize("gaussians", [(0.0, math.nan, 1.0, 1.0), (0.0, -1e-30, 1.0, 1.0)])
def test_gaussian_criterion_is_nan_where_the_machines_gaussians_are_none(gaussians):
    point = PathPoint((), {}, projection=PROJECTION, gaussians=gaussians)
    assert math.isnan(entropy_criterion(point, Y, ROWS, "gaussian"))


def test_unknown_criterion_is_named_with_the_known_ones():
    message = "unknown criterion 'gausian', did you mean 'gaussian'?; known: gaussian, kde"
    with pytest.raises(ValueError, match=re.escape(message)):
        entropy_criterion(PathPoint((), {}), Y, ROWS, "gausian")


# best_point


@pytest.mark.parametrize(
    ("values", "tie_breaker", "expected"),
    [
        ([1.0, 3.0, 2.0], None, 1),
        ([math.nan, 1.0, math.nan], None, 1),
        ([2.0, 3.0, 3.0], None, 1),
        ([2.0, 3.0, 3.0], [9.0, 1.0, 2.0], 2),
        ([2.0, 3.0, 3.0], [9.0, 2.0, 2.0], 1),
        ([5.0, math.inf, math.inf], [9.0, 1.0, math.inf], 2),
        ([5.0, math.inf, math.inf], [9.0, math.nan, -4.0], 2),
        ([5.0, math.inf, math.inf], [9.0, math.nan, math.nan], 1),
        ([-math.inf, math.nan], [1.0, 2.0], 0),
    ],
)
def test_best_point_follows_the_stated_rule(values, tie_breaker, expected):
    assert best_point(values, tie_breaker) == expected


@pytest.mark.parametrize("values", [[math.nan, math.nan], []])
def test_best_point_of_nothing_is_an_error(values):
    with pytest.raises(ValueError, match=f"no candidate to select: all {len(values)} values are NaN"):
        best_point(values)


# EntropySearch


@pytest.mark.parametrize("kind", sorted(CRITERIA))
@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (SVC(), {"C": [0.01, 0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}),
        (LogisticRegression(), [{"C": [0.01, 1.0]}, {"C": [0.1], "class_weight": ["balanced", None]}]),
        (make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0], "svc__gamma": [0.1, 1.0]}),
    ],
    ids=["svc", "logistic", "pipeline"],
)
def test_choice_equals_that_of_a_naive_loop(data, machine, grid, kind):
    X, y = data
    search = EntropySearch(machine, grid, criterion=kind).fit(X, y)
    values = []
    for params in search.cv_results_["params"]:
        scores = clone(machine).set_params(**params).fit(X, y).decision_function(X)
        no, yes = scores[y == "no"], scores[y == "yes"]
        if kind == "gaussian":
            values.append(cauchy_schwarz_gaussian(yes.mean(), yes.var(), no.mean(), no.var()))
        else:
            values.append(cauchy_schwarz_kde(yes, no))
    np.testing.assert_allclose(search.cv_results_[kind], values, rtol=1e-8)
    assert search.best_index_ == int(np.argmax(values))
    assert search.best_score_ == search.cv_results_[kind][search.best_index_]
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    refitted = clone(machine).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.decision_function(X), refitted.decision_function(X))
    np.testing.assert_array_equal(search.predict(X), refitted.predict(X))
    assert search.score(X, y) == refitted.score(X, y)
    assert list(search.classes_) == ["no", "yes"]
    assert search.n_features_in_ == 6


class Recorder(LogisticRegression):
    """Keeps the sizes of the data that it is fitted on."""

    sizes = []

    def fit(self, X, y):
        self.sizes.append(len(y))
        return super().fit(X, y)


def test_every_fit_sees_all_rows_and_none_is_held_out(data):
    Recorder.sizes.clear()
    EntropySearch(Recorder(), {"C": [0.1, 1.0, 10.0]}).fit(*data)
    assert Recorder.sizes == [150] * 4


def test_results_follow_the_order_of_the_grid_and_name_what_failed(data):
    search = EntropySearch(SVC(), {"C": [1.0, -1.0, 0.1]}).fit(*data)
    assert [params["C"] for params in search.cv_results_["params"]] == [1.0, -1.0, 0.1]
    assert np.isnan(search.cv_results_["gaussian"]).tolist() == [False, True, False]
    assert search.cv_results_["error"][1].startswith("InvalidParameterError")
    assert search.cv_results_["error"][[0, 2]].tolist() == ["", ""]
    assert "kde" not in search.cv_results_
    assert "kde" in EntropySearch(SVC(), {"C": [1.0]}, criterion="kde").fit(*data).cv_results_


def test_results_have_the_names_that_scikit_learns_searches_give(data):
    grid = [{"C": [0.1, 10.0]}, {"gamma": [0.5], "C": [1.0]}, {"C": [-1.0]}]
    ours = EntropySearch(SVC(), grid).fit(*data)
    theirs = GridSearchCV(SVC(), grid, cv=[(np.arange(150), np.arange(150))], error_score=np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(*data)
    found, names = ours.cv_results_, [name for name in theirs.cv_results_ if not name.endswith("_time")]
    assert set(names) <= set(found)
    assert found["params"] == theirs.cv_results_["params"]
    for name in ("param_C", "param_gamma"):
        np.testing.assert_array_equal(np.ma.getmaskarray(found[name]), theirs.cv_results_[name].mask)
        assert found[name].tolist() == theirs.cv_results_[name].tolist()
    np.testing.assert_array_equal(found["mean_test_score"], found["gaussian"])
    order = np.argsort(-found["gaussian"][:3])
    assert found["rank_test_score"][order].tolist() == [1, 2, 3]
    assert found["rank_test_score"][3] == theirs.cv_results_["rank_test_score"][3] == 4
    assert found["rank_test_score"][ours.best_index_] == 1
    assert np.isnan(found["std_test_score"][3])
    assert (found["std_test_score"][:3] == 0).all()


@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (SVC(), {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}),
        (EEMClassifier(random_state=0), {"n_hidden": [10, 20, 30]}),  # whose path shares one layer
    ],
)
def test_the_choice_does_not_depend_on_the_processes(data, machine, grid):
    one, two = (EntropySearch(machine, grid, n_jobs=n).fit(*data) for n in (None, 2))
    np.testing.assert_allclose(one.cv_results_["gaussian"], two.cv_results_["gaussian"], rtol=1e-9)
    assert one.best_params_ == two.best_params_


@pytest.mark.parametrize("routed", [False, True])
def test_parameters_of_the_fit_reach_the_estimator(data, routed):
    """A row of weight zero is no row."""
    X, y = data
    weight = np.ones(len(y))
    weight[::3] = 0
    with config_context(enable_metadata_routing=routed):
        machine = LogisticRegression(tol=1e-10)
        if routed:
            machine.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = EntropySearch(machine, {"C": [0.01, 1.0]}).fit(X, y, sample_weight=weight)
        score = search.score(X, y, sample_weight=weight)
    assert score == search.best_estimator_.score(X[weight > 0], y[weight > 0])
    expected = LogisticRegression(tol=1e-10, **search.best_params_).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(search.best_estimator_.coef_, expected.coef_, rtol=1e-4)
    for params, score in zip(search.cv_results_["params"], search.cv_results_["gaussian"], strict=True):
        alone = LogisticRegression(tol=1e-10, **params).fit(X, y, sample_weight=weight).decision_function(X)
        no, yes = alone[y == "no"], alone[y == "yes"]
        assert cauchy_schwarz_gaussian(yes.mean(), yes.var(), no.mean(), no.var()) == pytest.approx(score)


def test_values_of_the_grid_may_be_arrays_and_estimators(data):
    X, y = data
    grid = {"estimator": [SVC(C=0.1), SVC(C=1.0)], "weights": [np.ones(2), np.array([1.0, 2.0])]}
    search = EntropySearch(Wrapped(SVC()), grid).fit(X, y)
    assert search.best_index_ == int(np.argmax(search.cv_results_["gaussian"]))


class Wrapped(ClassifierMixin, BaseEstimator):
    def __init__(self, estimator, weights=None):
        self.estimator = estimator
        self.weights = weights

    def fit(self, X, y):
        self.fitted_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.fitted_.classes_
        return self

    def predict(self, X):
        return self.fitted_.predict(X)

    def project(self, X):
        return self.weights[0] * self.fitted_.decision_function(X) ** self.weights[1]


def test_projection_of_the_machine_is_what_is_compared(data):
    """A machine with ``project`` needs no decision_function, and has none to pass on."""
    X, y = data
    search = EntropySearch(Wrapped(SVC(), np.array([1.0, 2.0])), {"estimator__C": [0.1, 1.0]}).fit(X, y)
    squared = SVC(C=0.1).fit(X, y).decision_function(X) ** 2
    no, yes = squared[y == "no"], squared[y == "yes"]
    expected = cauchy_schwarz_gaussian(yes.mean(), yes.var(), no.mean(), no.var())
    assert search.cv_results_["gaussian"][0] == pytest.approx(expected, rel=1e-9)
    assert not hasattr(search, "decision_function")


@pytest.mark.parametrize(
    "random_state", [None, 3, np.random.RandomState(3)], ids=["none", "seed", "generator"]
)
def test_the_machine_that_is_refitted_is_the_one_that_was_measured(data, random_state):
    X, y = data
    machine = SGDClassifier(max_iter=5, tol=None, random_state=random_state)
    search = EntropySearch(machine, {"alpha": [1e-4, 1e-2]}).fit(X, y)
    scores = search.decision_function(X)
    no, yes = scores[y == "no"], scores[y == "yes"]
    measured = cauchy_schwarz_gaussian(yes.mean(), yes.var(), no.mean(), no.var())
    assert measured == pytest.approx(search.best_score_, rel=1e-9)
    assert machine.random_state is random_state
    if random_state is None:
        again = EntropySearch(machine, {"alpha": [1e-4, 1e-2]}).fit(X, y)
        assert again.best_score_ != search.best_score_


@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (Pipeline([("clf", SVC())]), {"clf": [EEMClassifier(20), EEMClassifier(40)]}),
        (
            Pipeline([("scale", StandardScaler()), ("clf", SVC())]),
            {"clf": [EEMClassifier(), LogisticRegression()], "scale": [MinMaxScaler(), StandardScaler()]},
        ),
        (
            Pipeline([("reduce", "passthrough"), ("clf", EEMClassifier(20))]),
            {"reduce": [GaussianRandomProjection(3), Nystroem(n_components=5)]},
        ),
        (make_pipeline(EEMClassifier()), {"steps": [[("a", EEMClassifier(20))], [("b", EEMClassifier(40))]]}),
        (Wrapped(SVC(), np.ones(2)), {"estimator": [EEMClassifier(20), SGDClassifier(max_iter=5, tol=None)]}),
        (Wrapped(SVC(), np.ones(2)), {"estimator": [make_pipeline(MinMaxScaler(), EEMClassifier(20))]}),
        (EEMClassifier(20, random_state=3), {"random_state": [None], "n_hidden": [20, 40]}),
    ],
    ids=range(7),
)
def test_the_machine_of_a_grid_with_estimators_is_refitted_as_it_was_measured(data, machine, grid):
    X, y = data
    search = EntropySearch(machine, grid, criterion="kde").fit(X, y)
    best = search.best_estimator_
    measured = PathPoint((), {}, projection=project(best, X))
    assert entropy_criterion(measured, y, np.arange(len(y)), "kde") == pytest.approx(
        search.best_score_, rel=1e-7
    )
    assert search.best_params_ in list(ParameterGrid(grid))
    again = clone(best).fit(X, y)
    np.testing.assert_array_equal(project(again, X), project(best, X))


def test_ties_of_the_kernel_criterion_go_to_the_gaussian_one(data):
    class Step(BaseEstimator, ClassifierMixin):
        """Projects each class to a cloud around its own place, one class to a single point."""

        def __init__(self, gap=1.0):
            self.gap = gap

        def fit(self, X, y):
            self.classes_, self.index_ = np.unique(y, return_inverse=True)
            self.projected_means_ = np.array([0.0, self.gap])
            self.projected_variances_ = np.array([1.0, 1.0])
            return self

        def predict(self, X):
            return self.classes_[self.index_]

        def project(self, X):
            return self.index_ * (self.gap + X[:, 0])

    search = EntropySearch(Step(), {"gap": [1.0, 3.0, 2.0]}, criterion="kde").fit(*data)
    assert (search.cv_results_["kde"] == math.inf).all()
    # Equal variances of 1: gap² / 2.
    np.testing.assert_allclose(search.cv_results_["gaussian"], [0.5, 4.5, 2.0])
    assert search.best_params_ == {"gap": 3.0}


def test_feature_names_are_kept():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    machine = make_pipeline(StandardScaler(), LogisticRegression())
    search = EntropySearch(machine, {"logisticregression__C": [0.1]}).fit(X, y)
    assert list(search.feature_names_in_) == list(X.columns)


def test_methods_are_those_of_the_machine(data):
    X, y = data
    svc = EntropySearch(SVC(), {"C": [1.0]})
    assert not hasattr(svc, "predict_proba")
    with pytest.raises(NotFittedError):
        svc.predict(X)
    logistic = EntropySearch(LogisticRegression(), {"C": [1.0]}).fit(X, y)
    np.testing.assert_allclose(logistic.predict_proba(X), LogisticRegression().fit(X, y).predict_proba(X))


@pytest.mark.parametrize(
    ("learner", "name", "hint"),
    [
        (SVC(), "gama", "did you mean 'gamma'?; it has: C, break_ties, cache_size"),
        (make_pipeline(StandardScaler(), SVC()), "svc__gama", "did you mean 'svc__gamma'?; it has: memory"),
    ],
)
def test_an_unknown_parameter_is_named_in_one_line(data, learner, name, hint):
    message = f"{type(learner).__name__} has no parameter {name!r}, {hint}"
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        EntropySearch(learner, {name: [1.0]}).fit(*data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("params", "scale", "reason"),
    [
        ({"kernel": ["linear"], "C": [-1.0, -2.0]}, 1.0, "the first reason: .*'C' parameter of SVC"),
        ({"kernel": ["linear"], "C": [1.0, 2.0]}, 0.0, "they project all training rows to one point"),
    ],
    ids=["fits fail", "no variance"],
)
def test_where_no_candidate_can_be_selected_the_reason_is_given(data, params, scale, reason):
    X, y = data
    with pytest.raises(ValueError, match=f"2 of 2 candidates.*{reason}"):
        EntropySearch(SVC(), params).fit(scale * X, y)


def test_more_and_fewer_than_two_classes_are_refused(data):
    X, _ = data
    search = EntropySearch(SVC(), {"C": [1.0]})
    with pytest.raises(
        ValueError, match="Only binary classification is supported.*multiclass with 3 classes"
    ):
        search.fit(X, np.arange(150) % 3)
    with pytest.raises(ValueError, match="needs samples of two classes; y has one class only"):
        search.fit(X, np.zeros(150))


def test_names_of_an_earlier_fit_are_deleted():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    search = EntropySearch(LogisticRegression(max_iter=5000), {"C": [0.1]}).fit(X, y)
    assert not hasattr(search.fit(X.to_numpy()[:, :3], y), "feature_names_in_")
