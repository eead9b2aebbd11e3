"""Optima that random starts of an optimizer reach, and the best of several (MELM paper, section 5)."""

import time

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from entrolab.experiments.measuring import of_each_model
from entrolab.fit.learners import build_steps, seed_from
from entrolearn.measures import expected_maximum
from entrolearn.path import describe

SOME = 16  # number of starts of which the best is reported
ENOUGH = 95.0  # percent of the best of all models
NONE: dict = {}


def measure(rows, at, steps, *, starts: int, starts_of: dict[str, int] = NONE):
    """Start every model many times, one fit per start; `starts_of` has other numbers for some models.

    What is started is the last step of a model, or its estimator if it has no steps, with the parameters
    ``n_init`` and ``random_state``, and when fitted ``objective_`` and ``n_evaluations_``.

    Each start has the metrics objective, seconds and evaluations, reading "start 1" and so on. Each model has
    the metrics of `summary`, relative to the best of all models. A start that fails is a row with the reason,
    and so is a model with fewer than `SOME` starts left.
    """
    data = rows.scaled

    def of_model(name, own):
        *before, (_, learner) = build_steps({"estimator": None, "steps": own}, at.seed).steps
        X = Pipeline(before).fit_transform(data.X, data.y) if before else data.X
        for number in range(1, starts_of.get(name, starts) + 1):
            seed = seed_from(at.seed, at.study, at.table, at.dataset, number)
            alone = clone(learner).set_params(n_init=1, random_state=seed)
            yield from ({"reading": f"start {number}", **row} for row in of_start(alone, X, data.y))

    found = of_each_model(of_model, steps, at.progress)
    objectives = [row["value"] for row in found if row.get("metric") == "objective" and "value" in row]
    best = max(objectives, default=np.nan)
    of_models = {name: [row for row in found if row["model"] == name] for name in steps}
    return [{"model": name, **row} for name, mine in of_models.items() for row in summary(mine, best)] + found


def of_start(learner, X, y):
    """The rows of one start: objective, seconds and evaluations, or the reason why it failed."""
    began = time.process_time()
    try:
        learner.fit(X, y)
    except Exception as error:  # noqa: BLE001  any exception becomes a row with its message
        seconds = time.process_time() - began
        failed = {"metric": "objective", "status": "failed", "error": describe(error)}
        return [failed, {"metric": "seconds", "value": seconds}]
    seconds = time.process_time() - began
    found = {"objective": learner.objective_, "seconds": seconds, "evaluations": learner.n_evaluations_}
    return [{"metric": metric, "value": float(value)} for metric, value in found.items()]


def summary(rows, best):
    """Yield the metrics of a model from the rows of its starts; `best` is the best of all models."""
    rows = [row for row in rows if "reading" in row]
    values = {
        metric: np.array([row["value"] for row in rows if row.get("metric") == metric and "value" in row])
        for metric in ("objective", "seconds", "evaluations")
    }
    reached, n_starts = values["objective"], len({row["reading"] for row in rows})
    errors = [row["error"] for row in rows if row.get("status")]
    if len(reached) < SOME:  # none if the model could not be built, which is a row already
        for error in errors[:1]:
            lost = f"{len(reached)} of {n_starts} starts succeeded, fewer than {SOME}"
            yield {"status": "failed", "error": f"{lost}: {error}"}
        return
    found = {
        "best": reached.max(),
        "expected": 100 * expected_maximum(reached)[SOME - 1] / best,
        "near": 100 * (reached >= ENOUGH / 100 * best).sum() / n_starts,
        "seconds": SOME * values["seconds"].mean(),
        "evaluations": values["evaluations"].mean(),
    }
    note = f"{errors[0].replace(';', ',')} in {len(errors)} of {n_starts} fits" if errors else ""
    yield from ({"metric": metric, "value": float(value), "error": note} for metric, value in found.items())
