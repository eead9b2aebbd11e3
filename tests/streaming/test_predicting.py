"""Predictions chunk by chunk are those of all rows at once."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from entrolearn import EEMClassifier, ELMRegressor, streaming

RNG = np.random.default_rng(0)
X = RNG.normal(size=(203, 5))
WORDS = np.array(["ham", "spam", "worse than spam"])[RNG.integers(0, 3, len(X))]
CLASSIFIER = make_pipeline(StandardScaler(), EEMClassifier(n_hidden=15, random_state=0)).fit(X, WORDS)


@pytest.fixture(params=[7, 64, 203])
def source(request):
    return streaming.rows(X, chunk_rows=request.param)


def test_labels_are_the_same(source):
    assert_array_equal(streaming.predict(CLASSIFIER, source), CLASSIFIER.predict(X))


@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
def test_numbers_are_the_same(source, method):
    whole = getattr(CLASSIFIER, method)(X)
    assert_allclose(streaming.predict(CLASSIFIER, source, method=method), whole, rtol=1e-12, atol=1e-12)
    chunks = list(streaming.predict_chunks(CLASSIFIER, source, method=method))
    assert [len(chunk) for chunk in chunks] == [len(rows) for rows, _ in source]
    assert_allclose(np.concatenate(chunks), whole, rtol=1e-12, atol=1e-12)


def test_rows_may_be_whatever_makes_rows(tmp_path):
    np.save(tmp_path / "X.npy", X)
    for rows in (X, tmp_path / "X.npy", [X[:100], X[100:]], lambda: iter([X]), iter([(X, WORDS)])):
        assert_array_equal(streaming.predict(CLASSIFIER, rows), CLASSIFIER.predict(X))


def test_where_the_number_of_rows_is_not_known_the_answers_are_joined():
    whole = CLASSIFIER.decision_function(X)
    found = streaming.predict(CLASSIFIER, iter([X[:90], X[90:]]), method="decision_function")
    assert_allclose(found, whole, rtol=1e-12, atol=1e-12)


def test_out_is_filled_and_returned(source, tmp_path):
    whole = CLASSIFIER.predict_proba(X)
    mapped = np.memmap(tmp_path / "out", np.float64, "w+", shape=whole.shape)
    single = np.empty(whole.shape, np.float32)
    for out in (mapped, single):
        assert streaming.predict(CLASSIFIER, source, method="predict_proba", out=out) is out
    assert_allclose(np.fromfile(tmp_path / "out").reshape(whole.shape), whole, rtol=1e-12, atol=1e-12)
    assert_array_equal(single, mapped.astype(np.float32))


def test_sparse_answers_stay_sparse(source):
    encoder = OneHotEncoder(handle_unknown="ignore").fit(X)
    found = streaming.predict(encoder, source, method="transform")
    assert sparse.issparse(found)
    assert_array_equal(found.toarray(), encoder.transform(X).toarray())
    out = np.empty(found.shape)
    assert_array_equal(streaming.predict(encoder, source, method="transform", out=out), found.toarray())


def test_values_of_several_outputs_are_the_same(source):
    machine = ELMRegressor(20, random_state=0).fit(X, X[:, :2] ** 2)
    assert_allclose(streaming.predict(machine, source), machine.predict(X), rtol=1e-10, atol=1e-12)


def test_longer_words_of_a_later_chunk_are_kept():
    class Speller(BaseEstimator):
        """A machine of another package, whose answers are as long as their chunk needs."""

        def fit(self, X, y=None):
            self.fitted_ = True
            return self

        def predict(self, X):
            return np.array([str(int(x)) for x in X[:, 0]])

    rows = streaming.rows(np.array([[1.0], [22], [333]]), chunk_rows=1)
    assert streaming.predict(Speller().fit(None), rows).tolist() == ["1", "22", "333"]


@pytest.mark.filterwarnings("error")
def test_names_of_features_are_compared_before_anything_is_computed(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    frame = pd.DataFrame(X, columns=list("abcde"))
    machine = EEMClassifier(n_hidden=15, random_state=0).fit(frame, WORDS)
    pq.write_table(pa.Table.from_pandas(frame.assign(word=WORDS)), tmp_path / "rows.parquet")
    rows = streaming.rows(tmp_path / "rows.parquet", target="word", chunk_rows=50)
    assert_array_equal(streaming.predict(machine, rows), machine.predict(frame))
    assert_array_equal(streaming.predict(machine, frame), machine.predict(frame))
    turned = streaming.rows(tmp_path / "rows.parquet", features=list("bacde"))
    with pytest.raises(ValueError, match="^the rows have the features b, a, c, d, e, but EEM"):
        streaming.predict(machine, turned)


def test_errors_come_before_the_first_row_is_read():
    def untouched():
        raise AssertionError("read")
        yield

    with pytest.raises(AttributeError, match="no method 'predict_prob', did you mean 'predict_proba'"):
        streaming.predict(EEMClassifier(), untouched, method="predict_prob")
    with pytest.raises(NotFittedError):
        streaming.predict_chunks(EEMClassifier(), untouched)
    with pytest.raises(ValueError, match="the rows have 3 features, but Pipeline was fitted to 5"):
        streaming.predict_chunks(CLASSIFIER, X[:, :3])
    with pytest.raises(ValueError, match="out has room for 7 rows, but there are 203"):
        streaming.predict(CLASSIFIER, X, out=np.empty(7))
    with pytest.raises(TypeError, match="progress='yes'; True, False and a function"):
        streaming.predict_chunks(CLASSIFIER, X, progress="yes")


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="there are no rows to predict; at least one is accepted"):
        streaming.predict(CLASSIFIER, lambda: iter([X[:0]]))


def test_answers_that_out_does_not_hold_are_refused():
    with pytest.raises(ValueError, match=r"out has shape \(203,\), but the predictions of 203 rows have"):
        streaming.predict(CLASSIFIER, X, method="predict_proba", out=np.empty(203))
    with pytest.raises(ValueError, match="out holds int64, but the predictions are float64"):
        streaming.predict(CLASSIFIER, X, method="predict_proba", out=np.empty((203, 3), np.int64))
    with pytest.raises(ValueError, match="out holds <U3, but the predictions are <U15"):
        streaming.predict(CLASSIFIER, X, out=np.empty(203, "U3"))
    with pytest.raises(ValueError, match="out has room for 300 rows, but there are 203"):
        streaming.predict(CLASSIFIER, iter([X]), out=np.empty(300, "U15"))
    with pytest.raises(ValueError, match=r"out has shape \(100,\), but the predictions of 203 rows"):
        streaming.predict(CLASSIFIER, iter([X]), out=np.empty(100, "U15"))
