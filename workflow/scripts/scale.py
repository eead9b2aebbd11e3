"""Scale a data set as the study does."""

from entrolab.dataset import load_dataset, passing_absence, save_dataset
from entrolab.joblog import job_log
from entrolab.scale import scale


def main(source: str, output: str, scaling: dict) -> None:
    with passing_absence(output):
        save_dataset(output, scale(load_dataset(source), **scaling))


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(
        snakemake.log[0], f"scale {snakemake.wildcards.paper} {snakemake.wildcards.dataset}", snakemake.output
    ):
        main(snakemake.input.dataset, snakemake.output[0], snakemake.params.scaling)
