"""Studies and settings: read, checked, and told apart into the cells that the workflow computes.

Everything that a person writes is checked here, before a job starts, and what is wrong is told in one line:
the file, the place in it, what was found there and what is accepted.
"""

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from entrolearn.lab.kinds import FILES, GENERATED, KINDS
from entrolearn.lab.metrics import METRICS, metrics_of
from entrolearn.lab.registry import estimator_of, expand_values, seed_from
from entrolearn.lab.sources import UnknownEstimatorError, check_parameters, locate
from entrolearn.suggest import did_you_mean

# Settings that add a user's own files to the project's.
EXTRA = ("extra_studies", "extra_datasets")

# The stage that each kind of figure is drawn from.
FIGURE_STAGES = {
    "process": "scaled",
    "grid_curves": "candidates",
    "grid_surface": "candidates",
    "trials": "scores",
    "density": "measured",
}

# Kinds of tables and figures that fit one learner, whatever the task of the data set.
OF_ANY_TASK = {"process", "growth"}

# What a cell may take where the configuration does not say.
LIMITS = {"limit_seconds": 3600, "limit_gib": 8}


class ConfigError(ValueError):
    """Something in a configuration file that cannot be run."""


# ------------------------------------------------------------------------------------------------ reading


def load_configuration(home: str | os.PathLike, config: Mapping) -> tuple[dict, dict, dict]:
    """Everything that there is to configure: the catalog of data sets, the studies and the settings.

    Parameters
    ----------
    home : path
        The folder of the Snakefile.
    config : mapping
        The workflow's config.
    """
    home = Path(home)
    schemas = home / "workflow" / "schemas"
    _check_schema(config, schemas / "config.yaml", "config")
    extra = {name: [Path(config[name])] if config.get(name) else [] for name in EXTRA}
    catalog = load_catalog(
        [home / "config" / "datasets.yaml", *extra["extra_datasets"]], schemas / "dataset.yaml"
    )
    studies = load_studies(
        [home / "config" / "papers", *extra["extra_studies"]], schemas / "paper.yaml", catalog
    )
    return catalog, studies, load_settings(config, studies)


def load_settings(config: Mapping, studies: Iterable[str]) -> dict:
    """The settings, defaults filled in; ``papers`` is a list of names of `studies`."""
    papers = config["papers"]
    papers = [papers] if isinstance(papers, str) else list(papers)
    for paper in papers:
        _check_known(paper, studies, "config", "papers", "study")
    return {"store": None, "mirror": None, **LIMITS, **dict.fromkeys(EXTRA), **config, "papers": papers}


def load_catalog(files: Iterable[Path], schema: Path) -> dict[str, dict]:
    """The entries of some catalogs of data sets, by key. A key is in one of them only."""
    catalog: dict[str, dict] = {}
    for file in files:
        entries = read_yaml(file)
        _check_schema(entries, schema, str(file))
        if repeated := sorted(catalog.keys() & entries.keys()):
            raise ConfigError(
                f"{file}: there is a data set {repeated[0]!r} already; give this one another key"
            )
        catalog |= entries
    return catalog


def load_studies(folders: Iterable[Path], schema: Path, catalog: Mapping[str, Mapping]) -> dict[str, dict]:
    """Every study of some folders by name, which is its file's.

    Raises
    ------
    ConfigError
        For the first thing that is wrong in any of them.
    """
    studies: dict[str, dict] = {}
    for folder in folders:
        files = sorted(Path(folder).glob("*.yaml"))
        if not files:
            raise ConfigError(f"{folder}: no study (*.yaml) in this folder")
        for file in files:
            if file.stem in studies:
                raise ConfigError(
                    f"{file}: there is a study {file.stem!r} already; give this file another name"
                )
            studies[file.stem] = load_study(file, schema, catalog)
    return studies


def load_study(file: Path, schema: Path, catalog: Mapping[str, Mapping]) -> dict:
    """A study as a plain dict, defaults filled in, every name in it known to exist.

    Its ``tasks`` say what is learnt of each of its data sets. What differs between data sets stays as it is
    written, ``{of_dataset: name}``, until a cell asks for it.

    Parameters
    ----------
    file : Path
    schema : Path
        JSON schema of study files.
    catalog : mapping
        The entries of the data sets that there are.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", file.stem):
        raise ConfigError(
            f"{file}: a study's file is named in lower-case letters, digits and _, such as eem.yaml"
        )
    study = read_yaml(file)
    _check_schema(study, schema, str(file))
    study = {**_with_defaults(study, file), "file": str(file)}
    for group, keys in study["datasets"].items():
        for key in keys:
            _check_known(key, catalog, file, f"datasets.{group}", "data set")
    study["tasks"] = {key: catalog[key]["task"] for key in _grouped(study)}
    for name, model in study["models"].items():
        _check_model(file, name, model, study)
    _check_runs(file, study)
    for name, table in study["tables"].items():
        _check_table(file, name, table, study)
    for name, figure in study["figures"].items():
        _check_figure(file, name, figure, study, catalog)
    if "published" in study:
        study["published"] = _published(file, study["published"])
    _check_tasks(file, study)
    _check_of_dataset(file, study, schema, catalog)
    return study


def read_yaml(file: Path):
    """A YAML file's content. Refuses a repeated key, and reads ``1e-3`` as the number that it looks like."""
    try:
        return yaml.load(Path(file).read_text(encoding="utf-8"), Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}" if mark else "?"
        raise ConfigError(f"{file}: {where}: {error.problem or error.context}") from None
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{file}: {' '.join(str(error).split())}") from None


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value!r} is repeated", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


# ------------------------------------------------------------------------------------------------- cells


def table_cells(study: Mapping, table: str) -> list[tuple[str, str]]:
    """The (data set, model) pairs that a table needs trained, row by row."""
    entry = study["tables"][table]
    if not KINDS[entry["kind"]].trains:
        return []
    return list(_rows_and_models(study, entry))


def table_files(paper: str, study: Mapping, table: str) -> list[str]:
    """The results that a table is made of."""
    entry = study["tables"][table]
    files = (
        FILES[stage].format(paper=paper, table=table, dataset=dataset, model=model)
        for stage in KINDS[entry["kind"]].reads(entry)
        for dataset, model in _rows_and_models(study, entry)
    )
    return list(dict.fromkeys(files))


def _rows_and_models(study: Mapping, entry: Mapping) -> Iterator[tuple[str, str]]:
    kind = KINDS[entry["kind"]]
    datasets = [GENERATED] if kind.generates else study["datasets"][entry["datasets"]]
    for dataset, model in itertools.product(datasets, kind.models(entry, study)):
        if not kind.trains or runs_on(study, dataset, model):
            yield dataset, model


def runs_on(study: Mapping, dataset: str, model: str) -> bool:
    """Whether a model has a learner for the data set's task."""
    return estimator_of(study["models"][model], study["tasks"][dataset]) is not None


def figure_cells(study: Mapping, figure: str) -> list[tuple[str, str]]:
    """The (data set, model) pairs that a figure shows, panel by panel."""
    entry = study["figures"][figure]
    if "datasets" not in entry:
        return []
    cells = itertools.product(study["datasets"][entry["datasets"]], entry["models"])
    return [cell for cell in cells if runs_on(study, *cell)]


def figure_files(paper: str, study: Mapping, figure: str) -> list[str]:
    """The results that a figure is drawn from, in the order of its cells."""
    entry = study["figures"][figure]
    stage = FIGURE_STAGES[entry["kind"]]
    if stage == "scaled":
        cells = [(entry["dataset"], "")]
    elif stage == "measured":
        cells = [(GENERATED, "")]
    else:
        cells = figure_cells(study, figure)
    files = (
        FILES[stage].format(paper=paper, table=entry.get("table"), dataset=dataset, model=model)
        for dataset, model in cells
    )
    return list(dict.fromkeys(files))


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
        for name in ("params", "steps", "grid")
    }
    return {
        "paper": paper,
        "dataset": dataset,
        "model": model,
        "label": entry["label"],
        "estimator": estimator_of(entry, task),
        **decided,
        "seed": seed,
        "metrics": metrics_of(task, study["metrics"]),
        "criteria": entry["criteria"],
        "protocol": protocol_of(study, dataset, model),
    }


def scaling_of(study: Mapping, dataset: str) -> dict:
    """How a study scales a data set."""
    return _resolved(study["scaling"], study, dataset, "scaling")


def protocol_of(study: Mapping, dataset: str, model: str | None = None) -> dict:
    """How a study divides a data set; a model may be given fewer trials."""
    protocol = _resolved(study["protocol"], study, dataset, "protocol")
    trials = {} if model is None else {"trials": study["models"][model].get("trials")}
    return protocol | {name: value for name, value in trials.items() if value is not None}


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
    _check_known(name, study["of_dataset"], study["file"], where, "name of of_dataset")
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
    if entry["kind"] == "density":
        table = study["tables"][entry["table"]]
        shown = {name: table[name] for name in ("dims", "densities")}
        return spec | shown | {"models": _labels(study, table["models"])}
    if entry["kind"] == "process":
        model = study["models"][entry["model"]]
        learner = {name: model[name] for name in ("label", "sublabel", "estimator", "steps")}
        where = f"models.{entry['model']}.params"
        params = {**_resolved(model["params"], study, entry["dataset"], where), **entry["params"]}
        return spec | {"model": {**learner, "params": params}, "seed": seed_from(seed, paper, figure)}
    datasets = study["datasets"][entry["datasets"]]
    resolved = {"datasets": datasets, "cells": figure_cells(study, figure)}
    if entry["kind"] == "trials":
        metrics = [entry["metric"]] if isinstance(entry["metric"], str) else entry["metric"]
        tasks = {dataset: study.get("tasks", {}).get(dataset, "") for dataset in datasets}
        resolved |= {"metrics": metrics, "tasks": tasks}
    return spec | resolved | {"models": _labels(study, entry["models"])}


def _labels(study: Mapping, models: Iterable[str]) -> dict[str, dict]:
    return {name: {part: study["models"][name][part] for part in ("label", "sublabel")} for name in models}


# ------------------------------------------------------------------------------------------------ checking


def _with_defaults(study: dict, file: Path) -> dict:
    models = {
        name: {
            "sublabel": "",
            "steps": [],
            "criteria": study["criteria"],
            **model,
            "params": _expanded(file, f"models.{name}.params", model.get("params", {})),
            "grid": _expanded(file, f"models.{name}.grid", model.get("grid", {})),
        }
        for name, model in study["models"].items()
    }
    # A model with criteria of its own was not asked to be a column of every table, nor one in print alone.
    every = [name for name, model in study["models"].items() if not {"criteria", "printed_only"} & {*model}]
    return {
        "reference": "",
        "url": "",
        "errata": [],
        **study,
        "protocol": _whole_protocol(study["protocol"]),
        "of_dataset": {
            name: _expanded(file, f"of_dataset.{name}", values)
            for name, values in study.get("of_dataset", {}).items()
        },
        "models": models,
        "tables": {
            name: {
                "notes": [],
                "printed": name,
                **KINDS[table["kind"]].defaults,
                **table,
                **_named(table, every),
            }
            for name, table in study["tables"].items()
        },
        "figures": {
            name: {"notes": [], **({"params": {}} if figure["kind"] == "process" else {}), **figure}
            for name, figure in study.get("figures", {}).items()
        },
    }


def _named(table: Mapping, every: list[str]) -> dict:
    return {"models": every} if table.get("models") == "all" else {}


def _whole_protocol(protocol: Mapping) -> dict:
    if "trials" not in protocol:
        return {"repeats": 1, "inner": "leave-two-folds-out", **protocol}
    inner = {"folds": 4, **protocol.get("inner", {})}
    return {**protocol, "inner": {"used": inner["folds"], **inner}}


def _expanded(file: Path, where: str, values: Mapping) -> dict:
    """Values by name, those in short (``logspace``, ``range``) in full."""
    return {name: _in_full(file, f"{where}.{name}", value) for name, value in values.items()}


def _in_full(file: Path, where: str, value):
    if not isinstance(value, Mapping) or len(value) != 1 or not set(value) <= {"logspace", "range"}:
        return value
    try:
        return expand_values(value)
    except ValueError as error:
        raise ConfigError(
            f"{file}: {where}: {error}; accepted: {{range: [first, last, step]}} that contains both ends"
        ) from None


def _check_model(file: Path, name: str, model: Mapping, study: Mapping) -> None:
    where = f"models.{name}"
    for criterion in model["criteria"]:
        _check_known(criterion, study["criteria"], file, f"{where}.criteria", "criterion of this study")
    trials = study["protocol"].get("trials", 0)
    if model.get("trials", 0) > trials:
        accepted = f"accepted: at most the protocol's {trials}" if trials else "the protocol has no trials"
        raise ConfigError(f"{file}: {where}.trials: found {model['trials']}; {accepted}")
    learners = [model["estimator"]] if "estimator" in model else model.get("estimators", {}).values()
    try:
        for learner in learners:
            locate(learner)
            check_parameters(learner, model["params"], what=f"{where}.params")
            check_parameters(learner, model["grid"], what=f"{where}.grid")
        for step in model["steps"]:
            locate(step["estimator"])
            check_parameters(step["estimator"], step.get("params", {}), what=f"{where}.steps")
    except UnknownEstimatorError as error:
        raise ConfigError(f"{file}: {where}: {error}") from None


def _check_table(file: Path, name: str, table: Mapping, study: Mapping) -> None:
    where, kind = f"tables.{name}", KINDS[table["kind"]]
    if not kind.generates:
        _check_group(file, f"{where}.datasets", table, study)
    for place, found, known, what in kind.names(table, study):
        _check_known(found, known, file, f"{where}.{place}", what)


def _check_group(file: Path, where: str, table: Mapping, study: Mapping) -> None:
    _check_known(table["datasets"], study["datasets"], file, where, "group of data sets")
    group = study["datasets"][table["datasets"]]
    if KINDS[table["kind"]].one_dataset and len(group) > 1:
        raise ConfigError(
            f"{file}: {where}: {table['datasets']!r} has {len(group)} data sets; "
            f"a table of the kind {table['kind']} takes one"
        )


def _check_figure(file: Path, name: str, figure: Mapping, study: Mapping, catalog: Iterable[str]) -> None:
    where = f"figures.{name}"
    if figure["kind"] == "process":
        _check_known(figure["dataset"], catalog, file, f"{where}.dataset", "data set")
        _check_known(figure["model"], study["models"], file, f"{where}.model", "model")
        try:
            estimator = study["models"][figure["model"]]["estimator"]
            check_parameters(estimator, figure["params"], what=f"{where}.params")
        except UnknownEstimatorError as error:
            raise ConfigError(f"{file}: {where}: {error}") from None
        return
    if figure["kind"] == "density":
        densities = [key for key, table in study["tables"].items() if table["kind"] == "density"]
        _check_known(figure["table"], densities, file, f"{where}.table", "table of densities")
        return
    _check_known(figure["datasets"], study["datasets"], file, f"{where}.datasets", "group of data sets")
    metrics = [figure["metric"]] if isinstance(figure["metric"], str) else figure["metric"]
    for metric in metrics:
        _check_known(metric, study["metrics"], file, f"{where}.metric", "metric of this study")
    for model in figure["models"]:
        _check_known(model, study["models"], file, f"{where}.models", "model")
        if figure["kind"] == "trials":
            criteria = study["models"][model]["criteria"]
            what = f"criterion of model {model!r}"
            _check_known(figure["criterion"], criteria, file, f"{where}.criterion", what)
        else:
            _check_axes(file, where, model, study["models"][model]["grid"], figure)


def _check_axes(file: Path, where: str, model: str, grid: Mapping, figure: Mapping) -> None:
    """A figure shows all parameters of a grid, in numbers."""
    axes = figure.get("parameters") or [figure["parameter"], *filter(None, [figure.get("by")])]
    place = f"{where}.parameter" + ("s" if "parameters" in figure else "")
    if sorted(grid) != sorted(axes):
        found = ", ".join(grid) or "nothing"
        wanted = " and ".join(map(repr, axes))
        raise ConfigError(
            f"{file}: {place}: the grid of model {model!r} is over {found}; "
            f"accepted: models with a grid over {wanted} alone"
        )
    for name, values in grid.items():
        for value in values if isinstance(values, list) else ():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ConfigError(
                    f"{file}: {place}: the grid of model {model!r} has {name} = {value!r}; accepted: numbers"
                )


def _grouped(study: Mapping) -> list[str]:
    """The data sets of a study's groups, each once."""
    return list(dict.fromkeys(itertools.chain.from_iterable(study["datasets"].values())))


def _check_runs(file: Path, study: Mapping) -> None:
    """What fits a model has something to fit: a learner of its own, or one for the table's task."""
    measured = (
        (f"tables.{name}", table)
        for name, table in study["tables"].items()
        if KINDS[table["kind"]].measured_by
    )
    drawn = ((f"figures.{name}", figure) for name, figure in study["figures"].items())
    for where, entry in itertools.chain(measured, drawn):
        for name in [*entry.get("models", []), *filter(None, [entry.get("model")])]:
            model = study["models"].get(name)
            if model is not None and not _has_learner(model, entry):
                raise ConfigError(
                    f"{file}: {where}: the model {name!r} has no learner that it could run; "
                    "accepted: models with `estimator`, or with `estimators` where that tells which"
                )


def _has_learner(model: Mapping, entry: Mapping) -> bool:
    if "task" in entry:
        return estimator_of(model, entry["task"]) is not None
    return "estimator" in model or ("estimators" in model and entry["kind"] not in OF_ANY_TASK)


def _check_tasks(file: Path, study: Mapping) -> None:
    """Every score that is asked for can be had: accuracy of classes, errors of numbers."""
    shown = {"tables": study["tables"], "figures": study["figures"]}
    for group, entries in shown.items():
        for name, entry in entries.items():
            if "metric" not in entry or "datasets" not in entry:
                continue
            metrics = [entry["metric"]] if isinstance(entry["metric"], str) else entry["metric"]
            for dataset in study["datasets"][entry["datasets"]]:
                fitting = metrics_of(study["tasks"][dataset], metrics)
                # Figures of trials show the first of their metrics that fits.
                asked = fitting or metrics if entry["kind"] == "trials" else metrics
                _check_metrics(file, f"{group}.{name}.metric", asked, dataset, study)
    for dataset, _ in study_cells(study):
        task = study["tasks"][dataset]
        if not metrics_of(task, study["metrics"]):
            raise ConfigError(
                f"{file}: metrics: none of them fits {dataset!r}, a {task} data set; "
                f"accepted: {', '.join(metrics_of(task, METRICS))}"
            )


def _check_metrics(file: Path, where: str, metrics: Iterable[str], dataset: str, study: Mapping) -> None:
    task = study["tasks"][dataset]
    fitting = metrics_of(task, study["metrics"])
    for metric in metrics:
        if metric not in fitting:
            raise ConfigError(
                f"{file}: {where}: {metric!r} does not fit {dataset!r}, a {task} data set; "
                f"accepted: {', '.join(fitting) or 'none of the metrics of this study'}"
            )


def _check_of_dataset(file: Path, study: Mapping, schema: Path, catalog: Mapping[str, Mapping]) -> None:
    """Each value that differs between data sets is there for all that need it, and of its kind."""
    for name, values in study["of_dataset"].items():
        for dataset in values.keys() - {"default"}:
            _check_known(dataset, catalog, file, f"of_dataset.{name}", "data set")
    drawn = [figure["dataset"] for figure in study["figures"].values() if "dataset" in figure]
    for dataset in dict.fromkeys([*_grouped(study), *drawn]):
        _check_schema(scaling_of(study, dataset), schema, str(file), "scaling", dataset)
    for dataset in _grouped(study):
        protocol = protocol_of(study, dataset)
        _check_schema(protocol, schema, str(file), "protocol", dataset)
        if "trials" in protocol:
            _check_trials(file, protocol, dataset, catalog[dataset]["expect"]["rows"])
    for dataset, model in study_cells(study):
        _check_grid(file, cell_spec("", study, dataset, model, seed=0))
    for name, table in study["tables"].items():
        if KINDS[table["kind"]].measured_by:
            for dataset, _ in _rows_and_models(study, table):
                measurement_spec("", study, name, dataset, seed=0)
    for name in study["figures"]:
        figure_spec("", study, name, seed=0)


def _check_grid(file: Path, cell: Mapping) -> None:
    for name, values in cell["grid"].items():
        if not isinstance(values, list) or not values:
            raise ConfigError(
                f"{file}: models.{cell['model']}.grid.{name}: found {_shortened(values)} for "
                f"{cell['dataset']!r}, expected a list of values"
            )


def _check_trials(file: Path, protocol: Mapping, dataset: str, n_rows: int) -> None:
    train, test, inner = protocol["train"], protocol["test"], protocol["inner"]
    if train + test > n_rows:
        raise ConfigError(
            f"{file}: protocol: found {train} training and {test} test rows for {dataset!r}; "
            f"accepted: at most its {n_rows} rows together"
        )
    for name, most, what in (("folds", train, "training rows"), ("used", inner["folds"], "inner folds")):
        if inner[name] > most:
            raise ConfigError(
                f"{file}: protocol.inner.{name}: found {inner[name]} for {dataset!r}; "
                f"accepted: at most its {most} {what}"
            )


def _published(file: Path, published: str) -> str:
    found = os.path.normpath(file.parent / published)
    if not os.path.isfile(found):
        raise ConfigError(f"{file}: published: there is no file {found}")
    return found


def _check_known(name: str, known: Iterable[str], file, where: str, what: str) -> None:
    known = list(known)
    if name not in known:
        hint = did_you_mean(name, known)
        raise ConfigError(f"{file}: {where}: unknown {what} {name!r}{hint}; accepted: {', '.join(known)}")


def _check_schema(data, schema: Path, file: str, key: str = "", dataset: str = "") -> None:
    """Refuse what a schema, or its part for a top-level key, does not take; say for which data set."""
    errors = list(_validator(schema, key).iter_errors(data))
    if not errors:
        return
    # A misspelt key is reported before the key that it leaves missing.
    typos = [error for error in errors if error.validator == "additionalProperties"]
    error = (typos or errors)[0]
    where = ".".join(str(part) for part in [*filter(None, [key]), *error.absolute_path])
    of_dataset = f" (for {dataset!r})" if dataset else ""
    raise ConfigError(f"{file}: {where + ': ' if where else ''}{_in_words(error)}{of_dataset}")


@cache
def _validator(schema: Path, key: str = "") -> Draft202012Validator:
    whole = yaml.safe_load(Path(schema).read_text(encoding="utf-8"))
    return Draft202012Validator({**whole["properties"][key], "$defs": whole["$defs"]} if key else whole)


def _in_words(error: ValidationError) -> str:
    """A schema violation in one line: what was found, what is accepted."""
    found, wanted = error.instance, error.validator_value
    match error.validator:
        case "additionalProperties":
            known = list(error.schema["properties"])
            key = next(key for key in found if key not in known)
            return f"unknown key {key!r}{did_you_mean(key, known)}; accepted: {', '.join(known)}"
        case "required":
            return f"the key {next(key for key in wanted if key not in found)!r} is missing"
        case "enum":
            accepted = ", ".join(str(value) for value in wanted)
            return f"found {found!r}{did_you_mean(str(found), wanted)}; accepted: {accepted}"
        case "type":
            wanted = wanted if isinstance(wanted, str) else " or ".join(wanted)
            return f"found {_shortened(found)}, expected a value of type {wanted}"
    if error.schema is False:
        return "this key is not accepted beside the others of this entry"
    if "description" in error.schema:
        return f"found {_shortened(found)}, expected {error.schema['description']}"
    return " ".join(error.message.split())


def _shortened(value) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
