"""Where random starts of some models end."""

from collections.abc import Mapping, Sequence

import pandas as pd

from entrolab.experiments.starts.measure import OF_A_START, starts_of
from entrolab.figure_types.drawing import Drawing, name_of_model
from entrolab.io.parquet import read_frame
from entrolab.tables.types import one_line
from entrolearn.plotting import StartsDisplay, plot_panels

COLUMNS = ["dataset", "model", "start", *OF_A_START, "reason"]
N_COLUMNS = 5
WIDTH = 11.0  # inches
OBJECTIVE = "divergence"


def draw(spec: Mapping, sources: Sequence[str], records: Sequence[str]) -> Drawing:
    """A panel per data set: histograms of the objective, one for each model."""
    table = measured_starts(spec, sources)
    panels = {}
    for dataset in spec["datasets"]:
        found = objectives(table, dataset, spec)
        panels[dataset] = (
            StartsDisplay(found, objective_name=OBJECTIVE) if found else why_nothing(table, dataset)
        )
    return Drawing(plot_panels(panels, n_columns=N_COLUMNS, width=WIDTH, common=False), table)


def in_words(spec: Mapping, table: pd.DataFrame) -> str:
    """The spread of each histogram."""
    lines = []
    for (dataset, model), rows in table.dropna(subset="objective").groupby(["dataset", "model"], sort=False):
        low, middle, high = rows["objective"].quantile([0, 0.5, 1])
        name = name_of_model(spec, model)
        lines.append(f"{dataset}, {name}: {low:.3g}, {middle:.3g}, {high:.3g} in {len(rows)} starts")
    return f"Histograms of the {OBJECTIVE} where random starts end: least, median, largest. " + "; ".join(
        lines
    )


def measured_starts(spec: Mapping, sources: Sequence[str]) -> pd.DataFrame:
    """Every start of every model, data set by data set; a model without any is a row with the reason."""
    parts = []
    for dataset, source in zip(spec["datasets"], sources, strict=True):
        measured = read_frame(source)
        for model in spec["models"]:
            starts = starts_of(measured, model).rename(columns={"error": "reason"})
            if starts.empty:
                trouble = measured[measured["model"].isin(["", model]) & (measured["kind"] != "")]
                reason = trouble["error"].iloc[0] if len(trouble) else "not measured"
                starts = pd.DataFrame([{"reason": reason}], columns=starts.columns)
            parts.append(starts.assign(dataset=dataset, model=model, reason=starts["reason"].map(one_line)))
    return pd.concat(parts, ignore_index=True)[COLUMNS]


def objectives(table: pd.DataFrame, dataset: str, spec: Mapping) -> dict[str, pd.Series]:
    """What the starts on a data set reached, by the name of the model, where it reached anything."""
    mine = table[table["dataset"] == dataset].groupby("model", sort=False)["objective"]
    return {name_of_model(spec, model): values for model, values in mine if values.notna().any()}


def why_nothing(table: pd.DataFrame, dataset: str) -> str:
    return "; ".join(dict.fromkeys(table.loc[table["dataset"] == dataset, "reason"]))
