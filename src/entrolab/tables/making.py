"""Tables: ours beside the printed number, with a verdict per cell.

A table is built once, as a frame with one row per cell (`COLUMNS`), and rendered from that frame alone
(see `entrolab.tables.rendering`), so that the csv file is the whole truth
and the html, tex and md files are views.
What is in a cell, and how it is judged, is its kind's to say (see `entrolab.tables.types`).
"""

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from entrolab.tables.number_format import decimals_of
from entrolab.tables.results import Results
from entrolab.tables.types import PRINTED_ALONE, TABLE_TYPES, Cell, Found, Judged, Printed, TableType
from entrolab.tables.verdicts import JUDGED, VERDICTS
from entrolearn.suggest import did_you_mean

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


def table_spec(paper: str, study: Mapping, name: str, labels: Mapping[str, str] | None = None) -> dict:
    """Resolve one entry of a study's ``tables``: names of groups become data sets and models with labels.

    Parameters
    ----------
    paper : str
        The study's key, e.g. ``"eem"``.
    study : mapping
        The study, as `entrolab.study.config.load_study` returns it.
    name : str
        The table's key in the study, which is also its key in the published numbers.
    labels : mapping of data set keys to labels, optional
        As the catalog has them; a data set without a label is shown by its key.

    Returns
    -------
    dict
        The entry, and: paper, table, ``trials`` of the protocol (0 if it has folds), the ``sample`` of rows
        that it takes of larger sets (0 if it takes all), datasets, models and
        metrics (each key -> {"label", "sublabel", …}, in the study's order).

    Raises
    ------
    ValueError
        If the study has no such table, or the table is of no known kind.
    """
    entry = look_up(study["tables"], name, f"table of {paper}")
    kind = kind_of(entry)
    labels, tasks = labels or {}, study.get("tasks", {})
    named = {
        key: {"label": labels.get(key, key), "sublabel": "", "task": tasks.get(key, "")}
        for key in (() if kind.generates else study["datasets"][entry["datasets"]])
    }
    return {
        **entry,
        "paper": paper,
        "table": name,
        "trials": study.get("protocol", {}).get("trials", 0),
        "sample": study.get("protocol", {}).get("rows", 0),
        "datasets": named | kind.places(entry),
        "models": kind.models(entry, study),
        "metrics": kind.metrics(entry),
    }


def kind_of(spec: Mapping) -> TableType:
    """The kind of a table."""
    return look_up(TABLE_TYPES, spec["kind"], "kind of table")


def make_table(results: Results, published: pd.DataFrame, spec: Mapping) -> pd.DataFrame:
    """Build the table that `spec` asks for.

    Parameters
    ----------
    results : Results
        Where the table's kind looks up what there is of ours.
    published : DataFrame
        Columns table, dataset, model, metric, value, std, as `read_published` gives them; scores in percent.
    spec : dict
        As `table_spec` returns it.

    Returns
    -------
    DataFrame
        `COLUMNS`, one row per cell in the study's order, whether or not there is a result; a cell with
        neither a number of ours nor a printed one, and nothing that is owed, has the verdict "".
    """
    kind = kind_of(spec)
    printed = _printed(published, spec["printed"])
    found = {cell: kind.found(cell, spec, results) for cell in kind.cells(spec)}
    rows = []
    for cell, ours in found.items():
        number = printed.get(kind.printed_at(cell), Printed())
        judged = _without_number(ours, number) or kind.judge(cell, spec, found, printed)
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
    """Read printed numbers as they are written: 0.150 is known to the thousandth, 0.15 to the hundredth."""
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
    """The cells that are judged by a printed number, whether or not there is one of ours."""
    return table[table["published"].notna() & table["verdict"].isin(JUDGED)]


def as_asked(table: pd.DataFrame, spec: Mapping) -> pd.DataFrame:
    """The rows of `table` that its study asks for today: another study's run need not have renewed it."""
    cells = pd.MultiIndex.from_tuples(kind_of(spec).cells(spec), names=ADDRESS)
    stale = {"verdict": "failed", "reason": f"not in the table yet: run `snakemake {spec['paper']}`"}
    return table.set_index(ADDRESS).reindex(cells).fillna(stale).reset_index()[COLUMNS]


def _without_number(ours: Found, printed: Printed) -> Judged | None:
    """What is said of a cell that has no number of ours; None if it has one."""
    if not ours.trouble:
        return None
    blank = ours.trouble == PRINTED_ALONE and math.isnan(printed.value)
    return Judged("" if blank else ours.trouble)


def _printed(published: pd.DataFrame, name: str) -> dict[Cell, Printed]:
    rows = published[published["table"] == name].fillna({"dataset": "", "model": ""})
    numbers = rows[["value", "std"]].itertuples(index=False, name=None)
    return dict(
        zip(
            rows[ADDRESS].itertuples(index=False, name=None), itertools.starmap(_number, numbers), strict=True
        )
    )


def _number(value: str | float, std: float) -> Printed:
    missing = pd.isna(value)
    return Printed() if missing else Printed(float(value), std, decimals_of(value))


def look_up(table: Mapping, name: str, what: str):
    """Look `name` up, or say in one line what there is."""
    if name in table:
        return table[name]
    raise ValueError(f"unknown {what} {name!r}{did_you_mean(name, table)}; known: {', '.join(table)}")
