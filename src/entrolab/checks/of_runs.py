"""Checks of runs: their training scores, their choices, and the baseline."""

import json
from importlib import import_module
from numbers import Real

import numpy as np
import pandas as pd

from entrolab.checks.check import Check, CheckedRun
from entrolab.claims.winners import shown
from entrolab.fit.learners import OF_A_STEP
from entrolab.fit.metrics import METRICS
from entrolab.fit.run import BASELINE, Run
from entrolab.tables.evidence import ALPHA, Student

MOST_LOST = 0.5  # share of the lead over the baseline on training rows that test rows may lose
FEWEST_VALUES = 3  # of a parameter with ends
FEWEST_FOLDS = 3
NOT_BETTER = "EL09"


def far_above_test(run: CheckedRun) -> str | None:
    """The scores on training and test rows, if half of the lead over the baseline is lost on test rows."""
    of_training, of_test = f"train_{run.metric}", f"test_{run.metric}"
    if of_training not in run.chosen or run.chosen.empty or (baseline := run.baseline) is None:
        return None
    train, test = run.chosen[of_training].mean(), run.chosen[of_test].mean()
    promised, lost = run.sign * (train - baseline), run.sign * (train - test)
    if not (promised > 0 and lost > MOST_LOST * promised):
        return None
    factor, write = 100 if METRICS[run.metric].percent else 1, shown(run.metric)
    train, test, baseline = (write(factor * score) for score in (train, test, baseline))
    label = METRICS[run.metric].label
    return f"{label} {train} on training rows, {test} on test rows, {baseline} of the baseline"


def at_an_end(run: CheckedRun) -> str | None:
    """The numbers of the grid whose best value is its smallest or largest, significantly above its neighbour.

    The inner scores of a split are those of a subsample, its training rows, so that the standard error of a
    difference is the delete-d jackknife's. The level holds for all ends of the models of a data set.
    """
    scored = f"cv_{run.metric}"
    rows = run.candidates.dropna(subset=[scored])
    if rows.empty:
        return None
    params = pd.DataFrame(map(json.loads, rows["params"]), index=rows.index)
    of_models = [run.study.run(*one, run.study.seed) for one in run.study.runs() if one[0] == run.dataset]
    n_tests = sum(2 * len(_with_ends(one)) for one in of_models)
    found = []
    for name, values in _with_ends(run.spec).items():
        # The best score of each fold with each value of this parameter.
        best = (
            (run.sign * rows[scored])
            .groupby([params[name].astype(float), rows["repeat"], rows["fold"]])
            .max()
        )
        best = best.unstack(level=0).dropna()
        if len(best) < FEWEST_FOLDS or best.shape[1] < 2:
            continue
        value = best.mean().idxmax()
        if value not in (values[0], values[-1]) or _is_bound(run.spec.estimator, name, value):
            continue
        gain = best[value] - best[best.columns[1 if value == values[0] else -2]]
        error = np.sqrt(gain.var(ddof=0) / run.numbers.test_to_train(run.dataset))
        if Student(gain.mean(), error, len(gain) - 1).above(0.0) <= ALPHA / n_tests:
            end = "smallest" if value == values[0] else "largest"
            found.append(f"{name} = {value:g}, the {end} of {len(values)}")
    return "; ".join(found) or None


def _with_ends(spec: Run) -> dict[str, np.ndarray]:
    """The sorted values of each parameter of a grid that has enough of them, all numbers."""
    found = {}
    for name, values in spec.grid.items():
        numbers = [one for one in values if isinstance(one, Real) and not isinstance(one, bool)]
        if (
            len(numbers) == len(values)
            and len(ends := np.unique(np.asarray(numbers, float))) >= FEWEST_VALUES
        ):
            found[name] = ends
    return found


def _is_bound(estimator: str | None, name: str, value: float) -> bool:
    """Whether a parameter of a learner of scikit-learn's kind has no values beyond this one."""
    module, _, learner = (estimator or "").rpartition(".")
    if not module or OF_A_STEP.match(name):
        return False
    constraints = getattr(getattr(import_module(module), learner), "_parameter_constraints", {})
    ends = [(getattr(one, "left", None), getattr(one, "right", None)) for one in constraints.get(name, ())]
    return any(value in pair for pair in ends)


def not_better_than_baseline(run: CheckedRun) -> str | None:
    """The scores of the model and of the baseline, if it is not significantly better over folds."""
    study, tables = run.study, run.study.score_tables(run.dataset)
    tables = [name for name in tables if {run.model, BASELINE} <= {*study.tables[name].models}]
    if run.model == BASELINE or not tables:
        return None
    table, metric = tables[:1], study.tables[tables[0]].metric
    metric = metric if isinstance(metric, str) else metric[0]
    found = run.numbers.on_one((table, table), run.dataset, (run.model, BASELINE), metric, False)
    # One test part has no test of a difference.
    if not isinstance(found, Student) or found.above(0.0) <= ALPHA:
        return None
    model, baseline = (run.numbers.cell(table, run.dataset, one, metric) for one in (run.model, BASELINE))
    write = shown(metric)
    return f"{METRICS[metric].label} {write(model)}, the baseline {write(baseline)}"


def other_in_every_fold(run: CheckedRun) -> str | None:
    """The number of folds, if each of them chose another point of the grid."""
    n_folds, n_points = len(run.selection), run.selection["point"].nunique()
    if n_folds < FEWEST_FOLDS or n_points < n_folds:
        return None
    return f"{n_points} choices in {n_folds} folds"


CHECKS = {
    "EL07": Check(
        "training scores far above test scores",
        "the model has learnt its training rows, which it will not meet again",
        "Regularise more, or use more rows; trees, forests and neighbours do this by nature.",
        "half of the lead over the baseline: more is lost than kept",
        far_above_test,
    ),
    "EL08": Check(
        "the best value is at an end of the grid",
        "a better one may lie beyond",
        "Add values beyond that end.",
        "a one-sided t-test against its neighbour with the standard error of the delete-d jackknife over the "
        "splits (Shao and Wu, Annals of Statistics 17, 1989), at 5 % for all ends of the grids of a data set",
        at_an_end,
    ),
    NOT_BETTER: Check(
        "not significantly better than the baseline",
        "the features tell this model nothing about the label that could be shown",
        "Try other features or models; if the difference is large, `repeats` or more rows.",
        "a one-sided t-test over folds at 5 % with the corrected variance of Nadeau and Bengio (2003)",
        not_better_than_baseline,
    ),
    "EL10": Check(
        "another choice in every fold",
        "the grid's points cannot be told apart with these rows, so the choice is mostly chance",
        "Use a smaller grid or `repeats`.",
        "none: as many choices as folds",
        other_in_every_fold,
    ),
}
