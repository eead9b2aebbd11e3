"""What the best of several random starts can be expected to reach."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from entrolab.experiments.starts.figure import N_COLUMNS, WIDTH, measured_starts, objectives, why_nothing
from entrolab.figure_types.drawing import Drawing, name_of_model
from entrolearn.plotting import ExpectedMaximumDisplay, plot_panels

COLUMNS = ["dataset", "model", "starts", "seconds", "expected", "percent_of_best", "reason"]


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set, a line per model, in percent of the best that any of them found."""
    starts = measured_starts(spec, sources)
    panels, parts = {}, []
    for dataset in spec["datasets"]:
        mine = starts[starts["dataset"] == dataset]
        seconds = mine.groupby("model")["seconds"].mean()
        found = objectives(starts, dataset, spec)
        display = ExpectedMaximumDisplay(
            found,
            costs={name_of_model(spec, model): cost for model, cost in seconds.items()}
            if spec["against"] == "seconds"
            else None,
            relative=True,
            objective_name="divergence",
        )
        panels[dataset] = display if found else why_nothing(starts, dataset)
        parts += [
            _rows(display, dataset, model, seconds[model], own, spec)
            for model, own in mine.groupby("model", sort=False)
        ]
    figure = plot_panels(panels, n_columns=N_COLUMNS, width=WIDTH)
    return Drawing(figure, pd.concat(parts, ignore_index=True)[COLUMNS])


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """What one start and what sixteen reach."""
    shown = table[table["starts"].isin([1, 16])].dropna(subset="expected")
    lines = []
    for (dataset, model), rows in shown.groupby(["dataset", "model"], sort=False):
        reached = [
            f"{one.percent_of_best:.0f} % with {one.starts:.0f} ({one.seconds:.2g} s)"
            for one in rows.itertuples()
        ]
        lines.append(f"{dataset}, {name_of_model(spec, model)}: {', '.join(reached)}")
    return (
        "Expected best of several starts, in percent of the best of all, against their "
        f"{_AXES[spec['against']]}. " + "; ".join(lines)
    )


_AXES = {"starts": "number", "seconds": "processor seconds"}


def _rows(
    display: ExpectedMaximumDisplay,
    dataset: str,
    model: str,
    seconds: float,
    own: pd.DataFrame,
    spec: Mapping,
) -> pd.DataFrame:
    """A line at every number of starts; starts that came to nothing are told once each."""
    where = {"dataset": dataset, "model": model}
    lost = own[own["reason"] != ""]
    told = pd.DataFrame([{**where, "reason": reason} for reason in lost["reason"]], columns=COLUMNS)
    name = name_of_model(spec, model)
    if name not in display.objectives:
        return told
    _, percent = display.curve(name)
    starts = np.arange(1, len(percent) + 1)
    line = {
        **where,
        "starts": starts,
        "seconds": seconds * starts,
        "expected": percent * display.best() / 100,
        "percent_of_best": percent,
        "reason": "",
    }
    return pd.concat([one for one in (pd.DataFrame(line), told) if len(one)], ignore_index=True)
