"""Checks of a study across its keys, and with its data sets; learners are checked by `study.learners`."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from pprint import saferepr

from entrolab.figures.base import FigureType
from entrolab.fit.learners import OF_A_STEP, ONE_OF, as_learner, grid_points, searched
from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.fit.run import Run
from entrolab.schema.sections import ConfigError, check, shortened, unknown
from entrolab.study.definition import DIVERGENCES, Model, Protocol, Scaling, Trials
from entrolab.study.study import Study
from entrolab.tables.entries import TableEntry
from entrolab.tables.times import SECONDS
from entrolab.tables.types import TABLE_TYPES


def check_study(file: Path, study: Study, catalog: Mapping[str, Mapping]) -> None:
    """Raise a `ConfigError` with a line per mistake in a study, which has its defaults and its ``tasks``.

    `catalog` has the entries of all data sets. Each check assumes that the earlier ones pass.
    """
    for checks in _checks(file, study, catalog):
        # The second mistake of an entry may follow from the first.
        if lines := [f"{file}: {line}" for check in checks if (line := next(check, None))]:
            raise ConfigError(*dict.fromkeys(lines))


def _checks(file: Path, study: Study, catalog: Mapping[str, Mapping]) -> Iterator[Iterable[Iterator[str]]]:
    """Yield groups of checks; each check yields the mistakes of one entry."""
    models = (_of_model(f"models.{name}", model, study) for name, model in study.models.items())
    yield itertools.chain(
        models,
        [_of_halves(study)],
        (_of_table(f"tables.{name}", table, study) for name, table in study.tables.items()),
        (_of_figure(f"figures.{name}", figure, study, catalog) for name, figure in study.figures.items()),
        [_of_answer(study)],
        [_of_differences(study)],
    )
    yield [_of_tasks(study)]
    yield [_of_data(file, study, catalog)]
    yield [_of_folds(study, dataset, catalog[dataset]) for dataset in study.datasets_of_runs()]
    yield (_of_runs(name, study) for name in study.models)
    yield (_of_measurements(name, table, study) for name, table in study.tables.items())
    for name in study.figures:
        study.spec_of_figure(name)  # which raises for a missing value


def _of_answer(study: Study) -> Iterator[str]:
    if study.answer_figure is not None:
        yield from unknown(study.answer_figure, study.figures, "answer_figure", "figure of this study")


def _of_differences(study: Study) -> Iterator[str]:
    """Yield the names in ``differences`` that no table of the study has."""
    known = {part: getattr(study, part) for part in ("tables", "models", "metrics")}
    for number, entry in enumerate(study.differences, start=1):
        for part, names in (known | {"datasets": study.tasks}).items():
            for name in getattr(entry, part) or ():
                yield from unknown(name, names, f"differences: entry {number}: {part}", f"one of the {part}")


# --------------------------------------------------------------------------------- models, tables, figures


def _of_model(where: str, model: Model, study: Study) -> Iterator[str]:
    for dataset, values in (model.known or {}).items():
        yield from unknown(dataset, study.tasks, f"{where}.known", "data set of this study")
        for metric in values:
            at = f"{where}.known.{dataset}"
            yield from unknown(metric, study.metrics, at, "metric of this study")
    for criterion in model.criteria:
        known = [*study.criteria, *([] if searched(model) else ["cv"])]
        yield from unknown(criterion, known, f"{where}.criteria", "criterion of this study")
        yield from unknown(criterion, model.candidates, f"{where}.criteria", "value of its candidates")
    if model.trials is not None and not isinstance(study.protocol, Trials):
        yield f"{where}.trials: found {model.trials!r}; the protocol has no trials"
    # The grid sets parameters of existing steps only.
    steps = {f"step{number}__" for number, _ in enumerate(model.steps, start=1)}
    for parameter in searched(model):
        begun = OF_A_STEP.match(parameter)
        if begun and begun[0] not in steps:
            accepted = ", ".join(sorted(steps)) or "steps of the model"
            yield f"{where}: no step for {parameter!r} ({where}.grid); accepted: {accepted}"


def _of_halves(study: Study) -> Iterator[str]:
    """Yield the models whose inner cross-validation has no rows left to train on with two folds."""
    protocol = study.protocol
    if isinstance(protocol, Trials) or protocol.folds != 2 or protocol.method:
        return
    for name, model in study.models.items():
        n_points = len(grid_points(model))
        if "cv" in model.criteria and n_points > 1:
            yield (
                f"protocol.folds: found 2, where the inner cross-validation of models.{name} has no rows to "
                f"train on; accepted: 3 folds or more, or a grid of one point (found {n_points})"
            )


def _of_table(where: str, table: TableEntry, study: Study) -> Iterator[str]:
    table_type = TABLE_TYPES[table.type].for_entry(table)
    if (group := getattr(table, "datasets", None)) is not None:
        yield from unknown(group, study.datasets, f"{where}.datasets", "group of data sets")
    for place, found, known, what in table_type.names_to_check(table, study):
        yield from unknown(found, known, f"{where}.{place}", what)
    # Columns have different labels.
    shown: dict[str, str] = {}
    for name, model in table_type.models(table, study).items():
        label = f"{model.label} {model.sublabel}".strip()
        if label in shown:
            yield (
                f"{where}.models: {shown[label]!r} and {name!r} are both shown as {label!r}; "
                "accepted: another label or sublabel for one of them"
            )
        shown[label] = name


def _of_figure(where: str, figure: FigureType, study: Study, catalog: Mapping) -> Iterator[str]:
    for name in [*(getattr(figure, "models", None) or ()), getattr(figure, "model", None)]:
        if name in study.models and not figure.has_learner(study.models[name]):
            yield (
                f"{where}: the model {name!r} has no learner to run here; "
                "accepted: models with `estimator`, or with `estimators` if the task is known"
            )
    yield from (f"{where}.{line}" for line in figure.mistakes(study, catalog))


# ------------------------------------------------------------------------------------- metrics and criteria


def _of_tasks(study: Study) -> Iterator[str]:
    """Yield metrics and criteria that do not fit the task of a data set, such as accuracy for regression."""
    for dataset, model in study.runs():
        task = study.tasks[dataset]
        fitting = metrics_of(task, study.metrics)
        if not fitting:
            yield (
                f"metrics: none of them fits {dataset!r}, a {task} data set; "
                f"accepted: {', '.join(metrics_of(task, METRICS))}"
            )
        # The first metric selects. Probabilities are only known of selected models; and a metric of the model
        # itself, such as its number of support vectors, would select the model that keeps no row.
        first, *others = fitting
        if not METRICS[first].chooses:
            accepted = " or ".join(metric for metric in others if METRICS[metric].chooses)
            yield (
                f"metrics: {first!r} is the first metric that fits {dataset!r}, but it cannot select a "
                f"candidate; accepted: {accepted or 'a score of predictions'} before it"
            )
        yield from _of_criterion("criteria", study.models[model].criteria[:1], dataset, study)
    for part in ("tables", "figures"):
        for name, entry in getattr(study, part).items():
            if getattr(entry, "metric", None) and getattr(entry, "datasets", None):
                yield from _of_metric(f"{part}.{name}", part == "figures", entry, study)


def _of_metric(where: str, any_fits: bool, entry, study: Study) -> Iterator[str]:
    """Yield metrics that do not fit a data set; with `any_fits`, it is enough if one of them does."""
    metrics = [entry.metric] if isinstance(entry.metric, str) else entry.metric
    for dataset in study.datasets[entry.datasets]:
        task = study.tasks[dataset]
        fitting = metrics_of(task, study.metrics)
        for metric in (metrics_of(task, metrics) or metrics) if any_fits else metrics:
            if metric not in (*fitting, SECONDS):
                yield (
                    f"{where}.metric: {metric!r} does not fit {dataset!r}, a {task} data set; "
                    f"accepted: {', '.join(fitting) or 'none of the metrics of this study'}"
                )
        yield from _of_criterion(f"{where}.criterion", [getattr(entry, "criterion", None)], dataset, study)


def _of_criterion(where: str, criteria: list, dataset: str, study: Study) -> Iterator[str]:
    task = study.tasks[dataset]
    for criterion in criteria:
        if criterion in DIVERGENCES and task != "binary":
            yield (
                f"{where}: {criterion!r} compares two classes, and {dataset!r} is a {task} data set; "
                "accepted: cv"
            )


# ------------------------------------------------------------------------------------- values by data set


def _of_data(file: Path, study: Study, catalog: Mapping) -> Iterator[str]:
    """Yield scalings and protocols that do not fit a data set; wrong and missing values of one raise."""
    for name, values in study.of_dataset.items():
        for dataset in values.keys() - {"default"}:
            yield from unknown(dataset, catalog, f"of_dataset.{name}", "data set")
    drawn = [getattr(figure, "dataset", None) for figure in study.figures.values()]
    for dataset in dict.fromkeys([*study.tasks, *filter(None, drawn)]) if study.scaling else ():
        check(Scaling, study.scaling_of(dataset), file, "scaling", dataset)
    for dataset in _divided(study):
        entry = study.protocol_of(dataset)
        if entry.get("method") == "given":
            continue
        protocol, n_rows = (
            check(Protocol, entry, file, "protocol", dataset),
            catalog[dataset]["expect"]["rows"],
        )
        if isinstance(protocol, Trials) and protocol.train + protocol.test > n_rows:
            yield (
                f"protocol: found {protocol.train} training and {protocol.test} test rows for {dataset!r}; "
                f"accepted: at most its {n_rows} rows together"
            )


def _divided(study: Study) -> list[str]:
    """The data sets that the protocol divides; those that are only clustered or shown are not divided."""
    entries = [table for table in study.tables.values() if TABLE_TYPES[table.type].divides_for(table, study)]
    groups = [study.datasets[table.datasets] for table in entries if getattr(table, "datasets", None)]
    of_figures = [study.runs_of_figure(name) for name in study.figures]
    trained = [dataset for dataset, _ in itertools.chain.from_iterable(of_figures)]
    return list(dict.fromkeys([*itertools.chain.from_iterable(groups), *trained]))


def _of_folds(study: Study, dataset: str, entry: Mapping) -> Iterator[str]:
    """Yield a mistake if folds would lack rows or classes, as far as the catalog states class sizes."""
    protocol = study.protocol_of(dataset)
    method = protocol.get("method")
    if method == "given":
        return
    if entry.get("groups") and method != "group":
        key = "trials" if "trials" in protocol else "method"
        yield (
            f"protocol.{key}: found {protocol[key]!r} for {dataset!r}, whose rows are in groups; accepted: "
            "folds without a method, which keep each group in one fold"
        )
        return
    expect, n_rows = entry["expect"], entry["expect"]["rows"]
    smallest, what, unit = n_rows, "which has", "rows"
    if entry["task"] != "regression":
        known = [expect[name] for name in ("negative", "positive", "smallest") if name in expect]
        smallest = min([*known, n_rows // expect.get("classes", 2)])
        what = f"whose smallest class has{'' if known else ' at most'}"
    if method == "group":
        if not entry.get("groups"):
            yield (
                f"protocol.method: found 'group' for {dataset!r}, without groups; accepted: a table with "
                "`groups`"
            )
            return
        smallest = min(smallest, entry["groups_of_class"])
        what, unit = "whose groups and smallest class allow at most", "folds"
    if method == "time":
        smallest, what, unit = n_rows // 2 - 1, "whose blocks need two rows each, enough for", "folds"
    smallest = smallest * min(protocol.get("rows", n_rows), n_rows) // n_rows
    if protocol.get("folds", 0) > smallest:
        accepted = f"2 to {smallest}" if smallest > 1 else "data sets with more rows of each class"
        yield (
            f"protocol.folds: found {protocol['folds']} for {dataset!r}, {what} {smallest} {unit}; "
            f"accepted: {accepted}"
        )


def _of_runs(name: str, study: Study) -> Iterator[str]:
    """Yield the reasons why runs of a model could not be fitted or scored."""
    where = f"models.{name}"
    for dataset, model in study.runs():
        if model != name:
            continue
        run = study.run(dataset, model, seed=0)
        yield from _of_threshold(where, run, study)
        yield from _of_grids(where, dataset, run)
        trials, most = run.protocol.get("trials", 0), study.protocol_of(dataset).get("trials", 0)
        if trials > most:
            yield f"{where}.trials: found {trials}; accepted: at most the {most} of the protocol"


def _of_measurements(name: str, table: TableEntry, study: Study) -> Iterator[str]:
    table_type = TABLE_TYPES[table.type]
    for dataset, _ in table_type.rows_and_models(table, study) if "measured" in table_type.stages else ():
        for model, learner in study.measurement(name, dataset, seed=0).learners().items():
            yield from _of_grids(f"models.{model}", dataset, learner)


def _of_threshold(where: str, run: Run, study: Study) -> Iterator[str]:
    dataset, task = run.dataset, study.tasks[run.dataset]
    if run.threshold is None:
        return
    if task != "binary":
        yield (
            f"{where}.threshold: found {run.threshold!r} for {dataset!r}, a {task} data set; accepted: "
            "a threshold for binary data sets only"
        )
    if "weight" in study.own_data.get(dataset, {}).get("format", {}):
        yield (
            f"{where}.threshold: found {run.threshold!r} for {dataset!r}, whose rows have weights "
            "(`weight`), which TunedThresholdClassifierCV does not pass on; accepted: one of the two"
        )


def _of_grids(where: str, dataset: str, entry: Run | Mapping) -> Iterator[str]:
    learner = as_learner(entry)
    grids = {f"{where}.{ONE_OF}.{name}": one.grid for name, one in learner.one_of.items()}
    for place, grid in {where: learner.grid, **grids}.items():
        for name, values in grid.items():
            if not isinstance(values, list) or not values:
                yield (
                    f"{place}.grid.{name}: found {shortened(values)} for {dataset!r}, "
                    "expected a list of values"
                )
                continue
            for value in _repeated(values):
                yield (
                    f"{place}.grid.{name}: found {shortened(value)} twice for {dataset!r}; "
                    "accepted: each value once"
                )


def _repeated(values: list) -> Iterator:
    """Yield the values written like an earlier one; 1 and 1.0 are two, as for `max_features` of a forest."""
    seen = set()
    for value in values:
        written = saferepr(value)  # sorts the keys of mappings
        if written in seen:
            yield value
        seen.add(written)
