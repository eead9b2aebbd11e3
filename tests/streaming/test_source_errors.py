"""What cannot be read is refused in one line, before work starts."""

import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
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
    ("arguments", "message"),
    [
        ((X, Y[:5]), "X has 6 rows and y has 5; as many are accepted."),
        ((X[0],), "X has shape (2,); two dimensions are accepted, rows and features."),
        ((X[None],), "X has shape (1, 6, 2); two dimensions are accepted, rows and features."),
        ((X[:0],), "X has shape (0, 2); at least one row and one feature are accepted."),
        ((X[:, :0], Y), "X has shape (6, 0); at least one row and one feature are accepted."),
        (
            (X, np.zeros((6, 1, 1))),
            "y has shape (6, 1, 1); one target for each row, or one row of them, is accepted.",
        ),
        ((pd.DataFrame(X), Y[:2]), "X has 6 rows and y has 2; as many are accepted."),
        ((iter([X]), Y), "y= was given with chunks; each chunk is X or a pair (X, y), cut as it comes."),
        (("data/*.parquet", Y), "y= was given with Parquet files; name the targets with target=."),
    ],
)
def test_arrays_that_make_no_rows(arguments, message):
    assert refusal(ValueError, lambda: streaming.rows(*arguments)) == message


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"target": "y"}, "target= was given with an array; y alone is accepted beside it."),
        ({"features": ["a"]}, "features= was given with an array; y alone is accepted beside it."),
        ({"chunk_rows": 0}, "chunk_rows=0; a number of rows, 1 or more, is accepted."),
        ({"chunk_rows": True}, "chunk_rows=True; a number of rows, 1 or more, is accepted."),
        ({"chunk_rows": 2.5}, "chunk_rows=2.5; a number of rows, 1 or more, is accepted."),
    ],
)
def test_parameters_that_say_nothing_of_an_array(how, message):
    assert refusal(ValueError, lambda: streaming.rows(X, **how)) == message


def test_what_has_no_rows_is_told_what_has():
    for wrong in (7, {"X": X}):
        message = refusal(TypeError, lambda wrong=wrong: streaming.rows(wrong))
        assert message.startswith(f"rows cannot come from {type(wrong).__name__}; accepted are an array")


def test_files_that_are_not_there_or_of_no_kind_that_is_read(tmp_path):
    rows = streaming.rows
    (tmp_path / "a.csv").write_text("1,2\n")
    (tmp_path / "a.npy").write_text("no array")
    (tmp_path / "a.parquet").write_text("no table")
    (tmp_path / "a.zarr").mkdir()
    np.save(tmp_path / "objects.npy", np.array([[{}]]), allow_pickle=True)
    np.save(tmp_path / "short.npy", X)
    (tmp_path / "short.npy").write_bytes((tmp_path / "short.npy").read_bytes()[:-8])
    for name in ("b.npy", "b.parquet", "b"):
        assert refusal(FileNotFoundError, lambda name=name: rows(tmp_path / name)) == (
            f"there is no file {tmp_path / name}."
        )
    assert refusal(FileNotFoundError, lambda: rows(tmp_path / "b.zarr")) == (
        f"there is no Zarr store {tmp_path / 'b.zarr'}."
    )
    assert refusal(FileNotFoundError, lambda: rows(f"{tmp_path}/*.pq")) == (
        f"no file matches {tmp_path}/*.pq."
    )
    (tmp_path / "empty").mkdir()
    assert refusal(FileNotFoundError, lambda: rows(tmp_path / "empty")).startswith(
        f"there is no file in {tmp_path / 'empty'} whose name ends in .parquet"
    )
    for name, said in [
        ("a.csv", "has no accepted format; accepted: .npy, .zarr, .parquet"),
        ("a.npy", "is not an array of numbers written by numpy.save: "),
        ("objects.npy", "is not an array of numbers written by numpy.save: "),
        ("short.npy", "is not an array of numbers written by numpy.save: "),
        ("a.parquet", "is not a Parquet file: "),
        ("a.zarr", "is not a Zarr store: "),
    ]:
        message = refusal(ValueError, lambda name=name: rows(tmp_path / name))
        assert message.startswith(f"{tmp_path / name} {said}")


def test_a_file_that_becomes_shorter_while_it_is_read_is_named(tmp_path):
    np.save(tmp_path / "X.npy", X)
    source = streaming.rows(tmp_path / "X.npy")
    (tmp_path / "X.npy").write_bytes((tmp_path / "X.npy").read_bytes()[:-8])
    assert "X.npy has become shorter while it was being read." in refusal(ValueError, lambda: list(source))


@pytest.fixture
def table(tmp_path):
    """A function that writes columns to a file of some name."""

    def write(name: str, columns: dict):
        pq.write_table(pa.table(columns), tmp_path / name)
        return tmp_path / name

    return write


def test_columns_that_are_not_there_or_hold_no_numbers(table):
    rows = streaming.rows
    path = table(
        "a.parquet",
        {
            "age": [1.0, 2.0],
            "name": ["x", "y"],
            "when": pa.array([0, 1], pa.timestamp("ms")),
            "label": [0, 1],
        },
    )
    assert refusal(ValueError, lambda: rows(path, target="lable", features="age")) == (
        f"target='lable' is not a column of {path}, did you mean 'label'?; it has age, name, when, label."
    )
    assert refusal(ValueError, lambda: rows(path, target="label", features=["Age"])).startswith(
        f"features='Age' is not a column of {path}, did you mean 'age'?"
    )
    assert refusal(ValueError, lambda: rows(path, target="label")) == (
        "features are not numeric: name (string), when (timestamp[ms]); accepted: integers, floats and "
        "booleans. Leave the others out with features=, or convert them to numbers."
    )
    assert refusal(ValueError, lambda: rows(pq.read_table(path), target="label")).startswith(
        "features are not numeric: name (string)"
    )
    assert refusal(ValueError, lambda: rows(path, target="age", features="age")) == (
        "'age' is the target and among the features; it can be one of them."
    )
    assert refusal(ValueError, lambda: rows(path, target=["age", "name", "when", "label"])).startswith(
        f"{path} has no column for features"
    )
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert refusal(ValueError, lambda: rows(frame, Y, target="a")) == (
        "y= and target= were both given; one of them is accepted."
    )


def test_files_with_different_columns_are_named(table):
    rows = streaming.rows
    a = table("a.parquet", {"x": [1.0], "y": [1]})
    less = table("less.parquet", {"x": [1.0]})
    more = table("more.parquet", {"x": [1.0], "y": [1], "z": [2]})
    other = table("other.parquet", {"x": pa.array([1.0], pa.float32()), "y": [1]})
    assert refusal(ValueError, lambda: rows([a, less], target="y")) == (
        f"{less} has no column 'y', which {a} has; files with the same columns are accepted."
    )
    assert refusal(ValueError, lambda: rows([a, more], target="y")) == (
        f"{more} has columns that are not in {a}: z; name the features that are in all files with features=."
    )
    assert refusal(ValueError, lambda: rows([a, other], target="y")) == (
        f"'x' is float in {other} and double in {a}; files with the same columns are accepted."
    )
    assert rows([a, more], target="y", features="x").n_rows == 2
    assert rows([a, less], features="x").n_rows == 2


def test_files_without_rows_are_refused(table):
    empty = table("empty.parquet", {"x": pa.array([], pa.float64())})
    assert refusal(ValueError, lambda: streaming.rows(empty)) == (
        f"{empty}: no rows; at least one is accepted."
    )


def test_arrays_of_a_group_that_are_not_there_or_could_be_several(tmp_path):
    group = zarr.open_group(tmp_path / "a.zarr", mode="w")
    group.create_array("train", data=X)
    group.create_array("test", data=X)
    group.create_array("label", data=Y)
    where = tmp_path / "a.zarr"
    for store in (where, group):
        refusal(ValueError, lambda store=store: streaming.rows(store, Y))  # its targets are an array of it
    assert refusal(ValueError, lambda: streaming.rows(where, target="label")).startswith(
        f"{where} has 2 arrays of two dimensions; name one with features=. It has "
    )
    assert refusal(ValueError, lambda: streaming.rows(where, target="lable", features="train")).startswith(
        f"target='lable' is not an array of {where}, did you mean 'label'?; it has "
    )


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([X, X[:, :1]], "chunk 1 has 1 features and chunk 0 has 2; as many are accepted."),
        ([(X, Y), X], "chunk 1 has no y, and chunk 0 has; all chunks are accepted alike."),
        ([X, (X, Y)], "chunk 1 has y, and chunk 0 has none; all chunks are accepted alike."),
        ([(X, Y), (X, Y[:3])], "chunk 1 has 6 rows of X and y of shape (3,); as many are accepted."),
        ([(X, Y, Y)], "chunk 0 has 3 parts; X or a pair (X, y) is accepted."),
        ([X[0]], "X of chunk 0 has shape (2,); two dimensions are accepted."),
        ([], "there was no chunk; at least one is accepted."),
    ],
)
def test_chunks_that_do_not_go_together_are_named(chunks, message):
    assert refusal(ValueError, lambda: list(streaming.rows(chunks))) == message
    assert refusal(ValueError, lambda: list(streaming.rows(iter(chunks)))) == message


def test_a_function_that_returns_no_chunks_is_told_so():
    message = refusal(TypeError, lambda: list(streaming.rows(lambda: 3)))
    assert message == "the function returned int; an iterator of chunks, X or (X, y), is accepted."


@pytest.mark.parametrize("again", [iter, lambda rows: rows.targets()], ids=["rows", "targets"])
@pytest.mark.parametrize("first", [list, lambda rows: list(rows.targets())], ids=["rows", "targets"])
def test_an_iterator_is_read_once(first, again):
    rows = streaming.rows(iter([(X, Y)]))
    assert not rows.repeatable
    first(rows)
    assert refusal(ValueError, lambda: again(rows)).startswith(
        "these rows come from an iterator, which has been read; a function that returns a new iterator"
    )


def test_targets_that_are_not_there(table):
    path = table("a.parquet", {"x": [1.0]})
    for rows in (streaming.rows(X), streaming.rows(path)):
        assert rows.has_targets is False
        assert refusal(ValueError, rows.targets) == (
            "these rows have no target; give y, or name the column or array with target=."
        )
    assert refusal(ValueError, lambda: list(streaming.rows([X]).targets())) == (
        "chunk 0 has no y; where targets are asked for, (X, y) is accepted."
    )


@pytest.mark.parametrize(
    ("library", "what"), [("pyarrow", "reading Parquet"), ("zarr", "reading Zarr"), ("tqdm", "progress=True")]
)
def test_an_absent_library_is_named_with_the_command_that_installs_it(
    library, what, table, tmp_path, monkeypatch
):
    zarr.save_array(tmp_path / "a.zarr", X)
    path = table("a.parquet", {"x": [1.0]})
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    calls = {
        "pyarrow": lambda: streaming.rows(path),
        "zarr": lambda: streaming.rows(tmp_path / "a.zarr"),
        "tqdm": lambda: streaming.predict_chunks(_Fitted(), X, progress=True),
    }
    assert refusal(ImportError, calls[library]) == (
        f"{what} needs {library}, which is not installed: pip install 'entrolearn[stream]'"
    )


class _Fitted(BaseEstimator):
    """A machine that needs no training."""

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_collections_of_dask_are_sent_to_the_fits_that_take_them():
    import dask.array as da

    rows = da.ones((6, 2), chunks=(3, 2))
    calls = [
        lambda: streaming.rows(rows, Y),
        lambda: streaming.rows(X, rows[:, 0]),
        lambda: streaming.predict_chunks(_Fitted(), rows),
    ]
    for call in calls:
        assert "is a Dask collection" in refusal(TypeError, call)
