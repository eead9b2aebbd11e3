"""Values that differ from the published ones by more than the tolerance, and explanations that were tried."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from entrolab.report.errata import LONGEST, errata_of
from entrolab.report.studies import StudyResults
from entrolab.tables.making import ADDRESS
from entrolab.tables.number_format import title
from entrolab.tables.rendering import digits_of
from entrolab.text import one_line

OUTSIDE = ("higher", "lower", "differs")
MINUS = "ours − published "  # how a difference of two numbers begins
# Keys of an explanation that restrict the values it applies to -> the columns of a table that they match.
PLACES = {"datasets": "dataset", "models": "model", "metrics": "metric"}


def tried(study: Mapping) -> list[dict]:
    """The explanations that a study tried, numbered from 1, with one-line texts."""
    return [
        {
            **entry,
            "number": number,
            "tried": one_line(entry["tried"], limit=LONGEST),
            "gave": one_line(entry["gave"], limit=LONGEST),
            "tested_by": entry.get("tested_by", []),
        }
        for number, entry in enumerate(study.get("differences", []), start=1)
    ]


def of_cell(explanations: Sequence[Mapping], table: str, cell: Mapping[str, str]) -> list[int]:
    """The numbers of the explanations that apply to a cell; a missing key matches everything.

    Examples
    --------
    >>> every = {"number": 2, "tables": ["table4"]}
    >>> given = [{"number": 1, "tables": ["table4"], "datasets": ["sonar"]}, every]
    >>> of_cell(given, "table4", {"dataset": "heart", "model": "eem_rbf", "metric": "gmean"})
    [2]
    """
    return [
        one["number"]
        for one in explanations
        if table in one["tables"]
        and all(cell[column] in one[part] for part, column in PLACES.items() if one.get(part))
    ]


def differences(results: StudyResults, tables: Sequence[Mapping], errata: Sequence[Mapping]) -> dict | None:
    """The values of a study outside their tolerances, and the explanations that were tried.

    `tables` are the laid-out tables, with their verdicts over seeds. The result is None if no value differs,
    else ``tried`` (explanations, each with the number of ``values`` that it applies to), ``values`` (with the
    numbers of their ``reasons`` and of the ``errata`` of their table), and ``unexplained``, the number of
    values with neither.
    """
    explanations, values = tried(results.study), []
    for table in tables:
        name = table["name"]
        rows = results.tables[name]
        spec = results.study.spec_of_table(name)
        digits = digits_of(results.tables[name], spec.type)
        own = [erratum["number"] for erratum in errata_of(errata, name)]
        over_seeds = table["seeds"]["cells"] if table["seeds"] else {}
        for row in rows[rows["verdict"].isin(OUTSIDE)].to_dict("records"):
            metric, published = row["metric"], row["published"]
            shown_as = spec.type.shown_as(metric)
            of_ours = digits[metric]
            if not shown_as.ranks:
                of_ours = shown_as.row_digits(metric, [row["ours"]], [], of_ours)
            difference = shown_as.difference(metric, row["difference"], published, digits[metric])
            values.append(
                {
                    "table": name,
                    "title": title(name),
                    "of": spec.label_of(row["dataset"], row["model"], metric),
                    "published": shown_as.published_number(metric, published, digits[metric]),
                    "ours": shown_as.number(metric, row["ours"], of_ours),
                    "difference": "" if math.isnan(row["difference"]) else difference.removeprefix(MINUS),
                    "seeds": over_seeds.get(tuple(row[part] for part in ADDRESS), ""),
                    "reasons": of_cell(explanations, name, row),
                    "errata": own,
                }
            )
    if not values:
        return None
    counted = Counter(number for value in values for number in value["reasons"])
    return {
        "tried": [{**one, "values": counted[one["number"]]} for one in explanations],
        "values": values,
        "unexplained": sum(not (value["reasons"] or value["errata"]) for value in values),
    }
