"""Write a study's page of the report, and the index."""

from pathlib import Path

from entrolab.jobs.checkout import commit_of, lock_digest
from entrolab.jobs.job_logging import job_log
from entrolab.report import build_report, read_results
from entrolab.study.config import read_yaml


def main(page: str, name: str, study: dict, config: dict, home: str) -> None:
    report = Path(page).parent
    own = read_yaml(Path(home, "config", "config.yaml"))
    # Settings that the command on the page names; those that find the study stand in it anyway.
    kept = own.keys() - {"papers", "extra_studies"}
    settings = {name: config[name] for name in kept if config[name] != own[name]}
    results = read_results(name, study, report.parent / name, settings)
    versions = {"commit": commit_of(home) or "", "lock": lock_digest(home) or ""}
    build_report([results], report, **versions)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"page {snakemake.wildcards.study}"):
        main(
            snakemake.output.page,
            snakemake.wildcards.study,
            snakemake.params.study,
            snakemake.config,
            snakemake.params.home,
        )
