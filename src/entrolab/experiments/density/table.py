"""Tables of what fits cost on data that are generated for them: no data set, and nothing that is chosen."""

import itertools

from entrolab.fit.learners import estimator_of
from entrolab.jobs.source_analysis import locate
from entrolab.study.entries import ModelsWithParams, TableEntry, Task
from entrolab.study.lookup import labels
from entrolab.study.sections import Whole, list_of, number, whole
from entrolab.tables.base import GENERATED, Found, Judged, TableType, phrase

SHARED = ("rows", "task", "repeats", "gib")


class OfGenerated(TableType):
    """Tables of a study's models, with parameters of their own, on generated data."""

    stages = ("measured",)
    generates = True

    def has_learner(self, table, model):
        return estimator_of(model, table["task"]) is not None

    def names(self, table, study):
        for name, entry in table["models"].items():
            yield "models", name, study["models"], "model"
            estimator = estimator_of(study["models"][name], table["task"])
            yield from (
                (f"models.{name}", parameter, accepted, f"parameter of {estimator}")
                for accepted in [locate(estimator).parameters]
                for parameter in (entry.get("params", {}) if accepted is not None else ())
            )

    def models(self, table, study):
        return labels(study, table["models"])

    def measurement(self, table, study, dataset):
        models = {
            name: {
                "estimator": estimator_of(study["models"][name], table["task"]),
                "steps": study["models"][name]["steps"],
                "params": {**study["models"][name]["params"], **entry.get("params", {})},
            }
            for name, entry in table["models"].items()
        }
        return {name: table[name] for name in SHARED} | {"models": models}

    def found(self, cell, spec, results):
        place, model, metric = cell
        for row in results.measured(spec["table"], GENERATED):
            # What failed for all places, models or metrics names none.
            if (
                row["model"] in ("", model)
                and row["reading"] in ("", place)
                and row["metric"] in ("", metric)
            ):
                if row["kind"]:
                    return Found(trouble=row["kind"], reason=phrase(row["error"]))
                return Found(row["value"])
        return Found(trouble="failed", reason="not measured")

    def judge(self, cell, spec, found, printed):
        return Judged("ours alone")

    def meanings(self, spec):
        return {"ours alone": "measured here", "failed": "no measurement; the footnote says why"}

    def digits(self, metric, printed):
        return 1

    def number(self, metric, value, digits):
        """With a decimal, or with two significant digits where that would show fewer."""
        return f"{value:,.{digits}f}" if value >= 0.95 or not value else f"{value:#.2g}"


class Density(OfGenerated):
    """Seconds to fit sparse data, and their ratio to the first model's: dimensions and densities × models."""

    columns = ("model", "metric")
    measured_by = "entrolab.experiments.density.measure"

    class Entry(TableEntry):
        models: ModelsWithParams
        dims: list_of(Whole)
        densities: list_of(number(gt=0, le=1))
        rows: whole(ge=2)
        task: Task = "binary"
        repeats: Whole = 3
        gib: number(gt=0) = 8

    def places(self, table):
        return {
            place_of(dim, density): {"label": f"d = {dim:,}, density {density:g}", "sublabel": ""}
            for dim, density in itertools.product(table["dims"], table["densities"])
        }

    def metrics(self, table):
        return {
            "fit_seconds": {"label": "seconds", "sublabel": ""},
            "ratio": {"label": "ratio", "sublabel": ""},
        }

    def cells(self, spec):
        """The first model has no ratio to itself."""
        first = next(iter(spec["models"]))
        return [cell for cell in super().cells(spec) if cell[1:] != (first, "ratio")]

    def measurement(self, table, study, dataset):
        return {name: table[name] for name in ("dims", "densities")} | super().measurement(
            table, study, dataset
        )

    def found(self, cell, spec, results):
        place, model, metric = cell
        if metric != "ratio":
            return super().found(cell, spec, results)
        seconds = [
            super(Density, self).found((place, name, "fit_seconds"), spec, results)
            for name in (model, next(iter(spec["models"])))
        ]
        for one in seconds:
            if one.trouble:
                return one
        return Found(seconds[0].ours / seconds[1].ours)

    def says(self, spec):
        first = next(iter(spec["models"].values()))
        return (
            f"Processor seconds to fit {spec['rows']:,} generated rows on one thread, the quickest of "
            f"{spec['repeats']}, and how many times those of {first['label']} they are."
        )


class Capacity(OfGenerated):
    """Seconds and memory that one big generated data set takes: models × what it costs."""

    rows, columns = ("model",), ("metric",)
    measured_by = "entrolab.experiments.capacity.measure"

    class Entry(TableEntry):
        models: ModelsWithParams
        rows: whole(ge=2)
        features: Whole
        task: Task = "regression"
        repeats: Whole = 1
        gib: number(gt=0) = 8

    def places(self, table):
        return {GENERATED: {"label": GENERATED, "sublabel": ""}}

    def metrics(self, table):
        return {
            "fit_seconds": {"label": "fit", "sublabel": "s"},
            "predict_seconds": {"label": "predict", "sublabel": "s"},
            "peak_mib": {"label": "memory", "sublabel": "MiB"},
        }

    def measurement(self, table, study, dataset):
        return {"features": table["features"]} | super().measurement(table, study, dataset)

    def says(self, spec):
        data = spec["rows"] * spec["features"] * 8 / 2**20
        return (
            f"Processor seconds to fit {spec['rows']:,} generated rows of {spec['features']:,} features and "
            "to predict them, on one thread, and the most memory that both take beyond the "
            f"{data:,.0f} MiB of the data."
        )


def place_of(dim: int, density: float) -> str:
    """The name of a place in a table of densities.

    Examples
    --------
    >>> place_of(10000, 0.05)
    'd10000_density0.05'
    """
    return f"d{dim}_density{density:g}"
