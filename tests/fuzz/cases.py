"""Cases of the fuzz as JSON: an estimator or a measure, its settings, a recipe of data, a law to check.

A case holds only what differs from the defaults, so that a finding is reproduced from one short line:
``{"estimator": "LSSVC", "settings": {"C": 1e+308}, "data": {"kind": "unix times"}, "law": "again"}``.
"""

import inspect
from functools import partial
from numbers import Integral

import hypothesis
import numpy as np
import pandas as pd
import polars as pl
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
    "C": [[1e-3, 1.0]],
    "feature_range": [[0.0, 1.0], [-3.0, 5.0]],
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
LONGER = {"max_iter", "n_init", "n_rounds", "patience", "samples_per_coordinate", "samples_per_candidate"}
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
    "renyi_entropy": measure(lambda X: [shares(X[0])], "scale", alpha=POWERS),
    "havrda_charvat_entropy": measure(lambda X: [shares(X[0])], "scale", alpha=POWERS),
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

KINDS = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "counts": lambda rng, n, d: rng.poisson(2.0, size=(n, d)).astype(float),
    "bits": lambda rng, n, d: rng.integers(0, 2, size=(n, d)).astype(float),
    "each row twice": lambda rng, n, d: rng.normal(size=(n, d))[np.arange(n) // 2],
    "one row": lambda rng, n, d: np.tile(rng.normal(size=d), (n, 1)),
    "collinear": lambda rng, n, d: rng.normal(size=(n, 1)) * rng.normal(size=d),
    "equal eigenvalues": lambda rng, n, d: np.linalg.qr(rng.normal(size=(max(n, d), d)))[0][:n],
    "groups far apart": lambda rng, n, d: rng.normal(size=(n, d)) + 1e8 * rng.integers(0, 2, size=(n, 1)),
    "heavy tails": lambda rng, n, d: rng.standard_cauchy(size=(n, d)) ** 3,
    "zeros": lambda rng, n, d: np.zeros((n, d)),
    "unix times": lambda rng, n, d: 1.7e9 + rng.integers(0, 86400, size=(n, d)),
}
ORDINARY = ("normal", "uniform", "counts")
COLUMNS = {
    "constant": lambda rng, X: np.full(len(X), 0.3),
    "huge constant": lambda rng, X: np.full(len(X), 1e6),
    "nearly constant": lambda rng, X: 1 + 1e-13 * rng.normal(size=len(X)),
    "copy": lambda rng, X: X[:, -1],
    "large": lambda rng, X: 1e10 * rng.normal(size=len(X)),
}
OFFSETS = [1e3, 1e6, 1e9, 1e12]
SCALES = [1e-3, 1e3, 1e-20, 1e20, 1e-60, 1e60, 1e-90, 1e-160, 1e160]
SHAPES = [(20, 3), (30, 2), (40, 4), (25, 5)]
ODD_SHAPES = [(6, 2), (4, 1), (3, 3), (2, 2), (1, 2), (8, 40), (200, 2), (12, 12)]
# Codes of the classes of n rows, whose first column they move (but for "noise").
CLASS_TARGETS = {
    "two": lambda n: np.arange(n) % 2,
    "three": lambda n: np.arange(n) % 3,
    "imbalanced": lambda n: (np.arange(n) >= min(2, n - 1)).astype(int),
    "one row each": lambda n: np.arange(n) % 60,
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


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def odd_csr(X):
    """CSR with explicit zeros and column indices in descending order."""
    n, d = X.shape
    indices = np.tile(np.arange(d)[::-1], n)
    return sp.csr_matrix((X[:, ::-1].ravel(), indices, np.arange(0, n * d + 1, d)), shape=X.shape)


def narrow(X, dtype):
    with np.errstate(over="ignore"):
        return X.astype(dtype)


# Containers, layouts and dtypes of the rows of a case.
FORMS = {
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
    "with steps": with_steps,
    "backwards": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "list": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame(X, schema=[f"c{i}" for i in range(X.shape[1])]),
    "float32": partial(narrow, dtype=np.float32),
    "float16": partial(narrow, dtype=np.float16),
    "int64": lambda X: np.clip(np.rint(X), -1e15, 1e15).astype(np.int64),
    "bool": lambda X: np.median(X) < X,
    "CSR": sp.csr_matrix,
    "CSR, odd": odd_csr,
}
SHIFTS = [1.0, 1e3, 1e6, 1e8]
POWERS_OF_2 = [3, -3, 30, -30, 100, -100, 200, -200, -300, -500]


def forms_of(name: str) -> list[str]:
    """The forms of rows that an estimator or a measure accepts."""
    out = {"CSR", "CSR, odd"} if not takes(name, "sparse") else set()
    out |= {"list", "pandas", "polars"} if name in MEASURES else set()
    out |= {"bool"} if name == "mixed_mutual_information" else set()  # which takes them for labels
    return sorted(FORMS.keys() - out)


def costs_digits(law: str, how: dict) -> bool:
    """Whether a law holds up to rounding only, so that it is not claimed for extreme settings."""
    return law in ("order", "shift", "scale", "chunks", "rows") or "CSR" in how.get("form", "")


def cases(laws_of: dict):
    """A strategy of cases, from a table of the laws of each estimator."""

    @st.composite
    def draw_case(draw):
        name = draw(st.sampled_from(sorted(laws_of)))
        law = draw(st.sampled_from(laws_of[name]))
        how = {}
        match law:
            case "form" | "mutation":
                how["form"] = draw(st.sampled_from(forms_of(name)))
            case "shift":
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
