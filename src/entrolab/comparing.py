"""Compare the models of two studies of the same rows, fold by fold."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import t

from entrolab.claims.numbers import less_is_better
from entrolab.data.dataset import load_dataset, load_folds
from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.fit.run import BASELINE
from entrolab.io.files import FILES
from entrolab.results.reader import Results
from entrolab.schema.sections import ConfigError
from entrolab.study.study import Study
from entrolab.tables.evidence import of_folds

COLUMNS = ["dataset", "metric", "first", "second", "difference", "low", "high", "p"]
LEVEL = 0.95  # of the interval


def compare_studies(first: Study, second: Study, home: str = ".") -> pd.DataFrame:
    """The differences of two studies that were made in a folder.

    Parameters
    ----------
    first, second : Study
    home : path
        The folder with their ``results``.

    Returns
    -------
    DataFrame
        For each data set of the same name, or the only one of both, a row for the best models of both studies
        and for each model that both have: ``dataset``, ``metric`` (the first of the first study), ``first``
        and ``second`` (models), ``difference`` (positive if the first study is better; in points for shares),
        ``low`` and ``high`` (a 95 % interval), and ``p``, that of a two-sided t-test over folds with the
        corrected variance of Nadeau and Bengio (2003).

    Raises
    ------
    ConfigError
        If the studies have no data set in common, or other labels or folds of it.
    FileNotFoundError
        If one of them was not made in this folder.
    """
    pairs = [(name, name) for name in first.tasks if name in second.tasks]
    if not pairs and len(first.tasks) == len(second.tasks) == 1:
        pairs = [(*first.tasks, *second.tasks)]
    if not pairs:
        raise ConfigError(f"{second.file}: found no data set of {first.file}; accepted: the same names")
    rows = [row for pair in pairs for row in _differences((first, second), pair, home)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _differences(studies: tuple[Study, Study], datasets: tuple[str, str], home: str) -> Iterator[tuple]:
    """The rows of one data set, under its name in each study."""
    _check_folds(studies, datasets, home)
    first, second = studies
    metric = metrics_of(first.tasks[datasets[0]], first.metrics)[0]
    scores = [_scores(study, dataset, metric, home) for study, dataset in zip(studies, datasets, strict=True)]
    sign = -1 if less_is_better(metric) else 1
    best = [(sign * frame.mean()).drop(BASELINE, errors="ignore").idxmax() for frame in scores]
    common = [name for name in scores[0] if name in scores[1] and name != BASELINE]
    pairs = [tuple(best), *((name, name) for name in common)]
    protocol = first.protocol_of(datasets[0])
    ratio = protocol["test"] / protocol["train"] if "trials" in protocol else 1 / (protocol["folds"] - 1)
    for one, other in dict.fromkeys(pairs):
        found = of_folds(sign * (scores[0][one] - scores[1][other]).to_numpy(), ratio)
        width = found.error * t.ppf((1 + LEVEL) / 2, found.freedom)
        p = 2 * min(found.above(0.0), found.below(0.0), 0.5)
        yield datasets[0], metric, one, other, found.effect, found.effect - width, found.effect + width, p


def _check_folds(studies: tuple[Study, Study], datasets: tuple[str, str], home: str) -> None:
    """Raise an error unless both studies have the same labels and folds."""
    folds, labels = [], []
    for study, dataset in zip(studies, datasets, strict=True):
        files = {
            stage: f"{home}/{FILES[stage].format(study=study.name, seed=study.seed, dataset=dataset)}"
            for stage in ("data", "folds")
        }
        folds.append(load_folds(files["folds"]))
        labels.append(load_dataset(files["data"]).y)
    if not (np.array_equal(*folds) and np.array_equal(*labels)):
        first, second = studies
        raise ConfigError(
            f"{second.file}: {datasets[1]} has other labels or folds than in {first.file}; accepted: the "
            "same rows, labels, protocol and seed"
        )


def _scores(study: Study, dataset: str, metric: str, home: str) -> pd.DataFrame:
    """The scores of the first criterion, folds × models that have all of them."""
    results, factor = Results(study, home), 100 if METRICS[metric].percent else 1
    found = {}
    for of_dataset, model in study.runs():
        if of_dataset == dataset and results.record(dataset, model).get("success"):
            (_, rows), *_ = results.run(dataset, model).by_criterion()
            found[model] = factor * rows.set_index(["repeat", "fold"])[metric]
    return pd.DataFrame(found).dropna(axis=1)
