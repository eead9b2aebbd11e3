"""Build a table as a frame with one row per cell (`COLUMNS`): ours, the published value and a verdict.

All formats are rendered from that frame (see `entrolab.tables.rendering`). The table type fills and judges
the cells (see `entrolab.tables.types`).
"""

import math
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import pandas as pd

from entrolab.tables.base import NOTHING, PUBLISHED_ONLY, Cell, Found, Judged, PublishedValue
from entrolab.tables.number_format import decimals_of
from entrolab.tables.results import Results
from entrolab.tables.types import TABLE_TYPES
from entrolab.tables.verdicts import JUDGED, VERDICTS

ADDRESS = ["dataset", "model", "metric"]
_NUMBERS = ["published", "published_std", "ours", "ours_std", "difference", "oracle"]
COLUMNS = [*ADDRESS, *_NUMBERS[:-1], "verdict", "oracle", "reason"]


def make_table(results: Results, published: pd.DataFrame, spec: Mapping) -> pd.DataFrame:
    """Build a table from its spec, see `entrolab.tables.types.table_spec`.

    `published` has the columns table, dataset, model, metric, value and std, with scores in percent, see
    `read_published`. The result has the columns `COLUMNS` and one row per cell in the study's order, also for
    cells without a result; a cell without a published value and with nothing to compute has the verdict "".
    """
    table_type = TABLE_TYPES[spec["type"]]
    found = {cell: table_type.found(cell, spec, results) for cell in table_type.cells(spec)}
    return judged_table(found, published, spec)


def judged_table(found: Mapping[Cell, Found], published: pd.DataFrame, spec: Mapping) -> pd.DataFrame:
    """Judge the cells of a table, see `make_table`."""
    table_type = TABLE_TYPES[spec["type"]]
    found = {cell: _defined(ours) for cell, ours in found.items()}
    published_values = _published_values(published, spec["published"])
    rows = []
    for cell, ours in found.items():
        number = published_values.get(table_type.published_at(cell), NOTHING)
        if ours.status != "ok":
            blank = ours.status == PUBLISHED_ONLY and math.isnan(number.value)
            judged = Judged("" if blank else ours.status)
        else:
            judged = table_type.judge(cell, spec, found, published_values)
        reason = "; ".join(filter(None, [ours.reason, judged.note]))
        compared = (ours.ours, ours.ours_std, judged.difference, judged.verdict, ours.oracle)
        rows.append((*cell, number.value, number.std, *compared, reason))
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(_NUMBERS, float))


def _defined(ours: Found) -> Found:
    """The contents of a cell; failed if the number is NaN."""
    if ours.status != "ok" or not math.isnan(ours.ours):
        return ours
    return Found(status="failed", reason="; ".join(filter(None, ["undefined", ours.reason])))


def read_published(path: str | Path) -> pd.DataFrame:
    """Read published values as text, to keep their decimals: 0.150 has three, 0.15 has two."""
    return pd.read_csv(path, dtype={"value": str})


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table from its CSV file."""
    text = dict.fromkeys([*ADDRESS, "verdict", "reason"], str)
    table = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=dict.fromkeys(_NUMBERS, [""]))
    return table[COLUMNS]


def counts(table: pd.DataFrame) -> dict[str, int]:
    """The number of cells of each verdict, zeros included, in the order of `VERDICTS`."""
    found = Counter(table["verdict"])
    return {name: found[name] for name in VERDICTS}


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """The cells that are judged by a published value, with or without a number of ours."""
    return table[table["published"].notna() & table["verdict"].isin(JUDGED)]


def second_reading_of(study: Mapping, table: str) -> str:
    """The table with the same published values, of which a table is another reading; otherwise empty."""
    entries = study["tables"]
    first = entries[table].get("published", table)
    return first if first != table and entries[first]["type"] == entries[table]["type"] else ""


def counts_of_study(study: Mapping, tables: Mapping[str, pd.DataFrame]) -> Counter[str]:
    """The number of published values of a study by verdict; tables that are second readings are left out."""
    first = (table for name, table in tables.items() if not second_reading_of(study, name))
    return Counter(chain.from_iterable(judged(table)["verdict"] for table in first))


def _published_values(published: pd.DataFrame, name: str) -> dict[Cell, PublishedValue]:
    rows = published[published["table"] == name].fillna({"dataset": "", "model": ""}).dropna(subset="value")
    values = (PublishedValue(float(row.value), row.std, decimals_of(row.value)) for row in rows.itertuples())
    return dict(zip(rows[ADDRESS].itertuples(index=False, name=None), values, strict=True))
