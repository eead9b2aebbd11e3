"""Expand a study into runs and build the spec of every job.

A run is a data set and a model. Values that differ between data sets, ``{of_dataset: name}`` in a study, are
resolved here. A spec contains all that decides a result and nothing else: a result is made again when its
spec changes.
"""

import itertools
from collections.abc import Mapping

from entrolab.figure_types.base import FigureType
from entrolab.figure_types.registry import FIGURE_TYPES
from entrolab.fit.learners import ONE_OF, estimator_of, seed_from
from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.study.lookup import protocol_of, resolved
from entrolab.study.sections import plain
from entrolab.tables.types import FILES, TABLE_TYPES, table_spec


def table_runs(study: Mapping, table: str) -> list[tuple[str, str]]:
    """The runs, (data set, model), that a table needs, row by row."""
    entry = study["tables"][table]
    table_type = TABLE_TYPES[entry["type"]]
    return table_type.rows_and_models(entry, study) if table_type.trains else []


def tracked_datasets(study: Mapping) -> list[str]:
    """The data sets of a study that have runs."""
    return list(dict.fromkeys(dataset for dataset, _ in study_runs(study)))


def score_tables(study: Mapping, dataset: str) -> list[str]:
    """The names of the tables that show scores of a data set's runs."""
    return [
        name
        for name, entry in study["tables"].items()
        if TABLE_TYPES[entry["type"]].ranks and dataset in study["datasets"][entry["datasets"]]
    ]


def table_files(study_name: str, study: Mapping, table: str) -> list[str]:
    """The result files that a table is made from."""
    entry = study["tables"][table]
    table_type = TABLE_TYPES[entry["type"]]
    measured_for = entry.get("measured_for", table)
    files = (
        FILES[stage].format(study=study_name, table=measured_for, dataset=dataset, model=model)
        for stage in table_type.reads(entry)
        for dataset, model in table_type.rows_and_models(entry, study)
    )
    return list(dict.fromkeys(files))


def published_cells(study: Mapping, table: str) -> list[tuple[str, str, str]]:
    """The cells of a table that may have a published value, as (data set, model, metric)."""
    table_type = TABLE_TYPES[study["tables"][table]["type"]]
    return [table_type.published_at(cell) for cell in table_type.cells(table_spec("", study, table))]


def type_of(study: Mapping, figure: str) -> FigureType:
    """The type of a study's figure."""
    return FIGURE_TYPES[study["figures"][figure]["type"]]


def figure_runs(study: Mapping, figure: str) -> list[tuple[str, str]]:
    """The runs, (data set, model), that a figure needs, panel by panel."""
    return type_of(study, figure).runs(study["figures"][figure], study)


def figure_files(study_name: str, study: Mapping, figure: str) -> list[str]:
    """The result files that a figure is drawn from, in the order of its runs, with all stages of a run."""
    entry, figure_type = study["figures"][figure], type_of(study, figure)
    files = [
        FILES[stage].format(study=study_name, table=entry.get("table"), dataset=dataset, model=model)
        for dataset, model in figure_type.drawn_from(entry, study)
        for stage in figure_type.stages
    ]
    # Runs have files of their own; figures of data sets may share some.
    return files if figure_type.trains else list(dict.fromkeys(files))


def figure_datasets(study: Mapping, figure: str) -> list[str]:
    """The data sets that a figure, or the table that it is drawn from, shows."""
    return type_of(study, figure).datasets(study["figures"][figure], study)


def figure_formats(study: Mapping, figure: str) -> tuple[str, ...]:
    """The formats that a figure is written in."""
    return type_of(study, figure).formats


def study_runs(study: Mapping) -> list[tuple[str, str]]:
    """The runs, (data set, model), that the tables and figures of a study need, each once."""
    shown = [table_runs(study, table) for table in study["tables"]]
    shown += [figure_runs(study, figure) for figure in study.get("figures", {})]
    return list(dict.fromkeys(itertools.chain.from_iterable(shown)))


def run_spec(study_name: str, study: Mapping, dataset: str, model: str, seed: int) -> dict:
    """The spec of a run: all that decides its results; the run is repeated when the spec changes."""
    entry, task = study["models"][model], study["tasks"][dataset]
    decided = {
        name: resolved(entry[name], study, dataset, f"models.{model}.{name}")
        for name in ("params", "steps", "grid", ONE_OF)
    }
    return {
        "study": study_name,
        "dataset": dataset,
        "model": model,
        "estimator": estimator_of(entry, task),
        **decided,
        "seed": seed,
        "metrics": candidate_metrics(study, dataset, model),
        **({"threshold": entry["threshold"]} if "threshold" in entry else {}),
        "criteria": entry["criteria"],
        "protocol": protocol_of(study, dataset, model),
        **({} if "scaling" in study else {"preprocessing": plain(study["preprocessing"])}),
    }


def candidate_metrics(study: Mapping, dataset: str, model: str) -> list[str]:
    """The metrics for scoring every candidate: the one that selects, and those shown for whole grids.

    All other metrics of a study are computed from the predictions of the selected models.
    """
    run = (dataset, model)
    shown = [
        entry["metric"]
        for name, entry in study.get("figures", {}).items()
        if "candidates" in type_of(study, name).stages and run in figure_runs(study, name)
    ]
    shown += [
        entry["metric"]
        for name, entry in study["tables"].items()
        if entry.get("among") and run in table_runs(study, name)
    ]
    named = {metric for one in shown for metric in ([one] if isinstance(one, str) else one)}
    first, *others = metrics_of(study["tasks"][dataset], study["metrics"])
    return [first, *(metric for metric in others if metric in named and METRICS[metric].chooses)]


def measurement_spec(study_name: str, study: Mapping, table: str, dataset: str, seed: int) -> dict:
    """The spec of a measurement on a data set for a table: all that decides its result."""
    entry = study["tables"][table]
    table_type = TABLE_TYPES[entry["type"]]
    return {
        "study": study_name,
        "table": table,
        "dataset": dataset,
        "measured_by": table_type.measured_by,
        "seed": seed,
        **resolved(table_type.measurement(entry, study, dataset), study, dataset, f"tables.{table}"),
    }


def figure_spec(study_name: str, study: Mapping, figure: str, seed: int) -> dict:
    """The spec of a figure, with names resolved; the figure is drawn again when the spec changes."""
    entry = study["figures"][figure]
    # Notes appear only on the page; shapes of images are resolved below.
    own = {name: plain(value) for name, value in entry.items() if name not in ("notes", "shape")}
    shown = type_of(study, figure).spec(figure, entry, study, seed_from(seed, study_name, figure))
    return {"study": study_name, "figure": figure, **own} | shown
