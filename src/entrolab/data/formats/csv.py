"""Reader of delimited text files."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from entrolab.data.columns import numeric
from entrolab.data.raw_table import Table, numbered


def read(
    paths: Sequence[Path],
    *,
    delimiter: str = ",",
    header: Literal["none", "skip", "names"] = "none",
    label: int = -1,
    label_suffix: str = "",
    drop: Sequence[int] = (),
    missing: Sequence[str] = (),
    categorical: Sequence[int] = (),
) -> Table:
    """Read delimited text; columns are numbered from 0, negative numbers count from the end.

    `header` is "none", "skip" (ignore the first line) or "names" (the first line has the feature names).
    """
    frames = [
        pd.read_csv(
            path,
            sep=r"\s+" if delimiter == "whitespace" else delimiter,
            header=None,
            skiprows=0 if header == "none" else 1,
            skipinitialspace=True,
            keep_default_na=False,
            na_values=list(missing),
        )
        for path in paths
    ]
    frame = pd.concat(frames, ignore_index=True)
    n_columns = frame.shape[1]
    frame.columns = _header_names(paths[0], delimiter) if header == "names" else numbered(n_columns)
    labels = _strip(frame.iloc[:, label], label_suffix)
    left_out = {column % n_columns for column in (label, *drop)}
    features = frame.iloc[:, [column for column in range(n_columns) if column not in left_out]]
    coded = [frame.columns[column] for column in categorical]
    return Table(numeric(features, coded), labels, list(features.columns), [len(part) for part in frames])


def _header_names(path: Path, delimiter: str) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        if delimiter == "whitespace":
            return file.readline().split()
        return [name.strip() for name in next(csv.reader(file, delimiter=delimiter, skipinitialspace=True))]


def _strip(labels: pd.Series, suffix: str) -> np.ndarray:
    """Labels without white space and `suffix`; NaN for lines that are too short."""
    if suffix:
        labels = labels.str.strip().str.removesuffix(suffix)
    return labels.mask(labels == "").to_numpy()
