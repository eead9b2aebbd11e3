"""Draw the folds of a data set."""

from entrolearn.lab.datasets import load_dataset, passing_absence, save_folds, split
from entrolearn.lab.joblog import job_log


def main(source: str, output: str, folds: int, repeats: int, seed: int) -> None:
    with passing_absence(output):
        save_folds(output, split(load_dataset(source).y, folds, repeats, seed))


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"split {snakemake.wildcards.paper} {snakemake.wildcards.dataset}"):
        main(snakemake.input.dataset, snakemake.output[0], **snakemake.params.folds)
