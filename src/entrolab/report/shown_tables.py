"""A study's tables for pages: the numbers, fit times and a bar of verdicts."""

from collections.abc import Mapping
from dataclasses import replace

from entrolab.claims.numbers import Numbers
from entrolab.claims.winners import SAYS, best_of_rows, winners
from entrolab.report.studies import StudyResults
from entrolab.results.reader import Results
from entrolab.seeds.rendering import seeds_of
from entrolab.tables.base import TableSpec
from entrolab.tables.captions import in_words
from entrolab.tables.making import Agreement, counts
from entrolab.tables.rendering import bar, explain_zeros, layout
from entrolab.tables.times import COSTS, SECONDS


def laid_out(results: StudyResults) -> list[dict]:
    """The content of a study's tables for the templates."""
    numbers = Numbers(results.study, results.folder.parents[1])
    shown = []
    for name, table in results.tables.items():
        spec = results.study.spec_of_table(name)
        seeds = seeds_of(results.study, name, table)
        best = winners(best_of_rows(numbers, name, table))
        of_table = layout(explain_zeros(table), spec, best, SAYS, seeds)
        if spec.type.ranks and spec.type.columns == ("model",) and not of_table["has_published"]:
            of_table |= _with_seconds(of_table, spec, numbers.results)
        of_table["bar"] = bar(counts(table))
        shown.append(of_table | {"tally": tally(of_table)})
    return shown


def counted(found: Agreement) -> list[tuple[str, str]]:
    """The counts of an agreement as lines: a number, and what it is a number of."""
    lines = []
    if found.results:
        lines.append((f"{found.reproduced:,}", f"of {found.results:,} results reproduced"))
    if found.given:
        lines.append((f"{found.equal:,}", f"of {found.given:,} data and settings equal"))
    if found.not_comparable:
        lines.append((f"{found.not_comparable:,}", "not comparable"))
    return lines


def tally(table: Mapping) -> str:
    """The counts of a laid-out table in a line, with the marks of other verdicts."""
    found, agreeing = table["agreed"], []
    if found.results:
        agreeing.append(f"{found.reproduced} of {found.results} {table['agreement']}")
    if found.given:
        agreeing.append(f"{found.equal} of {found.given} data and settings equal")
    none = "none comparable" if table["has_published"] else "no published values"
    parts = [", ".join(agreeing) or none]
    others = [one for one in table["bar"]["segments"] if one["verdict"] not in ("reproduced", "equal")]
    parts += [f"{one['count']} {one['mark']}" for one in others]
    parts += [f"over seeds {table['seeds']['bar']['said']}"] if table["seeds"] else []
    return " · ".join(parts)


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
    said = in_words(COSTS[SECONDS].explanation, spec)
    return {"rows": rows, "says": f"{table['says']} Small: {said[0].lower()}{said[1:]}"}


def _timed(cells: list, dataset: str, spec: TableSpec, runs: Results, columns: list) -> list:
    """The cells of a row, each with the seconds of its run, all with the same precision."""
    seconds = [_seconds(dataset, column["key"], spec, runs) for column in columns]
    digits = COSTS[SECONDS].row_digits([value for value in seconds if value is not None], (), 1, False)
    return [
        cell if value is None else replace(cell, seconds=COSTS[SECONDS].number(value, digits))
        for cell, value in zip(cells, seconds, strict=True)
    ]


def _seconds(dataset: str, model: str, spec: TableSpec, runs: Results) -> float | None:
    """The fit time of a run's model that the table's criterion selected; None if there is none."""
    return runs.facts(dataset, model, spec.entry.criterion).get(SECONDS)
