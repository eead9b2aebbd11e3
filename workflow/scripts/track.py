"""Write the runs of a study to the tracking store."""

from pathlib import Path

from entrolab.io.records import write_json
from entrolab.jobs.job_logging import job_log
from entrolab.study.job_specs import score_tables, study_runs, tracked_datasets
from entrolab.tracking import StudyRun, track_dataset


def main(study: dict, study_name: str, store: str | None, tables: list, receipt: str) -> None:
    """Log the runs of each data set; one with an unreadable file does not prevent logging the others."""
    told, failed, files = {}, None, {Path(table).stem: table for table in tables}
    for dataset in tracked_datasets(study):
        models = [model for one, model in study_runs(study) if one == dataset]
        runs = [StudyRun.at(study_name, dataset, model, scaled="scaling" in study) for model in models]
        shown = [files[table] for table in score_tables(study, dataset)]
        try:
            told[dataset] = track_dataset(study, study_name, dataset, runs, store_uri=store, tables=shown)
        except ValueError as error:
            failed = failed or error
    if failed:
        raise failed
    write_json(receipt, told)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"track {snakemake.wildcards.study} runs"):
        main(
            snakemake.params.study,
            snakemake.wildcards.study,
            snakemake.params.store,
            snakemake.input.tables,
            snakemake.output.receipt,
        )
