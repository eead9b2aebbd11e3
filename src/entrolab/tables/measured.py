"""Tables of numbers that a script measures; rows, columns, heads, formats and tolerance are the study's."""

import copy
import itertools
import math
import string
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from pydantic import field_validator

from entrolab.experiments.measurement import FIRST, GIVEN
from entrolab.fit.learners import OF_A_STEP, ONE_OF, estimator_of, learner_of
from entrolab.io.files import EXPERIMENTS, script_file
from entrolab.schema.scripts import read_script
from entrolab.schema.sections import (
    ConfigError,
    Section,
    Text,
    check,
    list_of,
    mapping_of,
    number,
    one_of,
    plain,
    text_or_section,
    whole,
)
from entrolab.tables.base import ALL, GENERATED, NAN, Found, Head, TableType, phrase
from entrolab.tables.entries import ModelNames, TableEntry, Task, WithParams
from entrolab.tables.quantities import Quantity
from entrolab.tables.verdicts import SLACK
from entrolab.text import one_line

ENOUGH = 6  # data sets; fewer differences are never significant at 5 %
PARTS = ("dataset", "model", "metric")


class Labels(Section):
    """The head of a row or a column, in two lines."""

    label: str
    sublabel: str = ""


class AtLeast(Section):
    """The share of data sets, in percent, whose number is at least a limit."""

    at_least: number()


class Metric(Labels):
    """A measured quantity: its head, the format of its numbers, and its number for all data sets."""

    decimals: whole(ge=0) = 1
    # Numbers below 0.95 are shown with two significant digits, as seconds should be.
    significant: bool = False
    # A share, shown in percent.
    percent: bool = False
    summary: text_or_section(one_of("mean", "difference", "geometric_mean"), AtLeast) = None
    # The number of points that an exponent is fitted to, for the tests of claims.
    points: whole(ge=3) = None


def _metric(value):
    return Metric(label=value) if isinstance(value, str) else value


class Measured(TableType):
    """Numbers that a script measures, once per data set or on data that it generates."""

    stages = ("measured",)

    class Entry(TableEntry):
        script: Text
        params: dict[str, Any] = {}
        # None if the script generates data, for this task.
        datasets: str = None
        task: Task = "binary"
        models: text_or_section(
            ModelNames, mapping_of(WithParams, "models by name, each with its fixed parameters")
        ) = {}
        # Suffixes of the models' keys, each with the second line of its row or column.
        variants: mapping_of(str, "second lines by suffix of a model's key") = {"": ""}
        # Rows or columns that are no models of the study.
        methods: mapping_of(text_or_section(str, Labels), "heads by key") = {}
        # Rows on generated data: keys and heads, in which {name} stands for each value of a parameter.
        places: mapping_of(str, "heads by key") = {}
        metrics: mapping_of(text_or_section(str, Metric), "heads by metric, or mappings with a `label`")
        rows: list_of(one_of(*PARTS), at_most=2) = ["dataset"]
        columns: list_of(one_of(*PARTS), at_most=2) = ["model"]
        # The head of the row of all data sets, if a metric has a summary.
        summary: str = "all data sets"
        # Shows the measurement of another table, and a reading that is not its first.
        measured_for: str = None
        reading: str = ""
        # Whether a footnote names the reading that is closest to a row that is not reproduced.
        closest_reading: bool = False
        # The quantity of the numbers, for seeds and the report's figure of agreement; None leaves them out.
        quantity: str = None

        @field_validator("metrics")
        @classmethod
        def _metrics_with_labels(cls, metrics):
            return {key: _metric(value) for key, value in metrics.items()}

        @field_validator("methods")
        @classmethod
        def _methods_with_labels(cls, methods):
            return {key: Labels(label=one) if isinstance(one, str) else one for key, one in methods.items()}

    def for_entry(self, entry):
        """The type with the rows, columns and formats of an entry."""
        own = copy.copy(self)
        own.rows, own.columns = tuple(entry.rows), tuple(entry.columns)
        own._metrics = _expanded(entry.metrics, entry.params)
        return own

    # --------------------------------------------------------------------------------------- the study

    def with_defaults(self, name, table, groups, study):
        """An entry whose script takes its params."""
        where = f"tables.{name}"
        try:
            script = _read(table, study)
        except ConfigError as error:
            raise ConfigError(f"{study.file}: {where}.script: {error}") from None
        check(script.Params, table.params, study.file, f"{where}.params")
        try:
            for heads in (table.places, table.metrics):
                _expanded(heads, table.params)
        except (LookupError, ValueError, AttributeError, TypeError) as error:
            raise ConfigError(
                f"{study.file}: {where}: {error!r} in a key or a head; accepted: {{name}} of a list in params"
            ) from None
        return super().with_defaults(name, table, groups, study)

    def names_to_check(self, table, study):
        given, tasks = self.asks(table, study), {table.task}
        if table.datasets is not None:
            tasks = {study.tasks[dataset] for dataset in study.datasets[table.datasets]}
        fitting = [
            name
            for name, model in study.models.items()
            if ("steps" in given and (model.steps or model.estimator))
            or ("grids" in given and model.one_of)
            or all(estimator_of(model, task) for task in tasks)
        ]
        for name in table.models:
            yield "models", name, study.models, "model"
            yield "models", name, fitting, f"model with a learner for {', '.join(sorted(tasks))} data"
        if table.datasets is not None and "dataset" not in (*table.rows, *table.columns):
            alone = [name for name, keys in study.datasets.items() if len(keys) == 1]
            yield "datasets", table.datasets, alone, "group of one data set"
        if table.measured_for:
            others = [name for name, other in study.tables.items() if _script(other) == table.script]
            yield "measured_for", table.measured_for, others, f"table of the script {table.script}"

    def asks(self, table, study) -> tuple[str, ...]:
        """The parts of the study that the script of a table is given."""
        return _read(table, study).given

    def divides_for(self, table, study):
        return "protocol" in self.asks(table, study)

    def measurement(self, table, study, dataset):
        task, given = study.tasks.get(dataset, table.task), self.asks(table, study)
        # A path only for a study's own script, so that results stay up to date if the checkout is moved.
        own = table.script.endswith(".py")
        script = str(script_file(EXPERIMENTS, table.script, study.file)) if own else table.script
        measured = {"script": script, "params": plain(table.params), "task": task}
        models = {name: study.models[name] for name in table.models}
        if "steps" in given:
            measured["steps"] = {
                name: model.steps or [{"estimator": model.estimator, "params": model.params}]
                for name, model in models.items()
            }
        if "models" in given:
            measured["models"] = {name: learner_of(model, task) for name, model in models.items()}
            for name, own in table.models.items() if isinstance(table.models, Mapping) else ():
                measured["models"][name]["params"] = models[name].params | (own.params or {})
        if "grids" in given:
            measured["grids"] = {
                name: {"grid": model.grid, ONE_OF: model.one_of} if "models" in given else _of_steps(model)
                for name, model in models.items()
            }
        if "protocol" in given:
            protocol = study.resolved(study.protocol, dataset, "protocol")
            # The first repeat does not depend on the number of repeats.
            measured["protocol"] = protocol if "trials" in protocol else protocol | {"repeats": 1}
        return measured

    # --------------------------------------------------------------------------------------- the table

    def models(self, table, study):
        heads = {key: Head(one.label, one.sublabel) for key, one in table.methods.items()}
        for (name, head), (suffix, line) in itertools.product(
            study.labels(table.models).items(), table.variants.items()
        ):
            heads[name + suffix] = Head(head.label, ", ".join(filter(None, [head.sublabel, line])))
        return heads or super().models(table, study)

    def extra_rows(self, table):
        if table.datasets is not None:
            is_summarised = any(metric.summary for metric in table.metrics.values())
            return {ALL: Head(table.summary)} if is_summarised else {}
        return {key: Head(label) for key, label in _expanded(table.places, table.params).items()} or {
            GENERATED: Head(GENERATED)
        }

    def metrics(self, table):
        expanded = _expanded(table.metrics, table.params)
        return {
            key: Quantity(
                metric.label,
                metric.sublabel,
                decimals=metric.decimals,
                most=metric.decimals,
                style="significant" if metric.significant else "fixed",
                is_share=metric.percent,
                panel=table.quantity or "",
            )
            for key, metric in expanded.items()
        }

    def cells(self, spec):
        summary = self.extra_rows(spec.entry).keys() & {ALL}
        shown = super().cells(spec)
        return [cell for cell in shown if cell[0] not in summary or self._metrics[cell[2]].summary]

    def published_at(self, cell):
        """Values are published without a data set if the table shows none."""
        return cell if "dataset" in (*self.rows, *self.columns) else ("", *cell[1:])

    def cell_value(self, cell, spec, results):
        dataset, model, metric = cell
        entry = spec.entry
        if dataset == ALL and self._metrics[metric].summary:
            return self._over_datasets(cell, spec, results)
        generated = entry.datasets is None
        rows = results.measured(entry.measured_for or spec.name, GENERATED if generated else dataset)
        reading = dataset if entry.places else entry.reading
        here = [row for row in rows if not entry.places or row.reading in ("", reading)]
        own = [row for row in here if row.model in ("", model) and row.metric in ("", metric)]
        row = next((row for row in own if row.reading == reading), None)
        row = row or next((row for row in own if not row.reading and row.status != "ok"), None)
        if row is None:
            # Of what is measured at all, the script leaves out the cells that do not apply.
            return None if here else Found(status="failed", reason="not measured")
        if row.status != "ok":
            return Found(status=row.status, reason=phrase(row.error))
        others = {row.reading: row.value for row in own if not reading and row.reading}
        oracle, note = others.pop("oracle", NAN), one_line(row.error)
        return Found(
            row.value, row.std, oracle, reason=note, readings=others if entry.closest_reading else {}
        )

    def _over_datasets(self, cell, spec, results) -> Found:
        """The number of all data sets, of those that have one."""
        _, model, metric = cell
        each = [self.cell_value((one, model, metric), spec, results) for one in spec.datasets if one != ALL]
        numbers = [found.ours for found in each if found and found.status == "ok"]
        if not numbers:
            return Found(status="failed", reason="no data set has a number")
        missing = len(each) - len(numbers)
        lacking = f"{missing} of {len(each)} data sets have no number" if missing else ""
        ours, std, about = summarised(self._metrics[metric].summary, numbers)
        return Found(ours, std, reason="; ".join(filter(None, [lacking, about])))


def summarised(by, numbers: Sequence[float]) -> tuple[float, float, str]:
    """The number of all data sets with its standard deviation and a note, from the numbers of single ones.

    Examples
    --------
    >>> summarised("geometric_mean", [2.0, 8.0])
    (4.0, nan, '2 to 8 on single data sets')
    """
    if isinstance(by, AtLeast):
        return 100 * sum(value > by.at_least - SLACK for value in numbers) / len(numbers), NAN, ""
    if by == "geometric_mean":
        mean = math.exp(math.fsum(map(math.log, numbers)) / len(numbers))
        return mean, NAN, f"{min(numbers):.2g} to {max(numbers):.2g} on single data sets"
    mean, std = fmean(numbers), stdev(numbers) if len(numbers) > 1 else NAN
    if by == "mean":
        return mean, std, ""
    above, below = sum(one > 0 for one in numbers), sum(one < 0 for one in numbers)
    note = f"above 0 on {above} of {len(numbers)} data sets and below on {below}"
    if above + below >= ENOUGH:
        from scipy.stats import wilcoxon  # late: the workflow reads this module before any job starts

        note += f" (Wilcoxon signed-rank p = {wilcoxon(numbers).pvalue:.2g})"
    return mean, std, note


def _of_steps(model) -> dict:
    """The grid of a model's steps, in place of that of all its parts."""
    grid = {name: values for name, values in model.grid.items() if OF_A_STEP.match(name)}
    return {"grid": grid, ONE_OF: {}}


def _script(table: TableEntry) -> str:
    """The script of a table that is measured for itself; "" for others."""
    return "" if getattr(table, "measured_for", None) else getattr(table, "script", "")


def _expanded(heads: Mapping[str, Any], params: Mapping) -> dict[str, Any]:
    """Heads by key, one for each value of the params that stand in braces in a key.

    Examples
    --------
    >>> _expanded({"n{rows}": "N = {rows:,}"}, {"rows": [10, 2000]})
    {'n10': 'N = 10', 'n2000': 'N = 2,000'}
    """
    return {at: head for key, head in heads.items() for at, head in _each(key, head, params)}


def _each(key: str, head, params: Mapping) -> Iterator[tuple[str, Any]]:
    names = [name for _, name, _, _ in string.Formatter().parse(key) if name]
    for values in itertools.product(*(params[name] for name in names)):
        at = dict(zip(names, values, strict=True))
        if not at or isinstance(head, str):
            yield key.format(**at), head.format(**at) if at else head
        else:
            yield key.format(**at), head.model_copy(update={"label": head.label.format(**at)})


def _read(table, study):
    """The signature of a table's script; a mistake is a `ConfigError`."""
    return read_script(EXPERIMENTS, table.script, study.file, "measure", FIRST, tuple(GIVEN))
