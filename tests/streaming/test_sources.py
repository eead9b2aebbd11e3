"""Every kind of source gives the rows that were written to it, however they are cut."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import issparse

from entrolearn import streaming
from entrolearn.streaming.base import CHUNK_BYTES

KINDS = [
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
    "pandas' column",
    "polars",
    "parquet",
    "parquet by names",
    "parquet by pattern",
    "parquet list",
    "dataset",
    "record batch",
    "table",
    "zarr",
    "zarr group",
    "zarr arrays",
    "zarr files",
    "function",
    "list of chunks",
    "iterator",
]
CUT_BY_OTHERS = {"function", "list of chunks", "iterator"}


def dense(X) -> np.ndarray:
    return X.toarray() if issparse(X) else np.asarray(X)


def test_every_kind_is_tried(written):
    assert set(KINDS) == set(written.sources)


@pytest.mark.parametrize("chunk_rows", [None, 1, 17, 40, 90, 202, 203, 300])
@pytest.mark.parametrize("kind", KINDS)
def test_chunks_are_the_rows_in_order_in_their_own_precision(written, kind, chunk_rows):
    source = written.sources[kind](chunk_rows=chunk_rows)
    chunks = [(dense(X), y) for X, y in source]
    assert_array_equal(np.concatenate([X for X, _ in chunks]), written.X)
    assert_array_equal(np.concatenate([y for _, y in chunks]), written.y)
    assert {X.dtype for X, _ in chunks} == {np.dtype(np.float32)}
    if chunk_rows and kind not in CUT_BY_OTHERS:
        assert source.chunk_rows == chunk_rows
        assert {len(X) for X, _ in chunks[:-1]} <= {chunk_rows}


@pytest.mark.parametrize("kind", KINDS)
def test_targets_alone_are_those_beside_the_rows(written, kind):
    source = written.sources[kind](chunk_rows=50)
    targets = list(source.targets())
    assert_array_equal(np.concatenate(targets), written.y)
    if source.repeatable:
        assert [len(y) for y in targets] == [len(y) for _, y in source]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "iterator"])
def test_a_second_pass_gives_the_same(written, kind):
    source = written.sources[kind](chunk_rows=64)
    assert source.repeatable
    first, second = (np.concatenate([dense(X) for X, _ in source]) for _ in range(2))
    assert_array_equal(first, second)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in CUT_BY_OTHERS])
def test_what_is_known_without_reading_is_told(written, kind):
    source = written.sources[kind]()
    assert (source.n_rows, source.n_features) == written.X.shape
    assert source.has_targets is True


@pytest.mark.parametrize("kind", ["parquet", "dataset", "table", "record batch", "polars", "pandas' column"])
def test_columns_tell_the_names_of_features(written, kind):
    assert written.sources[kind]().feature_names == [f"f{j}" for j in range(written.X.shape[1])]


def test_a_chunk_of_the_default_size_has_so_many_bytes_of_numbers():
    X = np.broadcast_to(np.float32(1), (10**9, 64))
    assert streaming.rows(X).chunk_rows * 64 * 4 == CHUNK_BYTES
    assert streaming.rows(X[:, :1]).chunk_rows * 4 == CHUNK_BYTES


def test_of_an_array_in_blocks_a_chunk_is_whole_blocks_and_each_is_read_once(written):
    class Blocks:
        """What zarr gives: a shape, and the numbers of a slice."""

        def __init__(self, numbers, rows):
            self._numbers, self.read = numbers, []
            self.shape, self.dtype, self.chunks = numbers.shape, numbers.dtype, (rows, numbers.shape[1])

        def __getitem__(self, rows):
            self.read.append((rows.start, rows.stop))
            return self._numbers[rows]

    width = CHUNK_BYTES // 8 // 4  # of four rows in double precision
    assert streaming.rows(Blocks(np.zeros((100, 8)), 30)).chunk_rows % 30 == 0
    assert streaming.rows(Blocks(np.broadcast_to(0.0, (100, width)), 3)).chunk_rows == 3
    assert streaming.rows(Blocks(np.broadcast_to(0.0, (100, width)), 50)).chunk_rows == 4
    blocks = Blocks(written.X, 30)
    for size in (7, 30, 45, 90, 1000):
        blocks.read = []
        got = [X.copy() for X, _ in streaming.rows(blocks, chunk_rows=size)]
        assert_array_equal(np.concatenate(got), written.X)
        starts, stops = zip(*blocks.read, strict=True)
        assert starts == (0, *stops[:-1])
        assert all(stop % 30 == 0 for stop in stops[:-1])


def test_what_is_written_to_a_private_map_is_read(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((10, 2)))
    X = np.load(tmp_path / "X.npy", mmap_mode="c")
    X[3] = 5.0  # in memory alone
    (chunk, _), (_, _) = streaming.rows(X, chunk_rows=5)
    assert chunk[3, 0] == 5.0
    assert X[3, 0] == 5.0


def test_what_is_written_to_a_shared_map_is_read_and_kept(tmp_path):
    X = np.memmap(tmp_path / "X", np.float64, "w+", shape=(10, 2))
    X[:] = np.arange(20).reshape(10, 2)
    for _ in range(2):
        assert_array_equal(np.concatenate([x for x, _ in streaming.rows(X, chunk_rows=3)]).ravel(), range(20))
    X.flush()
    assert_array_equal(np.fromfile(tmp_path / "X"), range(20))


def test_words_and_categories_may_be_targets(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = ["ham", "spam", "ham"]
    table = pa.table({"x": [1, 2, 3], "word": words, "kind": pa.array(words).dictionary_encode()})
    pq.write_table(table, tmp_path / "mail.parquet")
    for column in ("word", "kind"):
        source = streaming.rows(tmp_path / "mail.parquet", target=column, features="x")
        ((X, y),) = source
        assert y.tolist() == words
        assert X.dtype == np.int64
    both = streaming.rows(tmp_path / "mail.parquet", target=["word", "kind"])
    assert [y.tolist() for y in both.targets()] == [[[word, word] for word in words]]


def test_integers_booleans_and_absent_numbers_come_as_one_array(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(
        pa.table({"n": [1, None, 3], "yes": [True, False, True], "x": pa.array([0.5, 1, 2], pa.float32())}),
        tmp_path / "a.parquet",
    )
    ((X, _),) = streaming.rows(tmp_path / "a.parquet")
    assert_array_equal(X, [[1, 1, 0.5], [np.nan, 0, 1], [3, 1, 2]])


def test_empty_chunks_are_passed_over():
    chunks = [(np.zeros((0, 2)), []), (np.ones((3, 2)), [1, 2, 3]), (np.zeros((0, 2)), [])]
    ((X, y),) = streaming.rows(chunks)
    assert X.shape == (3, 2)
    assert y.tolist() == [1, 2, 3]


def test_importing_the_package_loads_no_library_and_using_arrays_none_of_the_extra():
    import subprocess
    import sys

    code = (
        "import sys; from entrolearn import streaming; light = 'numpy' not in sys.modules; import numpy;"
        "list(streaming.rows(numpy.zeros((3, 2))));"
        "print(light, {'pyarrow', 'zarr', 'tqdm'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "set()"]
