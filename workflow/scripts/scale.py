"""Scale a data set as the study does."""

from entrolab.data.dataset import load_dataset, passing_absence, save_dataset
from entrolab.data.scale import scale
from entrolab.jobs.job_logging import job_log


def main(source: str, output: str, scaling: dict) -> None:
    with passing_absence(output):
        save_dataset(output, scale(load_dataset(source), **scaling))


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(
        snakemake.log[0], f"scale {snakemake.wildcards.study} {snakemake.wildcards.dataset}", snakemake.output
    ):
        main(snakemake.input.dataset, snakemake.output[0], snakemake.params.scaling)
