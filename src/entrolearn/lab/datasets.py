"""Data sets: made as the catalog says, as arrays and as a file, scaled."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, StandardScaler

from entrolearn.lab.atomic import replacing
from entrolearn.lab.limits import GIB, LimitError, Limits, within
from entrolearn.lab.rawtables import Table
from entrolearn.lab.wording import one_line
from entrolearn.suggest import did_you_mean

__all__ = [
    "SCALERS",
    "DataError",
    "DataUnavailable",
    "Dataset",
    "load_dataset",
    "load_folds",
    "passing_absence",
    "prepare",
    "save_dataset",
    "save_folds",
    "scale",
    "summary",
]

# Most scalings fill the zeros of sparse data; beyond this many numbers (1.6 GB when dense) they are refused.
DENSE_LIMIT = 2e8

# What reading a data set's files may take, and of that no more than the catalog's counts can explain: what
# any reader takes, and for each expected number as many bytes as the most wasteful reader needs.
READING = Limits(seconds=3600, gib=8)
READER_GIB, BYTES_PER_NUMBER = 2.0, 128


class DataError(ValueError):
    """Data that are not as they should be; the message is one line that names them."""


class DataUnavailable(Exception):
    """The bytes of a data set could not be had; the message says why."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set, ready for learners.

    Parameters
    ----------
    X : ndarray or csr_array of float64, or of float32 once it is scaled so, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
        int64 for classification, an index into `classes`; float64 for regression.
    feature_names : list of str
    task : {"binary", "multiclass", "regression"}
    classes : list of str
        Binary: [negative, positive], so that 1 in `y` is the paper's positive class. Empty for regression.
    part : ndarray of int8, shape (n_samples,)
        1 for the rows of an official test part, else 0.
    provenance : dict
        Where it came from, as JSON can say it.
    """

    X: np.ndarray | sparse.csr_array
    y: np.ndarray
    feature_names: list[str]
    task: str
    classes: list[str]
    part: np.ndarray
    provenance: dict = field(default_factory=dict)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    def digest(self) -> str:
        """Return the sha256 over shape, X, y and part: equal for equal data, however it is stored."""
        digest = hashlib.sha256(repr((self.X.shape, sparse.issparse(self.X))).encode())
        for array in (*_matrix_arrays(self.X).values(), self.y, self.part):
            # The indices of a sparse matrix have 32 or 64 bits by its size alone.
            wide = array.astype(np.int64) if array.dtype.kind == "i" else array
            digest.update(np.ascontiguousarray(wide).data)
        return digest.hexdigest()


# ------------------------------------------------------------------------------------------------------ files


def save_dataset(path, dataset: Dataset) -> None:
    """Write `dataset` to an .npz file; a CSR matrix goes in by its parts."""
    names = ("feature_names", "task", "classes", "provenance")
    meta = {name: getattr(dataset, name) for name in names} | {"shape": dataset.X.shape}
    _save(path, **_matrix_arrays(dataset.X), y=dataset.y, part=dataset.part, meta=np.array(json.dumps(meta)))


def load_dataset(path) -> Dataset:
    """Read what :func:`save_dataset` wrote.

    Raises
    ------
    DataUnavailable
        If the file only says that the data could not be had.
    DataError
        If the file is cut or corrupt.
    """
    arrays = _load(path, "y", "part", "meta")
    meta = json.loads(str(arrays["meta"]))
    shape = tuple(meta.pop("shape"))
    if "X" in arrays:
        X = arrays["X"]
    else:
        X = sparse.csr_array((arrays["X_data"], arrays["X_indices"], arrays["X_indptr"]), shape=shape)
    return Dataset(X=X, y=arrays["y"], part=arrays["part"], **meta)


def save_folds(path, part: np.ndarray) -> None:
    """Write the parts that a protocol drew."""
    _save(path, part=part)


def load_folds(path) -> np.ndarray:
    """Read parts, shape (n_repeats, n_samples); errors as in :func:`load_dataset`."""
    return _load(path, "part")["part"]


@contextmanager
def passing_absence(output) -> Iterator[None]:
    """Turn :class:`DataUnavailable` into a file `output` that passes the reason on to who loads it."""
    try:
        yield
    except DataUnavailable as absence:
        _save(output, absent=np.array(str(absence)))


def _matrix_arrays(X) -> dict[str, np.ndarray]:
    if not sparse.issparse(X):
        return {"X": X}
    return {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr}


def _save(path, **arrays) -> None:
    # Compressed: forest-cover is 7 MB instead of 250 and loads no slower.
    with replacing(path) as temporary:
        np.savez_compressed(temporary, **arrays)


def _load(path, *required: str) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive)
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged file raises whatever its bytes lead to
        raise DataError(
            f"{path}: cut or corrupt ({one_line(error)}); delete it and run the workflow again"
        ) from error
    if "absent" in arrays:
        raise DataUnavailable(str(arrays["absent"]))
    if missing := [name for name in required if name not in arrays]:
        lacking = ", ".join(missing)
        raise DataError(f"{path}: another stage's file (no array {lacking}); delete it and run again")
    return arrays


# ---------------------------------------------------------------------------------------------------- prepare


def prepare(key: str, entry: Mapping, folder=None, limits: Limits = READING) -> Dataset:
    """Make the data set `key` of its catalog entry.

    Parameters
    ----------
    key : str
    entry : mapping
        Its entry, as :func:`entrolearn.lab.config.load_catalog` gives it.
    folder : path, optional
        Where :func:`entrolearn.lab.download.download` put its files; bundled and generated sets need none.
    limits : Limits
        What reading its files may take, in a process of its own: a small file may expand to any size, keep a
        parser busy for ever, or make it crash. Of the memory no more is given than 2 GiB, and 128 bytes for
        each number that the catalog expects.

    Raises
    ------
    DataUnavailable
        If the receipt in `folder` says so, or there is none.
    DataError
        If the files are not those of the catalog, cannot be parsed within the limits, or do not hold the
        rows, features and classes that the catalog expects.
    """
    table, part = _SOURCES[entry["source"]](key, entry, folder, limits)
    X, labels, names, part = _cleaned(key, entry, table, part)
    y, classes = _interpreted(key, entry, labels)
    dataset = Dataset(X, y, names, entry["task"], classes, part, _provenance(key, entry))
    _check_expectations(key, entry, dataset)
    return dataset


def _from_files(key: str, entry: Mapping, folder, limits: Limits):
    table = _parsed(key, entry, _downloaded(key, entry, folder), limits)
    parts = [int(file.get("part") == "test") for file in entry["files"]]
    return table, np.repeat(np.array(parts, dtype=np.int8), table.rows)


def _own(key: str, entry: Mapping, folder, limits: Limits):
    return _undivided(_parsed(key, entry, [Path(entry["file"])], limits))


def _parsed(key: str, entry: Mapping, paths: Sequence[Path], limits: Limits) -> Table:
    expected = entry["expect"]["rows"] * entry["expect"]["features"]
    explained = READER_GIB + BYTES_PER_NUMBER * expected / GIB
    try:
        (table,) = within(replace(limits, gib=min(limits.gib, explained)), _read, paths, entry["format"])
    except (LimitError, RuntimeError) as error:
        files = ", ".join(path.name for path in paths)
        raise DataError(
            f"{key}: cannot read {files} as {entry['format']['name']}: {one_line(error)}{_unpinned(entry)}"
        ) from error
    return table


def _read(paths: Sequence[Path], format: Mapping) -> Iterator[Table]:
    """The table in some files, for :func:`~entrolearn.lab.limits.within`."""
    from entrolearn.lab.parsers import FORMATS

    options = dict(format)
    try:
        table = FORMATS[options.pop("name")](paths, **options)
    except ValueError as error:
        if "out of memory" in str(error):  # pandas has an error of its own for it
            raise MemoryError(str(error)) from error
        raise
    if 0 in table.X.shape:
        raise ValueError("no data found")
    yield table


def _unpinned(entry: Mapping) -> str:
    """What to do about a file that nothing can be compared with: it would be taken again as it is."""
    files = [Path(file["path"]).name for file in entry.get("files", []) if "sha256" not in file]
    if not files:
        return ""
    named = ", ".join(files)
    return f"; nobody has published a checksum of {named}: if it is wrong, delete it and receipt.json"


def _downloaded(key: str, entry: Mapping, folder) -> list[Path]:
    """Paths of the raw files, checked again: what is parsed is what the provenance says."""
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
        if not path.is_file() or _sha256(path) != expected:
            raise DataError(f"{key}: {path} is not the file of the catalog; delete {receipt} and run again")
    return paths


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _bundled(key: str, entry: Mapping, folder, limits: Limits):
    from entrolearn.lab.bundled import BUNDLED

    return _undivided(BUNDLED[entry["loader"]]())


def _generated(key: str, entry: Mapping, folder, limits: Limits):
    from entrolearn.lab.generators import GENERATORS

    options = dict(entry["generator"])
    return _undivided(GENERATORS[options.pop("name")](**options))


def _undivided(table):
    return table, np.zeros(len(table.labels), dtype=np.int8)


_SOURCES = {"files": _from_files, "own": _own, "bundled": _bundled, "generated": _generated}


def _cleaned(key: str, entry: Mapping, table, part: np.ndarray):
    """Drop rows with missing values and constant columns where the entry says so."""
    X, labels, names = table.X, table.labels, table.feature_names
    if np.isinf(X.data if sparse.issparse(X) else X).any():
        raise DataError(f"{key}: found infinite values, or numbers too large for double precision")
    missing = labels != labels  # NaN, among numbers or strings
    if not sparse.issparse(X):
        missing |= np.isnan(X).any(axis=1)
    else:
        missing |= sparse.csr_array((np.isnan(X.data), X.indices, X.indptr), shape=X.shape).sum(axis=1) > 0
    if missing.any():
        if entry.get("missing_rows") != "drop":
            found = f"{missing.sum()} rows with missing values"
            raise DataError(f"{key}: {found}; 'missing_rows: drop' leaves them out")
        X, labels, part = X[~missing], labels[~missing], part[~missing]
    if entry.get("constant_columns") == "drop":
        low, high = (end.toarray() if sparse.issparse(end) else end for end in (X.min(axis=0), X.max(axis=0)))
        varies = low < high
        X, names = X[:, varies], [name for name, kept in zip(names, varies, strict=True) if kept]
    return X, labels, names, part


def _interpreted(key: str, entry: Mapping, labels: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Labels as `y` and the names of the classes."""
    if entry["task"] == "regression":
        return labels.astype(np.float64), []
    values, y = np.unique(labels, return_inverse=True)
    names = [_label_name(value) for value in values]
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


def _label_name(value) -> str:
    if isinstance(value, np.floating):
        return f"{value:.15g}"  # 1.0, as LIBSVM's files give it, is class 1
    return str(value).strip()


def _provenance(key: str, entry: Mapping) -> dict:
    facts = ("title", "source", "loader", "generator", "reference", "licence", "note")
    named = ("path", "url", "sha256")
    files = [{name: file[name] for name in named if name in file} for file in entry.get("files", [])]
    if "file" in entry:
        files = [{"path": Path(entry["file"]).name, "sha256": _sha256(Path(entry["file"]))}]
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
        raise DataError(f"{key}: not as the catalog says: {', '.join(wrong)}{_unpinned(entry)}")


# ---------------------------------------------------------------------------------------------------- scale

SCALERS = {
    "minmax": lambda bounds: MinMaxScaler(feature_range=bounds),
    "maxabs": lambda bounds: MaxAbsScaler(),
    "standard": lambda bounds: StandardScaler(),
    "none": lambda bounds: FunctionTransformer(accept_sparse=True),
}
ZERO_STAYS_ZERO = {"maxabs", "none"}
# One scale for all features: pixels have the same unit, and those at the margin stay dark.
JOINT = "joint_minmax"


def scale(
    dataset: Dataset,
    method: str = "minmax",
    range=(0, 1),
    fit_on: str = "all",
    targets=None,
    dtype: str = "float64",
) -> Dataset:
    """Scale each feature, and the target of a regression.

    Parameters
    ----------
    dataset : Dataset
    method : {"minmax", "joint_minmax", "maxabs", "standard", "none"}
        To `range`; all features alike to `range`, by the least and the largest value of any, as pixels are;
        to at most 1 in absolute value; to zero mean and unit variance; not at all. "maxabs" and "none" keep
        sparse data sparse.
    range : pair of float
        For "minmax", of which a constant feature becomes the lower bound, and "joint_minmax".
    fit_on : {"all", "train"}
        The rows that set the scale. "train" leaves out an official test part, whose values may then lie
        outside `range`; in cross-validation, a scaler in the model's own pipeline does that per fold.
    targets : pair of float, optional
        What the same rows' values of a regression are scaled to; a constant one becomes the lower bound.
    dtype : {"float64", "float32"}
        The precision of the scaled features, which learners may keep to: single takes half the memory.

    Raises
    ------
    DataError
        If "train" is asked of a data set without test part, or large sparse data would become dense.
    """
    _accepted("scaling method", method, [*SCALERS, JOINT])
    _accepted("fit_on", fit_on, ["all", "train"])
    _accepted("dtype", dtype, ["float64", "float32"])
    key = dataset.provenance.get("key", "data set")
    rows = np.ones(dataset.n_samples, bool) if fit_on == "all" else dataset.part == 0
    if fit_on == "train" and rows.all():
        raise DataError(
            f"{key}: fit_on 'train' needs a test part; take 'all', or scale in the model's pipeline"
        )
    X = dataset.X if method in ZERO_STAYS_ZERO else _dense(key, dataset.X, method)
    scaled = _to_interval(X, rows, *range) if method == JOINT else _by_feature(X, rows, method, tuple(range))
    values = dataset.task == "regression" and targets is not None
    y = _to_interval(dataset.y, rows, *targets) if values else dataset.y
    return replace(dataset, X=scaled.astype(dtype, copy=False), y=y)


def _by_feature(X, rows: np.ndarray, method: str, bounds: tuple[float, float]):
    if method == "minmax":
        # Far from zero, scikit-learn's X * scale + offset loses the ends to rounding.
        X = X - X[rows].min(axis=0)
    scaled = SCALERS[method](bounds).fit(X[rows]).transform(X)
    if method == "minmax":
        scaled[rows] = np.clip(scaled[rows], *bounds)
    return scaled


def _to_interval(values: np.ndarray, rows: np.ndarray, low: float, high: float) -> np.ndarray:
    """Numbers of whatever shape, by the least and the largest of some rows."""
    values = values - values[rows].min()
    return low + (high - low) * values / (values[rows].max() or 1.0)


def _dense(key: str, X, method: str) -> np.ndarray:
    if not sparse.issparse(X):
        return X
    if np.prod(X.shape, dtype=float) > DENSE_LIMIT:
        size = f"{X.shape[0]} x {X.shape[1]}"
        raise DataError(f"{key}: {method} scaling would make the sparse {size} matrix dense; take 'maxabs'")
    return X.toarray()


def _accepted(what: str, found: str, accepted: list[str]) -> None:
    if found not in accepted:
        hint = did_you_mean(found, accepted)
        raise DataError(f"unknown {what} {found!r}{hint}; accepted: {', '.join(accepted)}")


# ---------------------------------------------------------------------------------------------------- summary


def summary(catalog: Mapping[str, Mapping], receipts: Mapping[str, Mapping]) -> str:
    """Say which data sets are there, and of the others why not; one line each.

    Parameters
    ----------
    catalog : mapping of key to entry
    receipts : mapping of key to receipt
        As :func:`entrolearn.lab.download.download` returns them; a key may be missing.
    """
    width = max(map(len, catalog), default=0)
    there = {key for key in catalog if receipts.get(key, {}).get("available")}
    lines = [f"{len(there)} of {len(catalog)} data sets are there"]
    lines += [f"  {key:{width}}  {_shape(catalog[key]['expect'])}" for key in catalog if key in there]
    if len(there) < len(catalog):
        lines.append("not there:")
    for key in catalog:
        if key not in there:
            lines.append(f"  {key:{width}}  {receipts.get(key, {}).get('reason', 'not downloaded yet')}")
    return "\n".join(lines)


def _shape(expect: Mapping) -> str:
    return f"{expect['rows']:>7} rows {expect['features']:>6} features"
