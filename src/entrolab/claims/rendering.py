"""The outcomes of claims for pages: counted, and in words."""

import math
from collections import Counter
from collections.abc import Mapping

import pandas as pd

from entrolab.claims.evaluation import OUTCOMES
from entrolab.tables.rendering import bar
from entrolab.text import one_line, plural

# Maximum number of characters of a text on a page.
LONGEST = 400
# Outcome -> CSS class of its bar segment, shared with the verdicts.
STYLES = {"holds": "reproduced", "fails": "failed", "undecided": "no-data", "not tested": "ours-only"}
# Readers who listed a claim, each alone -> in words.
READERS = {"1": "found by reader 1", "2": "found by reader 2", "1 2": "found by both readers"}
SEVERAL = {"holds": "hold", "fails": "fail"}


def outcomes(found: pd.DataFrame) -> dict[str, int]:
    """The number of claims by outcome."""
    counted = Counter(found.drop_duplicates("id")["outcome"])
    return {outcome: counted[outcome] for outcome in OUTCOMES}


def layout(found: pd.DataFrame) -> dict:
    """The template variables for the claims, with a bar of their outcomes."""
    counted = outcomes(found)
    by_both = int((found.drop_duplicates("id")["found_by"] == "1 2").sum())
    readers = f", {by_both} of which two readers found, each alone" if by_both else ""
    return {
        "bar": bar(counted, STYLES),
        "said": f"{in_words(counted)}{readers}.",
        "claims": [_claim(rows) for _, rows in found.groupby("id", sort=False)],
    }


def in_words(counted: Mapping[str, int]) -> str:
    """The number of claims by outcome, and of all claims, in words."""
    said = [
        f"{count} {outcome if count == 1 else SEVERAL.get(outcome, outcome)}"
        for outcome, count in counted.items()
        if count
    ]
    return f"{', '.join(said)}, of {plural(sum(counted.values()), 'claim')}"


def _claim(rows: pd.DataFrame) -> dict:
    first = next(rows.itertuples())
    parts = [row for row in rows.itertuples() if row.part_outcome]
    decided = "Would be decided by" if first.outcome == "undecided" else "Needed"
    about = ", ".join(filter(None, [first.strength, READERS.get(first.found_by, "")]))
    what = "automatic test" if parts and parts[0].test == "test" else "comparison"
    return {
        "id": first.id,
        "claim": one_line(first.claim, limit=LONGEST),
        "place": f"{one_line(first.place, limit=LONGEST)} ({about})",
        "note": one_line(first.note, limit=LONGEST),
        "outcome": first.outcome,
        "slug": STYLES[first.outcome],
        "decides": f"{decided}: {one_line(first.decides, limit=LONGEST)}" if first.decides else "",
        "rests_on": plural(len(parts), what),
        "parts": [_part(row) for row in parts],
    }


def _part(row) -> str:
    """A comparison in words: its outcome, effect, p-value and method."""
    said = [f"{row.part or row.test.replace('_', ' ')}: {row.part_outcome}"]
    if not math.isnan(row.effect):
        bounded = math.isfinite(row.low) or math.isfinite(row.high)
        interval = f" ({_digits(row.low)} to {_digits(row.high)})" if bounded else ""
        said.append(f"{_digits(row.effect)} {row.unit}".strip() + interval)
    if not math.isnan(row.p):
        said.append(f"p = {row.p:.2g}")
    if row.method:
        said.append(f"n = {row.sets}, {row.method}" if row.sets else row.method)
    return "; ".join(said)


def _digits(value: float) -> str:
    return f"{value:z.3g}" if abs(value) < 100 else f"{value:z.0f}"
