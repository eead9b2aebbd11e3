"""Grid searches by PathSearchCV, by scikit-learn's GridSearchCV, and the seconds of one of their fits."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, ParameterGrid

from benchmarks.data import Split, Trial, draw
from benchmarks.measure import Spent, spend
from benchmarks.races import Race
from entrolearn import (
    LSSVC,
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    KELMClassifier,
    PathSearchCV,
    RKELMClassifier,
)

SATIMAGE = Trial("satimage", 4435, 2000, n_features=36, n_classes=6)
FOLDS = 5
SIZES = (50, 100, 250, 500)
RIDGES = (1e-6, 1e-4, 1e-2, 1.0, 100.0)
# Name -> learner and grid; the last candidate is the most expensive. The features are in [-1, 1].
SEARCHES: dict[str, tuple[BaseEstimator, dict]] = {
    "EEM": (EEMClassifier(feature_range=(-1, 1), random_state=0), {"n_hidden": SIZES}),
    "EEKM": (EEKMClassifier(gamma=0.5, random_state=0), {"n_landmarks": SIZES}),
    "ELM": (ELMClassifier(feature_range=(-1, 1), random_state=0), {"C": RIDGES, "n_hidden": SIZES}),
    "RKELM": (RKELMClassifier(sigma=2.0, random_state=0), {"C": RIDGES, "n_landmarks": SIZES}),
    "KELM": (KELMClassifier(), {"C": RIDGES, "sigma": (0.5, 2.0)}),
    "LS-SVM": (LSSVC(), {"C": RIDGES, "gamma": (0.5, 2.0)}),
}


def races(
    trial: Trial = SATIMAGE,
    searches: Mapping[str, tuple[BaseEstimator, dict]] = SEARCHES,
    folds: int = FOLDS,
    mirror=None,
) -> Iterator[Race]:
    """Cross-validations of a grid, with the refit; the result is the accuracy of the selected model."""
    split, made = draw(trial, mirror=mirror)
    for name, (estimator, grid) in searches.items():
        work = {kind.__name__: partial(search, kind, folds) for kind in (PathSearchCV, GridSearchCV)}
        work["one fit"] = most_expensive
        ways = {way: partial(fitted, build, estimator, grid, split) for way, build in work.items()}
        on = f"{trial.name}{' (made)' if made else ''}, {len(split.y_train):,} rows"
        yield Race(f"{name}, {len(ParameterGrid(grid))} candidates × {folds} folds, {on}", ways, "accuracy %")


def search(kind: type[GridSearchCV], folds: int, estimator: BaseEstimator, grid: dict) -> BaseEstimator:
    """A search to be fitted."""
    return kind(estimator, grid, cv=folds)


def most_expensive(estimator: BaseEstimator, grid: dict) -> BaseEstimator:
    """The last candidate of a grid."""
    return clone(estimator).set_params(**list(ParameterGrid(grid))[-1])


def fitted(build, estimator: BaseEstimator, grid: dict, split: Split, seed: int) -> Spent:
    """Cost of a fit, after a fit to few rows, and the accuracy in percent on the test rows."""
    few = slice(100)
    build(estimator, grid).fit(split.X_train[few], split.y_train[few])
    spent = spend(lambda: build(estimator, grid).fit(split.X_train, split.y_train))
    return replace(spent, value=100 * spent.value.score(split.X_test, split.y_test))
