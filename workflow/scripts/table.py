"""Make one table, ours beside the printed numbers, in every format."""

from pathlib import Path

import pandas as pd

from entrolearn.lab.joblog import job_log
from entrolearn.lab.records import read_json
from entrolearn.lab.rendering import write_table
from entrolearn.lab.tables import make_table, table_spec

NOTHING_PRINTED = pd.DataFrame(columns=["table", "dataset", "model", "metric", "value", "std"])


def main(
    paper: str, table: str, study: dict, scores: list, records: list, published: str | None, outputs: list
):
    spec = table_spec(paper, study, table)
    shown = [Path(folder, f"{model}.parquet") for folder in scores for model in spec["models"]]
    rows = [rows for rows in map(pd.read_parquet, shown) if len(rows)]
    rows = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()
    printed = pd.read_csv(published) if published else NOTHING_PRINTED
    result = make_table(rows, printed, map(read_json, records), spec)
    for output in outputs:
        write_table(result, spec, output)


if "snakemake" in globals():
    snakemake = globals()["snakemake"]
    with job_log(snakemake.log[0], "table {paper} {table}".format(**snakemake.wildcards)):
        main(
            snakemake.wildcards.paper,
            snakemake.wildcards.table,
            snakemake.params.study,
            snakemake.input.scores,
            snakemake.input.records,
            snakemake.input.get("published") or None,
            list(snakemake.output),
        )
