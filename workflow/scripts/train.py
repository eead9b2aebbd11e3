"""Fit a learner's whole grid on all training sets of a data set, select, and refit what was selected."""

from entrolab.fit.training import train
from entrolab.jobs.job_logging import Progress, job_log


def main(dataset: str, folds: str, outputs: dict, cell: dict, limits: dict) -> None:
    progress = Progress(f"{cell['paper']} {cell['dataset']} {cell['model']}")
    train(dataset, folds, outputs, cell, limits, progress)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(
        snakemake.log[0], "train {paper} {dataset} {model}".format(**snakemake.wildcards), snakemake.output
    ):
        main(
            snakemake.input.dataset,
            snakemake.input.folds,
            dict(snakemake.output.items()),
            snakemake.params.cell,
            {
                "seconds": snakemake.resources.limit_seconds,
                "gib": snakemake.resources.limit_mebibytes / 1024,
            },
        )
