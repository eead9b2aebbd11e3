"""Reader of users' tables: delimited text, Parquet and Feather, as pandas reads them with its options."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from entrolab.data.raw_table import Table
from entrolab.data.table_formats import ARROW, DELIMITED, DTYPES, EXACT, suffix_of
from entrolearn.columns import DURATION, ColumnEncoder, category_name, numeric_markers

__all__ = [
    "dtype_kind",
    "encoded",
    "frame_of",
    "labels_of",
    "names_of",
    "numbers_of",
    "order_in_time",
    "read",
]

BINARY = {"parquet": pd.read_parquet, "feather": pd.read_feather}
# The options of pandas that apply to whole files; the others apply to columns, see `frame_of` and `kind_of`.
OF_FILES = ("decimal", "encoding", "quotechar", "comment", "skiprows", "na_values", "keep_default_na")


def frame_of(
    path: Path,
    names: Sequence[str],
    read: Mapping,
    keep_as_text: Collection[str] = (),
    text: Collection[str] = (),
    splits: Collection[str] = (),
) -> pd.DataFrame:
    """Read a table from a file.

    Parameters
    ----------
    path : Path
    names : sequence of str
        The columns of delimited text, whose first line that is not empty is ignored.
    read : mapping
        Options of pandas; ``thousands`` is applied to each column all of whose values fit, ``parse_dates``
        leaves texts, which :class:`~entrolearn.columns.ColumnEncoder` takes as dates.
    keep_as_text : collection of str
        Columns of text as it is written, where only an empty field and ``na_values`` are missing.
    text : collection of str
        Columns that are text whatever their values are.
    splits : collection of str
        Columns of Parquet without missing values.
    """
    text = {*text, *(name for name in read.get("dtype", ()) if dtype_kind(read, name) == "text")}
    if suffix_of(path) in ARROW:
        frame = _with_levels(BINARY[ARROW[suffix_of(path)]](path))
        if markers := [*read.get("na_values", ()), *numeric_markers(read.get("na_values", ()))]:
            marked = frame.drop(columns=list(splits)).select_dtypes(exclude="bool").isin(markers)
            for name in marked.columns[marked.any()]:
                frame[name] = frame[name].mask(marked[name])
        return frame.assign(**{name: names_of(frame[name]) for name in text if name in frame})
    durations = [name for name in read.get("dtype", ()) if dtype_kind(read, name) == DURATION]
    as_text = {*text, *durations, *read.get("parse_dates", ())}
    options = _of_file(path, read) | {"names": list(names)}
    frame = pd.read_csv(path, **options, dtype=dict.fromkeys(as_text, str))
    if keep_as_text:
        missing = {"na_values": ["", *read.get("na_values", ())], "keep_default_na": False}
        asked = [name for name in names if name in keep_as_text]
        frame[asked] = pd.read_csv(path, **options | missing, usecols=asked, dtype=str)
    if mark := read.get("thousands"):
        point = read.get("decimal", ".")
        grouped = rf"[+-]?\d{{1,3}}(?:{re.escape(mark)}\d{{3}})*(?:{re.escape(point)}\d*)?"
        words = frame.select_dtypes(exclude=["number", "bool"]).columns.difference([*as_text, *keep_as_text])
        for name in words:
            if frame[name].dropna().astype(str).str.strip().str.fullmatch(grouped).all():
                frame[name] = numbers_of(frame[name], read)
    # pandas has a block for each column of a wide table, which makes each step slow.
    return frame.copy() if len(names) > len(frame) else frame


def _of_file(path: Path, read: Mapping) -> dict:
    """pandas' options of a file of delimited text."""
    given = {name: read[name] for name in OF_FILES if name in read}
    fixed = {"header": 0, "index_col": False, "skipinitialspace": True, "low_memory": False}
    sep = read.get("sep", DELIMITED.get(suffix_of(path), ","))
    return {"encoding": "utf-8-sig", **given, **fixed, "sep": sep}


def dtype_kind(read: Mapping, name: str) -> str | None:
    """What a study says that a column is read as: "text", "number" or "duration"."""
    return DTYPES.get(read.get("dtype", {}).get(name))


def numbers_of(column: pd.Series, read: Mapping) -> pd.Series:
    """Texts as numbers by a study's marks of thousands and decimals; a ValueError for other texts."""
    marks = str.maketrans(
        {read.get("decimal", "."): "."} | ({read["thousands"]: ""} if "thousands" in read else {})
    )
    values = column.astype(object).map(lambda one: one.translate(marks) if isinstance(one, str) else one)
    return pd.Series(encoded(values), column.index, name=column.name)


def encoded(column: pd.Series, kind: str | None = None) -> np.ndarray:
    """A column as numbers, NaN where a value is missing; a ValueError for other values than of its kind."""
    name = str(column.name)
    return ColumnEncoder({name: kind}).transform(column.to_frame(name))[:, 0]


def _with_levels(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with names that are texts, and with the named levels of its index as columns."""
    frame = frame.set_axis([str(name).strip() for name in frame.columns], axis=1)
    levels = [level for level in frame.index.names if level is not None]
    return (frame.reset_index(level=levels) if levels else frame).rename(columns=str).reset_index(drop=True)


def names_of(column: pd.Series) -> pd.Series:
    """The names of categories; NaN where one is missing."""
    return column.astype(object).map(category_name, na_action="ignore")


def labels_of(column: pd.Series, read: Mapping, labels_as: str | None = None) -> np.ndarray:
    """Labels as they are in the table, or as "number" or "bool"; NaN where a label is missing."""
    if column.dtype.kind == "m":
        return encoded(column, DURATION)
    if column.dtype.kind in "biuf" and isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    if labels_as:
        values = numbers_of(column, read)
        whole = values.notna().all() and (values % 1 == 0).all() and values.abs().max() <= EXACT
        as_read = "bool" if labels_as == "bool" else "int64"
        return (values.astype(as_read) if whole else values).to_numpy()
    labels = column.astype(object).map(lambda label: label.strip() if isinstance(label, str) else label)
    return labels.where(labels.notna() & (labels != ""), np.nan).to_numpy()


def read(
    paths: Sequence[Path],
    *,
    names: Sequence[str],
    read: Mapping,
    label: str,
    columns: Mapping,
    labels_as: str | None = None,
    keep_as_text: Sequence[str] = (),
    text: Sequence[str] = (),
    groups: str | None = None,
    time: str | None = None,
    time_kind: str | None = None,
    weight: str | None = None,
    splits: Sequence[str] = (),
) -> Table:
    """Read one or several files; features are encoded by :class:`~entrolearn.columns.ColumnEncoder`.

    For `read`, `keep_as_text` and `text` see :func:`frame_of`; for `labels_as` :func:`labels_of`. Rows are
    sorted by the column `time`; rows with the same value in the column `groups` form a group; the column
    `weight` contains the weights of rows. The columns `splits`, one per repeat, contain the fold in which a
    row is tested.
    """
    frames = [frame_of(path, names, read, keep_as_text, text, splits) for path in paths]
    frame = pd.concat(frames, ignore_index=True)
    if time is not None:
        frame = frame.iloc[order_in_time(frame[time], time_kind)]
    X = ColumnEncoder(dict(columns)).transform(frame)
    labels = labels_of(frame[label], read, labels_as)
    of_groups = None if groups is None else pd.factorize(names_of(frame[groups]))[0]
    folds = frame[list(splits)].to_numpy(np.int16) if splits else None
    weights = None if weight is None else encoded(frame[weight])
    return Table(X, labels, list(columns), [len(part) for part in frames], of_groups, weights, folds)


def order_in_time(column: pd.Series, kind: str | None) -> np.ndarray:
    """The order of rows by a column of numbers, dates or durations; equal values keep their order.

    A value that is missing, or none of these, raises a `ValueError`.
    """
    values = encoded(column, kind)
    if absent := np.isnan(values).sum():
        raise ValueError(f"column {column.name!r}: found no value in {absent} rows; accepted: a time in each")
    return np.argsort(values, kind="stable")
