"""How the errors of learners gather while they learn."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.data.dataset import DataUnavailable, load_dataset
from entrolab.figure_types.drawing import Drawing, name_of_model, title_of
from entrolab.fit.learners import build
from entrolab.tables.types import one_line
from entrolearn.path import describe
from entrolearn.plotting import ErrorDensityDisplay, plot_panels

COLUMNS = ["dataset", "model", "epochs", "error", "density", "mean", "std", "reason"]
N_COLUMNS = 3
WIDTH = 10.0  # inches

logger = logging.getLogger(__name__)


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set and model, a line for each number of epochs that it is fitted for.

    The sources are the scaled data sets; a model is fitted to all rows, each time from the same start.
    """
    files = dict(zip(spec["datasets"], sources, strict=True))
    panels, parts = {}, []
    for entry in spec["panels"]:
        panel = _panel(entry, files[entry["dataset"]], spec)
        panels[title_of(spec, entry["dataset"], entry["model"])] = panel
        parts.append(_rows(panel).assign(dataset=entry["dataset"], model=entry["model"]))
    figure = plot_panels(panels, n_columns=N_COLUMNS, width=WIDTH, common=False)
    return Drawing(figure, pd.concat(parts, ignore_index=True)[COLUMNS])


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """The spread of the errors at the first and at the last time."""
    lines = []
    for (dataset, model), rows in table[table["reason"] == ""].groupby(["dataset", "model"], sort=False):
        first, last = rows.iloc[0], rows.iloc[-1]
        lines.append(
            f"{dataset}, {name_of_model(spec, model)}: {first['std']:.3g} after {first['epochs']:.0f}, "
            f"{last['std']:.3g} after {last['epochs']:.0f}"
        )
    return "Densities of the errors after some epochs. Their standard deviation: " + "; ".join(lines)


def _panel(entry: Mapping, scaled: str, spec: Mapping) -> ErrorDensityDisplay | str:
    try:
        data = load_dataset(scaled)
        learner = build(entry["learner"], spec["seed"])
        return ErrorDensityDisplay.from_estimator(learner, data.X, data.y, epochs=spec["epochs"])
    except DataUnavailable as absence:
        return f"no data: {absence}"
    except Exception as error:  # a learner may fail in any way; the figure says how
        logger.exception("%s could not be fitted and drawn", entry["model"])
        return f"failed: {describe(error)}"


def _rows(panel: ErrorDensityDisplay | str) -> pd.DataFrame:
    """Every line of a panel, one row per point, with the mean and the deviation of the errors themselves."""
    if isinstance(panel, str):
        return pd.DataFrame([{"reason": one_line(panel)}], columns=COLUMNS)
    at = panel.places()
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "epochs": epochs,
                    "error": at,
                    "density": panel.density(epochs, at),
                    "mean": np.mean(errors),
                    "std": np.std(errors),
                    "reason": "",
                }
            )
            for epochs, errors in panel.errors.items()
        ],
        ignore_index=True,
    )
