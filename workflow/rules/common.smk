# Shared by all rules: the configuration, checked before any job starts.
import os
import shlex
import sys
import threading
from pathlib import Path

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
    from entrolab.data.user_tables import warning_of
    from entrolab.study.config import (
        asked_targets,
        load_configuration,
        store_digest,
        study_names,
    )
    from entrolab.tables.base import GENERATED
    from entrolab.tables.types import FILES
    from entrolab.jobs.children import runner
    from entrolab.jobs.plan import Plan, code
    from entrolab.jobs.cluster_requests import UNKNOWN
    from entrolab.stages.check import passes
    from entrolab.study.sections import ConfigError
except ImportError as error:
    raise WorkflowError(
        f"{error}: run `make env` and `. .venv/bin/activate`, then this command again"
    ) from None
except SurroundingsError as error:
    raise WorkflowError(str(error)) from None

# A relative path, so that results stay up to date if the checkout is moved.
HOME = Path(os.path.relpath(workflow.basedir))

# Templates of tables and pages are inputs, because they are not imported by code. `local`: templates and the files of
# a study are on this machine, wherever results are stored.
TEMPLATES = sorted(
    os.path.relpath(file) for file in Path(entrolab.__file__).parent.glob("templates/*")
)

try:
    CATALOG, STUDIES, SETTINGS = load_configuration(
        HOME, config, asked_targets(sys.argv)
    )
    STUDY_NAMES = study_names(HOME, config)
    own_files = [path for entry in CATALOG.values() for path in entry.get("paths", [])]
    check_folder(
        [*TEMPLATES, *own_files, *(study["file"] for study in STUDIES.values())]
    )
except (ConfigError, SurroundingsError) as error:
    raise WorkflowError(str(error)) from None

PLAN = Plan(CATALOG, STUDIES, SETTINGS)

if workflow.is_main_process:
    for study in STUDIES.values():
        for key, entry in study["own_data"].items():
            for column in entry["tells_label"]:
                logger.warning(f"{study['file']}: {warning_of(key, entry, column)}")


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

# Limits of a job, enforced in its process on any machine, whatever was requested from a cluster.
LIMITS = {
    "limit_seconds": PLAN.limit_seconds,
    "limit_mebibytes": round(SETTINGS["limit_gib"] * 1024),
}


wildcard_constraints:
    study="|".join(STUDIES),
    dataset="|".join(CATALOG),
    model=PLAN.names("models"),
    table=PLAN.names("tables"),
    figure=PLAN.names("figures"),


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
