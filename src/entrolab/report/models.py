"""The content of a learner's page: its docstring, its studies, and its ranks among other models."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from entrolab.fit.learners import ONE_OF, estimator_of, learners_of
from entrolab.fit.metrics import METRICS
from entrolab.report.docstrings import described
from entrolab.report.studies import StudyResults, trained
from entrolab.tables.number_format import power_of_two, title
from entrolab.tables.ranking import scores_of
from entrolab.tables.types import TABLE_TYPES
from entrolab.text import full_label, in_short, one_line

NAMED = 6  # data sets named in a line


def learners(study: Mapping) -> dict[str, list[str]]:
    """The learners of a study by import path, each with the models that use it.

    A model with alternative learners is listed under the projection that precedes them.
    """
    found: dict[str, list[str]] = {}
    for name, model in trained(study).items():
        projects = model.get(ONE_OF) and model["steps"]
        for path in [model["steps"][-1]["estimator"]] if projects else learners_of(model):
            found.setdefault(path, []).append(name)
    return found


def model_page(
    path: str, studies: Iterable[StudyResults], standings: Mapping[str, Sequence[Mapping]]
) -> dict:
    """The content of the page of the learner at an import path; `standings` are by study."""
    uses = [
        {
            "key": results.key,
            "title": one_line(results.study["title"]),
            "models": [_model(path, name, results) for name in models],
            "standing": [
                line
                for line in standings[results.key]
                if line["key"] in models
                and _is_meant(path, results.study["models"][line["key"]], line["tasks"])
            ],
        }
        for results in studies
        if (models := learners(results.study).get(path))
    ]
    lines = [line for use in uses for line in use["standing"]]
    return {
        "path": path,
        "name": path.rpartition(".")[2],
        "package": path.partition(".")[0],
        **described(path),
        "uses": uses,
        "first": sum(line["n_best"] for line in lines),
        "compared": sum(line["n"] for line in lines),
    }


def _is_meant(path: str, model: Mapping, tasks: Iterable[str]) -> bool:
    """Whether a model uses the learner at an import path for any of the tasks."""
    return "estimators" not in model or path in {estimator_of(model, task) for task in tasks}


def _model(path: str, name: str, results: StudyResults) -> dict:
    model = results.study["models"][name]
    records = [
        record
        for record in results.records
        if record["model"] == name and _is_meant(path, model, [results.study["tasks"][record["dataset"]]])
    ]
    return {
        "key": name,
        "name": full_label(model),
        "after": [step["estimator"].rpartition(".")[2] for step in model["steps"]],
        "params": _in_words(model.get("params", {})),
        "grid": _in_words({parameter: _values(grid) for parameter, grid in model.get("grid", {}).items()}),
        "one_of": [learner["estimator"].rpartition(".")[2] for learner in model.get(ONE_OF, {}).values()],
        "n_cells": len(records),
        "n_failed": sum(not record["success"] for record in records),
    }


def standing(results: StudyResults) -> list[dict]:
    """The standing of each model in each score table, metric by metric.

    A model without a value on a data set is not compared there; a model tied with the best is also best.
    """
    lines = []
    for name, table in results.tables.items():
        if not TABLE_TYPES[results.study["tables"][name]["type"]].ranks:
            continue
        for metric, rows in table.groupby("metric", sort=False):
            where = {"table": name, "title": title(name), "metric": METRICS[metric].label}
            for model, line in _compared(scores_of(rows, metric), METRICS[metric].greater_is_better):
                label = full_label(results.study["models"][model])
                lines.append({**where, "key": model, "model": label, "tasks": METRICS[metric].tasks, **line})
    return lines


def _compared(ours: pd.DataFrame, greater_is_better: bool) -> Iterator[tuple[str, dict]]:
    """Yield each model with its comparison to the others, if two or more have a value."""
    signed = ours if greater_is_better else -ours
    signed = signed[signed.notna().sum(axis=1) > 1]
    behind = signed.rsub(signed.max(axis=1), axis=0)
    last = signed.eq(signed.min(axis=1), axis=0)
    for model in signed:
        mine = behind[model].dropna()
        if len(mine):
            best = mine.index[mine == 0]
            worst = mine[last.loc[mine.index, model]].sort_values(ascending=False, kind="stable").index
            line = {"n": len(mine), "behind": mine.mean()}
            for which, keys in {"best": list(best), "worst": list(worst)}.items():
                line[f"n_{which}"] = len(keys)
                line[which] = {"keys": keys[:NAMED], "more": max(len(keys) - NAMED, 0)}
            yield model, line


def _values(grid: object) -> object:
    """The values of a grid, abbreviated."""
    if not isinstance(grid, list):
        return grid
    powers = [power_of_two(value) if isinstance(value, float) and value > 0 else None for value in grid]
    return in_short(powers if all(powers) else grid)


def _in_short(value) -> str:
    return f"{value:g}" if isinstance(value, float) else one_line(value)


def _in_words(values: Mapping) -> str:
    said = (
        f"{name} by data set" if isinstance(value, Mapping) else f"{name} = {_in_short(value)}"
        for name, value in values.items()
    )
    return "; ".join(said)
