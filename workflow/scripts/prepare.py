"""Prepare a data set from its raw files, from scikit-learn or from a generator."""

from pathlib import Path

from entrolab.data.dataset import recording_unavailability, save_dataset
from entrolab.data.prepare import prepare
from entrolab.fit.limits import Limits
from entrolab.jobs.job_logging import job_log


def main(key: str, entry: dict, receipts: list, output: str, limits: dict) -> None:
    folder = Path(receipts[0]).parent if receipts else None
    with recording_unavailability(output):
        save_dataset(output, prepare(key, entry, folder, Limits(**limits)))


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"prepare {snakemake.wildcards.dataset}"):
        main(
            snakemake.wildcards.dataset,
            snakemake.params.entry,
            snakemake.input.receipt,
            snakemake.output[0],
            {
                "seconds": snakemake.resources.limit_seconds,
                "gib": snakemake.resources.limit_mebibytes / 1024,
            },
        )
