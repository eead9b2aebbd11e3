"""Make studies and read their results from Python."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from entrolab.checks.running import COLUMNS as FINDINGS
from entrolab.claims.numbers import Numbers
from entrolab.command import file_of
from entrolab.fit.metrics import METRICS
from entrolab.io.commands import setting
from entrolab.io.files import HOME
from entrolab.predicting import best_on
from entrolab.results.reader import Results
from entrolab.schema.sections import ConfigError, shortened
from entrolab.study.config import Dumper, check_name, load_configuration, read_yaml
from entrolab.study.study import Study
from entrolab.text import one_line

LAST_LINES = 20  # of a failed run, in its error


class StudyError(RuntimeError):
    """A study could not be made; the message ends with what the workflow said last."""


@dataclass(frozen=True)
class StudyResults:
    """The results of a study.

    Attributes
    ----------
    name : str
    scores : DataFrame
        One row per data set, model, criterion, repeat, fold and metric: ``dataset``, ``model``,
        ``criterion``, ``repeat``, ``fold``, ``metric``, ``score``, and the chosen ``params``. Shares are
        fractions.
    summary : DataFrame
        One row per data set, model, criterion and metric: ``mean`` and ``std`` of the score over all folds
        (NaN if a fold has no score), and the number ``n`` of folds with a score.
    predictions : DataFrame
        One row per data set, model, repeat, fold, selected candidate and test row: ``row`` in the prepared
        data, ``y`` and ``prediction``; of two classes also ``decision`` and ``probability``.
    failures : DataFrame
        One row per run without a result: ``dataset``, ``model``, ``status``, ``error``.
    best : DataFrame
        One row per data set in a table of scores that compares models: ``dataset``, ``metric`` (the first of
        the table), ``model`` with the best mean, its ``score`` as the table shows it, and ``significant``,
        whether all other models are significantly worse. The baseline is not compared.
    findings : DataFrame
        One row per finding of the checks: ``code``, ``dataset``, ``model``, ``found``.
    report : Path
        The page of the study.
    """

    name: str
    scores: pd.DataFrame
    summary: pd.DataFrame
    predictions: pd.DataFrame
    failures: pd.DataFrame
    best: pd.DataFrame
    findings: pd.DataFrame
    report: Path


def run_study(
    study,
    *,
    label: str | None = None,
    models: Mapping | None = None,
    name: str | None = None,
    folder: str | os.PathLike = ".",
    cores: int | None = None,
    settings: Mapping | None = None,
    echo: bool = False,
) -> StudyResults:
    """Make a study as the command ``entrolab`` does, and return its results.

    Parameters
    ----------
    study : path, str, mapping or data frame
        A study's file, the name of one of the project's studies, a table with a column `label`, or the
        content of a study, which is written to the file `name` in `folder`; the paths of its tables are
        relative to that. Tables, also as ``file`` in the content, may be data frames of pandas, Polars or
        Arrow, which are written to Parquet files.
    label : str, optional
        The column to predict of a data frame.
    models : mapping, optional
        The models for a data frame, by name: import paths, or mappings as in a study's file.
    name : str, optional
        Of a study that is a mapping or a data frame; by default "study" for a data frame.
    folder : path
        Where ``results``, ``logs`` and the store are; what is there already is not made again.
    cores : int, optional
        All by default.
    settings : mapping, optional
        Such as ``{"seed": 1}``, see config/config.yaml.
    echo : bool
        Whether to print what the workflow says.

    Raises
    ------
    ConfigError
        If there is no such study.
    StudyError
        If the workflow refuses the study, or fails.

    Examples
    --------
    >>> run_study("mine.yaml").summary  # doctest: +SKIP
    >>> run_study(frame, label="churn", models={"svm": "sklearn.svm.SVC"}).best  # doctest: +SKIP
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if is_frame := hasattr(study, "columns"):
        name = name or "study"
        study = {"datasets": {name: {"file": study, "label": label}}, "models": models}
    if is_frame and None in (label, models) or not is_frame and (label, models) != (None, None):
        raise ConfigError("label, models: accepted: both with a data frame, neither with a study")
    if isinstance(study, Mapping):
        study = _written(study, name, folder)
    file = file_of(study)
    name, named = file.stem, file.stem if _is_shipped(file) else os.path.relpath(file, folder)
    command = [sys.executable, "-c", "from entrolab.command import main; main()"]
    command += ["run", named, "--cores", str(cores or "all")]
    command += ["--config", *(setting(key, value) for key, value in settings.items())] if settings else []
    pipe = None if echo else subprocess.PIPE
    done = subprocess.run(
        command, cwd=folder, stdout=pipe, stderr=pipe and subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        said = "\n".join((done.stdout or "").strip().splitlines()[-LAST_LINES:])
        raise StudyError(f"the study {name!r} was not made\n{said}")
    return load_results(study, folder=folder, settings=settings)


def _written(study: Mapping, name: str | None, folder: Path) -> Path:
    """The file of a study that is given by its content; written only where it changes."""
    if name is None:
        raise ConfigError("name: found None for a study that is a mapping; accepted: the study's name")
    file = folder / f"{name}.yaml"
    check_name(file)
    datasets = study.get("datasets")
    if not isinstance(datasets, Mapping):
        raise ConfigError(f"datasets: found {datasets!r}; accepted: a mapping of names to data sets")
    datasets = {key: _in_files(one, folder / f"{name}_{key}") for key, one in datasets.items()}
    content = {**study, "datasets": datasets}
    try:
        text = yaml.dump(content, Dumper=Dumper, sort_keys=False, allow_unicode=True)
    except yaml.representer.RepresenterError as error:
        found = shortened(error.args[-1])
        raise ConfigError(f"{name}: found {found}; accepted: texts, numbers, lists and mappings") from None
    _write_changed(file, text.encode())
    return file


def _in_files(data, path: Path):
    """A study's data set, whose data frames are written to Parquet files."""
    if not isinstance(data, Mapping):
        return data
    frames = {key: one for key, one in data.items() if hasattr(one, "columns")}
    written = {}
    for key, frame in frames.items():
        written[key] = f"{path.name}_{key}.parquet"
        table, content = frame.to_pandas() if hasattr(frame, "to_pandas") else frame, BytesIO()
        try:
            table.to_parquet(content)
        except (TypeError, ValueError, OSError) as error:
            raise ConfigError(
                f"datasets.{key}: {one_line(error)}; accepted: a data frame that Parquet can hold"
            ) from None
        _write_changed(path.with_name(written[key]), content.getvalue())
    return {**data, **written}


def _write_changed(file: Path, content: bytes) -> None:
    if not file.exists() or file.read_bytes() != content:
        file.write_bytes(content)


def _is_shipped(file: Path) -> bool:
    return file.resolve().parent == (HOME / "config" / "papers").resolve()


def load_results(
    study: str | os.PathLike, *, folder: str | os.PathLike = ".", settings: Mapping | None = None
) -> StudyResults:
    """The results of a study that was made in a folder.

    Parameters
    ----------
    study, folder, settings
        As of :func:`run_study`, `study` by its file or its name.

    Raises
    ------
    ConfigError
        If there is no such study, or it cannot be run.
    FileNotFoundError
        If it was not made in this folder.
    """
    file = file_of(study)
    config = read_yaml(HOME / "config" / "config.yaml")
    config |= dict(settings or {})
    if not _is_shipped(file):
        config["extra_studies"] = str(file.parent.absolute())
    studies, _ = load_configuration(HOME, config)
    definition = studies[file.stem]
    results = Results(definition, folder)
    scores, predictions, failures = [], [], []
    for dataset, model in definition.runs():
        contents = results.run(dataset, model)
        place = {"dataset": dataset, "model": model}
        if not contents.record["success"]:
            failures.append(place | {"status": contents.record["status"], "error": contents.record["error"]})
            continue
        scores.append(contents.scores.assign(**place))
        predictions.append(results.predictions(dataset, model).assign(**place))
    return _results(results, scores, predictions, failures)


def _results(results: Results, scores: list, predictions: list, failures: list) -> StudyResults:
    study = results.study
    at = ["dataset", "model", "criterion", "repeat", "fold"]
    metrics = [metric for metric in METRICS if metric in study.metrics]
    tidy = [
        frame.melt([*at, "params"], [one for one in metrics if one in frame], "metric", "score")
        for frame in scores
    ]
    whole = (
        pd.concat(tidy, ignore_index=True)
        if tidy
        else pd.DataFrame(columns=[*at, "params", "metric", "score"])
    )
    by = whole.groupby(["dataset", "model", "criterion", "metric"], sort=False)["score"]
    summary = by.agg(["mean", "std", "count", "size"])
    # As in tables, the mean of the other folds is not comparable.
    summary.loc[summary["count"] < summary["size"], ["mean", "std"]] = np.nan
    summary = summary.drop(columns="size").rename(columns={"count": "n"}).reset_index()
    kept = pd.concat(predictions, ignore_index=True) if predictions else pd.DataFrame(columns=at[:2])
    return StudyResults(
        study.name,
        whole[[*at, "metric", "score", "params"]],
        summary,
        kept[["dataset", "model", *(one for one in kept if one not in ("dataset", "model"))]],
        pd.DataFrame(failures, columns=["dataset", "model", "status", "error"]),
        _best(study, results.home),
        pd.DataFrame(columns=FINDINGS) if (found := results.findings()) is None else found,
        Path(results.home, "results", "report", f"{study.name}.html"),
    )


def _best(study: Study, home: Path) -> pd.DataFrame:
    numbers = Numbers(study, home)
    found = [(dataset, best_on(numbers, dataset)) for dataset in study.datasets_of_runs()]
    rows = [(dataset, one.metric, one.model, one.score, one.is_significant) for dataset, one in found if one]
    return pd.DataFrame(rows, columns=["dataset", "metric", "model", "score", "significant"])
