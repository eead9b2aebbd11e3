"""A study as the whole workflow uses it: its runs, the files of its tables and figures, and their specs.

A run is a data set and a model. Values that differ between data sets, ``{of_dataset: name}`` in the file, are
resolved here. A spec contains all that decides a result and nothing else: a result is made again when its
spec changes.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

from entrolab.experiments.measurement import Measurement
from entrolab.fit.learners import ONE_OF, estimator_of, parts_seed, seed_from
from entrolab.fit.metrics import METRICS, metrics_of
from entrolab.fit.run import Run
from entrolab.io.files import FILES
from entrolab.schema.sections import ConfigError, Section, check_known, plain
from entrolab.study.claims import Claim, tested_file, tested_tables
from entrolab.study.definition import StudyFile
from entrolab.tables.base import Head, TableSpec, TableType
from entrolab.tables.types import TABLE_TYPES

TABLE_FORMATS = ("csv", "html", "tex", "md")
FIGURE_FORMATS = ("svg", "png", "csv")
# Default inner folds of the rows of a training file.
INNER = {"folds": 4, "used": 4}
# The keys of a study, and of a model, that its tables and claims show or look up.
SHOWN = ("name", "file", "seed", "metrics", "criteria", "protocol", "datasets", "tasks", "of_dataset")
SHOWN += ("own_data", "log_candidates")
SHOWN_OF_MODELS = ("label", "sublabel", "estimator", "estimators", "one_of", "grid", "criteria")
SHOWN_OF_MODELS += ("published_only", "known", "trials")


class Study(StudyFile):
    """A checked study with its defaults.

    The additional attributes are its name, its file, the configured seed, the path of the file of its claims,
    the task of each data set, and the entries of its own data sets, which are like those of the catalog.
    ``datasets`` has the keys of each group, ``published`` and ``seeds`` are paths from the working directory.
    Methods that take a name raise a `ConfigError` if the study does not have it.
    """

    name: str
    file: str
    seed: int = 0
    claims_file: str = None
    claims: list[Claim] = []
    tasks: dict[str, str] = {}
    own_data: dict[str, dict[str, Any]] = {}

    # ----------------------------------------------------------------------------------------- runs

    def runs(self) -> list[tuple[str, str]]:
        """The runs, (data set, model), that the tables and figures need, each once."""
        shown = [self.runs_of_table(table) for table in self.tables]
        shown += [self.runs_of_figure(figure) for figure in self.figures]
        return list(dict.fromkeys(itertools.chain.from_iterable(shown)))

    def run(self, dataset: str, model: str, seed: int) -> Run:
        """The run of a model on a data set, with the values for this data set."""
        check_known(dataset, self.tasks, self.file, "datasets", "data set of this study")
        entry = self._entry("models", model)
        return Run(
            study=self.name,
            dataset=dataset,
            model=model,
            estimator=estimator_of(entry, self.tasks[dataset]),
            search=entry.search and plain(entry.search),
            threshold=entry.threshold,
            preprocessing=None if self.scaling else plain(self.preprocessing),
            seed=seed,
            metrics=self._metrics_of_candidates(dataset, model),
            candidates=entry.candidates,
            protocol=self.protocol_of(dataset, model),
            named_seeds=self.named_seeds,
            training_scores=self.checks,
            **{
                name: self.resolved(getattr(entry, name), dataset, f"models.{model}.{name}")
                for name in ("params", "steps", "grid", ONE_OF)
            },
        )

    def _metrics_of_candidates(self, dataset: str, model: str) -> list[str]:
        """The metrics for scoring every candidate: the one that selects, and those shown for whole grids.

        All other metrics of a study are computed from the predictions of the selected models.
        """
        whole = [entry for entry in self.figures.values() if entry.of == "candidates"]
        whole += [entry for entry in self.tables.values() if getattr(entry, "among", None)]
        shown = [
            entry.metric
            for entry in whole
            if model in entry.models and dataset in self.datasets[entry.datasets]
        ]
        named = {metric for one in shown for metric in ([one] if isinstance(one, str) else one)}
        first, *others = metrics_of(self.tasks[dataset], self.metrics)
        return [first, *(metric for metric in others if metric in named and METRICS[metric].chooses)]

    def criteria_of(self, model: str) -> list[str]:
        """The criteria that select from the grid of a model."""
        return self._entry("models", model).criteria

    def files_of_runs(self, stage: str) -> list[str]:
        """The files of a stage, for each run."""
        return [file for run in self.runs() for file in self.files_at(stage, *run)]

    def files_of_data(self) -> list[str]:
        """The files of the data sets that have runs."""
        stages = ("data", "folds", "scaled") if self.scaling else ("data", "folds")
        return [
            file
            for dataset in self.datasets_of_runs()
            for stage in stages
            for file in self.files_at(stage, dataset)
        ]

    def rows_of(self, dataset: str) -> str:
        """The file that runs are fitted on: scaled, or as prepared if preprocessing is part of every fit."""
        return self.files_at("scaled" if self.scaling else "data", dataset)[0]

    def models_of(self, dataset: str, model: str, seed: int) -> list[str]:
        """The folder of the refitted models of a run; none without criteria, or with a further seed."""
        return self.files_at("models", dataset, model) if seed == self.seed else []

    def datasets_of_runs(self) -> list[str]:
        """The data sets that have runs."""
        return list(dict.fromkeys(dataset for dataset, _ in self.runs()))

    def runs_on(self, dataset: str, model: str) -> bool:
        """Whether a model has a learner for the task of a data set."""
        entry = self.models[model]
        return bool(entry.one_of) or estimator_of(entry, self.tasks[dataset]) is not None

    def pairs(self, group: str, models: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the pairs of a data set of a group and a model that has a learner for it."""
        for pair in itertools.product(self.datasets[group], models):
            if self.runs_on(*pair):
                yield pair

    def labels(self, models: Iterable[str]) -> dict[str, Head]:
        """The labels of some models, by name."""
        return {name: Head(self.models[name].label, self.models[name].sublabel) for name in models}

    def scaling_of(self, dataset: str) -> dict:
        """The scaling of a data set; empty if preprocessing is part of every fit."""
        return self.resolved(self.scaling or {}, dataset, "scaling")

    def scaling_spec(self, dataset: str) -> dict:
        """The scaling of a data set for figures, measurements and, with ``scaling``, runs."""
        return self.scaling_of(dataset) or {"preprocessing": plain(self.preprocessing)}

    def split_spec(self, dataset: str) -> dict:
        """All but the seed that decides the splits of a data set."""
        return self.protocol_of(dataset) | {"named_seeds": self.named_seeds}

    def seed_of_parts(self, dataset: str, seed: int) -> int:
        """The seed of the splits of a data set: `seed` itself, unless the study has ``named_seeds``."""
        return parts_seed(seed, self.name, dataset) if self.named_seeds else seed

    def protocol_of(self, dataset: str, model: str | None = None) -> dict:
        """The protocol for a data set; a model may have fewer trials, and unshuffled rows have only one."""
        protocol = self.resolved(self.protocol, dataset, "protocol")
        own = self.own_data.get(dataset, {})
        if test := own.get("expect", {}).get("test_rows"):
            train = own["expect"]["rows"] - test
            return {"trials": 1, "train": train, "test": test, "shuffle": False, "inner": INNER}
        if splits := own.get("splits"):
            inner = "leave-two-folds-out" if "folds" in splits else INNER
            return {**splits, "inner": inner, "method": "given"}
        if own.get("groups") and "folds" in protocol:
            protocol = {"method": "group", **protocol}
        if not protocol.get("shuffle", True):
            return protocol | {"trials": 1}
        trials = None if model is None else self.models[model].trials
        if trials is None:
            return protocol
        return protocol | {"trials": self.resolved(trials, dataset, f"models.{model}.trials")}

    def resolved(self, value, dataset: str, where: str):
        """A value in which every reference ``{of_dataset: name}`` is replaced by the data set's value.

        Sections become mappings.
        """
        value = plain(value) if isinstance(value, Section) else value
        if isinstance(value, dict) and set(value) == {"of_dataset"}:
            return self._looked_up(*value.values(), dataset, where)
        if isinstance(value, dict):
            return {name: self.resolved(one, dataset, f"{where}.{name}") for name, one in value.items()}
        if isinstance(value, list):
            return [self.resolved(one, dataset, f"{where}.{k}") for k, one in enumerate(value)]
        return value

    def _looked_up(self, name: str, dataset: str, where: str):
        check_known(name, self.of_dataset, self.file, where, "name of of_dataset")
        values = self.of_dataset[name]
        if dataset not in values and "default" not in values:
            raise ConfigError(
                f"{self.file}: of_dataset.{name}: no value for the data set {dataset!r}, needed by {where}; "
                "accepted: a value for it, or a default"
            )
        return values.get(dataset, values.get("default"))

    # --------------------------------------------------------------------------------------- tables

    def table_type(self, table: str) -> TableType:
        """The type of a table."""
        entry = self._entry("tables", table)
        return TABLE_TYPES[entry.type].for_entry(entry)

    def runs_of_table(self, table: str) -> list[tuple[str, str]]:
        """The runs, (data set, model), that a table needs, row by row."""
        table_type = self.table_type(table)
        return table_type.rows_and_models(self.tables[table], self) if table_type.trains else []

    def files_of_table(self, table: str) -> list[str]:
        """The result files that a table is made from."""
        entry, table_type = self._entry("tables", table), self.table_type(table)
        measured_for = getattr(entry, "measured_for", None) or table
        files = (
            self.files_at(stage, dataset, model, measured_for)
            for stage in table_type.stages_of(entry)
            for dataset, model in table_type.rows_and_models(entry, self)
        )
        return list(dict.fromkeys(itertools.chain.from_iterable(files)))

    def spec_of_table(self, table: str) -> TableSpec:
        """All that a table shows, except its numbers."""
        entry, table_type = self._entry("tables", table), self.table_type(table)
        group = getattr(entry, "datasets", None)
        shown = () if group is None else self.datasets[group]
        return TableSpec(
            study=self,
            name=table,
            type=table_type,
            entry=entry,
            datasets={key: Head(key) for key in shown} | table_type.extra_rows(entry),
            models=table_type.models(entry, self),
            metrics=table_type.metrics(entry),
            trials=getattr(self.protocol, "trials", 0),
            sample=getattr(self.protocol, "rows", None) or 0,
        )

    def published_cells(self, table: str) -> list[tuple[str, str, str]]:
        """The cells of a table that may have a published value, as (data set, model, metric)."""
        spec = self.spec_of_table(table)
        return [spec.type.published_at(cell) for cell in spec.type.cells(spec)]

    def score_tables(self, dataset: str | None = None) -> list[str]:
        """The names of the tables that show scores of runs, on a data set or on any."""
        return [
            name
            for name, entry in self.tables.items()
            if self.table_type(name).ranks and dataset in (None, *self.datasets[entry.datasets])
        ]

    def measurement(self, table: str, dataset: str, seed: int) -> Measurement:
        """All that decides the result of a measurement on a data set for a table."""
        table_type = self.table_type(table)
        measured = table_type.measurement(self.tables[table], self, dataset)
        for part in {"models", "steps", "grids"} & measured.keys():
            measured[part] = self.resolved(measured[part], dataset, f"tables.{table}.models")
        return Measurement(study=self.name, table=table, dataset=dataset, seed=seed, **measured)

    def measurements(self) -> list[tuple[str, str]]:
        """The measurements, (table, data set), of all tables, each once."""
        found = [
            (getattr(entry, "measured_for", None) or name, dataset)
            for name, entry in self.tables.items()
            if "measured" in self.table_type(name).stages_of(entry)
            for dataset, _ in self.table_type(name).rows_and_models(entry, self)
        ]
        return list(dict.fromkeys(found))

    # -------------------------------------------------------------------------------------- figures

    def runs_of_figure(self, figure: str) -> list[tuple[str, str]]:
        """The runs, (data set, model), that a figure needs, panel by panel."""
        return self._entry("figures", figure).runs(self)

    def files_of_figure(self, figure: str) -> list[str]:
        """The result files that a figure is drawn from, panel by panel."""
        entry = self._entry("figures", figure)
        table = getattr(entry, "table", None)
        measured_for = table and getattr(self.tables[table], "measured_for", None)
        sources = entry.sources(self)
        return [file for one in sources for file in self.files_at(*one, measured_for or table)]

    def spec_of_figure(self, figure: str):
        """The spec of a figure, a :class:`entrolab.figures.spec.FigureSpec`."""
        return self._entry("figures", figure).spec_of(self, seed_from(self.seed, self.name, figure))

    # ---------------------------------------------------------------------------------------- files

    def files_at(self, stage: str, dataset: str, model: str = "", table: str | None = None) -> list[str]:
        """The file of a stage, as a list; none for the refitted models of a run without criteria."""
        if stage == "models" and not self.models[model].criteria:
            return []
        names = {"study": self.name, "seed": self.seed, "dataset": dataset, "model": model, "table": table}
        return [FILES[stage].format(**names)]

    def files_of_claims(self) -> list[str]:
        """The tables and figures that the tests of the claims read, and the results of the tables."""
        names = tested_tables(self.claims)
        results = (self.files_of_table(name) for name in names if name in self.tables)
        return [
            *(tested_file(self, name) for name in names),
            *dict.fromkeys(itertools.chain.from_iterable(results)),
        ]

    def tables_as(self, formats: Iterable[str]) -> list[str]:
        """The tables in some formats."""
        return [f"results/{self.name}/tables/{table}.{one}" for table in self.tables for one in formats]

    def figures_as(self, formats: Iterable[str]) -> list[str]:
        """The figures in some formats."""
        return [f"results/{self.name}/figures/{figure}.{one}" for figure in self.figures for one in formats]

    def outcomes_of_claims(self) -> list[str]:
        """The file of the outcomes of the claims, if there are claims."""
        return [FILES["claims"].format(study=self.name)] if self.claims else []

    def findings(self) -> list[str]:
        """The file of what the checks find, unless the study has no checks."""
        return [FILES["findings"].format(study=self.name)] if self.checks else []

    def files(self) -> list[str]:
        """All files that are made for the study."""
        stages = ("candidates", "predictions", "record", "selection", "models")
        results = [self.files_of_data(), *(self.files_of_runs(stage) for stage in stages)]
        results += [self.files_of_table(table) for table in self.tables]
        results += [self.files_of_figure(figure) for figure in self.figures]
        return [
            *dict.fromkeys(itertools.chain.from_iterable(results)),
            *self.tables_as(TABLE_FORMATS),
            *self.figures_as(FIGURE_FORMATS),
            *self.outcomes_of_claims(),
            *self.findings(),
            f"results/report/{self.name}.html",
            *self.receipts(),
            f"results/{self.name}/tracked.json",
        ]

    def receipts(self, table: str | None = None) -> list[str]:
        """The receipts of the tracking store of all runs and measurements, or of those of a table."""
        runs = self.runs() if table is None else self.runs_of_table(table)
        measured = [one for one in self.measurements() if table in (None, one[0])]
        receipts = [self.files_at("tracked", *run) for run in runs]
        receipts += [self.files_at("tracked_measured", dataset, table=name) for name, dataset in measured]
        return [*itertools.chain.from_iterable(receipts)]

    # ---------------------------------------------------------------------------------------- parts

    def part_for_run(self, dataset: str, model: str) -> "Study":
        """The part of the study that a tracked run shows."""
        names = (*SHOWN, "title", "scaling", "preprocessing", "model_format")
        parts = {name: getattr(self, name) for name in names} | {"datasets": {}}
        for name in ("tasks", "own_data"):
            parts[name] = {key: value for key, value in parts[name].items() if key == dataset}
        return Study.model_construct(**parts, models={model: self.models[model]}, tables={}, figures={})

    def part_for_measurement(self, table: str) -> "Study":
        """The part of the study that tracked measurements of a table show."""
        models = {
            name: type(model).model_construct(label=model.label, sublabel=model.sublabel)
            for name, model in self.models.items()
        }
        tables = {table: self.tables[table]}
        return Study.model_construct(name=self.name, seed=self.seed, models=models, tables=tables)

    def n_points(self) -> int:
        """The number of grid points of all runs."""
        return sum(self._n_points(*run) for run in self.runs())

    def share_of_table(self, table: str) -> float:
        """The share of the study's grid points that a table needs."""
        return sum(self._n_points(*run) for run in self.runs_of_table(table)) / max(self.n_points(), 1)

    def _n_points(self, dataset: str, model: str) -> int:
        entry = self.models[model]
        grids = [{**entry.grid, **one.grid} for one in entry.one_of.values()] or [entry.grid]
        most = entry.search.points if entry.search else math.inf
        n_points = sum(
            math.prod(len(self.resolved(values, dataset, model)) for values in grid.values())
            for grid in grids
        )
        return min(n_points, most)

    def part_for_claims(self) -> "Study":
        """The part of the study that decides the outcomes of its claims."""
        return self.part_for(*tested_tables(self.claims)).model_copy(update={"claims": self.claims})

    def part_for(self, *names: str) -> "Study":
        """The part of the study that affects how some tables and figures look.

        They are made again when it changes: it has the labels, learners and grids of all models.
        """
        return Study.model_construct(
            **{part: getattr(self, part) for part in SHOWN},
            models={
                name: type(model).model_construct(**{part: getattr(model, part) for part in SHOWN_OF_MODELS})
                for name, model in self.models.items()
            },
            tables={name: self.tables[name] for name in names if name in self.tables},
            figures={name: self.figures[name] for name in names if name in self.figures},
        )

    # ---------------------------------------------------------------------------------------- names

    def _entry(self, part: str, name: str):
        """The model, table or figure of a name."""
        entries = getattr(self, part)
        check_known(name, entries, self.file, part, part.removesuffix("s"))
        return entries[name]
