"""Test a paper's claims on the results of its study."""

from entrolab.claims.evaluation import evaluate
from entrolab.claims.numbers import Numbers
from entrolab.claims.rendering import write_claims
from entrolab.jobs.job_logging import job_log


def main(study_name: str, study: dict, title: str, outputs: list) -> None:
    found = evaluate(study["claims"], Numbers(study_name, study))
    for output in outputs:
        write_claims(found, title, output)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"claims {snakemake.wildcards.study}"):
        main(
            snakemake.wildcards.study,
            snakemake.params.study,
            snakemake.params.title,
            list(snakemake.output),
        )
