"""Cases of the fuzz as JSON: an estimator or a measure, its settings, a recipe of data, a law to check.

A case holds only what differs from the defaults, so that a finding is reproduced from one short line:
``{"estimator": "LSSVC", "settings": {"alpha": 1e-308}, "data": {"kind": "unix times"}, "law": "again"}``.
"""

import inspect
import itertools
import tempfile
import warnings
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from numbers import Integral
from pathlib import Path

import hypothesis
import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from public_estimators import ESTIMATORS
from sklearn.base import BaseEstimator, is_regressor
from sklearn.covariance import EmpiricalCovariance
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils._param_validation import Interval, StrOptions, make_constraint

from entrolearn import EEMClassifier, measures

DEFAULT = {type(estimator).__name__: estimator for estimator in reversed(ESTIMATORS)}
CLASSES = {name: type(estimator) for name, estimator in DEFAULT.items()}
VIEWS = ("CoherentFeatures", "IncoherentFeatures")
OF_VALUES = {name for name, estimator in DEFAULT.items() if is_regressor(estimator) or name in VIEWS}

# --- settings -----------------------------------------------------------------------------------------


def cubes(Z):
    return Z**3


def products(x, z):
    return float(x @ z) if isinstance(x, np.ndarray) else (x @ z.T).sum()  # rows of CSR are matrices


# Settings that JSON cannot hold, by their names in a case.
OBJECTS = {
    "@cubes": cubes,
    "@products": products,
    "@EmpiricalCovariance": EmpiricalCovariance(),
    "@SVC": SVC(random_state=0),
    "@EEM": EEMClassifier(10, random_state=0),
    "@EEM without seed": EEMClassifier(10),
    "@EEM of 20": EEMClassifier(20),
    "@pipeline": Pipeline([("clf", EEMClassifier(10))]),
}
SEARCHES = [
    {"estimator": "@SVC", "param_grid": {"C": [0.1, 10.0]}},
    {"estimator": "@EEM", "param_grid": {"n_hidden": [5, 20]}},
    {"estimator": "@EEM without seed", "param_grid": {"n_hidden": [5, 20]}},
    {"estimator": "@pipeline", "param_grid": {"clf": ["@EEM without seed", "@EEM of 20"]}},
]
# Values that are neither names nor numbers, by parameter.
LISTED = {
    "alpha": [[1e-3, 1.0]],
    "kernel_params": [{"degree": 2}, {"degree": 100.0, "coef0": -1.0}, {"coef0": 100.0}, {"power": 0.1}],
    "bounds": [[0.0, 1.0], [-3.0, 5.0]],
    "priors": [{"0": 1.0, "1": 3.0}, [1.0, 3.0], [0.2, 0.3, 0.5], [1e308, 1e308], [1e-300, 1.0]],
    "class_weight": [{"0": 1.0, "1": 9.0}, {"0": 1e-300, "1": 1e300}],
    "learning_rate": [[0.5, 0.1], [1e-300, 1e-300]],
    "activation": ["@cubes"],
    "kernel": ["@products"],
    "covariance": ["@EmpiricalCovariance"],
}
# Parameters that do not make another case.
NOT_DRAWN = {"n_jobs", "verbose", "random_state"}
# Parameters that lengthen a fit, and the defaults of the fuzz, which keep fits short.
LONGER = {
    "max_iter",
    "n_init",
    "n_rounds",
    "n_iter_no_change",
    "samples_per_coordinate",
    "samples_per_candidate",
}
QUICK = {"max_iter": 50, "n_init": 2, "samples_per_coordinate": 10, "samples_per_candidate": 3}
QUICK |= {"n_hidden": 10, "random_state": 0}

SENSIBLE = [1.0, 0.5, 2.0, 0.1, 10.0, 0.01, 100.0]
EXTREME = [0.0, 5e-324, 1e-308, 1e-300, 1e-160, 1e-100, 1e-39, 1e-16, 1e-9, 1e9, 1e16, 1e39, 1e100, 1e160]
EXTREME += [1e300, 1e308, -1e-300, -1e308, 1 - 2**-53, 0.999]
WHOLE, MANY = [1, 2, 3, 5, 10, 20], [1, 2, 50, 1000, 10**12]


def values_of(name: str, parameter: str, extreme: bool) -> list:
    """Values to draw for a parameter of an estimator."""
    constraints = [make_constraint(c) for c in CLASSES[name]._parameter_constraints[parameter]]
    values = []
    for constraint in constraints:
        if isinstance(constraint, StrOptions):
            values += sorted(constraint.options - {"precomputed", "stiefel"})
        elif isinstance(constraint, Interval) and constraint.type is Integral:
            pool = WHOLE if not extreme else MANY[:3] if parameter in LONGER else MANY
            values += filter(constraint.is_satisfied_by, pool)
        elif isinstance(constraint, Interval):
            values += filter(constraint.is_satisfied_by, EXTREME if extreme else SENSIBLE)
        else:
            values += filter(constraint.is_satisfied_by, [None, False, True])
    listed = ((value, resolve(value)) for value in LISTED.get(parameter, []))
    return values + [value for value, of in listed if any(c.is_satisfied_by(of) for c in constraints)]


def own_settings(estimator) -> dict:
    """What an estimator is given that its class has not by default."""
    defaults = inspect.signature(type(estimator)).parameters
    given = estimator.get_params(deep=False)
    return {key: value for key, value in given.items() if str(value) != str(defaults[key].default)}


def settings_of(name: str, extreme: bool):
    """A strategy of the settings of an estimator or a measure."""
    if name == "EntropySearch":
        criteria = st.sampled_from(["gaussian", "kde"])
        return st.builds(
            lambda search, kind: {**search, "criterion": kind}, st.sampled_from(SEARCHES), criteria
        )
    if name in MEASURES:
        pools = MEASURES[name]["settings"]
    else:
        known = inspect.signature(CLASSES[name]).parameters
        pools = {p: values_of(name, p, extreme) for p in sorted(known) if p not in NOT_DRAWN}
    # Few at once: with many, most cases would be refused.
    some = st.lists(st.sampled_from([p for p in pools if pools[p]] or [""]), max_size=4, unique=True)
    return some.flatmap(lambda ps: st.fixed_dictionaries({p: st.sampled_from(pools[p]) for p in ps if p}))


def make_estimator(name: str, settings: dict):
    """The estimator or measure of a case, unfitted."""
    given = {key: resolve(value) for key, value in settings.items()}
    if name in MEASURES:
        return Measure(name, given)
    known = inspect.signature(CLASSES[name]).parameters
    return CLASSES[name](**{key: value for key, value in QUICK.items() if key in known} | given)


def resolve(value):
    """A setting with names replaced by objects, and keys, which are strings in JSON, by integer labels."""
    if isinstance(value, dict):
        return {int(key) if key.isdigit() else key: resolve(v) for key, v in value.items()}
    if isinstance(value, list):
        return [resolve(v) for v in value]
    return OBJECTS[value] if isinstance(value, str) and value.startswith("@") else value


# --- measures -----------------------------------------------------------------------------------------


def shares(X):
    P = np.abs(np.asarray(X, dtype=np.float64))
    P = P / P.max() if P.any() else P + 1
    return P / P.sum()


def covariance(X):
    X = np.asarray(X, dtype=np.float64)
    X = X - np.where(np.ptp(X, axis=0) > 0, X.mean(axis=0), X[0])  # of equal numbers it may be none
    return X.T @ X / len(X)


def measure(of, laws="", value="same", **settings) -> dict:
    laws = {"form", "mutation", "again", *laws.split()}
    return {"of": of, "laws": laws, "value": value, "settings": settings}


POWERS = [1.0, 0.5, 2.0, 1e-9, 1 + 1e-9, 100.0, 1e300]
METHODS = ["exact", "binned", "auto"]
# Function of entrolearn.measures -> its arguments, computed from rows; its laws besides those of all; how
# multiplying the rows by a changes the value ("same"; "factor": times a; "each feature", "once": plus ln a);
# values of its parameters, the first of which is the default.
MEASURES = {
    "entropy": measure(lambda X: [shares(X[0])], "scale"),
    "renyi_entropy": measure(lambda X: [shares(X[0])], "scale", order=POWERS),
    "havrda_charvat_entropy": measure(lambda X: [shares(X[0])], "scale", order=POWERS),
    "joint_entropy": measure(lambda X: [shares(X)], "scale order"),
    "mutual_information": measure(lambda X: [shares(X)], "scale order"),
    "conditional_entropy": measure(lambda X: [shares(X)], "scale order", given=["rows", "columns"]),
    "kl_divergence": measure(lambda X: [shares(X[0]), shares(X[-1])], "scale"),
    "cross_entropy": measure(lambda X: [shares(X[0]), shares(X[-1])], "scale"),
    "entropy_from_counts": measure(lambda X: [np.abs(X[0])], "scale"),
    "mutual_information_from_counts": measure(lambda X: [np.abs(X)], "scale order"),
    "gaussian_entropy": measure(lambda X: [covariance(X)], "scale order", "each feature"),
    "kde_entropy": measure(lambda X: [X], "scale order shift", "each feature"),
    "knn_entropy": measure(lambda X: [X], "scale order shift", "each feature", n_neighbors=[3, 1, 2, 10]),
    "silverman_bandwidth": measure(lambda X: [X[:, 0]], "scale order shift", "factor"),
    "quadratic_entropy_gaussian": measure(lambda X: [covariance(X)], "scale order", "each feature"),
    "quadratic_entropy_kde": measure(lambda X: [X[:, 0]], "scale order shift", "once", method=METHODS),
    "cauchy_schwarz_kde": measure(lambda X: [X[:, 0], X[:, -1]], "scale order shift", method=METHODS),
    "cauchy_schwarz_gaussian": measure(
        lambda X: [X[0], covariance(X), X[-1], covariance(X[: len(X) // 2 + 1])], "scale"
    ),
    "expected_maximum": measure(lambda X: [X[:, 0]], "scale order", "factor"),
    **{
        f"{name}_mutual_information": measure(lambda X: [X[:, :1], X[:, 1:]], f"scale order shift {more}")
        for more, names in {"": "gaussian copula kde quadratic", "rounding": "knn mixed"}.items()
        for name in names.split()
    },
}


class Measure(BaseEstimator):
    """A function of entrolearn.measures as an estimator: `fit` stores its result in ``value_``."""

    def __init__(self, name: str, settings: dict):
        self.name, self.settings = name, settings

    def fit(self, X, y=None):
        of, pools = MEASURES[self.name]["of"], MEASURES[self.name]["settings"]
        settings = {key: pool[0] for key, pool in pools.items()} | self.settings
        self.value_ = np.asarray(getattr(measures, self.name)(*of(X), **settings))
        return self


# --- data ---------------------------------------------------------------------------------------------


def of_each_class(rng, n, d, change) -> np.ndarray:
    """Normal rows of the two usual classes, each of which is changed."""
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    for start in range(min(2, n)):
        X[start::2] = change(X[start::2] - X[start::2].mean(axis=0))
    return X


def whitened(own):
    left, _, right = np.linalg.svd(own, full_matrices=False)
    return np.sqrt(len(own)) * left @ right


def standardised(own):
    return own / np.where(own.std(axis=0) > 0, own.std(axis=0), 1)


def one_class_equal(rng, n, d):
    X = rng.normal(size=(n, d))
    X[1::2] = X[:1] + 1
    return X


KINDS = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "counts": lambda rng, n, d: rng.poisson(2.0, size=(n, d)).astype(float),
    "bits": lambda rng, n, d: rng.integers(0, 2, size=(n, d)).astype(float),
    "each row twice": lambda rng, n, d: rng.normal(size=(n, d))[np.arange(n) // 2],
    "one row": lambda rng, n, d: np.tile(rng.normal(size=d), (n, 1)),
    "collinear": lambda rng, n, d: rng.normal(size=(n, 1)) * rng.normal(size=d),
    "equal eigenvalues": lambda rng, n, d: np.linalg.qr(rng.normal(size=(max(n, d), d)))[0][:n],
    # Rounding decides on the axes of such covariances, or which entry of an axis is the largest.
    "round classes": lambda rng, n, d: of_each_class(rng, n, d, whitened),
    "equal variances": lambda rng, n, d: of_each_class(rng, n, d, standardised),
    "one class equal": one_class_equal,
    "groups far apart": lambda rng, n, d: rng.normal(size=(n, d)) + 1e8 * rng.integers(0, 2, size=(n, 1)),
    "heavy tails": lambda rng, n, d: rng.standard_cauchy(size=(n, d)) ** 3,
    "zeros": lambda rng, n, d: np.zeros((n, d)),
    "unix times": lambda rng, n, d: 1.7e9 + rng.integers(0, 86400, size=(n, d)),
}
ORDINARY = ("normal", "uniform", "counts")
COLUMNS = {
    "constant": lambda rng, X: np.full(len(X), 0.3),
    "zeros": lambda rng, X: np.zeros(len(X)),
    "huge constant": lambda rng, X: np.full(len(X), 1e6),
    "nearly constant": lambda rng, X: 1 + 1e-13 * rng.normal(size=len(X)),
    "copy": lambda rng, X: X[:, -1],
    "large": lambda rng, X: 1e10 * rng.normal(size=len(X)),
    "huge": lambda rng, X: 1e60 * rng.uniform(0.1, 1, size=len(X)),
    "tiny": lambda rng, X: 1e-300 * rng.uniform(0.1, 1, size=len(X)),
    "outlier": lambda rng, X: np.where(np.arange(len(X)) == 3, 1e60, X[:, X.shape[1] // 2]),
    "float32 outlier": lambda rng, X: np.where(np.arange(len(X)) == 3, 1e38, X[:, X.shape[1] // 2]),
}
OFFSETS = [1e3, 1e6, 1e9, 1e12]
SCALES = [1e-3, 1e3, 1e-20, 1e20, 1e-60, 1e60, 1e-90, 1e-155, 1e-160, 1e160, 1e-300, 5e-324]
SHAPES = [(20, 3), (30, 2), (40, 4), (25, 5)]
ODD_SHAPES = [(6, 2), (4, 1), (3, 3), (2, 2), (1, 2), (8, 40), (200, 2), (12, 12)]
# Codes of the classes of n rows, whose first column they move (but for "noise").
CLASS_TARGETS = {
    "two": lambda n: np.arange(n) % 2,
    "three": lambda n: np.arange(n) % 3,
    "imbalanced": lambda n: (np.arange(n) >= min(2, n - 1)).astype(int),
    "one row each": lambda n: np.arange(n) % 60,
    "one row of a class": lambda n: (np.arange(n) > 0).astype(int),
    "one class": lambda n: np.zeros(n, dtype=int),
    "noise": lambda n: np.arange(n) % 2,
}
# Values made of those of a linear function of the rows, with noise.
VALUE_TARGETS = {
    "linear": lambda rng, y: y,
    "two outputs": lambda rng, y: np.column_stack([y, rng.normal(size=len(y))]),
    "constant": lambda rng, y: np.full(len(y), 3.0),
    "noise": lambda rng, y: rng.normal(size=len(y)),
    "huge": lambda rng, y: 1e40 * y,
    "tiny": lambda rng, y: 1e-160 * y,
    "far": lambda rng, y: 1e9 + y,
}
LABELS = {
    "numbers": np.arange(60),
    "words": np.array([f"class {i:02}" for i in range(60)]),
    "objects": np.array([f"class {i:02}" for i in range(60)], dtype=object),
    "floats": np.arange(60.0),
    "negative": np.arange(60).astype(np.int8) - 70,
}


def takes(name: str, what: str) -> bool:
    """Whether an estimator accepts "sparse" rows, "negative" numbers, "many" classes or outputs."""
    if name in MEASURES:
        return what == "negative"
    tags = get_tags(DEFAULT[name])
    return {
        "sparse": tags.input_tags.sparse,
        "negative": not tags.input_tags.positive_only,
        "many": tags.classifier_tags.multi_class if tags.classifier_tags else tags.target_tags.multi_output,
    }[what]


def recipes(name: str, extreme: bool):
    """A strategy of recipes of data, with or without extremes."""
    targets = [target for target in VALUE_TARGETS if name in OF_VALUES] or list(CLASS_TARGETS)
    if not takes(name, "many"):
        targets = [target for target in targets if target not in ("two outputs", "three", "one row each")]
    parts = {
        "kind": st.sampled_from(list(KINDS) if extreme else ORDINARY),
        "shape": st.sampled_from(SHAPES + ODD_SHAPES * extreme),
        "seed": st.integers(0, 999),
    }
    optional = {"target": st.sampled_from(targets if extreme else targets[:2])}
    if name not in OF_VALUES:
        optional["labels"] = st.sampled_from(sorted(LABELS))
    if extreme:
        optional |= {"column": st.sampled_from(sorted(COLUMNS)), "offset": st.sampled_from(OFFSETS)}
        optional |= {"scale": st.sampled_from(SCALES)}
    return st.fixed_dictionaries(parts, optional=optional)


def rows_and_targets(name: str, data: dict) -> tuple[np.ndarray, np.ndarray | None]:
    """The rows of a recipe, in double precision, and their targets, None if the estimator needs none."""
    n, d = data.get("shape", SHAPES[0])
    rng = np.random.default_rng(data.get("seed", 0))
    target = data.get("target")
    codes = CLASS_TARGETS.get(target, CLASS_TARGETS["two"])(n)
    X = np.array(KINDS[data.get("kind", "normal")](rng, n, d))
    if target not in ("noise", "constant") and np.ptp(X[:, 0]) < 1e6:
        X[:, 0] += 2 * codes
    if "column" in data:
        X[:, d // 2] = COLUMNS[data["column"]](rng, X)
    y = X / max(1.0, np.abs(X).max()) @ rng.normal(size=d) + 0.1 * rng.normal(size=n)
    X = (X + data.get("offset", 0.0)) * data.get("scale", 1.0)
    X = X if takes(name, "negative") else np.abs(X)
    if name in MEASURES or not get_tags(DEFAULT[name]).target_tags.required:
        return X, None
    if name not in OF_VALUES:
        return X, LABELS[data.get("labels", "numbers")][codes]
    y = VALUE_TARGETS.get(target, VALUE_TARGETS["linear"])(rng, y)
    return X, y if name not in VIEWS or y.ndim > 1 else np.column_stack([y, rng.normal(size=n)])


# --- forms --------------------------------------------------------------------------------------------


def with_steps(X):
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(a):
    a = a.copy()
    for part in (a.data, a.indices, a.indptr) if sp.issparse(a) else (a,):
        part.flags.writeable = False
    return a


def memory_mapped(X):
    with tempfile.TemporaryDirectory() as folder:  # the map outlives the file's name
        np.save(file := Path(folder, "rows.npy"), X)
        return np.load(file, mmap_mode="r")


def odd_csr(X):
    """CSR with explicit zeros and column indices in descending order."""
    n, d = X.shape
    indices = np.tile(np.arange(d)[::-1], n)
    return sp.csr_matrix((X[:, ::-1].ravel(), indices, np.arange(0, n * d + 1, d)), shape=X.shape)


def stored_twice(X):
    """CSR with each number stored as two halves."""
    n, d = X.shape
    indices, indptr = np.tile(np.repeat(np.arange(d), 2), n), np.arange(0, 2 * n * d + 1, 2 * d)
    return sp.csr_matrix((np.repeat(X.ravel() / 2, 2), indices, indptr), shape=X.shape)


def with_long_indices(X):
    csr = sp.csr_matrix(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


def narrow(X, dtype):
    with np.errstate(over="ignore"):
        return X.astype(dtype)


def whole(X, most):
    return np.clip(np.rint(X), -most, most)


def named(X) -> dict:
    return {f"c{i}": column for i, column in enumerate(X.T)}


def of_several_types(X):
    frame = import_module("pandas").DataFrame(named(whole(X, 100)))
    return frame.astype(
        dict(zip(frame, itertools.cycle(["int8", "float32", "Float64", "int16"]), strict=False))
    )


def with_pandas(what: str, **settings):
    return lambda a: getattr(import_module("pandas"), what)(a, **settings)


# Containers, layouts and dtypes of the rows of a case.
FORMS = {
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
    "with steps": with_steps,
    "backwards": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "list": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "memory map": memory_mapped,
    "big-endian": lambda X: X.astype(">f8"),
    "big-endian float32": partial(narrow, dtype=">f4"),
    "float32": partial(narrow, dtype=np.float32),
    "float16": partial(narrow, dtype=np.float16),
    "int64": lambda X: whole(X, 1e15).astype(np.int64),
    "int8": lambda X: whole(X, 100).astype(np.int8),
    "uint8": lambda X: whole(np.abs(X), 200).astype(np.uint8),
    "bool": lambda X: np.median(X) < X,
    "CSR": sp.csr_matrix,
    "CSR, odd": odd_csr,
    "CSR, read-only": lambda X: read_only(sp.csr_matrix(X)),
    "CSR, stored twice": stored_twice,
    "CSR, long indices": with_long_indices,
    "CSR of int8": lambda X: sp.csr_matrix(whole(X, 100).astype(np.int8)),
    "CSC": sp.csc_matrix,
    "COO": sp.coo_array,
}
# Containers and dtypes of targets: labels 0, 1, ... or whole numbers from 0 to 100.
LABEL_FORMS = {
    "labels of uint8": lambda y: y.astype(np.uint8),
    "negative labels": lambda y: (y - 7).astype(np.int8),
    "truth values": lambda y: y.astype(bool),
    "whole floats": lambda y: y + 1.0,
    "whole floats in half precision": lambda y: (y + 1).astype(np.float16),
    "words": lambda y: np.array(["no", "yes"])[y],
    "objects": lambda y: np.array(["no", "yes"], dtype=object)[y],
    "a list of words": lambda y: np.array(["no", "yes"])[y].tolist(),
    "big-endian labels": lambda y: y.astype(">i8"),
    "read-only labels": read_only,
}
VALUE_FORMS = {
    "a list": lambda y: y.tolist(),
    "int8": lambda y: y.astype(np.int8),
    "uint8": lambda y: y.astype(np.uint8),
    "int64": lambda y: y.astype(np.int64),
    "float16": lambda y: y.astype(np.float16),
    "float32": lambda y: y.astype(np.float32),
    "big-endian values": lambda y: y.astype(">f8"),
    "read-only values": read_only,
    "values with steps": lambda y: np.repeat(y, 2, axis=0)[::2],
    "Fortran order": np.asfortranarray,
}
if find_spec("pandas"):  # which the learners need not
    FORMS["pandas"] = lambda X: with_pandas("DataFrame")(named(X))
    FORMS["nullable pandas"] = lambda X: with_pandas("DataFrame")(named(X)).astype("Float64")
    FORMS["pandas of several types"] = of_several_types
    LABEL_FORMS["pandas"] = with_pandas("Series")
    LABEL_FORMS["nullable pandas"] = with_pandas("Series", dtype="Int64")
    LABEL_FORMS["categories"] = lambda y: with_pandas("Series", dtype="category")(LABEL_FORMS["words"](y))
    VALUE_FORMS["pandas"] = lambda y: with_pandas("DataFrame" if y.ndim > 1 else "Series")(y)
    VALUE_FORMS["nullable pandas"] = lambda y: VALUE_FORMS["pandas"](y).astype("Float64")
if find_spec("polars"):
    FORMS["polars"] = lambda X: import_module("polars").DataFrame(named(X))
    LABEL_FORMS["polars"] = lambda y: import_module("polars").Series(y)
    LABEL_FORMS["polars words"] = lambda y: import_module("polars").Series(LABEL_FORMS["words"](y).tolist())
    VALUE_FORMS["polars"] = lambda y: (
        import_module("polars").DataFrame(named(y)) if y.ndim > 1 else import_module("polars").Series(y)
    )


def with_one(value, dtype=np.float64):
    """A function that replaces one number of an array."""

    def change(a):
        a = a.astype(dtype)
        a[(len(a) // 2, *[0] * (a.ndim - 1))] = value
        return a

    return change


def as_matrix(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # NumPy's, of np.matrix
        return np.asmatrix(X)


# Rows that nobody can learn from, nor predict anything of.
SPOILT_ROWS = {
    "NaN": with_one(np.nan),
    "inf": with_one(np.inf),
    "-inf": with_one(-np.inf),
    "None among the rows": with_one(None, object),
    "a word among the rows": with_one("word", object),
    "a dict among the rows": with_one({}, object),
    "None": lambda X: None,
    "a number": lambda X: 3.0,
    "a word": lambda X: "rows",
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "one dimension": lambda X: X[:, 0],
    "three dimensions": lambda X: np.ones((len(X), 2, 2)),
    "ragged rows": lambda X: [*X[:-1].tolist(), [1.0]],
    "complex numbers": lambda X: X + 1j,
    "np.matrix": as_matrix,
    "CSR with NaN": lambda X: sp.csr_matrix(with_one(np.nan)(X)),
}
# Rows that are too large to square, or no numbers.
UNUSABLE_ROWS = {
    "dates": lambda X: np.full(X.shape, np.datetime64("2020-01-01")),
    "1e300": lambda X: 1e300 * (X + 1),
    "one 1e300": with_one(1e300),
    "one -1e300": with_one(-1e300),
    "1e300 beside 1e-300": lambda X: X * 10.0 ** np.linspace(300, -300, X.shape[1]),
    "CSR with 1e300": lambda X: sp.csr_matrix(with_one(1e300)(X)),
}
# Rows that only a fitted estimator refuses.
OTHER_COLUMNS = {"a feature less": lambda X: X[:, 1:], "a feature more": lambda X: np.hstack([X, X[:, :1]])}
SPOILT_TARGETS = {
    "no y": lambda y: None,
    "y of another length": lambda y: y[:-1],
    "NaN in y": with_one(np.nan),
    "inf in y": with_one(np.inf),
    "None in y": with_one(None, object),
    "complex y": lambda y: y + 1j,
    "three dimensions": lambda y: np.ones((len(y), 2, 2)),
    "a number": lambda y: 1.0,
}
SPOILT_LABELS = {
    "measurements": lambda y: np.random.default_rng(0).normal(size=len(y)),
    "labels in two columns": lambda y: np.column_stack([y, y]),
    "words and numbers": with_one("b", object),
    "words and None": lambda y: with_one(None, object)(y.astype(str)),
}
SPOILT_VALUES = {
    "words": lambda y: np.full(y.shape, "word"),
    "one 1e300": with_one(1e300),
}


SPARSE = {form for form in FORMS if form.startswith("C")}
SHIFTS = [1.0, 1e3, 1e6, 1e8]
POWERS_OF_2 = [3, -3, 30, -30, 100, -100, 200, -200, -300, -500]


def forms_of(name: str, law: str = "form") -> list[str]:
    """The forms in which an estimator or a measure may get its rows or targets, or those that it refuses."""
    match law:
        case "target form":
            return sorted(VALUE_FORMS if name in OF_VALUES else LABEL_FORMS)
        case "spoilt rows":
            return sorted(SPOILT_ROWS | UNUSABLE_ROWS | OTHER_COLUMNS)
        case "spoilt targets":
            return sorted(SPOILT_TARGETS | (SPOILT_VALUES if name in OF_VALUES else SPOILT_LABELS))
    out = set() if takes(name, "sparse") else SPARSE
    if name in MEASURES:
        out = out | {form for form in FORMS if form in ("list", "objects", "polars") or "pandas" in form}
    out = out | {"objects"} if name == "InformationFilter" else out  # whose transform returns them
    out = out | {"bool"} if name == "mixed_mutual_information" else out  # which takes them for labels
    return sorted(FORMS.keys() - out)


# Laws about a fit to other rows: it is computed otherwise.
OF_ANOTHER_FIT = (
    "order",
    "shift",
    "scale",
    "columns",
    "names",
    "rotation",
    "affine",
    "constant",
    "weights",
    "one step",
)


def costs_digits(law: str, how: dict) -> bool:
    """Whether a law holds up to rounding only, so that it is not claimed for extreme settings."""
    return law in ("chunks", "rows", *OF_ANOTHER_FIT) or how.get("form") in SPARSE


def cases(laws_of: dict):
    """A strategy of cases, from a table of the laws of each estimator."""

    @st.composite
    def draw_case(draw):
        name = draw(st.sampled_from(sorted(laws_of)))
        law = draw(st.sampled_from(laws_of[name]))
        how = {}
        match law:
            case "form" | "mutation" | "target form" | "spoilt rows" | "spoilt targets":
                how["form"] = draw(st.sampled_from(forms_of(name, law)))
            case "shift" | "later":
                how["by"] = draw(st.sampled_from(SHIFTS))
                how["form"] = draw(st.sampled_from(["dense", "CSR"][: 1 + takes(name, "sparse")]))
            case "scale":
                how["by"] = draw(st.sampled_from(POWERS_OF_2))
            case "chunks":
                how["by"] = draw(st.sampled_from([1, 2, 5, 7]))
        odd_data, odd_settings = draw(st.booleans()), not costs_digits(law, how) and draw(st.booleans())
        settings, data = draw(settings_of(name, odd_settings)), draw(recipes(name, odd_data))
        return {"estimator": name, "settings": settings, "data": data, "law": law} | how

    return draw_case()


def drawn(seed: int, number: int, laws_of: dict) -> list[dict]:
    """A number of cases, determined by the seed."""
    found = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(cases(laws_of))
    def note(case):
        found.append(case)

    note()
    return found
