"""Write the results of a study to the tracking store: one experiment per study, one MLflow run per run.

The store is a copy of the files in ``results``, for comparing runs. An experiment contains one run per data
set × model, and one run with the rendered tables and figures, to which the others refer by a tag. Runs are
not nested, because MLflow shows nested runs only on request. A run has the key
``<study>/<dataset>/<model>``, and each key has exactly one live run: equal results are not written again, and
a changed result replaces its run.

This is the only package that imports mlflow.
"""

import hashlib
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from time import time

import pandas as pd

# MLflow reads these on import: no telemetry, no installation id in the home folder, no messages per run and
# migration, and a timeout of half a minute instead of four for a server that does not respond.
os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "4")

from mlflow.entities import Metric

from entrolab.io.records import machine, versions, write_json
from entrolab.io.run_files import StudyRun
from entrolab.jobs.checkout import code_tags
from entrolab.study.study import Study
from entrolab.tables.making import agreement_of, counts, counts_of_study, read_table
from entrolab.tracking.ledger import open_ledger, says, study_run_name
from entrolab.tracking.notes import linked, study_note
from entrolab.tracking.runs import dataset_contents
from entrolab.tracking.stores import PATIENCE, StoreUnavailable

__all__ = ["StudyRun", "StoreUnavailable", "track_dataset", "track_study"]

logger = logging.getLogger(__name__)


def track_dataset(
    study: Study,
    dataset: str,
    runs: Sequence[StudyRun],
    *,
    store_uri: str | None = None,
    tables: Iterable[str | os.PathLike] = (),
    patience: float = PATIENCE,
) -> dict:
    """Write the runs of one data set to the store, and close all of them.

    A run in the store with the same digest and with its artifacts is kept. Any other live run with the same
    key is deleted with the models that it logged, and a new one is written. Runs that a killed job left open
    are closed with the status KILLED, and so are those of this job if an error or a signal ends it; a tag
    contains the reason. The digest covers the contents of the run and its tables, except seconds, dates, the
    machine and the commit. A run without a result has the status FAILED and a tag with the reason.

    `store_uri` is any MLflow tracking URI, by default ``MLFLOW_TRACKING_URI``, else ``mlflow.db`` in the
    working folder; artifacts of a SQLite file are in ``mlruns`` next to it. `tables` are the CSV files of the
    study's score tables, in the study's order. Wait up to `patience` seconds for a locked store. The result
    names the store, the experiment, the run of the study's tables, the run of every model, and the models
    whose runs were written.

    Raises
    ------
    StoreUnavailable
        If the store cannot be written. The results are kept, and the next call logs them.
    ValueError
        If a file of a run cannot be read, or its model contains types that are not trusted.
    """
    code = _code()
    contents = dataset_contents(study, runs, {Path(table).stem: read_table(table) for table in tables})
    own = f"tags.dataset = '{dataset}'"
    with open_ledger(store_uri, study, patience, own) as ledger:
        study_run = ledger.study_run(study)
        live = ledger.live_runs(own)
        ids, written = {}, []
        for run, content in zip(runs, contents, strict=True):
            logged = [one for one in live if one.data.tags.get("entrolearn.key") == run.key]
            if len(logged) == 1 and says(logged[0], content, study_run) and ledger.has_artifacts(logged[0]):
                ids[run.model] = logged[0].info.run_id
                continue
            for outdated in logged:
                ledger.discard(outdated)
            ids[run.model] = ledger.write(content, study_run, code)
            written.append(run.model)
        ledger.register(study, dataset, contents, ids)
    logger.info(
        "%s/%s: %d runs written, %d unchanged", study.name, dataset, len(written), len(runs) - len(written)
    )
    done = {"study": study.name, "dataset": dataset, "study_run": study_run, "runs": ids, "written": written}
    return ledger.place | done


def track_study(
    study: Study,
    tables: Sequence[str | os.PathLike],
    figures: Sequence[str | os.PathLike] = (),
    *,
    config: str | os.PathLike,
    store_uri: str | None = None,
    receipt: str | os.PathLike | None = None,
    patience: float = PATIENCE,
) -> dict:
    """Update the run of a study's tables and figures.

    It is written if a table, a figure or the study's file (`config`) has changed, or if its artifacts are
    missing. Its metrics are the counts of verdicts in the CSV files among `tables`, such as
    ``table4/reproduced``; `figures` are the figures with their CSV files. The result names the store, the
    experiment and the run, and says whether the run was written; it is also written to the JSON file
    `receipt`. For the rest and the errors see :func:`track_dataset`.
    """
    tables, figures = sorted(map(Path, tables)), sorted(map(Path, figures))
    files = {"tables": tables, "figures": figures, "config": [Path(config)]}
    compared = {
        path.stem: read_table(path)
        for path in tables
        if path.suffix == ".csv" and "verdict" in pd.read_csv(path, nrows=0)
    }
    verdicts = {name: counts(table) for name, table in compared.items()}
    agreed = agreement_of(counts_of_study(study, compared))
    digest = hashlib.sha256()
    for path in chain(files["config"], tables, figures):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    with open_ledger(store_uri, study, patience, f"tags.`entrolearn.key` = '{study.name}'") as ledger:
        client, run_id = ledger.client, ledger.study_run(study)
        run = client.get_run(run_id)
        known = run.data.tags.get("entrolearn.digest")
        changed = known != digest.hexdigest() or not ledger.has_artifacts(run)
        if changed:
            client.update_run(run_id, status="RUNNING", name=study_run_name(study.name))
            for folder, path in ((folder, path) for folder, paths in files.items() for path in paths):
                client.log_artifact(run_id, str(path), folder)
            now = round(time() * 1000)
            note = linked(study_note(study, verdicts, agreed), ledger.artifacts_of(run_id))
            ledger.log(
                run_id,
                metrics=[
                    Metric(name, count, now, 0)
                    for name, count in _verdict_metrics(verdicts).items()
                    # Zeros are only logged to overwrite an earlier count.
                    if count or name in run.data.metrics
                ],
                tags=_code() | _machine() | {"mlflow.note.content": note},
            )
            if study.published:
                ledger.tag_experiment({"reproduced": f"{agreed.reproduced} of {agreed.results}"})
            # Written last, so that the run of a job that died before this line is written again.
            ledger.log(run_id, tags={"entrolearn.digest": digest.hexdigest()})
            client.set_terminated(run_id, "FINISHED")
    done = ledger.place | {"study": study.name, "study_run": run_id, "written": changed}
    if receipt is not None:
        write_json(receipt, done)
    return done


def _verdict_metrics(verdicts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """The number of results with each verdict, in all tables and in each one."""
    return pd.DataFrame(verdicts).sum(axis=1).to_dict() | {
        f"{table}/{name}": count for table, found in verdicts.items() for name, count in found.items()
    }


def _code() -> dict[str, str]:
    """The commit and the lock of the code, as tags."""
    tags = code_tags()
    # MLflow's own name for the commit: the UI shows it in the list of runs.
    return tags | ({} if tags["commit"] == "unknown" else {"mlflow.source.git.commit": tags["commit"]})


def _machine() -> dict[str, str]:
    """The machine and the versions that the tables were made with, as tags."""
    groups = {"machine": machine(), "version": versions()}
    return {
        f"{group}.{name}": str(value) for group, values in groups.items() for name, value in values.items()
    }
