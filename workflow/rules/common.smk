# The configuration, and the input functions of the rules. A study is read and checked when a job first asks for it.
import os
import shlex
import threading
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

from snakemake.logging import logger

try:
    import entrolab
    from entrolab.jobs.preflight import (
        SurroundingsError,
        check_folder,
        check_memory,
        end_at_signals,
        prepare_process,
    )

    prepare_process()
    # Snakemake quotes the arguments of --config as Python does, and a shell reads some differently.
    workflow.config_settings.config_args = [
        shlex.quote(one) for one in workflow.config_settings.config_args or ()
    ]
    # Jobs on a cluster read this file too, but have limits of their own.
    if workflow.is_main_process:
        check_memory()
    from entrolab.data.receipts import attempt_of
    from entrolab.data.origins import made_by
    from entrolab.data.user_tables import warning_of
    from entrolab.fit.learners import made_of, parts_seed
    from entrolab.io.files import FILES, leftovers
    from entrolab.jobs.children import runner, start_servers
    from entrolab.jobs.code_digests import code_digest
    from entrolab.stages.check import passes
    from entrolab.study import job_specs
    from entrolab.study.claims import tested_file, tested_tables
    from entrolab.study.config import load_configuration, store_digest
    from entrolab.study.lookup import protocol_of
    from entrolab.study.parts import for_claims, for_table
    from entrolab.study.sections import ConfigError
    from entrolab.study.settings import LIMIT_SECONDS
    from entrolab.tables.base import GENERATED
except ImportError as error:
    raise WorkflowError(
        f"{error}: run `make env` and `. .venv/bin/activate`, then this command again"
    ) from None
except SurroundingsError as error:
    raise WorkflowError(str(error)) from None

# A relative path, so that results stay up to date if the checkout is moved.
HOME = Path(
    os.path.relpath(
        Path(str(workflow.current_basedir.get_path_or_uri(secret_free=True))).parents[1]
    )
)
# Templates of tables and pages are inputs, because they are not imported by code. `local`: templates and the files of
# a study are on this machine, wherever results are stored.
TEMPLATES = sorted(
    os.path.relpath(file) for file in Path(entrolab.__file__).parent.glob("templates/*")
)

try:
    STUDIES, SETTINGS = load_configuration(HOME, config)
    check_folder(TEMPLATES)
except (ConfigError, SurroundingsError) as error:
    raise WorkflowError(str(error)) from None


if workflow.is_main_process:
    if found := leftovers():
        logger.warning(
            f"{found[0]} and {len(found) - 1} more of an earlier version: `entrolab clean` removes them"
        )
    # Snakemake imports Polars, if it is there, with its first job. Polars replaces the handler of Ctrl-C by one that does
    # not wake a process that waits, so it is imported first.
    try:
        import polars
    except ImportError:
        pass
    end_at_signals()


# Runs a function of entrolab/stages as a job. In the main process, rules run in threads (`force-use-threads` in the default
# profile), and a job in a child of a fork server; elsewhere, a job has a process of its own already.
run_job = runner(config, forks=workflow.is_main_process)


wildcard_constraints:
    study="|".join(STUDIES),
    seed=r"\d+",
    dataset="[a-z0-9]+(-[a-z0-9]+)*",
    model="[a-z][a-z0-9_]*",
    table="[a-z][a-z0-9_]*",
    figure="[a-z][a-z0-9_]*",


# Defaults of global resources without a profile: one writer of the store and the report, four downloads at a time.
for resource, limit in {"tracking": 1, "network": 4, "report": 1}.items():
    if resource not in workflow.global_resources:
        workflow.register_resource(resource, limit)


# Snakemake's limit of jobs per timespan leaves timers running, and its process would wait for them before it ends.
def end_timers():
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()


onsuccess:
    end_timers()


onerror:
    end_timers()


# ------------------------------------------------------------------------------------------------ studies


def ends_with_one_line(function):
    """Let a mistake end the run with its lines alone, without Snakemake's description of the place in a rule."""

    def checked(*arguments):
        try:
            return function(*arguments)
        except (ConfigError, SurroundingsError) as error:
            raise SystemExit(str(error)) from None

    return checked


@ends_with_one_line
def study_of(wildcards):
    is_read = wildcards.study in STUDIES.read
    study = STUDIES[wildcards.study]
    if not is_read and workflow.is_main_process:
        paths = chain.from_iterable(
            entry["paths"] for entry in study["own_data"].values()
        )
        check_folder([study["file"], *paths])
        for key, entry in study["own_data"].items():
            for column in entry["tells_label"]:
                logger.warning(f"{study['file']}: {warning_of(key, entry, column)}")
    return study


@ends_with_one_line
def entry_of(wildcards):
    """The entry of a data set, in the catalog or in a study."""
    return STUDIES.dataset(wildcards.dataset)


@ends_with_one_line
def run_of(wildcards):
    """All that decides the candidates of a run: a model of a study on a data set."""
    at = (wildcards.dataset, wildcards.model, int(wildcards.seed))
    return job_specs.run_spec(wildcards.study, study_of(wildcards), *at)


@ends_with_one_line
def criteria_of(wildcards):
    return job_specs.criteria_of(study_of(wildcards), wildcards.model)


@ends_with_one_line
def measurement_of(wildcards):
    """All that decides the measurement of a table on a data set."""
    at = (wildcards.table, wildcards.dataset, int(wildcards.seed))
    return job_specs.measurement_spec(wildcards.study, study_of(wildcards), *at)


@ends_with_one_line
def figure_of(wildcards):
    """All that decides a figure."""
    return job_specs.figure_spec(wildcards.study, study_of(wildcards), wildcards.figure)


def code(stage):
    """A params function: the digest of a stage's code, since Snakemake does not follow imports."""
    return lambda wildcards: code_digest(stage)


def code_of_data(wildcards):
    return code_digest(f"prepare:{made_by(entry_of(wildcards)).rpartition('.')[2]}")


def code_of_run(stage):
    """A params function: the digest of a stage's code and of the learners of a run."""
    return lambda wildcards: code_digest(stage, *made_of(run_of(wildcards)))


def code_of_measurement(wildcards):
    measurement = measurement_of(wildcards)
    learners = chain.from_iterable(map(made_of, measurement.get("models", {}).values()))
    return code_digest(f"measure:{measurement['measured_by'].split('.')[2]}", *learners)


def code_of_figure(wildcards):
    figure = figure_of(wildcards)
    fitted = [panel["learner"] for panel in figure.get("panels", [])]
    fitted += [figure["model"]] if "model" in figure else []
    return code_digest("figure", *chain.from_iterable(map(made_of, fitted)))


# ------------------------------------------------------------------------------------------------ resources


def limit_seconds(wildcards):
    """The limit of a run: that of the settings, else that of its study, else the default."""
    of_study = hasattr(wildcards, "study") and study_of(wildcards).get("limit_seconds")
    return SETTINGS["limit_seconds"] or of_study or LIMIT_SECONDS


def memory(wildcards, attempt):
    """The megabytes that a job requests from a cluster: four times as many at each attempt, up to the limit."""
    return min(2000 * 4 ** (attempt - 1), round(1074 * SETTINGS["limit_gib"]) + 1500)


def minutes(wildcards):
    return round(limit_seconds(wildcards) / 60) + 40


# Limits of a job, enforced in its process on any machine, whatever was requested from a cluster.
LIMITS = {
    "limit_seconds": limit_seconds,
    "limit_mebibytes": round(SETTINGS["limit_gib"] * 1024),
}


# ------------------------------------------------------------------------------------------------ files


def receipt(wildcards):
    """The receipt of a data set that has to be downloaded; none for other data sets."""
    is_downloaded = "files" in entry_of(wildcards)
    return [f"resources/raw/{wildcards.dataset}/receipt.json"] if is_downloaded else []


def rows_of_run(wildcards):
    """The data of runs: scaled, or as prepared if preprocessing is part of every fit."""
    stage = "scaled" if "scaling" in study_of(wildcards) else "data"
    return FILES[stage].format(study=wildcards.study, dataset=wildcards.dataset)


def runs(stage):
    """An input function: the files of a stage for each run of a study."""
    return lambda wildcards: job_specs.run_files(
        wildcards.study, study_of(wildcards), stage
    )


def rows_of_measurement(wildcards):
    """The data that are measured, as prepared and scaled; none for a table that generates its own."""
    if wildcards.dataset == GENERATED:
        return {}
    files = {"raw": FILES["data"], "scaled": FILES["scaled"]}
    return {name: file.format(**wildcards) for name, file in files.items()}


@ends_with_one_line
def results_of_table(wildcards):
    return job_specs.table_files(wildcards.study, study_of(wildcards), wildcards.table)


def results_of_figure(wildcards):
    return job_specs.figure_files(
        wildcards.study, study_of(wildcards), wildcards.figure
    )


def records_of_figure(wildcards):
    study = study_of(wildcards)
    return [
        FILES["record"].format(
            study=wildcards.study, seed=study["seed"], dataset=dataset, model=model
        )
        for dataset, model in job_specs.figure_runs(study, wildcards.figure)
    ]


def rows_to_hover(wildcards):
    """The prepared data sets whose rows a figure shows on hovering, in the order of its group."""
    shown = job_specs.figure_datasets(study_of(wildcards), wildcards.figure)
    return [FILES["data"].format(dataset=dataset) for dataset in shown]


def file_beside(key):
    """An input function: a file that a study names under a key, such as its published values."""
    return lambda wildcards: local(
        [
            file
            for file in [study_of(wildcards).get(key)]
            if file and os.path.isfile(file)
        ]
    )


def tables_of(wildcards, formats=("csv", "html", "tex", "md")):
    return [
        f"results/{wildcards.study}/tables/{table}.{format}"
        for table in study_of(wildcards)["tables"]
        for format in formats
    ]


def figures_of(wildcards, formats=("svg", "png", "csv", "html")):
    study = study_of(wildcards)
    return [
        f"results/{wildcards.study}/figures/{figure}.{format}"
        for figure in study["figures"]
        for format in job_specs.figure_formats(study, figure)
        if format in formats
    ]


def claims_of(wildcards, formats=("csv", "html")):
    return [
        f"results/{wildcards.study}/claims.{one}"
        for one in formats
        if study_of(wildcards)["claims"]
    ]


def score_tables_of(wildcards):
    """The tables of scores, which provide values and verdicts for the tracked runs."""
    tables = job_specs.score_tables(study_of(wildcards))
    return [
        FILES["tables"].format(study=wildcards.study, table=table) for table in tables
    ]


def results_of_claims(wildcards):
    """The tables and figures that the tests of a study's claims read, and the results of the tables."""
    study = study_of(wildcards)
    names = tested_tables(study["claims"])
    tables = (
        job_specs.table_files(wildcards.study, study, name)
        for name in names
        if name in study["tables"]
    )
    return [
        *(tested_file(wildcards.study, study, name) for name in names),
        *dict.fromkeys(chain.from_iterable(tables)),
    ]


def files_of_studies(names):
    """All files of some studies, so that one that was deleted is made again."""
    return [
        file for name in names for file in _files_of_study(SimpleNamespace(study=name))
    ]


def _files_of_study(wildcards):
    study = study_of(wildcards)
    runs = job_specs.study_runs(study)
    stages = ("candidates", "predictions", "record", "selection", "models")
    results = [job_specs.data_files(wildcards.study, study)]
    results += [job_specs.run_files(wildcards.study, study, stage) for stage in stages]
    results += [
        job_specs.table_files(wildcards.study, study, table)
        for table in study["tables"]
    ]
    results += [
        job_specs.figure_files(wildcards.study, study, figure)
        for figure in study["figures"]
    ]
    return [
        *dict.fromkeys(chain.from_iterable(results)),
        *tables_of(wildcards),
        *figures_of(wildcards),
        *claims_of(wildcards),
        f"results/report/{wildcards.study}.html",
        *([f"results/{wildcards.study}/tracked/runs.json"] if runs else []),
        f"results/{wildcards.study}/tracked.json",
    ]
