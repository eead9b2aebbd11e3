"""Grid searches by PathSearchCV, by scikit-learn's GridSearchCV, and the seconds of one of their fits."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
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

FOLDS = 5
SIZES = (50, 100, 250, 500)
RIDGES = tuple(10.0**power for power in range(-7, 3))
ADULT = Trial("adult", 32_562, 16_280, n_features=123, n_classes=2)
SEGMENT = Trial("segment", 1500, 810, n_features=19, n_classes=7)
BOX = {"bounds": (-1, 1), "random_state": 0}  # to which the features are scaled


@dataclass(frozen=True)
class Search:
    """A learner, its grid, of which the last candidate is the most expensive, and the rows."""

    estimator: BaseEstimator
    grid: dict
    trial: Trial


SEARCHES = {
    "EEM": Search(EEMClassifier(**BOX), {"n_hidden": SIZES}, ADULT),
    "EEKM": Search(EEKMClassifier(gamma=0.01, random_state=0), {"n_landmarks": SIZES}, ADULT),
    "ELM": Search(ELMClassifier(**BOX), {"alpha": RIDGES, "n_hidden": SIZES}, ADULT),
    "RKELM": Search(
        RKELMClassifier(gamma=0.01, random_state=0), {"alpha": RIDGES, "n_landmarks": SIZES}, ADULT
    ),
    "KELM": Search(KELMClassifier(), {"alpha": RIDGES, "gamma": (2.0, 1.0, 0.5)}, SEGMENT),
    "LS-SVM": Search(LSSVC(), {"alpha": RIDGES, "gamma": (0.5, 1.0, 2.0)}, SEGMENT),
}


def races(searches: Mapping[str, Search] = SEARCHES, folds: int = FOLDS, mirror=None) -> Iterator[Race]:
    """Cross-validations of a grid, with the refit; the result is the accuracy of the selected model."""
    for name, each in searches.items():
        split, made = draw(each.trial, mirror=mirror)
        builds = {kind.__name__: partial(search, kind, folds) for kind in (PathSearchCV, GridSearchCV)}
        builds["one fit"] = most_expensive
        ways = {way: partial(fitted, build, each, split) for way, build in builds.items()}
        n_candidates, n_rows = len(ParameterGrid(each.grid)), len(split.y_train)
        on = f"{each.trial.name}{' (made)' if made else ''}, {n_rows:,} rows"
        yield Race(f"{name}, {n_candidates} candidates × {folds} folds, {on}", ways, "accuracy %")


def search(kind: type[GridSearchCV], folds: int, of: Search) -> BaseEstimator:
    """A search to be fitted."""
    return kind(of.estimator, of.grid, cv=folds)


def most_expensive(of: Search) -> BaseEstimator:
    """The last candidate of a grid."""
    return clone(of.estimator).set_params(**list(ParameterGrid(of.grid))[-1])


def fitted(build: Callable[[Search], BaseEstimator], of: Search, split: Split, seed: int) -> Spent:
    """Cost of a fit, after a fit to few rows, and the accuracy in percent on the test rows."""
    few = slice(100)
    build(of).fit(split.X_train[few], split.y_train[few])
    spent = spend(lambda: build(of).fit(split.X_train, split.y_train))
    return replace(spent, value=100 * spent.value.score(split.X_test, split.y_test))
