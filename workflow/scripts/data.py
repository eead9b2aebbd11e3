"""Print which data sets are available, and why others are not."""

from entrolab.data.prepare import summary
from entrolab.io.records import read_json
from entrolab.jobs.job_logging import job_log


def main(catalog: dict, receipts: list) -> None:
    outcomes = {outcome["dataset"]: outcome for outcome in map(read_json, receipts)}
    print(summary(catalog, outcomes))


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], "data"):
        main(snakemake.params.catalog, snakemake.input.receipts)
