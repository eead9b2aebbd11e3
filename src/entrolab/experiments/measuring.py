"""Run the measurement of a table on a data set, and write the rows to a file.

Each experiment has a module with a function ``measure(load, spec, progress)``: `load` returns the data set
for "raw" or "scaled" (generated data need none), `spec` is that of
:meth:`entrolab.study.study.Study.measurement`, `progress` takes the number of parts done and of all parts.
It returns rows, mappings with some of the keys of `COLUMNS`.
"""

import importlib
import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from entrolab.data.dataset import DataUnavailable, load_dataset
from entrolab.experiments.measurement import Measurement
from entrolab.fit.limits import KilledError, LimitError, Limits, within
from entrolab.io.parquet import write_frame
from entrolearn.path import describe

# A row's columns and their defaults. A row without a value has the `status` "failed" or
# "no data" and an `error`; if it names no model or no metric, it applies to all of them. `reading` is "" for
# the value that the table shows.
COLUMNS = {
    "model": "",
    "metric": "",
    "reading": "",
    "value": math.nan,
    "std": math.nan,
    "status": "ok",
    "error": "",
}

logger = logging.getLogger(__name__)


class ModelFailed(Exception):
    """A model has no measurement; the message is the error of its row."""


def measure(
    raw: str, scaled: str, output: str, spec: Measurement, progress: Callable[[int, int], None]
) -> None:
    """Measure with the module that `spec` names and write the rows; failures and absent data are rows too.

    `raw` and `scaled` are the data set as prepared, and as the study scales it; `output` is a parquet file
    with `COLUMNS`.
    """
    files = {"raw": raw, "scaled": scaled}
    measure = importlib.import_module(spec.measured_by).measure
    try:
        rows = measure(lambda which: load_dataset(files[which]), spec, progress)
    except DataUnavailable as absence:
        rows = [{"status": "no data", "error": str(absence)}]
    except KilledError:  # no result: the job fails, and the next run measures again
        raise
    except Exception as error:  # any exception becomes a row with its message
        logger.exception("the measurement failed")
        rows = [{"status": "failed", "error": describe(error)}]
    write_frame(output, frame(rows))


def of_each_model(
    measured: Callable[[str, Mapping], Iterable[Mapping]],
    spec: Measurement,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> list[dict]:
    """The rows of every model of a measurement; a model that fails is a row with the reason.

    `measured` returns the rows of a model from its name and its entry in ``spec.models``.
    """
    rows: list[dict] = []
    for done, (name, model) in enumerate(spec.models.items(), start=1):
        try:
            found = list(measured(name, model))
        except KilledError:
            raise
        except ModelFailed as failure:
            found = [{"status": "failed", "error": str(failure)}]
        except Exception as error:  # any exception becomes a row with its message
            logger.exception("%s failed", name)
            found = [{"status": "failed", "error": describe(error)}]
        rows += [{"model": name, **row} for row in found]
        progress(done, len(spec.models))
    return rows


def limited(limits: Limits, work: Callable[..., Iterable], *arguments, parts: str = "") -> Iterator:
    """Yield what ``work(*arguments)`` yields, run in a separate process with limits.

    If it reaches a limit or fails, `ModelFailed` says after how many of the `parts`, such as "10 runs".
    """
    done = 0
    try:
        for result in within(limits, work, *arguments):
            done += 1
            yield result
    except (LimitError, RuntimeError) as error:
        raise ModelFailed(f"after {done} of {parts}: {error}" if done else str(error)) from error


def quickest(work: Callable, *arguments, repeats: int = 1) -> tuple[float, Any]:
    """Processor seconds of the fastest of several calls, and the result of the last call."""
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        result = work(*arguments)
        seconds.append(time.process_time() - began)
    return min(seconds), result


def mean_and_std(values: Sequence[float]) -> dict[str, float]:
    """The ``value`` and the ``std`` of a row: mean and standard deviation, NaN of a single value."""
    std = np.std(values, ddof=1) if len(values) > 1 else np.nan
    return {"value": float(np.mean(values)), "std": float(std)}


def frame(rows: Iterable[Mapping]) -> pd.DataFrame:
    """Rows as a frame with `COLUMNS`; columns have their types even without rows."""
    types = {name: "float64" if isinstance(default, float) else "str" for name, default in COLUMNS.items()}
    return pd.DataFrame([{**COLUMNS, **row} for row in rows], columns=list(COLUMNS)).astype(types)
