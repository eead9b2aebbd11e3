"""Fit a model's whole grid on all training sets of a data set, select, and refit the selected grid point."""

from entrolab.fit.training import train
from entrolab.jobs.job_logging import Progress, job_log


def main(dataset: str, folds: str, outputs: dict, spec: dict, limits: dict) -> None:
    progress = Progress(f"{spec['study']} {spec['dataset']} {spec['model']}")
    train(dataset, folds, outputs, spec, limits, progress)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(
        snakemake.log[0], "train {study} {dataset} {model}".format(**snakemake.wildcards), snakemake.output
    ):
        main(
            snakemake.input.dataset,
            snakemake.input.folds,
            dict(snakemake.output.items()),
            snakemake.params.spec,
            {
                "seconds": snakemake.resources.limit_seconds,
                "gib": snakemake.resources.limit_mebibytes / 1024,
            },
        )
