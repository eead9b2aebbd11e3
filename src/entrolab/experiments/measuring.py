"""Run the measurement of a table on a data set, and write its rows to a file.

A script, see `entrolab.experiments.measurement`, returns rows: mappings with some of the keys of `COLUMNS`.
"""

import importlib
import logging
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from entrolab.data.dataset import Dataset, DataUnavailable, load_dataset
from entrolab.experiments.measurement import Measurement
from entrolab.io.files import HOME
from entrolab.io.limits import KilledError, LimitError, Limits, within
from entrolab.io.parquet import write_frame
from entrolearn.path import describe

# A row's columns and their defaults. `reading` is "" for the value that a table shows, the name of the row
# on generated data, "oracle" for the best value that test rows select, or names another reading of the paper.
# A row without a value has the `status` "failed" or "no data", and the reason as `error`; if it names no
# model, metric or reading, it applies to all of them. The `error` of a row with a value is its footnote.
COLUMNS = {
    "model": "",
    "metric": "",
    "reading": "",
    "value": math.nan,
    "std": math.nan,
    "status": "ok",
    "error": "",
}

STATUSES = ("ok", "failed", "no data")

logger = logging.getLogger(__name__)


class ModelFailed(Exception):
    """A model has no measurement; the message is the error of its row."""


class Rows:
    """The data set of a measurement, as prepared and as the study scales it."""

    def __init__(self, raw: str = "", scaled: str = ""):
        self._files = raw, scaled

    @cached_property
    def raw(self) -> Dataset:
        """The data set as prepared."""
        return load_dataset(self._files[0])

    @cached_property
    def scaled(self) -> Dataset:
        """The data set as the study scales it."""
        return load_dataset(self._files[1])


def measure(path: Path, rows: Rows, at: Measurement, output: str) -> None:
    """Measure with the script at `path` and write its rows; failures and absent data are rows too.

    `output` is a parquet file with `COLUMNS`.
    """
    try:
        measured = frame(measured_by(load_script(path), rows, at))
    except DataUnavailable as absence:
        measured = frame([{"status": "no data", "error": str(absence)}])
    except KilledError:  # no result: the job fails, and the next run measures again
        raise
    except Exception as error:  # any exception becomes a row with its message
        logger.exception("the measurement failed")
        measured = frame([{"status": "failed", "error": describe(error)}])
    write_frame(output, measured)


def load_script(path: Path) -> ModuleType:
    """Import a script by a name under which a process that it starts finds its functions too."""
    path = path.resolve()
    root = HOME if path.is_relative_to(HOME / "workflow") else path.parent
    if str(root) not in sys.path:
        sys.path.append(str(root))
    name = ".".join(path.relative_to(root).with_suffix("").parts)
    module = importlib.import_module(name)
    if Path(module.__file__).resolve() != path:
        raise ImportError(f"{path}: {module.__file__} has the same name; rename the script")
    return module


def measured_by(script, rows: Rows, at: Measurement) -> list[dict]:
    """The rows that a script returns, given the parts of the study that `at` has for it."""
    parts = {name: getattr(at, name) for name in ("models", "steps", "grids", "protocol") if name in vars(at)}
    return list(script.measure(rows, at, **parts, **at.params))


def of_each_model(
    measured: Callable[[str, Mapping], Iterable[Mapping]],
    models: Mapping[str, Mapping],
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> list[dict]:
    """The rows of some models; a model that fails is a row with the reason.

    `measured` returns the rows of a model from its name and its entry in `models`.
    """
    rows: list[dict] = []
    for done, (name, model) in enumerate(models.items(), start=1):
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
        progress(done, len(models))
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
    """Rows as a frame with `COLUMNS`; columns have their types even without rows.

    Another key, or another status, is a `ValueError`.
    """
    rows = list(rows)
    for row in rows:
        if unknown := row.keys() - COLUMNS.keys():
            raise ValueError(f"found {min(unknown)!r} in a row; accepted: {', '.join(COLUMNS)}")
        if row.get("status", "ok") not in STATUSES:
            raise ValueError(f"found the status {row['status']!r} in a row; accepted: {', '.join(STATUSES)}")
    types = {name: "float64" if isinstance(default, float) else "str" for name, default in COLUMNS.items()}
    return pd.DataFrame([{**COLUMNS, **row} for row in rows], columns=list(COLUMNS)).astype(types)
