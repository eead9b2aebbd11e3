"""Make one table, ours beside the printed numbers, in every format."""

import pandas as pd

from entrolearn.lab.joblog import job_log
from entrolearn.lab.records import read_json
from entrolearn.lab.rendering import write_table
from entrolearn.lab.selecting import choose_within
from entrolearn.lab.tables import make_table, table_spec

NOTHING_PRINTED = pd.DataFrame(columns=["table", "dataset", "model", "metric", "value", "std"])


def main(paper, table: str, study: dict, scores, candidates, records, published, outputs) -> None:
    spec = table_spec(paper, study, table)
    if limits := study["tables"][table]["among"]:
        rows = [choose_within(file, limits, study) for file in candidates]
    else:
        rows = [pd.read_parquet(f"{folder}/{model}.parquet") for folder in scores for model in spec["models"]]
    rows = pd.concat([some for some in rows if len(some)] or [pd.DataFrame()], ignore_index=True)
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
            snakemake.input.candidates,
            snakemake.input.records,
            snakemake.input.get("published") or None,
            list(snakemake.output),
        )
