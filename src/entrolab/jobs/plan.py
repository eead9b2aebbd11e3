"""Inputs, parameters and resources of the workflow's rules, from the configuration.

Snakemake calls the functions that take wildcards for every job before any job starts.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from entrolab.claims.repository_tests import stored_outcomes
from entrolab.data.origins import made_by
from entrolab.fit.learners import COLUMNS, PREPROCESSING, made_of, parts_seed
from entrolab.jobs.cluster_requests import Ask, Needs, needs_of_data, needs_of_drawing, needs_of_run
from entrolab.jobs.command import home
from entrolab.jobs.source_analysis import source_digests
from entrolab.study.claims import tested_file, tested_tables
from entrolab.study.job_specs import (
    figure_datasets,
    figure_files,
    figure_formats,
    figure_runs,
    figure_spec,
    measurement_spec,
    run_spec,
    score_tables,
    study_runs,
    table_files,
    tracked_datasets,
    type_of,
)
from entrolab.study.lookup import protocol_of, scaling_of
from entrolab.study.settings import LIMIT_SECONDS
from entrolab.tables.base import GENERATED
from entrolab.tables.number_format import title
from entrolab.tables.types import FILES, TABLE_TYPES

TABLE_FORMATS = ("csv", "html", "tex", "md")
FIGURE_FORMATS = ("svg", "png", "csv", "html")
CLAIMS_FORMATS = ("csv", "html")
OF_RUNS = ("candidates", "selection", "predictions", "record", "model", "facts")


def code(*import_paths: str) -> Callable:
    """A params function: digests of the code that a job runs, since Snakemake does not follow imports."""
    return lambda wildcards: source_digests(*import_paths)


@dataclass(frozen=True)
class Plan:
    """The loaded configuration, with the functions that the rules call."""

    catalog: Mapping[str, Mapping]
    studies: Mapping[str, Mapping]
    settings: Mapping

    # ---------------------------------------------------------------------------------------- names

    def names(self, part: str) -> str:
        """A regular expression for the names of all models, tables or figures."""
        return "|".join(sorted({name for study in self.studies.values() for name in study[part]}))

    def measured_tables(self) -> str:
        """A regular expression for the names of tables with measurements of their own."""
        tables = chain.from_iterable(study["tables"].items() for study in self.studies.values())
        return "|".join(sorted({name for name, entry in tables if TABLE_TYPES[entry["type"]].measured_by}))

    def study(self, wildcards) -> Mapping:
        return self.studies[wildcards.study]

    # ----------------------------------------------------------------------------------------- data

    def entry(self, wildcards) -> Mapping:
        return self.catalog[wildcards.dataset]

    def downloaded(self) -> dict[str, Mapping]:
        """The entries of the data sets that have to be downloaded."""
        return {dataset: entry for dataset, entry in self.catalog.items() if "files" in entry}

    def receipt(self, wildcards) -> list[str]:
        """The receipt of a data set that has to be downloaded; empty for other data sets."""
        return [_receipt(wildcards.dataset)] if "files" in self.entry(wildcards) else []

    def receipts(self) -> list[str]:
        return [_receipt(dataset) for dataset in self.downloaded()]

    def attempt(self, wildcards) -> int:
        """A number that grows while the data are not available, so that each run tries to download them.

        It is stored outside the receipt, because Snakemake deletes that before the job starts.
        """
        file = Path("resources", "raw", wildcards.dataset, "attempt.json")
        try:
            last = json.loads(file.read_text(encoding="utf-8"))
            return last["attempt"] + (not last["available"])
        except (OSError, ValueError, KeyError):
            return 1

    def code_of_data(self, wildcards) -> dict[str, str]:
        return source_digests("entrolab.data.prepare", made_by(self.entry(wildcards)))

    def needs_of_data(self, wildcards) -> Needs:
        return needs_of_data(self.entry(wildcards))

    def scaling(self, wildcards) -> dict:
        """The scaling for figures and measurements, and for runs of a study with ``scaling``."""
        study = self.study(wildcards)
        if "scaling" in study:
            return scaling_of(study, wildcards.dataset)
        return {"preprocessing": study.preprocessing}

    def rows_of_run(self, wildcards) -> str:
        """The data file of runs: scaled, or as prepared if preprocessing is part of every fit."""
        return self._rows(wildcards.study, wildcards.dataset)

    def rows_of_examples(self, wildcards) -> list[str]:
        """The data file for input examples of logged models, if the study asks for them."""
        study = self.study(wildcards)
        datasets = tracked_datasets(study) if study["input_example"] else ()
        return [self._rows(wildcards.study, dataset) for dataset in datasets]

    def protocol(self, wildcards) -> dict:
        return protocol_of(self.study(wildcards), wildcards.dataset)

    def parts_seed(self, wildcards) -> int:
        return parts_seed(self.settings["seed"], wildcards.study, wildcards.dataset)

    # ----------------------------------------------------------------------------------------- runs

    def run_spec(self, wildcards) -> dict:
        at = (wildcards.dataset, wildcards.model)
        return run_spec(wildcards.study, self.study(wildcards), *at, self.settings["seed"])

    def code_of_run(self, wildcards) -> dict[str, str]:
        spec = self.run_spec(wildcards)
        own = (PREPROCESSING, COLUMNS) if "preprocessing" in spec else ()
        return source_digests("entrolab.fit.training", *own, *made_of(spec))

    def limit_seconds(self, wildcards) -> float:
        """The limit of a run: that of the settings, else that of its study, else the default."""
        of_study = self.study(wildcards).get("limit_seconds") if hasattr(wildcards, "study") else None
        return self.settings["limit_seconds"] or of_study or LIMIT_SECONDS

    def asked(self, needs: Callable[..., Needs]) -> dict[str, Callable]:
        """Resource functions: memory and minutes that a job requests from a cluster, more on each attempt."""

        def requested(wildcards, attempt: int) -> Ask:
            limits = {**self.settings, "limit_seconds": self.limit_seconds(wildcards)}
            return needs(wildcards).asked(limits, attempt)

        return {
            "mem_mb": lambda wildcards, attempt: requested(wildcards, attempt).mem_mb,
            "runtime": lambda wildcards, attempt: requested(wildcards, attempt).runtime,
        }

    def needs_of_run(self, wildcards) -> Needs:
        return needs_of_run(self.run_spec(wildcards), self.entry(wildcards))

    def records_of_figure(self, wildcards) -> list[str]:
        """The record of each run that a figure shows."""
        return _files("record", wildcards.study, figure_runs(self.study(wildcards), wildcards.figure))

    def of_study(self, stage: str) -> Callable:
        """An input function: the files of a stage for each run of a study."""
        return lambda wildcards: _files(stage, wildcards.study, study_runs(self.study(wildcards)))

    # --------------------------------------------------------------------------------- measurements

    def measurement(self, wildcards) -> dict:
        return measurement_spec(
            wildcards.study,
            self.study(wildcards),
            wildcards.table,
            wildcards.get("dataset", GENERATED),
            self.settings["seed"],
        )

    def code_of_measurement(self, wildcards) -> dict[str, str]:
        measurement = self.measurement(wildcards)
        models = measurement.get("models", {}).values()
        return source_digests(measurement["measured_by"], *chain.from_iterable(map(made_of, models)))

    # -------------------------------------------------------------------------------------- figures

    def figure(self, wildcards) -> dict:
        study = self.study(wildcards)
        return figure_spec(wildcards.study, study, wildcards.figure, self.settings["seed"])

    def code_of_figure(self, wildcards) -> dict[str, str]:
        figure = self.figure(wildcards)
        fitted = [panel["learner"] for panel in figure.get("panels", [])]
        fitted += [figure["model"]] if "model" in figure else []
        drawing = type(type_of(self.study(wildcards), wildcards.figure)).__module__
        return source_digests(
            "entrolab.figure_types.making", drawing, *chain.from_iterable(map(made_of, fitted))
        )

    def needs_of_figure(self, wildcards) -> Needs:
        shown = figure_datasets(self.study(wildcards), wildcards.figure)
        return needs_of_drawing([self.catalog[dataset] for dataset in shown])

    def sources_of_figure(self, wildcards) -> list[str]:
        """The files that a figure is drawn from."""
        return figure_files(wildcards.study, self.study(wildcards), wildcards.figure)

    def rows_to_hover(self, wildcards) -> list[str]:
        """The prepared data sets whose rows a figure shows on hovering, in the order of its group."""
        shown = figure_datasets(self.study(wildcards), wildcards.figure)
        return [FILES["data"].format(dataset=dataset) for dataset in shown]

    # ------------------------------------------------------------------------------ tables and pages

    def sources_of_table(self, wildcards) -> list[str]:
        """The result files that a table is made from."""
        return table_files(wildcards.study, self.study(wildcards), wildcards.table)

    def published(self, wildcards) -> list[str]:
        """The file of the published values, if the study has one."""
        study = self.study(wildcards)
        return [study["published"]] if "published" in study else []

    def seeds(self, wildcards) -> list[str]:
        """The file of the values with several seeds, if the study has one."""
        file = self.study(wildcards).get("seeds")
        return [file] if file and Path(file).is_file() else []

    def score_tables(self, wildcards) -> list[str]:
        """The score tables of a study, which provide values and verdicts for the tracked runs."""
        study = self.study(wildcards)
        shown = (score_tables(study, dataset) for dataset in tracked_datasets(study))
        tables = dict.fromkeys(chain.from_iterable(shown))
        return [FILES["tables"].format(study=wildcards.study, table=table) for table in tables]

    def shown(self, wildcards) -> dict:
        """The part of a study that affects how a table looks; the table is made again when it changes."""
        return {"study": self.study(wildcards).part_for_table(wildcards.table)}

    def sources_of_claims(self, wildcards) -> list[str]:
        """The tables and figures that the tests of a study's claims read, and the results of the tables."""
        study = self.study(wildcards)
        names = tested_tables(study["claims"])
        results = (table_files(wildcards.study, study, name) for name in names if name in study["tables"])
        return [
            *(tested_file(study, name) for name in names),
            *dict.fromkeys(chain.from_iterable(results)),
        ]

    def claimed(self, wildcards) -> dict:
        """The part of a study that decides the outcomes of its claims."""
        study = self.study(wildcards)
        return {
            "study": study.part_for_claims(),
            "by_tests": stored_outcomes(wildcards.study, study["claims"], home()),
        }

    def claims(self, formats: Iterable[str]) -> Callable:
        """An input function: the outcomes of a study's claims; empty if it has none."""
        return lambda wildcards: self._claims(wildcards.study, formats)

    def title(self, wildcards) -> str:
        """The title of a study in Snakemake's own report."""
        return self.study(wildcards)["title"]

    def labels(self, part: str, wildcard: str) -> Callable:
        """The labels of tables or figures in Snakemake's own report: title and caption."""

        def labelled(wildcards) -> dict[str, str]:
            name = getattr(wildcards, wildcard)
            return {"name": title(name), "shows": self.study(wildcards)[part][name]["caption"]}

        return labelled

    def tables(self, formats: Iterable[str] = TABLE_FORMATS) -> Callable:
        """An input function: a study's tables."""
        return lambda wildcards: self._tables(wildcards.study, formats)

    def figures(self, formats: Iterable[str] = FIGURE_FORMATS) -> Callable:
        """An input function: a study's figures."""
        return lambda wildcards: self._figures(wildcards.study, formats)

    def files_of_studies(self, study_names: Iterable[str]) -> list[str]:
        return [file for study_name in study_names for file in self.study_files(study_name)]

    def study_files(self, study_name: str) -> list[str]:
        """All files that are made for a study, so that one that was deleted is made again."""
        study = self.studies[study_name]
        tracked = tracked_datasets(study)
        stages = ("data", "folds", "scaled") if "scaling" in study else ("data", "folds")
        rows = [FILES[stage].format(study=study_name, dataset=one) for one in tracked for stage in stages]
        runs = [file for stage in OF_RUNS for file in _files(stage, study_name, study_runs(study))]
        shown = [table_files(study_name, study, table) for table in study["tables"]]
        shown += [figure_files(study_name, study, figure) for figure in study["figures"]]
        return [
            *dict.fromkeys(chain(rows, runs, *shown)),
            *self._tables(study_name, TABLE_FORMATS),
            *self._figures(study_name, FIGURE_FORMATS),
            *self._claims(study_name, CLAIMS_FORMATS),
            f"results/report/{study_name}.html",
            *([f"results/{study_name}/tracked/runs.json"] if tracked else []),
            f"results/{study_name}/tracked.json",
        ]

    def _rows(self, study_name: str, dataset: str) -> str:
        stage = "scaled" if "scaling" in self.studies[study_name] else "data"
        return FILES[stage].format(study=study_name, dataset=dataset)

    def _tables(self, study_name: str, formats: Iterable[str]) -> list[str]:
        tables = self.studies[study_name]["tables"]
        return [f"results/{study_name}/tables/{table}.{format}" for table in tables for format in formats]

    def _claims(self, study_name: str, formats: Iterable[str]) -> list[str]:
        claims = self.studies[study_name]["claims"]
        return [f"results/{study_name}/claims.{format}" for format in formats if claims]

    def _figures(self, study_name: str, formats: Iterable[str]) -> list[str]:
        study = self.studies[study_name]
        return [
            f"results/{study_name}/figures/{figure}.{format}"
            for figure in study["figures"]
            for format in figure_formats(study, figure)
            if format in formats
        ]


def _receipt(dataset: str) -> str:
    return f"resources/raw/{dataset}/receipt.json"


def _files(stage: str, study_name: str, runs: Iterable[tuple[str, str]]) -> list[str]:
    return [FILES[stage].format(study=study_name, dataset=dataset, model=model) for dataset, model in runs]
