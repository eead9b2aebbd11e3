"""Data sets and tasks of OpenML by number, downloaded once with the package ``openml``."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from entrolab.io.atomic import replacing
from entrolab.schema.sections import ConfigError
from entrolab.text import one_line

KEYS = {"openml": "data", "openml_task": "task"}  # key in a study's data set -> what its number identifies
KEPT_IN = Path("resources", "openml")
# Time limit of a download, because the package waits for a silent server forever.
FETCHING_SECONDS = 1800.0
TRIES = 3
ESTIMATED_BY = ("crossvalidation", "holdout")  # estimation procedures whose splits can be used
SPLIT = "test fold of repeat {}"  # name of a column of splits


def file_of(study: Path, key: str, own: Mapping) -> Path:
    """The file with a study's data set from OpenML, downloaded if it does not exist yet.

    `ConfigError` is raised if the package ``openml`` is not installed, or if the download fails; no file is
    kept then.
    """
    option = next(name for name in KEYS if name in own)
    path = KEPT_IN / f"{KEYS[option]}_{own[option]}.parquet"
    if path.is_file():
        return path
    where = f"{study}: datasets.{key}.{option}"
    if find_spec("openml") is None:
        raise ConfigError(f"{where}: the package openml is not installed: pip install 'entrolab[openml]'")
    from entrolab.io.limits import KilledError, LimitError, Limits, within

    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as cache, replacing(path) as temporary:
            for refused in within(Limits(FETCHING_SECONDS), _fetch, option, own[option], cache, temporary):
                raise ConfigError(f"{where}: {refused}")
    except (LimitError, KilledError, RuntimeError) as error:
        raise ConfigError(
            f"{where}: {own[option]} cannot be downloaded: {one_line(error, 300)}; accepted: a number known "
            "to OpenML, while its server responds"
        ) from None
    return path


def facts_of(path: Path) -> dict:
    """The metadata stored in a file: ``label``, ``title``, ``reference``, ``licence`` and ``splits``."""
    import pandas as pd

    return pd.read_parquet(path, columns=[]).attrs


def keep(path: Path, frame, facts: Mapping, splits=None) -> None:
    """Write a data set, its metadata from OpenML, and for each repeat the fold in which a row is tested.

    `splits` has the shape (n_repeats, n_samples), and -1 for rows that are not tested.
    """
    repeats = {SPLIT.format(number): folds for number, folds in enumerate(() if splits is None else splits)}
    frame = frame.assign(**repeats)
    frame.attrs = {**facts, "splits": list(repeats)}
    frame.to_parquet(path)


def divided_by(splits) -> dict[str, int]:
    """What a frame of a task's splits contains: folds and repeats, or trials with training and test rows."""
    repeats, n_folds = splits.shape[1], int(splits.to_numpy().max()) + 1
    if n_folds > 1:
        return {"folds": n_folds, "repeats": repeats}
    tested = int((splits.to_numpy()[:, 0] == 0).sum())
    return {"trials": repeats, "train": len(splits) - tested, "test": tested}


# ------------------------------------------------------------------------------------ in a process of its own


def _fetch(option: str, number: int, cache: str, path: Path) -> Iterator[str]:
    """Download a data set, or yield why its task cannot be used."""
    os.environ["OPENML_SKIP_PARQUET"] = "true"  # checksums are known only for the ARFF files
    import openml

    openml.config.set_root_cache_directory(cache)
    openml.config.set_retry_policy("human", n_retries=TRIES)
    task = None
    if option == "openml_task":
        task = openml.tasks.get_task(number, download_splits=False)
        procedure = task.estimation_procedure["type"]
        if procedure not in ESTIMATED_BY:
            accepted = " or ".join(ESTIMATED_BY)
            yield f"found {number}, whose estimation procedure is {procedure}; accepted: {accepted}"
            return
        number = task.dataset_id
    # Not as pickles, which is the default.
    data = openml.datasets.get_dataset(number, download_data=True, cache_format="feather")
    frame, *_ = data.get_data(dataset_format="dataframe")
    facts = {
        "label": data.default_target_attribute if task is None else task.target_name,
        "title": f"{data.name} (OpenML {number})",
        "reference": one_line(_reference(data), 2000),
        "licence": data.licence or "not stated",
    }
    splits = None if task is None else _splits(task, len(frame))
    keep(path, frame, facts, splits)


def _reference(data) -> str:
    """The requested citation, or else the creators of the data set, with its URL."""
    makers = data.creator if isinstance(data.creator, list) else [data.creator]
    named = data.citation or ", ".join(filter(None, makers)) or data.name
    return f"{named}; {data.openml_url or data.url}"


def _splits(task, n_rows: int):
    """The fold in which a task tests each row, for each repeat."""
    import numpy as np

    repeats = task.download_split().split
    found = np.full((len(repeats), n_rows), -1, dtype=np.int16)
    for repeat, folds in repeats.items():
        for fold, samples in folds.items():
            found[repeat, np.asarray(samples[0].test, dtype=int)] = fold
    return found
