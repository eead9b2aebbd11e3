"""A study's tables for pages: the numbers, fit times and a bar of verdicts."""

from dataclasses import replace

from entrolab.claims.numbers import Numbers
from entrolab.claims.winners import best_of_rows, winners
from entrolab.report.studies import StudyResults
from entrolab.results.reader import Results
from entrolab.seeds.rendering import seeds_of
from entrolab.tables.base import TableSpec
from entrolab.tables.captions import in_words
from entrolab.tables.making import counts
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
        of_table = layout(explain_zeros(table), spec, best, seeds)
        if spec.type.ranks and spec.type.columns == ("model",) and not of_table["has_published"]:
            _add_seconds(of_table, spec, numbers.results)
        shown.append(of_table | {"bar": bar(counts(table))})
    return shown


def _add_seconds(table: dict, spec: TableSpec, runs: Results) -> None:
    """Add fit times to the first row of each data set of a score table, and a sentence on these."""
    quantity, any_known = COSTS[SECONDS], False
    for dataset, row in {row["at"]["dataset"]: row for row in reversed(table["rows"])}.items():
        models = [column["key"] for column in table["columns"]]
        seconds = [runs.facts(dataset, model, spec.entry.criterion).get(SECONDS) for model in models]
        known = [value for value in seconds if value is not None]
        any_known |= bool(known)
        digits = quantity.row_digits(known, (), 1, False)  # one precision for the row
        row["cells"] = [
            cell if value is None else replace(cell, seconds=quantity.number(value, digits))
            for cell, value in zip(row["cells"], seconds, strict=True)
        ]
    if any_known:
        said = in_words(quantity.explanation, spec)
        table["says"] += f" Small: {said[0].lower()}{said[1:]}"
