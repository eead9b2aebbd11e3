"""Parameter selection by divergence compared with selection by cross-validation: scores and seconds."""

from itertools import islice

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from entrolab.experiments.measuring import limited, mean_and_std, of_each_model, quickest
from entrolab.fit.learners import alternatives, build, grid_points, parts_seed, seed_from, step_params
from entrolab.fit.protocols import Folds, splits
from entrolab.fit.protocols import protocol as protocol_of
from entrolab.fit.scoring import scores
from entrolab.io.limits import Limits
from entrolearn.metrics import gmean_scorer
from entrolearn.path import path, place
from entrolearn.selection import EntropySearch, best_point

METRICS = ["gmean", "balanced_accuracy"]  # shown; the first selects
MOST_GIB = 8
# The numerators of the ratios, over the seconds of the divergence.
RATIOS = {"ratio": "seconds_cv", "ratio_path": "seconds_path_cv"}


def measure(
    rows,
    at,
    models,
    grids,
    protocol,
    *,
    folds: int | None = None,
    inner: int = 5,
    seconds: float = 3600,
):
    """Search every model's grid by each of `WAYS`, on the training rows of a study's folds or trials.

    Folds and seeds are those of training; of the first repeat, at most `folds` are used. The cross-validation
    has `inner` folds; `seconds` limit all searches of a model.

    There is a row per model and metric with the mean over the folds and its standard deviation; the ratios
    are of the means.
    """
    data = rows.scaled
    rule = protocol_of(protocol)
    drawn = rule.draw(data.y, parts_seed(at.seed, at.study, at.dataset))
    used = [split[1:] for split in islice((one for each in drawn for one in splits(rule, each)), folds)]
    before = {name: number * len(used) for number, name in enumerate(models)}
    total = len(used) * len(models)

    def of_model(name, model):
        seed = seed_from(at.seed, at.study, at.dataset, name, 0)
        searched = model | grids[name]
        arguments = data.X, data.y, used, searched, seed, inner
        found = []
        for one in limited(Limits(seconds, MOST_GIB), searches, *arguments, parts=f"{len(used)} folds"):
            found.append(one)
            at.progress(before[name] + len(found), total)
        return summary(found)

    return of_each_model(of_model, models, lambda done, _: at.progress(done * len(used), total))


def searches(X, y, folds, model, seed, n_inner):
    """Yield, per fold, the seconds and the selection of each way, and its scores on the test rows."""
    learners = alternatives(model, seed)
    grid = [step_params(model, params, learners) for params in grid_points(model)]
    estimator = build(model, seed)
    for number, (learnt, tested) in enumerate(folds):
        X_learnt, y_learnt = X[learnt], y[learnt]
        if number == 0:  # imports before the clock starts
            by_divergence(estimator, grid, X_learnt, y_learnt, None)
        inner = Folds(n_inner, repeats=1).draw(y_learnt, seed)[0]
        found = {}
        for way, search in WAYS.items():
            seconds, (fitted, point) = quickest(search, estimator, grid, X_learnt, y_learnt, inner)
            found |= {f"seconds_{way}": seconds, f"point_{way}": point}
            of_test = scores(y[tested], fitted.predict(X[tested]), METRICS)
            found |= {f"{name}_{way}": 100 * score for name, score in of_test.items()}
        yield {**found, "same": 100.0 * (found["point_divergence"] == found["point_cv"])}


def by_divergence(estimator, grid, X, y, inner):
    """Select by the divergence of the training classes; the fitted search, and the point."""
    search = EntropySearch(estimator, alone(grid), criterion="gaussian").fit(X, y)
    return search, search.best_index_


def by_refits(estimator, grid, X, y, inner):
    """Select by scikit-learn's cross-validation."""
    search = GridSearchCV(estimator, alone(grid), scoring=gmean_scorer, cv=PredefinedSplit(inner))
    return search.fit(X, y), int(search.best_index_)


def by_path(estimator, grid, X, y, inner):
    """Select by the same cross-validation with fits that share work along the learner's path."""
    partition = Folds(int(inner.max()) + 1, repeats=1).partition(inner, nested=False, whole=False)
    validated = np.full((len(grid), len(partition.left_out)), np.nan)
    for fit in path(estimator, X, y, partition, grid):
        if not fit.error:
            rows, fold = partition.held_out(fit.left_out), partition.left_out.index(fit.left_out)
            score = scores(y[rows], fit.prediction[rows], ["gmean"])
            validated[place(fit.params, grid), fold] = score["gmean"]
    chosen = best_point(validated.mean(axis=1))
    return clone(estimator).set_params(**clone(grid[chosen], safe=False)).fit(X, y), chosen


# The last selects the same point as the second.
WAYS = {"divergence": by_divergence, "cv": by_refits, "path_cv": by_path}


def alone(grid):
    """Each point as its own grid, the form in which scikit-learn takes a list of points."""
    return [{name: [value] for name, value in point.items()} for point in grid]


def summary(found):
    """Yield the rows of a model from the seconds and scores of each fold."""
    means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    compared = [compare(one) for one in found]
    for metric, value in compare(means).items():
        std = mean_and_std([one[metric] for one in compared])["std"]
        yield {"metric": metric, "value": value, "std": np.nan if metric in (*RATIOS, "same") else std}


def compare(found):
    """The metrics of a table from the seconds and scores of one fold, or from their means."""
    own = {name: value for name, value in found.items() if not name.startswith("point_")}
    ratios = {name: found[above] / found["seconds_divergence"] for name, above in RATIOS.items()}
    differences = {
        f"{name}_difference": found[f"{name}_divergence"] - found[f"{name}_cv"] for name in METRICS
    }
    return own | ratios | differences
