"""What clusterers make of the plane, side by side."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.data.dataset import Dataset, DataUnavailable, load_dataset
from entrolab.figure_types.drawing import Drawing, name_of_model
from entrolab.fit.learners import build
from entrolab.tables.types import one_line
from entrolearn.path import describe
from entrolearn.plotting import ClusteringsDisplay, clustering_axes

COLUMNS = ["dataset", "model", "x", "y", "class", "cluster", "ari", "reason"]

logger = logging.getLogger(__name__)


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """Data sets in rows, models in columns, each fitted to all rows of the plane.

    The sources are the scaled data sets.
    """
    sets = {dataset: _loaded(source) for dataset, source in zip(spec["datasets"], sources, strict=True)}
    found: dict[str, dict[str, np.ndarray | str]] = {dataset: {} for dataset in sets}
    for entry in spec["panels"]:
        data = sets[entry["dataset"]]
        found[entry["dataset"]][entry["model"]] = (
            data if isinstance(data, str) else _clusters(entry, data, spec["seed"])
        )
    there = {dataset: data for dataset, data in sets.items() if not isinstance(data, str)}
    display = ClusteringsDisplay(
        {dataset: data.X for dataset, data in there.items()},
        {dataset: data.y for dataset, data in there.items()},
        {
            dataset: {name_of_model(spec, model): clusters for model, clusters in of_set.items()}
            for dataset, of_set in found.items()
        },
    )
    display.plot(clustering_axes(len(sets), len(spec["models"])))
    parts = [
        _rows(display, dataset, name_of_model(spec, model)).assign(dataset=dataset, model=model)
        for dataset, of_set in found.items()
        for model in of_set
    ]
    return Drawing(display.figure_, pd.concat(parts, ignore_index=True)[COLUMNS])


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """How clusters agree with classes, set by set."""
    drawn = table[table["reason"] == ""].groupby(["dataset", "model"], sort=False)["ari"].first()
    lines = [
        f"{dataset}: "
        + ", ".join(f"{name_of_model(spec, model)} {ari:.2f}" for (_, model), ari in of_set.items())
        for dataset, of_set in drawn.groupby("dataset", sort=False)
    ]
    return "Clusters of points in the plane, with the adjusted Rand index. " + "; ".join(lines)


def _loaded(source: str) -> Dataset | str:
    try:
        return load_dataset(source)
    except DataUnavailable as absence:
        return f"no data: {absence}"


def _clusters(entry: Mapping, data: Dataset, seed: int) -> np.ndarray | str:
    try:
        return np.asarray(build(entry["learner"], seed).fit_predict(data.X))
    except Exception as error:  # a clusterer may fail in any way; the figure says how
        logger.exception("%s could not cluster %s", entry["model"], entry["dataset"])
        return f"failed: {describe(error)}"


def _rows(display: ClusteringsDisplay, dataset: str, name: str) -> pd.DataFrame:
    """Every point of a panel, with its class and its cluster."""
    clusters = display.clusterings[dataset][name]
    if isinstance(clusters, str):
        return pd.DataFrame([{"reason": one_line(clusters)}], columns=COLUMNS)
    return pd.DataFrame(
        {
            "x": display.points[dataset][:, 0],
            "y": display.points[dataset][:, 1],
            "class": display.classes[dataset],
            "cluster": clusters,
            "ari": display.agreement(dataset, name),
            "reason": "",
        }
    )
