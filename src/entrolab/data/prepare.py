"""Prepare data sets: read or generate them, clean them, encode labels, and check them against the catalog."""

import importlib
import json
import resource
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from entrolab.data.dataset import OF_ROWS, DataError, Dataset, DataUnavailable
from entrolab.data.origins import BUNDLED, GENERATORS, made_by
from entrolab.data.raw_table import Table, label_name
from entrolab.io.atomic import sha256_of
from entrolab.io.limits import GIB, Limits
from entrolab.text import one_line
from entrolearn.path import describe

__all__ = ["prepare", "summary"]

# Limits for reading the files of a data set. Besides what the process holds already, reading may take
# `READER_GIB` plus `BYTES_PER_NUMBER` for each number that the catalog expects, enough for any reader.
READING = Limits(seconds=3600, gib=8)
READER_GIB, BYTES_PER_NUMBER = 2.0, 128


def prepare(key: str, entry: Mapping, folder=None) -> Dataset:
    """Prepare the data set of a catalog entry, see :func:`entrolab.study.config.load_catalog`.

    `folder` is that of :func:`entrolab.data.download.download`, not needed for bundled and generated data
    sets. The process that calls it should be limited, see :func:`limits_of_reading`, since a small file may
    expand to any size, or keep a parser busy forever.

    Raises
    ------
    DataUnavailable
        If the receipt in `folder` is missing, or says that the data set is not available.
    DataError
        If the files are not those of the catalog, cannot be parsed, or do not have the rows, features and
        classes that the catalog expects.
    """
    match entry["source"]:
        case "files":
            table = _parsed(key, entry, _downloaded(key, entry, folder))
        case "own":
            table = _parsed(key, entry, list(map(Path, entry["paths"])))
        case "bundled":
            table = importlib.import_module(BUNDLED).load(entry["loader"])
        case "generated":
            options = dict(entry["generator"])
            table = getattr(importlib.import_module(GENERATORS), options.pop("name"))(**options)
    of_files = [int(file.get("part") == "test") for file in entry.get("files", [{}])]
    if "paths" in entry:
        of_files = [int(path == entry["test"]) for path in entry["paths"]]
    part = np.repeat(np.array(of_files, dtype=np.int8), table.rows)
    X, labels, names, kept = _cleaned(key, entry, table)
    of_rows = {name: getattr(table, name) for name in OF_ROWS}
    of_rows = {name: values if values is None else values[kept] for name, values in of_rows.items()}
    y, classes = _interpreted(key, entry, labels)
    columns = _columns_of(entry, labels, classes) if entry["source"] == "own" else None
    dataset = Dataset(
        X, y, names, entry["task"], classes, part[kept], _provenance(key, entry), columns, **of_rows
    )
    _check_expectations(key, entry, dataset)
    return dataset


def _parsed(key: str, entry: Mapping, paths: Sequence[Path]) -> Table:
    """Read the table from its files."""
    options = {name: value for name, value in entry["format"].items() if name != "name"}
    try:
        table = importlib.import_module(made_by(entry)).read(paths, **options)
        if 0 in table.X.shape:
            raise ValueError("no data found")
    except Exception as error:  # any exception of a reader
        files = ", ".join(path.name for path in paths)
        reason = f"memory limit: {describe(error)}" if isinstance(error, MemoryError) else describe(error)
        raise DataError(
            f"{key}: cannot read {files} as {entry['format']['name']}: {one_line(reason)}{_unpinned(entry)}"
        ) from error
    return table


def limits_of_reading(expected: int, limits: Limits = READING) -> Limits:
    """The limits of reading files with at most `expected` numbers, in this process or a fork of it."""
    explained = held_gib() + READER_GIB + BYTES_PER_NUMBER * expected / GIB
    return replace(limits, gib=round(min(limits.gib, explained), 2))


def held_gib() -> float:
    """What this process holds, which limits of it and of its forks count. 0 if unknown."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="utf-8").split()
    except OSError:  # other systems than Linux
        return 0.0
    return int(pages[5]) * resource.getpagesize() / GIB  # the sixth is that of the data, see proc(5)


def _unpinned(entry: Mapping) -> str:
    """The remedy for files without a published checksum, as the end of an error message."""
    files = [Path(file["path"]).name for file in entry.get("files", []) if "sha256" not in file]
    if not files:
        return ""
    named = ", ".join(files)
    return f"; no checksum of {named} is published: if the file is wrong, delete it and receipt.json"


def _downloaded(key: str, entry: Mapping, folder) -> list[Path]:
    """The paths of the downloaded files, with checksums checked again."""
    receipt = Path(folder) / "receipt.json"
    if not receipt.is_file():
        raise DataUnavailable(f"{key}: not downloaded yet (no {receipt})")
    outcome = json.loads(receipt.read_text(encoding="utf-8"))
    if not outcome["available"]:
        raise DataUnavailable(outcome["reason"])
    paths = [Path(folder) / Path(file["path"]).name for file in entry["files"]]
    arrived = {file["path"]: file["sha256"] for file in outcome["files"]}
    for path, file in zip(paths, entry["files"], strict=True):
        expected = file.get("sha256", arrived.get(file["path"]))
        if not path.is_file() or sha256_of(path) != expected:
            raise DataError(f"{key}: {path} is not the file in the catalog; delete {receipt} and run again")
    return paths


def _cleaned(key: str, entry: Mapping, table) -> tuple:
    """Drop rows with missing values and constant columns if the entry says so; also return the kept rows."""
    X, labels, names = table.X, table.labels, table.feature_names
    if np.isinf(X.data if sparse.issparse(X) else X).any():
        raise DataError(f"{key}: found infinite values, or numbers too large for double precision")
    missing = labels != labels  # NaN, in numbers or strings
    if entry["source"] == "own":  # runs impute missing features, and rows without a label are dropped
        return X[~missing], labels[~missing], names, ~missing
    if not sparse.issparse(X):
        missing |= np.isnan(X).any(axis=1)
    else:
        missing |= sparse.csr_array((np.isnan(X.data), X.indices, X.indptr), shape=X.shape).sum(axis=1) > 0
    if missing.any():
        if entry.get("missing_rows") != "drop":
            found = f"{missing.sum()} rows with missing values"
            raise DataError(f"{key}: {found}; accepted: 'missing_rows: drop', which leaves them out")
        X, labels = X[~missing], labels[~missing]
    if entry.get("constant_columns") == "drop":
        low, high = (end.toarray() if sparse.issparse(end) else end for end in (X.min(axis=0), X.max(axis=0)))
        varies = low < high
        X, names = X[:, varies], [name for name, kept in zip(names, varies, strict=True) if kept]
    return X, labels, names, ~missing


def _interpreted(key: str, entry: Mapping, labels: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Encode labels: `y` and the names of the classes."""
    if entry["task"] == "regression":
        return labels.astype(np.float64), []
    values, y = np.unique(labels, return_inverse=True)
    names = [label_name(value) for value in values]
    if entry["task"] == "multiclass":
        return y.astype(np.int64), names
    positive = [str(label) for label in entry["positive"]]
    for label in positive:
        if label not in names:
            found = one_line(", ".join(names))
            raise DataError(f"{key}: no row has the positive label {label!r}; found: {found}")
    rest = [name for name in names if name not in positive]
    is_positive = np.isin(names, positive)
    return is_positive[y].astype(np.int64), [rest[0] if len(rest) == 1 else "rest", ", ".join(positive)]


def _columns_of(entry: Mapping, labels: np.ndarray, classes: Sequence[str]) -> dict:
    """How the columns and labels of a user's table are encoded, see :attr:`Dataset.columns`."""
    named = {label_name(value): value for value in np.unique(labels)} if classes else {}
    written = [named.get(name, name) for name in classes]
    form = entry["format"]
    return {
        "encoded": form["columns"],
        "missing": form["read"].get("na_values", []),
        "label": form["label"],
        "labels": [_plain(value) for value in written],
    }


def _plain(value) -> str | bool | int | float:
    """A label as a value of JSON; the name of its class if it is a date or a decimal number."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, (str, bool, int, float)) else label_name(value)


def _provenance(key: str, entry: Mapping) -> dict:
    facts = ("title", "source", "loader", "generator", "reference", "licence", "note")
    named = ("path", "url", "sha256")
    files = [{name: file[name] for name in named if name in file} for file in entry.get("files", [])]
    if "paths" in entry:
        files = [{"path": path.name, "sha256": sha256_of(path)} for path in map(Path, entry["paths"])]
    return {"key": key, **{name: entry[name] for name in facts if name in entry}, "files": files}


def _check_expectations(key: str, entry: Mapping, dataset: Dataset) -> None:
    found = {
        "rows": dataset.n_samples,
        "features": dataset.n_features,
        "classes": len(dataset.classes),
        "test_rows": int(dataset.part.sum()),
    }
    if dataset.classes:
        found["smallest"] = int(np.bincount(dataset.y).min())
    if dataset.task == "binary":
        found["negative"], found["positive"] = np.bincount(dataset.y, minlength=2).tolist()
    wrong = [
        f"{found[name]} {name} instead of {count}"
        for name, count in entry["expect"].items()
        if found[name] != count
    ]
    if wrong:
        raise DataError(f"{key}: differs from the catalog: {', '.join(wrong)}{_unpinned(entry)}")


def summary(catalog: Mapping[str, Mapping], receipts: Mapping[str, Mapping]) -> str:
    """The available data sets, and the others with the reason why they are not, one line each.

    `receipts` are those of :func:`entrolab.data.download.download`, by key; some may be missing.
    """
    width = max(map(len, catalog), default=0)
    there = {key for key in catalog if receipts.get(key, {}).get("available")}
    lines = [f"{len(there)} of {len(catalog)} data sets are available"]
    lines += [f"  {key:{width}}  {_shape(catalog[key]['expect'])}" for key in catalog if key in there]
    if len(there) < len(catalog):
        lines.append("not there:")
    for key in catalog:
        if key not in there:
            lines.append(f"  {key:{width}}  {receipts.get(key, {}).get('reason', 'not downloaded yet')}")
    return "\n".join(lines)


def _shape(expect: Mapping) -> str:
    return f"{expect['rows']:>7} rows {expect['features']:>6} features"
