"""The table of all races, docs/benchmarks.csv, which ``make docs`` shows."""

import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks.data import ROOT
from benchmarks.report import in_words
from entrolab.io.atomic import replacing

TABLE = ROOT / "docs/benchmarks.csv"
COLUMNS = ("part", "what", "unit", "ours", "peer", "our_spent", "peer_spent", "ratio", "low", "high")
COLUMNS += ("rounds", "measure", "our_result", "peer_result", "our_mib", "peer_mib", "note")
COLUMNS += ("date", "load", "machine")


def read(path: Path = TABLE) -> pd.DataFrame:
    """The table; empty if there is none."""
    texts = ("part", "what", "unit", "ours", "peer", "measure", "note")
    if not path.exists():
        return pd.DataFrame(columns=COLUMNS)
    return pd.read_csv(path, dtype=dict.fromkeys(texts, str)).fillna(dict.fromkeys(texts, ""))


def merge(new: pd.DataFrame, path: Path = TABLE) -> None:
    """Replace the rows of the parts that were measured again; keep other parts."""
    old = read(path)
    old = old[~old["part"].isin(new["part"])]
    # Columns without a number have no type that pandas would preserve.
    found = pd.concat([each.dropna(axis=1, how="all") for each in (old, new) if len(each)])
    found = found.reindex(columns=COLUMNS)
    for name in found.select_dtypes("number"):
        found[name] = found[name].map(lambda value: float(f"{value:.6g}"))
    with replacing(path) as temporary:
        found.sort_values("part", kind="stable").to_csv(temporary, index=False)


def markdown(table: pd.DataFrame) -> str:
    """A table for each part, as Markdown; each machine is stated once."""
    parts = []
    for part, rows in table.groupby("part"):
        shown = pd.DataFrame([dict(zip(HEAD, _cells(row), strict=True)) for _, row in rows.iterrows()])
        shown = shown.loc[:, (shown != "").any()]
        again = shown.duplicated(["work", "ours"])
        shown[["work", "ours"]] = shown[["work", "ours"]].mask(again, "")
        parts += [f"### {part}", _markdown(shown, n_texts=2)]
    return "\n\n".join([*parts, *_origin(table)])


HEAD = ("work", "ours", "s", "peer", "peer s", "peer / ours", "result", "peer's", "MiB", "peer MiB", "note")


def _cells(row: pd.Series) -> Iterator[str]:
    unit = "" if row["unit"] == "s" else f" {row['unit']}"
    yield f"{row['what']}" + (f" ({row['measure']})" if row["measure"] else "")
    yield row["ours"]
    yield _number(row["our_spent"]) + unit * (not math.isnan(row["our_spent"]))
    yield row["peer"]
    yield _number(row["peer_spent"]) + unit * (not math.isnan(row["peer_spent"]))
    yield ratio(row)
    yield _number(row["our_result"], 4)
    yield _number(row["peer_result"], 4)
    yield "" if unit else _number(row["our_mib"], 2)
    yield "" if unit else _number(row["peer_mib"], 2)
    yield row["note"]


def ratio(row: pd.Series) -> str:
    """A ratio with its interval; empty if there is none."""
    if math.isnan(row["ratio"]):
        return ""
    ends = "" if math.isnan(row["low"]) else f" [{_number(row['low'], 2)}, {_number(row['high'], 2)}]"
    return f"**{_number(row['ratio'])}**{ends}"


def _origin(rows: pd.DataFrame) -> Iterator[str]:
    """The dates, machines and versions of the measurements."""
    for machine, some in rows.groupby("machine"):
        dates = " to ".join(dict.fromkeys((some["date"].min(), some["date"].max())))
        load = f"{some['load'].min():.2g} to {some['load'].max():.2g}"
        yield f"Measured on {dates}: {machine}; load average of a core {load}."


def _markdown(table: pd.DataFrame, n_texts: int) -> str:
    align = ["left" if i < n_texts or name in ("peer", "note") else "right" for i, name in enumerate(table)]
    return table.to_markdown(index=False, disable_numparse=True, colalign=align)


def _number(value: float, digits: int = 3) -> str:
    """A number rounded to some significant digits, with all digits before the point; empty for NaN.

    Examples
    --------
    >>> [_number(value, 2) for value in (0.01234, 1.96, 12345.6, 0.0, float("nan"))]
    ['0.012', '2', '12,346', '0', '']
    """
    if math.isnan(value):
        return ""
    return in_words(value) if digits == 3 or abs(value) >= 100 else f"{value:.{digits}g}"
