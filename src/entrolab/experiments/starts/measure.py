"""Measure the optimum of each random start, and the expected best of several starts."""

import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from entrolab.experiments.measurement import Measurement
from entrolab.experiments.measuring import frame, of_each_model
from entrolab.experiments.starts import OF_A_START, starts_of
from entrolab.fit.learners import build, seed_from
from entrolearn.measures import expected_maximum
from entrolearn.path import describe


def measure(load: Callable, spec: Measurement, progress: Callable[[int, int], None]) -> list[dict]:
    """Start every model many times, one fit per start.

    `spec` has the ``models``: estimator, params and steps of each, and its number of ``starts``; ``some``:
    the number of starts of which the best is reported; ``enough``: percent of the best of all models. A
    learner has the parameters ``n_init`` and ``random_state``, and fitted ``objective_`` and
    ``n_evaluations_``.

    Each model has the metrics of the table (best, expected, near, seconds, evaluations), and each start those
    of `OF_A_START`, reading "start 1" and so on. A start that fails is a row with the reason, and so is a
    model with too few starts left.
    """
    data = load("scaled")
    rows = of_each_model(lambda name, model: _starts(data, model, spec), spec, progress)
    started = {name: starts_of(frame(rows), name) for name in spec.models}
    return [*summary(started, spec), *rows]


def summary(started: Mapping[str, pd.DataFrame], spec: Measurement) -> Iterator[dict]:
    """The metrics of a table, relative to the best of all models."""
    ended = {name: starts.dropna(subset="objective") for name, starts in started.items()}
    best = max((float(starts["objective"].max()) for starts in ended.values() if len(starts)), default=np.nan)
    for name, starts in ended.items():
        if len(starts) < spec.some:
            # A model that could not be built has a single row.
            for error in started[name]["error"].loc[lambda each: each != ""].head(1):
                lost = f"{len(starts)} of {len(started[name])} starts succeeded, fewer than {spec.some}"
                yield {"model": name, "status": "failed", "error": f"{lost}: {error}"}
            continue
        expected = expected_maximum(starts["objective"])[spec.some - 1]
        near = (starts["objective"] >= spec.enough / 100 * best).sum() / len(started[name])
        metrics = {
            "best": starts["objective"].max(),
            "expected": 100 * expected / best,
            "near": 100 * near,
            "seconds": spec.some * started[name]["seconds"].mean(),
            "evaluations": starts["evaluations"].mean(),
        }
        yield from ({"model": name, "metric": metric, "value": value} for metric, value in metrics.items())


def _starts(data, model: Mapping, spec: Measurement) -> Iterator[dict]:
    """The rows of each start; the same start of different models has the same seed."""
    learner, X = build(model, spec.seed), data.X
    if isinstance(learner, Pipeline):
        X, learner = learner[:-1].fit_transform(X, data.y), learner[-1]
    for number in range(1, model["starts"] + 1):
        seed = seed_from(spec.seed, spec.study, spec.table, spec.dataset, number)
        alone = clone(learner).set_params(n_init=1, random_state=seed)
        row = {"reading": f"start {number}"}
        began = time.process_time()
        try:
            alone.fit(X, data.y)
        except Exception as error:  # noqa: BLE001  any exception becomes a row with its message
            seconds = time.process_time() - began
            yield {**row, "metric": "objective", "status": "failed", "error": describe(error)}
            yield {**row, "metric": "seconds", "value": seconds}
            continue
        values = (alone.objective_, time.process_time() - began, alone.n_evaluations_)
        yield from (
            {**row, "metric": metric, "value": float(value)}
            for metric, value in zip(OF_A_START, values, strict=True)
        )
