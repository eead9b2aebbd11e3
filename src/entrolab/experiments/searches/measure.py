"""Compare parameter selection by divergence with selection by cross-validation."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import limited, mean_and_std, of_each_model, quickest
from entrolab.experiments.searches import RATIOS
from entrolab.fit.learners import alternatives, build, grid_points, parts_seed, seed_from, step_params
from entrolab.fit.limits import Limits
from entrolab.fit.protocols import Folds, protocol
from entrolab.fit.scoring import scores
from entrolearn.metrics import gmean_scorer
from entrolearn.path import path, place
from entrolearn.selection import EntropySearch, best_point

# The scorers for scikit-learn's cross-validation.
SCORING = {"gmean": gmean_scorer, "balanced_accuracy": "balanced_accuracy"}


def measure(load: Callable, spec: Measurement, progress: Callable[[int, int], None]) -> list[dict]:
    """Search every model's grid by each of `WAYS`, on the training rows of a study's folds.

    `spec` has the ``protocol``, whose first repeat (or trials) is drawn as for training; the greatest number
    of ``folds`` used; ``models``: estimator, params, steps, grid and alternatives of each, with the same
    seeds as in training; the ``criterion`` of the divergence; the ``scoring`` of the cross-validation and its
    ``inner`` folds; ``seconds`` and ``gib`` limits of all searches of a model.

    There is a row per model and metric of :data:`~entrolab.experiments.searches.table.MEASURES` with the mean
    over the folds and its standard deviation, and one per fold, reading "fold 1" and so on; the ratios are of
    the means. The selected grid points are ``point_divergence`` and ``point_cv``, with the parameters in
    their readings. A model whose search fails or reaches a limit is a row with the reason.
    """
    data = load("scaled")
    seed = parts_seed(spec.seed, spec.study, spec.dataset)
    folds = list(islice(splits(protocol(spec.protocol), data.y, seed), spec.folds))
    limits, total = Limits(spec.seconds, spec.gib), len(folds) * len(spec.models)
    before = {name: number * len(folds) for number, name in enumerate(spec.models)}

    def of_model(name: str, model: Mapping) -> Iterator[dict]:
        seed = seed_from(spec.seed, spec.study, spec.dataset, name, 0)
        arguments, parts = (data.X, data.y, folds, model, seed, spec), f"{len(folds)} folds"
        found = []
        for one in limited(limits, searches, *arguments, parts=parts):
            found.append(one)
            progress(before[name] + len(found), total)
        return summary(found, grid_points(model))

    return of_each_model(of_model, spec, lambda done, _: progress(done * len(folds), total))


def splits(rule, y: np.ndarray, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the training rows and the test rows of each fold of each repeat, or of each trial."""
    for assignment in rule.draw(y, seed):
        used = np.flatnonzero(assignment >= 0)
        partition = rule.partition(assignment[used], nested=False, whole=False)
        for left_out in partition.left_out:
            yield used[partition.training(left_out)], used[partition.held_out(left_out)]


def searches(
    X, y: np.ndarray, folds: Sequence[tuple], model: Mapping, seed: int, spec: Measurement
) -> Iterator[dict[str, float]]:
    """Yield, per fold, the seconds and the selection of each way, and its scores on the test rows."""
    learners = alternatives(model, seed)
    grid = [step_params(model, params, learners) for params in grid_points(model)]
    estimator = build(model, seed)
    for number, (learnt, tested) in enumerate(folds):
        X_learnt, y_learnt = X[learnt], y[learnt]
        if number == 0:  # imports before the clock starts
            _by_divergence(estimator, grid, X_learnt, y_learnt, None, spec)
        inner = Folds(spec.inner, repeats=1).draw(y_learnt, seed)[0]
        found: dict[str, float] = {}
        for way, search in WAYS.items():
            seconds, (fitted, point) = quickest(search, estimator, grid, X_learnt, y_learnt, inner, spec)
            found |= {f"seconds_{way}": seconds, f"point_{way}": point}
            of_test = scores(y[tested], fitted.predict(X[tested]), list(SCORING))
            found |= {f"{name}_{way}": 100 * score for name, score in of_test.items()}
        yield {**found, "same": 100.0 * (found["point_divergence"] == found["point_cv"])}


def _by_divergence(estimator, grid, X, y, inner, spec) -> tuple[BaseEstimator, int]:
    search = EntropySearch(estimator, _alone(grid), criterion=spec.criterion).fit(X, y)
    return search, search.best_index_


def _by_refits(estimator, grid, X, y, inner, spec) -> tuple[BaseEstimator, int]:
    scoring, folds = SCORING[spec.scoring], PredefinedSplit(inner)
    search = GridSearchCV(estimator, _alone(grid), scoring=scoring, cv=folds).fit(X, y)
    return search, int(search.best_index_)


def _by_path(estimator, grid, X, y, inner, spec) -> tuple[BaseEstimator, int]:
    """The same cross-validation with fits that share work along the learner's path."""
    partition = Folds(spec.inner, repeats=1).partition(inner, nested=False, whole=False)
    validated = np.full((len(grid), len(partition.left_out)), np.nan)
    for fit in path(estimator, X, y, partition, grid):
        if not fit.error:
            rows, fold = partition.held_out(fit.left_out), partition.left_out.index(fit.left_out)
            score = scores(y[rows], fit.prediction[rows], [spec.scoring])
            validated[place(fit.params, grid), fold] = score[spec.scoring]
    chosen = best_point(validated.mean(axis=1))
    return clone(estimator).set_params(**clone(grid[chosen], safe=False)).fit(X, y), chosen


# The last selects the same point as the second.
WAYS = {"divergence": _by_divergence, "cv": _by_refits, "path_cv": _by_path}


def _alone(grid: Sequence[Mapping]) -> list[dict]:
    """Each point as its own grid, the form in which scikit-learn takes a list of points."""
    return [{name: [value] for name, value in point.items()} for point in grid]


def summary(found: Sequence[Mapping[str, float]], points: Sequence[Mapping]) -> Iterator[dict]:
    """Yield the rows of a model from the seconds, points and scores of each fold."""
    means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    compared = [compare(one) for one in found]
    for metric, value in compare(means).items():
        each = [one[metric] for one in compared]
        std = np.nan if metric in (*RATIOS, "same") else mean_and_std(each)["std"]
        yield {"metric": metric, "value": value, "std": std}
        for number, one in enumerate(each, start=1):
            yield {"metric": metric, "reading": f"fold {number}", "value": one}
    for way in ("divergence", "cv"):
        for number, one in enumerate(found, start=1):
            point = one[f"point_{way}"]
            reading = f"fold {number}: {in_words(points[point])}"
            yield {"metric": f"point_{way}", "reading": reading, "value": point}


def compare(found: Mapping[str, float]) -> dict[str, float]:
    """The metrics of a table from the seconds and scores of one fold, or from their means."""
    own = {name: value for name, value in found.items() if not name.startswith("point_")}
    ratios = {name: found[above] / found["seconds_divergence"] for name, above in RATIOS.items()}
    differences = {
        f"{name}_difference": found[f"{name}_divergence"] - found[f"{name}_cv"] for name in SCORING
    }
    return own | ratios | differences


def in_words(point: Mapping) -> str:
    """The description of a grid point in a reading.

    Examples
    --------
    >>> in_words({"C": 10, "step1__n_components": 2})
    'C = 10, step1__n_components = 2'
    """
    return ", ".join(f"{name} = {value}" for name, value in point.items())
