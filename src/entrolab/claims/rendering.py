"""Write the outcomes of claims as CSV and HTML."""

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from entrolab.claims.evaluation import COLUMNS, OUTCOMES
from entrolab.io.atomic import replacing
from entrolab.tables.rendering import templates
from entrolab.text import one_line

TEXTS = [name for name in COLUMNS if name not in ("effect", "low", "high", "p", "sets")]
# Maximum number of characters of a text on a page.
LONGEST = 400
# Outcome -> CSS class of its bar segment, shared with the verdicts.
STYLES = {"holds": "reproduced", "fails": "failed", "undecided": "no-data", "not tested": "ours-only"}
# Readers who listed a claim, each alone -> in words.
READERS = {"1": "found by reader 1", "2": "found by reader 2", "1 2": "found by both readers"}
SEVERAL = {"holds": "hold", "fails": "fail"}


def write_claims(found: pd.DataFrame, title: str, path: str | Path) -> None:
    """Write the outcomes of a study's claims as CSV or as an HTML page, by the suffix of `path`."""
    if Path(path).suffix == ".csv":
        text = found.to_csv(index=False, float_format="%.8g", lineterminator="\n")
    else:
        text = templates("html").get_template("claims_page.html.j2").render(title=title, claims=layout(found))
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_claims(path: str | Path) -> pd.DataFrame:
    """Read a CSV file of :func:`write_claims`."""
    found = pd.read_csv(path, dtype=dict.fromkeys(TEXTS, str), keep_default_na=False)
    numbers = ["effect", "low", "high", "p"]
    return found.assign(**{name: pd.to_numeric(found[name]) for name in numbers})[COLUMNS]


def outcomes(found: pd.DataFrame) -> dict[str, int]:
    """The number of claims by outcome."""
    counted = Counter(found.drop_duplicates("id")["outcome"])
    return {outcome: counted[outcome] for outcome in OUTCOMES}


def layout(found: pd.DataFrame) -> dict:
    """The template variables for the claims, with a bar of their outcomes."""
    return {
        "bar": claims_bar(outcomes(found)),
        "claims": [_claim(rows) for _, rows in found.groupby("id", sort=False)],
        "found_by_both": int((found.drop_duplicates("id")["found_by"] == "1 2").sum()),
    }


def claims_bar(counted: Mapping[str, int]) -> dict:
    """A bar of outcomes: its segments, each with its count in words (``said``), and the number of claims."""
    segments = [
        {"verdict": outcome, "slug": STYLES[outcome], "mark": "", "count": number}
        | {"said": f"{number} {outcome if number == 1 else SEVERAL.get(outcome, outcome)}"}
        for outcome, number in counted.items()
        if number
    ]
    return {"segments": segments, "total": sum(counted.values())}


def _claim(rows: pd.DataFrame) -> dict:
    first = next(rows.itertuples())
    return {
        "id": first.id,
        "claim": one_line(first.claim, limit=LONGEST),
        "place": one_line(first.place, limit=LONGEST),
        "strength": first.strength,
        "readers": READERS.get(first.found_by, ""),
        "note": one_line(first.note, limit=LONGEST),
        "outcome": first.outcome,
        "slug": STYLES[first.outcome],
        "decides": one_line(first.decides, limit=LONGEST),
        "parts": [_part(row) for row in rows.itertuples() if row.part_outcome],
    }


def _part(row) -> dict:
    bounded = math.isfinite(row.low) or math.isfinite(row.high)
    return {
        "part": row.part,
        "test": row.test.replace("_", " "),
        "outcome": row.part_outcome,
        "effect": "" if math.isnan(row.effect) else f"{_digits(row.effect)} {row.unit}".strip(),
        "interval": f"{_digits(row.low)} to {_digits(row.high)}" if bounded else "",
        "p": "" if math.isnan(row.p) else f"{row.p:.2g}",
        "sets": row.sets,
        "method": row.method,
    }


def _digits(value: float) -> str:
    return f"{value:z.3g}" if abs(value) < 100 else f"{value:z.0f}"
