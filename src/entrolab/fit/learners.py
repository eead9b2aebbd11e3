"""Build the estimators of a study's model entries by import path, and expand their grids."""

import hashlib
import importlib
import itertools
import random
import re
from collections.abc import Mapping

from entrolab.fit.run import Alternative, Learner, Run
from entrolab.fit.thresholds import PARAMETER, tuned

FIRST_STEP = "preprocessing"  # name of the pipeline step for a study's `preprocessing`
MODEL_STEP = "model"  # name of a pipeline's last step
ONE_OF = "one_of"  # key of a model's alternative learners, and of a grid point's choice among them
OF_A_STEP = re.compile(r"step\d+__")  # prefix of the parameters of the other steps


def as_learner(entry):
    """The learner that a mapping of its keys describes; a learner, a run or a model of a study as it is."""
    if not isinstance(entry, dict):
        return entry
    return Learner(**{name: entry[name] for name in Learner.model_fields if name in entry})


def build(learner: Learner | Mapping, seed: int, preprocessing=None):
    """The unfitted estimator of a learner, with ``random_state`` set to `seed` unless its parameters have it.

    With ``one_of``, the last step is the first of these learners until a grid point replaces it.
    `preprocessing` is the first step of runs with ``preprocessing``.
    """
    spec = as_learner(learner)
    learners = alternatives(spec, seed)
    model = next(iter(learners.values())) if learners else _construct(spec, seed)
    if not (_has_steps(spec) or learners):
        return _with_threshold(model, spec, seed)
    pipeline = build_steps(spec, seed)
    pipeline.steps.append((MODEL_STEP, model))
    if preprocessing is not None:
        pipeline.steps.insert(0, (FIRST_STEP, preprocessing))
    return _with_threshold(pipeline, spec, seed)


def _with_threshold(estimator, spec: Learner, seed: int):
    return tuned(estimator, spec.threshold, seed) if spec.threshold else estimator


def weights_in_fit(weights) -> dict:
    """The keyword arguments of a pipeline's ``fit`` that pass the weights of rows, if any, to the learner."""
    return {} if weights is None else {f"{MODEL_STEP}__sample_weight": weights}


def _has_steps(spec: Learner) -> bool:
    return bool(spec.steps or spec.preprocessing)


def first_step(dataset, spec: Learner, seed: int):
    """The unfitted preprocessing that is part of every fit of a run; None if the rows are already scaled."""
    if not spec.preprocessing:
        return None
    from entrolab.data.preprocessing import preprocessor  # which imports scikit-learn

    return preprocessor(dataset, spec.preprocessing, seed)


def build_steps(learner: Learner | Mapping, seed: int):
    """The unfitted pipeline of a learner's preprocessing steps, without the learner itself."""
    from sklearn.pipeline import Pipeline

    steps = as_learner(learner).steps
    return Pipeline([(f"step{number}", _construct(step, seed)) for number, step in enumerate(steps, start=1)])


def alternatives(learner: Learner | Mapping, seed: int) -> dict:
    """The unfitted alternatives of a learner, by name."""
    return {name: _construct(one, seed) for name, one in as_learner(learner).one_of.items()}


def estimator_of(model, task: str) -> str | None:
    """Import path of the learner of a study's model for a task; None if it has none or several."""
    if model.estimator or not model.estimators:
        return model.estimator
    return model.estimators.regression if task == "regression" else model.estimators.classification


def learners_of(entry) -> list[str]:
    """Import paths of all learners of a study's model, a learner or a run.

    Examples
    --------
    >>> svm, lda = Alternative(estimator="sklearn.svm.SVC"), Alternative(estimator="mine.LDA")
    >>> learners_of(Learner(one_of={"svm": svm, "lda": lda}))
    ['sklearn.svm.SVC', 'mine.LDA']
    """
    if entry.estimator:
        return [entry.estimator]
    by_task = getattr(entry, "estimators", None)
    of_tasks = [by_task.classification, by_task.regression] if by_task else []
    return [*filter(None, of_tasks), *(one.estimator for one in entry.one_of.values())]


def made_of(entry) -> list[str]:
    """Import paths of all learners and preprocessing steps of a study's model, a learner or a run."""
    made = as_learner(entry)
    return [*learners_of(made), *(step.estimator for step in made.steps)]


def projection_of(model) -> dict:
    """The entry of the last step of a study's model, or of its learner if it has no steps."""
    *before, last = model.steps or [model]
    return {"estimator": last.estimator, "params": last.params or {}, "steps": before}


def learner_of(model, task: str) -> dict:
    """The entry of a study's model for one task, without a grid."""
    return {"estimator": estimator_of(model, task), "params": model.params, "steps": model.steps}


def learner_at(entry: Learner | Mapping, params: Mapping) -> Learner | Alternative:
    """The learner of a grid point: that of the run, or one of its alternatives."""
    run = as_learner(entry)
    return run.one_of[params[ONE_OF]] if run.one_of else run


def grid_points(entry: Learner | Mapping) -> list[dict]:
    """Every point of a learner's grid; with alternatives, the grid of each one crossed with its own.

    Examples
    --------
    >>> svm, lda = {"estimator": "sklearn.svm.SVC", "grid": {"C": [1, 2]}}, {"estimator": "mine.LDA"}
    >>> grid_points({"one_of": {"svm": svm, "lda": lda}})
    [{'one_of': 'svm', 'C': 1}, {'one_of': 'svm', 'C': 2}, {'one_of': 'lda'}]
    """
    learner = as_learner(entry)
    if not learner.one_of:
        return expand_grid(learner.grid)
    return [
        {ONE_OF: name, **point}
        for name, one in learner.one_of.items()
        for point in expand_grid({**one.grid, **learner.grid})
    ]


def searched(entry) -> list[str]:
    """The parameters in the grid of a study's model or a learner, and in those of its alternatives."""
    names = [*entry.grid, *([ONE_OF] if entry.one_of else [])]
    return list(dict.fromkeys([*names, *(name for one in entry.one_of.values() for name in one.grid)]))


def drawn_points(run: Run) -> list[dict]:
    """The grid points that are fitted: all, or those that a random search draws, in the order drawn."""
    points = grid_points(run)
    if run.search is None:
        return points
    return random.Random(random_state_of(run, 0)).sample(points, min(run.search["points"], len(points)))


def step_params(entry: Learner | Mapping, params: Mapping, learners: Mapping | None = None) -> dict:
    """The parameters of a grid point for `set_params`, prefixed by the names of steps in a pipeline.

    `learners` are the :func:`alternatives` of a model, if it has some: points with the same learner contain
    the same object, by which a path recognises them.

    Examples
    --------
    >>> step_params({"steps": [{"estimator": "mine.Scaler"}]}, {"C": 1, "step1__n_components": 5})
    {'model__C': 1, 'step1__n_components': 5}
    """
    spec = as_learner(entry)
    within = PARAMETER if spec.threshold else ""
    if not (_has_steps(spec) or learners):
        return {f"{within}{name}": value for name, value in params.items()}
    taken = {f"{within}{MODEL_STEP}": learners[params[ONE_OF]]} if learners else {}
    return taken | {
        f"{within}{'' if OF_A_STEP.match(name) else f'{MODEL_STEP}__'}{name}": value
        for name, value in params.items()
        if not (learners and name == ONE_OF)
    }


def seed_from(*names) -> int:
    """A seed derived from names, independent of the order of computations and of other results.

    Examples
    --------
    >>> seed_from(0, "eem", "australian", "eem_rbf", 0)
    2414277903
    """
    return int.from_bytes(hashlib.sha256("/".join(map(str, names)).encode()).digest()[:4], "big")


def parts_seed(seed: int, study_name: str, dataset: str) -> int:
    """The seed of the splits of a data set in a study with ``named_seeds``."""
    return seed_from(seed, study_name, dataset, "folds")


def random_state_of(run: Run, repeat: int) -> int:
    """The random state of the learners of a run in a repeat."""
    names = (run.study, run.dataset) if run.named_seeds else ()
    return seed_from(run.seed, *names, run.model, repeat)


def _construct(part, seed: int):
    module, _, name = part.estimator.rpartition(".")
    estimator = getattr(importlib.import_module(module), name)(**part.params)
    if "random_state" not in part.params and "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    # A stored model predicts: it has the size that a paper states, without the sums that would update it.
    kept = {
        name: False
        for name, value in estimator.get_params().items()
        if name.endswith("store_sums") and value == "auto"
    }
    return estimator.set_params(**kept) if kept else estimator


def expand_grid(grid: Mapping) -> list[dict]:
    """Every combination of a grid's values, in the order of scikit-learn's ``ParameterGrid``.

    That class is not used, because importing scikit-learn takes a second.

    Examples
    --------
    >>> expand_grid({"gamma": [0.1, 1.0], "C": [1, 2]})
    [{'C': 1, 'gamma': 0.1}, {'C': 1, 'gamma': 1.0}, {'C': 2, 'gamma': 0.1}, {'C': 2, 'gamma': 1.0}]
    """
    names = sorted(grid)
    points = itertools.product(*(grid[name] for name in names))
    return [dict(zip(names, values, strict=True)) for values in points]
