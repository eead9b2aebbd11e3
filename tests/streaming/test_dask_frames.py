"""Labels stay with their rows in Dask's frames and arrays, whose rows may come in another order each time."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from entrolearn import EEKMClassifier, EEMClassifier, ELMRegressor, streaming

N = 240
FEATURES = list("abcd")


@pytest.fixture(scope="module", autouse=True)
def _on_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    X = pd.DataFrame(np.random.default_rng(0).random((N, 4)), columns=FEATURES)
    label = np.where(X["a"] + X["b"] > 1, "yes", "no")
    return X.assign(label=label, group=np.arange(N) % 13, row=np.arange(N))


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("frames")
    for i, start in enumerate(range(0, N, 80)):
        table[start : start + 80].assign(other="no number").to_parquet(folder / f"{i}.parquet")
    return folder


def permuted(part: pd.DataFrame) -> pd.DataFrame:
    """The rows in an order of their own each time."""
    return part.iloc[np.random.default_rng().permutation(len(part))]


def reordered(table):
    return dd.from_pandas(table, npartitions=3).map_partitions(permuted, meta=table)


def differing(table):
    """Parts whose columns have other types."""
    types = [{"label": "category"}, {"label": object, "c": np.float32}, {"group": "Float64", "row": np.int16}]
    parts = [table[:90].assign(d=1), table[90:150].assign(c=0.5), table[150:]]
    parts = [dask.delayed(part.astype(some)) for part, some in zip(parts, types, strict=True)]
    return dd.from_delayed(parts, meta=table[:0], verify_meta=False)


FRAMES = {
    "one partition": lambda t, _: dd.from_pandas(t, npartitions=1),
    "equal indices": lambda t, _: dd.from_pandas(t.set_index(t.index % 7), npartitions=3, sort=False),
    "columns of files": lambda t, folder: dd.read_parquet(f"{folder}/*.parquet")[[*t.columns]],
    "differing types": lambda t, _: differing(t),
    "partitions without rows": lambda t, _: (lambda f: f[f.row % 60 < 30])(dd.from_pandas(t, npartitions=8)),
    "another order each time": lambda t, _: reordered(t),
    "shuffle": lambda t, _: reordered(t).shuffle("group"),
    "merge": lambda t, _: reordered(t).merge(
        dd.from_pandas(pd.DataFrame({"group": range(13), "e": 0.5}), npartitions=2), on="group"
    ),
    "set_index": lambda t, _: reordered(t).set_index("group"),
}
#: Those that have their rows in the same order each time.
ORDERED = [*FRAMES][:5]


@pytest.fixture(params=FRAMES)
def frame(request, table, folder):
    return FRAMES[request.param](table, folder)


def rows_of(frame) -> pd.DataFrame:
    """The rows in memory."""
    return pd.concat(dask.compute(*frame.to_delayed()), ignore_index=True)


def assert_same(found, rows):
    """The machine is that of the rows in memory."""
    X = rows.drop(columns="label")
    whole = clone(found).fit(X, rows["label"])
    expected = whole.decision_function(X)
    assert_allclose(found.decision_function(X), expected, rtol=0, atol=1e-10 * expected.std())
    assert_array_equal(found.feature_names_in_, X.columns)


def test_labels_stay_with_their_rows(frame):
    """As a column of the frame, by its name, or as a Series that is made of the same frame."""
    rows, machine = rows_of(frame), EEMClassifier(20, random_state=0)
    for X, y in ((frame, "label"), (frame.drop(columns="label"), frame["label"])):
        assert_same(streaming.fit(machine, X, y, classes=["no", "yes"]), rows)


@pytest.mark.parametrize("name", ORDERED)
def test_rows_in_order_give_the_landmarks_of_a_fit_in_memory(name, table, folder):
    frame = FRAMES[name](table, folder)
    found, rows = streaming.fit(EEKMClassifier(20, random_state=0), frame, "label"), rows_of(frame)
    assert_same(found, rows)
    assert_array_equal(found.landmarks_, clone(found).fit(rows.drop(columns="label"), rows.label).landmarks_)


def test_arrays_that_are_made_of_one_array_may_change_each_time():
    def random_rows() -> np.ndarray:
        return np.random.default_rng().random((60, 5))

    X = da.map_blocks(random_rows, chunks=((60,) * 4, (5,)), dtype=float, meta=np.empty((0, 0)))
    machine = streaming.fit(ELMRegressor(10, alpha=1e-9, random_state=0), X, 2 * X[:, 0])
    rows = random_rows()
    assert_allclose(machine.predict(rows), 2 * rows[:, 0], atol=0.5)


def test_rows_that_change_in_number_between_their_count_and_the_landmarks_are_refused(table):
    def some(part):
        return part[np.random.default_rng().random(len(part)) < 0.5]

    frame = dd.from_pandas(table, npartitions=3).map_partitions(some, meta=table[:0])
    with pytest.raises(ValueError, match="chunk .: .* when they were counted"):
        streaming.fit(EEKMClassifier(5, random_state=0), frame, "label")


@pytest.mark.parametrize("name", [name for name in ORDERED if name != "differing types"])
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_prediction_of_a_frame_is_that_of_its_rows_in_memory(name, method, table, folder):
    frame = FRAMES[name](table, folder).drop(columns="label")
    machine = EEMClassifier(20, random_state=0).fit(table.drop(columns="label"), table["label"])
    answers = streaming.predict(machine, frame, method=method)
    expected = getattr(machine, method)(rows_of(frame))
    assert isinstance(answers, da.Array)
    found = answers.compute()
    assert found.shape == expected.shape
    assert found.dtype == answers.dtype == expected.dtype
    if method == "predict":
        assert_array_equal(found, expected)
    else:
        assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
