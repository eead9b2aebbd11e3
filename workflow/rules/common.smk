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
    from entrolab.data.user_tables import warnings_of
    from entrolab.experiments.measurement import Measurement
    from entrolab.fit.learners import made_of
    from entrolab.io.files import EXPERIMENTS, FILES, script_file
    from entrolab.jobs.children import runner, start_servers
    from entrolab.jobs.code_digests import code_digest
    from entrolab.stages.check import passes
    from entrolab.study.config import load_configuration
    from entrolab.schema.sections import ConfigError
    from entrolab.study.settings import LIMIT_SECONDS
    from entrolab.study.study import FIGURE_FORMATS, TABLE_FORMATS
    from entrolab.tables.base import GENERATED
    from entrolab.tracking.receipts import lost_receipts
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
    dataset="[a-z0-9][a-z0-9_-]*",
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
        paths = chain.from_iterable(entry["paths"] for entry in study.own_data.values())
        check_folder([study.file, *paths])
        for key, entry in study.own_data.items():
            for line in warnings_of(key, entry):
                logger.warning(f"{study.file}: {line}")
        # What was deleted from the store is written again.
        for receipt in lost_receipts(study.name, SETTINGS.store):
            receipt.unlink(missing_ok=True)
        if study.model_format == "cloudpickle":
            logger.warning(
                f"{study.file}: model_format: models that skops refuses are pickled, and loading one runs code in it"
            )
    return study


@ends_with_one_line
def entry_of(wildcards):
    """The entry of a data set, in the catalog or in a study."""
    return STUDIES.dataset(wildcards.dataset)


def of_study(function):
    """An input or params function: what a function of the study and the wildcards returns."""
    return ends_with_one_line(
        lambda wildcards: function(study_of(wildcards), wildcards)
    )


# Snakemake compares params by what `repr` gives of builtin types.
run_of = of_study(
    lambda study, at: study.run(at.dataset, at.model, int(at.seed)).model_dump()
)
criteria_of = of_study(lambda study, at: study.criteria_of(at.model))
measurement_of = of_study(
    lambda study, at: vars(study.measurement(at.table, at.dataset, int(at.seed)))
)
# Snakemake compares objects in a list by their repr, and no other objects.
figure_of = of_study(lambda study, at: [study.spec_of_figure(at.figure)])


def code(stage):
    """A params function: the digest of a stage's code, since Snakemake does not follow imports."""
    return lambda wildcards: code_digest(stage)


def code_of_data(wildcards):
    return code_digest("prepare", made_by(entry_of(wildcards)))


def code_of_run(stage):
    """A params function: the digest of a stage's code and of the learners of a run."""
    return lambda wildcards: code_digest(stage, *made_of(run_of(wildcards)))


def code_of_measurement(wildcards):
    measurement = Measurement(**measurement_of(wildcards))
    learners = chain.from_iterable(map(made_of, measurement.learners().values()))
    script = str(script_file(EXPERIMENTS, measurement.script))
    return code_digest("measure", *learners, script=script)


def code_of_figure(wildcards):
    (spec,) = figure_of(wildcards)
    learners = chain.from_iterable(map(made_of, spec.learners.values()))
    return code_digest("figure", *learners, script=spec.script)


# ------------------------------------------------------------------------------------------------ resources


def limit_seconds(wildcards):
    """The limit of a run: that of the settings, else that of its study, else the default."""
    asked = hasattr(wildcards, "study") and study_of(wildcards).limit_seconds
    return SETTINGS.limit_seconds or asked or LIMIT_SECONDS


def memory(wildcards, attempt):
    """The megabytes that a job requests from a cluster: four times as many at each attempt, up to the limit."""
    return min(2000 * 4 ** (attempt - 1), round(1074 * SETTINGS.limit_gib) + 1500)


def minutes(wildcards):
    return round(limit_seconds(wildcards) / 60) + 40


# Limits of a job, enforced in its process on any machine, whatever was requested from a cluster.
LIMITS = {
    "limit_seconds": limit_seconds,
    "limit_mebibytes": round(SETTINGS.limit_gib * 1024),
}


# ------------------------------------------------------------------------------------------------ files


def receipt(wildcards):
    """The receipt of a data set that has to be downloaded; none for other data sets."""
    is_downloaded = "files" in entry_of(wildcards)
    return [f"resources/raw/{wildcards.dataset}/receipt.json"] if is_downloaded else []


rows_of_run = of_study(lambda study, at: study.rows_of(at.dataset))


def files_of_runs(stage):
    """An input function: the files of a stage for each run of a study."""
    return of_study(lambda study, at: study.files_of_runs(stage))


# The folder of a run's refitted models; none if no criterion selects from its grid.
models_of_run = of_study(
    lambda study, at: study.models_of(at.dataset, at.model, int(at.seed))
)


def rows_of_measurement(wildcards):
    """The data that are measured, as prepared and scaled; none for a table that generates its own."""
    if wildcards.dataset == GENERATED:
        return {}
    files = {"raw": FILES["data"], "scaled": FILES["scaled"]}
    return {name: file.format(**wildcards) for name, file in files.items()}


def file_beside(key):
    """An input function: a file that a study names under a key, such as its published values."""

    def found(study, at):
        file = getattr(study, key)
        return local([file] if file and os.path.isfile(file) else [])

    return of_study(found)


def files_of_studies(names):
    """All files of some studies, so that one that was deleted is made again."""
    studies = (study_of(SimpleNamespace(study=name)) for name in names)
    return [file for study in studies for file in study.files()]
