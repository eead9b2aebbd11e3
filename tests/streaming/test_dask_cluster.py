"""Fits on two worker processes that hold less than the data, one of which is killed."""

import os
import re
import signal
import sys
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose
from sklearn.base import clone

from entrolearn import EEKMClassifier, EEMClassifier, streaming
from entrolearn.streaming import distributed

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="reads what Linux tells of a process's memory"
)

D = 200
LENGTHS = (1250,) * 200  # of chunks of 2 MB: 400 MB in all
LIMIT_MB = 420  # of each worker
LIBRARIES_MB = 230  # of these, with the interpreter
# A worker that has more than its limit is killed rather than helped: nothing is spilled to disk.
MEMORY = {"target": False, "spill": False, "pause": False, "terminate": 0.95}


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({f"distributed.worker.memory.{name}": value for name, value in MEMORY.items()}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=f"{LIMIT_MB}MB", dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def chunk(start: int, length: int) -> np.ndarray:
    return np.random.default_rng(start).random((length, D))


def rows(lengths, make=chunk) -> tuple[da.Array, da.Array]:
    """X, made by the workers chunk by chunk, and the label of each row."""

    def made(block_info=None):
        (start, stop), _ = block_info[None]["array-location"]
        return make(start, stop - start)

    X = da.map_blocks(made, chunks=(lengths, (D,)), dtype=np.float64, meta=np.empty((0, 0)))
    return X, X[:, 0] + X[:, 1] + 0.2 * X[:, 2] > 1.1


def in_memory(lengths) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *lengths])[:-1]
    X = np.vstack([chunk(start, length) for start, length in zip(starts.tolist(), lengths, strict=True)])
    return X, X[:, 0] + X[:, 1] + 0.2 * X[:, 2] > 1.1


def assert_same(found, whole, X):
    expected = whole.decision_function(X)
    assert_allclose(found.decision_function(X), expected, rtol=0, atol=1e-10 * expected.std())


def peak_mb() -> float:
    # Not ru_maxrss, in which the memory of the process counts that has started this one.
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) * 1024 / 1e6


@pytest.mark.fault(
    "Memory", "more rows than Dask's workers hold together", "summed chunk by chunk; no worker is killed"
)
def test_workers_that_together_hold_less_than_the_data_fit_the_machine_of_one(client):
    X, y = rows(LENGTHS)
    assert X.nbytes / 1e6 > 2 * (LIMIT_MB - LIBRARIES_MB)
    processes = client.run(os.getpid)
    learner = EEMClassifier(10, bounds=(0, 1), random_state=0)
    machine = distributed.fit(clone(learner), X, y, classes=[False, True])
    assert client.run(os.getpid) == processes  # none was killed and started anew
    assert max(client.run(peak_mb).values()) < LIMIT_MB
    X, y = in_memory(LENGTHS)
    assert_same(machine, learner.fit(X, y), X[:1000])


def test_collections_that_the_workers_hold_are_used_where_they_are(client):
    lengths = (500,) * 6
    X, y = dask.persist(*rows(lengths))
    machine = distributed.fit(EEKMClassifier(20, random_state=0), X, y)
    X, y = in_memory(lengths)
    assert_same(machine, EEKMClassifier(20, random_state=0).fit(X, y), X)


def test_rows_that_workers_shuffle_keep_their_labels(client):
    table = pd.DataFrame(chunk(0, 600)[:, :5], columns=list("abcde"))
    table = table.assign(label=table.a + table.b > 1)
    rows = (
        dd.from_pandas(table, npartitions=4)
        .shuffle("c")
        .merge(dd.from_pandas(table[["d"]].assign(f=0.5), npartitions=3), on="d")
    )
    X = table.assign(f=0.5).drop(columns="label")
    whole = EEMClassifier(20, random_state=0).fit(X, table.label)
    found = streaming.fit(EEMClassifier(20, random_state=0), rows, "label", classes=[False, True])
    assert_same(found, whole, X)


def test_arrays_that_workers_cut_anew_are_fitted(client):
    X, y = in_memory((500,) * 4)
    X = X[:, :5]
    with dask.config.set({"array.rechunk.method": "p2p"}):
        rows = da.from_array(X, chunks=(500, 5)).rechunk({0: 300}), da.from_array(y, chunks=400).rechunk(250)
    machine = distributed.fit(EEMClassifier(20, random_state=0), *rows, classes=[False, True])
    assert_same(machine, EEMClassifier(20, random_state=0).fit(X, y), X)


@pytest.mark.fault("Killed", "a worker of Dask, with sums of some chunks", "the model is the same")
def test_killed_worker_changes_nothing(client, tmp_path):
    machine = EEMClassifier(10, random_state=0)
    lengths = (100,) * 12
    killed = tmp_path / "killed"

    def make(start, length):
        if start == 800 and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return chunk(start, length)

    X, y = rows(lengths, make)
    found = distributed.fit(clone(machine), X, y, classes=[False, True])
    assert killed.exists()
    X, y = in_memory(lengths)
    assert_same(found, clone(machine).fit(X, y), X)
