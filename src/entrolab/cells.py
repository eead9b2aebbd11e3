"""What a study comes down to: cells, and the specification of all that is computed, measured or drawn.

A cell is a data set and a model. What differs between data sets, ``{of_dataset: name}`` in a study, is
looked up here. A specification holds all that decides a result and nothing else: a result is renewed when it
changes.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping

from entrolab.kinds import FILES, GENERATED, KINDS
from entrolab.metrics import METRICS, metrics_of
from entrolab.registry import ONE_OF, estimator_of, learner_of, made_of, projection_of, seed_from
from entrolab.schema import ConfigError, check_known

# The stages that each kind of figure is drawn from.
FIGURE_STAGES = {
    "process": ("scaled",),
    "grid_curves": ("candidates",),
    "grid_surface": ("candidates",),
    "trials": ("selection", "predictions"),
    "density": ("measured",),
    "support": ("scaled", "folds", "model"),
    "tradeoff": ("candidates",),
    "by_data": ("tables", "record"),
    "projections": ("scaled",),
    "starts": ("measured",),
    "expected_maximum": ("measured",),
    "evaluations": ("measured",),
    "samples": ("scaled",),
    "weights": ("scaled", "model"),
    "clusterings": ("scaled",),
    "error_densities": ("scaled",),
    "loss_curves": ("model",),
    "critical_difference": ("tables",),
}
# The kind of table that a kind of figure draws, or whose measurement, and what decides of it how that looks.
OF_A_TABLE = {
    "density": ("density", ("dims", "densities")),
    "by_data": ("scores", ()),
    "starts": ("starts", ("datasets",)),
    "expected_maximum": ("starts", ("datasets",)),
    "evaluations": ("evaluations", ("rows", "ways")),
    "critical_difference": ("scores", ()),
}
# Kinds of figures that are drawn from a group's rows, and need nothing trained.
OF_ROWS = {"projections", "samples", "clusterings", "error_densities"}
# Those of them that fit models anew, and which part of a model's entry, for a task, each of them fits.
FITTED_ANEW = {
    "projections": lambda model, task: projection_of(model),
    "clusterings": learner_of,
    "error_densities": learner_of,
}
# Kinds that are drawn from models that are fitted for good.
OF_STORED_MODELS = {"support", "weights", "loss_curves"}
# Kinds of figures whose rows can be hovered over on a page of their own.
TO_HOVER = {"projections"}
# The stages that need cells to be trained.
OF_CELLS = {"candidates", "selection", "model"}


def table_cells(study: Mapping, table: str) -> list[tuple[str, str]]:
    """The (data set, model) pairs that a table needs trained, row by row."""
    entry = study["tables"][table]
    if not KINDS[entry["kind"]].trains:
        return []
    return list(rows_and_models(study, entry))


def score_tables(study: Mapping, dataset: str) -> list[str]:
    """The names of the score tables that show a data set."""
    return [
        name
        for name, entry in study["tables"].items()
        if entry["kind"] == "scores" and dataset in study["datasets"][entry["datasets"]]
    ]


def table_files(paper: str, study: Mapping, table: str) -> list[str]:
    """The results that a table is made of."""
    entry = study["tables"][table]
    measured_for = entry.get("measured_for", table)
    files = (
        FILES[stage].format(paper=paper, table=measured_for, dataset=dataset, model=model)
        for stage in KINDS[entry["kind"]].reads(entry)
        for dataset, model in rows_and_models(study, entry)
    )
    return list(dict.fromkeys(files))


def printed_cells(study: Mapping, table: str) -> list[tuple[str, str, str]]:
    """The places of a table's cells among the printed numbers: data set, model and metric."""
    entry = study["tables"][table]
    kind = KINDS[entry["kind"]]
    named = {} if kind.generates else dict.fromkeys(study["datasets"][entry["datasets"]])
    shown = {
        "datasets": named | kind.places(entry),
        "models": kind.models(entry, study),
        "metrics": kind.metrics(entry),
    }
    return [kind.printed_at(cell) for cell in kind.cells({**entry, **shown})]


def rows_and_models(study: Mapping, entry: Mapping) -> Iterator[tuple[str, str]]:
    kind = KINDS[entry["kind"]]
    datasets = [GENERATED] if kind.generates else study["datasets"][entry["datasets"]]
    for dataset, model in itertools.product(datasets, kind.models(entry, study)):
        if not kind.trains or runs_on(study, dataset, model):
            yield dataset, model


def runs_on(study: Mapping, dataset: str, model: str) -> bool:
    """Whether a model has a learner for the data set's task."""
    entry = study["models"][model]
    return bool(entry.get(ONE_OF)) or estimator_of(entry, study["tasks"][dataset]) is not None


def figure_cells(study: Mapping, figure: str) -> list[tuple[str, str]]:
    """The (data set, model) pairs that a figure needs trained, panel by panel."""
    entry = study["figures"][figure]
    if not OF_CELLS & set(FIGURE_STAGES[entry["kind"]]):
        return []
    cells = itertools.product(study["datasets"][entry["datasets"]], entry["models"])
    return [cell for cell in cells if runs_on(study, *cell)]


def figure_files(paper: str, study: Mapping, figure: str) -> list[str]:
    """The results that a figure is drawn from, in the order of its cells, stage by stage for each."""
    entry = study["figures"][figure]
    if entry["kind"] == "process":
        cells = [(entry["dataset"], "")]
    elif FIGURE_STAGES[entry["kind"]] == ("tables",):
        cells = [("", "")]  # a table is one file, whatever it shows
    elif "table" in entry:
        cells = rows_and_models(study, study["tables"][entry["table"]])
    elif entry["kind"] in OF_ROWS:
        cells = [(dataset, "") for dataset in study["datasets"][entry["datasets"]]]
    else:
        cells = figure_cells(study, figure)
    files = [
        FILES[stage].format(paper=paper, table=entry.get("table"), dataset=dataset, model=model)
        for dataset, model in cells
        for stage in FIGURE_STAGES[entry["kind"]]
    ]
    # Of trained cells each has its own, if they share some.
    return files if figure_cells(study, figure) else list(dict.fromkeys(files))


def figure_datasets(study: Mapping, figure: str) -> list[str]:
    """The data sets that a figure shows anything of, or the table that it is drawn from."""
    entry = study["figures"][figure]
    if "dataset" in entry:
        return [entry["dataset"]]
    group = entry.get("datasets") or study["tables"][entry["table"]].get("datasets")
    return list(study["datasets"].get(group, ()))


def figure_formats(study: Mapping, figure: str) -> tuple[str, ...]:
    """The formats that a figure is written in."""
    return ("svg", "png", "csv", *(["html"] if study["figures"][figure]["kind"] in TO_HOVER else []))


def rows_to_hover(study: Mapping, figure: str) -> list[str]:
    """The prepared data sets whose rows a figure lets one hover over, in the order of its group."""
    datasets = study["datasets"][study["figures"][figure]["datasets"]]
    return [FILES["data"].format(dataset=dataset) for dataset in datasets]


def study_cells(study: Mapping) -> list[tuple[str, str]]:
    """The (data set, model) pairs that any of a study's tables or figures needs trained, each once."""
    shown = [table_cells(study, table) for table in study["tables"]]
    shown += [figure_cells(study, figure) for figure in study.get("figures", {})]
    return list(dict.fromkeys(itertools.chain.from_iterable(shown)))


def cell_spec(paper: str, study: Mapping, dataset: str, model: str, seed: int) -> dict:
    """All that decides the results of one cell, and nothing else: a cell is recomputed when this changes."""
    entry, task = study["models"][model], study["tasks"][dataset]
    decided = {
        name: _resolved(entry[name], study, dataset, f"models.{model}.{name}")
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
        if "candidates" in FIGURE_STAGES[entry["kind"]] and cell in figure_cells(study, name)
    ]
    shown += [
        entry["metric"]
        for name, entry in study["tables"].items()
        if entry.get("among") and cell in table_cells(study, name)
    ]
    named = {metric for one in shown for metric in ([one] if isinstance(one, str) else one)}
    first, *others = metrics_of(study["tasks"][dataset], study["metrics"])
    return [first, *(metric for metric in others if metric in named and METRICS[metric].chooses)]


def scaling_of(study: Mapping, dataset: str) -> dict:
    """How a study scales a data set."""
    return _resolved(study["scaling"], study, dataset, "scaling")


def protocol_of(study: Mapping, dataset: str, model: str | None = None) -> dict:
    """How a study divides a data set; a model may be given fewer trials, rows that stay in order have one."""
    protocol = _resolved(study["protocol"], study, dataset, "protocol")
    if not protocol.get("shuffle", True):
        return protocol | {"trials": 1}
    entry = {} if model is None else study["models"][model]
    if "trials" not in entry:
        return protocol
    return protocol | {"trials": _resolved(entry["trials"], study, dataset, f"models.{model}.trials")}


def _resolved(value, study: Mapping, dataset: str, where: str):
    """A value with what ``{of_dataset: name}`` stands for in each place of it."""
    if isinstance(value, Mapping) and set(value) == {"of_dataset"}:
        return _looked_up(value["of_dataset"], study, dataset, where)
    if isinstance(value, Mapping):
        return {name: _resolved(one, study, dataset, f"{where}.{name}") for name, one in value.items()}
    if isinstance(value, list):
        return [_resolved(one, study, dataset, f"{where}.{k}") for k, one in enumerate(value)]
    return value


def _looked_up(name: str, study: Mapping, dataset: str, where: str):
    check_known(name, study["of_dataset"], study["file"], where, "name of of_dataset")
    values = study["of_dataset"][name]
    if dataset not in values and "default" not in values:
        raise ConfigError(
            f"{study['file']}: of_dataset.{name}: no value for the data set {dataset!r}, for which {where} "
            "asks; accepted: one for it, or a default"
        )
    return values.get(dataset, values.get("default"))


def measurement_spec(paper: str, study: Mapping, table: str, dataset: str, seed: int) -> dict:
    """All that decides what is measured on a data set for a table, and nothing else."""
    entry = study["tables"][table]
    kind = KINDS[entry["kind"]]
    return {
        "paper": paper,
        "table": table,
        "dataset": dataset,
        "measured_by": kind.measured_by,
        "seed": seed,
        **_resolved(kind.measurement(entry, study, dataset), study, dataset, f"tables.{table}"),
    }


def figure_spec(paper: str, study: Mapping, figure: str, seed: int) -> dict:
    """All that decides how a figure looks, names resolved: it is drawn anew when this changes."""
    entry = study["figures"][figure]
    spec = {"paper": paper, "figure": figure, **entry}
    del spec["notes"]  # the page's alone
    if "table" in entry:
        table = study["tables"][entry["table"]]
        shown = {name: table[name] for name in OF_A_TABLE[entry["kind"]][1]}
        if "datasets" in shown:
            shown["datasets"] = study["datasets"][table["datasets"]]
        return spec | shown | {"models": KINDS[table["kind"]].models(table, study)}
    if entry["kind"] == "process":
        model = study["models"][entry["model"]]
        learner = {name: model[name] for name in ("label", "sublabel", "estimator", "steps")}
        where = f"models.{entry['model']}.params"
        params = {**_resolved(model["params"], study, entry["dataset"], where), **entry["params"]}
        return spec | {"model": {**learner, "params": params}, "seed": seed_from(seed, paper, figure)}
    datasets = study["datasets"][entry["datasets"]]
    if "shape" in entry:
        shape = spec.pop("shape")
        spec["shapes"] = {
            dataset: _resolved(shape, study, dataset, f"figures.{figure}.shape") for dataset in datasets
        }
    if entry["kind"] == "samples":
        return spec | {"datasets": datasets}
    if entry["kind"] in FITTED_ANEW:
        spec |= {"datasets": datasets, "seed": seed_from(seed, paper, figure)}
        return spec | {"panels": _panels(study, entry), "models": _labels(study, entry["models"])}
    resolved = {"datasets": datasets, "cells": figure_cells(study, figure)}
    if entry["kind"] == "support":
        resolved["protocols"] = {dataset: protocol_of(study, dataset) for dataset in datasets}
    if entry["kind"] in OF_STORED_MODELS:
        resolved["learners"] = {name: made_of(study["models"][name]) for name in entry["models"]}
    if entry["kind"] in ("trials", "tradeoff"):
        metrics = [entry["metric"]] if isinstance(entry["metric"], str) else entry["metric"]
        tasks = {dataset: study.get("tasks", {}).get(dataset, "") for dataset in datasets}
        resolved |= {"metrics": metrics, "tasks": tasks}
    return spec | resolved | {"models": _labels(study, entry["models"])}


def _panels(study: Mapping, entry: Mapping) -> list[dict]:
    """What a figure fits anew, each with its data set and all that it is made of."""
    panels = []
    for dataset, model in itertools.product(study["datasets"][entry["datasets"]], entry["models"]):
        learner = FITTED_ANEW[entry["kind"]](study["models"][model], study["tasks"][dataset])
        learner["params"] = {**learner["params"], **entry.get("params", {})}
        resolved = _resolved(learner, study, dataset, f"models.{model}.params")
        panels.append({"dataset": dataset, "model": model, "learner": resolved})
    return panels


def _labels(study: Mapping, models: Iterable[str]) -> dict[str, dict]:
    return {name: {part: study["models"][name][part] for part in ("label", "sublabel")} for name in models}


def grouped(study: Mapping) -> list[str]:
    """The data sets of a study's groups, each once."""
    return list(dict.fromkeys(itertools.chain.from_iterable(study["datasets"].values())))
