import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.covariance import OAS
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler, minmax_scale

from entrolearn import (
    LSSVC,
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
    streaming,
)


def named(value) -> str:
    return type(value).__name__ if hasattr(value, "get_params") else "message"


CLASSIFIERS = [
    EEMClassifier(40, random_state=0),
    EEMClassifier(40, activation="sigmoid", covariance=1e-3, priors=[1, 3], random_state=1),
    EEMClassifier(40, covariance="oas", random_state=np.random.RandomState(3)),
    EEKMClassifier(30, random_state=0),
    EEKMClassifier(30, gamma="auto", random_state=5),
    EEKMClassifier(30, kernel="poly", gamma=0.3, kernel_params={"degree": 2}, random_state=5),
    WELMClassifier(30, solver="cholesky", alpha=1e-3, random_state=0),
    WELMClassifier(30, solver="cholesky", alpha=1e-3, class_weight=None, random_state=0),
    ELMClassifier(30, alpha=1e-3, random_state=0),
    ELMClassifier(30, activation="rbf", slope=2.0, alpha=1e-3, random_state=0),
    RKELMClassifier(30, alpha=1e-3, random_state=0),
    RKELMClassifier(30, alpha=1e-3, gamma=0.25, per_landmark_gamma=True, random_state=0),
]
REGRESSORS = [ELMRegressor(30, alpha=1e-3, random_state=0), RKELMRegressor(30, alpha=1e-3, random_state=0)]


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X), y


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return minmax_scale(X), np.array(["Barolo", "Grignolino", "Barbera"])[y]


def spread_of_difference(found, expected) -> float:
    """The largest difference, as a share of the spread of what is expected."""
    return np.abs(found - expected).max() / np.ptp(expected)


def chunks_of(X, y, size):
    """What makes an iterator of chunks, as often as it is asked."""

    def make():
        for start in range(0, X.shape[0], size):
            yield X[start : start + size], y[start : start + size]

    return make


def fitted_both(machine, X, y, chunk_rows):
    """The machine fitted to all rows at once, and chunk by chunk."""
    return clone(machine).fit(X, y), streaming.fit(
        clone(machine), streaming.rows(X, y, chunk_rows=chunk_rows)
    )


# --- the machine of all rows at once ---------------------------------------------------------------------


@pytest.mark.parametrize("machine", CLASSIFIERS, ids=named)
@pytest.mark.parametrize(("data", "chunk_rows"), [("wdbc", 100), ("wine", 23)])
def test_a_classifier_of_chunks_is_that_of_all_rows(machine, data, chunk_rows, request):
    X, y = request.getfixturevalue(data)
    if data == "wine" and getattr(machine, "priors", None):
        machine = clone(machine).set_params(priors="uniform")
    whole, streamed = fitted_both(machine, X, y, chunk_rows)
    assert spread_of_difference(streamed.decision_function(X), whole.decision_function(X)) < 1e-10
    assert_array_equal(streamed.predict(X), whole.predict(X))
    assert_array_equal(streamed.classes_, whole.classes_)
    assert streamed.solver_info_ == whole.solver_info_


@pytest.mark.parametrize("machine", REGRESSORS, ids=named)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_regressor_of_chunks_is_that_of_all_rows(machine, n_outputs):
    X, y = load_diabetes(return_X_y=True)
    X, y = minmax_scale(X), y if n_outputs == 1 else np.column_stack([y, y**2])
    whole, streamed = fitted_both(machine, X, y, 50)
    assert spread_of_difference(streamed.predict(X), whole.predict(X)) < 1e-10
    assert streamed.predict(X).shape == y.shape


@pytest.mark.parametrize("machine", CLASSIFIERS + REGRESSORS, ids=named)
def test_sparse_rows_stream(machine, wdbc):
    X, y = wdbc
    X = csr_array(np.where(X > 0.3, X, 0))
    whole, streamed = fitted_both(machine, X, y, 100)
    answer = "decision_function" if is_classifier(machine) else "predict"
    assert spread_of_difference(getattr(streamed, answer)(X), getattr(whole, answer)(X)) < 1e-10


def test_classes_may_come_one_after_the_other(wdbc):
    X, y = wdbc
    order = np.argsort(y, kind="stable")
    for machine in (EEMClassifier(40, random_state=0), WELMClassifier(30, solver="cholesky", random_state=0)):
        whole, streamed = fitted_both(machine, X[order], y[order], 29)
        assert spread_of_difference(streamed.decision_function(X), whole.decision_function(X)) < 1e-10


def test_single_precision_is_kept_and_answers_as_fit_does(wdbc):
    X, y = wdbc
    X = X.astype(np.float32)
    whole, streamed = fitted_both(EEMClassifier(40, random_state=0), X, y, 100)
    assert streamed.hidden_coef_.dtype == np.float32
    assert spread_of_difference(streamed.decision_function(X), whole.decision_function(X)) < 1e-3


def test_rows_whose_single_precision_will_not_do_are_read_again_in_double(wdbc):
    X, y = wdbc
    X = X.astype(np.float32)
    settings = {"activation": "nsigmoid", "bounds": None, "covariance": "empirical"}
    machine = EEMClassifier(40, **settings, random_state=0)
    whole, streamed = fitted_both(machine, X, y, 100)
    assert whole.solver_info_["dtype"] == streamed.solver_info_["dtype"] == "float64"
    assert_array_equal(streamed.predict(X), whole.predict(X))


def test_what_is_read_once_is_computed_in_double_precision(wdbc):
    X, y = wdbc
    machine = EEMClassifier(40, bounds=(0, 1), random_state=0)
    streamed = streaming.fit(clone(machine), chunks_of(X.astype(np.float32), y, 50)(), classes=[0, 1])
    whole = clone(machine).fit(X.astype(np.float32).astype(np.float64), y)
    assert streamed.hidden_coef_.dtype == np.float64
    assert spread_of_difference(streamed.decision_function(X), whole.decision_function(X)) < 1e-10


def test_landmarks_of_rows_that_nobody_counted_are_some_of_them(wine):
    X, y = wine
    machine = streaming.fit(EEKMClassifier(20, random_state=0), chunks_of(X, y, 31))
    found = {tuple(row) for row in machine.landmarks_}
    assert len(found) == 20
    assert found < {tuple(row) for row in X}
    assert machine.score(X, y) > 0.9


# --- pipelines, and what else comes with an estimator -----------------------------------------------------


@pytest.mark.parametrize(
    "steps", [[MinMaxScaler()], [StandardScaler(), "passthrough"], [Normalizer(), MinMaxScaler()]]
)
def test_the_steps_of_a_pipeline_are_fitted_pass_by_pass(steps):
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(*steps, EEMClassifier(30, random_state=0))
    whole, streamed = fitted_both(pipeline, X, y, 40)
    assert spread_of_difference(streamed.decision_function(X), whole.decision_function(X)) < 1e-8


def test_a_pipeline_may_have_been_fitted_before():
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(MinMaxScaler(), EEMClassifier(30, random_state=0))
    pipeline.fit(100 * X, y)
    streaming.fit(pipeline, streaming.rows(X, y, chunk_rows=40))
    assert_array_equal(pipeline[0].data_max_, X.max(axis=0))


def test_a_callable_is_told_how_far_each_pass_is(wdbc):
    X, y = wdbc
    told = []
    rows = streaming.rows(X, y, chunk_rows=300)
    streaming.fit(EEKMClassifier(20, random_state=0), rows, progress=lambda *numbers: told.append(numbers))
    assert told == 2 * [(300, 569), (569, 569)]


def test_names_of_columns_are_kept_and_compared(wdbc, tmp_path):
    X, y = wdbc
    names = [f"x{j}" for j in range(X.shape[1])]
    table = pa.table([*X.T, y], names=[*names, "label"])
    pq.write_table(table, tmp_path / "rows.parquet")
    pq.write_table(table.rename_columns(["z", *names[1:], "label"]), tmp_path / "others.parquet")
    rows = streaming.rows(tmp_path / "rows.parquet", target="label")
    for machine in (EEMClassifier(20, random_state=0), make_pipeline(MinMaxScaler(), EEMClassifier(20))):
        streaming.fit(machine, rows)
        assert machine.feature_names_in_.tolist() == names
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert (streaming.predict(machine, rows) == y).mean() > 0.9
        with pytest.raises(ValueError, match="the features z, x1"):
            streaming.predict(machine, streaming.rows(tmp_path / "others.parquet", target="label"))


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (EEMClassifier(covariance=OAS()), r"OAS\(\) needs all rows at once; .*'oas', .* or a number"),
        (WELMClassifier(), "solver='pinv' needs all rows at once; .* 'cholesky'"),
        (ELMClassifier(alpha=[0.1, 1.0]), "a selection among several ridges .* one number"),
        (EEMClassifier(priors=[1, 2, 3]), "2 positive numbers, one for each class"),
        (EEMClassifier(n_hidden=0), "'n_hidden' parameter"),
    ],
    ids=named,
)
def test_settings_that_do_not_stream_are_refused_before_the_rows_are_read(machine, message, wdbc):
    X, y = wdbc

    def make():
        yield X, y
        pytest.fail("read on")

    with pytest.raises(ValueError, match=message):
        streaming.fit(machine, make, classes=[0, 1])


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (EEKMClassifier(), "EEKMClassifier draws its landmarks .* function that returns a new iterator"),
        (EEMClassifier(), "EEMClassifier computes the bounds of the features .* bounds as a pair"),
        (EEMClassifier(bounds=None), "EEMClassifier collects the labels .* as classes"),
        (make_pipeline(MinMaxScaler(), EEMClassifier()), "step 'minmaxscaler' reads the rows before"),
    ],
    ids=named,
)
def test_rows_that_can_be_read_once_are_not_read_in_vain(machine, message, wdbc):
    with pytest.raises(ValueError, match=message):
        streaming.fit(machine, chunks_of(*wdbc, 100)())


def test_learners_whose_fit_is_no_sum_are_refused(wdbc):
    for machine in (LSSVC(), make_pipeline(MinMaxScaler(), LSSVC())):
        with pytest.raises(TypeError, match="the fit of LSSVC is no sum over rows; accepted: EEMClassifier"):
            streaming.fit(machine, *wdbc)
    with pytest.raises(TypeError, match="step 'pca', PCA, needs all rows at once; .* partial_fit"):
        streaming.fit(make_pipeline(PCA(3), EEMClassifier()), *wdbc)


def test_an_error_says_which_rows(wdbc):
    X, y = wdbc
    wrong = X.copy()
    wrong[450, 3] = np.nan
    with pytest.raises(ValueError, match="rows 400 to 499: Input X contains NaN"):
        streaming.fit(EEMClassifier(5), streaming.rows(wrong, y, chunk_rows=100))
    with pytest.raises(ValueError, match=r"rows 0 to 99: y holds the label 0, .*\[1, 2\]"):
        streaming.fit(EEMClassifier(5), streaming.rows(X, y, chunk_rows=100), classes=[1, 2])


def test_labels_that_do_not_come_or_not_at_all(wdbc):
    X, y = wdbc
    with pytest.raises(ValueError, match=r"no row has the label 7, which classes names; found: \[0, 1\]"):
        streaming.fit(EEMClassifier(5), X, y, classes=[0, 1, 7])
    with pytest.raises(ValueError, match="only one class: 1"):
        streaming.fit(EEMClassifier(5), X[y == 1], y[y == 1])
    with pytest.raises(ValueError, match="Unknown label type"):
        streaming.fit(EEMClassifier(5), X, X[:, 0])
    with pytest.raises(ValueError, match="targets"):
        streaming.fit(ELMRegressor(5), X)


def test_no_rows_at_all():
    with pytest.raises(ValueError, match="there was no chunk"):
        streaming.fit(ELMRegressor(5, bounds=(-1, 1)), iter(()))
    with pytest.raises(ValueError, match="there was no chunk"):
        streaming.fit(ELMRegressor(5), lambda: iter(()))

    def empty():
        yield np.empty((0, 3)), np.empty(0)

    for machine in (ELMRegressor(5), ELMRegressor(5, bounds=None), ELMClassifier(5)):
        with pytest.raises(ValueError, match="there are no rows to fit to"):
            streaming.fit(machine, empty)
    with pytest.raises(ValueError, match="there are no rows to fit to"):
        streaming.fit(EEMClassifier(5, bounds=None), empty(), classes=[0, 1])
