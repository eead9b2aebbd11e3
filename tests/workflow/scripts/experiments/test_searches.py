"""Searches by divergence beside searches by cross-validation: naive twins, means, and rows for what fails."""

import numpy as np
import pandas as pd
import pytest
from measured_scripts import at
from measured_scripts import measured as rows_of
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from entrolab.data.dataset import Dataset
from entrolab.experiments.measuring import frame
from entrolab.fit.learners import parts_seed, seed_from
from entrolab.fit.protocols import Folds
from entrolearn.measures import cauchy_schwarz_gaussian
from entrolearn.metrics import gmean_score

HERE = __name__


def dataset(n=90, seed=0):
    """Two classes in three dimensions that overlap, twice as many of the first."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    X = rng.normal(size=(n, 3)) + 1.2 * y[:, None] * [1, 0.5, 0]
    return Dataset(X, y, list("abc"), "binary", ["0", "1"], np.zeros(n, dtype=np.int8))


def model(estimator, grid, **changes):
    return {"estimator": estimator, "params": {}, "steps": [], "grid": grid, "one_of": {}, **changes}


SHRUNK = model(
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    {"shrinkage": [0.0, 0.3, 0.7, 1.0]},
    params={"solver": "lsqr", "priors": [0.5, 0.5]},
    steps=[{"estimator": "sklearn.preprocessing.StandardScaler"}],
)


def measured(models, data=None, **changes):
    """What is measured, by model, metric and reading; and how often progress was told."""
    told = []
    grids = {name: {part: model[part] for part in ("grid", "one_of")} for name, model in models.items()}
    place = at(table="searches", progress=lambda *done: told.append(done))
    asked = {"protocol": {"folds": 3, "repeats": 1}, "inner": 3, "seconds": 60, **changes}
    rows = rows_of("searches", data or dataset(), place=place, models=models, grids=grids, **asked)
    return frame(rows).set_index(["model", "metric", "reading"]).sort_index(), told


# --- what is measured ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    return measured({"shrunk": SHRUNK})


def naive(data, divergence_of, scoring):
    """Both searches written out: a loop over folds, points and inner folds, and nothing shared."""
    part = Folds(3, 1).draw(data.y, parts_seed(0, "paper", "data"))[0]
    seed = seed_from(0, "paper", "data", "shrunk", 0)
    points = SHRUNK["grid"]["shrinkage"]

    def fitted(shrinkage, rows):
        learner = LinearDiscriminantAnalysis("lsqr", shrinkage=shrinkage, priors=[0.5, 0.5])
        return make_pipeline(StandardScaler(), learner).fit(data.X[rows], data.y[rows])

    for fold in range(3):
        learnt, tested = np.flatnonzero(part != fold), np.flatnonzero(part == fold)
        inner = Folds(3, 1).draw(data.y[learnt], seed)[0]
        machines = [fitted(one, learnt) for one in points]
        divergences = [divergence_of(machine, data.X[learnt], data.y[learnt]) for machine in machines]
        validated = []
        for one in points:
            halves = [(learnt[inner != k], learnt[inner == k]) for k in range(3)]
            each = [scoring(data.y[out], fitted(one, rows).predict(data.X[out])) for rows, out in halves]
            validated.append(np.mean(each))
        for way, values in (("divergence", divergences), ("cv", validated)):
            best = int(np.argmax(values))
            yield fold + 1, way, best, machines[best].predict(data.X[tested]), data.y[tested]


def divergence_of(machine, X, y):
    projection = machine.decision_function(X)
    moments = [number for k in (1, 0) for number in (projection[y == k].mean(), projection[y == k].var())]
    return cauchy_schwarz_gaussian(*moments)


def test_what_is_chosen_and_scored_equals_a_loop_over_folds_and_points(found):
    rows, _ = found
    chosen = set()
    for fold, way, best, predicted, y in naive(dataset(), divergence_of, gmean_score):
        point = rows.loc[
            ("shrunk", f"point_{way}", f"fold {fold}: shrinkage = {SHRUNK['grid']['shrinkage'][best]}")
        ]
        assert point["value"] == best
        chosen.add((way, best))
        for name, score in (("gmean", gmean_score), ("balanced_accuracy", balanced_accuracy_score)):
            value = rows.loc[("shrunk", f"{name}_{way}", f"fold {fold}"), "value"]
            assert value == pytest.approx(100 * score(y, predicted))
    assert len(chosen) > 2  # the ways part, or a fold parts from others: nothing is right by chance


def test_cross_validation_on_the_path_chooses_what_refits_choose(found):
    rows, _ = found
    for name in ("gmean", "balanced_accuracy"):
        ours, theirs = (rows.loc[("shrunk", f"{name}_{way}")]["value"] for way in ("path_cv", "cv"))
        pd.testing.assert_series_equal(ours, theirs)


def test_means_are_over_folds_ratios_of_means_and_differences_divergence_less_cv(found):
    of = found[0].loc["shrunk"]["value"]
    for metric in {metric for metric, reading in of.index if not (reading or metric.startswith("point"))}:
        folds = [of[metric, f"fold {fold}"] for fold in (1, 2, 3)]
        if not metric.startswith("ratio"):
            assert of[metric, ""] == pytest.approx(np.mean(folds))
    for ratio, above in (("ratio", "seconds_cv"), ("ratio_path", "seconds_path_cv")):
        for reading in ("", "fold 1", "fold 3"):
            assert of[ratio, reading] == pytest.approx(of[above, reading] / of["seconds_divergence", reading])
    for name in ("gmean", "balanced_accuracy"):
        difference = of[f"{name}_divergence", ""] - of[f"{name}_cv", ""]
        assert of[f"{name}_difference", ""] == pytest.approx(difference)
    deviations = found[0].loc["shrunk"]["std"]
    folds = [of["gmean_difference", f"fold {fold}"] for fold in (1, 2, 3)]
    assert deviations["gmean_difference", ""] == pytest.approx(np.std(folds, ddof=1))
    assert np.isnan([deviations["ratio", ""], deviations["same", ""]]).all()


def test_progress_is_told_fold_by_fold(found):
    assert found[1] == [(1, 3), (2, 3), (3, 3), (3, 3)]


def test_learners_to_choose_from_are_searched_together():
    chooses = model(
        None,
        {},
        steps=[{"estimator": "sklearn.preprocessing.StandardScaler"}],
        one_of={
            "logistic": {
                "estimator": "sklearn.linear_model.LogisticRegression",
                "params": {},
                "grid": {"C": [0.1, 1.0]},
            },
            "lda": {
                "estimator": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
                "params": {},
                "grid": {},
            },
        },
    )
    rows, _ = measured({"chooses": chooses}, folds=1)
    (taken,) = rows.loc[("chooses", "point_divergence")].index
    data = dataset()
    part = Folds(3, 1).draw(data.y, parts_seed(0, "paper", "data"))[0]
    X, y = data.X[part != 0], data.y[part != 0]
    candidates = {
        "fold 1: one_of = logistic, C = 0.1": LogisticRegression(C=0.1),
        "fold 1: one_of = logistic, C = 1.0": LogisticRegression(C=1.0),
        "fold 1: one_of = lda": LinearDiscriminantAnalysis(),
    }
    scaled = StandardScaler().fit_transform(X)
    values = {name: divergence_of(clone(one).fit(scaled, y), scaled, y) for name, one in candidates.items()}
    assert taken == max(values, key=values.get)


def test_folds_may_be_fewer():
    rows, _ = measured({"shrunk": SHRUNK}, folds=2, inner=2)
    assert list(rows.loc[("shrunk", "ratio")].index) == ["", "fold 1", "fold 2"]
