"""Functions shared by displays of parameter grids: values, scores and axis scales."""

import math
import warnings
from collections.abc import Sequence
from numbers import Real

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import check_cv
from sklearn.utils import indexable

from entrolearn.metrics import gmean_scorer
from entrolearn.path import Partition, path
from entrolearn.plotting.fitted import name_of
from entrolearn.search import PathSearchCV
from entrolearn.suggest import did_you_mean

FEW = {"x": 6, "y": 8}  # maximum number of values with one tick each


def grid_scores(estimator, X, y, points: Sequence[dict], cv, scoring) -> np.ndarray:
    """Cross-validated scores for the candidates of a grid, shape (n_folds, n_points); NaN if a fit failed."""
    grid = [{name: [value] for name, value in point.items()} for point in points]
    scoring = gmean_scorer if scoring is None else scoring
    search = PathSearchCV(estimator, grid, scoring=scoring, cv=cv, refit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)  # the displays show gaps
        results = search.fit(X, y).cv_results_
    return np.array([results[f"split{fold}_test_score"] for fold in range(search.n_splits_)])


def name_of_score(scoring) -> str:
    if scoring is None:
        return "GMEAN"
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")


def grid_errors_and_support(estimator, X, y, points: Sequence[dict], cv) -> np.ndarray:
    """Cross-validated errors and shares of support vectors for the candidates of a grid.

    Returns
    -------
    ndarray, shape (n_folds, n_points, 2)
        The error rate on the left-out rows, and the share of the training rows that are support vectors; NaN
        if a fit failed.

    Raises
    ------
    TypeError
        If the estimator has no support vectors.
    ValueError
        If the folds overlap, or every fit failed.
    """
    X, y = indexable(X, np.asarray(y))
    partition = Partition.cross_validation(_parts(check_cv(cv, y, classifier=True), X, y))
    place = {_key(point): k for k, point in enumerate(points)}
    values = np.full((len(partition.left_out), len(points), 2), np.nan)
    reason = ""
    for found in path(estimator, X, y, partition, points):
        if found.error:
            reason = reason or found.error
            continue
        if found.n_support is None:
            raise TypeError(
                f"{name_of(estimator)} has no support vectors; "
                "accepted: estimators with n_support_, or pipelines that end in one"
            )
        (fold,), rows = found.left_out, partition.held_out(found.left_out)
        mistaken = float(np.mean(found.prediction[rows] != y[rows]))
        share = found.n_support / (len(found.prediction) - len(rows))
        values[fold, place[_key(found.params)]] = mistaken, share
    if np.isnan(values).all():
        raise ValueError(f"every fit failed, first by {reason}")
    return values


def check_known(estimator, param_name: str) -> None:
    """Raise if the estimator does not have the parameter."""
    known = estimator.get_params()
    if param_name not in known:
        raise ValueError(
            f"{name_of(estimator)} has no parameter {param_name!r}{did_you_mean(param_name, known)}; "
            f"it has: {', '.join(sorted(known))}"
        )


def numbers(param_name: str, param_range) -> list:
    values = list(param_range)
    if not values or not all(isinstance(value, Real) and math.isfinite(value) for value in values):
        raise ValueError(f"values of {param_name} are {values!r}; accepted: one or more finite numbers")
    return sorted(dict.fromkeys(values))


def grows_by_factors(values: np.ndarray) -> bool:
    """Whether the values are more evenly spaced on a logarithmic axis than on a linear one."""
    if len(values) < 3 or values.min() <= 0:
        return False
    steps, factors = np.diff(values), np.diff(np.log(values))
    return np.std(factors) / np.mean(factors) < np.std(steps) / np.mean(steps)


def set_scale(axis, values: np.ndarray) -> None:
    """Set a logarithmic scale (base 2 for powers of two), with one tick per value if there are few.

    Parameters
    ----------
    axis : matplotlib Axis
    values : ndarray
        Positive, ascending.
    """
    powers_of_two = bool(np.all(np.frexp(values)[0] == 0.5))
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    if powers_of_two:
        getattr(axis.axes, f"set_{axis.axis_name}scale")("log", base=2)
    if len(values) <= FEW[axis.axis_name]:
        axis.set_ticks(values, labels=[f"{value:g}" for value in values])
        axis.set_ticks([], minor=True)


def _key(point: dict) -> tuple:
    return tuple(sorted(point.items()))


def _parts(splitter, X, y: np.ndarray) -> np.ndarray:
    """The fold of each row."""
    part = np.full(len(y), -1)
    for fold, (_, left_out) in enumerate(splitter.split(X, y)):
        if (part[left_out] >= 0).any():
            raise ValueError(
                f"cv is {splitter}: it leaves rows out twice; accepted: folds that do not overlap"
            )
        part[left_out] = fold
    if (part < 0).any():
        raise ValueError(f"cv is {splitter}: it never leaves some rows out; accepted: folds of all rows")
    return part
