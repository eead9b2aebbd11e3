"""The table of all races, docs/benchmarks.csv, which ``make docs`` shows."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
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
    """A line for each peer of a part, over all that both did, as Markdown; each machine is stated once."""
    pairs = table[table["peer"] != ""].groupby(["part", "ours", "peer"], sort=False)
    shown = pd.DataFrame([dict(zip(HEAD, _cells(*names, rows), strict=True)) for names, rows in pairs])
    shown["part"] = shown["part"].mask(shown.duplicated("part"), "")
    return "\n\n".join([_markdown(shown), *_origin(table)])


HEAD = ("part", "ours", "peer", "tasks", "peer / ours", "MiB", "result - peer's", "of")


def _cells(part: str, ours: str, peer: str, rows: pd.DataFrame) -> Iterator[str]:
    yield part
    yield ours
    yield peer
    done = rows["ratio"].notna()
    yield f"{done.sum()} of {len(rows)}"
    yield f"**{_range(rows['ratio'])}**" if done.any() else ""
    yield _range(rows["peer_mib"] / rows["our_mib"]) if (rows["unit"] == "s").all() else ""
    yield _range(rows["our_result"] - rows["peer_result"])
    yield ", ".join(dict.fromkeys(rows["measure"]))


def _range(values: pd.Series) -> str:
    """The least and the largest of the finite numbers, to two digits; empty if there is none."""
    finite = values[np.isfinite(values)]
    ends = [_number(value) for value in (finite.min(), finite.max())]
    return " to ".join(dict.fromkeys(ends))


def _origin(rows: pd.DataFrame) -> Iterator[str]:
    """The dates, machines and versions of the measurements."""
    for machine, some in rows.groupby("machine"):
        dates = " to ".join(dict.fromkeys((some["date"].min(), some["date"].max())))
        load = f"{some['load'].min():.2g} to {some['load'].max():.2g}"
        yield f"Measured on {dates}: {machine}; load average of a core {load}."


def _markdown(table: pd.DataFrame) -> str:
    align = ["left" if name in ("part", "ours", "peer", "of") else "right" for name in table]
    return table.to_markdown(index=False, disable_numparse=True, colalign=align)


def _number(value: float) -> str:
    """A number rounded to two significant digits, with all digits before the point; empty for NaN.

    Examples
    --------
    >>> [_number(value) for value in (0.01234, 1.96, 12345.6, 0.0, float("nan"))]
    ['0.012', '2', '12,346', '0', '']
    """
    if math.isnan(value):
        return ""
    return in_words(value) if abs(value) >= 99.5 else f"{value:.2g}"
