"""Verdicts over seeds as pages show them: a text for each cell, a bar and a list for each table."""

from collections.abc import Mapping

import pandas as pd

from entrolab.seeds.values import read_seeds
from entrolab.seeds.verdicts import COVERAGE, VERDICTS, judge_seeds, summary
from entrolab.tables.making import ADDRESS
from entrolab.tables.types import table_spec
from entrolab.text import full_label

# The styles of bars, which are those of verdicts.
STYLES = {"reproduced": "reproduced", "not reproduced": "failed", "undecided": "no-data"}


def seeds_of(name: str, study: Mapping, table: str, rows: pd.DataFrame) -> dict | None:
    """The verdicts over seeds of a table as the templates take them; None where there are none.

    Parameters
    ----------
    name : str
        Of the study.
    study : mapping
        With the key ``seeds`` if it has a file of values.
    table : str
    rows : DataFrame
        The table.
    """
    if not study.get("seeds"):
        return None
    values = read_seeds(study["seeds"])
    if not (values["table"] == table).any():
        return None
    spec = table_spec(name, study, table)
    judged, unknown = judge_seeds(rows, values, spec)
    if not len(judged) and not unknown:
        return None
    found = summary(judged)
    segments = [
        {"verdict": verdict, "slug": STYLES[verdict], "mark": "", "count": number}
        for verdict, number in found["verdicts"].items()
        if number
    ]
    return {
        "bar": {"segments": segments, "total": found["cells"]},
        "says": in_words(found, unknown),
        "cells": {tuple(row[name] for name in ADDRESS): _hover(row) for _, row in judged.iterrows()},
        "rows": [_row(row, spec) for _, row in judged.iterrows()],
    }


def in_words(found: Mapping, unknown: int = 0) -> list[str]:
    """The counts of a table, or of several, in sentences."""
    counts, single = found["verdicts"], found["of_single"]
    inside, outside = single["reproduced"], single["outside"]
    said = [
        f"{', '.join(f'{counts[name]} {name}' for name in VERDICTS)}, of {found['cells']} numbers under "
        f"{found['seeds']} seeds: the value of a fresh seed lies within the published ±, or outside, with a "
        f"probability of {COVERAGE:.0%}, or neither is certain.",
        f"With one seed, {found['single']} of {found['cells']} are reproduced; of these, "
        f"{inside['not reproduced']} are not and {inside['undecided']} are undecided over seeds. Of the "
        f"{found['cells'] - found['single']} others, {outside['reproduced']} are reproduced and "
        f"{outside['undecided']} are undecided. The verdict of one seed is not that of all seeds for "
        f"{found['flips']}.",
    ]
    if found["wide"]:
        said.append(
            f"For {found['wide']}, the margin is so wide that nothing could fail: it contains every number "
            "of the row, published and ours."
        )
    if unknown:
        said.append(
            f"Of {unknown} more, the values were made by another version of code, data or study "
            "(`make seeds`)."
        )
    return said


def _hover(row: pd.Series) -> str:
    return (
        f"over {row['n']} seeds {row['verdict']}: {_digits(row['mean'])}, a fresh seed "
        f"{_digits(row['low'])} to {_digits(row['high'])}, margin ±{_digits(row['margin'])}"
        + (", so wide that nothing in the row could fail" if row["wide"] else "")
    )


def _row(row: pd.Series, spec: Mapping) -> dict:
    heads = ((spec[f"{part}s"].get(row[part]), row[part]) for part in ADDRESS)
    return {
        "of": ", ".join(filter(None, (full_label(head) if head else key for head, key in heads))),
        "published": f"{_digits(row['published'])} ±{_digits(row['margin'])}"
        + (" (wide)" if row["wide"] else ""),
        "single": row["single"],
        "n": row["n"],
        "ours": f"{_digits(row['mean'])} ±{_digits(row['sd'])}",
        "fresh": f"{_digits(row['low'])} to {_digits(row['high'])}",
        "verdict": row["verdict"] + (", flips" if row["flips"] else ""),
        "slug": STYLES[row["verdict"]],
    }


def _digits(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:z.4g}"
