"""Training one cell: a learner's whole grid on every training set of a data set's folds, or of its trials.

What comes out is a table with one row per repeat (or trial), left-out fold and grid point, which holds all
that any selection criterion needs: choosing is another stage's work, and costs no fit.
"""

import json
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd
from scipy.stats import differential_entropy

from entrolab.dataset import DataUnavailable, load_dataset, load_folds
from entrolab.frames import write_frame
from entrolab.limits import LimitError, Limits, within
from entrolab.protocols import protocol
from entrolab.records import new_record, write_json
from entrolab.registry import alternatives, build, grid_points, seed_from, step_params
from entrolearn.path import Partition, PathPoint, describe, path
from entrolearn.selection import entropy_criterion

logger = logging.getLogger(__name__)


class _Counts:
    """The rows of each class that were recognised, and all its rows; and those that were taken for class 1.

    A cell takes tens of thousands of scores on folds of a few dozen rows, where scikit-learn's checks would
    take a hundred times the counting.
    """

    def __init__(self, y: np.ndarray, prediction: np.ndarray):
        sizes = np.bincount(y, minlength=2)
        hits = np.bincount(y[prediction == y], minlength=len(sizes))
        present = sizes > 0
        self.hits, self.sizes = hits[present], sizes[present]
        self.recalls = self.hits / self.sizes
        self.positives, self.found = sizes[1], np.count_nonzero(prediction == 1)
        self.found_rightly = hits[1]


class _Errors:
    """How far predicted values are from the right ones."""

    def __init__(self, y: np.ndarray, prediction: np.ndarray):
        self.errors = prediction - y


# What cannot be told (no row of class 1, or none taken for it) is 0, as in scikit-learn with zero_division=0.
SCORES: dict[str, Callable] = {
    "gmean": lambda of: np.prod(of.recalls) ** (1 / len(of.recalls)),
    "balanced_accuracy": lambda of: np.mean(of.recalls),
    "accuracy": lambda of: np.sum(of.hits) / np.sum(of.sizes),
    "precision": lambda of: of.found_rightly / max(of.found, 1),
    "recall": lambda of: of.found_rightly / max(of.positives, 1),
    "f1": lambda of: 2 * of.found_rightly / max(of.found + of.positives, 1),
    "error_rate": lambda of: 1 - np.sum(of.hits) / np.sum(of.sizes),
    "rmse": lambda of: np.sqrt(np.mean(of.errors**2)),
    # From the spacings of the errors, so that no width of a kernel has to be chosen.
    "error_entropy": lambda of: differential_entropy(of.errors),
}

# What a fit says of itself, whatever it predicts; NaN where it has nothing to say.
FACTS: dict[str, Callable[[PathPoint, Partition], float]] = {
    "support": lambda fit, of: (
        np.nan if fit.n_support is None else fit.n_support / len(of.training(fit.left_out))
    ),
    "iterations": lambda fit, of: np.nan if fit.n_iter is None else float(fit.n_iter),
}

DIVERGENCES = {"dcs_gaussian": "gaussian", "dcs_kde": "kde"}


def train(
    dataset: str,
    folds: str,
    candidates: str,
    record: str,
    cell: Mapping,
    limits: Mapping,
    progress: Callable[[int, int], None],
) -> None:
    """Read a scaled data set and its folds; write the cell's candidates and its record."""
    try:
        table, outcome = train_cell(
            load_dataset(dataset), load_folds(folds), cell, Limits(**limits), progress
        )
    except DataUnavailable as absence:
        table, outcome = without_data(cell, str(absence))
    write_frame(candidates, table)
    write_json(record, outcome)
    logger.info("%d of %d candidates failed", outcome["n_failed"], outcome["n_candidates"])


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
        The part of each row, for each repeat; rows of a negative part are not used. A cell of fewer trials
        takes the first ones.
    cell : mapping
        As :func:`entrolab.cells.cell_spec` gives it.
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
    grid = grid_points(cell)
    parts = parts[: cell["protocol"].get("trials")]
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
    """Some of :data:`SCORES`, as fractions; classes that do not occur in `y` do not count.

    Parameters
    ----------
    y, prediction : ndarray, shape (n_samples,)
        Whole numbers from 0 for classes, floats for values.
    metrics : sequence of str
        Such as fit the task.

    Examples
    --------
    >>> scores(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 1, 0]), ["balanced_accuracy"])
    {'balanced_accuracy': 0.625}
    """
    outcome = (_Errors if y.dtype.kind == "f" else _Counts)(y, prediction)
    return {metric: float(SCORES[metric](outcome)) for metric in metrics}


class _Fits:
    """Counts a cell's fits, reports them, and shares out what they may take together."""

    def __init__(self, limits: Limits, progress: Callable[[int, int], None], total: int):
        self.progress, self.total = progress, total
        self.done = 0
        self.reached: LimitError | None = None
        self._limits, self._begun = limits, time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the first fit could begin, by a clock that nobody sets."""
        return time.monotonic() - self._begun

    def within_limits(self, work: Callable[..., Iterable], *arguments) -> Iterator:
        """What some work yields, counted, as long as there is time."""
        left = replace(self._limits, seconds=self._limits.seconds - self.seconds)
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
    return sum(len(_partition(part, cell, n_points).left_out) for part in parts) * n_points


def _partition(part: np.ndarray, cell: Mapping, n_points: int) -> Partition:
    criteria = cell["criteria"]
    # A divergence compares the rows that a fit has seen; scores need only those that it has not.
    whole = not DIVERGENCES.keys().isdisjoint(criteria)
    # Where a grid has one point there is nothing to choose, and no fit to validate.
    nested = "cv" in criteria and n_points > 1
    return protocol(cell["protocol"]).partition(part, nested=nested, whole=whole)


def _repeat(dataset, part, repeat: int, cell: Mapping, grid: Sequence[dict], fits: _Fits) -> list[dict]:
    """The candidate rows of one repeat."""
    started = time.perf_counter()
    seed = seed_from(cell["seed"], cell["paper"], cell["dataset"], cell["model"], repeat)
    X, y, part = _used(dataset, part)
    partition = _partition(part, cell, len(grid))
    outer: dict[tuple[int, int], dict] = {}
    inner: dict[tuple[int, int], list[dict]] = defaultdict(list)
    reason = "the learner's path left this point out"
    try:
        for kind, fold, point, results in fits.within_limits(_results, X, y, partition, cell, grid, seed):
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
            **_inner_results(inner[fold, point], cell),
            "path_seconds": seconds,
            "seed": seed,
        }
        for fold in folds
        for point, params in enumerate(grid)
    ]


def _used(dataset, part: np.ndarray) -> tuple:
    """The rows that have a part in a repeat: features, targets and parts."""
    used = part >= 0
    if used.all():  # folds: no copy
        return dataset.X, dataset.y, part
    return dataset.X[used], dataset.y[used], part[used]


def _results(
    X, y: np.ndarray, partition: Partition, cell: Mapping, grid: Sequence[dict], seed: int
) -> Iterator[tuple]:
    """For each fit what is kept of it: ``("outer", fold, point, results)``, or the scores of an inner fit.

    An inner fit leaves out two parts and may serve both: ``("inner", folds, point, scores for each fold)``.
    """
    validates = protocol(cell["protocol"]).validates
    learners = alternatives(cell, seed)
    points = [step_params(cell, params, learners) for params in grid]
    number = {_key(point): index for index, point in enumerate(points)}
    for fit in path(build(cell, seed), X, y, partition, points):
        point = number[_key(fit.params)]
        if len(fit.left_out) == 1:
            (fold,) = fit.left_out
            yield "outer", fold, point, _outer_results(fit, y, partition, cell)
        else:
            folds, validated = zip(*validates(fit.left_out), strict=True)
            scores = [_scores(fit, y, partition, (inner,), cell) for inner in validated]
            yield "inner", folds, point, scores


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
    scores = _scores(fit, y, partition, fit.left_out, cell)
    tests = {f"test_{metric}": score for metric, score in scores.items()}
    return {**criteria, **tests, "success": True, "note": fit.note, "error": ""}


def _inner_results(scores: Sequence[Mapping], cell: Mapping) -> dict:
    """Means over the inner folds; undefined unless there are some and every inner fit gave a score."""
    complete = len(scores) == protocol(cell["protocol"]).n_inner
    return {
        f"cv_{metric}": float(np.mean([score[metric] for score in scores])) if complete else np.nan
        for metric in cell["metrics"]
    }


def _no_results(reason: str, cell: Mapping) -> dict:
    undefined = [*DIVERGENCES, *(f"test_{metric}" for metric in cell["metrics"])]
    return {**dict.fromkeys(undefined, np.nan), "success": False, "note": "", "error": reason}


def _scores(
    fit: PathPoint, y: np.ndarray, partition: Partition, tested: tuple[int, ...], cell: Mapping
) -> dict[str, float]:
    """A fit's scores on the rows of some parts, and what it says of itself."""
    if fit.error:
        return dict.fromkeys(cell["metrics"], np.nan)
    rows = partition.held_out(tested)
    of_predictions = [metric for metric in cell["metrics"] if metric in SCORES]
    facts = {metric: FACTS[metric](fit, partition) for metric in cell["metrics"] if metric in FACTS}
    return scores(y[rows], fit.prediction[rows], of_predictions) | facts


def _key(params: Mapping) -> str:
    return json.dumps(params, sort_keys=True, default=id)  # a learner among them is the object that it is


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
        **new_record(cell, started, fits.seconds),
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
