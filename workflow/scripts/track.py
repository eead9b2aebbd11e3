"""Write the runs of one data set to the tracking store."""

from entrolab.jobs.job_logging import job_log
from entrolab.tracking import StudyRun, track_dataset


def main(
    study: dict,
    study_name: str,
    dataset: str,
    models: list,
    store: str | None,
    tables: list,
    receipt: str,
) -> None:
    runs = [StudyRun.at(study_name, dataset, model, scaled="scaling" in study) for model in models]
    track_dataset(study, study_name, dataset, runs, store_uri=store, tables=tables, receipt=receipt)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], "track {study} {dataset}".format(**snakemake.wildcards), snakemake.output):
        main(
            snakemake.params.study,
            snakemake.wildcards.study,
            snakemake.wildcards.dataset,
            snakemake.params.models,
            snakemake.params.store,
            snakemake.input.tables,
            snakemake.output.receipt,
        )
