"""Fit a run's whole grid on every training set.

Candidates have one row per repeat (or trial), left-out fold and grid point, with the values of all selection
criteria. The predictions of the candidates that any of them selects are stored. Scores in tables are computed
from them, so a new metric, or another criterion among them, needs no training.
"""

import json
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from entrolab.data.dataset import DataUnavailable, load_dataset, load_folds
from entrolab.fit.learners import (
    ONE_OF,
    alternatives,
    build,
    drawn_points,
    first_step,
    learners_of,
    random_state_of,
    step_params,
    weights_in_fit,
)
from entrolab.fit.protocols import protocol
from entrolab.fit.run import Run
from entrolab.fit.scoring import scores
from entrolab.fit.selection import select
from entrolab.io.limits import LimitError, Limits, within
from entrolab.io.parquet import write_frame
from entrolab.io.records import machine, peak_mib, versions, write_json
from entrolearn.path import Partition, PathPoint, describe, path
from entrolearn.selection import entropy_criterion

logger = logging.getLogger(__name__)


# Metrics of a fit that do not depend on its predictions; NaN if it has none.
FACTS: dict[str, Callable[[PathPoint, Partition], float]] = {
    "support": lambda fit, of: (
        np.nan if fit.n_support is None else fit.n_support / len(of.training(fit.left_out))
    ),
    "iterations": lambda fit, of: np.nan if fit.n_iter is None else float(fit.n_iter),
}

DIVERGENCES = {"dcs_gaussian": "gaussian", "dcs_kde": "kde"}


class Trained(NamedTuple):
    """The results of training a run.

    Candidates are equal for equal input, except ``path_seconds``, the seconds of the row's whole repeat, and
    the number of points that a search reaches within its seconds. A fit that failed, or was not run because
    of a limit, has ``success=False`` and the reason. The record is successful if every fold of every repeat
    has at least one candidate and no limit was reached, since a part of the grid may lack the best point.

    Predictions have ``row``, the index in the data set; ``y`` and ``prediction``, codes of classes or values;
    for two classes the ``decision`` value and the ``probability`` of class 1, NaN if the learner has none;
    for more classes the values of :func:`entrolab.fit.probabilities.of_many`, if the learner has
    probabilities.
    """

    candidates: pd.DataFrame  # one row per repeat, left-out fold and grid point
    record: dict
    predictions: pd.DataFrame  # one row per repeat, fold, selected grid point and test row


def fit_grid(
    dataset: str,
    folds: str,
    outputs: Mapping[str, str],
    run: Run,
    limits: Limits,
    progress: Callable[[int, int], None],
) -> dict:
    """Read a scaled data set and its folds; write the files of a run, and return its record.

    `outputs` are the paths of ``candidates``, ``predictions`` and ``record``. For the others see
    :func:`train_run`.
    """
    try:
        data, assignments = load_dataset(dataset), load_folds(folds)
        trained = train_run(data, assignments, run, limits, progress)
    except DataUnavailable as absence:
        trained = without_data(run, str(absence))
    record = trained.record | {"peak_mib": peak_mib()}
    for name in ("candidates", "predictions"):
        write_frame(outputs[name], getattr(trained, name))
    write_json(outputs["record"], record)
    logger.info("%d of %d candidates failed", record["n_failed"], record["n_candidates"])
    return record


def train_run(
    dataset,
    assignments: np.ndarray,
    run: Run,
    limits: Limits,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Trained:
    """Fit every grid point of one learner on every training set.

    `assignments`, shape (n_repeats, n_samples), are the parts of the rows; rows with a negative part are not
    used, and a run with fewer trials uses the first ones. `limits` are those of all fits together; `progress`
    is called after each fit with the number of fits done and the number of all fits.
    """
    started = datetime.now(UTC)
    grid = drawn_points(run)
    assignments = assignments[: run.protocol.get("trials")]
    n_fits = sum(len(_partition(assignment, run, len(grid)).left_out) for assignment in assignments) * len(
        grid
    )
    fits = _Fits(limits, progress, n_fits)
    seconds = (run.search or {}).get("seconds")
    budget = None if seconds is None else seconds / len(assignments)
    repeats = [
        _repeat(dataset, assignment, repeat, run, grid, fits, budget)
        for repeat, assignment in enumerate(assignments)
    ]
    candidates, said = zip(*repeats, strict=True)
    candidates = pd.concat(candidates, ignore_index=True)
    record = _record(candidates, dataset, run, started, fits)
    return Trained(candidates, record, _all_predictions(chain(*said)))


def without_data(run: Run, reason: str) -> Trained:
    """The result of :func:`train_run` for a data set that is not available."""
    record = {**new_record(run, datetime.now(UTC)), "status": "no data", "error": reason}
    return Trained(_frame([], run), record, _all_predictions(()))


class _Fits:
    """Count a run's fits, report progress, and share the limits between them."""

    def __init__(self, limits: Limits, progress: Callable[[int, int], None], total: int):
        self.progress, self.total = progress, total
        self.done = 0
        self.reached: LimitError | None = None
        self._limits, self._begun = limits, time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the first fit, by a monotonic clock."""
        return time.monotonic() - self._begun

    def within_limits(self, work: Callable[..., Iterable], *arguments) -> Iterator:
        """Yield the values that some work yields, and count them, until a limit is reached."""
        left = replace(self._limits, seconds=self._limits.seconds - self.seconds)
        try:
            for value in within(left, work, *arguments):
                self.done += 1
                self.progress(self.done, self.total)
                yield value
        except LimitError as error:
            text = str(error) if error.status != "time limit" else f"time limit of {self._limits.seconds:g} s"
            self.reached = LimitError(error.status, f"{text}, after {self.done} of {self.total} fits")
            raise self.reached from None


def _partition(assignment: np.ndarray, run: Run, n_points: int) -> Partition:
    criteria = run.candidates
    # A divergence needs projections of the training rows; scores of test rows need only these.
    whole = not DIVERGENCES.keys().isdisjoint(criteria)
    # With a grid of one point, there is no selection and no inner fit.
    nested = "cv" in criteria and n_points > 1
    partition = protocol(run.protocol).partition(assignment, nested=nested, whole=whole)
    # Folds by group, in time or of the data's source are not random subsets of the rows.
    partition = replace(partition, random=run.protocol.get("method") is None)
    if whole or not run.training_scores:
        return partition
    every = tuple(np.unique(assignment).tolist())
    asked = zip(partition.left_out, partition.asked, strict=True)
    return replace(partition, asked=tuple(every if len(fit) == 1 else parts for fit, parts in asked))


def _repeat(
    dataset, assignment, repeat: int, run: Run, grid: Sequence[dict], fits: _Fits, budget: float | None
) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
    """The candidates of one repeat, and the predictions of those that a criterion selects.

    No grid point but the first begins after `budget` seconds.
    """
    started = time.perf_counter()
    seed = random_state_of(run, repeat)
    X, y, used, weights = _used(dataset, assignment)
    partition = _partition(used, run, len(grid))
    preprocessing = first_step(dataset, run, seed)
    outer: dict[tuple[int, int], dict] = {}
    inner: dict[tuple[int, int], list[float]] = defaultdict(list)
    said: dict[tuple[int, int], dict] = {}
    reason = "the learner's path left this point out"
    try:
        for kind, fold, point, results in fits.within_limits(
            _results, X, y, weights, partition, run, grid, seed, preprocessing, budget
        ):
            if kind == "outer":
                outer[fold, point], said[fold, point] = results
            else:
                for of_fold, score in zip(fold, results, strict=True):
                    inner[of_fold, point].append(score)
    except (LimitError, RuntimeError) as error:
        reason = str(error)
    else:
        if budget is not None:
            grid = grid[: 1 + max(point for _, point in outer)]  # those after it were not begun

    seconds = time.perf_counter() - started
    folds = [left_out[0] for left_out in partition.left_out if len(left_out) == 1]
    nothing = _no_results(reason, run)
    rows = [
        {
            "study": run.study,
            "dataset": run.dataset,
            "model": run.model,
            "repeat": repeat,
            "fold": fold,
            "point": point,
            "params": json.dumps(params, sort_keys=True),
            **outer.get((fold, point), nothing),
            **_inner_results(inner[fold, point], run),
            "path_seconds": seconds,
            "seed": seed,
        }
        for fold in folds
        for point, params in enumerate(grid)
    ]
    candidates = _frame(rows, run)
    selection = select(candidates, run.candidates)
    return candidates, _predictions(selection, said, partition, y, np.flatnonzero(assignment >= 0))


def _predictions(
    selection: pd.DataFrame, said: Mapping, partition: Partition, y: np.ndarray, rows: np.ndarray
) -> list[pd.DataFrame]:
    """The predictions of each selected candidate of a repeat; `rows` are the indices of the repeat's rows."""
    chosen = selection.loc[selection["success"], ["repeat", "fold", "point"]].drop_duplicates()
    frames = []
    for place in chosen.sort_values(["fold", "point"]).to_dict("records"):
        tested = partition.held_out((place["fold"],))
        answers = said[place["fold"], place["point"]]
        frames.append(pd.DataFrame({**place, "row": rows[tested], "y": y[tested], **answers}))
    return frames


def _all_predictions(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate predictions into one table with small integer types, even without rows."""
    types = {"repeat": "int16", "fold": "int16", "point": "int32", "row": "int32"}
    found = pd.concat([pd.DataFrame(columns=[*types, "y", "prediction"], dtype="int16"), *frames])
    labels = [name for name in ("y", "prediction") if found[name].dtype.kind in "iub"]
    return found.astype(types | dict.fromkeys(labels, "int16")).reset_index(drop=True)


def _used(dataset, assignment: np.ndarray) -> tuple:
    """The rows used in a repeat: features, targets, parts and weights."""
    used = assignment >= 0
    if used.all():  # folds: no copy
        return dataset.X, dataset.y, assignment, dataset.weights
    weights = None if dataset.weights is None else dataset.weights[used]
    return dataset.X[used], dataset.y[used], assignment[used], weights


def _results(
    X,
    y: np.ndarray,
    weights: np.ndarray | None,
    partition: Partition,
    run: Run,
    grid: Sequence[dict],
    seed: int,
    preprocessing,
    budget: float | None,
) -> Iterator[tuple]:
    """The results of each fit: ``("outer", fold, point, (row of candidates, predictions))`` or inner scores.

    An inner fit leaves out two parts and may be used for both: ``("inner", folds, point, score per fold)``,
    with scores by the metric that selects.
    """
    selects = run.metrics[:1]
    validates = protocol(run.protocol).validates
    learners = alternatives(run, seed)
    points = [step_params(run, params, learners) for params in grid]
    number = {_key(point): index for index, point in enumerate(points)}
    model = build(run, seed, preprocessing)
    # Within a budget, points follow one another; else they share what their learner's path can share.
    parts = [points] if budget is None else _in_turn(points, budget)
    fits = (path(model, X, y, partition, part, **weights_in_fit(weights)) for part in parts)
    for fit in chain.from_iterable(fits):
        point = number[_key(fit.params)]
        if len(fit.left_out) == 1:
            (fold,) = fit.left_out
            row = _outer_results(fit, y, partition, run)
            answers = _answers(fit, X, y, partition) if row["success"] else {}
            yield "outer", fold, point, (row, answers)
        else:
            folds, validated = zip(*validates(fit.left_out), strict=True)
            found = [_scores(fit, y, partition, (inner,), selects) for inner in validated]
            yield "inner", folds, point, [scores[selects[0]] for scores in found]


def _in_turn(points: Sequence[dict], seconds: float) -> Iterator[list[dict]]:
    """Yield the points one by one, until some seconds are over; the first in any case."""
    started = time.monotonic()
    for number, point in enumerate(points):
        if number and time.monotonic() - started >= seconds:
            return
        yield [point]


def _outer_results(fit: PathPoint, y: np.ndarray, partition: Partition, run: Run) -> dict:
    """A fit's row of candidates: criteria on the training rows, scores on the test rows."""
    if fit.error:
        return _no_results(fit.error, run)
    rows = partition.training(fit.left_out)
    try:
        criteria = {
            name: entropy_criterion(fit, y, rows, kind) if name in run.candidates else np.nan
            for name, kind in DIVERGENCES.items()
        }
    except (ValueError, ArithmeticError) as error:
        return _no_results(f"no divergence of the projections: {describe(error)}", run)
    found = _scores(fit, y, partition, fit.left_out, run.metrics)
    found |= {name: fact(fit, partition) for name, fact in FACTS.items()}
    tests = {f"test_{metric}": score for metric, score in found.items()}
    if run.training_scores:
        (metric,) = run.metrics[:1]
        tests |= {f"train_{metric}": scores(y[rows], fit.prediction[rows], [metric])[metric]}
    return {**criteria, **tests, "success": True, "note": fit.note, "error": ""}


def _answers(fit: PathPoint, X, y: np.ndarray, partition: Partition) -> dict[str, np.ndarray]:
    """The predictions of a fit for its test rows; for classes also decision values and probabilities."""
    rows = partition.held_out(fit.left_out)
    answers = {"prediction": np.ravel(fit.prediction[rows])}
    if y.dtype.kind == "f":
        return answers
    if y.max() > 1:
        return answers | _of_many(fit.fitted, X[rows], y[rows])
    decision = probability = np.full(len(rows), np.nan)
    if fit.fitted is not None:
        decision, probability = _ranked(fit.fitted, X[rows], decision)
    elif fit.log_odds is not None:
        decision = fit.log_odds[rows]
        probability = expit(decision)
    elif fit.projection is not None:
        decision = fit.projection[rows]
    return answers | {"decision": decision, "probability": probability}


def _ranked(fitted, X, nothing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The decision values and probabilities of a fitted binary classifier; `nothing` if it has none."""
    try:
        probability = fitted.predict_proba(X)[:, 1] if hasattr(fitted, "predict_proba") else nothing
        decision = fitted.decision_function(X) if hasattr(fitted, "decision_function") else probability
        return probability if decision.ndim > 1 else decision, probability
    except Exception:  # any exception of a learner: its labels are kept
        logger.exception("no decision values or probabilities of the test rows")
        return nothing, nothing


def _of_many(fitted, X, y: np.ndarray) -> dict[str, np.ndarray]:
    """The values that scores of several classes need from a classifier's probabilities, if it has some."""
    if not hasattr(fitted, "predict_proba"):
        return {}
    from entrolab.fit.probabilities import of_many

    try:
        return of_many(fitted.predict_proba(X), fitted.classes_, y)
    except Exception:  # as above
        logger.exception("no probabilities of the test rows")
        return {}


def _inner_results(found: Sequence[float], run: Run) -> dict:
    """The mean score of the inner folds; NaN unless every inner fit has a score."""
    complete = len(found) == protocol(run.protocol).n_inner
    return {f"cv_{run.metrics[0]}": float(np.mean(found)) if complete else np.nan}


def _no_results(reason: str, run: Run) -> dict:
    undefined = [*DIVERGENCES, *(f"test_{metric}" for metric in [*run.metrics, *FACTS])]
    undefined += [f"train_{metric}" for metric in run.metrics[:1] if run.training_scores]
    return {**dict.fromkeys(undefined, np.nan), "success": False, "note": "", "error": reason}


def _scores(
    fit: PathPoint, y: np.ndarray, partition: Partition, tested: tuple[int, ...], metrics: Sequence[str]
) -> dict[str, float]:
    """A fit's scores on the rows of some parts."""
    if fit.error:
        return dict.fromkeys(metrics, np.nan)
    rows = partition.held_out(tested)
    return scores(y[rows], fit.prediction[rows], metrics)


def _key(params: Mapping) -> str:
    return json.dumps(params, sort_keys=True, default=id)  # learners by identity


def _frame(rows: Sequence[dict], run: Run) -> pd.DataFrame:
    """Candidates with all columns in order and with their types, even without rows."""
    metrics = run.metrics
    types = (
        dict.fromkeys(["study", "dataset", "model"], "str")
        | dict.fromkeys(["repeat", "fold", "point"], "int64")
        | {"params": "str"}
        | dict.fromkeys(DIVERGENCES, "float64")
        | {f"cv_{metrics[0]}": "float64"}
        | {f"test_{metric}": "float64" for metric in [*metrics, *FACTS]}
        | {f"train_{metric}": "float64" for metric in metrics[:1] if run.training_scores}
        | {"path_seconds": "float64", "seed": "int64", "success": "bool", "note": "str", "error": "str"}
    )
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def _record(candidates: pd.DataFrame, dataset, run: Run, started: datetime, fits: _Fits) -> dict:
    failed = candidates[~candidates["success"]]
    success = not fits.reached and bool(candidates.groupby(["repeat", "fold"])["success"].any().all())
    reason = "" if success else str(fits.reached or Counter(failed["error"]).most_common(1)[0][0])
    notes = Counter(candidates.loc[candidates["note"] != "", "note"])
    return {
        **new_record(run, started, fits.seconds),
        "n_candidates": len(candidates),
        "n_failed": len(failed),
        "notes": dict(sorted(notes.items())),
        "success": success,
        "status": "ok" if success else fits.reached.status if fits.reached else "failed",
        "error": reason,
        "data": _facts_of(dataset),
    }


def _facts_of(dataset) -> dict:
    facts = {"digest": dataset.digest(), "n_samples": dataset.n_samples, "n_features": dataset.n_features}
    if dataset.task == "binary":
        facts |= {"n_negative": int(np.sum(dataset.y == 0)), "n_positive": int(np.sum(dataset.y == 1))}
    return facts


def new_record(run: Run, started: datetime, seconds: float = 0.0) -> dict:
    """A run record with status "failed"; the caller fills in the outcome.

    `started` has a time zone, and `seconds` are measured by a monotonic clock.
    """
    return {
        "key": run.key,
        "study": run.study,
        "dataset": run.dataset,
        "model": run.model,
        "estimator": " or ".join(learners_of(run)),
        "params": run.params,
        "grid": run.grid,
        **(run.model_dump(include={ONE_OF}) if run.one_of else {}),
        "seed": run.seed,
        "n_candidates": 0,
        "n_failed": 0,
        "notes": {},
        "success": False,
        "status": "failed",
        "error": "",
        "seconds": seconds,
        "started": started.isoformat(timespec="seconds"),
        "data": {},
        "versions": versions(),
        "machine": machine(),
    }
