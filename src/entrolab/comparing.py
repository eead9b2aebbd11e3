"""Compare the models of two studies of the same rows, fold by fold."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd
from scipy.stats import t

from entrolab.claims.numbers import less_is_better
from entrolab.data.dataset import DataUnavailable, load_dataset, load_folds
from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.fit.protocols import protocol, splits
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
        and for each model that both have: ``dataset``, ``metric`` (the first that both have), ``first`` and
        ``second`` (models), ``difference`` (positive if the first study is better; in points for shares),
        ``low`` and ``high`` (a 95 % interval), and ``p``, that of a two-sided t-test over folds with the
        corrected variance of Nadeau and Bengio (2003), not corrected for choosing the best models by the same
        scores, nor for the number of rows.

    Raises
    ------
    ConfigError
        If one of the studies was not made in this folder, or they have no data set or metric in common, other
        labels or folds, or a single test part.
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
    assignments = _common_assignments(studies, datasets, home)
    first, second = studies
    scheme = protocol(first.protocol_of(datasets[0]))
    sizes = [(len(test), len(train)) for one in assignments for _, train, test in splits(scheme, one)]
    ratio = fmean(n_test / n_train for n_test, n_train in sizes)
    common = [one for one in metrics_of(first.tasks[datasets[0]], first.metrics) if one in second.metrics]
    if not common:
        raise ConfigError(f"{second.file}: metrics: found none of {first.file}; accepted: a common one")
    metric, sign = common[0], -1 if less_is_better(common[0]) else 1
    frames = [_scores(study, dataset, metric, home) for study, dataset in zip(studies, datasets, strict=True)]
    if len(frames[0]) < 2:
        raise ConfigError(f"{first.file}: found one test part; accepted: several, which a test needs")
    best = [(sign * frame.mean()).idxmax() for frame in frames]
    pairs = [tuple(best), *((name, name) for name in frames[0] if name in frames[1])]
    for one, other in dict.fromkeys(pairs):
        found = of_folds(sign * (frames[0][one] - frames[1][other]).to_numpy(), ratio)
        width = found.error * t.ppf((1 + LEVEL) / 2, found.freedom)
        interval = found.effect - width, found.effect + width
        yield datasets[0], metric, one, other, found.effect, *interval, found.two_sided(0.0)


def _common_assignments(studies: tuple[Study, Study], datasets: tuple[str, str], home: str) -> np.ndarray:
    """The part of each row in each repeat or trial; an error unless it is the same in both studies."""
    read = []
    for study, dataset in zip(studies, datasets, strict=True):
        at = {"study": study.name, "seed": study.seed, "dataset": dataset}
        try:
            data = load_dataset(Path(home, FILES["data"].format(**at)))
            read.append((data, load_folds(Path(home, FILES["folds"].format(**at)))))
        except (FileNotFoundError, DataUnavailable) as error:
            made = "accepted: a study that was made in this folder"
            raise ConfigError(f"{study.file}: {error}; {made}") from None
    (first, second), ((one, folds), (other, other_folds)) = studies, read
    same = [np.array_equal(folds, other_folds), np.array_equal(one.y, other.y)]
    if not all(same) or one.classes != other.classes:
        raise ConfigError(
            f"{second.file}: {datasets[1]} has other labels or folds than in {first.file}; accepted: the "
            "same rows, labels, protocol and seed"
        )
    return folds


def _scores(study: Study, dataset: str, metric: str, home: str) -> pd.DataFrame:
    """The scores by each model's first criterion, folds × models that have all of them, no baseline."""
    results, factor = Results(study, home), 100 if METRICS[metric].percent else 1
    found = {}
    for of_dataset, model in study.runs():
        criteria = study.models[model].criteria if model != BASELINE else ()
        if of_dataset == dataset and criteria and results.record(dataset, model).get("success"):
            rows = dict(results.run(dataset, model).by_criterion())[criteria[0]]
            found[model] = factor * rows.set_index(["repeat", "fold"])[metric]
    complete = pd.DataFrame(found).dropna(axis=1)
    if complete.empty:
        raise ConfigError(f"{study.file}: found no model with a score in every fold of {dataset}")
    return complete
