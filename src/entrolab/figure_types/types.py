"""Types of figures: what an entry of a study may say, what must hold of it, what is drawn from which files.

:mod:`entrolab.figure_types.modules` draws them; nothing is imported here that a rule does not have already.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping

from pydantic import model_validator

from entrolab.experiments.clusterings.table import CLUSTERER, clusterers_of
from entrolab.fit.learners import estimator_of, learner_of, learners_of, made_of, projection_of, searched
from entrolab.fit.metrics import METRICS
from entrolab.study.entries import Entry as BaseEntry
from entrolab.study.entries import Params, SixModels, TwelveModels
from entrolab.study.lookup import labels, pairs, protocol_of, resolved
from entrolab.study.sections import (
    Whole,
    described,
    list_of,
    one_of,
    per_dataset,
    shortened,
    whole,
    wrong,
)
from entrolab.tables.types import TABLE_TYPES

__all__ = ["FIGURE_TYPES", "FigureType"]

# A name in an entry that must be known: the place, the name, the known names, what is named.
Named = tuple[str, str, object, str]


class FigureType:
    """A type of figure, as it is unless a subclass says otherwise.

    Attributes
    ----------
    Entry : type
        What an entry of a study may say.
    stages : tuple of str
        The stages whose files it is drawn from, keys of :data:`entrolab.tables.types.FILES`.
    trains : bool
        Whether it shows runs, which have to be trained.
    formats : tuple of str
        What it is written as.
    first_metric : bool
        Whether each data set is shown by the first of its metrics that fits, not by all.
    """

    Entry: type[BaseEntry]
    stages: tuple[str, ...] = ()
    trains = False
    formats: tuple[str, ...] = ("svg", "png", "csv")
    first_metric = False

    def names(self, figure: Mapping, study: Mapping, catalog: Mapping) -> Iterator[Named]:
        """Yield (place, name, known names, what is named).

        A caller refuses an unknown name before it asks for the next: later ones are looked up with it.
        """
        yield "datasets", figure["datasets"], study["datasets"], "group of data sets"
        metrics = figure.get("metric", [])
        known = study["metrics"]
        if "candidates" in self.stages:
            known = [metric for metric in known if not METRICS[metric].of_probabilities]
        for metric in [metrics] if isinstance(metrics, str) else metrics:
            yield "metric", metric, known, "metric of this study"
        for model in figure.get("models", ()):
            yield "models", model, study["models"], "model"

    def mistakes(self, figure: Mapping, study: Mapping, catalog: Mapping) -> Iterator[str]:
        """Yield a line, `place: found; accepted`, for each other mistake in an entry of known names."""
        yield from ()

    def sets(self, figure: Mapping, study: Mapping) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield (import path of a learner, names of parameters that the figure sets)."""
        yield from ()

    def has_learner(self, model: Mapping) -> bool:
        """Whether a model has something that the figure can fit."""
        return bool(learners_of(model))

    def runs(self, figure: Mapping, study: Mapping) -> list[tuple[str, str]]:
        """The (data set, model) pairs that it needs trained, panel by panel."""
        return list(pairs(study, figure["datasets"], figure["models"])) if self.trains else []

    def drawn_from(self, figure: Mapping, study: Mapping) -> list[tuple[str, str]]:
        """The (data set, model) pairs whose files it is drawn from."""
        return self.runs(figure, study)

    def datasets(self, figure: Mapping, study: Mapping) -> list[str]:
        """The data sets that it shows anything of."""
        return list(study["datasets"][figure["datasets"]])

    def spec(self, name: str, figure: Mapping, study: Mapping, seed: int) -> dict:
        """The part of the spec that is not the entry; `seed` is for what the figure draws at random."""
        return {
            "datasets": self.datasets(figure, study),
            "cells": self.runs(figure, study),
            "models": labels(study, figure["models"]),
        }


# ------------------------------------------------------------------------------- of runs and of stored models


class RunsEntry(BaseEntry):
    """A figure of a group of data sets and one to six models."""

    datasets: str
    models: SixModels


class GridCurves(FigureType):
    """Test scores against the values of one parameter, a panel per data set."""

    class Entry(RunsEntry):
        parameter: str
        # Another parameter of the grid, which has a curve for each of its values.
        by: str = None
        metric: str

        @model_validator(mode="after")
        def _one_model(self):
            if self.by is not None and len(self.models) > 1:
                raise wrong(
                    f"models: found {shortened(self.models)}, expected a list of one model: the curves are "
                    "the values of `by`"
                )
            return self

    stages = ("candidates",)
    trains = True

    def mistakes(self, figure, study, catalog):
        axes = [figure["parameter"], *filter(None, [figure.get("by")])]
        for model in figure["models"]:
            yield from grid_mistakes("parameter", model, axes, study)


class GridSurface(FigureType):
    """Mean test scores over two parameters, a panel per data set and model."""

    class Entry(RunsEntry):
        # The horizontal one first.
        parameters: list_of(str, at_least=2, at_most=2)
        metric: str

    stages = ("candidates",)
    trains = True

    def mistakes(self, figure, study, catalog):
        for model in figure["models"]:
            yield from grid_mistakes("parameters", model, figure["parameters"], study)


def grid_mistakes(place: str, model: str, axes: list[str], study: Mapping) -> Iterator[str]:
    """A figure shows all parameters of a grid, in numbers."""
    entry = study["models"][model]
    found = searched(entry)
    if sorted(found) != sorted(axes):
        wanted = " and ".join(map(repr, axes))
        yield (
            f"{place}: the grid of model {model!r} is over {', '.join(found) or 'nothing'}; "
            f"accepted: models with a grid over {wanted} alone"
        )
    for name, values in entry["grid"].items():
        for value in values if isinstance(values, list) else ():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                yield f"{place}: the grid of model {model!r} has {name} = {value!r}; accepted: numbers"


class OfScores(FigureType):
    """Scores of runs, each by the metrics that fit the data set."""

    trains = True

    def spec(self, name, figure, study, seed):
        metrics = [figure["metric"]] if isinstance(figure["metric"], str) else figure["metric"]
        tasks = {dataset: study.get("tasks", {}).get(dataset, "") for dataset in self.datasets(figure, study)}
        return super().spec(name, figure, study, seed) | {"metrics": metrics, "tasks": tasks}


class Trials(OfScores):
    """The score of each trial, a line per model."""

    class Entry(RunsEntry):
        metric: described(
            str | list_of(str), "a metric, or a list of which each data set takes the first that fits it"
        )
        criterion: str

    stages = ("selection", "predictions")
    first_metric = True

    def names(self, figure, study, catalog):
        yield from super().names(figure, study, catalog)
        for model in figure["models"]:
            criteria = study["models"][model]["criteria"]
            yield "criterion", figure["criterion"], criteria, f"criterion of model {model!r}"


class Tradeoff(OfScores):
    """Two mean test scores along a grid, a line per model."""

    class Entry(RunsEntry):
        metric: described(
            list_of(str, at_least=2, at_most=2), "a list of two metrics, the horizontal one first"
        )

    stages = ("candidates",)


class OfStoredModels(FigureType):
    """Figures drawn from the refitted models."""

    Entry = RunsEntry
    stages = ("model",)
    trains = True

    def mistakes(self, figure, study, catalog):
        for model in figure["models"]:
            if not study["models"][model]["criteria"]:
                yield (
                    f"models: {model!r} has no criteria, so that no candidate is selected and refitted; "
                    "accepted: models with criteria"
                )

    def spec(self, name, figure, study, seed):
        learners = {model: made_of(study["models"][model]) for model in figure["models"]}
        return super().spec(name, figure, study, seed) | {"learners": learners}


class LossCurves(OfStoredModels):
    """The objective after each iteration, a line per model."""


class Support(OfStoredModels):
    """The training rows of a plane and the support vectors among them."""

    stages = ("scaled", "folds", "model")

    def mistakes(self, figure, study, catalog):
        for dataset in self.datasets(figure, study):
            yield from plane_mistakes(dataset, ("binary",), catalog)
        yield from super().mistakes(figure, study, catalog)

    def spec(self, name, figure, study, seed):
        protocols = {dataset: protocol_of(study, dataset) for dataset in self.datasets(figure, study)}
        return super().spec(name, figure, study, seed) | {"protocols": protocols}


def plane_mistakes(dataset: str, tasks: tuple[str, ...], catalog: Mapping) -> Iterator[str]:
    """What is drawn as a plane has two features, and classes."""
    task, n_features = catalog[dataset]["task"], catalog[dataset]["expect"]["features"]
    if task not in tasks or n_features != 2:
        yield (
            f"datasets: {dataset!r} is a {task} data set of {n_features} features; "
            f"accepted: {' and '.join(tasks)} data sets of 2"
        )


Shape = described(
    per_dataset(list_of(Whole, at_least=2, at_most=2, unique=False)),
    "the height and the width of an image, or {of_dataset: name}",
)


class OfImages(FigureType):
    """What is drawn as images, a pixel for each feature."""

    def mistakes(self, figure, study, catalog):
        yield from super().mistakes(figure, study, catalog)
        for dataset, shape in self.shapes(figure, study).items():
            n_features = catalog[dataset]["expect"]["features"]
            pair = (
                isinstance(shape, list) and len(shape) == 2 and all(isinstance(side, int) for side in shape)
            )
            if not pair or shape[0] * shape[1] != n_features:
                yield (
                    f"shape: found {shortened(shape)} for {dataset!r}, which has {n_features} features; "
                    "accepted: [height, width] of as many pixels"
                )

    def shapes(self, figure: Mapping, study: Mapping) -> dict[str, list[int]]:
        """The height and the width of each data set's images."""
        return {
            dataset: resolved(figure["shape"], study, dataset, "shape")
            for dataset in self.datasets(figure, study)
        }

    def spec(self, name, figure, study, seed):
        return super().spec(name, figure, study, seed) | {"shapes": self.shapes(figure, study)}


class Weights(OfImages, OfStoredModels):
    """The weights of linear classifiers as images, one for each class."""

    class Entry(RunsEntry):
        shape: Shape

    stages = ("scaled", "model")


# --------------------------------------------------------------------------------------------- of scaled rows


class OfRows(FigureType):
    """What is drawn of a group's rows alone: nothing is trained for it."""

    stages = ("scaled",)

    def drawn_from(self, figure, study):
        return [(dataset, "") for dataset in self.datasets(figure, study)]

    def spec(self, name, figure, study, seed):
        return {"datasets": self.datasets(figure, study)}


class Samples(OfImages, OfRows):
    """The first rows of data sets as images."""

    class Entry(BaseEntry):
        datasets: str
        shape: Shape
        rows: whole(ge=1, le=200)


class FittedAnew(OfRows):
    """What is drawn of models that the figure fits itself, a panel per data set and model."""

    def part(self, model: Mapping, task: str) -> dict:
        """The part of a model's entry that is fitted."""
        return learner_of(model, task)

    def has_learner(self, model):
        return "estimator" in model

    def spec(self, name, figure, study, seed):
        panels = []
        for dataset, model in itertools.product(self.datasets(figure, study), figure["models"]):
            learner = self.part(study["models"][model], study["tasks"][dataset])
            learner["params"] = {**learner["params"], **figure.get("params", {})}
            learner = resolved(learner, study, dataset, f"models.{model}")
            panels.append({"dataset": dataset, "model": model, "learner": learner})
        shown = {"seed": seed, "panels": panels, "models": labels(study, figure["models"])}
        return super().spec(name, figure, study, seed) | shown


class Projections(FittedAnew):
    """Rows in the plane of a projection, with the densities of their classes, and a page to hover over."""

    class Entry(BaseEntry):
        datasets: str
        models: TwelveModels

    formats = ("svg", "png", "csv", "html")

    def part(self, model, task):
        return projection_of(model)

    def has_learner(self, model):
        return bool(model["steps"]) or "estimator" in model

    def mistakes(self, figure, study, catalog):
        for dataset in self.datasets(figure, study):
            if catalog[dataset]["task"] == "regression":
                yield f"datasets: {dataset!r} is a regression data set; accepted: data sets of classes"


class Clusterings(FittedAnew):
    """The clusters of all rows of a plane."""

    Entry = Projections.Entry

    def names(self, figure, study, catalog):
        yield from super().names(figure, study, catalog)
        for model in figure["models"]:
            yield "models", model, clusterers_of(study), CLUSTERER

    def mistakes(self, figure, study, catalog):
        for dataset in self.datasets(figure, study):
            yield from plane_mistakes(dataset, ("binary", "multiclass"), catalog)


class ErrorDensities(FittedAnew):
    """The density of the errors after some epochs."""

    class Entry(RunsEntry):
        epochs: list_of(Whole)
        params: Params = {}

    def has_learner(self, model):
        return bool(learners_of(model))

    def mistakes(self, figure, study, catalog):
        """Errors are drawn of one output, and of a learner that can be stopped early."""
        for dataset, model in itertools.product(self.datasets(figure, study), figure["models"]):
            task = study["tasks"][dataset]
            estimator = estimator_of(study["models"][model], task)
            if task == "multiclass" or estimator is None:
                what = (
                    "a multiclass data set"
                    if task == "multiclass"
                    else f"one that {model!r} has no learner for"
                )
                yield (
                    f"datasets: {dataset!r} is {what}; accepted: binary and regression data sets that each "
                    "model has a learner for"
                )

    def sets(self, figure, study):
        for dataset, model in itertools.product(self.datasets(figure, study), figure["models"]):
            estimator = estimator_of(study["models"][model], study["tasks"][dataset])
            yield estimator, ["max_iter", *figure["params"]]


class Process(FigureType):
    """A machine's way from the input to its answer, in four panels."""

    class Entry(BaseEntry):
        dataset: str
        model: str
        params: Params = {}

    stages = ("scaled",)

    def names(self, figure, study, catalog):
        yield "dataset", figure["dataset"], catalog, "data set"
        yield "model", figure["model"], study["models"], "model"

    def has_learner(self, model):
        return "estimator" in model

    def sets(self, figure, study):
        yield study["models"][figure["model"]]["estimator"], figure["params"]

    def drawn_from(self, figure, study):
        return [(figure["dataset"], "")]

    def datasets(self, figure, study):
        return [figure["dataset"]]

    def spec(self, name, figure, study, seed):
        model = study["models"][figure["model"]]
        learner = {part: model[part] for part in ("label", "sublabel", "estimator", "steps")}
        learner["params"] = {**model["params"], **figure["params"]}
        where = f"models.{figure['model']}"
        return {"model": resolved(learner, study, figure["dataset"], where), "seed": seed}


# -------------------------------------------------------------------------------------------------- of tables


class OfTableEntry(BaseEntry):
    """A figure of a table, or of what is measured for it."""

    table: str


class OfTable(FigureType):
    """What is drawn of a table of one kind, or of its measurement.

    Attributes
    ----------
    of : str
        The kind of table.
    shown : tuple of str
        What of the table's entry decides how the figure looks.
    """

    Entry = OfTableEntry
    stages = ("measured",)
    of = ""
    shown: tuple[str, ...] = ()

    def names(self, figure, study, catalog):
        tables = [name for name, table in study["tables"].items() if table["kind"] == self.of]
        yield "table", figure["table"], tables, f"table of the kind {self.of}"
        if "metric" in figure:
            metrics = TABLE_TYPES[self.of].metrics(study["tables"][figure["table"]])
            yield "metric", figure["metric"], metrics, "metric of this table"

    def drawn_from(self, figure, study):
        return TABLE_TYPES[self.of].rows_and_models(study["tables"][figure["table"]], study)

    def datasets(self, figure, study):
        return list(study["datasets"].get(study["tables"][figure["table"]].get("datasets"), ()))

    def spec(self, name, figure, study, seed):
        table = study["tables"][figure["table"]]
        shown = {part: table[part] for part in self.shown}
        if "datasets" in shown:
            shown["datasets"] = self.datasets(figure, study)
        return shown | {"models": TABLE_TYPES[self.of].models(table, study)}


class Density(OfTable):
    """Seconds against the density of the data."""

    of, shown = "density", ("dims", "densities")


class Starts(OfTable):
    """Where random starts end, a histogram per model."""

    of, shown = "starts", ("datasets",)


class ExpectedMaximum(Starts):
    """The expected best of several starts."""

    class Entry(OfTableEntry):
        against: one_of("starts", "seconds")


class Evaluations(OfTable):
    """Seconds per evaluation against the rows."""

    of, shown = "evaluations", ("rows", "ways")


class CriticalDifference(OfTable):
    """Average ranks of a table's models, joined where they cannot be told apart."""

    class Entry(OfTableEntry):
        metric: str

    of, stages = "scores", ("tables",)

    def drawn_from(self, figure, study):
        return [("", "")]  # a table is one file, whatever it shows


Side = described(list_of(str), "a list of the table's models, the best of which counts on each data set")


class ByData(OfTable):
    """The best of some models against the best of others, by data set."""

    class Entry(OfTableEntry):
        metric: str
        best_of: Side
        against: Side

    of, stages = "scores", ("tables", "record")

    def names(self, figure, study, catalog):
        yield from super().names(figure, study, catalog)
        models = study["tables"][figure["table"]]["models"]
        for name in figure["best_of"]:
            yield "best_of", name, models, "model of this table"
        for name in figure["against"]:
            others = [model for model in models if model not in figure["best_of"]]
            yield "against", name, others, "other model of this table"


FIGURE_TYPES: dict[str, FigureType] = {
    "process": Process(),
    "grid_curves": GridCurves(),
    "grid_surface": GridSurface(),
    "trials": Trials(),
    "density": Density(),
    "support": Support(),
    "tradeoff": Tradeoff(),
    "by_data": ByData(),
    "projections": Projections(),
    "starts": Starts(),
    "expected_maximum": ExpectedMaximum(),
    "evaluations": Evaluations(),
    "samples": Samples(),
    "weights": Weights(),
    "clusterings": Clusterings(),
    "error_densities": ErrorDensities(),
    "loss_curves": LossCurves(),
    "critical_difference": CriticalDifference(),
}
