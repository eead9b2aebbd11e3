"""Laws of the fuzz: properties of estimators such as invariance under shifts, and `check`, which tests them.

Every case is checked for what must always hold: `fit` raises a clear error of one line, or the fitted
estimator gives finite answers that agree with each other; the caller's arrays and the global random state are
unchanged; no undocumented warning is given. In addition each case names one law to check.
"""

import inspect
import linecache
import os
import pickle
import re
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.base import ClusterMixin, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

import entrolearn
from entrolearn import EntropySearch, KLClustering
from entrolearn.kernels import INNER, RADIAL
from entrolearn.measures import UnreliableEstimateWarning
from entrolearn.path import PathPoint
from entrolearn.selection import entropy_criterion
from fuzz.cases import (
    CLASSES,
    DEFAULT,
    FORMS,
    LABEL_FORMS,
    MEASURES,
    OF_VALUES,
    ORDINARY,
    OTHER_COLUMNS,
    SHAPES,
    SPARSE,
    SPOILT_LABELS,
    SPOILT_ROWS,
    SPOILT_TARGETS,
    SPOILT_VALUES,
    UNUSABLE_ROWS,
    VALUE_FORMS,
    Measure,
    costs_digits,
    covariance,
    make_estimator,
    rows_and_targets,
)

#: Where the largest number is smaller, squares that learners compute with lose digits.
SMALLEST = 1e-130
#: Rounding decides how far beyond this the divergence of a class is whose rows are all equal.
NO_VARIANCE = 1e14
#: Processor seconds that a case, of up to four fits, may take.
SECONDS = 40


class Broken(Exception):
    """A law is broken: its name, what was found, and where."""

    def __init__(self, law: str, message: str, kind: str = "", place: str = "", tail: str = ""):
        super().__init__(f"{law}: {message}")
        self.law, self.message, self.kind, self.place, self.tail = law, message[:300], kind, place, tail


class Refused(Exception):
    """A clear error of one line was raised for the rows or settings."""


class TooSlow(BaseException):
    """A case exceeds its time limit. Not an Exception, which the library might catch."""


# --- which estimators claim which laws ----------------------------------------------------------------


def is_unusual(p: dict) -> bool:
    """Whether the recipe of data has an extreme in it."""
    data = p["data"]
    usual = data.get("kind", "normal") in ORDINARY and tuple(data.get("shape", SHAPES[0])) in SHAPES
    usual = usual and data.get("target", "two") in ("two", "three", "linear", "two outputs")
    return not usual or not data.keys().isdisjoint({"column", "offset", "scale"})


def few_rows(p: dict) -> bool:
    n, d = p["data"].get("shape", SHAPES[0])
    return n <= d + 1


def has_outliers(p: dict) -> bool:
    return p["data"].get("kind") == "heavy tails"


def equal_directions(p: dict) -> bool:
    """Whether two directions may explain equally much, so that any basis of them is as good."""
    return is_unusual(p) or few_rows(p)


def is_tied(p: dict) -> bool:
    return p["data"].get("kind") == "counts" or is_unusual(p)


def many_rows(p: dict) -> bool:
    return p["data"].get("shape", SHAPES[0])[0] >= 200


def width_has_units(p: dict) -> bool:
    """Whether the width of a kernel is in the units of the rows."""
    scaled = p.get("gamma") == "scale" and isinstance(p["kernel"], str)
    return not scaled or p["kernel"] not in {*RADIAL, *INNER} - {"linear"}


def of_kernel(p: dict, name: str) -> float:
    """A number among the parameters of the kernel; 0 where it is not given."""
    return (p.get("kernel_params") or {}).get(name, 0)


def is_no_convex_minimum(p: dict) -> bool:
    """Whether a linear classifier may stop before the minimum, or has no intercept, which costs nothing."""
    unfinished = p["solver"] != "lbfgs" or p["tol"] > 1e-8
    return unfinished or not p["fit_intercept"] or is_unusual(p)


def names_classes(p: dict) -> bool:
    """Whether settings belong to classes by their order or names."""
    return isinstance(p.get("priors"), list | dict) or isinstance(p.get("class_weight"), dict)


UNITS = ("EEMClassifier", "WELMClassifier", "ELMClassifier", "ELMRegressor")
ON_LANDMARKS = ("EEKMClassifier", "RKELMClassifier", "RKELMRegressor", "RSVC", "RSVR")
KERNELS = (*ON_LANDMARKS, "KELMClassifier", "KELMRegressor", "LSSVC", "LSSVR", "OneNormSVC", "OneNormSVR")
KERNELS += ("CrossEntropySVC", "CrossEntropySVR")
ENTROPY = ("EEMClassifier", "EEKMClassifier")
MSE = ("MSEMLPClassifier", "MSEMLPRegressor")
ERROR_ENTROPY = ("ErrorEntropyMLPClassifier", "ErrorEntropyMLPRegressor")
ONE_NORM = ("OneNormSVC", "OneNormSVR")
FEATURES = ("InfomaxICA", "LinearInfomax", "CoherentFeatures", "IncoherentFeatures")
LINEAR = ("MaxEntClassifier", "SoftmaxRegression")
RECURSIVE = ("RecursiveFeatureClassifier", "RecursiveFeatureRegressor")
NETWORKS = (*UNITS, *MSE, *ERROR_ENTROPY)
PCA_LIKE = ("ClassPCA", "TwoEllipsoidPCA", "PerClassPCA")
LINEAR_PROGRAMS = (*ONE_NORM, "CrossEntropySVC", "CrossEntropySVR")
WITHOUT_PARTIAL_FIT = tuple(name for name, cls in CLASSES.items() if not hasattr(cls, "partial_fit"))
CLUSTERERS = tuple(name for name, cls in CLASSES.items() if issubclass(cls, ClusterMixin))

OF_CLASSES = (*(name for name, one in DEFAULT.items() if is_classifier(one)), *PCA_LIKE, "GEM", "MELM")
WEIGHTED = tuple(n for n, cls in CLASSES.items() if "sample_weight" in inspect.signature(cls.fit).parameters)
DIRECTIONS = (*PCA_LIKE, "GEM", "MELM", *FEATURES)
SPHERICAL = ("KDEClassifier", *(name for name in DIRECTIONS if name not in ("MELM", "InfomaxICA")))
SPHERICAL += ("MinimumEntropyClustering", "RenyiEntropyClustering", "CrossEntropyClustering")
# Laws that not all are about -> the estimators that they are about.
ABOUT = {
    "names": OF_CLASSES,
    "one step": tuple(n for n, cls in CLASSES.items() if hasattr(cls, "fit_transform") or n in CLUSTERERS),
    "rotation": (*KERNELS, *LINEAR, *SPHERICAL),
    "affine": ("KDEClassifier", "CoherentFeatures", "IncoherentFeatures"),
    "constant": (
        *KERNELS,
        *LINEAR,
        *PCA_LIKE,
        *FEATURES,
        "MinimumEntropyClustering",
        "RenyiEntropyClustering",
    ),
    "weights": (*WEIGHTED, *(name for name in FEATURES if name != "InfomaxICA")),
    "spoilt rows": tuple(CLASSES),
    "spoilt targets": (*OF_VALUES, *(n for n, one in DEFAULT.items() if get_tags(one).target_tags.required)),
    "target form": (*OF_VALUES, *(n for n, one in DEFAULT.items() if get_tags(one).target_tags.required)),
}

# Law -> reasons not to claim it, with the estimators and a condition on their parameters, if any. All other
# estimators claim the law.
SEARCHED = ("it depends on the estimator that is searched", ("EntropySearch",), None)
NOT_CLAIMED: dict[str, list[tuple[str, tuple, Callable[[dict], bool] | None]]] = {
    "shift": [
        (
            "among sparse rows auto leaves out full metrics, and full is refused",
            RECURSIVE,
            lambda p: p["form"] == "CSR" and p["metric"] != "diagonal",
        ),
        ("with so few rows several features explain equally much", FEATURES, few_rows),
        ("random units and initial weights are drawn around the origin", NETWORKS, None),
        ("the kernel is not a function of distances", KERNELS, lambda p: p["kernel"] not in RADIAL),
        ("a solver that stops early depends on whether rows are centred", LINEAR, is_no_convex_minimum),
        ("moments are about the origin", ("GEM",), None),
        ("rows are distributions", ("KLClustering",), None),
        ("transform returns columns unchanged", ("InformationFilter",), None),
        ("outliers make a width beside which kernel values round to 1", ENTROPY[1:], has_outliers),
        (
            "a huge constant column costs the digits that break ties",
            CLUSTERERS,
            lambda p: p["data"].get("column") == "huge constant",
        ),
        SEARCHED,
    ],
    "rows": [
        (
            "outliers make a width beside which kernel values round to 1",
            ENTROPY[1:],
            lambda p: has_outliers(p) and p["covariance"] == "empirical",
        ),
        (
            "between classes without variance, rounding decides",
            (*ENTROPY, *RECURSIVE),
            lambda p: p["data"].get("kind") == "one row" or few_rows(p),
        ),
        (
            "rounding of the units' sums exceeds such targets",
            MSE,
            lambda p: p["data"].get("target") == "tiny",
        ),
    ],
    "scale": [
        ("random units and initial weights are scaled for rows in [0, 1]", NETWORKS, None),
        ("the kernel's width is in the units of the rows", KERNELS, width_has_units),
        ("weights are penalised", LINEAR, None),
        ("transform returns columns unchanged", ("InformationFilter",), None),
        ("the noise is in the units of the rows", ("LinearInfomax",), None),
        ("the noise is in the units of the rows", ("CoherentFeatures",), lambda p: p["noise_variance"]),
        ("the radius is in the units of the rows", ("MinimumEntropyClustering",), lambda p: p["radius"]),
        ("the width is in the units of the rows", ("RenyiEntropyClustering",), lambda p: p["bandwidth"]),
        ("a covariance is in the units of the rows", ("CrossEntropyClustering",), lambda p: p["covariance"]),
        SEARCHED,
    ],
    "order": [
        ("with so few rows several features explain equally much", FEATURES, few_rows),
        ("initial clusters are drawn by row number", CLUSTERERS, None),
        ("landmarks are drawn by row number", ON_LANDMARKS, lambda p: p["n_landmarks"] < 200),
        ("high powers leave a nearly singular matrix", KERNELS, lambda p: of_kernel(p, "degree") > 5),
        (
            "so do powers of large numbers",
            KERNELS,
            lambda p: p["kernel"] == "poly" and p.get("gamma") != "scale" and is_unusual(p),
        ),
        ("widths are drawn by row number", ON_LANDMARKS, lambda p: p.get("per_landmark_gamma")),
        ("folds and landmarks are drawn by row number", RECURSIVE, None),
        ("batches are drawn by row number", MSE, lambda p: p["batch_size"] < 200),
        ("candidate sets are drawn by row number", ("CrossEntropySVC", "CrossEntropySVR"), None),
        ("the linear program has many optima", ONE_NORM, lambda p: is_unusual(p) or p["gamma"] != "scale"),
        ("the last digits decide where the solver stops", (*ERROR_ENTROPY, *LINEAR), is_unusual),
        ("units that see no difference make a singular matrix", ("WELMClassifier",), is_unusual),
        (
            "without a ridge, more units than rows interpolate",
            UNITS[2:],
            lambda p: p["alpha"] == 0 and is_unusual(p),
        ),
        SEARCHED,
    ],
    "chunks": [
        ("it has no partial_fit", WITHOUT_PARTIAL_FIT, None),
        ("landmarks are drawn from the first chunk", ON_LANDMARKS, None),
        ("a pseudoinverse needs all rows", ("WELMClassifier",), lambda p: p["solver"] == "pinv"),
        ("partial_fit takes one ridge", UNITS[2:], lambda p: isinstance(p["alpha"], list)),
        ("of equal rows the variance is rounding", ENTROPY, lambda p: p["data"].get("kind") == "zeros"),
        ("the box is that of the first chunk", UNITS, lambda p: isinstance(p["bounds"], str)),
    ],
    "form": [
        ("among sparse rows auto leaves out full metrics", RECURSIVE, lambda p: p["metric"] == "auto"),
        ("between classes without variance, rounding decides", ("EntropySearch",), few_rows),
        (
            "single precision loses the small eigenvalues of an empirical covariance",
            ENTROPY[:1],
            lambda p: p["form"] == "float32" and p["covariance"] == "empirical",
        ),
        (
            "two searches may end at equally good sets",
            ("CrossEntropySVC", "CrossEntropySVR"),
            lambda p: "CSR" in (p["form"] or "") and is_unusual(p),
        ),
        (
            "rounding in single precision stops the solver",
            ("SoftmaxRegression",),
            lambda p: p["form"] == "float32" and is_unusual(p),
        ),
        (
            "single precision has no such initial weights",
            (*MSE, *ERROR_ENTROPY),
            lambda p: p["form"] == "float32" and isinstance(p["init"], float) and 0 < p["init"] < 1e-38,
        ),
    ],
    "rounding": [
        ("without a ridge, more units than rows interpolate", UNITS[1:], lambda p: p["alpha"] == 0),
        ("two starts may reach equally good clusterings", CLUSTERERS, None),
        ("steps by single rows amplify rounding", MSE, lambda p: p["batch_size"] == 1),
        (
            "so do steep units of large initial weights",
            MSE,
            lambda p: isinstance(p["init"], float) and p["init"] >= 10,
        ),
        ("of nearly equal scores either may choose the round", RECURSIVE, None),
        ("two searches may end at equally good sets", ("CrossEntropySVC", "CrossEntropySVR"), None),
        (
            "high powers and large constants leave a nearly singular matrix",
            KERNELS,
            lambda p: of_kernel(p, "degree") > 5 or abs(of_kernel(p, "coef0")) > 10,
        ),
        ("single precision starts from other extremes", ERROR_ENTROPY, is_unusual),
        ("units of few rows have no variance", ENTROPY, lambda p: p["covariance"] == "empirical"),
    ],
    "columns": [
        ("ties are decided by rounding", CLUSTERERS, is_tied),
        ("of such directions any basis is as good", DIRECTIONS, equal_directions),
        ("random weights belong to features", NETWORKS, None),
        ("starts and centroids are drawn feature by feature", ("MELM", "CrossEntropyMethodClustering"), None),
        ("the columns that are kept stay in their order", ("InformationFilter",), None),
        ("the linear program has many optima", LINEAR_PROGRAMS, is_unusual),
        ("the last digits decide where the solver stops", LINEAR, is_unusual),
        SEARCHED,
    ],
    "names": [
        ("of such directions any basis is as good", DIRECTIONS, equal_directions),
        ("settings belong to classes", OF_CLASSES, names_classes),
        ("components go round the classes in their order", ("PerClassPCA",), None),
        ("random weights belong to classes", (MSE[0], ERROR_ENTROPY[0]), None),
        ("the linear program has many optima", LINEAR_PROGRAMS, is_unusual),
        ("the last digits decide where the solver stops", LINEAR, is_unusual),
        ("folds are drawn class by class", RECURSIVE, None),
        SEARCHED,
    ],
    "rotation": [
        ("ties are decided by rounding", CLUSTERERS, is_tied),
        (
            "rows count by more than their distances and products",
            KERNELS,
            lambda p: p["kernel"] not in {*RADIAL, *INNER},
        ),
        ("of such directions any basis is as good", DIRECTIONS, equal_directions),
        ("a step that is not the last depends on the axes", LINEAR, is_no_convex_minimum),
        (
            "the covariance has axes",
            ("CrossEntropyClustering",),
            lambda p: p["family"] not in ("spherical", "fixed"),
        ),
        ("the linear program has many optima", LINEAR_PROGRAMS, is_unusual),
    ],
    "affine": [
        ("the covariance is shrunk", ("KDEClassifier",), lambda p: p["covariance"] != "empirical"),
        (
            "directions without a counterpart have no order",
            ("IncoherentFeatures",),
            lambda p: p["data"].get("shape", SHAPES[0])[1] > 3,
        ),
        ("there is noise", ("CoherentFeatures",), lambda p: p["noise_variance"]),
        ("of such directions any basis is as good", DIRECTIONS, equal_directions),
    ],
    "constant": [
        ("ties are decided by rounding", CLUSTERERS, is_tied),
        (
            "the width depends on the number of features",
            KERNELS,
            lambda p: p["kernel"] not in RADIAL or p.get("gamma") == "scale",
        ),
        ("without an intercept, or before the minimum, it helps", LINEAR, is_no_convex_minimum),
        ("each feature is a component", ("LinearInfomax",), lambda p: p["n_components"] is None),
        ("volumes have a dimension", ("MinimumEntropyClustering",), lambda p: p["posterior"] == "knn"),
        ("the width is of the rows", ("RenyiEntropyClustering",), lambda p: p["bandwidth"] is None),
        ("of such directions any basis is as good", DIRECTIONS, equal_directions),
        ("the linear program has many optima", LINEAR_PROGRAMS, is_unusual),
    ],
    "weights": [
        (
            "landmarks, folds and initial sets are drawn by row number",
            (*ON_LANDMARKS, *RECURSIVE, *LINEAR_PROGRAMS[2:]),
            None,
        ),
        (
            "which one is left out depends on what is equal to it",
            (*UNITS, *KERNELS),
            lambda p: isinstance(p.get("alpha"), list),
        ),
        ("batches are drawn by row number", MSE, lambda p: p["batch_size"] < 400),
        ("the linear program has many optima", ONE_NORM, lambda p: is_unusual(p) or p["gamma"] != "scale"),
        SEARCHED,
    ],
    "spoilt rows": [
        (
            "what is too large is for the estimator that is searched to say",
            ("EntropySearch",),
            lambda p: p["form"] in UNUSABLE_ROWS,
        ),
    ],
    "spoilt targets": [
        ("values may be what is selected for", ("InformationFilter",), lambda p: p["form"] == "measurements"),
    ],
    "bounded time": [
        (
            "a test that nearly all of d features pass takes d³/6 estimates for each permutation",
            ("InformationFilter",),
            lambda p: p["n_features_to_select"] == "test" and p["alpha"] > 0.9,
        ),
        (
            "each of many starts compares all pairs of many classes",
            ("MELM",),
            lambda p: p["n_init"] >= 50 and p["data"].get("target") == "one row each",
        ),
        (
            "each iteration solves a linear program for each draw",
            ("CrossEntropySVC", "CrossEntropySVR"),
            lambda p: many_rows(p) and (p["n_iter_no_change"] >= 20 or p["samples_per_candidate"] >= 10),
        ),
    ],
}


def why_not(case: dict) -> str | None:
    """Why the estimator of a case does not claim its law; None where it does."""
    name, law = case["estimator"], case["law"]
    if name in MEASURES:
        return None if law in MEASURES[name]["laws"] else "the measure changes"
    if "without seed" in str(case["settings"]) and law != "mutation":
        return "two fits draw different seeds"
    return reason(case, law)


def reason(case: dict, law: str) -> str | None:
    """The first reason of the tables not to claim a law; None where there is none."""
    if case["estimator"] not in ABOUT.get(law, CLASSES):
        return "the law is about others"
    params = make_estimator(case["estimator"], case["settings"]).get_params(deep=False)
    params |= {"data": case["data"], "form": case.get("form")}
    reasons = [(why, when) for why, names, when in NOT_CLAIMED.get(law, []) if case["estimator"] in names]
    return next((why for why, when in reasons if not when or when(params)), None)


# These compute with rows of single precision in single precision.
SINGLE = ("EEMClassifier", "SoftmaxRegression", *MSE, *ERROR_ENTROPY)
# Allowed differences relative to the largest answer; and as a multiple of the difference that rounding the
# rows makes.
TOLERANCE, TOLERANCE_SINGLE, SLACK = 1e-6, 1e-3, 100
# Allowed differences where iterative solvers stop at a tolerance.
SOLVER_TOLERANCE = dict.fromkeys(("InfomaxICA", *LINEAR), 1e-4)
# It stops at tol = 1e-7 of the objective, whose square root is that of the components near a maximum.
SOLVER_TOLERANCE["MELM"] = 3 * 1e-7**0.5
# Projections on orthonormal components without centring, whose values have the units of the rows.
ORTHONORMAL = ("ClassPCA", "TwoEllipsoidPCA", "PerClassPCA", "MELM", "CrossEntropyMethodClustering")

EXPECTED_WARNINGS = (ConvergenceWarning, UnreliableEstimateWarning)
DOCUMENTED_WARNINGS = re.compile(
    "the class means coincide in the hidden space"  # EEM and EEKM
    "|No features were selected"  # scikit-learn, of a selection by a test
    "|fewer than min_class_size=|needs to compute the bounds of the features"  # of few rows
    "|Only one sample available"  # scikit-learn, of a covariance estimator that is given
    "|The number of unique classes is greater than 50% of the number of samples"  # scikit-learn, of any y
)
# Errors that ordinary rows may raise: settings that contradict each other or the shape of the rows.
EXPECTED = re.compile(
    "n_components|n_clusters|n_features_to_select|seeds of|makes an elite|covariance is given"
    "|needs (solver=|a kernel|all rows at once)|would make sparse rows dense"
    "|learning_rate|test_size|[Nn]egative values|positive (semi-)?definite"
    "|its values must be finite|dense data is required|[bB]inary class|hold no observation"
    r"|should be a 1d array|moments .* are singular|X has \d+ rows; at least|requires a numeric y"
    "|units overflow|squares overflow|have no density|duality gap|n_permutations is"
)
CLEAR = {"ValueError", "TypeError", "MemoryError", "InvalidParameterError", "InfeasibleMomentsError"}
# Errors of scikit-learn in several lines, of which the first is clear.
LONGER = ("Input X contains", "Input y contains", "Expected 2D array", "Complex data", "The feature names")
OURS = os.path.dirname(entrolearn.__file__) + os.sep
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "project", "transform")


def is_ordinary(case: dict) -> bool:
    """Whether data and settings are without extremes."""
    settings = case["settings"].values()
    return (
        not is_unusual(case)
        and case.get("form") not in ("bool", "int64")  # few different rows are left
        and of_kernel(case["settings"], "degree") <= 5  # hundredth powers have the range of numbers
        and all(0.01 <= v <= 100 for v in settings if isinstance(v, int | float) and not isinstance(v, bool))
        and not any(isinstance(v, list | dict) for v in settings)
    )


# --- errors, warnings and time ------------------------------------------------------------------------


def place_of(error: BaseException) -> tuple[str, str]:
    """The innermost function of the library in a traceback, and the end of the traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    last = ([frame for frame in frames if frame.filename.startswith(OURS)] or frames)[-1]
    tail = " < ".join(f"{short(f.filename)}:{f.lineno} {f.name}" for f in reversed(frames[-4:]))
    return f"{short(last.filename)} {last.name}", tail


def short(filename: str) -> str:
    return re.sub(r"^.*/site-packages/", "", filename.removeprefix(OURS))


def is_clear(error: Exception) -> bool:
    """Whether an error is one line from a raise statement of the library or of scikit-learn."""
    innermost = traceback.extract_tb(error.__traceback__)[-1]
    raises = linecache.getline(innermost.filename, innermost.lineno).strip().startswith("raise")
    theirs = innermost.filename.startswith((OURS, os.path.dirname(sklearn.__file__)))
    one_line = "\n" not in str(error) or str(error).startswith(LONGER)
    return type(error).__name__ in CLEAR and raises and theirs and one_line and len(str(error)) > 15


@contextmanager
def clear_errors(what: str) -> Iterator[None]:
    """Turn a clear error into `Refused`, and any other into `Broken`."""
    try:
        yield
    except (Broken, Refused):
        raise
    except Exception as error:
        if is_clear(error):
            raise Refused(f"{what}: {error}") from error
        message = f"{what}: {str(error)!r}"
        raise Broken("one clear line", message, type(error).__name__, *place_of(error)) from error


@contextmanager
def accepted(law: str, allowed: Callable[[str], bool] = lambda text: False) -> Iterator[None]:
    """Turn `Refused` into `Broken`, unless its text is allowed."""
    try:
        yield
    except Refused as refused:
        if allowed(str(refused)):
            raise
        cause = refused.__cause__
        raise Broken(law, f"refused: {refused}", type(cause).__name__, *place_of(cause)) from refused


@contextmanager
def documented_warnings(case: dict) -> Iterator[list]:
    """Yield the list of warnings, and raise `Broken` for an undocumented one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
    law = "no warning" if is_ordinary(case) else "no warning at the extremes"
    for warning in caught:
        text, place = str(warning.message), f"{short(warning.filename)}:{warning.lineno}"
        if not issubclass(warning.category, EXPECTED_WARNINGS) and not DOCUMENTED_WARNINGS.search(text):
            raise Broken(law, text, warning.category.__name__, place)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `Broken` after so many processor seconds."""

    def ring(signum, frame):
        raise TooSlow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except TooSlow as slow:
        raise Broken("bounded time", f"over {seconds:g} s", "TooSlow", *place_of(slow)) from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# --- answers ------------------------------------------------------------------------------------------


def fit(case: dict, X, y):
    estimator = make_estimator(case["estimator"], case["settings"])
    with clear_errors("fit"):
        return estimator.fit(X, y)


def outputs(fitted, *rows) -> dict[str, np.ndarray]:
    """All outputs of a fitted estimator for some rows, and its result. After a fit no error is allowed."""
    answers = {}
    for name in METHODS:
        if hasattr(fitted, name):
            with accepted("answers after a good fit"), clear_errors(name):
                answers[name] = np.concatenate([getattr(fitted, name)(X) for X in rows])
    found = ("labels_", "value_", "components_")
    return answers | {name: np.array(getattr(fitted, name)) for name in found if hasattr(fitted, name)}


def invariant_answers(fitted, *rows) -> dict:
    """The answers that should not change when the rows are shifted or scaled."""
    answers = outputs(fitted, *rows)
    answers.pop("transform" if type(fitted).__name__ in ORTHONORMAL else "components_", None)
    if np.ndim(D := answers.get("decision_function")) > 1:  # log-densities, with a common constant
        answers["decision_function"] = D - D.max(axis=1, keepdims=True)
    return answers


def between(X: np.ndarray) -> np.ndarray:
    """New rows, each the midpoint of two rows."""
    return X / 2 + X[::-1] / 2


def relative_difference(found: np.ndarray, wanted: np.ndarray, least: float) -> float:
    """Largest difference, relative to the largest of the differing numbers or to `least`."""
    if found.shape != wanted.shape or wanted.dtype.kind != "f":
        return 0.0 if np.array_equal(found, wanted) else np.inf
    differ = found != wanted
    if not np.isfinite([found[differ], wanted[differ]]).all():
        return np.inf
    scale = np.abs([found[differ], wanted[differ]]).max(initial=least)
    return float(np.abs(found[differ] / scale - wanted[differ] / scale).max(initial=0))


def largest_difference(case: dict, found: dict, wanted: dict) -> tuple[float, str]:
    """The largest relative difference and its answer's name. Labels are skipped: near a tie they change."""
    name = case["estimator"]
    numbers = {"predict_proba", "decision_function", "transform"} & wanted.keys()
    follow = {"predict", "predict_log_proba", "labels_"} if numbers else set()
    # Nats, and decisions between -1 and 1, are compared by absolute differences.
    counted = {"predict_proba", "decision_function"} | ({"transform"} if name == "KLClustering" else set())
    counted |= {"value_"} if MEASURES.get(name, {}).get("value", "factor") != "factor" else set()
    keys = wanted.keys() - follow
    least = {key: float(key in counted) for key in keys}
    for key in keys & {"transform", "project", "components_"}:  # which round relative to their largest terms
        least[key] = max(least[key], np.abs(wanted[key]).max(initial=0))
    return max((relative_difference(found[key], wanted[key], least[key]), key) for key in keys)


def compare(case, found, wanted, tolerance=0.0, perturbed=None) -> str:
    """Return "held" or "undecided", or raise `Broken`, by the difference of two dicts of answers.

    ``perturbed(seed)`` gives the answers for rows rounded at random: where these differ as much, the law is
    "undecided".
    """
    if costs_digits(case["law"], case):  # the signs of components may change
        found, wanted = absolute(found), absolute(wanted)
    difference, name = largest_difference(case, found, wanted)
    if difference <= (max(tolerance, SOLVER_TOLERANCE.get(case["estimator"], 0)) if tolerance else 0):
        return "held"
    if (
        "gaussian" in case["estimator"]
        and difference == np.inf
        and case["data"].get("kind") == "groups far apart"
    ):
        return "undecided"  # rounding decides whether such a covariance is singular
    message = f"{name} differs by {difference:.1e} of the largest"
    if perturbed is not None:
        try:
            allowed = max(largest_difference(case, absolute(perturbed(seed)), wanted)[0] for seed in range(3))
        except (Refused, Broken):
            return "undecided"
        if difference <= SLACK * allowed or allowed > TOLERANCE_SINGLE:
            return "undecided"
        message += f"; after rounding the rows at random, by {allowed:.1e}"
    raise Broken(case["law"], message, place=name)


def absolute(answers: dict) -> dict:
    return {key: np.abs(a) if key in ("transform", "components_") else a for key, a in answers.items()}


def rounded(X: np.ndarray, seed: int, size: float = 2**-52) -> np.ndarray:
    return X * (1 + size * np.random.default_rng(seed).uniform(-1, 1, size=X.shape))


def refitted(case, Z, y, size=2**-52, back=np.array, answer=outputs) -> Callable[[int], dict]:
    """A function of a seed that fits and answers ``back(Z)``, with Z rounded at random."""

    def perturbed(seed: int) -> dict:
        X = back(rounded(Z, seed, size))
        return answer(fit(case, X, y), X)

    return perturbed


# --- checks of every case -----------------------------------------------------------------------------


def check(case: dict, seconds: float = SECONDS) -> str:
    """Check a case.

    Returns
    -------
    str
        "held"; "refused" by a clear error; "not claimed" by the estimator; or "undecided": the answers differ
        no more than after rounding the rows, or a solver warns that it did not converge.

    Raises
    ------
    Broken
    """
    try:
        with time_limit(seconds):
            return _check(case)
    except Refused:
        return "refused"
    except Broken as broken:
        if broken.law != "bounded time" or case["estimator"] in MEASURES or not reason(case, broken.law):
            raise
        return "not claimed"


def _check(case: dict) -> str:
    X, y = rows_and_targets(case["estimator"], case["data"])
    unclaimed = why_not(case)
    changes_form = case["law"] == "mutation" and unclaimed is None
    given = FORMS[case["form"]](X) if changes_form else X.copy()
    allowed = EXPECTED.search if is_ordinary(case) else lambda text: True
    before = content(given), content(y), np.random.get_state()[1].copy(), np.geterr()  # noqa: NPY002
    with documented_warnings(case):
        with accepted("ordinary rows are not refused", allowed):
            fitted = fit(case, given, y)
        answers = outputs(fitted, *([given] if changes_form else [given, between(X)]))
    now = content(given), content(y), np.random.get_state()[1], np.geterr()  # noqa: NPY002
    for what, then, after in zip(("X", "y", "the global random state"), before, now, strict=False):
        seeded = "without seed" not in str(case["settings"]) or what != "the global random state"
        if seeded and not all(map(np.array_equal, then, after)):
            raise Broken("mutation", f"{what} is changed", place=what)
    check_finite(fitted, answers)
    if "labels_" in answers and not np.array_equal(
        np.unique(labels := answers["labels_"]), np.arange(labels.max() + 1)
    ):
        raise Broken("outputs agree", "labels_ are not 0, 1, ...", place="labels_")
    if is_classifier(fitted) and case["settings"].get("estimator") != "@SVC":  # libsvm's do not, at ties
        check_outputs_agree(fitted, answers)
    if getattr(fitted, "criterion", None) == "kde":
        check_search(fitted, given, y)
    if unclaimed is not None or case["law"] == "mutation":
        return "held" if unclaimed is None else "not claimed"
    with documented_warnings(case) as caught:
        outcome = LAWS[case["law"]](case, X, y, fitted)
    return "undecided" if any(w.category is ConvergenceWarning for w in caught) else outcome


def content(data) -> list[np.ndarray]:
    """Copies of the arrays that hold the numbers."""
    if sp.issparse(data):
        names = ("row", "col") if data.format == "coo" else ("indices", "indptr")
        return [data.data.copy(), *(getattr(data, name).copy() for name in names)]
    return [np.array(data)]


def check_finite(fitted, answers: dict) -> None:
    attributes = {
        name: np.asarray(value)
        for name, value in vars(fitted).items()
        if name.endswith("_") and isinstance(value, np.ndarray | float)
    }
    for name, values in {**attributes, **answers}.items():
        # A divergence or a logarithm of a probability may be infinite.
        infinite = name in (*attributes, "predict_log_proba", "value_") or isinstance(fitted, KLClustering)
        if values.dtype.kind == "f" and (np.isnan(values) if infinite else ~np.isfinite(values)).any():
            raise Broken("finite", f"{name} holds {values[~np.isfinite(values)].flat[0]}", place=name)


def check_outputs_agree(fitted, answers: dict) -> None:
    codes = np.searchsorted(fitted.classes_, answers["predict"])
    rows = np.arange(len(codes))
    if (P := answers.get("predict_proba")) is not None:
        if P.min() < 0 or np.abs(P.sum(axis=1) - 1).max() > 1e-6:
            raise Broken("outputs agree", "predict_proba is no distribution", place="predict_proba")
        if (P[rows, codes] < P.max(axis=1) * (1 - 1e-6)).any():
            raise Broken("outputs agree", "predict is not the most probable class", place="predict_proba")
        if np.abs(np.exp(answers["predict_log_proba"]) - P).max() > 1e-6:
            raise Broken("outputs agree", "predict_log_proba is not its logarithm", place="predict_log_proba")
    if (D := answers.get("decision_function")) is not None:
        right = (D > 0) == codes if D.ndim == 1 else D[rows, codes] == D.max(axis=1)
        if not right.all():
            raise Broken("outputs agree", "predict is not what decides", place="decision_function")


def check_search(fitted, X, y) -> None:
    best = fitted.best_estimator_
    if isinstance(best, Pipeline):
        *others, (_, best) = best.steps
        for _, step in others:
            X = step.transform(X)
    projected = getattr(best, "project", best.decision_function)(X)
    value = entropy_criterion(PathPoint((), {}, projection=projected), y, np.arange(len(y)), "kde")
    if min(value, fitted.best_score_) > NO_VARIANCE or fitted.best_score_ == np.inf:
        return
    if not np.isclose(value, fitted.best_score_, rtol=1e-4):
        message = f"best_score_ is {fitted.best_score_:.6g}, of best_estimator_ it is {value:.6g}"
        raise Broken("refitted as judged", message, place="best_score_")


# --- laws, of which each case names one ---------------------------------------------------------------


def does_not_depend_on_form(case, X, y, fitted):
    """The same numbers in another container or dtype: the same answers up to rounding, the rows unchanged."""
    form = case["form"]
    Z = FORMS[form](X)
    dense = Z.toarray() if sp.issparse(Z) else np.array(Z, dtype=np.float64, order="C")
    usual = sp.csr_matrix(dense) if form in SPARSE - {"CSR"} else dense
    same = usual is dense and np.array_equal(dense, X)
    wanted = outputs(fitted if same else fit(case, usual, y), usual)
    before = content(Z)
    needs_dense = ("dense data is required", "would make sparse rows dense")
    with accepted("form", lambda text: "float32" in form or any(told in text for told in needs_dense)):
        found = outputs(fit(case, Z, y), Z)
    if not all(map(np.array_equal, before, content(Z))):
        raise Broken("mutation", "X is changed", place="X")
    single = case["estimator"] in SINGLE or isinstance(fitted, EntropySearch)  # of EEM
    if "float32" in form and single:
        return compare(case, found, wanted, TOLERANCE_SINGLE, refitted(case, dense, y, 2**-23))
    return compare(case, found, wanted, TOLERANCE if form == "CSR" else 1e-12, refitted(case, dense, y))


def does_not_depend_on_form_of_targets(case, X, y, fitted):
    """The same labels or values in another container or dtype: the same answers."""
    if case["estimator"] in OF_VALUES:
        plain = np.round(100 * (y - y.min()) / (np.ptp(y) or 1.0))
        given, labels = VALUE_FORMS[case["form"]](plain), None
    else:
        plain = np.arange(len(X)) % 2
        given = LABEL_FORMS[case["form"]](plain)
        labels = np.unique(np.asarray(given))
    wanted = outputs(fitted if np.array_equal(y, plain) else fit(case, X, plain), X)
    found = outputs(fit(case, X, given), X)
    if labels is not None and "predict" in wanted:
        wanted["predict"] = labels[wanted["predict"]]
        if not np.array_equal(found["predict"], wanted["predict"]):
            raise Broken("target form", "predict gives other labels", place="predict")
    return compare(case, found, wanted)


def does_not_depend_on_row_order(case, X, y, fitted):
    order = np.random.default_rng(0).permutation(len(X))
    other = fit(case, X[order], None if y is None else y[order])
    return compare(case, outputs(other, X), outputs(fitted, X), TOLERANCE, refitted(case, X, y))


def is_shift_invariant(case, X, y, fitted):
    """One constant for all features: others change the width "scale", of their spread about one mean."""
    c = case["by"] * max(np.abs(X).max(), 1e-150)
    Z = X + c
    X = Z - c  # to the last bit
    if ("offset" in case["data"] and case["by"] > 1e3) or np.abs(X).max() < SMALLEST:
        return "not claimed"  # few digits are left, or the squares of the rows underflow
    if case["data"].get("kind") == "counts" and isinstance(fitted, ClusterMixin):
        return "not claimed"  # among counts there are ties, which the rounding of a mean decides
    wanted = invariant_answers(fit(case, X, y), X)
    moved = sp.csr_matrix(Z) if case["form"] == "CSR" else Z
    with accepted("shift", lambda text: case["by"] > 1e3 or "accepts numbers up to" in text):
        found = invariant_answers(fit(case, moved, y), moved)
    perturbed = refitted(case, Z, y, back=lambda Z: Z - c, answer=invariant_answers)
    return compare(case, found, wanted, TOLERANCE, perturbed)


def is_scale_invariant(case, X, y, fitted):
    a = 2.0 ** case["by"]
    with np.errstate(over="ignore", under="ignore"):
        Z = X * a
        kept = np.array_equal(Z / a, X)
        if isinstance(fitted, Measure):
            if "gaussian" in fitted.name:
                of_z, of_x = covariance(Z), covariance(X)
                kept = np.array_equal(of_z / a / a, of_x) and np.array_equal(of_x * a * a, of_z)
        else:
            kept = kept and np.abs(X).max() * min(1.0, a) > SMALLEST
    if not kept:
        return "not claimed"
    wanted = invariant_answers(fitted, X)
    with accepted("scale", lambda text: abs(case["by"]) > 30 or "accepts numbers up to" in text):
        found = invariant_answers(fit(case, Z, y), Z)
    if isinstance(fitted, Measure):
        growth = MEASURES[fitted.name]["value"]
        nats = case["by"] * np.log(2) * {"each feature": X.shape[1], "once": 1}.get(growth, 0)
        found = {"value_": (found["value_"] - nats) / (a if growth == "factor" else 1)}
    return compare(case, found, wanted, TOLERANCE, refitted(case, X, y, answer=invariant_answers))


def without_components(answers: dict) -> dict:
    return {key: answer for key, answer in answers.items() if key != "components_"}


def of_other_columns(case, X, y, change) -> str:
    """Compare the fits to rows, and to the rows that `change` makes of them."""

    def answer(fitted, X):
        return without_components(outputs(fitted, X))

    wanted = answer(fit(case, X, y), X)
    with accepted(case["law"]):
        found = answer(fit(case, change(X), y), change(X))
    return compare(case, found, wanted, TOLERANCE, refitted(case, X, y, answer=answer))


def does_not_depend_on_column_order(case, X, y, fitted):
    return of_other_columns(case, X, y, lambda X: np.roll(X, 1, axis=1))


def ignores_a_constant_column(case, X, y, fitted):
    return of_other_columns(case, X, y, lambda X: np.insert(X, 1, 0.3, axis=1))


def does_not_depend_on_axes(case, X, y, fitted):
    """Rotated about the centre: gamma="scale" has the variance of all numbers in one."""
    d = X.shape[1]
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(d, d)))[0]
    turn *= np.linspace(1, 3, d) if case["law"] == "affine" else 1
    return of_other_columns(case, X - X.mean(axis=0), y, lambda X: X @ turn)


def does_not_depend_on_names(case, X, y, fitted):
    """The classes in the opposite order: outputs change their sign, or their columns."""
    names, codes = np.unique(y, return_inverse=True)
    other = fit(case, X, len(names) - codes)
    wanted = outputs(fitted, X)
    for name in ("decision_function", "project"):
        if name in wanted:
            wanted[name] = -wanted[name] if wanted[name].ndim == 1 else wanted[name][:, ::-1]
    for name in ("predict_proba", "predict_log_proba"):
        if name in wanted:
            wanted[name] = wanted[name][:, ::-1]
    if "predict" in wanted:
        wanted["predict"] = (len(names) - np.searchsorted(names, wanted["predict"])).astype(int)
    return compare(case, outputs(other, X), wanted, TOLERANCE, refitted(case, X, y))


def weighs_rows(case, X, y, fitted):
    """Rows once, twice or three times: the fit to rows of such weights; without weights, every row twice."""
    times = 1 + np.arange(len(X)) % 3 if case["estimator"] in WEIGHTED else np.full(len(X), 2)
    weights = {"sample_weight": times.astype(float)} if case["estimator"] in WEIGHTED else {}
    with clear_errors("fit"):
        wanted = make_estimator(case["estimator"], case["settings"]).fit(X, y, **weights)
    found = fit(case, np.repeat(X, times, axis=0), None if y is None else np.repeat(y, times, axis=0))
    return compare(case, outputs(found, X), outputs(wanted, X), TOLERANCE, refitted(case, X, y))


def fits_and_answers_in_one_step(case, X, y, fitted):
    name = "fit_predict" if isinstance(fitted, ClusterMixin) else "fit_transform"
    with clear_errors(name):
        found = getattr(make_estimator(case["estimator"], case["settings"]), name)(X, y)
    wanted = fitted.labels_ if name == "fit_predict" else fitted.transform(X)
    return compare(
        case, {"transform": found}, {"transform": wanted}, 1e-12, lambda seed: {"transform": wanted}
    )


def partial_fit_equals_fit(case, X, y, fitted):
    stream, size = make_estimator(case["estimator"], case["settings"]), case["by"]
    known = {} if case["estimator"] in OF_VALUES else {"classes": np.unique(y)}
    for start in range(0, len(X), size):
        rows = X[start : start + size]
        rows = sp.csr_matrix(rows) if start // size % 2 else rows
        with accepted("chunks", lambda text: "all rows at once" in text), clear_errors("partial_fit"):
            stream.partial_fit(rows, y[start : start + size], **known)
        known = {}
    return compare(case, outputs(stream, X), outputs(fitted, X), TOLERANCE, refitted(case, X, y))


def predicts_rows_independently(case, X, y, fitted):
    X = between(X)[:5]
    alone = outputs(fitted, *(X[[i]] for i in range(len(X))))
    return compare(case, alone, outputs(fitted, X), TOLERANCE, lambda seed: outputs(fitted, rounded(X, seed)))


def fit_is_deterministic(case, X, y, fitted):
    return compare(case, outputs(fit(case, X, y), X), outputs(fitted, X))


def refit_equals_fit(case, X, y, fitted):
    estimator = make_estimator(case["estimator"], case["settings"])
    with clear_errors("fit"):
        estimator.fit(np.abs(X[::-1]) * 0.5 + 1, y).fit(X, y)
    return compare(case, outputs(estimator, X), outputs(fitted, X))


def survives_pickling(case, X, y, fitted):
    return compare(case, outputs(pickle.loads(pickle.dumps(fitted)), X), outputs(fitted, X))


def shares_no_memory(case, X, y, fitted):
    ours, theirs = X.copy(), None if y is None else y.copy()
    ours = sp.csr_matrix(ours) if case.get("form") == "CSR" else ours
    estimator = fit(case, ours, theirs)
    wanted = outputs(estimator, X)
    (ours.data if sp.issparse(ours) else ours)[:] = 7.0
    if theirs is not None:
        theirs[:] = theirs[0]
    return compare(case, outputs(estimator, X), wanted)


def is_stable_under_rounding(case, X, y, fitted):
    """Rounding ordinary rows hardly changes the answers."""
    if not is_ordinary(case) or (case["data"].get("kind") == "counts" and not isinstance(fitted, Measure)):
        return "not claimed"  # among counts there are ties
    return compare(case, refitted(case, X, y)(0), outputs(fitted, X), TOLERANCE)


def answers_are_finite_far_away(case, X, y, fitted):
    """For rows far from those of the fit the answers are finite, or the error is clear."""
    for name in METHODS:
        if hasattr(fitted, name):
            with clear_errors(name):
                answer = np.asarray(getattr(fitted, name)(X * 1e6 + 1))
            check_finite(fitted, {name: answer})
    return "held"


@contextmanager
def refused(law: str) -> Iterator[None]:
    """Raise `Broken` unless an error of scikit-learn's kinds says in one line what was found."""
    try:
        yield
    except Exception as error:
        told = "\n" not in str(error) or str(error).startswith(LONGER)
        if type(error).__name__ in CLEAR and told and len(str(error)) > 15:
            return
        raise Broken(law, repr(error), type(error).__name__, *place_of(error)) from error
    raise Broken(law, "is not refused")


def refuses_rows_that_are_none(case, X, y, fitted):
    """In `fit`, and of a fitted estimator."""
    form = case["form"]
    rows = (SPOILT_ROWS | UNUSABLE_ROWS | OTHER_COLUMNS)[form](X)
    if form not in OTHER_COLUMNS:
        with refused("spoilt rows"):
            make_estimator(case["estimator"], case["settings"]).fit(rows, y)
    if form not in OTHER_COLUMNS and case["estimator"] == "InformationFilter":
        return "held"  # transform returns columns unchanged
    for name in METHODS:
        if hasattr(fitted, name):
            with refused("spoilt rows"):
                getattr(fitted, name)(rows)
    return "held"


def refuses_targets_that_are_none(case, X, y, fitted):
    targets = (SPOILT_TARGETS | SPOILT_LABELS | SPOILT_VALUES)[case["form"]](y)
    with refused("spoilt targets"):
        make_estimator(case["estimator"], case["settings"]).fit(X, targets)
    return "held"


LAWS = {
    "spoilt rows": refuses_rows_that_are_none,
    "spoilt targets": refuses_targets_that_are_none,
    "form": does_not_depend_on_form,
    "target form": does_not_depend_on_form_of_targets,
    "order": does_not_depend_on_row_order,
    "shift": is_shift_invariant,
    "scale": is_scale_invariant,
    "columns": does_not_depend_on_column_order,
    "names": does_not_depend_on_names,
    "rotation": does_not_depend_on_axes,
    "affine": does_not_depend_on_axes,
    "constant": ignores_a_constant_column,
    "weights": weighs_rows,
    "one step": fits_and_answers_in_one_step,
    "chunks": partial_fit_equals_fit,
    "rows": predicts_rows_independently,
    "again": fit_is_deterministic,
    "refit": refit_equals_fit,
    "pickle": survives_pickling,
    "later": shares_no_memory,
    "rounding": is_stable_under_rounding,
    "far": answers_are_finite_far_away,
}


def laws_of(name: str) -> list[str]:
    """The laws that an estimator or a measure claims with some settings at least."""
    if name in MEASURES:
        return sorted(MEASURES[name]["laws"])
    never = {law for law in NOT_CLAIMED for _, names, when in NOT_CLAIMED[law] if name in names and not when}
    about = [law for law in ("mutation", *LAWS) if name in ABOUT.get(law, CLASSES)]
    return [law for law in about if law not in never]


LAWS_OF = {name: laws_of(name) for name in (*CLASSES, *MEASURES)}
