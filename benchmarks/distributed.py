"""A fit by two worker processes compared with one, and the cost of transferring sums."""

import logging
import pickle
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.data import uniform
from benchmarks.measure import alone, spend, wall_seconds
from benchmarks.report import Section
from entrolab.io.limits import Limits
from entrolearn import EEMClassifier, streaming
from entrolearn.machines.moments import ClassMoments

CLASSES = [0, 1]
# Number of empty tasks, for measuring the cost of a task.
EMPTY_TASKS = 500


@dataclass(frozen=True)
class Rows:
    """Rows in single precision that are generated chunk by chunk where they are needed."""

    n_chunks: int
    chunk_rows: int
    n_features: int

    def chunk(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """X and y of one chunk."""
        return uniform(self.chunk_rows, self.n_features, np.float32, seed=i)

    def chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All of them in turn."""
        return map(self.chunk, range(self.n_chunks))

    def collections(self) -> tuple:
        """The same as Dask's arrays."""
        import dask
        import dask.array as da

        made = [dask.delayed(self.chunk, pure=True)(i) for i in range(self.n_chunks)]
        shapes = {0: ((self.chunk_rows, self.n_features), np.float32), 1: ((self.chunk_rows,), np.int64)}
        return tuple(
            da.concatenate([da.from_delayed(pair[part], shape, dtype=dtype) for pair in made])
            for part, (shape, dtype) in shapes.items()
        )


def distributed(
    limits: Limits, n_chunks=32, chunk_rows=25_000, n_features=54, n_hidden=1000, repetitions=3
) -> Section:
    """The same fit by two worker processes, by one, as a stream and in memory; in turn, one thread each."""
    rows = Rows(n_chunks, chunk_rows, n_features)
    runs = []
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(1))
        clusters = {n: stack.enter_context(workers(n)) for n in (1, 2)}
        task = {n: empty_task(client) for n, client in clusters.items()}
        for _ in range(repetitions):
            for name, fit in (("in memory", in_memory), ("stream", as_stream)):
                runs.append({"rows": name, "fit s": fit(rows, n_hidden)})
            for n, client in clusters.items():
                runs.append({"rows": f"{n} worker{'s' * (n > 1)}", **on_workers(client, rows, n_hidden)})
    table = pd.DataFrame(runs).groupby("rows", sort=False).median()
    seconds = table["fit s"]
    table["rate beside 1 worker"] = seconds["1 worker"] / seconds
    notes = [
        f"{n_chunks} chunks of {chunk_rows:,} rows × {n_features} features in float32, h = {n_hidden}. "
        f"Medians of {repetitions} runs, seconds of a clock; chunks are made by who sums over them, and in "
        "memory they are there. Processor seconds are those of all workers; MiB are what workers send, to "
        "each other and the caller; merging is the time of its tasks, transfers included.",
        "A task that does nothing takes "
        + ", ".join(f"{1000 * each:.2f} ms on {n} worker{'s' * (n > 1)}" for n, each in task.items())
        + ".",
    ]
    return Section("Worker processes", table, notes)


@contextmanager
def workers(n: int) -> Iterator:
    """Yield a client of n worker processes with one thread each, which have loaded the code of a fit."""
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.WARNING)  # it logs every connection
    with (
        LocalCluster(n_workers=n, threads_per_worker=1, memory_limit=0, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        on_workers(client, Rows(2 * n, 500, 3), n_hidden=5)
        yield client


def in_memory(rows: Rows, n_hidden: int) -> float:
    """Seconds of a fit to rows in memory."""
    Xs, ys = zip(*rows.chunks(), strict=True)
    X, y = np.concatenate(Xs), np.concatenate(ys)
    return wall_seconds(lambda: EEMClassifier(n_hidden, random_state=0).fit(X, y))


def as_stream(rows: Rows, n_hidden: int) -> float:
    """Seconds of a fit to chunks that are made one after the other."""
    machine = EEMClassifier(n_hidden, random_state=0)
    return wall_seconds(lambda: streaming.fit(machine, rows.chunks, classes=CLASSES))


def on_workers(client, rows: Rows, n_hidden: int) -> dict[str, float]:
    """A fit on the workers: seconds, processor seconds of workers, bytes transferred, seconds of merging."""
    from distributed import get_task_stream

    machine, (X, y) = EEMClassifier(n_hidden, random_state=0), rows.collections()
    before = client.run(spent)
    with client.as_current(), get_task_stream(client) as tasks:
        fit = wall_seconds(lambda: streaming.fit(machine, X, y, classes=CLASSES))
    processor, sent = np.subtract(list(client.run(spent).values()), list(before.values())).sum(axis=0)
    merging = sum(
        part["stop"] - part["start"]
        for task in tasks.data
        if str(task["key"]).startswith("merged_sums")
        for part in task["startstops"]
    )
    return {"fit s": fit, "processor s": processor, "sent MiB": sent / 2**20, "merging s": merging}


def spent(dask_worker) -> tuple[float, float]:
    """Processor seconds and bytes sent of a worker so far."""
    return time.process_time(), float(dask_worker.transfer_outgoing_bytes_total)


def empty_task(client) -> float:
    """Seconds per task of many empty tasks."""

    def all_of_them():
        client.gather(client.map(abs, range(EMPTY_TASKS), pure=False))

    return statistics.median(wall_seconds(all_of_them) for _ in range(3)) / EMPTY_TASKS


def reduction(limits: Limits, units: Sequence[int] = (250, 500, 1000, 2000)) -> Section:
    """The cost of transferring the sums of two classes: bytes, packing, unpacking, adding them to others."""
    table = pd.DataFrame([{"h": h, **alone(limits, one_reduction, h)} for h in units]).set_index("h")
    notes = [
        "Moments of two classes, as a worker sends them; merging adds them to those of other rows. Of the "
        "bytes half would be zeros above the diagonals, which stay behind."
    ]
    return Section("Sums on their way", table, notes)


def one_reduction(h: int) -> dict[str, float]:
    """MiB and milliseconds of the sums of two classes with h hidden units."""
    H = np.random.default_rng(0).random((100, h))
    sums, others = ([ClassMoments.from_data(half) for half in np.split(H, 2)] for _ in range(2))
    buffers: list = []
    head = pickle.dumps(sums, protocol=5, buffer_callback=buffers.append)
    steps = {
        "packing ms": lambda: pickle.dumps(sums, protocol=5, buffer_callback=lambda _: None),
        "unpacking ms": partial(pickle.loads, head, buffers=buffers),
        "merging ms": lambda: [mine.__iadd__(its) for mine, its in zip(sums, others, strict=True)],
    }
    mib = (len(head) + sum(len(each.raw()) for each in buffers)) / 2**20
    return {"MiB": mib} | {name: 1000 * spend(step).seconds for name, step in steps.items()}
