"""Optima of random starts, a panel per data set: histograms, or the expected best of several starts."""

from typing import Literal

import numpy as np
import pandas as pd

from entrolab.figures.drawing import Line, draw_lines
from entrolab.text import one_line
from entrolearn.plotting import ExpectedMaximumDisplay, StartsDisplay

OBJECTIVE = "divergence"
COLUMNS = ["objective", "seconds", "evaluations"]  # of a start


def draw(files, *, against: Literal["starts", "seconds"] = None):
    """Draw a figure of a measured table of starts.

    `against`: the expected best in percent of the best of all, against the number or the seconds of starts.
    """
    found = {
        (source.dataset, model): starts_of(source.frame("measured"), model)
        for source in files
        for model in files.spec.models
    }
    names = {model: files.spec.name_of(model) for model in files.spec.models}
    layout = {"empty": None, "n_columns": 5, "width": 11.0}
    if against is None:
        lines = {
            (dataset, model, names[model]): histogram(starts) for (dataset, model), starts in found.items()
        }
        display = lambda dataset, lines: StartsDisplay(lines, objective_name=OBJECTIVE)  # noqa: E731
        return draw_lines(lines, display, common=False, **layout)

    lines, costs = {}, {}
    for (dataset, model), starts in found.items():
        costs[dataset, names[model]] = cost = starts["seconds"].mean()
        if reached := starts["objective"].count():
            seconds = {"seconds": cost * np.arange(1, 1 + reached)}
            lines[dataset, model, names[model]] = Line(starts["objective"].to_numpy(), columns=seconds)
        # Failed starts have rows of their own.
        for k, lost in enumerate(starts.loc[starts["objective"].isna(), "reason"]):
            lines[dataset, model, f"lost start {k}"] = lost

    def expected(dataset, lines):
        of_a_start = {name: costs[dataset, name] for name in lines} if against == "seconds" else None
        return ExpectedMaximumDisplay(lines, costs=of_a_start, relative=True, objective_name=OBJECTIVE)

    return draw_lines(lines, expected, **layout)


def histogram(starts):
    """The line of a model; the reason if no start reached anything."""
    if starts["objective"].isna().all():
        return starts["reason"].iloc[0]
    rest = {name: starts[name].to_numpy() for name in COLUMNS[1:]}
    return Line(starts["objective"].to_numpy(), starts["reason"].to_list(), rest)


def starts_of(measured, model):
    """A row per start of a model with `COLUMNS` and ``reason``; a row with the reason if there are none."""
    mine = measured[(measured["model"] == model) & measured["reading"].str.startswith("start ")]
    numbered = mine.assign(start=mine["reading"].str.removeprefix("start ").astype(int))
    starts = numbered.pivot(index="start", columns="metric", values="value").reindex(columns=COLUMNS)
    starts["reason"] = numbered.groupby("start")["error"].max().map(one_line)
    if starts.empty:
        lost = measured[measured["model"].isin(["", model]) & (measured["status"] != "ok")]
        reason = one_line(lost["error"].iloc[0]) if len(lost) else "not measured"
        return pd.DataFrame([{"reason": reason}], columns=starts.columns)
    return starts
