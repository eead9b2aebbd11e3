"""The gain of the best of some models over the best of others, against the properties of the data sets."""

import numpy as np
import pandas as pd
from scipy.stats import spearmanr, theilslopes

from entrolab.figures.drawing import attempt, drawing_of
from entrolab.fit.metrics import METRICS
from entrolab.results.frames import read_table
from entrolab.tables.ranking import scores_of
from entrolearn.plotting import DifferencesDisplay

# Property of a data set -> its name and its unit.
PROPERTIES = {
    "rows": ("size", "rows"),
    "smaller": ("balance", "smaller class, % of the rows"),
    "features": ("dimension", "features"),
}
LEAST_DATASETS = 5  # for a trend


def draw(files, *, metric: str, best_of: list[str], against: list[str]):
    """Draw a figure of a table of scores and its data sets: a panel per property, with a robust trend."""
    scores, *sets = files
    known, sign = METRICS[metric], 1 if METRICS[metric].greater_is_better else -1
    gains = sign * scores_of(read_table(scores.files["tables"]), metric)
    table = pd.DataFrame({one.dataset: properties(one) for one in sets}, [*PROPERTIES], dtype=float).T
    table, sides = table.reindex(gains.index).assign(reason=""), []
    for models, best, score in ((best_of, "best", "score"), (against, "against", "score_against")):
        mine = gains[models].dropna(how="all")
        table[best], table[score] = mine.idxmax(axis=1), sign * mine.max(axis=1)
        sides.append("best of " * (len(models) > 1) + ", ".join(map(files.spec.name_of, models)))
        table.loc[table[score].isna(), "reason"] = f"{sides[-1]}: no number"
    table["difference"] = sign * (table["score"] - table["score_against"])
    table, unit = table.rename_axis("dataset").reset_index(), ", points" if known.percent else ""
    names = {"sides": tuple(f"{one} ahead" for one in sides), "y_name": f"gain in {known.label}{unit}"}
    panels = dict(panel(table.dropna(subset=[one, "difference"]), one, names) for one in PROPERTIES)
    return drawing_of(panels, [table], n_columns=3, width=10.0, common=False)


def properties(source) -> dict:
    """The properties of a data set; empty if it is not available."""
    data = attempt(source.data)
    if isinstance(data, str):
        return {}
    smaller = 100 * np.bincount(data.y).min() / len(data.y) if data.task == "binary" else np.nan
    return {"rows": data.n_samples, "smaller": smaller, "features": data.n_features}


def panel(rows, column, names) -> tuple:
    """The title of a panel, with Spearman's test, and its display, with the line of Theil and Sen."""
    (name, unit), title, line = PROPERTIES[column], "", None
    if rows.empty:
        return f"by {name}", "no data set has scores of both sides"
    x, y = np.log10(rows[column].to_numpy()), rows["difference"].to_numpy()
    if len(x) >= LEAST_DATASETS and np.ptp(x) and np.ptp(y):
        robust, test = theilslopes(y, x), spearmanr(x, y)
        line = robust.intercept, robust.slope
        title = f": Spearman's ρ = {test.statistic:.2f}, p = {test.pvalue:.2g}".replace("-", "−")
    display = DifferencesDisplay(
        rows["dataset"].tolist(), rows[column], rows["difference"], line=line, x_name=unit, **names
    )
    return f"by {name}{title}", display
