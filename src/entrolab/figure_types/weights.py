"""The weights of linear classifiers as images."""

import logging
from collections.abc import Mapping, Sequence

import pandas as pd

from entrolab.data.dataset import DataUnavailable, load_dataset
from entrolab.figure_types.drawing import (
    Drawing,
    cells_of,
    files_of_cells,
    name_of_model,
    stored_model,
    title_of,
)
from entrolab.figure_types.samples import pixels
from entrolab.io.model_io import load
from entrolab.io.records import read_json
from entrolearn.path import describe
from entrolearn.plotting import ImageGridDisplay, plot_panels

COLUMNS = ["dataset", "model", "image", "series", "line", "column", "value", "reason"]
N_COLUMNS = 2
N_ACROSS = 5  # images
WIDTH = 12.0  # inches
HEIGHT = 0.45  # of a panel's width

logger = logging.getLogger(__name__)


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set and model: the weights, class by class, of the chosen model fitted for good.

    The sources are, for each of them, the scaled rows, which know the names of the classes, and the model.
    """
    panels, parts = {}, []
    cells = zip(cells_of(spec), files_of_cells(spec, sources), records, strict=True)
    for (dataset, model), files, record in cells:
        panel = _panel(dataset, model, *files, read_json(record), spec)
        panels[title_of(spec, dataset, model)] = panel
        parts.append(pixels(panel).assign(dataset=dataset, model=model))
    figure = plot_panels(panels, n_columns=N_COLUMNS, width=WIDTH, height=HEIGHT, common=False)
    return Drawing(figure, pd.concat(parts, ignore_index=True)[COLUMNS])


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """The range of each model's weights."""
    lines = []
    for (dataset, model), rows in table[table["reason"] == ""].groupby(["dataset", "model"], sort=False):
        low, high = rows["value"].min(), rows["value"].max()
        lines.append(f"{dataset}, {name_of_model(spec, model)}: {low:.2g} to {high:.2g}")
    return "An image of the weights for each class: dark blue below zero, yellow above. " + "; ".join(lines)


def _panel(
    dataset: str, model: str, scaled: str, stored: str, record: Mapping, spec: Mapping
) -> ImageGridDisplay | str:
    fitted = stored_model(stored, record)
    if isinstance(fitted, str):
        return fitted
    try:
        return ImageGridDisplay.from_estimator(
            load(fitted, spec["learners"][model]),
            spec["shapes"][dataset],
            display_labels=load_dataset(scaled).classes,
            n_columns=N_ACROSS,
        )
    except DataUnavailable as absence:
        return f"no data: {absence}"
    except Exception as error:  # a learner may be anything; the figure says what is wrong with it
        logger.exception("the weights could not be drawn")
        return f"failed: {describe(error)}"
