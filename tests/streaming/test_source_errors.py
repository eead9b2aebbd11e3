"""What cannot be read is refused in one line, before work starts."""

import sys

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import BaseEstimator

from entrolearn import streaming

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 0, 1])


def refusal(error: type[Exception], call) -> str:
    """The one line that a call is refused with."""
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((X, Y[:5]), "X has 6 rows and y has 5"),
        ((X[0],), "X has shape (2,); accepted: 2 dimensions"),
        ((X[None],), "X has shape (1, 6, 2)"),
        ((X[:0],), "at least one row"),
        ((X[:, :0], Y), "X has shape (6, 0)"),
        ((X, np.zeros((6, 1, 1))), "y has shape (6, 1, 1); accepted: 1 or 2 dimensions"),
        ((pd.DataFrame(X), Y[:2]), "X has 6 rows and y has 2"),
        ((iter([X]), Y), "y= was given with chunks"),
        (("data/*.parquet", Y), "y= was given with a dataset; name the targets with target="),
    ],
)
def test_arrays_that_make_no_rows(arguments, words):
    assert words in refusal(ValueError, lambda: streaming.rows(*arguments))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"target": "y"}, "target= was given with an array"),
        ({"features": ["a"]}, "features= was given with an array"),
        ({"chunk_rows": 0}, "chunk_rows=0"),
        ({"chunk_rows": True}, "chunk_rows=True"),
        ({"chunk_rows": 2.5}, "chunk_rows=2.5"),
    ],
)
def test_parameters_that_say_nothing_of_an_array(how, words):
    assert words in refusal(ValueError, lambda: streaming.rows(X, **how))


@pytest.mark.parametrize("wrong", [7, {"X": X}], ids=str)
def test_what_has_no_rows(wrong):
    message = refusal(TypeError, lambda: streaming.rows(wrong))
    assert message.startswith(f"rows cannot come from {type(wrong).__name__}; accepted are an array")


def test_files_that_are_not_there_or_of_no_kind_that_is_read(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n")
    (tmp_path / "a.npy").write_text("no array")
    (tmp_path / "a.parquet").write_text("no table")
    (tmp_path / "empty").mkdir()
    np.save(tmp_path / "objects.npy", np.array([[{}]]), allow_pickle=True)
    np.save(tmp_path / "short.npy", X)
    (tmp_path / "short.npy").write_bytes((tmp_path / "short.npy").read_bytes()[:-8])
    for name in ("b.npy", "b.parquet", "b", "*.pq"):
        assert name in refusal(FileNotFoundError, lambda name=name: streaming.rows(tmp_path / name))
    for name in ("a.csv", "a.npy", "objects.npy", "short.npy", "a.parquet"):
        assert name in refusal(ValueError, lambda name=name: streaming.rows(tmp_path / name))
    refusal(ValueError, lambda: streaming.rows(tmp_path / "empty"))


@pytest.fixture
def table(tmp_path):
    """A function that writes columns to a file of some name."""

    def write(name: str, columns: dict):
        pq.write_table(pa.table(columns), tmp_path / name)
        return tmp_path / name

    return write


def test_columns_that_are_not_there_or_hold_no_numbers(table):
    when = pa.array([0, 1], pa.timestamp("ms"))
    path = table("a.parquet", {"age": [1.0, 2.0], "name": ["x", "y"], "when": when, "label": [0, 1]})
    for how, words in [
        ({"target": "lable", "features": "age"}, "target='lable' is not a column, did you mean 'label'?"),
        ({"features": ["Age"]}, "features='Age' is not a column, did you mean 'age'?"),
        ({"target": "label"}, "features are not numeric: name (string), when (timestamp[ms])"),
        ({"target": "age", "features": "age"}, "'age' is the target and among the features"),
        ({"target": ["age", "name", "when", "label"]}, "there is no column for features"),
    ]:
        for source in (path, pq.read_table(path)):
            assert words in refusal(ValueError, lambda source=source, how=how: streaming.rows(source, **how))


def test_a_file_that_lacks_a_column_is_named(table):
    """pyarrow would fill it with absent numbers."""
    a, less = table("a.parquet", {"x": [1.0], "y": [1]}), table("less.parquet", {"x": [1.0]})
    message = refusal(ValueError, lambda: streaming.rows([a, less], target="y"))
    assert message.startswith(f"{less} has no column 'y'")
    assert streaming.rows([a, less], features="x").n_rows == 2


def test_files_without_rows_are_refused(table):
    empty = table("empty.parquet", {"x": pa.array([], pa.float64())})
    assert "no rows" in refusal(ValueError, lambda: streaming.rows(empty))


@pytest.mark.parametrize(
    ("chunks", "words"),
    [
        ([X, X[:, :1]], "chunk 1 has 1 features"),
        ([(X, Y), X], "chunk 1 has 2 features and no y"),
        ([X, (X, Y)], "chunk 1 has 2 features and a y"),
        ([(X, Y), (X, Y[:3])], "chunk 1 has 6 rows of X and y of shape (3,)"),
        ([(X, Y, Y)], "chunk 0"),
        ([X[0]], "chunk 0 has shape (2,)"),
        ([], "there was no chunk"),
    ],
)
def test_chunks_that_do_not_go_together_are_named(chunks, words):
    assert words in refusal(ValueError, lambda: list(streaming.rows(chunks)))
    assert words in refusal(ValueError, lambda: list(streaming.rows(iter(chunks))))


def test_a_function_that_returns_no_chunks():
    refusal(TypeError, lambda: list(streaming.rows(lambda: 3)))


@pytest.mark.parametrize("again", [iter, lambda rows: rows.targets()], ids=["rows", "targets"])
@pytest.mark.parametrize("first", [list, lambda rows: list(rows.targets())], ids=["rows", "targets"])
def test_an_iterator_is_read_once(first, again):
    rows = streaming.rows(iter([(X, Y)]))
    assert not rows.repeatable
    first(rows)
    assert "an iterator, which has been read" in refusal(ValueError, lambda: again(rows))


def test_targets_that_are_not_there(table):
    for rows in (streaming.rows(X), streaming.rows(table("a.parquet", {"x": [1.0]}))):
        assert rows.has_targets is False
        assert "these rows have no target" in refusal(ValueError, rows.targets)
    assert "a chunk has no y" in refusal(ValueError, lambda: list(streaming.rows([X]).targets()))


@pytest.mark.parametrize("library", ["pyarrow", "tqdm"])
def test_an_absent_library_is_named_with_the_command_that_installs_it(library, table, monkeypatch):
    path = table("a.parquet", {"x": [1.0]})
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    calls = {
        "pyarrow": lambda: streaming.rows(path),
        "tqdm": lambda: streaming.predict_chunks(_Fitted(), X, progress=True),
    }
    message = refusal(ImportError, calls[library])
    assert message.endswith(f"needs {library}, which is not installed: pip install 'entrolearn[stream]'")


class _Fitted(BaseEstimator):
    """A machine that needs no training."""

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_collections_of_dask_are_sent_to_the_fits_that_take_them():
    rows = da.ones((6, 2), chunks=(3, 2))
    calls = [
        lambda: streaming.rows(rows, Y),
        lambda: streaming.rows(X, rows[:, 0]),
        lambda: streaming.predict_chunks(_Fitted(), rows),
    ]
    for call in calls:
        assert "is a Dask collection" in refusal(TypeError, call)
