"""The laws of the fuzz: who claims which, and `check`, which holds a case to them.

Of every case it is checked that `fit` refuses in one clear line, or that the fitted estimator answers with
finite numbers that agree with each other; that neither the caller's arrays nor the global random state
change; and that no warning is given. The law that the case names is checked besides.
"""

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

import entrolearn
from entrolearn.kernels import INNER, RADIAL
from entrolearn.measures import cauchy_schwarz_kde
from fuzz.cases import (
    CLASSES,
    FORMS,
    MEASURES,
    OF_VALUES,
    ORDINARY,
    SHAPES,
    Measure,
    costs_digits,
    made,
    rows_and_targets,
)

#: Processor seconds that a case may take.
SECONDS = 20


class Broken(Exception):
    """A law does not hold: which, what was found, and where."""

    def __init__(self, law: str, message: str, kind: str = "", place: str = "", tail: str = ""):
        super().__init__(f"{law}: {message}")
        self.law, self.message, self.kind, self.place, self.tail = law, message[:300], kind, place, tail


class Refused(Exception):
    """Rows or settings are refused in one clear line."""


class TooSlow(BaseException):
    """Raised by the clock in the middle of a case: not an Exception, which the library might catch."""


# --- who claims what ----------------------------------------------------------------------------------


def odd_rows(p: dict) -> bool:
    data = p["data"]
    usual = data.get("kind", "normal") in ORDINARY and tuple(data.get("shape", SHAPES[0])) in SHAPES
    usual = usual and data.get("target", "two") in ("two", "three", "linear", "two outputs")
    return not usual or not data.keys().isdisjoint({"column", "offset", "scale"})


def has_units(p: dict) -> bool:
    """Whether the width of a kernel is in the units of the rows."""
    scaled = p.get("gamma", p.get("sigma")) == "scale" and isinstance(p["kernel"], str)
    return not scaled or p["kernel"] not in {*RADIAL, *INNER} - {"linear"}


UNITS = ("EEMClassifier", "WELMClassifier", "ELMClassifier", "ELMRegressor")
ON_LANDMARKS = ("EEKMClassifier", "RKELMClassifier", "RKELMRegressor", "RSVC", "RSVR")
KERNELS = (*ON_LANDMARKS, "KELMClassifier", "KELMRegressor", "LSSVC", "LSSVR", "OneNormSVC", "OneNormSVR")
KERNELS += ("CrossEntropySVC", "CrossEntropySVR")
MSE = ("MSEMLPClassifier", "MSEMLPRegressor")
ERROR_ENTROPY = ("ErrorEntropyMLPClassifier", "ErrorEntropyMLPRegressor")
ONE_NORM = ("OneNormSVC", "OneNormSVR")
LINEAR = ("MaxEntClassifier", "SoftmaxRegression")
NETWORKS = (*UNITS, *MSE, *ERROR_ENTROPY)
STREAMS = {name for name, cls in CLASSES.items() if hasattr(cls, "partial_fit")}
CLUSTERERS = tuple(name for name, cls in CLASSES.items() if issubclass(cls, ClusterMixin))

# Law -> reasons not to claim it: whose they are, and with which parameters where it depends on these. All
# others claim the law.
SEARCHED = ("this is a law of the estimator that is searched", ("EntropySearch",), None)
NOT_CLAIMED: dict[str, list[tuple[str, tuple, Callable[[dict], bool] | None]]] = {
    "shift": [
        ("random units, and first weights, lie about the origin", NETWORKS, None),
        ("the kernel is no function of distances", KERNELS, lambda p: p["kernel"] not in RADIAL),
        ("a solver that stops early stops elsewhere on rows that are not centred", LINEAR, None),
        ("moments are about the origin", ("GEM",), None),
        ("rows are distributions", ("KLClustering",), None),
        ("columns are handed on as they are", ("InformationFilter",), None),
        SEARCHED,
    ],
    "scale": [
        ("random units, and first weights, are in the units of [0, 1]", NETWORKS, None),
        ("the kernel's width is in the units of the rows", KERNELS, has_units),
        ("weights are penalised", LINEAR, None),
        ("columns are handed on as they are", ("InformationFilter",), None),
        ("the noise is in the units of the rows", ("LinearInfomax",), None),
        ("the noise is in the units of the rows", ("CoherentFeatures",), lambda p: p["noise_variance"]),
        ("the radius is in the units of the rows", ("MinimumEntropyClustering",), lambda p: p["radius"]),
        ("the width is in the units of the rows", ("RenyiEntropyClustering",), lambda p: p["sigma"]),
        ("a covariance is in the units of the rows", ("CrossEntropyClustering",), lambda p: p["covariance"]),
        SEARCHED,
    ],
    "order": [
        ("clusters start from rows by their places", CLUSTERERS, None),
        ("landmarks belong to places", ON_LANDMARKS, lambda p: p["n_landmarks"] < 200),
        ("widths belong to places", ON_LANDMARKS, lambda p: p.get("per_landmark_sigma")),
        ("batches are made of rows by their places", MSE, lambda p: p["batch_size"] < 200),
        ("sets are drawn in the order of the rows", ("CrossEntropySVC", "CrossEntropySVR"), None),
        ("rows are kept out by their places", ("SoftmaxRegression",), lambda p: p["early_stopping"]),
        ("a linear program has several solutions", ONE_NORM, lambda p: odd_rows(p) or p["gamma"] != "scale"),
        ("the last digits decide where the solver stops", (*ERROR_ENTROPY, *LINEAR), odd_rows),
        SEARCHED,
    ],
    "chunks": [
        (
            "it has no partial_fit",
            tuple(n for n, c in CLASSES.items() if not hasattr(c, "partial_fit")),
            None,
        ),
        ("landmarks are of the first chunk", ("RKELMClassifier", "RKELMRegressor"), None),
        ("the box is that of the first chunk", UNITS, lambda p: isinstance(p["feature_range"], str)),
        ("several ridges have no stream", UNITS[2:], lambda p: isinstance(p["C"], list)),
    ],
    "rounding": [
        ("without a ridge more units than rows interpolate", UNITS[1:], lambda p: p["C"] == 0),
        ("two starts may end in what is equally good", CLUSTERERS, None),
    ],
}


def why_not(case: dict) -> str | None:
    """Why the estimator of a case does not claim its law; None where it does."""
    name, law = case["estimator"], case["law"]
    if name in MEASURES:
        return None if law in MEASURES[name]["laws"] else "the measure changes"
    if "without seed" in str(case["settings"]) and law != "mutation":
        return "two fits draw different seeds"
    params = made(name, case["settings"]).get_params(deep=False) | {"data": case["data"]}
    reasons = NOT_CLAIMED.get(law, [])
    return next((why for why, names, when in reasons if name in names and (not when or when(params))), None)


# Rows in single precision are computed in it by these.
SINGLE = ("EEMClassifier", "LSSVC", "SoftmaxRegression", *MSE, *ERROR_ENTROPY)
# By how much answers may differ, relative to the largest; and by how many times more than the answers to rows
# that are rounded otherwise, where these differ more.
TOLERANCE, TOLERANCE_SINGLE, SLACK = 1e-6, 1e-3, 100
# What solvers leave that stop where little is left to win.
LEFT = dict.fromkeys(("MELM", "InfomaxICA", *LINEAR), 1e-4)
# Their components are orthonormal, and they map rows without centring them; others map to what has no units.
ORTHONORMAL = ("ClassPCA", "TwoEllipsoidPCA", "PerClassPCA", "MELM", "CrossEntropyMethodClustering")

DOCUMENTED_WARNINGS = re.compile(
    "the class means coincide in the hidden space"  # EEM and EEKM
    "|fewer than pool_below=|takes the bounds of the features from"  # of few rows
    "|Only one sample available"  # scikit-learn, of a covariance estimator that is given
    "|The number of unique classes is greater than 50% of the number of samples"  # scikit-learn, of any y
)
# What may be refused of ordinary rows: settings that do not go together, or not with the shape of the rows.
EXPECTED = re.compile(
    "n_components|n_clusters|seeds of|makes an elite|covariance is given|needs (solver=|a kernel)"
    "|learning_rate|test_size|[Nn]egative values|positive (semi-)?definite|its values must be finite"
    "|dense data is required|[bB]inary class|hold no observation|should be a 1d array|moments .* are singular"
)
CLEAR = {"ValueError", "TypeError", "MemoryError", "InvalidParameterError", "InfeasibleMomentsError"}
# What scikit-learn says in several lines, of which the first names what was found.
LONGER = ("Input X contains", "Input y contains", "Expected 2D array", "Complex data", "The feature names")
OURS = os.path.dirname(entrolearn.__file__) + os.sep
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "project", "transform")


def is_ordinary(case: dict) -> bool:
    """Whether data and settings are what everybody has."""
    settings = case["settings"].values()
    return (
        not odd_rows(case)
        and all(0.01 <= v <= 100 for v in settings if isinstance(v, int | float) and not isinstance(v, bool))
        and not any(isinstance(v, list | dict) for v in settings)
    )


# --- calls that are watched ---------------------------------------------------------------------------


def place_of(error: BaseException) -> tuple[str, str]:
    """The innermost function of the library that an error went through, and the end of its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    last = ([frame for frame in frames if frame.filename.startswith(OURS)] or frames)[-1]
    tail = " < ".join(f"{short(f.filename)}:{f.lineno} {f.name}" for f in reversed(frames[-4:]))
    return f"{short(last.filename)} {last.name}", tail


def short(filename: str) -> str:
    return re.sub(r"^.*/site-packages/", "", filename.removeprefix(OURS))


def is_clear(error: Exception) -> bool:
    """Whether an error is one line that the library, or a check of scikit-learn's, raises itself."""
    innermost = traceback.extract_tb(error.__traceback__)[-1]
    raises = linecache.getline(innermost.filename, innermost.lineno).strip().startswith("raise")
    theirs = innermost.filename.startswith((OURS, os.path.dirname(sklearn.__file__)))
    one_line = "\n" not in str(error) or str(error).startswith(LONGER)
    return type(error).__name__ in CLEAR and raises and theirs and one_line and len(str(error)) > 15


@contextmanager
def refusing(what: str) -> Iterator[None]:
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
def answering(law: str, allowed: Callable[[str], bool] = lambda text: False) -> Iterator[None]:
    """Turn what is refused, but for what is allowed, into `Broken`."""
    try:
        yield
    except Refused as refused:
        if allowed(str(refused)):
            raise
        cause = refused.__cause__
        raise Broken(law, f"refused: {refused}", type(cause).__name__, *place_of(cause)) from refused


@contextmanager
def silently(case: dict) -> Iterator[list]:
    """Give the list of warnings; those that no one documents break a law."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
    law = "no warning" if is_ordinary(case) else "no warning at the extremes"
    for warning in caught:
        text, place = str(warning.message), f"{short(warning.filename)}:{warning.lineno}"
        if warning.category is not ConvergenceWarning and not DOCUMENTED_WARNINGS.search(text):
            raise Broken(law, text, warning.category.__name__, place)


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Break off what takes more processor time."""

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
    estimator = made(case["estimator"], case["settings"])
    with refusing("fit"):
        return estimator.fit(X, y)


def said(fitted, *rows) -> dict[str, np.ndarray]:
    """All that a fitted estimator says of rows, and what it found. After a good fit nothing is refused."""
    answers = {}
    for name in METHODS:
        if hasattr(fitted, name):
            with answering("answers after a good fit"), refusing(name):
                answers[name] = np.concatenate([getattr(fitted, name)(X) for X in rows])
    found = ("labels_", "value_", "components_")
    return answers | {name: np.array(getattr(fitted, name)) for name in found if hasattr(fitted, name)}


def without_units(fitted, *rows) -> dict:
    """What neither moves with the rows nor grows with them."""
    answers = said(fitted, *rows)
    answers.pop("transform" if type(fitted).__name__ in ORTHONORMAL else "components_", None)
    if np.ndim(D := answers.get("decision_function")) > 1:  # logarithms of densities, all in the same units
        answers["decision_function"] = D - D.max(axis=1, keepdims=True)
    return answers


def between(X: np.ndarray) -> np.ndarray:
    """New rows, each in the middle of two of the rows."""
    return X / 2 + X[::-1] / 2


def gap(found: np.ndarray, wanted: np.ndarray, least: float) -> float:
    """By how much answers differ, relative to the largest number in them, or to the `least`."""
    if found.shape != wanted.shape or wanted.dtype.kind != "f":
        return 0.0 if np.array_equal(found, wanted) else np.inf
    differ = found != wanted
    if not np.isfinite([found[differ], wanted[differ]]).all():
        return np.inf
    scale = np.abs([found[differ], wanted[differ]]).max(initial=least)
    return float(np.abs(found[differ] / scale - wanted[differ] / scale).max(initial=0))


def worst(case: dict, found: dict, wanted: dict) -> tuple[float, str]:
    """The largest gap, and of what. Labels follow from other answers, and change near a tie."""
    name = case["estimator"]
    numbers = {"predict_proba", "decision_function", "transform"} & wanted.keys()
    follow = {"predict", "predict_log_proba", "labels_"} if numbers else {}
    # Of nats, and of decisions between -1 and 1, digits after the point count.
    counted = {"predict_proba", "decision_function"} | ({"transform"} if name == "KLClustering" else set())
    counted |= {"value_"} if MEASURES.get(name, {}).get("value", "factor") != "factor" else set()
    gaps = [(gap(found[key], wanted[key], key in counted), key) for key in wanted if key not in follow]
    return max(gaps)


def settled(case, found, wanted, tolerance=0.0, otherwise=None) -> str:
    """Compare answers; where they differ, compare those to rows that are rounded `otherwise`, by a seed."""
    if costs_digits(case["law"], case):  # the signs of components may change
        found, wanted = up_to_signs(found), up_to_signs(wanted)
    difference, name = worst(case, found, wanted)
    if difference <= (max(tolerance, LEFT.get(case["estimator"], 0)) if tolerance else 0):
        return "held"
    message = f"{name} differs by {difference:.1e} of the largest"
    if otherwise is not None:
        try:
            allowed = max(worst(case, up_to_signs(otherwise(seed)), wanted)[0] for seed in range(3))
        except (Refused, Broken):
            return "undecided"
        if difference <= SLACK * allowed or allowed > TOLERANCE_SINGLE:
            return "undecided"
        message += f"; where the rows are rounded otherwise, by {allowed:.1e}"
    raise Broken(case["law"], message, place=name)


def up_to_signs(answers: dict) -> dict:
    return {key: np.abs(a) if key in ("transform", "components_") else a for key, a in answers.items()}


def rounded(X: np.ndarray, seed: int, size: float = 2**-52) -> np.ndarray:
    return X * (1 + size * np.random.default_rng(seed).uniform(-1, 1, size=X.shape))


def refitted(case, Z, y, size=2**-52, back=np.array, answer=said) -> Callable[[int], dict]:
    """A function of a seed: the answers to rows made by `back` of what is rounded at random."""

    def otherwise(seed: int) -> dict:
        X = back(rounded(Z, seed, size))
        return answer(fit(case, X, y), X)

    return otherwise


# --- what is checked of every case --------------------------------------------------------------------


def check(case: dict, seconds: float = SECONDS) -> str:
    """Hold a case to the laws.

    Returns
    -------
    str
        "held"; "refused"; "not claimed"; "undecided": the answers differ as those to rounded rows do, or a
        solver warns that it stopped early.

    Raises
    ------
    Broken
    """
    with no_longer_than(seconds):
        try:
            return _check(case)
        except Refused:
            return "refused"


def _check(case: dict) -> str:
    X, y = rows_and_targets(case["estimator"], case["data"])
    unclaimed = why_not(case)
    changes_form = case["law"] == "mutation" and unclaimed is None
    given = FORMS[case["form"]](X) if changes_form else X.copy()
    allowed = EXPECTED.search if is_ordinary(case) else lambda text: True
    before = content(given), content(y), np.random.get_state()[1].copy(), np.geterr()  # noqa: NPY002
    with silently(case):
        with answering("ordinary rows are not refused", allowed):
            fitted = fit(case, given, y)
        answers = said(fitted, *([given] if changes_form else [given, between(X)]))
    now = content(given), content(y), np.random.get_state()[1], np.geterr()  # noqa: NPY002
    for what, then, after in zip(("X", "y", "the global random state"), before, now, strict=False):
        seeded = "without seed" not in str(case["settings"]) or what != "the global random state"
        if seeded and not all(map(np.array_equal, then, after)):
            raise Broken("mutation", f"{what} is changed", place=what)
    check_finite(fitted, answers)
    if is_classifier(fitted) and case["settings"].get("estimator") != "@SVC":  # libsvm's do not, at ties
        check_outputs_agree(fitted, answers)
    if getattr(fitted, "criterion", None) == "kde":
        check_search(fitted, given, y)
    if unclaimed is not None or case["law"] == "mutation":
        return "held" if unclaimed is None else "not claimed"
    with silently(case) as caught:
        outcome = LAWS[case["law"]](case, X, y, fitted)
    return "undecided" if any(w.category is ConvergenceWarning for w in caught) else outcome


def content(data) -> list[np.ndarray]:
    """A copy of every number that an array is made of."""
    if sp.issparse(data):
        return [data.data.copy(), data.indices.copy(), data.indptr.copy()]
    return [np.array(data)]


def check_finite(fitted, answers: dict) -> None:
    attributes = {
        name: np.asarray(value)
        for name, value in vars(fitted).items()
        if name.endswith("_") and isinstance(value, np.ndarray | float)
    }
    for name, values in {**attributes, **answers}.items():
        # A divergence or a logarithm of a probability may be infinite.
        infinite = (
            name in (*attributes, "predict_log_proba", "value_") or getattr(fitted, "smoothing", 1) == 0
        )
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
    if (D := answers.get("decision_function")) is not None:
        right = (D > 0) == codes if D.ndim == 1 else D[rows, codes] == D.max(axis=1)
        if not right.all():
            raise Broken("outputs agree", "predict is not what decides", place="decision_function")


def check_search(fitted, X, y) -> None:
    best = fitted.best_estimator_
    if isinstance(best, Pipeline):  # of one step
        best = best[-1]
    projected = getattr(best, "project", best.decision_function)(X)
    value = cauchy_schwarz_kde(*(projected[y == label] for label in fitted.classes_))
    if not np.isclose(value, fitted.best_score_, rtol=1e-4):
        message = f"best_score_ is {fitted.best_score_:.6g}, of best_estimator_ it is {value:.6g}"
        raise Broken("refitted as judged", message, place="best_score_")


# --- the laws that a case names -----------------------------------------------------------------------


def keeps_its_form(case, X, y, fitted):
    """The same numbers in another form: to the last bit, but for rows that are computed otherwise."""
    form = case["form"]
    Z = FORMS[form](X)
    dense = Z.toarray() if sp.issparse(Z) else np.asarray(Z, dtype=np.float64)
    wanted = said(fit(case, dense, y), dense)
    with answering("form", lambda text: form == "float32" or "dense data is required" in text):
        found = said(fit(case, Z, y), Z)
    if form == "float32" and case["estimator"] in SINGLE:
        return settled(case, found, wanted, TOLERANCE_SINGLE, refitted(case, dense, y, 2**-23))
    if form in ("CSR", "CSR, odd"):
        return settled(case, found, wanted, TOLERANCE, refitted(case, dense, y))
    return settled(case, found, wanted)


def keeps_its_order(case, X, y, fitted):
    order = np.random.default_rng(0).permutation(len(X))
    other = fit(case, X[order], None if y is None else y[order])
    return settled(case, said(other, X), said(fitted, X), TOLERANCE, refitted(case, X, y))


def does_not_see_a_shift(case, X, y, fitted):
    c = case["by"] * max(np.abs(X).max(), 1e-150)
    Z = X + c
    X = Z - c  # to the last bit
    wanted = without_units(fit(case, X, y), X)
    moved = sp.csr_matrix(Z) if case["form"] == "CSR" else Z
    with answering("shift", lambda text: case["by"] > 1e3):
        found = without_units(fit(case, moved, y), moved)
    otherwise = refitted(case, Z, y, back=lambda Z: Z - c, answer=without_units)
    return settled(case, found, wanted, TOLERANCE, otherwise)


def does_not_see_units(case, X, y, fitted):
    a = 2.0 ** case["by"]
    with np.errstate(over="ignore", under="ignore"):
        Z = X * a
        kept = np.array_equal(Z / a, X)
        if isinstance(fitted, Measure):
            if "gaussian" in fitted.name:
                kept = np.array_equal(Z * Z / a / a, X * X)  # of which covariances are made
        else:
            kept = kept and np.abs(Z).max() > 1e-130  # below, squares that learners compute with lose digits
    if not kept:
        return "not claimed"
    wanted = without_units(fitted, X)
    with answering("scale", lambda text: abs(case["by"]) > 30 or "accepts numbers up to" in text):
        found = without_units(fit(case, Z, y), Z)
    if isinstance(fitted, Measure):
        growth = MEASURES[fitted.name]["value"]
        nats = case["by"] * np.log(2) * {"each feature": X.shape[1], "once": 1}.get(growth, 0)
        found = {"value_": (found["value_"] - nats) / (a if growth == "factor" else 1)}
    return settled(case, found, wanted, TOLERANCE, refitted(case, X, y, answer=without_units))


def comes_in_chunks(case, X, y, fitted):
    stream, size = made(case["estimator"], case["settings"]), case["by"]
    known = {} if case["estimator"] in OF_VALUES else {"classes": np.unique(y)}
    for start in range(0, len(X), size):
        rows = X[start : start + size]
        rows = sp.csr_matrix(rows) if start // size % 2 else rows
        with answering("chunks", lambda text: "all rows at once" in text), refusing("partial_fit"):
            stream.partial_fit(rows, y[start : start + size], **known)
        known = {}
    return settled(case, said(stream, X), said(fitted, X), TOLERANCE, refitted(case, X, y))


def answers_each_row_alone(case, X, y, fitted):
    X = between(X)[:5]
    alone = said(fitted, *(X[[i]] for i in range(len(X))))
    return settled(case, alone, said(fitted, X), TOLERANCE, lambda seed: said(fitted, rounded(X, seed)))


def says_it_again(case, X, y, fitted):
    return settled(case, said(fit(case, X, y), X), said(fitted, X))


def forgets_an_earlier_fit(case, X, y, fitted):
    estimator = made(case["estimator"], case["settings"])
    with refusing("fit"):
        estimator.fit(np.abs(X[::-1]) * 0.5 + 1, y).fit(X, y)
    return settled(case, said(estimator, X), said(fitted, X))


def comes_back_from_a_pickle(case, X, y, fitted):
    return settled(case, said(pickle.loads(pickle.dumps(fitted)), X), said(fitted, X))


def keeps_no_array_of_the_caller(case, X, y, fitted):
    ours, theirs = X.copy(), None if y is None else y.copy()
    estimator = fit(case, ours, theirs)
    wanted = said(estimator, X)
    ours[:] = 7.0
    if theirs is not None:
        theirs[:] = theirs[0]
    return settled(case, said(estimator, X), wanted)


def is_stable(case, X, y, fitted):
    """Ordinary rows may be rounded: the answers stay."""
    if not is_ordinary(case) or case["data"].get("kind") == "counts":
        return "not claimed"  # among counts there are ties
    return settled(case, refitted(case, X, y)(0), said(fitted, X), TOLERANCE)


def answers_far_away(case, X, y, fitted):
    """Rows far from those of the fit: finite answers, or one clear line."""
    for name in METHODS:
        if hasattr(fitted, name):
            with refusing(name):
                answer = np.asarray(getattr(fitted, name)(X * 1e6 + 1))
            check_finite(fitted, {name: answer})
    return "held"


LAWS = {
    "form": keeps_its_form,
    "order": keeps_its_order,
    "shift": does_not_see_a_shift,
    "scale": does_not_see_units,
    "chunks": comes_in_chunks,
    "rows": answers_each_row_alone,
    "again": says_it_again,
    "refit": forgets_an_earlier_fit,
    "pickle": comes_back_from_a_pickle,
    "later": keeps_no_array_of_the_caller,
    "rounding": is_stable,
    "far": answers_far_away,
}


def laws_of(name: str) -> list[str]:
    """The laws that an estimator or a measure claims, if only with some settings."""
    if name in MEASURES:
        return sorted(MEASURES[name]["laws"])
    never = {law for law in NOT_CLAIMED for _, names, when in NOT_CLAIMED[law] if name in names and not when}
    return [law for law in ("mutation", *LAWS) if law not in never]


LAWS_OF = {name: laws_of(name) for name in (*CLASSES, *MEASURES)}
