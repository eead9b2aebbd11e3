"""Format verdicts over seeds for pages: a text for each cell, a bar and a list for each table."""

import pandas as pd

from entrolab.seeds.values import read_seeds
from entrolab.seeds.verdicts import COVERAGE, VERDICTS, Summary, judge_seeds, summary
from entrolab.study.study import Study
from entrolab.tables.base import TableSpec
from entrolab.tables.rendering import bar

# Verdict -> CSS class of its bar segment, shared with the verdicts of single tables.
STYLES = {"reproduced": "reproduced", "not reproduced": "failed", "undecided": "no-data"}


def seeds_of(study: Study, table: str, rows: pd.DataFrame) -> dict | None:
    """The template variables for a table's verdicts over seeds; None without any."""
    if not study.seeds:
        return None
    values = read_seeds(study.seeds)
    if not (values["table"] == table).any():
        return None
    spec = study.spec_of_table(table)
    judged, left_out = judge_seeds(rows, values, spec)
    if not len(judged) and not any(left_out):
        return None
    found = summary(judged)
    return {
        "bar": bar(found.verdicts, STYLES),
        "says": in_words(found, *left_out),
        "cells": {(row.dataset, row.model, row.metric): _hover(row) for row in judged.itertuples()},
        "rows": [_row(row, spec) for row in judged.itertuples()],
    }


def in_words(found: Summary, unknown: int = 0, equal: int = 0) -> list[str]:
    """The counts of one or several tables as sentences."""
    counts, inside, outside = found.verdicts, found.inside, found.outside
    fewest = f"{found.fewest} to " if found.fewest < found.seeds else ""
    said = [
        f"{', '.join(f'{counts[name]} {name}' for name in VERDICTS)}, of {found.cells} numbers with "
        f"{fewest}{found.seeds} seeds: with probability {COVERAGE:.0%}, a new seed's value lies within "
        "the published ± (reproduced) or outside it (not reproduced); undecided if neither can be said.",
        f"Reproduced with one seed: {found.single} of {found.cells}; of these, over all seeds, not "
        f"reproduced: {inside['not reproduced']}, undecided: {inside['undecided']}. Of the other "
        f"{found.cells - found.single}, reproduced over all seeds: {outside['reproduced']}, "
        f"undecided: {outside['undecided']}. The verdict depends on the seed for {found.flips}.",
    ]
    if found.wide:
        said.append(
            f"For {found.wide}, the tolerance is too wide to test anything: it contains every number of "
            "the row, published and ours."
        )
    if equal:
        said.append(f"{equal} more are equal with every seed, so that there is no spread to judge by.")
    if unknown:
        said.append(
            f"{unknown} more are left out: their values were made with another version of the code, "
            "data or study (update them with `make seeds`)."
        )
    return said


def _hover(row) -> str:
    return (
        f"over {row.n} seeds {row.verdict}: {_digits(row.mean)}, a new seed "
        f"{_digits(row.low)} to {_digits(row.high)}, tolerance ±{_digits(row.tolerance)}"
        + (", which contains every number of the row" if row.wide else "")
    )


def _row(row, spec: TableSpec) -> dict:
    return {
        "of": spec.label_of(row.dataset, row.model, row.metric),
        "published": f"{_digits(row.published)} ±{_digits(row.tolerance)}" + (" (wide)" if row.wide else ""),
        "single": row.single,
        "n": row.n,
        "ours": f"{_digits(row.mean)} ±{_digits(row.sd)}",
        "fresh": f"{_digits(row.low)} to {_digits(row.high)}",
        "verdict": row.verdict + (", flips" if row.flips else ""),
        "slug": STYLES[row.verdict],
    }


def _digits(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:z.4g}"
