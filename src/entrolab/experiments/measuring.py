"""Measuring what a table asks of a data set, from files to a file.

Each experiment has a module with a function ``measure(load, spec, progress)``: `load` gives the data set for
"raw" or "scaled" (data that are made for a measurement need none), `spec` is that of
:func:`entrolab.study.job_specs.measurement_spec`, `progress` takes the number of parts done and of all parts.
It returns rows, mappings with some of the keys of `COLUMNS`.
"""

import importlib
import logging
import math
from collections.abc import Callable, Iterable, Mapping

import pandas as pd

from entrolab.data.dataset import DataUnavailable, load_dataset
from entrolab.fit.limits import KilledError
from entrolab.io.parquet import write_frame
from entrolearn.path import describe

# A row's columns and their defaults. A row without a value has the `status` "failed" or
# "no data" and an `error`; if it names no model or no metric, it is about all of them. `reading` is "" for
# what the table shows.
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


def measure(raw: str, scaled: str, output: str, spec: Mapping, progress: Callable[[int, int], None]) -> None:
    """Measure by the module that `spec` names, and write the rows; failure and absent data are rows too.

    Parameters
    ----------
    raw, scaled : path
        The data set as prepared, and as the study scales it.
    output : path
        A parquet file with `COLUMNS`.
    spec : mapping
        As :func:`entrolab.study.job_specs.measurement_spec` gives it.
    progress : callable
        Called with what is done and what is to be done in all.
    """
    files = {"raw": raw, "scaled": scaled}
    measure = importlib.import_module(spec["measured_by"]).measure
    try:
        rows = measure(lambda which: load_dataset(files[which]), spec, progress)
    except DataUnavailable as absence:
        rows = [{"status": "no data", "error": str(absence)}]
    except KilledError:  # no result: the job fails, and the next run measures again
        raise
    except Exception as error:  # what is measured may fail in any way; the row says how
        logger.exception("the measurement failed")
        rows = [{"status": "failed", "error": describe(error)}]
    write_frame(output, frame(rows))


def of_each_model(
    measured: Callable[[str, Mapping], Iterable[Mapping]], spec: Mapping, progress: Callable[[int, int], None]
) -> list[dict]:
    """The rows of every model of a measurement; a model that fails is a row with the reason.

    Parameters
    ----------
    measured : callable
        From the name and the entry of a model to its rows.
    spec : mapping
        ``models``.
    progress : callable
    """
    rows: list[dict] = []
    for done, (name, model) in enumerate(spec["models"].items(), start=1):
        try:
            found = list(measured(name, model))
        except Exception as error:  # what is measured may fail in any way; the row says how
            logger.exception("%s failed", name)
            found = [{"status": "failed", "error": describe(error)}]
        rows += [{"model": name, **row} for row in found]
        progress(done, len(spec["models"]))
    return rows


def frame(rows: Iterable[Mapping]) -> pd.DataFrame:
    """Rows as a table of `COLUMNS`, typed also where there is no row."""
    types = {name: "float64" if isinstance(default, float) else "str" for name, default in COLUMNS.items()}
    return pd.DataFrame([{**COLUMNS, **row} for row in rows], columns=list(COLUMNS)).astype(types)
