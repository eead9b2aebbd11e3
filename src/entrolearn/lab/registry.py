"""Learners by import path: built from a study's model entry, with the grid that belongs to them."""

import hashlib
import importlib
import itertools
from collections.abc import Mapping
from decimal import Decimal

MODEL_STEP = "model"  # name of a pipeline's last step


def build(spec: Mapping, seed: int):
    """The unfitted estimator that a model entry describes, its ``random_state`` set from `seed`.

    Parameters
    ----------
    spec : mapping
        ``estimator`` (import path), ``params``, and ``steps``: preprocessing that is fitted on the training
        rows alone, each an ``estimator`` with ``params``.
    seed : int
    """
    model = _construct(spec["estimator"], spec.get("params") or {}, seed)
    if not spec.get("steps"):
        return model
    from sklearn.pipeline import Pipeline

    steps = [
        (f"step{number}", _construct(step["estimator"], step.get("params") or {}, seed))
        for number, step in enumerate(spec["steps"], start=1)
    ]
    return Pipeline([*steps, (MODEL_STEP, model)])


def estimator_of(model: Mapping, task: str) -> str | None:
    """Import path of a model entry's learner for a task; None if it has none, or is known from print alone.

    Examples
    --------
    >>> estimator_of({"estimators": {"regression": "sklearn.svm.SVR"}}, "binary") is None
    True
    """
    by_task = model.get("estimators", {})
    return model.get("estimator", by_task.get("regression" if task == "regression" else "classification"))


def step_params(spec: Mapping, params: Mapping) -> dict:
    """A grid point as the built estimator knows it: a pipeline's parameters carry the step's name."""
    return (
        {f"{MODEL_STEP}__{name}": value for name, value in params.items()}
        if spec.get("steps")
        else {**params}
    )


def seed_from(*names) -> int:
    """A seed that depends on names alone: not on the order of the work, nor on what else is computed.

    Examples
    --------
    >>> seed_from(0, "eem", "australian", "eem_rbf", 0)
    2414277903
    """
    return int.from_bytes(hashlib.sha256("/".join(map(str, names)).encode()).digest()[:4], "big")


def _construct(import_path: str, params: Mapping, seed: int):
    module, _, name = import_path.rpartition(".")
    estimator = getattr(importlib.import_module(module), name)(**params)
    if "random_state" not in params and "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    return estimator


def expand_grid(grid: Mapping) -> list[dict]:
    """Every combination of a grid's values, in the order of scikit-learn's ``ParameterGrid``.

    That class itself would cost the second that importing scikit-learn takes.

    Examples
    --------
    >>> expand_grid({"gamma": [0.1, 1.0], "C": [1, 2]})
    [{'C': 1, 'gamma': 0.1}, {'C': 1, 'gamma': 1.0}, {'C': 2, 'gamma': 0.1}, {'C': 2, 'gamma': 1.0}]
    """
    names = sorted(grid)
    return [
        dict(zip(names, values, strict=True)) for values in itertools.product(*(grid[name] for name in names))
    ]


def expand_values(values) -> list:
    """One parameter's values: a list as it stands, the powers of a base or equal steps, both ends included.

    Raises
    ------
    ValueError
        If the steps of a range do not lead from its first value to its last.

    Examples
    --------
    >>> expand_values({"logspace": [-2, 1, 10]})
    [0.01, 0.1, 1.0, 10.0]
    >>> expand_values({"range": [5, 20, 5]})
    [5, 10, 15, 20]
    """
    if not isinstance(values, Mapping):
        return list(values)
    # Decimal, because 10.0**-5 need not be the double nearest to 1e-5, nor 3 * 0.1 the one nearest to 0.3.
    if "range" in values:
        first, last, step = (Decimal(str(number)) for number in values["range"])
        n_steps = (last - first) / step
        if n_steps < 0 or n_steps != int(n_steps):
            raise ValueError(f"steps of {step} do not lead from {first} to {last}")
        number = int if all(isinstance(one, int) for one in values["range"]) else float
        return [number(first + k * step) for k in range(int(n_steps) + 1)]
    first, last, base = values["logspace"]
    return [float(Decimal(str(base)) ** exponent) for exponent in range(first, last + 1)]
