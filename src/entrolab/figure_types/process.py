"""A machine's way from the input to its answer."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.data.dataset import DataUnavailable, load_dataset
from entrolab.figure_types.drawing import Drawing
from entrolab.fit.learners import build
from entrolab.tables.types import one_line
from entrolearn.path import describe
from entrolearn.plotting import ProcessDisplay, plot_panels, process_axes

COLUMNS = ["panel", "series", "x", "y", "reason"]
DENSITY_POINTS = 400

logger = logging.getLogger(__name__)


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """Fit one machine on all rows of a plane, and follow them through it."""
    (source,) = sources
    try:
        display = _fitted_process(spec, load_dataset(source))
    except DataUnavailable as absence:
        return _no_process(f"no data: {absence}")
    except Exception as error:  # a learner may fail in any way; the figure says how
        logger.exception("the machine could not be fitted and drawn")
        return _no_process(f"failed: {describe(error)}")
    display.plot(process_axes())
    return Drawing(display.figure_, process_table(display))


def _fitted_process(spec: Mapping, dataset) -> ProcessDisplay:
    X = pd.DataFrame(dataset.X, columns=dataset.feature_names)
    machine = build(spec["model"], spec["seed"]).fit(X, dataset.y)
    return ProcessDisplay.from_estimator(machine, X, dataset.y, display_labels=dataset.classes)


def _no_process(reason: str) -> Drawing:
    reason = one_line(reason)
    table = pd.DataFrame([{"panel": "input", "series": "", "reason": reason}], columns=COLUMNS)
    return Drawing(plot_panels({"": reason}), table)


def process_table(display: ProcessDisplay) -> pd.DataFrame:
    """Every point and line of a :class:`~entrolearn.plotting.ProcessDisplay`, one row per point.

    Returns
    -------
    DataFrame
        ``panel`` (input, hidden, projected, boundary), ``series`` (what is drawn there), ``x``, ``y`` (empty
        for what has a place on the projected line alone), ``reason`` (empty).
    """
    hidden, projected = display.hidden, display.projected
    line = np.linspace(*projected.span(), DENSITY_POINTS)
    parts = []
    for c, label in enumerate(display.display_labels):
        rows = display.codes == c
        parts += [
            _points("input", f"rows of {label}", display.X[rows]),
            _points("hidden", f"rows of {label}", hidden.coordinates[rows]),
            _points("hidden", f"mean of {label}", hidden.means[[c]]),
            *(_points("hidden", f"{sd} sd of {label}", hidden.ellipse(c, sd)) for sd in (1, 2)),
            _points("projected", f"rows of {label}", np.column_stack([projected.projected[c]])),
            _points("projected", f"density of {label}", np.column_stack([line, projected.density(c, line)])),
        ]
    parts.append(_points("projected", "threshold", np.column_stack([projected.thresholds])))
    for number, points in enumerate(display.boundary_lines(), start=1):
        parts.append(_points("boundary", f"line {number}", points))
    return pd.concat(parts, ignore_index=True)


def _points(panel: str, series: str, points: np.ndarray) -> pd.DataFrame:
    y = points[:, 1] if points.shape[1] > 1 else np.full(len(points), np.nan)
    return pd.DataFrame({"panel": panel, "series": series, "x": points[:, 0], "y": y, "reason": ""})


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """What the figure shows, or why it shows nothing."""
    if missing := [reason for reason in table["reason"] if reason]:
        return "; ".join(missing)
    thresholds = table.loc[table["series"] == "threshold", "x"]
    places = " and ".join(f"{threshold:.3g}" for threshold in thresholds) or "none"
    return (
        f"Four panels: the rows of {spec['dataset']} in the plane, the classes and their covariances in the "
        f"hidden space, the projected class densities (thresholds: {places}), and the decision regions."
    )
