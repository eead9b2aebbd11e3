"""What goes into the task of a chunk, and what stays a task of its own."""

import dask
import dask.array as da
import numpy as np
import pytest

from entrolearn.streaming.fusion import fused


def counted(calls: list):
    """A function of two arrays that keeps a record of its calls, and one that makes a chunk."""

    def total(X, y, shared):
        calls.append("total")
        return X.sum() + y.sum() + shared

    def make(block_info=None):
        calls.append("make")
        (start, stop), _ = block_info[None]["array-location"]
        return np.arange(start, stop, dtype=float)[:, None] * np.ones(3)

    return total, make


def reduced(X, y, total, shared) -> tuple:
    """The sum over all chunks, and its parts."""
    chunks = zip(*(np.ravel(each.to_delayed(optimize_graph=False)).tolist() for each in (X, y)), strict=True)
    parts = [dask.delayed(total)(*pair, shared) for pair in chunks]
    return dask.delayed(sum)(parts), parts


@pytest.fixture
def calls():
    return []


def test_chunks_are_made_once_in_the_tasks_that_use_them(calls):
    total, make = counted(calls)
    X = da.map_blocks(make, chunks=((5,) * 4, (3,)), dtype=float, meta=np.empty((0, 0)))
    shared = dask.delayed(lambda: 1.0)()
    result, parts = reduced(X, X[:, 0] + 1, total, shared)
    alone = fused(result, parts)
    assert set(alone.dask) == {result.key, shared.key, *(part.key for part in parts)}
    assert alone.compute(scheduler="sync") == result.compute(scheduler="sync") == 190 * 4 + 20 + 4
    assert (calls.count("make"), calls.count("total")) == (8, 8)  # of two computations


def test_what_several_parts_need_stays_a_task_of_its_own(calls):
    total, _ = counted(calls)
    X = da.from_array(np.ones((20, 3)), chunks=(5, 3))
    y = da.from_array(np.ones(20), chunks=10).rechunk(5)  # each chunk of which serves two
    result, parts = reduced(X, y, total, 0.0)
    alone = fused(result, parts)
    assert len(alone.dask) < len(result.dask)
    assert len(alone.dask) > 1 + len(parts)
    assert alone.compute(scheduler="sync") == 80


def test_single_part_is_one_task(calls):
    total, make = counted(calls)
    X = da.map_blocks(make, chunks=((5,), (3,)), dtype=float, meta=np.empty((0, 0)))
    X, y = dask.optimize(X, X[:, 0])
    part = dask.delayed(total)(X.to_delayed()[0, 0], y.to_delayed()[0], 0.0)
    alone = fused(part, [part])
    assert set(alone.dask) == {part.key}
    assert alone.compute(scheduler="sync") == 40
