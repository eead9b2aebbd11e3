"""Build a table as a frame with one row per cell (`COLUMNS`): ours, the published value and a verdict.

All formats are rendered from that frame (see `entrolab.tables.rendering`). The table type says what is in a
cell and how it is judged (see `entrolab.tables.types`).
"""

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from entrolab.tables.base import NOTHING
from entrolab.tables.number_format import decimals_of
from entrolab.tables.results import Results
from entrolab.tables.types import PUBLISHED_ONLY, TABLE_TYPES, Cell, Judged, PublishedValue
from entrolab.tables.verdicts import JUDGED, VERDICTS

ADDRESS = ["dataset", "model", "metric"]
COLUMNS = [
    *ADDRESS,
    "published",
    "published_std",
    "ours",
    "ours_std",
    "difference",
    "verdict",
    "oracle",
    "reason",
]
_NUMBERS = ["published", "published_std", "ours", "ours_std", "difference", "oracle"]


def make_table(results: Results, published: pd.DataFrame, spec: Mapping) -> pd.DataFrame:
    """Build the table that `spec` asks for.

    Parameters
    ----------
    results : Results
        Where the table type looks up our numbers.
    published : DataFrame
        Columns table, dataset, model, metric, value, std, as `read_published` gives them; scores in percent.
    spec : dict
        As `entrolab.tables.types.table_spec` returns it.

    Returns
    -------
    DataFrame
        `COLUMNS`, one row per cell in the study's order, whether or not there is a result; a cell with
        neither a number of ours nor a published one, and nothing that is owed, has the verdict "".
    """
    table_type = TABLE_TYPES[spec["type"]]
    published_values = _published_values(published, spec["published"])
    found = {cell: table_type.found(cell, spec, results) for cell in table_type.cells(spec)}
    rows = []
    for cell, ours in found.items():
        number = published_values.get(table_type.published_at(cell), NOTHING)
        if ours.status != "ok":
            blank = ours.status == PUBLISHED_ONLY and math.isnan(number.value)
            judged = Judged("" if blank else ours.status)
        else:
            judged = table_type.judge(cell, spec, found, published_values)
        reason = "; ".join(filter(None, [ours.reason, judged.note]))
        rows.append(
            (
                *cell,
                number.value,
                number.std,
                ours.ours,
                ours.ours_std,
                judged.difference,
                judged.verdict,
                ours.oracle,
                reason,
            )
        )
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(_NUMBERS, float))


def read_published(path: str | Path) -> pd.DataFrame:
    """Read published values as they are written: 0.150 is known to the thousandth, 0.15 to the hundredth."""
    return pd.read_csv(path, dtype={"value": str})


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table's csv file back."""
    text = dict.fromkeys([*ADDRESS, "verdict", "reason"], str)
    table = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=dict.fromkeys(_NUMBERS, [""]))
    return table[COLUMNS]


def counts(table: pd.DataFrame) -> dict[str, int]:
    """Count the cells of each verdict, all verdicts listed, in the order of `VERDICTS`."""
    found = Counter(table["verdict"])
    return {name: found[name] for name in VERDICTS}


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """The cells that are judged by a published value, whether or not there is a number of ours."""
    return table[table["published"].notna() & table["verdict"].isin(JUDGED)]


def as_asked(table: pd.DataFrame, spec: Mapping) -> pd.DataFrame:
    """The rows of `table` that its study asks for today: another study's run need not have renewed it."""
    cells = pd.MultiIndex.from_tuples(TABLE_TYPES[spec["type"]].cells(spec), names=ADDRESS)
    stale = {"verdict": "failed", "reason": f"not in the table yet: run `snakemake {spec['study']}`"}
    return table.set_index(ADDRESS).reindex(cells).fillna(stale).reset_index()[COLUMNS]


def _published_values(published: pd.DataFrame, name: str) -> dict[Cell, PublishedValue]:
    rows = published[published["table"] == name].fillna({"dataset": "", "model": ""}).dropna(subset="value")
    return {
        (row.dataset, row.model, row.metric): PublishedValue(
            float(row.value), row.std, decimals_of(row.value)
        )
        for row in rows.itertuples()
    }
