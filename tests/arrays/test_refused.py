"""Hostile arrays by table, for every learner: one clear error, or what is right, and never a NaN.

What nobody can learn from is refused by all. What some can learn from, such as a constant column, all must
either learn from or refuse: `REFUSED` says who refuses, and the others must answer with finite numbers and
without a warning of NumPy's.
"""

import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest
from many_cases import for_each
from public_estimators import ESTIMATORS, NAMED, quick
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone, is_classifier, is_clusterer, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from entrolearn import (
    LSSVC,
    LSSVR,
    RSVC,
    CrossEntropyClustering,
    EEKMClassifier,
    ELMClassifier,
    ELMRegressor,
    EntropySearch,
    InfomaxICA,
    KDEClassifier,
    KELMClassifier,
    KLClustering,
    MinimumEntropyClustering,
    OneNormSVC,
    OneNormSVR,
    RenyiEntropyClustering,
    RKELMClassifier,
    WELMClassifier,
)
from entrolearn.cluster import CrossEntropyMethodClustering
from entrolearn.feature_selection import InformationFilter
from entrolearn.maxent import MaxEntClassifier
from entrolearn.networks import CoherentFeatures, IncoherentFeatures

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X has feature names"),
]

# What a learner says of rows.
METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "project",
    "hidden",
)
# What scikit-learn says in several lines, of which the first names what was found.
LONGER = ("Input X contains", "Input y contains", "Expected 2D array", "Complex data", "The feature names")

N_ROWS, N_COLUMNS = 24, 3


LEARNERS = {name: quick(estimator) for name, estimator in NAMED.items()}
OF_EACH_CLASS = {name: estimator for name, estimator in LEARNERS.items() if name.endswith("-1")}


def rows() -> np.ndarray:
    """Two groups of rows that overlap in all but the first column; positive, for those that want that."""
    X = np.random.default_rng(0).uniform(0.1, 1, size=(N_ROWS, N_COLUMNS))
    X[1::2, 0] += 1
    return X


def values() -> np.ndarray:
    return rows() @ [1.0, -2.0, 0.5]


def labels() -> np.ndarray:
    return np.arange(N_ROWS) % 2


def learns_values(estimator: BaseEstimator) -> bool:
    return is_regressor(estimator) or isinstance(estimator, (CoherentFeatures, IncoherentFeatures))


def target(estimator: BaseEstimator) -> np.ndarray | None:
    if not get_tags(estimator).target_tags.required:
        return None
    return values() if learns_values(estimator) else labels()


@cache
def fitted(name: str) -> BaseEstimator:
    estimator = clone(LEARNERS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(rows(), target(estimator))


def check_refused(call: Callable, says: str) -> None:
    """One error of the kinds that scikit-learn has, which says in one line what was found."""
    with pytest.raises((ValueError, TypeError), match=says) as caught:
        call()
    assert caught.type.__name__ in {"ValueError", "TypeError", "NotFittedError", "InvalidParameterError"}
    text = str(caught.value)
    assert "\n" not in text or text.startswith(LONGER)


def each(
    table, outcome: str, applies: Callable[[BaseEstimator, str], bool] = lambda estimator, case: True
) -> list:
    """A line of a table, marked as a fault, with all learners that it applies to."""
    return [
        pytest.param(
            [learner for learner, estimator in OF_EACH_CLASS.items() if applies(estimator, case)],
            case,
            id=case,
            marks=pytest.mark.fault("Arrays", case, outcome),
        )
        for case in table
    ]


# --- rows that nobody can learn from, nor say anything of -----------------------------------------------


def with_one(value, dtype=np.float64) -> np.ndarray:
    X = rows().astype(dtype)
    X[3, 1] = value
    return X


def frame(**columns) -> pd.DataFrame:
    return pd.DataFrame(rows(), columns=["a", "b", "c"]).assign(**columns)


ROWS: dict[str, tuple[Callable[[], object], str]] = {
    "NaN among the rows": (lambda: with_one(np.nan), "X contains NaN"),
    "+inf among the rows": (lambda: with_one(np.inf), "X contains infinity"),
    "-inf among the rows": (lambda: with_one(-np.inf), "X contains infinity"),
    "None among the rows": (lambda: with_one(None, object), "X contains NaN"),
    "words for rows": (lambda: rows().astype(str).tolist()[:-1] + [["a", "b", "c"]], "string to float: 'a'"),
    "a column of words": (lambda: frame(b="word"), "string to float: 'word'"),
    "objects of mixed types": (lambda: with_one({}, object), "must be a string or a real number, not 'dict'"),
    "None for X": (lambda: None, "None|[Ee]xpected 2D array"),
    "a number for X": (lambda: 3.0, "2D array|array-like|got scalar|Singleton"),
    "a word for X": (lambda: "rows", "string|array-like|got scalar|inconsistent numbers of samples"),
    "no rows": (lambda: rows()[:0], r"0 sample\(s\)|inconsistent numbers of samples"),
    "no columns": (lambda: rows()[:, :0], r"0 feature\(s\)"),
    "rows of one dimension": (lambda: rows()[:, 0], "[Ee]xpected 2D array"),
    "rows of three dimensions": (lambda: np.ones((N_ROWS, 2, 2)), "dim 3"),
    "ragged rows": (lambda: [[1.0, 2.0, 3.0]] * (N_ROWS - 1) + [[1.0]], "inhomogeneous"),
    "complex numbers": (lambda: rows() + 1j, "Complex data not supported"),
}
# What the estimator inside of an EntropySearch makes of these is its own affair.
SIZES: dict[str, tuple[Callable[[], object], str]] = {
    "dates for rows": (lambda: np.full((N_ROWS, N_COLUMNS), np.datetime64("2020-01-01")), "X holds dates"),
    "1e300 everywhere": (lambda: 1e300 * rows(), r"X holds [12].*e\+300; .* scale them"),
    "1e300 in one place": (lambda: with_one(1e300), r"X holds 1e\+300; .* scale them"),
    "-1e300 in one place": (lambda: with_one(-1e300), r"X holds -1e\+300; .* scale them"),
    "1e300 beside 1e-300": (lambda: rows() * [1e300, 1, 1e-300], r"X holds [12].*e\+300; .* scale them"),
}


def not_inside(estimator, case) -> bool:
    return not isinstance(estimator, EntropySearch)


BAD_ROWS = each(ROWS, "refused in one line") + each(SIZES, "refused in one line", not_inside)


@pytest.mark.parametrize(("cases", "case"), BAD_ROWS)
@for_each("learner")
def test_rows_that_nobody_can_learn_from_are_refused(learner, case):
    make, says = {**ROWS, **SIZES}[case]
    estimator = clone(LEARNERS[learner])
    check_refused(lambda: estimator.fit(make(), target(estimator)), says)


SPARSE = {
    "sparse rows where dense ones are asked for": (rows, "[Ss]parse data was passed"),
    "NaN among sparse rows": (lambda: with_one(np.nan), "contains NaN"),
    "1e300 among sparse rows": (lambda: with_one(1e300), r"X holds 1e\+300"),
}


def as_sparse_as_taken(estimator, case) -> bool:
    takes = get_tags(estimator).input_tags.sparse
    return not_inside(estimator, case) and takes == (case != "sparse rows where dense ones are asked for")


@pytest.mark.parametrize(("cases", "case"), each(SPARSE, "refused in one line", as_sparse_as_taken))
@for_each("learner")
def test_sparse_rows_are_refused_where_they_cannot_be_taken(learner, case):
    make, says = SPARSE[case]
    estimator = clone(LEARNERS[learner])
    check_refused(lambda: estimator.fit(csr_array(make()), target(estimator)), says)


def computes(estimator, case) -> bool:
    """Not a selector, which hands columns of any type on as scikit-learn's do."""
    return not_inside(estimator, case) and not isinstance(estimator, InformationFilter)


# An estimator that has been fitted says nothing of these; of one row it can, and of constant ones.
@pytest.mark.parametrize(
    ("cases", "case"),
    each(ROWS, "refused in one line", lambda estimator, case: not isinstance(estimator, InformationFilter))
    + each(SIZES, "refused in one line", computes),
)
@for_each("learner")
def test_a_fitted_learner_says_nothing_of_such_rows(learner, case):
    make, says = {**ROWS, **SIZES}[case]
    for method in methods(learner):
        check_refused(lambda method=method: getattr(fitted(learner), method)(make()), says)


def methods(learner: str) -> list[str]:
    return [method for method in METHODS if hasattr(fitted(learner), method)]


WIDTHS = {
    "a feature less than in fit": lambda: rows()[:, 1:],
    "a feature more than in fit": lambda: np.hstack([rows(), rows()[:, :1]]),
}


@pytest.mark.parametrize(("cases", "case"), each(WIDTHS, "refused in one line"))
@for_each("learner")
def test_rows_of_another_width_are_refused(learner, case):
    for method in methods(learner):
        says = rf"X has {WIDTHS[case]().shape[1]} features, but .* is expecting 3 features"
        check_refused(lambda method=method: getattr(fitted(learner), method)(WIDTHS[case]()), says)


RENAMED = {"other names of columns than in fit": None}


@pytest.mark.parametrize(("cases", "case"), each(RENAMED, "refused, with the names"))
@for_each("learner")
def test_columns_of_other_names_are_refused(learner, case):
    estimator = clone(LEARNERS[learner])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(frame(), target(estimator))
    renamed = frame().rename(columns={"b": "other"})
    for method in methods(learner):
        check_refused(
            lambda method=method: getattr(estimator, method)(renamed), "feature names should match[^$]*other"
        )


UNFITTED = {"predict, transform, score and the like before fit": None}


@pytest.mark.parametrize(("cases", "case"), each(UNFITTED, "NotFittedError"))
@for_each("learner")
def test_a_learner_that_is_not_fitted_says_so(learner, case):
    estimator = clone(LEARNERS[learner])
    found = [method for method in METHODS if hasattr(estimator, method)]
    assert found
    for method in found:
        with pytest.raises(NotFittedError, match=f"{type(estimator).__name__} instance is not fitted yet"):
            getattr(estimator, method)(rows())
    if hasattr(estimator, "score"):
        with pytest.raises(NotFittedError):
            estimator.score(rows(), target(estimator))


# --- targets --------------------------------------------------------------------------------------------


def target_with(value, dtype=np.float64) -> Callable[[np.ndarray], np.ndarray]:
    def changed(y):
        y = y.astype(dtype)
        y[3] = value
        return y

    return changed


TARGETS: dict[str, tuple[Callable[[np.ndarray], object], str]] = {
    "no y": (lambda y: None, "requires y|y cannot be None|target y is None"),
    "y of another length": (lambda y: y[:-1], "inconsistent numbers of samples"),
    "NaN in y": (target_with(np.nan), "contains NaN"),
    "inf in y": (target_with(np.inf), "contains infinity"),
    "None in y": (target_with(None, object), "NaN|None|unknown"),
    "complex y": (lambda y: y + 1j, "[Cc]omplex|unknown|Unknown"),
    "y of three dimensions": (lambda y: np.ones((N_ROWS, 2, 2)), "dim 3|1d array|Unknown label type"),
    "y is a number": (lambda y: 1.0, "scalar|1d array|Singleton|2D array|inconsistent"),
}
LABELS: dict[str, tuple[Callable[[np.ndarray], object], str]] = {
    "measurements for labels": (lambda y: values(), "Unknown label type.*continuous|type of the target is"),
    "labels in two columns": (lambda y: np.column_stack([y, y]), "1d array|multi|Multi"),
    "words and numbers for labels": (target_with("b", object), "types number, str; they must be all words"),
    "words and None for labels": (
        lambda y: np.where(np.arange(N_ROWS) == 3, None, y.astype(str)),
        "y holds labels of the types NoneType, str; they must be all words or all numbers, without None",
    ),
}
VALUES: dict[str, tuple[Callable[[np.ndarray], object], str]] = {
    "words for values": (lambda y: ["word"] * N_ROWS, "could not convert string to float: .*'word'"),
    "1e300 among the values": (target_with(1e300), r"y holds 1e\+300; .* scale them"),
}


def has_target(estimator, case) -> bool:
    return target(estimator) is not None


def has_labels(estimator, case) -> bool:
    both = isinstance(estimator, InformationFilter) and case == "measurements for labels"
    return has_target(estimator, case) and not learns_values(estimator) and not both


def has_values(estimator, case) -> bool:
    return learns_values(estimator)


BAD_TARGETS = [
    *each(TARGETS, "refused in one line", has_target),
    *each(LABELS, "refused in one line", has_labels),
    *each(VALUES, "refused in one line", has_values),
]


@pytest.mark.parametrize(("cases", "case"), BAD_TARGETS)
@for_each("learner")
def test_targets_that_nobody_can_learn_are_refused(learner, case):
    change, says = {**TARGETS, **LABELS, **VALUES}[case]
    estimator = clone(LEARNERS[learner])
    check_refused(lambda: estimator.fit(rows(), change(target(estimator))), says)


# --- rows and targets that some learners can learn from ----------------------------------------------


def with_column(value: float) -> np.ndarray:
    X = rows()
    X[:, 1] = value
    return X


def wide() -> np.ndarray:
    """Four times as many columns as rows."""
    X = np.random.default_rng(1).uniform(size=(12, 48))
    X[1::2] += 1
    return X


# Rows, and which of the usual targets they have; None for all.
EXTREMES: dict[str, Callable[[], tuple[np.ndarray, slice | np.ndarray]]] = {
    "one constant column": lambda: (with_column(0.3), slice(None)),
    "a column of zeros": lambda: (with_column(0.0), slice(None)),
    "nothing but constant columns": lambda: (np.full((N_ROWS, N_COLUMNS), 0.1), slice(None)),
    "nothing but zeros": lambda: (np.zeros((N_ROWS, N_COLUMNS)), slice(None)),
    "every row twice": lambda: (np.vstack([rows(), rows()]), np.tile(np.arange(N_ROWS), 2)),
    "all rows of a class equal": lambda: (np.where(labels()[:, None], rows()[1], rows()), slice(None)),
    "a single row": lambda: (rows()[:1], slice(1)),
    "two rows": lambda: (rows()[:2], slice(2)),
    "one row of a class": lambda: (rows()[[1, *range(0, N_ROWS, 2)]], np.array([1, *range(0, N_ROWS, 2)])),
    "one class": lambda: (rows()[::2], slice(None, None, 2)),
    "four times as many columns as rows": lambda: (wide(), slice(12)),
    "1e-300 everywhere": lambda: (1e-300 * rows(), slice(None)),
    "numbers whose squares underflow": lambda: (1e-160 * rows(), slice(None)),
    "numbers whose squares are subnormal": lambda: (1e-155 * rows(), slice(None)),
    "subnormal numbers": lambda: (5e-324 * np.round(10 * rows()), slice(None)),
    "almost 1e70 everywhere": lambda: (4e69 * rows(), slice(None)),
    "almost 1e15 everywhere, in single precision": lambda: (np.float32(4e14 * rows()), slice(None)),
    "1e-30 everywhere, in single precision": lambda: (np.float32(1e-30 * rows()), slice(None)),
    "a column of 1e60 beside ordinary ones": lambda: (rows() * [1, 1e60, 1], slice(None)),
    "a column of 1e-300 beside ordinary ones": lambda: (rows() * [1, 1e-300, 1], slice(None)),
    "1e60 in one place": lambda: (with_one(1e60), slice(None)),
    "1e38 in one place, in single precision": lambda: (with_one(1e38, np.float32), slice(None)),
    "rows far from the origin": lambda: (1e9 + rows(), slice(None)),
    "columns that repeat each other": lambda: (rows()[:, [0, 0, 0]], slice(None)),
    "truth values": lambda: (rows() > 0.5, slice(None)),
}

ONE_CLASS = {
    **{
        type(estimator).__name__: "one class only|only one class"
        for estimator in filter(is_classifier, ESTIMATORS)
    },
    "GEM": "more than GEM finds with n_features=3 and 1 class",
}
EQUAL = {
    **dict.fromkeys(["CoherentFeatures", "IncoherentFeatures"], "rows span 0 and 1 dimensions"),
    "InfomaxICA": "rows of X span 0 dimensions",
    "MELM": "class 0 has 12 rows that are all equal; a density needs at least 2 different ones",
    "RenyiEntropyClustering-1": "all rows of X are equal, .* set sigma to a number",
    "EntropySearch": "they project all training rows to one point",
}
NOT_TWO_CLUSTERS = dict.fromkeys(
    ["MinimumEntropyClustering", "RenyiEntropyClustering-2"], "n_samples=2 must be at least n_clusters"
)
MORE_CLUSTERS = dict.fromkeys(
    ["CrossEntropyClustering", "CrossEntropyMethodClustering", "KLClustering"],
    "n_samples=[12] should be >= n_clusters",
)
NO_SQUARES = {
    "RenyiEntropyClustering-1": "sigma is .* with sigma=None; for these rows it must be from 1e-150 to",
    "EntropySearch-1": "2 of 2 candidates cannot be selected",
}
TINY = {**EQUAL, **NO_SQUARES}
del TINY["MELM"]  # which finds a unit for them
ONE_VALUE = dict.fromkeys(["CoherentFeatures", "IncoherentFeatures"], "rows span 3 and 0 dimensions")
NO_OPTIMUM = dict.fromkeys(
    ["OneNormSVR", "CrossEntropySVR"], "HiGHS ended with .*; are the features and the val"
)
HELD_OUT = "least populated classes in y have only 1 member"
# Who refuses which of them (a class, or one setting of it), and what it says; the others must be right.
REFUSED: dict[str, dict[str, str | None]] = {
    "one class": ONE_CLASS,
    "a single row": {
        **ONE_CLASS,
        **MORE_CLUSTERS,
        **dict.fromkeys(
            [
                *("LinearInfomax", "CoherentFeatures", "IncoherentFeatures", "InfomaxICA", "MELM"),
                *("InformationFilter", "MinimumEntropyClustering", "RenyiEntropyClustering"),
            ],
            r"1 sample\(s\) .* minimum of 2 is required",
        ),
    },
    "two rows": {
        **MORE_CLUSTERS,
        **NOT_TWO_CLUSTERS,
        "MELM": "class 0 has 1 row; a density needs at least 2",
        "InformationFilter": "X has 2 rows; at least 4 are needed",
        "SoftmaxRegression-3": HELD_OUT,
    },
    "one row of a class": {"MELM": "class 1 has 1 row; a density needs", "SoftmaxRegression-3": HELD_OUT},
    "all rows of a class equal": {"MELM": "class 1 has 12 rows that are all equal"},
    "nothing but constant columns": EQUAL,
    "nothing but zeros": {
        **EQUAL,
        "GEM": "second moments of class 1 are singular",
        "KLClustering": "X is all zero; a row must have a positive entry",
    },
    "1e-300 everywhere": {**TINY, "EntropySearch-2": None},
    "subnormal numbers": {**TINY, "GEM": "components overflow: no number of X exceeds"},
    "numbers whose squares underflow": NO_SQUARES,
    "numbers whose squares are subnormal": NO_SQUARES,
    "equal values": ONE_VALUE,
    "values of 1e-300": {**ONE_VALUE, "OneNormSVR-2": "HiGHS ended with .*; are the features and the values"},
    "values of 1e60": NO_OPTIMUM,
    "values of which one is 1e60": NO_OPTIMUM,
    "1e60 in one place": {"MELM": "class is singular .*; accepted: similar scales, no outliers"},
    "1e38 in one place, in single precision": {
        "MELM": "class is singular .*; accepted: similar scales, no outliers",
        **dict.fromkeys(
            [
                *("EEMClassifier", "SoftmaxRegression", "MSEMLPClassifier", "MSEMLPRegressor"),
                *("ErrorEntropyMLPClassifier", "ErrorEntropyMLPRegressor"),
            ],
            r"X holds 1e\+38; .* up to 1e\+15 in size",
        ),
    },
    "rows far from the origin": {
        "EntropySearch-1": "dual coefficients or intercepts are not finite",
    },
}


def refusal(case: str, learner: str) -> str | None:
    """What a learner says of a case; None where it must answer."""
    refused = REFUSED.get(case, {})
    return refused.get(learner, refused.get(learner.split("-")[0]))


def in_every_setting(
    table, applies: Callable[[BaseEstimator, str], bool] = lambda estimator, case: True
) -> list:
    """The same for every learner in all settings; the outcome says how many of these refuse."""
    parameters = []
    for case in table:
        learners = [name for name, estimator in LEARNERS.items() if applies(estimator, case)]
        refused = sum(refusal(case, learner) is not None for learner in learners)
        outcome = f"{len(learners) - refused} answer with finite numbers, {refused} refuse in one line"
        mark = pytest.mark.fault("Arrays", case, outcome)
        parameters.append(pytest.param(learners, case, id=case, marks=mark))
    return parameters


@pytest.mark.parametrize(("cases", "case"), in_every_setting(EXTREMES))
@pytest.mark.filterwarnings(
    "error",
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:.*(class means coincide|fewer than pool_below):UserWarning",
)
@for_each("learner")
def test_what_some_can_learn_from_gives_numbers_or_is_refused(learner, case):
    X, which = EXTREMES[case]()
    estimator = clone(LEARNERS[learner])
    if isinstance(estimator, EntropySearch):  # what its estimator warns of, scikit-learn's SVC
        warnings.simplefilter("ignore", RuntimeWarning)
    y = target(estimator)
    y = None if y is None else y[which]
    says = refusal(case, learner)
    if says:
        check_refused(lambda: estimator.fit(X, y), says)
    else:
        check_answers(estimator.fit(X, y), X)


EXTREME_VALUES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "values of 1e60": lambda y: 1e60 * y,
    "values of 1e-300": lambda y: 1e-300 * y,
    "values of which one is 1e60": target_with(1e60),
    "equal values": lambda y: np.full(len(y), 0.1),
    "truth values for values": lambda y: y > 0,
}


@pytest.mark.parametrize(("cases", "case"), in_every_setting(EXTREME_VALUES, has_values))
@pytest.mark.filterwarnings("error", "ignore::sklearn.exceptions.ConvergenceWarning")
@for_each("learner")
def test_what_values_can_be_learnt_gives_numbers_or_is_refused(learner, case):
    estimator = clone(LEARNERS[learner])
    y = EXTREME_VALUES[case](values())
    says = refusal(case, learner)
    if says:
        check_refused(lambda: estimator.fit(rows(), y), says)
    else:
        check_answers(estimator.fit(rows(), y), rows())


def check_answers(estimator: BaseEstimator, X: np.ndarray) -> None:
    """Finite numbers, classes that there are, probabilities."""
    for method in METHODS:
        if hasattr(estimator, method):
            found = getattr(estimator, method)(X)
            assert len(found) == len(X)
            if method == "predict" and is_classifier(estimator):
                assert set(found) <= set(estimator.classes_)
            elif method == "predict" and is_clusterer(estimator):
                assert set(found) <= set(range(estimator.n_clusters_))
            elif method == "predict_log_proba":
                assert (found <= 0).all()
            else:
                assert np.isfinite(found).all()
            if method == "predict_proba":
                np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


# --- what is right ------------------------------------------------------------------------------------


def outputs(estimator: BaseEstimator, X: np.ndarray) -> np.ndarray:
    methods = ("decision_function", "transform", "predict")
    return next(getattr(estimator, method)(X) for method in methods if hasattr(estimator, method))


def check_same(one: BaseEstimator, X: np.ndarray, other: BaseEstimator, Z: np.ndarray) -> None:
    np.testing.assert_allclose(outputs(one, X), outputs(other, Z), rtol=1e-4, atol=1e-4)


@pytest.mark.fault("Laws", "all numbers times 1e60 or 1e-100, by law", "changes nothing")
@pytest.mark.parametrize("scale", [1e60, 1e-100])
@pytest.mark.parametrize(
    "estimator",
    [
        EEKMClassifier(10, random_state=0),
        KELMClassifier(),
        RKELMClassifier(10, random_state=0),
        LSSVC(),
        LSSVR(),
        RSVC(10, random_state=0),
        OneNormSVC(),
        OneNormSVR(),
        KDEClassifier(),
        InfomaxICA(random_state=0),
        CoherentFeatures(),
        KLClustering(2, random_state=0),
        MinimumEntropyClustering(2, random_state=0),
        RenyiEntropyClustering(2, random_state=0),
        CrossEntropyClustering(2, random_state=0),
        CrossEntropyMethodClustering(2, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_unit_of_all_features_changes_nothing(estimator, scale):
    y = target(estimator)
    scaled = clone(estimator).fit(scale * rows(), y)
    if hasattr(estimator, "predict"):
        np.testing.assert_allclose(
            scaled.predict(scale * rows()), clone(estimator).fit(rows(), y).predict(rows()), rtol=1e-6
        )
    else:
        check_same(scaled, scale * rows(), clone(estimator).fit(rows(), y), rows())


NO_SIGN = {"values of a type without a sign": np.uint8, "values in half precision": np.float16}


@pytest.mark.parametrize(("cases", "case"), each(NO_SIGN, "learnt as they are", has_values))
@for_each("learner")
def test_the_type_of_values_changes_nothing(learner, case):
    y = np.arange(N_ROWS) % 7
    found = (clone(LEARNERS[learner]).fit(rows(), y.astype(dtype)) for dtype in (NO_SIGN[case], np.float64))
    np.testing.assert_array_equal(*(outputs(estimator, rows()) for estimator in found))


@pytest.mark.fault("Laws", "every row twice, by law", "changes nothing")
@pytest.mark.parametrize(
    "estimator",
    [
        ELMClassifier(5, random_state=0),
        ELMRegressor(5, C=0.0, random_state=0),
        WELMClassifier(5, random_state=0),
        MaxEntClassifier(prior_variance=None, tol=1e-6, max_iter=20),
        KLClustering(2, init=rows()[:2]),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_row_twice_changes_nothing(estimator):
    X, y = rows(), target(estimator)
    twice = np.vstack([X, X]), None if y is None else np.concatenate([y, y])
    check_same(clone(estimator).fit(*twice), X, clone(estimator).fit(X, y), X)
