"""Fits to rows on disk compared with rows in memory: seconds and peak memory."""

import resource
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import zarr

from benchmarks.data import FOLDER, uniform
from benchmarks.measure import RSS_UNITS_PER_MIB, alone, wall_seconds
from benchmarks.report import Section
from entrolab.io.limits import Limits
from entrolearn import EEMClassifier, streaming

WRITTEN_AT_ONCE = 250_000  # rows


def streams(
    limits: Limits, n_samples=10_000_000, n_fewer=1_000_000, n_features=54, n_hidden=500, repetitions=3
) -> Section:
    """EEM on rows in single precision, from memory and from files much larger than the memory used."""
    plan = [(source, n_fewer) for source in ("memory", ".npy", "Parquet", "Zarr", "iterator")]
    if n_samples > n_fewer:
        plan += [("memory", n_samples), (".npy", n_samples)]
    runs = []
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        for n_rows in sorted({n_rows for _, n_rows in plan}):
            write(Path(folder), n_rows, n_features, several=n_rows == n_fewer)
            times = repetitions if n_rows == n_fewer else 1
            # In turn, so that a slowdown of the machine affects all of them.
            for _ in range(times):
                for source in (source for source, n in plan if n == n_rows):
                    found = alone(limits, fit_and_predict, source, Path(folder), n_hidden)
                    runs.append({"rows": n_rows, "source": source, **found})
    table = pd.DataFrame(runs).groupby(["rows", "source"], sort=False).median()
    for work in ("fit", "predict"):
        in_memory = table[f"{work} s"].xs("memory", level="source")
        table[f"{work} rate %"] = 100 * in_memory / table[f"{work} s"]
    notes = [
        f"d = {n_features}, h = {n_hidden}, float32: {n_samples * n_features * 4 / 2**20:,.0f} MiB of "
        f"{n_samples:,} rows. Seconds of a clock. The peak is that of the whole process, libraries included; "
        "rates are rows per second beside those of rows in memory. An iterator is read once and computed in "
        "double precision."
    ]
    return Section("Rows on disk", table, notes)


def write(folder: Path, n_rows: int, n_features: int, *, several: bool) -> None:
    """The same rows as files of all formats, or only of np.save; never completely in memory."""
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (n_rows, n_features))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.int8, (n_rows,))
    for start in range(0, n_rows, WRITTEN_AT_ONCE):
        stop = min(start + WRITTEN_AT_ONCE, n_rows)
        X[start:stop], y[start:stop] = uniform(stop - start, n_features, np.float32, seed=start)
    if several:
        columns = {f"x{i}": X[:, i] for i in range(n_features)} | {"y": y}
        pq.write_table(pa.table(columns), folder / "rows.parquet", row_group_size=WRITTEN_AT_ONCE)
        group = zarr.open_group(folder / "rows.zarr", mode="w")
        for name, array in (("X", X), ("y", y)):
            chunks = (min(65_536, n_rows), *array.shape[1:])
            group.create_array(name, data=np.asarray(array), chunks=chunks)


def sources(folder: Path) -> dict[str, Callable]:
    """Name -> function that opens the rows, for a process that has not read them yet."""
    return {
        ".npy": lambda: streaming.rows(folder / "X.npy", folder / "y.npy"),
        "Parquet": lambda: streaming.rows(folder / "rows.parquet", target="y"),
        "Zarr": lambda: zarr_rows(zarr.open_group(folder / "rows.zarr", mode="r")),
        "iterator": lambda: iter(streaming.rows(folder / "X.npy", folder / "y.npy")),
    }


def zarr_rows(group) -> streaming.Rows:
    """Rows of two arrays, in whole blocks."""
    return streaming.rows(group["X"], group["y"], chunk_rows=group["X"].chunks[0])


def fit_and_predict(source: str, folder: Path, n_hidden: int) -> dict[str, float]:
    """Wall-clock seconds, and the peak memory of the process in MiB."""
    machine = EEMClassifier(n_hidden, bounds=(0, 1), random_state=0)
    if source == "memory":
        X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
        fit, predict = wall_seconds(lambda: machine.fit(X, y)), wall_seconds(lambda: machine.predict(X))
    else:
        rows = sources(folder)[source]
        fit = wall_seconds(lambda: streaming.fit(machine, rows(), classes=[0, 1]))
        predict = wall_seconds(lambda: streaming.predict(machine, features_of(rows())))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / RSS_UNITS_PER_MIB
    return {"fit s": fit, "predict s": predict, "peak MiB": peak}


def features_of(rows) -> object:
    """Only the features of an iterator; files are opened without labels anyway."""
    return rows if isinstance(rows, streaming.Rows) else (X for X, _ in rows)


def enough(
    limits: Limits,
    n_samples: Sequence[int] = (10_000, 100_000, 1_000_000, 10_000_000),
    n_features=54,
    n_hidden=500,
) -> Section:
    """The effect of more rows: predictions of machines fitted to fewer rows, against the last one."""
    X, y = uniform(100_000, n_features, np.float32, seed=2**31)
    answers = {n: alone(limits, answers_after, n, X, n_hidden) for n in n_samples}
    last = answers[n_samples[-1]]
    rows = [
        {
            "rows": n,
            "rows / h": n / n_hidden,
            "accuracy %": 100 * (said == y).mean(),
            "other answers %": 100 * (said != last).mean(),
        }
        for n, said in answers.items()
    ]
    notes = [
        f"d = {n_features}, h = {n_hidden}; answers for {len(y):,} rows that no machine has seen, and the "
        f"share of them that the machine of {n_samples[-1]:,} rows gives otherwise."
    ]
    return Section("How many rows are enough", pd.DataFrame(rows).set_index("rows"), notes)


def answers_after(n_samples: int, X: np.ndarray, n_hidden: int) -> np.ndarray:
    """The predictions for X of a machine trained on so many other rows."""

    def chunks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        step = min(n_samples, WRITTEN_AT_ONCE)
        for start in range(0, n_samples, step):
            yield uniform(min(step, n_samples - start), X.shape[1], np.float32, seed=start)

    machine = EEMClassifier(n_hidden, bounds=(0, 1), random_state=0)
    return streaming.fit(machine, chunks, classes=[0, 1]).predict(X)
