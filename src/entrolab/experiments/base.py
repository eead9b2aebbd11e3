"""Base classes of the tables whose numbers are measured for them alone."""

from collections.abc import Iterator, Mapping
from functools import partial

from entrolab.fit.learners import estimator_of, learners_of
from entrolab.jobs.source_analysis import locate
from entrolab.study.lookup import labels
from entrolab.tables.base import ALL, GENERATED, NOTHING, Found, Judged, PublishedValue, TableType, phrase
from entrolab.tables.verdicts import beside


class Measured(TableType):
    """Tables whose numbers are measured for them, or for another table of the type, with a standard error.

    Attributes
    ----------
    decimals : mapping of str to int
        Of a metric, where it is not shown with `usual_decimals`.
    significant : tuple of str
        How metrics begin that are shown with two significant digits where they are small.
    """

    stages = ("measured",)
    decimals: Mapping[str, int] = {}
    usual_decimals = 1
    significant: tuple[str, ...] = ()

    ERRORS = 2.0  # standard errors that ours may be off

    def models(self, table, study):
        return labels(study, table["models"])

    def found(self, cell, spec, results):
        dataset, model, metric = cell
        return found_among(results.measured(spec.get("measured_for", spec["table"]), dataset), model, metric)

    def found_in_all(self, cell, spec, results) -> tuple[list[float], str]:
        """The numbers of the data sets that have one, and how many have none, in words."""
        each = [
            self.found((dataset, *cell[1:]), spec, results) for dataset in spec["datasets"] if dataset != ALL
        ]
        known = [one.ours for one in each if one.status == "ok"]
        lacking = f"{len(each) - len(known)} of {len(each)} data sets have no number"
        return known, lacking if len(known) < len(each) else ""

    def judge(self, cell, spec, found, published_values):
        """By how far ours may be from the published value."""
        ours, published = found[cell], published_values.get(self.published_at(cell), NOTHING)
        verdict = beside(ours.ours, published.value, self.tolerance(ours, published, spec))
        return Judged(
            verdict, ours.ours - published.value, self.note(cell, spec, found, published_values, verdict)
        )

    def tolerance(self, ours: Found, published: PublishedValue, spec: Mapping) -> float:
        """How far a number may be from the published value."""
        return 0.0

    def note(self, cell, spec: Mapping, found: Mapping, published_values: Mapping, verdict: str) -> str:
        """A footnote of a cell."""
        return ""

    def meanings(self, spec):
        return {"ours only": "measured here", "failed": "no measurement; the footnote says why"}

    def digits(self, metric, published_values):
        return self.decimals.get(metric, self.usual_decimals)

    def number(self, metric, value, digits):
        if self.significant and metric.startswith(self.significant) and 0 < value < 0.95:
            return f"{value:#.2g}"
        return super().number(metric, value, digits)


class OfGenerated(Measured):
    """Tables of what fits cost on data that are generated for them, with parameters of their own."""

    generates = True
    significant = ("",)  # all metrics
    shared: tuple[str, ...] = ("rows", "task", "repeats", "gib")

    def has_learner(self, table, model):
        return estimator_of(model, table["task"]) is not None

    def names(self, table, study):
        yield from names_of_models(table, study, lambda model: [estimator_of(model, table["task"])])

    def measurement(self, table, study, dataset):
        of_task = partial(estimator_of, task=table["task"])
        return {name: table[name] for name in self.shared} | {"models": with_params(table, study, of_task)}

    def found(self, cell, spec, results):
        place, model, metric = cell
        return found_among(results.measured(spec["table"], GENERATED), model, metric, place)

    def number(self, metric, value, digits):
        return super().number(metric, value, digits) if 0 < value < 0.95 else f"{value:,.{digits}f}"


def found_among(rows, model: str, metric: str, reading: str = "") -> Found:
    """The number of a model and a metric among measured rows, and by other readings.

    What failed for all models, metrics or readings names none.
    """
    own = [row for row in rows if row["model"] in ("", model) and row["metric"] in ("", metric)]
    row = next((row for row in own if row["reading"] in ("", reading)), None)
    if row is None:
        return Found(status="failed", reason="not measured")
    if row["status"] != "ok":
        return Found(status=row["status"], reason=phrase(row["error"]))
    others = {row["reading"]: row["value"] for row in own if row["reading"]}
    return Found(row["value"], row["std"], readings={} if reading else others)


def heading(label: str, sublabel: str = "") -> dict[str, str]:
    """The heading of a row or a column, in two lines."""
    return {"label": label, "sublabel": sublabel}


def names_of_models(table: Mapping, study: Mapping, learners=learners_of) -> Iterator[tuple]:
    """The names in a table's models that must be known: the models, and the parameters of their learners."""
    for name, entry in table["models"].items():
        yield "models", name, study["models"], "model"
        asked = [*entry.get("params", {}), *filter(None, [entry.get("size")])]
        for learner in learners(study["models"][name]):
            accepted = locate(learner).parameters
            if accepted is not None:
                for parameter in asked:
                    yield f"models.{name}", parameter, accepted, f"parameter of {learner}"


def with_params(table: Mapping, study: Mapping, estimator=lambda model: model["estimator"]) -> dict:
    """The models of a measurement, with the parameters that the table sets."""
    return {
        name: {
            "estimator": estimator(study["models"][name]),
            "steps": study["models"][name]["steps"],
            "params": {**study["models"][name]["params"], **entry.get("params", {})},
        }
        for name, entry in table["models"].items()
    }
