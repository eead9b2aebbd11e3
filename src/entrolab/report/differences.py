"""Values that differ from the published ones by more than the tolerance, and explanations that were tried."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from entrolab.report.errata import LONGEST, Listed, errata_of
from entrolab.report.studies import StudyResults
from entrolab.tables.rendering import digits_of
from entrolab.text import one_line

OUTSIDE = ("higher", "lower", "differs")
MINUS = "ours − published "  # how a difference of two numbers begins


def differences(results: StudyResults, tables: Sequence[Mapping], errata: Sequence[Listed]) -> dict | None:
    """The values of a study outside their tolerances, and the explanations that were tried.

    `tables` are the laid-out tables, with their verdicts over seeds. The result is None if no value differs,
    else ``tried`` (explanations, each with the number of ``listed`` that it applies to), ``listed`` (with the
    numbers of their ``reasons`` and of the ``errata`` of their table), and ``unexplained``, the number of
    values with neither.
    """
    study = results.study
    explanations, values = list(enumerate(study.differences, start=1)), []
    for table in tables:
        name = table["name"]
        rows, spec = results.tables[name], study.spec_of_table(name)
        digits = digits_of(rows, spec)
        own = [erratum.number for erratum in errata_of(errata, name)]
        over_seeds = table["seeds"]["cells"] if table["seeds"] else {}
        for row in rows[rows["verdict"].isin(OUTSIDE)].itertuples(index=False):
            cell = (row.dataset, row.model, row.metric)
            quantity, n_digits = spec.metrics[row.metric], digits[row.metric]
            difference = quantity.difference(row.difference, row.published, n_digits)
            of_ours = quantity.row_digits([row.ours], [], n_digits, has_published=True)
            values.append(
                {
                    "table": name,
                    "title": table["heading"],
                    "of": spec.label_of(*cell),
                    "published": quantity.published_number(row.published, n_digits),
                    "ours": quantity.number(row.ours, of_ours),
                    "difference": "" if math.isnan(row.difference) else difference.removeprefix(MINUS),
                    "seeds": over_seeds.get(cell, "–"),
                    "reasons": [number for number, one in explanations if one.applies_to(name, *cell)],
                    "errata": own,
                }
            )
    if not values:
        return None
    counted = Counter(number for value in values for number in value["reasons"])
    return {
        "tried": [
            {
                "number": number,
                "tried": one_line(one.tried, limit=LONGEST),
                "gave": one_line(one.gave, limit=LONGEST),
                "tested_by": one.tested_by,
                "n_values": counted[number],
            }
            for number, one in explanations
        ],
        "listed": values,
        "n_values": len(values),
        "unexplained": sum(not (value["reasons"] or value["errata"]) for value in values),
    }
