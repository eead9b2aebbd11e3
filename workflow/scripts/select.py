"""For each model of a data set: choose by each criterion, and fit the chosen model for good."""

from pathlib import Path

from entrolab.joblog import job_log
from entrolab.stages import select


def main(
    dataset: str, folds: str, candidates: list, records: list, scores: Path, models: Path, cells: list
) -> None:
    for cell, table, record in zip(cells, candidates, records, strict=True):
        name = cell["model"]
        select(
            dataset,
            folds,
            table,
            record,
            scores / f"{name}.parquet",
            models / f"{name}.skops",
            models / f"{name}.json",
            cell,
        )


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(
        snakemake.log[0], "select {paper} {dataset}".format(**snakemake.wildcards), snakemake.output
    ):
        main(
            snakemake.input.dataset,
            snakemake.input.folds,
            snakemake.input.candidates,
            snakemake.input.records,
            Path(snakemake.output.scores),
            Path(snakemake.output.models),
            snakemake.params.cells,
        )
