"""Fit a model's whole grid on all training sets of a data set, select, and refit the selected grid point."""

from entrolab.fit.training import train
from entrolab.jobs.job_logging import Progress, job_log, tell
from entrolab.text import one_line


def main(dataset: str, folds: str, outputs: dict, spec: dict, limits: dict) -> None:
    progress = Progress(f"{spec['study']} {spec['dataset']} {spec['model']}")
    record = train(dataset, folds, outputs, spec, limits, progress)
    if not record["success"]:
        tell(one_line(f"{record['key']}: {record['status']}: {record['error']}"))


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], "train {study} {dataset} {model}".format(**snakemake.wildcards)):
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
