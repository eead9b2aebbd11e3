"""Base classes of table types with numbers measured by an experiment."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from entrolab.fit.learners import estimator_of, learner_of
from entrolab.study.entries import TableEntry
from entrolab.tables.base import ALL, GENERATED, Found, TableType, phrase


class Measured(TableType):
    """Tables of numbers measured for them, or for another table of the same type.

    Attributes
    ----------
    parameters : tuple of str
        The keys of an entry that are passed to `measure` unchanged.
    summarised : collection of str
        The metrics shown in the row of all data sets.
    decimals : mapping of str to int
        Metric -> number of decimals, if it is not `usual_decimals`.
    significant : tuple of str
        The prefixes of metrics that are shown with two significant digits below 0.95.
    """

    stages = ("measured",)
    parameters: tuple[str, ...] = ()
    summarised: Collection[str] = ()
    decimals: Mapping[str, int] = {}
    usual_decimals = 1
    significant: tuple[str, ...] = ()

    ERRORS = 2.0  # standard errors within which a number is reproduced

    def names(self, table, study):
        yield from (("models", name, study.models, "model") for name in table.models)

    def models(self, table, study):
        return study.labels(table.models)

    def measurement(self, table, study, dataset):
        return {name: getattr(table, name) for name in self.parameters}

    def cells(self, spec):
        if not self.summarised:
            return super().cells(spec)
        return [cell for cell in super().cells(spec) if cell[0] != ALL or cell[2] in self.summarised]

    def found(self, cell, spec, results):
        dataset, model, metric = cell
        if dataset != ALL or not self.summarised:
            rows = results.measured(getattr(spec.entry, "measured_for", None) or spec.name, dataset)
            return found_among(rows, model, metric)
        each = [self.found((one, model, metric), spec, results) for one in spec.datasets if one != ALL]
        known = [found.ours for found in each if found.status == "ok"]
        if not known:
            return Found(status="failed", reason="no data set has a number")
        missing = len(each) - len(known)
        lacking = f"{missing} of {len(each)} data sets have no number" if missing else ""
        of_all = self.summary(metric, known)
        return Found(of_all.ours, of_all.ours_std, reason="; ".join(filter(None, [lacking, of_all.reason])))

    def summary(self, metric: str, numbers: Sequence[float]) -> Found:
        """The number in the row of all data sets, from the numbers of single data sets."""
        raise NotImplementedError

    def meanings(self, spec):
        return {"ours only": "measured here", "failed": "no measurement; the footnote says why"}

    def digits(self, metric, published_values):
        return self.decimals.get(metric, self.usual_decimals)

    def number(self, metric, value, digits):
        if self.significant and metric.startswith(self.significant) and 0 < value < 0.95:
            return f"{value:#.2g}"
        return super().number(metric, value, digits)


class OfGenerated(Measured):
    """Tables of the cost of fits on generated data."""

    generates = True
    significant = ("",)  # all metrics

    def has_learner(self, table, model):
        return estimator_of(model, table.task) is not None

    def measurement(self, table, study, dataset):
        models = with_params(table.models, study, table.task)
        return super().measurement(table, study, dataset) | {"models": models}

    def found(self, cell, spec, results):
        place, model, metric = cell
        return found_among(results.measured(spec.name, GENERATED), model, metric, place)

    def number(self, metric, value, digits):
        return super().number(metric, value, digits) if 0 < value < 0.95 else f"{value:,.{digits}f}"


def found_among(rows, model: str, metric: str, reading: str = "") -> Found:
    """The number of a model, a metric and a reading in measured rows, with those of other readings.

    A failed row without a model, metric or reading applies to all of them.
    """
    own = [row for row in rows if row.model in ("", model) and row.metric in ("", metric)]
    row = next((row for row in own if row.reading in ("", reading)), None)
    if row is None:
        return Found(status="failed", reason="not measured")
    if row.status != "ok":
        return Found(status=row.status, reason=phrase(row.error))
    others = {row.reading: row.value for row in own if row.reading}
    return Found(row.value, row.std, readings={} if reading else others)


def names_of_datasets(table: TableEntry, study, what: str, tasks: Collection[str]) -> Iterator[tuple]:
    """Yield the names of a table's data sets; those whose task is one of `tasks` are known."""
    known = [dataset for dataset, task in study.tasks.items() if task in tasks]
    yield from (("datasets", dataset, known, what) for dataset in study.datasets[table.datasets])


def with_params(entries: Mapping, study, task: str) -> dict:
    """The models of a measurement, with the parameters that a table or a figure sets."""
    models = {}
    for name, entry in entries.items():
        model = study.models[name]
        models[name] = learner_of(model, task) | {"params": model.params | (entry.params or {})}
    return models
