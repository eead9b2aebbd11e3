"""Predict the rows of a new table by a model of a study that was made in a folder."""

from collections.abc import Collection
from pathlib import Path

import pandas as pd

from entrolab.claims.numbers import Numbers
from entrolab.claims.winners import Best, best
from entrolab.data.formats.table import frame_of
from entrolab.data.table_formats import DELIMITED, suffix_of
from entrolab.data.user_files import Source, checked_names, errors_of_reading
from entrolab.fit.learners import made_of
from entrolab.io.files import FILES
from entrolab.io.model_reading import load_fitted
from entrolab.schema.sections import ConfigError, check_known
from entrolab.study.study import Study


def predict(study: Study, file: Path, model: str = "", dataset: str = "", home: str = ".") -> pd.DataFrame:
    """The predictions of a study's refitted model for the rows of a file, in their order.

    Parameters
    ----------
    study : Study
    file : Path
        A table with the columns of the study's, which is read with the same options; more are ignored.
    model : str
        By default the best of the study's first table of scores by its first metric.
    dataset : str
        The study's table of which the model is; needed if it has several.
    home : path
        The folder with ``results``.

    Returns
    -------
    DataFrame
        ``prediction``, and for a classifier with probabilities ``probability_…`` of each class.

    Raises
    ------
    ConfigError
        If the study was not made in this folder, or the file does not fit.
    """
    dataset = dataset or _only(study, study.own_data)
    check_known(dataset, study.own_data, study.file, "predict", "data set of a table")
    if not file.is_file():
        raise ConfigError(f"{file}: found no such file; accepted: a table with the columns of {dataset}")
    try:
        best_model = None if model else best_on(Numbers(study, home), dataset)
        model = best_model.model if best_model else model
        if not model:
            raise ConfigError(
                f"{study.file}: no table ranks models on {dataset}; accepted: `--model` with one of them"
            )
        check_known(
            model, [name for of, name in study.runs() if of == dataset], study.file, "predict", "model"
        )
        if not study.models[model].criteria:
            raise ConfigError(f"{study.file}: {model} has no refit, since nothing is selected from its grid")
        path = FILES["models"].format(study=study.name, seed=study.seed, dataset=dataset, model=model)
        entry = study.models[model]
        fitted, *_ = load_fitted(f"{home}/{path}", entry.criteria[0], made_of(entry), study.model_format)
    except FileNotFoundError as error:
        raise ConfigError(
            f"{study.file}: not made in this folder, which has no {error.filename}; accepted: a study that "
            f"`entrolab {study.file}` has made"
        ) from None
    rows = _rows(study, dataset, file)
    try:
        found = pd.DataFrame({"prediction": fitted.predict(rows)})
        if hasattr(fitted, "predict_proba"):
            names = [f"probability_{name}" for name in fitted.classes_]
            found[names] = fitted.predict_proba(rows)
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from None
    return found


def _only(study: Study, datasets: Collection[str]) -> str:
    if len(datasets) != 1:
        raise ConfigError(
            f"{study.file}: found {len(datasets)} tables of its own; accepted: `--dataset` with one of "
            f"{', '.join(datasets)}"
            if datasets
            else f"{study.file}: found no table of its own; accepted: a study with a file of data"
        )
    return next(iter(datasets))


def best_on(numbers: Numbers, dataset: str) -> Best | None:
    """The best model of a data set in the first table that ranks models on it; the baseline is not ranked."""
    for name in numbers.study.score_tables(dataset):
        rows = numbers.results.table(name)
        rows = rows[rows["dataset"] == dataset]
        if len(rows) and (found := best(numbers, name, rows, rows["metric"].iloc[0])):
            return found
    return None


def _rows(study: Study, dataset: str, file: Path) -> pd.DataFrame:
    """The rows of a file, read as those of a study's table."""
    form = study.own_data[dataset]["format"]
    source = Source(Path(study.file), dataset, [file], form["read"])
    with errors_of_reading(source):
        names = checked_names(source, file)[0] if suffix_of(file) in DELIMITED else ()
        return frame_of(file, names, form["read"], form["keep_as_text"], form["text"])
