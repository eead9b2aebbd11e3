"""The fuzz in seconds: findings of longer runs by name, a few cases of all, and that faults are noticed."""

import inspect
import json
import signal
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from many_cases import for_each
from public_estimators import NAMED
from sklearn.exceptions import ConvergenceWarning

from entrolearn import KDEClassifier
from fuzz import __main__ as long_run
from fuzz.cases import (
    CLASSES,
    FORMS,
    LABEL_FORMS,
    MEASURES,
    OF_VALUES,
    OTHER_COLUMNS,
    SEARCHES,
    SPOILT_LABELS,
    SPOILT_ROWS,
    SPOILT_TARGETS,
    SPOILT_VALUES,
    UNUSABLE_ROWS,
    VALUE_FORMS,
    VALUE_TARGETS,
    drawn,
    forms_of,
    own_settings,
    rows_and_targets,
    takes,
)
from fuzz.laws import (
    KERNELS,
    LAWS,
    LAWS_OF,
    NOT_CLAIMED,
    SECONDS,
    Broken,
    check,
    documented_warnings,
    fit,
    why_not,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # the laws say which are allowed

FOUND = [json.loads(line) for line in Path(__file__).with_name("named.jsonl").read_text().splitlines()]
EXAMPLES = 4
# Whose solvers end before they converge, for which a case that breaks no law is undecided.
UNFINISHED = ("CrossEntropyMethodClustering-1", "MaxEntClassifier-3", "SoftmaxRegression-2")


KNOWN = {name: (type(one).__name__, own_settings(one)) for name, one in NAMED.items()}
KNOWN |= {"EntropySearch-1": ("EntropySearch", SEARCHES[0])}
KNOWN |= {"EntropySearch-2": ("EntropySearch", SEARCHES[1] | {"criterion": "kde"})}
for name in ("MaxEntClassifier", "SoftmaxRegression"):
    KNOWN[f"{name}, converged"] = (name, {"tol": 1e-9, "max_iter": 5000})
KNOWN |= {name: (name, {}) for name in MEASURES}
FIRST_OF_CLASS = [known for known in KNOWN if known.endswith("-1")]
# Laws that are checked of each known setting: what the table of faults calls them -> law and form of rows.
TRIED = {
    "rows in another order": ("order", "dense"),
    "rows moved": ("shift", "dense"),
    "rows in other units": ("scale", "dense"),
    "features in another order": ("columns", "dense"),
    "classes whose names are exchanged": ("names", "dense"),
    "rows rotated": ("rotation", "dense"),
    "rows under an affine map": ("affine", "dense"),
    "a constant feature more": ("constant", "dense"),
    "rows of whole weights, and as many rows": ("weights", "dense"),
    "fit and transform, or predict, in one": ("one step", "dense"),
    "rows in chunks": ("chunks", "dense"),
    "rows one at a time": ("rows", "dense"),
    "the same fit again": ("again", "dense"),
    "a second fit of the same estimator": ("refit", "dense"),
    "a pickle": ("pickle", "dense"),
    "rows and targets overwritten after the fit": ("later", "dense"),
    "sparse rows overwritten after the fit": ("later", "CSR"),
}


def hold(case: dict) -> str:
    try:
        return check(case)
    except Broken as broken:
        pytest.fail(
            f"{broken}\n{broken.tail}\nmake fuzz CASE='{json.dumps(case, default=str)}'", pytrace=False
        )


FOUND = [
    one for one in FOUND if one["case"].get("form", "dense") in {"dense", *FORMS}
]  # with polars or without


@pytest.mark.parametrize("named", FOUND, ids=lambda named: f"{named['case']['estimator']}: {named['name']}")
def test_what_failed_once_holds(named):
    assert hold(named["case"]) in named["comes to"]


# What shortens the fits of tests that compare fits by the same steps, whether or not these reach a minimum.
SHORT = {"max_iter": 5, "n_init": 1, "samples_per_coordinate": 2, "samples_per_candidate": 2}


def short(name: str, settings: dict) -> dict:
    taken = inspect.signature(CLASSES[name]).parameters
    return settings | {key: value for key, value in SHORT.items() if key in taken}


@cache
def fitted(known: str, briefly: bool) -> tuple:
    """A case of an estimator in its setting, its rows and targets, and the fit to them, for many laws."""
    name, settings = KNOWN[known]
    settings = short(name, settings) if briefly else settings
    data = {"kind": "counts"} if settings.get("solver") == "gis" else {}  # which refuses negative numbers
    case = {"estimator": name, "settings": settings, "data": data, "law": "mutation", "form": "read-only"}
    assert hold(case) == "held"
    X, y = rows_and_targets(name, data)
    return case, X, y, fit(case, X, y)


def hold_of_fitted(known: str, law: str, form: str) -> None:
    case, X, y, one = fitted(known, law in IN_EVERY_FORM)
    far = law == "shift" and not known.endswith("converged")  # whose solvers would need more iterations
    by = 2.0**20 if far else 3
    case = case | {"law": law, "form": form, "by": by}
    if law in LAWS_OF[case["estimator"]] and why_not(case) is None:
        with documented_warnings(case) as caught:
            outcome = LAWS[law](case, X.copy(), None if y is None else y.copy(), one)
        if law not in IN_EVERY_FORM and known not in UNFINISHED and not known.endswith("converged"):
            assert not [warning for warning in caught if warning.category is ConvergenceWarning]
        assert outcome == "held" or known in UNFINISHED or law == "form"


def lines(kind: str, about: list, names, outcome: str) -> list:
    """A parameter for each law or form, a line of the table of faults, with those that it is about."""
    table = names.items() if isinstance(names, dict) else ((name, (name,)) for name in names)
    return [
        pytest.param(about, *values, id=name, marks=pytest.mark.fault(kind, name, outcome))
        for name, values in table
    ]


@pytest.mark.parametrize(("cases", "law", "form"), lines("Laws", list(KNOWN), TRIED, "as the law says"))
@for_each("known")
def test_laws_hold_in_every_known_setting(known, law, form):
    name, _ = KNOWN[known]
    if form == "dense" or (name not in MEASURES and takes(name, "sparse")):
        hold_of_fitted(known, law, form)


@pytest.mark.parametrize("kind", ["round classes", "equal variances"])
@pytest.mark.parametrize("cases", [FIRST_OF_CLASS], ids=[""])
@for_each("known")
def test_rounding_does_not_choose_the_axes(known, kind):
    name, settings = KNOWN[known]
    case = {"estimator": name, "settings": settings, "data": {"kind": kind}, "law": "order"}
    assert why_not(case) is not None or hold(case) in ("held", "undecided")


@pytest.mark.parametrize("cases", [KERNELS], ids=[""])
@for_each("name")
def test_a_constant_feature_changes_no_distance(name):
    settings = {"sigma" if "sigma" in inspect.signature(CLASSES[name]).parameters else "gamma": 2.0}
    assert hold({"estimator": name, "settings": settings, "data": {}, "law": "constant"}) != "refused"


IN_EVERY_FORM = {
    "form": FORMS,
    "target form": LABEL_FORMS | VALUE_FORMS,
    "spoilt rows": SPOILT_ROWS | UNUSABLE_ROWS | OTHER_COLUMNS,
    "spoilt targets": SPOILT_TARGETS | SPOILT_LABELS | SPOILT_VALUES,
}
FORM_LINES = [
    line
    for law, forms in IN_EVERY_FORM.items()
    for line in lines(
        "Arrays" if "spoilt" in law else "Representations",
        FIRST_OF_CLASS,
        {f"{law}: {form}": (law, form) for form in forms},
        "refused in one line" if "spoilt" in law else "the same answers, or one line that asks for others",
    )
]


@pytest.mark.parametrize(("cases", "law", "form"), FORM_LINES)
@for_each("known")
def test_data_in_every_form_give_the_same_answers_or_are_refused(known, law, form):
    """Of the forms that are accepted each estimator takes every third; drawn cases take the others."""
    forms = forms_of(KNOWN[known][0], law)
    if form in forms and ("spoilt" in law or (forms.index(form) + FIRST_OF_CLASS.index(known)) % 3 == 0):
        hold_of_fitted(known, law, form)


# Data that some can learn from and others cannot, and the classes of those that refuse it.
SVMS = ("LSSVC", "RSVC", "OneNormSVC", "CrossEntropySVC")
ENTROPY = (
    "EEMClassifier",
    "EEKMClassifier",
    "KDEClassifier",
    "MaxEntClassifier",
    "ErrorEntropyMLPClassifier",
)
CLASSIFIERS = {"WELMClassifier", "ELMClassifier", "KELMClassifier", "RKELMClassifier", *SVMS, *ENTROPY}
CLASSIFIERS |= {"SoftmaxRegression", "MSEMLPClassifier", "RecursiveFeatureClassifier", "EntropySearch"}
CLUSTERS = {
    "MinimumEntropyClustering",
    "CrossEntropyMethodClustering",
    "CrossEntropyClustering",
    "KLClustering",
}
VIEWS = {"CoherentFeatures", "IncoherentFeatures"}
NO_SPREAD = {"RenyiEntropyClustering", "EntropySearch"}
# Settings of which some refuse what the class takes, or take what it refuses.
VARIES = ("MaxEntClassifier-3", "EntropySearch-2", "OneNormSVR-2")
VARIES += ("RenyiEntropyClustering-2", "CrossEntropyClustering-2", "CrossEntropyClustering-3")
EXTREMES: dict[str, tuple[dict, set]] = {
    "a constant column": ({"column": "constant"}, set()),
    "a column of zeros": ({"column": "zeros"}, set()),
    "equal rows": ({"kind": "one row", "target": "noise"}, {*VIEWS, *NO_SPREAD, "InfomaxICA", "MELM"}),
    "nothing but zeros": (
        {"kind": "zeros", "target": "noise"},
        {*VIEWS, *NO_SPREAD, "InfomaxICA", "MELM", "GEM", "KLClustering"},
    ),
    "every row twice": ({"kind": "each row twice"}, set()),
    "all rows of a class equal": ({"kind": "one class equal"}, {"MELM"}),
    "a single row": (
        {"shape": [1, 3]},
        CLASSIFIERS
        | CLUSTERS
        | VIEWS
        | {"RenyiEntropyClustering", "GEM", "MELM", "LinearInfomax", "InfomaxICA", "InformationFilter"},
    ),
    "two rows": ({"shape": [2, 3]}, {*CLUSTERS, "MELM", "InformationFilter"}),
    "one row of a class": ({"target": "one row of a class"}, {"MELM"}),
    "one class": ({"target": "one class"}, {*CLASSIFIERS, "GEM", "MELM"}),
    "more columns than rows": ({"shape": [8, 40]}, {"CrossEntropyClustering"}),
    "1e-300 everywhere": ({"scale": 1e-300}, {*VIEWS, *NO_SPREAD, "InfomaxICA"}),
    "numbers whose squares underflow": ({"scale": 1e-160}, NO_SPREAD),
    "numbers whose squares are subnormal": ({"scale": 1e-155}, NO_SPREAD),
    "subnormal numbers": ({"scale": 5e-324}, {*VIEWS, *NO_SPREAD, "InfomaxICA", "GEM"}),
    "1e60 everywhere": ({"scale": 1e60}, set()),
    "almost 1e70 everywhere": ({"kind": "uniform", "scale": 3e69}, set()),
    "almost 1e15 everywhere, in single precision": (
        {"kind": "uniform", "scale": 3e14, "form": "float32"},
        set(),
    ),
    "1e-30 everywhere, in single precision": ({"scale": 1e-30, "form": "float32"}, set()),
    "1e38 in one place, in single precision": (
        {"column": "float32 outlier", "form": "float32"},
        {"EEMClassifier", "SoftmaxRegression", "MSEMLPClassifier", "MSEMLPRegressor", "MELM"}
        | {"ErrorEntropyMLPClassifier", "ErrorEntropyMLPRegressor"},
    ),
    "a column of 1e60": ({"column": "huge"}, set()),
    "a column of 1e-300": ({"column": "tiny"}, set()),
    "1e60 in one place": ({"column": "outlier"}, {"MELM"}),
    "rows far from the origin": ({"offset": 1e9}, set()),
    "a column that repeats another": ({"column": "copy"}, set()),
    "truth values": ({"kind": "bits"}, set()),
    "equal values": ({"target": "constant"}, set()),
    "values of 1e40": ({"target": "huge"}, {"OneNormSVR", "CrossEntropySVR"}),
    "values of 1e-160": ({"target": "tiny"}, set()),
}


@pytest.mark.parametrize(
    ("cases", "extreme", "data", "refuse"),
    lines(
        "Arrays",
        list(NAMED),
        {extreme: (extreme, *values) for extreme, values in EXTREMES.items()},
        "numbers, or refused in one line",
    ),
)
@for_each("known")
def test_extremes_give_numbers_or_are_refused(known, extreme, data, refuse):
    name, settings = KNOWN[known]
    first, number = known.endswith("-1"), list(NAMED).index(known) + list(EXTREMES).index(extreme)
    if number % (2 if first else 3) and not (first and name in refuse):
        return  # of those who answer each takes every second or third
    if "target" in data and (data["target"] in VALUE_TARGETS.keys() - {"noise"}) != (name in OF_VALUES):
        return
    form, data = data.get("form", "read-only"), {key: data[key] for key in data if key != "form"}
    case = {
        "estimator": name,
        "settings": short(name, settings),
        "data": data,
        "law": "mutation",
        "form": form,
    }
    outcome = hold(case)
    assert known in VARIES or outcome == ("refused" if name in refuse else "held")


@pytest.mark.parametrize("name", LAWS_OF)
def test_drawn_cases_hold(name):
    for case in drawn(24, EXAMPLES, {name: LAWS_OF[name]}):
        hold(case)


def test_reasons_are_about_estimators():
    assert {name for reasons in NOT_CLAIMED.values() for _, names, _ in reasons for name in names} <= set(
        CLASSES
    )


class Faulty(KDEClassifier):
    """A classifier with one fault, by the name of the law that it breaks."""

    fault = ""

    def fit(self, X, y):
        match self.fault:
            case "one clear line":
                np.linalg.cholesky(-np.eye(2))
            case "mutation":
                X[0] = 0
            case "no warning":
                np.log(np.zeros(1))
            case "again":
                self.drawn_ = np.random.default_rng().uniform()
            case "later":
                self.rows_ = X
            case "bounded time":
                while True:
                    pass
            case "process":
                signal.raise_signal(signal.SIGXCPU)
        return super().fit(X, y)

    def decision_function(self, X):
        odds = super().decision_function(X)
        match self.fault:
            case "finite":
                odds[0] = np.nan
            case "outputs agree":
                odds = -odds
            case "answers after a good fit":
                super().decision_function(X[:, :1])
            case "again":
                odds *= self.drawn_
            case "later":
                odds *= self.rows_.sum()
            case "rows":
                odds *= len(X)
            case "shift":
                odds *= np.abs(X).max()
        return odds


FAULTS = ["one clear line", "mutation", "no warning", "again", "later", "bounded time", "finite"]
FAULTS += ["outputs agree", "answers after a good fit", "rows", "shift"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault, monkeypatch):
    monkeypatch.setitem(CLASSES, "KDEClassifier", type("KDEClassifier", (Faulty,), {"fault": fault}))
    law = fault if fault in LAWS else "pickle"
    case = {"estimator": "KDEClassifier", "settings": {}, "data": {}, "law": law, "by": 1.0, "form": "dense"}
    with pytest.raises(Broken) as caught:
        check(case, seconds=0.05 if fault == "bounded time" else SECONDS)
    assert caught.value.law == fault


SLOW = [
    {
        "estimator": "InformationFilter",
        "settings": {
            "n_features_to_select": "test",
            "n_permutations": 50,
            "alpha": 0.999,
            "target": "values",
        },
        "data": {"shape": [8, 40], "seed": 2},
        "law": "later",
    },
    {
        "estimator": "MELM",
        "settings": {"method": "exact", "n_init": 50},
        "data": {"seed": 232, "shape": [200, 2], "target": "one row each", "kind": "uniform"},
        "law": "refit",
    },
    {
        "estimator": "CrossEntropySVC",
        "settings": {"n_iter_no_change": 20, "gamma": 100.0, "elite_fraction": 0.1},
        "data": {"kind": "uniform", "seed": 306, "shape": [200, 2]},
        "law": "later",
    },
]


@pytest.mark.parametrize("case", SLOW, ids=lambda case: case["estimator"])
def test_a_fit_that_is_asked_to_take_long_is_no_finding(case):
    assert check(case, seconds=0.001) == "not claimed"
    with pytest.raises(Broken, match="bounded time"):
        check(case | {"settings": {}, "data": {"shape": [200, 2]}}, seconds=0.001)


def test_a_long_run_survives_a_crash_and_goes_on(tmp_path, monkeypatch):
    results = tmp_path / "fuzz.jsonl"
    monkeypatch.setitem(CLASSES, "KDEClassifier", type("KDEClassifier", (Faulty,), {"fault": "process"}))
    monkeypatch.setattr(long_run, "LAWS_OF", {"KDEClassifier": ["pickle"]})
    monkeypatch.setattr(long_run, "CASES", 5)
    for _ in range(2):
        long_run.run(seed=0, jobs=1, seconds=0.3, results=results)
    lines = long_run.lines_of(results)
    assert [line["law"] for line in lines if "law" in line] == ["process"]
    batches = [line["batch"] for line in lines if "counts" in line]
    assert batches == list(range(len(batches)))
    assert "SIGXCPU" in long_run.summary(results)
