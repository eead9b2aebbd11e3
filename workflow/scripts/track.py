"""Write the cells of one data set to the tracking store."""

from entrolab.jobs.job_logging import job_log
from entrolab.tracking import Cell, track_dataset


def main(
    study: dict,
    paper: str,
    dataset: str,
    models: list,
    store: str | None,
    tables: list,
    receipt: str,
) -> None:
    cells = [Cell.at(paper, dataset, model) for model in models]
    track_dataset(study, paper, dataset, cells, store_uri=store, tables=tables, receipt=receipt)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], "track {paper} {dataset}".format(**snakemake.wildcards), snakemake.output):
        main(
            snakemake.params.study,
            snakemake.wildcards.paper,
            snakemake.wildcards.dataset,
            snakemake.params.models,
            snakemake.params.store,
            snakemake.input.tables,
            snakemake.output.receipt,
        )
