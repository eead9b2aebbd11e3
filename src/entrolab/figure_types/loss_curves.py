"""How the objectives of the chosen models fell."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.figure_types.drawing import Drawing, cells_of, name_of_model, stored_model
from entrolab.io.model_io import load
from entrolab.io.records import read_json
from entrolab.tables.types import one_line
from entrolearn.path import describe
from entrolearn.plotting import LossCurvesDisplay, plot_panels

COLUMNS = ["dataset", "model", "iteration", "loss", "reason"]
N_COLUMNS = 2
WIDTH = 10.0  # inches

logger = logging.getLogger(__name__)


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set, a line per model: the chosen model that is fitted for good.

    The sources are the models, in the order of the figure's cells.
    """
    found = {
        cell: _losses(cell[1], stored, read_json(record), spec)
        for cell, stored, record in zip(cells_of(spec), sources, records, strict=True)
    }
    panels = {dataset: _panel(dataset, found, spec) for dataset in dict.fromkeys(of for of, _ in found)}
    figure = plot_panels(panels, n_columns=N_COLUMNS, width=WIDTH, common=False)
    return Drawing(figure, pd.concat([_rows(*at, losses) for at, losses in found.items()], ignore_index=True))


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """Where each line begins and ends."""
    lines = []
    for (dataset, model), rows in table.dropna(subset="loss").groupby(["dataset", "model"], sort=False):
        first, last = rows.iloc[0], rows.iloc[-1]
        lines.append(
            f"{dataset}, {name_of_model(spec, model)}: {first['loss']:.4g}, after {last['iteration']:.0f} "
            f"iterations {last['loss']:.4g}"
        )
    return "The objective after each iteration. " + "; ".join(lines)


def _losses(model: str, stored: str, record: Mapping, spec: Mapping) -> np.ndarray | str:
    fitted = stored_model(stored, record)
    if isinstance(fitted, str):
        return fitted
    try:
        curves = LossCurvesDisplay.from_estimators({model: load(fitted, spec["learners"][model])})
        return curves.losses[model]
    except Exception as error:  # a learner may be anything; the figure says what is wrong with it
        logger.exception("the objective of %s could not be drawn", model)
        return f"failed: {describe(error)}"


def _panel(dataset: str, found: Mapping, spec: Mapping) -> LossCurvesDisplay | str:
    mine = {model: losses for (of, model), losses in found.items() if of == dataset}
    curves = {
        name_of_model(spec, model): losses for model, losses in mine.items() if not isinstance(losses, str)
    }
    return LossCurvesDisplay(curves) if curves else "; ".join(dict.fromkeys(mine.values()))


def _rows(dataset: str, model: str, losses: np.ndarray | str) -> pd.DataFrame:
    where = {"dataset": dataset, "model": model}
    if isinstance(losses, str):
        return pd.DataFrame([{**where, "reason": one_line(losses)}], columns=COLUMNS)
    at = np.arange(1, len(losses) + 1)
    return pd.DataFrame({**where, "iteration": at, "loss": losses, "reason": ""}, columns=COLUMNS)
