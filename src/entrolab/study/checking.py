"""Checks of a study beyond its schema: every name in it is known, every value fits what it is for."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from entrolab.figure_types.registry import FIGURE_TYPES
from entrolab.fit.learners import OF_A_STEP, ONE_OF, learners_of, made_of, of_step, searched
from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.jobs.source_analysis import (
    LEARNER,
    STEP,
    UnknownEstimatorError,
    check_imports,
    check_kind,
    check_manners,
    check_parameters,
    locate,
)
from entrolab.study.constraints import check_values
from entrolab.study.definition import Protocol, Scaling
from entrolab.study.job_specs import (
    figure_runs,
    figure_spec,
    measurement_spec,
    run_spec,
    study_runs,
    type_of,
)
from entrolab.study.lookup import grouped, protocol_of, scaling_of
from entrolab.study.sections import ConfigError, check, check_known, shortened
from entrolab.tables.types import TABLE_TYPES

# Criteria that compare two classes.
DIVERGENCES = ("dcs_gaussian", "dcs_kde")


def check_study(file: Path, study: Mapping, catalog: Mapping[str, Mapping]) -> None:
    """Refuse the first thing in a study that could not be run.

    Parameters
    ----------
    file : Path
    study : mapping
        Defaults filled in, with its ``tasks``.
    catalog : mapping
        The entries of the data sets that there are.

    Raises
    ------
    ConfigError
    """
    _check_shuffle(file, study["protocol"])
    for name, model in study["models"].items():
        _check_model(file, name, model, study)
    _check_runs(file, study)
    for name, table in study["tables"].items():
        _check_table(file, name, table, study)
    for name, figure in study["figures"].items():
        _check_figure(file, name, figure, study, catalog)
    if "answer_figure" in study:
        check_known(study["answer_figure"], study["figures"], file, "answer_figure", "figure of this study")
    _check_tasks(file, study)
    _check_of_dataset(file, study, catalog)


def _check_shuffle(file: Path, protocol: Mapping) -> None:
    """In the order of the files all trials are the same one."""
    if protocol.get("shuffle", True) is False and protocol["trials"] > 1:
        raise ConfigError(
            f"{file}: protocol.trials: found {protocol['trials']} where no rows are shuffled; accepted: 1"
        )


def _check_model(file: Path, name: str, model: Mapping, study: Mapping) -> None:
    where = f"models.{name}"
    for criterion in model["criteria"]:
        check_known(criterion, study["criteria"], file, f"{where}.criteria", "criterion of this study")
    if "trials" in model and "trials" not in study["protocol"]:
        raise ConfigError(f"{file}: {where}.trials: found {model['trials']}; the protocol has no trials")
    try:
        for learner in learners_of(model):
            locate(learner)
            check_parameters(learner, model["params"], what=f"{where}.params")
            check_parameters(learner, of_step(model["grid"]), what=f"{where}.grid")
        for learner, entry in model[ONE_OF].items():
            for part in ("params", "grid"):
                check_parameters(entry["estimator"], entry[part], what=f"{where}.{ONE_OF}.{learner}.{part}")
        for number, step in enumerate(model["steps"], start=1):
            locate(step["estimator"])
            check_parameters(step["estimator"], step.get("params", {}), what=f"{where}.steps")
            of_grid = of_step(model["grid"], f"step{number}")
            check_parameters(step["estimator"], of_grid, what=f"{where}.grid")
        _check_steps_of(model, where)
        for estimator in made_of(model):
            check_imports(estimator)
    except UnknownEstimatorError as error:
        raise ConfigError(f"{file}: {where}: {error}") from None


def _check_steps_of(model: Mapping, where: str) -> None:
    """A grid over a step's parameters has that step."""
    steps = {f"step{number}__" for number, _ in enumerate(model["steps"], start=1)}
    for parameter in searched(model):
        begun = OF_A_STEP.match(parameter)
        if begun and begun[0] not in steps:
            accepted = ", ".join(sorted(steps)) or "steps of the model"
            raise UnknownEstimatorError(f"no step for {parameter!r} ({where}.grid); accepted: {accepted}")


def _check_table(file: Path, name: str, table: Mapping, study: Mapping) -> None:
    where, kind = f"tables.{name}", TABLE_TYPES[table["kind"]]
    if not kind.generates:
        _check_group(file, f"{where}.datasets", table, study)
    for place, found, known, what in kind.names(table, study):
        check_known(found, known, file, f"{where}.{place}", what)
    _check_labels(file, where, kind.models(table, study))


def _check_labels(file: Path, where: str, models: Mapping[str, Mapping]) -> None:
    """Columns that look the same cannot be told apart."""
    shown: dict[str, str] = {}
    for name, model in models.items():
        label = f"{model['label']} {model['sublabel']}".strip()
        if label in shown:
            raise ConfigError(
                f"{file}: {where}.models: {shown[label]!r} and {name!r} are both shown as {label!r}; "
                "accepted: another label or sublabel for one of them"
            )
        shown[label] = name


def _check_group(file: Path, where: str, table: Mapping, study: Mapping) -> None:
    check_known(table["datasets"], study["datasets"], file, where, "group of data sets")
    group = study["datasets"][table["datasets"]]
    if TABLE_TYPES[table["kind"]].one_dataset and len(group) > 1:
        raise ConfigError(
            f"{file}: {where}: {table['datasets']!r} has {len(group)} data sets; "
            f"a table of the kind {table['kind']} takes one"
        )


def _check_figure(
    file: Path, name: str, figure: Mapping, study: Mapping, catalog: Mapping[str, Mapping]
) -> None:
    where, kind = f"figures.{name}", FIGURE_TYPES[figure["kind"]]
    for place, found, known, what in kind.names(figure, study, catalog):
        check_known(found, known, file, f"{where}.{place}", what)
    for line in kind.mistakes(figure, study, catalog):
        raise ConfigError(f"{file}: {where}.{line}")
    for estimator, parameters in kind.sets(figure, study):
        try:
            check_parameters(estimator, parameters, what=f"{where}.params")
        except UnknownEstimatorError as error:
            raise ConfigError(f"{file}: {where}: {error}") from None


def _check_runs(file: Path, study: Mapping) -> None:
    """What fits a model has something to fit: a learner of its own, or one for the table's task."""
    for name, table in study["tables"].items():
        kind = TABLE_TYPES[table["kind"]]
        if kind.measured_by:
            _check_learnt(file, f"tables.{name}", table, study, partial(kind.has_learner, table))
    for name, figure in study["figures"].items():
        _check_learnt(file, f"figures.{name}", figure, study, type_of(study, name).has_learner)


def _check_learnt(file: Path, where: str, entry: Mapping, study: Mapping, has_learner: Callable) -> None:
    for name in [*entry.get("models", []), *filter(None, [entry.get("model")])]:
        model = study["models"].get(name)
        if model is not None and not has_learner(model):
            raise ConfigError(
                f"{file}: {where}: the model {name!r} has no learner that it could run; "
                "accepted: models with `estimator`, or with others where that tells which"
            )


def _check_tasks(file: Path, study: Mapping) -> None:
    """Every score that is asked for can be had: accuracy of classes, errors of numbers."""
    for dataset, model in study_runs(study):
        task = study["tasks"][dataset]
        if not metrics_of(task, study["metrics"]):
            raise ConfigError(
                f"{file}: metrics: none of them fits {dataset!r}, a {task} data set; "
                f"accepted: {', '.join(metrics_of(task, METRICS))}"
            )
        _check_first_metric(file, dataset, study)
        for criterion in study["models"][model]["criteria"][:1]:
            _check_criterion(file, "criteria", criterion, dataset, study)
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
                criterion = entry.get("criterion", "")
                _check_criterion(file, f"{group}.{name}.criterion", criterion, dataset, study)


def _check_criterion(file: Path, where: str, criterion: str, dataset: str, study: Mapping) -> None:
    """The divergence of two classes needs two."""
    task = study["tasks"][dataset]
    if criterion in DIVERGENCES and task != "binary":
        raise ConfigError(
            f"{file}: {where}: {criterion!r} compares two classes, and {dataset!r} is a {task} data set; "
            "accepted: cv"
        )


def _check_first_metric(file: Path, dataset: str, study: Mapping) -> None:
    """Parameters are chosen by a score of predictions.

    By what a machine says of itself the best would be the one that keeps no row, and of its probabilities
    nothing is known before something is chosen.
    """
    first, *others = metrics_of(study["tasks"][dataset], study["metrics"])
    if not METRICS[first].chooses:
        fitting = [metric for metric in others if METRICS[metric].chooses]
        raise ConfigError(
            f"{file}: metrics: {first!r} is the first that fits {dataset!r}, and nothing is chosen by it; "
            f"accepted: {' or '.join(fitting) or 'a score of predictions'} before it"
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


def _check_of_dataset(file: Path, study: Mapping, catalog: Mapping[str, Mapping]) -> None:
    """Each value that differs between data sets is there for all that need it, and of its kind."""
    for name, values in study["of_dataset"].items():
        for dataset in values.keys() - {"default"}:
            check_known(dataset, catalog, file, f"of_dataset.{name}", "data set")
    drawn = [figure["dataset"] for figure in study["figures"].values() if "dataset" in figure]
    for dataset in dict.fromkeys([*grouped(study), *drawn]):
        scaling = scaling_of(study, dataset)
        check(Scaling, scaling, file, "scaling", dataset)
        _check_scaling(file, scaling, dataset, catalog[dataset])
    for dataset in _divided(study):
        protocol = protocol_of(study, dataset)
        check(Protocol, protocol, file, "protocol", dataset)
        if "trials" in protocol:
            _check_trials(file, protocol, dataset, catalog[dataset]["expect"]["rows"])
    for dataset in dict.fromkeys(dataset for dataset, _ in study_runs(study)):
        _check_folds(file, protocol_of(study, dataset), dataset, catalog[dataset])
    for dataset, model in study_runs(study):
        cell = run_spec("", study, dataset, model, seed=0)
        _check_learners(file, cell, study["tasks"][dataset])
        _check_grid(file, model, dataset, cell)
        _check_values(file, f"models.{model}", cell)
        _check_fewer_trials(file, cell, protocol_of(study, dataset))
    for name, table in study["tables"].items():
        if TABLE_TYPES[table["kind"]].measured_by:
            for dataset, _ in TABLE_TYPES[table["kind"]].rows_and_models(table, study):
                measured = measurement_spec("", study, name, dataset, seed=0).get("models", {})
                for model, learner in measured.items():
                    _check_grid(file, model, dataset, learner)
                    _check_values(file, f"tables.{name}.models.{model}", learner)
    for name in study["figures"]:
        figure = figure_spec("", study, name, seed=0)
        fitted = [panel["learner"] for panel in figure.get("panels", [])]
        fitted += [figure["model"]] if "model" in figure else []
        for learner in fitted:
            _check_values(file, f"figures.{name}", learner)


def _divided(study: Mapping) -> list[str]:
    """The data sets that the protocol is for; what is only clustered or shown is not divided."""
    entries = [table for table in study["tables"].values() if TABLE_TYPES[table["kind"]].divides]
    groups = [study["datasets"][entry["datasets"]] for entry in entries if "datasets" in entry]
    of_figures = [figure_runs(study, name) for name in study["figures"]]
    trained = [dataset for dataset, _ in itertools.chain.from_iterable(of_figures)]
    return list(dict.fromkeys([*itertools.chain.from_iterable(groups), *trained]))


def _check_values(file: Path, where: str, fitted: Mapping) -> None:
    """Each value of what is fitted is one that its learner takes, as far as that is known from its source."""
    for place, estimator, name, values in _settings(fitted):
        try:
            check_values(estimator, name, values, what=f"{where}.{place}.{name}")
        except UnknownEstimatorError as error:
            raise ConfigError(f"{file}: {where}: {error}") from None


def _settings(fitted: Mapping) -> Iterator[tuple[str, str, str, list]]:
    """What is set: the place, the import path of what has the parameter, the parameter, its values."""
    shared = fitted.get("grid", {})
    alternatives = {f"{ONE_OF}.{name}.": learner for name, learner in (fitted.get(ONE_OF) or {}).items()}
    for place, learner in (alternatives or {"": fitted}).items():
        estimator = learner.get("estimator")
        if estimator is None:  # steps alone are fitted
            continue
        yield from ((f"{place}params", estimator, name, [v]) for name, v in learner.get("params", {}).items())
        for name, values in {**learner.get("grid", {}), **shared}.items():
            if not OF_A_STEP.match(name):
                yield f"{place}grid", estimator, name, values
    for number, step in enumerate(fitted.get("steps") or (), start=1):
        estimator = step["estimator"]
        yield from (("steps", estimator, name, [v]) for name, v in step.get("params", {}).items())
        for name in of_step(shared, f"step{number}"):
            yield "grid", estimator, name, shared[f"step{number}__{name}"]


def _check_learners(file: Path, cell: Mapping, task: str) -> None:
    """What is fitted and scored can be, and learns what the data set has."""
    try:
        for learner in learners_of(cell):
            check_manners(learner, LEARNER)
            check_kind(learner, cell["dataset"], task)
        for step in cell["steps"]:
            check_manners(step["estimator"], STEP)
    except UnknownEstimatorError as error:
        raise ConfigError(f"{file}: models.{cell['model']}: {error}") from None


def _check_grid(file: Path, model: str, dataset: str, fitted: Mapping) -> None:
    where = f"models.{model}"
    alternatives = fitted.get(ONE_OF, {})
    grids = {f"{where}.{ONE_OF}.{name}": learner["grid"] for name, learner in alternatives.items()}
    for place, grid in {where: fitted.get("grid", {}), **grids}.items():
        for name, values in grid.items():
            if not isinstance(values, list) or not values:
                raise ConfigError(
                    f"{file}: {place}.grid.{name}: found {shortened(values)} for {dataset!r}, "
                    "expected a list of values"
                )


def _check_scaling(file: Path, scaling: Mapping, dataset: str, entry: Mapping) -> None:
    """An interval has a low end and a high one; who scales by training rows alone needs others."""
    for name in ("range", "targets"):
        low, high = scaling.get(name, (0, 1))
        if low >= high:
            raise ConfigError(
                f"{file}: scaling.{name}: found {[low, high]} for {dataset!r}; accepted: the lower end first"
            )
    if scaling["fit_on"] == "train" and all(part.get("part") != "test" for part in entry.get("files", [])):
        raise ConfigError(
            f"{file}: scaling.fit_on: found 'train' for {dataset!r}, whose files have no test part; "
            "accepted: all, or a scaler among the steps of the models"
        )


def _check_folds(file: Path, protocol: Mapping, dataset: str, entry: Mapping) -> None:
    """Each fold has rows, and of each class some."""
    if "folds" not in protocol:
        return
    smallest, what = _smallest_class(entry)
    expect = entry["expect"]
    smallest = smallest * min(protocol.get("rows", expect["rows"]), expect["rows"]) // expect["rows"]
    if protocol["folds"] > smallest:
        accepted = f"2 to {smallest}" if smallest > 1 else "data sets with more rows of each class"
        raise ConfigError(
            f"{file}: protocol.folds: found {protocol['folds']} for {dataset!r}, {what} {smallest} rows; "
            f"accepted: {accepted}"
        )


def _smallest_class(entry: Mapping) -> tuple[int, str]:
    """Rows of the smallest class, as far as the catalog knows, and how to say so; of a regression, all."""
    expect = entry["expect"]
    if entry["task"] == "regression":
        return expect["rows"], "which has"
    known = [expect[name] for name in ("negative", "positive", "smallest") if name in expect]
    smallest = min([*known, expect["rows"] // expect.get("classes", 2)])
    return smallest, f"whose smallest class has{'' if known else ' at most'}"


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


def _check_fewer_trials(file: Path, cell: Mapping, of_study: Mapping) -> None:
    if cell["protocol"].get("trials", 0) > of_study.get("trials", 0):
        raise ConfigError(
            f"{file}: models.{cell['model']}.trials: found {cell['protocol']['trials']}; "
            f"accepted: at most the protocol's {of_study['trials']}"
        )
