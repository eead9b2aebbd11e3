"""Draw one figure, and write its data as CSV."""

from entrolab.figure_types.making import make_figure
from entrolab.figure_types.registry import FIGURE_TYPES
from entrolab.jobs.job_logging import job_log


def main(spec: dict, sources: list, records: list, outputs: list) -> None:
    make_figure(FIGURE_TYPES[spec["type"]], spec, sources, records, outputs)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], "figure {study} {figure}".format(**snakemake.wildcards)):
        main(
            snakemake.params.spec,
            snakemake.input.sources,
            snakemake.input.records,
            list(snakemake.output),
        )
