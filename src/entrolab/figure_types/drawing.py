"""What kinds of figures share: drawings, scores as they are shown, and the candidates of a grid."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from entrolab.fit.metrics import METRICS
from entrolab.io.records import read_json
from entrolab.tables.types import one_line

PERCENT = 100


@dataclass(frozen=True)
class Drawing:
    """A figure and the table of what it shows; the table's ``reason`` says why something is not there."""

    figure: Any
    table: pd.DataFrame


@dataclass(frozen=True)
class Grid:
    """One cell's scores over its grid, as they are shown; NaN where a fit failed.

    Attributes
    ----------
    points : list of tuple
        Values of the parameters, ascending.
    scores : ndarray, shape (n_fits, n_points)
        A row per repeat and fold.
    reasons : list of str
        One per point, or one in all where the cell has no candidate.
    """

    points: list[tuple]
    scores: np.ndarray
    reasons: list[str]


def grid_of(candidates: pd.DataFrame, record: Mapping, names: Sequence[str], metric: str) -> Grid:
    """The test scores of a cell's candidates over the parameters `names`, which are all that its grid has."""
    if not candidates["success"].any():
        return Grid([], np.empty((0, 0)), [trouble_of(record)])
    params = candidates["params"].map(json.loads)
    points = pd.Series([tuple(one[name] for name in names) for one in params], index=candidates.index)
    score = as_shown(candidates[f"test_{metric}"].where(candidates["success"]), metric)
    named = candidates.assign(value=points, score=score)
    scores = named.pivot(index=["repeat", "fold"], columns="value", values="score").sort_index(axis=1)
    failed = named[named["score"].isna()].groupby("value")["error"]
    first = failed.agg(lambda errors: Counter(errors).most_common(1)[0][0]).to_dict()
    found = scores.columns.tolist()
    return Grid(found, scores.to_numpy(), [one_line(first.get(point, "")) for point in found])


def mean_of_all(scores: np.ndarray) -> np.ndarray:
    """Means over the fits, NaN where one of them failed."""
    return scores.mean(axis=0) if scores.size else np.empty(0)


def trouble_of(record: Mapping) -> str:
    """Why a cell has nothing to show."""
    kind, error = record["kind"], record["error"]
    return one_line(f"{kind}: {error}" if kind not in error else error)


def stored_model(file: str, record: Mapping) -> Path | str:
    """The file of the refitted model, or why it holds none."""
    if not record["success"]:
        return trouble_of(record)
    fitted = Path(file)
    return fitted if fitted.stat().st_size else one_line(read_json(fitted.with_suffix(".json"))["error"])


def as_shown(scores, metric: str):
    """Scores in percent, or as they are."""
    return PERCENT * scores if METRICS[metric].percent else scores


def score_name(metric: str) -> str:
    """A metric with its unit, as an axis names it."""
    return METRICS[metric].label + (", %" if METRICS[metric].percent else "")


def score_in_words(metric: str) -> str:
    return METRICS[metric].label + (" in percent" if METRICS[metric].percent else "")


def name_of_model(spec: Mapping, model: str) -> str:
    return one_line("{label} {sublabel}".format(**spec["models"][model]))


def title_of(spec: Mapping, dataset: str, model: str) -> str:
    """What heads the panel of a data set and a model: the data set only where there are several."""
    name = name_of_model(spec, model)
    return name if len(spec["datasets"]) == 1 else f"{dataset}, {name}"


def cells_of(spec: Mapping) -> list[tuple[str, str]]:
    """The (data set, model) pairs that a figure shows, in the order of its sources."""
    return [tuple(cell) for cell in spec["cells"]]


def files_of_cells(spec: Mapping, sources: Sequence[str]) -> list[tuple[str, ...]]:
    """The sources of each of a figure's cells."""
    return list(zip(*[iter(sources)] * (len(sources) // len(spec["cells"])), strict=True))
