"""Measure what one table asks of one data set."""

from entrolearn.lab.joblog import Progress, job_log
from entrolearn.lab.measuring import measure


def main(raw: str, scaled: str, output: str, measurement: dict) -> None:
    progress = Progress("{paper} {table} {dataset}".format(**measurement))
    measure(raw, scaled, output, measurement, progress)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], "measure {paper} {table} {dataset}".format(**snakemake.wildcards)):
        main(
            snakemake.input.raw,
            snakemake.input.scaled,
            snakemake.output[0],
            snakemake.params.measurement,
        )
