"""The same rows in every kind of source."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
import zarr
from scipy import sparse

from entrolearn import streaming

N_ROWS, N_FEATURES = 203, 5
NAMES = [f"f{j}" for j in range(N_FEATURES)]


@dataclass(frozen=True)
class Written:
    """Rows, their targets, and the sources that they were written to: functions of chunk_rows."""

    X: np.ndarray
    y: np.ndarray
    sources: dict[str, Callable[..., streaming.Rows]]


@pytest.fixture(scope="session")
def written(tmp_path_factory) -> Written:
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
    X[rng.random(X.shape) < 0.3] = 0
    y = rng.integers(0, 3, N_ROWS)
    rows = streaming.rows
    return Written(
        X, y, {**_arrays(folder, X, y, rows), **_tables(folder, X, y, rows), **_stores(folder, X, y, rows)}
    )


def _arrays(folder: Path, X, y, rows) -> dict:
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    np.save(folder / "columns.npy", np.asfortranarray(X))
    longer = np.memmap(folder / "raw", np.float32, "w+", 64, (N_ROWS + 30, N_FEATURES))
    longer[:20], longer[20:-10], longer[-10:] = -1, X, -2
    return {
        "array": lambda **how: rows(X, y, **how),
        "array by columns": lambda **how: rows(np.asfortranarray(X), list(y), **how),
        "every other row": lambda **how: rows(np.repeat(X, 2, axis=0)[::2], y, **how),
        "csr": lambda **how: rows(sparse.csr_array(X), y, **how),
        "csc": lambda **how: rows(sparse.csc_matrix(X), y, **how),
        "npy": lambda **how: rows(folder / "X.npy", str(folder / "y.npy"), **how),
        "npy by columns": lambda **how: rows(folder / "columns.npy", y, **how),
        "memmap of numpy.load": lambda **how: rows(np.load(folder / "X.npy", mmap_mode="r"), y, **how),
        "view of a memmap": lambda **how: rows(longer[20:-10], y, **how),
        "array that is a memmap": lambda **how: rows(np.asarray(longer)[20:-10], y, **how),
        "pandas": lambda **how: rows(pd.DataFrame(X, columns=NAMES, index=y), pd.Series(y), **how),
        "pandas' column": lambda **how: rows(
            pd.DataFrame(X, columns=NAMES).assign(label=y), target="label", **how
        ),
        "polars": lambda **how: rows(_table(X, y, pl.DataFrame), target="label", **how),
    }


def _tables(folder: Path, X, y, rows) -> dict:
    table = _table(X, y, pa.table)
    files = folder / "parquet"
    (files / "deeper").mkdir(parents=True)
    (files / "_notes.parquet").write_text("what another program wrote")
    pq.write_table(table.slice(0, 90), files / "a.parquet", row_group_size=17)
    pq.write_table(table.slice(90, 0), files / "b.parquet")
    pq.write_table(table.slice(90), files / "deeper" / "c.parquet", row_group_size=1000)
    return {
        "parquet": lambda **how: rows(files, target="label", **how),
        "parquet by names": lambda **how: rows(str(files), target="label", features=NAMES, **how),
        "parquet by pattern": lambda **how: rows(f"{files}/**/[a-c].parquet", target="label", **how),
        "parquet list": lambda **how: rows([files / "a.parquet", files / "deeper"], target="label", **how),
        "dataset": lambda **how: rows(
            pyarrow.dataset.dataset(files, format="parquet"), target="label", **how
        ),
        "record batch": lambda **how: rows(table.combine_chunks().to_batches()[0], target="label", **how),
        "table": lambda **how: rows(table, target="label", **how),
    }


def _table(X, y, make: Callable):
    """Columns of features with that of the targets in their midst."""
    columns = dict(zip(NAMES, X.T, strict=True))
    return make({**dict(list(columns.items())[:2]), "label": y, **dict(list(columns.items())[2:])})


def _stores(folder: Path, X, y, rows) -> dict:
    group = zarr.open_group(folder / "both.zarr", mode="w")
    group.create_array("X", data=X, chunks=(23, 2))
    group.create_array("y", data=y, chunks=(N_ROWS,))
    zarr.save_array(folder / "alone.zarr", X)

    def chunks():
        for start in range(0, N_ROWS, 41):
            yield X[start : start + 41], y[start : start + 41]

    return {
        "zarr": lambda **how: rows(folder / "both.zarr", target="y", **how),
        "zarr group": lambda **how: rows(group, target="y", features="X", **how),
        "zarr arrays": lambda **how: rows(group["X"], group["y"], **how),
        "zarr files": lambda **how: rows(folder / "alone.zarr", y, **how),
        "function": lambda chunk_rows=None: rows(chunks),
        "list of chunks": lambda chunk_rows=None: rows([list(pair) for pair in chunks()]),
        "iterator": lambda chunk_rows=None: rows(chunks()),
    }
