"""A study's tables for pages: the numbers, fit times and a bar of verdicts."""

from collections.abc import Mapping
from dataclasses import replace

from entrolab.claims.numbers import Numbers
from entrolab.claims.winners import SAYS, best_of_rows, winners
from entrolab.report.studies import StudyResults
from entrolab.seeds.rendering import seeds_of
from entrolab.tables.base import TableSpec
from entrolab.tables.making import counts
from entrolab.tables.rendering import layout, marks_of
from entrolab.tables.results import Results
from entrolab.tables.types import TABLE_TYPES

SECONDS = "fit_seconds"


def laid_out(results: StudyResults) -> list[dict]:
    """The content of a study's tables for the templates."""
    home = results.folder.parents[1]
    numbers, runs = Numbers(results.study, home), Results(results.study, home)
    shown = []
    for name, table in results.tables.items():
        spec = results.study.spec_of_table(name)
        seeds = seeds_of(results.study, name, table)
        of_table = layout(table, spec, winners(best_of_rows(numbers, name, table)), SAYS, seeds)
        if spec.type.ranks and spec.type.columns == ("model",) and not of_table["has_published"]:
            of_table |= _with_seconds(of_table, spec, runs)
        shown.append(of_table | {"bar": bar(counts(table))})
    return shown


def bar(found: Mapping[str, int]) -> dict:
    """A bar of verdicts: its segments, and the number of cells."""
    segments = [
        {"verdict": name, "count": number, **marks_of(name)} for name, number in found.items() if number
    ]
    return {"segments": segments, "total": sum(found.values())}


def _with_seconds(table: Mapping, spec: TableSpec, runs: Results) -> dict:
    """The rows of a score table with fit times in the first row of each data set, and a sentence on these."""
    told, rows = set(), []
    for row in table["rows"]:
        dataset = row["at"]["dataset"]
        if dataset not in told:
            told.add(dataset)
            row = {**row, "cells": _timed(row["cells"], dataset, spec, runs, table["columns"])}
        rows.append(row)
    if not any(cell.seconds for row in rows for cell in row["cells"]):
        return {}
    said = TABLE_TYPES["times"].says(replace(spec, metrics=[SECONDS]))
    return {"rows": rows, "says": f"{table['says']} Small: {said[0].lower()}{said[1:]}"}


def _timed(cells: list, dataset: str, spec: TableSpec, runs: Results, columns: list) -> list:
    """The cells of a row, each with the seconds of its run, all with the same precision."""
    times = TABLE_TYPES["times"]
    seconds = [_seconds(dataset, column["key"], spec, runs) for column in columns]
    digits = times.row_digits(SECONDS, [value for value in seconds if value is not None], (), 1)
    return [
        cell if value is None else replace(cell, seconds=times.number(SECONDS, value, digits))
        for cell, value in zip(cells, seconds, strict=True)
    ]


def _seconds(dataset: str, model: str, spec: TableSpec, runs: Results) -> float | None:
    """The fit time of a run's model that the table's criterion selected; None if there is none."""
    return runs.facts(dataset, model, spec.entry.criterion).get(SECONDS)
