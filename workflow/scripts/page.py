"""Write a study's page of the report, those of its data sets and learners, and the front page."""

from pathlib import Path

from entrolab.jobs.checkout import commit_of, lock_digest
from entrolab.jobs.job_logging import job_log
from entrolab.report.memory import changed_settings
from entrolab.report.renewal import renew


def main(page: str, name: str, study: dict, catalog: dict, config: dict, home: str) -> None:
    settings = changed_settings(config, home)
    versions = {"commit": commit_of(home) or "", "lock": lock_digest(home) or ""}
    renew(Path(page).parent, name, study, catalog, settings, **versions)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"page {snakemake.wildcards.study}"):
        main(
            snakemake.output.page,
            snakemake.wildcards.study,
            snakemake.params.study,
            snakemake.params.catalog,
            snakemake.config,
            snakemake.params.home,
        )
