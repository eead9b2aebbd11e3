"""Fits to Dask's collections beside those in memory, on threads; and what is refused."""

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from entrolearn import (
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    ELMRegressor,
    RKELMClassifier,
    RKELMRegressor,
    WELMClassifier,
    streaming,
)
from entrolearn.streaming import distributed, sampling
from entrolearn.streaming.distributed import merged_sums, sums_of_chunk

# Ridges that leave the equations so well conditioned that two orders of summation agree to 1e-10.
CLASSIFIERS = [
    EEMClassifier(40, random_state=0),
    EEMClassifier(40, activation="sigmoid", covariance="oas", random_state=0),
    EEKMClassifier(30, random_state=0),
    EEKMClassifier(30, kernel="poly", gamma="auto", random_state=0),
    WELMClassifier(40, solver="cholesky", alpha=1.0, random_state=0),
    ELMClassifier(40, alpha=1.0, random_state=0),
    RKELMClassifier(30, alpha=0.1, per_landmark_gamma=True, random_state=0),
    RKELMClassifier(30, alpha=0.1, gamma=0.5, random_state=np.random.RandomState(7)),
]
REGRESSORS = [ELMRegressor(40, alpha=1.0, random_state=0), RKELMRegressor(30, alpha=0.1, random_state=0)]
N, D = 1500, 5


def name(machine) -> str:
    return type(machine).__name__


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).random((N, D))


def labels(X, n_classes: int) -> np.ndarray:
    sums = X[:, :3].sum(axis=1) + 0.1 * np.random.default_rng(1).standard_normal(len(X))
    return np.digitize(sums, [1.5] if n_classes == 2 else [1.2, 1.8])


def targets(X, n_outputs: int) -> np.ndarray:
    return np.stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2], axis=1)[:, :n_outputs]


def in_chunks(array, length: int = 400):
    return da.from_array(array, chunks=(length, *array.shape[1:]))


def fitted_both_ways(machine, X, y, *arguments, **options):
    """In memory, and to the Dask collections that follow; both from the machine's first random state."""
    whole, in_parts = clone(machine), clone(machine)
    return whole.fit(X, y), distributed.fit(in_parts, *arguments, **options)


def assert_same(whole, in_parts, X):
    """The same answers to 1e-10 of their spread."""
    method = "decision_function" if is_classifier(whole) else "predict"
    expected, found = getattr(whole, method)(X), getattr(in_parts, method)(X)
    assert found.shape == expected.shape
    assert_allclose(found, expected, rtol=0, atol=1e-10 * expected.std())
    assert_allclose(in_parts.n_features_in_, whole.n_features_in_)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("machine", CLASSIFIERS, ids=name)
def test_classifier_is_the_one_that_a_fit_in_memory_makes(machine, ordered, X):
    """Of rows in any order; or of rows in the order of their labels, which are named."""
    y, options = np.array(["a", "b", "c"])[labels(X, 3)], {}
    if ordered:
        y, options = np.sort(y), {"classes": ["c", "a", "b"]}
    whole, in_parts = fitted_both_ways(machine, X, y, in_chunks(X), in_chunks(y, 700), **options)
    assert_array_equal(in_parts.classes_, whole.classes_)
    assert_same(whole, in_parts, X)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("machine", REGRESSORS, ids=name)
def test_regressor_is_the_one_that_a_fit_in_memory_makes(machine, n_outputs, X):
    y = targets(X, n_outputs)
    assert_same(*fitted_both_ways(machine, X, y, in_chunks(X), da.from_array(y, chunks=(250, 1))), X)
    one = y[:, 0]
    assert_same(*fitted_both_ways(machine, X, one, in_chunks(X), in_chunks(one)), X)


@pytest.mark.parametrize("machine", [EEKMClassifier(30, random_state=0), EEMClassifier(40, random_state=0)])
@pytest.mark.parametrize("length", [1, 70, N])
def test_length_of_the_chunks_does_not_matter(machine, length, X):
    X = X[:60] if length == 1 else X
    y = labels(X, 2)
    assert_same(*fitted_both_ways(machine, X, y, in_chunks(X, length), in_chunks(y, length)), X)


@pytest.mark.parametrize("machine", [EEKMClassifier(30, random_state=0), RKELMClassifier(30, random_state=0)])
def test_chunks_of_unknown_length_and_without_rows_give_the_same_machine(machine, X):
    y = labels(X, 2)
    kept = np.arange(N) % 3 > 0
    kept[:400] = False  # the whole first chunk
    unknown = in_chunks(kept)
    whole, in_parts = fitted_both_ways(
        machine, X[kept], y[kept], in_chunks(X)[unknown], in_chunks(y)[unknown]
    )
    assert_same(whole, in_parts, X)
    assert_array_equal(in_parts.landmarks_, whole.landmarks_)


def test_sparse_chunks_give_the_same_machine(X):
    X = csr_matrix(np.where(X > 0.7, X, 0))
    y = labels(X.toarray(), 2)
    chunks = [
        da.from_delayed(dask.delayed(X[i : i + 500]), shape=(500, D), dtype=float) for i in range(0, N, 500)
    ]
    for machine in (EEKMClassifier(30, random_state=0), EEMClassifier(30, random_state=0)):
        assert_same(*fitted_both_ways(machine, X, y, da.concatenate(chunks), in_chunks(y)), X)


def test_single_precision_is_computed_as_a_fit_in_memory_computes_it(X):
    single, y = X.astype(np.float32), labels(X, 2)
    whole, in_parts = fitted_both_ways(
        EEMClassifier(40, random_state=0), single, y, in_chunks(single), in_chunks(y)
    )
    assert in_parts.solver_info_["dtype"] == whole.solver_info_["dtype"] == "float32"
    expected = whole.decision_function(single)
    assert_allclose(in_parts.decision_function(single), expected, rtol=0, atol=1e-3 * expected.std())
    double = EEMClassifier(40, random_state=0).fit(X, y)
    assert_allclose(in_parts.decision_function(single), double.decision_function(X), rtol=0, atol=0.01)


def test_single_precision_that_does_not_do_is_summed_once_more_in_double():
    X = np.random.default_rng(0).random((300, 2), dtype=np.float32)
    y = labels(np.hstack([X, X]), 2)
    machine = EEMClassifier(120, covariance="empirical", random_state=0)
    whole, in_parts = fitted_both_ways(machine, X, y, in_chunks(X, 100), in_chunks(y, 100))
    assert in_parts.solver_info_["dtype"] == whole.solver_info_["dtype"] == "float64"
    assert_array_equal(in_parts._layer.weights, whole._layer.weights)


@pytest.mark.parametrize("machine", [WELMClassifier(20, solver="cholesky"), RKELMClassifier(20)])
def test_merging_leaves_what_it_merges_as_it_was(machine, X):
    # Dask may merge the same results again, for a worker that was lost.
    y = labels(X, 2)
    machine.set_params(random_state=0).fit(X, y)
    no_sums = machine._no_sums(*machine._checked(X, y))
    parts = [
        sums_of_chunk(X[i : i + 500], y[i : i + 500], None, 0, machine, no_sums, np.float64)
        for i in (0, 500, 1000)
    ]
    once, again = (cloudpickle.dumps(merged_sums(parts)[0]) for _ in range(2))
    assert once == again
    assert merged_sums([None, parts[0], None]) is parts[0]


def test_layer_travels_once_and_the_sums_without_what_they_do_not_need(monkeypatch):
    graphs = []

    def computed(result, progress):
        graphs.append(len(cloudpickle.dumps(dict(result.__dask_graph__()))))
        return result.compute()

    monkeypatch.setattr(distributed, "_computed", computed)
    X = da.random.default_rng(0).uniform(size=(2000, 100), chunks=(50, 100))
    machine = EEMClassifier(300, random_state=0)
    distributed.fit(machine, X, X[:, 0] > 0.5, classes=[False, True])
    layer = machine._layer.weights.nbytes
    _, sent = graphs  # the survey of the bounds is the first
    assert layer < sent < 3 * layer  # of 40 tasks
    assert layer == 300 * 100 * 8


# --- frames ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def frame(X):
    frame = pd.DataFrame(X, columns=list("abcde"))
    return frame.assign(label=np.where(labels(X, 2) > 0, "yes", "no"), value=targets(X, 1))


def test_targets_are_columns_of_the_frame_by_their_names(frame):
    features = list("abcde")
    rows = dd.from_pandas(frame, npartitions=4)
    machine = ELMRegressor(20, alpha=1.0, random_state=0)
    one = rows[[*features, "value"]]
    assert_same(*fitted_both_ways(machine, frame[features], frame["value"], one, "value"), frame[features])
    names = ["value", "a"]
    two = fitted_both_ways(machine, frame[features[1:]], frame[names], one, names)
    assert_same(*two, frame[features[1:]])


def test_series_with_other_partitions_is_moved(frame):
    features = list("abcde")
    rows, others = (dd.from_pandas(frame, npartitions=n) for n in (4, 7))
    machines = fitted_both_ways(
        EEKMClassifier(30, random_state=0), frame[features], frame["label"], rows[features], others["label"]
    )
    assert_same(*machines, frame[features])


# --- landmarks of more rows than are numbered --------------------------------------------------------------


def test_landmarks_of_very_many_rows_are_a_sample_of_all_chunks(X, monkeypatch):
    monkeypatch.setattr(sampling, "MOST_PERMUTED", 100)
    y = in_chunks(targets(X, 1)[:, 0])
    drawn = [
        distributed.fit(RKELMRegressor(40, alpha=0.1, random_state=seed), in_chunks(X), y).landmarks_
        for seed in range(10)
    ]
    place = {tuple(row): i for i, row in enumerate(X)}
    places = np.array([[place[tuple(row)] for row in landmarks] for landmarks in drawn])
    assert all(len(set(some)) == 40 for some in places)  # without replacement
    # Of 400 draws a quarter falls on each quarter of the rows, give or take five standard deviations.
    assert_allclose(np.histogram(places, bins=4, range=(0, N))[0], 100, atol=5 * np.sqrt(400 * 3 / 16))
    again = distributed.fit(RKELMRegressor(40, alpha=0.1, random_state=3), in_chunks(X), y).landmarks_
    assert_array_equal(again, drawn[3])


# --- predictions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_classes", "method"), [(2, "predict"), (2, "hidden"), (3, "predict_proba")])
def test_prediction_is_lazy_and_has_the_shape_type_and_numbers_of_one_in_memory(n_classes, method, X):
    y = np.array(["a", "b", "c"])[labels(X, n_classes)]
    machine = EEMClassifier(20, random_state=0).fit(X, y)
    expected = getattr(machine, method)(X)
    answers = distributed.predict(machine, in_chunks(X), method)
    assert isinstance(answers, da.Array)
    assert (answers.shape, answers.dtype) == (expected.shape, expected.dtype)
    assert answers.chunks[0] == in_chunks(X).chunks[0]
    found = answers.compute()
    assert found.dtype == expected.dtype
    if expected.dtype.kind == "f":
        assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    else:
        assert_array_equal(found, expected)
    assert_array_equal(answers[405:410].compute(), found[405:410])


def test_prediction_goes_past_chunks_without_rows_and_has_any_estimator(X):
    y = labels(X, 2)
    kept = in_chunks(np.arange(N) >= 800)
    machine = LogisticRegression().fit(X, y)
    found = distributed.predict(machine, in_chunks(X)[kept], "predict_proba")
    assert_allclose(found.compute(), machine.predict_proba(X[800:]))


def test_options_that_a_lazy_prediction_does_not_have(X):
    y = labels(X, 2)
    machine = streaming.fit(EEMClassifier(20, random_state=0), in_chunks(X), in_chunks(y), classes=[0, 1])
    with pytest.raises(TypeError, match="with a Dask collection"):
        streaming.predict(machine, in_chunks(X), progress=True)
    with pytest.raises(AttributeError, match="did you mean 'predict_proba'"):
        streaming.predict(machine, in_chunks(X), method="predict_probs")


# --- what is refused ---------------------------------------------------------------------------------------


def refused(kind, machine, X, y=None, **options) -> str:
    with pytest.raises(kind) as caught:
        distributed.fit(machine, X, y, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_machines_that_are_no_sums_are_refused(X):
    rows, y = in_chunks(X), in_chunks(labels(X, 2))
    assert "accepted: EEMClassifier" in refused(TypeError, LogisticRegression(), rows, y)
    assert "Pipeline" in refused(TypeError, make_pipeline(MinMaxScaler(), EEMClassifier()), rows, y)


def test_rows_that_are_no_collection_of_whole_rows_are_refused(X):
    y, machine = in_chunks(labels(X, 2)), EEMClassifier(10)
    assert "numpy's ndarray; EEMClassifier accepts a dask.array" in refused(TypeError, machine, X, y)
    assert "shape (1500,)" in refused(ValueError, machine, in_chunks(X)[:, 0], y)
    assert "X.rechunk({1: -1})" in refused(ValueError, machine, in_chunks(X).rechunk({1: 2}), y)
    assert "no rows" in refused(ValueError, machine, in_chunks(X)[:0], y[:0])
    never = in_chunks(np.zeros(N, dtype=bool))
    assert "no rows" in refused(ValueError, machine, in_chunks(X)[never], y[never])
    assert "no rows" in refused(ValueError, machine, in_chunks(X)[never], y[never], classes=[0, 1])
    with pytest.raises(ValueError, match="along its features"):
        distributed.predict(EEMClassifier(10).fit(X, labels(X, 2)), in_chunks(X).rechunk({1: 2}))


def test_targets_that_do_not_fit_the_rows_are_refused(X, frame):
    rows, machine = in_chunks(X), EEMClassifier(10, random_state=0)
    y = labels(X, 2)
    assert "needs targets" in refused(ValueError, machine, rows)
    assert "dask.array.from_array(y, chunks=X.chunks[0])" in refused(TypeError, machine, rows, y)
    assert "X has 1500 rows and y has 1499" in refused(ValueError, machine, rows, in_chunks(y[1:]))
    some = in_chunks(y > 0)
    unknown = refused(ValueError, machine, rows[some], in_chunks(y, 700)[in_chunks(y > 0, 700)])
    assert "X has 4 chunks and y has 3" in unknown
    differ = refused(ValueError, machine, rows[some], in_chunks(y)[~some], classes=[0, 1])
    assert "chunk 0: X has 193 rows and y has 207" in differ
    table = dd.from_pandas(frame, npartitions=2)
    assert "did you mean 'label'" in refused(ValueError, machine, table, "lable")
    assert "accepts for a Dask array X another one" in refused(TypeError, machine, rows, "label")
    assert "names of columns or a Series" in refused(TypeError, machine, table, in_chunks(y))


def test_labels_that_are_no_classes_are_refused(X):
    rows, machine, y = in_chunks(X), EEMClassifier(10, random_state=0), labels(X, 2)
    assert "Unknown label type: continuous" in refused(ValueError, machine, rows, in_chunks(X[:, 0]))
    assert "only one class" in refused(ValueError, machine, rows, in_chunks(np.ones(N)))
    other = refused(ValueError, machine, rows, in_chunks(y), classes=[0, 7])
    assert "rows 0 to 399: y holds the label 1" in other
    missing = refused(ValueError, machine, rows, in_chunks(y), classes=[0, 1, 2])
    assert missing == "no row has the label 2, which classes names; found: [0, 1]."


@pytest.mark.parametrize("machine", [EEMClassifier(10), RKELMClassifier(10)])
def test_error_of_a_chunk_says_which_rows(machine, X):
    spoilt, y = X.copy(), labels(X, 2)
    spoilt[900, 2] = np.nan
    with pytest.raises(ValueError, match="rows 800 to 1199: Input X contains NaN"):
        distributed.fit(machine, in_chunks(spoilt), in_chunks(y))


def test_progress_is_shown_and_a_function_is_refused(X, capsys):
    rows, y = in_chunks(X), in_chunks(labels(X, 2))
    assert "True or False" in refused(TypeError, EEMClassifier(10), rows, y, progress=print)
    distributed.fit(EEMClassifier(10, random_state=0), rows, y, progress=True)
    assert capsys.readouterr().out.count("100% Completed") >= 2  # labels and sums


def test_refit_forgets_what_an_earlier_fit_and_a_stream_have_left(X):
    y = labels(X, 3)
    chosen = RKELMClassifier(30, alpha=[0.1, 1.0], store_sums=False, random_state=0).fit(X, y)
    stream = RKELMClassifier(30, alpha=0.1, store_sums=False, random_state=0).partial_fit(
        X, y, classes=[0, 1, 2]
    )
    for machine in (chosen.set_params(alpha=0.1), stream):
        distributed.fit(machine, in_chunks(X), in_chunks(np.minimum(y, 1)))
        assert machine.classes_.tolist() == [0, 1]
        assert not hasattr(machine, "loo_errors_")
        assert not hasattr(machine, "_stream")
