"""The refit of the selected model on all training rows, with its fit time and size."""

import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import FunctionType, ModuleType

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from entrolab.fit.learners import (
    COLUMNS,
    MODEL_STEP,
    PREPROCESSING,
    alternatives,
    build,
    learner_at,
    seed_from,
    step_params,
    weights_in_fit,
)
from entrolab.fit.limits import LimitError, Limits, within
from entrolab.fit.protocols import protocol
from entrolab.fit.thresholds import fixed
from entrolab.text import one_line
from entrolearn.path import n_iterations, n_support_vectors

GENERATORS = (np.random.RandomState, np.random.Generator, np.random.BitGenerator)
TIMED_AT_LEAST = 0.5  # seconds: shorter fits are repeated, and the shortest time is reported
TIMED_AT_MOST = 5  # maximum number of repetitions


def refit_within(
    limits: Limits, dataset, assignments: np.ndarray, params: Mapping | None, spec: Mapping
) -> tuple[bytes, dict]:
    """The selected model as the bytes of a skops file, and its facts; no bytes and a reason if there is none.

    `assignments` has the shape (n_repeats, n_samples); `params` is the selected grid point, None if there is
    none; for `spec` see :func:`entrolab.study.job_specs.run_spec`.
    """
    if params is None:
        reason = "no criterion selects from this grid: all of it is shown"
        if spec["criteria"]:
            reason = f"{spec['criteria'][0]} is undefined for every candidate"
        return b"", {"error": reason}
    try:
        (found,) = within(limits, _refitted, dataset, assignments, params, spec)
    except LimitError as error:
        return b"", {"error": f"{error.status} reached by the refit"}
    except RuntimeError as error:  # any exception of a learner: the scores are kept without the model
        return b"", {"error": str(error)}
    return found


def _refitted(
    dataset, assignments: np.ndarray, params: Mapping, spec: Mapping
) -> Iterator[tuple[bytes, dict]]:
    import skops.io  # here, because it imports all of scikit-learn, which takes a second or more

    fitted, facts = refit(dataset, assignments, params, spec)
    try:
        model = skops.io.dumps(of_table(fitted, dataset.columns))
        facts["types"] = skops.io.get_untrusted_types(data=model)
    except Exception as error:  # noqa: BLE001  of any object in the model; the other facts are kept
        model, facts["error"] = b"", f"skops cannot store the model: {one_line(error)}"
    yield model, facts


def first_step(dataset, spec: Mapping, seed: int):
    """The unfitted preprocessing that is part of every fit of a run; None if the rows are already scaled."""
    if not spec.get("preprocessing"):
        return None
    return import_module(PREPROCESSING).preprocessor(dataset, spec["preprocessing"], seed)


def of_table(fitted: BaseEstimator, columns: Mapping | None) -> BaseEstimator:
    """A model fitted on encoded features and classes as one pipeline from a table's columns to its labels.

    For `columns` see :class:`entrolab.data.dataset.Dataset`; if None, the model is returned unchanged.
    """
    if columns is None:
        return fitted
    from sklearn.pipeline import Pipeline

    own = import_module(COLUMNS)
    *before, (name, learner) = fitted.steps if isinstance(fitted, Pipeline) else [(MODEL_STEP, fitted)]
    if columns["labels"]:
        learner = own.LabelEncodedClassifier.of_fitted(learner, columns["labels"])
    encoder = own.ColumnEncoder(columns["encoded"], columns["missing"])
    return Pipeline([("columns", encoder), *before, (name, learner)])


def refit(dataset, assignments: np.ndarray, params: Mapping, spec: Mapping) -> tuple[BaseEstimator, dict]:
    """Fit the selected model and measure its fit time and size.

    With folds, it is fitted on all rows and predicts them; with trials, it is fitted on the training rows of
    the first trial and predicts its test rows. The facts are ``params``, ``chosen_by``, ``estimator``;
    ``fit_seconds`` and ``predict_seconds`` of processor time (the shortest of several repetitions if they are
    short); ``n_stored_numbers`` in arrays; ``n_support`` and ``n_iter`` of models with support vectors or
    iterations; the tuned ``threshold``.
    """
    seed = seed_from(spec["seed"], spec["study"], spec["dataset"], spec["model"], 0)
    chosen = step_params(spec, params, alternatives(spec, seed))
    estimator = build(spec, seed, first_step(dataset, spec, seed)).set_params(**chosen)
    learnt, predicted = protocol(spec["protocol"]).final_rows(assignments)
    X, y, unseen = dataset.X[learnt], dataset.y[learnt], dataset.X[predicted]
    weights = weights_in_fit(None if dataset.weights is None else dataset.weights[learnt])
    fitted, fit_seconds = _timed(lambda: clone(estimator).fit(X, y, **weights))
    fitted = fixed(fitted) if spec.get("threshold") else fitted
    _, predict_seconds = _timed(lambda: fitted.predict(unseen))
    told = {
        "n_support": n_support_vectors(fitted),
        "n_iter": n_iterations(fitted),
        "threshold": fitted.threshold if spec.get("threshold") else None,
    }
    return fitted, {
        "params": dict(params),
        "chosen_by": spec["criteria"][0],
        "estimator": learner_at(spec, params)["estimator"],
        "fit_seconds": fit_seconds,
        "predict_seconds": predict_seconds,
        "n_stored_numbers": n_stored_numbers(fitted),
        **{name: number for name, number in told.items() if number is not None},
    }


def n_stored_numbers(fitted) -> int:
    """The number of numbers in the arrays of a fitted estimator and the objects in it.

    The state of random generators is not counted.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> n_stored_numbers(Ridge().fit([[0.0, 1.0], [1.0, 0.0]], [0.0, 1.0]))  # two coefficients
    2
    """
    counted: dict[int, object] = {}  # keeps the objects alive, so that no id is reused

    def count(value) -> int:
        if id(value) in counted or isinstance(value, (type, FunctionType, ModuleType, *GENERATORS)):
            return 0
        counted[id(value)] = value
        if isinstance(value, np.ndarray):
            return _numbers_in(value) if value.dtype != object else sum(map(count, value.flat))
        if sparse.issparse(value):
            return value.nnz
        if isinstance(value, dict):
            return sum(map(count, value.values()))
        if isinstance(value, (list, tuple)):
            return sum(map(count, value))
        # Compiled objects, such as trees, provide their arrays in their pickling state.
        state = vars(value) if hasattr(value, "__dict__") else value.__getstate__()
        return count(state) if isinstance(state, dict) else 0

    return count(fitted)


def _numbers_in(array: np.ndarray) -> int:
    """The number of numbers in an array, including all fields of structured arrays."""
    types = [array.dtype[name] for name in array.dtype.names or ()] or [array.dtype]
    return array.size * sum(one.kind in "fiub" for one in types)


def _timed(action: Callable):
    """The result of an action and its processor seconds."""
    times = []
    while not times or (sum(times) < TIMED_AT_LEAST and len(times) < TIMED_AT_MOST):
        started = time.process_time()
        result = action()
        times.append(time.process_time() - started)
    return result, min(times)
