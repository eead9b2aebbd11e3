"""Searches by divergence beside searches by cross-validation: naive twins, means, and rows for what fails."""

import numpy as np
import pandas as pd
import pytest
from measured_scripts import at, script
from measured_scripts import measured as rows_of
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
    """What is measured, by model and metric; and how often progress was told."""
    told = []
    grids = {name: {part: model[part] for part in ("grid", "one_of")} for name, model in models.items()}
    place = at(table="searches", progress=lambda *done: told.append(done))
    asked = {"protocol": {"folds": 3, "repeats": 1}, "inner": 3, "seconds": 60, **changes}
    rows = rows_of("searches", data or dataset(), place=place, models=models, grids=grids, **asked)
    return frame(rows).set_index(["model", "metric"]).sort_index(), told


# --- what is measured ------------------------------------------------------------------------------------


SEED = seed_from(0, "paper", "data", "shrunk", 0)


def folds_of(data):
    """The training and test rows of the three folds of a study."""
    part = Folds(3, 1).draw(data.y, parts_seed(0, "paper", "data"))[0]
    return [(np.flatnonzero(part != fold), np.flatnonzero(part == fold)) for fold in range(3)]


@pytest.fixture(scope="module")
def found():
    """The searches of each fold."""
    data = dataset()
    return list(script("searches").searches(data.X, data.y, folds_of(data), SHRUNK, SEED, 3))


def naive(data, divergence_of, scoring):
    """Both searches written out: a loop over folds, points and inner folds, and nothing shared."""
    points = SHRUNK["grid"]["shrinkage"]

    def fitted(shrinkage, rows):
        learner = LinearDiscriminantAnalysis("lsqr", shrinkage=shrinkage, priors=[0.5, 0.5])
        return make_pipeline(StandardScaler(), learner).fit(data.X[rows], data.y[rows])

    for fold, (learnt, tested) in enumerate(folds_of(data)):
        inner = Folds(3, 1).draw(data.y[learnt], SEED)[0]
        machines = [fitted(one, learnt) for one in points]
        divergences = [divergence_of(machine, data.X[learnt], data.y[learnt]) for machine in machines]
        validated = []
        for one in points:
            halves = [(learnt[inner != k], learnt[inner == k]) for k in range(3)]
            each = [scoring(data.y[out], fitted(one, rows).predict(data.X[out])) for rows, out in halves]
            validated.append(np.mean(each))
        for way, values in (("divergence", divergences), ("cv", validated)):
            best = int(np.argmax(values))
            yield fold, way, best, machines[best].predict(data.X[tested]), data.y[tested]


def divergence_of(machine, X, y):
    projection = machine.decision_function(X)
    moments = [number for k in (1, 0) for number in (projection[y == k].mean(), projection[y == k].var())]
    return cauchy_schwarz_gaussian(*moments)


def test_what_is_chosen_and_scored_equals_a_loop_over_folds_and_points(found):
    chosen = set()
    for fold, way, best, predicted, y in naive(dataset(), divergence_of, gmean_score):
        assert found[fold][f"point_{way}"] == best
        chosen.add((way, best))
        for name, score in (("gmean", gmean_score), ("balanced_accuracy", balanced_accuracy_score)):
            assert found[fold][f"{name}_{way}"] == pytest.approx(100 * score(y, predicted))
    assert len(chosen) > 2  # the ways part, or a fold parts from others: nothing is right by chance


def test_cross_validation_on_the_path_chooses_what_refits_choose(found):
    for name in ("point", "gmean", "balanced_accuracy"):
        assert [one[f"{name}_path_cv"] for one in found] == [one[f"{name}_cv"] for one in found]


def test_means_are_over_folds_ratios_of_means_and_differences_divergence_less_cv(found):
    of = frame(script("searches").summary(found)).set_index("metric")
    for metric in found[0].keys() - {f"point_{way}" for way in ("divergence", "cv", "path_cv")}:
        assert of["value"][metric] == pytest.approx(np.mean([one[metric] for one in found]))
    for ratio, above in (("ratio", "seconds_cv"), ("ratio_path", "seconds_path_cv")):
        assert of["value"][ratio] == pytest.approx(of["value"][above] / of["value"]["seconds_divergence"])
    for name in ("gmean", "balanced_accuracy"):
        differences = [one[f"{name}_divergence"] - one[f"{name}_cv"] for one in found]
        assert of["value"][f"{name}_difference"] == pytest.approx(np.mean(differences))
        assert of["std"][f"{name}_difference"] == pytest.approx(np.std(differences, ddof=1))
    assert of["std"][["ratio", "ratio_path", "same"]].isna().all()


def test_the_folds_and_the_seed_are_those_of_training_and_progress_is_told_fold_by_fold(found):
    rows, told = measured({"shrunk": SHRUNK})
    assert told == [(1, 3), (2, 3), (3, 3), (3, 3)]
    expected = frame(script("searches").summary(found)).set_index("metric")["value"]
    repeated = [metric for metric in expected.index if not metric.startswith(("seconds", "ratio"))]
    pd.testing.assert_series_equal(rows.loc["shrunk"]["value"][repeated], expected[repeated])


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
    data = dataset()
    learnt, tested = folds_of(data)[0]
    (found,) = script("searches").searches(data.X, data.y, [(learnt, tested)], chooses, SEED, 3)
    X, y = data.X[learnt], data.y[learnt]
    candidates = [LogisticRegression(C=0.1), LogisticRegression(C=1.0), LinearDiscriminantAnalysis()]
    scaled = StandardScaler().fit_transform(X)
    assert found["point_divergence"] == np.argmax(
        [divergence_of(one.fit(scaled, y), scaled, y) for one in candidates]
    )


def test_folds_may_be_fewer():
    _, told = measured({"shrunk": SHRUNK}, folds=2, inner=2)
    assert told == [(1, 2), (2, 2), (2, 2)]
