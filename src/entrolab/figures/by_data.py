"""Figures of the gain of some models over others by size, balance and dimension of the data sets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from entrolab.figures.base import OfTable
from entrolab.figures.spec import FigureSpec
from entrolab.fit.metrics import METRICS
from entrolab.schema.sections import described, list_of

if TYPE_CHECKING:
    import pandas as pd


class Property(NamedTuple):
    """A property of data sets: its name, its unit and its decimals."""

    name: str
    unit: str
    digits: int


PROPERTIES = {
    "rows": Property("size", "rows", 0),
    "smaller": Property("balance", "smaller class, % of the rows", 1),
    "features": Property("dimension", "features", 0),
}
# The keys of the two sides in an entry -> the columns of a side's best model and of its score.
SIDES = {"best_of": ("best", "score"), "against": ("against", "score_against")}
COLUMNS = ["dataset", *PROPERTIES, "best", "score", "against", "score_against", "difference", "reason"]
LEAST_DATASETS = 5  # for a trend
SHORT = 40  # maximum length of the models' names in a panel
NOTHING = "no data set has scores of both sides"

Side = described(list_of(str), "a list of the table's models, of which the best on each data set is compared")


class ByData(OfTable):
    """The gain of the best of some models over the best of others: a panel per property of the data sets."""

    best_of: Side
    against: Side

    def names(self, study, catalog):
        yield from super().names(study, catalog)
        shown = study.tables[self.table].models
        models = [model for model in shown if not study.models[model].known]
        for name in self.best_of:
            yield "best_of", name, models, "model of this table"
        for name in self.against:
            others = [model for model in models if model not in self.best_of]
            yield "against", name, others, "other model of this table"

    def sources(self, study):
        runs = study.runs_of_table(self.table)
        return [*super().sources(study), *(("record", dataset, model) for dataset, model in runs)]

    def draw(self, files):
        from entrolab.figures.drawing import Drawing
        from entrolab.results.frames import read_table
        from entrolearn.plotting import plot_panels

        scores, *runs = files
        facts = facts_of([run.files["record"] for run in runs])
        table = compared(read_table(scores.files["tables"]), facts, files.spec)
        panels = dict(_panel(table, column, files.spec) for column in PROPERTIES)
        figure = plot_panels(panels, n_columns=3, width=10.0, common=False)
        return Drawing(figure, table, in_words(files.spec, table))


class Trend(NamedTuple):
    """A robust trend of differences with a property of the data sets.

    The intercept and the slope are those of the Theil–Sen line against the decimal logarithm of the property,
    rho and p Spearman's rank correlation and its p-value.
    """

    intercept: float
    slope: float
    rho: float
    p: float

    def __str__(self):
        return f"Spearman's ρ = {self.rho:.2f}, p = {self.p:.2g}".replace("-", "−")


def in_words(spec: FigureSpec, table: "pd.DataFrame") -> str:
    """The counts of data sets where the first models are ahead, in all and by property."""
    known = table.dropna(subset="difference")
    if known.empty:
        return NOTHING
    gains = known["difference"]
    least, most = known.loc[gains.idxmin()], known.loc[gains.idxmax()]
    said = [
        f"A {_gain(spec)}, of {_name(spec, 'best_of')} over {_name(spec, 'against')} on "
        f"{len(known)} data sets: ahead on {sum(gains > 0)}, behind on {sum(gains < 0)}; "
        f"median {gains.median():.2g}, from {least['difference']:.2g} ({least['dataset']}) to "
        f"{most['difference']:.2g} ({most['dataset']})"
    ]
    said += [
        _halves_in_words(known.dropna(subset=column), column)
        for column in PROPERTIES
        if trend_of(known[column], gains)
    ]
    return "; ".join(said)


def _halves_in_words(known: "pd.DataFrame", column: str) -> str:
    """The counts of data sets where the first models are ahead, below and above the median of a property."""
    of, middle = PROPERTIES[column], known[column].median()
    low = known[column] <= middle
    counted = [
        f"{sum(known.loc[half, 'difference'] > 0)} of {sum(half)} {where} {middle:,.{of.digits}f}"
        for half, where in ((low, "up to"), (~low, "above"))
    ]
    trend = trend_of(known[column], known["difference"])
    return f"by {of.name} ({of.unit}) ahead on {' and on '.join(counted)}, {trend}"


def facts_of(records: Sequence[str]) -> "pd.DataFrame":
    """The properties of the data sets, from the records of their runs."""
    import pandas as pd

    from entrolab.io.records import read_json

    rows = {}
    for record in map(read_json, records):
        data = record["data"]
        if data:
            classes = [data[name] for name in ("n_negative", "n_positive") if name in data]
            rows[record["dataset"]] = {
                "rows": data["n_samples"],
                "smaller": 100 * min(classes) / sum(classes) if classes else None,
                "features": data["n_features"],
            }
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(PROPERTIES), dtype=float)


def compared(scores: "pd.DataFrame", facts: "pd.DataFrame", spec: FigureSpec) -> "pd.DataFrame":
    """One row per data set of a table of scores, with the best model of either side."""
    from entrolab.tables.ranking import scores_of

    sign = 1 if METRICS[spec.entry.metric].greater_is_better else -1
    gains = sign * scores_of(scores, spec.entry.metric)
    table = facts.reindex(gains.index).assign(reason="")
    for names, (best, score) in SIDES.items():
        mine = gains[getattr(spec.entry, names)].dropna(how="all")
        table[best], table[score] = mine.idxmax(axis=1), sign * mine.max(axis=1)
        table.loc[table[score].isna(), "reason"] = f"{_name(spec, names)}: no number"
    table["difference"] = sign * (table["score"] - table["score_against"])
    return table.reset_index(names="dataset").reindex(columns=COLUMNS)


def trend_of(values: "pd.Series", differences: "pd.Series") -> Trend | None:
    """The trend over data sets where both are known; None if they are too few or all equal."""
    import numpy as np
    from scipy.stats import spearmanr, theilslopes

    known = values.notna() & differences.notna()
    x, y = np.log10(values[known].to_numpy(dtype=float)), differences[known].to_numpy(dtype=float)
    if len(x) < LEAST_DATASETS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    line, correlation = theilslopes(y, x), spearmanr(x, y)
    return Trend(
        float(line.intercept), float(line.slope), float(correlation.statistic), float(correlation.pvalue)
    )


def _panel(table: "pd.DataFrame", column: str, spec: FigureSpec) -> tuple:
    """The title of a panel, and its display or the reason for having none."""
    from entrolearn.plotting import DifferencesDisplay

    of, rows = PROPERTIES[column], table.dropna(subset=[column, "difference"])
    if rows.empty:
        return f"by {of.name}", NOTHING
    trend = trend_of(rows[column], rows["difference"])
    display = DifferencesDisplay(
        rows["dataset"].tolist(),
        rows[column],
        rows["difference"],
        line=None if trend is None else (trend.intercept, trend.slope),
        sides=tuple(f"{_name(spec, side, limit=SHORT)} ahead" for side in SIDES),
        x_name=of.unit,
        y_name=_gain(spec),
    )
    return f"by {of.name}" + ("" if trend is None else f": {trend}"), display


def _gain(spec: FigureSpec) -> str:
    metric = METRICS[spec.entry.metric]
    return f"gain in {metric.label}" + (", points" if metric.percent else "")


def _name(spec: FigureSpec, side: str, limit: int | None = None) -> str:
    """The name of a side: its model or "the best of" several, with only their number if it gets too long."""
    names = [spec.name_of(model) for model in getattr(spec.entry, side)]
    if len(names) == 1:
        return names[0]
    listed = ", ".join(names)
    return f"the best of {listed if limit is None or len(listed) <= limit else len(names)}"
