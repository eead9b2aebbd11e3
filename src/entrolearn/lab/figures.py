"""Figures: drawn from a study's data or candidates, each beside a csv of what is drawn.

Picture and csv come from the same arrays. What could not be drawn is said in both: absent data and failed
fits do not end a run.
"""

import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from entrolearn.lab.atomic import replacing
from entrolearn.lab.datasets import DataUnavailable, load_dataset
from entrolearn.lab.kinds import one_line
from entrolearn.lab.metrics import METRICS
from entrolearn.lab.records import read_json
from entrolearn.lab.registry import build
from entrolearn.lab.tables import look_up
from entrolearn.path import describe
from entrolearn.plotting import (
    GridCurveDisplay,
    ProcessDisplay,
    journal_style,
    plot_panels,
    process_axes,
    save_figure,
)

PERCENT = 100
CURVE_COLUMNS = ["dataset", "model", "parameter", "value", "mean", "std", "folds", "reason"]
PROCESS_COLUMNS = ["panel", "series", "x", "y", "reason"]
DENSITY_POINTS = 400

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Drawing:
    """A figure and the table of what it shows; the table's ``reason`` says why something is not there."""

    figure: Any
    table: pd.DataFrame


def make_figure(
    spec: Mapping, sources: Sequence[str], records: Sequence[str], outputs: Sequence[str]
) -> Drawing:
    """Draw the figure that `spec` asks for, by its kind (see `KINDS`), and write it.

    Parameters
    ----------
    spec : mapping
        As :func:`entrolearn.lab.config.figure_spec` gives it.
    sources : sequence of paths
        What the kind draws from: the scaled data set, or the candidates of each cell.
    records : sequence of paths
        The cells' records, which say why one has no candidates.
    outputs : sequence of paths
        Ending in ``.svg``, ``.png`` or ``.csv``.
    """
    draw = look_up(KINDS, spec["kind"], "kind of figure")
    with journal_style():
        drawing = draw(spec, sources, records)
        for output in outputs:
            with replacing(output) as temporary:
                if Path(output).suffix == ".csv":
                    drawing.table.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")
                else:
                    save_figure(drawing.figure, temporary)
    return drawing


# --- a machine's way from the input to its answer ------------------------------------------------------


def process(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
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
    table = pd.DataFrame([{"panel": "input", "series": "", "reason": reason}], columns=PROCESS_COLUMNS)
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


# --- scores over a grid --------------------------------------------------------------------------------


def grid_curves(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set, in it a curve per model: test scores against the values of one parameter."""
    cells = [(dataset, model) for dataset in spec["datasets"] for model in spec["models"]]
    curves = {
        cell: _curve(pd.read_parquet(source), read_json(record), spec)
        for cell, source, record in zip(cells, sources, records, strict=True)
    }
    panels = {
        dataset: _panel({model: curves[dataset, model] for model in spec["models"]}, spec)
        for dataset in spec["datasets"]
    }
    table = pd.concat([_curve_rows(*cell, curve, spec) for cell, curve in curves.items()], ignore_index=True)
    return Drawing(plot_panels(panels), table[CURVE_COLUMNS])


@dataclass(frozen=True)
class Curve:
    """One cell's scores in percent: a row per repeat and fold, a column per value; NaN where a fit failed.

    ``reasons`` has one text per value, or one in all where the cell has no candidate.
    """

    values: list
    scores: np.ndarray
    reasons: list[str]


def _curve(candidates: pd.DataFrame, record: Mapping, spec: Mapping) -> Curve:
    if not candidates["success"].any():
        kind, error = record["kind"], record["error"]
        return Curve([], np.empty((0, 0)), [one_line(f"{kind}: {error}" if kind not in error else error)])
    value = candidates["params"].map(lambda params: json.loads(params)[spec["parameter"]])
    score = candidates[f"test_{spec['metric']}"].where(candidates["success"])
    named = candidates.assign(value=value, score=_as_shown(score, spec["metric"]))
    scores = named.pivot(index=["repeat", "fold"], columns="value", values="score").sort_index(axis=1)
    failed = named[named["score"].isna()].groupby("value")["error"]
    first = failed.agg(lambda errors: Counter(errors).most_common(1)[0][0]).to_dict()
    return Curve(
        scores.columns.tolist(), scores.to_numpy(), [one_line(first.get(v, "")) for v in scores.columns]
    )


def _as_shown(scores: pd.Series, metric: str) -> pd.Series:
    return PERCENT * scores if METRICS[metric].percent else scores


def _score_name(metric: str) -> str:
    """A metric with its unit, as an axis names it."""
    return METRICS[metric].label + (", %" if METRICS[metric].percent else "")


def _in_words(metric: str) -> str:
    return METRICS[metric].label + (" in percent" if METRICS[metric].percent else "")


def _panel(curves: Mapping[str, Curve], spec: Mapping) -> GridCurveDisplay | str:
    if not any(curve.values for curve in curves.values()):
        return "; ".join(dict.fromkeys(curve.reasons[0] for curve in curves.values()))
    names = {model: one_line("{label} {sublabel}".format(**spec["models"][model])) for model in curves}
    return GridCurveDisplay(
        {names[model]: (curve.values, curve.scores) for model, curve in curves.items()},
        param_name=spec["parameter"],
        score_name=_score_name(spec["metric"]),
    )


def _curve_rows(dataset: str, model: str, curve: Curve, spec: Mapping) -> pd.DataFrame:
    """What is drawn of one curve; the mean of some folds alone is not drawn, and no number."""
    where = {"dataset": dataset, "model": model, "parameter": spec["parameter"]}
    if not curve.values:
        return pd.DataFrame([{**where, "folds": 0, "reason": curve.reasons[0]}], columns=CURVE_COLUMNS)
    mean, spread = GridCurveDisplay(
        {model: (curve.values, curve.scores)}, param_name="", score_name=""
    ).mean_and_spread(model)
    return pd.DataFrame(
        {
            **where,
            "value": curve.values,
            "mean": mean,
            "std": spread,
            "folds": np.isfinite(curve.scores).sum(axis=0),
            "reason": curve.reasons,
        }
    )


KINDS: dict[str, Callable[[Mapping, Sequence[str], Sequence[str]], Drawing]] = {
    "process": process,
    "grid_curves": grid_curves,
}


# --- in words ------------------------------------------------------------------------------------------


def alternative_text(spec: Mapping, table: pd.DataFrame) -> str:
    """What a reader who does not see the figure is told of it.

    Parameters
    ----------
    spec : mapping
        As :func:`entrolearn.lab.config.figure_spec` gives it.
    table : DataFrame
        The figure's csv.
    """
    return look_up(_TEXTS, spec["kind"], "kind of figure")(spec, table)


def _process_text(spec: Mapping, table: pd.DataFrame) -> str:
    if found := reasons(table):
        return "; ".join(found)
    thresholds = table.loc[table["series"] == "threshold", "x"]
    places = " and ".join(f"{threshold:.3g}" for threshold in thresholds) or "none"
    return (
        f"Four panels: the rows of {spec['dataset']} in the plane, the classes and their covariances in the "
        f"hidden space, the projected class densities (thresholds: {places}), and the decision regions."
    )


def _curves_text(spec: Mapping, table: pd.DataFrame) -> str:
    drawn = table.dropna(subset="mean")
    lines = [
        f"{dataset}, {one_line('{label} {sublabel}'.format(**spec['models'][model]))}: "
        f"{rows['mean'].iloc[0]:.1f} at {rows['value'].iloc[0]:g}, {rows['mean'].iloc[-1]:.1f} at "
        f"{rows['value'].iloc[-1]:g}"
        for (dataset, model), rows in drawn.groupby(["dataset", "model"], sort=False)
    ]
    return f"Mean {_in_words(spec['metric'])} against {spec['parameter']}. " + "; ".join(lines)


_TEXTS = {"process": _process_text, "grid_curves": _curves_text}


def reasons(table: pd.DataFrame) -> list[str]:
    """Why parts of a figure are not there, each different reason once, in the table's order."""
    found = table[table["reason"] != ""]
    if "dataset" not in table:
        return list(dict.fromkeys(found["reason"]))
    groups = found.groupby(["dataset", "model", "reason"], sort=False).size()
    return [
        f"{dataset}, {model}: {reason}" + (f" (at {times} values)" if times > 1 else "")
        for (dataset, model, reason), times in groups.items()
    ]


def read_figure(path: str | Path) -> pd.DataFrame:
    """Read a figure's csv file back."""
    table = pd.read_csv(path, dtype={"reason": str, "series": str})
    return table.fillna({"reason": "", "series": ""})
