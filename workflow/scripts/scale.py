"""Scale a data set by the study's scaling or preprocessing."""

from entrolab.data.dataset import load_dataset, recording_unavailability, save_dataset
from entrolab.data.preprocessing import preprocessed
from entrolab.data.scale import scale
from entrolab.jobs.job_logging import job_log


def main(source: str, output: str, scaling: dict) -> None:
    with recording_unavailability(output):
        data = load_dataset(source)
        learnt = scaling.get("preprocessing")
        save_dataset(output, preprocessed(data, learnt) if learnt else scale(data, **scaling))


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"scale {snakemake.wildcards.study} {snakemake.wildcards.dataset}"):
        main(snakemake.input.dataset, snakemake.output[0], snakemake.params.scaling)
