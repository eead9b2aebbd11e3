"""`Dataset`, a prepared data set, and its files."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from entrolab.io.atomic import replacing
from entrolab.text import Told, one_line

__all__ = [
    "OF_ROWS",
    "DataError",
    "DataUnavailable",
    "Dataset",
    "load_dataset",
    "load_folds",
    "recording_unavailability",
    "save_dataset",
    "save_folds",
]

OF_ROWS = ("groups", "weights", "splits")  # optional attributes with one entry per row


class DataError(Told, ValueError):
    """Raised for invalid data; the message is one line that names the data set or file."""


class DataUnavailable(Exception):
    """Raised if a data set is not available; the message gives the reason."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A prepared data set.

    Parameters
    ----------
    X : ndarray or csr_array of float64 (float32 if scaled to it), shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
        int64 for classification, an index into `classes`; float64 for regression.
    feature_names : list of str
    task : {"binary", "multiclass", "regression"}
    classes : list of str
        Binary: [negative, positive]; 1 in `y` is the positive class. Empty for regression.
    part : ndarray of int8, shape (n_samples,)
        1 for the rows of an official test part, else 0.
    provenance : dict
        The origin of the data, as JSON-compatible values.
    columns : dict or None
        For a user's table, a dict with the keys ``encoded`` (column name -> encoding, see
        :class:`entrolearn.columns.ColumnEncoder`), ``missing`` (the texts of missing values, which are NaN in
        X), ``label`` (the name of the label column) and ``labels`` (the classes as written in the table).
    groups : ndarray of int64, shape (n_samples,), or None
        Group of each row; all rows of a group are in the same fold.
    weights : ndarray of float64, shape (n_samples,), or None
        Weight of each row, passed to a learner's ``fit`` as ``sample_weight``.
    splits : ndarray of int16, shape (n_samples, n_repeats), or None
        The fold in which each row is tested, if the source defines it; -1 for rows that are never tested.
    """

    X: np.ndarray | sparse.csr_array
    y: np.ndarray
    feature_names: list[str]
    task: str
    classes: list[str]
    part: np.ndarray
    provenance: dict = field(default_factory=dict)
    columns: dict | None = None
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None
    splits: np.ndarray | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    def digest(self) -> str:
        """The sha256 of shape, X, y, part and weights. Integers of 32 and 64 bits are alike."""
        digest = hashlib.sha256(repr((self.X.shape, sparse.issparse(self.X))).encode())
        weights = [] if self.weights is None else [self.weights]
        for array in (*_matrix_arrays(self.X).values(), self.y, self.part, *weights):
            # Indices of a sparse matrix have 32 or 64 bits, depending on its size: convert them.
            wide = array.astype(np.int64) if array.dtype.kind == "i" else array
            digest.update(np.ascontiguousarray(wide).data)
        return digest.hexdigest()


def save_dataset(path, dataset: Dataset) -> None:
    """Write `dataset` to an .npz file; a CSR matrix is stored as its three arrays."""
    names = ("feature_names", "task", "classes", "provenance", "columns")
    meta = {name: getattr(dataset, name) for name in names} | {"shape": dataset.X.shape}
    arrays = _matrix_arrays(dataset.X) | {"y": dataset.y, "part": dataset.part}
    of_rows = {name: getattr(dataset, name) for name in OF_ROWS}
    arrays |= {name: values for name, values in of_rows.items() if values is not None}
    _save(path, **arrays, meta=np.array(json.dumps(meta)))


def load_dataset(path) -> Dataset:
    """Read a file written by :func:`save_dataset`.

    Raises
    ------
    DataUnavailable
        If the file contains only the reason why the data are not available.
    DataError
        If the file is truncated or corrupt.
    """
    arrays = _load(path)
    meta = json.loads(str(arrays["meta"]))
    shape = tuple(meta.pop("shape"))
    if "X" in arrays:
        X = arrays["X"]
    else:
        X = sparse.csr_array((arrays["X_data"], arrays["X_indices"], arrays["X_indptr"]), shape=shape)
    of_rows = {name: arrays.get(name) for name in OF_ROWS}
    return Dataset(X=X, y=arrays["y"], part=arrays["part"], **of_rows, **meta)


def save_folds(path, part: np.ndarray) -> None:
    """Write the folds that a protocol has drawn, shape (n_repeats, n_samples)."""
    _save(path, part=part)


def load_folds(path) -> np.ndarray:
    """Read a file written by :func:`save_folds`; raises the errors of :func:`load_dataset`."""
    return _load(path)["part"]


@contextmanager
def recording_unavailability(output) -> Iterator[None]:
    """On :class:`DataUnavailable`, write its message to `output`; reading that file raises it again."""
    try:
        yield
    except DataUnavailable as absence:
        _save(output, absent=np.array(str(absence)))


def _matrix_arrays(X) -> dict[str, np.ndarray]:
    if not sparse.issparse(X):
        return {"X": X}
    return {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr}


def _save(path, **arrays) -> None:
    # Compressed: forest-cover takes 7 MB instead of 250 and loads as fast.
    with replacing(path) as temporary:
        np.savez_compressed(temporary, **arrays)


def _load(path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive)
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged file may raise any exception
        raise DataError(
            f"{path}: truncated or corrupt ({one_line(error)}); delete it and run the workflow again"
        ) from error
    if "absent" in arrays:
        raise DataUnavailable(str(arrays["absent"]))
    return arrays
