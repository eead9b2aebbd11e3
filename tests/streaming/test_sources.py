"""Every kind of source gives the rows that were written to it, however they are cut."""

import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from entrolearn import streaming
from entrolearn.streaming.sources import CHUNK_BYTES, read_ahead, shown

N_ROWS, N_FEATURES = 53, 5
NAMES = [f"f{j}" for j in range(N_FEATURES)]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
X[RNG.random(X.shape) < 0.3] = 0
Y = RNG.integers(0, 3, N_ROWS)
ARRAYS = [
    "array",
    "array by columns",
    "every other row",
    "csr",
    "csc",
    "npy",
    "npy by columns",
    "memmap of numpy.load",
    "view of a memmap",
    "array that is a memmap",
    "pandas",
    "polars",
    "array of another library",
]
DATASETS = ["folder", "pattern", "list", "dataset", "table", "record batch"]
CHUNKS = ["function", "list of chunks", "iterator"]
KINDS = ARRAYS + DATASETS + CHUNKS


class Stored:
    """What zarr and h5py have: a shape, and the numbers of a slice."""

    def __init__(self, numbers: np.ndarray):
        self._numbers, self.shape, self.dtype = numbers, numbers.shape, numbers.dtype

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self._numbers[rows]


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> dict:
    """Functions of chunk_rows."""
    folder, rows = tmp_path_factory.mktemp("rows"), streaming.rows
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", Y)
    np.save(folder / "columns.npy", np.asfortranarray(X))
    longer = np.memmap(folder / "raw", np.float32, "w+", 64, (N_ROWS + 30, N_FEATURES))
    longer[:20], longer[20:-10], longer[-10:] = -1, X, -2
    columns = dict(zip(NAMES, X.T, strict=True))
    table = pa.table({**dict(list(columns.items())[:2]), "label": Y, **dict(list(columns.items())[2:])})
    files = folder / "parquet"
    (files / "deeper").mkdir(parents=True)
    (files / "_notes.parquet").write_text("what another program wrote")
    pq.write_table(table.slice(0, 30), files / "a.parquet", row_group_size=17)
    pq.write_table(table.slice(30, 0), files / "b.parquet")
    pq.write_table(table.slice(30), files / "deeper" / "c.parquet")

    def chunks():
        for start in range(0, N_ROWS, 20):
            yield X[start : start + 20], Y[start : start + 20]

    return {
        "array": lambda **how: rows(X, Y, **how),
        "array by columns": lambda **how: rows(np.asfortranarray(X), list(Y), **how),
        "every other row": lambda **how: rows(np.repeat(X, 2, axis=0)[::2], Y, **how),
        "csr": lambda **how: rows(sparse.csr_array(X), Y, **how),
        "csc": lambda **how: rows(sparse.csc_matrix(X), Y, **how),
        "npy": lambda **how: rows(folder / "X.npy", str(folder / "y.npy"), **how),
        "npy by columns": lambda **how: rows(folder / "columns.npy", Y, **how),
        "memmap of numpy.load": lambda **how: rows(np.load(folder / "X.npy", mmap_mode="r"), Y, **how),
        "view of a memmap": lambda **how: rows(longer[20:-10], Y, **how),
        "array that is a memmap": lambda **how: rows(np.asarray(longer)[20:-10], Y, **how),
        "pandas": lambda **how: rows(pd.DataFrame(X, columns=NAMES, index=Y), pd.Series(Y), **how),
        "polars": lambda **how: rows(pl.DataFrame(columns), pl.Series(Y), **how),
        "array of another library": lambda **how: rows(Stored(X), Stored(Y), **how),
        "folder": lambda **how: rows(files, target="label", features=NAMES, **how),
        "pattern": lambda **how: rows(f"{files}/**/[a-c].parquet", target="label", **how),
        "list": lambda **how: rows([files / "a.parquet", f"{files}/deeper/*.parquet"], target="label", **how),
        "dataset": lambda **how: rows(
            pyarrow.dataset.dataset(files, format="parquet"), target="label", **how
        ),
        "table": lambda **how: rows(table, target="label", **how),
        "record batch": lambda **how: rows(table.combine_chunks().to_batches()[0], target="label", **how),
        "function": lambda chunk_rows=None: rows(chunks),
        "list of chunks": lambda chunk_rows=None: rows([list(pair) for pair in chunks()]),
        "iterator": lambda chunk_rows=None: rows(chunks()),
    }


def dense(rows) -> np.ndarray:
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


@pytest.mark.parametrize("chunk_rows", [None, 1, 17, 53, 60])
@pytest.mark.parametrize("kind", KINDS)
def test_chunks_are_the_rows_in_order_in_their_own_precision(sources, kind, chunk_rows):
    source = sources[kind](chunk_rows=chunk_rows)
    for _ in range(1 + source.repeatable):
        Xs, ys = zip(*((dense(some), y) for some, y in source), strict=True)
        assert_array_equal(np.concatenate(Xs), X)
        assert_array_equal(np.concatenate(ys), Y)
        assert {some.dtype for some in Xs} == {np.dtype(np.float32)}
    assert source.repeatable == (kind != "iterator")
    targets = list(sources[kind](chunk_rows=chunk_rows).targets())
    assert [y.tolist() for y in targets] == [y.tolist() for y in ys]
    if kind not in CHUNKS:
        assert (source.n_rows, source.n_features, source.has_targets) == (*X.shape, True)
        assert source.feature_names == (NAMES if kind in DATASETS else None)
        assert max(map(len, Xs)) <= (source.chunk_rows if chunk_rows is None else chunk_rows)
    if chunk_rows and kind in ARRAYS:
        assert {len(some) for some in Xs[:-1]} <= {chunk_rows}


def test_a_chunk_of_the_default_size_has_so_many_bytes_of_numbers():
    many = np.broadcast_to(np.float32(1), (10**9, 64))
    assert streaming.rows(many).chunk_rows * 64 * 4 == CHUNK_BYTES
    assert streaming.rows(many[:, :1]).chunk_rows * 4 == CHUNK_BYTES


def test_what_is_written_to_a_private_map_is_read(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((10, 2)))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="c")
    mapped[3] = 5.0  # in memory alone
    (chunk, _), (_, _) = streaming.rows(mapped, chunk_rows=5)
    assert chunk[3, 0] == mapped[3, 0] == 5.0


def test_what_is_written_to_a_shared_map_is_read_and_kept(tmp_path):
    mapped = np.memmap(tmp_path / "X", np.float64, "w+", shape=(10, 2))
    mapped[:] = np.arange(20).reshape(10, 2)
    for _ in range(2):
        chunks = [chunk for chunk, _ in streaming.rows(mapped, chunk_rows=3)]
        assert_array_equal(np.concatenate(chunks).ravel(), range(20))
    mapped.flush()
    assert_array_equal(np.fromfile(tmp_path / "X"), range(20))


def test_words_and_categories_may_be_targets():
    words = ["ham", "spam", "ham"]
    table = pa.table({"x": [1, 2, 3], "word": words, "kind": pa.array(words).dictionary_encode()})
    for column in ("word", "kind"):
        ((some, y),) = streaming.rows(table, target=column, features="x")
        assert y.tolist() == words
        assert some.dtype == np.int64
    both = streaming.rows(table, target=["word", "kind"])
    assert [y.tolist() for y in both.targets()] == [[[word, word] for word in words]]


def test_integers_booleans_and_absent_numbers_come_as_one_array():
    table = pa.table(
        {"n": [1, None, 3], "yes": [True, False, True], "x": pa.array([0.5, 1, 2], pa.float32())}
    )
    ((some, _),) = streaming.rows(table)
    assert_array_equal(some, [[1, 1, 0.5], [np.nan, 0, 1], [3, 1, 2]])


def test_empty_chunks_are_passed_over():
    chunks = [(np.zeros((0, 2)), []), (np.ones((3, 2)), [1, 2, 3]), (np.zeros((0, 2)), [])]
    ((some, y),) = streaming.rows(chunks)
    assert some.shape == (3, 2)
    assert y.tolist() == [1, 2, 3]


def test_importing_the_package_loads_no_library_and_using_arrays_none_of_the_extra():
    code = (
        "import sys; from entrolearn import streaming; light = 'numpy' not in sys.modules; import numpy;"
        "list(streaming.rows(numpy.zeros((3, 2))));"
        "print(light, {'pyarrow.dataset', 'tqdm', 'dask'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "set()"]


# --- reading ahead, and how far a pass is -------------------------------------------------------------------


def test_chunks_that_are_read_ahead_come_in_order_and_one_at_a_time():
    read, second = [], threading.Event()

    def chunks():
        for i in range(4):
            read.append(i)
            if i == 1:
                second.set()
            yield (i, None)

    ahead = read_ahead(chunks())
    assert next(ahead) == (0, None)
    assert second.wait(timeout=60)
    assert read == [0, 1]
    assert [i for i, _ in ahead] == [1, 2, 3]
    assert list(read_ahead(iter(()))) == []


def test_an_error_comes_where_its_chunk_would():
    def chunks():
        yield (0, None)
        raise ValueError("no more")

    ahead = read_ahead(chunks())
    assert next(ahead) == (0, None)
    with pytest.raises(ValueError, match="no more"):
        next(ahead)


def test_the_reader_ends_with_who_asked():
    ahead = read_ahead((i, None) for i in range(1000))
    next(ahead)
    ahead.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("read_ahead")]


PAIRS = [(np.zeros((n, 2)), None) for n in (3, 4, 1)]


@pytest.mark.parametrize("progress", [False, True, lambda done, of: None], ids=["nothing", "bar", "function"])
def test_chunks_are_handed_on_as_they_are(progress):
    for given, handed in zip(PAIRS, shown(PAIRS, progress, 8, "reading"), strict=True):
        assert handed is given


def test_a_chunk_is_done_when_the_next_one_is_asked_for():
    told = []
    pass_ = shown(PAIRS, lambda *far: told.append(far), 8, "reading")
    next(pass_)
    assert told == []
    next(pass_)
    assert told == [(3, 8)]
    assert len(list(pass_)) == 1
    assert told == [(3, 8), (7, 8), (8, 8)]


def test_a_bar_is_closed_where_the_work_fails(capsys):
    def work():
        for _ in shown(PAIRS, True, None, "reading"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert capsys.readouterr().err.endswith("\n")
