"""Build the estimators of a study's model entries by import path, and expand their grids."""

import hashlib
import importlib
import itertools
import re
from collections.abc import Mapping
from decimal import Decimal

from entrolab.fit.thresholds import PARAMETER, tuned

FIRST_STEP = "preprocessing"  # name of the pipeline step for a study's `preprocessing`
MODEL_STEP = "model"  # name of a pipeline's last step
ONE_OF = "one_of"  # key of a model's alternative learners, and of a grid point's choice among them
OF_A_STEP = re.compile(r"step\d+__")  # prefix of the parameters of the other steps


def build(spec: Mapping, seed: int, preprocessing=None):
    """The unfitted estimator of a model entry, with ``random_state`` set to `seed` unless the entry has one.

    `spec` has ``estimator`` (import path), ``params``, and ``steps``: preprocessing fitted on the training
    rows, each an ``estimator`` with ``params``. With ``one_of``, the last step is the first of these learners
    until a grid point replaces it. With ``threshold``, everything is fitted again in folds of the training
    set to tune the threshold. `preprocessing` is the first step of runs with ``preprocessing`` in their spec.
    """
    learners = alternatives(spec, seed)
    model = next(iter(learners.values())) if learners else _construct(spec, seed)
    if not (_has_steps(spec) or learners):
        return _with_threshold(model, spec, seed)
    pipeline = build_steps(spec, seed)
    pipeline.steps.append((MODEL_STEP, model))
    if preprocessing is not None:
        pipeline.steps.insert(0, (FIRST_STEP, preprocessing))
    return _with_threshold(pipeline, spec, seed)


def _with_threshold(estimator, spec: Mapping, seed: int):
    return tuned(estimator, spec["threshold"], seed) if spec.get("threshold") else estimator


def weights_in_fit(weights) -> dict:
    """The keyword arguments of a pipeline's ``fit`` that pass the weights of rows, if any, to the learner."""
    return {} if weights is None else {f"{MODEL_STEP}__sample_weight": weights}


def _has_steps(spec: Mapping) -> bool:
    return bool(spec.get("steps") or spec.get("preprocessing"))


def first_step(dataset, spec: Mapping, seed: int):
    """The unfitted preprocessing that is part of every fit of a run; None if the rows are already scaled."""
    if not spec.get("preprocessing"):
        return None
    from entrolab.data.preprocessing import preprocessor  # which imports scikit-learn

    return preprocessor(dataset, spec["preprocessing"], seed)


def build_steps(spec: Mapping, seed: int):
    """The unfitted pipeline of a model entry's preprocessing steps, without its learner."""
    from sklearn.pipeline import Pipeline

    steps = spec.get("steps") or ()
    return Pipeline([(f"step{number}", _construct(step, seed)) for number, step in enumerate(steps, start=1)])


def alternatives(spec: Mapping, seed: int) -> dict:
    """The unfitted alternative learners of a model entry, by name."""
    return {name: _construct(learner, seed) for name, learner in (spec.get(ONE_OF) or {}).items()}


def estimator_of(model: Mapping, task: str) -> str | None:
    """Import path of a model entry's learner for a task; None if it has none or several.

    Examples
    --------
    >>> estimator_of({"estimators": {"regression": "sklearn.svm.SVR"}}, "binary") is None
    True
    """
    by_task = model.get("estimators", {})
    return model.get("estimator", by_task.get("regression" if task == "regression" else "classification"))


def learners_of(spec: Mapping) -> list[str]:
    """Import paths of all learners of a model entry or a run.

    Examples
    --------
    >>> learners_of({"one_of": {"svm": {"estimator": "sklearn.svm.SVC"}, "lda": {"estimator": "mine.LDA"}}})
    ['sklearn.svm.SVC', 'mine.LDA']
    """
    if spec.get("estimator"):
        return [spec["estimator"]]
    chosen_from = (learner["estimator"] for learner in (spec.get(ONE_OF) or {}).values())
    return [*spec.get("estimators", {}).values(), *chosen_from]


def made_of(spec: Mapping) -> list[str]:
    """Import paths of all learners and preprocessing steps of a model entry or a run."""
    return [*learners_of(spec), *(step["estimator"] for step in spec["steps"])]


def projection_of(model: Mapping) -> dict:
    """The entry of the last step of a model entry, or of its learner if it has no steps.

    Examples
    --------
    >>> pca = {"estimator": "sklearn.decomposition.PCA"}
    >>> projection_of({"estimator": "sklearn.svm.SVC", "steps": [{"estimator": "mine.Scaler"}, pca]})
    {'estimator': 'sklearn.decomposition.PCA', 'params': {}, 'steps': [{'estimator': 'mine.Scaler'}]}
    """
    *before, last = model["steps"] or [model]
    return {"estimator": last["estimator"], "params": last.get("params", {}), "steps": before}


def learner_of(model: Mapping, task: str) -> dict:
    """The entry of a model for one task, without a grid.

    Examples
    --------
    >>> svm = {"estimators": {"regression": "sklearn.svm.SVR"}, "params": {"C": 2}, "steps": []}
    >>> learner_of(svm, "regression")
    {'estimator': 'sklearn.svm.SVR', 'params': {'C': 2}, 'steps': []}
    """
    return {"estimator": estimator_of(model, task), "params": model["params"], "steps": model["steps"]}


def learner_at(spec: Mapping, params: Mapping) -> Mapping:
    """The entry of a grid point's learner: that of the run, or one of its alternatives."""
    return spec[ONE_OF][params[ONE_OF]] if spec.get(ONE_OF) else spec


def grid_points(spec: Mapping) -> list[dict]:
    """Every point of a run's grid; with alternatives, the grid of each one crossed with the run's own.

    Examples
    --------
    >>> one_of = {"svm": {"grid": {"C": [1, 2]}}, "lda": {"grid": {}}}
    >>> grid_points({"grid": {}, "one_of": one_of})
    [{'one_of': 'svm', 'C': 1}, {'one_of': 'svm', 'C': 2}, {'one_of': 'lda'}]
    """
    if not spec.get(ONE_OF):
        return expand_grid(spec["grid"])
    return [
        {ONE_OF: name, **point}
        for name, learner in spec[ONE_OF].items()
        for point in expand_grid({**learner["grid"], **spec["grid"]})
    ]


def searched(spec: Mapping) -> list[str]:
    """The parameters in a model entry's grid and in those of its alternatives."""
    one_of = spec.get(ONE_OF) or {}
    names = [*spec["grid"], *([ONE_OF] if one_of else [])]
    return list(dict.fromkeys([*names, *(name for learner in one_of.values() for name in learner["grid"])]))


def step_params(spec: Mapping, params: Mapping, learners: Mapping | None = None) -> dict:
    """The parameters of a grid point for `set_params`, prefixed by the names of steps in a pipeline.

    `learners` are the :func:`alternatives` of a model, if it has some: points with the same learner contain
    the same object, by which a path recognises them.

    Examples
    --------
    >>> step_params({"steps": ["a scaler"]}, {"C": 1, "step1__n_components": 5})
    {'model__C': 1, 'step1__n_components': 5}
    """
    within = PARAMETER if spec.get("threshold") else ""
    if not (_has_steps(spec) or learners):
        return {f"{within}{name}": value for name, value in params.items()}
    taken = {f"{within}{MODEL_STEP}": learners[params[ONE_OF]]} if learners else {}
    return taken | {
        f"{within}{'' if OF_A_STEP.match(name) else f'{MODEL_STEP}__'}{name}": value
        for name, value in params.items()
        if not (learners and name == ONE_OF)
    }


def of_step(grid: Mapping, step: str = "") -> list[str]:
    """The parameters in a grid that belong to a preprocessing step, or to the learner itself.

    Examples
    --------
    >>> of_step({"C": [1], "step1__n_components": [5]}), of_step({"step1__n_components": [5]}, "step1")
    (['C'], ['n_components'])
    """
    if not step:
        return [name for name in grid if not OF_A_STEP.match(name)]
    return [name.removeprefix(f"{step}__") for name in grid if name.startswith(f"{step}__")]


def seed_from(*names) -> int:
    """A seed derived from names, independent of the order of computations and of other results.

    Examples
    --------
    >>> seed_from(0, "eem", "australian", "eem_rbf", 0)
    2414277903
    """
    return int.from_bytes(hashlib.sha256("/".join(map(str, names)).encode()).digest()[:4], "big")


def parts_seed(seed: int, study_name: str, dataset: str) -> int:
    """The seed of the splits of a study's data set."""
    return seed_from(seed, study_name, dataset, "folds")


def _construct(spec: Mapping, seed: int):
    params = spec.get("params") or {}
    module, _, name = spec["estimator"].rpartition(".")
    estimator = getattr(importlib.import_module(module), name)(**params)
    if "random_state" not in params and "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    return estimator


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


def expand_values(values) -> list:
    """The values of a parameter: a list, powers of a base, or equal steps with both ends included.

    Steps of a range that do not lead from its first value to its last raise a `ValueError`.

    Examples
    --------
    >>> expand_values({"logspace": [-2, 1, 10]})
    [0.01, 0.1, 1.0, 10.0]
    >>> expand_values({"range": [5, 20, 5]})
    [5, 10, 15, 20]
    """
    if not isinstance(values, Mapping):
        return list(values)
    # Decimal, because 10.0**-5 may not be the double nearest to 1e-5, nor 3 * 0.1 the one nearest to 0.3.
    if "range" in values:
        first, last, step = (Decimal(str(number)) for number in values["range"])
        n_steps = (last - first) / step
        if n_steps < 0 or n_steps != int(n_steps):
            raise ValueError(f"steps of {step} do not lead from {first} to {last}")
        number = int if all(isinstance(one, int) for one in values["range"]) else float
        return [number(first + k * step) for k in range(int(n_steps) + 1)]
    first, last, base = values["logspace"]
    return [float(Decimal(str(base)) ** exponent) for exponent in range(first, last + 1)]
