"""The first rows of data sets as images."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.data.dataset import Dataset, DataUnavailable, load_dataset
from entrolab.figure_types.drawing import Drawing
from entrolab.tables.types import one_line
from entrolearn.plotting import ImageGridDisplay, plot_panels

COLUMNS = ["dataset", "image", "series", "line", "column", "value", "reason"]
N_COLUMNS = 2
WIDTH = 12.0  # inches
HEIGHT = 0.6  # of a panel's width


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set: its first rows as images, each with its class.

    The sources are the scaled data sets.
    """
    panels = {
        dataset: _panel(source, spec["shapes"][dataset], spec["rows"])
        for dataset, source in zip(spec["datasets"], sources, strict=True)
    }
    table = pd.concat(
        [pixels(panel).assign(dataset=dataset) for dataset, panel in panels.items()], ignore_index=True
    )
    figure = plot_panels(panels, n_columns=N_COLUMNS, width=WIDTH, height=HEIGHT, common=False)
    return Drawing(figure, table[COLUMNS])


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """Which classes the images are of."""
    lines = []
    for dataset, rows in table[table["reason"] == ""].groupby("dataset", sort=False):
        captions = rows.drop_duplicates("image")["series"]
        height, width = spec["shapes"][dataset]
        lines.append(f"{dataset}, {height} x {width} pixels: {' '.join(captions)}")
    return "The first rows as images, dark where values are large, with their classes. " + "; ".join(lines)


def pixels(panel: ImageGridDisplay | str) -> pd.DataFrame:
    """Every pixel of a panel's images, one row per pixel."""
    if isinstance(panel, str):
        return pd.DataFrame([{"reason": one_line(panel)}], columns=COLUMNS[1:])
    number, height, width = np.shape(panel.images)
    image, line, column = (at.ravel() for at in np.indices((number, height, width)))
    return pd.DataFrame(
        {
            "image": image + 1,
            "series": np.repeat(panel.captions, height * width),
            "line": line + 1,
            "column": column + 1,
            "value": np.ravel(panel.images),
            "reason": "",
        }
    )


def _panel(source: str, shape: Sequence[int], n_rows: int) -> ImageGridDisplay | str:
    try:
        data = load_dataset(source)
        return ImageGridDisplay.from_rows(data.X[:n_rows], shape, captions=_captions(data, n_rows))
    except DataUnavailable as absence:
        return f"no data: {absence}"


def _captions(data: Dataset, n_rows: int) -> list[str]:
    if data.classes:
        return [data.classes[code] for code in data.y[:n_rows]]
    return [f"{value:g}" for value in data.y[:n_rows]]
