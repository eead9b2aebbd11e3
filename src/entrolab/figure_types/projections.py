"""Rows in the planes of some projections, with the densities of their classes."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.data.dataset import DataUnavailable, load_dataset
from entrolab.figure_types.drawing import Drawing, title_of
from entrolab.fit.learners import build
from entrolab.tables.types import one_line
from entrolearn.path import describe
from entrolearn.plotting import ProjectionDisplay, plot_panels

COLUMNS = ["dataset", "model", "series", "row", "x", "y", "reason"]
N_COLUMNS = 3
ROWS = "rows of "  # how the series of a class's rows begins

logger = logging.getLogger(__name__)


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set and model: the projection, fitted to all rows, and the rows in its plane.

    The sources are the scaled data sets.
    """
    files = dict(zip(spec["datasets"], sources, strict=True))
    panels, parts = {}, []
    for entry in spec["panels"]:
        panel = _panel(entry, files[entry["dataset"]], spec["seed"])
        panels[_title(entry, spec)] = panel
        parts.append(_rows(panel).assign(dataset=entry["dataset"], model=entry["model"]))
    _name_alike([panel for panel in panels.values() if not isinstance(panel, str)])
    # Each plane has units of its own.
    figure = plot_panels(panels, n_columns=N_COLUMNS, width=9.0, common=False)
    return Drawing(figure, pd.concat(parts, ignore_index=True)[COLUMNS])


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """How far apart the centres of the classes are."""
    lines = []
    for entry in spec["panels"]:
        classes = [rows[["x", "y"]].to_numpy() for rows in _classes(table, entry).values()]
        if len(classes) > 1:
            lines.append(f"{_title(entry, spec)}: {_distance(classes):.1f}")
    return (
        "Rows in the plane, class by class, with density contours. How many standard deviations the nearest "
        "classes' means are apart: " + "; ".join(lines)
    )


def to_hover(
    spec: Mapping, table: pd.DataFrame, sources: Sequence[str]
) -> dict[str, ProjectionDisplay | str]:
    """The same panels, of rows that tell their features as they were before they were scaled.

    The sources are the data sets as prepared.
    """
    files = dict(zip(spec["datasets"], sources, strict=True))
    return {
        _title(entry, spec): _panel_to_hover(entry, files[entry["dataset"]], table)
        for entry in spec["panels"]
    }


def _title(entry: Mapping, spec: Mapping) -> str:
    return title_of(spec, entry["dataset"], entry["model"])


def _panel(entry: Mapping, scaled: str, seed: int) -> ProjectionDisplay | str:
    try:
        data = load_dataset(scaled)
        projection = build(entry["learner"], seed).fit(data.X, data.y)
        return ProjectionDisplay.from_estimator(projection, data.X, data.y, display_labels=data.classes)
    except DataUnavailable as absence:
        return f"no data: {absence}"
    except Exception as error:  # a projection may fail in any way; the figure says how
        logger.exception("%s could not be drawn", entry["model"])
        return f"failed: {describe(error)}"


def _name_alike(displays: Sequence[ProjectionDisplay]) -> None:
    """One legend is for all panels: the classes of different data sets are called alike in it."""
    if len({tuple(display.display_labels) for display in displays}) < 2:
        return
    most = max(len(display.display_labels) for display in displays)
    names = ("negative", "positive") if most == 2 else [f"class {c}" for c in range(1, most + 1)]
    for display in displays:
        display.display_labels = names[: len(display.display_labels)]


def _panel_to_hover(entry: Mapping, prepared: str, table: pd.DataFrame) -> ProjectionDisplay | str:
    classes = _classes(table, entry)
    if not classes:
        return _of_panel(table, entry)["reason"].iloc[0]
    data = load_dataset(prepared)
    shown = pd.concat(classes.values()).astype({"row": int}).sort_values("row")
    codes = shown["series"].map({ROWS + label: code for code, label in enumerate(data.classes)})
    return ProjectionDisplay(
        shown[["x", "y"]].to_numpy(),
        codes.to_numpy(),
        display_labels=data.classes,
        row_names=shown["row"].to_numpy(),
        features=data.X[shown["row"].to_numpy()],
        feature_names=data.feature_names,
    )


def _of_panel(table: pd.DataFrame, entry: Mapping) -> pd.DataFrame:
    return table[(table["dataset"] == entry["dataset"]) & (table["model"] == entry["model"])]


def _classes(table: pd.DataFrame, entry: Mapping) -> dict[str, pd.DataFrame]:
    """The rows of each class in a panel, by their series; none where there is no panel."""
    mine = _of_panel(table, entry)
    return dict(iter(mine[mine["series"].str.startswith(ROWS)].groupby("series", sort=False)))


def _distance(classes: Sequence[np.ndarray]) -> float:
    """Between the means of the two nearest classes, in deviations of the rows around their class's mean."""
    means = np.array([rows.mean(axis=0) for rows in classes])
    around = np.vstack([rows - mean for rows, mean in zip(classes, means, strict=True)])
    # The coordinates in which rows have unit variance around their means; where they are on a line, on that.
    _, lengths, axes = np.linalg.svd(around / np.sqrt(len(around)), full_matrices=False)
    wide = lengths > 1e-12 * lengths[0]
    white = means @ axes[wide].T / lengths[wide]
    return min(float(np.linalg.norm(one - other)) for k, one in enumerate(white) for other in white[k + 1 :])


def _rows(panel: ProjectionDisplay | str) -> pd.DataFrame:
    """Every row and contour of a panel, one row per point."""
    if isinstance(panel, str):
        empty = {"series": "", "row": np.nan, "x": np.nan, "y": np.nan}
        return pd.DataFrame([{**empty, "reason": one_line(panel)}])
    parts = []
    for c, label in enumerate(panel.display_labels):
        rows = np.flatnonzero(panel.codes == c)
        parts.append(_points(f"{ROWS}{label}", panel.coordinates[rows]).assign(row=rows))
        contours = enumerate(panel.contours(c), start=1)
        parts += [_points(f"contour {number} of {label}", line) for number, line in contours]
    return pd.concat(parts, ignore_index=True)


def _points(series: str, at: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"series": series, "row": np.nan, "x": at[:, 0], "y": at[:, 1], "reason": ""})
