"""Make one table, ours beside the printed numbers, in every format."""

import pandas as pd

from entrolab.jobs.job_logging import job_log
from entrolab.tables.making import make_table, read_published
from entrolab.tables.rendering import write_table
from entrolab.tables.results import Results
from entrolab.tables.types import table_spec

NOTHING_PRINTED = pd.DataFrame(columns=["table", "dataset", "model", "metric", "value", "std"])


def main(paper: str, table: str, study: dict, published: str | None, outputs: list) -> None:
    spec = table_spec(paper, study, table)
    printed = read_published(published) if published else NOTHING_PRINTED
    result = make_table(Results(paper, study), printed, spec)
    for output in outputs:
        write_table(result, spec, output)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], "table {paper} {table}".format(**snakemake.wildcards), snakemake.output):
        main(
            snakemake.wildcards.paper,
            snakemake.wildcards.table,
            snakemake.params.study,
            snakemake.input.published[0] if snakemake.input.published else None,
            list(snakemake.output),
        )
