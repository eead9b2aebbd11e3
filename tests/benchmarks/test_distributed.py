"""Worker processes and their sums, on tiny data."""

from functools import partial

import distributed as library
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from benchmarks import distributed
from entrolab.io.limits import Limits

LIMITS = Limits(seconds=60)


def test_collections_hold_the_rows_of_the_chunks():
    rows = distributed.Rows(n_chunks=3, chunk_rows=20, n_features=4)
    X, y = rows.collections()
    assert X.chunks == ((20, 20, 20), (4,))
    for collection, parts in zip((X, y), zip(*rows.chunks(), strict=True), strict=True):
        found, expected = collection.compute(), np.concatenate(parts)
        assert_array_equal(found, expected)
        assert found.dtype == expected.dtype == collection.dtype
    assert len(np.unique(X.compute(), axis=0)) == 60


def test_every_way_of_fitting_is_timed_and_workers_send_their_sums(monkeypatch):
    # Workers that are threads of this process start at once.
    monkeypatch.setattr(library, "LocalCluster", partial(library.LocalCluster, processes=False))
    monkeypatch.setattr(distributed, "EMPTY_TASKS", 10)
    section = distributed.distributed(
        LIMITS, n_chunks=4, chunk_rows=200, n_features=3, n_hidden=30, repetitions=1
    )
    table = section.table
    assert table.index.tolist() == ["in memory", "stream", "1 worker", "2 workers"]
    assert (table["fit s"] > 0).all()
    rate = table.loc["1 worker", "fit s"] / table["fit s"]
    assert table["rate beside 1 worker"].to_numpy() == pytest.approx(rate.to_numpy())
    of_workers = table.loc[["1 worker", "2 workers"]]
    assert (of_workers["sent MiB"] > 2 * 30 * 31 / 2 * 8 / 2**20).all()  # two triangles, to the caller
    assert (of_workers["merging s"] > 0).all()
    assert (of_workers["processor s"] > 0).all()
    assert "A task that does nothing takes" in section.notes[1]


def test_bytes_of_sums_are_those_of_their_triangles():
    table = distributed.reduction(LIMITS, units=(100, 200)).table
    triangles = [2 * h * (h + 1) / 2 * 8 / 2**20 for h in table.index]
    assert (table["MiB"] > triangles).all()
    assert (table["MiB"] < 1.2 * np.array(triangles)).all()
    assert (table.filter(like="ms") > 0).all(axis=None)
