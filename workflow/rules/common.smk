# What the rules share: the configuration, checked before any job starts.
import os
import sys
import threading
from pathlib import Path

from snakemake.logging import logger

try:
    import entrolab
    from entrolab.jobs.preflight import (
        SurroundingsError,
        check_limits,
        check_paths,
        check_writable,
        end_at_signals,
        prepare_for_jobs,
    )

    prepare_for_jobs()
    # The jobs of a cluster, which read this file too, have limits of their own.
    if workflow.is_main_process:
        check_limits()
    from entrolab.data.user_tables import warning_of
    from entrolab.study.config import (
        asked_targets,
        load_configuration,
        store_digest,
        study_names,
    )
    from entrolab.jobs.output_checksums import (
        changed_files,
        end_future,
        set_changed_aside,
    )
    from entrolab.tables.base import GENERATED
    from entrolab.tables.types import FILES
    from entrolab.jobs.plan import Plan, asked, code
    from entrolab.jobs.cluster_requests import ceiling
    from entrolab.study.sections import ConfigError
except ImportError as error:
    raise WorkflowError(
        f"{error}: run `make env`, then `. .venv/bin/activate`, then this again"
    ) from None
except SurroundingsError as error:
    raise WorkflowError(str(error)) from None

# Relative, so that results stay up to date when a checkout moves.
HOME = Path(os.path.relpath(workflow.basedir))

# What tables and pages look like: not imported, yet as much a part of them as the code. These files and those of a
# study are here, wherever results are kept, which is what `local` says.
TEMPLATES = sorted(
    os.path.relpath(file) for file in Path(entrolab.__file__).parent.glob("templates/*")
)

try:
    CATALOG, STUDIES, SETTINGS = load_configuration(
        HOME, config, asked_targets(sys.argv)
    )
    STUDY_NAMES = study_names(HOME, config)
    own_files = [path for entry in CATALOG.values() for path in entry.get("paths", [])]
    check_paths(
        [*TEMPLATES, *own_files, *(study["file"] for study in STUDIES.values())]
    )
    check_writable(".")
except (ConfigError, SurroundingsError) as error:
    raise WorkflowError(str(error)) from None

PLAN = Plan(CATALOG, STUDIES, SETTINGS)

if workflow.is_main_process:
    for study in STUDIES.values():
        for key, entry in study["own_data"].items():
            for column in entry["tells_label"]:
                logger.warning(f"{study['file']}: {warning_of(key, entry, column)}")


def look_after_results():
    """Notice what changed since it was written, and have a run make it anew; say how a killed run is resumed."""
    if any(Path(".snakemake", "locks").glob("*")):
        logger.warning(
            "A run is at work in this folder, or was killed here. If it was killed: `make unlock` "
            "(snakemake --unlock), then the same command again, which completes it."
        )
    elif workflow.output_settings.dryrun:
        for file in changed_files():
            logger.warning(f"{file}: changed since it was written; a run makes it anew")
    else:
        end_future()
        for file in set_changed_aside():
            logger.warning(
                f"{file}: changed since it was written; set aside in results/.changed, to be made anew"
            )


if workflow.is_main_process:
    end_at_signals()
    try:
        look_after_results()
    except OSError as error:
        raise WorkflowError(str(error)) from None


# What a job may take at most. Its process is held to it on any machine, whatever a cluster was asked for.
CEILING = ceiling(SETTINGS)
LIMITS = {
    "limit_seconds": SETTINGS["limit_seconds"],
    "limit_mebibytes": round(SETTINGS["limit_gib"] * 1024),
}


wildcard_constraints:
    study="|".join(STUDIES),
    dataset="|".join(CATALOG),
    model=PLAN.names("models"),
    table=PLAN.names("tables"),
    figure=PLAN.names("figures"),


# Limits that hold without a profile too: a store has one writer, a server is asked by four at most.
for resource, limit in {"tracking": 1, "network": 4, "report": 1}.items():
    if resource not in workflow.global_resources:
        workflow.register_resource(resource, limit)


# Snakemake's limit of jobs per span of time leaves timers behind, for which its process waits before it ends.
def end_timers():
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()


onsuccess:
    end_timers()


onerror:
    end_timers()
