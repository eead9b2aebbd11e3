"""Paths: every registered shortcut against the default, which clones and fits."""

import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_regressor
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import ParameterGrid
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler, minmax_scale
from sklearn.svm import SVC, SVR

from entrolearn import (
    LSSVC,
    LSSVR,
    RSVC,
    RSVR,
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    RKELMClassifier,
    WELMClassifier,
)
from entrolearn.machines.ridge import CHOLESKY_UP_TO
from entrolearn.path import (
    Partition,
    n_iterations,
    n_support_vectors,
    path,
    place,
    project,
    projected_gaussians,
)

N_ROWS = 120


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.RandomState(0).permutation(len(y))[:N_ROWS]
    return minmax_scale(X)[rows], np.where(y[rows], "benign", "malignant")


def test_a_candidate_is_found_by_identity_or_else_by_equality():
    weights = [{"priors": np.array([1.0, k])} for k in (2, 3)]
    assert [place(candidate, weights) for candidate in weights] == [0, 1]
    assert place({"C": 2}, [{"C": 1}, {"C": 2}]) == 1


@pytest.fixture
def partition():
    """Three of the four parts left out, one at a time and in pairs."""
    return Partition(np.arange(N_ROWS) % 4, ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)))


RIDGES = np.logspace(-4, 0, CHOLESKY_UP_TO + 1)  # as many as are solved by eigenvalues
SHORTCUTS = [
    (EEMClassifier(random_state=0), {"n_hidden": [5, 10, 25], "activation": ["rbf", "sigmoid"]}),
    (EEMClassifier(random_state=0), {"n_hidden": [5, 10], "unit_scale": ["uniform", "log-uniform"]}),
    (
        EEMClassifier(random_state=0),
        {"covariance": ["oas", 1e-4], "priors": ["uniform", [1, 3]], "n_hidden": [8, 9]},
    ),
    (EEKMClassifier(random_state=0), {"n_landmarks": [5, 30, 1000], "gamma": [0.01, 1.0]}),
    (WELMClassifier(random_state=0), {"n_hidden": [5, 8], "solver": ["pinv", "cholesky"]}),
    (ELMClassifier(random_state=0), {"n_hidden": [5, 8], "alpha": [1e-3, 1.0], "slope": [0.5, 2.0]}),
    (ELMClassifier(8, random_state=0), {"alpha": RIDGES}),
    (KELMClassifier(), {"gamma": [2.0, 0.25], "alpha": [1e-3, 1.0]}),
    # More landmarks than two training sets have in common: each has its own, as fit draws them.
    (RKELMClassifier(random_state=0, alpha=1e-3), {"gamma": [2.0, 0.25], "n_landmarks": [20, 90]}),
    (LSSVC(class_weight="balanced"), {"gamma": [0.1, 1.0], "alpha": [10.0, 0.1, 0.0001]}),
    (LSSVC(gamma=1.0), {"class_weight": [None, "balanced"], "kernel": ["rbf", "linear"]}),
    (RSVC(random_state=0, tol=1e-12), {"n_landmarks": [5, 30], "gamma": [0.1, "scale"], "C": [100.0, 1.0]}),
    (SVC(class_weight="balanced", tol=1e-8), {"gamma": [0.1, 1.0], "C": [0.1, 10.0]}),
]
REGRESSORS = [(SVR(tol=1e-8), {"gamma": [0.1, 1.0], "C": [0.1, 10.0], "epsilon": [0.01, 0.1]})]


def points(implementation, estimator, data, partition, grid):
    found = {}
    for point in implementation(estimator, *data, partition, list(ParameterGrid(grid))):
        key = (point.left_out, str(sorted(point.params.items(), key=str)))
        assert key not in found, "a point came twice"
        found[key] = point
    return found


@pytest.mark.parametrize(("estimator", "grid"), SHORTCUTS, ids=lambda value: type(value).__name__)
def test_a_shortcut_gives_the_machines_of_the_default(estimator, grid, data, partition):
    assert path.dispatch(type(estimator)) is not path.dispatch(object)
    before = repr(estimator)
    quick = points(path, estimator, data, partition, grid)
    assert repr(estimator) == before
    assert not hasattr(estimator, "classes_")
    plain = points(path.dispatch(object), estimator, data, partition, grid)
    assert quick.keys() == plain.keys()
    assert len(quick) == (3 + 3) * len(ParameterGrid(grid))
    for key, point in quick.items():
        expected = plain[key]
        assert not point.error
        scale = np.abs(expected.projection).max()
        assert_allclose(point.projection, expected.projection, atol=2e-5 * scale)
        assert (point.prediction == expected.prediction).mean() > 0.99  # rounding at a threshold
        assert point.n_support == expected.n_support
        assert (point.gaussians is None) == (expected.gaussians is None)
        if point.gaussians:
            assert_allclose(point.gaussians, expected.gaussians, rtol=1e-4)


def test_shared_landmarks_are_training_rows_and_the_machines_theirs(data, partition):
    """Naive twin: landmarks from the first part that is kept, all else from the training rows alone."""
    partition = replace(partition, random=True)
    X, y = data[0], (data[1] == "malignant").astype(int)
    machine = EEKMClassifier(30, gamma=0.5, random_state=0)
    grid = {"n_landmarks": [10, 30]}
    quick = list(path(machine, X, y, partition, list(ParameterGrid(grid))))
    assert len(quick) == 12
    for point in quick:
        rows = partition.training(point.left_out)
        first = next(part for part in range(4) if part not in point.left_out)
        assert set(partition.held_out((first,))) <= set(rows)
        layer = machine._draw_layer(X[partition.part == first])
        h = point.params["n_landmarks"]
        H = layer(X)[:, :h]
        covariances = [ledoit_wolf(H[rows][y[rows] == c])[0] for c in range(2)]
        means = np.array([H[rows][y[rows] == c].mean(axis=0) for c in range(2)])
        beta = np.linalg.solve(sum(covariances), means[1] - means[0])
        beta *= 2 / (beta @ (means[1] - means[0]))
        assert_allclose(point.projection, H @ beta, rtol=1e-5, atol=1e-6)


def test_few_rows_have_landmarks_of_their_own(data, partition, monkeypatch):
    partition, sources = replace(partition, random=True), []
    draw = EEKMClassifier._draw_layer
    monkeypatch.setattr(
        EEKMClassifier, "_draw_layer", lambda self, X: sources.append(len(X)) or draw(self, X)
    )
    for n_landmarks, layers in [(20, 3), (60, 6)]:  # a part has 30 rows
        sources.clear()
        list(
            path(EEKMClassifier(gamma=0.5, random_state=0), *data, partition, [{"n_landmarks": n_landmarks}])
        )
        assert len(sources) == layers


@pytest.mark.parametrize("n_ridges", [2, CHOLESKY_UP_TO + 1])  # factorisations; one decomposition
def test_balanced_training_sets_have_weights_of_their_own(n_ridges):
    """Parts that are not stratified: balanced weights differ by a factor of three between training sets."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.arange(90) < 45
    partition = Partition.cross_validation(np.arange(90) // 15, nested=True)  # whole parts of one class
    estimator, grid = LSSVC(gamma=0.3, class_weight="balanced"), {"alpha": np.logspace(-6, 1, n_ridges)}
    quick = points(path, estimator, (X, y), partition, grid)
    plain = points(path.dispatch(object), estimator, (X, y), partition, grid)
    for key, point in plain.items():
        assert (quick[key].error == "") == (point.error == "")
        if not point.error:
            assert_allclose(quick[key].projection, point.projection, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (EEMClassifier(random_state=0), {"n_hidden": [10, 20]}),
        (EEKMClassifier(random_state=0), {"n_landmarks": [10, 20]}),
        (WELMClassifier(random_state=0), {"n_hidden": [6, 9]}),
        (ELMClassifier(random_state=0), {"n_hidden": [6, 9], "alpha": [1e-3, 1.0]}),
        (KELMClassifier(), {"alpha": RIDGES}),
        (LSSVC(gamma=1.0), {"alpha": [1.0, 0.1]}),
        (RSVC(random_state=0), {"C": [1.0, 10.0]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_shortcuts_serve_more_than_two_classes(estimator, grid):
    X, y = load_wine(return_X_y=True)
    data, partition = (minmax_scale(X), y), Partition.cross_validation(np.arange(len(y)) % 3)
    quick = points(path, estimator, data, partition, grid)
    plain = points(path.dispatch(object), estimator, data, partition, grid)
    for key, point in quick.items():
        assert point.projection is None
        assert (point.prediction == plain[key].prediction).mean() > 0.99


@pytest.mark.parametrize(("estimator", "grid"), REGRESSORS, ids=lambda value: type(value).__name__)
def test_shortcuts_of_regressors_give_the_values_of_the_default(estimator, grid, data, partition):
    X, y = data[0], data[0] @ np.linspace(-1, 1, data[0].shape[1])
    assert path.dispatch(type(estimator)) is not path.dispatch(object)
    quick = points(path, estimator, (X, y), partition, grid)
    plain = points(path.dispatch(object), estimator, (X, y), partition, grid)
    assert_same_values(quick, plain)


# Shortcuts of regressors: those of SHORTCUTS answer for two classes.
REGRESSIONS = [
    (LSSVR(gamma=1.0), {"alpha": [10.0, 0.1], "kernel": ["rbf", "linear"]}),
    (LSSVR(gamma=1.0), {"alpha": np.logspace(-6, 2, 8)}),
    (ELMRegressor(random_state=0, activation="rbf"), {"n_hidden": [8, 20], "alpha": [1e-3, 1.0]}),
    (KELMRegressor(), {"gamma": [1.0, 0.125], "alpha": [1e-3, 1.0]}),
    (RSVR(random_state=0, tol=1e-12), {"n_landmarks": [5, 30], "epsilon": [0.0, 0.1], "C": [10.0, 1.0]}),
]
# A trial: a test part that no fit sees, nor a part without a number; inner parts, one left out at a time.
TRIAL = Partition(np.arange(120) % 6 - 1, ((-1, 0), (-1, 0, 1), (-1, 0, 2)))


@pytest.mark.parametrize(
    ("n_outputs", "partition"),
    [(1, TRIAL), (2, TRIAL), (2, Partition.cross_validation(np.arange(120) % 10))],
    ids=["one in a trial", "two in a trial", "two in folds"],
)
@pytest.mark.parametrize(("estimator", "grid"), REGRESSIONS, ids=lambda value: type(value).__name__)
def test_shortcuts_serve_regression(estimator, grid, n_outputs, partition):
    X, y = load_diabetes(return_X_y=True)
    X, y = minmax_scale(X)[:120], minmax_scale(y)[:120]
    data = X, y if n_outputs == 1 else np.column_stack([y, y**2])
    assert path.dispatch(type(estimator)) is not path.dispatch(object)
    quick = points(path, estimator, data, partition, grid)
    plain = points(path.dispatch(object), estimator, data, partition, grid)
    assert_same_values(quick, plain)


def assert_same_values(quick, plain):
    assert quick.keys() == plain.keys()
    for key, point in quick.items():
        assert not point.error
        assert point.projection is None
        assert_allclose(point.prediction, plain[key].prediction, atol=1e-5)


def test_too_many_pairs_are_not_kept(data, partition, monkeypatch):
    monkeypatch.setattr("entrolearn.path.LARGEST_SHARED_KERNEL", N_ROWS - 1)
    monkeypatch.setattr("entrolearn.path.rbf_kernel", None)
    found = points(path, SVC(), data, partition, {"gamma": [1.0], "C": [1.0]})
    assert not any(point.error for point in found.values())


@pytest.mark.parametrize("estimator", [SVC(gamma=1.0), GaussianNB(), SVC(gamma="scale")])
def test_rows_that_are_not_asked_for_change_nothing(data, estimator):
    X, y = data
    part = np.arange(N_ROWS) % 4
    all_rows = Partition(part, ((0,), (0, 1)))
    some = Partition(part, ((0,), (0, 1)), asked=((0,), (1,)))
    for whole, point in zip(
        path(estimator, X, y, all_rows, [{}]), path(estimator, X, y, some, [{}]), strict=True
    ):
        rows = some.predicted(point.left_out)
        assert_array_equal(rows, np.flatnonzero(part == {(0,): 0, (0, 1): 1}[point.left_out]))
        assert_array_equal(point.prediction[rows], whole.prediction[rows])
    assert all_rows.predicted((0,)) is None


def test_rows_left_out_have_no_influence(data, partition):
    """Whatever stands in the held-out rows' labels, the machine is the same: nothing leaks."""
    X, y = data
    held = partition.held_out((1,))
    spoilt = y.copy()
    spoilt[held] = np.where(y[held] == "benign", "malignant", "benign")
    only = Partition(partition.part, ((1,),))
    for estimator, grid in SHORTCUTS:
        before = points(path, estimator, (X, y), only, grid)
        after = points(path, estimator, (X, spoilt), only, grid)
        for key, point in before.items():
            scale = np.abs(point.projection).max()
            assert_allclose(after[key].projection, point.projection, atol=1e-6 * scale)


def test_a_fit_that_fails_is_a_point_with_its_reason(data, partition):
    grid = {"C": [-1.0, 1.0]}
    found = points(path, LogisticRegression(), data, partition, grid)
    failed = [point for point in found.values() if point.params["C"] < 0]
    assert len(failed) == 6
    assert all("'C' parameter" in point.error and point.prediction is None for point in failed)
    assert all(not point.error for point in found.values() if point.params["C"] > 0)


@pytest.mark.parametrize(
    ("estimator", "grid", "reason"),
    [
        (EEMClassifier(random_state=0), {"n_hidden": [5, 0]}, "'n_hidden' parameter"),
        (EEKMClassifier(random_state=0), {"gamma": [1.0, -1.0]}, "'gamma' parameter"),
        (WELMClassifier(random_state=0), {"alpha": [0.0, 2.0]}, "needs solver='cholesky'"),
        (LSSVC(gamma=1.0), {"alpha": [1.0, -1.0]}, "'alpha' parameter"),
        (RSVC(random_state=0), {"C": [1.0, -1.0]}, "'C' parameter"),
        (EEMClassifier(20, random_state=0), {"bounds": [(0, 1), (1, 0)]}, "bounds"),
        (WELMClassifier(20, random_state=0), {"bounds": [(0, 1), (1, 0)]}, "bounds"),
        (LSSVC(gamma=1.0), {"class_weight": [None, {"benign": 0.0}]}, "class_weight must give"),
        (RSVC(20, random_state=0), {"C": [1.0, 1e308]}, "the Hessian overflows"),
        (SVC(gamma=1.0), {"C": [1.0, -1.0]}, "'C' parameter"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_bad_grid_point_does_not_take_the_others_with_it(data, partition, estimator, grid, reason):
    if is_regressor(estimator):
        data = data[0], (data[1] == "benign") * 1.0
    ((name, (good, _)),) = grid.items()
    for point in points(path, estimator, data, partition, grid).values():
        assert (reason in point.error) == (point.params[name] != good)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (ELMClassifier(bounds=(0, 1), random_state=0), {"n_hidden": [20, 5000]}),
        (RKELMClassifier(gamma=1.0, random_state=0), {"n_landmarks": [5, 80]}),
        (RSVC(gamma=1.0, random_state=0), {"n_landmarks": [5, 80]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_candidate_that_does_not_fit_into_memory_does_not_take_the_others_with_it(
    data, partition, monkeypatch, estimator, grid
):
    monkeypatch.setattr("entrolearn.kernels.physical_memory", lambda: 5e4)
    ((name, (small, _)),) = grid.items()
    for point in points(path, estimator, data, partition, grid).values():
        assert point.error.startswith("MemoryError") == (point.params[name] != small)


def test_solvers_of_different_sizes_share_a_layer(data, partition):
    grid = [{"solver": ["pinv"], "n_hidden": [9]}, {"solver": ["cholesky"], "n_hidden": [5]}]
    found = points(path, WELMClassifier(random_state=0), data, partition, grid)
    plain = points(path.dispatch(object), WELMClassifier(random_state=0), data, partition, grid)
    for key, point in found.items():
        assert_allclose(point.projection, plain[key].projection, atol=1e-4)


def test_a_class_missing_from_a_training_set_is_an_error_of_that_fit():
    X, y = np.random.default_rng(0).uniform(size=(20, 3)), np.repeat([0, 1], 10)
    partition = Partition.cross_validation(y)  # each part is one class
    for estimator, grid in SHORTCUTS[:-1]:
        assert all(point.error for point in path(estimator, X, y, partition, list(ParameterGrid(grid))))


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (EEMClassifier(random_state=0), {"n_hidden": [5, 10], "priors": ["uniform", "empirical"]}),
        (EEMClassifier(bounds=(0, 1), random_state=0), {"n_hidden": [5, 10]}),
        (EEKMClassifier(random_state=0), {"n_landmarks": [5, 30]}),
        (EEKMClassifier(gamma=0.5, random_state=0), {"n_landmarks": [20, 30]}),
        (WELMClassifier(random_state=0), {"n_hidden": [5, 8], "solver": ["pinv", "cholesky"]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_training_sets_without_one_of_three_classes_are_fitted_to_the_others(estimator, grid):
    X, y = load_wine(return_X_y=True)
    data = minmax_scale(X), y
    partition = Partition.cross_validation(np.where(y == 2, 2, np.arange(len(y)) % 2))
    quick = points(path, estimator, data, partition, grid)
    plain = points(path.dispatch(object), estimator, data, partition, grid)
    assert quick.keys() == plain.keys()
    for key, point in quick.items():
        assert not point.error
        if point.left_out == (2,):
            assert set(point.prediction) == {0, 1}
            assert_array_equal(point.projection, plain[key].projection)
        assert (point.prediction == plain[key].prediction).mean() > 0.95  # landmarks may differ


def test_a_stopped_solver_is_noted_and_its_warnings_are_not_repeated(data, partition):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = points(path, SVC(max_iter=3), data, partition, {"gamma": [1.0], "C": [1e6]})
    assert {point.note for point in found.values()} == {"stopped at 3 iterations"}


def test_the_default_notes_a_stopped_solver_too(data, partition):
    for estimator in (SVC(kernel="linear"), make_pipeline(StandardScaler(), SVC(kernel="linear"))):
        name = "max_iter" if isinstance(estimator, SVC) else "svc__max_iter"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = points(path, estimator, data, partition, {name: [3, -1]})
        notes = {point.params[name]: point.note for point in found.values()}
        assert notes == {3: "stopped at 3 iterations", -1: ""}


def test_newtons_method_that_is_stopped_is_noted(data, partition):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = points(path, RSVC(max_iter=1, random_state=0), data, partition, {"C": [1e4, 1e6]})
    assert {point.note for point in found.values()} == {"stopped at 1 iterations"}


# Two training sets, which share what all that are nested share.
NESTED = Partition(np.arange(N_ROWS) % 4, ((0,), (0, 1)))


def test_sparse_rows_take_the_same_path(data):
    X, y = np.where(data[0] > 0.3, data[0], 0), data[1]
    for estimator, grid in SHORTCUTS:
        dense = points(path, estimator, (X, y), NESTED, grid)
        sparse = points(path, estimator, (csr_array(X), y), NESTED, grid)
        agreement = [(dense[key].prediction == sparse[key].prediction).mean() for key in dense]
        assert np.mean(agreement) > 0.99


def test_rows_in_single_precision_stay_so_where_a_fit_keeps_them(data):
    """Two hundred smooth units, whose covariance has no Cholesky factor in single precision, do not."""
    X, y = data[0].astype(np.float32), data[1]
    few, many = {"n_hidden": 10}, {"n_hidden": 200, "activation": "nsigmoid", "covariance": "empirical"}
    machine = EEMClassifier(bounds=(0, 1), random_state=0)
    for params, dtype in ((few, "float32"), (many, "float64")):
        alone = clone(machine).set_params(**params).fit(X[1::2], y[1::2])
        (point,) = path(machine, X, y, Partition(np.arange(N_ROWS) % 2, ((0,),)), [params])
        assert alone.solver_info_["dtype"] == point.projection.dtype == dtype
        assert np.mean(point.prediction == alone.predict(X)) > 0.98


def test_tables_and_integers_take_the_same_path(data):
    pd = pytest.importorskip("pandas")
    X, y = np.rint(10 * data[0]).astype(int), data[1]
    for estimator, grid in SHORTCUTS:
        points_of = [
            points(path, estimator, (form, y), NESTED, grid) for form in (X.astype(float), X, pd.DataFrame(X))
        ]
        for key, point in points_of[0].items():
            assert all(np.array_equal(point.prediction, other[key].prediction) for other in points_of[1:])


def test_a_random_machine_without_a_seed_draws_for_each_fit(data, partition, monkeypatch):
    drawn = []
    draw = EEMClassifier._draw_layer
    monkeypatch.setattr(EEMClassifier, "_draw_layer", lambda *given: drawn.append(draw(*given)) or drawn[-1])
    found = points(path, EEMClassifier(), data, partition, {"n_hidden": [5, 10]})
    assert len(found) == len({layer.biases[0] for layer in drawn}) == (3 + 3) * 2


def test_a_pipeline_projects_by_its_last_step(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), EEMClassifier(20, random_state=0)).fit(X, y)
    assert_allclose(project(pipeline, X), pipeline[-1].project(pipeline[0].transform(X)))
    assert projected_gaussians(pipeline)[0] == pipeline[-1].projected_means_[0]


def test_support_vectors_are_counted_where_a_machine_has_them(data):
    X, y = data
    machine = SVC().fit(X, y)
    assert n_support_vectors(machine) == len(machine.support_)
    assert n_support_vectors(make_pipeline(StandardScaler(), SVR()).fit(X, X[:, 0])) > 0
    assert n_support_vectors(LSSVC().fit(X, y)) is None


def test_iterations_are_those_of_the_last_step_and_of_the_longest_problem(data):
    X, y = data
    machine = SVC(decision_function_shape="ovo").fit(X, np.arange(len(y)) % 3)
    assert len(machine.n_iter_) == 3
    assert n_iterations(make_pipeline(StandardScaler(), machine)) == machine.n_iter_.max()
    assert n_iterations(LSSVC().fit(X, y)) is None


def test_machines_without_a_real_output_have_no_projection(data):
    X, y = data
    assert project(GaussianNB().fit(X, y), X) is None
    assert projected_gaussians(GaussianNB().fit(X, y)) is None


def test_partitions_say_who_sees_what():
    partition = Partition.cross_validation(np.array([0, 1, 2, 0, 1, 2]), nested=True)
    assert partition.left_out == ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    assert_array_equal(partition.held_out((0, 2)), [0, 2, 3, 5])
    assert_array_equal(partition.training((0, 2)), [1, 4])
    assert_array_equal(Partition.whole(3).training(()), [0, 1, 2])


# ---------------------------------------------------------------------------------------------- pipelines


class Counting(TransformerMixin, BaseEstimator):
    """Multiplies rows by the mean of the positive class, and counts its fits; may give training rows more."""

    fits: ClassVar[list] = []

    def __init__(self, power=1.0, excess=0.0):
        self.power = power
        self.excess = excess

    def fit(self, X, y):
        if self.power < 0:
            raise ValueError("no power")
        self.fits.append(self.power)
        self.scale_ = np.abs(X[y == np.unique(y)[-1]]).mean(axis=0) ** self.power
        return self

    def fit_transform(self, X, y):
        return self.fit(X, y).transform(X) * (1 + self.excess)

    def transform(self, X):
        return X * self.scale_


PIPELINES = [
    (make_pipeline(StandardScaler(), SVC(tol=1e-8)), {"svc__gamma": [0.1, 1.0], "svc__C": [0.1, 10.0]}),
    (
        make_pipeline(StandardScaler(), PCA(), LogisticRegression()),
        {"pca__n_components": [1, 0.9, 3], "logisticregression__C": [0.1, 10.0]},
    ),
    # Steps that learn from the labels, and whose fit_transform is not what they do to other rows.
    (
        make_pipeline(SelectKBest(), EEMClassifier(random_state=0)),
        {"eemclassifier__n_hidden": [3, 8], "selectkbest__k": [4, 9]},
    ),
    (
        make_pipeline(Counting(excess=0.5), LSSVC()),
        {"counting__power": [0.0, 2.0], "lssvc__alpha": [1.0, 0.1]},
    ),
    (make_pipeline(SVC(tol=1e-8)), {"svc__gamma": [0.1, 1.0], "svc__C": [0.1, 10.0]}),
    (make_pipeline("passthrough", KNeighborsClassifier()), {"kneighborsclassifier__n_neighbors": [1, 5]}),
]
TRIAL_OF_ROWS = Partition(np.arange(N_ROWS) % 6 - 1, ((-1, 0), (-1, 0, 1)), ((0,), (1,)))


PARTITIONS = [
    Partition.cross_validation(np.arange(N_ROWS) % 3, nested=True),
    replace(Partition.cross_validation(np.arange(N_ROWS) % 3), asked=((0,), (1,), (2,))),
    TRIAL_OF_ROWS,
    Partition.whole(N_ROWS),
]


# Each pipeline with two of the partitions.
@pytest.mark.parametrize(
    ("pipeline", "grid", "partition"),
    [(*case, PARTITIONS[(i + j) % 4]) for i, case in enumerate(PIPELINES) for j in (0, 1)],
    ids=lambda value: "-".join(name for name, _ in value.steps) if isinstance(value, Pipeline) else "",
)
def test_a_pipeline_gives_what_its_plain_fits_give(pipeline, grid, data, partition):
    quick = points(path, pipeline, data, partition, grid)
    plain = points(path.dispatch(object), pipeline, data, partition, grid)
    assert quick.keys() == plain.keys()
    for key, point in quick.items():
        expected = plain[key]
        asked = partition.predicted(point.left_out)
        rows = np.arange(N_ROWS) if asked is None else asked
        assert (point.error, point.n_support) == ("", expected.n_support)
        assert_array_equal(point.prediction[rows], expected.prediction[rows])
        if expected.projection is not None:
            scale = np.abs(expected.projection).max()
            assert_allclose(point.projection, expected.projection, atol=1e-6 * scale)
        if expected.gaussians:
            assert_allclose(point.gaussians, expected.gaussians, rtol=1e-6)


def test_steps_are_fitted_once_per_training_set_and_setting_whatever_ends_the_pipeline(data, partition):
    pipeline = Pipeline([("count", Counting()), ("model", SVC())])
    ends = [
        (SVC(), {"gamma": [0.1, 1.0], "C": [1.0, 10.0]}),
        (KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
    ]
    grid = [
        {"model": end, "count__power": power, **{f"model__{name}": value for name, value in own.items()}}
        for end, of_end in ends
        for own in ParameterGrid(of_end)
        for power in (0.5, 2.0)
    ]
    Counting.fits.clear()
    quick = {(point.left_out, id(point.params)): point for point in path(pipeline, *data, partition, grid)}
    assert sorted(Counting.fits) == [0.5] * 6 + [2.0] * 6
    assert len(quick) == 6 * len(grid)
    for point in path.dispatch(object)(pipeline, *data, partition, grid):
        assert_array_equal(quick[point.left_out, id(point.params)].prediction, point.prediction)
    assert not any(hasattr(end, "classes_") for end, _ in ends)


def test_the_last_steps_own_path_is_taken(data, partition, monkeypatch):
    """One kernel matrix per training set, setting of the steps and gamma, for every C."""
    kernels = []
    monkeypatch.setattr(
        "entrolearn.path.rbf_kernel", lambda X, gamma: kernels.append(gamma) or rbf_kernel(X, gamma=gamma)
    )
    pipeline = Pipeline([("scale", StandardScaler()), ("svm", SVC())])
    grid = {"scale__with_std": [True, False], "svm__gamma": [0.1, 1.0], "svm__C": [1.0, 10.0, 100.0]}
    assert len(points(path, pipeline, data, partition, grid)) == 72
    assert len(kernels) == 6 * 2 * 2


def test_a_step_that_fails_is_the_reason_of_its_points_alone(data, partition):
    pipeline = make_pipeline(Counting(), SVC())
    grid = {"counting__power": [-1.0, 1.0], "svc__gamma": [0.5], "svc__C": [-1.0, 1.0]}
    for point in points(path, pipeline, data, partition, grid).values():
        if point.params["counting__power"] < 0:
            assert point.error == "ValueError: no power"
        else:
            assert ("'C' parameter" in point.error) == (point.params["svc__C"] < 0)


def test_rows_that_a_last_step_does_not_take_fail_its_points_alone(data, partition):
    """Powers of a feature that is zero are infinite, which its path refuses before the first fit."""
    X = data[0].copy()
    X[:, 0] = 0
    pipeline, grid = make_pipeline(FunctionTransformer(np.log), SVC(gamma=1.0)), {"svc__C": [1.0, 2.0]}
    with np.errstate(divide="ignore"):
        found = points(path, pipeline, (X, data[1]), partition, grid)
    assert len(found) == 12
    assert all("contains infinity" in point.error for point in found.values())


def test_an_unknown_parameter_of_a_step_is_a_failed_point(data, partition):
    found = points(path, make_pipeline(StandardScaler(), SVC()), data, partition, {"nowhere__C": [1.0]})
    assert all("Invalid parameter 'nowhere'" in point.error for point in found.values())


def test_pipelines_take_sparse_rows_and_tables(data, partition):
    pd = pytest.importorskip("pandas")
    X, y = np.where(data[0] > 0.3, data[0], 0), data[1]
    pipeline, grid = make_pipeline(MaxAbsScaler(), SVC(gamma=1.0)), {"svc__C": [1.0, 9.0]}
    plain = points(path.dispatch(object), pipeline, (X, y), partition, grid)
    with_names, table = clone(pipeline).set_output(transform="pandas"), pd.DataFrame(X).add_prefix("x")
    for machine, rows in [(pipeline, csr_array(X)), (pipeline, table), (with_names, table)]:
        for key, point in points(path, machine, (rows, y), partition, grid).items():
            assert not point.error
            assert_array_equal(point.prediction, plain[key].prediction)


def test_a_pipeline_of_another_kind_takes_the_default(data, partition):
    """It may do more between its steps than hand rows on."""

    class Thinning(Pipeline):
        def fit(self, X, y):
            return super().fit(X[::2], y[::2])

    pipeline = Thinning([("scale", StandardScaler()), ("svm", SVC(gamma=1.0))])
    quick = points(path, pipeline, data, partition, {"svm__C": [1.0, 10.0]})
    plain = points(path.dispatch(object), pipeline, data, partition, {"svm__C": [1.0, 10.0]})
    for key, point in quick.items():
        assert_array_equal(point.projection, plain[key].projection)


class Logarithms:
    def fit(self, X, y):
        return super().fit(np.log1p(X), y)

    def predict(self, X):
        return super().predict(np.log1p(X))


@pytest.mark.parametrize(
    "estimator",
    [
        EEMClassifier(9, random_state=0),
        ELMClassifier(9, random_state=0),
        KELMClassifier(gamma=1.0),
        LSSVC(gamma=1.0),
        SVC(gamma=1.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_estimator_with_methods_of_its_own_takes_the_default(data, partition, estimator):
    kind = type(estimator)
    own = type("Own", (Logarithms, kind), {"__init__": kind.__init__})(**estimator.get_params())
    quick = points(path, own, data, partition, {})
    plain = points(path.dispatch(object), own, data, partition, {})
    for key, point in quick.items():
        assert_array_equal(point.prediction, plain[key].prediction)
        assert point.fitted is not None
    same = type("Same", (kind,), {"__init__": kind.__init__})(**estimator.get_params())
    assert all(point.fitted is None for point in points(path, same, data, partition, {}).values())


def test_an_estimator_in_a_grid_is_not_fitted_itself(data, partition):
    step = StandardScaler()
    pipeline = make_pipeline("passthrough", GaussianNB())
    for implementation in (path, path.dispatch(object)):
        found = list(implementation(pipeline, *data, partition, [{"passthrough": step}]))
        assert len(found) == 6
        assert not any(point.error for point in found)
    assert not hasattr(step, "scale_")
