"""The plane of support vector machines: what each keeps of its training rows."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.data.dataset import DataUnavailable, load_dataset, load_folds
from entrolab.figure_types.drawing import (
    Drawing,
    cells_of,
    files_of_cells,
    name_of_model,
    stored_model,
    title_of,
)
from entrolab.fit.protocols import protocol
from entrolab.io.model_io import load
from entrolab.io.records import read_json
from entrolab.tables.types import one_line
from entrolearn.path import describe
from entrolearn.plotting import SupportVectorDisplay, plot_panels

COLUMNS = ["dataset", "model", "series", "x", "y", "reason"]
N_COLUMNS = 3

logger = logging.getLogger(__name__)


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set and model: the chosen model that is fitted for good, among its training rows.

    The sources are, for each of them, the scaled rows, the parts and the model.
    """
    panels, parts = {}, []
    cells = zip(cells_of(spec), files_of_cells(spec, sources), records, strict=True)
    for (dataset, model), files, record in cells:
        panel = _panel(dataset, model, *files, read_json(record), spec)
        panels[title_of(spec, dataset, model)] = panel
        parts.append(_rows(panel).assign(dataset=dataset, model=model))
    table = pd.concat(parts, ignore_index=True)[COLUMNS]
    return Drawing(plot_panels(panels, n_columns=N_COLUMNS, width=10.0), table)


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """How many of its rows each machine keeps."""
    lines = []
    for (dataset, model), rows in table[table["reason"] == ""].groupby(["dataset", "model"], sort=False):
        kept = rows["series"].str.startswith("support vectors").sum()
        shown = kept + rows["series"].str.startswith("rows").sum()
        lines.append(f"{dataset}, {name_of_model(spec, model)}: {kept} of {shown}")
    return "Training rows in the plane, of which these are support vectors. " + "; ".join(lines)


def _panel(
    dataset: str, model: str, scaled: str, parts: str, stored: str, record: Mapping, spec: Mapping
) -> SupportVectorDisplay | str:
    fitted = stored_model(stored, record)
    if isinstance(fitted, str):
        return fitted
    try:
        data = load_dataset(scaled)
        rows, _ = protocol(spec["protocols"][dataset]).final_rows(load_folds(parts))
        machine = load(fitted, spec["learners"][model])
        return SupportVectorDisplay.from_estimator(
            machine, data.X[rows], data.y[rows], display_labels=data.classes
        )
    except DataUnavailable as absence:
        return f"no data: {absence}"
    except Exception as error:  # a learner may be anything; the figure says what is wrong with it
        logger.exception("the machine could not be drawn")
        return f"failed: {describe(error)}"


def _rows(panel: SupportVectorDisplay | str) -> pd.DataFrame:
    """Every point and line of a panel, one row per point."""
    if isinstance(panel, str):
        return pd.DataFrame([{"series": "", "x": np.nan, "y": np.nan, "reason": one_line(panel)}])
    kept = np.isin(np.arange(len(panel.X)), panel.support)
    series = [
        (f"{what} of {label}", panel.X[(panel.codes == c) & (kept == whether)])
        for c, label in enumerate(panel.display_labels)
        for what, whether in (("rows", False), ("support vectors", True))
    ]
    for name in ("boundary", "margins"):
        series += [(f"{name} {number}", line) for number, line in enumerate(panel.lines(name), start=1)]
    return pd.concat(
        [pd.DataFrame({"series": name, "x": at[:, 0], "y": at[:, 1], "reason": ""}) for name, at in series],
        ignore_index=True,
    )
