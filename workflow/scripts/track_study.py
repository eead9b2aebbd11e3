"""Update the tracked run of a study's tables and figures."""

from entrolab.jobs.job_logging import job_log
from entrolab.tracking import track_study


def main(
    study: dict, study_name: str, tables: list, figures: list, file: str, store: str | None, receipt: str
) -> None:
    track_study(study, study_name, tables, figures, config=file, store_uri=store, receipt=receipt)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"track {snakemake.wildcards.study}"):
        main(
            snakemake.params.study,
            snakemake.wildcards.study,
            snakemake.input.tables,
            snakemake.input.figures,
            snakemake.input.study,
            snakemake.params.store,
            snakemake.output.receipt,
        )
