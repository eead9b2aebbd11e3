"""Base classes of the figure types: the keys of an entry in a study, its checks, and what it is drawn from.

The workflow imports this module before any job starts, so what draws is imported in the methods.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from entrolab.figures.spec import FigureSpec, Pair, Refit
from entrolab.fit.learners import learner_of, learners_of, made_of, searched
from entrolab.fit.metrics import METRICS
from entrolab.schema.sections import unknown
from entrolab.tables.entries import Entry, SixModels
from entrolab.tables.types import TABLE_TYPES

if TYPE_CHECKING:
    from entrolab.figures.drawing import Drawing
    from entrolab.figures.files import Files

# What a figure is drawn from -> the stages of its files, keys of `entrolab.io.files.FILES`.
STAGES = {
    "rows": ("scaled",),
    "candidates": ("record", "candidates"),
    "predictions": ("record", "data", "selection", "predictions"),
    "models": ("record", "scaled", "folds", "models"),
    "measured": ("measured",),
    "table": ("tables",),
}
SELECTED = ("predictions", "models")
TRAINED = ("candidates", *SELECTED)
OF_TABLES = ("measured", "table")


class FigureType(Entry):
    """A figure of a study. Each figure type is a subclass with the keys of its entries.

    Attributes
    ----------
    of : str
        What it is drawn from, a key of :data:`STAGES`.
    """

    of: ClassVar[str]
    if TYPE_CHECKING:  # keys that some types have
        datasets: str
        table: str

    def draw(self, files: "Files") -> "Drawing":
        """Draw the figure from its files."""
        raise NotImplementedError

    def with_defaults(self, study) -> "FigureType":
        """The entry with the defaults that depend on the study."""
        return self

    def mistakes(self, study, catalog: Mapping) -> Iterator[str]:
        """Yield a line, `place: found; accepted`, for the first mistake; others may follow from it."""
        if (group := getattr(self, "datasets", None)) is not None:
            yield from unknown(group, study.datasets, "datasets", "group of data sets")
        for metric in self.metric_names():
            of_all = self.of != "candidates"
            known = [one for one in study.metrics if of_all or not METRICS[one].of_probabilities]
            yield from unknown(metric, known, "metric", "metric of this study")
        criterion = getattr(self, "criterion", None)
        for model in self.model_names():
            yield from unknown(model, study.models, "models", "model")
            if criterion:
                criteria = study.models[model].criteria
                yield from unknown(criterion, criteria, "criterion", f"criterion of model {model!r}")
        for model in self.model_names() if self.of in SELECTED else ():
            if not study.models[model].criteria:
                yield (
                    f"models: {model!r} has no criteria, so no candidate is selected and refitted; "
                    "accepted: models with criteria"
                )

    def model_names(self) -> Iterable[str]:
        """The models that the entry names."""
        return getattr(self, "models", None) or ()

    def metric_names(self) -> list[str]:
        """The metrics that it shows."""
        named = getattr(self, "metric", None) or []
        return [named] if isinstance(named, str) else named

    def has_learner(self, model) -> bool:
        """Whether a model has a learner that can be fitted for the figure."""
        if self.of != "rows":
            return bool(learners_of(model))
        return any(self.learner(model, task)["estimator"] for task in ("binary", "regression"))

    def learner(self, model, task: str) -> dict:
        """The learner of a model that the figure fits."""
        return learner_of(model, task)

    def places(self, study) -> list[Pair]:
        """The (data set, model) pairs that it shows, panel by panel; "" for no model."""
        if self.of == "table":
            return [("", "")]  # a table is one file
        if self.of == "measured":
            table = study.tables[self.table]
            rows = TABLE_TYPES[table.type].rows_and_models(table, study)
            return list(dict.fromkeys((dataset, "") for dataset, _ in rows))
        if (models := self.model_names()) or self.of in TRAINED:
            return list(study.pairs(self.datasets, models))
        return [(dataset, "") for dataset in study.datasets[self.datasets]]

    def runs(self, study) -> list[Pair]:
        """The runs, (data set, model), that it shows, which must be trained before it is drawn."""
        return self.places(study) if self.of in TRAINED else []

    def sources(self, study) -> list[tuple[str, str, str]]:
        """The stage, the data set and the model of each file that it is drawn from."""
        return [(stage, *place) for place in self.places(study) for stage in STAGES[self.of]]

    def learners(self, study) -> dict[Pair, dict]:
        """The learners that it fits, by data set and model, with the parameters that the entry sets."""
        learners = {}
        for dataset, model in self.places(study) if self.of == "rows" else ():
            if model:
                entry = self.learner(study.models[model], study.tasks.get(dataset, ""))
                entry["params"] = {**entry["params"], **self.params_of(model)}
                learners[dataset, model] = study.resolved(entry, dataset, f"models.{model}")
        return learners

    def params_of(self, model: str) -> Mapping:
        """The parameters of a learner that the entry sets."""
        return {}

    def spec_of(self, study, seed: int) -> FigureSpec:
        """The spec of the figure; `seed` is for models that it fits."""
        models, refits = study.labels(self.model_names()), {}
        if self.of in OF_TABLES:
            table = study.tables[self.table]
            models = TABLE_TYPES[table.type].models(table, study)
        for dataset, model in self.places(study) if self.of == "models" else ():
            entry, protocol = study.models[model], study.protocol_of(dataset)
            refits[dataset, model] = Refit(entry.criteria[0], made_of(entry), study.model_format, protocol)
        entry = self.model_copy(update={"notes": []})  # they appear only on the page
        sources, learners = self.sources(study), self.learners(study)
        return FigureSpec(entry, seed, sources, models, learners, refits)


class OfModels(FigureType):
    """A figure of a group of data sets and one to six models."""

    datasets: str
    models: SixModels


def grid_mistakes(place: str, model: str, axes: list[str], study) -> Iterator[str]:
    """Yield the mistakes of a model whose grid is not finite numbers of exactly these parameters."""
    entry = study.models[model]
    found = searched(entry)
    if sorted(found) != sorted(axes):
        wanted = " and ".join(map(repr, axes))
        yield (
            f"{place}: the grid of model {model!r} is over {', '.join(found) or 'nothing'}; "
            f"accepted: models with a grid over only {wanted}"
        )
    for name, values in entry.grid.items():
        for value in values if isinstance(values, list) else ():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                yield f"{place}: the grid of model {model!r} has {name} = {value!r}; accepted: finite numbers"


def task_mistakes(datasets: Iterable[str], tasks: tuple[str, ...], study) -> Iterator[str]:
    """Yield the mistakes of data sets of other tasks."""
    for dataset in datasets:
        if (task := study.tasks[dataset]) not in tasks:
            yield f"datasets: {dataset!r} is a {task} data set; accepted: {' and '.join(tasks)} data sets"
