"""Draw the splits of a data set: folds or trials."""

from entrolab.data.dataset import load_dataset, recording_unavailability, save_folds
from entrolab.fit.protocols import protocol
from entrolab.jobs.job_logging import job_log


def main(source: str, output: str, entry: dict, seed: int) -> None:
    with recording_unavailability(output):
        data = load_dataset(source)
        scheme, method = protocol(entry), entry.get("method")
        groups = data.groups if method == "group" else None
        given = method == "given"
        save_folds(output, scheme.given(data.splits, seed) if given else scheme.draw(data.y, seed, groups))


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], f"split {snakemake.wildcards.study} {snakemake.wildcards.dataset}"):
        main(snakemake.input.dataset, snakemake.output[0], snakemake.params.protocol, snakemake.params.seed)
