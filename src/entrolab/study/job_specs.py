"""What a study comes down to: cells, and the specification of all that is computed, measured or drawn.

A cell is a data set and a model. What differs between data sets, ``{of_dataset: name}`` in a study, is
looked up here. A specification holds all that decides a result and nothing else: a result is renewed when it
changes.
"""

import itertools
from collections.abc import Mapping

from entrolab.figure_types.types import FIGURE_TYPES, FigureType
from entrolab.fit.learners import ONE_OF, estimator_of, seed_from
from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.study.lookup import protocol_of, resolved
from entrolab.tables.types import FILES, TABLE_TYPES


def table_runs(study: Mapping, table: str) -> list[tuple[str, str]]:
    """The (data set, model) pairs that a table needs trained, row by row."""
    entry = study["tables"][table]
    kind = TABLE_TYPES[entry["kind"]]
    return kind.rows_and_models(entry, study) if kind.trains else []


def score_tables(study: Mapping, dataset: str) -> list[str]:
    """The names of the tables that show scores of a data set's runs."""
    return [
        name
        for name, entry in study["tables"].items()
        if TABLE_TYPES[entry["kind"]].ranks and dataset in study["datasets"][entry["datasets"]]
    ]


def table_files(paper: str, study: Mapping, table: str) -> list[str]:
    """The results that a table is made of."""
    entry = study["tables"][table]
    kind = TABLE_TYPES[entry["kind"]]
    measured_for = entry.get("measured_for", table)
    files = (
        FILES[stage].format(paper=paper, table=measured_for, dataset=dataset, model=model)
        for stage in kind.reads(entry)
        for dataset, model in kind.rows_and_models(entry, study)
    )
    return list(dict.fromkeys(files))


def printed_cells(study: Mapping, table: str) -> list[tuple[str, str, str]]:
    """The places of a table's cells among the printed numbers: data set, model and metric."""
    kind = TABLE_TYPES[study["tables"][table]["kind"]]
    return [kind.printed_at(cell) for cell in kind.cells(table_spec("", study, table))]


def table_spec(paper: str, study: Mapping, table: str, labels: Mapping[str, str] | None = None) -> dict:
    """One entry of a study's ``tables`` with names of groups resolved to data sets and models with labels.

    Parameters
    ----------
    paper : str
        The study's key, e.g. ``"eem"``.
    study : mapping
        The study, as `entrolab.study.config.load_study` returns it.
    table : str
        The table's key in the study.
    labels : mapping of data set keys to labels, optional
        As the catalog has them; a data set without a label is shown by its key.

    Returns
    -------
    dict
        The entry, and: paper, table, ``trials`` of the protocol (0 if it has folds), the ``sample`` of rows
        that it takes of larger sets (0 if it takes all), datasets, models and metrics (each key ->
        {"label", "sublabel", …}, in the study's order).
    """
    entry = study["tables"][table]
    kind = TABLE_TYPES[entry["kind"]]
    labels, tasks, protocol = labels or {}, study.get("tasks", {}), study.get("protocol", {})
    named = {
        key: {"label": labels.get(key, key), "sublabel": "", "task": tasks.get(key, "")}
        for key in (() if kind.generates else study["datasets"][entry["datasets"]])
    }
    return {
        **entry,
        "paper": paper,
        "table": table,
        "trials": protocol.get("trials", 0),
        "sample": protocol.get("rows", 0),
        "datasets": named | kind.places(entry),
        "models": kind.models(entry, study),
        "metrics": kind.metrics(entry),
    }


def type_of(study: Mapping, figure: str) -> FigureType:
    """The type of a study's figure."""
    return FIGURE_TYPES[study["figures"][figure]["kind"]]


def figure_runs(study: Mapping, figure: str) -> list[tuple[str, str]]:
    """The (data set, model) pairs that a figure needs trained, panel by panel."""
    return type_of(study, figure).runs(study["figures"][figure], study)


def figure_files(paper: str, study: Mapping, figure: str) -> list[str]:
    """The results that a figure is drawn from, in the order of its cells, stage by stage for each."""
    entry, kind = study["figures"][figure], type_of(study, figure)
    files = [
        FILES[stage].format(paper=paper, table=entry.get("table"), dataset=dataset, model=model)
        for dataset, model in kind.drawn_from(entry, study)
        for stage in kind.stages
    ]
    # Of trained cells each has its own, if they share some.
    return files if kind.trains else list(dict.fromkeys(files))


def figure_datasets(study: Mapping, figure: str) -> list[str]:
    """The data sets that a figure shows anything of, or the table that it is drawn from."""
    return type_of(study, figure).datasets(study["figures"][figure], study)


def figure_formats(study: Mapping, figure: str) -> tuple[str, ...]:
    """The formats that a figure is written in."""
    return type_of(study, figure).formats


def rows_to_hover(study: Mapping, figure: str) -> list[str]:
    """The prepared data sets whose rows a figure lets one hover over, in the order of its group."""
    return [FILES["data"].format(dataset=dataset) for dataset in figure_datasets(study, figure)]


def study_runs(study: Mapping) -> list[tuple[str, str]]:
    """The (data set, model) pairs that any of a study's tables or figures needs trained, each once."""
    shown = [table_runs(study, table) for table in study["tables"]]
    shown += [figure_runs(study, figure) for figure in study.get("figures", {})]
    return list(dict.fromkeys(itertools.chain.from_iterable(shown)))


def run_spec(paper: str, study: Mapping, dataset: str, model: str, seed: int) -> dict:
    """All that decides the results of one cell, and nothing else: a cell is recomputed when this changes."""
    entry, task = study["models"][model], study["tasks"][dataset]
    decided = {
        name: resolved(entry[name], study, dataset, f"models.{model}.{name}")
        for name in ("params", "steps", "grid", ONE_OF)
    }
    return {
        "paper": paper,
        "dataset": dataset,
        "model": model,
        "estimator": estimator_of(entry, task),
        **decided,
        "seed": seed,
        "metrics": candidate_metrics(study, dataset, model),
        "criteria": entry["criteria"],
        "protocol": protocol_of(study, dataset, model),
    }


def candidate_metrics(study: Mapping, dataset: str, model: str) -> list[str]:
    """The metrics that all candidates are scored by: the one that selects, and those shown of whole grids.

    All other metrics of a study are computed from the selected models' predictions.
    """
    cell = (dataset, model)
    shown = [
        entry["metric"]
        for name, entry in study.get("figures", {}).items()
        if "candidates" in type_of(study, name).stages and cell in figure_runs(study, name)
    ]
    shown += [
        entry["metric"]
        for name, entry in study["tables"].items()
        if entry.get("among") and cell in table_runs(study, name)
    ]
    named = {metric for one in shown for metric in ([one] if isinstance(one, str) else one)}
    first, *others = metrics_of(study["tasks"][dataset], study["metrics"])
    return [first, *(metric for metric in others if metric in named and METRICS[metric].chooses)]


def measurement_spec(paper: str, study: Mapping, table: str, dataset: str, seed: int) -> dict:
    """All that decides what is measured on a data set for a table, and nothing else."""
    entry = study["tables"][table]
    kind = TABLE_TYPES[entry["kind"]]
    return {
        "paper": paper,
        "table": table,
        "dataset": dataset,
        "measured_by": kind.measured_by,
        "seed": seed,
        **resolved(kind.measurement(entry, study, dataset), study, dataset, f"tables.{table}"),
    }


def figure_spec(paper: str, study: Mapping, figure: str, seed: int) -> dict:
    """All that decides how a figure looks, names resolved: it is drawn anew when this changes."""
    entry = study["figures"][figure]
    # Notes are the page's alone; the shapes of images are among what is resolved.
    own = {name: value for name, value in entry.items() if name not in ("notes", "shape")}
    shown = type_of(study, figure).spec(figure, entry, study, seed_from(seed, paper, figure))
    return {"paper": paper, "figure": figure, **own} | shown
