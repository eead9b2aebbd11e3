"""What a block's task computes itself, and what stays a task of its own."""

import dask
import dask.array as da
import numpy as np
import pytest

from entrolearn.streaming.blocks import blocks_of
from entrolearn.streaming.dask_chunks import delayed_chunks


@pytest.fixture
def calls():
    return []


@pytest.fixture
def made(calls):
    """Four chunks of an array, whose calls are recorded."""

    def make(block_info=None):
        calls.append("make")
        (start, stop), _ = block_info[None]["array-location"]
        return np.arange(start, stop, dtype=float)[:, None] * np.ones(3)

    return da.map_blocks(make, chunks=((5,) * 4, (3,)), dtype=float, meta=np.empty((0, 0)))


def total(X, y, shared) -> float:
    return X.sum() + y.sum() + shared


def parts_of(X, y, shared=0.0) -> list:
    chunks = zip(delayed_chunks(X), delayed_chunks(y), strict=True)
    return [block.apply(total, shared) for block in blocks_of(list(chunks))]


def test_chunks_are_computed_once_in_the_tasks_that_use_them(made, calls):
    shared = dask.delayed(lambda: 1.0)()
    parts = parts_of(made, made[:, 0] + 1, shared)
    result = dask.delayed(sum)(parts)
    assert set(dict(result.dask)) == {result.key, shared.key, *(part.key for part in parts)}
    assert result.compute(scheduler="sync") == 190 * 4 + 20 + 4
    assert len(calls) == 4


def test_what_several_blocks_need_is_computed_once(made, calls):
    parts = parts_of(made, made.rechunk(10).rechunk(5)[:, 0])  # each chunk of which was part of a larger one
    assert all(len(dict(part.dask)) > 1 for part in parts)
    assert sum(dask.compute(*parts, scheduler="sync")) == 190 * 4
    assert len(calls) == 4


def test_single_block_is_one_task():
    X = da.ones((5, 3), chunks=(5, 3))
    (part,) = parts_of(X, X[:, 0])
    assert set(dict(part.dask)) == {part.key}
    assert part.compute(scheduler="sync") == 20


@pytest.mark.parametrize("value", ["key", ("tuple", 1), [1, "list"], (len, [1]), None], ids=str)
def test_results_of_other_tasks_are_taken_as_they_are(value):
    shared = dask.delayed(lambda: value)()
    chunks = [(dask.delayed(lambda x, i: (x, i))(shared, i),) for i in range(2)]
    parts = [block.apply(lambda chunk: chunk) for block in blocks_of(chunks)]
    assert dask.compute(*parts, scheduler="sync") == ((value, 0), (value, 1))


def test_what_the_task_takes_is_prepared(made):
    blocks = blocks_of(
        [(chunk,) for chunk in delayed_chunks(made)], [lambda X, i=i: (X[:, 0], i) for i in range(4)]
    )
    parts = [block.apply(lambda column, i, factor: column[0] * factor + i, 10) for block in blocks]
    assert dask.compute(*parts, scheduler="sync") == (0, 51, 102, 153)
