"""Base classes of the figure types: the entry in a study, its checks, the files read and the panels.

The workflow imports this module before any job starts, so drawing libraries are imported in the methods.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from entrolab.fit.learners import learner_of, learners_of, searched
from entrolab.fit.metrics import METRICS
from entrolab.study.entries import Entry as BaseEntry
from entrolab.study.entries import SixModels
from entrolab.study.sections import Whole, described, list_of, per_dataset, shortened
from entrolab.tables.base import TableType
from entrolab.text import full_label

if TYPE_CHECKING:
    from entrolab.figure_types.drawing import Drawing

# A name in an entry that must be known: place, name, known names, kind of thing named.
Named = tuple[str, str, object, str]


class Stored(NamedTuple):
    """The refitted model of a run: its criterion, the import paths of its parts, and the study's format."""

    criterion: str
    parts: list[str]
    model_format: str = "skops"


@dataclass(frozen=True)
class FigureSpec:
    """All that decides a figure, apart from its files; the figure is drawn again when the spec changes.

    Attributes
    ----------
    entry : Entry
        The entry in the study, without its notes.
    seed : int
        The seed of the models that the figure fits.
    datasets : list of str
        The data sets that are shown.
    runs : list of (str, str)
        The runs, (data set, model), that are shown, panel by panel.
    models : dict
        The label and the second line of each model that is shown.
    learners : dict
        The learners that the figure fits, by data set and model.
    stored : dict
        The refitted models that are shown, by model.
    metrics, shapes, protocols : dict
        The metric, the height and width of an image, and the protocol of each data set.
    table : SimpleNamespace
        The values of the table's entry that the figure depends on.
    """

    entry: Any
    seed: int
    datasets: list[str]
    runs: list[tuple[str, str]]
    models: dict[str, dict] = field(default_factory=dict)
    learners: dict[tuple[str, str], dict] = field(default_factory=dict)
    stored: dict[str, Stored] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, list[int]] = field(default_factory=dict)
    protocols: dict[str, dict] = field(default_factory=dict)
    table: SimpleNamespace | None = None

    def name_of(self, model: str) -> str:
        """The label of a model with its second line, and with its key if an earlier model has the same."""
        name = full_label(self.models[model])
        first = next(key for key, named in self.models.items() if full_label(named) == name)
        return name if model == first else f"{name} ({model})"

    def title_of(self, dataset: str, model: str) -> str:
        """The title of the panel of a data set and a model: the data set only where there are several."""
        if not model:
            return dataset
        name = self.name_of(model)
        return name if len(self.datasets) == 1 else f"{dataset}, {name}"


class FigureType:
    """A figure type, with the defaults of its subclasses.

    Attributes
    ----------
    Entry : type
        The keys and values of an entry in a study.
    stages : tuple of str
        The stages whose files it is drawn from, keys of :data:`entrolab.tables.types.FILES`.
    trains : bool
        Whether it shows runs, which must be trained before it is drawn.
    formats : tuple of str
        The formats of its files. With ``html``, the class has a method ``to_hover(spec, table, sources)``
        that returns, by title, the displays with a tooltip per row.
    first_metric : bool
        Whether only the first metric that fits is shown for each data set.
    layout : mapping
        The layout of the panels, keywords of :func:`entrolearn.plotting.plot_panels`.
    """

    Entry: type[BaseEntry]
    stages: tuple[str, ...] = ()
    trains = False
    formats: tuple[str, ...] = ("svg", "png", "csv")
    first_metric = False
    layout: Mapping = {}

    def names(self, figure, study, catalog: Mapping) -> Iterator[Named]:
        """Yield (place, name, known names, kind of thing named).

        Callers must check each name before they take the next one, whose known names may depend on it.
        """
        yield "datasets", figure.datasets, study.datasets, "group of data sets"
        metrics = getattr(figure, "metric", [])
        known = study.metrics
        if "candidates" in self.stages:
            known = [metric for metric in known if not METRICS[metric].of_probabilities]
        for metric in [metrics] if isinstance(metrics, str) else metrics:
            yield "metric", metric, known, "metric of this study"
        criterion = getattr(figure, "criterion", None)
        for model in getattr(figure, "models", ()):
            yield "models", model, study.models, "model"
            if criterion:
                criteria = study.models[model].criteria
                yield "criterion", criterion, criteria, f"criterion of model {model!r}"

    def mistakes(self, figure, study, catalog: Mapping) -> Iterator[str]:
        """Yield a line, `place: found; accepted`, per mistake in an entry whose names are all known."""
        yield from ()

    def has_learner(self, model: Mapping) -> bool:
        """Whether a model has a learner that the figure can fit."""
        return bool(learners_of(model))

    def runs(self, figure, study) -> list[tuple[str, str]]:
        """The runs (data set, model) that it shows, panel by panel."""
        return list(study.pairs(figure.datasets, figure.models)) if self.trains else []

    def drawn_from(self, figure, study) -> list[tuple[str, str]]:
        """The (data set, model) pairs whose files it is drawn from."""
        return self.runs(figure, study)

    def datasets(self, figure, study) -> list[str]:
        """The data sets that it shows."""
        return list(study.datasets[figure.datasets])

    def spec_of(self, figure, study, seed: int) -> FigureSpec:
        """The spec of a figure; `seed` is for models that it fits."""
        return FigureSpec(
            figure.model_copy(update={"notes": []}),  # they appear only on the page
            seed,
            self.datasets(figure, study),
            self.runs(figure, study),
            **self.spec(figure, study),
        )

    def spec(self, figure, study) -> dict:
        """The fields of the spec that only some figures have."""
        return {"models": study.labels(figure.models)}

    def draw(self, spec: FigureSpec, sources: Sequence[str], records: Sequence[str]) -> "Drawing":
        """Draw the figure of a spec from its files and the records of its runs.

        See `spec_of_figure` and `files_of_figure` of :class:`entrolab.study.study.Study`.
        """
        raise NotImplementedError


class PanelPerModel(FigureType):
    """A panel per data set and model."""

    def panel(self, dataset: str, model: str, files: Sequence[str], record: Mapping, spec: FigureSpec):
        """The display of a run; if this raises an exception, the panel shows its message."""
        raise NotImplementedError

    def panels(self, spec: FigureSpec, sources: Sequence[str], records: Sequence[str]) -> dict:
        """The displays by data set and model; a text with the reason for each one that is missing."""
        from entrolab.figure_types.drawing import attempt, runs_of

        return {
            run: attempt(self.panel, *run, files, record, spec)
            for run, files, record in runs_of(spec, sources, records)
        }

    def draw(self, spec, sources, records):
        from entrolab.figure_types.drawing import drawing_of, table_of

        panels = self.panels(spec, sources, records)
        tables = [table_of(panel, dataset=dataset, model=model) for (dataset, model), panel in panels.items()]
        self.align([panel for panel in panels.values() if not isinstance(panel, str)])
        return drawing_of({spec.title_of(*at): panel for at, panel in panels.items()}, tables, **self.layout)

    def align(self, displays: Sequence) -> None:
        """Make displays consistent before they are drawn."""


class LinePerModel(FigureType):
    """A panel per data set, a line per model.

    Models without a result have the values `empty`, so that they appear in the legend.
    """

    empty: object = ()

    def lines(
        self, dataset: str, model: str, files: Sequence[str], record: Mapping, spec: FigureSpec
    ) -> dict:
        """The lines of a run by name; the message of an exception is the reason for having none."""
        return {spec.name_of(model): self.line(dataset, model, files, record, spec)}

    def line(self, dataset: str, model: str, files: Sequence[str], record: Mapping, spec: FigureSpec):
        """The only line of a run."""
        raise NotImplementedError

    def display(self, dataset: str, lines: Mapping, spec: FigureSpec):
        """The display of a data set, from the values of its lines by name."""
        raise NotImplementedError

    def draw(self, spec, sources, records):
        from entrolab.figure_types.drawing import attempt, draw_lines, runs_of

        lines = {}
        for run, files, record in runs_of(spec, sources, records):
            found = attempt(self.lines, *run, files, record, spec)
            named = {spec.name_of(run[1]): found} if isinstance(found, str) else found
            lines |= {(*run, name): line for name, line in named.items()}
        return draw_lines(lines, partial(self.display, spec=spec), empty=self.empty, **self.layout_of(spec))

    def layout_of(self, spec: FigureSpec) -> Mapping:
        """The layout of the panels of a figure."""
        return self.layout


# ---------------------------------------------------------------------------------------- of runs, of models


class RunsEntry(BaseEntry):
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


class OfSelectedModels(FigureType):
    """Figures of the selected models, either refitted or by their predictions."""

    Entry = RunsEntry
    trains = True

    def mistakes(self, figure, study, catalog):
        for model in figure.models:
            if not study.models[model].criteria:
                yield (
                    f"models: {model!r} has no criteria, so no candidate is selected and refitted; "
                    "accepted: models with criteria"
                )


def class_mistakes(datasets: Iterable[str], study) -> Iterator[str]:
    """Yield the mistakes of data sets without classes."""
    for dataset in datasets:
        if study.tasks[dataset] == "regression":
            yield f"datasets: {dataset!r} is a regression data set; accepted: data sets of classes"


def plane_mistakes(dataset: str, tasks: tuple[str, ...], catalog: Mapping) -> Iterator[str]:
    """Yield the mistake of a data set that has more or fewer than two features, or another task."""
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
    """Figures of images, one pixel per feature."""

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

    def shapes(self, figure, study) -> dict[str, list[int]]:
        """The height and the width of each data set's images."""
        return {
            dataset: study.resolved(figure.shape, dataset, "shape")
            for dataset in self.datasets(figure, study)
        }

    def spec(self, figure, study):
        return super().spec(figure, study) | {"shapes": self.shapes(figure, study)}


# --------------------------------------------------------------------------------------------- of scaled rows


class OfRows(PanelPerModel):
    """Figures of the scaled rows of a group of data sets, which need no training."""

    stages = ("scaled",)

    def drawn_from(self, figure, study):
        return [(dataset, "") for dataset in self.datasets(figure, study)]

    def spec(self, figure, study):
        return {}

    def places(self, spec: FigureSpec) -> list[tuple[str, str]]:
        """The panels, each a data set and a model."""
        return [(dataset, "") for dataset in spec.datasets]

    def of_rows(self, data, place: tuple[str, str], spec: FigureSpec):
        """The display of a panel, from the scaled data set."""
        raise NotImplementedError

    def panels(self, spec, sources, records):
        from entrolab.data.dataset import load_dataset
        from entrolab.figure_types.drawing import attempt

        files = dict(zip(spec.datasets, sources, strict=True))

        def drawn(place):
            return self.of_rows(load_dataset(files[place[0]]), place, spec)

        return {place: attempt(drawn, place) for place in self.places(spec)}


def fitted_with(params: Mapping, learner: dict, study, dataset: str, model: str) -> dict:
    """The learner of a model with the parameters that a figure sets, and the values of a data set."""
    learner = learner | {"params": {**learner["params"], **params}}
    return study.resolved(learner, dataset, f"models.{model}")


class FittedAnew(OfRows):
    """Figures of models that the figure fits itself, a panel per data set and model."""

    def part(self, model: Any, task: str) -> dict:
        """The part of a model's entry that is fitted."""
        return learner_of(model, task)

    def has_learner(self, model):
        return model.estimator is not None

    def spec(self, figure, study):
        params, learners = getattr(figure, "params", {}), {}
        for dataset, model in itertools.product(self.datasets(figure, study), figure.models):
            learner = self.part(study.models[model], study.tasks[dataset])
            learners[dataset, model] = fitted_with(params, learner, study, dataset, model)
        return {"learners": learners, "models": study.labels(figure.models)}

    def fitted(self, data, learner, spec: FigureSpec):
        """The display of an unfitted learner, fitted to all rows of a data set."""
        raise NotImplementedError

    def places(self, spec):
        return list(spec.learners)

    def of_rows(self, data, place, spec):
        from entrolab.fit.learners import build

        return self.fitted(data, build(spec.learners[place], spec.seed), spec)


# -------------------------------------------------------------------------------------------------- of tables


class OfTableEntry(BaseEntry):
    """A figure of a table, or of its measurement."""

    table: str


class OfTable(FigureType):
    """Figures of a table, or of its measurement.

    `of` is the name of the table's type, or of its script, in studies, `table_type` its class. A figure
    depends on the params `shown` of a measured table.
    """

    Entry = OfTableEntry
    stages = ("measured",)
    of = ""
    table_type: TableType
    shown: tuple[str, ...] = ()

    def names(self, figure, study, catalog):
        tables = [
            name
            for name, table in study.tables.items()
            if self.of in (table.type, getattr(table, "script", ""))
        ]
        yield "table", figure.table, tables, f"table of type {self.of}"
        if metric := getattr(figure, "metric", None):
            metrics = self.table_type.metrics(study.tables[figure.table])
            yield "metric", metric, metrics, "metric of this table"

    def drawn_from(self, figure, study):
        return self.table_type.rows_and_models(study.tables[figure.table], study)

    def datasets(self, figure, study):
        return list(study.datasets.get(getattr(study.tables[figure.table], "datasets", None), ()))

    def spec(self, figure, study):
        table = study.tables[figure.table]
        shown = {part: table.params[part] for part in self.shown}
        return {
            "models": self.table_type.models(table, study),
            "table": SimpleNamespace(**shown),
        }


# ----------------------------------------------------------------------------------------------------- labels


def score_name(metric: str) -> str:
    """The label of a metric's axis, with its unit."""
    return METRICS[metric].label + (", %" if METRICS[metric].percent else "")
