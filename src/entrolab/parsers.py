"""Tables from files of several formats.

The functions end in a name -> function table; each returns a :class:`~entrolab.rawtables.Table`.
"""

import csv
import gzip
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from entrolab.rawtables import Table, as_table, numbered

__all__ = ["FORMATS"]


def read_csv(
    paths: Sequence[Path],
    *,
    delimiter: str = ",",
    header: str = "none",
    label: int = -1,
    label_suffix: str = "",
    drop: Sequence[int] = (),
    missing: Sequence[str] = (),
    categorical: Sequence[int] = (),
) -> Table:
    """Read delimited text; columns count from 0, or from the end with a minus.

    `header` is "none", "skip" (a line to pass over) or "names" (a line of feature names).
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
    _check_columns(n_columns, delimiter, {"label": [label], "drop": drop, "categorical": categorical})
    frame.columns = _header_names(paths[0], delimiter) if header == "names" else numbered(n_columns)
    labels = _strip(frame.iloc[:, label], label_suffix)
    left_out = {column % n_columns for column in (label, *drop)}
    features = frame.iloc[:, [column for column in range(n_columns) if column not in left_out]]
    coded = [frame.columns[column] for column in categorical]
    return Table(_numeric(features, coded), labels, list(features.columns), [len(part) for part in frames])


def read_arff(paths: Sequence[Path], *, label: str | None = None) -> Table:
    """Read ARFF (WEKA's, and KEEL's dialect of it); the label is the last attribute unless named.

    Nominal attributes whose values are all numbers are taken as those numbers.
    """
    from scipy.io import arff

    frames = [pd.DataFrame(arff.loadarff(path)[0]) for path in paths]
    frame = pd.concat(frames, ignore_index=True)
    for name in frame.select_dtypes(object):
        frame[name] = frame[name].str.decode("utf-8").replace("?", np.nan)
    target = label or frame.columns[-1]
    features = frame.drop(columns=target)
    rows = [len(part) for part in frames]
    return Table(_numeric(features, ()), frame[target].to_numpy(), list(features.columns), rows)


def read_svmlight(
    paths: Sequence[Path],
    *,
    n_features: int | None = None,
    sparse_features: bool = False,
    drop_duplicate_lines: bool = False,
) -> Table:
    """Read SVMlight / LIBSVM text, also as .gz or .bz2.

    A file in which the last feature is never set is padded to `n_features`. With `drop_duplicate_lines`, of
    equal lines (label and features) the first is kept.
    """
    from sklearn.datasets import load_svmlight_files

    sources = [_distinct_lines(path) if drop_duplicate_lines else str(path) for path in paths]
    loaded = load_svmlight_files(sources, n_features=n_features)
    X = sparse.csr_array(sparse.vstack(loaded[0::2], format="csr"))
    rows = [len(labels) for labels in loaded[1::2]]
    return Table(
        X if sparse_features else X.toarray(), np.concatenate(loaded[1::2]), numbered(X.shape[1]), rows
    )


def read_npz(paths: Sequence[Path], *, features: str = "data", label: str = "label") -> Table:
    """Read NumPy archives that hold an array of features and an array of labels."""
    tables = []
    for path in paths:
        with np.load(path, allow_pickle=False) as archive:
            tables.append(as_table(archive[features], archive[label]))
    return _stacked(tables)


def read_mat(paths: Sequence[Path], *, features: str, label: str) -> Table:
    """Read MATLAB files (to version 7) that hold a matrix of features and a vector of labels."""
    from scipy.io import loadmat

    contents = (loadmat(path, variable_names=[features, label]) for path in paths)
    return _stacked([as_table(content[features], content[label]) for content in contents])


def read_rdata(paths: Sequence[Path], *, features: str | None = None, label: str | int = 0) -> Table:
    """Read RData files of one object each.

    The object is a list with a matrix `features` and a vector `label`, or (no `features`) one matrix in which
    `label` is the column of the labels.
    """
    import rdata

    tables = []
    for path in paths:
        (content,) = rdata.read_rda(path).values()
        if features is None:
            tables.append(as_table(np.delete(content, label, axis=1), content[:, label]))
        else:
            tables.append(as_table(content[features], content[label]))
    return _stacked(tables)


def read_idx(paths: Sequence[Path]) -> Table:
    """Read gzipped IDX files, each file of images followed by the file of its labels; an image is a row."""
    arrays = [_idx_array(path) for path in paths]
    table = _stacked(
        [
            as_table(images.reshape(len(images), -1), labels)
            for images, labels in zip(arrays[0::2], arrays[1::2], strict=True)
        ]
    )
    # A file of labels brings no rows of its own.
    rows = [count for images in arrays[0::2] for count in (len(images), 0)]
    return Table(table.X, table.labels, table.feature_names, rows)


FORMATS = {
    "arff": read_arff,
    "csv": read_csv,
    "idx": read_idx,
    "mat": read_mat,
    "npz": read_npz,
    "rdata": read_rdata,
    "svmlight": read_svmlight,
}


def _check_columns(n_columns: int, delimiter: str, asked: Mapping[str, Sequence[int]]) -> None:
    if n_columns < 2:
        raise ValueError(f"the delimiter {delimiter!r} gives one column; features and a label are more")
    for name, columns in asked.items():
        for column in columns:
            if not -n_columns <= column < n_columns:
                raise ValueError(
                    f"{name} is column {column} and there are {n_columns}; accepted: 0 to {n_columns - 1}, "
                    "or from the end -1 and so on"
                )


def _header_names(path: Path, delimiter: str) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        if delimiter == "whitespace":
            return file.readline().split()
        return [name.strip() for name in next(csv.reader(file, delimiter=delimiter, skipinitialspace=True))]


def _strip(labels: pd.Series, suffix: str) -> np.ndarray:
    """Labels as they are meant; in a line that is too short there is none."""
    if suffix:
        labels = labels.str.strip().str.removesuffix(suffix)
    return labels.mask(labels == "").to_numpy()


def _numeric(features: pd.DataFrame, categorical: Sequence[str]) -> np.ndarray:
    """Features as float64; categories become their rank among the sorted names."""
    columns = {}
    for name, column in features.items():
        if name in categorical:
            columns[name] = column.astype("category").cat.codes
        else:
            try:
                columns[name] = pd.to_numeric(column)
            except ValueError as error:
                raise ValueError(f"column {name}: {error}; list it under categorical if it is one") from None
    return pd.DataFrame(columns).to_numpy(dtype=np.float64, na_value=np.nan)


def _distinct_lines(path: Path) -> BytesIO:
    return BytesIO(b"\n".join(dict.fromkeys(path.read_bytes().splitlines())) + b"\n")


def _stacked(tables: Sequence[Table]) -> Table:
    return Table(
        np.concatenate([table.X for table in tables]),
        np.concatenate([table.labels for table in tables]),
        tables[0].feature_names,
        [len(table.X) for table in tables],
    )


def _idx_array(path: Path) -> np.ndarray:
    """An array of bytes: two zero bytes, the type (8 = unsigned byte), the rank, the shape, the values."""
    content = gzip.decompress(path.read_bytes())
    if content[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path.name} is not an IDX file of bytes")
    n_dimensions = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=n_dimensions, offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_dimensions).reshape(shape)
