"""Training one cell: a learner's whole grid on every training set of a data set's folds.

What comes out is a table with one row per repeat, left-out fold and grid point, which holds all that any
selection criterion needs: choosing is another stage's work, and costs no fit.
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from entrolearn.lab.limits import LimitError, Limits, within
from entrolearn.lab.records import new_record
from entrolearn.lab.registry import build, expand_grid, seed_from, step_params
from entrolearn.path import Partition, PathPoint, describe, path
from entrolearn.selection import entropy_criterion

# Scores from the rows of each class that were recognised, and all its rows. A cell takes tens of thousands of
# scores on folds of a few dozen rows, where scikit-learn's checks would take a hundred times the counting.
METRICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "gmean": lambda hits, sizes: np.prod(hits / sizes) ** (1 / len(sizes)),
    "balanced_accuracy": lambda hits, sizes: np.mean(hits / sizes),
    "accuracy": lambda hits, sizes: np.sum(hits) / np.sum(sizes),
}

DIVERGENCES = {"dcs_gaussian": "gaussian", "dcs_kde": "kde"}


def train_cell(
    dataset,
    parts: np.ndarray,
    cell: Mapping,
    limits: Limits,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[pd.DataFrame, dict]:
    """Fit every grid point of one learner on every training set.

    Parameters
    ----------
    dataset : Dataset
    parts : ndarray of int, shape (n_repeats, n_samples)
        The fold of each row, for each repeat.
    cell : mapping
        As :func:`entrolearn.lab.config.cell_spec` gives it.
    limits : Limits
        What the fits may take.
    progress : callable
        Called after each fit with the fits done and the fits in all.

    Returns
    -------
    candidates : DataFrame
        One row per repeat, left-out fold and grid point. The same for the same input, ``path_seconds`` (the
        seconds of the row's whole repeat) apart. A fit that failed, or that a limit left no room for, is a
        row with ``success=False`` and the reason.
    record : dict
        Successful if every fold of every repeat has at least one candidate, and no limit was reached: what
        is best among the points that happened to come first is not what is best.
    """
    started = datetime.now(UTC)
    grid = expand_grid(cell["grid"])
    fits = _Fits(limits, progress, _count_fits(parts, cell, len(grid)))
    rows = [
        row for repeat, part in enumerate(parts) for row in _repeat(dataset, part, repeat, cell, grid, fits)
    ]
    candidates = _frame(rows, cell)
    return candidates, _record(candidates, dataset, cell, started, fits)


def without_data(cell: Mapping, reason: str) -> tuple[pd.DataFrame, dict]:
    """What :func:`train_cell` gives for a data set that could not be had."""
    record = new_record(cell, datetime.now(UTC))
    return _frame([], cell), {**record, "kind": "no data", "error": reason}


def scores(y: np.ndarray, prediction: np.ndarray, metrics: Sequence[str]) -> dict[str, float]:
    """Some of :data:`METRICS`, as fractions; classes that do not occur in `y` do not count.

    Examples
    --------
    >>> scores(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 1, 0]), ["balanced_accuracy"])
    {'balanced_accuracy': 0.625}
    """
    sizes = np.bincount(y)
    hits = np.bincount(y[prediction == y], minlength=len(sizes))
    present = sizes > 0
    return {metric: float(METRICS[metric](hits[present], sizes[present])) for metric in metrics}


class _Fits:
    """Counts a cell's fits, reports them, and shares out what they may take together."""

    def __init__(self, limits: Limits, progress: Callable[[int, int], None], total: int):
        self.progress, self.total = progress, total
        self.done = 0
        self.reached: LimitError | None = None
        self._limits, self._deadline = limits, time.monotonic() + limits.seconds

    def within_limits(self, work: Callable[..., Iterable], *arguments) -> Iterator:
        """What some work yields, counted, as long as there is time."""
        left = replace(self._limits, seconds=self._deadline - time.monotonic())
        try:
            for value in within(left, work, *arguments):
                self.done += 1
                self.progress(self.done, self.total)
                yield value
        except LimitError as error:
            text = str(error) if error.kind != "time limit" else f"time limit of {self._limits.seconds:g} s"
            self.reached = LimitError(error.kind, f"{text}, after {self.done} of {self.total} fits")
            raise self.reached from None


def _count_fits(parts: np.ndarray, cell: Mapping, n_points: int) -> int:
    return sum(len(_partition(part, cell).left_out) for part in parts) * n_points


def _partition(part: np.ndarray, cell: Mapping) -> Partition:
    return Partition.cross_validation(part, nested="cv" in cell["criteria"])


def _repeat(dataset, part, repeat: int, cell: Mapping, grid: Sequence[dict], fits: _Fits) -> list[dict]:
    """The candidate rows of one repeat."""
    started = time.perf_counter()
    seed = seed_from(cell["seed"], cell["paper"], cell["dataset"], cell["model"], repeat)
    partition = _partition(part, cell)
    outer: dict[tuple[int, int], dict] = {}
    inner: dict[tuple[int, int], list[dict]] = defaultdict(list)
    reason = "the learner's path left this point out"
    try:
        for kind, fold, point, results in fits.within_limits(_results, dataset, partition, cell, grid, seed):
            if kind == "outer":
                outer[fold, point] = results
            else:
                for of_fold, scores in zip(fold, results, strict=True):
                    inner[of_fold, point].append(scores)
    except (LimitError, RuntimeError) as error:
        reason = str(error)

    seconds = time.perf_counter() - started
    folds = [left_out[0] for left_out in partition.left_out if len(left_out) == 1]
    nothing = _no_results(reason, cell)
    return [
        {
            "paper": cell["paper"],
            "dataset": cell["dataset"],
            "model": cell["model"],
            "repeat": repeat,
            "fold": fold,
            "point": point,
            "params": json.dumps(params, sort_keys=True),
            **outer.get((fold, point), nothing),
            **_inner_results(inner[fold, point], len(folds) - 1, cell),
            "path_seconds": seconds,
            "seed": seed,
        }
        for fold in folds
        for point, params in enumerate(grid)
    ]


def _results(
    dataset, partition: Partition, cell: Mapping, grid: Sequence[dict], seed: int
) -> Iterator[tuple]:
    """For each fit what is kept of it: ``("outer", fold, point, results)``, or the scores of an inner fit.

    An inner fit leaves out two folds and serves both: ``("inner", folds, point, scores of each)``.
    """
    points = [step_params(cell, params) for params in grid]
    number = {_key(point): index for index, point in enumerate(points)}
    for fit in path(build(cell, seed), dataset.X, dataset.y, partition, points):
        point = number[_key(fit.params)]
        if len(fit.left_out) == 1:
            (fold,) = fit.left_out
            yield "outer", fold, point, _outer_results(fit, dataset.y, partition, cell)
        else:
            validated = fit.left_out[::-1]  # the inner fold of the one is the outer fold of the other
            scores = [_scores(fit, dataset.y, partition.held_out((fold,)), cell) for fold in validated]
            yield "inner", fit.left_out, point, scores


def _outer_results(fit: PathPoint, y: np.ndarray, partition: Partition, cell: Mapping) -> dict:
    """Criteria on the rows that the fit saw, scores on those that it did not."""
    if fit.error:
        return _no_results(fit.error, cell)
    rows = partition.training(fit.left_out)
    try:
        criteria = {
            name: entropy_criterion(fit, y, rows, kind) if name in cell["criteria"] else np.nan
            for name, kind in DIVERGENCES.items()
        }
    except (ValueError, ArithmeticError) as error:
        return _no_results(f"no divergence of the projections: {describe(error)}", cell)
    scores = _scores(fit, y, partition.held_out(fit.left_out), cell)
    tests = {f"test_{metric}": score for metric, score in scores.items()}
    return {**criteria, **tests, "success": True, "note": fit.note, "error": ""}


def _inner_results(scores: Sequence[Mapping], n_expected: int, cell: Mapping) -> dict:
    """Means over the inner folds; undefined unless every inner fit gave a score."""
    complete = len(scores) == n_expected
    return {
        f"cv_{metric}": float(np.mean([score[metric] for score in scores])) if complete else np.nan
        for metric in cell["metrics"]
    }


def _no_results(reason: str, cell: Mapping) -> dict:
    undefined = [*DIVERGENCES, *(f"test_{metric}" for metric in cell["metrics"])]
    return {**dict.fromkeys(undefined, np.nan), "success": False, "note": "", "error": reason}


def _scores(fit: PathPoint, y: np.ndarray, rows: np.ndarray, cell: Mapping) -> dict[str, float]:
    if fit.error:
        return dict.fromkeys(cell["metrics"], np.nan)
    return scores(y[rows], fit.prediction[rows], cell["metrics"])


def _key(params: Mapping) -> str:
    return json.dumps(params, sort_keys=True)


def _frame(rows: Sequence[dict], cell: Mapping) -> pd.DataFrame:
    """Candidates in the order of their columns' contract, typed also where there is no row."""
    metrics = cell["metrics"]
    types = (
        dict.fromkeys(["paper", "dataset", "model"], "str")
        | dict.fromkeys(["repeat", "fold", "point"], "int64")
        | {"params": "str"}
        | dict.fromkeys(DIVERGENCES, "float64")
        | {f"cv_{metric}": "float64" for metric in metrics}
        | {f"test_{metric}": "float64" for metric in metrics}
        | {"path_seconds": "float64", "seed": "int64", "success": "bool", "note": "str", "error": "str"}
    )
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def _record(candidates: pd.DataFrame, dataset, cell: Mapping, started: datetime, fits: _Fits) -> dict:
    failed = candidates[~candidates["success"]]
    success = not fits.reached and bool(candidates.groupby(["repeat", "fold"])["success"].any().all())
    reason = "" if success else str(fits.reached or Counter(failed["error"]).most_common(1)[0][0])
    notes = Counter(candidates.loc[candidates["note"] != "", "note"])
    return {
        **new_record(cell, started),
        "n_candidates": len(candidates),
        "n_failed": len(failed),
        "notes": dict(sorted(notes.items())),
        "success": success,
        "kind": "" if success else fits.reached.kind if fits.reached else "failed",
        "error": reason,
        "data": _data(dataset),
    }


def _data(dataset) -> dict:
    facts = {"digest": dataset.digest(), "n_samples": dataset.n_samples, "n_features": dataset.n_features}
    if dataset.task == "binary":
        facts |= {"n_negative": int(np.sum(dataset.y == 0)), "n_positive": int(np.sum(dataset.y == 1))}
    return facts
