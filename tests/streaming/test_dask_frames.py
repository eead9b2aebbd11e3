"""Labels stay with their rows in Dask's frames and arrays, whose rows may come in another order each time."""

import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone

from entrolearn import EEKMClassifier, EEMClassifier, ELMRegressor, streaming
from entrolearn.streaming.dask_chunks import chunks_of

N = 240
FEATURES = list("abcd")


def label_of(X) -> np.ndarray:
    """The label that belongs to a row."""
    return np.where(np.asarray(X["a"]) + np.asarray(X["b"]) > 1, "yes", "no")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    X = pd.DataFrame(np.random.default_rng(0).random((N, 4)), columns=FEATURES)
    return X.assign(label=label_of(X), group=np.arange(N) % 13, row=np.arange(N))


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("frames")
    wide = table.assign(**{f"other{i}": 0.0 for i in range(30)})
    table.to_parquet(folder / "whole.parquet")
    for i, start in enumerate(range(0, N, 80)):
        table[start : start + 80].to_csv(folder / f"{i}.csv", index=False)
        table[start : start + 80].reset_index(drop=True).to_parquet(folder / f"part{i}.parquet")
        wide[start : start + 80].to_parquet(folder / f"wide{i}.parquet")
    return folder


def permuted(part: pd.DataFrame) -> pd.DataFrame:
    """The rows in an order of their own each time."""
    return part.iloc[np.random.default_rng().permutation(len(part))]


def reordered(frame, meta):
    return frame.map_partitions(permuted, meta=meta)


def shuffled(table, **how):
    return reordered(dd.from_pandas(table, npartitions=5), table).shuffle("group", **how)


def pieces(table) -> list[pd.DataFrame]:
    return [table[start : start + 50] for start in range(0, N, 50)]


def differing(table) -> list[pd.DataFrame]:
    """Parts whose columns have other types."""
    types = [{"label": "category"}, {"label": object, "c": np.float32}, {"group": "Float64", "row": np.int16}]
    parts = [table[:90].assign(d=1), table[90:150].assign(c=0.5), table[150:]]
    return [
        part.astype({name: kind for name, kind in some.items() if name in part})
        for part, some in zip(parts, types, strict=True)
    ]


def from_pieces(parts: list, meta, **how):
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=meta[:0], **how)


FRAMES = {
    "from_pandas": lambda t, _: dd.from_pandas(t, npartitions=5),
    "one partition": lambda t, _: dd.from_pandas(t, npartitions=1),
    "equal indices": lambda t, _: dd.from_pandas(t.set_index(t.index % 7), npartitions=5, sort=False),
    "read_csv": lambda _, folder: dd.read_csv(f"{folder}/*.csv"),
    "one file of parquet": lambda _, folder: dd.read_parquet(f"{folder}/whole.parquet"),
    "files of parquet": lambda _, folder: dd.read_parquet(f"{folder}/part*.parquet"),
    "columns of files": lambda t, folder: dd.read_parquet(f"{folder}/wide*.parquet")[[*t.columns]],
    "filtered files": lambda _, folder: (lambda f: f[f.group < 6])(
        dd.read_parquet(f"{folder}/part*.parquet")
    ),
    "from_delayed": lambda t, _: from_pieces(pieces(t), t),
    "from_delayed, not verified": lambda t, _: from_pieces(pieces(t), t, verify_meta=False),
    "None": lambda t, _: from_pieces([None, *pieces(t), None], t, verify_meta=False),
    "differing types": lambda t, _: from_pieces(differing(t), t, verify_meta=False),
    "map_partitions": lambda t, _: reordered(dd.from_pandas(t, npartitions=5), t),
    "shuffle": lambda t, _: shuffled(t),
    "shuffle by tasks": lambda t, _: shuffled(t, shuffle_method="tasks"),
    "shuffle of equal indices": lambda t, folder: reordered(dd.read_csv(f"{folder}/*.csv"), t).shuffle(
        "group"
    ),
    "merge": lambda t, _: reordered(dd.from_pandas(t, npartitions=5), t).merge(
        dd.from_pandas(pd.DataFrame({"group": range(13), "e": 0.5}), npartitions=2), on="group"
    ),
    "sorted by the label": lambda t, _: dd.from_pandas(t, npartitions=4).sort_values("label"),
    "set_index": lambda t, _: reordered(dd.from_pandas(t, npartitions=5), t).set_index("group"),
    "repartition": lambda t, _: dd.from_pandas(t, npartitions=5).repartition(npartitions=3),
    "concat": lambda t, _: dd.concat([shuffled(t), dd.from_pandas(t, npartitions=3)]),
    "filter": lambda t, _: (lambda f: f[f.a > 0.4])(shuffled(t)),
    "partitions without rows": lambda t, _: (lambda f: f[f.row % 60 < 30])(dd.from_pandas(t, npartitions=8)),
    "loc": lambda t, _: dd.from_pandas(t, npartitions=5).loc[30:170],
    "persisted": lambda t, _: shuffled(t).persist(),
}
#: Those that have their rows in the same order each time.
ORDERED = [
    "equal indices",
    "one file of parquet",
    "files of parquet",
    "columns of files",
    "None",
    "differing types",
    "partitions without rows",
    "persisted",
]
APART = [
    "files of parquet",
    "columns of files",
    "from_delayed, not verified",
    "shuffle",
    "merge",
    "set_index",
    "loc",
]


@pytest.fixture
def frame(request, table, folder):
    return FRAMES[request.param](table, folder)


def rows_of(frame) -> pd.DataFrame:
    """The rows in memory."""
    parts = dask.compute(*frame.to_delayed(), scheduler="sync")
    return pd.concat([part for part in parts if part is not None], ignore_index=True)


def assert_same(found, rows):
    """The machine is that of the rows in memory."""
    X = rows.drop(columns="label")
    whole = clone(found).fit(X, rows["label"])
    expected = whole.decision_function(X)
    assert_allclose(found.decision_function(X), expected, rtol=0, atol=1e-10 * expected.std())
    assert_array_equal(found.feature_names_in_, X.columns)


def assert_labels_stay_with_their_rows(X, y, rows):
    pairs = [block.apply(lambda X, y, *_: (X, y)) for block in chunks_of(X, y, None, "").blocks]
    pairs = [(X, labels) for X, labels in dask.compute(*pairs) if len(X)]
    for some, labels in pairs:
        assert_array_equal(np.asarray(labels), label_of(some))
    assert_array_equal(np.sort(np.concatenate([X.row for X, _ in pairs])), np.sort(rows.row))
    assert_same(streaming.fit(EEMClassifier(20, random_state=0), X, y, classes=["no", "yes"]), rows)


@pytest.mark.parametrize("frame", FRAMES, indirect=True)
def test_labels_in_a_column_stay_with_their_rows(frame):
    assert_labels_stay_with_their_rows(frame, "label", rows_of(frame))


@pytest.mark.parametrize("frame", APART, indirect=True)
def test_labels_apart_stay_with_their_rows(frame):
    assert_labels_stay_with_their_rows(frame.drop(columns="label"), frame["label"], rows_of(frame))


@pytest.mark.parametrize("frame", ORDERED, indirect=True)
def test_rows_in_order_give_the_landmarks_of_a_fit_in_memory(frame):
    found, rows = streaming.fit(EEKMClassifier(20, random_state=0), frame, "label"), rows_of(frame)
    assert_same(found, rows)
    assert_array_equal(found.landmarks_, clone(found).fit(rows.drop(columns="label"), rows.label).landmarks_)


def test_labels_stay_with_their_rows_in_processes(table):
    frame = shuffled(table)
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as pool,
        dask.config.set(scheduler="processes", pool=pool),
    ):
        found = streaming.fit(EEMClassifier(20, random_state=0), frame, "label", classes=["no", "yes"])
    assert_same(found, table)


def test_several_targets_apart_stay_with_their_rows(table):
    frame = shuffled(table)
    X, y = frame[["a", "b"]], frame[["a", "row"]]  # a name in both
    found = streaming.fit(ELMRegressor(20, C=1.0, random_state=0), X, y)
    whole = clone(found).fit(table[["a", "b"]], table[["a", "row"]]).predict(table[["a", "b"]])
    assert_allclose(found.predict(table[["a", "b"]]), whole, rtol=0, atol=1e-10 * whole.std())


def test_columns_that_are_not_asked_for_are_not_read(folder, tmp_path):
    for i in range(3):
        path = tmp_path / f"{i}.parquet"
        shutil.copy(folder / f"wide{i}.parquet", path)
        group = pq.read_metadata(path).row_group(0)
        columns = [group.column(j) for j in range(group.num_columns)]
        with path.open("r+b") as file:
            for column in columns:
                if column.path_in_schema.startswith("other"):
                    file.seek(column.dictionary_page_offset or column.data_page_offset)
                    file.write(b"\xff" * column.total_compressed_size)
    frame = dd.read_parquet(f"{tmp_path}/*.parquet")
    with pytest.raises(OSError, match="Couldn't deserialize|Invalid|Corrupt"):
        frame["other0"].compute()
    rows = rows_of(frame[["row", "a", "label"]])
    assert_same(streaming.fit(EEMClassifier(20, random_state=0), frame[["row", "a", "label"]], "label"), rows)
    assert_same(streaming.fit(EEMClassifier(20, random_state=0), frame[["row", "a"]], frame["label"]), rows)


# --- rows and labels of which it cannot be guaranteed ------------------------------------------------------


def refused(machine, X, y, **options) -> str:
    with pytest.raises(ValueError) as caught:
        streaming.fit(machine, X, y, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_frames_apart_of_two_evaluations_are_refused(table):
    frame, machine = shuffled(table), EEMClassifier(20, random_state=0)
    kept = frame.drop(columns="label").persist()
    assert "X and y have different indices in a partition" in refused(machine, kept, frame["label"])
    both = dask.persist(frame.drop(columns="label"), frame["label"])
    assert_same(streaming.fit(machine, *both), table)


def test_arrays_apart_of_two_evaluations_are_refused(table):
    frame = reordered(dd.from_pandas(table, npartitions=5), table)
    X, y = frame[FEATURES].to_dask_array(), frame["row"].to_dask_array()
    machine = ELMRegressor(20, C=1.0, random_state=0)
    for rows in (X, X.map_blocks(csr_array, dtype=float)):
        assert "chunk 0 of 5: the rows have other y than when" in refused(machine, rows, y)
    assert "chunk 0 of 5: the rows have other y than when" in refused(machine, frame[FEATURES], y)
    found = streaming.fit(machine, *dask.persist(X, X[:, 0]))
    whole = clone(machine).fit(table[FEATURES].to_numpy(), table["a"]).predict(table[FEATURES].to_numpy())
    assert_allclose(found.predict(table[FEATURES].to_numpy()), whole, rtol=0, atol=1e-10 * whole.std())


def random_rows() -> np.ndarray:
    return np.random.default_rng().random((60, 5))


def arrays_of_an_array() -> tuple[da.Array, da.Array]:
    rows = da.map_blocks(random_rows, chunks=((60,) * 4, (5,)), dtype=float, meta=np.empty((0, 0)))
    return rows, 2 * rows[:, 0]


def arrays_of_delayed_pairs() -> tuple[da.Array, da.Array]:
    rows = [dask.delayed(random_rows)() for _ in range(4)]
    pairs = [dask.delayed(lambda X: (X, 2 * X[:, 0]), nout=2)(each) for each in rows]
    X = da.concatenate([da.from_delayed(X, (60, 5), float) for X, _ in pairs])
    return X, da.concatenate([da.from_delayed(y, (60,), float) for _, y in pairs])


@pytest.mark.parametrize("made", [arrays_of_an_array, arrays_of_delayed_pairs])
def test_arrays_that_are_made_of_the_same_may_change_each_time(made):
    X, y = made()
    for _ in range(2):
        parts = [block.apply(lambda X, y, *_: (X, y)) for block in chunks_of(X, y, None, "").blocks]
        for rows, targets in dask.compute(*parts):
            assert_array_equal(targets, 2 * rows[:, 0])
    machine = streaming.fit(ELMRegressor(10, C=1e-9, random_state=0), X, y)
    rows = random_rows()
    assert_allclose(machine.predict(rows), 2 * rows[:, 0], atol=0.5)


def test_rows_that_change_in_number_between_their_count_and_the_landmarks_are_refused(table):
    def some(part):
        return part[np.random.default_rng().random(len(part)) < 0.5]

    frame = dd.from_pandas(table, npartitions=3).map_partitions(some, meta=table[:0])
    assert "when they were counted" in refused(EEKMClassifier(5, random_state=0), frame, "label")


# --- predictions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "method"),
    [(name, "predict") for name in (*ORDERED, "from_delayed, not verified", "loc")]
    + [("one file of parquet", "decision_function"), ("files of parquet", "predict_proba")],
)
def test_prediction_of_a_frame_is_that_of_its_rows_in_memory(name, method, table, folder):
    X = table.drop(columns="label")
    machine = EEMClassifier(20, random_state=0).fit(X, table["label"])
    frame = FRAMES[name](X, folder)
    frame = frame.drop(columns="label") if "label" in frame.columns else frame  # of files
    answers = streaming.predict(machine, frame, method=method)
    expected = getattr(machine, method)(rows_of(frame))
    assert isinstance(answers, da.Array)
    assert answers.numblocks[0] == frame.npartitions
    found = answers.compute()
    assert found.shape == expected.shape
    assert found.dtype == answers.dtype == expected.dtype
    if method == "predict":
        assert_array_equal(found, expected)
    else:
        assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
