"""Format verdicts over seeds for pages: a text for each cell, a bar and counts for each table."""

import pandas as pd

from entrolab.seeds.values import read_seeds
from entrolab.seeds.verdicts import COVERAGE, VERDICTS, judge_seeds, verdict_counts
from entrolab.study.study import Study
from entrolab.tables.rendering import bar
from entrolab.text import four_digits

# Verdict -> CSS class of its bar segment, shared with the verdicts of single tables.
STYLES = {"reproduced": "reproduced", "not reproduced": "failed", "undecided": "no-data"}


def seeds_of(study: Study, table: str, rows: pd.DataFrame) -> dict | None:
    """The template variables for a table's verdicts over seeds; None without any."""
    values = read_seeds(study.seeds or "")
    if not (values["table"] == table).any():
        return None
    judged, unknown, equal = judge_seeds(rows, values, study.spec_of_table(table))
    if not len(judged) and not unknown and not equal:
        return None
    return {
        "bar": bar(verdict_counts(judged), STYLES),
        "says": in_words(judged, unknown, equal),
        "cells": {(row.dataset, row.model, row.metric): _hover(row) for row in judged.itertuples()},
    }


def in_words(judged: pd.DataFrame, unknown: int = 0, equal: int = 0) -> list[str]:
    """The counts of the results of `judge_seeds` as sentences."""
    n, single = len(judged), judged["single"].eq("reproduced")
    counts, inside, outside = (verdict_counts(rows) for rows in (judged, judged[single], judged[~single]))
    seeds = " to ".join(map(str, sorted({judged["n"].min(), judged["n"].max()}))) if n else "0"
    said = [
        f"{', '.join(f'{counts[name]} {name}' for name in VERDICTS)}, of {n} numbers with {seeds} seeds: "
        f"with probability {COVERAGE:.0%}, a new seed's value lies within the published ± (reproduced) or "
        "outside it (not reproduced); undecided if neither can be said.",
        f"Reproduced with one seed: {single.sum()} of {n}; of these, over all seeds, not "
        f"reproduced: {inside['not reproduced']}, undecided: {inside['undecided']}. Of the other "
        f"{(~single).sum()}, reproduced over all seeds: {outside['reproduced']}, "
        f"undecided: {outside['undecided']}. The verdict depends on the seed for {judged['flips'].sum()}.",
    ]
    if judged["wide"].any():
        said.append(
            f"For {judged['wide'].sum()}, the tolerance is too wide to test anything: it contains every "
            "number of the row, published and ours."
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
        f"over {row.n} seeds {row.verdict}: {_digits(row.mean)} ±{_digits(row.sd)}, a new seed "
        f"{_digits(row.low)} to {_digits(row.high)}, tolerance ±{_digits(row.tolerance)}"
        + (", which contains every number of the row" if row.wide else "")
        + ("; the verdict depends on the seed" if row.flips else "")
    )


def _digits(value: float) -> str:
    return "–" if pd.isna(value) else four_digits(value)
