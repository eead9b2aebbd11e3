"""The selected parameters of a study's models, and how often each was selected."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from entrolab.fit.learners import ONE_OF, expand_values
from entrolab.report.studies import StudyResults
from entrolab.text import full_label


def chosen_parameters(results: StudyResults) -> list[dict]:
    """How often the study's first criterion selected each value of each grid, over all data sets and folds.

    Values are in the grid's order; ``edge`` marks the least and the greatest of three or more numbers.
    """
    if not len(results.selection):
        return []
    criterion = results.study["criteria"][0]
    taken = results.selection[
        (results.selection["criterion"] == criterion) & results.selection["success"].astype(bool)
    ]
    summary = []
    for key, model in results.study["models"].items():
        rows = [json.loads(text) for text in taken.loc[taken["model"] == key, "params"]]
        for learner, parameter, grid in _grids(model):
            mine = [row for row in rows if learner in ("", row.get(ONE_OF))]
            times = Counter(_value(row[parameter]) for row in mine if parameter in row)
            if not times:
                continue
            values = _values(grid, results.study)
            edges = _edges(values)
            summary.append(
                {
                    "key": key,
                    "model": full_label(model),
                    "parameter": f"{learner}: {parameter}" if learner else parameter,
                    "values": [
                        {
                            "value": text,
                            "times": times[text],
                            "share": round(100 * times[text] / times.total()),
                            "edge": text in edges and times[text] > 0,
                        }
                        for text in dict.fromkeys([*map(_value, values), *times])
                    ],
                }
            )
    return summary


def _grids(model: Mapping) -> Iterator[tuple[str, str, object]]:
    """Yield the parameters of a model's grids: alternative learner or "", name, values."""
    one_of = model.get(ONE_OF, {})
    if one_of:
        yield "", ONE_OF, list(one_of)
    yield from (("", parameter, grid) for parameter, grid in model["grid"].items())
    for name, learner in one_of.items():
        yield from ((name, parameter, grid) for parameter, grid in learner["grid"].items())


def _values(grid, study: Mapping) -> list:
    """The values of a parameter in a grid; the union over data sets if they differ."""
    if isinstance(grid, Mapping) and "of_dataset" in grid:
        return list(chain.from_iterable(study["of_dataset"][grid["of_dataset"]].values()))
    return expand_values(grid)


def _edges(values: Sequence) -> set[str]:
    """The least and the greatest number of a grid; empty if it has fewer than three numbers."""
    numbers = {value for value in values if isinstance(value, int | float) and not isinstance(value, bool)}
    return {_value(min(numbers)), _value(max(numbers))} if len(numbers) > 2 else set()


def _value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
