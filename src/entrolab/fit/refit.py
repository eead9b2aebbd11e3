"""Refit the models that criteria select on all training rows, with their fit times and sizes."""

import io
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType, ModuleType

import cloudpickle
import numpy as np
import skops.io
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from entrolab.data.dataset import load_dataset, load_folds
from entrolab.fit.curves import curves_of
from entrolab.fit.learners import (
    MODEL_STEP,
    alternatives,
    build,
    first_step,
    learner_at,
    made_of,
    random_state_of,
    step_params,
    weights_in_fit,
)
from entrolab.fit.protocols import protocol
from entrolab.fit.run import Run
from entrolab.fit.selection import most_chosen
from entrolab.fit.thresholds import fixed
from entrolab.io.atomic import replacing
from entrolab.io.limits import LimitError, Limits, within
from entrolab.io.model_reading import MODEL_FORMATS, trusted_types
from entrolab.io.parquet import read_frame
from entrolab.io.records import read_json, write_json
from entrolab.text import one_line
from entrolearn.columns import ColumnEncoder, LabelEncodedClassifier
from entrolearn.path import n_iterations, n_support_vectors

GENERATORS = (np.random.RandomState, np.random.Generator, np.random.BitGenerator)
TIMED_AT_LEAST = 0.2  # seconds: shorter fits are repeated, and the shortest time is reported
TIMED_AT_MOST = 5  # maximum number of repetitions


def refit_run(
    files: Mapping[str, str],
    folder: str,
    run: Run,
    criteria: Sequence[str],
    limits: Limits,
    model_format: str = "skops",
) -> None:
    """Refit what each criterion selected in most folds, and write the models of a run into a folder.

    `files` are the paths of a run's ``rows``, ``folds``, ``selection`` and ``record``. A criterion has a
    JSON file of facts and, beside it, the model as a skops file; without a model, the facts have the reason
    as ``error``. With `model_format` ``cloudpickle``, a model that skops cannot read back is pickled. A point
    that several criteria selected is fitted once. `limits` are those of all fits together.
    """
    record = read_json(files["record"])
    chosen = most_chosen(read_frame(files["selection"])) if record["success"] else {}
    Path(folder).mkdir(parents=True, exist_ok=True)
    fitted: dict[str, tuple[bytes, dict]] = {}
    begun = time.monotonic()
    for criterion in criteria:
        model, facts = b"", {"error": record["error"] or f"{criterion} is undefined for every candidate"}
        if criterion in chosen:
            point = json.dumps(chosen[criterion], sort_keys=True)
            if point not in fitted:
                left = replace(limits, seconds=limits.seconds - (time.monotonic() - begun))
                data = files["rows"], files["folds"]
                fitted[point] = _refit_within(left, *data, chosen[criterion], run, model_format)
            model, facts = fitted[point]
        if model:
            with replacing(Path(folder, criterion + MODEL_FORMATS[facts["format"]])) as temporary:
                temporary.write_bytes(model)
        write_json(Path(folder, f"{criterion}.json"), {"chosen_by": criterion, **facts})


def _refit_within(
    limits: Limits, rows: str, folds: str, params: Mapping, run: Run, model_format: str
) -> tuple[bytes, dict]:
    """A model as the bytes of a file, and its facts; no bytes and a reason if there is none."""
    try:
        (found,) = within(limits, _refitted, rows, folds, params, run, model_format)
    except LimitError as error:
        return b"", {"error": f"{error.status} reached by the refit"}
    except RuntimeError as error:  # of a learner, or a crash: the scores are kept
        return b"", {"error": str(error)}
    return found


def _refitted(
    rows: str, folds: str, params: Mapping, run: Run, model_format: str
) -> Iterator[tuple[bytes, dict]]:
    dataset = load_dataset(rows)
    fitted, facts = refit(dataset, load_folds(folds), params, run)
    model, of_file = _as_file(of_table(fitted, dataset.columns), made_of(run), model_format)
    yield model, facts | of_file


def _as_file(fitted: BaseEstimator, named: Sequence[str], model_format: str) -> tuple[bytes, dict]:
    """A model as the bytes of a file, with the file's ``format`` and ``types``; no bytes and an ``error``.

    A skops file is read once, because what it names may be refused or, as a lambda, impossible to import.
    """
    file = io.BytesIO()
    try:
        skops.io.dump(fitted, file)
        types = skops.io.get_untrusted_types(file=file)
        skops.io.load(file, trusted=trusted_types(file, named, types))
        return file.getvalue(), {"format": "skops", "types": types}
    except Exception as error:  # noqa: BLE001  of any object in the model; the other facts are kept
        reason = f"skops cannot store the model: {one_line(str(error).removeprefix(f'{file}: '))}"
    if model_format == "cloudpickle":
        try:
            return cloudpickle.dumps(fitted), {"format": "cloudpickle"}
        except Exception as error:  # noqa: BLE001  as above
            reason = f"cloudpickle cannot store the model: {one_line(error)}"
    return b"", {"error": reason}


def of_table(fitted: BaseEstimator, columns: Mapping | None) -> BaseEstimator:
    """A model fitted on encoded features and classes as one pipeline from a table's columns to its labels.

    For `columns` see :class:`entrolab.data.dataset.Dataset`; if None, the model is returned unchanged.
    """
    if columns is None:
        return fitted
    *before, (name, learner) = fitted.steps if isinstance(fitted, Pipeline) else [(MODEL_STEP, fitted)]
    if columns["labels"]:
        learner = LabelEncodedClassifier.of_fitted(learner, columns["labels"])
    encoder = ColumnEncoder(columns["encoded"], columns["missing"])
    return Pipeline([("columns", encoder), *before, (name, learner)])


def refit(dataset, assignments: np.ndarray, params: Mapping, run: Run) -> tuple[BaseEstimator, dict]:
    """Fit the selected model and measure its fit time and size.

    With folds, it is fitted on all rows and predicts them; with trials, it is fitted on the training rows of
    the first trial and predicts its test rows. The facts are ``params``, ``estimator``;
    ``fit_seconds`` and ``predict_seconds`` of processor time (the shortest of several repetitions if they are
    short); ``n_stored_numbers`` in arrays; ``n_support`` and ``n_iter`` of models with support vectors or
    iterations; the tuned ``threshold``; ``curves`` of iterations.
    """
    seed = random_state_of(run, 0)
    chosen = step_params(run, params, alternatives(run, seed))
    estimator = build(run, seed, first_step(dataset, run, seed)).set_params(**chosen)
    learnt, predicted = protocol(run.protocol).final_rows(assignments)
    X, y, unseen = dataset.X[learnt], dataset.y[learnt], dataset.X[predicted]
    weights = weights_in_fit(None if dataset.weights is None else dataset.weights[learnt])
    fitted, fit_seconds = _timed(lambda: clone(estimator).fit(X, y, **weights))
    fitted = fixed(fitted) if run.threshold else fitted
    _, predict_seconds = _timed(lambda: fitted.predict(unseen))
    told = {
        "n_support": n_support_vectors(fitted),
        "n_iter": n_iterations(fitted),
        "threshold": fitted.threshold if run.threshold else None,
    }
    return fitted, {
        "params": dict(params),
        "estimator": learner_at(run, params).estimator,
        "fit_seconds": fit_seconds,
        "predict_seconds": predict_seconds,
        "n_stored_numbers": n_stored_numbers(fitted),
        **{name: number for name, number in told.items() if number is not None},
        **({"curves": curves} if (curves := curves_of(fitted)) else {}),
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
