"""Each check of runs fires on scores that are made for it, and not on those just on the other side."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from made_studies import made_study
from scipy.stats import t, ttest_1samp

from entrolab.checks.check import CheckedRun
from entrolab.checks.of_runs import CHECKS
from entrolab.checks.running import find, in_lines
from entrolab.tables.evidence import Exact, Student

N_FOLDS = 5


def study_of(grid, **changes):
    """A study of an SVM with a grid of C."""
    svm = {"estimator": "sklearn.svm.SVC", "grid": {"C": list(grid)}, **changes}
    content = {"checks": True, "datasets": {"one": ["one"]}, "models": {"svm": svm, "lda": "mine.LDA"}}
    return made_study(content)


STUDY = study_of([1, 10, 100])


def candidates(scores: dict[float, float], train: float = 0.8, test: float = 0.8, noise: float = 0.0):
    """Candidates with inner scores by C, alike in all folds but for `noise`."""
    rng = np.random.default_rng(0)
    rows = [
        {
            **{"repeat": 0, "fold": fold, "point": point, "params": json.dumps({"C": C}), "success": True},
            "cv_balanced_accuracy": score + noise * rng.normal(),
            "train_balanced_accuracy": train,
            "test_balanced_accuracy": test,
        }
        for fold in range(N_FOLDS)
        for point, (C, score) in enumerate(scores.items())
    ]
    return pd.DataFrame(rows)


def numbers(of_svm: pd.DataFrame, points=(1,) * N_FOLDS, p: float = 1e-3):
    """Results with candidates of the SVM and of a baseline, and the p-value of their difference."""
    chosen = pd.DataFrame({"repeat": 0, "fold": range(N_FOLDS), "point": points, "success": True})
    of_baseline = candidates({0: np.nan}, train=0.5, test=0.5)
    results = SimpleNamespace(
        run=lambda dataset, model: SimpleNamespace(candidates=of_svm if model == "svm" else of_baseline),
        selection=lambda dataset, model: {"cv": chosen},
        record=lambda dataset, model: {"success": model == "svm"},
    )
    evidence = Student(t.isf(p, N_FOLDS - 1), 1.0, N_FOLDS - 1)
    return SimpleNamespace(
        results=results,
        on_one=lambda *address: evidence,
        cell=lambda *address: 50.0,
        test_to_train=lambda dataset: 1 / (N_FOLDS - 1),
    )


def found(of_svm: pd.DataFrame, study=None, **others) -> dict[str, str]:
    """What is found in candidates, by default of the grid of their values."""
    grid = dict.fromkeys(json.loads(params)["C"] for params in of_svm["params"])
    run = CheckedRun(study or study_of(grid), "one", "svm", numbers(of_svm, **others))
    return {code: text for code, check in CHECKS.items() if (text := check.find(run))}


FLAT = {1: 0.7, 10: 0.8, 100: 0.7}


def test_the_study_has_a_baseline():
    assert ("one", "baseline") in STUDY.runs()


def test_nothing_is_found_where_the_middle_is_best_in_all_folds():
    assert found(candidates(FLAT)) == {}


@pytest.mark.parametrize(
    ("train", "test", "fires"), [(0.9, 0.75, False), (0.9, 0.69, True), (0.45, 0.2, False)]
)
def test_half_of_the_lead_over_the_baseline_may_be_lost(train, test, fires):
    """The baseline has 0.5."""
    assert ("EL07" in found(candidates(FLAT, train, test))) == fires


@pytest.mark.parametrize(
    ("scores", "fires"),
    [
        ({1: 0.6, 10: 0.7, 100: 0.8}, True),
        ({1: 0.8, 10: 0.7, 100: 0.6}, True),
        ({1: 0.6, 10: 0.8, 100: 0.7}, False),
        ({1: 0.6, 100: 0.8}, False),  # two values
    ],
)
def test_the_best_value_is_at_an_end(scores, fires):
    assert ("EL08" in found(candidates(scores, noise=0.005))) == fires


@pytest.mark.parametrize(("p", "fires"), [(0.026, False), (0.024, True)])
def test_an_end_is_better_by_a_t_test_of_the_parts_that_each_split_leaves_out(p, fires):
    """The jackknife of a mean over parts is their t-test; 2.5 %, since the one parameter has two ends."""
    parts = np.random.default_rng(0).normal(size=N_FOLDS)
    error = parts.std(ddof=1) / math.sqrt(N_FOLDS)
    parts += t.isf(p, N_FOLDS - 1) * error - parts.mean()
    assert ttest_1samp(parts, 0, alternative="greater").pvalue == pytest.approx(p)
    frame = candidates({1: 0.0, 10: 0.0, 100: 0.0})
    others = (parts.sum() - parts) / (N_FOLDS - 1)  # of the training rows of each split
    frame.loc[frame["point"] == 2, "cv_balanced_accuracy"] = others
    assert ("EL08" in found(frame)) == fires


@pytest.mark.parametrize(("C", "fires"), [(0.0, False), (0.5, True)])
def test_a_value_that_the_learner_allows_nothing_beyond_is_no_end(C, fires):
    """An SVC has C > 0."""
    assert ("EL08" in found(candidates({C: 0.8, 10: 0.7, 100: 0.6}, noise=0.005))) == fires


@pytest.mark.parametrize(("p", "fires"), [(0.06, True), (0.04, False)])
def test_a_model_must_be_significantly_better_than_the_baseline(p, fires):
    assert ("EL09" in found(candidates(FLAT), p=p)) == fires


@pytest.mark.parametrize(("points", "fires"), [((0, 1, 2, 3, 4), True), ((0, 1, 2, 2, 4), False)])
def test_as_many_choices_as_folds(points, fires):
    frame = candidates(dict.fromkeys(range(1, 6), 0.7))
    assert ("EL10" in found(frame, points=points)) == fires


def test_an_end_is_that_of_the_grid_and_not_of_the_points_that_were_drawn():
    frame = candidates({1: 0.6, 10: 0.7, 100: 0.8}, noise=0.005)
    assert "EL08" in found(frame)
    assert "EL08" not in found(frame, study_of([1, 10, 100, 1000]))
    assert "EL08" not in found(frame, study_of([1, 10, 100, None]))


def test_a_single_test_part_has_no_test_against_the_baseline(monkeypatch):
    one = numbers(candidates(FLAT))
    one.on_one = lambda *address: Exact(30.0, math.inf)
    run = CheckedRun(STUDY, "one", "svm", one)
    assert CHECKS["EL09"].find(run) is None


def test_models_of_which_nothing_is_selected_are_not_checked(monkeypatch):
    study = study_of([1, 10, 100], criteria=[])
    monkeypatch.setattr(type(study), "datasets_of_runs", lambda study: [])
    assert find(study, numbers(candidates(FLAT, 0.9, 0.5), p=0.5)).empty


def test_findings_are_rows_and_lines(monkeypatch):
    monkeypatch.setattr(type(STUDY), "datasets_of_runs", lambda study: [])
    rows = find(STUDY, numbers(candidates(FLAT, 0.9, 0.5), p=0.5))
    assert rows[["code", "dataset", "model"]].to_numpy().tolist() == [
        ["EL07", "one", "svm"],
        ["EL09", "one", "svm"],
    ]
    assert [line[:4] for line in in_lines(rows)] == ["EL07", "EL09"]
    assert "90.0 on training rows, 50.0 on test rows" in in_lines(rows)[0]
