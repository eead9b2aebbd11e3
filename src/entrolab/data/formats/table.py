"""Reader of users' tables: delimited text, Parquet and Feather with columns of numbers, dates and text."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from entrolab.data.raw_table import Table
from entrolab.data.table_formats import ARROW, suffix_of
from entrolearn.columns import DATE, ColumnEncoder, category_name, numeric_markers

__all__ = ["frame_of", "groups_of", "labels_of", "order_in_time", "read", "weights_of"]

BINARY = {"parquet": pd.read_parquet, "feather": pd.read_feather}


def frame_of(
    path: Path, names: Sequence[str], delimiter: str, missing: Sequence[str], splits: Sequence[str]
) -> pd.DataFrame:
    """Read a table from a file; NaN for numbers that stand for missing values.

    `names` are the columns of delimited text, whose first line that is not empty is ignored; `delimiter` is
    one character, or ``whitespace``; `missing` are texts; the columns `splits` have no missing values.
    """
    if suffix_of(path) in ARROW:
        frame = BINARY[ARROW[suffix_of(path)]](path)
        if markers := numeric_markers(missing):
            marked = frame.select_dtypes("number").drop(columns=list(splits)).isin(markers)
            for name in marked.columns[marked.any()]:
                frame[name] = frame[name].mask(marked[name])
        return frame
    return pd.read_csv(
        path,
        sep=r"\s+" if delimiter == "whitespace" else delimiter,
        header=0,
        names=list(names),
        index_col=False,
        skipinitialspace=True,
        keep_default_na=False,
        na_values=list(missing),
        encoding="utf-8-sig",
        low_memory=False,
    )


def labels_of(column: pd.Series, missing: Sequence[str]) -> np.ndarray:
    """Labels as written in the table; NaN where a label is missing."""
    if column.dtype.kind in "biuf" and isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    labels = column.astype(object)
    labels = labels.map(lambda label: label.strip() if isinstance(label, str) else label)
    names = labels.map(category_name, na_action="ignore")
    return labels.mask(names.isin(list(missing)) | labels.isna(), np.nan).to_numpy()


def groups_of(column: pd.Series, missing: Sequence[str]) -> pd.Series:
    """The name of each row's group; NaN where it is missing."""
    names = column.astype(object).map(category_name, na_action="ignore")
    return names.mask(names.isin(list(missing)))


def read(
    paths: Sequence[Path],
    *,
    names: Sequence[str],
    delimiter: str,
    label: str,
    columns: Mapping,
    missing: Sequence[str],
    groups: str | None = None,
    time: str | None = None,
    weight: str | None = None,
    splits: Sequence[str] = (),
) -> Table:
    """Read one or several files; features are encoded by :class:`~entrolearn.columns.ColumnEncoder`.

    Rows are sorted by the column `time`; rows with the same value in the column `groups` form a group; the
    column `weight` contains the weights of rows. The columns `splits`, one per repeat, contain the fold in
    which a row is tested.
    """
    frames = [frame_of(path, names, delimiter, missing, splits) for path in paths]
    frame = pd.concat(frames, ignore_index=True).rename(columns=str)
    if time is not None:
        frame = frame.iloc[order_in_time(frame[time])]
    X = ColumnEncoder(dict(columns), missing).transform(frame)
    labels = labels_of(frame[label], missing)
    of_groups = None if groups is None else pd.factorize(groups_of(frame[groups], missing))[0]
    folds = frame[list(splits)].to_numpy(np.int16) if splits else None
    weights = None if weight is None else weights_of(frame[weight], missing)
    return Table(X, labels, list(columns), [len(part) for part in frames], of_groups, weights, folds)


def weights_of(column: pd.Series, missing: Sequence[str]) -> np.ndarray:
    """The weights of rows as floats, NaN where a weight is missing; a ValueError for other text."""
    name = str(column.name)
    return ColumnEncoder({name: None}, missing).transform(column.to_frame(name))[:, 0]


def order_in_time(column: pd.Series) -> np.ndarray:
    """The order of rows by a column of numbers or dates; rows with equal values keep their order.

    A value that is missing, or neither a number nor a date, raises a `ValueError`.
    """
    kind = None if column.dtype.kind in "biuf" else DATE
    name = str(column.name)
    values = ColumnEncoder({name: kind}).transform(column.to_frame(name))[:, 0]
    if np.isnan(values).any():
        raise ValueError(
            f"column {name!r}: found no value in {np.isnan(values).sum()} rows; accepted: a time in each"
        )
    return np.argsort(values, kind="stable")
