"""Run the measurement of one table on one data set."""

from entrolab.experiments.measuring import measure
from entrolab.jobs.job_logging import Progress, job_log


def main(raw: str, scaled: str, output: str, measurement: dict) -> None:
    progress = Progress("{study} {table} {dataset}".format(**measurement))
    measure(raw, scaled, output, measurement, progress)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    measurement = snakemake.params.measurement
    with job_log(snakemake.log[0], "measure {study} {table} {dataset}".format(**measurement)):
        main(
            # Measurements on generated data have no input files.
            snakemake.input.get("raw", ""),
            snakemake.input.get("scaled", ""),
            snakemake.output[0],
            measurement,
        )
