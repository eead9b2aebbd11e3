"""Write the runs of a study, and the run of its tables and figures, to the tracking store."""

from pathlib import Path

from entrolab import tracking
from entrolab.io.records import write_json


def track(job) -> None:
    """Log the runs of each data set; one with an unreadable file does not prevent logging the others."""
    study = job.params.study[0]
    receipt, failed, files = {}, None, {Path(table).stem: table for table in job.input.tables}
    for dataset in study.datasets_of_runs():
        models = [model for one, model in study.runs() if one == dataset]
        runs = [tracking.StudyRun.at(study, dataset, model) for model in models]
        tables = [files[table] for table in study.score_tables(dataset)]
        try:
            receipt[dataset] = tracking.track_dataset(
                study, dataset, runs, store_uri=job.params.store, tables=tables
            )
        except ValueError as error:
            failed = failed or error
    if failed:
        raise failed
    write_json(job.output.receipt, receipt)


def track_study(job) -> None:
    """Update the tracked run of a study's tables and figures."""
    files, store = job.input, job.params.store
    tracking.track_study(
        job.params.study[0],
        files.tables,
        files.figures,
        config=files.study,
        store_uri=store,
        receipt=job.output.receipt,
    )
