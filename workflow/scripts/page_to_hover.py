"""Write the interactive page of a figure, with a tooltip per row."""

from entrolab.figure_types.making import make_page_to_hover
from entrolab.figure_types.registry import FIGURE_TYPES
from entrolab.jobs.job_logging import job_log


def main(spec: dict, drawn: str, sources: list, output: str) -> None:
    make_page_to_hover(FIGURE_TYPES[spec["type"]], spec, drawn, sources, output)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], "page to hover {study} {figure}".format(**snakemake.wildcards)):
        main(
            snakemake.params.spec,
            snakemake.input.drawn,
            list(snakemake.input.sources),
            snakemake.output[0],
        )
