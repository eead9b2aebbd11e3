"""Tables from where they stand: files of several formats, scikit-learn's own sets, generators.

Each of the three families ends in a name -> function table; every function returns a :class:`Table`, with the
labels as the source writes them. What the labels mean is the catalog's business (see `lab/datasets.py`).
"""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from entrolearn.lab.series import mackey_glass_series

__all__ = ["BUNDLED", "FORMATS", "GENERATORS", "Table"]


@dataclass(frozen=True, eq=False)
class Table:
    """Features and labels, not yet interpreted.

    Parameters
    ----------
    X : ndarray or csr_array of float64, shape (n_samples, n_features)
        NaN where a value is missing.
    labels : ndarray, shape (n_samples,)
        Numbers or strings.
    feature_names : list of str
    rows : list of int
        How many rows each file gave, in the order of the files.
    """

    X: np.ndarray | sparse.csr_array
    labels: np.ndarray
    feature_names: list[str]
    rows: list[int]


def numbered(n_features: int) -> list[str]:
    """Names for features that have none: x1, x2, …"""
    return [f"x{column + 1}" for column in range(n_features)]


# ----------------------------------------------------------------------------------------------- file formats


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
        with np.load(path) as archive:
            tables.append(_matrix(archive[features], archive[label]))
    return _stacked(tables)


def read_mat(paths: Sequence[Path], *, features: str, label: str) -> Table:
    """Read MATLAB files (to version 7) that hold a matrix of features and a vector of labels."""
    from scipy.io import loadmat

    contents = (loadmat(path, variable_names=[features, label]) for path in paths)
    return _stacked([_matrix(content[features], content[label]) for content in contents])


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
            tables.append(_matrix(np.delete(content, label, axis=1), content[:, label]))
        else:
            tables.append(_matrix(content[features], content[label]))
    return _stacked(tables)


def read_idx(paths: Sequence[Path]) -> Table:
    """Read gzipped IDX files, each file of images followed by the file of its labels; an image is a row."""
    arrays = [_idx_array(path) for path in paths]
    table = _stacked(
        [
            _matrix(images.reshape(len(images), -1), labels)
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


def _header_names(path: Path, delimiter: str) -> list[str]:
    first = path.open(encoding="utf-8").readline()
    return first.split() if delimiter == "whitespace" else [name.strip() for name in first.split(delimiter)]


def _strip(labels: pd.Series, suffix: str) -> np.ndarray:
    if suffix:
        labels = labels.str.strip().str.removesuffix(suffix)
    return labels.to_numpy()


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


def _matrix(X, labels) -> Table:
    X = np.ascontiguousarray(X, dtype=np.float64)
    labels = np.ravel(labels)
    if len(labels) != len(X):
        raise ValueError(f"{len(X)} rows of features but {len(labels)} labels")
    return Table(X, labels, numbered(X.shape[1]), [len(X)])


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
    shape = np.frombuffer(content, dtype=">i4", count=n_dimensions, offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_dimensions).reshape(shape)


# ------------------------------------------------------------------------------------ scikit-learn's own sets


def _bundled(loader: str) -> Table:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{loader}")()
    names = np.asarray(bunch.target_names)
    return Table(
        np.asarray(bunch.data, dtype=np.float64),
        names[bunch.target],
        [str(name) for name in bunch.feature_names],
        [len(bunch.target)],
    )


def breast_cancer() -> Table:
    """Wisconsin diagnostic breast cancer; labels "malignant" and "benign"."""
    return _bundled("breast_cancer")


def diabetes() -> Table:
    """Progress of a disease after a year, a number, from ten measurements at its beginning."""
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(scaled=False)
    return Table(bunch.data, bunch.target, list(bunch.feature_names), [len(bunch.target)])


def digits() -> Table:
    """Handwritten digits of 8 × 8 pixels; labels 0 to 9."""
    return _bundled("digits")


def iris() -> Table:
    """Iris flowers; labels "setosa", "versicolor", "virginica"."""
    return _bundled("iris")


def wine() -> Table:
    """Chemical analyses of wines; labels "class_0", "class_1", "class_2"."""
    return _bundled("wine")


BUNDLED = {
    "breast_cancer": breast_cancer,
    "diabetes": diabetes,
    "digits": digits,
    "iris": iris,
    "wine": wine,
}


# ------------------------------------------------------------------------------------------------- generators


def gaussians(
    *, n_samples: int, n_features: int, distance: float, variances: Sequence[float], seed: int
) -> Table:
    """Two isotropic Gaussians, labels 0 and 1, equally many rows of each.

    The means stand at ±distance/2 along the diagonal; `variances` are the per-axis variances of the classes.
    """
    rng = np.random.default_rng(seed)
    mean = np.full(n_features, distance / 2 / np.sqrt(n_features))
    half = n_samples // 2
    negative, positive = (
        sign * mean + np.sqrt(variance) * rng.standard_normal((half, n_features))
        for sign, variance in zip((-1, 1), variances, strict=True)
    )
    return _matrix(np.concatenate([negative, positive]), np.repeat([0, 1], half))


def stretched_gaussians(
    *, n_samples: int, mean: Sequence[float], deviations: Sequence[float], seed: int
) -> Table:
    """Two Gaussians of the plane with one covariance, labels -1 and 1 as by a fair coin.

    The mean of class y is y times `mean`, the covariance V D² Vᵀ: `deviations`, the diagonal of D, are the
    standard deviations along the columns of V, which are (1, -1)/√2 and (1, 1)/√2.
    """
    rng = np.random.default_rng(seed)
    label = rng.choice([-1, 1], size=n_samples)
    axes = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    along = np.asarray(deviations, dtype=float) * rng.standard_normal((n_samples, 2))
    return _matrix(label[:, None] * np.asarray(mean, dtype=float) + along @ axes.T, label)


def two_moons(*, n_samples: int, noise: float, seed: int) -> Table:
    """scikit-learn's two interleaving half circles, labels 0 and 1."""
    from sklearn.datasets import make_moons

    return _matrix(*make_moons(n_samples, noise=noise, random_state=seed))


def rings(*, n_samples: int, radii: Sequence[float], noise: float, seed: int, n_classes: int = 2) -> Table:
    """Concentric rings in the plane, labels from 0 by turns from the first one, equally many rows on each.

    A row stands at a random angle on its ring, plus normal noise on each axis; a radius of zero is a blot.
    """
    rng = np.random.default_rng(seed)
    ring = np.arange(n_samples) % len(radii)
    angle, radius = rng.uniform(0, 2 * np.pi, n_samples), np.asarray(radii, dtype=float)[ring]
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _matrix(points + noise * rng.standard_normal((n_samples, 2)), ring % n_classes)


def spirals(*, n_samples: int, n_arms: int, turns: float, noise: float, seed: int) -> Table:
    """Archimedean spirals in the plane that wind around each other, labels from 0, equally many rows on each.

    An arm's radius grows evenly from 0 to 1 with the angle, over so many turns; rows are equally dense along
    it, which takes the square root of a uniform number, and have normal noise on each axis.
    """
    rng = np.random.default_rng(seed)
    arm = np.arange(n_samples) % n_arms
    radius = np.sqrt(rng.uniform(size=n_samples))
    angle = 2 * np.pi * (turns * radius + arm / n_arms)
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _matrix(points + noise * rng.standard_normal((n_samples, 2)), arm)


def mixture(
    *,
    sizes: Sequence[int],
    means: Sequence[Sequence[float]],
    deviations: Sequence[Sequence[float]],
    angles: Sequence[float],
    seed: int,
) -> Table:
    """Gaussians in the plane, labels from 0: the rows of each, its mean, and what is around it.

    `deviations` are the two standard deviations of each along its own axes, which are turned by `angles`, in
    degrees against the clock.
    """
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(len(sizes)), sizes)
    along = np.asarray(deviations, dtype=float)[label] * rng.standard_normal((len(label), 2))
    cosine, sine = np.cos(np.radians(angles))[label], np.sin(np.radians(angles))[label]
    turned = np.column_stack(
        [cosine * along[:, 0] - sine * along[:, 1], sine * along[:, 0] + cosine * along[:, 1]]
    )
    return _matrix(np.asarray(means, dtype=float)[label] + turned, label)


def waveform(*, n_samples: int, seed: int) -> Table:
    """Breiman's waveforms, labels 0 to 2: convex combinations of two of three triangles, plus unit noise.

    Breiman, Friedman, Olshen and Stone (1984), Classification and Regression Trees, section 2.6.1; 21
    features, the values at 1 to 21.
    """
    rng = np.random.default_rng(seed)
    at = np.arange(1, 22)
    triangles = np.maximum(6 - abs(at - np.array([[11], [15], [7]])), 0)
    label = rng.integers(3, size=n_samples)
    first, second = np.array([[0, 1], [0, 2], [1, 2]])[label].T
    share = rng.uniform(size=(n_samples, 1))
    clean = share * triangles[first] + (1 - share) * triangles[second]
    return _matrix(clean + rng.standard_normal((n_samples, 21)), label)


def documents(
    *, n_samples: int, n_features: int, n_classes: int, words: int, spread: float, seed: int
) -> Table:
    """Bags of words as text classification has them: sparse, long-tailed, rows of unit length; labels from 0.

    Word frequencies fall as 1 / rank (Zipf); in each class every word's is multiplied by
    exp(`spread` z), z standard normal. A document has a Poisson number of words, `words` in the mean; counts
    are taken as 1 + ln(count), times ln(n_samples / documents with the word).
    """
    from sklearn.preprocessing import normalize

    rng = np.random.default_rng(seed)
    frequency = (
        1 / np.arange(1, n_features + 1) * np.exp(spread * rng.standard_normal((n_classes, n_features)))
    )
    cumulative = np.cumsum(frequency / frequency.sum(axis=1, keepdims=True), axis=1)
    label = rng.integers(n_classes, size=n_samples)
    length = np.maximum(rng.poisson(words, n_samples), 1)
    drawn = [np.searchsorted(cumulative[c], rng.uniform(size=n)) for c, n in zip(label, length, strict=True)]
    column = np.minimum(np.concatenate(drawn), n_features - 1)
    row = np.repeat(np.arange(n_samples), length)
    # LIBLINEAR, and scikit-learn's solvers after it, take indices of 32 bits.
    places = row.astype(np.int32), column.astype(np.int32)
    counts = sparse.csr_array((np.ones(len(row)), places), shape=(n_samples, n_features))
    counts.data = 1 + np.log(counts.data)
    in_documents = np.bincount(counts.indices, minlength=n_features)
    counts.data *= np.log(n_samples / in_documents[counts.indices])
    return Table(normalize(counts), label, numbered(n_features), [n_samples])


def phrases(
    *, n_samples: int, n_features: int, n_pairs: int, n_classes: int, terms: float, spread: float, seed: int
) -> Table:
    """Counts of words some of which come in pairs only, as "Puerto" and "Rico"; sparse, labels from 0.

    A document is a Poisson number of independent terms, `terms` in the mean. The first `n_pairs` terms are
    pairs of words, the columns 2i and 2i + 1, the others single words. Frequencies fall as 1 / rank in a
    random order of the terms; in each class every term's is multiplied by exp(`spread` z), z standard normal.
    """
    rng = np.random.default_rng(seed)
    n_terms = n_features - n_pairs
    rank = 1 + rng.permutation(n_terms)
    frequency = np.exp(spread * rng.standard_normal((n_classes, n_terms))) / rank
    label = rng.integers(n_classes, size=n_samples)
    length = np.maximum(rng.poisson(terms, n_samples), 1)
    counts = rng.multinomial(length, (frequency / frequency.sum(axis=1, keepdims=True))[label])
    words = counts[:, np.r_[np.repeat(np.arange(n_pairs), 2), np.arange(n_pairs, n_terms)]]
    return Table(sparse.csr_array(words.astype(np.float64)), label, numbered(n_features), [n_samples])


def mackey_glass(*, n_samples: int, n_delays: int, interval: int, delay: int) -> Table:
    """The Mackey-Glass series to be continued: a row holds the last values, its label is the next one.

    Values stand `interval` time units apart, the oldest in the first column; each row starts one value later.
    """
    series = mackey_glass_series(n_samples + n_delays, delay=delay, interval=interval)
    windows = np.lib.stride_tricks.sliding_window_view(series, n_delays + 1)
    return _matrix(windows[:, :-1], windows[:, -1])


GENERATORS = {
    "documents": documents,
    "gaussians": gaussians,
    "phrases": phrases,
    "mackey_glass": mackey_glass,
    "mixture": mixture,
    "rings": rings,
    "spirals": spirals,
    "stretched_gaussians": stretched_gaussians,
    "two_moons": two_moons,
    "waveform": waveform,
}
