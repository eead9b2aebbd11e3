"""The fuzz in seconds: findings of longer runs by name, a few cases of all, and that faults are noticed."""

import inspect
import json
import signal
from pathlib import Path

import numpy as np
import pytest
import skops.io
from public_estimators import NAMED

from entrolearn import KDEClassifier
from fuzz import __main__ as long_run
from fuzz import models
from fuzz.cases import CLASSES, MEASURES, drawn
from fuzz.laws import LAWS, LAWS_OF, NOT_CLAIMED, Broken, check, why_not

FOUND = [json.loads(line) for line in Path(__file__).with_name("named.jsonl").read_text().splitlines()]
EXAMPLES = 4
# The laws that are checked of each known setting; of forms, test_representations.py has all.
TRIED = ("order", "shift", "scale", "chunks", "rows", "again", "refit", "pickle", "later")
# Whose solvers end before they converge, for which a case that breaks no law is undecided.
UNFINISHED = ("CrossEntropyMethodClustering-1", "MaxEntClassifier-3", "SoftmaxRegression-2")


def own_settings(estimator) -> dict:
    """What an estimator is given that its class has not by default."""
    defaults = inspect.signature(type(estimator)).parameters
    given = estimator.get_params(deep=False)
    return {key: value for key, value in given.items() if str(value) != str(defaults[key].default)}


KNOWN = {name: (type(one).__name__, own_settings(one)) for name, one in NAMED.items()}
KNOWN |= {name: (name, {}) for name in MEASURES}


def hold(case: dict) -> str:
    try:
        return check(case)
    except Broken as broken:
        pytest.fail(
            f"{broken}\n{broken.tail}\nmake fuzz CASE='{json.dumps(case, default=str)}'", pytrace=False
        )


@pytest.mark.parametrize("named", FOUND, ids=lambda named: f"{named['case']['estimator']}: {named['name']}")
def test_what_failed_once_holds(named):
    assert hold(named["case"]) in named["comes to"]


@pytest.mark.parametrize("known", KNOWN)
def test_laws_hold_in_every_known_setting(known):
    name, settings = KNOWN[known]
    data = {"kind": "counts"} if settings.get("solver") == "gis" else {}  # which refuses negative numbers
    outcomes = ("held", "undecided") if known in UNFINISHED else ("held",)
    for law in [law for law in TRIED if law in LAWS_OF[name]]:
        case = {"estimator": name, "settings": settings, "data": data, "law": law, "by": 3, "form": "dense"}
        if why_not(case) is None:
            assert hold(case) in outcomes, law


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
        check(case, seconds=0.5)
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
        "settings": {"patience": 20, "gamma": 100.0, "elite_fraction": 0.1},
        "data": {"kind": "uniform", "seed": 306, "shape": [200, 2]},
        "law": "later",
    },
]


@pytest.mark.parametrize("case", SLOW, ids=lambda case: case["estimator"])
def test_a_fit_that_is_asked_to_take_long_is_no_finding(case):
    assert check(case, seconds=0.3) == "not claimed"
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


@pytest.mark.fault("Trust", "model files of every class that the loader accepts, in nine forms", "none runs")
def test_model_files_that_are_crafted_run_nothing():
    counts, findings = models.run(step=models.STEP)
    assert findings == []
    assert counts["refused"] > counts["loaded"] > 0


def test_a_model_file_that_runs_its_text_is_a_finding(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def trusting(file, named):
        return skops.io.load(file, trusted=skops.io.get_untrusted_types(file=file))

    monkeypatch.setattr(models, "accepted", lambda: ["builtins.exec"])
    monkeypatch.setattr(models, "load", trusting)
    _, findings = models.run()
    assert any("exec as called by its constructor: FAILED: compile" in finding for finding in findings)
    assert list(tmp_path.iterdir()) == []  # it ran in a temporary folder
